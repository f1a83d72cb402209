//! The `pumice` command: checks, runs, measures and explains programs, and examines the devices of this machine.
//!
//! It only calls the layers below and prints. Standard output is for people and scripts; progress
//! goes to standard error, and only on a terminal. It may not panic on anything that a user can type.

#![forbid(unsafe_code)]

mod bench;
mod cache;
mod command_line;
mod device;
mod doctor;
mod emit;
mod error;
mod explain;
mod manual;
mod programs;
mod progress;
mod pum;
mod random;
mod repl;
mod selftest;
mod simulate;
mod subject;
mod target;
mod temporary;
mod tune;

use command_line::{Asked, Command};
use error::{Error, Result};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

/// Exit code that a shell reports for a program stopped by a closed pipe.
const PIPE_CLOSED: u8 = 128 + 13;

fn main() -> ExitCode {
    log();
    match run(std::env::args_os().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::from(PIPE_CLOSED),
        Err(error) => {
            error.tell();
            ExitCode::from(error.exit_code())
        }
    }
}

/// Writes the log that `RUST_LOG` asks for to standard error.
fn log() {
    let Ok(wanted) = std::env::var("RUST_LOG") else { return };
    let targets: Targets = match wanted.parse() {
        Ok(targets) => targets,
        Err(error) => {
            let _ = writeln!(
                std::io::stderr(),
                "pumice: RUST_LOG: `{wanted}` is no list of targets and levels: {error}"
            );
            return;
        }
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(lines.with_filter(targets)).init();
}

fn run(words: impl Iterator<Item = OsString>) -> Result<()> {
    match command_line::read(words)? {
        Asked::Print(text) => print(&text),
        Asked::Do(command) => command.run(),
    }
}

impl Command {
    fn run(self) -> Result<()> {
        match self {
            Command::Check(arguments) => pum::check::run(&arguments),
            Command::Fmt(arguments) => pum::fmt::run(&arguments),
            Command::Test(arguments) => pum::cases::run(&arguments),
            Command::Doc(arguments) => pum::doc::run(&arguments),
            Command::Run(arguments) => pum::run::run(&arguments),
            Command::Repl(arguments) => repl::run(&arguments),
            Command::Cost(arguments) => pum::cost::run(&arguments),
            Command::Emit(arguments) => emit::run(&arguments),
            Command::Explain(arguments) => explain::run(&arguments),
            Command::Simulate(arguments) => simulate::run(&arguments),
            Command::Tune(arguments) => tune::run(&arguments),
            Command::Bench(arguments) => bench::run(&arguments),
            Command::Programs(arguments) => programs::run(&arguments),
            Command::Doctor => doctor::run(),
            Command::Selftest(arguments) => selftest::run(&arguments),
            Command::Random(arguments) => random::run(&arguments),
            Command::Build(arguments) => pum::build::run(&arguments),
            Command::Lsp(_) => pumice_lsp::serve_stdio().map_err(|error| Error::Failed(error.to_string())),
            Command::Cache(arguments) => cache::run(&arguments),
            Command::Completions(arguments) => manual::completions(&arguments),
            Command::Man(arguments) => manual::man(&arguments),
            Command::Version => print(&format!("pumice {}\n", env!("CARGO_PKG_VERSION"))),
        }
    }
}

/// Writes to standard output. `print!` would panic on a closed pipe.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
