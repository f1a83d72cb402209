//! `parameter`: an array of a loop's state, while the loop is written. In the loop's programs it is an argument; a program
//! in which it is left was written with an array that exists inside of a loop only, and is refused.

use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Nature, Operation, Signature};
use crate::program::Node;
use pumice_scalar::Function;
use std::any::Any;
use std::sync::Arc;

/// An array of a loop's state.
pub(crate) struct Parameter;

impl Operation for Parameter {
    fn keyword(&self) -> &'static str {
        "parameter"
    }
    fn with_functions(&self, _: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(Parameter)
    }
    fn check(&self, _: &Signature<'_>) -> Result<(), String> {
        Err("the state of a loop is used outside of the loop's functions".into())
    }
    fn extents(&self, _: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        Err(Unplanned::NeedsArguments)
    }
    fn nature(&self) -> Nature {
        Nature::Given
    }
    fn cost(&self) -> u32 {
        0
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        interpreter.computed(node)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
