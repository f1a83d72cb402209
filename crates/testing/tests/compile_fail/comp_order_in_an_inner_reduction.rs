use pumice::prelude::*;

fn main() {
    let xs = use_(&[1i64, 2]);
    let _ = comp![sum![y | y <- 0..x, order by y] | x <- xs];
    let _ = comp![if x > 1 { sum![sum![y | y <- 0..z, take 2] | z <- 0..x] } else { 0 } | x <- xs];
}
