//! `pumice simulate`: the simulated cost of a kernel-language program on a GPU, line by line, after a check of its result; functions of
//! files are in `pum/lower.rs`.

use crate::device::DeviceOption;
use crate::error::{Error, Result};
use crate::print;
use crate::pum::lower;
use crate::subject::{Subject, only};
use pumice::Compiler;
use pumice::layers::kernel::Profile;
use pumice::layers::program::simulate::{PlaceCosts, Report};
use pumice::layers::runtime::devices::{Recorded, Sim};
use pumice_algorithms::{Program, Settings, programs};
use std::fmt::Write as _;
use std::sync::Arc;

/// What `pumice simulate` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    pub subject: Subject,
    /// A kernel-language program, for this size.
    #[arg(long, value_name = "N")]
    n: Option<usize>,
    /// Of a kernel-language program only sectors and bank conflicts, a line for each kernel.
    #[arg(long)]
    csv: bool,
}

/// Prints the costs of each kernel of the program that the command line names.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.subject.is_file() {
        only("--n", arguments.n.is_some(), "kernel-language programs")?;
        only("--csv", arguments.csv, "kernel-language programs")?;
        return lower::simulate(&arguments.subject);
    }
    let program = chosen(arguments.subject.built_in()?)?;
    let size = size(arguments.n, &program)?;
    let launches = launches(&program, size, Sim::gpu_profile())?;
    if arguments.csv {
        return print(&csv(&program, size, &launches));
    }
    let costs = costs(&launches);
    print(&format!("{}: {} (n = {size})\n{costs}\nright, and without a race\n", program.name, program.about))
}

/// Returns the costs of each kernel among some launches, line by line.
pub fn costs(launches: &[Recorded]) -> String {
    let mut text = String::new();
    for (name, count, report) in kernels(launches) {
        let times = if count == 1 { String::new() } else { format!(", {count} launches") };
        // Writing to a String cannot fail.
        let _ = write!(text, "\nkernel {name}{times}\n{report}");
    }
    if launches.is_empty() {
        text.push_str("nothing is launched\n");
    }
    text.push_str(&holes(launches));
    text
}

/// Returns a note for each launch that left elements of its result unwritten, with their number.
fn holes(launches: &[Recorded]) -> String {
    let note = |launch: &Recorded| {
        let (name, count) = (&launch.program.name, launch.unwritten);
        format!("\nnote: no thread of kernel {name} writes {count} elements of its result; they are zero\n")
    };
    launches.iter().filter(|launch| launch.unwritten > 0).map(note).collect()
}

/// Returns the costs of each kernel as a CSV line, for comparison with a profiler's counters.
fn csv(program: &Program, size: usize, launches: &[Recorded]) -> String {
    let mut text = String::from(
        "program,n,kernel,global load sectors,global store sectors,global atomic sectors,shared load conflicts,\
         shared store conflicts\n",
    );
    for (name, _, Report { costs, .. }) in kernels(launches) {
        let numbers = [
            costs.global_loads.sectors,
            costs.global_stores.sectors,
            costs.global_atomics.sectors,
            costs.shared_loads.conflicts,
            costs.shared_stores.conflicts,
        ];
        let numbers = numbers.map(|number| number.to_string()).join(",");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{size},{name},{numbers}", program.name);
    }
    text
}

/// Runs a program once on a device and checks it, for use under a profiler.
pub fn run_once(name: Option<&str>, n: Option<usize>, device: &DeviceOption) -> Result<()> {
    let program = chosen(name)?;
    let size = size(n, &program)?;
    let compiler = device.compiler()?;
    let mut prepared = (program.prepare)(&compiler, size, &Settings::defaults(program.tunable))?;
    prepared.run()?;
    prepared.check()?.map_err(|wrong| Error::Failed(format!("{} is wrong: {wrong}", program.name)))?;
    print(&format!("{}, n = {size}, on {}: right\n", program.name, compiler.device().name()))
}

