//! Functions on scalars that are more than one operation: constants of a type, bits, and random numbers.

use super::builtins::Call;
use super::value::Value;
use super::{Evaluator, Outcome};
use crate::types::Type;
use pumice_array::random::{integer_at, normal_at, uniform_at};
use pumice_scalar::{Constant, Exp, Integer, Op, ScalarType, Term, bf16, f16};
use std::rc::Rc;

/// Returns a constant that each type has, by its name; zero for types that have none.
pub(crate) fn constant_named(name: &str, ty: ScalarType) -> Constant {
    let float = |single: f32, double: f64, [half, brain]: [f64; 2]| match ty {
        ScalarType::F32 => single.into(),
        ScalarType::F64 => double.into(),
        ScalarType::F16 => Constant::from_float(ty, half),
        _ => Constant::from_float(ty, brain),
    };
    let largest = [f16::MAX.to_f64(), bf16::MAX.to_f64()];
    match (ty.is_float(), name) {
        (true, "minValue") => float(f32::MIN, f64::MIN, largest.map(|value| -value)),
        (true, "maxValue") => float(f32::MAX, f64::MAX, largest),
        (true, "infinity") => Constant::from_float(ty, f64::INFINITY),
        (true, "nan") => Constant::from_float(ty, f64::NAN),
        (true, "epsilon") => {
            float(f32::EPSILON, f64::EPSILON, [f16::EPSILON.to_f64(), bf16::EPSILON.to_f64()])
        }
        (false, "minValue") => Constant::from_integer(ty, ty.range().0),
        (false, "maxValue") => Constant::from_integer(ty, ty.range().1),
        _ => Constant::zero(ty),
    }
}

/// Computes a random number of a type, by its function's name: from a seed, limits if it has any, and the number's position.
pub(crate) fn random_named(name: &str, ty: ScalarType, arguments: &[Term]) -> Option<Term> {
    let [seed, limits @ .., number] = arguments else { return None };
    let (seed, number) = (Exp::from_term(*seed), Exp::from_term(*number));
    Some(match (name, limits, ty) {
        ("normalAt", _, ScalarType::F32) => normal_at::<f32>(seed, number).term(),
        ("normalAt", _, half) if half.is_half() => normal_at::<f32>(seed, number).term().cast(half),
        ("normalAt", _, _) => normal_at::<f64>(seed, number).term(),
        ("integerAt", [low, high], ty) => {
            let (low, high) = (*low, *high);
            match ty {
                ScalarType::I32 => integer_between::<i32>(seed, low, high, number),
                ScalarType::U32 => integer_between::<u32>(seed, low, high, number),
                ScalarType::U64 => integer_between::<u64>(seed, low, high, number),
                ScalarType::I64 => integer_between::<i64>(seed, low, high, number),
                small => {
                    let [low, high] = [low, high].map(|limit| limit.cast(ScalarType::I32));
                    integer_between::<i32>(seed, low, high, number).cast(small)
                }
            }
        }
        (_, _, ScalarType::F32) => uniform_at::<f32>(seed, number).term(),
        (_, _, ScalarType::I32) => uniform_at::<i32>(seed, number).term(),
        (_, _, ScalarType::I64) => uniform_at::<i64>(seed, number).term(),
        (_, _, ScalarType::U32) => uniform_at::<u32>(seed, number).term(),
        (_, _, ScalarType::U64) => uniform_at::<u64>(seed, number).term(),
        (_, _, half) if half.is_half() => {
            // As many digits as the type has below 1, so that none is rounded up to it.
            let steps = if half == ScalarType::F16 { 2048.0 } else { 256.0 };
            ((uniform_at::<f32>(seed, number) * steps).trunc() / steps).term().cast(half)
        }
        (_, _, small) if small.is_small() => uniform_at::<u32>(seed, number).term().cast(small),
        _ => uniform_at::<f64>(seed, number).term(),
    })
}

/// Computes a random integer from the lower limit to below the upper one.
fn integer_between<T: Integer>(seed: Exp<u64>, low: Term, high: Term, number: Exp<i64>) -> Term {
    integer_at::<T>(seed, Exp::from_term(low), Exp::from_term(high), number).term()
}

impl Evaluator {
    /// `fst` and `snd`.
    pub(super) fn half(&self, call: &Call, number: usize) -> Outcome<Value> {
        match &call.arguments[..] {
            [Value::Tuple(parts)] if parts.len() == 2 => Ok(parts[number].clone()),
            _ => Err(self.wrong(call.span, "a pair is wanted here")),
        }
    }

    /// `abs`: unsigned numbers stay as they are.
    pub(super) fn absolute(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let x = self.scalar(&call.arguments[0], call.span)?;
        let ty = x.term.ty();
        Ok(match ty {
            ty if ty.is_integer() && !ty.is_signed() => Value::Scalar(x),
            _ => self.operate(Op::Abs, ty, &[x]),
        })
    }

    /// Returns the scalar type of a function's result.
    fn scalar_type(&self, call: &Call) -> Outcome<ScalarType> {
        match self.result_type(call)? {
            Type::Scalar(ty) => Ok(ty),
            other => Err(self.wrong(call.span, format!("a number where `{other}` is wanted"))),
        }
    }

    /// `fromInt`: a number of the type of the result.
    pub(super) fn from_int(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let x = self.scalar(&call.arguments[0], call.span)?;
        Ok(Value::scalar(x.term.cast(self.scalar_type(&call)?), x.outside))
    }

    /// Reinterprets the bits of a number as another type.
    pub(super) fn same_bits(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let ty = self.scalar_type(&call)?;
        Ok(self.operate(Op::Bitcast, ty, &[self.scalar(&call.arguments[0], call.span)?]))
    }

    /// Returns a constant of the type of the result.
    pub(super) fn constant_of_type(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let constant = constant_named(call.name, self.scalar_type(&call)?);
        Ok(Value::scalar(Term::from(constant), true))
    }

    /// Rotates the bits of a number; the distance is taken modulo the width.
    pub(super) fn rotated(&self, call: &Call, to_left: bool) -> Outcome<Value> {
        let distance = self.scalar(&call.arguments[0], call.span)?;
        let x = self.scalar(&call.arguments[1], call.span)?;
        let ty = x.term.ty();
        // Shifts to the right of signed numbers would bring in their sign.
        let unsigned = ty.unsigned();
        let bits = Term::apply(Op::Bitcast, unsigned, &[x.term]);
        // Distances are masked to the width, so the way back is the opposite of the way.
        let there = distance.term.cast(unsigned);
        let back = Term::from(Constant::zero(unsigned)).binary(Op::Sub, there);
        let (left, right) = if to_left { (there, back) } else { (back, there) };
        let rotated = bits.binary(Op::Shl, left).binary(Op::Or, bits.binary(Op::Shr, right));
        let rotated = Term::apply(Op::Bitcast, ty, &[rotated]);
        Ok(Value::scalar(rotated, x.outside && distance.outside))
    }

    /// `uniformAt`, `integerAt` and `normalAt`.
    pub(super) fn random(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let all = call.arguments.iter().map(|argument| self.scalar(argument, call.span));
        let all = all.collect::<Outcome<Vec<_>>>()?;
        let terms: Vec<Term> = all.iter().map(|argument| argument.term).collect();
        let term = random_named(call.name, self.scalar_type(&call)?, &terms);
        let term = term.ok_or_else(|| self.wrong(call.span, "an argument is missing"))?;
        Ok(Value::scalar(term, all.iter().all(|argument| argument.outside)))
    }
}
