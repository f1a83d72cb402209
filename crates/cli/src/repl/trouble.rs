//! Errors of an entry. The session continues after one.

use crate::error::Error;
use crate::pum::file::Wrong;

/// The reason why an entry has no answer.
pub enum Trouble {
    /// The program has errors.
    Wrong(Wrong),
    /// Another error, as a message.
    Told(String),
}

impl Trouble {
    /// Renders it as text that ends with a newline.
    pub fn render(&self, colours: bool) -> String {
        match self {
            Trouble::Wrong(wrong) => wrong.render(colours),
            Trouble::Told(message) => {
                let error = if colours { "\x1b[1;91merror\x1b[0m" } else { "error" };
                format!("{error}: {}\n", message.trim_end())
            }
        }
    }
}

impl From<Wrong> for Trouble {
    fn from(wrong: Wrong) -> Trouble {
        Trouble::Wrong(wrong)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        match error {
            // A usage error comes with a hint about command lines, which is of no use here.
            Error::Usage(message) | Error::Failed(message) => Trouble::Told(message),
            other => Trouble::Told(other.to_string()),
        }
    }
}

impl From<pumice::Error> for Trouble {
    fn from(error: pumice::Error) -> Trouble {
        Trouble::Told(error.to_string())
    }
}

impl From<String> for Trouble {
    fn from(message: String) -> Trouble {
        Trouble::Told(message)
    }
}
