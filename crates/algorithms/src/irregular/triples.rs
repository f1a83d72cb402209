//! Pythagorean triples: three loops inside each other, as a comprehension.

use pumice::prelude::*;

/// Returns the triples x < y < z < n of numbers with x² + y² = z².
///
/// ```
/// use pumice_algorithms::irregular::triples;
/// let list = pumice::Compiler::on("sim")?.compile(triples::list)?;
/// assert_eq!(list.run(14)?.to_vec()?, [(3, 4, 5), (5, 12, 13), (6, 8, 10)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn list(n: Exp<i64>) -> Acc<Vector<(i64, i64, i64)>> {
    comp![(x, y, z) | x <- 1..n, y <- x..n, let z = root(x * x + y * y), z < n, x * x + y * y == z * z]
}

/// Counts them, by trying every z: the triples are never in memory.
///
/// ```
/// use pumice_algorithms::irregular::triples;
/// let count = pumice::Compiler::on("sim")?.compile(triples::count)?;
/// assert_eq!(count.run(14)?.to_value()?, 3);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn count(n: Exp<i64>) -> Acc<Scalar<i64>> {
    count![x <- 1..n, y <- x..n, z <- y..n, x * x + y * y == z * z]
}

/// The root of a square that is below 2⁵², and something near it for other numbers.
fn root(square: Exp<i64>) -> Exp<i64> {
    square.cast::<f64>().sqrt().cast()
}

/// The same in plain Rust.
pub mod plain {
    /// Returns the triples below `n`.
    pub fn list(n: i64) -> Vec<(i64, i64, i64)> {
        let pairs = (1..n).flat_map(|x| (x..n).map(move |y| (x, y, (x * x + y * y).isqrt())));
        pairs.filter(|(x, y, z)| *z < n && x * x + y * y == z * z).collect()
    }
}
