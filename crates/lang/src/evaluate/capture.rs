//! Turns a push array of the grid, outside of kernels, into a call of a kernel: the values that it captures become the kernel's parameters.
//!
//! Pulls are not parameters themselves: the kernel computes their elements from their definitions. Every other array outside is
//! memory that the kernel reads.

use super::environment::{Definition, Environment, Meaning};
use super::layout::columns;
use super::value::{
    Array, Function as FunctionValue, Host, InKernel, LIST, Made, Scalar, Sum, Suspended, Value,
};
use super::{Evaluator, KERNEL, Mode, Outcome};
use crate::ast::Name;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use pumice_array::Described;
use pumice_array::operations::KernelCall;
use pumice_kernel::{self as kernel, Length, ParameterKind, Pull, define_data};
use pumice_scalar::{Function, Id, Node, ScalarType, Term, Variable};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Values that a kernel captures from outside, in the order in which they are met.
#[derive(Default)]
pub(super) struct Captured {
    kinds: Vec<ParameterKind>,
    arrays: Vec<Arc<Described>>,
    scalars: Vec<Term>,
    array_numbers: HashMap<u64, usize>,
    scalar_numbers: HashMap<Id, usize>,
}

/// Parameters of a kernel that is being built, by the captured values that they represent.
pub(super) struct Given<'a> {
    captured: &'a Captured,
    values: &'a [kernel::Value],
}

/// The source of a captured number in a kernel.
enum Source {
    /// Computed by the kernel, from lengths of its arrays and other parameters.
    Computed(Function),
    /// A parameter.
    Parameter,
}

impl Given<'_> {
    /// Returns the memory that the kernel changes, if it does.
    pub(super) fn changed(&self) -> Option<kernel::Mutable<kernel::Dynamic>> {
        match self.values.first() {
            Some(kernel::Value::Memory(memory)) => Some(memory.clone()),
            _ => None,
        }
    }
}

