//! Capabilities and limits of a target: plain data that the pipeline legalises programs against.
//!
//! The emitter states what it can write in a dialect, a device states what its hardware and driver have, and only
//! [`mod@crate::passes::legalise`] decides what follows for a program.

use pumice_scalar::ScalarType;

use crate::ir::AtomicOp;

/// Implementation of warp collectives on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Warps {
    /// Instructions of the device.
    Native,
    /// Shared memory and barriers of the block; the emitter writes these, and they take 8 bytes per thread.
    ThroughShared,
    /// One worker runs all threads of a block, so it has all their values at hand.
    OneWorker,
}

/// Atomic operations that a target has on elements of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WideAtomics {
    /// None, not even compare-and-exchange.
    None,
    /// Sums, exchange and compare-and-exchange.
    Base,
    /// Minimum, maximum and bit operations too.
    Extended,
}

/// The atomic operations that a target has natively, besides those on 32-bit integers, which every target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomics {
    /// Operations on elements of 64 bits.
    pub wide: WideAtomics,
    /// All operations on elements of 8 and 16 bits; every target has exchange, compare-and-exchange, loads and stores of those.
    pub small: bool,
    /// Sums of floats.
    pub float_add: bool,
    /// Minimum and maximum of floats.
    pub float_min_max: bool,
}

impl Atomics {
    /// Whether a target has an operation natively on elements of a type.
    pub fn has(self, op: AtomicOp, ty: ScalarType) -> bool {
        let base = match op {
            AtomicOp::Add => !ty.is_float() || self.float_add,
            AtomicOp::Min | AtomicOp::Max if ty.is_float() => self.float_min_max,
            _ => true,
        };
        let exchanges = matches!(
            op,
            AtomicOp::Exchange | AtomicOp::CompareExchange | AtomicOp::Load(_) | AtomicOp::Store(_)
        );
        if ty.is_small() && !exchanges && !self.small {
            return false;
        }
        let extended =
            matches!(op, AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
        let needed = match (ty.bytes(), extended) {
            (8, true) if !ty.is_float() => WideAtomics::Extended,
            (8, _) => WideAtomics::Base,
            _ => WideAtomics::None,
        };
        base && self.wide >= needed
    }
}

/// Features of a target: which types and operations it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// Integers of 64 bits.
    pub wide_integers: bool,
    /// Floats of 64 bits.
    pub doubles: bool,
    /// Arithmetic on numbers of 8 and 16 bits. Every target has such numbers in memory.
    pub small: bool,
    /// Atomic operations.
    pub atomics: Atomics,
    /// Shuffles and votes.
    pub warps: Warps,
    /// The most bytes that the arguments of a launch have together.
    pub parameter_bytes: u32,
}

impl Capabilities {
    /// Every feature, as the simulator has it.
    pub const ALL: Capabilities = Capabilities {
        wide_integers: true,
        doubles: true,
        small: true,
        atomics: Atomics { wide: WideAtomics::Extended, small: true, float_add: true, float_min_max: true },
        warps: Warps::Native,
        parameter_bytes: u32::MAX,
    };

    /// Whether values of a type exist.
    pub fn has_type(&self, ty: ScalarType) -> bool {
        match ty {
            ScalarType::I64 | ScalarType::U64 => self.wide_integers,
            ScalarType::F64 => self.doubles,
            _ => true,
        }
    }
}

/// Features and limits that programs are legalised against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The features.
    pub capabilities: Capabilities,
    /// The most threads of a block.
    pub max_threads: u32,
    /// Bytes of memory that the threads of a block share.
    pub shared_bytes: u32,
    /// Bytes of the widest access of one thread; 0 where accesses should not be merged.
    pub vector_bytes: u32,
}

impl Target {
    /// Every feature, and no limit.
    pub const ALL: Target = Target {
        capabilities: Capabilities::ALL,
        max_threads: u32::MAX,
        shared_bytes: u32::MAX,
        vector_bytes: 16,
    };
}
