//! From a fused array to the steps that compute it.
//!
//! A kernel is one producer and the consumers that listen to it ([`kernel`]). Which producer an array comes from, and through
//! which operations, is its form; which skeleton a producer is made by is decided here and in the operations' files, for the
//! device's profile and the extents. Kernels take extents as arguments, so they serve every size; only the division of work
//! is fixed in them.

mod consumers;
mod elements;
mod expand;
mod expand_reduce;
mod hearing;
mod interior;
mod join;
mod kernel;
mod parameters;
mod place;
mod scan;
mod separate;
mod small_loop;
mod sort;

pub(crate) use consumers::launched_blocks;
pub use consumers::{Consumer, Heard, Hop, Listeners};
pub use elements::{columns_are_contiguous, rows_load_once};
pub use hearing::{Common, Hearing};
pub(crate) use hearing::{HeardFrom, Known, widest_load, with_known};
pub(crate) use join::{JoinedInput, MOST_JOINED};
pub use kernel::KernelName;
pub use parameters::Parameters;
pub(crate) use parameters::{ScalarParameter, Source};
pub(crate) use scan::{ScanJob, ScanSource};
pub(crate) use separate::{Separated, separate};
pub use small_loop::Reason;
pub(crate) use small_loop::SmallLoop;
pub(crate) use sort::SortJob;

pub use crate::plan::Step;

use crate::error::Error;
use crate::extents::{Extents, Knowledge};
use crate::form::Form;
use crate::fuser::Fuser;
use crate::plan::{Buffers, PlanOptions};
use crate::program::{ArrayProgram, Node, NodeId};
use consumers::Write;
use pumice_kernel::{Ix, Profile};
use pumice_scalar::{Exp, PlacedMessage, ScalarType, Site};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Makes the kernels of one program.
pub struct Lowering<'a> {
    /// Properties of the device.
    pub profile: &'a Profile,
    /// Options of planning, such as the passes that run.
    pub options: &'a PlanOptions,
    /// The program.
    pub program: &'a ArrayProgram,
    /// The extents of the arrays.
    pub extents: &'a Extents,
    /// Facts about the arguments.
    pub knowledge: &'a Knowledge,
    /// Writes pulls as functions.
    pub fuser: Fuser<'a>,
    /// By array that finds a length on the device, the slot of its cell.
    pub cells: &'a HashMap<NodeId, usize>,
    pub(crate) buffers: &'a RefCell<Buffers>,
    /// Places where the launches up to here can fail.
    pub(crate) sites: &'a RefCell<Vec<Site>>,
    /// Reasons for the next launch's form.
    pub(crate) reasons: &'a RefCell<Vec<String>>,
    /// Single values that folds compute from their results.
    pub(crate) followers: &'a [NodeId],
}

