//! A program by name: what `pumice emit`, `simulate`, `bench` and `tune` know, and what the conformance suite runs.

use pumice::{Compiler, Result};

/// A program that can be run on inputs of any size.
pub struct Program {
    /// The name that its paper gives it.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// A size that is small enough to be simulated in a moment.
    pub small: usize,
    /// A size that keeps a GPU busy: what is measured.
    pub large: usize,
    /// Sizes that the conformance suite runs: 0 and 1 where the program has them, odd ones, more than three blocks.
    pub sizes: &'static [usize],
    /// Makes inputs of a size and compiles what it takes to run on them.
    pub prepare: fn(&Compiler, usize) -> Result<Box<dyn Prepared>>,
}

/// A program with its inputs, on a device.
pub trait Prepared {
    /// Starts the program. It may still be under way when this returns.
    fn run(&mut self) -> Result<()>;

    /// Compares what the last run gave with what plain Rust computes; the error says what differs.
    fn check(&mut self) -> Result<std::result::Result<(), String>>;

    /// Bytes that the program must move at least, for a bandwidth; 0 where that is not what it is about.
    fn bytes(&self) -> u64;
}

/// Every program.
pub fn programs() -> Vec<Program> {
    let all = [
        crate::obsidian::programs(),
        crate::sort::programs(),
        crate::fcl::programs(),
        crate::matrix::programs(),
        crate::scan::programs(),
        crate::histogram::programs(),
        crate::mandelbrot::programs(),
        crate::sobol::programs(),
    ];
    all.into_iter().flatten().collect()
}
