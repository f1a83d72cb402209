//! Reductions made of folds: extrema and their places, counts, means, and folds without an initial value.

use crate::data::{FEW_SIZES, Sample, floats, values};
use crate::{Harness, Outcome};
use pumice::Number;
use pumice::prelude::*;

fn extrema<T: Sample + Number + PartialOrd + Copy>(h: &Harness) -> Outcome {
    let least = h.compile(|xs: Acc<Vector<T>>| {
        let (least, most) = (xs.clone().min(), xs.clone().max());
        least.zip(most).zip(xs.clone().argmin().zip(xs.argmax()))
    })?;
    for n in FEW_SIZES.into_iter().filter(|n| *n > 0) {
        let xs = values::<T>(100, n);
        let first = |better: fn(&T, &T) -> bool| {
            (1..n).fold(0, |best, i| if better(&xs[i], &xs[best]) { i } else { best })
        };
        let (low, high) = (first(|a, b| a < b), first(|a, b| a > b));
        least.check(&xs, &[((xs[low], xs[high]), (low as i64, high as i64))])?;
    }
    Ok(())
}

pub fn extrema_and_where_they_are(h: &Harness) -> Outcome {
    extrema::<i32>(h)?;
    extrema::<i64>(h)?;
    extrema::<u32>(h)?;
    extrema::<u64>(h)
}

pub fn extrema_of_floats(h: &Harness) -> Outcome {
    let xs = [1.0f32, -0.0, f32::INFINITY, 0.0, f32::NEG_INFINITY, 2.0, f32::INFINITY];
    h.check(|xs: Acc<Vector<f32>>| xs.argmin(), &xs, &[4])?;
    h.check(|xs: Acc<Vector<f32>>| xs.argmax(), &xs, &[2])?;
    let with_nan = [1.0f64, f64::NAN, -3.0, f64::NAN, 7.0];
    h.check(|xs: Acc<Vector<f64>>| xs.argmin(), &with_nan, &[1])?;
    h.check(|xs: Acc<Vector<f64>>| xs.argmax(), &with_nan, &[1])?;
    // Both zeros are the same number.
    h.check(|xs: Acc<Vector<f64>>| xs.argmin(), &[0.0, -0.0], &[0])?;
    let rows =
        Matrix::from_vec([3, 2], vec![1.0f32, 2.0, 5.0, 3.0, 4.0, 4.0]).map_err(|error| error.to_string())?;
    h.check(|m: Acc<Matrix<f32>>| m.clone().argmax().zip(m.max()), &rows, &[(1, 2.0), (0, 5.0), (0, 4.0)])?;
    // Of a NaN and a number, the number; -0.0 is smaller than 0.0.
    let both = h.compile(|m: Acc<Matrix<f32>>| m.clone().min().zip(m.max()))?;
    let all = h.compile(|xs: Acc<Vector<f32>>| {
        let positive = xs.clone().filter(|x| !x.lt(0.0));
        (xs.clone().min().zip(xs.max())).zip(positive.clone().min().zip(positive.max()))
    })?;
    let extremum = |numbers: &[f32], most: bool| {
        let mut numbers: Vec<f32> = numbers.iter().copied().filter(|x| !x.is_nan()).collect();
        numbers.sort_by(f32::total_cmp);
        *if most { numbers.last() } else { numbers.first() }.unwrap_or(&f32::NAN)
    };
    let extrema = |numbers: &[f32]| (extremum(numbers, false), extremum(numbers, true));
    for columns in [1, 5, 3001] {
        let mut xs = vec![f32::NAN; columns];
        xs.extend((0..columns).map(|i| if i == columns / 2 { 3.5 } else { f32::NAN }));
        xs.extend((0..columns).map(|i| if i % 7 == 3 { -0.0 } else { 0.0 }));
        xs.extend(floats(104, columns, -5.0, 5.0).iter().map(|x| *x as f32));
        xs.extend(vec![f32::INFINITY; columns]);
        let m = Matrix::from_slice([5, columns], &xs).map_err(|error| error.to_string())?;
        both.check(&m, &xs.chunks(columns).map(extrema).collect::<Vec<_>>())?;
        for row in xs.chunks(columns) {
            let positive: Vec<f32> = row.iter().copied().filter(|x| x.is_nan() || *x >= 0.0).collect();
            if !positive.is_empty() {
                all.check(row, &[(extrema(row), extrema(&positive))])?;
            }
        }
    }
    Ok(())
}

