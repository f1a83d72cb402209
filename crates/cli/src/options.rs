//! Command lines: `--name value`, `--name=value`, `--flag`, and plain words. Knows no option by name.

use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// What was given after a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    values: BTreeMap<String, String>,
    words: Vec<String>,
}

impl Options {
    /// Reads a command line on which these options with a value, these flags and so many words are allowed.
    pub fn parse(arguments: &[String], with_value: &[&str], flags: &[&str], words: usize) -> Result<Options> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if !is_option(argument) {
                options.words.push(argument.clone());
                if options.words.len() > words {
                    return Err(Error::Usage(format!("`{argument}` is one word too many")));
                }
                continue;
            }
            let (name, attached) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (argument.as_str(), None),
            };
            let value = match (with_value.contains(&name), flags.contains(&name), attached) {
                (true, _, Some(value)) => value,
                (true, _, None) => {
                    rest.next().cloned().ok_or_else(|| Error::Usage(format!("{name} needs a value")))?
                }
                (_, true, None) => String::new(),
                (_, true, Some(_)) => return Err(Error::Usage(format!("{name} takes no value"))),
                _ => return Err(unknown(name, with_value, flags)),
            };
            if options.values.insert(name.to_string(), value).is_some() {
                return Err(Error::Usage(format!("{name} is given twice")));
            }
        }
        Ok(options)
    }

    /// What an option was given as.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Whether a flag was given.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// All words.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The first word.
    pub fn word(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }
}

/// Whether an argument begins as an option does; a negative number does not.
fn is_option(argument: &str) -> bool {
    let behind = argument.strip_prefix('-');
    behind.is_some_and(|behind| !behind.starts_with(|first: char| first.is_ascii_digit()))
}

fn unknown(name: &str, with_value: &[&str], flags: &[&str]) -> Error {
    let known: Vec<&str> = with_value.iter().chain(flags).copied().collect();
    let known = match known.is_empty() {
        true => "this command has none".to_string(),
        false => format!("this command has {}", known.join(", ")),
    };
    Error::Usage(format!("there is no option {name}; {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> std::result::Result<Options, String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| argument.to_string()).collect();
        Options::parse(&arguments, &["--device", "--filter"], &["--quick"], 1)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn options_flags_and_words_may_come_in_any_order() -> std::result::Result<(), String> {
        let options = parse(&["--device", "cpu", "dotp", "--quick", "--filter=row sums"])?;
        assert_eq!((options.value("--device"), options.value("--filter")), (Some("cpu"), Some("row sums")));
        assert_eq!((options.word(), options.has("--quick")), (Some("dotp"), true));
        let options = parse(&[])?;
        assert_eq!((options.value("--device"), options.word(), options.has("--quick")), (None, None, false));
        Ok(())
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |arguments: &[&str], part: &str| {
            let message = parse(arguments).err().unwrap_or_default();
            assert!(message.contains(part), "{arguments:?}: {message}");
        };
        wrong(
            &["--devise", "cpu"],
            "there is no option --devise; this command has --device, --filter, --quick",
        );
        wrong(&["--device"], "--device needs a value");
        wrong(&["--quick=yes"], "--quick takes no value");
        wrong(&["--quick", "--quick"], "--quick is given twice");
        wrong(&["dotp", "-1"], "`-1` is one word too many");
        wrong(&["dotp", "saxpy"], "`saxpy` is one word too many");
    }
}
