//! Rust's `if` decides while the program is described; `select` decides for each element.

use pumice::prelude::*;

fn absolute(xs: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    xs.map(|x| if x.gt(0.0) { x } else { -x })
}

fn main() {
    let _ = pumice::compile(absolute);
}
