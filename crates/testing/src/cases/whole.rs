//! The whole programs of `pumice_algorithms` at small sizes: nothing or one element, and a few blocks, against plain Rust. Few extents,
//! because each may need kernels of its own; the cases of the operations have others.

mod grids;
mod pictures;
mod rounds;
mod vectors;

pub use grids::*;
pub use pictures::*;
pub use rounds::*;
pub use vectors::*;

/// Converts an error, which only a mistake in a case can cause.
fn made<T, E: ToString>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}
