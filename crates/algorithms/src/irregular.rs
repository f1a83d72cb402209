//! Programs over irregular data, in the array language: what a sequential program does with loops inside loops whose lengths
//! differ, written with comprehensions, `expand` and `permute`. Nothing in here is a kernel, and nothing is tuned for a device.
//!
//! Each file has one subject: functions on [`Acc`](pumice::Acc) arrays, functions of the host where several compiled programs
//! are run in turn, and the same in plain Rust in a module `plain`, which examples and the conformance suite compare with.

pub mod sieve;
