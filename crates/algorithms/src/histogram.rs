//! Histograms: how often each bin is hit, counted with atomics.

use crate::fcl::WIDE;
use crate::program::{Prepared, Program, Tunable, Work, ready, same};
use pumice::kernel::{
    Block, Grid, Ix, KernelFunction, Loops, Mutable, Pull, Within, block_threads, force_scalar, parts_for,
    remainder, replicate, warp,
};
use pumice::{Array, Compiler, Dim1, Exp, Result};

/// Adds the elements of an array to the bins that are the first parameter of [`histogram_global`]: each one by itself, in
/// the memory of all (`histogramGlobal`). An element's bin is the remainder of the element, as a number without a sign,
/// divided by the number of bins.
pub fn histogram_global(bins: Mutable<i32>, xs: Pull<i32, Ix>) {
    let count = bins.len();
    let add = |x: Exp<i32>| {
        bins.atomic_add(remainder(x.cast::<u32>().cast::<i64>(), count), 1);
    };
    let threads = i64::from(block_threads());
    Block::distribute(parts_for(xs.len(), threads as usize), &|block| {
        let first = block * threads;
        Block::for_each((xs.len() - first).min(threads), &|t| add(xs.at(first + t)));
    });
}

/// Division of a histogram's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Bins, a power of two.
    pub bins: usize,
    /// Threads of a block, a multiple of 32.
    pub threads: usize,
    /// Elements that a thread takes, a multiple of 4.
    pub items: usize,
}

impl Division {
    /// A division that suits a GPU, for the bytes of a number.
    pub const GPU: Division = Division { bins: 256, threads: 256, items: 64 };
}

/// Elements that a thread loads before it counts them.
const AT_ONCE: usize = 16;

/// Adds the elements of an array to bins by the lowest bits of each (`histogram`). A block counts in its own memory, where
/// every warp has bins of its own, so that few threads want the same one; in the end it adds its counts to those of all.
pub fn histogram(division: Division, bins: Mutable<i32>, xs: Pull<i32, Ix>) {
    let Division { bins: count, threads, items } = division;
    let (size, bin_count) = (threads * items, count as i64);
    let warps = threads / warp::WARP as usize;
    let tiles = xs.tiles(size);
    Block::distribute(tiles.len(), &|block| {
        let counts = Mutable::<i32>::shared(replicate(count * warps, Exp::from(0)));
        let own = move |thread: Ix| (thread / i64::from(warp::WARP)) * bin_count;
        let (all, some) = (counts.clone(), counts.clone());
        let add = move |counts: &Mutable<i32>, thread: Ix, x: Exp<i32>| {
            counts.atomic_add(own(thread) + (x.cast::<i64>() & (bin_count - 1)), 1);
        };
        tiles.at(block).do_whole(
            size,
            move |tile| {
                Block::for_each(Exp::from(threads as i64), &|thread| {
                    let part = tile.clone().coalesce_by(items, WIDE).at(thread);
                    for first in (0..items).step_by(AT_ONCE) {
                        // All loads before any count, so that they become wide ones.
                        let indices = first..items.min(first + AT_ONCE);
                        let some: Vec<_> = indices.map(|i| force_scalar(part.at(i as i64))).collect();
                        some.into_iter().for_each(|x| add(&all, thread, x));
                    }
                });
            },
            move |tile| {
                Block::for_each(tile.len(), &|i| {
                    add(&some, i % threads as i64, tile.at(i));
                });
            },
        );
        let counts = counts.freeze();
        Block::for_each(Exp::from(bin_count), &|bin| {
            let copies = (0..warps as i64).map(|warp| counts.at(warp * bin_count + bin));
            let sum = copies.fold(Exp::from(0), |sum, count| sum + count);
            bins.atomic_add(bin, sum);
        });
    });
}

/// Numbers of which no bin has all.
fn numbers(n: usize) -> Vec<i32> {
    (0..n as u32).map(|i| (i.wrapping_mul(2654435761) >> 7) as i32).collect()
}

/// A program that counts in so many bins.
fn counting(
    compiler: &Compiler,
    n: usize,
    (name, threads, bins): (&str, usize, usize),
    f: impl KernelFunction<(Mutable<i32>, Pull<i32, Ix>), Result = ()>,
) -> Result<Box<dyn Prepared>> {
    let elements = numbers(n);
    let xs = compiler.upload(&elements)?;
    let kernel = compiler.kernel(name, threads as u32, f)?;
    let zeros = compiler.kernel("zeros", 256, |n: Ix| replicate(n, Exp::from(0i32)).push::<Grid>())?;
    let run = move || {
        let mut counts = zeros.run((bins as i64,))?;
        kernel.run((&mut counts, &xs))?;
        Ok(counts)
    };
    let check = move |found: &Array<Dim1, i32>| {
        let mut counts = vec![0; bins];
        elements.iter().for_each(|x| counts[*x as u32 as usize % bins] += 1);
        Ok(same(&found.to_vec()?, &counts))
    };
    Ok(ready(Work::Bytes(n * size_of::<i32>()), run, check))
}

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    const PRIVATE: Program = Program {
        name: "histogram",
        about: "how often each of 256 values comes, counted in the blocks' own memory first",
        small: 20000,
        large: &[1 << 24, 1 << 26],
        sizes: crate::fcl::SIZES,
        tunable: &[Tunable { name: "items", values: &[16, 32, 64, 128], default: 64 }],
        prepare: |compiler, n, settings| {
            let division = Division { items: settings.get("items") as usize, ..Division::GPU };
            let f = move |bins: Mutable<i32>, xs: Pull<i32, Ix>| histogram(division, bins, xs);
            counting(compiler, n, ("histogram", division.threads, division.bins), f)
        },
    };
    vec![
        PRIVATE,
        Program {
            name: "histogramGlobal",
            about: "how often each bin is hit, counted in the memory of all",
            tunable: &[Tunable { name: "bins", values: &[256, 1000, 1 << 16, 1 << 20], default: 256 }],
            prepare: |compiler, n, settings| {
                let bins = settings.get("bins") as usize;
                counting(compiler, n, ("histogramGlobal", 256, bins), histogram_global)
            },
            ..PRIVATE
        },
    ]
}
