//! Arrays of different ranks cannot be zipped.

use pumice::prelude::*;

fn products(m: Acc<Matrix<f32>>, v: Acc<Vector<f32>>) -> Acc<Matrix<f32>> {
    m.zip_with(v, |a, x| a * x)
}

fn main() {
    let _ = pumice::compile(products);
}
