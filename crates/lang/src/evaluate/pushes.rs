//! Push arrays inside of kernels, and the operations of the kernel language on them.

use super::builtins::Call;
use super::in_kernel::term_of;
use super::layout::columns;
use super::local::as_length;
use super::scalars::whole;
use super::value::{Array, Value};
use super::{Evaluator, Mode, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_kernel::{self as kernel, AnyLevel, Dynamic, Grid, Length, Pull, Push, Scalars, written_at};
use pumice_scalar::{Constant, Exp, Op, Term};
use std::rc::Rc;

impl Evaluator {
    /// `push <level>`.
    pub(super) fn push(self: &Rc<Self>, level: AnyLevel, array: &Array, span: Span) -> Outcome<Value> {
        let elements = self.elements(array, span)?;
        let push = written_at(self.place("push", span), || elements.push_at(level));
        Ok(Value::Push(push, array.element().clone()))
    }

    /// Returns a value as a push array of a kernel.
    pub(super) fn as_push(
        &self,
        value: &Value,
        span: Span,
    ) -> Outcome<(Push<AnyLevel, Dynamic, Length>, Type)> {
        match value {
            Value::Push(push, element) => Ok((push.clone(), element.clone())),
            _ => Err(self.wrong(span, "a push array is wanted here")),
        }
    }

    /// `force` inside of a kernel. A program without results needs no memory: it runs, and a barrier follows.
    pub(super) fn force_here(&self, value: &Value, span: Span) -> Outcome<Value> {
        let (push, element) = self.as_push(value, span)?;
        let place = self.place("force", span);
        if columns(&element, self.sums()).is_some_and(|columns| columns.is_empty()) {
            written_at(place, || push.write(&|_, _| {}));
            push.level().sync();
            let nothing = Pull::<Dynamic, _>::new(push.len(), |_| Scalars(Vec::new()));
            return Ok(self.forced(nothing, element));
        }
        if matches!(push.len(), Length::Device(_)) {
            return Err(self.unknown_size(span));
        }
        Ok(self.forced(written_at(place, || push.force()), element))
    }

    pub(super) fn unknown_size(&self, span: Span) -> Box<Diagnostic> {
        let message = "how much memory this array takes is not known when the kernel is built";
        let help = "force arrays whose length is a number, such as chunks of `splitUp 256`, or say how many elements there \
                    are at most: `forceWithin 256`";
        Box::new(Diagnostic::new(span, message).help(help))
    }

    /// `forceWithin`.
    pub(super) fn force_within(&self, capacity: Term, value: &Value, span: Span) -> Outcome<Value> {
        let (push, element) = self.as_push(value, span)?;
        let capacity = self.known(capacity, "how many elements there are at most", span)?;
        let capacity = usize::try_from(capacity).unwrap_or(0);
        Ok(self.forced(written_at(self.place("forceWithin", span), || push.force_within(capacity)), element))
    }

    /// `perform`: runs a program, without a barrier behind it.
    pub(super) fn perform(&self, value: &Value, span: Span) -> Outcome<Value> {
        let (push, _) = self.as_push(value, span)?;
        written_at(self.place("perform", span), || push.write(&|_, _| {}));
        Ok(Value::Tuple(Rc::from([])))
    }

    /// `pushBy`: a number of neighbouring elements per thread.
    pub(super) fn push_by(
        self: &Rc<Self>,
        level: AnyLevel,
        items: Term,
        array: &Array,
        span: Span,
    ) -> Outcome<Value> {
        let items = self.known(items, "how many elements a thread takes", span)?;
        let elements = self.elements(array, span)?;
        let items = usize::try_from(items).unwrap_or(1);
        let push = written_at(self.place("pushBy", span), || elements.push_by_at(level, items));
        Ok(Value::Push(push, array.element().clone()))
    }

    /// `filterPush`: the elements for which a condition holds.
    pub(super) fn filter_push(
        self: &Rc<Self>,
        level: AnyLevel,
        keep: &Value,
        array: &Array,
        span: Span,
    ) -> Outcome<Value> {
        let elements = self.elements(array, span)?;
        if !matches!(elements.len(), Length::Known(_)) {
            return Err(self.unknown_size(span));
        }
        let (this, keep, ty) = (self.clone(), keep.clone(), array.element().clone());
        let holds = move |scalars: Scalars| {
            let holds = this.within(Mode::Kernel, || {
                let element = this.of_scalars(scalars, &ty, span)?;
                this.scalar(&this.apply(&keep, element, span)?, span)
            });
            Exp::from_term(this.keep(holds.map(|holds| holds.term), || Constant::from(false).into()))
        };
        let place = self.place("filterPush", span);
        let kept = written_at(place, || elements.fixed().filter_at(level, holds));
        Ok(Value::Push(kernel::Value::from(kept).push(), array.element().clone()))
    }

    /// `scatterPush`: elements at the indices that are paired with them.
    pub(super) fn scatter_push(
        self: &Rc<Self>,
        level: AnyLevel,
        length: Term,
        array: &Array,
        span: Span,
    ) -> Outcome<Value> {
        let Type::Tuple(parts) = array.element() else {
            return Err(self.wrong(span, "an array of pairs is wanted here"));
        };
        let element = parts.last().cloned().unwrap_or(Type::Tuple(Vec::new()));
        let elements = self.elements(array, span)?;
        let place = self.place("scatterPush", span);
        let scattered = written_at(place, || {
            elements.scatter_at(level, as_length(length), |Scalars(mut terms): Scalars| {
                let index = if terms.is_empty() { whole(0) } else { terms.remove(0) };
                (Exp::from_term(index), Scalars(terms))
            })
        });
        Ok(Value::Push(scattered, element))
    }

    /// `pairwise`: elements and their partners.
    pub(super) fn pairwise(self: &Rc<Self>, level: AnyLevel, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [mask, lower, upper, array] = &call.arguments[..] else {
            return Err(self.wrong(span, "an array is wanted here"));
        };
        let mask = self.known(self.scalar(mask, span)?.term, "in which bits partners differ", span)?;
        let mask = u32::try_from(mask).ok().filter(|mask| *mask > 0);
        let mask = mask.ok_or_else(|| self.wrong(span, "partners differ in no bits of their indices"))?;
        let (array, to) = (self.array(array, span)?, self.element_type(call)?.0);
        let elements = self.elements(array, span)?;
        if !matches!(elements.len(), Length::Known(_)) {
            return Err(self.unknown_size(span));
        }
        let of_two = |f: &Value| {
            let (this, f, from, to) = (self.clone(), f.clone(), array.element().clone(), to.clone());
            move |a: Scalars, b: Scalars| {
                let result = this.within(Mode::Kernel, || {
                    let both = [this.of_scalars(a, &from, span)?, this.of_scalars(b, &from, span)?];
                    this.apply_all(&f, &both, span)
                });
                this.item(result, &to, span).scalars()
            }
        };
        let place = self.place("pairwise", span);
        let pairs =
            written_at(place, || elements.fixed().pairwise_at(level, mask, of_two(lower), of_two(upper)));
        Ok(Value::Push(kernel::Value::from(pairs).push(), to))
    }

    /// `appendPush`.
    pub(super) fn append_push(&self, first: &Value, second: &Value, span: Span) -> Outcome<Value> {
        let ((first, element), (second, _)) = (self.as_push(first, span)?, self.as_push(second, span)?);
        Ok(Value::Push(written_at(self.place("appendPush", span), || first.append(second)), element))
    }

    /// `unpairPush`: both parts of a pair, by the thread that has it.
    pub(super) fn unpair_push(&self, value: &Value, to: &Type, span: Span) -> Outcome<Value> {
        let (push, _) = self.as_push(value, span)?;
        let width = columns(to, self.sums()).map_or(0, |columns| columns.len());
        let unpaired = push.unpack(2, move |Scalars(mut terms): Scalars| {
            let second = terms.split_off(width.min(terms.len()));
            vec![Scalars(terms), Scalars(second)]
        });
        Ok(Value::Push(unpaired, to.clone()))
    }

    /// `ixMap`: every element at another index.
    pub(super) fn index_map(self: &Rc<Self>, f: &Value, value: &Value, span: Span) -> Outcome<Value> {
        let (push, element) = self.as_push(value, span)?;
        let (this, f) = (self.clone(), f.clone());
        let mapped = written_at(self.place("ixMap", span), || {
            push.ix_map(move |index| this.index_of(&f, &[index], span))
        });
        Ok(Value::Push(mapped, element))
    }

    /// `takePush`: the elements whose indices are below a length. Only of the grid: in a warp, some of the lanes that exchange elements would
    /// be missing.
    pub(super) fn take_push(&self, length: Term, value: &Value, span: Span) -> Outcome<Value> {
        let (push, element) = self.as_push(value, span)?;
        let taken = Push::<Grid, Dynamic, Length>::clipped(as_length(length), move |write| push.write(write));
        Ok(Value::Push(taken.any_level(), element))
    }

    /// Applies a function of indices to these, and returns the resulting index.
    fn index_of(self: &Rc<Self>, f: &Value, indices: &[kernel::Ix], span: Span) -> kernel::Ix {
        let indices: Vec<Value> = indices.iter().map(|index| Value::scalar(index.term(), false)).collect();
        let place = self.within(Mode::Kernel, || self.apply_all(f, &indices, span));
        let place = place.and_then(|place| self.scalar(&place, span)).map(|place| place.term);
        Exp::from_term(self.keep(place, || whole(0)))
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
                    this.index_of(&f, &[part, index], span)
                })
            }
            None => {
                let total = as_length(term_of(pushes.len()).binary(Op::Mul, size));
                pushes.concat_by_at(level, Exp::<i64>::from_term(size), total)
            }
        });
        Ok(Value::Push(whole_array, (**element).clone()))
    }
}
