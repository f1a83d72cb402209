//! Random well-typed programs on devices, compared with a reference: the interpreter or the simulator.
//!
//! A program is made from a string of bytes ([`Recipe`]), so that it can be kept in a file, and it is simplified by making
//! the string shorter and its bytes smaller ([`shrink`]). Array programs are compared with the array interpreter, programs
//! in Program IR with the simulator. A [`Runner`] plans many programs, then builds all their kernels, then executes them.
//!
//! Nothing here starts processes: the `pumice` command handles crashes of a device during a campaign.

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
