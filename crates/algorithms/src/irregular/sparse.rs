//! Sparse matrices in compressed rows: times a vector, times a dense matrix, and times each other.
//!
//! A matrix is rows of entries, each a column and a value; on the host a [`pumice::Ragged`] of them. Entries of a row may stand in
//! any order, and several entries at one place count as their sum.

use pumice::prelude::*;

/// A column and a value.
pub type Entry = (i64, f64);

/// Returns the product of a matrix and a vector.
///
/// ```
/// use pumice::{Ragged, prelude::*};
/// use pumice_algorithms::irregular::sparse;
/// let matrix: Ragged<sparse::Entry> = [vec![(0, 1.0), (2, 2.0)], vec![], vec![(1, 3.0)]].into_iter().collect();
/// let product = sparse::times_vector(matrix.use_(), use_(&[1.0, 10.0, 100.0]));
/// assert_eq!(pumice::run(product)?.to_vec()?, [201.0, 0.0, 30.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn times_vector(matrix: AccRagged<Entry>, xs: Acc<Vector<f64>>) -> Acc<Vector<f64>> {
    comp![sum![v * xs[column] | (column, v) <- matrix[row]] | row <- 0..matrix.size()]
}

/// Returns the product of a matrix and a dense matrix.
///
/// ```
/// use pumice::{Matrix, Ragged, prelude::*};
/// use pumice_algorithms::irregular::sparse;
/// let matrix: Ragged<sparse::Entry> = [vec![(1, 2.0)], vec![(0, 1.0), (1, 1.0)]].into_iter().collect();
/// let dense = Matrix::from_vec([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
/// let product = sparse::times_dense(matrix.use_(), use_(&dense));
/// assert_eq!(pumice::run(product)?.to_vec()?, [6.0, 8.0, 4.0, 6.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn times_dense(matrix: AccRagged<Entry>, dense: Acc<Matrix<f64>>) -> Acc<Matrix<f64>> {
    let (rows, (_, width)) = (matrix.size(), dense.shape());
    let sums =
        comp![sum![v * dense.at((column, j)) | (column, v) <- matrix[row]] | row <- 0..rows, j <- 0..width];
    sums.reshape((rows, width))
}

/// Returns the product of two matrices, with columns in rising order: all products of entries are sorted by row and column, and
/// those of the same place are added.
///
/// ```
/// use pumice::Ragged;
/// use pumice_algorithms::irregular::sparse;
/// let a: Ragged<sparse::Entry> = [vec![(1, 2.0), (0, 1.0)], vec![]].into_iter().collect();
/// let b: Ragged<sparse::Entry> = [vec![(2, 1.0)], vec![(0, 3.0), (2, 5.0)]].into_iter().collect();
/// let product = pumice::run(sparse::times_sparse(a.use_(), b.use_()))?;
/// assert_eq!(product.to_vecs(), [vec![(0, 6.0), (2, 11.0)], vec![]]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn times_sparse(a: AccRagged<Entry>, b: AccRagged<Entry>) -> AccRagged<Entry> {
    let sums = comp![
        (row, column, sum![v * w])
        | row <- 0..a.size(), (inner, v) <- a[row], (column, w) <- b[inner], group by (row, column)
    ];
    // Each row begins behind the entries of those before it.
    let offsets = comp![row | (row, _, _) <- sums].search_sorted(enum_from(a.size() + 1, 0, 1));
    AccRagged::new(comp![(column, value) | (_, column, value) <- sums], offsets)
}

/// Matrices that are made by plain Rust, and the same products in it.
pub mod plain {
    use super::Entry;
    use crate::irregular::Numbers;
    use pumice::Ragged;
    use std::collections::BTreeMap;

    /// A matrix of small whole numbers, of whose sums and products none is rounded. Every third row is empty, and some rows are
    /// much longer than `length`, which others have on average.
    pub fn random(rows: usize, columns: usize, length: usize, seed: u64) -> Ragged<Entry> {
        let mut numbers = Numbers::new(seed);
        let row = |number: usize| -> Vec<Entry> {
            let most = match number % 9 {
                0 | 3 | 6 => 0,
                1 => 8 * length,
                _ => 2 * length,
            };
            let count = if columns == 0 { 0 } else { numbers.below(most + 1) };
            // Not zero: the sum of a single -0.0 would be that, or 0.0 if it begins with nothing.
            let values = [-3.0, -2.0, -1.0, 1.0, 2.0, 5.0];
            (0..count).map(|_| (numbers.below(columns) as i64, values[numbers.below(values.len())])).collect()
        };
        (0..rows).map(row).collect()
    }

    /// Times a vector.
    pub fn times_vector(matrix: &Ragged<Entry>, xs: &[f64]) -> Vec<f64> {
        matrix
            .rows()
            .map(|row| row.iter().fold(0.0, |sum, (column, v)| sum + v * xs[*column as usize]))
            .collect()
    }

    /// Times a dense matrix of so many columns.
    pub fn times_dense(matrix: &Ragged<Entry>, dense: &[f64], width: usize) -> Vec<f64> {
        let sum = |row: &[Entry], j: usize| {
            row.iter().fold(0.0, |sum, (column, v)| sum + v * dense[*column as usize * width + j])
        };
        matrix.rows().flat_map(|row| (0..width).map(move |j| sum(row, j))).collect()
    }

    /// Times another one.
    pub fn times_sparse(a: &Ragged<Entry>, b: &Ragged<Entry>) -> Vec<Vec<Entry>> {
        let product = |row: &[Entry]| {
            let mut sums = BTreeMap::<i64, f64>::new();
            for (inner, v) in row {
                for (column, w) in b.row(*inner as usize).unwrap_or_default() {
                    *sums.entry(*column).or_default() += v * w;
                }
            }
            sums.into_iter().collect()
        };
        a.rows().map(product).collect()
    }
}
