//! `concat`: arrays one after the other along a dimension. A push: each part hands on its own elements, at places behind those
//! of the parts before it, so that nothing asks for an element which part it comes from. Parts that are pulls share a kernel.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::{Elements as Handed, Fuser};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{JoinedInput, Listeners, Lowering, MOST_JOINED, Step, launched_blocks};
use crate::operation::{Nature, Operation, RANK, Signature, TYPES, ensure};
use crate::program::{Node, NodeId};
use pumice_scalar::{Constant, Function, Op, ScalarType, Term};
use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

/// Arrays one after the other.
#[derive(Clone)]
pub struct Concat {
    /// Along which dimension, counted from the outermost.
    pub dimension: usize,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "concat",
    make: |Parts { attributes, .. }| {
        let [dimension] = attributes[..] else { return None };
        Some(Arc::new(Concat { dimension: usize::try_from(dimension).ok()? }))
    },
};

impl Operation for Concat {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        vec![self.dimension as i64]
    }
    fn with_functions(&self, _: Vec<Function>) -> Arc<dyn Operation> {
        Arc::new(self.clone())
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        ensure(!signature.inputs.is_empty(), "there is no array to put others after")?;
        ensure(signature.inputs.iter().all(|(rank, _)| *rank == signature.rank), RANK)?;
        ensure(signature.inputs.iter().all(|(_, types)| *types == signature.types), TYPES)?;
        let (dimension, rank) = (self.dimension, signature.rank);
        let mistake = format!("there is no dimension {dimension} in an array of {rank} dimensions");
        ensure(dimension < rank, &mistake)
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        let mut extents = shapes.same(0);
        let mut parts = Vec::new();
        for input in 0..shapes.inputs() {
            for (dimension, extent) in shapes.same(input).into_iter().enumerate() {
                let first = extents[dimension];
                if dimension == self.dimension {
                    match shapes.number(extent) {
                        Ok(0) => {}
                        Err(Unplanned::NeedsLength(_)) | Ok(_) => parts.push(extent),
                        Err(other) => return Err(other),
                    }
                } else if !shapes.is_same(first, extent) && shapes.number(first)? != shapes.number(extent)? {
                    let (first, other) = (shapes.numbers(0)?, shapes.numbers(input)?);
                    return Err(shapes.mistake(format!(
                        "extents {first:?} and {other:?} differ beside dimension {}",
                        self.dimension
                    )));
                }
            }
        }
        extents[self.dimension] = match parts[..] {
            // Others have no elements: its length need not be known.
            [only] => only,
            _ => {
                let numbers = parts.iter().map(|part| shapes.number(*part));
                Extent::Number(
                    numbers.collect::<Result<Vec<_>, _>>()?.into_iter().fold(0, i64::saturating_add),
                )
            }
        };
        Ok(extents)
    }
    fn nature(&self) -> Nature {
        Nature::Push
    }
    fn gathers(&self, _: &Node, _: usize) -> bool {
        true
    }
    fn cost(&self) -> u32 {
        1
    }
    fn produce(&self, lowering: &Lowering<'_>, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        for listeners in group {
            let mut kernels = Kernels { listeners: &listeners, blocks: 0, steps: Vec::new() };
            let node = lowering.program.node(listeners.producer);
            let mut together = Vec::new();
            for (part, input) in node.inputs.iter().enumerate() {
                // An array in memory has been computed. An empty one that is handed on may still need its kernel: it can fail, or finds a length.
                let silent = lowering.fuser.forms.is_manifest(*input) || lowering.is_idle(*input);
                if silent && lowering.extents.size(*input) == 0 {
                    continue;
                }
                match self.joined(lowering, node, part) {
                    Some(joined) => together.push(joined),
                    None => kernels.add(|heard| self.hand_on(lowering, node, part, heard))?,
                }
            }
            for together in together.chunks(MOST_JOINED) {
                // SAFETY: the extents along the dimension add up to the result's, and the others are the same.
                kernels.add(|heard| unsafe { lowering.write_joined(node, together, heard) })?;
            }
            steps.extend(kernels.steps);
        }
        Ok(steps)
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        // Elements that stay together, and how often.
        let inner = |input: &NodeId| interpreter.extents(*input)[self.dimension..].iter().product::<i64>();
        let outer: i64 = interpreter.extents(node.id)[..self.dimension].iter().product();
        let mut result = Vec::new();
        for outer in 0..outer {
            for input in &node.inputs {
                let stretch = (outer * inner(input)) as usize..((outer + 1) * inner(input)) as usize;
                result.extend_from_slice(&interpreter.elements(*input)[stretch]);
            }
        }
        Ok(result)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The kernels of one result, the blocks of each numbered on from those of the kernels before it.
