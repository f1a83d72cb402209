//! Whole programs in the array language, as a user would write them: what is computed in rounds loops on the device. Nothing in here
//! is a kernel, and nothing is tuned for a device.
//!
//! Each file has one subject: functions on [`Acc`](pumice::Acc) arrays, and the same in plain Rust in a module `plain`, which examples
//! and the conformance suite compare with.

pub mod equalise;
pub mod julia;
pub mod lu;
pub mod monte_carlo;
pub mod poisson;
pub mod queens;
pub mod ray_tracer;
pub mod shortest_paths;
pub mod smvm;
