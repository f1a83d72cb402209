//! Errors between a finished program and its result.
//!
//! Every message is written for the person who ran the program: it says what failed, and what was looked for or what
//! to change. Errors are plain data (cloneable, no handles), so that a failure can be remembered and told again. No
//! device code may panic instead of returning one of these.
//!
//! Devices do not know whom they work for: an error of one gets its place from [`profile::at`](crate::profile::at), around the work.

use pumice_array::Cause;
use pumice_scalar::{Place, PlacedMessage};
use thiserror::Error as ThisError;

use crate::identity::DeviceName;

/// The result of everything in the runtime.
///
/// ```
/// fn largest(xs: &[i32]) -> pumice::Result<i32> {
///     Ok(pumice::run(pumice::use_(xs).max())?.to_value()?)
/// }
/// assert_eq!(largest(&[3, 9, 4])?, 9);
/// # Ok::<(), pumice::Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of building, loading or running a program.
///
/// ```
/// use pumice::{Error, prelude::*};
/// let quotients = pumice::compile(|xs: Acc<Vector<i32>>| xs.map(|x| 12 / x))?;
/// match quotients.run(&[3, 0])?.to_vec().map_err(Error::from) {
///     Err(Error::Failure(message)) => assert!(message.contains("division by zero"), "{message}"),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The device cannot be used on this machine.
    #[error("device `{device}` is not available: {reason}")]
    DeviceUnavailable {
        /// The device's name.
        device: String,
        /// Reason: what was looked for and not found, or the driver's message.
        reason: String,
    },

    /// No device but the simulator can be used on this machine.
    #[error(
        "no device can be used here:\n{reasons}\nPUMICE_DEVICE=sim runs programs on the simulator, which is slow"
    )]
    NoDevice {
        /// Reason for each device, one per line.
        reasons: String,
    },

    /// There is no device of this name.
    #[error("there is no device `{name}`; the devices are {known}")]
    UnknownDevice {
        /// The name that was asked for.
        name: String,
        /// The names that exist, in a list for people.
        known: String,
    },

    /// The device's compiler refused a kernel.
    #[error("the {device} compiler ({compiler}) failed on kernel `{kernel}`{}:\n{log}", for_(place))]
    Compiler {
        /// The device's name.
        device: DeviceName,
        /// The compiler.
        compiler: String,
        /// The kernel's name.
        kernel: String,
        /// The compiler's output.
        log: String,
        /// The operation of the user's that it was for, if it is known.
        place: Option<Place>,
    },

    /// A binary cannot be loaded by its device: it is damaged, or made for something else.
    #[error("device `{device}` cannot load the binary of kernel `{kernel}`{}: {reason}", for_(place))]
    Binary {
        /// The device's name.
        device: DeviceName,
        /// The kernel's name.
        kernel: String,
        /// The loader's message.
        reason: String,
        /// The operation of the user's that it was for, if it is known.
        place: Option<Place>,
    },

    /// The device has no room for an allocation.
    #[error("device `{device}` is out of memory: it could not allocate {bytes} bytes{}{}", for_(place), usage(*in_use, *limit))]
    OutOfMemory {
        /// The device's name.
        device: DeviceName,
        /// The size that was asked for.
        bytes: usize,
        /// Bytes that arrays and runs of this process hold on the device, if they were counted.
        in_use: Option<usize>,
        /// Bytes that the device has in all, if it says so.
        limit: Option<usize>,
        /// The operation of the user's that it was for, if it is known.
        place: Option<Place>,
    },

    /// The host has no memory for an array's elements.
    #[error("the host is out of memory: it could not allocate {bytes} bytes for an array's elements")]
    OutOfHostMemory {
        /// The size that was asked for.
        bytes: usize,
    },

    /// A kernel could not be started.
    #[error("kernel `{kernel}`{} cannot be launched on `{device}`: {reason}", for_(place))]
    Launch {
        /// The device's name.
        device: DeviceName,
        /// The kernel's name.
        kernel: String,
        /// Description of what does not fit.
        reason: String,
        /// The operation of the user's that it was for, if it is known.
        place: Option<Place>,
    },

    /// A call into a vendor's library failed.
    #[error("{call} failed on device `{device}`{}: {name} (code {code})", for_(place))]
    Driver {
        /// The device's name.
        device: DeviceName,
        /// The function that was called.
        call: &'static str,
        /// The code that it returned.
        code: i64,
        /// The code's name.
        name: String,
        /// The operation of the user's that it was for, if it is known.
        place: Option<Place>,
    },

    /// Memory or a kernel of one device was given to another.
    #[error("{what} of {} was given to device `{device}`", other(found, device))]
    WrongDevice {
        /// Kind of what was given: "memory", "a kernel" or "a plan".
        what: &'static str,
        /// The device that was called.
        device: DeviceName,
        /// The device that it belongs to.
        found: DeviceName,
    },

    /// A file or process of the host that a device needs failed.
    #[error("device `{device}`{}: {action}: {reason}", for_(place))]
    Host {
        /// The device's name.
        device: DeviceName,
        /// The action that failed.
        action: String,
        /// The operating system's message.
        reason: String,
        /// The operation of the user's that it was for, if it is known.
        place: Option<Place>,
        /// The operating system's error, if it is one.
        #[source]
        cause: Option<Cause>,
    },

    /// A file of elements could not be read or written.
    #[error("cannot {action} {path}: {reason}{}", in_(place))]
    File {
        /// The action that failed: "read", "map" or "write".
        action: &'static str,
        /// The file's path.
        path: String,
        /// Reason: what is wrong with the file, or the operating system's message.
        reason: String,
        /// The call in the user's source.
        place: Option<Place>,
        /// The operating system's error, or the archive's, if it is one.
        #[source]
        cause: Option<Cause>,
    },

    /// A check in the running program failed: an index out of bounds, a division by zero.
    #[error("{0}")]
    Failure(PlacedMessage),

    /// The run took longer than its deadline allows, and was stopped.
    #[error("the run did not end within {limit:?}, the deadline of its compiler, and was stopped in {place}")]
    Deadline {
        /// The time that a run may take.
        limit: std::time::Duration,
        /// Part of the program that ran: the operations that may not terminate with their places, or a kernel's name.
        place: PlacedMessage,
    },

    /// The run was cancelled before all of it had begun.
    #[error("the run was cancelled")]
    Cancelled,

    /// The simulator found that a kernel does what no kernel may do: a race, or a read of memory that was never written.
    #[error("the simulator stopped: {0}")]
    Fault(PlacedMessage),

    /// The program or its arguments are invalid.
    #[error("{0}")]
    Invalid(PlacedMessage),
}

