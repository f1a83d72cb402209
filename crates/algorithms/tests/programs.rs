//! Every program in all its sizes, on the devices that every machine has.

use pumice::Compiler;
use pumice_algorithms::{Program, Settings, fcl, histogram, mandelbrot, matrix, scan, sobol};

fn programs() -> Vec<Program> {
    let all = [
        fcl::programs(),
        matrix::programs(),
        scan::programs(),
        histogram::programs(),
        mandelbrot::programs(),
        sobol::programs(),
    ];
    all.into_iter().flatten().collect()
}

fn run_all(device: &str) {
    let compiler = Compiler::on(device).unwrap_or_else(|error| panic!("{error}"));
    let mut wrong = Vec::new();
    for program in programs() {
        for &size in program.sizes {
            let settings = Settings::defaults(program.tunable);
            let outcome = (program.prepare)(&compiler, size, &settings).and_then(|mut prepared| {
                // Twice: what a run leaves behind must not disturb the next.
                prepared.run()?;
                prepared.run()?;
                prepared.check()
            });
            match outcome {
                Ok(Ok(())) => {}
                Ok(Err(what)) => wrong.push(format!("{} of {size}: {what}", program.name)),
                Err(error) => wrong.push(format!("{} of {size}: {error}", program.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_are_right_on_the_simulator() {
    run_all("sim");
}

#[test]
fn programs_are_right_on_the_cpu() {
    run_all("cpu");
}

/// Nothing that can be tuned makes a program wrong.
#[test]
fn every_setting_is_right() {
    let compiler = Compiler::on("sim").unwrap_or_else(|error| panic!("{error}"));
    for program in programs() {
        for tunable in program.tunable {
            for &value in tunable.values {
                let settings = Settings::defaults(program.tunable).with(tunable.name, value);
                let outcome = (program.prepare)(&compiler, program.small, &settings)
                    .and_then(|mut prepared| prepared.run().and_then(|()| prepared.check()));
                assert!(matches!(outcome, Ok(Ok(()))), "{}, {settings:?}: {outcome:?}", program.name);
            }
        }
    }
}
