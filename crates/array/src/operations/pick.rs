//! `pick`: one of the arrays that a loop or a branch gives.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Nature, Operation, Signature, ensure};
use crate::program::Node;
use pumice_scalar::Function;
use std::any::Any;
use std::sync::Arc;

/// The array with this number of those that its input, a loop or a branch, gives.
#[derive(Clone)]
pub struct Pick(pub usize);

pub(super) const LISTED: Listed = Listed {
    keyword: "pick",
    make: |Parts { attributes, .. }| match attributes[..] {
        [number] => Some(Arc::new(Pick(usize::try_from(number).ok()?))),
        _ => None,
    },
};

impl Operation for Pick {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        vec![self.0 as i64]
    }
    fn with_functions(&self, _: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(self.clone())
    }
    fn picks(&self) -> Option<usize> {
        Some(self.0)
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        signature.input()?;
        let gives = signature.gives.first().map_or(&[][..], Vec::as_slice);
        let (rank, types) = gives.get(self.0).ok_or_else(|| match gives.len() {
            0 => "an array is picked from what is neither a loop nor a branch".to_string(),
            count => format!("array {} is picked from {count}, counted from 0", self.0),
        })?;
        let fits = *rank == signature.rank && types == signature.types;
        ensure(fits, "an array is picked as one of another rank or element type")
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        shapes.after_run()
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
