use pumice::prelude::*;

fn main() {
    let _ = comp![i | i <- 0..];
}
