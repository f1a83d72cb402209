//! The array programs that are files, on the devices of this machine; `pumice selftest` runs them on any.

use pumice::Compiler;
use pumice::layers::array::file_test::read;
use pumice::layers::array::operations::{OPERATIONS, Use};
use pumice::layers::array::{
    ArrayData, ArrayProgram, CheckedProgram, Described, HostData, Passed, interpret,
};
use pumice::layers::scalar::{Constant, Place, Term, scope};
use pumice_testing::files::FILES;
use pumice_testing::run_suite;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

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

/// The calling program holds the arguments. Its scalars are plain values, or elements of arrays, which loops and branches
/// take as further inputs.
#[test]
fn a_program_that_is_called_gives_what_it_gives_alone() {
    let place = Place::caller("use_");
    let held = |data: Arc<dyn ArrayData>| {
        let (rank, types) = (data.extents().len(), data.types().to_vec());
        Described::new(Use(data), Vec::new(), rank, types, place)
    };
    let single = |value: &Constant| {
        let bytes = value.to_bytes().into_iter().collect();
        held(Arc::new(HostData::new(Vec::new(), vec![value.ty()], vec![bytes])))
    };
    let mut called = 0;
    for file in FILES {
        let name = format!("{}.pum-array", file.name);
        let test = read(file.text, &name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let Ok(program) = CheckedProgram::new(test.program) else { continue };
        for (case, computed) in test.cases.iter().flat_map(|case| [(case, false), (case, true)]) {
            let values: Vec<_> = case.scalars.iter().map(single).collect();
            let caller = scope(|| {
                let arrays = case.arrays.iter().map(|(number, data)| (*number, held(data.clone()))).collect();
                let scalar = |(constant, value): (&Constant, &Arc<Described>)| match computed {
                    true => value.element(&[], None)[0],
                    false => Term::from(*constant),
                };
                let scalars = (0..).zip(case.scalars.iter().zip(&values).map(scalar)).collect();
                ArrayProgram::of(&program.describe(&Passed { arrays, scalars }))
            });
            let results = CheckedProgram::new(caller)
                .and_then(|caller| interpret(&caller, &Default::default(), &[]))
                .map(|all| {
                    all.into_iter().map(|data| Arc::new(data) as Arc<dyn ArrayData>).collect::<Vec<_>>()
                })
                .map_err(|error| error.to_string());
            let outcome = case.compare(results.as_deref().map_err(String::clone));
            outcome.unwrap_or_else(|message| panic!("{name}, case `{}`: {message}", case.name));
            called += 1;
        }
    }
    assert!(called > 50, "only {called} cases");
}
