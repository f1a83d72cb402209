//! Places in a user's program: which operation, in which file, line and column.
//!
//! A place is owned data, interned for the life of the process, so that it is as cheap to copy and compare as a number.
//! Rust's `Location` is one way to make one; a front end with source files of its own makes them from those.

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A place in the user's source: an operation's name, file, line and column.
///
/// ```
/// use pumice::Place;
/// let place = Place::new("scan", "prices.pum", 3, 7);
/// assert_eq!(place.to_string(), "scan at prices.pum:3");
/// assert_eq!(place, Place::new("scan", "prices.pum", 3, 7));
/// ```
#[derive(Clone, Copy)]
pub struct Place(&'static Written);

#[derive(PartialEq, Eq, Hash)]
struct Written {
    operation: Box<str>,
    file: Box<str>,
    line: u32,
    column: u32,
}

impl Place {
    /// The place with this operation, file, line and column; lines and columns count from 1.
    ///
    /// ```
    /// let place = pumice::Place::new("scan", "prices.pum", 3, 7);
    /// assert_eq!((place.line(), place.column()), (3, 7));
    /// ```
    pub fn new(operation: &str, file: &str, line: u32, column: u32) -> Place {
        static PLACES: OnceLock<Mutex<HashSet<&'static Written>>> = OnceLock::new();
        let written = Written { operation: operation.into(), file: file.into(), line, column };
        let mut places = PLACES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        match places.get(&written) {
            Some(known) => Place(known),
            None => {
                // As many as a program has lines that do something; they are in sites of kernels that live on.
                let kept: &'static Written = Box::leak(Box::new(written));
                places.insert(kept);
                Place(kept)
            }
        }
    }

    /// The place in Rust from which the function that asks was called, as this operation.
    ///
    /// ```
    /// use pumice::Place;
    /// #[track_caller]
    /// fn scan() -> Place {
    ///     Place::caller("scan")
    /// }
    /// assert_eq!(scan().operation(), "scan");
    /// ```
    #[track_caller]
    pub fn caller(operation: &str) -> Place {
        Place::at(operation, Location::caller())
    }

    /// A place in a Rust program.
    ///
    /// ```
    /// use pumice::Place;
    /// use std::panic::Location;
    /// let place = Place::at("scan", Location::caller());
    /// assert_eq!(place.operation(), "scan");
    /// ```
    pub fn at(operation: &str, location: &Location<'_>) -> Place {
        Place::new(operation, location.file(), location.line(), location.column())
    }

    /// The same place, as another operation.
    ///
    /// ```
    /// use pumice::Place;
    /// let place = Place::new("fold", "prices.pum", 3, 7);
    /// assert_eq!(place.named("sum"), Place::new("sum", "prices.pum", 3, 7));
    /// ```
    pub fn named(self, operation: &str) -> Place {
        Place::new(operation, self.file(), self.line(), self.column())
    }

    /// The operation, as the user knows it.
    ///
    /// ```
    /// assert_eq!(pumice::Place::new("scan", "prices.pum", 3, 7).operation(), "scan");
    /// ```
    pub fn operation(self) -> &'static str {
        &self.0.operation
    }

    /// The file.
    ///
    /// ```
    /// assert_eq!(pumice::Place::new("scan", "prices.pum", 3, 7).file(), "prices.pum");
    /// ```
    pub fn file(self) -> &'static str {
        &self.0.file
    }

    /// The line, from 1.
    ///
    /// ```
    /// assert_eq!(pumice::Place::new("scan", "prices.pum", 3, 7).line(), 3);
    /// ```
    pub fn line(self) -> u32 {
        self.0.line
    }

    /// The column, from 1.
    ///
    /// ```
    /// assert_eq!(pumice::Place::new("scan", "prices.pum", 3, 7).column(), 7);
    /// ```
    pub fn column(self) -> u32 {
        self.0.column
    }
}

impl PartialEq for Place {
    /// Each place is kept once.
    fn eq(&self, other: &Place) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Place {}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}", self.operation(), self.file(), self.line())
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
