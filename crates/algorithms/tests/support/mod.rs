//! Kernels without a device: as they are launched on a GPU, run on the simulator, written as CUDA.
#![allow(dead_code)]

use pumice::kernel::{Definition, KernelFunction};
use pumice::layers::emit::{Dialect, EmitOptions, emit};
use pumice::layers::kernel::{
    KernelArgument, Passes, SimArgument, SimResult, Specialised, define, simulate_bound,
};
use pumice::layers::program::simulate::Report;
use pumice::layers::program::verify;
use pumice::layers::runtime::devices::Sim;
use pumice::layers::scalar::{Constant, Elt, ScalarType};

/// Arguments of a launch: arrays, and then scalars.
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
    let lengths = lengths.iter().map(|length| KernelArgument::Length(*length));
    let scalars = scalars.iter().map(|scalar| KernelArgument::Scalar(Constant::from(*scalar)));
    let actual: Vec<KernelArgument> = lengths.chain(scalars).collect();
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

/// Returns the costs of a function's kernel on a GPU.
pub fn costs<P, F: KernelFunction<P>>(name: &str, threads: u32, f: F, arguments: &Arguments<'_>) -> Report {
    let definition = define(name, threads, f).unwrap_or_else(|error| panic!("{name}: {error}"));
    let lengths: Vec<usize> = arguments.arrays.iter().map(|array| array.len()).collect();
    simulated(&specialised(&definition, &lengths, &arguments.scalars), arguments).1
}

fn simulated(kernel: &Specialised, arguments: &Arguments<'_>) -> (Vec<i32>, Report) {
    let name = &kernel.program.name;
    let array = |xs: &&[i32]| {
        let columns = vec![xs.iter().flat_map(|x| x.to_le_bytes()).collect()];
        SimArgument::Array { columns, length: xs.len() }
    };
    let scalars = arguments.scalars.iter().map(|scalar| SimArgument::Scalar((*scalar).into()));
    let given: Vec<SimArgument> = arguments.arrays.iter().map(array).chain(scalars).collect();
    let length = kernel.length.expect("these kernels have a result");
    let result = SimResult { types: &[ScalarType::I32], length, complete: true };
    let simulated = simulate_bound(&kernel.program, &kernel.bindings, &given, result, &Default::default());
    let simulated = simulated.expect("an argument for every parameter");
    let report = simulated.report.unwrap_or_else(|fault| panic!("{name}: {fault}"));
    assert_eq!(simulated.failure, None, "{name}: a check failed");
    let result = i32::from_columns(&mut simulated.result.iter().map(Vec::as_slice), length).expect("memory");
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
