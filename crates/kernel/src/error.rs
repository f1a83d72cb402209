//! Errors of building or launching a kernel: what is wrong, where the user wrote it, and what to write instead.

use pumice_scalar::{Place, Site};
use std::fmt;

/// A kernel that cannot be built.
///
/// ```
/// use pumice::kernel::{Block, Grid, Ix, Pull, define};
/// let error = define("sums", 32, |xs: Pull<i32, Ix>| {
///     // The halves of three elements are not as long as each other.
///     let sums = |(low, high): (Pull<i32>, Pull<i32>)| low.zip_with(high, |a, b| a + b).push::<Block>();
///     xs.split_up(3).map(move |part| sums(part.halve())).concat::<Grid>()
/// });
/// assert!(error.is_err_and(|error| error.place().is_some()));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError {
    message: String,
    place: Option<Place>,
    help: String,
}

impl BuildError {
    /// Creates an error with this message and no source location.
    ///
    /// ```
    /// assert_eq!(pumice::kernel::BuildError::new("no kernel").to_string(), "no kernel");
    /// ```
    pub fn new(message: impl fmt::Display) -> BuildError {
        BuildError { message: message.to_string(), place: None, help: String::new() }
    }

    /// Creates the error of a failure at a site that is certain before the kernel runs.
    pub(crate) fn failure(site: Site, index: i64, bound: i64) -> BuildError {
        let (message, help) = site.kind.describe(index, bound);
        BuildError { message, place: Some(site.place), help }
    }

    /// The same error, which comes from this place unless it has one already.
    ///
    /// ```
    /// use pumice::Place;
    /// use pumice::kernel::BuildError;
    /// let place = Place::new("push", "prices.pum", 3, 7);
    /// assert_eq!(BuildError::new("no kernel").or_at(place).to_string(), "no kernel in push at prices.pum:3");
    /// ```
    #[must_use]
    pub fn or_at(self, place: impl Into<Option<Place>>) -> BuildError {
        BuildError { place: self.place.or(place.into()), ..self }
    }

    /// Returns the message, without the place.
    ///
    /// ```
    /// use pumice::Place;
    /// use pumice::kernel::BuildError;
    /// let error = BuildError::new("no kernel").or_at(Place::new("push", "prices.pum", 3, 7));
    /// assert_eq!(error.message(), "no kernel");
    /// ```
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the source location of the mistake.
    ///
    /// ```
    /// use pumice::kernel::BuildError;
    /// assert_eq!(BuildError::new("no kernel").place(), None);
    /// ```
    pub fn place(&self) -> Option<Place> {
        self.place
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(place) = self.place {
            write!(f, " in {place}")?;
        }
        f.write_str(&self.help)
    }
}

/// The message: it is what a program prints whose `main` returns an error.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}
