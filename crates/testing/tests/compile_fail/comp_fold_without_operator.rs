use pumice::prelude::*;

fn main() {
    let xs = use_(&[1i64, 2]);
    let _ = fold!(0; x | x <- xs);
    let _ = count![x | x <- xs];
}
