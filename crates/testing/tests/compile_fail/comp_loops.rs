use pumice::prelude::*;

fn main() {
    let ns = use_(&[1i64, 2]);
    let _ = comp![n | n <- ns, while n > 1];
    let _ = comp![n | n <- ns, while n > 1 { n / 2 }];
    let _ = comp![n | n <- ns, while n > 1 { k = n / 2 }];
    let _ = comp![n | n <- ns, while n > 1 { let k = n / 2 }];
    let _ = comp![n | n <- ns, while n > 1 { n = [j | j <- 0..n] }];
    let _ = comp![sum![k | k <- 0..n, while k > 3 { k = k / 2 }, order by k] | n <- ns];
}
