//! `pumice bench`: times of workloads on a device, and their bytes per second; calls of files are in `pum/bench.rs`.
//!
//! Inputs are on the device and kernels are compiled before anything is timed, and every result is checked against
//! plain Rust first. `benches/peers` measures the same workloads by other means: names, inputs and fields are the same
//! to the letter, and neither may change without the other.

mod expansions;
mod fcl;
mod first_run;
mod inputs;
mod irregular;
mod matrices;
mod neighbours;
mod nested;
mod overheads;
mod programs;
pub(crate) mod reference;
mod row;
mod sorting;
mod sparse;
mod streams;
mod tables;
pub(crate) mod timing;
mod workloads;

use crate::device::DeviceOption;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::subject::{Subject, only};
use crate::{print, pum};
use pumice::Compiler;
use row::Row;
use timing::Timing;
use workloads::{Sizes, Workload};

/// What `pumice bench` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    pub subject: Subject,
    #[command(flatten)]
    pub device: DeviceOption,
    /// Only workloads whose name contains this; of a file only calls whose text does.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub filter: String,
    /// Write the rows as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Small sizes and few runs, to see that everything works.
    #[arg(long)]
    pub quick: bool,
    /// Instead of the workloads, run a program of 20 kernels once: its milliseconds, and kernels found on disk.
    #[arg(long)]
    pub first_run: bool,
    /// Arrays that are not given to a file's function have this length along each dimension, all zero, and integers are this.
    #[arg(long, value_name = "N")]
    pub size: Option<usize>,
}

/// Measures the calls of a file, or the workloads of a device.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.subject.is_file() {
        return pum::bench::run(arguments);
    }
    if let Some(word) = arguments.subject.built_in()? {
        return Err(Error::Usage(format!(
            "`{word}` is no `.pum` file; --filter chooses among the workloads"
        )));
    }
    only("--size", arguments.size.is_some(), "functions of `.pum` files")?;
    let Arguments { quick, filter, .. } = arguments;
    let quick = *quick;
    if arguments.first_run {
        return first_run::run(&arguments.device.open()?);
    }
    let device = arguments.device.open_timed()?;
    let sizes = match (device.name().kind(), quick) {
        (_, true) => Sizes::quick(),
        ("cuda", false) => Sizes::gpu(),
        (_, false) => Sizes::cpu(),
    };
    let all_ways = ["expand", "sieve"].iter().any(|compared| filter.starts_with(compared));
    let mut all = workloads::workloads(&sizes, all_ways);
    // The sizes of the kernel-language programs suit a GPU.
    all.extend(workloads::programs_in_sizes(quick || device.name().kind() != "cuda"));
    let chosen: Vec<&Workload> = all.iter().filter(|workload| workload.name.contains(filter)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = all.iter().map(|workload| workload.name.as_str()).collect();
        let names = names.join("\n  ");
        return Err(Error::Usage(format!(
            "no workload has a name that contains `{filter}`; there are\n  {names}"
        )));
    }

    print(&format!("{}: {}\n{}\n", device.name(), device.description(), row::HEADING))?;
    let mut progress = Progress::new();
    let (mut rows, mut failed) = (Vec::new(), 0);
    for (number, workload) in chosen.iter().enumerate() {
        for &fast_math in workload.fast_math {
            let plain = workload.implementation.unwrap_or("Pumice");
            let implementation = if fast_math { "Pumice, fast math" } else { plain };
            progress.step(number, chosen.len(), &format!("{} ({implementation})", workload.name));
            let compiler = Compiler::with(device.clone()).fast_math(fast_math);
            let measured = workload.measure(&Timing::new(compiler, quick));
            progress.clear();
            match measured {
                Ok(measured) => {
                    let row = Row::new(workload, device.name().kind(), implementation, measured);
                    print(&format!("{}\n", row.line()))?;
                    rows.push(row);
                }
                Err(message) => {
                    failed += 1;
                    print(&format!("FAILED {} ({implementation}): {message}\n", workload.name))?;
                }
            }
        }
    }
    if let Some(file) = &arguments.json {
        std::fs::write(file, row::to_json(&rows))
            .map_err(|error| Error::Failed(format!("cannot write {file}: {error}")))?;
    }
    if failed == 0 { Ok(()) } else { Err(Error::Failed(format!("{failed} workloads failed"))) }
}
