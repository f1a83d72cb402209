//! Loops whose arrays fit one block, each of which is one kernel: operations that a round may contain, and ways in which a loop ends.

use crate::data::values;
use crate::{Harness, Outcome};
use pumice::prelude::*;

fn at(n: usize) -> impl Fn(String) -> String {
    move |message| format!("{n}: {message}")
}

/// No element, one, and sizes below one and above several strips of a block's threads.
const SIZES: [usize; 4] = [0, 1, 255, 1000];

pub fn maps_and_a_counter(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<(f32, i32)>>, n: Exp<i64>| {
        let (xs, count) = awhile(
            (xs, unit(0)),
            |(_, i)| i.map(|i| i.lt(n)),
            |(xs, i)| (xs.map(|(x, y)| (x * 0.5 + 1.0, y * 3 + 1)), i.map(|i| i + 1)),
        );
        xs.map(|(x, y)| (x, y, count.the()))
    })?;
    for size in SIZES {
        let xs = values::<(f32, i32)>(120, size);
        for rounds in [0, 1, 12] {
            let one = |&(x, y): &(f32, i32)| {
                let next = |(x, y): (f32, i32), _| (x * 0.5 + 1.0, y.wrapping_mul(3).wrapping_add(1));
                let (x, y) = (0..rounds).fold((x, y), next);
                (x, y, rounds)
            };
            program.check((&xs, rounds), &xs.iter().map(one).collect::<Vec<_>>()).map_err(at(size))?;
        }
    }
    Ok(())
}

pub fn neighbours_of_elements(h: &Harness) -> Outcome {
    // Each round reads elements that other threads wrote in the round before.
    let program = h.compile(|xs: Acc<Vector<i32>>, n: Exp<i64>| {
        iterate(n, xs, |xs| {
            let last = xs.size() - 1;
            xs.clone().imap(|i, x| x + xs.at((i + 1).min(last)) * 3 - xs.at((i - 40).max(0)))
        })
    })?;
    for size in SIZES {
        let mut xs = values::<i32>(121, size);
        let given = xs.clone();
        for _ in 0..5 {
            let next = |i: usize| {
                let (after, before) = (xs[(i + 1).min(size - 1)], xs[i.saturating_sub(40)]);
                xs[i].wrapping_add(after.wrapping_mul(3)).wrapping_sub(before)
            };
            xs = (0..size).map(next).collect();
        }
        program.check((&given, 5), &xs).map_err(at(size))?;
    }
    Ok(())
}

