//! Why arrays are in memory: recorded where that is decided (`form.rs`, `plan.rs`) and told by `explain`. Decides nothing.

use crate::form::RECOMPUTE;
use pumice_scalar::Place;
use std::fmt;

/// Why an array of a plan is in memory. Every other array of the program is part of the kernels that use it.
///
/// ```
/// use pumice::layers::array::InMemory;
/// use pumice::Place;
/// let by = Place::new("sort", "prices.rs", 3, 7);
/// assert_eq!(InMemory::Read { by }.to_string(), "sort at prices.rs:3 reads its input from memory");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InMemory {
    /// It is an argument or data of the program, or an earlier plan computed it.
    Given,
    /// It is a result.
    Result,
    /// Fusion is off.
    Unfused,
    /// Its operation writes it by a kernel of its own, at indices that only that kernel knows.
    OwnKernel,
    /// Its operation may leave elements out, which are zero: nothing that listens would hear of those.
    Incomplete,
    /// Elements are needed at several indices or by several kernels, and one costs more than a store and a load.
    Recomputed {
        /// Instructions, roughly, that an element takes.
        cost: u32,
    },
    /// An operation reads each of its elements many times.
    Repeated {
        /// That operation.
        by: Place,
        /// Instructions, roughly, that an element takes.
        cost: u32,
    },
    /// An operation reads elements by an index that it computes, and the number of reads is unknown.
    Indexed {
        /// That operation.
        by: Place,
        /// Instructions, roughly, that an element takes.
        cost: u32,
    },
    /// Its kernel hands elements on in an order of its own, and an operation needs them in another, or several operations need them.
    HandedOn {
        /// That operation.
        by: Place,
    },
    /// Its elements may be absent, as a filter's are, and an operation needs them by index.
    Loose {
        /// That operation.
        by: Place,
    },
    /// An operation reads its input from memory only.
    Read {
        /// That operation.
        by: Place,
    },
    /// Its length is found on the device while it is written, and an operation needs that length.
    Length {
        /// That operation.
        by: Place,
    },
}

impl InMemory {
    /// A word that stands for the kind of reason, for programs that read explanations.
    pub fn name(&self) -> &'static str {
        match self {
            InMemory::Given => "given",
            InMemory::Result => "result",
            InMemory::Unfused => "unfused",
            InMemory::OwnKernel => "own-kernel",
            InMemory::Incomplete => "incomplete",
            InMemory::Recomputed { .. } => "recomputed",
            InMemory::Repeated { .. } => "repeated",
            InMemory::Indexed { .. } => "indexed",
            InMemory::HandedOn { .. } => "handed-on",
            InMemory::Loose { .. } => "loose",
            InMemory::Read { .. } => "read",
            InMemory::Length { .. } => "length",
        }
    }
}

impl fmt::Display for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InMemory::Given => f.write_str("it is there before the kernels run"),
            InMemory::Result => f.write_str("it is a result"),
            InMemory::Unfused => f.write_str("fusion is off"),
            InMemory::OwnKernel => f.write_str("its operation writes it by a kernel of its own"),
            InMemory::Incomplete => f.write_str("its kernel may leave elements out, which are zero"),
            InMemory::Recomputed { cost } => write!(
                f,
                "its elements are needed more than once, and computing one takes about {cost} instructions, more than the \
                 {RECOMPUTE} of a store and a load"
            ),
            InMemory::Repeated { by, cost } => {
                write!(
                    f,
                    "{by} reads each element many times, and computing one takes about {cost} instructions"
                )
            }
            InMemory::Indexed { by, cost } => write!(
                f,
                "{by} reads elements by index, nobody knows how often, and computing one takes about {cost} instructions"
            ),
            InMemory::HandedOn { by } => {
                write!(
                    f,
                    "its kernel hands elements on in an order of its own, and {by} needs them by index or beside others"
                )
            }
            InMemory::Loose { by } => {
                write!(f, "elements are left out, and {by} needs those that stay by index")
            }
            InMemory::Read { by } => write!(f, "{by} reads its input from memory"),
            InMemory::Length { by } => {
                write!(f, "its length is found while it is written, and {by} needs that length")
            }
        }
    }
}
