//! Sorts, by digits and by merging, against those of plain Rust.

use crate::data::{Sample, values};
use crate::{Harness, Outcome};
use pumice::prelude::*;
use std::cmp::Ordering;

/// Rows that a block sorts, a tile, and more than three of them on any device.
const SIZES: [usize; 6] = [0, 1, 31, 33, 1000, 24_001];

fn order_of_f32(a: &f32, b: &f32) -> Ordering {
    a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(b))
}

fn sorted<T: Clone>(xs: &[T], order: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let mut xs = xs.to_vec();
    xs.sort_by(order);
    xs
}

fn sorts_of<T: Sample>(h: &Harness, sizes: &[usize], order: impl Fn(&T, &T) -> Ordering) -> Outcome {
    let rising = h.compile(|xs: Acc<Vector<T>>| xs.sort())?;
    for size in sizes {
        let xs = values::<T>(140, *size);
        rising.check(&xs, &sorted(&xs, &order))?;
    }
    Ok(())
}

pub fn sorts_of_every_type(h: &Harness) -> Outcome {
    sorts_of::<i32>(h, &SIZES, i32::cmp)?;
    sorts_of::<u32>(h, &[1000], u32::cmp)?;
    sorts_of::<i64>(h, &[1000], i64::cmp)?;
    sorts_of::<u64>(h, &[1000], u64::cmp)?;
    sorts_of::<f32>(h, &[1000], order_of_f32)?;
    sorts_of::<bool>(h, &[1000], bool::cmp)?;
    sorts_of::<f64>(h, &[1000], |a, b| a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(b)))?;
    sorts_of::<(i32, (f64, bool))>(h, &[33, 24_001], |(a, (b, c)), (d, (e, f))| {
        a.cmp(d).then(b.is_nan().cmp(&e.is_nan())).then(b.total_cmp(e)).then(c.cmp(f))
    })
}

pub fn floats_and_options_in_order(h: &Harness) -> Outcome {
    let nan = f32::NAN;
    let xs = [0.0, nan, -1.5, f32::INFINITY, -0.0, f32::NEG_INFINITY, -nan, 1e-40, -1e-40, 7.0];
    let expected = [f32::NEG_INFINITY, -1.5, -1e-40, -0.0, 0.0, 1e-40, 7.0, f32::INFINITY, nan, nan];
    let falling = [f32::INFINITY, 7.0, 1e-40, 0.0, -0.0, -1e-40, -1.5, f32::NEG_INFINITY, nan, nan];
    let many: Vec<f32> = xs.iter().copied().cycle().take(1000).collect();
    let spread = |xs: &[f32]| xs.iter().flat_map(|x| vec![*x; 100]).collect::<Vec<f32>>();
    let rising = h.compile(|xs: Acc<Vector<f32>>| xs.sort())?;
    rising.check(&xs, &expected)?;
    rising.check(&many, &spread(&expected))?;
    let program = h.compile(|xs: Acc<Vector<f32>>| xs.sort_descending())?;
    program.check(&xs, &falling)?;
    program.check(&many, &spread(&falling))?;
    let options = [Some(3), None, Some(-1), None, Some(2)];
    let program = h.compile(|xs: Acc<Vector<Option<i32>>>| xs.sort())?;
    program.check(&options, &[None, None, Some(-1), Some(2), Some(3)])
}

/// Returns pairs of a key, of which there are few, and the place.
fn keyed(size: usize) -> Vec<(u32, i32)> {
    let keys = values::<i32>(141, size);
    (0..).zip(keys).map(|(place, key)| (key.unsigned_abs() % 300, place)).collect()
}

pub fn sorts_are_stable(h: &Harness) -> Outcome {
    let by_key = h.compile(|xs: Acc<Vector<(u32, i32)>>| xs.sort_by_key(|(key, _)| key))?;
    // A key that is expensive enough to be stored, and reads a table.
    let by_root = h.compile(|xs: Acc<Vector<(u32, i32)>>, table: Acc<Vector<f64>>| {
        xs.sort_by_key(move |(key, _)| table.at(key.cast::<i64>()).sqrt().sin())
    })?;
    let table: Vec<f64> = (0..300).map(|key| f64::from(key % 7)).collect();
    for size in [0, 33, 24_001] {
        let xs = keyed(size);
        by_key.check(&xs, &sorted(&xs, |a, b| a.0.cmp(&b.0)))?;
        let key = |x: &(u32, i32)| table[x.0 as usize].sqrt().sin();
        by_root.check((&xs, &table), &sorted(&xs, |a, b| key(a).total_cmp(&key(b))))?;
    }
    h.expect_failure(by_root.run((&[(300, 1)], &table)), &["index 300", "at", file!()])
}

