//! The first programs of "Expressive Array Constructs in an Embedded GPU Kernel Programming Language" (Claessen, Sheeran and
//! Svensson, 2012), which brought push arrays to Obsidian. They show fusion, forcing, and the cost of a condition that a
//! push array does not need.
//!
//! Each works on blocks of a size that is known while the kernel is built, as in the paper, and a grid of them takes an
//! array of any length; elements at the end that do not fill a block are left out ([`whole_blocks`]). The sorting networks of the same paper
//! are in [`crate::networks`] and [`crate::sort`].

use crate::numbers::numbers;
use crate::program::{Prepared, Program, Work, ready, same};
use pumice::kernel::{Block, Forces, Grid, Item, ItemForm, Ix, KernelFunction, Pull, Push, Storable};
use pumice::{Compiler, Elt, Exp, Lift, Number, Result};

/// Elements of a block of [`sum`], [`reduce_s`] and [`reduce`], as the paper prints them.
pub const REDUCED: usize = 8;
/// Elements of a block of [`map_fusion`] and [`map_unfused`].
pub const MAPPED: usize = 32;
/// Elements that a block of [`cat_arrays`] takes of each of its arrays.
pub const APPENDED: usize = 16;
/// Elements that a block of [`zip_unpair`] takes of each of its arrays.
pub const ZIPPED: usize = 32;

/// The blocks of `size` elements of an array, without the elements at its end that do not fill one.
pub fn whole_blocks<T: Item>(xs: Pull<T, Ix>, size: usize) -> Pull<Pull<T>, Ix> {
    let whole = xs.len() / size as i64 * size as i64;
    xs.take(whole).split_up(size)
}

/// Adds neighbours until one element is left; every round is forced, so that a thread adds two elements in each.
pub fn sum_block<L: Forces, T: Number + Elt<Exp = Exp<T>>>(xs: Pull<T>) -> Pull<T>
where
    Exp<T>: ItemForm<Item = T>,
{
    match xs.len() {
        0 | 1 => xs,
        _ => sum_block::<L, T>(xs.pair().map(|(a, b)| a + b).push::<L>().force()),
    }
}

/// `sum`: the sums of blocks.
pub fn sum(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    whole_blocks(xs, REDUCED).map(|block| sum_block::<Block, _>(block).push::<Block>()).concat()
}

/// `mapFusion`: two maps, one after the other, that become one.
pub fn map_fusion(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    whole_blocks(xs, MAPPED).map(|block| block.map(|x| x * 2).map(|x| x + 1).push::<Block>()).concat()
}

/// `mapUnFused`: the same with the array between them in the block's memory.
pub fn map_unfused(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    whole_blocks(xs, MAPPED)
        .map(|block| block.map(|x| x * 2).push::<Block>().force().map(|x| x + 1).push::<Block>())
        .concat()
}

/// Combines the halves of an array, whose length is a power of two, element by element, until one element is left. Nothing
/// is forced, so one thread does all of it.
pub fn reduce_s_block<T: Item>(
    xs: Pull<T>,
    operator: impl Fn(T::Form, T::Form) -> T::Form + Copy + 'static,
) -> Pull<T> {
    match xs.len() {
        0 | 1 => xs,
        _ => {
            let (low, high) = xs.halve();
            reduce_s_block(low.zip_with(high, operator), operator)
        }
    }
}

/// Combines the halves of an array, whose length is a power of two, element by element, until one element is left. Every
/// round is forced: as many threads are at work as there are elements in it.
pub fn reduce_block<L: Forces, T: Storable>(
    xs: Pull<T>,
    operator: impl Fn(T::Form, T::Form) -> T::Form + Copy + 'static,
) -> Pull<T> {
    match xs.len() {
        0 | 1 => xs,
        _ => {
            let (low, high) = xs.halve();
            reduce_block::<L, T>(low.zip_with(high, operator).push::<L>().force(), operator)
        }
    }
}

