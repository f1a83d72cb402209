//! Kernels without a device: made ready as for a launch, run on the simulator, written as CUDA.
#![allow(dead_code)]

use pumice::layers::emit::{Dialect, Options, emit};
use pumice::layers::kernel::{Binding, Definition, KernelFunction, define};
use pumice::layers::program::{
    Operand, Param, Program, Ranges, SimMemory, VectorOptions, Verified, drop_spare_vars, eliminate_dead,
    mark_exact, narrow, settle::settle, simulate, vectorise, verify,
};
use pumice::layers::scalar::{Constant, Elt, ScalarType};

/// What a kernel is launched with.
pub struct Arguments<'a> {
    /// The arrays, in order.
    pub arrays: Vec<&'a [i32]>,
    /// The scalars, in order.
    pub scalars: Vec<i64>,
}

/// One array.
pub fn array(xs: &[i32]) -> Arguments<'_> {
    Arguments { arrays: vec![xs], scalars: Vec::new() }
}

/// A kernel as it is launched: the program and what its parameters stand for.
pub struct Ready {
    pub program: Verified,
    pub bindings: Vec<Binding>,
    pub definition: Definition,
}

/// The values of a kernel's scalar parameters.
fn scalars(bindings: &[Binding], arguments: &Arguments<'_>) -> Vec<Constant> {
    let arrays = arguments.arrays.len();
    let scalar = |binding: &Binding| match binding {
        Binding::Length { parameter } => Some(Constant::from(arguments.arrays[*parameter].len() as i64)),
        Binding::Scalar { parameter } => Some(Constant::from(arguments.scalars[parameter - arrays])),
        Binding::FailureBase => Some(Constant::from(0i64)),
        _ => None,
    };
    bindings.iter().filter_map(scalar).collect()
}

/// The kernel of a function, made ready for arguments like these.
pub fn ready<P, F: KernelFunction<P>>(
    name: &str,
    threads: u32,
    f: F,
    arguments: &Arguments<'_>,
    optimised: bool,
) -> Ready {
    let definition = define(name, threads, f).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut bindings = definition.bindings.clone();
    let mut program = definition.kernel.program.clone();
    if optimised {
        let values = scalars(&bindings, arguments);
        let mut values = values.iter().map(|value| value.as_integer().unwrap_or(0));
        let mut ranges = Ranges::new();
        let mut multiples = std::collections::BTreeMap::new();
        for param in &program.params {
            if let Param::Scalar(var) = param {
                let value = values.next().unwrap_or(0);
                ranges.insert(*var, (value, value));
                multiples.insert(*var, if value % 4 == 0 { 4 } else { 1 });
            }
        }
        for position in settle(&mut program, &ranges).into_iter().rev() {
            bindings.remove(position);
        }
        vectorise(&mut program, &VectorOptions { bytes: 16, multiples });
        program = narrow(&program, &ranges);
        mark_exact(&mut program, &ranges);
        eliminate_dead(&mut program);
        drop_spare_vars(&mut program);
    }
    let text = program.to_string();
    let program = verify(program).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    Ready { program, bindings, definition }
}

impl Ready {
    /// Runs it.
    pub fn run(&self, arguments: &Arguments<'_>) -> Vec<i32> {
        let name = &self.program.name;
        let values = scalars(&self.bindings, arguments);
        let outcome = self.definition.outcome.as_ref().expect("these kernels have a result");
        let count = length(
            &self.definition.kernel.program,
            outcome.length,
            &scalars(&self.definition.bindings, arguments),
        );
        let memory = |binding: &Binding| match binding {
            Binding::Column { parameter, .. } => Some(SimMemory::from_bytes(bytes(arguments.arrays[*parameter]))),
            Binding::Result { .. } => Some(SimMemory::unwritten(count * 4)),
            Binding::Failure => Some(SimMemory::from_bytes(vec![0; 24])),
            _ => None,
        };
        let mut memories: Vec<SimMemory> = self.bindings.iter().filter_map(memory).collect();
        simulate(&self.program, &mut memories, &values, &Default::default())
            .unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let is_memory = |binding: &&Binding| {
            matches!(binding, Binding::Column { .. } | Binding::Result { .. } | Binding::Failure)
        };
        let mut result = Vec::new();
        for (binding, memory) in self.bindings.iter().filter(is_memory).zip(&memories) {
            match binding {
                Binding::Failure => {
                    let code = memory.get(ScalarType::I64, 0).and_then(Constant::as_integer);
                    assert_eq!(code, Some(0), "{name}: an index is out of bounds");
                }
                Binding::Result { .. } => {
                    result = i32::from_columns(&mut std::iter::once(memory.bytes()), count);
                }
                _ => {}
            }
        }
        result
    }

    /// The CUDA text, without the numbers of lines.
    pub fn cuda(&self) -> String {
        let source = emit(&self.program, Dialect::Cuda, &Options::default());
        without_lines(&source.unwrap_or_else(|error| panic!("{}: {error}", self.program.name)).text)
    }
}

/// Runs a function's kernel, as it is built and as it is launched; both give the same.
pub fn run<P, F: KernelFunction<P> + Clone>(name: &str, threads: u32, f: F, arguments: &Arguments<'_>) -> Vec<i32> {
    let plain = ready(name, threads, f.clone(), arguments, false).run(arguments);
    let optimised = ready(name, threads, f, arguments, true).run(arguments);
    assert_eq!(plain, optimised, "{name} before and after the passes");
    optimised
}

fn length(program: &Program, operand: Operand, scalars: &[Constant]) -> usize {
    let value = match operand {
        Operand::Constant(constant) => Some(constant),
        Operand::Var(var) => {
            let values = program.launch_values(scalars).expect("the launch has values");
            values.get(var.0 as usize).copied().flatten()
        }
    };
    value.and_then(Constant::as_integer).expect("the result has a length") as usize
}

fn bytes(xs: &[i32]) -> Vec<u8> {
    xs.iter().flat_map(|x| x.to_le_bytes()).collect()
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

/// Numbers that look random, the same every time.
pub fn numbers(count: usize) -> Vec<i32> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64 ^ count as u64;
    let next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as i32 - (1 << 30)
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// The same in order.
pub fn sorted(xs: &[i32]) -> Vec<i32> {
    let mut sorted = xs.to_vec();
    sorted.sort_unstable();
    sorted
}
