//! From a push array of the grid, outside, to a call of a kernel: what it uses from outside becomes the kernel's parameters.
//!
//! Pulls are not parameters themselves: their elements are computed in the kernel, of what they are made of. Everything else that is an
//! array outside is memory that the kernel reads.

use super::environment::{Definition, Environment, Meaning};
use super::layout::columns;
use super::value::{Array, Function as FunctionValue, Host, InKernel, Made, Scalar, Sum, Suspended, Value};
use super::{Evaluator, KERNEL, Mode, Outcome};
use crate::ast::Name;
use crate::source::Span;
use pumice_array::Described;
use pumice_array::operations::KernelCall;
use pumice_kernel::{self as kernel, Length, ParameterKind, Pull, define_data};
use pumice_scalar::{Function, Id, Node, Term, Variable};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// What a kernel takes from outside, in the order in which it is met.
#[derive(Default)]
struct Captured {
    kinds: Vec<ParameterKind>,
    arrays: Vec<Arc<Described>>,
    scalars: Vec<Term>,
    array_numbers: HashMap<u64, usize>,
    scalar_numbers: HashMap<Id, usize>,
}

/// Parameters of a kernel that is being built, by what they stand for.
struct Given<'a> {
    captured: &'a Captured,
    values: &'a [kernel::Value],
}

/// How the kernel gets a number from outside.
enum Source {
    /// It computes it, of lengths of its arrays and other parameters.
    Computed(Function),
    /// It is a parameter.
    Parameter,
}

impl Captured {
    fn array(&mut self, described: &Arc<Described>) {
        if self.array_numbers.contains_key(&described.id()) {
            return;
        }
        self.array_numbers.insert(described.id(), self.kinds.len());
        self.kinds.push(ParameterKind::Array { types: described.types().to_vec(), changes: false });
        self.arrays.push(described.clone());
        if described.rank() != 1 {
            (0..described.rank()).for_each(|dimension| self.parameter(described.extent(dimension)));
        }
    }

    fn parameter(&mut self, term: Term) {
        if term.constant().is_some() || self.scalar_numbers.contains_key(&term.id()) {
            return;
        }
        self.scalar_numbers.insert(term.id(), self.kinds.len());
        self.kinds.push(ParameterKind::Scalar(term.ty()));
        self.scalars.push(term);
    }
}

impl Evaluator {
    /// The array that a push array of the grid gives: its kernel is called.
    pub(super) fn force(self: &Rc<Self>, suspended: &Rc<Suspended>, span: Span) -> Outcome<Array> {
        if let Some(array) = suspended.forced.get() {
            return Ok(array.clone());
        }
        let element = &suspended.element;
        let types = columns(element, self.sums()).ok_or_else(|| self.not_stored(element, span))?;
        let mut captured = Captured::default();
        self.collect(&suspended.function, &mut captured, span)?;
        self.collect(&suspended.argument, &mut captured, span)?;
        // The kernel is what the function describes; who applied it may be no file at all, but a command line.
        let described_at = match &suspended.function {
            Value::Function(function) => match &**function {
                FunctionValue::Closure { body, .. } => body.span,
                _ => suspended.span,
            },
            _ => suspended.span,
        };
        let place = self.place(KERNEL, described_at);
        let number = self.kernels.replace(self.kernels.get() + 1);
        let name = if number == 0 { KERNEL.to_string() } else { format!("{KERNEL}_{number}") };
        let definition = kernel::written_at(place, || {
            define_data(&name, self.options.block_size, &captured.kinds, &types, |values| {
                let given = Given { captured: &captured, values: &values };
                let push = self.within(Mode::Kernel, || {
                    let function = self.inside(&suspended.function, &given)?;
                    let argument = self.inside(&suspended.argument, &given)?;
                    self.apply(&function, argument, suspended.span)
                });
                match push {
                    Ok(Value::Push(push, _)) => Some(kernel::Value::Push(push)),
                    Ok(_) => None,
                    Err(diagnostic) => {
                        self.failure.borrow_mut().get_or_insert(diagnostic);
                        None
                    }
                }
            })
        });
        self.kept(())?;
        let scalars = captured.scalars.iter().map(|term| self.constant_function(vec![*term])).collect();
        let call = KernelCall { definition: definition.map(Arc::new), scalars };
        let described = self.alive(Described::new(call, captured.arrays, 1, types, place));
        let array = Array::Host(Rc::new(Host::given(element.clone(), described)));
        Ok(suspended.forced.get_or_init(|| array).clone())
    }

    /// The names of a definition's body.
    fn names_of(&self, definition: &Definition) -> Rc<[Name]> {
        self.free_names(&definition.parameters, 0, &definition.body)
    }

