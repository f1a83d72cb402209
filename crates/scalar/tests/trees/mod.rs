//! Random expressions as trees, which nothing simplifies or shares.

use proptest::prelude::*;
use pumice_scalar::{Constant, Op, ScalarType, Term, branch, repeat};

/// An expression as a tree, for an evaluation that simplifies nothing.
#[derive(Clone, Debug)]
pub enum Tree {
    Parameter(usize),
    Constant(Constant),
    Apply(Op, ScalarType, Vec<Tree>),
    If(Box<Tree>, Box<Tree>, Box<Tree>),
    /// Adds the second to the first as many times as the third (from 0 to 3) says.
    Repeat(Box<Tree>, Box<Tree>, Box<Tree>),
}

/// One of each type, the parameters of all trees.
pub const PARAMETERS: [ScalarType; 6] =
    [ScalarType::I32, ScalarType::I64, ScalarType::U32, ScalarType::F32, ScalarType::F64, ScalarType::Bool];

/// A value of a type, often one at its edges.
pub fn value(ty: ScalarType) -> BoxedStrategy<Constant> {
    let interesting =
        prop_oneof![Just(0i128), Just(1), Just(-1), Just(2), Just(31), Just(i32::MIN.into()), -9i128..9];
    match ty {
        ScalarType::F32 | ScalarType::F64 => {
            let float =
                prop_oneof![Just(0.0f64), Just(-0.0), Just(1.0), Just(f64::NAN), Just(1e30), -3.0..3.0f64];
            float.prop_map(move |v| Op::Cast.evaluate(ty, &[v.into()])).boxed()
        }
        _ => interesting.prop_map(move |v| Constant::from_integer(ty, v)).boxed(),
    }
}

/// Operations that a type has, to the bit.
fn operations(ty: ScalarType) -> Vec<Op> {
    let approximate = |op: &Op| op.is_approximate() || matches!(op, Op::Select | Op::Cast | Op::Bitcast);
    let fits = |op: &&Op| !approximate(op) && !op.compares() && op.accepts(ty, &vec![ty; op.arity()]);
    Op::ALL.iter().filter(fits).copied().collect()
}

/// A tree of a type.
pub fn tree(ty: ScalarType, depth: u32) -> BoxedStrategy<Tree> {
    let own = PARAMETERS.iter().position(|parameter| *parameter == ty).unwrap_or(0);
    let leaf = prop_oneof![value(ty).prop_map(Tree::Constant), Just(Tree::Parameter(own))];
    if depth == 0 {
        return leaf.boxed();
    }
    let below = move |ty| tree(ty, depth - 1);
    let apply = proptest::sample::select(operations(ty)).prop_flat_map(move |op| {
        prop::collection::vec(below(ty), op.arity()).prop_map(move |operands| Tree::Apply(op, ty, operands))
    });
    let condition = if ty == ScalarType::Bool { ScalarType::I32 } else { ty };
    let comparison =
        (proptest::sample::select(vec![Op::Eq, Op::Ne, Op::Lt, Op::Le]), below(condition), below(condition))
            .prop_map(|(op, a, b)| Tree::Apply(op, ScalarType::Bool, vec![a, b]));
    let choose = (comparison.clone(), below(ty), below(ty), any::<bool>()).prop_map(
        move |(c, a, b, lazy)| match lazy {
            true => Tree::If(Box::new(c), Box::new(a), Box::new(b)),
            false => Tree::Apply(Op::Select, ty, vec![c, a, b]),
        },
    );
    let cast = proptest::sample::select(PARAMETERS.to_vec())
        .prop_flat_map(move |from| below(from).prop_map(move |x| Tree::Apply(Op::Cast, ty, vec![x])));
    if ty == ScalarType::Bool {
        return prop_oneof![leaf, apply, comparison, cast].boxed();
    }
    let times = below(ScalarType::I32)
        .prop_map(|n| Tree::Apply(Op::And, ScalarType::I32, vec![n, Tree::Constant(3i32.into())]));
    let looped = (below(ty), below(ty), times)
        .prop_map(|(start, step, times)| Tree::Repeat(Box::new(start), Box::new(step), Box::new(times)));
    prop_oneof![2 => leaf, 6 => apply, 2 => choose, 2 => cast, 1 => looped].boxed()
}

impl Tree {
    /// The same in this thread's graph.
    pub fn term(&self, arguments: &[Term]) -> Term {
        match self {
            Tree::Parameter(number) => arguments[*number],
            Tree::Constant(constant) => (*constant).into(),
            Tree::Apply(op, ty, operands) => {
                let operands: Vec<Term> = operands.iter().map(|operand| operand.term(arguments)).collect();
                Term::apply(*op, *ty, &operands)
            }
            Tree::If(c, a, b) => branch(c.term(arguments), &[a.term(arguments)], &[b.term(arguments)])[0],
            Tree::Repeat(start, step, times) => {
                let (start, times) = (start.term(arguments), times.term(arguments));
                let zero = Term::from(Constant::from(0i32));
                repeat(
                    &[start, zero],
                    |now| now[1].compare(Op::Lt, times),
                    |now| {
                        // The step is written inside: what does not change must not be computed wrongly outside.
                        let next = now[0].binary(Op::Add, step.term(arguments));
                        vec![next, now[1].binary(Op::Add, Constant::from(1i32).into())]
                    },
                )[0]
            }
        }
    }
}