/// A number of things, for people.
pub(crate) fn counted(number: i64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

impl Lowering<'_> {
    /// Records why the next launch is made as it is: a sentence without a place, for [`Launch::why`](crate::Launch::why).
    pub fn because(&self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        let mut reasons = self.reasons.borrow_mut();
        if !sentence.is_empty() && !reasons.contains(&sentence) {
            reasons.push(sentence);
        }
    }

    /// The steps that write an array to its slot.
    pub(crate) fn array(&self, node: &Node, slot: usize) -> Result<Vec<Step>, Error> {
        match self.fuser.forms.of(node.id) {
            Some(Form::Alone) => node.operation.consume(self, node),
            Some(Form::Push { producer, .. }) => {
                let operation = &self.program.node(*producer).operation;
                if operation.hands_on_loose() {
                    return Err(Error::Program(PlacedMessage::naming(
                        node.place,
                        format!("nothing gives an index to the elements of {}", node.place),
                    )));
                }
                operation.produce(self, vec![self.writing(node, slot)])
            }
            Some(Form::Loose { .. }) => self.place(node, slot),
            Some(Form::Pull) => self.write(node, self.writing(node, slot)),
            Some(Form::Given) | None => Ok(Vec::new()),
        }
    }

    /// Whether nothing is launched for an array: it has no elements, or they have no scalars, and its kernel reports nothing else.
    /// A user's kernel can fail even if it gives nothing, and a filter finds the number of elements that it keeps.
    pub(crate) fn is_idle(&self, node: NodeId) -> bool {
        let speaks = match self.fuser.forms.of(node) {
            Some(Form::Pull) => false,
            Some(Form::Push { producer, .. }) => self.program.node(*producer).operation.speaks_when_empty(),
            _ => true,
        };
        !speaks && (self.extents.size(node) == 0 || self.program.node(node).types.is_empty())
    }

    /// Returns the listener to an array's producer that writes the array to a slot.
    pub(crate) fn writing(&self, node: &Node, slot: usize) -> Listeners {
        self.listening(node.id, self.heard_in(slot).consumer)
    }

    /// A consumer that listens to the producer of an array, through the operations between them.
    pub fn listening(&self, node: NodeId, consumer: Rc<dyn Consumer>) -> Listeners {
        let (producer, stages) = match self.fuser.forms.of(node) {
            Some(Form::Push { producer, stages }) => (*producer, stages.as_slice()),
            _ => (node, &[][..]),
        };
        let mut through = Vec::new();
        let (mut from, mut stages) = (producer, stages);
        while !stages.is_empty() {
            let expands = |stage: &NodeId| self.program.node(*stage).operation.expands().is_some();
            let count = stages.iter().position(expands).unwrap_or(stages.len());
            if count > 0 {
                through.push(Hop::Elements(self.fuser.stages(from, &stages[..count])));
            }
            let expansion = stages.get(count).copied();
            if let Some((size, get)) = expansion.and_then(|it| self.program.node(it).operation.expands()) {
                let [size, get] = [size, get].map(|function| self.fuser.with_classes(function));
                through.push(Hop::Expand { size, get, slices: 1 });
            }
            (from, stages) = (expansion.unwrap_or(from), stages.get(count + 1..).unwrap_or_default());
        }
        Listeners { producer, heard: vec![Heard { through, consumer }] }
    }

    /// A consumer that writes the producer's elements to a slot.
    pub fn heard_in(&self, slot: usize) -> Heard {
        let types = self.buffers.borrow().types(slot);
        Heard { through: Vec::new(), consumer: Rc::new(Write { slot, types }) }
    }

    /// The slot of an array in memory.
    pub fn slot(&self, node: NodeId) -> Result<usize, Error> {
        let missing = || Error::Program(format!("{} is not in memory", self.program.node(node).place).into());
        self.fuser.slots.get(&node).copied().ok_or_else(missing)
    }

    /// Memory for intermediate results: its slot, and the steps that allocate it.
    pub fn temporary(&self, types: &[ScalarType], length: i64) -> (usize, Vec<Step>) {
        let slot = self.buffers.borrow_mut().add(types, length);
        let steps = self.buffers.borrow().of(slot).iter().copied().map(Step::Allocate).collect();
        (slot, steps)
    }

    /// Makes memory for intermediate results so long.
    pub fn resize(&self, slot: usize, length: i64) {
        self.buffers.borrow_mut().resize(slot, length.max(0) as usize);
    }

    /// The buffers of a slot, one per scalar column.
    pub fn buffers_of(&self, slot: usize) -> Vec<usize> {
        self.buffers.borrow().of(slot).to_vec()
    }

    /// The number of elements of an array, inside a kernel.
    pub fn size(&self, node: NodeId, parameters: &Parameters) -> Ix {
        self.product(node, self.program.node(node).rank, "size", parameters)
    }

    /// The number of rows of an array, inside a kernel.
    pub fn row_count(&self, node: NodeId, parameters: &Parameters) -> Ix {
        let lengths = self.extents.lengths(node);
        let outer = lengths.len().saturating_sub(1);
        let known = lengths[..outer].iter().all(|length| length.cell.is_none());
        match known {
            true => parameters.number("rows", lengths[..outer].iter().map(|length| length.bound).product()),
            false => self.product(node, outer, "rows", parameters),
        }
    }

    /// The innermost extent of an array, inside a kernel.
    pub fn column_count(&self, node: NodeId, parameters: &Parameters) -> Ix {
        match self.extents.classes(node).last() {
            Some(class) => parameters.extent(*class),
            None => Exp::from(1),
        }
    }

    fn product(&self, node: NodeId, dimensions: usize, name: &'static str, parameters: &Parameters) -> Ix {
        let classes = &self.extents.classes(node)[..dimensions];
        let known = classes.iter().all(|class| self.extents.length(*class).cell.is_none());
        match classes {
            [] => Exp::from(1),
            [class] => parameters.extent(*class),
            _ if known => parameters
                .number(name, classes.iter().map(|class| self.extents.length(*class).bound).product()),
            [first, rest @ ..] => {
                rest.iter().fold(parameters.extent(*first), |all, class| all * parameters.extent(*class))
            }
        }
    }
}
