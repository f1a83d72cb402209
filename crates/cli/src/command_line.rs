//! The command line: the commands and their help. Each command declares its arguments beside its code, as its `Arguments`.
//!
//! A mistake is an [`Error::Usage`] in the words of `clap`. This module only parses; [`run`](crate::run) carries the command out.

use crate::error::{Error, Result};
use crate::{bench, cache, emit, explain, manual, programs, pum, random, repl, selftest, simulate, tune};
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// Notes below the help of `pumice`: devices and environment variables, which are the same for all commands.
const DEVICES: &str = "\
Devices: cuda, opencl, cpu, sim; of several GPUs cuda:0, cuda:1, opencl:0, … (`pumice doctor` lists them). Without --device it
is the one that PUMICE_DEVICE names, or the best that works.

Compiled kernels are kept in PUMICE_CACHE_DIR, or in the user's cache folder: up to PUMICE_CACHE_BYTES bytes (1 GiB; with 0 none
are), and of those in memory PUMICE_KERNELS for each device (1024). A compiler of kernels may take PUMICE_COMPILE_SECONDS seconds.
PUMICE_CC names the C compiler of the device cpu, PUMICE_NVRTC the compiler of CUDA, PUMICE_NVRTC_FLAGS and PUMICE_OPENCL_FLAGS add flags to those of CUDA and OpenCL. NO_COLOR turns colours off.

PUMICE_PROFILE names a file for a trace of what the host and the device do, which Perfetto and chrome://tracing open. RUST_LOG says
what is logged on standard error: pumice=info, pumice=debug, pumice::transfer=debug, …";

/// Pumice: a functional array language for GPUs and CPUs, embedded in Rust and by itself.
///
/// Commands that take a `.pum` file or the name of something built in are about the file wherever a word ends in `.pum`.
#[derive(Parser)]
#[command(name = "pumice", version, after_help = DEVICES)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What there is to do. The first line of a comment is the command's line in the list of all.
#[derive(Subcommand)]
pub enum Command {
    /// Print the types of the functions of `.pum` files, or what is wrong with them.
    Check(pum::check::Arguments),
    /// Lay out `.pum` files in place.
    Fmt(pum::fmt::Arguments),
    /// Run the cases in the documentation of `.pum` files: `-- >>> expression`, and on the lines below what it gives.
    Test(pum::cases::Arguments),
    /// Make a page of HTML of the documentation of a `.pum` file, or of the language's own functions.
    Doc(pum::doc::Arguments),
    /// Run a function of a `.pum` file, or a kernel-language program once to see that it is right.
    Run(pum::run::Arguments),
    /// Answer definitions and expressions of the `.pum` language as they are typed; `:help` there shows more.
    Repl(repl::Arguments),
    /// Print what a function of a `.pum` file gives and costs by the rules of its semantics, by level and by line.
    Cost(pum::cost::Arguments),
    /// Print what a function of a `.pum` file, a built-in example or a kernel-language program becomes.
    Emit(emit::Arguments),
    /// Say what is launched and kept in memory for a function of a `.pum` file or a built-in example, and why; --run also how long it takes.
    Explain(explain::Arguments),
    /// Print what each kernel of a function or of a kernel-language program costs on a GPU, line by line.
    Simulate(simulate::Arguments),
    /// Find the numbers with which a program runs fastest, and keep them for this device.
    Tune(tune::Arguments),
    /// Measure how fast programs run.
    Bench(bench::Arguments),
    /// Run whole programs: launches, bytes and times, as a table in Markdown.
    Programs(programs::Arguments),
    /// Say which devices work here, and why the others do not.
    Doctor,
    /// Run the conformance suite; the last line is `N passed, N failed`.
    Selftest(selftest::Arguments),
    /// Run random programs, and keep what fails as a file.
    Random(random::Arguments),
    /// Make a library for C, Python or Rust of the functions of a `.pum` file.
    Build(pum::build::Arguments),
    /// Serve an editor: the language server of `.pum` files, at standard input and output.
    Lsp(LspArguments),
    /// Show or remove what is kept in the folder of compiled kernels.
    Cache(cache::Arguments),
    /// Print a file that completes command lines in a shell.
    Completions(manual::CompletionsArguments),
    /// Print the manual page, or write the pages of all commands.
    Man(manual::ManArguments),
    /// Print the version.
    Version,
}

/// What `pumice lsp` takes.
#[derive(clap::Args)]
pub struct LspArguments {
    /// For editors that say so to servers which know other ways: there is no other here.
    #[arg(long)]
    stdio: bool,
}

/// The request that a command line makes.
pub enum Asked {
    /// To carry out a command.
    Do(Command),
    /// To print this: help or the version.
    Print(String),
}

/// Parses the words after the program's name.
pub fn read(words: impl Iterator<Item = OsString>) -> Result<Asked> {
    let words = std::iter::once("pumice".into()).chain(words.map(protected));
    match CommandLine::try_parse_from(words) {
        Ok(line) => Ok(Asked::Do(line.command)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Asked::Print(error.to_string())),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Err(Error::Usage(format!("no command is given\n\n{error}")))
            }
            _ => Err(Error::Usage(message(&error))),
        },
    }
}

/// Puts a blank before a word that begins as a signed expression does, `-1.5` or `-(1 + x)`: `clap` would take it for an option
/// otherwise. Options begin with a letter.
fn protected(word: OsString) -> OsString {
    let is_signed = |text: &str| {
        let behind = text.strip_prefix('-').and_then(|behind| behind.chars().next());
        behind.is_some_and(|first| first != '-' && !first.is_alphabetic())
    };
    match word.to_str() {
        Some(text) if is_signed(text) => format!(" {text}").into(),
        _ => word,
    }
}

/// Returns `clap`'s message without the prefix and the hint that all our messages have.
fn message(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let text = text.split("\n\nFor more information").next().unwrap_or(text);
    text.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn all_commands_are_declared_rightly() {
        CommandLine::command().debug_assert();
    }

    fn call(words: &[&str]) -> pum::run::Arguments {
        let all = std::iter::once("run").chain(words.iter().copied());
        match read(all.map(OsString::from)) {
            Ok(Asked::Do(Command::Run(arguments))) => arguments,
            Ok(_) => panic!("another command"),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn options_and_words_come_in_any_order_and_numbers_have_signs() {
        let call = call(&["f.pum", "-1.5", "--entry=g", "-(2 + x)", "--device", "cpu", "-1i32"]);
        assert_eq!(call.subject.words(), ["f.pum", "-1.5", "-(2 + x)", "-1i32"]);
        assert_eq!(call.subject.entry(), "g");
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |words: &[&str], part: &str| {
            let message = read(words.iter().map(OsString::from)).err().map(|error| error.to_string());
            let message = message.unwrap_or_default();
            assert!(message.contains(part), "{words:?}: {message}");
        };
        wrong(&["bench", "--devise", "cpu"], "unexpected argument '--devise' found");
        wrong(&["bench", "--devise", "cpu"], "a similar argument exists: '--device'");
        wrong(&["bench", "--device"], "a value is required for '--device <DEVICE>'");
        wrong(&["bench", "--quick=yes"], "unexpected value 'yes' for '--quick'");
        wrong(&["bench", "--quick", "--quick"], "cannot be used multiple times");
        wrong(&["run", "f.pum", "-x"], "unexpected argument '-x' found");
    }
}
