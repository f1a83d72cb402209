//! Errors of functions on files: why a file cannot be read or written, and where in the user's source that was asked for.

use crate::error::{Cause, Error};
use pumice_scalar::Place;
use std::io;
use std::panic::Location;
use std::path::Path;

/// Reason that a file cannot be read or written: a fault of its content, or another library's error.
#[derive(Debug)]
pub(super) struct Reason {
    text: String,
    cause: Option<Cause>,
}

impl From<String> for Reason {
    fn from(text: String) -> Reason {
        Reason { text, cause: None }
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Reason {
        text.to_string().into()
    }
}

impl From<io::Error> for Reason {
    fn from(error: io::Error) -> Reason {
        Reason { text: error.to_string(), cause: Some(Cause::new(error)) }
    }
}

#[cfg(feature = "npz")]
impl From<zip::result::ZipError> for Reason {
    fn from(error: zip::result::ZipError) -> Reason {
        match error {
            zip::result::ZipError::Io(error) => error.into(),
            error => Reason { text: error.to_string(), cause: Some(Cause::new(error)) },
        }
    }
}

/// A call of a function on files: its name, and where it is called. Places are looked up, so one is made only for an error.
#[derive(Clone, Copy)]
pub(super) struct Call {
    function: &'static str,
    caller: &'static Location<'static>,
}

impl Call {
    /// The call of the function that asks, in the user's source.
    #[track_caller]
    pub(super) fn of(function: &'static str) -> Call {
        Call { function, caller: Location::caller() }
    }

    /// Makes the error of a call that cannot do this with a file.
    pub(super) fn cannot(self, action: &'static str, path: &Path, reason: impl Into<Reason>) -> Error {
        let Reason { text, cause } = reason.into();
        let place = Some(Place::at(self.function, self.caller));
        Error::File { action, path: path.display().to_string(), reason: text, place, cause }
    }
}
