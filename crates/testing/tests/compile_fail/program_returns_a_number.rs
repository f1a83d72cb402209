//! A program returns an array; a number is an array without dimensions, `unit(1.0)`.

use pumice::prelude::*;

fn one(_xs: Acc<Vector<f32>>) -> f32 {
    1.0
}

fn main() {
    let _ = pumice::compile(one);
}
