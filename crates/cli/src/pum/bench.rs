//! `pumice bench FILE.pum`: times of functions of a file, and their bytes per second. It times a call of the command
//! line, or each `-- bench: f arguments` of the file's documentation.

use super::call::{Written, written};
use super::measured::Prepared;
use super::{cases, file, lower, tune};
use crate::bench::Arguments;
use crate::bench::timing::{Spread, Timing};
use crate::error::{Error, Result};
use crate::print;
use crate::progress::Progress;
use crate::subject::only;
use pumice::Compiler;
use pumice_lang::cases::benches;
use pumice_lang::source::Source;
use serde_json::{Value, json};

/// A call to time.
struct Bench {
    /// Line of the file, if the call is in its documentation.
    line: Option<u32>,
    call: Written,
    /// The call as it was typed.
    shown: String,
    block_size: Option<u32>,
}

/// Times calls and prints a row for each.
pub fn run(arguments: &Arguments) -> Result<()> {
    let subject = &arguments.subject;
    let (path, words) = subject.file()?;
    only("--first-run", arguments.first_run, "the built-in workloads")?;
    let source = file::text(path)?;
    let compiler = Compiler::with(arguments.device.open_timed()?);
    let benches = match words.is_empty() && !subject.has_entry() {
        true => in_documentation(path, &source, &compiler, arguments)?,
        false => vec![on_command_line(path, &source, &words, &compiler, arguments)?],
    };
    let device = compiler.device().clone();
    print(&format!("{}: {}\n{HEADING}\n", device.name(), device.description()))?;
    let timing = Timing::new(compiler.clone(), arguments.quick);
    let (count, mut progress) = (benches.len(), Progress::new());
    let (mut rows, mut failed) = (Vec::new(), 0);
    for (number, Bench { line, call, shown, block_size }) in benches.into_iter().enumerate() {
        progress.step(number, count, &shown);
        let prepared = Prepared::new(path, &source, call, block_size, &compiler);
        let measured = prepared.and_then(|prepared| Ok((prepared.measure(&timing)?, prepared)));
        progress.clear();
        match measured {
            Ok((spread, prepared)) => {
                let row = Row { path, line, shown, block_size, spread, prepared };
                print(&format!("{}\n", row.line()))?;
                rows.push(row.as_json(device.name().kind()));
            }
            Err(error) => {
                failed += 1;
                let place = line.map_or(String::new(), |line| format!("{path}:{line}: "));
                print(&format!("FAILED {place}{shown}: {error}\n"))?;
            }
        }
    }
    if let Some(file) = &arguments.json {
        std::fs::write(file, format!("{:#}\n", Value::from(rows)))
            .map_err(|error| Error::Failed(format!("cannot write {file}: {error}")))?;
    }
    if failed == 0 { Ok(()) } else { Err(Error::Told) }
}

/// Returns the call that the command line describes.
fn on_command_line(
    path: &str,
    source: &str,
    words: &[&str],
    compiler: &Compiler,
    arguments: &Arguments,
) -> Result<Bench> {
    let subject = &arguments.subject;
    let size = arguments.size.map(|size| lower::size(Some(size))).transpose()?;
    let call = written(path, source, subject.entry(), words, size)?;
    let (shown, kept) = (call.text.clone(), tune::kept(compiler, subject)?);
    Ok(Bench { line: None, call, shown, block_size: subject.block_size().or(kept) })
}

/// Returns the calls to time in a file's documentation whose text contains the filter.
fn in_documentation(
    path: &str,
    source: &str,
    compiler: &Compiler,
    arguments: &Arguments,
) -> Result<Vec<Bench>> {
    only("--size", arguments.size.is_some(), "a function that is named by --entry")?;
    let program = file::checks(path, source, None)?.program;
    let module = program.modules.last().map(|loaded| loaded.module.clone()).unwrap_or_default();
    let mut found = Vec::new();
    for (first, docs) in cases::documentation(&module, &Source::new(path, source)) {
        for (line, text) in benches(docs).into_iter().filter(|(_, text)| text.contains(&arguments.filter)) {
            let entry = text.split([' ', '(', '[']).next().unwrap_or_default();
            let kept = tune::kept_of(compiler, path, entry);
            let line = first + line as u32;
            let name = format!("{path}, call in line {line}");
            let call = Written { name, text: text.to_string(), given: Vec::new() };
            let block_size = arguments.subject.block_size().or(kept);
            found.push(Bench { line: Some(line), call, shown: text.to_string(), block_size });
        }
    }
    if found.is_empty() {
        let how = "write `-- bench: f arguments` above a function, or name one by --entry";
        let which = match arguments.filter.is_empty() {
            true => String::new(),
            false => format!(" with `{}` in it", arguments.filter),
        };
        return Err(Error::Usage(format!("{path} has no call to time{which}; {how}")));
    }
    Ok(found)
}

const HEADING: &str = "call                                      arguments      results    median ms            quartiles         speed";

/// Measurement of a call.
struct Row<'a> {
    path: &'a str,
    line: Option<u32>,
    shown: String,
    block_size: Option<u32>,
    spread: Spread,
    prepared: Prepared,
}

impl Row<'_> {
    fn line(&self) -> String {
        let Row { shown, spread, prepared, .. } = self;
        let (arguments, results) = (megabytes(prepared.argument_bytes), megabytes(prepared.result_bytes));
        let quartiles = format!("{:.4} to {:.4}", spread.low, spread.high);
        let speed = format!("{:.2} GB/s", self.speed());
        format!(
            "{:<38} {arguments:>12} {results:>12} {:>12.4} {quartiles:>20} {speed:>13}",
            shortened(shown, 38),
            spread.median
        )
    }

    /// Returns the bytes of arguments and results per median time, in 10⁹ bytes per second.
    fn speed(&self) -> f64 {
        (self.prepared.argument_bytes + self.prepared.result_bytes) as f64 / self.spread.median / 1e6
    }

    fn as_json(&self, device: &str) -> Value {
        let Row { spread, prepared, .. } = self;
        json!({
            "file": self.path, "line": self.line, "call": self.shown, "device": device, "block_size": self.block_size,
            "argument_bytes": prepared.argument_bytes, "result_bytes": prepared.result_bytes,
            "runs": spread.runs, "median_ms": spread.median, "low_ms": spread.low, "high_ms": spread.high,
            "gb_per_s": self.speed(),
        })
    }
}

fn megabytes(bytes: usize) -> String {
    format!("{:.3} MB", bytes as f64 / 1e6)
}

/// Shortens a text to at most `most` characters.
fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_string(),
    }
}
