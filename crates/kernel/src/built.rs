//! A kernel as the kernel language made it: its program, where its failures come from, and what must hold of the arguments
//! of a launch.

use crate::builder::{ExecutionScope, at_prologue, materialise, with};
use crate::device_length::is_read_from_memory;
use crate::error::BuildError;
use pumice_program::{Operand, Program};
use pumice_scalar::{Constant, Place, Site, Term};

/// A kernel as the kernel language made it.
#[derive(Clone, Debug)]
pub struct BuiltKernel {
    /// The program.
    pub program: Program,
    /// Sites of its failures: a [`pumice_program::Stmt::Fail`]'s site is an index into these.
    pub sites: Vec<Site>,
    /// Conditions on the arguments of a launch; see [`BuiltKernel::check_launch`].
    pub(crate) requirements: Vec<Requirement>,
    /// Source location where the user asked for the kernel.
    pub(crate) place: Place,
}

/// A condition on the arguments of a launch, over values of the program's prologue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requirement {
    pub holds: Operand,
    /// Source location and kind of what requires it; the message is about the two numbers that follow.
    pub site: Site,
    pub index: Operand,
    pub bound: Operand,
}

impl BuiltKernel {
    /// Creates an error that concerns the kernel as a whole.
    pub(crate) fn error(&self, message: impl std::fmt::Display) -> BuildError {
        BuildError::new(message).or_at(self.place)
    }

    /// Refuses a launch with these scalar arguments if lengths do not fit together. The launcher calls this: the kernel
    /// itself does not check what is known before it starts.
    pub fn check_launch(&self, scalars: &[Constant]) -> Result<(), BuildError> {
        if self.requirements.is_empty() {
            return Ok(());
        }
        let values = self.program.launch_values(scalars).map_err(|error| self.error(error))?;
        let value = |operand: Operand| match operand {
            Operand::Constant(constant) => Some(constant),
            Operand::Var(var) => values.get(var.0 as usize).copied().flatten(),
        };
        let number = |operand| value(operand).and_then(|value| value.as_integer()).unwrap_or(0) as i64;
        let broken =
            |requirement: &&Requirement| !value(requirement.holds).is_some_and(|holds| holds.is_true());
        match self.requirements.iter().find(broken) {
            None => Ok(()),
            Some(Requirement { site, index, bound, .. }) => {
                Err(BuildError::failure(*site, number(*index), number(*bound)))
            }
        }
    }
}

/// The operand of a value that is known before the kernel starts.
pub(crate) fn known_at_launch(term: Term) -> Option<Operand> {
    if !at_prologue() || is_read_from_memory(&[term]) {
        return None;
    }
    materialise(&[term]).first().copied()
}

/// Makes a condition one that the launcher checks, if it is known before the kernel starts; gives whether it is.
pub(crate) fn require_at_launch(holds: Term, site: Site, index: Term, bound: Term) -> bool {
    let host = with(|builder| builder.scope == ExecutionScope::Host);
    if !host || !at_prologue() || is_read_from_memory(&[holds, index, bound]) {
        return false;
    }
    if let [holds, index, bound] = materialise(&[holds, index, bound])[..] {
        with(|builder| builder.requirements.push(Requirement { holds, site, index, bound }));
    }
    true
}
