//! Folds whose operators commute, of every shape, type and source.

use crate::data::{FEW_SIZES, SHAPES, SIZES, Sample, floats, values};
use crate::{Harness, Outcome, Tolerance};
use pumice::prelude::*;

/// Rows and columns: few and many rows, short and long ones, and none.
const MATRICES: [[usize; 2]; 20] = [
    [0, 0],
    [0, 7],
    [7, 0],
    [1, 1],
    [3, 1],
    [1, 2],
    [5, 15],
    [5, 16],
    [5, 17],
    [1000, 3],
    [4099, 4],
    [300, 16],
    [33, 64],
    [65, 257],
    [10, 1000],
    [7, 1024],
    [3, 4099],
    [4, 5000],
    [257, 100],
    [1, 20_000],
];

/// A few of [`MATRICES`], for cases that are not about shapes: a kernel is compiled for most of them.
const FEW_MATRICES: [[usize; 2]; 7] = [[0, 7], [7, 0], [1, 1], [300, 5], [65, 257], [7, 1024], [3, 4099]];

fn matrix<T: Sample>(seed: u64, extents: [usize; 2]) -> Result<(Vec<T>, Matrix<T>), String> {
    let elements = values::<T>(seed, extents[0] * extents[1]);
    let matrix = Matrix::from_slice(extents, &elements).map_err(|error| error.to_string())?;
    Ok((elements, matrix))
}

/// Folds the rows of a matrix in plain Rust.
fn rows<T: Copy>(elements: &[T], [count, columns]: [usize; 2], neutral: T, f: impl Fn(T, T) -> T) -> Vec<T> {
    (0..count).map(|i| elements[i * columns..(i + 1) * columns].iter().copied().fold(neutral, &f)).collect()
}

pub fn sums_of_every_type(h: &Harness) -> Outcome {
    macro_rules! sums {
        ($($t:ident $sizes:ident $plus:expr;)*) => { $({
            let program = h.compile(|xs: Acc<Vector<$t>>| xs.sum())?;
            for n in $sizes {
                let xs = values::<$t>(1, n);
                let total = xs.iter().fold(<$t>::default(), |a, b| $plus(a, *b));
                program.check(&xs, &[total]).map_err(|m| format!("{n} of {}: {m}", stringify!($t)))?;
            }
        })* };
    }
    sums! {
        f32 SIZES |a: f32, b: f32| a + b;
        f64 FEW_SIZES |a: f64, b: f64| a + b;
        i32 FEW_SIZES i32::wrapping_add;
        i64 SIZES i64::wrapping_add;
        u32 FEW_SIZES u32::wrapping_add;
        u64 FEW_SIZES u64::wrapping_add;
    }
    Ok(())
}

