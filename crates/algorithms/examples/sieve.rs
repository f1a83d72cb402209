//! Primes by the sieve of Eratosthenes, of all numbers at once and in segments.
//!
//! `sieve [LIMIT [SEGMENT]]` counts the primes below a limit; a limit beyond 10⁸ is sieved in segments only.
//!
//! ```text
//! primes below 1000000: 78498, the last one is 999983
//! in segments of 262144: 78498
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::irregular::sieve;
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

/// Numbers of primes below powers of ten.
const KNOWN: [(i64, i64); 5] = [
    (1_000_000, 78_498),
    (10_000_000, 664_579),
    (100_000_000, 5_761_455),
    (1_000_000_000, 50_847_534),
    (10_000_000_000, 455_052_511),
];

fn main() -> ExitCode {
    report::end(sieved())
}

fn sieved() -> Result<(), Box<dyn Error>> {
    let limit = argument(0, 1_000_000)?;
    let segment = argument(1, if limit > 1_000_000 { 1 << 27 } else { 1 << 18 })?;
    let compiler = pumice::Compiler::new()?;
    let in_segments = compiler.compile(sieve::count_primes)?.run((limit, segment))?.to_value()?;
    if limit <= 100_000_000 {
        let primes = compiler.compile(sieve::primes)?.run(limit)?.to_vec()?;
        let last = primes.last().map_or("there are none".into(), |last| format!("the last one is {last}"));
        println!("primes below {limit}: {}, {last}", primes.len());
        check("primes, in segments", &in_segments, &(primes.len() as i64))?;
    }
    println!("in segments of {segment}: {in_segments}");
    if let Some((_, count)) = KNOWN.iter().find(|(below, _)| *below == limit) {
        check("primes", &in_segments, count)?;
    } else if limit < 1_000_000 {
        check("primes", &in_segments, &(sieve::plain::primes(limit).len() as i64))?;
    }
    Ok(())
}
