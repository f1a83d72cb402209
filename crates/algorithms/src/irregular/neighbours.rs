//! Pairs of points within a radius, by cell lists: points are sorted by the cell of a grid that they are in, and each one is
//! compared with those in the cells around it. The cells of three columns are one stretch of the sorted points.

use pumice::prelude::*;

/// A place in the unit square: both numbers are from 0 to below 1.
pub type Place = (f32, f32);

/// Returns all pairs of numbers of points that are at most `radius` apart, the smaller number first, in no particular order. Points
/// outside of the unit square count as in its outermost cells, and are right too if they are less than a radius away from it.
///
/// ```
/// use pumice_algorithms::irregular::neighbours;
/// let pairs = pumice::Compiler::on("sim")?.compile(neighbours::pairs)?;
/// let points = [(0.1, 0.1), (0.9, 0.9), (0.15, 0.1), (0.1, 0.18)];
/// let mut found = pairs.run((&points, 0.1))?.to_vec()?;
/// found.sort();
/// assert_eq!(found, [(0, 2), (0, 3), (2, 3)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn pairs(points: Acc<Vector<Place>>, radius: Exp<f32>) -> Acc<Vector<(i64, i64)>> {
    let side = cells_a_side(radius);
    let cell = |place: Exp<f32>| (place * side.cast::<f32>()).floor().cast::<i64>().clamp(0, side - 1);
    let sorted =
        comp![(cell(y), cell(x), i, x, y) | i <- 0.. | (x, y) <- points, order by (cell(y), cell(x))];
    let cells = comp![row * side + column | (row, column, _, _, _) <- sorted];
    let starts = cells.search_sorted(enum_from(side * side + 1, 0, 1));
    comp![
        (i.min(j), i.max(j))
        | first <- 0.. | (row, column, i, x, y) <- sorted,
        near <- (row - 1).max(0)..=(row + 1).min(side - 1),
        other <- starts[near * side + (column - 1).max(0)]..starts[near * side + (column + 1).min(side - 1) + 1],
        first < other, let (_, _, j, u, v) = sorted[other],
        (x - u) * (x - u) + (y - v) * (y - v) <= radius * radius
    ]
}

/// Returns the number of cells of a row and a column of the grid: all are a little wider than the radius, so that rounding does no harm, and
/// there are not too many.
fn cells_a_side(radius: Exp<f32>) -> Exp<i64> {
    (0.999 / radius).floor().cast::<i64>().clamp(1, 1024)
}

/// The same in plain Rust.
pub mod plain {
    use super::Place;
    use crate::irregular::Numbers;

    /// So many points, more of them near the origin.
    pub fn points(count: usize, seed: u64) -> Vec<Place> {
        let mut numbers = Numbers::new(seed);
        let mut part = || {
            let part = numbers.below(1 << 20) as f32 / (1 << 20) as f32;
            part * (0.3 + 0.7 * part)
        };
        (0..count).map(|_| (part(), part())).collect()
    }

    /// All pairs, in rising order.
    pub fn pairs(points: &[Place], radius: f32) -> Vec<(i64, i64)> {
        let mut pairs = Vec::new();
        for (i, (x, y)) in points.iter().enumerate() {
            for (j, (u, v)) in points.iter().enumerate().skip(i + 1) {
                if (x - u) * (x - u) + (y - v) * (y - v) <= radius * radius {
                    pairs.push((i as i64, j as i64));
                }
            }
        }
        pairs
    }
}