/// Returns the program that the command line names.
pub fn chosen(name: Option<&str>) -> Result<Program> {
    let name = name.ok_or_else(|| Error::Usage(format!("name a program:\n{}", names())))?;
    find(name).ok_or_else(|| Error::Usage(format!("there is no program `{name}`; there are\n{}", names())))
}

/// Returns the program with this name.
pub fn find(name: &str) -> Option<Program> {
    programs().into_iter().find(|program| program.name == name)
}

/// Returns a list of the programs, one per line.
pub fn names() -> String {
    programs().iter().map(|program| format!("  {:<24}{}\n", program.name, program.about)).collect()
}

/// Largest accepted size, as a multiple of the largest size that is measured. Inputs are made in the host's
/// memory, and the process ends where that has no room for them.
const MOST_TIMES: usize = 8;

/// Returns the size that the command line asks for, or a small one.
pub fn size(n: Option<usize>, program: &Program) -> Result<usize> {
    let most = MOST_TIMES * program.large.iter().copied().max().unwrap_or(program.small);
    match n.unwrap_or(program.small) {
        size if size <= most => Ok(size),
        size => {
            let name = program.name;
            Err(Error::Usage(format!("--n is at most {most} for {name}, and {size} is more")))
        }
    }
}

/// Returns the launches of a program on a device with this profile, after checking its result.
pub fn launches(program: &Program, size: usize, profile: Profile) -> Result<Vec<Recorded>> {
    let sim = Arc::new(Sim::observing(profile));
    let compiler = Compiler::with(sim.clone());
    let mut prepared = (program.prepare)(&compiler, size, &Settings::defaults(program.tunable))?;
    // Launches that made inputs are not the program's.
    sim.forget();
    prepared.run()?;
    let recorded = sim.recorded();
    prepared.check()?.map_err(|wrong| Error::Failed(format!("{} is wrong: {wrong}", program.name)))?;
    Ok(recorded)
}

/// Returns the distinct kernels among the launches, in order, each with its number of launches and their total costs.
fn kernels(launches: &[Recorded]) -> Vec<(String, usize, Report)> {
    let mut kernels: Vec<(String, &str, usize, Report)> = Vec::new();
    let texts: Vec<String> = launches.iter().map(|launch| launch.program.to_string()).collect();
    for (launch, text) in launches.iter().zip(&texts) {
        match kernels.iter_mut().find(|(_, known, _, _)| known == text) {
            Some((_, _, count, report)) => {
                *count += 1;
                add(report, &launch.report);
            }
            None => kernels.push((launch.program.name.clone(), text, 1, launch.report.clone())),
        }
    }
    kernels.into_iter().map(|(name, _, count, report)| (name, count, report)).collect()
}

/// Adds the costs of another launch of the same kernel.
fn add(report: &mut Report, other: &Report) {
    report.blocks += other.blocks;
    report.warps += other.warps;
    report.steps += other.steps;
    report.failures += other.failures;
    report.costs += other.costs;
    for PlaceCosts { place, costs } in &other.places {
        match report.places.iter_mut().find(|known| known.place == *place) {
            Some(known) => known.costs += *costs,
            None => report.places.push(PlaceCosts { place: place.clone(), costs: *costs }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pumice::kernel::{Grid, Ix, Pull, Push};

    #[test]
    fn elements_that_no_thread_writes_are_noted() -> std::result::Result<(), pumice::Error> {
        let sim = Arc::new(Sim::observing(Sim::gpu_profile()));
        let compiler = Compiler::with(sim.clone());
        let spread = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
            let length = xs.len() * 2;
            xs.imap(|i, x| (i * 2, x)).scatter(length)
        };
        let kernel = compiler.kernel("spread", 32, spread)?;
        assert_eq!(kernel.run([7, 8, 9])?.to_vec()?, [7, 0, 8, 0, 9, 0]);
        let note = holes(&sim.recorded());
        assert!(note.contains("no thread of kernel spread writes 3 elements of its result"), "{note}");
        sim.forget();
        let copy = compiler.kernel("copy", 32, |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> { xs.push() })?;
        copy.run([7, 8, 9])?.to_vec()?;
        assert_eq!(holes(&sim.recorded()), "");
        Ok(())
    }
}
