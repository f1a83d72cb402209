//! Marks in a device's queue whose times are known once the work before them is done.

use crate::error::Result;
use std::fmt;
use std::time::Instant;

/// A mark in a device's queue; see [`Device::stamp`](crate::Device::stamp).
pub struct Stamp(Reached);

enum Reached {
    At(Instant),
    Later(Box<dyn FnOnce() -> Result<Instant> + Send>),
}

impl Stamp {
    /// The mark of a device that has done its work when its calls return.
    pub fn now() -> Stamp {
        Stamp(Reached::At(Instant::now()))
    }

    /// A mark whose time `find` finds, by the host's clock; it waits until the mark is reached.
    pub fn later(find: impl FnOnce() -> Result<Instant> + Send + 'static) -> Stamp {
        Stamp(Reached::Later(Box::new(find)))
    }

    /// Whether its time is known.
    pub fn is_known(&self) -> bool {
        matches!(self.0, Reached::At(_))
    }

    /// Returns when it was reached.
    pub fn instant(self) -> Result<Instant> {
        match self.0 {
            Reached::At(instant) => Ok(instant),
            Reached::Later(find) => find(),
        }
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reached::At(instant) => write!(f, "Stamp({instant:?})"),
            Reached::Later(_) => f.write_str("Stamp(later)"),
        }
    }
}
