//! Elements by index inside functions, gathers, and concatenations, against plain Rust.

use crate::data::{Sample, values};
use crate::{Harness, Outcome};
use pumice::concat;
use pumice::prelude::*;

const SIZES: [usize; 5] = [0, 1, 7, 300, 5003];

fn keys(seed: u64, count: usize, below: usize) -> Vec<i64> {
    values::<i64>(seed, count).into_iter().map(|key| key.rem_euclid(below as i64)).collect()
}

fn of_every_type<T: Sample>(h: &Harness) -> Outcome {
    let looked_up =
        h.compile(|keys: Acc<Vector<i64>>, table: Acc<Vector<T>>| keys.map(|key| table.at(key)))?;
    let gathered = h.compile(|keys: Acc<Vector<i64>>, table: Acc<Vector<T>>| table.gather(keys))?;
    let joined =
        h.compile(|xs: Acc<Vector<T>>, ys: Acc<Vector<T>>| concat(0, [xs.clone(), ys, xs.reverse()]))?;
    let table: Vec<T> = values(60, 37);
    for size in SIZES {
        let keys = keys(61, size, table.len());
        let expected: Vec<T> = keys.iter().map(|key| table[*key as usize]).collect();
        looked_up.check((&keys, &table), &expected)?;
        gathered.check((&keys, &table), &expected)?;
        let xs: Vec<T> = values(62, size);
        let reversed: Vec<T> = xs.iter().rev().copied().collect();
        joined.check((&xs, &table), &[&xs[..], &table, &reversed].concat())?;
    }
    Ok(())
}

pub fn elements_of_every_type(h: &Harness) -> Outcome {
    for_every_type!(of_every_type, h)
}

pub fn tables_that_are_computed(h: &Harness) -> Outcome {
    let xs: Vec<i32> = values(63, 1500);
    // A pull, inlined into the function; a fold and a scan, in memory; a filter's result, which is compacted first.
    let pull = |xs: Acc<Vector<i32>>| {
        let squares = generate(1000, |i| (i * i).cast::<i32>());
        xs.map(|x| squares.at((x & 511).cast::<i64>()))
    };
    h.check(pull, &xs, &xs.iter().map(|x| (x & 511) * (x & 511)).collect::<Vec<_>>())?;
    let share = |xs: Acc<Vector<i32>>| {
        let largest = xs.clone().map(|x| x & 1023).max();
        xs.map(|x| (x & 1023) - largest.the())
    };
    let largest = xs.iter().map(|x| x & 1023).max().unwrap_or(0);
    h.check(share, &xs, &xs.iter().map(|x| (x & 1023) - largest).collect::<Vec<_>>())?;
    let before = |xs: Acc<Vector<i32>>| {
        let sums = xs.clone().scanl1(|a, b| a + b);
        xs.clone().imap(|i, x| x + sums.at(i / 2))
    };
    let sums: Vec<i32> = xs
        .iter()
        .scan(0i32, |sum, x| {
            *sum = sum.wrapping_add(*x);
            Some(*sum)
        })
        .collect();
    let expected: Vec<i32> = xs.iter().enumerate().map(|(i, x)| x.wrapping_add(sums[i / 2])).collect();
    h.check(before, &xs, &expected)?;
    let kept = |xs: Acc<Vector<i32>>| {
        let odd = xs.clone().filter(|x| (x & 1).eq(1));
        xs.map(|x| odd.get((x & 1023).cast::<i64>()).unwrap_or(-1))
    };
    let odd: Vec<i32> = xs.iter().copied().filter(|x| x & 1 == 1).collect();
    let expected = xs.iter().map(|x| odd.get((x & 1023) as usize).copied().unwrap_or(-1));
    h.check(kept, &xs, &expected.collect::<Vec<_>>())
}

