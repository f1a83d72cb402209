//! `pumice programs`: the whole programs of `pumice-algorithms`, each at one size: how many kernels a run launches, how many bytes it
//! moves, and how long it takes, as a table in Markdown. Every result is checked against plain Rust.
//!
//! Rows of other devices are read from files, so that one table shows what was measured on several machines.

mod irregular;
mod subject;
mod table;
mod whole;

use crate::bench::timing::Timing;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::print;
use crate::progress::Progress;
use pumice::Compiler;
use pumice::layers::runtime::{Device, default_device, open};
use std::process::{Command, Stdio};
use std::sync::Arc;
use subject::{Found, Subject};
use table::Row;

/// A program at one size.
pub struct Entry {
    /// What it is called.
    name: &'static str,
    /// Its size, for people.
    size: String,
    /// Makes inputs, checks the result, and finds out what the subject asks for.
    examine: Box<dyn Fn(&Subject) -> Found>,
}

impl Entry {
    fn new(name: &'static str, size: String, examine: impl Fn(&Subject) -> Found + 'static) -> Entry {
        Entry { name, size, examine: Box::new(examine) }
    }
}

/// Measures the programs, or puts together what was measured before.
pub fn run(options: &Options) -> Result<()> {
    let filter = options.value("--filter").unwrap_or_default();
    let mut rows = Vec::new();
    if options.value("--device").is_some() || options.value("--with").is_none() {
        let device = options.value("--device").map_or_else(default_device, open)?;
        let quick = options.has("--quick");
        let mut entries = whole::entries(quick);
        entries.extend(irregular::entries(quick));
        entries.retain(|entry| entry.name.contains(filter));
        if entries.is_empty() {
            return Err(Error::Usage(format!("no program has a name that contains `{filter}`")));
        }
        if options.has("--launches") {
            let rows = examined(&entries, &device, &Subject::counting(device.clone()))?;
            return print(&table::to_json(&rows));
        }
        if device.name().kind() == "sim" {
            let reason = "`sim` has no speed that could be measured";
            return Err(Error::Usage(format!("{reason}; choose another --device, or --launches")));
        }
        let counted = counted(options, &device)?;
        let timing = Timing::new(Compiler::with(device.clone()), quick);
        rows = examined(&entries, &device, &Subject::timing(timing))?;
        for row in &mut rows {
            let other =
                counted.iter().find(|other| (&other.program, &other.size) == (&row.program, &row.size));
            (row.launches, row.kernel_bytes) = other.map_or((None, None), |o| (o.launches, o.kernel_bytes));
        }
        if let Some(file) = options.value("--json") {
            std::fs::write(file, table::to_json(&rows))
                .map_err(|error| Error::Failed(format!("cannot write {file}: {error}")))?;
        }
    }
    for file in options.value("--with").unwrap_or_default().split(',').filter(|file| !file.is_empty()) {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Error::Failed(format!("cannot read {file}: {error}")))?;
        let others = table::from_json(&text).map_err(|error| Error::Failed(format!("{file}: {error}")))?;
        rows.extend(others.into_iter().filter(|row| row.program.contains(filter)));
    }
    print(&table::markdown(&rows))
}

/// What a subject finds out about each program; an error if one is wrong.
fn examined(entries: &[Entry], device: &Arc<dyn Device>, subject: &Subject) -> Result<Vec<Row>> {
    let (mut progress, mut rows, mut failed) = (Progress::new(), Vec::new(), Vec::new());
    for (number, entry) in entries.iter().enumerate() {
        progress.step(number, entries.len(), entry.name);
        match (entry.examine)(subject) {
            Ok(facts) => rows.push(Row::new(entry.name, &entry.size, device.name().kind(), facts)),
            Err(message) => failed.push(format!("{}: {message}", entry.name)),
        }
    }
    progress.clear();
    if failed.is_empty() { Ok(rows) } else { Err(Error::Failed(failed.join("\n"))) }
}

/// What another process counts of the same programs: a device that counts is in the way of one that is fast.
fn counted(options: &Options, device: &Arc<dyn Device>) -> Result<Vec<Row>> {
    let failed = |reason: String| Error::Failed(format!("launches cannot be counted: {reason}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["programs", "--launches", "--device", &device.name().to_string()]);
    command.args(options.value("--filter").map(|filter| format!("--filter={filter}")));
    command.args(options.has("--quick").then_some("--quick"));
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    table::from_json(&String::from_utf8_lossy(&output.stdout)).map_err(failed)
}
