//! A program that is called is given arrays of its own types.

use pumice::prelude::*;

fn main() -> pumice::Result<()> {
    let sum = pumice::compile(|xs: Acc<Vector<f32>>, by: Exp<f32>| xs.map(|x| x * by).sum())?;
    let _ = pumice::compile(|xs: Acc<Vector<f64>>| sum.call((xs, 2.0)))?;
    Ok(())
}