    /// Finds what a value takes from outside.
    fn collect(self: &Rc<Self>, value: &Value, captured: &mut Captured, span: Span) -> Outcome<()> {
        match value {
            Value::Scalar(scalar) => {
                self.collect_scalar(scalar.term, captured);
                Ok(())
            }
            Value::Tuple(parts) => parts.iter().try_for_each(|part| self.collect(part, captured, span)),
            Value::Record(fields) => {
                fields.iter().try_for_each(|(_, field)| self.collect(field, captured, span))
            }
            Value::Sum(sum) => {
                self.collect_scalar(sum.tag.term, captured);
                sum.fields.iter().flatten().try_for_each(|field| self.collect(field, captured, span))
            }
            Value::Function(function) => match &**function {
                FunctionValue::Closure { parameters, given: already, body, environment } => self
                    .collect_environment(
                        &self.free_names(parameters, *already, body),
                        environment,
                        captured,
                        span,
                    ),
                FunctionValue::Builtin { arguments: values, .. }
                | FunctionValue::Constructor { fields: values, .. } => {
                    values.iter().try_for_each(|value| self.collect(value, captured, span))
                }
                FunctionValue::Operator { left, .. } => {
                    left.iter().try_for_each(|left| self.collect(left, captured, span))
                }
                FunctionValue::Composed(outer, inner) => {
                    self.collect(outer, captured, span)?;
                    self.collect(inner, captured, span)
                }
            },
            Value::Array(Array::Host(host)) => match &host.made {
                Some(made) => made.arguments.iter().try_for_each(|value| self.collect(value, captured, span)),
                None => {
                    captured.array(&self.describe(host, span)?);
                    Ok(())
                }
            },
            Value::Suspended(suspended) => {
                self.collect(&suspended.function, captured, span)?;
                self.collect(&suspended.argument, captured, span)
            }
            Value::Array(_) | Value::Push(..) => {
                Err(self.wrong(span, "a kernel inside of a function on elements"))
            }
        }
    }

    /// A number from outside that is made of lengths of vectors and of arguments is computed in the kernel again: what is proved of an
    /// index needs to know that it is the length of the array.
    fn source(&self, term: Term) -> Source {
        let function = self.constant_function(vec![term]);
        let computes = function.nodes().iter().all(|node| match node {
            Node::Constant(_) | Node::Apply { .. } | Node::Variable(Variable::Argument(_), _) => true,
            Node::Variable(Variable::Extent { array, .. }, _) => {
                self.living(*array).is_some_and(|array| array.rank() == 1)
            }
            _ => false,
        });
        if computes { Source::Computed(function) } else { Source::Parameter }
    }

    /// An array that was described.
    fn living(&self, id: u64) -> Option<Arc<Described>> {
        self.alive.borrow().get(&id).cloned()
    }

    fn collect_scalar(&self, term: Term, captured: &mut Captured) {
        if term.constant().is_some() {
            return;
        }
        let Source::Computed(function) = self.source(term) else { return captured.parameter(term) };
        for node in function.nodes() {
            match node {
                Node::Variable(Variable::Extent { array, .. }, _) => {
                    self.living(*array).iter().for_each(|array| captured.array(array));
                }
                Node::Variable(variable, ty) => captured.parameter(Term::variable(*variable, *ty)),
                _ => {}
            }
        }
    }

    /// A number as the kernel sees it.
    fn inside_scalar(&self, scalar: Scalar, given: &Given<'_>) -> Scalar {
        if scalar.term.constant().is_some() {
            return scalar;
        }
        let parameter = |term: Term| {
            let number = given.captured.scalar_numbers.get(&term.id());
            number.and_then(|number| given.values.get(*number)).map(|value| value.clone().scalar(term.ty()))
        };
        let Source::Computed(function) = self.source(scalar.term) else {
            return Scalar { term: parameter(scalar.term).unwrap_or(scalar.term), outside: false };
        };
        let mut leaf = |variable: Variable, ty| {
            let known = match variable {
                Variable::Extent { array, .. } => {
                    let number = given.captured.array_numbers.get(&array);
                    number
                        .and_then(|number| given.values.get(*number))
                        .map(|value| length_of(&value.clone().pull()))
                }
                _ => parameter(Term::variable(variable, ty)),
            };
            known.unwrap_or_else(|| Term::variable(variable, ty))
        };
        let stray = |ty| Term::invalid(ty, "a number that no kernel can compute");
        let terms = function.instantiate(&mut leaf, &mut |_, ty, _, _| stray(ty), &mut |of, _| stray(of.ty));
        Scalar { term: terms.first().copied().unwrap_or(scalar.term), outside: false }
    }

    fn collect_environment(
        self: &Rc<Self>,
        names: &[Name],
        environment: &Environment,
        captured: &mut Captured,
        span: Span,
    ) -> Outcome<()> {
        for name in names {
            match environment.get(name) {
                Some(Meaning::Value(value)) => self.collect(&value.clone(), captured, span)?,
                Some(Meaning::Definition(definition)) => {
                    let definition = definition.clone();
                    self.collect_environment(
                        &self.names_of(&definition),
                        &definition.environment,
                        captured,
                        span,
                    )?;
                }
                Some(Meaning::Level(_)) | None => {}
            }
        }
        Ok(())
    }

