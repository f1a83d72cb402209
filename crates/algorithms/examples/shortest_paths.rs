//! Shortest ways in a graph whose edges have lengths, some of them negative; and again with a circle of negative length.
//!
//! `shortest_paths [VERTICES [EDGES]]` takes a random graph of so many.
//!
//! ```text
//! 10000 vertices, 40000 edges: 9801 reached, distances from -32 to 271
//! 500 vertices with a circle of negative length: 404 are as near as one likes
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::whole::shortest_paths::{self, UNBOUNDED, UNREACHED, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(searched())
}

fn searched() -> Result<(), Box<dyn Error>> {
    let vertices = argument(0, 10_000)?.clamp(1, 1 << 24);
    let count = argument(1, 4 * vertices)?.clamp(0, 1 << 28);
    let program = pumice::compile(shortest_paths::distances)?;
    let edges = plain::random(vertices as usize, count as usize, 1);
    let found = program.run((vertices, &edges, 0))?.to_vec()?;
    check("distances", &found, &plain::distances(vertices as usize, &edges, 0))?;
    let reached = found.iter().filter(|distance| **distance != UNREACHED);
    println!(
        "{vertices} vertices, {count} edges: {} reached, distances from {} to {}",
        reached.clone().count(),
        reached.clone().min().unwrap_or(&0),
        reached.clone().max().unwrap_or(&0)
    );
    // A circle takes as many rounds as there are vertices, so there are few.
    let mut edges = plain::random(500, 1000, 2);
    edges.extend([(7, 8, 3), (8, 7, -5)]);
    let found = program.run((500, &edges, 0))?.to_vec()?;
    check("distances with a circle", &found, &plain::distances(500, &edges, 0))?;
    let unbounded = found.iter().filter(|distance| **distance == UNBOUNDED).count();
    println!("500 vertices with a circle of negative length: {unbounded} are as near as one likes");
    Ok(())
}