impl Captured {
    /// Begins with the array that a kernel changes a copy of: its first parameter.
    pub(super) fn changing(array: Arc<Described>, types: &[ScalarType]) -> Captured {
        let kind = ParameterKind::Array { types: types.to_vec(), changes: true };
        Captured { kinds: vec![kind], arrays: vec![array], ..Captured::default() }
    }

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
    /// Forces a push array of the grid: calls its kernel, and returns the resulting array.
    pub(super) fn force(self: &Rc<Self>, suspended: &Rc<Suspended>, span: Span) -> Outcome<Array> {
        if let Some(array) = suspended.forced.get() {
            return Ok(array.clone());
        }
        let element = &suspended.element;
        let types = columns(element, self.sums()).ok_or_else(|| self.not_stored(element, span))?;
        if types.is_empty() {
            let message = "a program of the grid gives no array";
            let help = "`inPlace` runs one that changes an array: `inPlace (fn m => …) xs`";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        let mut captured = Captured::default();
        self.collect(&suspended.function, &mut captured, span)?;
        self.collect(&suspended.argument, &mut captured, span)?;
        // The kernel is reported at its function: the application may be in no file, but on a command line.
        let described_at = match &suspended.function {
            Value::Function(function) => match &**function {
                FunctionValue::Closure { body, .. } => body.span,
                _ => suspended.span,
            },
            _ => suspended.span,
        };
        let described = self.kernel_call(captured, (&types, types.clone()), described_at, |given| {
            let function = self.inside(&suspended.function, given)?;
            let argument = self.inside(&suspended.argument, given)?;
            match self.apply(&function, argument, suspended.span)? {
                Value::Push(push, _) => Ok(Some(kernel::Value::Push(push))),
                _ => Ok(None),
            }
        })?;
        let array = Array::Host(Rc::new(Host::given(element.clone(), described)));
        Ok(suspended.forced.get_or_init(|| array).clone())
    }

    /// Describes a kernel with these captured values that gives columns of the first types, or changes memory and gives none. The
    /// result of calling it is an array with elements of the second types.
    pub(super) fn kernel_call(
        self: &Rc<Self>,
        mut captured: Captured,
        (given_types, types): (&[ScalarType], Vec<ScalarType>),
        span: Span,
        body: impl FnOnce(&Given<'_>) -> Outcome<Option<kernel::Value>>,
    ) -> Outcome<Arc<Described>> {
        // Every function that the kernel calls may use them.
        let outside = self.given.borrow().clone();
        outside.values().try_for_each(|value| self.collect(value, &mut captured, span))?;
        let place = self.place(KERNEL, span);
        let number = self.kernels.replace(self.kernels.get() + 1);
        let name = if number == 0 { KERNEL.to_string() } else { format!("{KERNEL}_{number}") };
        let definition = kernel::written_at(place, || {
            define_data(&name, self.options.block_size, &captured.kinds, given_types, |values| {
                let given = Given { captured: &captured, values: &values };
                let result = self.within(Mode::Kernel, || {
                    let inside = outside.iter().map(|(id, value)| Ok((*id, self.inside(value, &given)?)));
                    self.given.replace(inside.collect::<Outcome<_>>()?);
                    body(&given)
                });
                self.keep(result, || None)
            })
        });
        // Not before: functions of the kernel's pulls are called while its statements are made.
        self.given.replace(outside);
        self.kept(())?;
        let scalars = captured.scalars.iter().map(|term| self.constant_function(vec![*term])).collect();
        let call = KernelCall { definition: definition.map(Arc::new), scalars };
        Ok(self.alive(Described::new(call, captured.arrays, 1, types, place)))
    }

    /// Returns the names of a definition's body.
    pub(super) fn names_of(&self, definition: &Definition) -> Rc<[Name]> {
        self.free_names(&definition.parameters, 0, &definition.body)
    }

    /// Collects the values that a value captures from outside.
    pub(super) fn collect(
        self: &Rc<Self>,
        value: &Value,
        captured: &mut Captured,
        span: Span,
    ) -> Outcome<()> {
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
            Value::Array(_) | Value::Push(..) | Value::Memory(..) => {
                Err(self.wrong(span, "a kernel inside of a function on elements"))
            }
        }
    }

    /// Decides how a kernel gets a number from outside. One that depends on lengths of vectors and on arguments alone is computed in the
    /// kernel again: proofs about an index need to know that it is the length of the array.
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

    /// Returns a described array by its number.
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

    /// Converts a number to its form in the kernel.
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

    /// Converts a value to its form in the kernel.
    pub(super) fn inside(self: &Rc<Self>, value: &Value, given: &Given<'_>) -> Outcome<Value> {
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
                    let arguments = match made.name {
                        LIST => made.arguments.iter().map(|part| self.waiting_inside(part, given)).collect(),
                        _ => all(&made.arguments),
                    };
                    let (name, span, instance) = (made.name, made.span, made.instance.clone());
                    let made = Made { name, span, instance, arguments: arguments? };
                    self.make(made, host.element.clone(), host.rank)?
                }
                None => self.parameter(host, given)?,
            },
            Value::Suspended(suspended) => {
                let function = self.inside(&suspended.function, given)?;
                let argument = self.inside(&suspended.argument, given)?;
                self.apply(&function, argument, suspended.span)?
            }
            Value::Array(_) | Value::Push(..) | Value::Memory(..) => value.clone(),
        })
    }

    /// Converts a push array of a list to its form in the kernel, which is evaluated on demand.
    fn waiting_inside(self: &Rc<Self>, part: &Value, given: &Given<'_>) -> Outcome<Value> {
        let Value::Suspended(waiting) = part else { return self.inside(part, given) };
        let function = self.inside(&waiting.function, given)?;
        let argument = self.inside(&waiting.argument, given)?;
        Ok(self.suspended(function, argument, waiting.element.clone(), waiting.span))
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

    /// Returns the kernel's parameter for an array from outside.
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
}

/// Returns the length of an array of the kernel.
fn length_of(pull: &Pull<kernel::Any, Length>) -> Term {
    match pull.len() {
        Length::Known(length) => super::scalars::whole(length as i64),
        Length::Device(length) => length.term(),
    }
}
