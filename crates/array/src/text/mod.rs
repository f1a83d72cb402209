//! The text form of array programs.
//!
//! [`ArrayProgram`]'s `Display` writes it and `text.parse::<ArrayProgram>()` reads it back; [`CheckedProgram::new`] says
//! whether a program that was read is well formed. `docs/array-ir.md` explains it.
//!
//! ```text
//! a0: [_] (f32) = argument 0 at "argument" "src/main.rs" 3:10
//! a1: [_] (f32) = use [3] {1.0, 2.0, 3.0} at "use_" "src/main.rs" 4:14
//! a2: [_] (f32) = zip_with (a0, a1) at "zip_with" "src/main.rs" 4:8
//!   |p0: f32, p1: f32| {
//!     %0: f32 = mul p0, p1
//!     return %0
//!   }
//! return a2
//! ```
//!
//! An operation is its keyword, then its numbers, data, inputs, place, functions and programs (a loop's or a branch's, in
//! braces), as far as it has them. The syntax knows no operation: [`OPERATIONS`](crate::operations::OPERATIONS) lists those
//! that can be read.
//!
//! [`ArrayProgram`]: crate::ArrayProgram
//! [`CheckedProgram::new`]: crate::CheckedProgram::new

pub mod data;
mod parse;
mod print;
mod save;

pub use parse::parse_program;
