//! `compute`: an array as it is, in memory. The operations before it are not fused with its users.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::Fuser;
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Demand, Listens, Nature, Operation, RANK, Signature, TYPES, ensure};
use crate::program::Node;
use pumice_scalar::{Function, Term};
use std::any::Any;
use std::sync::Arc;

/// An array in memory.
#[derive(Clone)]
pub struct Compute;

pub(super) const LISTED: Listed = Listed { keyword: "compute", make: |_: Parts| Some(Arc::new(Compute)) };

impl Operation for Compute {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn with_functions(&self, _: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(Compute)
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (rank, types) = signature.input()?;
        ensure(rank == signature.rank, RANK)?;
        ensure(types == signature.types, TYPES)
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        Ok(shapes.same(0))
    }
    fn nature(&self) -> Nature {
        Nature::Pull
    }
    fn listens(&self, _: usize) -> Listens {
        Listens::Maps
    }
    fn is_in_memory(&self) -> bool {
        true
    }
    fn cost(&self) -> u32 {
        0
    }
    fn demand(&self, _: &Fuser<'_>, _: &Node, index: &[Term]) -> Demand {
        Demand { elements: vec![(0, index.to_vec())], guard: None }
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        Ok(interpreter.input(node, 0).clone())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
