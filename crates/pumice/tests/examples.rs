//! Every example prints what its header says, on every device that works here.
//!
//! Cargo builds the examples with the tests; they are started as programs, because that is what they are.

mod programs;

use programs::{expected, matches, program, run_all};
use std::process::{Command, Stdio};

/// An example with its source, whose header holds the expected output.
macro_rules! examples {
    ($($name:ident)*) => { &[$((stringify!($name), include_str!(concat!("../examples/", stringify!($name), ".rs")))),*] };
}
const EXAMPLES: &[(&str, &str)] = examples![dotp saxpy row_sums matrix_vector black_scholes mandelbrot sum_blocks transpose_tiled histogram];

#[test]
fn on_sim() {
    run_all(EXAMPLES, "sim");
}

#[test]
fn on_cpu() {
    run_all(EXAMPLES, "cpu");
}

#[test]
fn on_opencl() {
    run_all(EXAMPLES, "opencl");
}

/// The output is closed early, as by `dotp | head -0`.
#[test]
fn output_that_nobody_reads_is_no_panic() {
    for name in ["dotp", "row_sums", "sum_blocks"] {
        let mut command = Command::new(program(name));
        let command = command.env("PUMICE_DEVICE", "sim").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{name} cannot be started: {error}"));
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap_or_else(|error| panic!("{name}: {error}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && errors.is_empty(),
            "{name} ended with {}: {errors}",
            output.status
        );
    }
}

#[test]
fn dots_match_anything() {
    assert!(matches("a ... b ...", "a 1 b 2") && matches("...", "") && matches("a", "a"));
    assert!(!matches("a ... b", "a 1 c") && !matches("a", "ab") && !matches("...b", "a"));
    assert_eq!(expected("//! About.\n//!\n//! ```text\n//!  1\n//! ```\nfn main() {}"), [" 1"]);
}
