//! Programs over irregular data, in the array language: nested loops of different lengths in a sequential program
//! are written with comprehensions, `expand` and `permute`. Nothing in here is a kernel, and nothing is tuned for a device.
//!
//! Each file has one subject: functions on [`Acc`](pumice::Acc) arrays, and the same in plain Rust in a module `plain`, which
//! examples and the conformance suite compare with.

pub mod graphs;
pub mod neighbours;
pub mod renderer;
pub mod shapes;
pub mod sieve;
pub mod sparse;
pub mod tpch;
pub mod triples;
pub mod words;

/// Numbers that look random and are the same in every run, for inputs.
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed)
    }

    /// The next 64 bits, by the SplitMix64 generator of Steele, Lea and Flood.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit; 0 if that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// A number of a range, whose end is not part of it.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        from + self.below(to.abs_diff(from) as usize) as i64
    }
}
