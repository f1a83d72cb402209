//! The file tests of this folder (`programs/*.pum-ir`), as emitted C: warps, private memory, atomics and collectives,
//! against the values that the files expect. The runtime's tests run the same files on its devices.

mod common;

use common::{compiler, run_c};
use pumice_emit::{Dialect, EmitOptions, emit};
use pumice_program::{file_test, verify};
use std::path::Path;

/// Runs every case of a file.
fn check(name: &str) {
    if compiler().is_none() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(format!("{name}.pum-ir"));
    let text = std::fs::read_to_string(&path).unwrap();
    let test = file_test::read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let program = verify(test.program).unwrap_or_else(|error| panic!("{error}"));
    assert!(!test.cases.is_empty());
    // Machines without the widest vectors have fewer lanes.
    let narrow: &[&str] = if cfg!(target_arch = "x86_64") { &["-mno-avx512f"] } else { &[] };
    for flags in [&[], narrow] {
        for case in &test.cases {
            let found = run_c(&program, &case.bytes(), &case.scalars, &EmitOptions::default(), flags);
            if let Err(difference) = case.compare(&found) {
                let source = emit(&program, Dialect::C, &EmitOptions::default()).unwrap();
                panic!("{name} {} {flags:?}: {difference}\n{}", case.name, source.text);
            }
        }
    }
}

/// A test a file.
macro_rules! files {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*

    #[test]
    fn every_file_has_a_test() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<_> = names.filter(|path| path.extension().is_some_and(|e| e == "pum-ir")).collect();
        names.sort();
        let names: Vec<_> = names.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, [$(stringify!($name)),*]);
    }};
}

files!(
    atomics_floats,
    atomics_global,
    atomics_shared,
    chain,
    collectives,
    comments,
    contention,
    everything,
    large_shared,
    partial_block,
    partial_small,
    partial_warps,
    private_large,
    private_memory,
    ragged,
    rows,
    truth_index,
    uniform,
    uniform_load,
    warps_apart,
);

#[test]
fn loops_that_load_at_a_truth_value_are_not_vectorised() {
    let text = include_str!("programs/truth_index.pum-ir");
    let program = file_test::read(text).unwrap_or_else(|error| panic!("{error}")).program;
    let program = verify(program).unwrap_or_else(|error| panic!("{error}"));
    for dialect in Dialect::ALL {
        let source = emit(&program, dialect, &EmitOptions::default()).unwrap();
        assert_eq!(source.text.contains("__asm__ volatile(\"\");"), dialect == Dialect::C, "{}", source.text);
    }
}
