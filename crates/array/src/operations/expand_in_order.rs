//! An expansion whose elements have an index: [`crate::passes`] puts it in the place of an `expand` where an index is needed.
//!
//! A push that hands on every element at its index. Its second input says where the elements of each source end, so that every
//! block finds an equal share of them. It has no text: only the pass can promise that the ends are those of the sizes.

use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Listeners, Lowering, Step};
use crate::operation::{Nature, Operation, RANK, Signature, ensure, fits, next};
use crate::program::Node;
use pumice_scalar::{Constant, Function, ScalarType};
use std::any::Any;
use std::sync::Arc;

/// The elements of all sources, one source after the other, by index.
#[derive(Clone)]
pub struct ExpandInOrder {
    /// The total number of elements; from no parameters.
    pub total: Function,
    /// An element, from its source and its number there.
    pub get: Function,
}

impl Operation for ExpandInOrder {
    fn keyword(&self) -> &'static str {
        "expand_in_order"
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.total, &self.get]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let (total, get) = (next(&mut functions, &self.total), next(&mut functions, &self.get));
        Arc::new(ExpandInOrder { total, get })
    }
    fn shaping(&self) -> Vec<&Function> {
        vec![&self.total]
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let [(1, types), (1, [ScalarType::I64])] = signature.inputs[..] else { return Err(RANK.into()) };
        ensure(signature.rank == 1, RANK)?;
        fits(&self.total, &[], &[ScalarType::I64])?;
        fits(&self.get, &[types, &[ScalarType::I64]].concat(), signature.types)
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        shapes.shape(&self.total)
    }
    fn nature(&self) -> Nature {
        Nature::Push
    }
    fn cost(&self) -> u32 {
        self.get.cost()
    }
    fn repeats(&self) -> bool {
        true
    }
    fn produce(&self, lowering: &Lowering<'_>, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let steps = group.iter().map(|listeners| lowering.expand_in_order(self, listeners));
        Ok(steps.collect::<Result<Vec<_>, Error>>()?.concat())
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let get = interpreter.evaluator(&self.get)?;
        let mut all = Elements::new();
        for (source, end) in interpreter.input(node, 0).iter().zip(interpreter.input(node, 1)) {
            let end = end.first().and_then(|end| end.as_integer()).unwrap_or(0);
            for number in 0..(end - all.len() as i128).max(0) as i64 {
                all.push(get(&[&source[..], &[Constant::from(number)]].concat())?);
            }
        }
        Ok(all)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