pub fn arrays_that_change_places(h: &Harness) -> Outcome {
    // Two arrays swap, a third one stays the same, and a matrix is transposed.
    let program = h.compile(|xs: Acc<Vector<i32>>, m: Acc<Matrix<f64>>, n: Exp<i64>| {
        let zs = xs.clone().map(|x| x ^ 5);
        let (xs, ys, zs, m) = iterate(n, (xs.clone(), xs.map(|x| x + 1), zs, m), |(xs, ys, zs, m)| {
            let sums = ys.zip_with(zs.clone(), |y, z| y - z);
            (sums, xs, zs, m.clone().zip_with(m.transpose(), |x, y| x + 2.0 * y))
        });
        let flat = m.reshape(9);
        let at = flat.at(5);
        xs.zip_with(ys, |x, y| (x, y)).zip_with(zs, |(x, y), z| (x, y, z)).map(|(x, y, z)| (x, y, z, at))
    })?;
    let elements: [f64; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    let m = Matrix::from_slice([3, 3], &elements).map_err(|error| error.to_string())?;
    for size in [0, 1, 300] {
        for rounds in [0, 1, 4] {
            let given = values::<i32>(122, size);
            let (mut xs, mut m_now) = (given.clone(), elements);
            let mut ys: Vec<i32> = xs.iter().map(|x| x.wrapping_add(1)).collect();
            let zs: Vec<i32> = xs.iter().map(|x| x ^ 5).collect();
            for _ in 0..rounds {
                let sums = ys.iter().zip(&zs).map(|(y, z)| y.wrapping_sub(*z)).collect();
                (xs, ys) = (sums, xs);
                let turned = m_now;
                (0..9).for_each(|i| m_now[i] = turned[i] + 2.0 * turned[i % 3 * 3 + i / 3]);
            }
            let expected: Vec<(i32, i32, i32, f64)> =
                (0..size).map(|i| (xs[i], ys[i], zs[i], m_now[5])).collect();
            program.check((&given, &m, rounds), &expected).map_err(at(size))?;
        }
    }
    Ok(())
}

/// Composes affine maps of numbers modulo a prime, which does not commute.
fn composed((a, b): (i64, i64), (c, d): (i64, i64)) -> (i64, i64) {
    (a * c % 10007, (b * c + d) % 10007)
}

pub fn folds_in_order(h: &Harness) -> Outcome {
    // The result of the fold is part of the next state, and of the condition.
    let program = h.compile(|xs: Acc<Vector<(i64, i64)>>| {
        let (xs, sum, rounds) = awhile(
            (xs, unit((0, 0)), unit(0)),
            |(_, sum, rounds)| sum.zip_with(rounds, |(_, b), n| ((b % 5).ne(3)) & n.lt(6)),
            |(xs, _, rounds)| {
                let sum = xs.clone().fold((1, 0), |(a, b), (c, d)| (a * c % 10007, (b * c + d) % 10007));
                let (p, q) = sum.the();
                (xs.map(|(a, b)| (a + p, b ^ q)), sum, rounds.map(|n| n + 1))
            },
        );
        xs.map(|(a, b)| (a, b, sum.the().1, rounds.the()))
    })?;
    for size in SIZES {
        let given: Vec<(i64, i64)> = values::<(i32, i32)>(123, size)
            .iter()
            .map(|(a, b)| ((a & 1023).into(), (b & 1023).into()))
            .collect();
        let (mut xs, mut sum, mut rounds) = (given.clone(), (0, 0), 0i64);
        while sum.1 % 5 != 3 && rounds < 6 {
            sum = xs.iter().fold((1, 0), |all, x| composed(all, *x));
            xs.iter_mut().for_each(|(a, b)| (*a, *b) = (*a + sum.0, *b ^ sum.1));
            rounds += 1;
        }
        let expected: Vec<_> = xs.iter().map(|(a, b)| (*a, *b, sum.1, rounds)).collect();
        program.check(&given, &expected).map_err(at(size))?;
    }
    Ok(())
}

pub fn rows_that_are_folded(h: &Harness) -> Outcome {
    // Power iteration with integers: a matrix times a vector, a column's sum beside it.
    let program = h.compile(|m: Acc<Matrix<i32>>, v: Acc<Vector<i32>>, n: Exp<i64>| {
        iterate(n, v, |v| {
            let rows = v.size();
            let product = m.clone().zip_with(v.clone().replicate_rows(rows), |x, y| x * y).sum();
            product.zip_with(v.clone(), |p, x| (p + x * v.at(0)) & 0xffff)
        })
    })?;
    for side in [1usize, 7, 40] {
        let elements: Vec<i32> = values::<i32>(124, side * side).iter().map(|x| x & 15).collect();
        let given: Vec<i32> = values::<i32>(125, side).iter().map(|x| x & 255).collect();
        let mut v = given.clone();
        for _ in 0..3 {
            let row = |i: usize| {
                let product: i32 = (0..side).map(|k| elements[i * side + k] * v[k]).sum();
                product.wrapping_add(v[i].wrapping_mul(v[0])) & 0xffff
            };
            v = (0..side).map(row).collect();
        }
        let m = Matrix::from_slice([side, side], &elements).map_err(|error| error.to_string())?;
        program.check((&m, &given, 3), &v).map_err(at(side))?;
    }
    Ok(())
}

/// Computes a round of [`scans_in_rounds`] in plain Rust.
fn scanned(xs: &[i32]) -> Vec<i32> {
    let (before, mut largest) =
        (xs.iter().scan(0i32, |sum, x| Some(std::mem::replace(sum, sum.wrapping_add(*x)))), i32::MIN);
    let total = xs.iter().fold(0i32, |sum, x| sum.wrapping_add(*x));
    let mut after: Vec<i32> = vec![7];
    xs.iter().rev().for_each(|x| after.insert(0, after[0].wrapping_add(*x)));
    let mut next = Vec::new();
    for ((x, before), after) in xs.iter().zip(before).zip(&after[1..]) {
        largest = largest.max(*x);
        next.push((before ^ *after).wrapping_add(largest).wrapping_sub(total));
    }
    next
}

pub fn scans_in_rounds(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>, n: Exp<i64>| {
        iterate(n, xs, |xs| {
            let (before, total) = xs.clone().scanl_with_total(0, |a, b| a + b);
            let after = xs.clone().scanr(7, |a, b| a + b).tail();
            let largest = xs.scanl1(|a, b| a.max(b));
            let both = before.zip_with(after, |a, b| a ^ b);
            both.zip_with(largest, |x, most| x + most - total.the())
        })
    })?;
    // An operator that does not commute and has no known neutral element.
    let last = h.compile(|xs: Acc<Vector<i32>>, n: Exp<i64>| {
        iterate(n, xs, |xs| xs.scanl1(|a, b| (b & 1).eq(0).select(a, b)))
    })?;
    for size in SIZES {
        let given: Vec<i32> = values::<i32>(126, size);
        program.check((&given, 2), &scanned(&scanned(&given))).map_err(at(size))?;
        let mut kept = given.clone();
        for i in 1..size {
            if kept[i] & 1 == 0 {
                kept[i] = kept[i - 1];
            }
        }
        last.check((&given, 2), &kept).map_err(at(size))?;
    }
    Ok(())
}

