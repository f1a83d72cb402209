//! `reshape`: the same elements, row by row, in another shape.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::Fuser;
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Demand, Listens, Nature, Operation, Signature, TYPES, ensure, fits, next};
use crate::program::Node;
use pumice_scalar::{Function, Term};
use std::any::Any;
use std::sync::Arc;

/// Another shape of the same size.
#[derive(Clone)]
pub struct Reshape {
    /// The extents, from no parameters.
    pub shape: Function,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "reshape",
    make: |Parts { functions, .. }| match <[Function; 1]>::try_from(functions) {
        Ok([shape]) => Some(Arc::new(Reshape { shape })),
        Err(_) => None,
    },
};

impl Operation for Reshape {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.shape]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(Reshape { shape: next(&mut functions.into_iter(), &self.shape) })
    }
    fn shaping(&self) -> Vec<&Function> {
        vec![&self.shape]
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        ensure(signature.input()?.1 == signature.types, TYPES)?;
        fits(&self.shape, &[], &Signature::index(signature.rank))
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        let extents = shapes.shape(&self.shape)?;
        shapes.require_size(0, &extents)?;
        Ok(extents)
    }
    fn nature(&self) -> Nature {
        Nature::Pull
    }
    fn listens(&self, _: usize) -> Listens {
        Listens::Reindexes
    }
    fn cost(&self) -> u32 {
        0
    }
    fn demand(&self, fuser: &Fuser<'_>, node: &Node, index: &[Term]) -> Demand {
        let linear = fuser.flatten(node.id, index);
        let elements = node
            .inputs
            .first()
            .map(|input| (0, fuser.unflatten(*input, linear, fuser.program.node(*input).rank)));
        Demand { elements: elements.into_iter().collect(), guard: None }
    }
    fn reindex(&self, fuser: &Fuser<'_>, node: &Node, index: Vec<Term>) -> Vec<Term> {
        let linear = node.inputs.first().map(|input| fuser.flatten(*input, &index));
        linear.map_or(index, |linear| fuser.unflatten(node.id, linear, node.rank))
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        Ok(interpreter.input(node, 0).clone())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
