//! `small_loop`: a loop that a plan does in one kernel, in the place of `while` and `repeat` where it fits one block.
//!
//! Planning replaces loops that fit by these ([`SmallLoop::fit`]); no program has them before it is planned. The first array of
//! the state is the loop's own, the others are picked, and all of them are written by one kernel.

use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Lowering, SmallLoop, Step};
use crate::operation::{Nature, Operation, Signature};
use crate::program::Node;
use pumice_scalar::Function;
use std::any::Any;
use std::sync::Arc;

/// One of the arrays that a loop in one block gives: the first one is the loop itself, the others have it as their input.
#[derive(Clone)]
pub(crate) struct SmallLoopResult {
    /// The loop.
    pub small: Arc<SmallLoop>,
    /// The number of the array in its state.
    pub number: usize,
}

impl Operation for SmallLoopResult {
    fn keyword(&self) -> &'static str {
        "small_loop"
    }
    fn with_functions(&self, _: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(self.clone())
    }
    fn picks(&self) -> Option<usize> {
        (self.number > 0).then_some(self.number)
    }
    fn is_said_by_text(&self) -> bool {
        false
    }
    fn check(&self, _: &Signature<'_>) -> Result<(), String> {
        // It stands for an operation that was checked.
        Ok(())
    }
    fn extents(&self, _: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        Ok(self.small.state_extents(self.number).iter().map(|extent| Extent::Number(*extent)).collect())
    }
    fn nature(&self) -> Nature {
        Nature::Memory
    }
    fn reads_pulls(&self, input: usize) -> bool {
        self.number == 0 && self.small.reads_at_the_start(input)
    }
    fn cost(&self) -> u32 {
        0
    }
    fn consume(&self, lowering: &Lowering<'_>, node: &Node) -> Result<Vec<Step>, Error> {
        match self.number {
            0 => self.small.steps(lowering, node),
            // The kernel of the loop writes it.
            _ => Ok(Vec::new()),
        }
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        interpreter.computed(node)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
