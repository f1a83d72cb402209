//! A look at what a kernel does: it is built and run on the simulator, with every check that the simulator makes.
//!
//! For examples, tests and experiments. Devices are for the layers above.

use crate::define::define;
use crate::item::Ix;
use crate::level::Grid;
use crate::simulated::{SimArgument, SimResult, simulate_bound};
use crate::size::Size;
use crate::specialise::KernelArgument;
use crate::{Pull, Push};
use pumice_program::verify;
use pumice_scalar::Elt;
use std::fmt;

/// Reason for which a preview has no result.
///
/// ```
/// use pumice::kernel::{Ix, Pull, generate, preview};
/// let error = preview(32, &[1, 2], |xs: Pull<i32, Ix>| generate(3usize, move |i| xs.at(i)).push());
/// assert!(error.is_err_and(|error| error.to_string().contains("index 2 out of bounds for length 2")));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PreviewError(String);

impl fmt::Display for PreviewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The message: it is what a program prints whose `main` returns an error.
impl fmt::Debug for PreviewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for PreviewError {}

fn error(error: impl fmt::Display) -> PreviewError {
    PreviewError(error.to_string())
}

/// Runs a kernel with blocks of `threads` threads on an array, on the simulator, and returns its result.
///
/// ```
/// use pumice::kernel::{Block, Ix, Pull, preview};
/// let sums = preview(32, &[1, 2, 3, 4, 5, 6], |xs: Pull<i32, Ix>| {
///     let pairs = xs.split_up(2).map(|pair| (pair.at(0) + pair.at(1)));
///     pairs.push()
/// })?;
/// assert_eq!(sums, [3, 7, 11]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn preview<T: Elt, U: Elt, S: Size>(
    threads: u32,
    input: &[T],
    f: impl Fn(Pull<T, Ix>) -> Push<Grid, U, S>,
) -> Result<Vec<U>, PreviewError> {
    let definition = define("preview", threads, f).map_err(error)?;
    let program = verify(definition.kernel.program.clone()).map_err(error)?;
    let Some(outcome) = &definition.outcome else { return Err(error("the kernel has no result")) };
    let length = definition.length_for(&[KernelArgument::Length(input.len())]).map_err(error)?.unwrap_or(0);
    let mut columns = Vec::new();
    T::add_columns(input, &mut columns);
    let columns = columns.into_iter().map(|column| column.into_owned()).collect();
    let arguments = [SimArgument::Array { columns, length: input.len() }];
    let result = SimResult { types: &outcome.types, length, complete: outcome.complete };
    let options = Default::default();
    let simulated = simulate_bound(&program, &definition.bindings, &arguments, result, &options);
    let simulated = simulated.ok_or_else(|| error("the kernel's parameters are not its function's"))?;
    simulated.report.map_err(error)?;
    if let Some(failure) = simulated.failure {
        let unknown = || format!("an unknown check failed ({})", failure.code);
        return Err(error(
            failure.message(&definition.kernel.sites).map_or_else(unknown, |message| message.to_string()),
        ));
    }
    U::from_columns(&mut simulated.result.iter().map(Vec::as_slice), length).map_err(error)
}
