//! Many small systems of linear equations, decomposed and solved at once.
//!
//! `lu [SYSTEMS [SIZE]]` takes so many systems of so many equations.
//!
//! ```text
//! 1000 systems of 8 equations, none is off by more than 1e-6: true
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::{Array, Matrix};
use pumice_algorithms::whole::lu::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(solved())
}

fn solved() -> Result<(), Box<dyn Error>> {
    let count = argument(0, 1000)?.clamp(0, 1 << 24) as usize;
    let n = argument(1, 8)?.clamp(1, 1000) as usize;
    let (matrices, right) = plain::systems(count, n, 1);
    let expected = plain::decompose_and_solve(&matrices, &right, n);
    let (left, sides) =
        (Array::from_vec([count, n, n], matrices.clone())?, Matrix::from_vec([count, n], right.clone())?);
    let found = pumice::compile(lu::decompose_and_solve)?.run((&left, &sides))?.to_vec()?;
    // To the bit; infinities and numbers that are none would not be equal to themselves.
    let bits = |xs: &[f64]| xs.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    check("solutions", &bits(&found), &bits(&expected))?;
    let product = |system: usize, i: usize| {
        (0..n).map(|j| matrices[(system * n + i) * n + j] * found[system * n + j]).sum::<f64>()
    };
    let residual = |at: usize| (product(at / n, at % n) - right[at]).abs();
    let worst = (0..count * n).map(residual).fold(0.0, f64::max);
    println!("{count} systems of {n} equations, none is off by more than 1e-6: {}", worst < 1e-6);
    Ok(())
}
