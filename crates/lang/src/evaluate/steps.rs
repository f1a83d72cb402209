//! `while` and `power`: steps on an array in a level's memory.

use super::value::{Array, InKernel, Value};
use super::{Evaluator, Outcome};
use crate::source::Span;
use crate::types::Type;
use pumice_kernel::{self as kernel, AnyLevel, Dynamic, Length, Pull, Push, Scalars, written_at};
use pumice_scalar::{Constant, Exp};
use std::cell::Cell;
use std::rc::Rc;

/// Whether to do a step, of the number of the round and the array.
type Condition<'a> = &'a dyn Fn(u64, &Value) -> Outcome<Value>;

impl Evaluator {
    /// Does steps while a condition holds. As long as that is known when the kernel is built, they are written out.
    pub(super) fn steps(
        self: &Rc<Self>,
        condition: Condition<'_>,
        step: &Value,
        initial: &Value,
        span: Span,
    ) -> Outcome<Value> {
        let mut pushed = initial.clone();
        for round in 0.. {
            match self.known_of_length(condition, round, &pushed, span)? {
                Some(true) => {
                    let array = self.force_here(&pushed, span)?;
                    pushed = self.apply(step, array, span)?;
                }
                Some(false) => break,
                None => {
                    let Length::Known(capacity) = self.as_push(&pushed, span)?.0.len() else {
                        return Err(self.unknown_size(span));
                    };
                    return self.loop_steps(condition, step, &pushed, capacity, span);
                }
            }
        }
        self.force_here(&pushed, span)
    }

    /// Whether a condition on an array that is not yet in memory holds, if its length says that.
    fn known_of_length(
        self: &Rc<Self>,
        condition: Condition<'_>,
        round: u64,
        pushed: &Value,
        span: Span,
    ) -> Outcome<Option<bool>> {
        let (push, element) = self.as_push(pushed, span)?;
        let (looked, zero) = (Rc::new(Cell::new(false)), self.zero(&element).terms().unwrap_or_default());
        let looking = looked.clone();
        let unseen = Pull::<Dynamic, _>::new(push.len(), move |_| {
            looking.set(true);
            Scalars(zero.clone())
        });
        let array = self.forced(unseen, element);
        // It is evaluated again where the array is in memory.
        let holds = kernel::probe(|| condition(round, &array).and_then(|holds| self.scalar(&holds, span)))?;
        let known = holds.term.constant().filter(|_| !looked.get());
        Ok(known.map(|known| known == Constant::from(true)))
    }

    /// Runs steps in a loop of the kernel, which determines their number at run time.
    pub(super) fn loop_steps(
        self: &Rc<Self>,
        condition: Condition<'_>,
        step: &Value,
        initial: &Value,
        capacity: usize,
        span: Span,
    ) -> Outcome<Value> {
        let (first, element) = self.as_push(initial, span)?;
        let level = first.level();
        let value = |pull: Pull<Dynamic, kernel::Ix>| in_loop(pull, element.clone());
        let last = written_at(self.place("while", span), || {
            kernel::while_::<AnyLevel, Dynamic>(
                capacity,
                first.dynamic(),
                |pull| {
                    let holds = condition(u64::MAX, &value(pull)).and_then(|holds| self.scalar(&holds, span));
                    Exp::from_term(self.keep(holds.map(|holds| holds.term), || Constant::from(false).into()))
                },
                |pull| {
                    let next = self.apply(step, value(pull), span).and_then(|next| self.as_push(&next, span));
                    self.keep(next.map(|(push, _)| push), || nothing(level)).dynamic()
                },
            )
        });
        self.kept(value(last))
    }
}

/// Returns an array in a loop's memory as a value.
fn in_loop(pull: Pull<Dynamic, kernel::Ix>, element: Type) -> Value {
    let extents = vec![pull.len().term()];
    let pull = Pull::new(Length::Device(pull.len()), move |i| kernel::Value::Scalars(pull.at(i)));
    Value::Array(Array::Kernel(Rc::new(InKernel { element, extents, pull })))
}

/// Returns a push array without elements, in place of one that could not be built.
pub(super) fn nothing(level: AnyLevel) -> Push<AnyLevel, Dynamic, Length> {
    Pull::<Dynamic, _>::new(Length::Known(0), |_| Scalars(Vec::new())).push_at(level)
}
