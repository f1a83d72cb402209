use pumice::prelude::*;

fn main() {
    let xs = use_(&[1i64, 2]);
    let _ = comp![x + 1 | x in xs];
    let _ = comp![x + 1 | x <- xs, if x > 1];
}
