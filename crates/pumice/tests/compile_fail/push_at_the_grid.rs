//! A grid has no loop of its own: its work is split up for blocks first.

use pumice::layers::kernel::{Grid, Pull, Push};

fn copy(xs: Pull<f32>) -> Push<Grid, f32> {
    xs.push::<Grid>()
}

fn main() {}
