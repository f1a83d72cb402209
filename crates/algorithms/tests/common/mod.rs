//! Runs kernels on the simulator as a launch would: after the passes for the actual lengths and scalars, and before them.

#![allow(dead_code)]

use pumice::Elt;
use pumice::layers::kernel::{
    KernelArgument, KernelFunction, Passes, SimArgument, SimResult, Specialised, define, simulate_bound,
};
use pumice::layers::program::verify;
use pumice::layers::runtime::devices::Sim;
use pumice::layers::scalar::{Constant, ScalarType};
use std::sync::Arc;

/// An array.
pub fn array<T: Elt>(elements: &[T]) -> SimArgument {
    let mut columns = Vec::new();
    T::add_columns(elements, &mut columns);
    let columns = columns.into_iter().map(|column| column.into_owned()).collect();
    SimArgument::Array { columns, length: elements.len() }
}

/// A scalar.
pub fn scalar(value: impl Into<Constant>) -> SimArgument {
    SimArgument::Scalar(value.into())
}

/// A length or another whole number.
pub fn number(value: usize) -> SimArgument {
    scalar(value as i64)
}

/// Result of a kernel.
pub struct Outcome {
    result: Vec<Vec<u8>>,
    length: usize,
    /// The arguments as they are afterwards, with their lengths.
    changed: Vec<(Vec<Vec<u8>>, usize)>,
}

impl Outcome {
    /// The result.
    pub fn result<T: Elt>(&self) -> Vec<T> {
        T::from_columns(&mut self.result.iter().map(|column| &column[..]), self.length).expect("memory")
    }

    /// The array with this number among the arguments, as it is afterwards.
    pub fn changed<T: Elt>(&self, number: usize) -> Vec<T> {
        let (columns, length) = &self.changed[number];
        T::from_columns(&mut columns.iter().map(|column| &column[..]), *length).expect("memory")
    }
}

/// A kernel for some arguments, with the types of its result's columns.
struct Kernel {
    special: Specialised,
    types: Vec<ScalarType>,
}

/// The kernel for a launch with these arguments: as it was described, and after the passes.
fn kernels<P, F: KernelFunction<P>>(threads: u32, f: F, arguments: &[SimArgument]) -> [Kernel; 2] {
    let definition = define("test", threads, f).unwrap_or_else(|error| panic!("{error}"));
    let actual = |argument: &SimArgument| match argument {
        SimArgument::Array { length, .. } => KernelArgument::Length(*length),
        SimArgument::Scalar(value) => KernelArgument::Scalar(*value),
    };
    let actual: Vec<KernelArgument> = arguments.iter().map(actual).collect();
    let special = definition.specialise(&actual, &Sim::gpu_profile(), Passes::default());
    let special = special.unwrap_or_else(|error| panic!("{error}"));
    let program = definition.kernel().program.clone();
    let bindings = definition.bindings().to_vec();
    let length = definition.length_for(&actual).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(special.length, length);
    let program = Arc::new(verify(program).unwrap_or_else(|error| panic!("{error}")));
    let described = Specialised { program, bindings, ..special.clone() };
    let types = definition.outcome().map_or(Vec::new(), |outcome| outcome.types.clone());
    [described, special].map(|special| Kernel { special, types: types.clone() })
}

/// Runs a kernel on the simulator.
fn run_one(kernel: &Kernel, arguments: &[SimArgument]) -> Outcome {
    let Specialised { program, bindings, length, .. } = &kernel.special;
    let length = length.unwrap_or(0);
    let result = SimResult { types: &kernel.types, length, complete: true };
    let simulated = simulate_bound(program, bindings, arguments, result, &Default::default());
    let simulated = simulated.expect("an argument for every parameter");
    simulated.report.unwrap_or_else(|fault| panic!("{fault}\n{program}"));
    assert_eq!(simulated.failure, None, "a check failed\n{program}");
    let length_of = |argument: &SimArgument| match argument {
        SimArgument::Array { length, .. } => *length,
        SimArgument::Scalar(_) => 0,
    };
    let changed = simulated.arrays.into_iter().zip(arguments.iter().map(length_of)).collect();
    Outcome { result: simulated.result, length, changed }
}

/// Runs a kernel on the simulator as it was described, and after the passes; both give the same.
pub fn run<P, F: KernelFunction<P>>(threads: u32, f: F, arguments: &[SimArgument]) -> Outcome {
    let [described, passed] = kernels(threads, f, arguments).map(|kernel| run_one(&kernel, arguments));
    assert_eq!(described.result, passed.result, "the passes changed the result");
    assert_eq!(described.changed, passed.changed, "the passes changed what is changed");
    passed
}
