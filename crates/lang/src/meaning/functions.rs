//! Functions: their kinds, and their application to values and levels (rules 43, 44 and 47).

use super::costs::CostLevel;
use super::value::{Call, Environment, Function, FunctionKind, Meaning, Value};
use super::{Evaluator, Outcome};
use crate::ast::{Expr, Parameter};
use crate::source::Span;
use crate::types::{Argument, Level};
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// Creates a function that refers to values of this depth.
    pub(super) fn function(&self, kind: FunctionKind<'p>, depth: u32, span: Span) -> Outcome<Value<'p>> {
        Ok(Value::Function(Rc::new(Function { kind, depth: self.bounded(depth, span)? })))
    }

    /// Creates a function with the bindings of its surroundings.
    pub(super) fn closure(
        &self,
        parameters: &'p [Parameter],
        body: &'p Expr,
        environment: Environment<'p>,
        span: Span,
    ) -> Outcome<Value<'p>> {
        let depth = environment.depth() + 1;
        self.function(FunctionKind::Closure { parameters, body, environment }, depth, span)
    }

    /// `f . g`.
    pub(super) fn composed(&self, outer: Value<'p>, inner: Value<'p>, span: Span) -> Outcome<Value<'p>> {
        let depth = outer.depth().max(inner.depth()) + 1;
        self.function(FunctionKind::Composed(outer, inner), depth, span)
    }

    /// Applies a function to a value (rule 43).
    pub(super) fn apply(&self, f: &Value<'p>, x: Value<'p>, span: Span) -> Outcome<Value<'p>> {
        let Value::Function(function) = f else { return Err(self.fault(span, "this is not a function")) };
        self.meter.administrative();
        let depth = function.depth.max(x.depth()) + 1;
        match &function.kind {
            FunctionKind::Closure { parameters, body, environment } => match parameters.split_first() {
                Some((Parameter::Value(pattern), rest)) => {
                    let environment = self.matched(pattern, &x, environment.clone())?;
                    self.entered(rest, body, environment, span)
                }
                _ => Err(self.fault(span, "this function takes a level here")),
            },
            FunctionKind::Builtin(call) => {
                let mut call = call.clone();
                call.arguments.push(x);
                self.call(call, depth)
            }
            FunctionKind::Constructor { number, arity, fields } => {
                let fields = fields.iter().cloned().chain([x]).collect();
                self.constructor(*number, *arity, fields, span)
            }
            FunctionKind::Operator { operator, span, left: Some(left) } => {
                self.binary(*operator, left, &x, *span)
            }
            FunctionKind::Operator { operator, span, left: None } => {
                let kind = FunctionKind::Operator { operator: *operator, span: *span, left: Some(x) };
                self.function(kind, depth, *span)
            }
            FunctionKind::Composed(outer, inner) => self.nested(span, || {
                let middle = self.apply(inner, x, span)?;
                self.apply(outer, middle, span)
            }),
        }
    }

    /// Applies a function to several values.
    pub(super) fn apply_all(
        &self,
        f: &Value<'p>,
        values: impl IntoIterator<Item = Value<'p>>,
        span: Span,
    ) -> Outcome<Value<'p>> {
        values.into_iter().try_fold(f.clone(), |f, x| self.apply(&f, x, span))
    }

    /// Applies a function to a level (rule 44).
    pub(super) fn apply_level(&self, f: &Value<'p>, level: CostLevel, span: Span) -> Outcome<Value<'p>> {
        let Value::Function(function) = f else { return Err(self.fault(span, "this is not a function")) };
        self.meter.administrative();
        match &function.kind {
            FunctionKind::Closure { parameters, body, environment } => match parameters.split_first() {
                Some((Parameter::Level(name), rest)) => {
                    let known = Argument::Level(Level { variable: None, above: level as u32 });
                    let variable = self.checked.level_parameter(name.span);
                    let environment = environment
                        .with(Meaning::Level(name.name.clone(), level))
                        .with_types(variable.map(|variable| (variable, known)));
                    self.entered(rest, body, environment, span)
                }
                _ => Err(self.fault(span, "this function takes no level here")),
            },
            FunctionKind::Builtin(call) => {
                let call = Call { level: Some(level), ..call.clone() };
                self.function(FunctionKind::Builtin(call), function.depth, span)
            }
            _ => Err(self.fault(span, "this function takes no level here")),
        }
    }

    /// Evaluates the body if all arguments are there, else returns a function of the rest.
    fn entered(
        &self,
        parameters: &'p [Parameter],
        body: &'p Expr,
        environment: Environment<'p>,
        span: Span,
    ) -> Outcome<Value<'p>> {
        match parameters.is_empty() {
            true => self.evaluate(body, &environment),
            false => self.closure(parameters, body, environment, span),
        }
    }

    /// Applies a constructor to these fields: a value if they are all, else a function.
    pub(super) fn constructor(
        &self,
        number: usize,
        arity: usize,
        fields: Vec<Value<'p>>,
        span: Span,
    ) -> Outcome<Value<'p>> {
        if fields.len() >= arity {
            return Ok(Value::Sum(number, fields.into()));
        }
        let depth = fields.iter().map(Value::depth).max().unwrap_or(0) + 1;
        self.function(FunctionKind::Constructor { number, arity, fields }, depth, span)
    }
}
