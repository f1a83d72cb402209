//! `zip_with`: a function of the elements of arrays of one shape; of one array, a map.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::{Element, Fuser};
use crate::interpret::{Elements, Interpreter};
use crate::operation::{Demand, Listens, Nature, Operation, RANK, Signature, ensure, fits, next};
use crate::program::Node;
use pumice_scalar::{Constant, Function, Op, ScalarType, Term};
use std::any::Any;
use std::sync::Arc;

/// A function of elements at one index.
#[derive(Clone)]
pub struct ZipWith {
    /// The element, from the inputs' elements.
    pub function: Function,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "zip_with",
    make: |Parts { functions, .. }| match <[Function; 1]>::try_from(functions) {
        Ok([function]) => Some(Arc::new(ZipWith { function })),
        Err(_) => None,
    },
};

impl Operation for ZipWith {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.function]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(ZipWith { function: next(&mut functions.into_iter(), &self.function) })
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        ensure(!signature.inputs.is_empty(), "there is no array to work on")?;
        ensure(signature.inputs.iter().all(|(rank, _)| *rank == signature.rank), RANK)?;
        let elements: Vec<ScalarType> =
            signature.inputs.iter().flat_map(|(_, types)| types.iter().copied()).collect();
        fits(&self.function, &elements, signature.types)
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        (1..shapes.inputs()).try_for_each(|input| shapes.require_same(0, input))?;
        Ok(shapes.same(0))
    }
    fn nature(&self) -> Nature {
        Nature::Pull
    }
    fn listens(&self, _: usize) -> Listens {
        Listens::Maps
    }
    fn cost(&self) -> u32 {
        self.function.cost()
    }
    fn demand(&self, _: &Fuser<'_>, node: &Node, index: &[Term]) -> Demand {
        let elements = (0..node.inputs.len()).map(|input| (input, index.to_vec())).collect();
        Demand { elements, guard: None }
    }
    fn element(&self, fuser: &Fuser<'_>, _: &Node, _: &[Term], inputs: Vec<Element>) -> Element {
        let present = inputs.iter().filter_map(|input| input.present).reduce(|a, b| a.binary(Op::And, b));
        let arguments: Vec<Term> = inputs.into_iter().flat_map(|input| input.value).collect();
        Element { present, value: fuser.apply_if(present, &self.function, &arguments) }
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let evaluate = interpreter.evaluator(&self.function)?;
        let inputs: Vec<&Elements> = node.inputs.iter().map(|input| interpreter.elements(*input)).collect();
        let element = |position: usize| {
            let arguments: Vec<Constant> =
                inputs.iter().flat_map(|input| input[position].iter().copied()).collect();
            evaluate(&arguments)
        };
        (0..inputs.first().map_or(0, |input| input.len())).map(element).collect()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
