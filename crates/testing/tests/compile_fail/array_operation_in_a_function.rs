//! No array is computed for each element of another one.

use pumice::prelude::*;

fn main() {
    let (xs, ys) = (use_(&[1, 2]), use_(&[3, 4]));
    let _ = pumice::run(xs.map(|x| ys.clone().map(|y| y * x).sum()));
}
