//! Inner arrays of comprehensions, loops of rows, and work in chunks, against plain Rust.

use crate::data::values;
use crate::{Harness, Outcome};
use pumice::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Returns numbers from 0 to 40, few of which are large for a block.
fn numbers(seed: u64, count: usize) -> Vec<i64> {
    let mut numbers: Vec<i64> = values::<i64>(seed, count).into_iter().map(|x| x.rem_euclid(41)).collect();
    if count > 1 {
        numbers[count / 2] = 3001;
    }
    numbers
}

const LENGTHS: [usize; 3] = [0, 1, 203];

/// Returns the inner array of a number.
fn row(n: i64) -> Vec<i64> {
    (0..n).map(|j| j * 37 % (n + 2)).filter(|x| x % 5 != 0).collect()
}

/// Values computed from a filtered inner array: reductions, and elements, which empty ones lack.
pub fn taken(h: &Harness) -> Outcome {
    let program = h.compile(|ns: Acc<Vector<i64>>| {
        comp![
            (row.sum() - count![x <- row, x > n / 2], if row.size() > 0 { row.argmax() } else { -1 }, sorted[row.size() / 3])
            | n <- ns, n != 3, let row = [x | j <- 0..n, let x = j * 37 % (n + 2), x % 5 != 0],
            let sorted = row.map(|x| x * 2).sort(), sorted.size() > 0 || n == 0, n != 0
        ]
    })?;
    for length in LENGTHS {
        let ns = numbers(1, length);
        let kept = ns.iter().copied().filter(|n| *n != 3 && *n != 0 && !row(*n).is_empty());
        let expected = kept.map(|n| {
            let row = row(n);
            let mut sorted: Vec<i64> = row.iter().map(|x| x * 2).collect();
            sorted.sort_unstable();
            let most = row.iter().max();
            let at = row.iter().position(|x| Some(x) == most).map_or(-1, |at| at as i64);
            let large = row.iter().filter(|x| **x > n / 2).count() as i64;
            (row.iter().sum::<i64>() - large, at, sorted[row.len() / 3])
        });
        program.check(&ns, &expected.collect::<Vec<_>>())?;
    }
    h.expect_error(
        |ns: Acc<Vector<i64>>| comp![row[n - 1] | n <- ns, let row = [j | j <- 0..n]],
        &[2, 0, 3],
        &["at at", "index -1 out of bounds for length 0"],
    )
}

/// Rows of inner arrays: the largest elements of each, in order; distinct elements; and running sums of the rows that a condition keeps.
pub fn rows(h: &Harness) -> Outcome {
    let largest = |ns: Acc<Vector<i64>>| comp![[x / 2 | x <- row, order by x desc, take n / 3] | n <- ns, let row = [j * 37 % (n + 2) | j <- 0..n]];
    let once = |ns: Acc<Vector<i64>>| comp![[j * 37 % (n + 2) / 3 | j <- 0..n, distinct] | n <- ns];
    let running = |ns: Acc<Vector<i64>>| {
        comp![
            row.scan(|a, b| a + b)
            | n <- ns, let row = [j * 37 % (n + 2) | j <- 0..n, j % 5 != 0], row.size() % 2 == 0
        ]
    };
    for length in LENGTHS {
        let ns = numbers(2, length);
        let all = |n: i64| (0..n).map(move |j| (j, j * 37 % (n + 2)));
        let in_order = |n: &i64| {
            let mut row: Vec<i64> = all(*n).map(|(_, x)| x).collect();
            row.sort_unstable();
            row
        };
        let first =
            |n: &i64| in_order(n).iter().rev().take((n / 3) as usize).map(|x| x / 2).collect::<Vec<_>>();
        h.check_rows(largest, &ns, &ns.iter().map(first).collect())?;
        let each = |n: &i64| {
            let mut row: Vec<i64> = in_order(n).iter().map(|x| x / 3).collect();
            row.dedup();
            row
        };
        h.check_rows(once, &ns, &ns.iter().map(each).collect())?;
        let rows = ns.iter().map(|n| all(*n).filter(|(j, _)| j % 5 != 0).map(|(_, x)| x).collect::<Vec<_>>());
        let sums = |row: Vec<i64>| {
            let sums = row.iter().scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            });
            sums.collect::<Vec<_>>()
        };
        h.check_rows(running, &ns, &rows.filter(|row| row.len() % 2 == 0).map(sums).collect())?;
    }
    Ok(())
}