struct Kernels<'a> {
    listeners: &'a Listeners,
    blocks: u64,
    steps: Vec<Step>,
}

impl Kernels<'_> {
    fn add(&mut self, make: impl FnOnce(Listeners) -> Result<Vec<Step>, Error>) -> Result<(), Error> {
        let heard = self.listeners.heard.iter().map(|heard| heard.clone().after(self.blocks)).collect();
        let steps = make(Listeners { producer: self.listeners.producer, heard })?;
        self.blocks += launched_blocks(&steps)?;
        self.steps.extend(steps);
        Ok(())
    }
}

impl Concat {
    /// A part that can share a kernel with others.
    fn joined(&self, lowering: &Lowering<'_>, node: &Node, part: usize) -> Option<JoinedInput> {
        let (fuser, input) = (&lowering.fuser, node.inputs[part]);
        let place = || {
            fuser.function(&[ScalarType::I64], vec![fuser.extents.size(input)], |terms| {
                vec![self.place(fuser, node, part, terms[0])]
            })
        };
        if lowering.is_handed_on(input) { None } else { lowering.joinable(input, place) }
    }

    /// The number in the whole of an element with this number in one part.
    fn place(&self, fuser: &Fuser<'_>, node: &Node, part: usize, number: Term) -> Term {
        let zero = Term::from(Constant::from(0i64));
        let along = |input: &NodeId| fuser.extent(*input, self.dimension as u32);
        let sum = |inputs: &mut dyn Iterator<Item = &NodeId>| {
            inputs.map(along).reduce(|a, b| a.binary(Op::Add, b)).unwrap_or(zero)
        };
        let input = node.inputs[part];
        let inner = (self.dimension + 1..node.rank)
            .map(|dimension| fuser.extent(input, dimension as u32))
            .reduce(|a, b| a.binary(Op::Mul, b));
        let elements = |extent: Term| inner.map_or(extent, |inner| extent.binary(Op::Mul, inner));
        let before = elements(sum(&mut node.inputs[..part].iter()));
        let there = number.binary(Op::Add, before);
        if self.dimension == 0 {
            return there;
        }
        let others = node.inputs.iter().enumerate().filter(|(other, _)| *other != part);
        let others = elements(sum(&mut others.map(|(_, input)| input)));
        let outer = number.binary(Op::Div, elements(along(&input)));
        there.binary(Op::Add, outer.binary(Op::Mul, others))
    }

    /// The steps in which a part hands on its elements by itself.
    fn hand_on(
        &self,
        lowering: &Lowering<'_>,
        node: &Node,
        part: usize,
        listeners: Listeners,
    ) -> Result<Vec<Step>, Error> {
        let (fuser, input) = (&lowering.fuser, node.inputs[part]);
        let types = [&[ScalarType::I64][..], &node.types].concat();
        let function = fuser.function(&types, vec![fuser.extents.size(input)], |terms| {
            let there = self.place(fuser, node, part, terms[0]);
            std::iter::once(there).chain(terms[1..].iter().copied()).collect()
        });
        let through = Handed { function, loose: false };
        let heard = listeners.heard.iter().map(|heard| heard.behind(through.clone()));
        if !lowering.is_handed_on(input) {
            return lowering.write_input(node, input, Listeners { producer: input, heard: heard.collect() });
        }
        let mut all = Listeners { producer: input, heard: Vec::new() };
        for heard in heard {
            let listeners = lowering.listening(input, Rc::new(heard));
            all.producer = listeners.producer;
            all.heard.extend(listeners.heard);
        }
        lowering.program.node(all.producer).operation.produce(lowering, vec![all])
    }
}
