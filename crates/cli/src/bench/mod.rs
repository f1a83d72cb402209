//! `pumice bench`: how long workloads take on a device, and what that is in bytes a second.
//!
//! Inputs lie on the device and kernels are compiled before anything is timed, and every result is checked against
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

use crate::error::{Error, Result};
use crate::options::Options;
use crate::print;
use crate::progress::Progress;
use pumice::Compiler;
use pumice::layers::runtime::{default_device, open};
use row::Row;
use timing::Timing;
use workloads::{Sizes, Workload};

/// Measures the workloads of a device.
pub fn run(options: &Options) -> Result<()> {
    let device = options.value("--device").map_or_else(default_device, open)?;
    if options.has("--first-run") {
        return first_run::run(&device);
    }
    let quick = options.has("--quick");
    let sizes = match (device.name().kind(), quick) {
        ("sim", _) => {
            let reason =
                "`sim` executes threads one by one to find mistakes: it has no speed that could be measured";
            return Err(Error::Usage(format!("{reason}; choose cpu, opencl or cuda by --device")));
        }
        (_, true) => Sizes::quick(),
        ("cuda", false) => Sizes::gpu(),
        (_, false) => Sizes::cpu(),
    };
    let filter = options.value("--filter").unwrap_or_default();
    let mut all = workloads::workloads(&sizes, filter.starts_with("expand"));
    // The programs' sizes are a GPU's.
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
    if let Some(file) = options.value("--json") {
        std::fs::write(file, row::to_json(&rows))
            .map_err(|error| Error::Failed(format!("cannot write {file}: {error}")))?;
    }
    if failed == 0 { Ok(()) } else { Err(Error::Failed(format!("{failed} workloads failed"))) }
}
