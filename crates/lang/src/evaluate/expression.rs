//! Evaluation of each form of expression.

use super::builtins::Call;
use super::environment::{Definition, Environment, Instance, Meaning};
use super::local::FEW;
use super::value::{Function, Scalar, Sum, Suspended, Value};
use super::{Evaluator, MOST_DEEP, Mode, Outcome};
use crate::ast::{
    Binding, Expr, ExprKind, Function as Written, Ident, LevelExpr, Name, Operator, Parameter, Pattern,
    PatternKind,
};
use crate::diagnostic::Diagnostic;
use crate::program::is_standard;
use crate::source::Span;
use crate::types::{Argument, FunctionId, Level, Resolved, Type};
use pumice_kernel::AnyLevel;
use pumice_scalar::{Constant, Op, ScalarType, Term};
use std::cell::OnceCell;
use std::rc::Rc;

/// The levels, from the lowest.
pub(super) const LEVELS: [AnyLevel; 4] = [AnyLevel::Thread, AnyLevel::Warp, AnyLevel::Block, AnyLevel::Grid];

impl Evaluator {
    /// Evaluates an expression.
    pub(super) fn evaluate(self: &Rc<Self>, expr: &Expr, environment: &Environment) -> Outcome<Value> {
        let (steps, depth) = (self.steps.get() + 1, self.depth.get() + 1);
        if steps > self.options.most_steps {
            let message = "building this program takes too many steps";
            let help = "recursion is written out while a program is built: does it come to an end for sizes that are known then?";
            return Err(Box::new(Diagnostic::new(environment.users_place(expr.span), message).help(help)));
        }
        if depth > MOST_DEEP {
            let message = "calls are nested too deeply";
            let help = "recursion is written out while a program is built; for loops of a program there are `while`, `seqfor` and `iterate`";
            return Err(Box::new(Diagnostic::new(environment.users_place(expr.span), message).help(help)));
        }
        self.steps.set(steps);
        self.depth.set(depth);
        let value = self.evaluate_kind(expr, environment);
        self.depth.set(depth - 1);
        value
    }

    /// Whether an expression in a function on elements is an array that mentions nothing of the element: it is computed once.
    fn is_computed_once(&self, expr: &Expr, environment: &Environment) -> bool {
        let may_be = match &expr.kind {
            ExprKind::Apply(..) | ExprKind::Binary(Operator::Pipe, ..) => true,
            // Of few elements a thread chooses by itself.
            ExprKind::List(parts) => parts.len() > FEW as usize,
            _ => false,
        };
        may_be
            && self.mode.get() == Mode::Element
            && matches!(environment.resolve(&self.checked.type_of(expr.id)), Type::Array { level: None, .. })
            && self.environment_is_outside(&self.names_in(expr), environment)
    }