/// `reduceS`: the reductions of blocks of `size` elements, a power of two, each by one thread.
pub fn reduce_s<L: Lift>(
    size: usize,
    operator: impl Fn(L, L) -> L + Copy + 'static,
) -> impl Fn(Pull<L::Elt, Ix>) -> Push<Grid, L::Elt, Ix> + Clone
where
    L::Elt: Elt<Exp = L>,
{
    move |xs| {
        whole_blocks(xs, size).map(move |block| reduce_s_block(block, operator).push::<Block>()).concat()
    }
}

/// `reduce`: the reductions of blocks of `size` elements, a power of two, each by `size / 2` threads.
pub fn reduce<L: Lift>(
    size: usize,
    operator: impl Fn(L, L) -> L + Copy + 'static,
) -> impl Fn(Pull<L::Elt, Ix>) -> Push<Grid, L::Elt, Ix> + Clone
where
    L::Elt: Elt<Exp = L>,
{
    move |xs| {
        whole_blocks(xs, size)
            .map(move |block| reduce_block::<Block, L::Elt>(block, operator).push::<Block>())
            .concat()
    }
}

/// Blocks of two arrays of the same length that are taken apart side by side and put together by `f`.
fn blocks_of_two(
    xs: Pull<i32, Ix>,
    ys: Pull<i32, Ix>,
    size: usize,
    f: impl Fn(Pull<i32>, Pull<i32>) -> Push<Block, i32> + 'static,
) -> Push<Grid, i32, Ix> {
    whole_blocks(xs, size).zip_with(whole_blocks(ys, size), f).concat()
}

/// `catArrays`: a block of each array, one after the other, as a pull array: every element asks which one it is from.
pub fn cat_arrays(xs: Pull<i32, Ix>, ys: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    blocks_of_two(xs, ys, APPENDED, |x, y| x.append(y).push())
}

/// `catArrayPs`: the same as a push array: half the threads, each with an element of both.
pub fn cat_array_ps(xs: Pull<i32, Ix>, ys: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    blocks_of_two(xs, ys, APPENDED, |x, y| x.push().append(y.push()))
}

/// `zippUnpair`: elements of the two arrays in turn, as a pull array: every element asks whether its index is even.
pub fn zip_unpair(xs: Pull<i32, Ix>, ys: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    blocks_of_two(xs, ys, ZIPPED, |x, y| x.zip(y).unpair().push())
}

/// `zippUnpairP`: the same as a push array: half the threads, each with a pair.
pub fn zip_unpair_p(xs: Pull<i32, Ix>, ys: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    blocks_of_two(xs, ys, ZIPPED, |x, y| x.zip(y).push().unpair())
}

/// A program of one array.
fn of_one<F: KernelFunction<(Pull<i32, Ix>,), Result = Push<Grid, i32, Ix>>>(
    compiler: &Compiler,
    (name, threads, f): (&str, u32, F),
    size: usize,
    expected: fn(&[i32]) -> Vec<i32>,
) -> Result<Box<dyn Prepared>> {
    let kernel = compiler.kernel(name, threads, f)?;
    let xs = numbers(size);
    let input = compiler.upload(&xs)?;
    let bytes = 4 * (size + expected(&xs).len());
    Ok(ready(
        Work::Bytes(bytes),
        move || kernel.run(&input),
        move |found| Ok(same(&found.to_vec()?, &expected(&xs))),
    ))
}

/// A program of two arrays of the same length.
fn of_two<F: KernelFunction<(Pull<i32, Ix>, Pull<i32, Ix>), Result = Push<Grid, i32, Ix>>>(
    compiler: &Compiler,
    (name, threads, f): (&str, u32, F),
    size: usize,
    expected: fn(&[i32], &[i32]) -> Vec<i32>,
) -> Result<Box<dyn Prepared>> {
    let kernel = compiler.kernel(name, threads, f)?;
    let (xs, ys) = (numbers(size), numbers(size + 1).split_off(1));
    let inputs = (compiler.upload(&xs)?, compiler.upload(&ys)?);
    let run = move || kernel.run((&inputs.0, &inputs.1));
    Ok(ready(Work::Bytes(16 * size), run, move |found| Ok(same(&found.to_vec()?, &expected(&xs, &ys)))))
}

