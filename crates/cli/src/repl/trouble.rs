//! Why something that was typed has no answer. A session goes on after it.

use crate::error::Error;
use crate::pum::file::Wrong;

/// What went wrong.
pub enum Trouble {
    /// The program is wrong.
    Wrong(Wrong),
    /// Something else, in words.
    Told(String),
}

impl Trouble {
    /// As text that ends with a line.
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
            // A mistake on a command line comes with a hint that is of no use here.
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
