//! The programs by name on the simulator, for all their sizes and settings. The conformance suite runs them on the other
//! devices.

use pumice::Compiler;
use pumice_algorithms::{Program, Settings, fcl, histogram, mandelbrot, matrix, obsidian, scan, sobol, sort};

fn check(compiler: &Compiler, program: Program, size: usize, settings: &Settings) {
    let run = || {
        let mut prepared = (program.prepare)(compiler, size, settings)?;
        // Twice: what a run leaves behind must not disturb the next.
        prepared.run()?;
        prepared.run()?;
        prepared.check()
    };
    match run() {
        Ok(Ok(())) => {}
        Ok(Err(difference)) => panic!("{} of {size}, {settings:?}: {difference}", program.name),
        Err(error) => panic!("{} of {size}, {settings:?}: {error}", program.name),
    }
}

fn on(device: &str) -> Compiler {
    Compiler::on(device).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs programs on the simulator in all sizes, and with each value of what can be tuned.
fn simulate(programs: Vec<Program>) {
    let compiler = on("sim");
    for program in programs {
        let defaults = Settings::defaults(program.tunable);
        for size in program.sizes.iter().chain([&program.small]) {
            check(&compiler, program, *size, &defaults);
        }
        for tunable in program.tunable {
            for value in tunable.values {
                check(&compiler, program, program.small, &defaults.clone().with(tunable.name, *value));
            }
        }
    }
}

#[test]
fn small_programs_give_what_plain_rust_gives() {
    simulate(obsidian::programs());
}

#[test]
fn sorters_sort() {
    simulate(sort::programs());
}

#[test]
fn arrays_are_reversed_and_reduced() {
    simulate(fcl::programs());
}

#[test]
fn matrices_are_transposed_and_multiplied() {
    simulate(matrix::programs());
}

#[test]
fn scans_scan() {
    simulate(scan::programs());
}

#[test]
fn points_are_counted() {
    simulate([histogram::programs(), mandelbrot::programs(), sobol::programs()].concat());
}

/// Blocks do not wait for each other there, so it is other kernels that scan.
#[test]
fn scans_scan_on_the_cpu() {
    let compiler = on("cpu");
    for program in scan::programs() {
        let defaults = Settings::defaults(program.tunable);
        program.sizes.iter().for_each(|size| check(&compiler, program, *size, &defaults));
    }
}
