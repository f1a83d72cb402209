use pumice::prelude::*;

fn main() {
    let xs = use_(&[1i64, 2]);
    let _ = comp![x | order by x, x <- xs];
    let _ = comp![x | x <- xs, distinct, x > 1];
    let _ = comp![x | x <- xs, order by];
}