/// Arrays of which only an element or an extent is used.
pub fn tables_that_nobody_keeps(h: &Harness) -> Outcome {
    let m = Matrix::from_vec([3, 3], (0..9).collect::<Vec<i32>>()).map_err(|error| error.to_string())?;
    h.check(|m: Acc<Matrix<i32>>| unit(m.reshape(9).at(5)), &m, &[5])?;
    let later = |m: Acc<Matrix<i32>>| {
        let element = m.clone().map(|x| x * 10).sum().scanl1(|a, b| a + b).at(1);
        let count = m.clone().flatten().filter(|x| x.gt(6)).size();
        // Other arrays are described before these are used.
        let doubled = m.reshape(9).map(|x| x * 2).compute();
        doubled.map(|x| x + element + count.cast::<i32>())
    };
    h.check(later, &m, &(0..9).map(|x| 2 * x + 150 + 2).collect::<Vec<_>>())?;
    let rounds = |m: Acc<Matrix<i32>>| {
        iterate(3, m.flatten(), |xs| {
            let last = xs.clone().reverse().at(0);
            let sum = xs.clone().sum().the();
            xs.map(|x| (x + last) & 1023).map(|x| x + (sum & 1))
        })
    };
    let expected = (0..3).fold((0..9).collect::<Vec<i32>>(), |xs, _| {
        let (last, sum) = (xs[8], xs.iter().sum::<i32>());
        xs.iter().map(|x| ((x + last) & 1023) + (sum & 1)).collect()
    });
    h.check(rounds, &m, &expected)
}

/// Rows of different lengths, given by offsets.
pub fn loops_over_rows_of_different_lengths(h: &Harness) -> Outcome {
    let sums = |offsets: Acc<Vector<i64>>, xs: Acc<Vector<i64>>| {
        generate(offsets.size() - 1, |row| {
            let end = offsets.at(row + 1);
            let start = (offsets.at(row), constant(0i64));
            while_(start, |(at, _)| at.lt(end), |(at, sum)| (at + 1, sum + xs.at(at))).1
        })
    };
    let lengths = [3usize, 0, 0, 70, 1, 0, 500];
    let lengths: Vec<usize> = lengths.into_iter().cycle().take(400).collect();
    let offsets: Vec<i64> = std::iter::once(0)
        .chain(lengths.iter().scan(0, |sum, length| {
            *sum += *length as i64;
            Some(*sum)
        }))
        .collect();
    let xs: Vec<i64> = values(64, lengths.iter().sum());
    let sum = |row: &[i64]| xs[row[0] as usize..row[1] as usize].iter().fold(0i64, |a, b| a.wrapping_add(*b));
    h.check(sums, (&offsets, &xs), &offsets.windows(2).map(sum).collect::<Vec<_>>())
}

pub fn elements_in_other_functions(h: &Harness) -> Outcome {
    let xs: Vec<i32> = values(65, 2000);
    let weights: Vec<i32> = values(66, 16);
    let weight = |x: i32| weights[(x & 15) as usize];
    // In a predicate, in the function of a permutation, in an operator.
    let kept = |xs: Acc<Vector<i32>>, weights: Acc<Vector<i32>>| {
        xs.filter(|x| weights.at((x & 15).cast::<i64>()).gt(0))
    };
    let expected: Vec<i32> = xs.iter().copied().filter(|x| weight(*x) > 0).collect();
    h.check(kept, (&xs, &weights), &expected)?;
    let bins = |xs: Acc<Vector<i32>>, weights: Acc<Vector<i32>>| {
        xs.histogram(8, |x| (weights.at((x & 15).cast::<i64>()) & 7).cast::<i64>())
    };
    let mut counts = vec![0u32; 8];
    xs.iter().for_each(|x| counts[(weight(*x) & 7) as usize] += 1);
    h.check(bins, (&xs, &weights), &counts)?;
    let modular = |xs: Acc<Vector<i32>>, modulus: Acc<Vector<i32>>| {
        xs.map(|x| x & 255).fold(0, |a, b| (a + b) % modulus.at(0))
    };
    let sum: i32 = xs.iter().map(|x| x & 255).sum::<i32>() % 97;
    h.check(modular, (&xs, &[97]), &[sum])?;
    let scanned = |xs: Acc<Vector<i32>>, modulus: Acc<Vector<i32>>| {
        xs.map(|x| x & 255).scanl1(|a, b| (a + b) % modulus.at(0))
    };
    let sums = xs.iter().scan(0, |sum, x| {
        *sum = (*sum + (x & 255)) % 97;
        Some(*sum)
    });
    h.check(scanned, (&xs, &[97]), &sums.collect::<Vec<_>>())
}

/// A program of indices and a table.
type OfIndices<D> = fn(Acc<Vector<i64>>, Acc<Vector<i64>>) -> Acc<Array<D, i64>>;

/// One of fewer elements than the table has is beyond the table: what is known of indices is not known of elements.
fn beyond_the_table<D: Shape>(h: &Harness, program: OfIndices<D>, expected: &[i64]) -> Outcome {
    let program = h.compile(program)?;
    let table = [5i64, 1, 9, 3, 7];
    program.check((&[0, 4, 2, 1], &table), expected)?;
    for (beyond, words) in [(5, "index 5 "), (1 << 40, "index 1099511627776 "), (-1, "index -1 ")] {
        h.expect_failure(program.run((&[0, beyond, 2, 1], &table)), &[words, "length 5", "at at", file!()])?;
    }
    Ok(())
}

