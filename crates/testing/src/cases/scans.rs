//! Scans from the left and from the right, of every shape and type, with operators that do and do not commute.

use crate::data::{FEW_SIZES, Sample, values};
use crate::{Harness, Outcome};
use pumice::prelude::*;

/// Rows and columns: few and many rows, short and long ones, and none.
const MATRICES: [[usize; 2]; 10] =
    [[0, 7], [7, 0], [1, 1], [300, 3], [129, 64], [5, 1024], [3, 4099], [2, 9000], [1, 20_000], [3, 40_001]];

/// A few of [`MATRICES`], for cases that are not about shapes: kernels are compiled for most of them.
const FEW_MATRICES: [[usize; 2]; 5] = [[0, 7], [7, 0], [129, 64], [3, 4099], [1, 20_000]];

fn matrix<T: Sample>(seed: u64, extents: [usize; 2]) -> Result<(Vec<T>, Matrix<T>), String> {
    let elements = values::<T>(seed, extents[0] * extents[1]);
    let matrix = Matrix::from_slice(extents, &elements).map_err(|error| error.to_string())?;
    Ok((elements, matrix))
}

/// Returns the inclusive scan of a row, with an initial value if there is one.
fn inclusive<T: Clone>(row: &[T], initial: Option<T>, f: impl Fn(T, T) -> T) -> Vec<T> {
    let mut sum = initial;
    let step = |x: &T| {
        let next = sum.take().map_or(x.clone(), |sum| f(sum, x.clone()));
        sum = Some(next.clone());
        next
    };
    row.iter().map(step).collect()
}

/// Like [`inclusive`], from the right.
fn from_right<T: Clone>(row: &[T], initial: Option<T>, f: impl Fn(T, T) -> T) -> Vec<T> {
    let turned: Vec<T> = row.iter().rev().cloned().collect();
    let mut results = inclusive(&turned, initial, |sum, x| f(x, sum));
    results.reverse();
    results
}

/// Applies a function to every row of a matrix.
fn of_rows<T, U>(elements: &[T], [rows, columns]: [usize; 2], f: impl Fn(&[T]) -> Vec<U>) -> Vec<U> {
    (0..rows).flat_map(|row| f(&elements[row * columns..(row + 1) * columns])).collect()
}

fn starting_with<T: Clone>(initial: T, rest: Vec<T>) -> Vec<T> {
    std::iter::once(initial).chain(rest).collect()
}

fn at<T>(what: T) -> impl Fn(String) -> String
where
    T: std::fmt::Debug,
{
    move |message| format!("{what:?}: {message}")
}

pub fn running_sums_of_every_type(h: &Harness) -> Outcome {
    macro_rules! sums {
        ($($t:ident $plus:expr;)*) => { $({
            let program = h.compile(|xs: Acc<Vector<$t>>| xs.scanl1(|a, b| a + b))?;
            for n in [1, 4099] {
                let xs = values::<$t>(1, n);
                program.check(&xs, &inclusive(&xs, None, $plus)).map_err(at((n, stringify!($t))))?;
            }
        })* };
    }
    sums! {
        i32 i32::wrapping_add;
        i64 i64::wrapping_add;
        u32 u32::wrapping_add;
        u64 u64::wrapping_add;
    }
    // Small whole numbers are summed exactly.
    let floats = h.compile(|xs: Acc<Vector<f32>>| xs.scanl1(|a, b| a + b))?;
    let doubles = h.compile(|xs: Acc<Vector<f64>>| xs.scanl1(|a, b| a + b))?;
    for n in FEW_SIZES {
        let xs: Vec<f32> = (0..n).map(|i| ((i * 7) % 11) as f32 - 5.0).collect();
        floats.check(&xs, &inclusive(&xs, None, |a, b| a + b)).map_err(at((n, "f32")))?;
        let xs: Vec<f64> = (0..n).map(|i| ((i * 7) % 13) as f64 - 6.0).collect();
        doubles.check(&xs, &inclusive(&xs, None, |a, b| a + b)).map_err(at((n, "f64")))?;
    }
    Ok(())
}

pub fn scans_of_every_shape(h: &Harness) -> Outcome {
    let left = h.compile(|m: Acc<Matrix<i32>>| m.scanl1(|a, b| a + b))?;
    let right = h.compile(|m: Acc<Matrix<i32>>| m.scanr1(|a, b| a + b))?;
    for extents in MATRICES {
        let (elements, m) = matrix::<i32>(2, extents)?;
        let expected = of_rows(&elements, extents, |row| inclusive(row, None, i32::wrapping_add));
        left.check_shaped(&m, extents, &expected).map_err(at(extents))?;
    }
    for extents in FEW_MATRICES {
        let (elements, m) = matrix::<i32>(2, extents)?;
        let expected = of_rows(&elements, extents, |row| from_right(row, None, i32::wrapping_add));
        right.check_shaped(&m, extents, &expected).map_err(at(extents))?;
    }
    Ok(())
}

pub fn scans_from_initial_values(h: &Harness) -> Outcome {
    let left = h.compile(|m: Acc<Matrix<i32>>| m.scanl(5, |a, b| a + b))?;
    let right = h.compile(|m: Acc<Matrix<i64>>| m.scanr(0, |a, b| a.max(b)))?;
    for extents in FEW_MATRICES {
        let longer = [extents[0], extents[1] + 1];
        let (elements, m) = matrix::<i32>(3, extents)?;
        let sums = |row: &[i32]| starting_with(5, inclusive(row, Some(5), i32::wrapping_add));
        left.check_shaped(&m, longer, &of_rows(&elements, extents, sums)).map_err(at(extents))?;
        let (elements, m) = matrix::<i64>(4, extents)?;
        let largest = |row: &[i64]| {
            let mut all = from_right(row, Some(0), i64::max);
            all.push(0);
            all
        };
        right.check_shaped(&m, longer, &of_rows(&elements, extents, largest)).map_err(at(extents))?;
    }
    Ok(())
}

