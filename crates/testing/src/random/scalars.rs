//! Random functions on elements. All their results are exact: floats are used only with functions that are exact.

use super::choices::Choices;
use pumice::layers::scalar::{
    Constant, FailureKind, Op, Place, ScalarType, Site, Term, Variable, branch, repeat,
};

/// The usual types of elements.
const TYPES: [ScalarType; 7] = [
    ScalarType::I32,
    ScalarType::I64,
    ScalarType::F32,
    ScalarType::Bool,
    ScalarType::U32,
    ScalarType::U64,
    ScalarType::F64,
];

/// The types of 8 and 16 bits, which are chosen less often: devices handle them mostly as they do wider ones.
const SMALL: [ScalarType; 6] =
    [ScalarType::U8, ScalarType::I16, ScalarType::F16, ScalarType::I8, ScalarType::U16, ScalarType::BF16];

/// Returns a type for elements: one in eight is small.
pub fn scalar_type(choices: &mut Choices<'_>) -> ScalarType {
    let byte = choices.below(256);
    match byte.checked_sub(224) {
        Some(small) => SMALL[small % SMALL.len()],
        None => TYPES[byte % TYPES.len()],
    }
}

/// The values of the scalar arguments that functions read.
pub const SCALARS: [i64; 3] = [7, -3, 1_000_000_007];

/// Argument number of the first of them.
pub const FIRST_SCALAR: usize = 10;

/// Returns a constant index.
pub fn index(value: i64) -> Term {
    Constant::from(value).into()
}

/// Makes results of these types from these terms.
pub fn expressions(choices: &mut Choices<'_>, inputs: &[Term], results: &[ScalarType]) -> Vec<Term> {
    let mut terms = inputs.to_vec();
    let number = choices.below(SCALARS.len()) + FIRST_SCALAR;
    terms.push(Term::variable(Variable::Argument(number as u32), ScalarType::I64));
    let steps = 1 + choices.below(10);
    let mut pool = Pool { choices, terms };
    for _ in 0..steps {
        let term = pool.step();
        pool.terms.push(term);
    }
    results.iter().map(|ty| pool.term(*ty)).collect()
}

/// The terms that expressions are made of.
struct Pool<'a, 'b> {
    choices: &'a mut Choices<'b>,
    terms: Vec<Term>,
}

impl Pool<'_, '_> {
    fn constant(&mut self, ty: ScalarType) -> Term {
        let value = self.choices.pick(&[1i64, 0, 2, -1, 7, 31, 255, -100, i64::from(i32::MAX), i64::MIN]);
        Op::Cast.evaluate(ty, &[value.into()]).into()
    }

    /// Chooses a term of this type: an existing one, or an existing one converted.
    fn term(&mut self, ty: ScalarType) -> Term {
        let fitting: Vec<Term> = self.terms.iter().rev().filter(|term| term.ty() == ty).copied().collect();
        // A constant is not the first possibility: once bytes run out, results must still depend on earlier terms.
        match self.choices.below(8) {
            7 => self.constant(ty),
            _ if !fitting.is_empty() => self.choices.pick(&fitting),
            _ if self.terms.is_empty() => self.constant(ty),
            _ => {
                let all = self.terms.clone();
                self.choices.pick(&all).cast(ty)
            }
        }
    }

    fn operation(&mut self, ty: ScalarType) -> Op {
        let exact = |op: &&Op| {
            let vague = op.is_approximate() || matches!(op, Op::Select | Op::Cast | Op::Bitcast);
            let divides = ty.is_integer() && matches!(op, Op::Div | Op::Rem);
            !vague && !divides && !op.compares() && op.accepts(ty, &vec![ty; op.arity()])
        };
        let fitting: Vec<Op> = Op::ALL.iter().filter(exact).copied().collect();
        self.choices.pick(&fitting)
    }

    /// Makes a division with a check of the divisor, as users get it.
    fn quotient(&mut self, ty: ScalarType, a: Term, b: Term) -> Term {
        let op = self.choices.pick(&[Op::Div, Op::Rem]);
        let zero = Term::from(Constant::zero(ty));
        let site = Site { place: Place::caller("division"), kind: FailureKind::DivisionByZero };
        let checked = b.compare(Op::Ne, zero).check(site, index(0), index(0));
        Term::apply(Op::Select, ty, &[checked, a.binary(op, b), zero])
    }

    fn step(&mut self) -> Term {
        let ty = scalar_type(self.choices);
        match self.choices.below(11) {
            0..=4 => {
                let op = self.operation(ty);
                let operands: Vec<Term> = (0..op.arity()).map(|_| self.term(ty)).collect();
                Term::apply(op, ty, &operands)
            }
            5 => {
                let op = self.choices.pick(&[Op::Lt, Op::Eq, Op::Ne, Op::Le]);
                let (a, b) = (self.term(ty), self.term(ty));
                a.compare(op, b)
            }
            6 => {
                let (c, a, b) = (self.term(ScalarType::Bool), self.term(ty), self.term(ty));
                Term::apply(Op::Select, ty, &[c, a, b])
            }
            7 => self.term(self.terms.last().map_or(ty, |term| term.ty())).cast(ty),
            8 => {
                // Divides only if the divisor is not zero.
                let wide = [ScalarType::I32, ScalarType::I64, ScalarType::U32, ScalarType::U64];
                let is_small = ty.is_integer() && SMALL.contains(&ty);
                let ty = if is_small { ty } else { self.choices.pick(&wide) };
                let (a, b) = (self.term(ty), self.term(ty));
                let divided = self.quotient(ty, a, b);
                if self.choices.below(12) == 11 {
                    return divided; // This may fail.
                }
                let also = self.term(ty).binary(Op::Add, divided);
                let values = branch(b.compare(Op::Ne, Constant::zero(ty).into()), &[divided, also], &[a, b]);
                self.terms.push(values[1]);
                values[0]
            }
            9 => {
                let (start, limit, op) = (self.term(ty), self.term(ScalarType::I32), self.operation(ty));
                let limit = limit.binary(Op::And, Constant::from(7i32).into());
                let others: Vec<Term> = (1..op.arity()).map(|_| self.term(ty)).collect();
                let zero = Term::from(Constant::from(0i32));
                let values = repeat(
                    &[start, zero],
                    |now| now[1].compare(Op::Lt, limit),
                    |now| {
                        let operands: Vec<Term> =
                            std::iter::once(now[0]).chain(others.iter().copied()).collect();
                        vec![
                            Term::apply(op, ty, &operands),
                            now[1].binary(Op::Add, Constant::from(1i32).into()),
                        ]
                    },
                );
                self.terms.push(values[1]);
                values[0]
            }
            _ => {
                let (c, a, b) = (self.term(ScalarType::Bool), self.term(ty), self.term(ty));
                let op = self.operation(ty);
                let operands: Vec<Term> = (0..op.arity()).map(|_| self.term(ty)).collect();
                branch(
                    c,
                    &[Term::apply(op, ty, &operands)],
                    &[if self.choices.below(2) == 0 { a } else { b }],
                )[0]
            }
        }
    }
}
