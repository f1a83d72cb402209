//! The programs by name, on the simulator, for all their sizes.

use pumice::Compiler;
use pumice_algorithms::{Program, Settings, obsidian, sort};

fn check(program: Program, size: usize, settings: &Settings) {
    let compiler = Compiler::on("sim").unwrap();
    let run = || {
        let mut prepared = (program.prepare)(&compiler, size, settings)?;
        prepared.run()?;
        prepared.check()
    };
    match run() {
        Ok(Ok(())) => {}
        Ok(Err(difference)) => panic!("{} of {size}, {settings:?}: {difference}", program.name),
        Err(error) => panic!("{} of {size}, {settings:?}: {error}", program.name),
    }
}

#[test]
fn small_programs_give_what_plain_rust_gives() {
    for program in obsidian::programs() {
        for size in program.sizes.iter().chain([&program.small]) {
            check(program, *size, &Settings::default());
        }
    }
}

#[test]
fn sorters_sort() {
    for program in sort::programs() {
        let defaults = Settings::defaults(program.tunable);
        for size in program.sizes.iter().chain([&program.small]) {
            check(program, *size, &defaults);
        }
        for (number, tunable) in program.tunable.iter().enumerate() {
            for value in tunable.values {
                let mut others = program.tunable.to_vec();
                others[number].default = *value;
                check(program, program.small, &Settings::defaults(&others));
            }
        }
    }
}
