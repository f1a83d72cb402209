use pumice::prelude::*;

fn main() {
    let ns = use_(&[1i64, 2]);
    let _ = comp![(n, row) | n <- ns, let row = [j | j <- 0..n]];
    let _ = comp![row.reverse() | n <- ns, let row = [j | j <- 0..n]];
    let _ = comp![row.filter(|x| x > n).sum() | n <- ns, let row = [j | j <- 0..n]];
    let _ = comp![sum![row | row <- 0..n] | n <- ns, let row = [j | j <- 0..n], row.sum() > 0];
    let _ = comp![row.fold(0) | n <- ns, let row = [j | j <- 0..n]];
    let _ = comp![[(n, k, j) | j <- 0..n, group by k = j % 2] | n <- ns];
    let _ = comp![[j | j <- 0..n, take j] | n <- ns];
    let _ = comp![x | n <- ns, let row = [j | j <- 0..n], x <- row[0]];
}
