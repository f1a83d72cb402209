use pumice::prelude::*;

fn main() {
    let xs = use_(&[1i64, 2]);
    let _ = comp![x | x <- xs, x = 1];
    let _ = comp![x | x <- xs, 0 < x < 2];
    let _ = comp![if x = 1 { x } else { 0 } | x <- xs];
}