/// A device that is not `device`, though it may have its name: simulators and openings of tests do.
fn other(found: &DeviceName, device: &DeviceName) -> String {
    if found == device { format!("another device `{found}`") } else { format!("device `{found}`") }
}

/// The codes of errors and what to do about each, from one table: a variant without a row does not compile.
macro_rules! codes {
    ($($variant:ident $fields:tt = $code:literal, $help:literal;)*) => {
        impl Error {
            /// The codes of all errors, each with what to do about it. `docs/errors.md` says more of them.
            pub const CODES: &[(&str, &str)] = &[$(($code, $help)),*];

            /// Returns its code, which stays the same from version to version; `docs/errors.md` is a list of all.
            ///
            /// ```
            /// let unknown = pumice::Compiler::on("gpu").err().map(|error| error.code());
            /// assert_eq!(unknown, Some("P0103"));
            /// ```
            pub fn code(&self) -> &'static str {
                match self {
                    $(Error::$variant $fields => $code,)*
                }
            }

            /// Returns what to do about it, as a sentence.
            ///
            /// ```
            /// let unknown = pumice::Compiler::on("gpu").err().map(|error| error.help());
            /// assert_eq!(unknown, Some("choose one of the devices that `pumice doctor` lists"));
            /// ```
            pub fn help(&self) -> &'static str {
                match self {
                    $(Error::$variant $fields => $help,)*
                }
            }
        }
    };
}

