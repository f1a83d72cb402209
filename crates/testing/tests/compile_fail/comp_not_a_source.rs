use pumice::prelude::*;

fn main() {
    let xs = vec![1i64, 2];
    let _ = comp![x | x <- xs];
}
