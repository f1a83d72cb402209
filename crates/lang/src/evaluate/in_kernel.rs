//! Arrays inside of kernels: pulls and pushes of the kernel language.

use super::layout::{columns, from_terms};
use super::local::as_length;
use super::scalars::whole;
use super::table::without_rank;
use super::value::{Array, InKernel, Made, Value};
use super::{Evaluator, Mode, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::{Level, Type};
use pumice_kernel::{self as kernel, Any, AnyLevel, Dynamic, Length, Pull, Push, Scalars, Size, written_at};
use pumice_scalar::{Constant, Exp, Op, Term};
use std::rc::Rc;

/// The level of a type that is known.
pub(super) fn known_level(level: Level) -> Option<AnyLevel> {
    match level.variable {
        None => super::expression::LEVELS.get(level.above as usize).copied(),
        Some(_) => None,
    }
}

/// The length as an expression.
fn term_of(length: Length) -> Term {
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

    /// A value as an item of an array of the kernel language.
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

    /// Something of a type, where there was an error.
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

    /// The value that an item is.
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

    /// A pull of the kernel language.
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

    /// A pull of elements.
    fn elements(self: &Rc<Self>, array: &Array, span: Span) -> Outcome<Pull<Dynamic, Length>> {
        if columns(array.element(), self.sums()).is_none() {
            let message = format!("a push array of `{}`", array.element());
            let help = "push arrays have numbers, or tuples, records and sums of them, as elements; `concat` makes one array of several";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        Ok(self.as_pull(array, span)?.map(kernel::Value::scalars))
    }

    /// The element at an index, which is checked.
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

    /// The pulls that the kernel language has itself: they need no checks.
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

    /// `push <level>`.
    pub(super) fn push(self: &Rc<Self>, level: AnyLevel, array: &Array, span: Span) -> Outcome<Value> {
        let elements = self.elements(array, span)?;
        let push = written_at(self.place("push", span), || elements.push_at(level));
        Ok(Value::Push(push, array.element().clone()))
    }

    /// A push array of a kernel.
    fn as_push(&self, value: &Value, span: Span) -> Outcome<(Push<AnyLevel, Dynamic, Length>, Type)> {
        match value {
            Value::Push(push, element) => Ok((push.clone(), element.clone())),
            _ => Err(self.wrong(span, "a push array is wanted here")),
        }
    }

    /// The array that was written to a level's memory.
    fn forced(&self, pull: Pull<Dynamic, Length>, element: Type) -> Value {
        let extents = vec![term_of(pull.len())];
        let pull = pull.map(kernel::Value::Scalars);
        Value::Array(Array::Kernel(Rc::new(InKernel { element, extents, pull })))
    }

    /// `force` inside of a kernel.
    pub(super) fn force_here(&self, value: &Value, span: Span) -> Outcome<Value> {
        let (push, element) = self.as_push(value, span)?;
        if matches!(push.len(), Length::Device(_)) {
            let message = "how much memory this array takes is not known when the kernel is built";
            let help = "force arrays whose length is a number, such as chunks of `splitUp 256`";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        Ok(self.forced(written_at(self.place("force", span), || push.force()), element))
    }

    /// `mapPush`.
    pub(super) fn map_push(
        self: &Rc<Self>,
        f: &Value,
        value: &Value,
        to: &Type,
        span: Span,
    ) -> Outcome<Value> {
        let (push, from) = self.as_push(value, span)?;
        let (this, f, of) = (self.clone(), f.clone(), to.clone());
        let mapped = written_at(self.place("mapPush", span), || {
            push.map(move |scalars: Scalars| {
                let element = this.of_item(kernel::Value::Scalars(scalars), &from);
                let applied = this.within(Mode::Kernel, || this.apply(&f, element, span));
                this.item(applied, &of, span).scalars()
            })
        });
        Ok(Value::Push(mapped, to.clone()))
    }

    /// `lengthPush`.
    pub(super) fn length_push(&self, value: &Value, span: Span) -> Outcome<Value> {
        Ok(Value::scalar(term_of(self.as_push(value, span)?.0.len()), false))
    }

    /// `concat` and, with a function, `interleave`: parts at the level above theirs.
    pub(super) fn concat(
        self: &Rc<Self>,
        level: AnyLevel,
        size: Term,
        place_of: Option<&Value>,
        parts: &Array,
        span: Span,
    ) -> Outcome<Value> {
        let Type::Array { element, .. } = parts.element() else {
            return Err(self.wrong(span, "an array of push arrays is wanted here"));
        };
        let pushes = self.as_pull(parts, span)?.map(kernel::Value::push);
        let name = if place_of.is_some() { "interleave" } else { "concat" };
        let whole_array = written_at(self.place(name, span), || match place_of {
            Some(f) => {
                let (this, f) = (self.clone(), f.clone());
                pushes.interleave_at(level, as_length(size), move |part, index| {
                    let indices = [Value::scalar(part.term(), false), Value::scalar(index.term(), false)];
                    let place = this.within(Mode::Kernel, || this.apply_all(&f, &indices, span));
                    let place = place.and_then(|place| this.scalar(&place, span)).map(|place| place.term);
                    Exp::from_term(this.keep(place, || whole(0)))
                })
            }
            None => {
                let total = as_length(term_of(pushes.len()).binary(Op::Mul, size));
                pushes.concat_by_at(level, Exp::<i64>::from_term(size), total)
            }
        });
        Ok(Value::Push(whole_array, (**element).clone()))
    }

    /// `while` and `power`: steps on an array in a level's memory. While the condition is known when the kernel is built, they are
    /// written out.
    pub(super) fn steps(
        self: &Rc<Self>,
        condition: &dyn Fn(u64, &Value) -> Outcome<Value>,
        step: &Value,
        initial: &Value,
        span: Span,
    ) -> Outcome<Value> {
        let level = self.as_push(initial, span)?.0.level();
        let mut array = self.force_here(initial, span)?;
        for round in 0.. {
            let goes_on = self.scalar(&condition(round, &array)?, span)?.term;
            match goes_on.constant() {
                Some(known) if known == Constant::from(true) => {
                    let next = self.apply(step, array, span)?;
                    array = self.force_here(&next, span)?;
                }
                Some(_) => break,
                None => return self.loop_steps(condition, step, array, level, span),
            }
        }
        Ok(array)
    }

    /// The steps whose number the kernel finds out, in a loop of it.
    fn loop_steps(
        self: &Rc<Self>,
        condition: &dyn Fn(u64, &Value) -> Outcome<Value>,
        step: &Value,
        array: Value,
        level: AnyLevel,
        span: Span,
    ) -> Outcome<Value> {
        let Value::Array(Array::Kernel(first)) = &array else { return Ok(array) };
        let Length::Known(capacity) = first.pull.len() else {
            return Err(
                self.wrong(span, "how much memory this loop takes is not known when the kernel is built")
            );
        };
        let element = first.element.clone();
        let value = |pull: Pull<Dynamic, kernel::Ix>| {
            let extents = vec![pull.len().term()];
            let pull = Pull::new(Length::Device(pull.len()), move |i| kernel::Value::Scalars(pull.at(i)));
            Value::Array(Array::Kernel(Rc::new(InKernel { element: element.clone(), extents, pull })))
        };
        let initial = first.pull.clone().map(kernel::Value::scalars).push_at(level).dynamic();
        let last = written_at(self.place("while", span), || {
            kernel::while_::<AnyLevel, Dynamic>(
                capacity,
                initial,
                |pull| {
                    let holds = condition(u64::MAX, &value(pull)).and_then(|holds| self.scalar(&holds, span));
                    Exp::from_term(self.keep(holds.map(|holds| holds.term), || Constant::from(false).into()))
                },
                |pull| {
                    let next = self.apply(step, value(pull), span).and_then(|next| self.as_push(&next, span));
                    let nothing =
                        || Pull::<Dynamic, _>::new(Length::Known(0), |_| Scalars(Vec::new())).push_at(level);
                    self.keep(next.map(|(push, _)| push), nothing).dynamic()
                },
            )
        });
        self.kept(value(last))
    }
}
