use pumice::prelude::*;

fn main() {
    let xs = use_(&[1i64, 2]);
    let _ = comp![y | x <- xs, y <- xs.clone().take(x)];
}
