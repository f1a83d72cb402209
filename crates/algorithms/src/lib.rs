//! Algorithms in the kernel language: the programs of the papers that Pumice grew from, each under the name that its paper
//! gives it, and the code that runs, checks and measures them. Programs over irregular data in the array language are in
//! [`irregular`], whole programs in it in [`whole`].
//!
//! Written as a user would write them, with nothing of the layers below the two languages.

pub mod bitonic;
pub mod combinators;
pub mod drawing;
pub mod fcl;
pub mod fuse;
pub mod histogram;
pub mod irregular;
pub mod mandelbrot;
pub mod matrix;
pub mod networks;
pub mod numbers;
pub mod obsidian;
pub mod program;
pub mod scan;
pub mod sieve;
pub mod sobol;
pub mod sort;
pub mod whole;

pub use program::{Check, Prepared, Program, Settings, Tunable, Work, programs, ready, same};