pub fn loops_in_loops(h: &Harness) -> Outcome {
    // An inner loop with as many rounds as the number of the outer round, and one that ends by a condition.
    let program = h.compile(|xs: Acc<Vector<i64>>, n: Exp<i64>| {
        iterate_numbered(n, xs, |round, xs| {
            let (halved, count) = awhile(
                (xs.clone(), unit(0)),
                |(xs, _)| xs.any(|x| x.gt(100)),
                |(xs, n)| (xs.map(|x| x / 2), n.map(|n| n + 1)),
            );
            let steps = iterate(round, xs, |xs| xs.map(|x| (x * 5 + 1) & 1023));
            steps.zip_with(halved, |x, y| x + y + count.the())
        })
    })?;
    for size in [0, 1, 300] {
        let given: Vec<i64> = values::<i32>(127, size).iter().map(|x| (x & 1023).into()).collect();
        let mut xs = given.clone();
        for round in 0..4 {
            let (mut halved, mut count) = (xs.clone(), 0);
            while halved.iter().any(|x| *x > 100) {
                halved.iter_mut().for_each(|x| *x /= 2);
                count += 1;
            }
            let steps = |x: i64| (0..round).fold(x, |x, _| (x * 5 + 1) & 1023);
            xs = xs.iter().zip(&halved).map(|(x, y)| steps(*x) + y + count).collect();
        }
        program.check((&given, 4), &xs).map_err(at(size))?;
    }
    Ok(())
}

pub fn filters_that_are_folded(h: &Harness) -> Outcome {
    // The filtered elements are never in memory: only folds use them.
    let program = h.compile(|m: Acc<Matrix<i32>>, n: Exp<i64>| {
        iterate(n, m, |m| {
            let odd = m.clone().flatten().filter(|x| (x & 1).eq(1));
            let (sum, most) = (odd.clone().sum(), m.clone().filter(|x| x.lt(500)).fold(-9, |a, b| a.max(b)));
            m.map(|x| (x + sum.the() * 3 + most.the()) & 1023)
        })
    })?;
    for (rows, columns) in [(0, 3), (1, 1), (13, 25)] {
        let mut xs: Vec<i32> = values::<i32>(128, rows * columns).iter().map(|x| x & 1023).collect();
        let m = Matrix::from_slice([rows, columns], &xs).map_err(|error| error.to_string())?;
        for _ in 0..3 {
            let sum: i32 = xs.iter().filter(|x| *x & 1 == 1).sum();
            let most = xs.iter().filter(|x| **x < 500).fold(-9, |a, b| a.max(*b));
            xs.iter_mut().for_each(|x| *x = (*x + sum * 3 + most) & 1023);
        }
        program.check((&m, 3), &xs).map_err(at(rows))?;
    }
    Ok(())
}

pub fn failures_that_would_never_end(h: &Harness) -> Outcome {
    // A failed read gives zero, with which the loop would never end.
    let program = h.compile(|table: Acc<Vector<i64>>, xs: Acc<Vector<i64>>| {
        awhile(xs, |xs| xs.any(|x| x.ne(-1)), |xs| xs.map(|x| table.at(x.max(0))))
    })?;
    program.check((&[1i64, 2, -1], &[0i64; 40]), &[-1; 40])?;
    let parts = ["index 7 out of bounds for length 3 in at", file!()];
    h.expect_failure(program.run((&[1i64, 7, 0], &[0i64; 40])), &parts)?;
    // The same in the condition, and before the loop.
    let program = h.compile(|table: Acc<Vector<i64>>, x: Exp<i64>| {
        awhile(unit(table.at(x)), |x| unit(table.at(x.the()).ne(9)), |x| x.map(|x| x + 1))
    })?;
    program.check((&[1i64, 2, 9], 0), &[2])?;
    h.expect_failure(
        program.run((&[1i64, 2, 3], 0)),
        &["index 3 out of bounds for length 3 in at", file!()],
    )?;
    h.expect_failure(
        program.run((&[0i64, 2, 3], 5)),
        &["index 5 out of bounds for length 3 in at", file!()],
    )?;
    // A failure of an earlier kernel.
    let program = h.compile(|table: Acc<Vector<i64>>, i: Exp<i64>| {
        let ends = table.clone().map(|x| x + table.at(i)).compute();
        awhile(unit(0), |x| unit(ends.at(x.the()).ne(9)), |x| x.map(|x| (x + 1) % 3))
    })?;
    program.check((&[1i64, 2, 7], 1), &[2])?;
    h.expect_failure(program.run((&[1i64, 2, 7], 4)), &["index 4 out of bounds for length 3 in at", file!()])
}
