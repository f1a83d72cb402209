//! Workloads of scans, filters and several folds at once.

use super::inputs::{hash, uniform};
use super::reference::{check, check_length};
use super::workloads::Workload;
use pumice::prelude::*;

/// The workloads, for vectors of `n` elements and matrices of these shapes.
pub fn workloads(n: usize, rows: &[[usize; 2]]) -> Vec<Workload> {
    let mut all = vec![scan_i32(n), scan_f32(1, n)];
    // Rows of a few elements say nothing about scans that sums do not.
    let shapes = rows.iter().filter(|[_, columns]| *columns >= 16);
    all.extend(shapes.map(|[rows, columns]| scan_f32(*rows, *columns)));
    all.extend([select(n), filtered_sum(n), mean_and_variance(n)]);
    all
}

/// Whole numbers from 0 to 15: their sums fit.
fn whole(n: usize) -> Vec<i32> {
    uniform(n, 0).into_iter().map(|x| (x * 16.0) as i32).collect()
}

fn scan_i32(n: usize) -> Workload {
    Workload::new("prefix sums i32", n, 8 * n, move |timing| {
        let xs = whole(n);
        let program = |xs: Acc<Vector<i32>>| xs.scanl1(|a, b| a + b);
        timing.median(program, Vector::from(xs.as_slice()), |found| {
            check_length(&found, n)?;
            let mut sum = 0i32;
            for (i, x) in xs.iter().enumerate() {
                sum = sum.wrapping_add(*x);
                if found[i] != sum {
                    return Err(format!("sum {i} is {}, and not {sum}", found[i]));
                }
            }
            Ok(())
        })
    })
}

fn scan_f32(rows: usize, columns: usize) -> Workload {
    let n = rows * columns;
    let name = match rows {
        1 => "prefix sums f32".to_string(),
        _ => format!("row prefix sums f32 {rows}x{columns}"),
    };
    Workload::new(name, n, 8 * n, move |timing| {
        let xs = uniform(n, 0);
        let checked = |found: Vec<f32>| {
            check_length(&found, n)?;
            let mut sum = 0f64;
            for (i, x) in xs.iter().enumerate() {
                sum = if i % columns == 0 { f64::from(*x) } else { sum + f64::from(*x) };
                check(&format!("sum {i}"), found[i], 1e-3, sum)?;
            }
            Ok(())
        };
        if rows == 1 {
            let program = |xs: Acc<Vector<f32>>| xs.scanl1(|a, b| a + b);
            return timing.median(program, Vector::from(xs.as_slice()), checked);
        }
        let program = |m: Acc<Matrix<f32>>| m.scanl1(|a, b| a + b);
        let matrix = Array::from_slice([rows, columns], &xs).map_err(|error| error.to_string())?;
        timing.median(program, matrix, checked)
    })
}

fn select(n: usize) -> Workload {
    Workload::new("select 1 in 4 i32", n, 5 * n, move |timing| {
        let xs: Vec<i32> = (0..n as u32).map(|i| hash(i, 0) as i32).collect();
        let program = |xs: Acc<Vector<i32>>| xs.filter(|x| (x & 3).eq(0));
        timing.median(program, Vector::from(xs.as_slice()), |found| {
            let expected = xs.iter().filter(|x| **x & 3 == 0);
            match found.iter().eq(expected) {
                true => Ok(()),
                false => Err("other elements are kept".to_string()),
            }
        })
    })
}

fn filtered_sum(n: usize) -> Workload {
    Workload::new("filtered sum f32", n, 4 * n, move |timing| {
        let xs = uniform(n, 0);
        let program = |xs: Acc<Vector<f32>>| xs.filter(|x| x.lt(0.25)).sum();
        let expected: f64 = xs.iter().filter(|x| **x < 0.25).map(|x| f64::from(*x)).sum();
        timing.median(program, Vector::from(xs.as_slice()), |found| {
            check_length(&found, 1)?;
            check("sum", found[0], 1e-4, expected)
        })
    })
}

fn mean_and_variance(n: usize) -> Workload {
    Workload::new("mean and variance f32", n, 4 * n, move |timing| {
        let xs = uniform(n, 0);
        let program = |xs: Acc<Vector<f32>>| {
            let count = xs.size().cast::<f32>();
            let (sum, squares) = (xs.clone().sum(), xs.map(|x| x * x).sum());
            sum.zip_with(squares, move |sum, squares| {
                let mean = sum / count;
                (mean, squares / count - mean * mean)
            })
        };
        let mean = xs.iter().map(|x| f64::from(*x)).sum::<f64>() / n as f64;
        let squares = xs.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>() / n as f64;
        timing.median(program, Vector::from(xs.as_slice()), |found| {
            check_length(&found, 1)?;
            check("mean", found[0].0, 1e-3, mean)?;
            check("variance", found[0].1, 1e-3, squares - mean * mean)
        })
    })
}
