//! Edges of a picture after Canny: it is blurred, the places of steepest change are kept, the steep ones among them are edges, and
//! so are the less steep ones that are connected with those.

use pumice::Boundary;
use pumice::prelude::*;

/// The tangent of an eighth of a half turn: below it, a direction is nearer to an axis than to a diagonal.
const EIGHTH: f32 = 0.414_213_57;

/// The weights of the blur along a row or column.
const WEIGHTS: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

/// Certainty that there is an edge.
const NONE: i32 = 0;
const WEAK: i32 = 1;
const STRONG: i32 = 2;

/// Returns where the edges of a picture are: the steepest changes of at least `high`, and those of at least `low` that are connected
/// with them.
///
/// ```
/// use pumice_algorithms::whole::canny;
/// let edges = pumice::Compiler::on("sim")?.compile(canny::edges)?;
/// // The left half is dark, the right half is light.
/// let picture = pumice::Matrix::from_vec([2, 8], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0].repeat(2))?;
/// let found: Vec<usize> = (0..).zip(edges.run((&picture, 0.5, 1.0))?.to_vec()?).filter(|(_, is)| *is).map(|(i, _)| i).collect();
/// assert_eq!(found, [3, 11]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn edges(picture: Acc<Matrix<f32>>, low: Exp<f32>, high: Exp<f32>) -> Acc<Matrix<bool>> {
    let candidates = steepest(gradients(blurred(picture)));
    let levels = candidates.map(|steepness| {
        steepness.ge(high).select(constant(STRONG), steepness.ge(low).select(constant(WEAK), constant(NONE)))
    });
    connected(levels).map(|level| level.eq(STRONG))
}

/// The picture without its details.
fn blurred(picture: Acc<Matrix<f32>>) -> Acc<Matrix<f32>> {
    let weighed = |at: [Exp<f32>; 5]| {
        at.into_iter().zip(WEIGHTS).map(|(x, weight)| x * weight).reduce(|a, b| a + b).unwrap_or(0.0.into())
    };
    let across = picture.stencil(Boundary::Clamp, |near| weighed([-2, -1, 0, 1, 2].map(|x| near.at([0, x]))));
    across.stencil(Boundary::Clamp, |near| weighed([-2, -1, 0, 1, 2].map(|y| near.at([y, 0]))))
}

/// Gradients of the picture: the steepness at each place, and its direction (down, right), of which each is -1, 0 or 1.
fn gradients(picture: Acc<Matrix<f32>>) -> Acc<Matrix<(f32, (i32, i32))>> {
    picture.stencil(Boundary::Clamp, |near| {
        let down = |x| near.at([1, x]) - near.at([-1, x]);
        let right = |y| near.at([y, 1]) - near.at([y, -1]);
        let (dy, dx) = (down(-1) + down(0) * 2.0 + down(1), right(-1) + right(0) * 2.0 + right(1));
        let sign = |d: Exp<f32>, other: Exp<f32>| {
            d.abs().lt(other.abs() * EIGHTH).select(constant(0), d.lt(0.0).select(constant(-1), constant(1)))
        };
        ((dx * dx + dy * dy).sqrt(), (sign(dy, dx), sign(dx, dy)))
    })
}

/// The steepness of places that are at least as steep as both neighbours in the direction of the change, and steeper than one; 0 of
/// others.
fn steepest(gradients: Acc<Matrix<(f32, (i32, i32))>>) -> Acc<Matrix<f32>> {
    let (height, width) = gradients.shape();
    gradients.clone().imap(|(y, x), (steepness, (down, right))| {
        let beside = |sign: i64| {
            let (y, x) = (y + down.cast::<i64>() * sign, x + right.cast::<i64>() * sign);
            let inside = y.ge(0) & y.lt(height) & x.ge(0) & x.lt(width);
            cond(inside, || gradients.at((y, x)).0, || 0.0.into())
        };
        (steepness.ge(beside(1)) & steepness.gt(beside(-1))).select(steepness, 0.0.into())
    })
}

