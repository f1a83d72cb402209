//! A program takes `Acc` and `Exp`; slices are for `run`.

use pumice::prelude::*;

fn main() {
    let _ = pumice::compile(|xs: &[f32]| use_(xs).map(|x| x + x));
}
