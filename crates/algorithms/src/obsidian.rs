//! The first programs of "Expressive Array Constructs in an Embedded GPU Kernel Programming Language" (Claessen, Sheeran and
//! Svensson, 2012), which brought push arrays to Obsidian: what fuses, what forcing does, and what a condition costs that a
//! push array does not need.
//!
//! Each works on blocks of a size that is known while the kernel is built, as in the paper, and a grid of them takes an
//! array of any length; elements at the end that do not fill a block are left out. The sorting networks of the same paper
//! are in [`crate::networks`] and [`crate::sort`].

use crate::Program;
use pumice::layers::kernel::{Block, Form, Forces, Grid, Item, Ix, Pull, Push, Storable};
use pumice::{Elt, Exp, Lift, Number};

/// Elements of a block of [`sum`], [`reduce_s`] and [`reduce`], as the paper prints them.
pub const REDUCED: usize = 8;
/// Elements of a block of [`map_fusion`] and [`map_unfused`].
pub const MAPPED: usize = 32;
/// Elements that a block of [`cat_arrays`] takes of each of its arrays.
pub const APPENDED: usize = 16;
/// Elements that a block of [`zip_unpair`] takes of each of its arrays.
pub const ZIPPED: usize = 32;

/// Adds neighbours until one element is left; every round is forced, so that a thread adds two elements in each.
pub fn sum_block<L: Forces, T: Number>(xs: Pull<T>) -> Pull<T>
where
    Exp<T>: Form<Item = T>,
    T: Elt<Exp = Exp<T>>,
{
    match xs.len() {
        0 | 1 => xs,
        _ => sum_block::<L, T>(xs.pair().map(|(a, b)| a + b).push::<L>().force()),
    }
}

/// `sum`: the sums of blocks.
pub fn sum(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    xs.split_up(REDUCED).map(|block| sum_block::<Block, _>(block).push::<Block>()).concat()
}

/// `mapFusion`: two maps, one after the other, that become one.
pub fn map_fusion(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    xs.split_up(MAPPED).map(|block| block.map(|x| x * 2).map(|x| x + 1).push::<Block>()).concat()
}

/// `mapUnFused`: the same with the array between them in the block's memory.
pub fn map_unfused(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    xs.split_up(MAPPED)
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
    move |xs| xs.split_up(size).map(move |block| reduce_s_block(block, operator).push::<Block>()).concat()
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
        xs.split_up(size).map(move |block| reduce_block::<Block, L::Elt>(block, operator).push::<Block>()).concat()
    }
}

/// Blocks of two arrays that are taken apart side by side, as far as both go, and put together by `f`.
fn blocks_of_two(
    xs: Pull<i32, Ix>,
    ys: Pull<i32, Ix>,
    size: usize,
    f: impl Fn(Pull<i32>, Pull<i32>) -> Push<Block, i32> + 'static,
) -> Push<Grid, i32, Ix> {
    xs.split_up(size).zip_with(ys.split_up(size), f).concat()
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

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    Vec::new()
}