/// Makes weak places beside strong ones strong, until nothing changes.
fn connected(levels: Acc<Matrix<i32>>) -> Acc<Matrix<i32>> {
    let (levels, _) = awhile(
        (levels, unit(true)),
        |(_, changed)| changed,
        |(levels, _)| {
            let next = levels.clone().stencil(Boundary::Constant(NONE), |near| {
                let around = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]];
                let most = around.map(|at| near.at(at)).into_iter().fold(constant(NONE), |a, b| a.max(b));
                let level = near.at([0, 0]);
                (level.eq(WEAK) & most.eq(STRONG)).select(constant(STRONG), level)
            });
            let changed = next.clone().equal(levels).map(|same| !same);
            (next, changed)
        },
    );
    levels
}

/// A picture that is made by plain Rust, and the same in it.
pub mod plain {
    use super::{EIGHTH, NONE, STRONG, WEAK, WEIGHTS};
    use crate::irregular::Numbers;

    /// A disc and a bar whose brightness fades, before a background that is darker on one side, with a little noise.
    pub fn picture(height: usize, width: usize, seed: u64) -> Vec<f32> {
        let mut numbers = Numbers::new(seed);
        let mut brightness = |i: usize| {
            let (y, x) = ((i / width) as f32 / height as f32, (i % width) as f32 / width as f32);
            let (dy, dx) = (y - 0.45, x - 0.4);
            let noise = numbers.below(64) as f32 / 2048.0;
            let disc = if dy * dy + dx * dx < 0.07 { 0.6 } else { 0.0 };
            let bar = if (y - 0.9 + 0.3 * x).abs() < 0.06 { 0.55 * x } else { 0.0 };
            0.2 * y + disc + bar + noise
        };
        (0..height * width).map(&mut brightness).collect()
    }

    /// The edges.
    pub fn edges(picture: &[f32], height: usize, width: usize, low: f32, high: f32) -> Vec<bool> {
        let near = |i: usize, dy: isize, dx: isize| {
            let y = (i / width).saturating_add_signed(dy).min(height - 1);
            y * width + (i % width).saturating_add_signed(dx).min(width - 1)
        };
        let all = |value: &dyn Fn(usize) -> f32| (0..height * width).map(value).collect::<Vec<f32>>();
        let weighed = |at: [f32; 5]| {
            at.into_iter().zip(WEIGHTS).map(|(x, weight)| x * weight).reduce(|a, b| a + b).unwrap_or(0.0)
        };
        let across = all(&|i| weighed([-2, -1, 0, 1, 2].map(|dx| picture[near(i, 0, dx)])));
        let blurred = all(&|i| weighed([-2, -1, 0, 1, 2].map(|dy| across[near(i, dy, 0)])));
        let gradient = |i: usize| {
            let down = |x| blurred[near(i, 1, x)] - blurred[near(i, -1, x)];
            let right = |y| blurred[near(i, y, 1)] - blurred[near(i, y, -1)];
            (down(-1) + down(0) * 2.0 + down(1), right(-1) + right(0) * 2.0 + right(1))
        };
        let steepness = all(&|i| {
            let (dy, dx) = gradient(i);
            (dx * dx + dy * dy).sqrt()
        });
        let candidate = |i: usize| {
            let (dy, dx) = gradient(i);
            let sign = |d: f32, other: f32| match d.abs() < other.abs() * EIGHTH {
                true => 0,
                false => {
                    if d < 0.0 {
                        -1
                    } else {
                        1
                    }
                }
            };
            let (down, right) = (sign(dy, dx), sign(dx, dy));
            let beside = |sign: isize| {
                let (y, x) = (
                    (i / width).checked_add_signed(down * sign).filter(|y| *y < height),
                    (i % width).checked_add_signed(right * sign).filter(|x| *x < width),
                );
                y.zip(x).map_or(0.0, |(y, x)| steepness[y * width + x])
            };
            if steepness[i] >= beside(1) && steepness[i] > beside(-1) { steepness[i] } else { 0.0 }
        };
        let level = |steepness: f32| match steepness {
            _ if steepness >= high => STRONG,
            _ if steepness >= low => WEAK,
            _ => NONE,
        };
        let mut levels: Vec<i32> = all(&candidate).into_iter().map(level).collect();
        let mut open: Vec<usize> = (0..levels.len()).filter(|i| levels[*i] == STRONG).collect();
        while let Some(i) = open.pop() {
            for (dy, dx) in (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dy, dx))) {
                let other = near(i, dy, dx);
                if levels[other] == WEAK {
                    levels[other] = STRONG;
                    open.push(other);
                }
            }
        }
        levels.into_iter().map(|level| level == STRONG).collect()
    }
}
