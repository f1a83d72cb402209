//! The functions of the language itself: which there are, and what each does in which surroundings.
//!
//! Inside a function on elements, one whose arguments all come from outside is evaluated outside, so it is done once and not for each
//! element.

use super::comprehension::{Initial, Reduction};
use super::environment::{Environment, Instance};
use super::in_kernel::known_level;
use super::value::{Array, Function, Made, Value};
use super::{Evaluator, Mode, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::{Scheme, Type};
use pumice_kernel::AnyLevel;
use pumice_scalar::{Constant, Op, ScalarType};
use std::rc::Rc;

/// A function with all its arguments.
pub(super) struct Call {
    pub name: &'static str,
    pub span: Span,
    pub instance: Rc<Instance>,
    pub level: Option<AnyLevel>,
    pub arguments: Vec<Value>,
}

/// The functions and how many arguments they take, levels aside. Their types are in `pum/builtins.pum`.
const BUILTINS: &[(&str, usize)] = &[
    ("generate", 2),
    ("index", 2),
    ("length", 1),
    ("lengthPull", 1),
    ("map", 2),
    ("mapPull", 2),
    ("zipWith", 3),
    ("slice", 3),
    ("generate2", 3),
    ("generate3", 4),
    ("index2", 3),
    ("index3", 4),
    ("shape2", 1),
    ("shape3", 1),
    ("rows", 1),
    ("map2", 2),
    ("transpose2", 1),
    ("reshape2", 3),
    ("flatten2", 1),
    ("push", 1),
    ("force", 1),
    ("mapPush", 2),
    ("lengthPush", 1),
    ("concat", 2),
    ("interleave", 3),
    ("while", 3),
    ("power", 3),
    ("seqfor", 3),
    ("whileLoop", 3),
    ("reduce", 3),
    ("sum", 1),
    ("product", 1),
    ("minimum", 1),
    ("maximum", 1),
    ("scan", 3),
    ("prescan", 3),
    ("filter", 2),
    ("sort", 1),
    ("sortByKey", 2),
    ("reduceRows", 3),
    ("matmul", 2),
    ("permute", 3),
    ("scatter", 2),
    ("histogram", 2),
    ("expand", 3),
    ("append", 2),
    ("iterate", 3),
    ("iterateWhile", 3),
    ("compute", 1),
    ("fst", 1),
    ("snd", 1),
    ("not", 1),
    ("min", 2),
    ("max", 2),
    ("abs", 1),
    ("sqrt", 1),
    ("exp", 1),
    ("log", 1),
    ("sin", 1),
    ("cos", 1),
    ("tan", 1),
    ("atan2", 2),
    ("tanh", 1),
    ("pow", 2),
    ("floor", 1),
    ("ceil", 1),
    ("round", 1),
    ("i32", 1),
    ("i64", 1),
    ("u32", 1),
    ("u64", 1),
    ("f32", 1),
    ("f64", 1),
    ("int", 1),
    ("double", 1),
    ("toInt", 1),
];

impl Evaluator {
    /// A function of the language, before it is applied.
    pub(super) fn builtin(self: &Rc<Self>, name: &str, instance: Instance, span: Span) -> Outcome<Value> {
        let Some((name, _)) = BUILTINS.iter().find(|(known, _)| *known == name) else {
            return Err(self.wrong(span, format!("`{name}` has a type and no meaning yet")));
        };
        Ok(Value::Function(Rc::new(Function::Builtin {
            name,
            span,
            instance: Rc::new(instance),
            level: None,
            arguments: Vec::new(),
        })))
    }

    /// Applies one to the arguments that are there.
    pub(super) fn call(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let arity = BUILTINS.iter().find(|(name, _)| *name == call.name).map_or(0, |(_, arity)| *arity);
        if call.arguments.len() < arity {
            let Call { name, span, instance, level, arguments } = call;
            return Ok(Value::Function(Rc::new(Function::Builtin {
                name,
                span,
                instance,
                level,
                arguments,
            })));
        }
        let arrays = call.arguments.iter().any(|argument| matches!(argument, Value::Array(Array::Host(_))));
        let once =
            self.mode.get() == Mode::Element && arrays && !matches!(call.name, "index" | "index2" | "index3");
        match once && call.arguments.iter().all(|argument| self.is_outside(argument)) {
            true => self.within(Mode::Host, || self.meaning(call)),
            false => self.meaning(call),
        }
    }

    /// The scheme of a function of the language.
    fn scheme(&self, name: &'static str) -> Option<Rc<Scheme>> {
        if let Some(scheme) = self.schemes.borrow().get(name) {
            return Some(scheme.clone());
        }
        let scheme = Rc::new(self.checked.scheme_of_builtin(name)?);
        self.schemes.borrow_mut().insert(name, scheme.clone());
        Some(scheme)
    }

    /// The type of what it gives.
    fn result_type(&self, call: &Call) -> Outcome<Type> {
        let scheme = self.scheme(call.name).ok_or_else(|| self.wrong(call.span, "a function of no type"))?;
        let mut ty = Environment::of_types((*call.instance).clone()).resolve(&scheme.ty);
        for _ in 0..call.arguments.len() {
            while let Type::LevelFunction(_, to) = ty {
                ty = *to;
            }
            match ty {
                Type::Function(_, to) => ty = *to,
                other => return Ok(other),
            }
        }
        Ok(ty)
    }

    pub(super) fn element_type(&self, call: &Call) -> Outcome<(Type, usize)> {
        match self.result_type(call)? {
            Type::Array { element, sizes, .. } => Ok((*element, sizes.len())),
            other => Ok((other, 0)),
        }
    }

    /// The level above that of the parts of `concat`.
    fn level_above(&self, call: &Call) -> Outcome<AnyLevel> {
        let level = match self.result_type(call)? {
            Type::Array { level: Some(level), .. } => known_level(level),
            _ => None,
        };
        level.ok_or_else(|| self.wrong(call.span, "the level of this array is not known"))
    }

    fn meaning(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        use Op::*;
        let span = call.span;
        let arguments = &call.arguments;
        let scalar = |number: usize| self.scalar(&arguments[number], span);
        let one = |op: Op| scalar(0).map(|x| self.operate(op, x.term.ty(), &[x]));
        let two = |op: Op| Ok(self.operate(op, scalar(0)?.term.ty(), &[scalar(0)?, scalar(1)?]));
        let cast = |ty: ScalarType| {
            let x = scalar(0)?;
            Ok(Value::scalar(x.term.cast(ty), x.outside))
        };
        match call.name {
            "generate" | "map" | "mapPull" | "zipWith" | "slice" | "generate2" | "generate3" | "map2"
            | "rows" | "transpose2" | "reshape2" | "flatten2" => {
                let (element, rank) = self.element_type(&call)?;
                let Call { name, span, instance, arguments, .. } = call;
                self.make(Made { name, span, instance, arguments }, element, rank)
            }
            "index" | "index2" | "index3" => {
                let array = self.array(&arguments[0], span)?;
                let index = arguments[1..].iter().map(|index| Ok(self.scalar(index, span)?.term));
                self.get(array, &index.collect::<Outcome<Vec<_>>>()?, Some(call.name), span)
            }
            "length" | "lengthPull" if matches!(&arguments[0], Value::Array(Array::Stream(_))) => {
                self.count(self.array(&arguments[0], span)?, span)
            }
            "length" | "lengthPull" => {
                let extents = self.extents(self.array(&arguments[0], span)?, span)?;
                extents
                    .into_iter()
                    .next()
                    .map(Value::Scalar)
                    .ok_or_else(|| self.wrong(span, "an array of no dimension"))
            }
            "shape2" | "shape3" => {
                let extents = self.extents(self.array(&arguments[0], span)?, span)?;
                Ok(Value::Tuple(extents.into_iter().map(Value::Scalar).collect()))
            }
            "push" | "force" | "mapPush" | "lengthPush" | "concat" | "interleave" | "while" | "power" => {
                self.levelled(call)
            }
            "seqfor" => {
                let ty = self.result_type(&call)?;
                self.loop_times(scalar(0)?.term, arguments[2].clone(), &ty, span, &|round, value| {
                    self.apply_all(&arguments[1], &[Value::scalar(round, false), value], span)
                })
            }
            "whileLoop" => {
                let ty = self.result_type(&call)?;
                let condition = |value| self.apply(&arguments[0], value, span);
                let step = |value| self.apply(&arguments[1], value, span);
                self.loop_while(arguments[2].clone(), &ty, span, &condition, &step)
            }
            "reduce" | "sum" | "product" | "minimum" | "maximum" => self.reduce(call),
            "fst" | "snd" => match &arguments[0] {
                Value::Tuple(parts) if parts.len() == 2 => Ok(parts[usize::from(call.name == "snd")].clone()),
                _ => Err(self.wrong(span, "a pair is wanted here")),
            },
            "not" => one(Not),
            "min" => two(Min),
            "max" => two(Max),
            "atan2" => two(Atan2),
            "pow" => two(Pow),
            "abs" => match scalar(0)?.term.ty() {
                ScalarType::U32 | ScalarType::U64 => Ok(arguments[0].clone()),
                _ => one(Abs),
            },
            "sqrt" => one(Sqrt),
            "exp" => one(Exp),
            "log" => one(Log),
            "sin" => one(Sin),
            "cos" => one(Cos),
            "tan" => one(Tan),
            "tanh" => one(Tanh),
            "floor" => one(Floor),
            "ceil" => one(Ceil),
            "round" => one(Round),
            "i32" => cast(ScalarType::I32),
            "i64" | "int" | "toInt" => cast(ScalarType::I64),
            "u32" => cast(ScalarType::U32),
            "u64" => cast(ScalarType::U64),
            "f32" => cast(ScalarType::F32),
            "f64" | "double" => cast(ScalarType::F64),
            _ if self.mode.get() != Mode::Host => {
                let message = format!(
                    "`{}` is scheduled automatically, and this is inside of something else",
                    call.name
                );
                let help = match self.mode.get() {
                    Mode::Kernel => {
                        "in a kernel write it with levels, or run the kernel with `force` and use it on what that gives"
                    }
                    _ => {
                        "no array is computed for each element of another one; use a comprehension, or a loop: `seqfor`, `whileLoop`, `sum`"
                    }
                };
                Err(Box::new(Diagnostic::new(span, message).help(help)))
            }
            _ => self.whole_array(call),
        }
    }

    pub(super) fn array<'a>(&self, value: &'a Value, span: Span) -> Outcome<&'a Array> {
        match value {
            Value::Array(array) => Ok(array),
            _ => Err(self.wrong(span, "an array is wanted here")),
        }
    }

    /// Push arrays: outside of kernels they wait for one.
    fn levelled(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (span, arguments) = (call.span, &call.arguments);
        if self.mode.get() != Mode::Kernel {
            return match (call.name, &arguments[..]) {
                ("force", [Value::Suspended(suspended)]) => {
                    if self.mode.get() == Mode::Element {
                        return Err(self.wrong(span, "a kernel cannot be run for each element of an array"));
                    }
                    Ok(Value::Array(self.force(suspended, span)?))
                }
                ("push" | "mapPush" | "concat" | "interleave", _) => {
                    let (element, _) = self.element_type(&call)?;
                    let Call { name, instance, level, mut arguments, .. } = call;
                    let Some(last) = arguments.pop() else {
                        return Err(self.wrong(span, "an argument is missing"));
                    };
                    let function = Function::Builtin { name, span, instance, level, arguments };
                    Ok(self.suspended(Value::Function(Rc::new(function)), last, element, span))
                }
                _ => {
                    let message = format!("`{}` is for the inside of kernels", call.name);
                    let help = "what levels do is part of a kernel: an array at `<grid>`, made by `concat` of blocks or `push <grid>`";
                    Err(Box::new(Diagnostic::new(span, message).help(help)))
                }
            };
        }
        match call.name {
            "push" => {
                let level =
                    call.level.ok_or_else(|| self.wrong(span, "`push` needs a level: `push <block>`"))?;
                self.push(level, self.array(&arguments[0], span)?, span)
            }
            "force" => self.force_here(&arguments[0], span),
            "mapPush" => self.map_push(&arguments[0], &arguments[1], &self.element_type(&call)?.0, span),
            "lengthPush" => self.length_push(&arguments[0], span),
            "concat" => {
                let size = self.scalar(&arguments[0], span)?.term;
                self.concat(self.level_above(&call)?, size, None, self.array(&arguments[1], span)?, span)
            }
            "interleave" => {
                let size = self.scalar(&arguments[0], span)?.term;
                let parts = self.array(&arguments[2], span)?;
                self.concat(self.level_above(&call)?, size, Some(&arguments[1]), parts, span)
            }
            "while" => {
                let condition = |_, array: &Value| self.apply(&arguments[0], array.clone(), span);
                self.steps(&condition, &arguments[1], &arguments[2], span)
            }
            _ => {
                let times = self.scalar(&arguments[0], span)?.term;
                let Some(times) = times.integer() else {
                    return Err(self.wrong(
                        span,
                        "how often `power` does its step must be known when the kernel is built",
                    ));
                };
                let condition = |round: u64, _: &Value| {
                    Ok(Value::scalar(Constant::from((round as i64) < times).into(), true))
                };
                self.steps(&condition, &arguments[1], &arguments[2], span)
            }
        }
    }

    /// Folds: of the array language outside, loops elsewhere.
    fn reduce(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (span, name) = (call.span, call.name);
        let ty = self.result_type(&call)?;
        let number = |value: i64| self.literal(&ty, Constant::from(value), span);
        let (initial, array) = match (name, &call.arguments[..]) {
            ("reduce", [_, initial, array]) => (Some(initial.clone()), array),
            ("sum", [array]) => (Some(number(0)?), array),
            ("product", [array]) => (Some(number(1)?), array),
            (_, [array]) => (None, array),
            _ => return Err(self.wrong(span, "an array is wanted here")),
        };
        let array = self.array(array, span)?;
        let operator = |a: Value, b: Value| -> Outcome<Value> {
            let arithmetic = |op: Op| {
                let (a, b) = (self.scalar(&a, span)?, self.scalar(&b, span)?);
                Ok(self.operate(op, a.term.ty(), &[a, b]))
            };
            match name {
                "reduce" => self.apply_all(&call.arguments[0], &[a, b], span),
                "sum" => arithmetic(Op::Add),
                "product" => arithmetic(Op::Mul),
                "minimum" => arithmetic(Op::Min),
                _ => arithmetic(Op::Max),
            }
        };
        if self.mode.get() == Mode::Host {
            let folded = self.fold(name, array, initial.as_ref(), &ty, (0, span), &operator)?;
            return self.get(&folded, &[], None, span);
        }
        let initial = match (name, initial) {
            ("sum" | "product", Some(initial)) => Initial::Neutral(initial),
            (_, Some(initial)) => Initial::First(initial),
            (_, None) => Initial::Nothing,
        };
        self.reduce_inner(array, &Reduction { name, span, ty, step: &operator, combine: &operator, initial })
    }
}
