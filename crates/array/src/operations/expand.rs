//! `expand`: replaces each element of a vector, a source, by as many elements as a function of it says.
//!
//! An expansion is a push that hands its elements on loose: how the sources are divided among threads is decided when it is
//! lowered ([`crate::lower`]), nothing is written, and the number of elements is unknown. Where an operation needs that number,
//! or an element by its index, [`crate::passes`] has put other operations in its place before a program is planned.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, MOST_ELEMENTS, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Listeners, Lowering, Step};
use crate::operation::{Listens, Nature, Operation, RANK, Signature, ensure, fits, next};
use crate::program::Node;
use pumice_scalar::{Constant, Function, PlacedMessage, ScalarType};
use std::any::Any;
use std::sync::Arc;

/// The elements of all sources, one source after the other.
#[derive(Clone)]
pub struct Expand {
    /// The number of elements of a source; none if that is negative.
    pub size: Function,
    /// An element, from its source and its number there.
    pub get: Function,
    /// Whether a second input says where the elements of each source end, so that every block finds an equal share of all. Text has no such
    /// expansions: only a pass over programs can promise that the ends are those of the sizes.
    pub has_ends: bool,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "expand",
    make: |Parts { functions, .. }| match <[Function; 2]>::try_from(functions) {
        Ok([size, get]) => Some(Arc::new(Expand { size, get, has_ends: false })),
        Err(_) => None,
    },
};

impl Operation for Expand {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.size, &self.get]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let (size, get) = (next(&mut functions, &self.size), next(&mut functions, &self.get));
        Arc::new(Expand { size, get, has_ends: self.has_ends })
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (rank, types) = match signature.inputs[..] {
            [sources, (1, [ScalarType::I64])] if self.has_ends => sources,
            _ => signature.input()?,
        };
        ensure(rank == 1 && signature.rank == 1, RANK)?;
        fits(&self.size, types, &[ScalarType::I64])?;
        fits(&self.get, &[types, &[ScalarType::I64]].concat(), signature.types)
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        Ok(vec![shapes.found_on_device(MOST_ELEMENTS)])
    }
    fn nature(&self) -> Nature {
        Nature::Push
    }
    fn listens(&self, input: usize) -> Listens {
        if input == 0 { Listens::Expands } else { Listens::No }
    }
    fn expands(&self) -> Option<(&Function, &Function)> {
        Some((&self.size, &self.get))
    }
    fn hands_on_loose(&self) -> bool {
        true
    }
    fn cost(&self) -> u32 {
        self.size.cost().saturating_add(self.get.cost())
    }
    fn repeats(&self) -> bool {
        self.has_ends
    }
    fn produce(&self, lowering: &Lowering<'_>, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let steps = group.iter().map(|listeners| lowering.expand(self, listeners));
        Ok(steps.collect::<Result<Vec<_>, Error>>()?.concat())
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let (size, get) = (interpreter.evaluator(&self.size)?, interpreter.evaluator(&self.get)?);
        let mut all = Elements::new();
        for source in interpreter.input(node, 0) {
            let size = size(source)?.first().and_then(|size| size.as_integer()).unwrap_or(0);
            if size > i128::from(MOST_ELEMENTS) - all.len() as i128 {
                return Err(Error::Shape(PlacedMessage::at("there are too many elements", node.place)));
            }
            for number in 0..size as i64 {
                all.push(get(&[&source[..], &[Constant::from(number)]].concat())?);
            }
        }
        Ok(all)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