/// Functions from the number of an element to its two keys.
type Keys = (fn(i64) -> i64, fn(i64) -> u32);

/// Keys that differ in few bits, in all, or not at all: a device may skip the bits that they share.
pub fn sorts_by_keys_of_any_range(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<(i64, u32, i64)>>| xs.sort_by_key(|(a, b, _)| (a, b)))?;
    let ranges: [Keys; 5] = [
        (|_| 5, |_| 7),
        (|i| i * 37 % 11 - 5, |_| 0),
        (|_| -1, |i| (i * 7919 % 1000) as u32 * 4_000_000),
        (|i| [i64::MIN, i64::MAX, 0][(i % 3) as usize], |i| (i % 2) as u32),
        (|i| (i * 7919 % 1000) << 30, |i| (i % 5) as u32 + 1000),
    ];
    for (a, b) in ranges {
        let xs: Vec<(i64, u32, i64)> = (0..1000).map(|i| (a(i), b(i), i)).collect();
        program.check(&xs, &sorted(&xs, |x, y| (x.0, x.1).cmp(&(y.0, y.1))))?;
    }
    Ok(())
}

pub fn sorts_by_any_order(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<(u32, i32)>>| {
        xs.map(|(key, place)| (key + 1, place)).sort_by(|(a, _), (b, _)| (a % 10).gt(b % 10))
    })?;
    for size in SIZES {
        let xs: Vec<(u32, i32)> = keyed(size).into_iter().map(|(key, place)| (key + 1, place)).collect();
        let before: Vec<(u32, i32)> = keyed(size);
        program.check(&before, &sorted(&xs, |a, b| (b.0 % 10).cmp(&(a.0 % 10))))?;
    }
    // An inconsistent order: all elements are still there, and the sort ends.
    let never_content = h.compile(|xs: Acc<Vector<i32>>| xs.sort_by(|_, _| Exp::from(true)).sum())?;
    never_content.check(&vec![1; 1000], &[1000])
}

pub fn rows_are_sorted(h: &Harness) -> Outcome {
    let rows = h.compile(|xs: Acc<Matrix<i32>>| xs.sort())?;
    let merged = h.compile(|xs: Acc<Matrix<i32>>| xs.sort_by(|a, b| a.gt(b)))?;
    let columns = h.compile(|xs: Acc<Matrix<i32>>| xs.transpose().sort().transpose())?;
    for (height, width) in [(7, 5), (0, 4), (4, 0), (5, 1001), (3, 9001)] {
        let xs = values::<i32>(142, height * width);
        let matrix = Array::from_vec([height, width], xs.clone()).map_err(|error| error.to_string())?;
        let each_row = |order: fn(&i32, &i32) -> Ordering| -> Vec<i32> {
            xs.chunks(width.max(1)).flat_map(|row| sorted(row, order)).collect()
        };
        rows.check(&matrix, &each_row(i32::cmp))?;
        merged.check(&matrix, &each_row(|a, b| b.cmp(a)))?;
        let mut expected = xs.clone();
        for column in 0..width {
            let one: Vec<i32> = (0..height).map(|row| xs[row * width + column]).collect();
            for (row, x) in sorted(&one, i32::cmp).into_iter().enumerate() {
                expected[row * width + column] = x;
            }
        }
        columns.check(&matrix, &expected)?;
    }
    Ok(())
}

/// Elements of several columns, which go from the sort's last pass to places that are looked up.
pub fn sorted_and_scattered(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<(i64, i64, i64)>>, places: Acc<Vector<i64>>| {
        xs.clone().sort_by_key(|(key, _, _)| key).scatter(places, xs)
    })?;
    for n in [0i64, 1, 700, 3000, 3001] {
        let xs: Vec<(i64, i64, i64)> = (0..n).map(|i| (i * 37 % (n + 2) % 7, i, -i)).collect();
        let mut expected = xs.clone();
        expected.sort_by_key(|(key, _, _)| *key);
        expected.reverse();
        program.check((&xs, &(0..n).rev().collect::<Vec<_>>()), &expected)?;
        // Large elements stay where they are until their order is known.
        let large: Vec<(i64, [i64; 9])> = xs.iter().map(|(key, i, _)| (*key, [*i; 9])).collect();
        let mut expected = large.clone();
        expected.sort_by_key(|(key, _)| *key);
        h.check(|xs: Acc<Vector<(i64, [i64; 9])>>| xs.sort_by_key(|(key, _)| key), &large, &expected)?;
    }
    Ok(())
}

pub fn orders_of_indices(h: &Harness) -> Outcome {
    let argsort = h.compile(|xs: Acc<Vector<i32>>| xs.argsort())?;
    for size in [3, 1000] {
        let xs = values::<i32>(143, size);
        let mut order: Vec<i64> = (0..size as i64).collect();
        order.sort_by_key(|place| xs[*place as usize]);
        argsort.check(&xs, &order)?;
    }
    Ok(())
}

