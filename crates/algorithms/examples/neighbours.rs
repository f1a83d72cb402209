//! Pairs of points that are near each other, by cell lists.
//!
//! `neighbours [POINTS]` takes so many points in the unit square.
//!
//! ```text
//! 5000 points, 5613 pairs within 0.01
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::irregular::neighbours::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

const RADIUS: f32 = 0.01;

fn main() -> ExitCode {
    report::end(paired())
}

fn paired() -> Result<(), Box<dyn Error>> {
    let points = plain::points(argument(0, 5000)?.max(0) as usize, 8);
    let mut pairs = pumice::compile(neighbours::pairs)?.run((&points, RADIUS))?.to_vec()?;
    pairs.sort_unstable();
    println!("{} points, {} pairs within {RADIUS}", points.len(), pairs.len());
    check("pairs", &pairs, &plain::pairs(&points, RADIUS))?;
    Ok(())
}
