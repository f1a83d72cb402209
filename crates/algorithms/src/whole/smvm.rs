//! A sparse matrix times a vector, as section 2.5 of "Accelerating Haskell Array Codes with Multicore GPUs" (Chakravarty, Keller, Lee,
//! McDonell and Grover) has it: a segment descriptor says how many entries each row has, and all entries are pairs of a column and a
//! value.

use pumice::Segments;
use pumice::prelude::*;

/// A column and a value.
pub type Entry = (i64, f32);

/// Returns the product of a matrix and a vector. A column that the vector does not have is an error that names this place.
///
/// ```
/// use pumice_algorithms::whole::smvm;
/// let smvm = pumice::Compiler::on("sim")?.compile(smvm::smvm)?;
/// // The matrix of the paper, of rows (7 0 0), (0 0 0) and (0 2 3).
/// let product = smvm.run((&[1, 0, 2], &[(0, 7.0), (1, 2.0), (2, 3.0)], &[1.0, 10.0, 100.0]))?;
/// assert_eq!(product.to_vec()?, [7.0, 0.0, 320.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn smvm(
    segments: Acc<Vector<i64>>,
    entries: Acc<Vector<Entry>>,
    vector: Acc<Vector<f32>>,
) -> Acc<Vector<f32>> {
    let (columns, values) = entries.unzip();
    let of_vector = vector.backpermute(columns.size(), |i| columns.at(i));
    let products = of_vector.zip_with(values, |x, y| x * y);
    products.fold_segments(Segments::Lengths(segments), 0.0, |a, b| a + b)
}

/// Matrices that are made by plain Rust, and the same product in it.
pub mod plain {
    use super::Entry;
    use crate::irregular::sparse::plain;

    /// A matrix on the host.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Sparse {
        /// Number of entries of each row.
        pub segments: Vec<i64>,
        /// The entries of all rows.
        pub entries: Vec<Entry>,
    }

    impl Sparse {
        /// The matrix of these rows.
        pub fn new(rows: impl IntoIterator<Item = Vec<Entry>>) -> Sparse {
            let mut matrix = Sparse { segments: Vec::new(), entries: Vec::new() };
            for row in rows {
                matrix.segments.push(row.len() as i64);
                matrix.entries.extend(row);
            }
            matrix
        }

        /// The matrix of the paper.
        pub fn of_the_paper() -> Sparse {
            Sparse::new([vec![(0, 7.0)], vec![], vec![(1, 2.0), (2, 3.0)]])
        }

        /// Second differences: -1, 2 and -1 around the diagonal.
        pub fn differences(rows: usize) -> Sparse {
            let row = |i: usize| {
                let near = [(i as i64 - 1, -1.0), (i as i64, 2.0), (i as i64 + 1, -1.0)];
                near.into_iter().filter(|(column, _)| (0..rows as i64).contains(column)).collect()
            };
            Sparse::new((0..rows).map(row))
        }

        /// Rows of very different lengths, some empty, of small whole numbers: of their sums and products none is rounded.
        pub fn uneven(rows: usize, columns: usize, length: usize, seed: u64) -> Sparse {
            let matrix = plain::random(rows, columns, length, seed);
            Sparse::new(matrix.rows().map(|row| row.iter().map(|(column, v)| (*column, *v as f32)).collect()))
        }

        /// Times a vector.
        pub fn times(&self, vector: &[f32]) -> Vec<f32> {
            let mut entries = self.entries.iter();
            let row = |length: &i64| {
                entries
                    .by_ref()
                    .take(*length as usize)
                    .fold(0.0, |sum, (column, v)| sum + v * vector[*column as usize])
            };
            self.segments.iter().map(row).collect()
        }
    }
}
