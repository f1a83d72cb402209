//! Runs kernels on the simulator as a launch would: after the passes for the actual lengths and scalars, and before them.

#![allow(dead_code)]

use pumice::Elt;
use pumice::layers::kernel::{Binding, Definition, KernelFunction, define};
use pumice::layers::program::{
    Operand, Param, Program, Ranges, SimMemory, VectorOptions, Verified, settle, simulate, vectorise, verify,
};
use pumice::layers::scalar::{Constant, ScalarType};
use std::collections::BTreeMap;

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
        T::from_columns(&mut self.result.iter().map(|column| &column[..]), self.length)
    }

    /// The array with this number among the arguments, as it is afterwards.
    pub fn changed<T: Elt>(&self, number: usize) -> Vec<T> {
        let (columns, length) = &self.changed[&number];
        T::from_columns(&mut columns.iter().map(|column| &column[..]), *length)
    }
}

/// A kernel for some arguments: the program, and what its parameters stand for.
pub struct Specialised {
    pub program: Verified,
    pub bindings: Vec<Binding>,
    definition: Definition,
    scalars: Vec<Constant>,
}

fn value_of(binding: &Binding, arguments: &[Argument]) -> Option<Constant> {
    match binding {
        Binding::FailureBase => Some(Constant::from(0i64)),
        Binding::Length { parameter } | Binding::Scalar { parameter } => match &arguments[*parameter] {
            Argument::Array(_, length) => Some(Constant::from(*length as i64)),
            Argument::Scalar(value) => Some(*value),
        },
        _ => None,
    }
}

/// The kernel for a launch with these arguments, with the passes or as it was described.
pub fn specialise<P, F: KernelFunction<P>>(
    threads: u32,
    f: F,
    arguments: &[Argument],
    passes: bool,
) -> Specialised {
    let definition = define("test", threads, f).unwrap_or_else(|error| panic!("{error}"));
    let mut program = definition.kernel().program.clone();
    let mut bindings = definition.bindings().to_vec();
    let scalars = bindings.iter().filter_map(|binding| value_of(binding, arguments)).collect();
    verify(program.clone()).unwrap_or_else(|error| panic!("{error}\n{program}"));
    if passes {
        let (ranges, multiples) = known(&program, &bindings, arguments);
        for position in settle(&mut program, &ranges).into_iter().rev() {
            bindings.remove(position);
        }
        vectorise(&mut program, &VectorOptions { bytes: 16, multiples });
    }
    let program = verify(program).unwrap_or_else(|error| panic!("{error}"));
    Specialised { program, bindings, definition, scalars }
}

fn known(
    program: &Program,
    bindings: &[Binding],
    arguments: &[Argument],
) -> (Ranges, BTreeMap<pumice::layers::program::Var, u64>) {
    let (mut ranges, mut multiples) = (Ranges::new(), BTreeMap::new());
    for (param, binding) in program.params.iter().zip(bindings) {
        if let Param::Scalar(var) = param
            && let Some(value) = value_of(binding, arguments).and_then(Constant::as_integer)
        {
            ranges.insert(*var, (value, value));
            multiples.insert(*var, if value % 4 == 0 { 4 } else { 1 + u64::from(value % 2 == 0) });
        }
    }
    (ranges, multiples)
}

/// Runs a kernel on the simulator.
pub fn run_one(kernel: &Specialised, arguments: &[Argument]) -> Outcome {
    let Specialised { program, bindings, definition, scalars } = kernel;
    let before = &definition.kernel().program;
    let length = definition.outcome().map_or(0, |outcome| {
        let value = match outcome.length {
            Operand::Constant(constant) => constant,
            Operand::Var(var) => before.launch_values(scalars).unwrap()[var.0 as usize].unwrap(),
        };
        value.as_integer().unwrap() as usize
    });
    let types = definition.outcome().map_or(Vec::new(), |outcome| outcome.types.clone());
    let memory = |binding: &Binding| match binding {
        Binding::Column { parameter, column } => match &arguments[*parameter] {
            Argument::Array(columns, _) => Some(SimMemory::from_bytes(columns[*column].clone())),
            Argument::Scalar(_) => None,
        },
        Binding::Result { column } => Some(SimMemory::unwritten(length * types[*column].bytes())),
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
                assert_eq!(code, 0, "{:?}\n{program}", definition.kernel().sites.get(code as usize - 1));
            }
        }
    }
    outcome
}

/// Runs a kernel on the simulator as it was described, and after the passes; both give the same.
pub fn run<P, F: KernelFunction<P> + Clone>(threads: u32, f: F, arguments: &[Argument]) -> Outcome {
    let plain = run_one(&specialise(threads, f.clone(), arguments, false), arguments);
    let passed = run_one(&specialise(threads, f, arguments, true), arguments);
    assert_eq!(plain.result, passed.result, "the passes changed the result");
    assert_eq!(plain.changed, passed.changed, "the passes changed what is changed");
    passed
}
