//! Writing without waiting takes an `unsafe` block.
use pumice::layers::kernel::{Block, Pull};
fn main() {
    let _ = |xs: Pull<i32>| xs.push::<Block>().unsafe_write();
}
