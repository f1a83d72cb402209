//! The programs of the FCL paper (section 3): reversal, and reduction in steps that are generic in the level.
//!
//! The paper's versions come first, as it gives them; those that a GPU's memory can keep up with follow. Matrices are in
//! [`crate::matrix`].

use crate::Program;
use pumice::kernel::{Block, Forces, Grid, Ix, Loops, Pull, Push, Size, Storable, parts_for, warp, while_};
use pumice::{Elt, Lift};

/// Elements that fill the widest access of a thread, if they have 4 bytes.
pub const WIDE: usize = 4;

/// The elements from the last to the first, by the whole grid (`reverse`). Each thread takes neighbours, so that it reads
/// and writes wide where the length is a multiple of [`WIDE`].
pub fn reverse<T: Storable>(xs: Pull<T, Ix>) -> Push<Grid, T, Ix> {
    xs.reverse().push_by(WIDE)
}

/// The same in chunks (`revDistribute`): a block reverses a chunk, and the chunks are put together in reverse order.
pub fn rev_distribute<T: Storable>(chunk_size: usize, xs: Pull<T, Ix>) -> Push<Grid, T, Ix> {
    let length = xs.len();
    let chunks = xs.tiles(chunk_size).map(|chunk| chunk.reverse().push::<Block>());
    // The last chunk may be shorter, and it comes first.
    chunks.interleave(length, move |chunk, i| length - ((chunk + 1) * chunk_size as i64).min(length) + i)
}

/// One step of a reduction at any level: the first half with the second (`step`).
pub fn step<L: Loops, T: Storable, S: Size>(
    f: impl Fn(T::Form, T::Form) -> T::Form + 'static,
    xs: Pull<T, S>,
) -> Push<L, T, S> {
    let (low, high) = xs.halve();
    low.zip_with(high, f).push()
}

/// Reduces an array at a level, in steps that are unrolled (`red`). Its length is a power of two.
pub fn red<L: Forces, T: Storable>(
    f: impl Fn(T::Form, T::Form) -> T::Form + Clone + 'static,
    mut xs: Pull<T>,
) -> Push<L, T> {
    while xs.len() > 2 {
        xs = step::<L, T, usize>(f.clone(), xs).force();
    }
    if xs.len() == 2 { step(f, xs) } else { xs.push() }
}

/// The same in a loop of the kernel, as the paper has it: the first step is done on the way to the level's memory.
pub fn red_while<L: Forces, T: Storable>(
    f: impl Fn(T::Form, T::Form) -> T::Form + Clone + 'static,
    capacity: usize,
    first: Push<L, T, Ix>,
) -> Push<L, T> {
    let reduced = while_::<L, T>(capacity, first, |xs| xs.len().ne(1), move |xs| step(f.clone(), xs));
    Pull::new(1, move |_| reduced.head()).push()
}

/// The first step on a chunk of an array. Where the array ends within the chunk, `neutral` stands for what is not there.
fn first_step<T: Storable>(
    f: impl Fn(T::Form, T::Form) -> T::Form + Clone + 'static,
    neutral: T::Form,
    size: usize,
    chunk: Pull<T, Ix>,
) -> Push<Block, T> {
    let g = f.clone();
    chunk.if_whole(
        size,
        size / 2,
        move |chunk| step::<Block, T, usize>(f.clone(), chunk),
        move |chunk| step::<Block, T, usize>(g.clone(), chunk.padded(size, neutral.clone())),
    )
}

/// Reduces every chunk of an array in a block of its own (`reduceGrid`). The size of a chunk is a power of two, at least 2.
pub fn reduce_grid<T: Storable>(
    f: impl Fn(T::Form, T::Form) -> T::Form + Clone + 'static,
    neutral: T::Form,
    chunk_size: usize,
    xs: Pull<T, Ix>,
) -> Push<Grid, T, Ix> {
    let chunks = xs.tiles(chunk_size);
    chunks
        .map(move |chunk| {
            let halved = first_step(f.clone(), neutral.clone(), chunk_size, chunk).force();
            red::<Block, T>(f.clone(), halved)
        })
        .concat()
}

/// The same with the steps in a loop of the kernel (`reduceGridWhile`).
pub fn reduce_grid_while<T: Storable>(
    f: impl Fn(T::Form, T::Form) -> T::Form + Clone + 'static,
    neutral: T::Form,
    chunk_size: usize,
    xs: Pull<T, Ix>,
) -> Push<Grid, T, Ix> {
    let half = chunk_size / 2;
    xs.tiles(chunk_size)
        .map(move |chunk| {
            let halved = first_step(f.clone(), neutral.clone(), chunk_size, chunk);
            red_while::<Block, T>(f.clone(), half, halved.dynamic())
        })
        .concat()
}

/// Reduces every chunk of an array in a block of its own, each thread first by itself and then the threads among each
/// other (`reduceGridSeq`): what the paper's section 4 says it lacks. The operator commutes: a thread takes groups of
/// neighbours that are far from each other, and the lanes of a warp exchange what they have. A block has `threads` threads,
/// a multiple of 32.
pub fn reduce_grid_seq<T: Elt>(
    f: impl Fn(T::Exp, T::Exp) -> T::Exp + Copy + 'static,
    neutral: T::Exp,
    threads: usize,
    items: usize,
    xs: Pull<T, Ix>,
) -> Push<Grid, T, Ix> {
    let size = threads * items;
    let alone = move |part: Pull<T>| {
        let elements = (0..part.len() as i64).map(|i| part.at(i));
        red_lanes(f, elements.reduce(f).unwrap_or(neutral))
    };
    let parts = move |chunk: Pull<T>| chunk.coalesce_by(items, WIDE.min(items)).map(alone).push::<Block>();
    xs.tiles(size)
        .map(move |chunk| {
            let rest = move |chunk: Pull<T, Ix>| parts(chunk.padded(size, neutral));
            let in_warps = chunk.if_whole(size, threads, parts, rest).force();
            let warps = in_warps.every_nth(warp::WARP as usize);
            Pull::new(1, move |_| {
                let others = (1..warps.len() as i64).map(|i| warps.at(i));
                others.fold(warps.head(), f)
            })
            .push::<Block>()
        })
        .concat()
}

/// What all lanes of a warp have, reduced; every lane gets it. The operator commutes.
pub fn red_lanes<L: Lift>(f: impl Fn(L, L) -> L, own: L) -> L {
    let distances = std::iter::successors(Some(warp::WARP as i32 / 2), |d| (*d > 1).then_some(d / 2));
    distances.fold(own, |x, distance| f(x, warp::shuffle_xor(x, distance)))
}

/// How many results [`reduce_grid`] and the like give for an array of this length.
pub fn chunks_of(length: Ix, chunk_size: usize) -> Ix {
    parts_for(length, chunk_size)
}

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    Vec::new()
}
