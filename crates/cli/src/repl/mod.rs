//! `pumice repl`: definitions and expressions are typed and answered one after the other.
//!
//! A text is read (`entry.rs`), checked with all that was typed before (`session.rs`), run (`machine.rs`) and answered with text
//! (`answer.rs`, `perform.rs` for commands, `show.rs` for values). Entries come from a person at a terminal (`terminal.rs`) or from a file. For
//! a file, answers are printed one after the other, and the exit code says whether every entry succeeded.

mod answer;
mod command;
mod entry;
mod kept;
mod machine;
mod names;
mod perform;
mod picture;
mod plot;
mod session;
mod show;
mod terminal;
mod trouble;

use crate::device::DeviceOption;
use crate::error::{Error, Result};
use crate::print;
use crate::pum::file::no_colours;
use answer::{Answer, Repl, Screen};
use entry::{Progress, progress};
use machine::Machine;
use std::io::{BufRead, IsTerminal, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Limit on the bytes of a line.
const MOST_BYTES: u64 = 1 << 24;

/// The screen where there is no terminal.
const PLAIN: Screen = Screen { colours: false, width: 80, height: 24 };

/// The exit code of a process that was stopped by Ctrl-C.
const STOPPED: i32 = 128 + signal_hook::consts::SIGINT;

/// What `pumice repl` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// A file whose functions are there from the beginning.
    #[arg(value_name = "FILE.pum")]
    file: Option<String>,
    #[command(flatten)]
    device: DeviceOption,
}

/// Runs a session, and loads a file first if one is named.
pub fn run(arguments: &Arguments) -> Result<()> {
    let stopped = Arc::new(AtomicBool::new(false));
    let machine = Machine::new(arguments.device.name(), stopped.clone())?;
    let mut repl = Repl::new(machine).map_err(|trouble| Error::Failed(trouble.render(false)))?;
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let screen = Screen { colours: is_terminal && !no_colours(), ..PLAIN };
    if is_terminal {
        let (version, device) = (env!("CARGO_PKG_VERSION"), repl.machine.name());
        print(&format!("Pumice {version} on {device}. `:help` shows what there is; Ctrl-D leaves.\n"))?;
    }
    let mut all_went_well = true;
    if let Some(file) = &arguments.file {
        match repl.load(file, screen) {
            Ok(text) => print(&text)?,
            Err(trouble) => {
                all_went_well = false;
                print(&trouble.render(screen.colours))?;
            }
        }
    }
    if !is_terminal {
        return follow(repl, &mut std::io::stdin().lock(), all_went_well);
    }
    stop_on_signal(&stopped)
        .map_err(|error| Error::Failed(format!("Ctrl-C cannot be listened to: {error}")))?;
    terminal::converse(repl)
}

/// Makes Ctrl-C request cancellation of a run. A second one during the same run ends the process.
fn stop_on_signal(stopped: &Arc<AtomicBool>) -> std::io::Result<()> {
    use signal_hook::{consts::SIGINT, flag};
    flag::register_conditional_shutdown(SIGINT, STOPPED, stopped.clone())?;
    flag::register(SIGINT, stopped.clone())?;
    Ok(())
}

/// Answers the entries of a file or a pipe.
fn follow(mut repl: Repl, input: &mut dyn BufRead, mut all_went_well: bool) -> Result<()> {
    let mut pending = String::new();
    loop {
        let line = next_line(input)?;
        // An entry that is open continues on lines that are indented, and on arms of a `case`.
        let goes_on = |line: &str| line.trim().is_empty() || line.starts_with([' ', '\t', '|']);
        let is_open = progress(&pending) == Progress::Open;
        if is_open && !line.as_deref().is_some_and(goes_on) {
            all_went_well &= answered(&mut repl, &std::mem::take(&mut pending))?.unwrap_or(true);
        }
        let Some(line) = line else { break };
        if !pending.is_empty() {
            pending.push('\n');
        }
        pending.push_str(&line);
        if progress(&pending) != Progress::Complete {
            continue;
        }
        match answered(&mut repl, &std::mem::take(&mut pending))? {
            Some(went_well) => all_went_well &= went_well,
            None => break,
        }
    }
    if !pending.trim().is_empty() {
        all_went_well &= answered(&mut repl, &pending)?.unwrap_or(true);
    }
    if all_went_well { Ok(()) } else { Err(Error::Told) }
}

/// Prints an answer; returns whether it succeeded, or `None` at the end of the session.
fn answered(repl: &mut Repl, typed: &str) -> Result<Option<bool>> {
    match repl.answer(typed, PLAIN) {
        Answer::Done(text) => print(&text).map(|()| Some(true)),
        Answer::Failed(text) => print(&text).map(|()| Some(false)),
        Answer::Quit => Ok(None),
    }
}

fn next_line(input: &mut dyn BufRead) -> Result<Option<String>> {
    let mut line = String::new();
    let failed = |error: std::io::Error| Error::Failed(format!("cannot read standard input: {error}"));
    let count = input.take(MOST_BYTES).read_line(&mut line).map_err(failed)?;
    let line = line.trim_end_matches(['\n', '\r']).to_string();
    Ok((count > 0).then_some(line))
}
