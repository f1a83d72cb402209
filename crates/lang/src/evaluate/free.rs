//! Free names of expressions: the names that a closure captures, and whether all their values are from outside.

use super::environment::{Environment, Meaning};
use super::value::{Array, Function as FunctionValue, Value};
use super::{Evaluator, Names};
use crate::ast::{Binding, Drawn, Expr, ExprKind, Name, Parameter, Pattern, PatternKind, Qualifier};

impl Evaluator {
    /// Returns the free names of a function with these parameters, of which some are applied, levels and the applied parameters included.
    pub(super) fn free_names(&self, parameters: &[Parameter], given: usize, body: &Expr) -> Names {
        if let Some(names) = self.free.borrow().get(&(body.id, given)) {
            return names.clone();
        }
        let mut found = Free::default();
        found.parameters(parameters.get(given..).unwrap_or(&[]));
        found.expression(body);
        let names: Names = found.names.into();
        self.free.borrow_mut().insert((body.id, given), names.clone());
        names
    }

    /// Whether a value uses nothing of a function on elements or of a kernel around it.
    pub(super) fn is_outside(&self, value: &Value) -> bool {
        let outside = |value: &Value| self.is_outside(value);
        match value {
            Value::Scalar(scalar) => scalar.outside,
            Value::Tuple(parts) => parts.iter().all(outside),
            Value::Record(fields) => fields.iter().all(|(_, field)| self.is_outside(field)),
            Value::Sum(sum) => sum.tag.outside && sum.fields.iter().flatten().all(outside),
            Value::Function(function) => match &**function {
                FunctionValue::Closure { parameters, given: already, body, environment } => {
                    self.environment_is_outside(&self.free_names(parameters, *already, body), environment)
                }
                FunctionValue::Builtin { arguments: values, .. }
                | FunctionValue::Constructor { fields: values, .. } => values.iter().all(outside),
                FunctionValue::Operator { left, .. } => left.iter().all(outside),
                FunctionValue::Composed(outer, inner) => self.is_outside(outer) && self.is_outside(inner),
            },
            Value::Array(Array::Host(host)) => match &host.made {
                Some(made) => made.arguments.iter().all(outside),
                None => true,
            },
            Value::Suspended(suspended) => {
                self.is_outside(&suspended.function) && self.is_outside(&suspended.argument)
            }
            Value::Array(_) | Value::Push(..) | Value::Memory(..) => false,
        }
    }

    pub(super) fn environment_is_outside(&self, names: &[Name], environment: &Environment) -> bool {
        names.iter().all(|name| match environment.get(name) {
            Some(Meaning::Value(value)) => self.is_outside(value),
            Some(Meaning::Definition(definition)) => {
                self.environment_is_outside(&self.names_of(definition), &definition.environment)
            }
            Some(Meaning::Level(_)) | None => true,
        })
    }
}

impl Evaluator {
    /// Returns the free names of an expression; parameters of a function whose body it is are free in it.
    pub(super) fn names_in(&self, expr: &Expr) -> Names {
        self.free_names(&[], usize::MAX, expr)
    }

    /// Returns the free names of a comprehension.
    pub(super) fn names_in_comprehension(&self, element: &Expr, qualifiers: &[Qualifier]) -> Names {
        let mut found = Free::default();
        qualifiers.iter().for_each(|qualifier| found.qualifier(qualifier));
        found.expression(element);
        found.names.into()
    }

    /// Returns the names that are used behind each qualifier of a comprehension; behind the last one, in its element.
    pub(super) fn live_names(&self, qualifiers: &[Qualifier], element: &Expr) -> Vec<Names> {
        let mut live = vec![self.names_in(element)];
        for qualifier in qualifiers.iter().skip(1).rev() {
            let behind = live.last().cloned().unwrap_or_else(|| Names::from([]));
            let mut found = Free::default();
            found.qualifier(qualifier);
            behind.iter().for_each(|name| found.use_(name));
            live.push(found.names.into());
        }
        live.reverse();
        live
    }
}

#[derive(Default)]
struct Free {
    bound: Vec<Name>,
    names: Vec<Name>,
}

impl Free {
    fn use_(&mut self, name: &Name) {
        if !self.bound.contains(name) && !self.names.contains(name) {
            self.names.push(name.clone());
        }
    }

