//! The subject of an examination of programs: their time, or their launches. A program's entry is written without knowing which.

use crate::bench::reference::check_exactly;
use crate::bench::timing::Timing;
use pumice::layers::array::{ArrayData, ArrayProgram};
use pumice::layers::runtime::Device;
use pumice::layers::scalar::scope;
use pumice::{Arguments, Array, Compiler, Elt, Function, ProgramResult, Shape};
use pumice_testing::Counting;
use std::fmt::Debug;
use std::sync::Arc;

/// Facts about a program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// Bytes of its arguments and results.
    pub least_bytes: u64,
    /// Kernels that a run launches.
    pub launches: Option<u64>,
    /// Bytes of the arrays of these kernels, each array once per launch.
    pub kernel_bytes: Option<u64>,
    /// The most bytes of memory that a run has at a time, its arguments and results included.
    pub most_bytes: Option<u64>,
    /// The median time of a run.
    pub median_ms: Option<f64>,
}

/// The facts, or the reason why the program is wrong.
pub type Found = Result<Facts, String>;

/// The facts that programs are run for.
pub enum Subject {
    /// Their time.
    Time(Timing),
    /// Their launches.
    Count(Arc<Counting>, Compiler),
}

impl Subject {
    /// Times programs.
    pub fn timing(timing: Timing) -> Subject {
        Subject::Time(timing)
    }

    /// Counts launches on a device on which nothing has run in this process.
    pub fn counting(device: Arc<dyn Device>) -> Subject {
        let device = Arc::new(Counting::new(device));
        Subject::Count(device.clone(), Compiler::with(device))
    }

    /// Examines a program, after its result has been checked.
    pub fn examine<P, R: ProgramResult>(
        &self,
        program: impl Function<P, Result = R>,
        arguments: impl Arguments<P>,
        check: impl FnOnce(R::Value) -> Result<(), String>,
    ) -> Found {
        let compiler = match self {
            Subject::Time(timing) => timing.compiler(),
            Subject::Count(_, compiler) => compiler,
        };
        let arrays = scope(|| program.describe().arrays());
        let program = compiler.compile_program(ArrayProgram::of(&arrays)).map_err(told)?;
        let inputs = arguments.collect();
        let results = program.run_all(&inputs).map_err(told)?;
        let least_bytes = inputs.arrays.values().chain(&results).map(bytes_of).sum();
        check(R::value(&mut results.into_iter()).map_err(told)?)?;
        let facts = Facts { least_bytes, ..Facts::default() };
        match self {
            Subject::Time(timing) => {
                let once = || Ok(program.time(&inputs, 1)?.first().copied().unwrap_or(f64::NAN));
                Ok(Facts { median_ms: Some(timing.repeat(once).map_err(told)?), ..facts })
            }
            Subject::Count(device, compiler) => {
                let (launches, bytes) = (device.launches(), device.bytes());
                compiler.most_memory_in_use();
                drop(program.run_all(&inputs).map_err(told)?);
                Ok(Facts {
                    launches: Some(device.launches() - launches),
                    kernel_bytes: Some(device.bytes() - bytes),
                    most_bytes: Some(compiler.most_memory_in_use() as u64),
                    ..facts
                })
            }
        }
    }
}

fn bytes_of(data: &Arc<dyn ArrayData>) -> u64 {
    let element: usize = data.types().iter().map(|ty| ty.bytes()).sum();
    (data.extents().iter().product::<usize>() * element) as u64
}

/// Converts an error to its message.
pub fn told(error: impl ToString) -> String {
    error.to_string()
}

/// Returns a check that an array has exactly these elements.
pub fn equals<D: Shape, T: Elt + PartialEq + Debug>(
    expected: Vec<T>,
) -> impl FnOnce(Array<D, T>) -> Result<(), String> {
    move |found| check_exactly(&found.to_vec().map_err(told)?, &expected)
}

/// Returns a check that every element of an array is within a distance of the expected one.
pub fn near<D: Shape, T: Elt>(
    expected: Vec<T>,
    most: f64,
    distance: impl Fn(&T, &T) -> f64,
) -> impl FnOnce(Array<D, T>) -> Result<(), String> {
    move |found| {
        let found = found.to_vec().map_err(told)?;
        if found.len() != expected.len() {
            return Err(format!("{} elements came, expected {}", found.len(), expected.len()));
        }
        let distances = found.iter().zip(&expected).map(|(found, expected)| distance(found, expected));
        // A NaN is within no distance.
        match distances.enumerate().find(|(_, distance)| distance.is_nan() || *distance > most) {
            Some((i, distance)) => Err(format!("element {i} is off by {distance}")),
            None => Ok(()),
        }
    }
}
