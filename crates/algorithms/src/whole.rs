//! Whole programs in the array language, as a user would write them: programs in rounds loop on the device. Nothing in here
//! is a kernel, and nothing is tuned for a device.
//!
//! Each file has one subject: functions on [`Acc`](pumice::Acc) arrays, and the same in plain Rust in a module `plain`, which examples
//! and the conformance suite compare with.

pub mod bodies;
pub mod canny;
pub mod equalise;
pub mod fft;
pub mod heat;
pub mod julia;
pub mod kmeans;
pub mod life;
pub mod lu;
pub mod monte_carlo;
pub mod nbody;
pub mod pagerank;
pub mod particles;
pub mod photo;
pub mod poisson;
pub mod queens;
pub mod quicksort;
pub mod radix_sort;
pub mod ray_tracer;
pub mod shortest_paths;
pub mod smvm;
pub mod space;
