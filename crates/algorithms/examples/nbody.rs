//! A disc of bodies that turns around a heavy one.
//!
//! `nbody [BODIES [STEPS]]` takes steps of a hundredth.
//!
//! ```text
//! 1000 bodies, 50 steps
//! farthest from plain Rust: less than 1e-3
//! change of the energy: less than 1e-4 of it
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::whole::nbody::{self, Body, plain};
use report::{argument, below};
use std::error::Error;
use std::process::ExitCode;

const STEP: f32 = 0.01;

fn main() -> ExitCode {
    report::end(moved())
}

fn moved() -> Result<(), Box<dyn Error>> {
    let (count, steps) = (argument(0, 1000)?.max(1) as usize, argument(1, 50)?.max(0));
    let bodies = plain::disc(count, 1);
    let compiler = pumice::Compiler::new()?;
    let (advance, energy) = (compiler.compile(nbody::advance)?, compiler.compile(nbody::energy)?);
    let found = advance.run((&bodies, STEP, steps))?;
    println!("{count} bodies, {steps} steps");
    let expected = plain::advance(&bodies, STEP, steps as usize);
    let distance = |((p, ..), (q, ..)): (&Body, &Body)| {
        let parts = [p.0 - q.0, p.1 - q.1, p.2 - q.2].map(|part| f64::from(part.abs()));
        parts.into_iter().fold(0.0, f64::max)
    };
    let farthest = found.to_vec()?.iter().zip(&expected).map(distance).fold(0.0, f64::max);
    below("farthest from plain Rust", farthest, 1e-3)?;
    println!("farthest from plain Rust: less than 1e-3");
    let (before, after) = (energy.run(&bodies)?.to_value()?, energy.run(&found)?.to_value()?);
    below("change of the energy", (after - before).abs(), 1e-4 * before.abs() + f64::EPSILON)?;
    println!("change of the energy: less than 1e-4 of it");
    Ok(())
}
