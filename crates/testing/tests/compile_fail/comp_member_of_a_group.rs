use pumice::prelude::*;

fn main() {
    let xs = use_(&[(1i64, 2i64)]);
    let _ = comp![(k, v) | (k, v) <- xs, group by k];
    let _ = comp![sum![v * odd] | (k, v) <- xs, group by odd = k % 2];
}
