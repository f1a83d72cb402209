//! Scalar operations (rule 56), comparisons of all values that can be compared, and the order that sorting uses. Operations mean what
//! `pumice_scalar` computes for constants.

use super::value::{Call, Value};
use super::{Evaluator, Outcome};
use crate::ast::Operator;
use crate::diagnostic::Diagnostic;
use crate::evaluate::{constant_named, operation_of, random_named, without_rank};
use crate::source::Span;
use crate::types::Type;
use pumice_scalar::{Constant, Op, ScalarType, Term, Variable, function};
use std::cmp::Ordering;

/// Rotates the bits of a number; the distance is taken modulo their number.
fn rotated(x: Constant, distance: Constant, to_left: bool) -> Constant {
    let distance = distance.as_integer().unwrap_or(0).rem_euclid(64) as u32;
    let bits = x.bits();
    let rotated = match (x.ty().bytes(), to_left) {
        (4, true) => u64::from((bits as u32).rotate_left(distance)),
        (4, false) => u64::from((bits as u32).rotate_right(distance)),
        (_, true) => bits.rotate_left(distance),
        (_, false) => bits.rotate_right(distance),
    };
    Constant::from_bytes(x.ty(), &rotated.to_le_bytes()[..x.ty().bytes()])
}

/// Functions of constants refer to nothing else.
struct Nothing;

impl pumice_scalar::Environment for Nothing {
    fn variable(&self, _: Variable) -> Option<Constant> {
        None
    }

    fn load(&self, _: u64, _: i64) -> Option<Constant> {
        None
    }
}

/// Computes a random number, by its function's name.
fn random(name: &str, ty: ScalarType, arguments: &[Constant]) -> Option<Constant> {
    let terms: Vec<Term> = arguments.iter().map(|argument| Term::from(*argument)).collect();
    let number = function(&[], |_| random_named(name, ty, &terms).into_iter().collect());
    let evaluator = pumice_scalar::Evaluator::new(&number).ok()?;
    evaluator.evaluate(&Nothing, &[]).ok()?.first().copied()
}

impl<'p> Evaluator<'p> {
    /// Applies an operation to numbers of the type of the first.
    pub(super) fn operate(&self, op: Op, operands: &[Constant], span: Span) -> Constant {
        let first = operands.first().map_or(ScalarType::I64, |operand| operand.ty());
        let ty = if op.compares() { ScalarType::Bool } else { first };
        self.step(span);
        op.evaluate(ty, operands)
    }

    /// Converts a number to a type.
    pub(super) fn cast(&self, value: Constant, ty: ScalarType, span: Span) -> Constant {
        self.step(span);
        Op::Cast.evaluate(ty, &[value])
    }

    /// Applies a function on scalars to all its arguments. Both evaluators share the operation of each name, and the constants and random
    /// numbers of a type.
    pub(super) fn scalar_function(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (span, name) = (call.span, &*call.name);
        let given = call.arguments.iter().map(|argument| self.scalar(argument, span));
        let given = given.collect::<Outcome<Vec<_>>>()?;
        let result = match self.result_type(call) {
            Type::Scalar(ty) => ty,
            other => return Err(self.fault(span, format!("a number where `{other}` is wanted"))),
        };
        let value = match (operation_of(name), without_rank(name), &given[..]) {
            (Some((Op::Cast, _)), _, [x]) | (None, "fromInt", [x]) => self.cast(*x, result, span),
            (Some((op, _)), _, operands) => self.operate(op, operands, span),
            (None, "abs", [x]) if x.ty().is_integer() && !x.ty().is_signed() => *x,
            (None, "abs", [x]) => self.operate(Op::Abs, &[*x], span),
            (None, "rotateLeft" | "rotateRight", [distance, x]) => {
                self.step(span);
                rotated(*x, *distance, name == "rotateLeft")
            }
            (None, "toBits" | "fromBits", [x]) => {
                self.step(span);
                Op::Bitcast.evaluate(result, &[*x])
            }
            (None, _, []) => constant_named(name, result),
            (None, _, arguments) => {
                self.step(span);
                random(name, result, arguments).ok_or_else(|| self.fault(span, "no random number"))?
            }
        };
        Ok(Value::Scalar(value))
    }

    /// Applies a binary operator to evaluated operands; `&&`, `||`, `|>` and `.` have rules of their own.
    pub(super) fn binary(
        &self,
        operator: Operator,
        left: &Value<'p>,
        right: &Value<'p>,
        span: Span,
    ) -> Outcome<Value<'p>> {
        use Operator::*;
        let op = match operator {
            Add => Op::Add,
            Subtract => Op::Sub,
            Multiply => Op::Mul,
            Divide | Div => Op::Div,
            Remainder | Mod => Op::Rem,
            BitOr | Or => Op::Or,
            BitXor => Op::Xor,
            BitAnd | And => Op::And,
            ShiftLeft => Op::Shl,
            ShiftRight => Op::Shr,
            Equal | NotEqual => {
                let same = self.equal(left, right, span)?;
                return Ok(Value::Scalar(Constant::from(same == (operator == Equal))));
            }
            Less | LessEqual => return self.less(left, right, operator == LessEqual, span),
            Greater | GreaterEqual => return self.less(right, left, operator == GreaterEqual, span),
            Pipe => return self.apply(right, left.clone(), span),
            Compose => return self.composed(left.clone(), right.clone(), span),
        };
        let (a, b) = (self.scalar(left, span)?, self.scalar(right, span)?);
        if matches!(op, Op::Div | Op::Rem) && b.as_integer() == Some(0) {
            let message = if op == Op::Div { "division by zero" } else { "remainder of a division by zero" };
            let help = "test the divisor before: `if d == 0 then … else …`";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        Ok(Value::Scalar(self.operate(op, &[a, b], span)))
    }

