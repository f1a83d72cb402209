//! The programs of the FCL paper (section 3): reversal, and reduction in steps that are generic in the level.
//!
//! The paper's versions come first, as it gives them; those that a GPU's memory can keep up with follow. Matrices are in
//! [`crate::matrix`].

use crate::program::{Prepared, Program, Tunable, Work, ready, same};
use pumice::kernel::{
    Block, Forces, Grid, Ix, Kernel, KernelFunction, Loops, Pull, Push, Size, Storable, parts_for, warp,
    while_,
};
use pumice::{Array, Compiler, Dim1, Elt, Lift, Result};

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
    let turned =
        chunks.interleave(length, move |chunk, i| length - ((chunk + 1) * chunk_size as i64).min(length) + i);
    // SAFETY: chunk `c` has the elements from `c * chunk_size` to below the next chunk's first, or the end, and is written
    // as far from the end as it was from the beginning; so every element is in one chunk, and every place is one's.
    unsafe { turned.assume_complete() }
}

/// Reverses every chunk through its block's memory (`revBlock`).
pub fn rev_block<T: Storable>(chunk_size: usize, xs: Pull<T, Ix>) -> Push<Grid, T, Ix> {
    let length = xs.len();
    let reversed =
        |chunk: Pull<T, Ix>, size| chunk.push::<Block>().force_within(size).reverse().push::<Block>();
    xs.tiles(chunk_size).map(move |chunk| reversed(chunk, chunk_size)).concat_by(chunk_size as i64, length)
}

/// The chunk of [`rev_block`] where a block has memory for it: more than any GPU gives without being asked.
const LARGE_CHUNK: usize = 16 << 10;

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

/// The first step on a chunk of an array. Where the array ends within the chunk, `neutral` stands for the missing elements.
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
/// other (`reduceGridSeq`), which the paper's section 4 says it lacks. The operator commutes: a thread takes groups of
/// neighbours that are far from each other, and the lanes of a warp exchange their values. A block has `threads` threads,
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

/// Reduces the values of all lanes of a warp; every lane gets the result. The operator commutes.
pub fn red_lanes<L: Lift>(f: impl Fn(L, L) -> L, own: L) -> L {
    let distances = std::iter::successors(Some(warp::WARP as i32 / 2), |d| (*d > 1).then_some(d / 2));
    distances.fold(own, |x, distance| f(x, warp::shuffle_xor(x, distance)))
}

/// Returns the number of results of [`reduce_grid`] and the like for an array of this length.
pub fn chunks_of(length: Ix, chunk_size: usize) -> Ix {
    parts_for(length, chunk_size)
}

/// A complete sum: a kernel that is run on its own results until one is left.
pub struct SumGrid {
    kernel: Kernel<(Pull<i32, Ix>,), i32>,
}

impl SumGrid {
    /// The kernel, with blocks of `threads` threads, a multiple of 32, that take `items` elements each.
    pub fn new(compiler: &Compiler, threads: usize, items: usize) -> Result<SumGrid> {
        let f = move |xs: Pull<i32, Ix>| reduce_grid_seq(|a, b| a + b, 0.into(), threads, items, xs);
        Ok(SumGrid { kernel: compiler.kernel("sumGrid", threads as u32, f)? })
    }

    /// The sum of an array, as an array of one element; it wraps.
    pub fn run(&self, xs: &Array<Dim1, i32>) -> Result<Array<Dim1, i32>> {
        if xs.is_empty() {
            return Ok(Array::from(vec![0]));
        }
        let mut sums = self.kernel.run(xs)?;
        while sums.len() > 1 {
            sums = self.kernel.run(&sums)?;
        }
        Ok(sums)
    }
}

/// Elements of a chunk whose sum the paper's programs give.
const CHUNK: usize = 512;
/// Sizes of arrays that every program takes: none, one, odd ones, more than three blocks.
pub(crate) const SIZES: &[usize] = &[0, 1, 31, 1000, 4096, 20011];

/// Numbers to work on.
fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).collect()
}

/// A program of one kernel from numbers to numbers.
fn of_numbers(
    compiler: &Compiler,
    n: usize,
    (name, threads): (&str, i64),
    f: impl KernelFunction<(Pull<i32, Ix>,), Result = Push<Grid, i32, Ix>>,
    expected: impl Fn(&[i32]) -> Vec<i32>,
) -> Result<Box<dyn Prepared>> {
    let xs = compiler.upload(numbers(n))?;
    let kernel = compiler.kernel(name, threads as u32, f)?;
    let results = expected(&numbers(n));
    let bytes = (n + results.len()) * size_of::<i32>();
    let check = move |found: &Array<Dim1, i32>| Ok(same(&found.to_vec()?, &results));
    Ok(ready(Work::Bytes(bytes), move || kernel.run(&xs), check))
}

