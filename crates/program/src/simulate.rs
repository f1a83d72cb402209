//! The simulator: executes a program, block by block and warp by warp. It is the semantics of programs.
//!
//! What it computes is what every device must compute, and what it refuses ([`Fault`]) no program may do. Blocks run in
//! order, and so do the warps of a block; a program without faults cannot tell, except that waiting for an earlier block
//! ends. It must stay independent of the emitter and the devices, as those are tested against it.

mod access;
mod code;
mod fault;
mod lanes;
mod machine;
mod memory;
mod races;

use pumice_scalar::Constant;

use crate::ir::Program;
use crate::verify::check_but_barriers;
use code::Code;
pub use fault::{Fault, FaultKind, OtherAccess};
use machine::Machine;
pub use memory::SimMemory;

/// How to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Stop with a fault after so many steps: statements, and rounds of loops.
    pub steps: u64,
    /// Whether to look for races; without, a simulation takes less memory and time.
    pub races: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { steps: 1_000_000_000, races: true }
    }
}

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Blocks that ran.
    pub blocks: u64,
    /// Statements executed, and rounds of loops: what a warp does counts once.
    pub steps: u64,
    /// Checks that failed.
    pub failures: u64,
}

/// Runs a program. Memories and scalars are given each in the order of the parameters of that kind.
///
/// After a fault, the memories hold what was written until then.
pub fn simulate(
    program: &Program,
    memories: &mut [SimMemory],
    scalars: &[Constant],
    options: &Options,
) -> Result<Report, Box<Fault>> {
    let refuse = |kind, reason: String| {
        Box::new(Fault {
            kind,
            reason,
            program: program.name.clone(),
            statement: None,
            place: None,
            block: None,
            index: None,
            warp: None,
            other: None,
        })
    };
    check_but_barriers(program).map_err(|error| {
        let mut fault = refuse(FaultKind::Malformed, error.reason);
        fault.statement = error.statement;
        fault
    })?;
    let arguments = |error: crate::LaunchError| refuse(FaultKind::Arguments, error.to_string());
    let values = program.launch_values(scalars).map_err(arguments)?;
    let blocks = program.blocks_for(scalars).map_err(arguments)?;
    let counted = program.var_type(program.block).range().1.min(i128::from(u32::MAX) - 1);
    if i128::from(blocks) > counted {
        return Err(refuse(FaultKind::Arithmetic, format!("there are {blocks} blocks, too many to count")));
    }
    let held = memory::hold(program, memories, options.races)
        .map_err(|reason| refuse(FaultKind::Arguments, reason))?;
    let code = Code::new(program);
    let mut machine = Machine::new(program, &code, &values, held, options.steps);
    machine.blocks(blocks as u32)?;
    Ok(Report { blocks, steps: options.steps - machine.steps, failures: machine.failures })
}

#[cfg(test)]
mod tests;
