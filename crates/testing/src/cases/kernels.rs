//! Kernels of users inside array programs: consumers that are fused with them, and consumers that need their elements in memory.

use crate::data::{FEW_SIZES, SIZES, Sample, values};
use crate::{Harness, Outcome};
use pumice::kernel::{Block, Grid, Ix, Pull, Push, apply};
use pumice::prelude::*;

/// Reverses the elements.
fn reversed<T: Elt>(xs: Pull<T, Ix>) -> Push<Grid, T, Ix> {
    xs.reverse().push()
}

/// Adds up parts of 64 elements; an incomplete last part is left out.
fn part_sums(xs: Pull<i64, Ix>) -> Push<Grid, i64, Ix> {
    let sum = |part: Pull<i64>| {
        let mut xs = part;
        while xs.len() > 1 {
            let (low, high) = xs.halve();
            xs = low.zip_with(high, |a, b| a + b).push::<Block>().force();
        }
        xs.push::<Block>()
    };
    let whole = xs.len() / 64 * 64;
    xs.take(whole).split_up(64).map(sum).concat()
}

/// Writes each element and its negative, both by one thread.
fn with_negatives(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    xs.map(|x| (x, -x)).push::<Grid>().unpair()
}

/// Writes the elements to the even places of an array that is twice as long.
fn spread(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    let length = xs.len() * 2;
    xs.imap(|i, x| (i * 2, x)).scatter(length)
}

fn of_every_type<T: Sample + Copy + PartialEq + std::fmt::Debug>(h: &Harness) -> Outcome {
    // Read at the same index as another array, and written unchanged.
    let program =
        h.compile(|xs: Acc<Vector<T>>, ys: Acc<Vector<T>>| apply("reversed", 64, reversed::<T>, xs).zip(ys))?;
    let alone = h.compile(|xs: Acc<Vector<T>>| apply("reversed", 64, reversed::<T>, xs))?;
    for n in FEW_SIZES {
        let (xs, ys) = (values::<T>(1, n), values::<T>(2, n));
        let expected: Vec<(T, T)> = xs.iter().rev().copied().zip(ys.iter().copied()).collect();
        program.check((&xs, &ys), &expected).map_err(|m| format!("{n} pairs: {m}"))?;
        let expected: Vec<T> = xs.iter().rev().copied().collect();
        alone.check(&xs, &expected).map_err(|m| format!("{n} alone: {m}"))?;
    }
    Ok(())
}

pub fn kernels_of_every_type(h: &Harness) -> Outcome {
    for_every_type!(of_every_type, h)
}

pub fn maps_and_folds_of_kernels(h: &Harness) -> Outcome {
    let sums = h.compile(|xs: Acc<Vector<i64>>| apply("part_sums", 64, part_sums, xs).map(|x| x * 2 + 1))?;
    let total = h.compile(|xs: Acc<Vector<i64>>| {
        apply("part_sums", 64, part_sums, xs.map(|x| x % 1000)).map(|x| x * x).sum()
    })?;
    let pairs = h.compile(|xs: Acc<Vector<i32>>| {
        apply("with_negatives", 96, with_negatives, xs).imap(|i, x| x.cast::<i64>() * 3 + i)
    })?;
    for n in SIZES {
        let xs = values::<i64>(3, n);
        let parts = |f: fn(i64) -> i64| -> Vec<i64> {
            let sum = |part: &[i64]| part.iter().fold(0i64, |sum, x| sum.wrapping_add(f(*x)));
            xs.chunks_exact(64).map(sum).collect()
        };
        let expected: Vec<i64> = parts(|x| x).iter().map(|sum| sum.wrapping_mul(2).wrapping_add(1)).collect();
        sums.check(&xs, &expected).map_err(|m| format!("sums of {n}: {m}"))?;
        let expected =
            parts(|x| x % 1000).iter().fold(0i64, |all, sum| all.wrapping_add(sum.wrapping_mul(*sum)));
        total.check(&xs, &[expected]).map_err(|m| format!("total of {n}: {m}"))?;
        let xs = values::<i32>(4, n);
        let both = xs.iter().flat_map(|x| [*x, x.wrapping_neg()]);
        let expected: Vec<i64> =
            both.enumerate().map(|(i, x)| i64::from(x).wrapping_mul(3).wrapping_add(i as i64)).collect();
        pairs.check(&xs, &expected).map_err(|m| format!("{n} and their negatives: {m}"))?;
    }
    Ok(())
}

