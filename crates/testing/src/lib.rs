//! The conformance suite, which every device must pass, and the programs that are printed, measured and recorded as snapshots.
//!
//! A case is a program, its inputs, and an expectation that comes from plain Rust. [`suite`] runs cases on any device
//! (`pumice selftest`, and a `#[test]` for each case and device), or only collects the kernels that they would launch, for
//! compilers whose device is absent. [`programs`] are the examples, [`random`] makes programs that nobody would
//! write.

// Programs here do on purpose what a person would not write.
#[allow(
    clippy::eq_op,
    clippy::erasing_op,
    clippy::identity_op,
    clippy::modulo_one,
    clippy::needless_borrows_for_generic_args
)]
mod cases;
mod counting;
mod data;
pub mod files;
mod harness;
mod large;
pub mod programs;
pub mod random;
pub mod suite;

pub use counting::Counting;
pub use harness::{Harness, Outcome, Program, Tolerance};
pub use suite::{Case, Summary, cases, cuda_like, large_cases, run_suite};
