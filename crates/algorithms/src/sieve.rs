//! The sieve of Eratosthenes in segments: a block strikes multiples out among the numbers of a segment, in its own memory, and counts
//! those that are left. No flag is ever in global memory.
//!
//! [`crate::irregular::sieve`] is the same in the array language.

use crate::fcl::{SumGrid, WIDE, red_lanes};
use crate::irregular::sieve::plain;
use crate::program::{Program, Tunable, Work, ready, same};
use pumice::kernel::{
    AtomicOp, Block, Grid, Ix, Loops, Mutable, Order, Pull, Push, parts_for, quotient, remainder, replicate,
    seq_until, warp,
};
use pumice::{Array, Dim1, Exp};

/// Division of a sieve's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Odd numbers of a segment: a multiple of four times the threads, at most 2²⁰.
    pub size: usize,
    /// Threads of a block, a multiple of 32.
    pub threads: usize,
}

/// Odd primes in rising order, divided by the execution scope that strikes their multiples out.
///
/// A small one has many multiples in a segment, so that all threads of a block share them; a large one has so few that a thread is soon done.
pub struct Primes<T> {
    /// Primes whose multiples a block's threads share.
    pub by_blocks: T,
    /// Primes whose multiples a warp's lanes share.
    pub by_warps: T,
    /// Primes whose multiples one thread strikes out alone.
    pub by_threads: T,
}

impl<'a> Primes<&'a [i32]> {
    /// Divides odd primes for segments of this kind.
    pub fn divided(odd_primes: &'a [i32], Segments { size, threads }: Segments) -> Self {
        // Threads that share a prime have at least `multiples` of its multiples each: finding the first one takes a division.
        let cut = |sharers: usize, multiples: usize| {
            odd_primes.partition_point(|prime| *prime as usize * sharers * multiples < size)
        };
        let (blocks, warps) = (cut(threads, 8), cut(warp::WARP as usize, 4));
        Primes {
            by_blocks: &odd_primes[..blocks],
            by_warps: &odd_primes[blocks..warps],
            by_threads: &odd_primes[warps..],
        }
    }
}

/// Counts the primes among the odd numbers of each segment below `limit`, which is below 2³¹ (`sieve`). The primes are all odd ones
/// that are not above the root of `limit`, or more.
pub fn sieve(
    Segments { size, threads }: Segments,
    primes: Primes<Pull<i32, Ix>>,
    limit: Ix,
) -> Push<Grid, i32, Ix> {
    // Place k of a segment that begins at `base` stands for the number 2 (base + k) + 1.
    let places = quotient(limit.max(0), Exp::from(2));
    Pull::<Push<Block, i32>, Ix>::new(parts_for(places, size), move |segment| {
        let base = segment * size as i64;
        let here = (places - base).min(size as i64);
        let struck = Mutable::<bool>::shared(replicate(size, Exp::from(false)));
        let strike = |place: Ix| {
            // Several threads may strike the same number.
            struck.atomic(AtomicOp::Store(Order::Relaxed), place, &[Exp::from(true)]);
        };
        // There are no numbers from the limit on, and 1 is no prime.
        Block::for_each(size as i64 - here, &|beyond| strike(here + beyond));
        Block::for_each(segment.eq(0).select(Exp::from(1), Exp::from(0)), &strike);
        let lanes = i64::from(warp::WARP);
        let divided =
            [(&primes.by_blocks, threads as i64), (&primes.by_warps, lanes), (&primes.by_threads, 1)];
        for (primes, sharers) in divided {
            strike_multiples(primes, sharers, base, size as i64, &strike);
        }
        count_unstruck(struck.freeze(), size, threads)
    })
    .concat()
}

/// Strikes the odd multiples of primes, from their squares on, out of a segment; so many threads share a prime.
fn strike_multiples(primes: &Pull<i32, Ix>, sharers: i64, base: Ix, size: i64, strike: &dyn Fn(Ix)) {
    let sharers = Exp::<i64>::from(sharers);
    Block::for_each(primes.len() * sharers, &|i| {
        // At least 1, so that the loop ends whatever the array of primes contains.
        let prime = primes.at(quotient(i, sharers)).cast::<i64>().max(1);
        // The multiple 2 j + 1 is at place p j + p / 2. That of p itself is its square, and the first one here may be a later one.
        let half = quotient(prime, Exp::from(2));
        let turn = quotient(base + half, prime).max(half) + remainder(i, sharers);
        let first = (turn * prime + half - base).min(size);
        let step = (prime * sharers).min(size).cast::<u32>();
        seq_until::<u32>(
            first.cast(),
            |place| place.ge(size as u32),
            |place| {
                strike(place.cast());
                place + step
            },
        );
    });
}

/// Counts the flags that are not set.
fn count_unstruck(struck: Pull<bool, Ix>, size: usize, threads: usize) -> Push<Block, i32> {
    let left = Pull::<i32>::new(size, move |place| struck.at(place).select(Exp::from(0), Exp::from(1)));
    let own = |flags: Pull<i32>| {
        let sum = (0..flags.len() as i64).fold(Exp::from(0), |sum, i| sum + flags.at(i));
        red_lanes(|a, b| a + b, sum)
    };
    let in_warps = left.coalesce_by(size / threads, WIDE).map(own).push::<Block>().force();
    let warps = in_warps.every_nth(warp::WARP as usize);
    Pull::new(1, move |_| (0..warps.len() as i64).fold(Exp::from(0), |sum, i| sum + warps.at(i))).push()
}

/// The programs of this file. The size of one is the limit below which it counts primes.
pub fn programs() -> Vec<Program> {
    vec![Program {
        name: "sieve",
        about: "how many odd primes there are below a limit, by segments that are sieved in blocks' own memory",
        small: 100_000,
        large: &[100_000_000],
        sizes: &[0, 1, 3, 10, 1000, 300_001],
        tunable: &[
            Tunable { name: "segment", values: &[1 << 14, 1 << 15, 3 << 14], default: 1 << 15 },
            Tunable { name: "threads", values: &[128, 256, 512], default: 256 },
        ],
        prepare: |compiler, n, settings| {
            let [size, threads] = ["segment", "threads"].map(|name| settings.get(name) as usize);
            let (segments, limit) = (Segments { size, threads }, n as i64);
            let odd: Vec<i32> = plain::primes(limit.isqrt() + 1).iter().skip(1).map(|p| *p as i32).collect();
            let divided = Primes::divided(&odd, segments);
            let by_blocks = compiler.upload(divided.by_blocks)?;
            let by_warps = compiler.upload(divided.by_warps)?;
            let by_threads = compiler.upload(divided.by_threads)?;
            let f = move |by_blocks, by_warps, by_threads, limit: Ix| {
                sieve(segments, Primes { by_blocks, by_warps, by_threads }, limit)
            };
            let kernel = compiler.kernel("sieve", threads as u32, f)?;
            let sum = SumGrid::new(compiler, 256, 16)?;
            let run = move || sum.run(&kernel.run((&by_blocks, &by_warps, &by_threads, limit))?);
            let check = move |found: &Array<Dim1, i32>| {
                let expected = plain::primes(limit).iter().filter(|prime| **prime > 2).count();
                Ok(same(&found.to_vec()?, &[expected as i32]))
            };
            Ok(ready(Work::Bytes(n / 2), run, check))
        },
    }]
}
