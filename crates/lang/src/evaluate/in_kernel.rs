//! Pull arrays inside of kernels: those of the kernel language, and their form in the evaluator.

use super::builtins::Call;
use super::layout::{columns, from_terms};
use super::local::as_length;
use super::scalars::whole;
use super::table::without_rank;
use super::value::{Array, InKernel, Made, Value};
use super::{Evaluator, Mode, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::{Level, Type};
use pumice_kernel::{self as kernel, Any, AnyLevel, Dynamic, Length, Pull, Scalars, Size, written_at};
use pumice_scalar::{Exp, Op, Term};
use std::rc::Rc;

/// Returns the kernel language's level for one that is known.
pub(super) fn known_level(level: Level) -> Option<AnyLevel> {
    match level.variable {
        None => super::expression::LEVELS.get(level.above as usize).copied(),
        Some(_) => None,
    }
}

/// Returns the length as a term.
pub(super) fn term_of(length: Length) -> Term {
    length.to_ix().term()
}

impl Evaluator {
    /// Whether values of a type can be items of the kernel language's arrays.
    pub(super) fn is_item(&self, ty: &Type) -> bool {
        match ty {
            Type::Array { element, sizes, level: None } => sizes.len() == 1 && self.is_item(element),
            Type::Array { element, .. } => columns(element, self.sums()).is_some(),
            other => columns(other, self.sums()).is_some(),
        }
    }

    /// Converts a value to an item of an array of the kernel language.
    pub(super) fn item(self: &Rc<Self>, value: Outcome<Value>, ty: &Type, span: Span) -> kernel::Value {
        let item = value.and_then(|value| match &value {
            Value::Array(array) => Ok(kernel::Value::Pull(self.as_pull(array, span)?)),
            Value::Push(push, _) => Ok(kernel::Value::Push(push.clone())),
            other => match other.terms() {
                Some(terms) => Ok(kernel::Value::Scalars(Scalars(terms))),
                None => Err(self.wrong(
                    span,
                    format!("a value of type `{ty}` cannot be an element of an array in a kernel"),
                )),
            },
        });
        self.keep(item, || self.no_item(ty))
    }

    /// Creates a value of a type in place of one that could not be built.
    fn no_item(&self, ty: &Type) -> kernel::Value {
        match ty {
            Type::Array { element, level: None, .. } => {
                let zero = self.no_item(element);
                kernel::Value::Pull(Pull::new(Length::Known(0), move |_| zero.clone()))
            }
            Type::Array { element, level: Some(level), .. } => {
                let zeros = self.zero(element).terms().unwrap_or_default();
                let level = known_level(*level).unwrap_or(AnyLevel::Thread);
                let nothing = Pull::<Dynamic, _>::new(Length::Known(0), move |_| Scalars(zeros.clone()));
                kernel::Value::Push(nothing.push_at(level))
            }
            other => kernel::Value::Scalars(Scalars(self.zero(other).terms().unwrap_or_default())),
        }
    }

    /// Converts an item to a value.
    pub(super) fn of_item(&self, item: kernel::Value, ty: &Type) -> Value {
        match (item, ty) {
            (kernel::Value::Pull(pull), Type::Array { element, .. }) => {
                let extents = vec![term_of(pull.len())];
                Value::Array(Array::Kernel(Rc::new(InKernel { element: (**element).clone(), extents, pull })))
            }
            (kernel::Value::Push(push), Type::Array { element, .. }) => {
                Value::Push(push, (**element).clone())
            }
            (kernel::Value::Scalars(scalars), ty) => {
                from_terms(ty, self.sums(), false, &mut scalars.0.into_iter())
                    .unwrap_or_else(|| self.zero(ty))
            }
            (_, ty) => self.zero(ty),
        }
    }

    /// Converts an array to a pull of the kernel language.
    pub(super) fn as_pull(self: &Rc<Self>, array: &Array, span: Span) -> Outcome<Pull<Any, Length>> {
        match array {
            Array::Kernel(array) => Ok(array.pull.clone()),
            Array::Local(_) => {
                let extents = self.extents(array, span)?;
                let length =
                    extents.iter().map(|extent| extent.term).reduce(|all, one| all.binary(Op::Mul, one));
                let (this, array) = (self.clone(), array.clone());
                let extents: Vec<Term> = extents.iter().map(|extent| extent.term).collect();
                Ok(Pull::new(as_length(length.unwrap_or(whole(1))), move |i| {
                    let index = super::local::unflattened(i.term(), &extents);
                    let element = this.within(Mode::Kernel, || this.get(&array, &index, None, span));
                    this.item(element, array.element(), span)
                }))
            }
            Array::Host(_) => Err(self.wrong(span, "an array from outside of the kernel")),
            Array::Stream(_) => Err(self.only_folded(span)),
        }
    }

    /// Converts an array to a pull of elements.
    pub(super) fn elements(self: &Rc<Self>, array: &Array, span: Span) -> Outcome<Pull<Dynamic, Length>> {
        if columns(array.element(), self.sums()).is_none() {
            let message = format!("a push array of `{}`", array.element());
            let help = "push arrays have numbers, or tuples, records and sums of them, as elements; `concat` makes one array of several";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        Ok(self.as_pull(array, span)?.map(kernel::Value::scalars))
    }

    /// Returns the element at an index, with a bounds check.
    pub(super) fn kernel_element(
        self: &Rc<Self>,
        array: &InKernel,
        index: &[Term],
        operation: &str,
        span: Span,
    ) -> Value {
        let place = self.place(operation, span);
        let item = written_at(place, || match (index, &array.extents[..]) {
            ([index], _) => array.pull.at(Exp::from_term(*index)),
            (index, extents) => {
                // Each index is checked against its extent, and not only the number of the element.
                let checked = index.iter().zip(extents).map(|(index, extent)| {
                    let own = Pull::<i64, _>::new(as_length(*extent), |i| i);
                    own.at(Exp::<i64>::from_term(*index)).term()
                });
                let checked: Vec<Term> = checked.collect();
                let number = super::host::flattened(&checked, extents);
                array.pull.at(Exp::from_term(number))
            }
        });
        self.of_item(item, &array.element)
    }

    /// Returns the element at an index, or another value if the index is out of bounds.
    pub(super) fn kernel_element_or(
        self: &Rc<Self>,
        array: &Array,
        index: Term,
        otherwise: &Value,
        ty: &Type,
        span: Span,
    ) -> Outcome<Value> {
        let (elements, otherwise) = (self.elements(array, span)?, Scalars(self.stored(otherwise, span)?));
        let found = written_at(self.place("indexOr", span), || {
            elements.at_or(Exp::<i64>::from_term(index), otherwise)
        });
        self.of_scalars(found, ty, span)
    }

    /// `now`: a value that is computed where this stands.
    pub(super) fn now(&self, call: &Call) -> Outcome<Value> {
        let [value] = &call.arguments[..] else {
            return Err(self.wrong(call.span, "a value is wanted here"));
        };
        if self.mode.get() != Mode::Kernel {
            return Ok(value.clone());
        }
        let scalars = Scalars(self.stored(value, call.span)?);
        let computed = written_at(self.place("now", call.span), || kernel::force_scalar(scalars));
        self.of_scalars(computed, &self.result_type(call)?, call.span)
    }

    /// `append` of two pulls.
    pub(super) fn append_here(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [first, second] = &call.arguments[..] else {
            return Err(self.wrong(span, "two arrays are wanted here"));
        };
        let first = self.elements(self.array(first, span)?, span)?;
        let second = self.elements(self.array(second, span)?, span)?;
        let both = written_at(self.place("append", span), || first.append(second));
        Ok(self.forced(both, self.element_type(call)?.0))
    }

    /// Converts a pull of elements to an array.
    pub(super) fn forced(&self, pull: Pull<Dynamic, Length>, element: Type) -> Value {
        let extents = vec![term_of(pull.len())];
        let pull = pull.map(kernel::Value::Scalars);
        Value::Array(Array::Kernel(Rc::new(InKernel { element, extents, pull })))
    }

    /// Returns one of the pulls that the kernel language has itself: they need no bounds checks.
    pub(super) fn kernel_pull(self: &Rc<Self>, made: &Made, element: &Type) -> Outcome<Option<Array>> {
        let span = made.span;
        let items = made.arguments.iter().all(|argument| match argument {
            Value::Array(array) => self.is_item(array.element()),
            _ => true,
        });
        if !items || !self.is_item(element) {
            return Ok(None);
        }
        let (this, of) = (self.clone(), element.clone());
        let (pull, like) = match (without_rank(made.name), &made.arguments[..]) {
            ("map" | "mapPull", [f, Value::Array(array)]) => {
                let (f, from) = (f.clone(), array.element().clone());
                let pull = self.as_pull(array, span)?.map(move |item| {
                    let element = this.of_item(item, &from);
                    this.item(this.within(Mode::Kernel, || this.apply(&f, element, span)), &of, span)
                });
                (pull, array)
            }
            ("zipWith", [f, Value::Array(a), Value::Array(b)]) => {
                let (f, first, second) = (f.clone(), a.element().clone(), b.element().clone());
                let (left, right) = (self.as_pull(a, span)?, self.as_pull(b, span)?);
                let both = written_at(self.place("zipWith", span), || {
                    left.zip_with(right, move |a, b| {
                        let elements = [this.of_item(a, &first), this.of_item(b, &second)];
                        this.item(
                            this.within(Mode::Kernel, || this.apply_all(&f, &elements, span)),
                            &of,
                            span,
                        )
                    })
                });
                (both, a)
            }
            _ => return Ok(None),
        };
        let extents = self.extents(like, span)?.iter().map(|extent| extent.term).collect();
        Ok(Some(Array::Kernel(Rc::new(InKernel { element: element.clone(), extents, pull }))))
    }
}
