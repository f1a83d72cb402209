//! The conformance suite's own mechanism. `pumice selftest` runs the suite itself, on each device.

use pumice::Compiler;
use pumice_testing::suite;

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
