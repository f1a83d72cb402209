//! The kernel language: pull and push arrays over levels, and the skeletons that are written in it.
//!
//! Functions on [`Pull`] and [`Push`] are composed in Rust; [`build`] runs one and gives the [`pumice_program::Program`]
//! that it describes. Rust's loops and recursion are the meta-language: they are unrolled while the kernel is built.
//! This layer knows Program IR below it, and nothing of array programs or devices above and beside it.

mod builder;
mod item;
mod profile;
mod pull;
mod push;
pub mod skeletons;

pub use builder::{
    BuildError, Kernel, allocate_shared, build, comment, distribute, either, memory_parameter, named,
    parallel, read, scalar_parameter, sequential, store, sync,
};
pub use item::{
    Below, Block, Dynamic, Forces, Form, Grid, INDEX, Item, Ix, Level, Loops, Scalars, Storable, Thread,
};
pub use profile::Profile;
pub use pull::{Pull, Size, quotient, remainder, seq_for};
pub use push::Push;
