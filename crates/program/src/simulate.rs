//! The simulator: executes a program, block by block and warp by warp. It is the semantics of programs.
//!
//! Every device must compute what the simulator computes, and no program may do what it refuses ([`Fault`]). Blocks run in
//! order, and so do the warps of a block; a program without faults cannot tell, except that waiting for an earlier block
//! ends. It must stay independent of the emitter and the devices, as those are tested against it.

mod access;
mod code;
mod costs;
mod fault;
mod lanes;
mod machine;
mod memory;
mod order;
mod races;
mod report;

use std::time::Instant;

use pumice_scalar::Constant;

use crate::ir::{Program, WARP};
use crate::verify::check_but_barriers;
use code::Code;
use costs::Counter;
pub use fault::{Fault, FaultKind, OtherAccess};
use machine::Machine;
pub use memory::SimMemory;
pub use report::{AtomicCosts, Costs, GlobalCosts, PlaceCosts, Report, SECTOR, SharedCosts};

/// Options of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Stop with a fault after so many steps: statements, and rounds of loops.
    pub steps: u64,
    /// Whether to look for races; without, a simulation takes less memory and time.
    pub races: bool,
    /// Whether to count what a GPU pays for; without, a simulation takes less time.
    pub costs: bool,
    /// Stop with a fault at this time.
    pub until: Option<Instant>,
}

impl Default for Options {
    fn default() -> Options {
        Options { steps: 1_000_000_000, races: true, costs: true, until: None }
    }
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
    let counter = options.costs.then(|| Counter::new(program, code.places.len()));
    let mut machine = Machine::new(program, &code, &values, held, options, counter);
    machine.blocks(blocks as u32)?;
    let (costs, places) = match &machine.counter {
        Some(counter) => counter.finish(&code.places),
        None => Default::default(),
    };
    Ok(Report {
        blocks,
        threads: program.threads,
        warps: blocks * u64::from(program.threads.div_ceil(WARP)),
        steps: options.steps - machine.steps,
        failures: machine.failures,
        shared_bytes: machine.counter.as_ref().map_or(0, |counter| counter.shared_bytes),
        private_cells: costs::private_cells(program),
        costs,
        places,
    })
}

#[cfg(test)]
mod cost_tests;
#[cfg(test)]
mod tests;
