//! Memory by its number, without checks: for front ends that know their indices. What is here is unsafe, because kernels
//! are launched by safe code, which relies on every index being in its memory.

use crate::effects;
use pumice_program::MemoryId;
use pumice_scalar::{ScalarType, Term};

/// An element of memory that is not written while it can be read.
///
/// # Safety
///
/// In every launch, the index is below the length of the memory wherever the value is computed, which may be anywhere that
/// the index is known.
pub unsafe fn read(memory: MemoryId, ty: ScalarType, index: Term) -> Term {
    effects::read(memory, ty, index)
}

/// Writes an element.
///
/// # Safety
///
/// In every launch, the index is below the length of the memory where this stands, and nobody else reads or writes the
/// element at the same time.
pub unsafe fn store(memory: MemoryId, index: Term, value: Term) {
    effects::store(memory, index, value);
}
