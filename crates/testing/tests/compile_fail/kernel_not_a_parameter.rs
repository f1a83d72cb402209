//! A kernel takes arrays, scalars and memory.
use pumice::layers::kernel::{Grid, Push, define, generate};
fn main() {
    let _ = define("k", 32, |n: usize| -> Push<Grid, i64> { generate(n, |i| i).push() });
}
