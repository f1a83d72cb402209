//! Memory by its number, without checks: for front ends that know their indices. What is here is unsafe, because kernels
//! are launched by safe code, which relies on every index being in its memory.

use crate::item::Ix;
use crate::{builder, device_length, effects};
use pumice_program::{Access, MemoryId};
use pumice_scalar::{ScalarType, Term};

/// Adds global memory as the next parameter.
///
/// # Safety
///
/// The launcher knows of this parameter. (Others rely on the kernel having those that they have added.)
pub unsafe fn memory_parameter(name: &str, ty: ScalarType, access: Access) -> MemoryId {
    builder::memory_parameter(name, ty, access)
}

/// Adds a scalar as the next parameter.
///
/// # Safety
///
/// As for [`memory_parameter`].
pub unsafe fn scalar_parameter(name: &str, ty: ScalarType) -> Term {
    builder::scalar_parameter(name, ty)
}

/// Adds a length that only the device knows as the next parameter: memory with one `i64`. The length is what it holds, but
/// not below zero and not above `bound`, which is known before the kernel starts. Where the number of blocks depends on it,
/// as many are launched as the bound needs, and those beyond the length end at once.
///
/// # Safety
///
/// As for [`memory_parameter`]; and in every launch the memory has an element, which is written before the kernel starts and
/// not while it runs.
pub unsafe fn length_parameter(name: &str, bound: Ix) -> Ix {
    device_length::parameter(name, bound)
}

/// An element of memory that is not written while it can be read.
///
/// # Safety
///
/// In every launch, the index is below the length of the memory wherever the value is computed: where an expression demands
/// it if `guarded`, else anywhere that the index is known.
pub unsafe fn read(memory: MemoryId, ty: ScalarType, index: Term, guarded: bool) -> Term {
    match guarded {
        true => effects::guarded(|| effects::read(memory, ty, index)),
        false => effects::read(memory, ty, index),
    }
}

/// An element of memory as it is now, which may change later.
///
/// # Safety
///
/// In every launch, the index is below the length of the memory where this stands.
pub unsafe fn read_now(memory: MemoryId, ty: ScalarType, index: Term) -> Term {
    effects::read_now(memory, ty, index)
}

/// Writes an element.
///
/// # Safety
///
/// In every launch, the index is below the length of the memory where this stands, and nothing else reads or writes the
/// element at the same time.
pub unsafe fn store(memory: MemoryId, index: Term, value: Term) {
    effects::store(memory, index, value);
}
