//! A grid has no memory to force an array into.
use pumice::kernel::{Grid, Ix, Pull};
fn main() {
    let _ = |xs: Pull<i32, Ix>| xs.push::<Grid>().force_within(32);
}