    /// `-a`; unsigned numbers wrap.
    pub(super) fn negated(&self, value: Constant, span: Span) -> Constant {
        match value.ty() {
            ty if ty.is_integer() && !ty.is_signed() => {
                self.operate(Op::Sub, &[Constant::zero(value.ty()), value], span)
            }
            _ => self.operate(Op::Neg, &[value], span),
        }
    }

    /// Collects the scalars of two values of one type, side by side.
    fn pairs(
        &self,
        left: &Value<'p>,
        right: &Value<'p>,
        span: Span,
        pairs: &mut Vec<(Constant, Constant)>,
    ) -> Outcome<()> {
        match (left, right) {
            (Value::Scalar(a), Value::Scalar(b)) => pairs.push((*a, *b)),
            (Value::Tuple(a), Value::Tuple(b)) => {
                a.iter().zip(b.iter()).try_for_each(|(a, b)| self.pairs(a, b, span, pairs))?;
            }
            (Value::Record(a), Value::Record(b)) => {
                a.iter().zip(b.iter()).try_for_each(|((_, a), (_, b))| self.pairs(a, b, span, pairs))?;
            }
            _ => return Err(self.fault(span, "these cannot be compared")),
        }
        Ok(())
    }

    /// `a == b`: a step for each pair of scalars.
    fn equal(&self, left: &Value<'p>, right: &Value<'p>, span: Span) -> Outcome<bool> {
        let parts: Vec<(&Value<'p>, &Value<'p>)> = match (left, right) {
            (Value::Scalar(a), Value::Scalar(b)) => {
                return Ok(self.operate(Op::Eq, &[*a, *b], span).is_true());
            }
            (Value::Sum(a, _), Value::Sum(b, _)) if a != b => {
                self.step(span);
                return Ok(false);
            }
            (Value::Sum(_, a), Value::Sum(_, b)) => {
                self.step(span);
                a.iter().zip(b.iter()).collect()
            }
            (Value::Tuple(a), Value::Tuple(b)) => a.iter().zip(b.iter()).collect(),
            (Value::Record(a), Value::Record(b)) => {
                a.iter().zip(b.iter()).map(|((_, a), (_, b))| (a, b)).collect()
            }
            _ => return Err(self.fault(span, "these cannot be compared")),
        };
        let mut same = true;
        for (a, b) in parts {
            same &= self.equal(a, b, span)?;
        }
        Ok(same)
    }

    /// `a < b` or `a <= b`, in the order of tuples: a step for each pair of scalars up to the first that decides.
    fn less(&self, left: &Value<'p>, right: &Value<'p>, or_equal: bool, span: Span) -> Outcome<Value<'p>> {
        let mut pairs = Vec::new();
        self.pairs(left, right, span, &mut pairs)?;
        let last = pairs.len().saturating_sub(1);
        for (number, (a, b)) in pairs.iter().enumerate() {
            let op = if number == last && or_equal { Op::Le } else { Op::Lt };
            let less = self.operate(op, &[*a, *b], span);
            if number == last || less.is_true() || !Op::Eq.evaluate(ScalarType::Bool, &[*a, *b]).is_true() {
                return Ok(Value::Scalar(less));
            }
        }
        Ok(Value::Scalar(Constant::from(or_equal)))
    }

    /// Compares two values for sorting: in the order of numbers, with -0.0 before 0.0 and NaN last, also in descending order.
    pub(super) fn order(&self, left: &Value<'p>, right: &Value<'p>, falls: bool) -> Ordering {
        let mut pairs = Vec::new();
        // Values that cannot be compared cannot be keys.
        if self
            .pairs(left, right, Span { file: crate::source::FileId(0), start: 0, end: 0 }, &mut pairs)
            .is_err()
        {
            return Ordering::Equal;
        }
        let compared = |(a, b): (Constant, Constant)| match (a.as_float(), b.as_float()) {
            (Some(a), Some(b)) => match (a.is_nan(), b.is_nan()) {
                (false, false) if falls => b.total_cmp(&a),
                (false, false) => a.total_cmp(&b),
                (first, second) => first.cmp(&second),
            },
            _ => {
                let rising = match (a.as_integer(), b.as_integer()) {
                    (Some(a), Some(b)) => a.cmp(&b),
                    _ => a.is_true().cmp(&b.is_true()),
                };
                if falls { rising.reverse() } else { rising }
            }
        };
        pairs.into_iter().map(compared).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}