/// The sums of blocks.
fn block_sums(xs: &[i32]) -> Vec<i32> {
    xs.chunks_exact(REDUCED).map(|block| block.iter().fold(0, |sum: i32, x| sum.wrapping_add(*x))).collect()
}

/// Twice each element of a whole block, plus one.
fn doubled_and_one(xs: &[i32]) -> Vec<i32> {
    let whole = xs.len() / MAPPED * MAPPED;
    xs[..whole].iter().map(|x| x.wrapping_mul(2).wrapping_add(1)).collect()
}

/// Whole blocks of two arrays in turn.
fn blocks_in_turn(xs: &[i32], ys: &[i32]) -> Vec<i32> {
    let blocks = xs.chunks_exact(APPENDED).zip(ys.chunks_exact(APPENDED));
    blocks.flat_map(|(x, y)| [x, y].concat()).collect()
}

/// Elements of two arrays in turn, as far as their blocks are whole.
fn in_turn(xs: &[i32], ys: &[i32]) -> Vec<i32> {
    let whole = xs.len().min(ys.len()) / ZIPPED * ZIPPED;
    xs.iter().zip(ys).take(whole).flat_map(|(x, y)| [*x, *y]).collect()
}

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    const NAMELESS: Program = Program {
        name: "",
        about: "",
        small: 200,
        large: &[1 << 24],
        sizes: &[0, 1, 8, 32, 100, 4097],
        tunable: &[],
        prepare: |_, _, _| Ok(ready(Work::Unknown, || Ok(()), |()| Ok(Ok(())))),
    };
    vec![
        Program {
            name: "sum",
            about: "sums of blocks of 8, adding neighbours",
            prepare: |compiler, size, _| of_one(compiler, ("sum", 4, sum), size, block_sums),
            ..NAMELESS
        },
        Program {
            name: "mapFusion",
            about: "two maps that become one",
            prepare: |compiler, size, _| {
                of_one(compiler, ("mapFusion", 32, map_fusion), size, doubled_and_one)
            },
            ..NAMELESS
        },
        Program {
            name: "mapUnFused",
            about: "two maps with an array in shared memory between them",
            prepare: |compiler, size, _| {
                of_one(compiler, ("mapUnFused", 32, map_unfused), size, doubled_and_one)
            },
            ..NAMELESS
        },
        Program {
            name: "reduceS",
            about: "sums of blocks of 8, each by one thread",
            prepare: |compiler, size, _| {
                let f = reduce_s(REDUCED, |a: Exp<i32>, b| a + b);
                of_one(compiler, ("reduceS", 1, f), size, block_sums)
            },
            ..NAMELESS
        },
        Program {
            name: "reduce",
            about: "sums of blocks of 8, adding halves",
            prepare: |compiler, size, _| {
                let f = reduce(REDUCED, |a: Exp<i32>, b| a + b);
                of_one(compiler, ("reduce", 4, f), size, block_sums)
            },
            ..NAMELESS
        },
        Program {
            name: "catArrays",
            about: "two arrays one after the other as a pull array, with a condition",
            prepare: |compiler, size, _| {
                of_two(compiler, ("catArrays", 32, cat_arrays), size, blocks_in_turn)
            },
            ..NAMELESS
        },
        Program {
            name: "catArrayPs",
            about: "two arrays one after the other as a push array, without a condition",
            prepare: |compiler, size, _| {
                of_two(compiler, ("catArrayPs", 16, cat_array_ps), size, blocks_in_turn)
            },
            ..NAMELESS
        },
        Program {
            name: "zippUnpair",
            about: "elements of two arrays in turn as a pull array, with a condition",
            prepare: |compiler, size, _| of_two(compiler, ("zippUnpair", 64, zip_unpair), size, in_turn),
            ..NAMELESS
        },
        Program {
            name: "zippUnpairP",
            about: "elements of two arrays in turn as a push array, without a condition",
            prepare: |compiler, size, _| of_two(compiler, ("zippUnpairP", 32, zip_unpair_p), size, in_turn),
            ..NAMELESS
        },
    ]
}