pub fn sums_of_every_shape(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<f32>>| m.sum())?;
    for extents in MATRICES {
        let (elements, m) = matrix::<f32>(2, extents)?;
        let expected = rows(&elements, extents, 0.0, |a, b| a + b);
        program.check_shaped(&m, [extents[0]], &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    let wide = h.compile(|m: Acc<Matrix<i64>>| m.sum())?;
    for extents in FEW_MATRICES {
        let (elements, m) = matrix::<i64>(3, extents)?;
        wide.check(&m, &rows(&elements, extents, 0, i64::wrapping_add))
            .map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn long_rows(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<i32>>| m.sum())?;
    for extents in [[1, 100_000], [3, 40_000], [1, 140_001], [2, 150_000], [1, 300_000]] {
        let (elements, m) = matrix::<i32>(4, extents)?;
        program
            .check(&m, &rows(&elements, extents, 0, i32::wrapping_add))
            .map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn smallest_and_largest(h: &Harness) -> Outcome {
    let largest = h.compile(|m: Acc<Matrix<f32>>| m.fold(f32::NEG_INFINITY, |a, b| a.max(b)))?;
    let smallest = h.compile(|m: Acc<Matrix<u64>>| m.fold(u64::MAX, |a, b| a.min(b)))?;
    for extents in FEW_MATRICES {
        let (elements, m) = matrix::<f32>(5, extents)?;
        largest.check(&m, &rows(&elements, extents, f32::NEG_INFINITY, f32::max))?;
        let (elements, m) = matrix::<u64>(6, extents)?;
        smallest.check(&m, &rows(&elements, extents, u64::MAX, u64::min))?;
    }
    Ok(())
}

pub fn logical_operators(h: &Harness) -> Outcome {
    let all = h.compile(|m: Acc<Matrix<i32>>| m.map(|x| x.ne(0)).fold(true, |a, b| a & b))?;
    let odd = h.compile(|m: Acc<Matrix<bool>>| m.fold(false, |a, b| a ^ b))?;
    let bits = h.compile(|m: Acc<Matrix<u32>>| m.fold(0, |a, b| a | b))?;
    for extents in FEW_MATRICES {
        let (elements, m) = matrix::<i32>(7, extents)?;
        let expected: Vec<bool> = (0..extents[0])
            .map(|i| elements[i * extents[1]..(i + 1) * extents[1]].iter().all(|x| *x != 0))
            .collect();
        all.check(&m, &expected)?;
        let (elements, m) = matrix::<bool>(8, extents)?;
        odd.check(&m, &rows(&elements, extents, false, |a, b| a ^ b))?;
        let elements: Vec<u32> = values::<u32>(9, elements.len()).iter().map(|x| 1 << (x % 29)).collect();
        let m = Matrix::from_slice(extents, &elements).map_err(|error| error.to_string())?;
        bits.check(&m, &rows(&elements, extents, 0, |a, b| a | b))?;
    }
    Ok(())
}

pub fn products_that_wrap(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<u64>>| xs.map(|x| x | 1).fold(1, |a, b| a * b))?;
    for n in SIZES {
        let xs = values::<u64>(10, n);
        program.check(&xs, &[xs.iter().fold(1, |a: u64, b| a.wrapping_mul(b | 1))])?;
    }
    Ok(())
}

pub fn several_results_at_once(h: &Harness) -> Outcome {
    // (sum, largest, smallest, count)
    let program = h.compile(|m: Acc<Matrix<f64>>| {
        let neutral = (0.0, f64::NEG_INFINITY, f64::INFINITY, 0i32);
        m.map(|x| (x, x, x, constant(1)))
            .fold(neutral, |a, b| (a.0 + b.0, a.1.max(b.1), a.2.min(b.2), a.3 + b.3))
    })?;
    for extents in MATRICES {
        let (elements, m) = matrix::<f64>(11, extents)?;
        let elements: Vec<_> = elements.iter().map(|&x| (x, x, x, 1)).collect();
        let expected = rows(&elements, extents, (0.0, f64::NEG_INFINITY, f64::INFINITY, 0), |a, b| {
            (a.0 + b.0, a.1.max(b.1), a.2.min(b.2), a.3 + b.3)
        });
        program.check(&m, &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    // The place of the largest element: commutes, but the proof does not see that.
    let place = h.compile(|m: Acc<Matrix<i32>>| {
        let (rows, columns) = m.shape();
        m.zip(generate((rows, columns), |(_, j)| j)).fold((i32::MIN, i64::MAX), |(a, i), (b, j)| {
            let first = a.gt(b) | (a.eq(b) & i.lt(j));
            first.select((a, i), (b, j))
        })
    })?;
    for extents @ [_, columns] in FEW_MATRICES {
        let (elements, m) = matrix::<i32>(12, extents)?;
        let elements: Vec<(i32, i64)> =
            elements.iter().enumerate().map(|(k, x)| (*x, (k % columns.max(1)) as i64)).collect();
        let expected = rows(&elements, extents, (i32::MIN, i64::MAX), |a, b| {
            if a.0 > b.0 || (a.0 == b.0 && a.1 < b.1) { a } else { b }
        });
        place.check(&m, &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn empty_rows_give_the_neutral_element(h: &Harness) -> Outcome {
    let program =
        h.compile(|m: Acc<Matrix<(f32, i64)>>| m.fold((1.0, -7), |a, b| (a.0 * b.0, a.1.max(b.1))))?;
    for count in [0, 1, 5, 1000] {
        let m = Matrix::from_vec([count, 0], vec![]).map_err(|error| error.to_string())?;
        program.check_shaped(&m, [count], &vec![(1.0, -7); count])?;
    }
    h.check(|xs: Acc<Vector<f32>>| xs.map(|x| x + 1.0).sum().map(|x| x + 5.0), &[] as &[f32], &[5.0])?;
    // Extents that the program itself makes empty.
    h.check(|| generate((3, 0), |(i, _)| i).fold(9, |a, b| a * b + 1), (), &[9; 3])?;
    h.check(|| generate((0, 3), |(i, _)| i).sum(), (), &[])
}

pub fn initial_values_count_once(h: &Harness) -> Outcome {
    let sum = h.compile(|xs: Acc<Vector<i32>>| xs.fold(100, |a, b| a + b))?;
    for n in SIZES {
        let xs = values::<i32>(14, n);
        let total = xs.iter().fold(100, |a: i32, b| a.wrapping_add(*b));
        sum.check(&xs, &[total]).map_err(|m| format!("{n} elements: {m}"))?;
    }
    // A tuple of which one scalar absorbs its initial value and the other does not, with a map after it.
    let rows_of = h.compile(|start: Exp<i64>, m: Acc<Matrix<i64>>| {
        let initial = (start, constant(5i64));
        m.map(|x| (x, x)).fold(initial, |a, b| (a.0 + b.0, a.1.max(b.1))).map(|(sum, largest)| sum ^ largest)
    })?;
    for extents in FEW_MATRICES {
        let (elements, m) = matrix::<i64>(15, extents)?;
        let pairs: Vec<(i64, i64)> = elements.iter().map(|x| (*x, *x)).collect();
        let folded = rows(&pairs, extents, (-9, 5), |a, b| (a.0.wrapping_add(b.0), a.1.max(b.1)));
        let expected: Vec<i64> = folded.iter().map(|(sum, largest)| sum ^ largest).collect();
        rows_of.check((-9i64, &m), &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    // Zero is no valid divisor: values of lanes without elements must never reach the operator.
    let divided =
        h.compile(|xs: Acc<Vector<u32>>| xs.map(|x| x % 7 + 1).fold(6, |a, b| (a * b) / ((a * b).min(1))))?;
    for n in FEW_SIZES {
        let xs: Vec<u32> = (0..n as u32).map(|i| i * 7).collect();
        divided.check(&xs, &[6])?;
    }
    Ok(())
}

pub fn close_sums_of_floats(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<f32>>| m.map(|x| x * x).sum())?;
    for extents in [[1, 1000], [3, 4099], [64, 64], [1, 100_000]] {
        let elements: Vec<f32> =
            floats(13, extents[0] * extents[1], -1.0, 1.0).into_iter().map(|x| x as f32).collect();
        let exact: Vec<f64> = elements.iter().map(|x| f64::from(x * x)).collect();
        let expected: Vec<f32> =
            rows(&exact, extents, 0.0, |a, b| a + b).into_iter().map(|x| x as f32).collect();
        let m = Matrix::from_vec(extents, elements).map_err(|error| error.to_string())?;
        program
            .check_close(&m, &expected, Tolerance::Relative(2e-5))
            .map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn folds_of_folds(h: &Harness) -> Outcome {
    let program =
        h.compile(|m: Acc<Matrix<i32>>| m.sum().map(|x| x * x).fold(0, |a, b| a.max(b)).map(|x| x + 1))?;
    for extents in FEW_MATRICES {
        let (elements, m) = matrix::<i32>(14, extents)?;
        let sums = rows(&elements, extents, 0, i32::wrapping_add);
        let largest = sums.iter().map(|x| x.wrapping_mul(*x)).fold(0, i32::max);
        program.check(&m, &[largest.wrapping_add(1)]).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn folds_in_ranks_three_and_four(h: &Harness) -> Outcome {
    let three = h.compile(|xs: Acc<Array<Dim3, i64>>| xs.sum())?;
    let all = h.compile(|xs: Acc<Array<Dim3, i64>>| xs.sum().sum().sum())?;
    for [a, b, c] in [[2, 3, 4], [5, 0, 3], [5, 3, 0], [1, 1, 1000], [100, 7, 3], [3, 5, 129]] {
        let elements = values::<i64>(15, a * b * c);
        let xs = Array::<Dim3, i64>::from_slice([a, b, c], &elements).map_err(|error| error.to_string())?;
        let sums = rows(&elements, [a * b, c], 0, i64::wrapping_add);
        three.check_shaped(&xs, [a, b], &sums).map_err(|m| format!("{a} × {b} × {c}: {m}"))?;
        all.check(&xs, &[sums.iter().fold(0, |x, y| x.wrapping_add(*y))])?;
    }
    let four = h.compile(|| generate((2, 3, 5, 70), |(i, j, k, l)| i + j * 2 + k * 3 + l * 4).sum())?;
    let mut expected = Vec::new();
    for i in 0..2 {
        for j in 0..3 {
            expected.extend((0..5).map(|k| (0..70).map(|l| i + j * 2 + k * 3 + l * 4).sum::<i64>()));
        }
    }
    four.check_shaped((), [2, 3, 5], &expected)
}

pub fn functions_after_folds(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<f64>>| {
        let (rows, columns) = m.shape();
        let mean = m.sum().map(|total| total / columns.cast::<f64>());
        mean.map(|mean| (mean * 2.0, mean.lt(0.0), rows))
    })?;
    for extents in FEW_MATRICES.into_iter().filter(|extents| extents[1] > 0) {
        let (elements, m) = matrix::<f64>(16, extents)?;
        let after = |total: f64| {
            let mean = total / extents[1] as f64;
            (mean * 2.0, mean < 0.0, extents[0] as i64)
        };
        let expected: Vec<_> = rows(&elements, extents, 0.0, |a, b| a + b).into_iter().map(after).collect();
        program.check(&m, &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn reshapes_after_folds(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Array<Dim3, i32>>| {
        let (a, b, _) = xs.shape();
        xs.sum().reshape((b, a)).map(|x| x - 1)
    })?;
    for [a, b, c] in [[2, 3, 4], [0, 3, 4], [7, 11, 300], [40, 50, 2]] {
        let elements = values::<i32>(17, a * b * c);
        let xs = Array::<Dim3, i32>::from_slice([a, b, c], &elements).map_err(|error| error.to_string())?;
        let expected: Vec<i32> =
            rows(&elements, [a * b, c], 0, i32::wrapping_add).iter().map(|x| x.wrapping_sub(1)).collect();
        program.check_shaped(&xs, [b, a], &expected)?;
    }
    let flat =
        h.compile(|m: Acc<Matrix<i32>>| m.fold(i32::MIN, |a, b| a.max(b)).reshape((1, 4, 1)).flatten())?;
    let (elements, m) = matrix::<i32>(18, [4, 100])?;
    flat.check_shaped(&m, [4], &rows(&elements, [4, 100], i32::MIN, i32::max))
}

pub fn arrays_beside_folds(h: &Harness) -> Outcome {
    // A fold that is used at every index of another array, and two folds side by side.
    let program = h.compile(|m: Acc<Matrix<i32>>, bias: Acc<Vector<i32>>| {
        let (rows, columns) = m.shape();
        let sums = m.clone().sum();
        let largest = m.clone().fold(i32::MIN, |a, b| a.max(b));
        let per_row = sums.zip_with3(largest, bias, |a, b, c| a + b * c);
        m.zip_with(per_row.replicate_columns(columns), |x, r| x ^ r).reshape((columns, rows))
    })?;
    for extents @ [count, columns] in FEW_MATRICES {
        let ((elements, m), bias) = (matrix::<i32>(19, extents)?, values::<i32>(20, count));
        let sums = rows(&elements, extents, 0, i32::wrapping_add);
        let largest = rows(&elements, extents, i32::MIN, i32::max);
        let per_row = |i: usize| sums[i].wrapping_add(largest[i].wrapping_mul(bias[i]));
        let expected: Vec<i32> =
            elements.iter().enumerate().map(|(k, x)| x ^ per_row(k / columns.max(1))).collect();
        program
            .check_shaped((&m, &bias), [columns, count], &expected)
            .map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn folds_of_transposes(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<f32>>| m.transpose().sum())?;
    for extents @ [count, columns] in MATRICES {
        let (elements, m) = matrix::<f32>(21, extents)?;
        let column = |j: usize| (0..count).map(|i| elements[i * columns + j]).fold(0.0, |a, b| a + b);
        let expected: Vec<f32> = (0..columns).map(column).collect();
        program.check_shaped(&m, [columns], &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn folds_of_generated_arrays(h: &Harness) -> Outcome {
    let program = h.compile(|rows: Exp<i64>, columns: Exp<i64>| {
        generate((rows, columns), |(i, j)| i * 1_000_000_007 + j * j).sum()
    })?;
    for [count, columns] in FEW_MATRICES.into_iter().chain([[1, 200_000]]) {
        let row = |i: i64| (0..columns as i64).map(|j| i * 1_000_000_007 + j * j).sum::<i64>();
        let expected: Vec<i64> = (0..count as i64).map(row).collect();
        program
            .check((count as i64, columns as i64), &expected)
            .map_err(|m| format!("{count} × {columns}: {m}"))?;
    }
    Ok(())
}

pub fn folds_of_replications(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<i64>>, v: Acc<Vector<i64>>, w: Acc<Vector<i64>>| {
        let (rows, columns) = m.shape();
        m.zip_with3(v.replicate_rows(rows), w.replicate_columns(columns), |a, x, y| a * x - y).sum()
    })?;
    for extents @ [count, columns] in FEW_MATRICES {
        let (elements, m) = matrix::<i64>(22, extents)?;
        let (v, w) = (values::<i64>(23, columns), values::<i64>(24, count));
        let each = |(k, a): (usize, &i64)| a.wrapping_mul(v[k % columns]).wrapping_sub(w[k / columns]);
        let products: Vec<i64> = elements.iter().enumerate().map(each).collect();
        let expected = rows(&products, extents, 0, i64::wrapping_add);
        program.check((&m, &v, &w), &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn folds_of_backpermutes(h: &Harness) -> Outcome {
    // Sums of windows.
    let program = h.compile(|xs: Acc<Vector<i32>>, width: Exp<i64>| {
        let n = xs.size();
        xs.backpermute((n - width + 1, width), |(i, j)| i + j).sum()
    })?;
    for (n, width) in [(1, 1), (10, 3), (5000, 20), (300, 257), (20_000, 2)] {
        let xs = values::<i32>(25, n);
        let expected: Vec<i32> =
            xs.windows(width).map(|window| window.iter().fold(0, |a, b| b.wrapping_add(a))).collect();
        program.check((&xs, width as i64), &expected)?;
    }
    Ok(())
}

pub fn scalar_arguments_in_folds(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<u32>>, modulus: Exp<u32>, lowest: Exp<u32>| {
        let sum = xs.clone().map(|x| x % modulus).fold(0, |a, b| (a + b) % modulus);
        let largest = xs.fold(lowest, |a, b| a.max(b));
        sum.zip(largest)
    })?;
    for n in FEW_SIZES {
        let xs = values::<u32>(26, n);
        for (modulus, lowest) in [(7, 0), (1_000_003, u32::MAX - 1)] {
            let sum = xs.iter().fold(0, |a, b| (a + b % modulus) % modulus);
            let largest = xs.iter().fold(lowest, |a, b| a.max(*b));
            program.check((&xs, modulus, lowest), &[(sum, largest)])?;
        }
    }
    Ok(())
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

pub fn operators_with_loops(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<u64>>| {
        m.map(|x| (x % 1000) * 12).fold(0, |a, b| while_((a, b), |(_, b)| b.ne(0), |(a, b)| (b, a % b)).0)
    })?;
    for extents in SHAPES {
        let (elements, m) = matrix::<u64>(27, extents)?;
        let elements: Vec<u64> = elements.iter().map(|x| (x % 1000) * 12).collect();
        program.check(&m, &rows(&elements, extents, 0, gcd)).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn elements_with_loops(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<u32>>| {
        let bits = xs.map(|x| while_((x, constant(0u32)), |(x, _)| x.gt(0), |(x, n)| (x >> 1, n + 1)).1);
        bits.sum()
    })?;
    for n in SIZES {
        let xs = values::<u32>(28, n);
        program.check(&xs, &[xs.iter().map(|x| 32 - x.leading_zeros()).sum()])?;
    }
    Ok(())
}
