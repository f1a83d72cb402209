//! Why a command did not do what it was asked for, and the exit code for it. Decides nothing else.

use std::fmt;
use std::io::{self, ErrorKind};

/// The result of a command.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a command failed.
#[derive(Debug)]
pub enum Error {
    /// The command line makes no sense: exit code 2.
    Usage(String),
    /// It does, but something went wrong: exit code 1.
    Failed(String),
    /// It went wrong too, and all about it has been printed: exit code 1.
    Told,
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Error {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            Error::Failed(_) | Error::Told | Error::Output(_) => 1,
        }
    }

    /// Whether the reader of standard output has seen enough (`pumice … | head`), which is nobody's mistake.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Output(error) if error.kind() == ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(message) => write!(f, "{}\n(`pumice help` shows what there is)", message.trim_end()),
            Error::Failed(message) => f.write_str(message),
            Error::Told => f.write_str("failed"),
            Error::Output(error) => write!(f, "cannot write to standard output: {error}"),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Output(error)
    }
}

impl From<pumice::Error> for Error {
    fn from(error: pumice::Error) -> Error {
        match error {
            // A name that was typed wrong.
            pumice::Error::UnknownDevice { .. } => Error::Usage(error.to_string()),
            error => Error::Failed(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_tell_mistakes_on_the_command_line_from_failures() {
        let unknown = pumice::layers::runtime::open("gpu").err().map(Error::from);
        assert_eq!(unknown.map(|error| error.exit_code()), Some(2));
        assert_eq!(Error::from(pumice::Error::Failure("a check".into())).exit_code(), 1);
        let closed = Error::from(io::Error::from(ErrorKind::BrokenPipe));
        assert!(
            closed.is_closed_pipe() && !Error::from(io::Error::from(ErrorKind::StorageFull)).is_closed_pipe()
        );
    }
}
