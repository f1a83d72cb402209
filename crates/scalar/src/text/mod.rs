//! The text form of scalar functions, and the code that all text forms share.
//!
//! `Display` writes a function, `text.parse::<Function>()` reads it back as the very same. The words
//! are those of Program IR's text form, and so are tokens ([`lex`]) and constants, which are `value:type`.
//!
//! ```
//! use pumice::layers::scalar::Function;
//! let text = r#"|p0: f32, p1: i64| {
//!   %0: bool = lt p1, extent(a3, 0)
//!   %1: bool = check %0, out_of_bounds, index p1, bound extent(a3, 0) at "gather" "src/main.rs" 14:9
//!   %3: f32 = if %1 {
//!     %2: f32 = mul p0, argument2:f32
//!     yield %2
//!   } else {
//!     yield 0.0:f32
//!   }
//!   %9: f32, _: i64 = while carry %4: f32 = %3, %5: i64 = p1 {
//!     %6: bool = lt 0:i64, %5
//!   } test %6 {
//!     %7: f32 = mul %4, 0.5:f32
//!     %8: i64 = sub %5, 1:i64
//!     next %7, %8
//!   }
//!   return %9
//! }"#;
//! let function: Function = text.parse()?;
//! assert_eq!(function.to_string(), text);
//! # Ok::<(), pumice::layers::scalar::text::ParseError>(())
//! ```
//!
//! `p0` is a parameter, `argument2:f32` a scalar argument of the array program, `extent(a3, 0)` the outermost extent of
//! array 3. A value is defined with its type; its number is its place in the function's graph. A function written by hand
//! may have names instead (`%sum`); then the values are numbered as they appear. A value of a branch or a loop that nothing
//! uses is `_`.
//!
//! A function is a graph, and blocks show where a value is computed, not when: a value is computed where it is demanded. One
//! that several blocks demand may be printed in each of them.

pub mod cursor;
pub mod lex;
mod parse;
mod print;

pub use cursor::{Cursor, ParseError, Parsed};
pub use parse::parse_function;
pub use print::{print_constant, print_place};
