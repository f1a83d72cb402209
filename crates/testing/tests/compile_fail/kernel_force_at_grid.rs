//! A grid has no memory of its own while it runs.
use pumice::layers::kernel::{Forces, Grid, Pull, Push, Storable};
fn reduce<L: Forces, T: Storable>(xs: Pull<T>) -> Push<L, T> {
    xs.push::<L>().force().push()
}
fn main() {
    let _ = |xs: Pull<i32>| reduce::<Grid, i32>(xs);
}
