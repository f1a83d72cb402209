use pumice::prelude::*;

fn main() {
    let xs = use_(&[1i64, 2]);
    let _ = comp![x | x <- xs, sort by x];
    let _ = comp![x | x <- xs, limit 5];
    let _ = comp![x | x <- xs, x > 0 , x desc];
    let _ = comp![x | x <- xs, shuffle x];
    let _ = comp![x | x <- xs if x > 0];
    let _ = comp![x for x in xs];
    let _ = comp![x | x <- xs, not x];
}
