//! A block's array is not a part of a warp's.
use pumice::layers::kernel::{Block, Ix, Pull, Push, Warp};
fn main() {
    let _ = |xs: Pull<i32, Ix>| -> Push<Warp, i32, Ix> {
        xs.split_up(32).map(|part| part.push::<Block>()).concat()
    };
}
