//! Placing a loose array: its elements that are there, in order and without gaps.

use super::{Lowering, Step};
use crate::error::Error;
use crate::program::Node;

impl Lowering<'_> {
    /// The steps that write a loose array to its slot, and its length to its cell.
    pub(crate) fn place(&self, node: &Node, _slot: usize) -> Result<Vec<Step>, Error> {
        Err(Error::Program(format!("placing is not there yet in {}", node.place)))
    }
}
