//! Points around nine corners, in as many clusters.
//!
//! `kmeans [POINTS [CENTRES]]` begins with the first points as centres.
//!
//! ```text
//! 20000 points, 9 centres, 30 rounds
//! largest cluster: 3996 points
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::whole::kmeans::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

const MOST: i64 = 100;

fn main() -> ExitCode {
    report::end(clustered())
}

fn clustered() -> Result<(), Box<dyn Error>> {
    let (count, centres) = (argument(0, 20_000)?.max(1) as usize, argument(1, 9)?.max(1) as usize);
    let points = plain::points(count, 1);
    let first = &points[..centres.min(count)];
    let compiler = pumice::Compiler::new()?;
    let (cluster, nearest) = (compiler.compile(kmeans::cluster)?, compiler.compile(kmeans::nearest)?);
    let found = cluster.run((&points, first, MOST))?;
    let (expected, rounds) = plain::cluster(&points, first, MOST);
    println!("{count} points, {} centres, {rounds} rounds", first.len());
    check("centres", &found.to_vec()?, &expected)?;
    let labels = nearest.run((&points, &found))?.to_vec()?;
    check("labels", &labels, &plain::nearest(&points, &expected))?;
    let sizes = (0..first.len() as i64).map(|label| labels.iter().filter(|other| **other == label).count());
    println!("largest cluster: {} points", sizes.max().unwrap_or(0));
    Ok(())
}
