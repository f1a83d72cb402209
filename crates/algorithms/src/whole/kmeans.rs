//! k-means: points are given to the nearest of some centres, and each centre moves to the middle of its points, until no point
//! changes over.

use pumice::prelude::*;

/// A point of the plane.
pub type Point = (f32, f32);

/// For each point the number of the centre that is nearest to it, the first of several. There is at least one centre.
///
/// ```
/// use pumice_algorithms::whole::kmeans;
/// let nearest = pumice::Compiler::on("sim")?.compile(kmeans::nearest)?;
/// let found = nearest.run((&[(0.0, 1.0), (5.0, 5.0), (1.0, 1.0)], &[(0.0, 0.0), (4.0, 4.0)]))?;
/// assert_eq!(found.to_vec()?, [0, 1, 0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn nearest(points: Acc<Vector<Point>>, centres: Acc<Vector<Point>>) -> Acc<Vector<i64>> {
    let distance = |(x, y): (Exp<f32>, Exp<f32>), (a, b): (Exp<f32>, Exp<f32>)| {
        let (dx, dy) = (x - a, y - b);
        dx * dx + dy * dy
    };
    generate((points.size(), centres.size()), |(i, j)| distance(points.at(i), centres.at(j))).argmin()
}

/// Moves centres until every point stays with its own, or `most` times. A centre without points stays where it is.
///
/// Sums are of f64: so many points move a centre as exactly as few.
///
/// ```
/// use pumice_algorithms::whole::kmeans;
/// let cluster = pumice::Compiler::on("sim")?.compile(kmeans::cluster)?;
/// let points = [(0.0, 1.0), (5.0, 5.0), (1.0, 1.0), (7.0, 5.0)];
/// let found = cluster.run((&points, &[(0.0, 0.0), (1.0, 2.0)], 10))?;
/// assert_eq!(found.to_vec()?, [(0.5, 1.0), (6.0, 5.0)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn cluster(
    points: Acc<Vector<Point>>,
    centres: Acc<Vector<Point>>,
    most: Exp<i64>,
) -> Acc<Vector<Point>> {
    let nobody = fill(points.size(), -1);
    let (centres, _, _, _) = awhile(
        (centres, nobody, unit(true), unit(0)),
        |(_, _, changed, round)| changed.zip_with(round, |changed, round| changed & round.lt(most)),
        |(centres, before, _, round)| {
            let labels = nearest(points.clone(), centres.clone());
            let changed = any![label != before | label <- labels | before <- before];
            let moved = middles(points, labels.clone(), centres);
            (moved, labels, changed, round.map(|round| round + 1))
        },
    );
    centres
}

/// The middle of the points with each label; the old middle where there are none.
fn middles(
    points: Acc<Vector<Point>>,
    labels: Acc<Vector<i64>>,
    centres: Acc<Vector<Point>>,
) -> Acc<Vector<Point>> {
    let summands = comp![(label, (x as f64, y as f64, 1)) | (x, y) <- points | label <- labels];
    let sums = summands.permute_pairs(
        |(x, y, count), (a, b, others)| (x + a, y + b, count + others),
        fill(centres.size(), (0.0, 0.0, 0i64)),
    );
    sums.zip_with(centres, |(x, y, count), before| {
        let middle = |sum: Exp<f64>| (sum / count.cast::<f64>()).cast::<f32>();
        count.gt(0).select((middle(x), middle(y)), before)
    })
}

/// Points that are made by plain Rust, and the same in it.
pub mod plain {
    use super::Point;
    use crate::irregular::Numbers;

    /// Points around the corners of a grid of 3 by 3. Coordinates are multiples of 2⁻¹⁰, so that sums of them are exact in any order.
    pub fn points(count: usize, seed: u64) -> Vec<Point> {
        let mut numbers = Numbers::new(seed);
        let mut near_corner = || {
            let spread: i64 = (0..4).map(|_| numbers.between(-600, 601)).sum();
            (numbers.between(0, 3) * 4096 + spread) as f32 / 1024.0
        };
        (0..count).map(|_| (near_corner(), near_corner())).collect()
    }

    /// The nearest centre of each point.
    pub fn nearest(points: &[Point], centres: &[Point]) -> Vec<i64> {
        let nearest = |(x, y): &Point| {
            let distance = |(a, b): &Point| (x - a) * (x - a) + (y - b) * (y - b);
            let first = |best: usize, i: usize| {
                if distance(&centres[i]) < distance(&centres[best]) { i } else { best }
            };
            (1..centres.len()).fold(0, first) as i64
        };
        points.iter().map(nearest).collect()
    }

    /// The centres, and the number of rounds.
    pub fn cluster(points: &[Point], centres: &[Point], most: i64) -> (Vec<Point>, i64) {
        let (mut centres, mut before) = (centres.to_vec(), vec![-1; points.len()]);
        for round in 0..most {
            let labels = nearest(points, &centres);
            let mut sums = vec![(0.0, 0.0, 0); centres.len()];
            for ((x, y), label) in points.iter().zip(&labels) {
                let (a, b, count) = sums[*label as usize];
                sums[*label as usize] = (a + f64::from(*x), b + f64::from(*y), count + 1);
            }
            for (centre, (x, y, count)) in
                centres.iter_mut().zip(sums).filter(|(_, (_, _, count))| *count > 0)
            {
                *centre = ((x / f64::from(count)) as f32, (y / f64::from(count)) as f32);
            }
            if labels == before {
                return (centres, round + 1);
            }
            before = labels;
        }
        (centres, most)
    }
}
