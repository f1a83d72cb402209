//! The block that runs a loop: the arrays in its slots, and its barriers.

use super::capacity;
use super::held::{Held, put, whole};
use crate::fuser::slot_and_column;
use crate::lower::Parameters;
use pumice_kernel::{Ix, allocate_shared, parallel, read_now, sync};
use pumice_program::MemoryId;
use pumice_scalar::{Function, Node as ScalarNode, ScalarType, Term};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The first slot that stands for something in the kernel rather than for an array of the plan.
const FIRST_SLOT: usize = 1 << 41;

/// Computes a function where it is at home.
pub(super) type Apply<'a> = dyn Fn(&Function, &[Term]) -> Vec<Term> + 'a;

/// The block that runs a loop.
pub(super) struct InBlock {
    pub(super) parameters: Rc<Parameters>,
    /// By slot of the kernel.
    held: RefCell<HashMap<usize, Held>>,
    next_slot: Cell<usize>,
    /// Slots that were written after the last barrier.
    unsynced: RefCell<HashSet<usize>>,
    /// Says whether a check has failed.
    pub(super) flag: Option<MemoryId>,
}

impl InBlock {
    pub(super) fn new(parameters: &Rc<Parameters>, flag: Option<MemoryId>) -> InBlock {
        InBlock {
            parameters: parameters.clone(),
            held: RefCell::default(),
            next_slot: Cell::new(FIRST_SLOT),
            unsynced: RefCell::default(),
            flag,
        }
    }

    /// A new slot for an array at this location.
    pub(super) fn hold(&self, held: Held) -> usize {
        let slot = self.next_slot.replace(self.next_slot.get() + 1);
        self.held.borrow_mut().insert(slot, held);
        slot
    }

    /// New memory for an array.
    pub(super) fn allocate(&self, size: i64, types: &[ScalarType]) -> Held {
        let memories = types.iter().map(|ty| allocate_shared(*ty, capacity(size)));
        Held::Shared(memories.collect(), whole(0))
    }

    /// Notes that a slot is written: its readers wait at a barrier first.
    pub(super) fn written(&self, slot: usize) {
        self.unsynced.borrow_mut().insert(slot);
    }

    /// Notes that the threads have waited for each other.
    pub(super) fn waited(&self) {
        self.unsynced.borrow_mut().clear();
    }

    /// Whether something was written since the threads last waited.
    pub(super) fn has_unsynced(&self) -> bool {
        !self.unsynced.borrow().is_empty()
    }

    /// Waits for the block's threads.
    pub(super) fn sync(&self) {
        sync();
        self.waited();
    }

    /// Emits a barrier if functions read slots that were written since the last one.
    pub(super) fn sync_before(&self, functions: &[&Function]) {
        let is_read = |node: &ScalarNode| match node {
            ScalarNode::Load { array, .. } => self.unsynced.borrow().contains(&slot_and_column(*array).0),
            _ => false,
        };
        if functions.iter().any(|function| function.nodes().iter().any(is_read)) {
            self.sync();
        }
    }

    /// A number that the launch gives, so that the kernel serves others as well.
    pub(super) fn number(&self, number: i64) -> Ix {
        self.parameters.number("n", number)
    }

    /// Writes an array to its place, from a function of the number of an element.
    pub(super) fn fill(&self, size: i64, slot: usize, function: &Function, apply: &Apply<'_>) {
        let Some(Held::Shared(memories, start)) = self.held.borrow().get(&slot).cloned() else { return };
        if size == 0 {
            return;
        }
        self.sync_before(&[function]);
        parallel(self.number(size).term(), |index| {
            put(&memories, start, index, &apply(function, &[index]));
        });
        self.written(slot);
    }

    /// Returns the location of a slot's array.
    pub(super) fn at(&self, slot: usize) -> Option<Held> {
        self.held.borrow().get(&slot).cloned()
    }

    /// The single element of a slot.
    pub(super) fn element(&self, slot: usize, types: &[ScalarType]) -> Vec<Term> {
        match self.at(slot) {
            Some(Held::Values(values)) => values,
            _ => types.iter().map(|ty| Term::invalid(*ty, "a single value is not in registers")).collect(),
        }
    }

    /// The only scalar of a slot.
    pub(super) fn single(&self, slot: Option<&usize>, ty: ScalarType) -> Term {
        let value = slot.map_or(Vec::new(), |slot| self.element(*slot, &[ty]));
        value.first().copied().unwrap_or_else(|| Term::invalid(ty, "a loop has no condition"))
    }

    /// Brings a single element from shared memory to registers.
    pub(super) fn read_single(&self, slot: usize, types: &[ScalarType]) -> usize {
        self.sync();
        let values = match self.at(slot) {
            Some(Held::Shared(memories, start)) => {
                // SAFETY: every array has a cell at least.
                let read = |(memory, ty): (&MemoryId, &ScalarType)| unsafe { read_now(*memory, *ty, start) };
                memories.iter().zip(types).map(read).collect()
            }
            _ => self.element(slot, types),
        };
        self.hold(Held::Values(values))
    }
}
