//! The Poisson equation on a square grid by conjugate gradients.
//!
//! `poisson [SIDE]` takes a grid of so many points a side.
//!
//! ```text
//! 128 x 128 points: after ... rounds the highest one is 0.828259
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::prelude::*;
use pumice_algorithms::whole::poisson::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(solved())
}

fn solved() -> Result<(), Box<dyn Error>> {
    let side = argument(0, 128)?.clamp(1, 20_000) as usize;
    // Two charges of opposite signs.
    let mut f = vec![0.0; side * side];
    f[(side / 3) * side + side / 3] += 1.0;
    f[(side * 2 / 3) * side + side / 2] -= 1.0;
    let charges = Matrix::from_vec([side, side], f.clone())?;
    let (tolerance, most) = (1e-20, 10 * side as i64);
    let compiler = pumice::Compiler::new()?;
    let u = compiler.compile(poisson::solve)?.run((&charges, tolerance, most))?.to_vec()?;
    let how = compiler.compile(|f: Acc<_>, tolerance, most| poisson::solve_counting(f, tolerance, most).1)?;
    let (_, rounds) = how.run((&charges, tolerance, most))?.to_value()?;
    let highest = u.iter().fold(0.0f64, |highest, u| highest.max(*u));
    println!("{side} x {side} points: after {rounds} rounds the highest one is {highest:.6}");
    let left = plain::laplace(&u, side, side);
    let residual: f64 = left.iter().zip(&f).map(|(left, f)| (left - f) * (left - f)).sum();
    check("the residual is small", &(residual < 4.0 * tolerance), &true)?;
    let (expected, _, _) = plain::solve(&f, side, side, tolerance, most);
    let worst =
        u.iter().zip(&expected).fold(0.0f64, |worst, (found, expected)| worst.max((found - expected).abs()));
    check("it is what plain Rust finds", &(worst < 1e-8), &true)?;
    Ok(())
}
