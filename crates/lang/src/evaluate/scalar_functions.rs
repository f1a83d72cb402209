//! Functions on scalars that are more than one operation: constants of a type, bits, and random numbers.

use super::builtins::Call;
use super::value::{Scalar, Value};
use super::{Evaluator, Outcome};
use crate::types::Type;
use pumice_array::random::{integer_at, normal_at, uniform_at};
use pumice_scalar::{Constant, Exp, Op, ScalarType, Term};
use std::rc::Rc;

/// A constant that each type has its own of.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    Smallest,
    Largest,
    Infinity,
    NotANumber,
    Epsilon,
}

impl Evaluator {
    /// `fst` and `snd`.
    pub(super) fn half(&self, call: &Call, number: usize) -> Outcome<Value> {
        match &call.arguments[..] {
            [Value::Tuple(parts)] if parts.len() == 2 => Ok(parts[number].clone()),
            _ => Err(self.wrong(call.span, "a pair is wanted here")),
        }
    }

    /// `abs`: unsigned numbers are what they are.
    pub(super) fn absolute(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let x = self.scalar(&call.arguments[0], call.span)?;
        let ty = x.term.ty();
        Ok(match ty {
            ScalarType::U32 | ScalarType::U64 => Value::Scalar(x),
            _ => self.operate(Op::Abs, ty, &[x]),
        })
    }

    /// The type of scalars that a function gives.
    fn scalar_type(&self, call: &Call) -> Outcome<ScalarType> {
        match self.result_type(call)? {
            Type::Scalar(ty) => Ok(ty),
            other => Err(self.wrong(call.span, format!("a number where `{other}` is wanted"))),
        }
    }

    /// `fromInt`: a number of whatever type is wanted.
    pub(super) fn from_int(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let x = self.scalar(&call.arguments[0], call.span)?;
        Ok(Value::scalar(x.term.cast(self.scalar_type(&call)?), x.outside))
    }

    /// The same bits as a number of another type.
    pub(super) fn same_bits(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let ty = self.scalar_type(&call)?;
        Ok(self.operate(Op::Bitcast, ty, &[self.scalar(&call.arguments[0], call.span)?]))
    }

    /// A constant of the type that is wanted.
    pub(super) fn limit(&self, call: &Call, limit: Limit) -> Outcome<Value> {
        use Limit::*;
        let constant = match (self.scalar_type(call)?, limit) {
            (ScalarType::F32, Smallest) => f32::MIN.into(),
            (ScalarType::F32, Largest) => f32::MAX.into(),
            (ScalarType::F32, Infinity) => f32::INFINITY.into(),
            (ScalarType::F32, NotANumber) => f32::NAN.into(),
            (ScalarType::F32, Epsilon) => f32::EPSILON.into(),
            (ScalarType::F64, Smallest) => f64::MIN.into(),
            (ScalarType::F64, Largest) => f64::MAX.into(),
            (ScalarType::F64, Infinity) => f64::INFINITY.into(),
            (ScalarType::F64, NotANumber) => f64::NAN.into(),
            (ScalarType::F64, Epsilon) => f64::EPSILON.into(),
            (ScalarType::I32, Smallest) => i32::MIN.into(),
            (ScalarType::I32, Largest) => i32::MAX.into(),
            (ScalarType::I64, Smallest) => i64::MIN.into(),
            (ScalarType::I64, Largest) => i64::MAX.into(),
            (ScalarType::U32, Largest) => u32::MAX.into(),
            (ScalarType::U64, Largest) => u64::MAX.into(),
            (other, _) => Constant::zero(other),
        };
        Ok(Value::scalar(Term::from(constant), true))
    }

    /// A number whose bits go round, of which those that leave at one end come in at the other; the distance is taken modulo the width.
    pub(super) fn rotated(&self, call: &Call, to_left: bool) -> Outcome<Value> {
        let distance = self.scalar(&call.arguments[0], call.span)?;
        let x = self.scalar(&call.arguments[1], call.span)?;
        let ty = x.term.ty();
        // Shifts to the right of signed numbers would bring in their sign.
        let unsigned = if ty.bytes() == 4 { ScalarType::U32 } else { ScalarType::U64 };
        let bits = Term::apply(Op::Bitcast, unsigned, &[x.term]);
        // Distances are masked to the width, so the way back is the opposite of the way.
        let there = distance.term.cast(unsigned);
        let back = Term::from(Constant::zero(unsigned)).binary(Op::Sub, there);
        let (left, right) = if to_left { (there, back) } else { (back, there) };
        let rotated = bits.binary(Op::Shl, left).binary(Op::Or, bits.binary(Op::Shr, right));
        let rotated = Term::apply(Op::Bitcast, ty, &[rotated]);
        Ok(Value::scalar(rotated, x.outside && distance.outside))
    }

    /// The arguments of a random number: the seed, the place of the number, and all of them.
    fn random_place(&self, call: &Call) -> Outcome<(Exp<u64>, Exp<i64>, Vec<Scalar>)> {
        let all = call.arguments.iter().map(|argument| self.scalar(argument, call.span));
        let all = all.collect::<Outcome<Vec<_>>>()?;
        match &all[..] {
            [seed, .., number] => Ok((Exp::from_term(seed.term), Exp::from_term(number.term), all)),
            _ => Err(self.wrong(call.span, "an argument is missing")),
        }
    }

    /// `uniformAt`: of floats between 0 and 1, of integers any.
    pub(super) fn uniform_at(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (seed, number, all) = self.random_place(&call)?;
        let term = match self.scalar_type(&call)? {
            ScalarType::F32 => uniform_at::<f32>(seed, number).term(),
            ScalarType::I32 => uniform_at::<i32>(seed, number).term(),
            ScalarType::I64 => uniform_at::<i64>(seed, number).term(),
            ScalarType::U32 => uniform_at::<u32>(seed, number).term(),
            ScalarType::U64 => uniform_at::<u64>(seed, number).term(),
            _ => uniform_at::<f64>(seed, number).term(),
        };
        Ok(Value::scalar(term, all.iter().all(|argument| argument.outside)))
    }

    /// `integerAt`: from the lower limit to below the upper one.
    pub(super) fn integer_at(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (seed, number, all) = self.random_place(&call)?;
        let limit = |which: usize| all.get(which).map_or(super::scalars::whole(0), |limit| limit.term);
        let (low, high) = (limit(1), limit(2));
        let term = match self.scalar_type(&call)? {
            ScalarType::I32 => {
                integer_at::<i32>(seed, Exp::from_term(low), Exp::from_term(high), number).term()
            }
            ScalarType::U32 => {
                integer_at::<u32>(seed, Exp::from_term(low), Exp::from_term(high), number).term()
            }
            ScalarType::U64 => {
                integer_at::<u64>(seed, Exp::from_term(low), Exp::from_term(high), number).term()
            }
            _ => integer_at::<i64>(seed, Exp::from_term(low), Exp::from_term(high), number).term(),
        };
        Ok(Value::scalar(term, all.iter().all(|argument| argument.outside)))
    }

    /// `normalAt`: of the normal distribution with mean 0 and variance 1.
    pub(super) fn normal_at(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (seed, number, all) = self.random_place(&call)?;
        let term = match self.scalar_type(&call)? {
            ScalarType::F32 => normal_at::<f32>(seed, number).term(),
            _ => normal_at::<f64>(seed, number).term(),
        };
        Ok(Value::scalar(term, all.iter().all(|argument| argument.outside)))
    }
}
