//! Errors of array programs and their data.

use pumice_scalar::{Place, PlacedMessage};
use std::error::Error as StdError;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

/// Error of looking at an array's elements, of making arrays, and of files of elements; users know it as `pumice::ArrayError`. `?` turns it
/// into a `pumice::Error`.
///
/// ```
/// use pumice::{ArrayError, prelude::*};
/// fn total(path: &str) -> Result<f64, ArrayError> {
///     Ok(Vector::<f64>::read_npy(path)?.to_vec()?.iter().sum())
/// }
/// let missing = total("no/such/file.npy").expect_err("no file");
/// assert!(matches!(missing, ArrayError::File { .. }));
/// assert_eq!(pumice::Error::from(missing).code(), "P0604");
/// ```
#[derive(Clone)]
pub enum Error {
    /// Shapes or element types that do not fit each other; names the operation and the place.
    Shape(PlacedMessage),
    /// A program that cannot be compiled.
    Program(PlacedMessage),
    /// A check that failed while the program ran; names the operation and the place.
    Failure(PlacedMessage),
    /// The host has no memory for an array's elements.
    HostMemory {
        /// The size that was asked for.
        bytes: usize,
    },
    /// A file of elements could not be read or written.
    File {
        /// The action that failed: "read", "map" or "write".
        action: &'static str,
        /// The file's path.
        path: String,
        /// The fault of the file, or the operating system's message.
        reason: String,
        /// The call in the user's source.
        place: Option<Place>,
        /// The operating system's error, or the archive's, if it is one.
        cause: Option<Cause>,
    },
    /// The device that holds the data could not give it.
    Device(Arc<dyn StdError + Send + Sync>),
}

/// Error of another library that is the cause of one of ours; its message is part of ours already. Causes are equal if their messages are.
#[derive(Clone, Debug)]
pub struct Cause(Arc<dyn StdError + Send + Sync>);

impl Cause {
    /// Keeps an error as a cause.
    ///
    /// ```
    /// use pumice::layers::array::Cause;
    /// let cause = Cause::new(std::io::Error::other("no room"));
    /// assert_eq!(cause.to_string(), "no room");
    /// ```
    pub fn new(error: impl StdError + Send + Sync + 'static) -> Cause {
        Cause(Arc::new(error))
    }
}

impl Deref for Cause {
    type Target = dyn StdError + Send + Sync;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Cause) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shape(message) | Error::Program(message) | Error::Failure(message) => f.write_str(message),
            Error::HostMemory { bytes } => {
                write!(
                    f,
                    "the host is out of memory: it could not allocate {bytes} bytes for an array's elements"
                )
            }
            Error::File { action, path, reason, place, .. } => {
                write!(f, "cannot {action} {path}: {reason}")?;
                place.map_or(Ok(()), |place| write!(f, " in {place}"))
            }
            Error::Device(error) => error.fmt(f),
        }
    }
}

/// Prints the message, because a program whose `main` returns an error prints it by `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl StdError for Error {
    /// The operating system's error about a file, and the cause of a device's error, whose own message is this error's.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Error::Device(error) => error.source(),
            Error::File { cause, .. } => cause.as_deref().map(|cause| -> &(dyn StdError + 'static) { cause }),
            Error::Shape(_) | Error::Program(_) | Error::Failure(_) | Error::HostMemory { .. } => None,
        }
    }
}

impl Error {
    /// The error of an array of the host whose extents, elements or type do not fit what an operation on it, called at this place, asks
    /// for. Places are looked up, so callers pass on where they were called from, and the place is made only if there is an error.
    pub(crate) fn misfit(operation: &str, caller: &Location<'_>, what: impl fmt::Display) -> Error {
        Error::Shape(PlacedMessage::at(what, Place::at(operation, caller)))
    }

    /// The codes of all errors; `docs/errors.md` says more of them.
    pub const CODES: [&str; 6] = ["P0602", "P0603", "P0501", "P0302", "P0604", "P0404"];

    /// Returns its code, which stays the same from version to version; `docs/errors.md` is a list of all. Errors that the runtime has
    /// too have its codes.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let wrong = Matrix::from_vec([2, 2], vec![1, 2, 3]).err().map(|error| error.code());
    /// assert_eq!(wrong, Some("P0602"));
    /// ```
    pub fn code(&self) -> &'static str {
        let [shape, program, failure, host_memory, file, device] = Error::CODES;
        match self {
            Error::Shape(_) => shape,
            Error::Program(_) => program,
            Error::Failure(_) => failure,
            Error::HostMemory { .. } => host_memory,
            Error::File { .. } => file,
            Error::Device(_) => device,
        }
    }

    /// Returns the place of the operation in the user's source, if the error is about one. The place of a device's error is known to
    /// `pumice::Error`, which this becomes by `?`.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let failed = pumice::run(use_(&[1, 0]).map(|x| 7 / x))?.to_vec().expect_err("a division by zero");
    /// assert!(failed.place().is_some_and(|place| place.file().ends_with(".rs") && place.line() > 0));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn place(&self) -> Option<Place> {
        match self {
            Error::Shape(message) | Error::Program(message) | Error::Failure(message) => message.place(),
            Error::File { place, .. } => *place,
            Error::HostMemory { .. } | Error::Device(_) => None,
        }
    }

    /// Returns the name of the operation that it is about, as the user knows it; see [`place`](Error::place).
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let failed = pumice::run(use_(&[1, 0]).map(|x| 7 / x))?.to_vec().expect_err("a division by zero");
    /// assert_eq!(failed.operation(), Some("division"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn operation(&self) -> Option<&'static str> {
        self.place().map(Place::operation)
    }

    /// Returns a hint on how to mend it, as a sentence.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let wrong = Matrix::from_vec([2, 2], vec![1, 2, 3]).expect_err("a matrix of three elements");
    /// assert_eq!(wrong.help(), "change the extents or the elements, so that they fit each other");
    /// ```
    pub fn help(&self) -> &'static str {
        match self {
            Error::Shape(_) => "change the extents or the elements, so that they fit each other",
            Error::Program(_) => "change the program as the message says",
            Error::Failure(_) => {
                "correct the index, division or size at the place that the message names, or guard it with a condition"
            }
            Error::HostMemory { .. } => {
                "look at a part of the array, or fold or filter it on the device first"
            }
            Error::File { .. } => "see that the file is there, whole, and of the type that is asked for",
            Error::Device(_) => "turn it into a `pumice::Error`, which knows what the device's error needs",
        }
    }
}

impl From<pumice_scalar::TooDeep> for Error {
    fn from(error: pumice_scalar::TooDeep) -> Error {
        Error::Program(error.to_string().into())
    }
}