pub fn conditions_of_rows(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<i32>>| {
        let any = m.clone().any(|x| x.gt(1_000_000_000));
        let all = m.clone().all(|x| x.gt(-2_000_000_000));
        any.zip(all).zip(m.count(|x| (x & 1).eq(0)))
    })?;
    for [rows, columns] in [[4, 3], [0, 5], [5, 0], [129, 70], [2, 3000]] {
        let xs = values::<i32>(101, rows * columns);
        let m = Matrix::from_slice([rows, columns], &xs).map_err(|error| error.to_string())?;
        let row = |row: usize| {
            let row = &xs[row * columns..(row + 1) * columns];
            let (any, all) =
                (row.iter().any(|x| *x > 1_000_000_000), row.iter().all(|x| *x > -2_000_000_000));
            ((any, all), row.iter().filter(|x| **x & 1 == 0).count() as i64)
        };
        program.check(&m, &(0..rows).map(row).collect::<Vec<_>>())?;
    }
    h.check(|xs: Acc<Vector<u32>>| xs.product(), &[2, 3, 7], &[42])?;
    h.check(|xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| xs.equal(ys), (&[1, 2], &[1, 3]), &[false])
}

pub fn means_and_variances(h: &Harness) -> Outcome {
    let program =
        h.compile(|m: Acc<Matrix<f64>>| m.clone().mean().zip(m.clone().variance()).zip(m.norm()))?;
    for [rows, columns] in [[3, 1], [4, 5], [2, 5000], [300, 70]] {
        // Far from zero, where a sum of squares would lose everything.
        let xs: Vec<f64> = floats(102, rows * columns, -1.0, 1.0).iter().map(|x| x + 1e6).collect();
        let m = Matrix::from_slice([rows, columns], &xs).map_err(|error| error.to_string())?;
        let row = |row: usize| {
            let row = &xs[row * columns..(row + 1) * columns];
            let mean = row.iter().sum::<f64>() / columns as f64;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / columns as f64;
            ((mean, variance), row.iter().map(|x| x * x).sum::<f64>().sqrt())
        };
        let expected: Vec<_> = (0..rows).map(row).collect();
        let found = program.run(&m)?;
        if h.is_planning() {
            continue;
        }
        let found = found.to_vec().map_err(|error| error.to_string())?;
        for (((mean, variance), norm), ((m, v), n)) in found.into_iter().zip(expected) {
            let close = |a: f64, b: f64, by: f64| (a - b).abs() <= by * b.abs().max(1e-3);
            if !(close(mean, m, 1e-12) && close(variance, v, 1e-6) && close(norm, n, 1e-12)) {
                return Err(format!("{mean} {variance} {norm} where {m} {v} {n} was expected"));
            }
        }
    }
    let empty = h.compile(|xs: Acc<Vector<f32>>| xs.mean().map(|x| x.ne(x)))?;
    empty.check(&[0f32; 0], &[true])?;
    h.check(|xs: Acc<Vector<f32>>| xs.mean(), &[1.0, 2.0, 3.0], &[2.0])
}

pub fn folds_from_nothing(h: &Harness) -> Outcome {
    // The composition of affine maps does not commute, and its neutral element is not known.
    type Pair = (Exp<i32>, Exp<i32>);
    let then = |(a, b): Pair, (c, d): Pair| (a * c, b * c + d);
    let program = h.compile(move |m: Acc<Matrix<(i32, i32)>>| m.fold1(then))?;
    let kept = h.compile(|xs: Acc<Vector<i32>>| xs.filter(|x| x.gt(0)).fold1(|a, b| a.min(b)))?;
    for [rows, columns] in [[0, 3], [0, 0], [3, 1], [7, 40], [2, 5000], [1, 70_001]] {
        let xs = values::<(i32, i32)>(103, rows * columns);
        let m = Matrix::from_slice([rows, columns], &xs).map_err(|error| error.to_string())?;
        let plain = |(a, b): (i32, i32), (c, d): &(i32, i32)| {
            (a.wrapping_mul(*c), b.wrapping_mul(*c).wrapping_add(*d))
        };
        let row = |row: usize| {
            let row = &xs[row * columns..(row + 1) * columns];
            row[1..].iter().fold(row[0], plain)
        };
        program.check(&m, &(0..rows).map(row).collect::<Vec<_>>())?;
    }
    // The number of kept elements is read before the fold is planned, and without a device it cannot be read.
    if !h.is_planning() {
        kept.check(&[-1, 5, 3, -7], &[3])?;
        h.expect_failure(kept.run(&[-1]), &["there is no element to begin with in fold1", file!()])?;
    }
    h.expect_error(|xs: Acc<Vector<f32>>| xs.max(), &[0f32; 0], &["no element to begin with in max", file!()])
}
