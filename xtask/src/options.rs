//! Command-line options of the form `--name value` or `--name=value`. Knows no option by name.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// The options given on a command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    values: BTreeMap<String, String>,
}

impl Options {
    /// Parses a command line on which only `known` options are allowed, each at most once.
    pub fn parse(arguments: &[String], known: &[&str]) -> Result<Options> {
        let mut values = BTreeMap::new();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (name, attached) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (argument.as_str(), None),
            };
            if !known.contains(&name) {
                return Err(Error::new(format!("unknown option {argument}; known: {}", known.join(", "))));
            }
            let Some(value) = attached.or_else(|| rest.next().cloned()) else {
                return Err(Error::new(format!("{name} needs a value")));
            };
            if values.insert(name.to_string(), value).is_some() {
                return Err(Error::new(format!("{name} is given twice")));
            }
        }
        Ok(Options { values })
    }

    /// Returns the value of an option, if it was given.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options> {
        let arguments: Vec<String> = arguments.iter().map(|argument| argument.to_string()).collect();
        Options::parse(&arguments, &["--device", "--filter"])
    }

    #[test]
    fn both_spellings_give_the_value() {
        let options = parse(&["--device", "cpu", "--filter=row sums"]).unwrap();
        assert_eq!(options.value("--device"), Some("cpu"));
        assert_eq!(options.value("--filter"), Some("row sums"));
        assert_eq!(options.value("--json"), None);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parse(&["--devise", "cpu"]).unwrap_err().to_string().contains("--devise"));
        assert!(parse(&["--device"]).unwrap_err().to_string().contains("needs a value"));
        assert!(parse(&["--device", "cpu", "--device=cuda"]).unwrap_err().to_string().contains("twice"));
        assert!(parse(&["cpu"]).is_err());
    }
}
