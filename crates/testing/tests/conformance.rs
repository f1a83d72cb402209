//! The conformance suite's own mechanism. `pumice selftest` runs the suite itself, on each device.

use pumice::Compiler;
use pumice_testing::{cuda_like, suite};

#[test]
fn the_examples_are_right_on_the_simulator() -> pumice::Result<()> {
    let summary = suite::run_suite(&Compiler::on("sim")?, Some("programs::"), |_| ());
    assert!(summary.passed > 5 && summary.failed.is_empty(), "{summary:?}");
    Ok(())
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
