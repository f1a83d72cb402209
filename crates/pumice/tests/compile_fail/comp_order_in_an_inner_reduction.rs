use pumice::prelude::*;

fn main() {
    let xs = use_(&[1i64, 2]);
    let _ = comp![sum![y | y <- 0..x, order by y] | x <- xs];
}
