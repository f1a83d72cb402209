//! Commands on files of the `.pum` language. Each reads the file, has `pumice-lang` check it and make an array program of it, and then
//! carries out the command.

pub mod bench;
pub mod build;
pub mod call;
pub mod cases;
pub mod check;
pub mod cost;
pub mod doc;
pub mod file;
pub mod files;
pub mod fmt;
pub mod lower;
mod measured;
pub mod run;
pub mod tune;

use crate::error::{Error, Result};
pub use call::prepare_expression;

/// Calls `work` with each file. A failure is reported and does not stop the others.
fn each_file(files: &[String], mut work: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let mut outcome = Ok(());
    for path in files {
        match work(path) {
            Ok(()) => {}
            Err(error @ (Error::Usage(_) | Error::Output(_))) => return Err(error),
            Err(error) => {
                error.tell();
                outcome = Err(Error::Told);
            }
        }
    }
    outcome
}
