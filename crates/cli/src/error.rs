//! Errors of commands, and their exit codes. Decides nothing else.

use crate::pum::file::Wrong;
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// The result of a command.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a command failed.
#[derive(Debug)]
pub enum Error {
    /// The command line is invalid: exit code 2.
    Usage(String),
    /// The command failed: exit code 1.
    Failed(String),
    /// A `.pum` file has errors: exit code 1.
    Source(Wrong),
    /// The command failed, and has printed all messages itself: exit code 1.
    Told,
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Error {
    /// Returns the process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            Error::Failed(_) | Error::Source(_) | Error::Told | Error::Output(_) => 1,
        }
    }

    /// Prints the error on standard error; errors of a file in colours, if that is a terminal. If it cannot be written, only the exit
    /// code tells of it.
    pub fn tell(&self) {
        let mut terminal = io::stderr().lock();
        let text = match self {
            Error::Told => return,
            Error::Source(wrong) => {
                let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                wrong.render(terminal.is_terminal() && !plain)
            }
            error => format!("pumice: {error}\n"),
        };
        let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
    }

    /// Returns whether the reader of standard output has closed the pipe (`pumice … | head`), which is no failure.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Output(error) if error.kind() == ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(message) => write!(f, "{}\n(`pumice help` shows what there is)", message.trim_end()),
            Error::Failed(message) => f.write_str(message),
            Error::Source(wrong) => f.write_str(wrong.render(false).trim_end()),
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

impl From<Wrong> for Error {
    fn from(wrong: Wrong) -> Error {
        Error::Source(wrong)
    }
}

impl From<pumice::Error> for Error {
    fn from(error: pumice::Error) -> Error {
        match error {
            // The user mistyped a name.
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