    fn evaluate_kind(self: &Rc<Self>, expr: &Expr, environment: &Environment) -> Outcome<Value> {
        let span = environment.users_place(expr.span);
        if self.is_computed_once(expr, environment) {
            return self.within(Mode::Host, || self.evaluate_kind(expr, environment));
        }
        let ty = || environment.resolve(&self.checked.type_of(expr.id));
        match &expr.kind {
            ExprKind::Error => Err(self.wrong(span, "this could not be read")),
            ExprKind::Integer(value, _) => self.literal(&ty(), Constant::from(*value), span),
            ExprKind::Float(value, _) => self.literal(&ty(), Constant::from(*value), span),
            ExprKind::Bool(value) => Ok(Value::scalar(Constant::from(*value).into(), true)),
            ExprKind::BlockSize => {
                Ok(Value::scalar(Constant::from(i64::from(self.options.block_size)).into(), true))
            }
            ExprKind::Name(path) => self.name(expr, &path.name, environment),
            ExprKind::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.evaluate(part, environment));
                Ok(Value::Tuple(parts.collect::<Outcome<_>>()?))
            }
            ExprKind::List(parts) => {
                let Type::Array { element, .. } = ty() else {
                    return Err(self.wrong(span, "a list of no type"));
                };
                if let Type::Array { level: Some(_), .. } = *element {
                    return self.list_of_pushes(parts, *element, environment, span);
                }
                let parts =
                    parts.iter().map(|part| self.evaluate(part, environment)).collect::<Outcome<Vec<_>>>()?;
                self.list(parts, *element, span)
            }
            ExprKind::Record(fields) => {
                let mut all = self.fields(fields, environment)?;
                all.sort_by(|(a, _), (b, _)| a.cmp(b));
                Ok(Value::Record(all.into()))
            }
            ExprKind::Update(record, fields) => {
                let Value::Record(old) = self.evaluate(record, environment)? else {
                    return Err(self.wrong(record.span, "a record is wanted here"));
                };
                let new = self.fields(fields, environment)?;
                let updated = |(name, value): &(Name, Value)| {
                    let found = new.iter().find(|(other, _)| other == name);
                    (name.clone(), found.map_or(value, |(_, value)| value).clone())
                };
                Ok(Value::Record(old.iter().map(updated).collect()))
            }
            ExprKind::Field(of, field) => {
                let value = self.evaluate(of, environment)?;
                self.field(&value, field)
            }
            ExprKind::Fn(parameters, body) => Ok(self.closure(parameters, body, environment)),
            ExprKind::Apply(f, x) => {
                let (f, x) = (self.evaluate(f, environment)?, self.evaluate(x, environment)?);
                self.applied(f, x, expr, environment)
            }
            ExprKind::Binary(Operator::Pipe, _, x, f) => {
                let (x, f) = (self.evaluate(x, environment)?, self.evaluate(f, environment)?);
                self.applied(f, x, expr, environment)
            }
            ExprKind::ApplyLevel(f, level) => {
                let f = self.evaluate(f, environment)?;
                let level = self.level(level, environment)?;
                self.apply_level(&f, level, span)
            }
            ExprKind::Let(bindings, body) => {
                let inner = bindings
                    .iter()
                    .try_fold(environment.clone(), |inner, binding| self.bind(binding, inner))?;
                self.evaluate(body, &inner)
            }
            ExprKind::If(condition, yes, no) => {
                let condition = self.evaluate(condition, environment)?;
                let condition = self.scalar(&condition, span)?;
                let (yes, no) = (|| self.evaluate(yes, environment), || self.evaluate(no, environment));
                self.choose(condition, &ty(), &yes, &no, span)
            }
            ExprKind::Case(value, arms) => {
                let value = self.evaluate(value, environment)?;
                self.case(&value, arms, &ty(), environment, span)
            }
            ExprKind::Binary(operator @ (Operator::And | Operator::Or), _, left, right) => {
                let left = self.evaluate(left, environment)?;
                let condition = self.scalar(&left, span)?;
                let known = |value: bool| Value::scalar(Constant::from(value).into(), true);
                let boolean = Type::Scalar(ScalarType::Bool);
                let right = || self.evaluate(right, environment);
                match operator {
                    Operator::And => self.choose(condition, &boolean, &right, &|| Ok(known(false)), span),
                    _ => self.choose(condition, &boolean, &|| Ok(known(true)), &right, span),
                }
            }
            ExprKind::Binary(operator, place, left, right) => {
                let (left, right) = (self.evaluate(left, environment)?, self.evaluate(right, environment)?);
                self.binary(*operator, &left, &right, environment.users_place(*place))
            }
            ExprKind::Negate(value) => {
                let value = self.evaluate(value, environment)?;
                let value = self.scalar(&value, span)?;
                let ty = value.term.ty();
                Ok(match ty {
                    // There is no negation of unsigned numbers; they wrap.
                    ty if ty.is_integer() && !ty.is_signed() => {
                        let zero = Scalar { term: Constant::zero(ty).into(), outside: true };
                        self.operate(Op::Sub, ty, &[zero, value])
                    }
                    _ => self.operate(Op::Neg, ty, &[value]),
                })
            }
            ExprKind::Section(operator) => {
                Ok(Value::Function(Rc::new(Function::Operator { operator: *operator, span, left: None })))
            }
            ExprKind::Typed(value, _) => self.evaluate(value, environment),
            ExprKind::Comprehension(element, qualifiers) => {
                self.comprehension((element, qualifiers), &ty(), environment, span)
            }
        }
    }

    fn fields(
        self: &Rc<Self>,
        fields: &[(Ident, Expr)],
        environment: &Environment,
    ) -> Outcome<Vec<(Name, Value)>> {
        let field =
            |(name, value): &(Ident, Expr)| Ok((name.name.clone(), self.evaluate(value, environment)?));
        fields.iter().map(field).collect()
    }

    fn field(&self, value: &Value, field: &Ident) -> Outcome<Value> {
        let found = match value {
            Value::Record(fields) => {
                fields.iter().find(|(name, _)| *name == field.name).map(|(_, value)| value)
            }
            Value::Tuple(parts) => field.name.parse().ok().and_then(|number: usize| parts.get(number)),
            _ => None,
        };
        found.cloned().ok_or_else(|| self.wrong(field.span, format!("there is no `{}` here", field.name)))
    }

    /// Returns the shared body of a function.
    pub(super) fn body(&self, body: &Expr) -> Rc<Expr> {
        let mut bodies = self.bodies.borrow_mut();
        bodies.entry(body.id).or_insert_with(|| Rc::new(body.clone())).clone()
    }

    fn closure(&self, parameters: &[Parameter], body: &Expr, environment: &Environment) -> Value {
        let function = Function::Closure {
            parameters: parameters.into(),
            given: 0,
            body: self.body(body),
            environment: environment.clone(),
        };
        Value::Function(Rc::new(function))
    }

    fn name(self: &Rc<Self>, expr: &Expr, name: &Ident, environment: &Environment) -> Outcome<Value> {
        let instance = || {
            let instance = environment.resolve_all(self.checked.instance(expr.id));
            let too_large = |argument: &Argument| matches!(argument, Argument::Type(ty) if ty.is_too_large());
            match instance.values().any(too_large) {
                true => Err(Box::new(Diagnostic::too_large(expr.span))),
                false => Ok(instance),
            }
        };
        let span = environment.users_place(expr.span);
        match self.checked.resolved(expr.id) {
            Some(Resolved::Local) => match environment.get(&name.name) {
                Some(Meaning::Value(value)) => Ok(value.clone()),
                Some(Meaning::Definition(definition)) => self.defined(&definition.clone(), instance()?),
                _ => Err(self.wrong(name.span, format!("`{}` has no value here", name.name))),
            },
            Some(Resolved::Function(id)) => {
                let inner = Environment::of_types(instance()?);
                let is_users = !is_standard(self.checked.function(id).1);
                self.global(id, if is_users { inner } else { inner.called_at(span) })
            }
            Some(Resolved::Builtin(builtin)) => self.builtin(&builtin, instance()?, span),
            Some(Resolved::Constructor(sum, number)) => {
                let Type::Sum(_, types) =
                    result_of(&environment.resolve(&self.checked.type_of(expr.id))).clone()
                else {
                    return Err(self.wrong(name.span, "a constructor of no type"));
                };
                self.constructor(sum, number, types.into(), Vec::new(), name.span)
            }
            None => Err(self.wrong(name.span, format!("`{}` has no meaning", name.name))),
        }
    }

    /// Evaluates a function of the program, whose type variables are those of the environment.
    pub(super) fn global(self: &Rc<Self>, id: FunctionId, environment: Environment) -> Outcome<Value> {
        if let Some(value) = self.given.borrow().get(&id) {
            return Ok(value.clone());
        }
        let (function, _) = self.checked.function(id);
        self.function(function, &environment)
    }

    fn function(self: &Rc<Self>, function: &Written, environment: &Environment) -> Outcome<Value> {
        match function.parameters.is_empty() {
            true => self.evaluate(&self.body(&function.body), environment),
            false => Ok(self.closure(&function.parameters, &function.body, environment)),
        }
    }

    /// Evaluates a local definition at a use.
    fn defined(self: &Rc<Self>, definition: &Rc<Definition>, instance: Instance) -> Outcome<Value> {
        let mut environment = definition.environment.with_types(instance);
        if let Some(name) = &definition.own_name {
            environment = environment.with(name, Meaning::Definition(definition.clone()));
        }
        match definition.parameters.is_empty() {
            true => self.evaluate(&definition.body, &environment),
            false => Ok(self.closure(&definition.parameters, &definition.body, &environment)),
        }
    }

    fn bind(self: &Rc<Self>, binding: &Binding, environment: Environment) -> Outcome<Environment> {
        match binding {
            Binding::Function(function) => {
                let definition = Definition {
                    own_name: Some(function.name.name.clone()),
                    parameters: function.parameters.clone().into(),
                    body: self.body(&function.body),
                    environment: environment.clone(),
                };
                Ok(environment.with(&function.name.name, Meaning::Definition(Rc::new(definition))))
            }
            Binding::Value(Pattern { kind: PatternKind::Name(name), span }, value)
                if self.checked.scheme_of_binding(*span).is_some() =>
            {
                let definition = Definition {
                    own_name: None,
                    parameters: Rc::from([]),
                    body: self.body(value),
                    environment: environment.clone(),
                };
                Ok(environment.with(name, Meaning::Definition(Rc::new(definition))))
            }
            Binding::Value(pattern, value) => {
                let value = self.evaluate(value, &environment)?;
                self.matched(pattern, &value, environment)
            }
        }
    }

    /// Binds the names of a pattern that always matches.
    pub(super) fn matched(
        &self,
        pattern: &Pattern,
        value: &Value,
        environment: Environment,
    ) -> Outcome<Environment> {
        match (&pattern.kind, value) {
            (PatternKind::Any, _) => Ok(environment),
            (PatternKind::Name(name), value) => Ok(environment.with(name, Meaning::Value(value.clone()))),
            (PatternKind::Tuple(patterns), Value::Tuple(parts)) if patterns.len() == parts.len() => {
                patterns.iter().zip(parts.iter()).try_fold(environment, |environment, (pattern, part)| {
                    self.matched(pattern, part, environment)
                })
            }
            (PatternKind::Record(patterns), value) => {
                patterns.iter().try_fold(environment, |environment, (name, pattern)| {
                    self.matched(pattern, &self.field(value, name)?, environment)
                })
            }
            (PatternKind::Constructor(..), Value::Sum(sum)) => {
                let (number, patterns) = self.constructor_pattern(pattern)?;
                let fields = sum.fields.get(number).map_or(&[][..], |fields| fields);
                patterns.iter().zip(fields).try_fold(environment, |environment, (pattern, field)| {
                    self.matched(pattern, field, environment)
                })
            }
            _ => Ok(environment),
        }
    }

    fn constructor_pattern<'a>(&self, pattern: &'a Pattern) -> Outcome<(usize, &'a [Pattern])> {
        match (&pattern.kind, self.checked.constructor_of_pattern(pattern.span)) {
            (PatternKind::Constructor(_, patterns), Some((_, number))) => Ok((number, patterns)),
            _ => Err(self.wrong(pattern.span, "a constructor of no type")),
        }
    }

    /// Whether a value fits a pattern.
    fn fits(self: &Rc<Self>, pattern: &Pattern, value: &Value) -> Outcome<Scalar> {
        let always = Scalar { term: Constant::from(true).into(), outside: true };
        let all = |mut parts: Vec<Scalar>| {
            parts.retain(|part| part.term.constant() != Some(Constant::from(true)));
            let outside = parts.iter().all(|part| part.outside);
            let term = parts.into_iter().map(|part| part.term).reduce(|all, one| all.binary(Op::And, one));
            term.map_or(always, |term| Scalar { term, outside })
        };
        Ok(match (&pattern.kind, value) {
            (PatternKind::Integer(number), Value::Scalar(scalar)) => {
                let number = match u64::try_from(*number) {
                    Ok(number) => Constant::from(number),
                    Err(_) => Constant::from(*number as i64),
                };
                let number = Term::from(number).cast(scalar.term.ty());
                Scalar { term: scalar.term.compare(Op::Eq, number), outside: scalar.outside }
            }
            (PatternKind::Bool(true), Value::Scalar(scalar)) => *scalar,
            (PatternKind::Bool(false), Value::Scalar(_)) => {
                self.scalar(&self.not(value, pattern.span)?, pattern.span)?
            }
            (PatternKind::Tuple(patterns), Value::Tuple(parts)) => {
                let parts = patterns.iter().zip(parts.iter()).map(|(pattern, part)| self.fits(pattern, part));
                all(parts.collect::<Outcome<_>>()?)
            }
            (PatternKind::Record(patterns), value) => {
                let parts =
                    patterns.iter().map(|(name, pattern)| self.fits(pattern, &self.field(value, name)?));
                all(parts.collect::<Outcome<_>>()?)
            }
            (PatternKind::Constructor(..), Value::Sum(sum)) => {
                let (number, patterns) = self.constructor_pattern(pattern)?;
                let tag = Term::from(Constant::from(number as i32));
                let mut parts =
                    vec![Scalar { term: sum.tag.term.compare(Op::Eq, tag), outside: sum.tag.outside }];
                let fields = sum.fields.get(number).map_or(&[][..], |fields| fields);
                for (pattern, field) in patterns.iter().zip(fields) {
                    parts.push(self.fits(pattern, field)?);
                }
                all(parts)
            }
            _ => always,
        })
    }

    fn case(
        self: &Rc<Self>,
        value: &Value,
        arms: &[(Pattern, Expr)],
        ty: &Type,
        environment: &Environment,
        span: Span,
    ) -> Outcome<Value> {
        let Some(((pattern, body), rest)) = arms.split_first() else {
            return Err(self.wrong(span, "no arm fits"));
        };
        let body = || self.evaluate(body, &self.matched(pattern, value, environment.clone())?);
        if rest.is_empty() {
            return body();
        }
        let fits = self.fits(pattern, value)?;
        self.choose(fits, ty, &body, &|| self.case(value, rest, ty, environment, span), span)
    }

    /// Evaluates a written level.
    pub(super) fn level(&self, level: &LevelExpr, environment: &Environment) -> Outcome<AnyLevel> {
        match level {
            LevelExpr::Name(name) => match (&*name.name, environment.get(&name.name)) {
                (_, Some(Meaning::Level(level))) => Ok(*level),
                ("thread", _) => Ok(AnyLevel::Thread),
                ("warp", _) => Ok(AnyLevel::Warp),
                ("block", _) => Ok(AnyLevel::Block),
                ("grid", _) => Ok(AnyLevel::Grid),
                _ => Err(self.wrong(name.span, format!("`{}` is not a level", name.name))),
            },
            LevelExpr::Above(count, level, span) => {
                let level = self.level(level, environment)?;
                let number = LEVELS.iter().position(|other| *other == level).unwrap_or(0) + *count as usize;
                LEVELS.get(number).copied().ok_or_else(|| self.wrong(*span, "there is no level above `grid`"))
            }
        }
    }

    /// Evaluates a written application. Outside of kernels, one that gives a push array waits for its kernel.
    fn applied(
        self: &Rc<Self>,
        f: Value,
        x: Value,
        expr: &Expr,
        environment: &Environment,
    ) -> Outcome<Value> {
        if self.mode.get() == Mode::Host
            && let Type::Array { element, level: Some(_), .. } =
                environment.resolve(&self.checked.type_of(expr.id))
        {
            return Ok(self.suspended(f, x, *element, environment.users_place(expr.span)));
        }
        self.apply(&f, x, environment.users_place(expr.span))
    }

    pub(super) fn suspended(&self, function: Value, argument: Value, element: Type, span: Span) -> Value {
        Value::Suspended(Rc::new(Suspended { function, argument, element, span, forced: OnceCell::new() }))
    }

    /// Applies a function to a value.
    pub(super) fn apply(self: &Rc<Self>, f: &Value, x: Value, span: Span) -> Outcome<Value> {
        let Value::Function(function) = f else { return Err(self.wrong(span, "this is not a function")) };
        match &**function {
            Function::Closure { parameters, given, body, environment } => match parameters.get(*given) {
                Some(Parameter::Value(pattern)) => {
                    let environment = self.matched(pattern, &x, environment.clone())?;
                    self.entered(parameters, given + 1, body, environment)
                }
                _ => Err(self.wrong(span, "this function takes a level here")),
            },
            Function::Builtin { name, span, instance, level, arguments } => {
                let arguments = arguments.iter().cloned().chain([x]).collect();
                self.call(Call { name, span: *span, instance: instance.clone(), level: *level, arguments })
            }
            Function::Constructor { sum, number, types, fields } => {
                let fields = fields.iter().cloned().chain([x]).collect();
                self.constructor(sum.clone(), *number, types.clone(), fields, span)
            }
            Function::Operator { operator, span, left } => match left {
                Some(left) => self.binary(*operator, left, &x, *span),
                None => Ok(Value::Function(Rc::new(Function::Operator {
                    operator: *operator,
                    span: *span,
                    left: Some(x),
                }))),
            },
            Function::Composed(outer, inner) => {
                let middle = self.apply(inner, x, span)?;
                self.apply(outer, middle, span)
            }
        }
    }

    /// Applies a function to several values.
    pub(super) fn apply_all(self: &Rc<Self>, f: &Value, values: &[Value], span: Span) -> Outcome<Value> {
        values.iter().try_fold(f.clone(), |f, x| self.apply(&f, x.clone(), span))
    }

    fn apply_level(self: &Rc<Self>, f: &Value, level: AnyLevel, span: Span) -> Outcome<Value> {
        let Value::Function(function) = f else { return Err(self.wrong(span, "this is not a function")) };
        match &**function {
            Function::Closure { parameters, given, body, environment } => match parameters.get(*given) {
                Some(Parameter::Level(name)) => {
                    let above = LEVELS.iter().position(|other| *other == level).unwrap_or(0) as u32;
                    let known = Argument::Level(Level { variable: None, above });
                    let types = self.checked.level_parameter(name.span).map(|variable| (variable, known));
                    let environment = environment
                        .with(&name.name, Meaning::Level(level))
                        .with_types(types.into_iter().collect());
                    self.entered(parameters, given + 1, body, environment)
                }
                _ => Err(self.wrong(span, "this function takes no level here")),
            },
            Function::Builtin { name, span, instance, arguments, .. } => {
                Ok(Value::Function(Rc::new(Function::Builtin {
                    name,
                    span: *span,
                    instance: instance.clone(),
                    level: Some(level),
                    arguments: arguments.clone(),
                })))
            }
            _ => Err(self.wrong(span, "this function takes no level here")),
        }
    }

    /// Evaluates the body if all arguments are there, else returns a function of the rest.
    fn entered(
        self: &Rc<Self>,
        parameters: &Rc<[Parameter]>,
        given: usize,
        body: &Rc<Expr>,
        environment: Environment,
    ) -> Outcome<Value> {
        if given == parameters.len() {
            return self.evaluate(body, &environment);
        }
        let function =
            Function::Closure { parameters: parameters.clone(), given, body: body.clone(), environment };
        Ok(Value::Function(Rc::new(function)))
    }

    /// Applies a constructor to these fields: a value if they are all, else a function.
    fn constructor(
        &self,
        sum: crate::types::SumId,
        number: usize,
        types: Rc<[Type]>,
        fields: Vec<Value>,
        span: Span,
    ) -> Outcome<Value> {
        let ty = Type::Sum(sum.clone(), types.to_vec());
        let all = super::layout::fields_of(&ty, self.sums()).unwrap_or_default();
        let Some(own) = all.get(number) else { return Err(self.wrong(span, "a constructor of no type")) };
        if fields.len() < own.len() {
            return Ok(Value::Function(Rc::new(Function::Constructor { sum, number, types, fields })));
        }
        let mut fields = Some(fields);
        let columns = all.iter().enumerate().map(|(other, types)| match other == number {
            true => fields.take().unwrap_or_default(),
            false => types.iter().map(|ty| self.zero(ty)).collect(),
        });
        let fields = columns.collect();
        let tag = Scalar { term: Constant::from(number as i32).into(), outside: true };
        Ok(Value::Sum(Rc::new(Sum { id: sum, tag, fields })))
    }
}

/// Returns the type that a function of any number of arguments gives when it has them all.
fn result_of(ty: &Type) -> &Type {
    match ty {
        Type::Function(_, to) | Type::LevelFunction(_, to) => result_of(to),
        other => other,
    }
}
