//! A function on elements returns an expression, not a number of Rust.

use pumice::prelude::*;

fn ones(xs: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    xs.map(|_| 1.0f32)
}

fn main() {
    let _ = pumice::compile(ones);
}
