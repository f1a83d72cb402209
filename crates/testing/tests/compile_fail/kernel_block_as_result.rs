//! A kernel's result is a grid's array.
use pumice::layers::kernel::{Block, Ix, Pull, Push, define};
fn main() {
    let _ = define("k", 32, |xs: Pull<i32, Ix>| -> Push<Block, i32, Ix> { xs.push() });
}