codes! {
    DeviceUnavailable { .. } = "P0101", "install what was looked for, or choose another device; `pumice doctor` says which work";
    NoDevice { .. } = "P0102", "install a C compiler for the device `cpu`, or a GPU's driver; PUMICE_DEVICE=sim works everywhere";
    UnknownDevice { .. } = "P0103", "choose one of the devices that `pumice doctor` lists";
    WrongDevice { .. } = "P0104", "compile the program again for the device that is to run it";
    Compiler { .. } = "P0201", "report it with the kernel, which `pumice emit` prints: Pumice should emit what compilers accept";
    Binary { .. } = "P0202", "remove kept kernels with `pumice cache clear`; they are compiled again";
    OutOfMemory { .. } = "P0301", "drop arrays that are not needed, work on parts of the data (`map_stream`, and `in_parts` or `in_chunks` within a program), or choose a device with more memory";
    OutOfHostMemory { .. } = "P0302", "bring smaller results to the host: fold or filter them on the device first";
    Launch { .. } = "P0401", "choose fewer threads or less memory of a block; the message says which limit it is";
    Driver { .. } = "P0402", "look up the driver's code; after a fault of a GPU the process has to be started again";
    Host { .. } = "P0403", "see that the file or process which the message names can be used";
    Failure { .. } = "P0501", "correct the index, division or size at the place that the message names, or guard it with a condition";
    Deadline { .. } = "P0502", "see why the loop goes on, or allow more time with `Compiler::deadline`";
    Cancelled { .. } = "P0503", "nothing: the run was cancelled as asked";
    Fault { .. } = "P0504", "order the accesses with a barrier, or report it where the kernel is not yours";
    Invalid { .. } = "P0601", "change the program or its arguments as the message says";
    File { .. } = "P0604", "see that the file is there, whole, and of the type that is asked for";
}

impl Error {
    /// Returns where the user wrote the operation, kernel or call that it is about: that of a failure, one that makes no sense, a loop that
    /// was stopped, or one that a device or compiler could not do something for. Where a GPU is given many launches as one piece of work,
    /// its errors are about the result of the program. Errors of opening devices are about none.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let sums = pumice::compile(|xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| xs.zip_with(ys, |x, y| x / y).sum())?;
    /// let error = sums.run((&[1, 2], &[1, 0]))?.to_vec().map_err(pumice::Error::from).expect_err("a division by zero");
    /// assert!(error.place().is_some_and(|place| place.operation() == "division" && place.line() > 0));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn place(&self) -> Option<Place> {
        match self {
            Error::Failure(message)
            | Error::Invalid(message)
            | Error::Fault(message)
            | Error::Deadline { place: message, .. } => message.place(),
            Error::Compiler { place, .. }
            | Error::Binary { place, .. }
            | Error::OutOfMemory { place, .. }
            | Error::Launch { place, .. }
            | Error::Driver { place, .. }
            | Error::Host { place, .. }
            | Error::File { place, .. } => *place,
            _ => None,
        }
    }

    /// Returns the error as one about this place, if it has none yet and can have one.
    pub(crate) fn at(mut self, at: Option<Place>) -> Error {
        match &mut self {
            Error::Compiler { place, .. }
            | Error::Binary { place, .. }
            | Error::OutOfMemory { place, .. }
            | Error::Launch { place, .. }
            | Error::Driver { place, .. }
            | Error::Host { place, .. } => *place = place.or(at),
            _ => {}
        }
        self
    }

    /// Returns the name of the operation that it is about, as the user knows it; see [`place`](Error::place).
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let error = pumice::run(use_(&[1, 2]).zip_with(use_(&[1, 2]), |x, y| x / (y - y)))?.to_vec().expect_err("a division by zero");
    /// assert_eq!(pumice::Error::from(error).operation(), Some("division"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn operation(&self) -> Option<&'static str> {
        self.place().map(Place::operation)
    }

    /// Creates the error of a device that could not allocate so many bytes; callers that know more add it.
    pub(crate) fn out_of_memory(device: DeviceName, bytes: usize) -> Error {
        Error::OutOfMemory { device, bytes, in_use: None, limit: None, place: None }
    }

    /// Creates the error of an action of the host that the operating system refused.
    pub(crate) fn host(device: DeviceName, action: impl Into<String>, error: std::io::Error) -> Error {
        let (reason, cause) = (error.to_string(), Some(Cause::new(error)));
        Error::Host { device, action: action.into(), reason, place: None, cause }
    }
}

