//! Memory needs a length that is known while the kernel is built.
use pumice::kernel::{Block, Ix, Pull};
fn main() {
    let _ = |xs: Pull<i32, Ix>| xs.tiles(32).map(|tile| tile.push::<Block>().force());
}
