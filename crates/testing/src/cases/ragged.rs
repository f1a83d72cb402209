//! Operations on rows of different lengths, against plain Rust: empty rows, no rows at all, rows that are long for a block.

use crate::data::values;
use crate::{Harness, Outcome};
use pumice::prelude::*;

/// Lengths of rows: no row, only empty ones, one element, and many of all kinds.
fn lengths() -> [Vec<usize>; 4] {
    let many = [3, 0, 1, 70, 0, 0, 2, 513].into_iter().cycle().take(41).chain([9001, 0, 33, 0]);
    [vec![], vec![0, 0, 0], vec![1], many.collect()]
}

/// Returns numbers from -20 to 20.
fn numbers(seed: u64, lengths: &[usize]) -> Ragged<i64> {
    let mut numbers = values::<i64>(seed, lengths.iter().sum()).into_iter().map(|x| x.rem_euclid(41) - 20);
    lengths.iter().map(|length| numbers.by_ref().take(*length).collect::<Vec<_>>()).collect()
}

/// Applies a function to each row.
fn each<T, U>(rows: &Ragged<T>, f: impl Fn(&[T]) -> Vec<U>) -> Ragged<U> {
    rows.rows().map(f).collect()
}

fn running_sums(row: &[i64]) -> Vec<i64> {
    let sums = row.iter().scan(0, |sum, x| {
        *sum += x;
        Some(*sum)
    });
    sums.collect()
}

pub fn maps_zips_and_filters(h: &Harness) -> Outcome {
    let program = |xs: AccRagged<i64>, ys: AccRagged<i64>, least: Exp<i64>| {
        xs.zip_with(ys, |x, y| x * 2 + y).filter(|x| x.ge(least)).map(|x| x + 1)
    };
    for lengths in lengths() {
        let (xs, ys) = (numbers(1, &lengths), numbers(2, &lengths));
        let both = xs.rows().zip(ys.rows());
        let kept = |(xs, ys): (&[i64], &[i64])| {
            let sums = xs.iter().zip(ys).map(|(x, y)| x * 2 + y);
            sums.filter(|x| *x >= 3).map(|x| x + 1).collect::<Vec<_>>()
        };
        h.check_rows(program, (&xs, &ys, 3), &both.map(kept).collect())?;
    }
    Ok(())
}

