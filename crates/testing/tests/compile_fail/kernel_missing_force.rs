//! A push array cannot be taken apart.
use pumice::kernel::{Block, Pull};
fn main() {
    let _ = |xs: Pull<i32>| xs.push::<Block>().reverse();
}
