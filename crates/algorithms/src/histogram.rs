//! Histograms: how often each bin is hit, counted with atomics.

use crate::Program;
use crate::fcl::WIDE;
use pumice::Exp;
use pumice::kernel::{
    Block, Ix, Loops, Mutable, Pull, Within, block_threads, force_scalar, parts_for, remainder, replicate,
    warp,
};

/// Adds the elements of an array to the bins that are the first parameter of [`histogram_global`]: each one by itself, in
/// the memory of all (`histogramGlobal`). An element's bin is what is left of it, as a number without a sign, when the
/// bins are taken away as often as possible.
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

/// How the work of a histogram is divided.
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
    /// What suits a GPU, for the bytes of a number.
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

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    Vec::new()
}
