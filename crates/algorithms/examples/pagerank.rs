//! Ranks of pages of a random web, some of which have no links.
//!
//! `pagerank [PAGES]` makes sixteen links a page.
//!
//! ```text
//! 5000 pages, 70064 links, 625 pages without any
//! 14 rounds
//! first: page 0 with 0.0014
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::whole::pagerank::{self, plain::Links};
use report::{argument, below};
use std::error::Error;
use std::process::ExitCode;

const DAMPING: f64 = 0.85;
const TOLERANCE: f64 = 1e-9;
const MOST: i64 = 100;

fn main() -> ExitCode {
    report::end(ranked())
}

fn ranked() -> Result<(), Box<dyn Error>> {
    let pages = argument(0, 5000)?.max(1) as usize;
    let links = Links::random(pages, 16 * pages, 1);
    let without = links.from_pages().iter().filter(|count| **count == 0).count();
    println!("{pages} pages, {} links, {without} pages without any", links.sources.len());
    let program = pumice::compile(pagerank::ranks)?;
    let found = program.run((&links.offsets, &links.sources, DAMPING, TOLERANCE, MOST))?.to_vec()?;
    let (expected, rounds) = links.ranks(DAMPING, TOLERANCE, MOST);
    println!("{rounds} rounds");
    let differences = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
    below("difference to plain Rust", differences.sum(), 2.0 * TOLERANCE)?;
    below("difference of the sum to 1", (found.iter().sum::<f64>() - 1.0).abs(), 1e-12)?;
    let first = found.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let (page, rank) = first.ok_or("no pages")?;
    println!("first: page {page} with {rank:.4}");
    Ok(())
}
