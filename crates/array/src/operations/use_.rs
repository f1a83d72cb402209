//! `use`: an array that exists.

use super::{Listed, Parts};
use crate::data::ArrayData;
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Given, Nature, Operation, RANK, Signature, TYPES, ensure};
use crate::program::Node;
use pumice_scalar::Function;
use std::any::Any;
use std::sync::Arc;

/// An array that exists.
#[derive(Clone)]
pub struct Use(pub Arc<dyn ArrayData>);

pub(super) const LISTED: Listed =
    Listed { keyword: "use", make: |Parts { data, .. }| Some(Arc::new(Use(data?))) };

impl Operation for Use {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn with_functions(&self, _: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(self.clone())
    }
    fn given(&self) -> Option<Given<'_>> {
        Some(Given::Data(&self.0))
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        signature.no_input()?;
        ensure(self.0.extents().len() == signature.rank, RANK)?;
        ensure(self.0.types() == signature.types, TYPES)
    }
    fn extents(&self, _: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        Ok(self.0.extents().iter().map(|extent| Extent::Number(*extent as i64)).collect())
    }
    fn nature(&self) -> Nature {
        Nature::Given
    }
    fn cost(&self) -> u32 {
        0
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        interpreter.stored(node, &*self.0)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
