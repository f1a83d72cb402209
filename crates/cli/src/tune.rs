//! `pumice tune`: finds the numbers with which a program runs fastest on a device, and keeps them; functions of files are in `pum/tune.rs`.

use crate::device::DeviceOption;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::pum::tune::{Vary, parse_vary};
use crate::subject::{Subject, only};
use crate::{print, pum, simulate};
use pumice::Compiler;
use pumice::tune::{Choice, Strategy, Tuned, kept_in, tune};
use pumice_algorithms::{Prepared, Program, Settings};
use std::fmt::Write as _;

/// Runs of a choice before it is timed.
pub const WARM_UP_RUNS: usize = 2;

/// Number of choices that a strategy which does not try all of them starts with.
const TRIES: usize = 16;

/// What `pumice tune` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    pub subject: Subject,
    #[command(flatten)]
    pub device: DeviceOption,
    /// Values to try for an integer parameter of a file's function, such as chunk=256,512. Give no argument for it; several parameters
    /// take an option each.
    #[arg(long, value_name = "NAME=N,N...", value_parser = parse_vary)]
    pub vary: Vec<Vary>,
    /// A kernel-language program, for about this size.
    #[arg(long, value_name = "N")]
    n: Option<usize>,
    /// Which choices are tried.
    #[arg(long, value_enum, default_value_t)]
    pub strategy: StrategyName,
}

/// A strategy, with numbers that suit a command.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub enum StrategyName {
    /// All of them.
    #[default]
    Exhaustive,
    /// Some, drawn at random.
    Random,
    /// From some to their best neighbours, as long as those are better.
    HillClimb,
}

impl StrategyName {
    /// Returns the tuner's strategy of this name.
    pub fn strategy(self) -> Strategy {
        let seed = 1;
        match self {
            StrategyName::Exhaustive => Strategy::Exhaustive,
            StrategyName::Random => Strategy::Random { tries: TRIES, seed },
            StrategyName::HillClimb => Strategy::HillClimb { restarts: TRIES / 4, seed },
        }
    }
}

/// Tunes the program that the command line names.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.subject.is_file() {
        only("--n", arguments.n.is_some(), "kernel-language programs")?;
        return pum::tune::run(arguments);
    }
    only("--vary", !arguments.vary.is_empty(), "functions of `.pum` files")?;
    let program = simulate::chosen(arguments.subject.built_in()?)?;
    if program.tunable.is_empty() {
        return Err(Error::Usage(format!("there is nothing to choose about {}", program.name)));
    }
    let compiler = arguments.device.compiler()?;
    let size = match arguments.n {
        Some(_) => simulate::size(arguments.n, &program)?,
        None => *program.large.last().unwrap_or(&program.small),
    };
    let strategy = arguments.strategy.strategy();
    let space = program.space(size);
    let mut progress = Progress::new();
    let mut number = 0;
    // A choice is timed several times in a row; it is prepared once.
    let mut current: Option<(Choice, Box<dyn Prepared>)> = None;
    let tuned = tune(&compiler, program.name, &space, strategy, |choice| {
        let prepared = match &mut current {
            Some((known, prepared)) if known == choice => prepared,
            other => {
                let of = usize::try_from(space.len()).unwrap_or(usize::MAX);
                progress.step(number, of, &choice.to_string());
                number += 1;
                &mut other.insert((choice.clone(), prepare(&compiler, &program, size, choice)?)).1
            }
        };
        compiler.time(|| prepared.run())
    })?;
    progress.clear();
    let kept = kept_in(&compiler, program.name, &space);
    let kept = kept.map_or("nowhere".into(), |file| file.display().to_string());
    print(&format!(
        "{}, n = {size}, on {}\n{}kept in {kept}\n",
        program.name,
        compiler.device().name(),
        table(&tuned)
    ))
}

/// Prepares the program with this choice and warms it up; a wrong result is an error like any other.
fn prepare(
    compiler: &Compiler,
    program: &Program,
    size: usize,
    choice: &Choice,
) -> pumice::Result<Box<dyn Prepared>> {
    let mut prepared = (program.prepare)(compiler, size, &Settings::chosen(program.tunable, choice))?;
    prepared.run()?;
    prepared
        .check()?
        .map_err(|wrong| pumice::Error::Invalid(format!("{} is wrong: {wrong}", program.name).into()))?;
    (0..WARM_UP_RUNS).try_for_each(|_| prepared.run())?;
    Ok(prepared)
}

/// Returns the measurements as a table, fastest first.
pub fn table(tuned: &Tuned) -> String {
    let mut measurements: Vec<_> = tuned.measurements.iter().collect();
    measurements.sort_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds));
    let mut text = String::new();
    for measurement in measurements {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:>12.4} ms  {}", measurement.milliseconds, measurement.choice);
    }
    if tuned.infeasible > 0 {
        let _ = writeln!(text, "{} choices cannot be run here", tuned.infeasible);
    }
    text
}
