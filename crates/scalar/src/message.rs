//! Messages of errors, with the place that they are about: text for people, and the same as data for programs.

use crate::place::Place;
use std::fmt;
use std::ops::Deref;

/// The message of an error, and the operation and place that it names, where it names one.
///
/// It is a `str` wherever one is wanted, and is made from text by `into`.
///
/// ```
/// use pumice::layers::scalar::PlacedMessage;
/// use pumice::Place;
/// let message = PlacedMessage::at("extents that differ", Place::new("zip_with", "prices.rs", 3, 7));
/// assert_eq!(message.to_string(), "extents that differ in zip_with at prices.rs:3");
/// assert_eq!(message.place().map(|place| place.operation()), Some("zip_with"));
/// assert_eq!(PlacedMessage::from("there is no program").place(), None);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PlacedMessage {
    text: String,
    place: Option<Place>,
}

impl PlacedMessage {
    /// Returns a message about a place, which is named at its end.
    pub fn at(what: impl fmt::Display, place: Place) -> PlacedMessage {
        PlacedMessage { text: format!("{what} in {place}"), place: Some(place) }
    }

    /// Returns a message that names the place in its text already.
    pub fn naming(place: Place, text: String) -> PlacedMessage {
        PlacedMessage { text, place: Some(place) }
    }

    /// Appends text behind the place: a hint, for example.
    pub fn followed_by(mut self, rest: &str) -> PlacedMessage {
        self.text += rest;
        self
    }

    /// Returns the place that the message is about.
    pub fn place(&self) -> Option<Place> {
        self.place
    }
}

impl From<String> for PlacedMessage {
    fn from(text: String) -> PlacedMessage {
        PlacedMessage { text, place: None }
    }
}

impl From<&str> for PlacedMessage {
    fn from(text: &str) -> PlacedMessage {
        text.to_string().into()
    }
}

impl Deref for PlacedMessage {
    type Target = str;
    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for PlacedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The text, as that of a `String`.
impl fmt::Debug for PlacedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}
