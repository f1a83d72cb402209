//! Common code of the examples: numbers from the command line, checks, and exit codes.

use std::fmt::Debug;
use std::process::ExitCode;

/// The number in a position of the command line, or another if there is none.
#[allow(dead_code)]
pub fn argument(position: usize, default: i64) -> Result<i64, String> {
    let Some(text) = std::env::args().nth(position + 1) else { return Ok(default) };
    text.parse().map_err(|_| format!("{text:?} is not a number"))
}

/// Fails unless what was found is what is expected.
#[allow(dead_code)]
pub fn check<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: expected {expected:?}, found {found:?}")),
    }
}

/// Fails unless a number is below a limit, which NaN is not.
#[allow(dead_code)]
pub fn below(what: &str, found: f64, limit: f64) -> Result<(), String> {
    match found < limit {
        true => Ok(()),
        false => Err(format!("{what}: expected less than {limit:e}, found {found:e}")),
    }
}

/// Ends an example: with `ok`, or with what went wrong.
pub fn end(outcome: Result<(), Box<dyn std::error::Error>>) -> ExitCode {
    match outcome {
        Ok(()) => {
            println!("ok");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