/// Of two indices, the one at which the table has more.
fn more<'a>(table: &'a Acc<Vector<i64>>) -> impl Fn(Exp<i64>, Exp<i64>) -> Exp<i64> + Copy + use<'a> {
    move |a, b| table.at(a).ge(table.at(b)).select(a, b)
}

pub fn indices_that_operators_and_sizes_do_not_find(h: &Harness) -> Outcome {
    beyond_the_table(
        h,
        |xs, table| unit(xs.expand(|x| table.at(x), |x, _| x).sum().the()),
        &[4 * 7 + 2 * 9 + 1],
    )?;
    beyond_the_table(
        h,
        |xs, table| xs.expand(|_| 2.into(), |x, _| table.at(x)).filter(|x| x.gt(4)),
        &[5, 5, 7, 7, 9, 9],
    )?;
    beyond_the_table(
        h,
        |xs, table| xs.expand_reduce(|x| table.at(x), |x, _| x, 0, |a, b| a + b),
        &[0, 28, 18, 1],
    )?;
    beyond_the_table(
        h,
        |xs, table| xs.expand_reduce(|_| 3.into(), |x, _| x, 1, |a, b| more(&table)(a, b)),
        &[0, 4, 2, 1],
    )?;
    beyond_the_table(h, |xs, table| xs.fold(1, more(&table)), &[2])?;
    beyond_the_table(h, |xs, table| xs.scanl1(more(&table)), &[0, 4, 2, 2])?;
    beyond_the_table(h, |xs, table| xs.permute(more(&table), fill(1, 1), |_| Exp::from(0i64)), &[2])?;
    beyond_the_table(h, |xs, table| xs.sort_by(|a, b| table.at(a).lt(table.at(b))), &[1, 0, 4, 2])?;
    beyond_the_table(h, |xs, table| xs.sort_by_key(|x| table.at(x)), &[1, 0, 4, 2])
}

pub fn indices_that_are_not_there(h: &Harness) -> Outcome {
    let looked_up =
        h.compile(|keys: Acc<Vector<i64>>, table: Acc<Vector<f32>>| keys.map(|key| table.at(key)))?;
    let table = [1.0f32, 2.0];
    for (key, words) in [(2, "index 2"), (-1, "index -1")] {
        h.expect_failure(looked_up.run((&[0, key], &table)), &[words, "at at", file!()])?;
    }
    h.expect_failure(looked_up.run((&[0], &[0.0f32; 0])), &["index 0", "at at", file!()])?;
    let both =
        |keys: Acc<Vector<(i64, i64)>>, m: Acc<Matrix<i32>>| keys.map(|(i, j)| m.get((i, j)).unwrap_or(-1));
    let m = Matrix::from_vec([2, 3], vec![0, 1, 2, 10, 11, 12]).map_err(|error| error.to_string())?;
    h.check(both, (&[(1, 2), (1, 3), (2, 0), (-1, 0), (0, 1)], &m), &[12, -1, -1, -1, 1])?;
    let chosen = |keys: Acc<Vector<i64>>, table: Acc<Vector<i32>>| {
        table.gather_if(keys.clone(), |key| key.ge(0), keys.map(|key| key.cast::<i32>()))
    };
    h.check(chosen, (&[1, -5, 0], &[7, 8]), &[8, -5, 7])?;
    h.expect_error(chosen, (&[5], &[7, 8]), &["index 5", "gather_if at", file!()])
}

/// An array operation per element is an error.
pub fn operations_inside_functions(h: &Harness) -> Outcome {
    let nested =
        |xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| xs.map(|x| ys.clone().map(|y| y * x).sum().the());
    h.expect_error(nested, (&[1], &[2]), &["no array is computed for each element", "replicate", file!()])?;
    // An array operation that does not depend on the element is computed once.
    let once = |xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| xs.map(|x| x + ys.clone().sum().the());
    h.check(once, (&[1, 2], &[10, 20]), &[31, 32])
}

