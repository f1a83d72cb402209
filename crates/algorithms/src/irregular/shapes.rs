//! Points of lines, triangles and filled circles (Elsman and Larsen, "Efficient Translation of Certain Irregular Data-Parallel Array
//! Comprehensions", section 5): shapes of different sizes are expanded to points, which are drawn as they are made.
//!
//! Filled shapes are expanded twice, to horizontal lines and then to their points.

use pumice::prelude::*;

/// Column and row.
pub type Point = (i64, i64);
type PointExp = (Exp<i64>, Exp<i64>);

/// Returns the points of lines, each from one end to the other: the nearest one in each column, or in each row if it is steep.
///
/// ```
/// use pumice_algorithms::irregular::shapes;
/// let points = pumice::Compiler::on("sim")?.compile(shapes::lines)?;
/// let found = points.run(&[((0, 0), (3, 1)), ((2, 5), (2, 4))])?;
/// assert_eq!(found.to_vec()?, [(0, 0), (1, 0), (2, 1), (3, 1), (2, 5), (2, 4)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn lines(lines: Acc<Vector<(Point, Point)>>) -> Acc<Vector<Point>> {
    comp![on_line(p, q, i) | (p, q) <- lines, i <- 0..=steps(p, q)]
}

/// Returns the points of triangles, row by row: each row from one edge to the other, edges included.
///
/// ```
/// use pumice_algorithms::irregular::shapes;
/// let points = pumice::Compiler::on("sim")?.compile(shapes::triangles)?;
/// let found = points.run(&[((0, 0), (0, 2), (2, 2))])?;
/// assert_eq!(found.to_vec()?, [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn triangles(triangles: Acc<Vector<(Point, Point, Point)>>) -> Acc<Vector<Point>> {
    comp![
        (x, y)
        | (p, q, r) <- triangles, let (a, b, c) = in_order(p, q, r), y <- a.1..=c.1,
        let (u, v) = (column(a, c, y), if y < b.1 { column(a, b, y) } else { column(b, c, y) }),
        x <- u.min(v)..=u.max(v)
    ]
}

/// Returns the points of filled circles, each given by its middle and its radius, row by row.
///
/// ```
/// use pumice_algorithms::irregular::shapes;
/// let points = pumice::Compiler::on("sim")?.compile(shapes::circles)?;
/// assert_eq!(points.run(&[((5, 5), 1)])?.to_vec()?, [(5, 4), (4, 5), (5, 5), (6, 5), (5, 6)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn circles(circles: Acc<Vector<(Point, i64)>>) -> Acc<Vector<Point>> {
    comp![
        (x + dx, y + dy)
        | ((x, y), radius) <- circles, dy <- -radius..=radius, let half = root(radius * radius - dy * dy), dx <- -half..=half
    ]
}

/// Draws points to a picture with a colour: those that are inside of it.
///
/// ```
/// use pumice::prelude::*;
/// use pumice_algorithms::irregular::shapes;
/// let picture = shapes::draw(use_(&[(1i64, 0i64), (7, 7)]), 5, fill((2, 3), 0));
/// assert_eq!(pumice::run(picture)?.to_vec()?, [0, 5, 0, 0, 0, 0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn draw(
    points: Acc<Vector<Point>>,
    colour: impl Into<Exp<u32>>,
    picture: Acc<Matrix<u32>>,
) -> Acc<Matrix<u32>> {
    let colour = colour.into();
    let (height, width) = picture.shape();
    let inside = comp![((y, x), colour) | (x, y) <- points, 0 <= x && x < width && 0 <= y && y < height];
    inside.permute_pairs(|new, _| new, picture)
}

/// The number of points of a line, without the first.
fn steps((x1, y1): PointExp, (x2, y2): PointExp) -> Exp<i64> {
    (x2 - x1).abs().max((y2 - y1).abs())
}

/// A point of a line, by its number.
fn on_line(p: PointExp, q: PointExp, i: Exp<i64>) -> PointExp {
    let steps = steps(p, q).max(1);
    (p.0 + rounded(i * (q.0 - p.0), steps), p.1 + rounded(i * (q.1 - p.1), steps))
}

/// The quotient to the nearest number; of two the larger one. The divisor is positive.
fn rounded(dividend: Exp<i64>, divisor: Exp<i64>) -> Exp<i64> {
    let doubled = 2 * dividend + divisor;
    // Division is towards zero, so that of a negative number is of one that is smaller.
    let down = doubled.lt(0).select(doubled - 2 * divisor + 1, doubled);
    down / (2 * divisor)
}

/// The points from the highest row to the lowest one.
fn in_order(p: PointExp, q: PointExp, r: PointExp) -> (PointExp, PointExp, PointExp) {
    let sorted = |p: PointExp, q: PointExp| p.1.le(q.1).select((p, q), (q, p));
    let (p, q) = sorted(p, q);
    let (q, r) = sorted(q, r);
    let (p, q) = sorted(p, q);
    (p, q, r)
}

/// The column of a line in a row.
fn column(p: PointExp, q: PointExp, y: Exp<i64>) -> Exp<i64> {
    p.0 + rounded((y - p.1) * (q.0 - p.0), (q.1 - p.1).max(1))
}

/// The largest number whose square is not above, for numbers from 0 to below 2⁵².
fn root(square: Exp<i64>) -> Exp<i64> {
    square.cast::<f64>().sqrt().cast()
}

/// The same in plain Rust.
pub mod plain {
    use super::Point;

    /// The points of lines.
    pub fn lines(lines: &[(Point, Point)]) -> Vec<Point> {
        let mut points = Vec::new();
        for ((x, y), (u, v)) in lines {
            let steps = (u - x).abs().max((v - y).abs());
            points.extend(
                (0..=steps).map(|i| {
                    (x + rounded(i * (u - x), steps.max(1)), y + rounded(i * (v - y), steps.max(1)))
                }),
            );
        }
        points
    }

    /// The points of triangles.
    pub fn triangles(triangles: &[(Point, Point, Point)]) -> Vec<Point> {
        let mut points = Vec::new();
        for (p, q, r) in triangles {
            let mut corners = [*p, *q, *r];
            corners.sort_by_key(|corner| corner.1);
            let [a, b, c] = corners;
            let column =
                |p: Point, q: Point, y: i64| p.0 + rounded((y - p.1) * (q.0 - p.0), (q.1 - p.1).max(1));
            for y in a.1..=c.1 {
                let (u, v) = (column(a, c, y), if y < b.1 { column(a, b, y) } else { column(b, c, y) });
                points.extend((u.min(v)..=u.max(v)).map(|x| (x, y)));
            }
        }
        points
    }

    /// The points of filled circles.
    pub fn circles(circles: &[(Point, i64)]) -> Vec<Point> {
        let mut points = Vec::new();
        for ((x, y), radius) in circles {
            let square = (-radius..=*radius).flat_map(|dy| (-radius..=*radius).map(move |dx| (dx, dy)));
            let inside = square.filter(|(dx, dy)| dx * dx + dy * dy <= radius * radius);
            points.extend(inside.map(|(dx, dy)| (x + dx, y + dy)));
        }
        points
    }

    fn rounded(dividend: i64, divisor: i64) -> i64 {
        (2 * dividend + divisor).div_euclid(2 * divisor)
    }
}
