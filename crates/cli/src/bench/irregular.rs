//! Workloads of scans, selections and histograms, of folds of selected elements, and of a text.

use super::inputs::{keys, numbers, text, uniform, words};
use super::reference::{check, check_all, check_exactly};
use super::workloads::{Workload, matrix};
use pumice::prelude::*;

/// Returns the workloads for vectors of this length, matrices of these extents and a text of so many bytes.
pub fn workloads(n: usize, rows: &[[usize; 2]], text_bytes: usize) -> Vec<Workload> {
    let mut all = vec![prefix_sums_i32(n), prefix_sums_f32(n)];
    // Very short rows are folded, but seldom scanned.
    let long = rows.iter().filter(|[_, columns]| *columns >= 64);
    all.extend(long.map(|[rows, columns]| row_prefix_sums(*rows, *columns)));
    all.extend([select(n), filtered_sum(n), mean_and_variance(n)]);
    all.extend([8, 16, 20].map(|bits| bins(n, bits)));
    all.push(letters(text_bytes));
    all
}

fn prefix_sums_i32(n: usize) -> Workload {
    Workload::new("prefix sums i32", n, 8 * n, move |timing| {
        let xs = numbers(n);
        let expected: Vec<i32> = running(&xs, |sum: i32, x| sum + x);
        let program = |xs: Acc<Vector<i32>>| xs.scanl1(|a, b| a + b);
        timing.median(program, Vector::from(xs.as_slice()), |found| check_exactly(&found, &expected))
    })
}

fn prefix_sums_f32(n: usize) -> Workload {
    Workload::new("prefix sums f32", n, 8 * n, move |timing| {
        let xs = uniform(n, 0);
        let expected: Vec<f64> = running(&xs, |sum: f64, x| sum + f64::from(x));
        let program = |xs: Acc<Vector<f32>>| xs.scanl1(|a, b| a + b);
        let arguments = Vector::from(xs.as_slice());
        timing.median(program, arguments, |found| check_all(&found, n, 1e-3, |i| expected[i]))
    })
}

fn row_prefix_sums(rows: usize, columns: usize) -> Workload {
    let n = rows * columns;
    Workload::new(format!("row prefix sums f32 {rows}x{columns}"), n, 8 * n, move |timing| {
        let xs = uniform(n, 0);
        let row = |row: &[f32]| running(row, |sum: f64, x| sum + f64::from(x));
        let expected: Vec<f64> = xs.chunks(columns).flat_map(row).collect();
        let program = |xs: Acc<Matrix<f32>>| xs.scanl1(|a, b| a + b);
        let arguments = matrix(rows, columns, &xs)?;
        timing.median(program, arguments, |found| check_all(&found, n, 1e-3, |i| expected[i]))
    })
}

fn select(n: usize) -> Workload {
    Workload::new("select 1 in 4 i32", n, 5 * n, move |timing| {
        let xs = words(n);
        let expected: Vec<i32> = xs.iter().copied().filter(|x| x & 3 == 0).collect();
        let program = |xs: Acc<Vector<i32>>| xs.filter(|x| (x & 3).eq(0));
        timing.median(program, Vector::from(xs.as_slice()), |found| check_exactly(&found, &expected))
    })
}

fn filtered_sum(n: usize) -> Workload {
    Workload::new("filtered sum f32", n, 4 * n, move |timing| {
        let xs = uniform(n, 0);
        let expected: f64 = xs.iter().filter(|x| **x < 0.25).map(|x| f64::from(*x)).sum();
        let program = |xs: Acc<Vector<f32>>| xs.filter(|x| x.lt(0.25)).sum();
        timing.median(program, Vector::from(xs.as_slice()), |found| check_all(&found, 1, 1e-4, |_| expected))
    })
}

/// Returns a workload of two folds over one array, which are one pass over memory.
fn mean_and_variance(n: usize) -> Workload {
    Workload::new("mean and variance f32", n, 4 * n, move |timing| {
        let xs = uniform(n, 0);
        let count = n as f64;
        let mean = xs.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
        let squares = xs.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>() / count;
        let length = n as f32;
        let program = move |xs: Acc<Vector<f32>>| {
            let squares = xs.clone().map(|x| x * x).sum();
            xs.sum().zip_with(squares, move |sum, squares| {
                let mean = sum / length;
                (mean, squares / length - mean * mean)
            })
        };
        timing.median(program, Vector::from(xs.as_slice()), |found: Vec<(f32, f32)>| match found[..] {
            [(found_mean, variance)] => {
                check("the mean", found_mean, 1e-3, mean)?;
                check("the variance", variance, 1e-3, squares - mean * mean)
            }
            _ => Err(format!("{} results came, expected one", found.len())),
        })
    })
}

fn bins(n: usize, bits: u32) -> Workload {
    let count = 1usize << bits;
    Workload::new(format!("bins i32 {count}"), n, 4 * n, move |timing| {
        let xs = keys(n, bits);
        let mut expected = vec![0u32; count];
        xs.iter().for_each(|key| expected[*key as usize] += 1);
        let program = move |xs: Acc<Vector<i32>>| xs.histogram(count, |key| key.cast::<i64>());
        timing.median(program, Vector::from(xs.as_slice()), |found| check_exactly(&found, &expected))
    })
}

/// Returns a workload that counts each byte of a text.
fn letters(n: usize) -> Workload {
    Workload::new(format!("letters u8 {n}"), n, n, move |timing| {
        let text = text(n);
        let mut expected = vec![0u32; 256];
        text.iter().for_each(|letter| expected[usize::from(*letter)] += 1);
        let program = |letters: Acc<Vector<u8>>| letters.histogram(256, |letter| letter.cast::<i64>());
        timing.median(program, Vector::from(text), |found| check_exactly(&found, &expected))
    })
}

/// Returns the running sums of a slice.
fn running<T: Copy, S: Copy + Default>(xs: &[T], add: impl Fn(S, T) -> S) -> Vec<S> {
    let mut sum = S::default();
    let after = |x: &T| {
        sum = add(sum, *x);
        sum
    };
    xs.iter().map(after).collect()
}
