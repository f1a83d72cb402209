//! Sums in the kernel language: a block sums 512 elements, and the kernel is run on its own results until one is left.
//!
//! `reduce` works at every level that has memory. Its loop is Rust's, so it is unrolled while the kernel is built; every
//! `force` writes to the level's memory and waits.
//!
//! ```text
//! 100000 elements, 196 sums of blocks, then 1
//! sum: 704982704
//! ```

#[macro_use]
mod print;

use pumice::Compiler;
use pumice::kernel::{Block, Forces, Grid, Ix, Pull, Push, Storable, parts_for};

/// Elements that a block sums.
const CHUNK: usize = 512;

/// Combines halves until one element is left. The length is a power of two.
fn reduce<L: Forces, T: Storable>(
    mut xs: Pull<T>,
    f: impl Fn(T::Form, T::Form) -> T::Form + Copy + 'static,
) -> Push<L, T> {
    while xs.len() > 1 {
        let (low, high) = xs.halve();
        xs = low.zip_with(high, f).push::<L>().force();
    }
    xs.push()
}

/// The sums of blocks; what is missing in the last one counts as 0.
fn sum_blocks(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    let whole = parts_for(xs.len(), CHUNK) * CHUNK as i64;
    let chunks = xs.padded(whole, 0.into()).split_up(CHUNK);
    chunks.map(|chunk| reduce::<Block, _>(chunk, |a, b| a + b)).concat()
}

fn main() -> pumice::Result<()> {
    let xs: Vec<i32> = (0..100_000).collect();
    let kernel = Compiler::new()?.kernel("sum_blocks", 256, sum_blocks)?;

    let mut sums = kernel.run(&xs)?;
    print!("{} elements, {} sums of blocks", xs.len(), sums.len());
    while sums.len() > 1 {
        // The sums stay on the device.
        sums = kernel.run(sums)?;
        print!(", then {}", sums.len());
    }
    let sum = sums.to_vec()?[0];
    println!("\nsum: {sum}");

    assert_eq!(sum, xs.iter().fold(0, |sum: i32, x| sum.wrapping_add(*x)));
    Ok(())
}