pub fn folds(h: &Harness) -> Outcome {
    // Maps x -> ax + b, one after the other: they do not commute.
    let after = |(a, b): (Exp<i64>, Exp<i64>), (c, d): (Exp<i64>, Exp<i64>)| (a * c, b * c + d);
    let all = h.compile(|rows: AccRagged<i64>| {
        let sums = rows.clone().filter(|x| x.ne(7)).sum();
        let composed = rows.map(|x| (x % 3, x)).fold((1, 5), after);
        sums.zip_with(composed, |sum, (a, b)| (sum, a, b))
    })?;
    let some = h.compile(|rows: AccRagged<i64>| {
        let (least, most) = (rows.clone().min(), rows.clone().max());
        let (first, last) = (rows.clone().argmin(), rows.argmax());
        least.zip_with(most, |a, b| (a, b)).zip_with(first.zip_with(last, |c, d| (c, d)), |a, b| (a, b))
    })?;
    for lengths in lengths() {
        let rows = numbers(3, &lengths);
        let expected = rows.rows().map(|row| {
            let composed = row.iter().fold((1i64, 5i64), |(a, b), x| {
                (a.wrapping_mul(x % 3), b.wrapping_mul(x % 3).wrapping_add(*x))
            });
            (row.iter().filter(|x| **x != 7).sum::<i64>(), composed.0, composed.1)
        });
        all.check(&rows, &expected.collect::<Vec<_>>())?;
        let rows: Ragged<i64> = rows.rows().filter(|row| !row.is_empty()).map(<[i64]>::to_vec).collect();
        let expected = rows.rows().map(|row| {
            let (least, most) = (row.iter().min().copied(), row.iter().max().copied());
            let index = |value: Option<i64>| row.iter().position(|x| Some(*x) == value).unwrap_or(0) as i64;
            ((least.unwrap_or(0), most.unwrap_or(0)), (index(least), index(most)))
        });
        some.check(&rows, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn scans(h: &Harness) -> Outcome {
    for lengths in lengths() {
        let rows = numbers(4, &lengths);
        h.check_rows(|rows: AccRagged<i64>| rows.scan(|a, b| a + b), &rows, &each(&rows, running_sums))?;
    }
    Ok(())
}

/// Lengths about the longest that a block sorts, of numbers and of pairs; and only short ones.
fn lengths_for_sorts() -> [Vec<usize>; 3] {
    let about_limits = vec![4095, 1, 4097, 0, 4096, 2, 2048, 2049, 5000];
    [about_limits, (0..700).map(|row| row % 33).collect(), vec![2; 6001]]
}

pub fn sorts(h: &Harness) -> Outcome {
    for lengths in lengths().into_iter().chain(lengths_for_sorts()) {
        let rows = numbers(5, &lengths);
        let rows = each(&rows, |row| row.iter().map(|x| *x as i32).collect());
        let sorted = |row: &[i32]| {
            let mut row = row.to_vec();
            row.sort_unstable();
            row
        };
        h.check_rows(|rows: AccRagged<i32>| rows.sort(), &rows, &each(&rows, sorted))?;
        // Equal keys stay in order, which the element numbers show.
        let numbered = each(&rows, |row| row.iter().copied().zip(0i32..).collect());
        let by_key = |row: &[(i32, i32)]| {
            let mut row = row.to_vec();
            row.sort_by_key(|(x, _)| x % 5 < 2);
            row
        };
        let program = |rows: AccRagged<(i32, i32)>| rows.sort_by_key(|(x, _)| (x % 5).lt(2));
        h.check_rows(program, &numbered, &each(&numbered, by_key))?;
    }
    // What stands before the first row and behind the last one stays.
    let sort = |xs: Acc<Vector<i64>>, offsets: Acc<Vector<i64>>| AccRagged::new(xs, offsets).sort().flatten();
    h.check(sort, (&[9, 8, 7, 2, 1, 5, 4, 3, 0], &[2, 5, 5, 7]), &[9, 8, 1, 2, 7, 4, 5, 3, 0])?;
    h.check(sort, (&[2, 1], &Vec::<i64>::new()), &[2, 1])?;
    by_first::<4>(h)?;
    // Larger than any block has room for.
    by_first::<33>(h)
}

/// Sorts rows of large elements.
fn by_first<const N: usize>(h: &Harness) -> Outcome
where
    [i64; N]: Elt,
    (i64, [i64; N]): Elt<Exp = (Exp<i64>, <[i64; N] as Elt>::Exp)>,
{
    let rows = numbers(9, &[300, 5, 256, 257, 0, 4]);
    let rows = each(&rows, |row| row.iter().map(|x| (*x, [*x; N])).collect());
    let by_key = |row: &[(i64, [i64; N])]| {
        let mut row = row.to_vec();
        row.sort_by_key(|(x, _)| -x);
        row
    };
    let program = |rows: AccRagged<(i64, [i64; N])>| rows.sort_by_key(|(x, _)| -x);
    h.check_rows(program, &rows, &each(&rows, by_key))
}

pub fn single_rows(h: &Harness) -> Outcome {
    let program = h.compile(|rows: AccRagged<i64>, row: Exp<i64>| rows.at(row).map(|x| x + 1))?;
    let rows = numbers(6, &[0, 3, 701]);
    for number in 0..3 {
        let expected: Vec<i64> = rows[number].iter().map(|x| x + 1).collect();
        program.check((&rows, number as i64), &expected)?;
    }
    let parts = &["at at", file!(), "3"];
    h.expect_failure(program.run((&rows, 3)), parts)
}

/// Inner comprehensions as rows, which are sorted, filtered and scanned.
pub fn of_comprehensions(h: &Harness) -> Outcome {
    let program = |n: Exp<i64>| {
        let remainders = comp![[n % d | d <- 1..=n] | n <- 0..n];
        let sorted = remainders.sort().filter(|x| x.ne(0));
        sorted.scan(|a, b| a + b)
    };
    for n in [0i64, 1, 60] {
        let rows = (0..n).map(|n| {
            let mut row: Vec<i64> = (1..=n).map(|d| n % d).filter(|x| *x != 0).collect();
            row.sort_unstable();
            running_sums(&row)
        });
        h.check_rows(program, n, &rows.collect())?;
    }
    Ok(())
}

pub fn mistakes(h: &Harness) -> Outcome {
    let rows = numbers(7, &[2, 0, 1]);
    h.expect_error(
        |rows: AccRagged<i64>| rows.min(),
        &rows,
        &["no element to begin with in min at", file!()],
    )?;
    h.expect_error(|rows: AccRagged<i64>| rows.argmax(), &rows, &["in argmax at", file!()])?;
    let zipped = |xs: AccRagged<i64>, ys: AccRagged<i64>| xs.zip_with(ys, |x, y| x + y).sum();
    let others = numbers(8, &[2, 1, 0]);
    h.expect_error(zipped, (&rows, &others), &["zip_with at", file!(), "arrays of 0 and of 1 elements"])?;
    let beyond = |xs: Acc<Vector<i64>>, offsets: Acc<Vector<i64>>| AccRagged::new(xs, offsets).sum();
    h.expect_error(beyond, (&[1, 2], &[0, 3]), &["index 2 out of bounds for length 2 in sum at", file!()])?;
    let sort = |xs: Acc<Vector<i64>>, offsets: Acc<Vector<i64>>| AccRagged::new(xs, offsets).sort().flatten();
    h.expect_error(sort, (&[1, 2], &[0, 3]), &["index 2 out of bounds for length 2 in sort at", file!()])?;
    h.expect_error(sort, (&[1, 2], &[0, 2, 1]), &["a size of -1 in sort at", file!()])
}
