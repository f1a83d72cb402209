//! Functions of levels, on push arrays: outside of kernels they wait for one, inside they are operations of the kernel language
//! (`in_kernel.rs`).

use super::builtins::Call;
use super::environment::Environment;
use super::value::{Function, LIST, Made, Value};
use super::{Evaluator, Mode, Outcome};
use crate::ast::{Expr, Parameter, Pattern, PatternKind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_kernel::AnyLevel;
use pumice_scalar::{Constant, Term};
use std::rc::Rc;

impl Evaluator {
    /// Applies a function of levels, in any mode.
    pub(super) fn levelled(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        match self.mode.get() {
            Mode::Kernel => self.in_kernel(&call),
            _ => self.outside_of_kernels(call),
        }
    }

    /// Applies a function of levels outside of any kernel: a push array waits, and `force` of one of the grid runs its kernel.
    fn outside_of_kernels(self: &Rc<Self>, call: Call) -> Outcome<Value> {
        let span = call.span;
        if let ("force", [Value::Suspended(suspended)]) = (call.name, &call.arguments[..]) {
            if self.mode.get() == Mode::Element {
                return Err(self.wrong(span, "a kernel cannot be run for each element of an array"));
            }
            return Ok(Value::Array(self.force(suspended, span)?));
        }
        if let Type::Array { element, level: Some(_), .. } = self.result_type(&call)? {
            let Call { name, instance, level, mut arguments, .. } = call;
            let Some(last) = arguments.pop() else {
                return Err(self.wrong(span, "an argument is missing"));
            };
            let function = Function::Builtin { name, span, instance, level, arguments };
            return Ok(self.suspended(Value::Function(Rc::new(function)), last, *element, span));
        }
        let message = format!("`{}` is for the inside of kernels", call.name);
        let help = "what levels do is part of a kernel: an array at `<grid>`, made by `concat` of blocks or `push <grid>`";
        Err(Box::new(Diagnostic::new(span, message).help(help)))
    }

    fn in_kernel(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let (span, arguments) = (call.span, &call.arguments);
        let number = |number: usize| self.scalar(&arguments[number], span).map(|number| number.term);
        let array = |number: usize| self.array(&arguments[number], span);
        match call.name {
            "push" => self.push(self.level_of(call)?, array(0)?, span),
            "pushBy" => self.push_by(self.level_of(call)?, number(0)?, array(1)?, span),
            "filterPush" => self.filter_push(self.level_of(call)?, &arguments[0], array(1)?, span),
            "scatterPush" => self.scatter_push(self.level_of(call)?, number(0)?, array(1)?, span),
            "pairwise" => self.pairwise(self.level_of(call)?, call),
            "force" => self.force_here(&arguments[0], span),
            "forceWithin" => self.force_within(number(0)?, &arguments[1], span),
            "ifWhole" => self.if_whole(call),
            "concatTiles" => self.concat_tiles(call),
            "forceAs" => self.force_as(call),
            "forceTile" => self.force_tile(call),
            "concatTiles2D" => self.concat_tiles_2d(call),
            "forceWindows" => self.force_windows(call),
            "concatOwned" => self.concat_owned(call),
            "mapPush" => self.map_push(&arguments[0], &arguments[1], &self.element_type(call)?.0, span),
            "lengthPush" => self.length_push(&arguments[0], span),
            "appendPush" => self.append_push(&arguments[0], &arguments[1], span),
            "unpairPush" => self.unpair_push(&arguments[0], &self.element_type(call)?.0, span),
            "ixMap" => self.index_map(&arguments[0], &arguments[1], span),
            "takePush" => self.take_push(number(0)?, &arguments[1], span),
            "perform" => self.perform(&arguments[0], span),
            "concat" => self.concat(self.level_above(call)?, number(0)?, None, array(1)?, span),
            "interleave" => {
                self.concat(self.level_above(call)?, number(0)?, Some(&arguments[1]), array(2)?, span)
            }
            "while" => {
                let condition = |_, array: &Value| self.apply(&arguments[0], array.clone(), span);
                self.steps(&condition, &arguments[1], &arguments[2], span)
            }
            "whileWithin" => {
                let condition = |_, array: &Value| self.apply(&arguments[1], array.clone(), span);
                let capacity = self.known(number(0)?, "how many elements there are at most", span)?;
                let capacity = usize::try_from(capacity).unwrap_or(0);
                self.loop_steps(&condition, &arguments[2], &arguments[3], capacity, span)
            }
            "power" => {
                let times = self.known(number(0)?, "how often `power` does its step", span)?;
                let condition = |round: u64, _: &Value| {
                    Ok(Value::scalar(Constant::from((round as i64) < times).into(), true))
                };
                self.steps(&condition, &arguments[1], &arguments[2], span)
            }
            _ => self.lanes(call),
        }
    }

    /// Creates a list of push arrays. Each is described where it is used, at the execution scope there, because that may write memory.
    pub(super) fn list_of_pushes(
        self: &Rc<Self>,
        parts: &[Expr],
        element: Type,
        environment: &Environment,
        span: Span,
    ) -> Outcome<Value> {
        let waiting = |part: &Expr| {
            let anything = Pattern { kind: PatternKind::Any, span: part.span };
            let function = Function::Closure {
                parameters: Rc::from([Parameter::Value(anything)]),
                given: 0,
                body: self.body(part),
                environment: environment.clone(),
            };
            let nothing = Value::Tuple(Rc::from([]));
            self.suspended(Value::Function(Rc::new(function)), nothing, element.clone(), part.span)
        };
        let arguments = parts.iter().map(waiting).collect();
        self.make(Made { name: LIST, span, instance: Rc::default(), arguments }, element.clone(), 1)
    }

    /// Returns the push array of a list with this number.
    pub(super) fn listed(self: &Rc<Self>, parts: &[Value], index: Term, span: Span) -> Outcome<Value> {
        let number = match (index.integer(), parts.len()) {
            (_, 1) => Some(0),
            (number, _) => number.and_then(|number| usize::try_from(number).ok()),
        };
        match number.and_then(|number| parts.get(number)) {
            Some(Value::Suspended(waiting)) => {
                self.apply(&waiting.function, waiting.argument.clone(), waiting.span)
            }
            _ => {
                let message =
                    "which push array of this list it is would be known only while the program runs";
                let help = "make all parts by one function of their number: `generate 4 (fn part => push <block> …)`";
                Err(Box::new(Diagnostic::new(span, message).help(help)))
            }
        }
    }

    /// Returns the level that a function was applied to.
    fn level_of(&self, call: &Call) -> Outcome<AnyLevel> {
        let missing = || self.wrong(call.span, format!("`{0}` needs a level: `{0} <block>`", call.name));
        call.level.ok_or_else(missing)
    }

    /// Returns a number that must be known when the kernel is built.
    pub(super) fn known(&self, term: Term, what: &str, span: Span) -> Outcome<i64> {
        term.integer()
            .ok_or_else(|| self.wrong(span, format!("{what} must be known when the kernel is built")))
    }
}
