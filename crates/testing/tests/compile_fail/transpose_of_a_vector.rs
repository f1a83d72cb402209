//! Only matrices have rows and columns to exchange.

use pumice::prelude::*;

fn turned(xs: Acc<Vector<f32>>) -> Acc<Matrix<f32>> {
    xs.transpose()
}

fn main() {
    let _ = pumice::compile(turned);
}