pub fn arrays_one_after_the_other(h: &Harness) -> Outcome {
    type Cube = Acc<Array<Dim3, i64>>;
    let extents = [[2usize, 3, 4], [1, 65, 33], [3, 0, 5], [5, 1, 1]];
    for dimension in 0..3 {
        let program =
            h.compile(move |a: Cube, b: Cube| concat(dimension, [a.clone().map(|x| x + 1), b, a]))?;
        for (number, first) in extents.into_iter().enumerate() {
            let mut second = first;
            second[dimension] = 7;
            let sizes: [usize; 2] = [first.iter().product(), second.iter().product()];
            let (xs, ys): (Vec<i64>, Vec<i64>) = (values(67, sizes[0]), values(68 + number as u64, sizes[1]));
            let cube = |extents: [usize; 3], xs: &[i64]| {
                Array::<Dim3, i64>::from_slice(extents, xs).map_err(|error| error.to_string())
            };
            let stretch = |extents: [usize; 3]| extents[dimension..].iter().product::<usize>();
            let mut expected = Vec::new();
            for outer in 0..first[..dimension].iter().product() {
                let part = |xs: &[i64], stretch: usize| xs[outer * stretch..(outer + 1) * stretch].to_vec();
                expected.extend(part(&xs, stretch(first)).iter().map(|x| x.wrapping_add(1)));
                expected.extend(part(&ys, stretch(second)));
                expected.extend(part(&xs, stretch(first)));
            }
            let mut all = first;
            all[dimension] = 2 * first[dimension] + 7;
            program.check_shaped((&cube(first, &xs)?, &cube(second, &ys)?), all, &expected)?;
        }
    }
    // Parts that are pushes, and consumers of the whole.
    let xs: Vec<i32> = values(69, 777);
    let sums = |xs: Acc<Vector<i32>>| {
        let sums = xs.clone().scanl1(|a, b| a + b).map(|x| x & 63);
        sums.append(xs.map(|x| x & 31)).map(|x| x + 1).histogram(65, |x| x.cast::<i64>())
    };
    let mut counts = vec![0u32; 65];
    let mut sum = 0i32;
    for x in &xs {
        sum = sum.wrapping_add(*x);
        counts[(sum & 63) as usize + 1] += 1;
        counts[(x & 31) as usize + 1] += 1;
    }
    h.check(sums, &xs, &counts)?;
    h.check(|xs: Acc<Vector<i32>>| xs.clone().append(xs).pad(2, 3, 9).sum(), &[1, 2], &[51])?;
    let mut padded = vec![5; 2];
    padded.extend(&xs);
    h.check(|xs: Acc<Vector<i32>>| xs.pad(2, 0, 5), &xs, &padded)?;
    let m = |extents| Matrix::from_slice(extents, &[1, 2, 3, 4]).map_err(|error| error.to_string());
    h.expect_error(
        |a: Acc<Matrix<i32>>, b: Acc<Matrix<i32>>| a.append(b),
        (&m([2, 2])?, &m([1, 4])?),
        &["extents [2, 2] and [1, 4] differ beside dimension 1 in append", file!()],
    )
}

/// More parts than one kernel takes, some of which need a kernel of their own, and consumers of all of them.
pub fn many_parts(h: &Harness) -> Outcome {
    let whole = |xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| {
        let turned = xs.clone().reshape((2, xs.size() / 2)).transpose().flatten();
        let mut parts = vec![turned, xs.clone().scanl1(|a, b| a + b)];
        parts.extend((0..9).map(|k| if k % 2 == 0 { xs.clone().map(move |x| x * k) } else { ys.clone() }));
        concat(0, parts)
    };
    let joined = h.compile(whole)?;
    let heard = h.compile(move |xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| {
        whole(xs, ys).histogram(32, |x| (x & 31).cast::<i64>())
    })?;
    // The second length determines whether parts are aligned for wide accesses.
    for (size, other) in [(0, 0), (2, 1), (5000, 300), (5000, 301)] {
        let (xs, ys): (Vec<i32>, Vec<i32>) = (values(70, size), values(71, other));
        let turned = (0..size).map(|i| xs[i % 2 * (size / 2) + i / 2]);
        let sums = xs.iter().scan(0i32, |sum, x| {
            *sum = sum.wrapping_add(*x);
            Some(*sum)
        });
        let mut expected: Vec<i32> = turned.chain(sums).collect();
        for k in 0..9 {
            match k % 2 {
                0 => expected.extend(xs.iter().map(|x| x.wrapping_mul(k))),
                _ => expected.extend(&ys),
            }
        }
        joined.check((&xs, &ys), &expected)?;
        let mut counts = vec![0u32; 32];
        expected.iter().for_each(|x| counts[(x & 31) as usize] += 1);
        heard.check((&xs, &ys), &counts)?;
    }
    Ok(())
}
