//! The whole programs of `pumice_algorithms`, small: nothing or one element, and a few blocks, against plain Rust. Few extents,
//! because each may need kernels of its own; other ones are for the cases of the operations.

mod grids;
mod pictures;
mod rounds;
mod vectors;

pub use grids::*;
pub use pictures::*;
pub use rounds::*;
pub use vectors::*;

/// What cannot go wrong but for a mistake in a case.
fn made<T, E: ToString>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}
