//! A push array cannot be indexed.
use pumice::layers::kernel::{Block, Ix, Pull};
fn main() {
    let _ = |xs: Pull<i32, Ix>| xs.push::<Block>().at(0);
}
