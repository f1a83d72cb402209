//! In how many ways queens stand on a board so that none attacks another one.
//!
//! `queens [ROWS]` counts for boards of up to so many rows.
//!
//! ```text
//! 1: 1
//! 2: 0
//! 3: 0
//! 4: 2
//! 5: 10
//! 6: 4
//! 7: 40
//! 8: 92
//! 9: 352
//! 10: 724
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::whole::queens::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(counted())
}

fn counted() -> Result<(), Box<dyn Error>> {
    let most = argument(0, 10)?.clamp(0, 32);
    let program = pumice::compile(queens::count)?;
    for n in 1..=most {
        let found = program.run(n)?.to_value()?;
        println!("{n}: {found}");
        let known = plain::KNOWN.get(n as usize).copied();
        check("ways", &found, &known.unwrap_or_else(|| plain::count(n as u32)))?;
    }
    Ok(())
}
