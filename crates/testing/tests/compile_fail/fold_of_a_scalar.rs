//! A single value has no dimension that could be folded.

use pumice::prelude::*;

fn total(x: Acc<Scalar<f32>>) -> Acc<Scalar<f32>> {
    x.fold(0.0, |a, b| a + b)
}

fn main() {
    let _ = pumice::compile(total);
}
