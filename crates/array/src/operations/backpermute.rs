//! `backpermute`: elements from other places, by a function of the index that is checked.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::Fuser;
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Demand, Nature, Operation, Signature, TYPES, ensure, fits, next};
use crate::program::Node;
use pumice_scalar::{Function, Term};
use std::any::Any;
use std::sync::Arc;

/// Elements from the indices that a function gives.
#[derive(Clone)]
pub struct Backpermute {
    /// The extents, from no parameters.
    pub shape: Function,
    /// The index in the input, from the index.
    pub index: Function,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "backpermute",
    make: |Parts { functions, .. }| match <[Function; 2]>::try_from(functions) {
        Ok([shape, index]) => Some(Arc::new(Backpermute { shape, index })),
        Err(_) => None,
    },
};

impl Operation for Backpermute {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.shape, &self.index]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let (shape, index) = (next(&mut functions, &self.shape), next(&mut functions, &self.index));
        Arc::new(Backpermute { shape, index })
    }
    fn shaping(&self) -> Vec<&Function> {
        vec![&self.shape]
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (rank, types) = signature.input()?;
        ensure(types == signature.types, TYPES)?;
        fits(&self.shape, &[], &Signature::index(signature.rank))?;
        fits(&self.index, &Signature::index(signature.rank), &Signature::index(rank))
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        shapes.shape(&self.shape)
    }
    fn nature(&self) -> Nature {
        Nature::Pull
    }
    fn cost(&self) -> u32 {
        self.index.cost()
    }
    fn demand(&self, fuser: &Fuser<'_>, node: &Node, index: &[Term]) -> Demand {
        let there = fuser.apply(&self.index, index);
        let guard = node.inputs.first().map(|input| fuser.within(node, *input, &there));
        Demand { elements: vec![(0, there)], guard }
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let from = interpreter.input(node, 0);
        let indices = interpreter.generated(node, &self.index)?;
        let element = |index: &Vec<pumice_scalar::Constant>| {
            let linear = interpreter.checked_index(node, node.inputs[0], index)?;
            Ok(from[linear].clone())
        };
        indices.iter().map(element).collect()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
