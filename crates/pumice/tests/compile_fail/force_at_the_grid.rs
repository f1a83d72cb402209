//! Blocks share no memory to force an array into.

use pumice::layers::kernel::{Grid, Pull, Push};

fn forced(xs: Push<Grid, f32>) -> Pull<f32> {
    xs.force()
}

fn main() {}
