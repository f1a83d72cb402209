//! Rust's comparisons give a `bool` at once; a program needs an expression, which `gt` gives.

use pumice::prelude::*;

fn positive(xs: Acc<Vector<f32>>) -> Acc<Vector<bool>> {
    xs.map(|x| x > 0.0)
}

fn main() {
    let _ = pumice::compile(positive);
}
