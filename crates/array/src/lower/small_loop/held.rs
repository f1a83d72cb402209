//! Locations of the arrays of a loop in one block: registers or shared memory.

use super::Whole;
use pumice_kernel::{allocate_shared, read, store};
use pumice_program::MemoryId;
use pumice_scalar::{Exp, Op, ScalarType, Term};

/// An index or a size as an expression.
pub(super) fn whole(value: i64) -> Term {
    Exp::<i64>::from(value).term()
}

/// Location of an array's elements in the kernel.
#[derive(Clone)]
pub(super) enum Held {
    /// A single element, in registers.
    Values(Vec<Term>),
    /// In shared memory, one memory per column, from a cell on.
    Shared(Vec<MemoryId>, Term),
}

impl Held {
    /// Writes an element.
    pub(super) fn put(&self, index: Term, value: &[Term]) {
        if let Held::Shared(memories, start) = self {
            put(memories, *start, index, value);
        }
    }

    /// Reads an element.
    pub(super) fn element(&self, index: Term, types: &[ScalarType]) -> Vec<Term> {
        match self {
            Held::Values(values) => values.clone(),
            Held::Shared(memories, start) => {
                let cell = start.binary(Op::Add, index);
                // SAFETY: the array has such an element, and has been written.
                let column =
                    |(memory, ty): (&MemoryId, &ScalarType)| unsafe { read(*memory, *ty, cell, false) };
                memories.iter().zip(types).map(column).collect()
            }
        }
    }
}

/// Writes an element.
pub(super) fn put(memories: &[MemoryId], start: Term, index: Term, value: &[Term]) {
    let cell = start.binary(Op::Add, index);
    for (memory, term) in memories.iter().zip(value) {
        // SAFETY: the memory has as many cells from there on as the array has elements, and each is written by one thread; a
        // barrier stands between that and the readers.
        unsafe { store(*memory, cell, *term) };
    }
}

/// Shared memory of a loop's state, twice for each array, and what its single values are made of.
pub(super) struct StateMemory<'a> {
    /// The memories of each array; none for single values.
    arrays: Vec<(&'a Whole, Vec<MemoryId>)>,
}

impl<'a> StateMemory<'a> {
    pub(super) fn new(state: &'a [Whole]) -> StateMemory<'a> {
        let memories = |array: &'a Whole| {
            let types = if array.extents.is_empty() { &[][..] } else { &array.types };
            let cells = array.capacity() * 2;
            (array, types.iter().map(|ty| allocate_shared(*ty, cells)).collect())
        };
        StateMemory { arrays: state.iter().map(memories).collect() }
    }

    /// One of the two areas of an array.
    pub(super) fn held(&self, number: usize, area: Term) -> Held {
        let (array, memories) = &self.arrays[number];
        Held::Shared(memories.clone(), area.binary(Op::Mul, whole(array.capacity().into())))
    }

    /// The whole state: one of the two areas, and these single values.
    pub(super) fn all(&self, area: Term, values: &[Term]) -> Vec<Held> {
        let mut values = values.iter().copied();
        let held = |(number, (array, _)): (usize, &(&Whole, _))| match array.extents.is_empty() {
            true => Held::Values(values.by_ref().take(array.types.len()).collect()),
            false => self.held(number, area),
        };
        self.arrays.iter().enumerate().map(held).collect()
    }
}
