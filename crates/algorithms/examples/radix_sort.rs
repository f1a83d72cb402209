//! Integers sorted bit by bit, alone and with what belongs to them.
//!
//! `radix_sort [COUNT]` sorts so many.
//!
//! ```text
//! 100000 numbers in order
//! 100000 pairs in order, those with equal keys as they were
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::prelude::*;
use pumice_algorithms::irregular::Numbers;
use pumice_algorithms::whole::radix_sort;
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(sorted())
}

fn sorted() -> Result<(), Box<dyn Error>> {
    let count = argument(0, 100_000)?.max(0) as usize;
    let compiler = pumice::Compiler::new()?;
    let mut numbers = Numbers::new(1);

    let keys: Vec<i64> = (0..count).map(|_| numbers.bits() as i64).collect();
    let found = compiler.compile(radix_sort::sort::<i64>)?.run(&keys)?.to_vec()?;
    let mut expected = keys;
    expected.sort_unstable();
    check("numbers", &found, &expected)?;
    println!("{count} numbers in order");

    let pairs: Vec<(i32, u32)> = (0..count as u32).map(|i| (numbers.between(-100, 100) as i32, i)).collect();
    let by_key = |pairs: Acc<Vector<(i32, u32)>>| radix_sort::sort_by_key(pairs, |(key, _)| key);
    let found = compiler.compile(by_key)?.run(&pairs)?.to_vec()?;
    let mut expected = pairs;
    expected.sort_by_key(|(key, _)| *key);
    check("pairs", &found, &expected)?;
    println!("{count} pairs in order, those with equal keys as they were");
    Ok(())
}