/// The largest elements with their places: floats of every kind, few different ones, and two keys of which one is a flag.
pub fn the_largest(h: &Harness) -> Outcome {
    type Pair = (f32, bool);
    let best = h.compile(|xs: Acc<Vector<Pair>>, k: Exp<i64>| {
        let (best, places) = xs.top_k(k);
        best.zip(places)
    })?;
    let check = |xs: &[Pair], k: usize| {
        let mut all: Vec<(Pair, i64)> = xs.iter().copied().zip(0..).collect();
        // Largest first, but NaN last; stable, so equal ones stay in order.
        let number = |a: &f32, b: &f32| a.is_nan().cmp(&b.is_nan()).then(b.total_cmp(a));
        all.sort_by(|((a, c), _), ((b, d), _)| number(a, b).then(d.cmp(c)));
        all.truncate(k);
        best.check((xs, k as i64), &all)
    };
    let pairs =
        |floats: Vec<f32>| -> Vec<Pair> { floats.into_iter().zip(values::<bool>(151, 24_001)).collect() };
    let special = [f32::NAN, -0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY, 1e-40, -1.5, 7.0];
    let special = |size: usize| pairs(special.iter().copied().cycle().take(size).collect());
    let any = pairs(values::<f32>(150, 24_001));
    check(&any, 0)?;
    check(&any, 20)?;
    check(&special(5000), 1300)?;
    check(&special(1300), 1300)?;
    check(&pairs(vec![2.5; 5000]), 1300)?;
    check(&any[..1], 1)?;
    check(&[], 0)?;
    h.expect_failure(
        best.run((&[(1.0, true), (2.0, false)], 3)),
        &["0..3 of a dimension of 2", "top_k", file!()],
    )?;
    // The largest elements of each row of a matrix.
    let rows = Matrix::from_slice([2, 3], &[5, 9, 7, 1, 1, 0]).map_err(|error| error.to_string())?;
    h.check(|xs: Acc<Matrix<i32>>| xs.top_k(2).1, &rows, &[1, 2, 0, 1])
}

/// Rows of an array of three dimensions, those that a block sorts and longer ones, by digits and by merging.
pub fn rows_of_rank_three(h: &Harness) -> Outcome {
    let digits = h.compile(|xs: Acc<Array<Dim3, i32>>| xs.sort())?;
    let merged = h.compile(|xs: Acc<Array<Dim3, i32>>| xs.sort_by(|a, b| a.gt(b)))?;
    for extents in [[2, 3, 33], [0, 2, 5], [2, 0, 5], [3, 2, 0], [1, 4, 1], [2, 2, 9001]] {
        let xs = values::<i32>(152, extents.iter().product());
        let cube = Array::<Dim3, i32>::from_slice(extents, &xs).map_err(|error| error.to_string())?;
        let each_row = |order: fn(&i32, &i32) -> Ordering| -> Vec<i32> {
            xs.chunks(extents[2].max(1)).flat_map(|row| sorted(row, order)).collect()
        };
        digits.check_shaped(&cube, extents, &each_row(i32::cmp))?;
        merged.check_shaped(&cube, extents, &each_row(|a, b| b.cmp(a)))?;
    }
    Ok(())
}

pub fn sorts_among_others(h: &Harness) -> Outcome {
    // A sort of filtered elements, whose number only the device knows; and consumers of a sort's last pass.
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        xs.filter(|x| (x & 1).eq(0)).sort().map(|x| x * 2).filter(|x| x.ne(0))
    })?;
    let differences = h.compile(|xs: Acc<Vector<i32>>| {
        let sorted = xs.map(|x| x & 1023).sort();
        sorted.clone().zip_with(sorted.scanl1(|a, b| a + b), |x, sum| sum - x)
    })?;
    for size in [0, 1, 33, 24_001] {
        let xs: Vec<i32> = values::<i32>(144, size).iter().map(|x| x % 10_000).collect();
        let even: Vec<i32> = xs.iter().copied().filter(|x| x & 1 == 0).collect();
        let doubled = sorted(&even, i32::cmp).into_iter().map(|x| x * 2);
        program.check(&xs, &doubled.filter(|x| *x != 0).collect::<Vec<_>>())?;
        let small: Vec<i32> = xs.iter().map(|x| x & 1023).collect();
        let mut sum = 0i32;
        let expected = sorted(&small, i32::cmp).into_iter().map(|x| {
            sum = sum.wrapping_add(x);
            sum.wrapping_sub(x)
        });
        differences.check(&xs, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}
