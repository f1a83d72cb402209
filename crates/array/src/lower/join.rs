//! Arrays that are handed on together by one kernel, each to places of its own in a common result: the parts of `concat`.
//! Only those take part that are handed on in the order of their numbers, by any division of the work.

use super::{KernelName, Listeners, Lowering, Step};
use crate::error::Error;
use crate::program::{Node, NodeId};
use pumice_kernel::skeletons::{JoinPart, join};
use pumice_kernel::{Ix, Pull, Scalars};
use pumice_scalar::{Exp, Function};
use std::rc::Rc;

/// The most arrays that one kernel hands on.
pub(crate) const MOST_JOINED: usize = 8;

/// An input that may be handed on together with others.
pub(crate) struct JoinedInput {
    input: NodeId,
    /// From the number of an element to its scalars.
    linear: Function,
    /// From the number of an element to its number in the whole.
    place: Function,
}

impl Lowering<'_> {
    /// An operation's input, a pull or an array in memory, as one of several that a kernel hands on; nothing if it wants a
    /// kernel of its own, or a user has said how arrays are written.
    pub(crate) fn joinable(&self, input: NodeId, place: impl FnOnce() -> Function) -> Option<JoinedInput> {
        let is_known = self.extents.lengths(input).iter().all(|length| length.cell.is_none());
        if !is_known || self.options.skeletons.write.is_some() {
            return None;
        }
        let linear = self.fuser.linear_of_input(input).function;
        let is_cheap = self.write_plan(input, linear.cost()) == self.write_plan(input, 0);
        (is_cheap && !self.wants_index(input, &linear)).then(|| JoinedInput { input, linear, place: place() })
    }

    /// Hands the elements of an operation's inputs to listeners.
    ///
    /// # Safety
    /// The inputs' places are numbers of the operation's elements, and no two elements have the same.
    pub(crate) unsafe fn write_joined(
        &self,
        node: &Node,
        inputs: &[JoinedInput],
        listeners: Listeners,
    ) -> Result<Vec<Step>, Error> {
        let plan = self.write_plan(node.id, 0);
        let (name, skeleton) = (node.place.operation(), if inputs.len() > 1 { "join" } else { "write" });
        let called = KernelName { node, name, skeleton, threads: plan.threads };
        self.because(match inputs.len() {
            1 => "elements know their place in the whole".into(),
            parts => {
                format!("{parts} parts know their places in the whole, so that one kernel writes all of them")
            }
        });
        self.kernel(called, &listeners, |parameters| {
            let part = |joined: &JoinedInput| {
                let of = |function: &Function| {
                    let (apply, function) = (parameters.clone(), function.clone());
                    move |index: Ix| Scalars(apply.apply(&function, &[index.term()]))
                };
                let (elements, place) = (of(&joined.linear), of(&joined.place));
                JoinPart {
                    elements: Pull::new(self.size(joined.input, parameters), elements),
                    place: Rc::new(move |index: Ix| {
                        place(index).0.first().map_or(index, |there| Exp::from_term(*there))
                    }),
                }
            };
            let parts = inputs.iter().map(part).collect();
            // SAFETY: see `write_joined`.
            unsafe { join(parts, self.size(node.id, parameters), plan) }
        })
    }
}