    /// A value as the kernel sees it.
    fn inside(self: &Rc<Self>, value: &Value, given: &Given<'_>) -> Outcome<Value> {
        let all = |values: &[Value]| {
            values.iter().map(|value| self.inside(value, given)).collect::<Outcome<Vec<_>>>()
        };
        Ok(match value {
            Value::Scalar(scalar) => Value::Scalar(self.inside_scalar(*scalar, given)),
            Value::Tuple(parts) => Value::Tuple(all(parts)?.into()),
            Value::Record(fields) => {
                let field = |(name, value): &(Name, Value)| Ok((name.clone(), self.inside(value, given)?));
                Value::Record(fields.iter().map(field).collect::<Outcome<_>>()?)
            }
            Value::Sum(sum) => {
                let fields = sum.fields.iter().map(|fields| all(fields)).collect::<Outcome<_>>()?;
                Value::Sum(Rc::new(Sum {
                    id: sum.id.clone(),
                    tag: self.inside_scalar(sum.tag, given),
                    fields,
                }))
            }
            Value::Function(function) => Value::Function(Rc::new(match &**function {
                FunctionValue::Closure { parameters, given: already, body, environment } => {
                    FunctionValue::Closure {
                        parameters: parameters.clone(),
                        given: *already,
                        body: body.clone(),
                        environment: self.inside_environment(
                            &self.free_names(parameters, *already, body),
                            environment,
                            given,
                        )?,
                    }
                }
                FunctionValue::Builtin { name, span, instance, level, arguments } => FunctionValue::Builtin {
                    name,
                    span: *span,
                    instance: instance.clone(),
                    level: *level,
                    arguments: all(arguments)?,
                },
                FunctionValue::Constructor { sum, number, types, fields } => FunctionValue::Constructor {
                    sum: sum.clone(),
                    number: *number,
                    types: types.clone(),
                    fields: all(fields)?,
                },
                FunctionValue::Operator { operator, span, left } => FunctionValue::Operator {
                    operator: *operator,
                    span: *span,
                    left: left.as_ref().map(|left| self.inside(left, given)).transpose()?,
                },
                FunctionValue::Composed(outer, inner) => {
                    FunctionValue::Composed(self.inside(outer, given)?, self.inside(inner, given)?)
                }
            })),
            Value::Array(Array::Host(host)) => match &host.made {
                Some(made) => {
                    let made = Made {
                        name: made.name,
                        span: made.span,
                        instance: made.instance.clone(),
                        arguments: all(&made.arguments)?,
                    };
                    self.make(made, host.element.clone(), host.rank)?
                }
                None => self.parameter(host, given)?,
            },
            Value::Suspended(suspended) => {
                let function = self.inside(&suspended.function, given)?;
                let argument = self.inside(&suspended.argument, given)?;
                self.apply(&function, argument, suspended.span)?
            }
            Value::Array(_) | Value::Push(..) => value.clone(),
        })
    }

    fn inside_environment(
        self: &Rc<Self>,
        names: &[Name],
        environment: &Environment,
        given: &Given<'_>,
    ) -> Outcome<Environment> {
        let failure = RefCell::new(None);
        let mapped = environment.map(names, &mut |meaning| match meaning {
            Meaning::Value(value) => match self.inside(value, given) {
                Ok(value) => Meaning::Value(value),
                Err(diagnostic) => {
                    failure.borrow_mut().get_or_insert(diagnostic);
                    meaning.clone()
                }
            },
            Meaning::Level(_) => meaning.clone(),
            Meaning::Definition(definition) => {
                match self.inside_environment(&self.names_of(definition), &definition.environment, given) {
                    Ok(environment) => Meaning::Definition(Rc::new(Definition {
                        own_name: definition.own_name.clone(),
                        parameters: definition.parameters.clone(),
                        body: definition.body.clone(),
                        environment,
                    })),
                    Err(diagnostic) => {
                        failure.borrow_mut().get_or_insert(diagnostic);
                        meaning.clone()
                    }
                }
            }
        });
        match failure.into_inner() {
            Some(diagnostic) => Err(diagnostic),
            None => Ok(mapped),
        }
    }

    /// The parameter that an array from outside is.
    fn parameter(&self, host: &Host, given: &Given<'_>) -> Outcome<Value> {
        let lost = || {
            self.wrong(
                Span { file: crate::source::FileId(0), start: 0, end: 0 },
                "an array that no kernel has",
            )
        };
        let described = host.described.get().ok_or_else(lost)?;
        let number = given.captured.array_numbers.get(&described.id()).ok_or_else(lost)?;
        let pull: Pull<kernel::Any, Length> = given.values.get(*number).cloned().ok_or_else(lost)?.pull();
        let extents = match described.rank() {
            1 => vec![length_of(&pull)],
            rank => (0..rank)
                .map(|dimension| {
                    self.inside_scalar(Scalar { term: described.extent(dimension), outside: true }, given)
                        .term
                })
                .collect(),
        };
        Ok(Value::Array(Array::Kernel(Rc::new(InKernel { element: host.element.clone(), extents, pull }))))
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
            Value::Array(_) | Value::Push(..) => false,
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

/// The length of an array of the kernel.
fn length_of(pull: &Pull<kernel::Any, Length>) -> Term {
    match pull.len() {
        Length::Known(length) => super::scalars::whole(length as i64),
        Length::Device(length) => length.term(),
    }
}
