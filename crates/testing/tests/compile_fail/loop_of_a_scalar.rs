//! The state of a loop over arrays is arrays; `while_` is for scalars.

use pumice::prelude::*;

fn main() {
    let (_xs, _x) = iterate(3, (use_(&[1]), constant(1)), |(xs, x)| (xs, x * 2));
}
