//! Nothing is converted silently: elements of different types do not add up.

use pumice::prelude::*;

fn sums(xs: Acc<Vector<f32>>, ys: Acc<Vector<i32>>) -> Acc<Vector<f32>> {
    xs.zip_with(ys, |x, y| x + y)
}

fn main() {
    let _ = pumice::compile(sums);
}
