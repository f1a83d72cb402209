//! `pumice programs`: the whole programs of `pumice-algorithms`, each at one size: how many kernels a run launches, how many bytes it
//! moves, and how long it takes, as a table in Markdown. Every result is checked against plain Rust.
//!
//! Rows of other devices are read from files, so that one table shows what was measured on several machines.

mod irregular;
mod subject;
mod table;
mod whole;

use crate::bench::timing::Timing;
use crate::device::DeviceOption;
use crate::error::{Error, Result};
use crate::print;
use crate::progress::Progress;
use pumice::Compiler;
use pumice::layers::runtime::Device;
use std::process::{Command, Stdio};
use std::sync::Arc;
use subject::{Found, Subject};
use table::Row;

/// A program at one size.
pub struct Entry {
    /// Its name.
    name: &'static str,
    /// Its size, as the table shows it.
    size: String,
    /// Makes inputs, checks the result, and determines the facts that the subject asks for.
    examine: Box<dyn Fn(&Subject) -> Found>,
}

impl Entry {
    fn new(name: &'static str, size: String, examine: impl Fn(&Subject) -> Found + 'static) -> Entry {
        Entry { name, size, examine: Box::new(examine) }
    }
}

/// What `pumice programs` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    device: DeviceOption,
    /// Only programs whose name contains this.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    filter: String,
    /// Write the rows as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Put rows of such files into the table, too; without --device only these.
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    with: Vec<String>,
    /// Only count launches and bytes, and print the rows as JSON.
    #[arg(long)]
    launches: bool,
    /// Small sizes and few runs, to see that everything works.
    #[arg(long)]
    quick: bool,
}

/// Measures the programs, or makes a table of earlier measurements.
pub fn run(arguments: &Arguments) -> Result<()> {
    let filter = arguments.filter.as_str();
    let mut rows = Vec::new();
    if arguments.device.name().is_some() || arguments.with.is_empty() {
        let device = arguments.device.open()?;
        let quick = arguments.quick;
        let mut entries = whole::entries(quick);
        entries.extend(irregular::entries(quick));
        entries.retain(|entry| entry.name.contains(filter));
        if entries.is_empty() {
            return Err(Error::Usage(format!("no program has a name that contains `{filter}`")));
        }
        if arguments.launches {
            let rows = examined(&entries, &device, &Subject::counting(device.clone()))?;
            return print(&table::to_json(&rows));
        }
        if device.name().kind() == "sim" {
            let reason = "`sim` has no speed that could be measured";
            return Err(Error::Usage(format!("{reason}; choose another --device, or --launches")));
        }
        let counted = counted(arguments, &device)?;
        let timing = Timing::new(Compiler::with(device.clone()), quick);
        rows = examined(&entries, &device, &Subject::timing(timing))?;
        for row in &mut rows {
            let other =
                counted.iter().find(|other| (&other.program, &other.size) == (&row.program, &row.size));
            if let Some(other) = other {
                (row.launches, row.kernel_bytes, row.most_bytes) =
                    (other.launches, other.kernel_bytes, other.most_bytes);
            }
        }
        if let Some(file) = &arguments.json {
            std::fs::write(file, table::to_json(&rows))
                .map_err(|error| Error::Failed(format!("cannot write {file}: {error}")))?;
        }
    }
    for file in arguments.with.iter().filter(|file| !file.is_empty()) {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Error::Failed(format!("cannot read {file}: {error}")))?;
        let others = table::from_json(&text).map_err(|error| Error::Failed(format!("{file}: {error}")))?;
        rows.extend(others.into_iter().filter(|row| row.program.contains(filter)));
    }
    print(&table::markdown(&rows))
}

/// Examines each program; an error if a result is wrong.
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

/// Counts the launches of the same programs in another process: a counting device would slow down a timed one.
fn counted(arguments: &Arguments, device: &Arc<dyn Device>) -> Result<Vec<Row>> {
    let failed = |reason: String| Error::Failed(format!("launches cannot be counted: {reason}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["programs", "--launches", "--device", &device.name().to_string()]);
    command.arg(format!("--filter={}", arguments.filter));
    command.args(arguments.quick.then_some("--quick"));
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    table::from_json(&String::from_utf8_lossy(&output.stdout)).map_err(failed)
}
