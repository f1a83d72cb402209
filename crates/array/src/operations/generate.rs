//! `generate`: an element for every index.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::{Element, Fuser};
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Nature, Operation, Signature, fits, next};
use crate::program::Node;
use pumice_scalar::{Function, Term};
use std::any::Any;
use std::sync::Arc;

/// An array by a function of the index.
#[derive(Clone)]
pub struct Generate {
    /// The extents, from no parameters.
    pub shape: Function,
    /// The element, from the index.
    pub element: Function,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "generate",
    make: |Parts { functions, .. }| match <[Function; 2]>::try_from(functions) {
        Ok([shape, element]) => Some(Arc::new(Generate { shape, element })),
        Err(_) => None,
    },
};

impl Operation for Generate {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.shape, &self.element]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let (shape, element) = (next(&mut functions, &self.shape), next(&mut functions, &self.element));
        Arc::new(Generate { shape, element })
    }
    fn shaping(&self) -> Vec<&Function> {
        vec![&self.shape]
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        signature.no_input()?;
        fits(&self.shape, &[], &Signature::index(signature.rank))?;
        fits(&self.element, &Signature::index(signature.rank), signature.types)
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        shapes.shape(&self.shape)
    }
    fn nature(&self) -> Nature {
        Nature::Pull
    }
    fn cost(&self) -> u32 {
        self.element.cost()
    }
    fn element(&self, fuser: &Fuser<'_>, _: &Node, index: &[Term], _: Vec<Element>) -> Element {
        fuser.apply(&self.element, index).into()
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        interpreter.generated(node, &self.element)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
