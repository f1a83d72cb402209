//! `argument`: an array that is given when the program is run.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Given, Nature, Operation, Signature};
use crate::program::Node;
use pumice_scalar::Function;
use std::any::Any;
use std::sync::Arc;

/// The array argument with this number.
#[derive(Clone)]
pub struct Argument(pub u32);

pub(super) const LISTED: Listed = Listed {
    keyword: "argument",
    make: |Parts { attributes, .. }| match attributes[..] {
        [number] => Some(Arc::new(Argument(u32::try_from(number).ok()?))),
        _ => None,
    },
};

impl Operation for Argument {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        vec![self.0.into()]
    }
    fn with_functions(&self, _: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(self.clone())
    }
    fn given(&self) -> Option<Given<'_>> {
        Some(Given::Argument(self.0))
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        signature.no_input()
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        shapes.argument(self.0)
    }
    fn nature(&self) -> Nature {
        Nature::Given
    }
    fn cost(&self) -> u32 {
        0
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        match interpreter.argument(self.0) {
            Some(data) => interpreter.stored(node, &**data),
            None => Err(Error::Program(format!("array argument {} is missing", self.0).into())),
        }
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