/// Groups of each inner array: those with many elements, ordered by their sums; and the number of groups, by keys with several parts.
pub fn groups(h: &Harness) -> Outcome {
    let large = |ns: Acc<Vector<i64>>| {
        comp![
            [(n + rest, sum![x], max![j])
            | j <- 0..n, let x = j * 37 % (n + 2), group by rest = x % 7, count![] > 2, order by sum![x] desc, take n / 4]
            | n <- ns
        ]
    };
    let counted = h.compile(|ns: Acc<Vector<i64>>| {
        comp![
            (n, sum![max![j] | j <- 0..n, group by (j % 5, j > n / 2)], count![(x, _) <- keys, x > 0])
            | n <- ns, let keys = [(x, y) | j <- 0..n, let (x, y) = (j / 3, j as f32), group by (x, y)]
        ]
    })?;
    for length in LENGTHS {
        let ns = numbers(6, length);
        let of_number = |n: &i64| {
            let mut groups = BTreeMap::<i64, (i64, i64, usize)>::new();
            for (j, x) in (0..*n).map(|j| (j, j * 37 % (n + 2))) {
                let (sum, most, count) = groups.entry(x % 7).or_default();
                (*sum, *most, *count) = (*sum + x, j.max(*most), *count + 1);
            }
            let many = groups.into_iter().filter(|(_, (_, _, count))| *count > 2);
            let mut large: Vec<_> = many.map(|(rest, (sum, most, _))| (n + rest, sum, most)).collect();
            large.sort_by_key(|(_, sum, _)| Reverse(*sum));
            large.truncate((n / 4) as usize);
            large
        };
        h.check_rows(large, &ns, &ns.iter().map(of_number).collect())?;
        let expected = ns.iter().map(|n| {
            let last: BTreeMap<(i64, bool), i64> = (0..*n).map(|j| ((j % 5, j > n / 2), j)).collect();
            (*n, last.values().sum::<i64>(), (n - 3).max(0))
        });
        counted.check(&ns, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Each element has its own loop, over an inner array that becomes shorter, and with a number of rounds.
pub fn loops(h: &Harness) -> Outcome {
    let program = h.compile(|ns: Acc<Vector<i64>>| {
        comp![
            (n, rounds, row.sum())
            | n <- ns, n % 3 != 1, let row = [j * 37 % (n + 2) | j <- 0..n], let rounds = 0,
            while row.size() > 0 && row.sum() > 9 * row.size() {
                let most = row.max();
                row = [x - 1 | x <- row, x * 2 < most];
                rounds += 1;
            }
        ]
    })?;
    for length in LENGTHS {
        let ns = numbers(5, length);
        let expected = ns.iter().copied().filter(|n| n % 3 != 1).map(|n| {
            let mut row: Vec<i64> = (0..n).map(|j| j * 37 % (n + 2)).collect();
            let mut rounds = 0i32;
            while !row.is_empty() && row.iter().sum::<i64>() > 9 * row.len() as i64 {
                let most = row.iter().max().copied().unwrap_or(0);
                row = row.iter().filter(|x| **x * 2 < most).map(|x| x - 1).collect();
                rounds += 1;
            }
            (n, rounds, row.iter().sum::<i64>())
        });
        program.check(&ns, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Rows drop the elements below their mean until there are none: each in its own number of rounds.
pub fn loops_of_rows(h: &Harness) -> Outcome {
    let program = |rows: AccRagged<i64>| {
        while_rows(
            (rows.clone(), rows.lengths().map(|_| constant(0))),
            |(rows, _)| {
                let least = rows.clone().min_some();
                comp![size > 0 && least[i].unwrap_or(0) * size < sum | i <- 0.. | (sum, size) <- rows.clone().sum().zip(rows.lengths())]
            },
            |(rows, rounds)| {
                // The mean of an empty row would fail.
                let means = rows.clone().sum().zip_with(rows.lengths(), |sum, size| sum / size);
                (comp![[x | x <- rows[i], x > means[i]] | i <- 0..rows.size()], rounds.map(|n| n + 1))
            },
        )
    };
    let plain = |row: &[i64]| {
        let (mut row, mut rounds) = (row.to_vec(), 0);
        while row.iter().min().is_some_and(|least| least * (row.len() as i64) < row.iter().sum::<i64>()) {
            let mean = row.iter().sum::<i64>() / row.len() as i64;
            row.retain(|x| *x > mean);
            rounds += 1;
        }
        (row, rounds)
    };
    for lengths in [vec![], vec![0, 0], vec![3, 0, 1, 70, 0, 513, 2, 33]] {
        let mut numbers = values::<i64>(3, lengths.iter().sum()).into_iter().map(|x| x.rem_euclid(1000));
        let rows: Ragged<i64> =
            lengths.iter().map(|length| numbers.by_ref().take(*length).collect::<Vec<_>>()).collect();
        let left = rows.rows().map(|row| plain(row).0).collect();
        h.check_rows(|rows: AccRagged<i64>| program(rows).0, &rows, &left)?;
        let rounds: Vec<i64> = rows.rows().map(|row| plain(row).1).collect();
        h.compile(|rows: AccRagged<i64>| program(rows).1)?.check(&rows, &rounds)?;
    }
    Ok(())
}

/// Reductions of what is itself reduced: of so few elements that their loops are divided, of so many that each has a thread, and of many sources.
pub fn reductions_of_reductions(h: &Harness) -> Outcome {
    let sums = h.compile(|ns: Acc<Vector<i64>>, k: Exp<i64>| {
        comp![(sum![sum![n * y - z | z <- 0..(n + y) % k] | y <- 0..n], count![y <- 0..n, z <- 0..y % 5, z != 2]) | n <- ns]
    })?;
    let extrema = h.compile(|ns: Acc<Vector<i64>>, k: Exp<i64>| {
        comp![
            (
                max![min![(x * y) % 97 - z | z <- 0..=x % 3] | y <- 0..=x],
                fold!(|a, b| a ^ b, 1; sum![1 | z <- 0..k, z > y] | y <- 0..x % 6),
                any![all![z != y | z <- 0..x, z > 3] | y <- 0..5]
            )
            | n <- ns, let x = n % 11
        ]
    })?;
    for ns in [vec![], vec![5], vec![3, 0, 70, 1], vec![70_001, 4], vec![3; 70_000]] {
        let all = |n: &i64| {
            let inner = |y: i64| (0..(n + y) % 9).map(move |z| n * y - z).sum::<i64>();
            let count = (0..*n).map(|y| (0..y % 5).filter(|z| *z != 2).count() as i64).sum::<i64>();
            ((0..*n).map(inner).sum::<i64>(), count)
        };
        sums.check((&ns, 9), &ns.iter().map(all).collect::<Vec<_>>())?;
        let all = |n: &i64| {
            let x = n % 11;
            let least = |y: i64| (0..=x % 3).map(|z| (x * y) % 97 - z).min().unwrap_or(0);
            let folded = (0..x % 6).fold(1i64, |sum, y| sum ^ (0..4).filter(|z| *z > y).count() as i64);
            let any = (0..5).any(|y| (0..x).filter(|z| *z > 3).all(|z| z != y));
            ((0..=x).map(least).max().unwrap_or(0), folded, any)
        };
        extrema.check((&ns, 4), &ns.iter().map(all).collect::<Vec<_>>())?;
    }
    // In rows, and of three levels.
    let rows = |ns: Acc<Vector<i64>>| comp![[sum![max![sum![i * j - l | l <- 0..k] | k <- 0..=j] | j <- 0..i] | i <- 0..n] | n <- ns];
    let level = |i: i64, j: i64| (0..=j).map(|k| (0..k).map(|l| i * j - l).sum::<i64>()).max().unwrap_or(0);
    let row = |n: &i64| (0..*n).map(|i| (0..i).map(|j| level(i, j)).sum::<i64>()).collect();
    let ns = [4, 0, 9];
    h.check_rows(rows, &ns, &ns.iter().map(row).collect::<Vec<Vec<i64>>>().into())
}

/// The same in parts, as after a run for which memory did not suffice, and what is drawn and reduced in parts.
pub fn parts(h: &Harness) -> Outcome {
    h.in_parts(3, |h| {
        taken(h)?;
        rows(h)?;
        let sum = h.compile(|ns: Acc<Vector<i64>>| sum![row[n / 2] | n <- ns, let row = [j * 37 % (n + 2) | j <- 0..=n].sort()])?;
        let drawn = h.compile(|ns: Acc<Vector<i64>>| comp![n * j - i | n <- ns, j <- 0..n % 7, i <- 0..j, i != 2])?;
        for length in LENGTHS {
            let ns = numbers(5, length);
            sum.check(&ns, &[ns.iter().map(median).sum()])?;
            let triples = ns.iter().flat_map(|n| (0..n % 7).flat_map(move |j| (0..j).map(move |i| (*n, j, i))));
            let expected = triples.filter(|(_, _, i)| *i != 2).map(|(n, j, i)| n * j - i);
            drawn.check(&ns, &expected.collect::<Vec<_>>())?;
        }
        Ok(())
    })
}

/// The median of an inner array.
fn median(n: &i64) -> i64 {
    let mut row: Vec<i64> = (0..=*n).map(|j| j * 37 % (n + 2)).collect();
    row.sort_unstable();
    row[(*n / 2) as usize]
}

/// The medians of inner arrays, and their total number of elements, with so little memory that there are many chunks.
pub fn chunks(h: &Harness) -> Outcome {
    let medians = h.compile(|ns: Acc<Vector<i64>>, limit: Exp<i64>| {
        ns.in_chunks(
            limit,
            |n| n,
            |part| comp![row[n / 2] | n <- part, let row = [j * 37 % (n + 2) | j <- 0..=n].sort()],
        )
    })?;
    let count = h.compile(|ns: Acc<Vector<i64>>, limit: Exp<i64>| {
        ns.fold_in_chunks(limit, |n| n, 0, |part| count![n <- part, _ <- 0..n], |a, b| a + b)
    })?;
    for (length, limit) in [(0, 10), (1, 0), (203, 500), (203, 1 << 40)] {
        let ns = numbers(4, length);
        medians.check((&ns, limit), &ns.iter().map(median).collect::<Vec<_>>())?;
        count.check((&ns, limit), &[ns.iter().sum()])?;
    }
    Ok(())
}
