//! Kernels on the simulator, as a launcher there launches them: previews, the interpreter of array programs, and tests.

use crate::binding::{Binding, Launcher};
use pumice_program::simulate::{Options, Report};
use pumice_program::{FAILURE_BYTES, FailureRecord, Fault, Param, Program, SimMemory, simulate};
use pumice_scalar::{Constant, ScalarType};

/// Argument of a kernel on the simulator for one of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimArgument {
    /// An array, to read or to change.
    Array {
        /// The bytes of its columns.
        columns: Vec<Vec<u8>>,
        /// The number of its elements.
        length: usize,
    },
    /// A scalar.
    Scalar(Constant),
}

/// The result that a kernel makes on the simulator.
#[derive(Clone, Copy, Debug)]
pub struct SimResult<'a> {
    /// The types of its columns; none for a kernel without a result.
    pub types: &'a [ScalarType],
    /// The number of its elements.
    pub length: usize,
    /// Whether the kernel writes all of them. Otherwise they are zero at first.
    pub complete: bool,
}

/// Outcome of a kernel on the simulator.
#[derive(Debug)]
pub struct Simulated {
    /// The bytes of the result's columns.
    pub result: Vec<Vec<u8>>,
    /// The columns of the arguments as they are afterwards; those of scalars, and those that the program does not have, are
    /// not among them.
    pub arrays: Vec<Vec<Vec<u8>>>,
    /// The check that failed first, if one did.
    pub failure: Option<FailureRecord>,
    /// Its costs, or the fault that stopped the simulator.
    pub report: Result<Report, Box<Fault>>,
}

/// Runs a program on the simulator with what its bindings stand for. Returns nothing if there is no argument for one of
/// them.
pub fn simulate_bound(
    program: &Program,
    bindings: &[Binding],
    arguments: &[SimArgument],
    result: SimResult<'_>,
    options: &Options,
) -> Option<Simulated> {
    let launch = SimLaunch { arguments, result };
    let (mut memories, mut scalars) = (Vec::new(), Vec::new());
    for (binding, param) in bindings.iter().zip(&program.params) {
        match (binding.resolve(&launch)?, param) {
            (Bound::Memory(memory), Param::Memory(_)) => memories.push(memory),
            (Bound::Scalar(value), Param::Scalar(_)) => scalars.push(value),
            _ => return None,
        }
    }
    let report = simulate(program, &mut memories, &scalars, options);
    let arrays = vec![Vec::new(); arguments.len()];
    let mut simulated = Simulated { result: Vec::new(), arrays, failure: None, report };
    let is_memory = |(_, param): &(&Binding, &Param)| matches!(param, Param::Memory(_));
    let places = bindings.iter().zip(&program.params).filter(is_memory);
    for ((binding, _), memory) in places.zip(&memories) {
        match *binding {
            Binding::Column { parameter, .. } => {
                simulated.arrays.get_mut(parameter)?.push(memory.bytes().to_vec());
            }
            Binding::Failure => simulated.failure = FailureRecord::read(memory.bytes()),
            _ => simulated.result.push(memory.bytes().to_vec()),
        }
    }
    Some(simulated)
}

struct SimLaunch<'a> {
    arguments: &'a [SimArgument],
    result: SimResult<'a>,
}

enum Bound {
    Memory(SimMemory),
    Scalar(Constant),
}

impl Launcher for SimLaunch<'_> {
    type Argument = Bound;

    fn column(&self, parameter: usize, column: usize) -> Option<Bound> {
        match self.arguments.get(parameter)? {
            SimArgument::Array { columns, .. } => {
                columns.get(column).map(|bytes| Bound::Memory(SimMemory::from_bytes(bytes.clone())))
            }
            SimArgument::Scalar(_) => None,
        }
    }

    fn number(&self, parameter: usize) -> Option<Bound> {
        Some(Bound::Scalar(match self.arguments.get(parameter)? {
            SimArgument::Array { length, .. } => Constant::from(*length as i64),
            SimArgument::Scalar(value) => *value,
        }))
    }

    fn result(&self, column: usize) -> Option<Bound> {
        let bytes = self.result.length.checked_mul(self.result.types.get(column)?.bytes())?;
        Some(Bound::Memory(match self.result.complete {
            true => SimMemory::unwritten(bytes),
            false => SimMemory::from_bytes(vec![0; bytes]),
        }))
    }

    fn failure(&self) -> Option<Bound> {
        Some(Bound::Memory(SimMemory::from_bytes(vec![0; FAILURE_BYTES])))
    }

    fn value(&self, value: Constant) -> Option<Bound> {
        Some(Bound::Scalar(value))
    }
}
