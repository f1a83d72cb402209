//! Kernels without a device: as they are launched on a GPU, run on the simulator, written as CUDA.
#![allow(dead_code)]

use pumice::kernel::{Binding, Definition, KernelFunction};
use pumice::layers::emit::{Dialect, EmitOptions, emit};
use pumice::layers::kernel::{Actual, Passes, Specialised, define};
use pumice::layers::program::simulate::Report;
use pumice::layers::program::{SimMemory, simulate, verify};
use pumice::layers::runtime::devices::Sim;
use pumice::layers::scalar::{Constant, Elt, ScalarType};

/// What a kernel is launched with: arrays, and then scalars.
pub struct Arguments<'a> {
    pub arrays: Vec<&'a [i32]>,
    pub scalars: Vec<i64>,
}

/// One array.
pub fn array(xs: &[i32]) -> Arguments<'_> {
    Arguments { arrays: vec![xs], scalars: Vec::new() }
}

/// The kernel of a function for a launch.
pub fn specialised(definition: &Definition, lengths: &[usize], scalars: &[i64]) -> Specialised {
    let lengths = lengths.iter().map(|length| Actual::Length(*length));
    let scalars = scalars.iter().map(|scalar| Actual::Scalar(Constant::from(*scalar)));
    let actual: Vec<Actual> = lengths.chain(scalars).collect();
    let name = &definition.kernel().program.name;
    definition
        .specialise(&actual, &Sim::gpu_profile(), Passes::default())
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Runs a function's kernel, as it is described and as a GPU would run it; both give the same.
pub fn run<P, F: KernelFunction<P>>(name: &str, threads: u32, f: F, arguments: &Arguments<'_>) -> Vec<i32> {
    let definition = define(name, threads, f).unwrap_or_else(|error| panic!("{name}: {error}"));
    let lengths: Vec<usize> = arguments.arrays.iter().map(|array| array.len()).collect();
    let launched = specialised(&definition, &lengths, &arguments.scalars);
    let described = Specialised {
        program: verify(definition.kernel().program.clone()).unwrap_or_else(|error| panic!("{error}")).into(),
        bindings: definition.bindings().to_vec(),
        ..launched.clone()
    };
    let (result, _) = simulated(&launched, arguments);
    assert_eq!(simulated(&described, arguments).0, result, "{name} before and after the passes");
    result
}

/// What a GPU would pay for a function's kernel.
pub fn costs<P, F: KernelFunction<P>>(name: &str, threads: u32, f: F, arguments: &Arguments<'_>) -> Report {
    let definition = define(name, threads, f).unwrap_or_else(|error| panic!("{name}: {error}"));
    let lengths: Vec<usize> = arguments.arrays.iter().map(|array| array.len()).collect();
    simulated(&specialised(&definition, &lengths, &arguments.scalars), arguments).1
}

fn simulated(kernel: &Specialised, arguments: &Arguments<'_>) -> (Vec<i32>, Report) {
    let name = &kernel.program.name;
    let arrays = arguments.arrays.len();
    let scalar = |binding: &Binding| match binding {
        Binding::Length { parameter } => Some(Constant::from(arguments.arrays[*parameter].len() as i64)),
        Binding::Scalar { parameter } => Some(Constant::from(arguments.scalars[parameter - arrays])),
        Binding::FailureBase => Some(Constant::from(0i64)),
        Binding::Value(value) => Some(*value),
        _ => None,
    };
    let scalars: Vec<Constant> = kernel.bindings.iter().filter_map(scalar).collect();
    let count = kernel.length.expect("these kernels have a result");
    let memory = |binding: &Binding| match binding {
        Binding::Column { parameter, .. } => {
            let bytes = arguments.arrays[*parameter].iter().flat_map(|x| x.to_le_bytes()).collect();
            Some(SimMemory::from_bytes(bytes))
        }
        Binding::Result { .. } => Some(SimMemory::unwritten(count * 4)),
        Binding::Failure => Some(SimMemory::from_bytes(vec![0; 24])),
        _ => None,
    };
    let mut memories: Vec<SimMemory> = kernel.bindings.iter().filter_map(memory).collect();
    let report = simulate(&kernel.program, &mut memories, &scalars, &Default::default())
        .unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let is_memory = |binding: &&Binding| {
        matches!(binding, Binding::Column { .. } | Binding::Result { .. } | Binding::Failure)
    };
    let mut result = Vec::new();
    for (binding, memory) in kernel.bindings.iter().filter(is_memory).zip(&memories) {
        match binding {
            Binding::Failure => {
                let code = memory.get(ScalarType::I64, 0).and_then(Constant::as_integer);
                assert_eq!(code, Some(0), "{name}: an index is out of bounds");
            }
            Binding::Result { .. } => {
                result = i32::from_columns(&mut std::iter::once(memory.bytes()), count).expect("memory");
            }
            _ => {}
        }
    }
    (result, report)
}

/// The CUDA text of a function's kernel for arrays of this length, without the numbers of lines.
pub fn cuda<P, F: KernelFunction<P>>(
    name: &str,
    threads: u32,
    f: F,
    lengths: &[usize],
    scalars: &[i64],
) -> String {
    let definition = define(name, threads, f).unwrap_or_else(|error| panic!("{name}: {error}"));
    let kernel = specialised(&definition, lengths, scalars);
    assert!(kernel.program.failure.is_none(), "{name}: a check is left\n{}", kernel.program);
    let source = emit(&kernel.program, Dialect::Cuda, &EmitOptions::default());
    without_lines(&source.unwrap_or_else(|error| panic!("{name}: {error}")).text)
}

/// The text with `:_` for the line after each name of a Rust file: they change when anything is added above.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(".rs:");
    let mut clean = parts.next().unwrap_or_default().to_string();
    for part in parts {
        clean += ".rs:_";
        clean += part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    }
    clean
}

/// The same in order.
pub fn sorted(xs: &[i32]) -> Vec<i32> {
    let mut sorted = xs.to_vec();
    sorted.sort_unstable();
    sorted
}
