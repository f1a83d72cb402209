//! The one error of this crate: a complete message for the person at the terminal.
//! Nothing matches on it, so it has no kinds.

use std::fmt;
use std::path::Path;

/// An error message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(String);

/// The result of a task or of a part of one.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Error(message.into())
    }

    /// Returns the error for an action on a path that the operating system refused.
    pub fn io(action: &str, path: &Path, cause: &std::io::Error) -> Self {
        Error(format!("cannot {action} {}: {cause}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