    fn parameters(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            match parameter {
                Parameter::Value(pattern) => self.pattern(pattern),
                Parameter::Level(name) => self.bound.push(name.name.clone()),
            }
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Name(name) => self.bound.push(name.clone()),
            PatternKind::Tuple(parts) | PatternKind::Constructor(_, parts) => {
                parts.iter().for_each(|part| self.pattern(part));
            }
            PatternKind::Record(fields) => fields.iter().for_each(|(_, part)| self.pattern(part)),
            PatternKind::Error | PatternKind::Any | PatternKind::Integer(_) | PatternKind::Bool(_) => {}
        }
    }

    /// Restores the bound names after `f`.
    fn scoped(&mut self, f: impl FnOnce(&mut Self)) {
        let before = self.bound.len();
        f(self);
        self.bound.truncate(before);
    }

    fn expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Error
            | ExprKind::Integer(..)
            | ExprKind::Float(..)
            | ExprKind::Bool(_)
            | ExprKind::BlockSize
            | ExprKind::Section(_) => {}
            ExprKind::Name(path) => {
                if path.module.is_none() {
                    self.use_(&path.name.name);
                }
            }
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|part| self.expression(part))
            }
            ExprKind::Record(fields) => fields.iter().for_each(|(_, field)| self.expression(field)),
            ExprKind::Update(record, fields) => {
                self.expression(record);
                fields.iter().for_each(|(_, field)| self.expression(field));
            }
            ExprKind::Field(of, _) | ExprKind::Negate(of) | ExprKind::Typed(of, _) => self.expression(of),
            ExprKind::Fn(parameters, body) => self.scoped(|free| {
                free.parameters(parameters);
                free.expression(body);
            }),
            ExprKind::Apply(f, x) | ExprKind::Binary(_, _, f, x) => {
                self.expression(f);
                self.expression(x);
            }
            ExprKind::ApplyLevel(f, level) => {
                self.expression(f);
                self.level(level);
            }
            ExprKind::Let(bindings, body) => self.scoped(|free| {
                bindings.iter().for_each(|binding| free.binding(binding));
                free.expression(body);
            }),
            ExprKind::If(condition, yes, no) => {
                [condition, yes, no].into_iter().for_each(|expr| self.expression(expr));
            }
            ExprKind::Case(value, arms) => {
                self.expression(value);
                for (pattern, body) in arms {
                    self.scoped(|free| {
                        free.pattern(pattern);
                        free.expression(body);
                    });
                }
            }
            ExprKind::Comprehension(element, qualifiers) => self.scoped(|free| {
                qualifiers.iter().for_each(|qualifier| free.qualifier(qualifier));
                free.expression(element);
            }),
        }
    }

    fn level(&mut self, level: &crate::ast::LevelExpr) {
        match level {
            crate::ast::LevelExpr::Name(name) => self.use_(&name.name),
            crate::ast::LevelExpr::Above(_, level, _) => self.level(level),
        }
    }

    fn binding(&mut self, binding: &Binding) {
        match binding {
            Binding::Value(pattern, value) => {
                self.expression(value);
                self.pattern(pattern);
            }
            Binding::Function(function) => {
                self.bound.push(function.name.name.clone());
                self.scoped(|free| {
                    free.parameters(&function.parameters);
                    free.expression(&function.body);
                });
            }
        }
    }

    fn qualifier(&mut self, qualifier: &Qualifier) {
        match qualifier {
            Qualifier::Draw(draws) => {
                for (_, drawn) in draws {
                    match drawn {
                        Drawn::Array(array) => self.expression(array),
                        Drawn::Range(from, to) => {
                            self.expression(from);
                            self.expression(to);
                        }
                    }
                }
                draws.iter().for_each(|(pattern, _)| self.pattern(pattern));
            }
            Qualifier::Guard(expr) | Qualifier::GroupBy(expr) | Qualifier::Take(expr) => {
                self.expression(expr)
            }
            Qualifier::Let(pattern, value) => {
                self.expression(value);
                self.pattern(pattern);
            }
            Qualifier::OrderBy(keys) => keys.iter().for_each(|(key, _)| self.expression(key)),
            Qualifier::Distinct(_) => {}
        }
    }
}