pub fn what_listens_to_kernels(h: &Harness) -> Outcome {
    let counts = h.compile(|xs: Acc<Vector<u32>>| {
        apply("reversed", 64, reversed::<u32>, xs).histogram(10, |x| (x % 10).cast::<i64>())
    })?;
    let placed = h.compile(|xs: Acc<Vector<i32>>| {
        let n = xs.size();
        let kernel = apply("reversed", 32, reversed::<i32>, xs);
        kernel.permute(|new, _| new, fill(n, constant(-1)), move |i| n - 1 - i)
    })?;
    let kept =
        h.compile(|xs: Acc<Vector<i32>>| apply("reversed", 32, reversed::<i32>, xs).filter(|x| x.gt(0)))?;
    let joined = h.compile(|xs: Acc<Vector<i32>>| {
        let kernel = apply("reversed", 32, reversed::<i32>, xs.clone());
        kernel.map(|x| x ^ 1).append(xs)
    })?;
    // A fold whose operator does not commute, and a read by index: both need the elements in memory.
    let first = h.compile(|xs: Acc<Vector<i32>>| {
        apply("reversed", 32, reversed::<i32>, xs).fold(-1, |a, b| a.eq(-1).select(b, a))
    })?;
    for n in FEW_SIZES {
        let xs = values::<u32>(5, n);
        let mut expected = vec![0u32; 10];
        xs.iter().for_each(|x| expected[*x as usize % 10] += 1);
        counts.check(&xs, &expected).map_err(|m| format!("counts of {n}: {m}"))?;
        let xs: Vec<i32> = values::<i32>(6, n).into_iter().map(|x| if x == -1 { 7 } else { x }).collect();
        placed.check(&xs, &xs).map_err(|m| format!("{n} placed: {m}"))?;
        let expected: Vec<i32> = xs.iter().rev().copied().filter(|x| *x > 0).collect();
        kept.check(&xs, &expected).map_err(|m| format!("{n} filtered: {m}"))?;
        let expected: Vec<i32> = xs.iter().rev().map(|x| x ^ 1).chain(xs.iter().copied()).collect();
        joined.check(&xs, &expected).map_err(|m| format!("{n} joined: {m}"))?;
        let expected = xs.last().copied().unwrap_or(-1);
        first.check(&xs, &[expected]).map_err(|m| format!("first of {n}: {m}"))?;
    }
    Ok(())
}

pub fn elements_that_a_kernel_leaves_out_are_zero(h: &Harness) -> Outcome {
    let more = h.compile(|xs: Acc<Vector<i32>>| apply("spread", 64, spread, xs).map(|x| x + 1))?;
    let count = h.compile(|xs: Acc<Vector<i32>>| apply("spread", 64, spread, xs).map(|x| x + 1).sum())?;
    for n in FEW_SIZES {
        let xs: Vec<i32> = (1..=n as i32).collect();
        let expected: Vec<i32> = xs.iter().flat_map(|x| [x + 1, 1]).collect();
        more.check(&xs, &expected).map_err(|m| format!("{n}: {m}"))?;
        let sum = expected.iter().fold(0i32, |a, b| a.wrapping_add(*b));
        count.check(&xs, &[sum]).map_err(|m| format!("sum of {n}: {m}"))?;
    }
    Ok(())
}

pub fn kernels_that_fail_inside_programs(h: &Harness) -> Outcome {
    let taken =
        |xs: Pull<i64, Ix>, n: Exp<i64>| -> Push<Grid, i64, Ix> { Pull::new(n, move |i| xs.at(i)).push() };
    let program = move |xs: Acc<Vector<i64>>, n: Exp<i64>| apply("taken", 32, taken, (xs, n)).map(|x| x + 1);
    let compiled = h.compile(program)?;
    compiled.check((&[1, 2, 3], 3), &[2, 3, 4])?;
    let message = "index 3 out of bounds for length 3 in at at";
    h.expect_failure(compiled.run((&[1, 2, 3], 4)), &[message, file!()])?;
    let sum = h.compile(move |xs: Acc<Vector<i64>>, n: Exp<i64>| program(xs, n).sum())?;
    h.expect_failure(sum.run((&[1, 2, 3], 4)), &[message, file!()])
}
