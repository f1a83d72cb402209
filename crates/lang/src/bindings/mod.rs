//! Text of other languages that calls the functions of a file: a header and its source in C, a module for Python, and one for Rust. The
//! functions are chosen in [`interface`](crate::interface); the caller writes the text to files, compiles and links.
//!
//! Records, tuples and sums are taken apart for C: each scalar, and each column of an array, is a parameter of its own
//! ([`Datum::leaves`](crate::interface::Datum::leaves)). An array of records is as many arrays as it has columns, because that is how it lies
//! in memory, and every language has arrays of numbers.

mod c;
mod names;
mod python;
mod rust;

pub use c::{header, source};
pub use names::{clashes, is_library_name, library_name};
pub use python::module as python;
pub use rust::{RustText, Unsupported, module as rust};

use crate::interface::Export;

/// A library that is written for another language.
#[derive(Clone, Copy, Debug)]
pub struct Library<'a> {
    /// Its name, which is an identifier ([`is_library_name`]) and the prefix of its functions in C.
    pub name: &'a str,
    /// The comments at the beginning of its file.
    pub docs: Option<&'a str>,
    /// The texts of its files: its own first, then those that it imports.
    pub texts: &'a [FileText<'a>],
    /// Its functions.
    pub exports: &'a [Export],
    /// Kernels that were compiled ahead, for `pumice-library` to read.
    pub kernels: &'a [u8],
}

/// The text of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileText<'a> {
    /// The file's name in messages; of an imported file, its name in imports.
    pub name: &'a str,
    /// Its source text.
    pub text: &'a str,
}

/// Returns the lines of a documentation, without cases (`>>>` and their results) and without empty lines at its ends.
fn doc_lines(docs: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut in_case = false;
    for line in docs.lines() {
        let line = line.trim_end();
        in_case = line.trim_start().starts_with(">>>") || in_case && !line.trim().is_empty();
        if !in_case {
            lines.push(line);
        }
    }
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    lines
}
