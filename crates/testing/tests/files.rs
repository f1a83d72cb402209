//! The array programs that are files, on the devices of this machine; `pumice selftest` runs them on any.

use pumice::Compiler;
use pumice::layers::array::file_test::read;
use pumice::layers::array::operations::OPERATIONS;
use pumice::layers::array::{ArrayProgram, CheckedProgram};
use pumice_testing::files::FILES;
use pumice_testing::run_suite;
use std::collections::BTreeSet;
use std::path::Path;

fn run_on(device: &str) {
    let compiler = Compiler::on(device).unwrap_or_else(|error| panic!("{error}"));
    let summary = run_suite(&compiler, Some("files::"), |_| ());
    assert_eq!(summary.failed, []);
    assert_eq!(summary.passed, FILES.len());
}

#[test]
fn on_sim() {
    run_on("sim");
}

#[test]
fn on_cpu() {
    run_on("cpu");
}

#[test]
fn on_opencl() {
    run_on("opencl");
}

#[test]
fn every_file_is_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/array");
    let found: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| name.strip_suffix(".pum-array").unwrap_or(&name).to_owned())
        .collect();
    let listed: BTreeSet<String> = FILES.iter().map(|file| file.name.to_owned()).collect();
    assert_eq!(found, listed);
}

#[test]
fn every_operation_has_a_file_and_files_read_back() {
    let mut missing: BTreeSet<&str> = OPERATIONS.iter().map(|listed| listed.keyword).collect();
    for file in FILES {
        let test = read(file.text, file.name).unwrap_or_else(|error| panic!("{}: {error}", file.name));
        let text = test.program.full_text();
        let again: ArrayProgram = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.name));
        assert_eq!(again.full_text(), text);
        if CheckedProgram::new(again).is_ok() {
            let keywords = test.program.nodes().iter().map(|node| node.operation.keyword());
            keywords.for_each(|keyword| missing.retain(|other| *other != keyword));
        }
    }
    assert!(missing.is_empty(), "no file runs {missing:?}");
}

#[test]
fn examples_read_back() {
    for example in pumice_testing::programs::examples() {
        let text = example.describe();
        let again: ArrayProgram = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again.to_string(), text);
    }
}
