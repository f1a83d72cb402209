//! A histogram: memory that changes. Every block counts in memory of its own, atomically, and adds its counts to those of
//! all in the end.
//!
//! ```text
//! letters of a text of 3599 bytes
//! a 244 ##################
//! e 244 ##################
//! i 122 #########
//! o 305 #######################
//! u 122 #########
//! ```

#[macro_use]
mod print;

use pumice::kernel::{Block, Ix, Loops, Mutable, Pull, Within, replicate};
use pumice::{Compiler, Exp};

/// Elements that a block counts.
const TILE: usize = 1024;
const BINS: usize = 256;

/// Adds to `bins[x]` how often `x` occurs. An element that has no bin is an error, which names this file and the line.
fn histogram(bins: Mutable<u32>, xs: Pull<u32, Ix>) {
    let tiles = xs.tiles(TILE);
    Block::distribute(tiles.len(), &|block| {
        let tile = tiles.at(block);
        let counts = Mutable::shared(replicate(BINS, Exp::<u32>::from(0)));
        Block::for_each(tile.len(), &|i| {
            counts.atomic_add(tile.at(i).cast::<i64>(), 1);
        });
        // Waits for the block's threads; from here on nobody changes the counts.
        let counts = counts.freeze();
        Block::for_each(counts.len(), &|bin| {
            bins.atomic_add(bin, counts.at(bin));
        });
    });
}

fn main() -> pumice::Result<()> {
    let text = "the quick brown fox jumps over the lazy dog, once and again".repeat(61);
    let bytes: Vec<u32> = text.bytes().map(u32::from).collect();

    let compiler = Compiler::new()?;
    let kernel = compiler.kernel("histogram", 256, histogram)?;
    let mut bins = compiler.upload([0u32; BINS])?;
    kernel.run((&mut bins, &bytes))?;
    let bins = bins.to_vec()?;

    println!("letters of a text of {} bytes", bytes.len());
    for letter in "aeiou".chars() {
        let count = bins[letter as usize];
        assert_eq!(count as usize, bytes.iter().filter(|byte| **byte == letter as u32).count());
        println!("{letter} {count:>3} {}", "#".repeat(count as usize / 13));
    }
    Ok(())
}
