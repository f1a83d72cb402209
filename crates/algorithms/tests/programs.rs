//! Nothing that can be tuned makes a program wrong. (The conformance suite runs the programs in all sizes on every device.)

use pumice::Compiler;
use pumice_algorithms::{Settings, programs};

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

#[test]
fn defaults_are_among_the_choices() {
    for program in programs() {
        for tunable in program.tunable {
            assert!(tunable.values.contains(&tunable.default), "{}: {tunable:?}", program.name);
        }
    }
}
