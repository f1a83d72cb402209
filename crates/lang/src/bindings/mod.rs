//! Text of other languages that calls the functions of a file: a header and its source in C, a module for Python, and one for Rust. What is
//! offered is for [`interface`](crate::interface) to say; compiling and linking is for whoever writes the text to files.
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

/// What is written as a library for another language.
#[derive(Clone, Copy, Debug)]
pub struct Library<'a> {
    /// Its name, which is an identifier ([`is_library_name`]): what its functions begin with in C.
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
    /// What the file is called in messages; for one that is imported, what imports call it.
    pub name: &'a str,
    /// What is written in it.
    pub text: &'a str,
}

/// The lines of a documentation, without cases (`>>>` and what they give) and empty lines at its ends.
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
