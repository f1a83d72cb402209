//! A look at what a kernel does: it is built and run on the simulator, with every check that the simulator makes.
//!
//! For examples, tests and experiments. Devices are for the layers above.

use crate::define::{Binding, define};
use crate::item::Ix;
use crate::level::Grid;
use crate::size::Size;
use crate::specialise::KernelArgument;
use crate::{Pull, Push};
use pumice_program::{SimMemory, simulate, verify};
use pumice_scalar::{Constant, Elt, Site};
use std::fmt;

/// Why a preview has no result.
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

/// What a kernel with blocks of `threads` threads makes of an array, on the simulator.
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
    let length = Constant::from(input.len() as i64);
    // Every scalar that a kernel of one array has is its length, or where codes of failures start.
    let scalar = |binding: &Binding| match binding {
        Binding::Length { .. } => Some(length),
        Binding::FailureBase => Some(Constant::from(0i64)),
        _ => None,
    };
    let scalars: Vec<Constant> = definition.bindings.iter().filter_map(scalar).collect();
    let Some(outcome) = &definition.outcome else { return Err(error("the kernel has no result")) };
    let count = definition.length_for(&[KernelArgument::Length(input.len())]).map_err(error)?.unwrap_or(0);
    let mut columns = Vec::new();
    T::add_columns(input, &mut columns);
    let memory = |binding: &Binding| match binding {
        Binding::Column { column, .. } => {
            columns.get(*column).map(|bytes| SimMemory::from_bytes(bytes.to_vec()))
        }
        Binding::Result { column } => {
            outcome.types.get(*column).map(|ty| SimMemory::unwritten(count * ty.bytes()))
        }
        Binding::Failure => Some(SimMemory::from_bytes(vec![0; 24])),
        _ => None,
    };
    let mut memories: Vec<SimMemory> = definition.bindings.iter().filter_map(memory).collect();
    simulate(&program, &mut memories, &scalars, &Default::default()).map_err(error)?;

    let is_memory = |binding: &&Binding| {
        matches!(binding, Binding::Column { .. } | Binding::Result { .. } | Binding::Failure)
    };
    let mut results = Vec::new();
    for (binding, memory) in definition.bindings.iter().filter(is_memory).zip(&memories) {
        match binding {
            Binding::Failure => failed(memory, &definition.kernel.sites)?,
            Binding::Result { .. } => results.push(memory.bytes()),
            _ => {}
        }
    }
    U::from_columns(&mut results.into_iter(), count).map_err(error)
}

/// An error if a failure was recorded.
fn failed(memory: &SimMemory, sites: &[Site]) -> Result<(), PreviewError> {
    let number = |index| {
        let constant = memory.get(pumice_scalar::ScalarType::I64, index);
        constant.and_then(|constant| constant.as_integer()).unwrap_or(0)
    };
    let site = usize::try_from(number(0) - 1).ok().and_then(|code| sites.get(code));
    match site {
        None => Ok(()),
        Some(site) => Err(error(site.message(number(1) as i64, number(2) as i64))),
    }
}
