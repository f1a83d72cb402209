//! The functions of the language itself: which rule is behind each, once all arguments are there.

use super::pulls::whole;
use super::types::resolve;
use super::value::{Call, FunctionKind, Value};
use super::{Evaluator, Outcome};
use crate::types::{Scheme, Type};
use pumice_scalar::{Constant, Op, ScalarType};
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// A call with one more argument; what it refers to is of this depth.
    pub(super) fn call(&self, call: Call<'p>, depth: u32) -> Outcome<Value<'p>> {
        let arity = self.scheme(&call).map_or(0, |scheme| arity(&scheme.ty));
        match call.arguments.len() < arity {
            true => {
                let span = call.span;
                self.function(FunctionKind::Builtin(call), depth, span)
            }
            false => self.meaning(&call),
        }
    }

    fn scheme(&self, call: &Call<'p>) -> Option<Rc<Scheme>> {
        if let Some(scheme) = self.builtins.borrow().get(&call.name) {
            return Some(scheme.clone());
        }
        let scheme = Rc::new(self.checked.scheme_of_builtin(&call.name)?);
        self.builtins.borrow_mut().insert(call.name.clone(), scheme.clone());
        Some(scheme)
    }

    /// The type of an argument.
    pub(super) fn argument_type(&self, call: &Call<'p>, number: usize) -> Type {
        let scheme = self.scheme(call);
        let mut ty = scheme.as_ref().map(|scheme| &scheme.ty);
        let mut left = number;
        loop {
            match ty {
                Some(Type::LevelFunction(_, to)) => ty = Some(to),
                Some(Type::Function(from, _)) if left == 0 => return resolve(from, &call.types),
                Some(Type::Function(_, to)) => {
                    ty = Some(to);
                    left -= 1;
                }
                _ => return Type::Tuple(Vec::new()),
            }
        }
    }

    /// The type of what it gives.
    pub(super) fn result_type(&self, call: &Call<'p>) -> Type {
        let scheme = self.scheme(call);
        let mut ty = scheme.as_ref().map(|scheme| &scheme.ty);
        while let Some(Type::LevelFunction(_, to) | Type::Function(_, to)) = ty {
            ty = Some(to);
        }
        ty.map_or(Type::Tuple(Vec::new()), |ty| resolve(ty, &call.types))
    }

    fn meaning(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (span, arguments) = (call.span, &call.arguments[..]);
        if let Some(pull) = self.pull_made(call)? {
            return Ok(pull);
        }
        match (&*call.name, arguments) {
            ("index" | "index2" | "index3", _) => self.indexed(call),
            ("length" | "lengthPull", [array]) => Ok(whole(self.pull(array, span)?.shape.extents[0])),
            ("shape2" | "shape3", [array]) => {
                let shape = self.pull(array, span)?.shape;
                Ok(Value::Tuple(shape.extents.into_iter().take(shape.rank).map(whole).collect()))
            }
            (
                "push" | "force" | "mapPush" | "lengthPush" | "concat" | "interleave" | "while" | "power",
                _,
            ) => self.levelled(call),
            ("seqfor", [times, step, initial]) => {
                let mut value = initial.clone();
                for round in 0..self.integer(times, span)?.max(0) {
                    self.take(1, span)?;
                    value = self.apply_all(step, [Value::Scalar(Constant::from(round)), value], span)?;
                }
                Ok(value)
            }
            ("whileLoop", [condition, step, initial]) => {
                let mut value = initial.clone();
                while self.scalar(&self.apply(condition, value.clone(), span)?, span)?.is_true() {
                    self.take(1, span)?;
                    value = self.apply(step, value, span)?;
                }
                Ok(value)
            }
            ("fst", [Value::Tuple(parts)]) if parts.len() == 2 => Ok(parts[0].clone()),
            ("snd", [Value::Tuple(parts)]) if parts.len() == 2 => Ok(parts[1].clone()),
            (_, [Value::Scalar(x)]) => self.of_one(call, *x),
            (_, [Value::Scalar(x), Value::Scalar(y)]) => self.of_two(call, *x, *y),
            _ => self.whole_array(call),
        }
    }

    /// Scalar functions of one argument.
    fn of_one(&self, call: &Call<'p>, x: Constant) -> Outcome<Value<'p>> {
        let op = match &*call.name {
            "not" => Op::Not,
            "abs" if !x.ty().is_float() && !x.ty().is_signed() => return Ok(Value::Scalar(x)),
            "abs" => Op::Abs,
            "sqrt" => Op::Sqrt,
            "exp" => Op::Exp,
            "log" => Op::Log,
            "sin" => Op::Sin,
            "cos" => Op::Cos,
            "tan" => Op::Tan,
            "tanh" => Op::Tanh,
            "floor" => Op::Floor,
            "ceil" => Op::Ceil,
            "round" => Op::Round,
            name => {
                let ty = match name {
                    "int" | "toInt" => Some(ScalarType::I64),
                    "double" => Some(ScalarType::F64),
                    name => ScalarType::from_name(name),
                };
                let ty = ty.ok_or_else(|| self.fault(call.span, format!("`{name}` has no meaning")))?;
                return Ok(Value::Scalar(self.cast(x, ty, call.span)));
            }
        };
        Ok(Value::Scalar(self.operate(op, &[x], call.span)))
    }

    /// Scalar functions of two arguments.
    fn of_two(&self, call: &Call<'p>, x: Constant, y: Constant) -> Outcome<Value<'p>> {
        let op = match &*call.name {
            "min" => Op::Min,
            "max" => Op::Max,
            "atan2" => Op::Atan2,
            "pow" => Op::Pow,
            name => return Err(self.fault(call.span, format!("`{name}` has no meaning"))),
        };
        Ok(Value::Scalar(self.operate(op, &[x, y], call.span)))
    }
}

/// How many arguments a function takes, levels aside.
fn arity(ty: &Type) -> usize {
    let (mut ty, mut count) = (ty, 0);
    loop {
        match ty {
            Type::LevelFunction(_, to) => ty = to,
            Type::Function(_, to) => (ty, count) = (to, count + 1),
            _ => return count,
        }
    }
}
