//! Faults: errors of the simulator about programs that do what they must not.

use std::fmt;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// Two threads on one cell, of which one writes and one is not atomic, with nothing that orders them: a barrier, or
    /// between blocks an atomic read of what the other one wrote atomically after.
    Race,
    /// An index that is not in the memory.
    OutOfBounds,
    /// Memory that was never written is read, or the value of a lane that does not take part.
    Unwritten,
    /// A barrier that not every thread of the block (or lane of the warp) reaches, or something that lanes do together
    /// and not all of them reach.
    Barrier,
    /// Several elements at an index that is not a multiple of their number.
    Misaligned,
    /// More steps than were allowed.
    Runaway,
    /// The deadline passed.
    Deadline,
    /// A loop with a step that is not positive, an operation that is marked as exact and wraps, or more blocks than
    /// their index can count.
    Arithmetic,
    /// The program is not well formed.
    Malformed,
    /// The arguments do not fit the program.
    Arguments,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [FaultKind; 10] = [
        FaultKind::Race,
        FaultKind::OutOfBounds,
        FaultKind::Unwritten,
        FaultKind::Barrier,
        FaultKind::Misaligned,
        FaultKind::Runaway,
        FaultKind::Deadline,
        FaultKind::Arithmetic,
        FaultKind::Malformed,
        FaultKind::Arguments,
    ];

    /// Its name, as file tests spell it.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Race => "race",
            FaultKind::OutOfBounds => "out-of-bounds",
            FaultKind::Unwritten => "unwritten",
            FaultKind::Barrier => "barrier",
            FaultKind::Misaligned => "misaligned",
            FaultKind::Runaway => "runaway",
            FaultKind::Deadline => "deadline",
            FaultKind::Arithmetic => "arithmetic",
            FaultKind::Malformed => "malformed",
            FaultKind::Arguments => "arguments",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<FaultKind> {
        FaultKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Fault that stopped a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Description of the fault.
    pub reason: String,
    /// The name of the program.
    pub program: String,
    /// The statement as text.
    pub statement: Option<String>,
    /// The nearest comment before it, which says where in the source it comes from.
    pub place: Option<String>,
    /// The block that did it.
    pub block: Option<u64>,
    /// The index in the parallel loop that did it.
    pub index: Option<u64>,
    /// In a loop over lanes, the index in the loop over warps.
    pub warp: Option<u64>,
    /// Of a race, the other access.
    pub other: Option<OtherAccess>,
}

/// The earlier one of two accesses that race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherAccess {
    /// The statement as text.
    pub statement: String,
    /// The nearest comment before it, which says where in the source it comes from.
    pub place: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`", self.program)?;
        if let Some(block) = self.block {
            write!(f, ", block {block}")?;
        }
        if let Some(warp) = self.warp {
            write!(f, ", warp {warp}")?;
        }
        if let Some(index) = self.index {
            write!(f, ", index {index}")?;
        }
        write!(f, ": {}: {}", self.kind, self.reason)?;
        if let Some(statement) = &self.statement {
            write!(f, " in `{statement}`")?;
        }
        if let Some(place) = &self.place {
            write!(f, " ({place})")?;
        }
        if let Some(other) = &self.other {
            write!(f, "; the other is `{}`", other.statement)?;
            if let Some(place) = &other.place {
                write!(f, " ({place})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
