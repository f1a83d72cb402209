//! The one error of this crate: a message for the person at the terminal, with everything they need in it.
//! Nobody matches on it, so it has no kinds.

use std::fmt;
use std::path::Path;

/// What went wrong, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(String);

/// The result of a task or of a part of one.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Error(message.into())
    }

    /// The operating system refused to do something with a path.
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
