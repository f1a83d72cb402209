//! Runs kernels on the simulator as a launch would: after the passes for the actual lengths and scalars, and before them.

#![allow(dead_code)]

use pumice::Elt;
use pumice::layers::kernel::{Binding, KernelArgument, KernelFunction, Passes, Specialised, define};
use pumice::layers::program::{Operand, SimMemory, simulate, verify};
use pumice::layers::runtime::devices::Sim;
use pumice::layers::scalar::{Constant, ScalarType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a kernel is given for one of its parameters.
#[derive(Clone, Debug)]
pub enum Argument {
    /// An array, to read or to change: its columns and its length.
    Array(Vec<Vec<u8>>, usize),
    /// A scalar.
    Scalar(Constant),
}

/// An array.
pub fn array<T: Elt>(elements: &[T]) -> Argument {
    let mut columns = Vec::new();
    T::add_columns(elements, &mut columns);
    Argument::Array(columns.into_iter().map(|column| column.into_owned()).collect(), elements.len())
}

/// A scalar.
pub fn scalar(value: impl Into<Constant>) -> Argument {
    Argument::Scalar(value.into())
}

/// A length or another whole number.
pub fn number(value: usize) -> Argument {
    scalar(value as i64)
}

/// What a kernel gave.
pub struct Outcome {
    result: Vec<Vec<u8>>,
    length: usize,
    /// The arguments that it changed, by number.
    changed: BTreeMap<usize, (Vec<Vec<u8>>, usize)>,
}

impl Outcome {
    /// The result.
    pub fn result<T: Elt>(&self) -> Vec<T> {
        T::from_columns(&mut self.result.iter().map(|column| &column[..]), self.length).expect("memory")
    }

    /// The array with this number among the arguments, as it is afterwards.
    pub fn changed<T: Elt>(&self, number: usize) -> Vec<T> {
        let (columns, length) = &self.changed[&number];
        T::from_columns(&mut columns.iter().map(|column| &column[..]), *length).expect("memory")
    }
}

/// A kernel for some arguments, with the types of its result's columns.
struct Kernel {
    special: Specialised,
    types: Vec<ScalarType>,
}

fn value_of(binding: &Binding, arguments: &[Argument]) -> Option<Constant> {
    match binding {
        Binding::FailureBase => Some(Constant::from(0i64)),
        Binding::Value(value) => Some(*value),
        Binding::Length { parameter } | Binding::Scalar { parameter } => match &arguments[*parameter] {
            Argument::Array(_, length) => Some(Constant::from(*length as i64)),
            Argument::Scalar(value) => Some(*value),
        },
        _ => None,
    }
}

/// The kernel for a launch with these arguments: as it was described, and after the passes.
fn kernels<P, F: KernelFunction<P>>(threads: u32, f: F, arguments: &[Argument]) -> [Kernel; 2] {
    let definition = define("test", threads, f).unwrap_or_else(|error| panic!("{error}"));
    let actual = |argument: &Argument| match argument {
        Argument::Array(_, length) => KernelArgument::Length(*length),
        Argument::Scalar(value) => KernelArgument::Scalar(*value),
    };
    let actual: Vec<KernelArgument> = arguments.iter().map(actual).collect();
    let special = definition.specialise(&actual, &Sim::gpu_profile(), Passes::default());
    let special = special.unwrap_or_else(|error| panic!("{error}"));
    let program = definition.kernel().program.clone();
    let bindings = definition.bindings().to_vec();
    let scalars: Vec<Constant> = bindings.iter().filter_map(|binding| value_of(binding, arguments)).collect();
    let length = definition.outcome().map(|outcome| {
        let value = match outcome.length {
            Operand::Constant(constant) => constant,
            Operand::Var(var) => program.launch_values(&scalars).unwrap()[var.0 as usize].unwrap(),
        };
        value.as_integer().unwrap() as usize
    });
    assert_eq!(special.length, length);
    let blocks = program.blocks_for(&scalars).unwrap();
    let program = Arc::new(verify(program).unwrap_or_else(|error| panic!("{error}")));
    let described = Specialised { program, bindings, blocks, length };
    let types = definition.outcome().map_or(Vec::new(), |outcome| outcome.types.clone());
    [described, special].map(|special| Kernel { special, types: types.clone() })
}

/// Runs a kernel on the simulator.
fn run_one(kernel: &Kernel, arguments: &[Argument]) -> Outcome {
    let Specialised { program, bindings, length, .. } = &kernel.special;
    let length = length.unwrap_or(0);
    let memory = |binding: &Binding| match binding {
        Binding::Column { parameter, column } => match &arguments[*parameter] {
            Argument::Array(columns, _) => Some(SimMemory::from_bytes(columns[*column].clone())),
            Argument::Scalar(_) => None,
        },
        Binding::Result { column } => Some(SimMemory::unwritten(length * kernel.types[*column].bytes())),
        Binding::Failure => Some(SimMemory::from_bytes(vec![0; 24])),
        _ => None,
    };
    let mut memories: Vec<SimMemory> = bindings.iter().filter_map(memory).collect();
    let scalars: Vec<Constant> = bindings.iter().filter_map(|binding| value_of(binding, arguments)).collect();
    simulate(program, &mut memories, &scalars, &Default::default())
        .unwrap_or_else(|fault| panic!("{fault}\n{program}"));
    let mut outcome = Outcome { result: Vec::new(), length, changed: BTreeMap::new() };
    let places = bindings.iter().filter(|binding| {
        matches!(binding, Binding::Column { .. } | Binding::Result { .. } | Binding::Failure)
    });
    for (binding, memory) in places.zip(&memories) {
        match binding {
            Binding::Result { .. } => outcome.result.push(memory.bytes().to_vec()),
            Binding::Column { parameter, .. } => {
                let Argument::Array(_, length) = &arguments[*parameter] else { continue };
                let (columns, _) = outcome.changed.entry(*parameter).or_insert((Vec::new(), *length));
                columns.push(memory.bytes().to_vec());
            }
            _ => {
                let code = memory.get(ScalarType::I64, 0).and_then(Constant::as_integer).unwrap_or(0);
                assert_eq!(code, 0, "a check failed\n{program}");
            }
        }
    }
    outcome
}

/// Runs a kernel on the simulator as it was described, and after the passes; both give the same.
pub fn run<P, F: KernelFunction<P>>(threads: u32, f: F, arguments: &[Argument]) -> Outcome {
    let [described, passed] = kernels(threads, f, arguments).map(|kernel| run_one(&kernel, arguments));
    assert_eq!(described.result, passed.result, "the passes changed the result");
    assert_eq!(described.changed, passed.changed, "the passes changed what is changed");
    passed
}
