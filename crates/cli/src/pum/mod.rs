//! Commands on files of the `.pum` language. Each reads the file, has `pumice-lang` check it and make an array program of it, and does
//! with that what its name says.

mod build;
mod call;
mod cases;
mod check;
mod file;
mod files;
mod fmt;
mod lower;
mod run;

use crate::error::{Error, Result};
use crate::options::Options;

/// Commands on files of the language alone.
pub const COMMANDS: [&str; 4] = ["build", "check", "fmt", "test"];

/// Commands that take a file of the language, or something else.
pub const SHARED: [&str; 4] = ["run", "emit", "explain", "simulate"];

/// More arguments than these no command takes.
const MOST_WORDS: usize = 10_000;

/// Whether a command line is about a file of the language.
pub fn is_meant(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument.ends_with(".pum"))
}

/// Does a command on a file of the language.
pub fn command(name: &str, arguments: &[String]) -> Result<()> {
    let options =
        |with_value: &[&str], flags: &[&str]| Options::parse(arguments, with_value, flags, MOST_WORDS);
    match name {
        "build" => build::run(&options(build::OPTIONS, &[])?),
        "check" => check::run(&options(&[], &[])?),
        "run" => run::run(&options(&["--entry", "--device", "--output"], &[])?),
        "test" => cases::run(&options(&["--device"], &[])?),
        "fmt" => fmt::run(&options(&[], &["--check"])?),
        "emit" => lower::emit(&options(&["--entry", "--target", "--size"], &[])?),
        "explain" => lower::explain(&options(&["--entry", "--target", "--size"], &[])?),
        "simulate" => lower::simulate(&options(&["--entry"], &[])?),
        _ => Err(Error::Usage(format!("there is no command `{name}` on `.pum` files"))),
    }
}

/// The only file that a command line names.
fn only_file(options: &Options) -> Result<&str> {
    match options.words() {
        [file] => Ok(file),
        [] => Err(Error::Usage("name a `.pum` file".to_string())),
        [_, more, ..] => Err(Error::Usage(format!("`{more}` is one word too many"))),
    }
}
