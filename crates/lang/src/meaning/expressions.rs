//! The rules of expressions: names, bindings, branches and patterns.

use super::costs::CostLevel;
use super::types::{resolve, resolve_argument};
use super::value::{
    Call, Defined, Definition, Elements, Environment, FunctionKind, Meaning, Pull, Shape, Types, Value,
};
use super::{Evaluator, Outcome};
use crate::ast::{
    Binding, Expr, ExprKind, Function as Written, Ident, LevelExpr, Name, Operator, Pattern, PatternKind,
};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::{Argument, Resolved, Type, Variable};
use pumice_scalar::{Constant, Op, ScalarType};
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// Evaluates an expression.
    pub(super) fn evaluate(&self, expr: &'p Expr, environment: &Environment<'p>) -> Outcome<Value<'p>> {
        self.nested(expr.span, || self.evaluate_kind(expr, environment))
    }

    fn evaluate_kind(&self, expr: &'p Expr, environment: &Environment<'p>) -> Outcome<Value<'p>> {
        let span = expr.span;
        let evaluate = |part: &'p Expr| self.evaluate(part, environment);
        match &expr.kind {
            ExprKind::Error => Err(self.wrong(span, "this could not be read")),
            ExprKind::Integer(value, _) => self.literal(expr, Constant::from(*value), environment),
            ExprKind::Float(value, _) => self.literal(expr, Constant::from(*value), environment),
            ExprKind::Bool(value) => Ok(Value::Scalar(Constant::from(*value))),
            ExprKind::BlockSize => Ok(Value::Scalar(Constant::from(i64::from(self.options.block_size)))),
            ExprKind::Name(path) => self.name(expr, &path.name, environment),
            ExprKind::Tuple(parts) => Ok(Value::Tuple(parts.iter().map(evaluate).collect::<Outcome<_>>()?)),
            ExprKind::List(parts) => {
                let depth = self.bounded(environment.depth() + 1, span)?;
                let (shape, elements) =
                    (Shape::vector(parts.len()), Elements::List(parts, environment.clone()));
                Ok(Value::Pull(Rc::new(Pull { shape, elements, span, depth })))
            }
            ExprKind::Record(fields) => {
                let mut all = self.fields(fields, environment)?;
                all.sort_by(|(a, _), (b, _)| a.cmp(b));
                Ok(Value::Record(all.into()))
            }
            ExprKind::Update(record, fields) => {
                let old = evaluate(record)?;
                let new = self.fields(fields, environment)?;
                let Value::Record(old) = old else { return Err(self.fault(span, "a record is wanted here")) };
                let updated = |(name, value): &(Name, Value<'p>)| {
                    let found = new.iter().find(|(other, _)| other == name);
                    (name.clone(), found.map_or(value, |(_, value)| value).clone())
                };
                Ok(Value::Record(old.iter().map(updated).collect()))
            }
            ExprKind::Field(of, field) => {
                let value = evaluate(of)?;
                self.meter.administrative();
                self.field(&value, field)
            }
            ExprKind::Fn(parameters, body) => self.closure(parameters, body, environment.clone(), span),
            ExprKind::Apply(f, x) => {
                let (f, x) = (evaluate(f)?, evaluate(x)?);
                self.apply(&f, x, span)
            }
            ExprKind::Binary(Operator::Pipe, _, x, f) => {
                let (x, f) = (evaluate(x)?, evaluate(f)?);
                self.apply(&f, x, span)
            }
            ExprKind::ApplyLevel(f, level) => {
                let f = evaluate(f)?;
                self.apply_level(&f, self.level(level, environment)?, span)
            }
            ExprKind::Let(bindings, body) => {
                let mut inner = environment.clone();
                for binding in bindings {
                    inner = self.bind(binding, inner)?;
                }
                self.evaluate(body, &inner)
            }
            ExprKind::If(condition, yes, no) => {
                let holds = self.scalar(&evaluate(condition)?, span)?.is_true();
                self.step(span);
                evaluate(if holds { yes } else { no })
            }
            ExprKind::Case(value, arms) => {
                let value = evaluate(value)?;
                self.step(span);
                let fitting = arms.iter().find(|(pattern, _)| self.fits(pattern, &value));
                let Some((pattern, body)) = fitting else { return Err(self.fault(span, "no arm fits")) };
                self.evaluate(body, &self.matched(pattern, &value, environment.clone())?)
            }
            ExprKind::Binary(operator @ (Operator::And | Operator::Or), place, left, right) => {
                let holds = self.scalar(&evaluate(left)?, span)?.is_true();
                self.step(*place);
                match holds == (*operator == Operator::And) {
                    true => evaluate(right),
                    false => Ok(Value::Scalar(Constant::from(holds))),
                }
            }
            ExprKind::Binary(operator, place, left, right) => {
                let (left, right) = (evaluate(left)?, evaluate(right)?);
                self.binary(*operator, &left, &right, *place)
            }
            ExprKind::Negate(value) => {
                let value = self.scalar(&evaluate(value)?, span)?;
                Ok(Value::Scalar(self.negated(value, span)))
            }
            ExprKind::Section(operator) => {
                self.function(FunctionKind::Operator { operator: *operator, span, left: None }, 1, span)
            }
            ExprKind::Typed(value, _) => evaluate(value),
            ExprKind::Comprehension(head, qualifiers) => {
                self.comprehension(head, qualifiers, environment, span)
            }
        }
    }

    /// Evaluates a literal. It has the type that the checker found; without one it is an `int`, or a `double`.
    fn literal(&self, expr: &'p Expr, value: Constant, environment: &Environment<'p>) -> Outcome<Value<'p>> {
        let ty = match resolve(&self.type_of(expr), &environment.types) {
            Type::Scalar(ty) => ty,
            _ if value.as_float().is_some() => ScalarType::F64,
            _ => ScalarType::I64,
        };
        Ok(Value::Scalar(Op::Cast.evaluate(ty, &[value])))
    }

    fn type_of(&self, expr: &Expr) -> Rc<Type> {
        let mut types = self.types.borrow_mut();
        types.entry(expr.id).or_insert_with(|| Rc::new(self.checked.type_of(expr.id))).clone()
    }

    /// Returns the arguments for the variables of a polymorphic name at a use.
    fn instance(&self, expr: &Expr, environment: &Environment<'p>) -> Outcome<Vec<(Variable, Argument)>> {
        let mut instances = self.instances.borrow_mut();
        let instance = instances.entry(expr.id).or_insert_with(|| self.checked.instance(expr.id).into());
        let resolved = |(variable, argument): &(Variable, Argument)| {
            let argument = resolve_argument(argument, &environment.types);
            // The types of polymorphic functions that call each other may double with each call.
            match &argument {
                Argument::Type(ty) if ty.is_too_large() => Err(Box::new(Diagnostic::too_large(expr.span))),
                _ => Ok((*variable, argument)),
            }
        };
        instance.iter().map(resolved).collect()
    }

    fn fields(
        &self,
        fields: &'p [(Ident, Expr)],
        environment: &Environment<'p>,
    ) -> Outcome<Vec<(Name, Value<'p>)>> {
        let field =
            |(name, value): &'p (Ident, Expr)| Ok((name.name.clone(), self.evaluate(value, environment)?));
        fields.iter().map(field).collect()
    }

    fn field(&self, value: &Value<'p>, field: &Ident) -> Outcome<Value<'p>> {
        let found = match value {
            Value::Record(fields) => {
                fields.iter().find(|(name, _)| *name == field.name).map(|(_, value)| value)
            }
            Value::Tuple(parts) => field.name.parse().ok().and_then(|number: usize| parts.get(number)),
            _ => None,
        };
        found.cloned().ok_or_else(|| self.fault(field.span, format!("there is no `{}` here", field.name)))
    }

    fn name(&self, expr: &'p Expr, name: &Ident, environment: &Environment<'p>) -> Outcome<Value<'p>> {
        let types =
            || -> Outcome<Types> { Ok(Rc::new(self.instance(expr, environment)?.into_iter().collect())) };
        match self.checked.resolved(expr.id) {
            Some(Resolved::Local) => {
                let meaning = self.checked.binding(expr.id).and_then(|place| environment.get(place));
                match meaning {
                    Some(Meaning::Value(_, value)) => Ok(value.clone()),
                    Some(Meaning::Definition(place, definition)) => {
                        self.defined(*place, &definition.clone(), self.instance(expr, environment)?)
                    }
                    _ => Err(self.fault(name.span, format!("`{}` has no value here", name.name))),
                }
            }
            Some(Resolved::Function(id)) => {
                self.written_function(self.checked.function(id).0, &Environment::of_types(types()?))
            }
            Some(Resolved::Builtin(builtin)) => {
                let call = Call {
                    name: builtin,
                    span: expr.span,
                    types: types()?,
                    level: None,
                    arguments: Vec::new(),
                };
                self.call(call, 1)
            }
            Some(Resolved::Constructor(sum, number)) => {
                let arity =
                    self.checked.sum(&sum).constructors.get(number).map_or(0, |(_, fields)| fields.len());
                self.constructor(number, arity, Vec::new(), expr.span)
            }
            None => Err(self.fault(name.span, format!("`{}` has no meaning", name.name))),
        }
    }

    /// Evaluates a function at a use; one without parameters is a value.
    pub(super) fn written_function(
        &self,
        function: &'p Written,
        environment: &Environment<'p>,
    ) -> Outcome<Value<'p>> {
        match function.parameters.is_empty() {
            true => self.evaluate(&function.body, environment),
            false => {
                self.closure(&function.parameters, &function.body, environment.clone(), function.name.span)
            }
        }
    }

    /// Evaluates a local definition at a use.
    fn defined(
        &self,
        place: Span,
        definition: &Rc<Definition<'p>>,
        instance: Vec<(Variable, Argument)>,
    ) -> Outcome<Value<'p>> {
        let environment = definition.environment.with_types(instance);
        match definition.body {
            Defined::Value(body) => self.evaluate(body, &environment),
            Defined::Function(function) => {
                let itself = Meaning::Definition(place, definition.clone());
                self.written_function(function, &environment.with(itself))
            }
        }
    }

    fn bind(&self, binding: &'p Binding, environment: Environment<'p>) -> Outcome<Environment<'p>> {
        self.meter.administrative();
        let define = |place: Span, body: Defined<'p>| {
            self.bounded(environment.depth(), place)?;
            let definition = Rc::new(Definition { body, environment: environment.clone() });
            Ok(environment.with(Meaning::Definition(place, definition)))
        };
        match binding {
            Binding::Function(function) => define(function.name.span, Defined::Function(function)),
            Binding::Value(Pattern { kind: PatternKind::Name(_), span }, value)
                if self.checked.scheme_of_binding(*span).is_some() =>
            {
                define(*span, Defined::Value(value))
            }
            Binding::Value(pattern, value) => {
                let value = self.evaluate(value, &environment)?;
                self.matched(pattern, &value, environment)
            }
        }
    }

    /// Binds the names of a pattern that matches.
    pub(super) fn matched(
        &self,
        pattern: &Pattern,
        value: &Value<'p>,
        environment: Environment<'p>,
    ) -> Outcome<Environment<'p>> {
        match (&pattern.kind, value) {
            (PatternKind::Name(_), value) => {
                self.bounded(environment.depth().max(value.depth()), pattern.span)?;
                Ok(environment.with(Meaning::Value(pattern.span, value.clone())))
            }
            (PatternKind::Tuple(patterns), Value::Tuple(parts))
            | (PatternKind::Constructor(_, patterns), Value::Sum(_, parts)) => {
                patterns.iter().zip(parts.iter()).try_fold(environment, |environment, (pattern, part)| {
                    self.matched(pattern, part, environment)
                })
            }
            (PatternKind::Record(patterns), value) => {
                patterns.iter().try_fold(environment, |environment, (name, pattern)| {
                    self.matched(pattern, &self.field(value, name)?, environment)
                })
            }
            _ => Ok(environment),
        }
    }

    /// Whether a value fits a pattern.
    fn fits(&self, pattern: &Pattern, value: &Value<'p>) -> bool {
        match (&pattern.kind, value) {
            (PatternKind::Integer(number), Value::Scalar(scalar)) => match scalar.as_integer() {
                Some(integer) => integer == *number,
                None => scalar.as_float() == Some(*number as f64),
            },
            (PatternKind::Bool(wanted), Value::Scalar(scalar)) => scalar.is_true() == *wanted,
            (PatternKind::Tuple(patterns), Value::Tuple(parts)) => {
                patterns.iter().zip(parts.iter()).all(|(pattern, part)| self.fits(pattern, part))
            }
            (PatternKind::Record(patterns), value) => patterns
                .iter()
                .all(|(name, pattern)| self.field(value, name).is_ok_and(|field| self.fits(pattern, &field))),
            (PatternKind::Constructor(_, patterns), Value::Sum(number, fields)) => {
                let wanted = self.checked.constructor_of_pattern(pattern.span);
                wanted.is_some_and(|(_, wanted)| wanted == *number)
                    && patterns.iter().zip(fields.iter()).all(|(pattern, field)| self.fits(pattern, field))
            }
            _ => true,
        }
    }

    /// Evaluates a written level.
    fn level(&self, level: &LevelExpr, environment: &Environment<'p>) -> Outcome<CostLevel> {
        match level {
            LevelExpr::Name(name) => {
                let known = CostLevel::ALL.into_iter().take(4).find(|level| level.name() == &*name.name);
                let level = environment.level(&name.name).or(known);
                level.ok_or_else(|| self.fault(name.span, format!("`{}` is not a level", name.name)))
            }
            LevelExpr::Above(count, level, span) => {
                let level = self.level(level, environment)?;
                CostLevel::above_thread((level as u32).saturating_add(*count))
                    .ok_or_else(|| self.wrong(*span, "there is no level above `grid`"))
            }
        }
    }
}
