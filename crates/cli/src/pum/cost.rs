//! `pumice cost`: evaluates a function of a file by the rules of the language's semantics, and prints what it gives and costs. No
//! device and nothing that is compiled is asked.

use super::call::{BLOCK_SIZE, Given, gives_function, written};
use super::file::{Checks, Wrong, checks, text};
use crate::error::{Error, Result};
use crate::print;
use crate::subject::Subject;
use pumice::layers::array::ArrayData;
use pumice_lang::meaning::{Costs, Counts, Evaluated, MeaningOptions, evaluate};
use pumice_lang::program::{EXPRESSION, Expression};
use pumice_lang::show::{show, show_briefly};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;

/// What `pumice cost` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: Subject,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Evaluates the function that the command line names.
pub fn run(arguments: &Arguments) -> Result<()> {
    let subject = &arguments.subject;
    let (path, words) = subject.file()?;
    let source = text(path)?;
    let written = written(path, &source, subject.entry(), &words, None)?;
    let (names, given): (Vec<String>, Vec<Given>) = written.given.into_iter().unzip();
    let expression = Expression { name: &written.name, parameters: &names, text: &written.text, start: 0 };
    let Checks { program, checked } = checks(path, &source, Some(expression))?;
    let lost = || Error::Failed("the expression got lost: that is a fault of Pumice".to_string());
    let entry = checked.entry(EXPRESSION).ok_or_else(lost)?;
    let array = |given| match given {
        Given::File(array) => Some(Arc::new(array) as Arc<dyn ArrayData>),
        Given::Computed(_) | Given::Size(_) => None,
    };
    let arrays: Vec<Arc<dyn ArrayData>> = given.into_iter().filter_map(array).collect();
    let block_size = subject.block_size().unwrap_or(BLOCK_SIZE);
    let machine = MeaningOptions { block_size, ..MeaningOptions::default() };
    let Evaluated { result, arrays, costs } =
        evaluate(&program, &checked, entry, &arrays, machine).map_err(|error| Wrong::of(&program, error))?;
    if matches!(result, pumice_lang::types::Type::Function(..)) {
        return Err(gives_function());
    }
    let arrays: Vec<Arc<dyn ArrayData>> = arrays.into_iter().map(|array| Arc::new(array) as _).collect();
    if arguments.json {
        let text = show(&result, &arrays, checked.sums()).map_err(pumice::Error::from)?;
        return print(&format!("{:#}\n", to_json(&text, block_size, &costs)));
    }
    let text = show_briefly(&result, &arrays, checked.sums()).map_err(pumice::Error::from)?;
    print(&format!("{text}\n\n{}", tables(block_size, &costs)))
}

/// The costs for people.
fn tables(block_size: u32, costs: &Costs) -> String {
    let Costs { steps, work, administrative, .. } = costs;
    // Writing to a String cannot fail.
    let mut text = format!(
        "{steps} parallel steps, {work} steps of all threads, {administrative} when it is built; blocks of {block_size} threads\n\n"
    );
    let _ = writeln!(text, "{:<30}{}{:>12}{:>12}{:>12}", "level", HEADING, "bytes", "busy", "idle");
    for level in &costs.levels {
        let (name, numbers) = (level.level.name(), line(&level.counts));
        let _ = writeln!(text, "{name:<30}{numbers}{:>12}{:>12}{:>12}", level.memory, level.busy, level.idle);
    }
    let _ = writeln!(text, "\n{:<30}{HEADING}", "line and level");
    for costs in &costs.lines {
        let place = format!("{}:{} {}", costs.file, costs.line, costs.level.name());
        let _ = writeln!(text, "{place:<30}{}", line(&costs.counts));
    }
    text
}

const HEADING: &str = "        work      forces     written        read    barriers";

fn line(counts: &Counts) -> String {
    let Counts { work, forces, written, read, barriers } = counts;
    format!("{work:>12}{forces:>12}{written:>12}{read:>12}{barriers:>12}")
}

/// The costs for programs.
fn to_json(result: &str, block_size: u32, costs: &Costs) -> Value {
    let counts = |counts: &Counts| {
        json!({
            "work": counts.work,
            "forces": counts.forces,
            "written": counts.written,
            "read": counts.read,
            "barriers": counts.barriers,
        })
    };
    let levels = costs.levels.iter().map(|level| {
        let mut row = counts(&level.counts);
        row["level"] = level.level.name().into();
        row["bytes"] = level.memory.into();
        row["busy"] = level.busy.into();
        row["idle"] = level.idle.into();
        row
    });
    let lines = costs.lines.iter().map(|line| {
        let mut row = counts(&line.counts);
        row["file"] = line.file.as_str().into();
        row["line"] = line.line.into();
        row["level"] = line.level.name().into();
        row
    });
    json!({
        "result": result,
        "block_size": block_size,
        "steps": costs.steps,
        "work": costs.work,
        "administrative": costs.administrative,
        "levels": levels.collect::<Vec<_>>(),
        "lines": lines.collect::<Vec<_>>(),
    })
}
