//! Random well-typed programs on devices, against what says what they mean.
//!
//! A program is made from a string of bytes ([`Recipe`]), so that it can be kept in a file, and is made simpler by making
//! the string shorter and its bytes smaller ([`shrink`]). Array programs are compared with the array interpreter, programs
//! in Program IR with the simulator. A [`Runner`] plans many programs, then asks for all their kernels, then executes them.
//!
//! Nothing here starts processes: what a crash of a device leaves of a campaign is for the `pumice` command.

mod arrays;
mod choices;
mod compare;
mod control;
mod ir;
mod recipe;
mod runner;
mod scalars;
mod shrink;

pub use recipe::{Kind, Recipe};
pub use runner::Runner;
pub use shrink::shrink;