pub fn scans_with_totals(h: &Harness) -> Outcome {
    let left = h.compile(|m: Acc<Matrix<i32>>| {
        let columns = m.shape().1;
        let (sums, totals) = m.scanl_with_total(7, |a, b| a + b);
        sums.zip(totals.replicate_columns(columns))
    })?;
    let right = h.compile(|m: Acc<Matrix<i32>>| m.scanr_with_total(7, |a, b| a + b).1)?;
    for extents in FEW_MATRICES {
        let (elements, m) = matrix::<i32>(5, extents)?;
        let rows = |row: &[i32]| {
            let sums = starting_with(7, inclusive(row, Some(7), i32::wrapping_add));
            let total = sums[row.len()];
            sums[..row.len()].iter().map(|sum| (*sum, total)).collect()
        };
        left.check(&m, &of_rows(&elements, extents, rows)).map_err(at(extents))?;
        let total = |row: &[i32]| vec![row.iter().fold(7, |a: i32, b| a.wrapping_add(*b))];
        right.check(&m, &of_rows(&elements, extents, total)).map_err(at(extents))?;
    }
    Ok(())
}

pub fn affine_maps(h: &Harness) -> Outcome {
    type Pair = (Exp<i32>, Exp<i32>);
    let then = |(a, b): Pair, (c, d): Pair| (a * c, b * c + d);
    let plain =
        |(a, b): (i32, i32), (c, d): (i32, i32)| (a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d));
    let left = h.compile(move |m: Acc<Matrix<(i32, i32)>>| m.scanl1(then))?;
    let right = h.compile(move |m: Acc<Matrix<(i32, i32)>>| m.scanr1(then))?;
    for extents in FEW_MATRICES {
        let (elements, m) = matrix::<(i32, i32)>(6, extents)?;
        let expected = of_rows(&elements, extents, |row| inclusive(row, None, plain));
        left.check(&m, &expected).map_err(at(extents))?;
        let expected = of_rows(&elements, extents, |row| from_right(row, None, plain));
        right.check(&m, &expected).map_err(at(extents))?;
    }
    Ok(())
}

pub fn segmented_sums(h: &Harness) -> Outcome {
    // A sum that restarts where the flag holds, and beside it the largest element so far.
    let program = h.compile(|xs: Acc<Vector<(i32, bool, i64)>>| {
        xs.scanl1(|(a, f, m), (b, g, n)| (g.select(b, a + b), f | g, m.max(n)))
    })?;
    for n in FEW_SIZES {
        let numbers = values::<i32>(7, n);
        let xs: Vec<(i32, bool, i64)> =
            numbers.iter().enumerate().map(|(i, x)| (*x, i % 37 == 5, i64::from(*x) * 3)).collect();
        let f = |(a, f, m): (i32, bool, i64), (b, g, n): (i32, bool, i64)| {
            (if g { b } else { a.wrapping_add(b) }, f | g, m.max(n))
        };
        program.check(&xs, &inclusive(&xs, None, f)).map_err(at(n))?;
    }
    Ok(())
}

pub fn functions_around_scans(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        let ys = xs.clone();
        xs.map(|x| x / 3).scanl1(|a, b| a + b).map(|sum| sum * 2).zip_with(ys, |sum, x| sum - x)
    })?;
    let twice = h.compile(|xs: Acc<Vector<i32>>| xs.scanl1(|a, b| a + b).scanr1(|a, b| a + b))?;
    let of_folds = h.compile(|m: Acc<Matrix<i32>>| m.sum().scanl1(|a, b| a + b))?;
    let folded = h.compile(|xs: Acc<Vector<i32>>| xs.scanl(0, |a, b| a + b).fold(0, |a, b| a.max(b)))?;
    for n in FEW_SIZES {
        let xs = values::<i32>(8, n);
        let thirds: Vec<i32> = xs.iter().map(|x| x / 3).collect();
        let sums = inclusive(&thirds, None, i32::wrapping_add);
        let expected: Vec<i32> =
            sums.iter().zip(&xs).map(|(sum, x)| sum.wrapping_mul(2).wrapping_sub(*x)).collect();
        program.check(&xs, &expected).map_err(at(n))?;
        let sums = inclusive(&xs, None, i32::wrapping_add);
        twice.check(&xs, &from_right(&sums, None, i32::wrapping_add)).map_err(at(n))?;
        folded.check(&xs, &[sums.iter().copied().fold(0, i32::max)]).map_err(at(n))?;
    }
    let (elements, m) = matrix::<i32>(9, [300, 40])?;
    let sums = of_rows(&elements, [300, 40], |row| vec![row.iter().fold(0i32, |a, b| a.wrapping_add(*b))]);
    of_folds.check(&m, &inclusive(&sums, None, i32::wrapping_add))
}

pub fn operators_without_a_neutral_element(h: &Harness) -> Outcome {
    let largest = h.compile(|xs: Acc<Vector<f32>>| xs.scanl1(|a, b| a.max(b)))?;
    let last = h.compile(|xs: Acc<Vector<u32>>| xs.scanl(9, |_, b| b))?;
    for n in FEW_SIZES {
        let xs = values::<f32>(10, n);
        largest.check(&xs, &inclusive(&xs, None, f32::max)).map_err(at(n))?;
        let xs = values::<u32>(11, n);
        last.check(&xs, &starting_with(9, xs.clone())).map_err(at(n))?;
    }
    Ok(())
}
