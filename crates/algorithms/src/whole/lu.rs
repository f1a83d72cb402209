//! Many small systems of linear equations at once: each matrix is decomposed into a lower and an upper triangle, with the largest
//! element of a column as its pivot, and right sides are solved with those.
//!
//! A round eliminates one column of all matrices. Every element is made by the same operations in the same order as in a
//! sequential program, so results are the same to the bit.

use pumice::prelude::*;

/// Decomposes square matrices: gives both triangles in one matrix each, without the diagonal of the lower one, whose elements are 1;
/// and for each row which one of the matrix it was. A column without a pivot leaves 0 on the diagonal.
///
/// ```
/// use pumice::{Array, prelude::*};
/// use pumice_algorithms::whole::lu;
/// let matrices = Array::from_vec([1, 2, 2], vec![1.0, 2.0, 4.0, 4.0])?;
/// let (triangles, rows) = lu::decompose(use_(&matrices));
/// assert_eq!(pumice::run(triangles)?.to_vec()?, [4.0, 4.0, 0.25, 1.0]);
/// assert_eq!(pumice::run(rows)?.to_vec()?, [1, 0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn decompose(matrices: Acc<Array<Dim3, f64>>) -> (Acc<Array<Dim3, f64>>, Acc<Matrix<i64>>) {
    let (count, n, _) = matrices.shape();
    let rows = generate((count, n), |(_, i)| i);
    iterate_numbered(n, (matrices, rows), |k, (a, rows)| {
        let (count, n, _) = a.shape();
        // From the diagonal on, the row with the largest element of the column.
        let candidates = generate((count, n), |(m, i)| i.lt(k).select(constant(-1.0), a.at((m, i, k)).abs()));
        let pivots = candidates.argmax();
        // Row k and the pivot's change places.
        let from = |m: Exp<i64>, i: Exp<i64>| {
            let pivot = pivots.at(m);
            i.eq(k).select(pivot, i.eq(pivot).select(k, i))
        };
        let eliminated = generate((count, n, n), |(m, i, j)| {
            let (row, pivot_row) = (from(m, i), pivots.at(m));
            let (here, pivot) = (a.at((m, row, j)), a.at((m, pivot_row, k)));
            let of_pivot = pivot.eq(0.0).select(constant(0.0), a.at((m, row, k)) / pivot);
            let below =
                j.gt(k).select(here - of_pivot * a.at((m, pivot_row, j)), j.eq(k).select(of_pivot, here));
            i.gt(k).select(below, here)
        });
        let rows = generate((count, n), |(m, i)| rows.at((m, from(m, i))));
        (eliminated, rows)
    })
}

/// Solves a system for each matrix, of which [`decompose`] has given the triangles and rows: a row of right sides for each.
///
/// ```
/// use pumice::{Array, Matrix, prelude::*};
/// use pumice_algorithms::whole::lu;
/// let matrices = Array::from_vec([1, 2, 2], vec![1.0, 2.0, 4.0, 4.0])?;
/// let (triangles, rows) = lu::decompose(use_(&matrices));
/// let right = Matrix::from_vec([1, 2], vec![5.0, 12.0])?;
/// assert_eq!(pumice::run(lu::solve(triangles, rows, use_(&right)))?.to_vec()?, [1.0, 2.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn solve(
    triangles: Acc<Array<Dim3, f64>>,
    rows: Acc<Matrix<i64>>,
    right: Acc<Matrix<f64>>,
) -> Acc<Matrix<f64>> {
    let n = rows.shape().1;
    let right = generate(rows.shape(), |(m, i)| right.at((m, rows.at((m, i)))));
    let lower = iterate_numbered(n, right, |k, xs| {
        xs.clone().imap(|(m, i), x| cond(i.gt(k), || x - triangles.at((m, i, k)) * xs.at((m, k)), || x))
    });
    iterate_numbered(n, lower, |round, xs| {
        let k = n - 1 - round;
        xs.clone().imap(|(m, i), x| {
            let of_column = xs.at((m, k)) / triangles.at((m, k, k));
            i.lt(k).select(x - triangles.at((m, i, k)) * of_column, i.eq(k).select(of_column, x))
        })
    })
}

/// Decomposes matrices and solves a system for each.
///
/// ```
/// use pumice::{Array, Matrix};
/// use pumice_algorithms::whole::lu;
/// let solve = pumice::Compiler::on("sim")?.compile(lu::decompose_and_solve)?;
/// let matrices = Array::from_vec([1, 1, 1], vec![4.0])?;
/// assert_eq!(solve.run((&matrices, &Matrix::from_vec([1, 1], vec![2.0])?))?.to_vec()?, [0.5]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn decompose_and_solve(matrices: Acc<Array<Dim3, f64>>, right: Acc<Matrix<f64>>) -> Acc<Matrix<f64>> {
    let (triangles, rows) = decompose(matrices);
    solve(triangles, rows, right)
}

/// Matrices that are made by plain Rust, and the same in it.
pub mod plain {
    use crate::irregular::Numbers;

    /// So many square matrices, and a right side for each.
    pub fn systems(count: usize, n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut numbers = Numbers::new(seed);
        let mut random =
            |length: usize| (0..length).map(|_| numbers.between(-1000, 1000) as f64 / 8.0).collect();
        (random(count * n * n), random(count * n))
    }

    /// Decomposes the matrix in place, and returns which row each was.
    pub fn decompose(a: &mut [f64], n: usize) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..n).collect();
        for k in 0..n {
            let mut pivot = k;
            for i in k + 1..n {
                if a[i * n + k].abs() > a[pivot * n + k].abs() {
                    pivot = i;
                }
            }
            rows.swap(k, pivot);
            (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
            for i in k + 1..n {
                let of_pivot = if a[k * n + k] == 0.0 { 0.0 } else { a[i * n + k] / a[k * n + k] };
                a[i * n + k] = of_pivot;
                for j in k + 1..n {
                    a[i * n + j] -= of_pivot * a[k * n + j];
                }
            }
        }
        rows
    }

    /// Solves a system with the result of [`decompose`].
    pub fn solve(a: &[f64], rows: &[usize], right: &[f64]) -> Vec<f64> {
        let n = rows.len();
        let mut xs: Vec<f64> = rows.iter().map(|row| right[*row]).collect();
        for k in 0..n {
            for i in k + 1..n {
                xs[i] -= a[i * n + k] * xs[k];
            }
        }
        for k in (0..n).rev() {
            xs[k] /= a[k * n + k];
            for i in 0..k {
                xs[i] -= a[i * n + k] * xs[k];
            }
        }
        xs
    }

    /// Decomposes matrices one after the other and solves a system for each.
    pub fn decompose_and_solve(matrices: &[f64], right: &[f64], n: usize) -> Vec<f64> {
        let solved = |(matrix, right): (&[f64], &[f64])| {
            let mut triangles = matrix.to_vec();
            let rows = decompose(&mut triangles, n);
            solve(&triangles, &rows, right)
        };
        matrices.chunks(n * n).zip(right.chunks(n)).flat_map(solved).collect()
    }
}
