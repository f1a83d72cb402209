use pumice::prelude::*;

fn main() {
    let xs = use_(&[1i64, 2]);
    let _ = comp![1 | 0 <- xs];
    let _ = comp![x | Some(x) <- xs];
    let _ = comp![r | Shape::Circle { r } <- xs];
}
