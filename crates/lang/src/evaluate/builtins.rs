//! Application of built-in functions: the meaning of each in every mode is in `table.rs`.
//!
//! Inside a function on elements, one whose arguments all come from outside is evaluated outside, so it is done once and not for each
//! element.

use super::comprehension::{Initial, Reduction};
use super::environment::{Environment, Instance};
use super::in_kernel::known_level;
use super::table::{Meaning, row, without_rank};
use super::value::{Array, Function, Made, Scalar, Value};
use super::whole::Whole;
use super::{Evaluator, Mode, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::{Scheme, Type};
use pumice_array::operations::View;
use pumice_kernel::AnyLevel;
use pumice_scalar::{Constant, Op, ScalarType, Term};
use std::rc::Rc;

/// A function with all its arguments.
pub(super) struct Call {
    pub name: &'static str,
    pub span: Span,
    pub instance: Rc<Instance>,
    pub level: Option<AnyLevel>,
    pub arguments: Vec<Value>,
}

impl Evaluator {
    /// Returns a built-in function before it is applied, or the value of a built-in without arguments.
    pub(super) fn builtin(self: &Rc<Self>, name: &str, instance: Instance, span: Span) -> Outcome<Value> {
        let Some((name, _)) = row(name) else {
            return Err(self.wrong(span, format!("`{name}` has a type and no meaning yet")));
        };
        self.call(Call { name, span, instance: Rc::new(instance), level: None, arguments: Vec::new() })
    }

    /// Applies one to the arguments that are there.
    pub(super) fn call(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (_, arity) = self.signature(&call)?;
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
        let once = self.mode.get() == Mode::Element && arrays && without_rank(call.name) != "index";
        match once && call.arguments.iter().all(|argument| self.is_outside(argument)) {
            true => self.within(Mode::Host, || self.meaning(call)),
            false => self.meaning(call),
        }
    }

    /// Returns the scheme of a built-in function, and its number of arguments without levels.
    fn signature(&self, call: &Call) -> Outcome<(Rc<Scheme>, usize)> {
        if let Some(known) = self.signatures.borrow().get(call.name) {
            return Ok(known.clone());
        }
        let scheme = self.checked.scheme_of_builtin(call.name);
        let scheme = Rc::new(scheme.ok_or_else(|| self.wrong(call.span, "a function of no type"))?);
        let (mut arity, mut ty) = (0, &scheme.ty);
        while let Type::Function(_, to) | Type::LevelFunction(_, to) = ty {
            arity += usize::from(matches!(ty, Type::Function(..)));
            ty = to;
        }
        self.signatures.borrow_mut().insert(call.name, (scheme.clone(), arity));
        Ok((scheme, arity))
    }

    /// Returns the type of the call's result.
    pub(super) fn result_type(&self, call: &Call) -> Outcome<Type> {
        let (scheme, _) = self.signature(call)?;
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

    /// Returns the level above that of the parts of `concat`.
    pub(super) fn level_above(&self, call: &Call) -> Outcome<AnyLevel> {
        let level = match self.result_type(call)? {
            Type::Array { level: Some(level), .. } => known_level(level),
            _ => None,
        };
        level.ok_or_else(|| self.wrong(call.span, "the level of this array is not known"))
    }

    fn meaning(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let span = call.span;
        match row(call.name).map(|(_, meaning)| meaning) {
            Some(Meaning::Scalar(op)) => {
                let operands = call.arguments.iter().map(|argument| self.scalar(argument, span));
                let operands = operands.collect::<Outcome<Vec<_>>>()?;
                let ty = operands.first().map_or(ScalarType::I64, |first| first.term.ty());
                Ok(self.operate(op, ty, &operands))
            }
            Some(Meaning::Cast(ty)) => {
                let x = self.scalar(&call.arguments[0], span)?;
                Ok(Value::scalar(x.term.cast(ty), x.outside))
            }
            Some(Meaning::Pull) => {
                let (element, rank) = self.element_type(&call)?;
                let Call { name, span, instance, arguments, .. } = call;
                self.make(Made { name, span, instance, arguments }, element, rank)
            }
            Some(Meaning::Everywhere(meaning)) => meaning(self, call),
            Some(Meaning::Outside(_)) if self.mode.get() != Mode::Host => Err(self.only_outside(&call)),
            Some(Meaning::Outside(meaning)) => meaning(&Whole::of(self, &call)?),
            None => Err(self.wrong(span, format!("`{}` has a type and no meaning yet", call.name))),
        }
    }

    /// `append`, which kernels have too.
    pub(super) fn append(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        match self.mode.get() {
            Mode::Kernel => self.append_here(&call),
            Mode::Host => Whole::of(self, &call)?.append(0),
            Mode::Element => Err(self.only_outside(&call)),
        }
    }

    /// Returns the error for an operation of the array language that is used inside of something else.
    fn only_outside(&self, call: &Call) -> Box<Diagnostic> {
        let message =
            format!("`{}` is scheduled automatically, and this is inside of something else", call.name);
        let help = match (self.mode.get(), call.name) {
            (Mode::Kernel, "filter") => "in a kernel, `filterPush <block>` filters the elements of a block",
            (Mode::Kernel, "scan") => {
                "in a kernel, `sklansky <block>` and others scan a block; `scanWarp` scans a warp"
            }
            (Mode::Kernel, "sort") => {
                "in a kernel, `bitonicSort <block>` and those of `import sorters` sort a block"
            }
            (Mode::Kernel, _) => {
                "in a kernel write it with levels, or run the kernel with `force` and use it on what that gives"
            }
            _ => {
                "no array is computed for each element of another one; use a comprehension, or a loop: `seqfor`, `whileLoop`, `sum`"
            }
        };
        Box::new(Diagnostic::new(call.span, message).help(help))
    }

    /// `index` and its like.
    pub(super) fn element_at(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let array = self.array(&call.arguments[0], call.span)?;
        let index = call.arguments[1..].iter().map(|index| self.scalar(index, call.span));
        let index = index.collect::<Outcome<Vec<_>>>()?;
        let terms: Vec<Term> = index.iter().map(|index| index.term).collect();
        // The index may also be that of a loop.
        let is_outside = self.mode.get() == Mode::Host && index.iter().all(|index| index.outside);
        match array {
            Array::Host(_) if is_outside && array.columns(self.sums()).is_some() => {
                self.picked(&call, array, terms)
            }
            _ => self.get(array, &terms, Some(call.name), call.span),
        }
    }

    /// `indexOr`: the element at an index, if the array has it.
    pub(super) fn element_or(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (span, ty) = (call.span, self.result_type(&call)?);
        let [otherwise, array, index] = &call.arguments[..] else {
            return Err(self.wrong(span, "an array is wanted here"));
        };
        let (of, at) = (self.array(array, span)?, self.scalar(index, span)?);
        if self.mode.get() == Mode::Kernel {
            return self.kernel_element_or(of, at.term, otherwise, &ty, span);
        }
        let length = self.extents(of, span)?.first().copied().unwrap_or(at);
        let zero = Term::from(Constant::from(0i64));
        let inside = zero.compare(Op::Le, at.term).binary(Op::And, at.term.compare(Op::Lt, length.term));
        let inside = Scalar { term: inside, outside: at.outside && length.outside };
        let element = || {
            let (instance, arguments) = (call.instance.clone(), vec![array.clone(), index.clone()]);
            self.element_at(Call { name: "index", span, instance, level: None, arguments })
        };
        self.choose(inside, &ty, &element, &|| Ok(otherwise.clone()), span)
    }

    /// Returns an element as an array of rank 0: lengths of arrays may depend on it.
    fn picked(self: &Rc<Self>, call: &Call, array: &Array, index: Vec<Term>) -> Outcome<Value> {
        let steps = vec![Vec::new(); index.len()];
        let (shape, starts) = (self.constant_function(Vec::new()), self.constant_function(index));
        let input = self.described(array, call.span)?;
        let view = View { shape, starts, steps };
        let picked = self.operation(call.name, view, vec![input], (array.element(), 0), call.span)?;
        self.get(self.array(&picked, call.span)?, &[], None, call.span)
    }

    /// `length`.
    pub(super) fn length(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let array = self.array(&call.arguments[0], call.span)?;
        if let Array::Stream(_) = array {
            return self.count(array, call.span);
        }
        let first = self.extents(array, call.span)?.into_iter().next();
        first.map(Value::Scalar).ok_or_else(|| self.wrong(call.span, "an array of no dimension"))
    }

    /// `shape2` and its like.
    pub(super) fn shape(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let extents = self.extents(self.array(&call.arguments[0], call.span)?, call.span)?;
        Ok(Value::Tuple(extents.into_iter().map(Value::Scalar).collect()))
    }

    /// `seqfor`.
    pub(super) fn seqfor(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (span, arguments) = (call.span, &call.arguments);
        let (times, ty) = (self.scalar(&arguments[0], span)?.term, self.result_type(&call)?);
        self.loop_times(times, arguments[2].clone(), &ty, span, &|round, value| {
            self.apply_all(&arguments[1], &[Value::scalar(round, false), value], span)
        })
    }

    /// `whileLoop`.
    pub(super) fn while_loop(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (span, arguments) = (call.span, &call.arguments);
        let ty = self.result_type(&call)?;
        let condition = |value| self.apply(&arguments[0], value, span);
        let step = |value| self.apply(&arguments[1], value, span);
        self.loop_while(arguments[2].clone(), &ty, span, &condition, &step)
    }

    pub(super) fn array<'a>(&self, value: &'a Value, span: Span) -> Outcome<&'a Array> {
        match value {
            Value::Array(array) => Ok(array),
            _ => Err(self.wrong(span, "an array is wanted here")),
        }
    }

    /// Folds: of the array language outside, loops elsewhere.
    pub(super) fn reduce(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let (span, name) = (call.span, call.name);
        let ty = self.result_type(&call)?;
        let number = |value: i64| self.literal(&ty, Constant::from(value), span);
        let (initial, array) = match (name, &call.arguments[..]) {
            ("reduce", [_, initial, array]) => (Some(initial.clone()), array),
            ("sum", [array]) => (Some(number(0)?), array),
            ("product", [array]) => (Some(number(1)?), array),
            ("reduce1", [_, array]) | (_, [array]) => (None, array),
            _ => return Err(self.wrong(span, "an array is wanted here")),
        };
        let array = self.array(array, span)?;
        let operator = |a: Value, b: Value| -> Outcome<Value> {
            let arithmetic = |op: Op| {
                let (a, b) = (self.scalar(&a, span)?, self.scalar(&b, span)?);
                Ok(self.operate(op, a.term.ty(), &[a, b]))
            };
            match name {
                "reduce" | "reduce1" => self.apply_all(&call.arguments[0], &[a, b], span),
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
