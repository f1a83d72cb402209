//! Numbers sorted by a quicksort whose parts all advance together.
//!
//! `quicksort [COUNT]` sorts so many.
//!
//! ```text
//! 100000 random numbers in order
//! 100000 rising numbers in order
//! 100000 numbers of few values in order
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::irregular::Numbers;
use pumice_algorithms::whole::quicksort;
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(sorted())
}

fn sorted() -> Result<(), Box<dyn Error>> {
    let count = argument(0, 100_000)?.max(0);
    let sort = pumice::compile(quicksort::sort::<i64>)?;
    let mut numbers = Numbers::new(1);
    let all: [(&str, Vec<i64>); 3] = [
        ("random numbers", (0..count).map(|_| numbers.bits() as i64).collect()),
        ("rising numbers", (0..count).collect()),
        ("numbers of few values", (0..count).map(|i| i * i % 10).collect()),
    ];
    for (name, values) in all {
        let found = sort.run(&values)?.to_vec()?;
        let mut expected = values;
        expected.sort_unstable();
        check(name, &found, &expected)?;
        println!("{count} {name} in order");
    }
    Ok(())
}
