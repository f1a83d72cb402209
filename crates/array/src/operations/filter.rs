//! `filter`: the elements of which a predicate holds, in order, in one dimension.
//!
//! Its result is loose: a function of the filtered array's index that tells for each element whether it is there. Only an operation
//! that needs indices makes it be placed, which takes a kernel.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::{Element, Fuser};
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Demand, Listens, Nature, Operation, RANK, Signature, TYPES, ensure, fits, next};
use crate::program::Node;
use pumice_scalar::{Constant, Function, Op, ScalarType, Term};
use std::any::Any;
use std::sync::Arc;

/// The elements of which a predicate holds.
#[derive(Clone)]
pub struct Filter {
    /// Whether an element is kept.
    pub keep: Function,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "filter",
    make: |Parts { functions, .. }| match <[Function; 1]>::try_from(functions) {
        Ok([keep]) => Some(Arc::new(Filter { keep })),
        Err(_) => None,
    },
};

impl Operation for Filter {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.keep]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(Filter { keep: next(&mut functions.into_iter(), &self.keep) })
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (_, types) = signature.input()?;
        ensure(signature.rank == 1, RANK)?;
        ensure(types == signature.types, TYPES)?;
        fits(&self.keep, types, &[ScalarType::Bool])
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        Ok(vec![shapes.found_on_device(shapes.bound(0)?)])
    }
    fn nature(&self) -> Nature {
        Nature::Loose
    }
    fn listens(&self, _: usize) -> Listens {
        Listens::Maps
    }
    fn cost(&self) -> u32 {
        self.keep.cost()
    }
    fn demand(&self, _: &Fuser<'_>, _: &Node, index: &[Term]) -> Demand {
        Demand { elements: vec![(0, index.to_vec())], guard: None }
    }
    fn element(&self, fuser: &Fuser<'_>, _: &Node, _: &[Term], inputs: Vec<Element>) -> Element {
        let Some(input) = inputs.into_iter().next() else { return Element::from(Vec::new()) };
        let keep = fuser.apply_if(input.present, &self.keep, &input.value).into_iter().next();
        let present = match (input.present, keep) {
            (Some(present), Some(keep)) => Some(present.binary(Op::And, keep)),
            (present, keep) => keep.or(present),
        };
        Element { present, value: input.value }
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let keep = interpreter.evaluator(&self.keep)?;
        let kept = |element: &Vec<Constant>| match keep(element) {
            Ok(flag) => flag.first().is_some_and(|flag| flag.is_true()).then(|| Ok(element.clone())),
            Err(error) => Some(Err(error)),
        };
        interpreter.input(node, 0).iter().filter_map(kept).collect()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
