//! A grid's array is not a part of a block's.
use pumice::layers::kernel::{Block, Grid, Ix, Pull, Push};
fn main() {
    let grids = |xs: Pull<i32, Ix>| xs.split_up(32).map(|part| part.push::<Grid>());
    let _ = |xs: Pull<i32, Ix>| -> Push<Block, i32, Ix> { grids(xs).concat() };
}
