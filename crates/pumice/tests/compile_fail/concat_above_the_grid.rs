//! A grid is the outermost level: its results cannot be concatenated.

use pumice::layers::kernel::{Grid, Pull, Push};

fn above(parts: Pull<Push<Grid, f32>>) {
    let _ = parts.concat(1, 8usize);
}

fn main() {}