/// Returns whom something was for, as a part of a sentence.
fn for_(place: &Option<Place>) -> String {
    place.map_or(String::new(), |place| format!(" for {place}"))
}

/// Returns where something was called, as the end of a sentence.
fn in_(place: &Option<Place>) -> String {
    place.map_or(String::new(), |place| format!(" in {place}"))
}

/// Returns the amount of memory in use, as the end of a sentence.
fn usage(in_use: Option<usize>, limit: Option<usize>) -> String {
    match (in_use, limit) {
        (Some(in_use), Some(limit)) => format!("; {in_use} of its {limit} bytes are in use by this process"),
        (Some(in_use), None) => format!("; {in_use} bytes are in use by this process"),
        (None, Some(limit)) => format!("; it has {limit} bytes"),
        (None, None) => String::new(),
    }
}

/// The message: it is what a program prints whose `main` returns an error.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_errors_has_every_code_once_and_no_other() {
        let page = include_str!("../../../docs/errors.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| P")?.split_once(" |"));
        let mut found: Vec<String> = rows.map(|(code, _)| format!("P{code}")).collect();
        let ours = Error::CODES.iter().map(|(code, _)| *code);
        let mut codes: Vec<&str> = ours.chain(pumice_array::Error::CODES).collect();
        found.sort();
        codes.sort_unstable();
        // Some are errors of both layers.
        codes.dedup();
        assert_eq!(found, codes);
        for (code, help) in Error::CODES {
            assert!(!help.ends_with('.') && help.len() > 20, "{code}: {help}");
        }
    }

    #[test]
    fn messages_say_what_failed_and_where() {
        let error = Error::Driver {
            device: DeviceName::numbered("cuda", 1),
            call: "cuLaunchKernel",
            code: 700,
            name: "CUDA_ERROR_ILLEGAL_ADDRESS".into(),
            place: None,
        };
        assert_eq!(
            error.to_string(),
            "cuLaunchKernel failed on device `cuda:1`: CUDA_ERROR_ILLEGAL_ADDRESS (code 700)"
        );
        let error = Error::out_of_memory(DeviceName::of_kind("cpu"), 1 << 40);
        let message = "device `cpu` is out of memory: it could not allocate 1099511627776 bytes";
        assert_eq!(error.to_string(), message);
        let (device, bytes, in_use) = (DeviceName::of_kind("cpu"), 1 << 40, Some(5));
        let error = Error::OutOfMemory { device, bytes, in_use, limit: Some(64), place: None };
        let usage = "; 5 of its 64 bytes are in use by this process";
        assert_eq!(error.to_string(), format!("{message}{usage}"));
        // The innermost place is kept.
        let place = Place::new("map", "prices.rs", 3, 7);
        let error = error.at(Some(place)).at(Some(place.named("sum")));
        assert_eq!(
            (error.to_string(), error.place()),
            (format!("{message} for map at prices.rs:3{usage}"), Some(place))
        );
        assert_eq!(Error::Cancelled.at(Some(place)).place(), None);
    }

    #[test]
    fn errors_of_the_system_are_sources() {
        let refused = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let error = Error::host(DeviceName::of_kind("cpu"), "starting the compiler", refused);
        let source =
            std::error::Error::source(&error).and_then(|source| source.downcast_ref::<std::io::Error>());
        assert_eq!(source.map(|source| source.kind()), Some(std::io::ErrorKind::PermissionDenied));
        assert_eq!(error.to_string(), "device `cpu`: starting the compiler: permission denied");
    }
}