fn reversed(xs: &[i32]) -> Vec<i32> {
    xs.iter().rev().copied().collect()
}

fn sums(size: usize, xs: &[i32]) -> Vec<i32> {
    let sum = |chunk: &[i32]| chunk.iter().fold(0, |sum: i32, x| sum.wrapping_add(*x));
    xs.chunks(size).map(sum).collect()
}

const THREADS: Tunable = Tunable { name: "threads", values: &[64, 128, 256, 512], default: 256 };
const ITEMS: Tunable = Tunable { name: "items", values: &[16, 32, 64, 128], default: 64 };

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    const REVERSE: Program = Program {
        name: "reverse",
        about: "an array from the last element to the first, four neighbours a thread",
        small: 20000,
        large: &[1 << 24, 1 << 26],
        sizes: SIZES,
        tunable: &[THREADS],
        prepare: |compiler, n, settings| {
            of_numbers(compiler, n, ("reverse", settings.get("threads")), reverse::<i32>, reversed)
        },
    };
    vec![
        REVERSE,
        Program {
            name: "revDistribute",
            about: "chunks reversed by blocks, and put together in reverse order",
            tunable: &[],
            prepare: |compiler, n, _| {
                let f = |xs: Pull<i32, Ix>| rev_distribute(1024, xs);
                of_numbers(compiler, n, ("revDistribute", 256), f, reversed)
            },
            ..REVERSE
        },
        Program {
            name: "revBlock",
            about: "chunks reversed in their blocks' memory, of 64 KiB where a block has so much",
            large: &[1 << 24],
            sizes: &[0, 1, 1000, 16 << 10, 70_000],
            tunable: &[],
            prepare: |compiler, n, _| {
                let fits =
                    compiler.device().profile().shared_bytes as usize >= LARGE_CHUNK * size_of::<i32>();
                let chunk_size = if fits { LARGE_CHUNK } else { LARGE_CHUNK / 4 };
                let f = move |xs: Pull<i32, Ix>| rev_block(chunk_size, xs);
                of_numbers(compiler, n, ("revBlock", 256), f, move |xs| {
                    xs.chunks(chunk_size).flat_map(|chunk| chunk.iter().rev().copied()).collect()
                })
            },
            ..REVERSE
        },
        Program {
            name: "reduceGrid",
            about: "sums of chunks of 512, halves added in steps that are unrolled",
            tunable: &[],
            prepare: |compiler, n, _| {
                let f = |xs: Pull<i32, Ix>| reduce_grid(|a, b| a + b, 0.into(), CHUNK, xs);
                of_numbers(compiler, n, ("reduceGrid", 256), f, |xs| sums(CHUNK, xs))
            },
            ..REVERSE
        },
        Program {
            name: "reduceGridWhile",
            about: "sums of chunks of 512, halves added in a loop of the kernel",
            tunable: &[],
            prepare: |compiler, n, _| {
                let f = |xs: Pull<i32, Ix>| reduce_grid_while(|a, b| a + b, 0.into(), CHUNK, xs);
                of_numbers(compiler, n, ("reduceGridWhile", 256), f, |xs| sums(CHUNK, xs))
            },
            ..REVERSE
        },
        Program {
            name: "reduceGridSeq",
            about: "sums of chunks of 4096, sixteen elements added by each thread first",
            tunable: &[],
            prepare: |compiler, n, _| {
                let f = |xs: Pull<i32, Ix>| reduce_grid_seq(|a, b| a + b, 0.into(), 256, 16, xs);
                of_numbers(compiler, n, ("reduceGridSeq", 256), f, |xs| sums(4096, xs))
            },
            ..REVERSE
        },
        Program {
            name: "sumGrid",
            about: "the sum of an array, by a kernel that is run again on its results",
            tunable: &[THREADS, ITEMS],
            prepare: |compiler, n, settings| {
                let xs = compiler.upload(numbers(n))?;
                let [threads, items] = ["threads", "items"].map(|name| settings.get(name) as usize);
                let sum = SumGrid::new(compiler, threads, items)?;
                let expected = numbers(n).iter().fold(0, |sum: i32, x| sum.wrapping_add(*x));
                let check = move |found: &Array<Dim1, i32>| Ok(same(&found.to_vec()?, &[expected]));
                Ok(ready(Work::Bytes(n * size_of::<i32>()), move || sum.run(&xs), check))
            },
            ..REVERSE
        },
    ]
}
