//! The arrays of a plan that are in memory, and the bytes that its kernels move: facts for people and for profiles. No decision depends on
//! them.

use super::{Launch, Plan, PlanArgument};
use crate::in_memory::InMemory;
use pumice_program::{Access, Param, Space};
use pumice_scalar::Place;
use std::collections::HashSet;

/// An array that a plan has in memory.
#[derive(Clone, Debug)]
pub struct PlannedArray {
    /// The operation that it is the result of.
    pub place: Place,
    /// Its extents, or the most that they can be.
    pub extents: Vec<usize>,
    /// Its buffers, one per scalar column.
    pub buffers: Vec<usize>,
    /// The cells with extents that only the device knows, which its kernel finds.
    pub cells: Vec<usize>,
    /// Why it is in memory.
    pub why: InMemory,
}

/// A launch's accesses to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The buffer.
    pub buffer: usize,
    /// Whether elements are read.
    pub reads: bool,
    /// Whether elements are written.
    pub writes: bool,
}

impl Plan {
    /// The arrays in memory, those that are given first. Buffers of no array are memory that kernels of one operation share.
    pub fn arrays(&self) -> &[PlannedArray] {
        &self.arrays
    }

    /// Returns the operation whose result or memory a buffer is: of memory of no array that of the first kernel that uses it.
    pub fn place_of(&self, buffer: usize) -> Option<Place> {
        let holds = |array: &&PlannedArray| array.buffers.contains(&buffer) || array.cells.contains(&buffer);
        let uses = |launch: &&Launch| launch.arguments.contains(&PlanArgument::Buffer(buffer));
        let array = self.arrays.iter().find(holds).map(|array| array.place);
        array.or_else(|| Some(self.launches().find(uses)?.place))
    }

    /// Returns the accesses of a launch of this plan to each of its buffers.
    pub fn uses(&self, launch: &Launch) -> Vec<Use> {
        let mut seen = HashSet::new();
        let uses = launch.program.params.iter().zip(&launch.arguments);
        let uses = uses.filter_map(|(param, argument)| match (param, argument) {
            (Param::Memory(memory), PlanArgument::Buffer(buffer)) if seen.insert(*buffer) => {
                let access = match launch.program.memory(*memory).space {
                    Space::Global { access } => access,
                    Space::Shared { .. } | Space::Private { .. } => return None,
                };
                let (reads, writes) = (access != Access::Write, access != Access::Read);
                Some(Use { buffer: *buffer, reads, writes })
            }
            _ => None,
        });
        uses.collect()
    }

    /// The bytes that a launch of this plan reads and writes if it touches every element of its arrays once: an estimate from extents, before
    /// anything runs. One that reads only some elements moves less, and one that reads elements again and again may move more.
    pub fn traffic(&self, launch: &Launch) -> (u64, u64) {
        let bytes = |of: fn(&Use) -> bool| {
            let uses = self.uses(launch).into_iter().filter(of);
            let bytes = uses.filter_map(|it| self.buffers.get(it.buffer)).map(|buffer| buffer.bytes() as u64);
            bytes.fold(0, u64::saturating_add)
        };
        (bytes(|it| it.reads), bytes(|it| it.writes))
    }
}
