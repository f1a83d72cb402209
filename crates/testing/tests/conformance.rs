//! The conformance suite: a test for each case on each device, and on the simulator without fusion too.
//!
//! A device that is not available here is skipped with a note, unless `CI=true`: then it is a failure.

use pumice::Compiler;
use pumice_testing::{cases, cuda_like, suite};

fn check(device: &str, fuse: bool, name: &str) {
    let compiler = match Compiler::on(device) {
        Ok(compiler) => compiler.fuse(fuse),
        Err(error) if std::env::var("CI").as_deref() == Ok("true") => panic!("{error}"),
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let case = cases().into_iter().find(|case| case.name == name);
    let outcome = case.unwrap_or_else(|| panic!("there is no case {name}")).run(&compiler);
    outcome.unwrap_or_else(|message| panic!("{name} on {device}: {message}"));
}

macro_rules! stamp {
    ($($module:ident { $($case:ident)* })*) => { $(
        mod $module {
            $(#[test]
            fn $case() {
                crate::check(super::DEVICE, super::FUSE, concat!(stringify!($module), "::", stringify!($case)));
            })*
        }
    )* };
}

macro_rules! devices {
    ($($device:ident $name:literal $fuse:literal;)*) => { $(
        mod $device {
            const DEVICE: &str = $name;
            const FUSE: bool = $fuse;
            pumice_testing::for_each_case!(stamp);
        }
    )* };
}
/// The kernel-language programs: one test a device, as they are known by name only.
fn check_algorithms(device: &str) {
    for case in cases().into_iter().filter(|case| case.name.starts_with("algorithms::")) {
        check(device, true, &case.name);
    }
}

#[test]
fn algorithms_on_sim() {
    check_algorithms("sim");
}

#[test]
fn algorithms_on_cpu() {
    check_algorithms("cpu");
}

#[test]
fn algorithms_on_opencl() {
    check_algorithms("opencl");
}

devices! {
    sim "sim" true;
    sim_unfused "sim" false;
    cpu "cpu" true;
    opencl "opencl" true;
}

#[test]
fn the_suite_tells_its_progress_and_counts() -> pumice::Result<()> {
    let mut told = Vec::new();
    let summary = suite::run_suite(&Compiler::on("sim")?, Some("elements::uni"), |progress| {
        told.push((progress.number, progress.of, progress.name.to_string(), progress.outcome.cloned()));
    });
    assert_eq!((summary.passed, summary.failed), (1, vec![]));
    let name = "elements::units".to_string();
    assert_eq!(told, [(0, 1, name.clone(), None), (0, 1, name, Some(Ok(())))]);
    let nothing = suite::run_suite(&Compiler::on("sim")?, Some("no such case"), |_| ());
    assert_eq!(nothing, suite::Summary::default());
    Ok(())
}

#[test]
fn every_kernel_can_be_made_for_a_device_that_is_not_here() {
    let kernels = suite::kernels(&cuda_like()).unwrap_or_else(|message| panic!("{message}"));
    assert!(kernels.len() > 100, "only {} kernels", kernels.len());
    assert!(kernels.iter().any(|kernel| kernel.name == "fold_chunks"), "no row was long enough to be cut");
}
