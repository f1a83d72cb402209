//! Diffusion of heat over a plate whose border is kept as it is: each point takes the mean of its four neighbours, until little changes.

use pumice::Boundary;
use pumice::prelude::*;

/// The temperatures after so many rounds that none changes by more than `tolerance`, or after `most`. The border stays as it is.
///
/// ```
/// use pumice_algorithms::whole::heat;
/// let settle = pumice::Compiler::on("sim")?.compile(heat::settle)?;
/// let plate = pumice::Matrix::from_vec([3, 4], vec![9.0, 9.0, 9.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])?;
/// let found = settle.run((&plate, 1e-6, 100))?.to_vec()?;
/// assert!((found[5] - 3.0).abs() < 1e-5 && (found[6] - 3.0).abs() < 1e-5);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn settle(plate: Acc<Matrix<f32>>, tolerance: Exp<f32>, most: Exp<i64>) -> Acc<Matrix<f32>> {
    let (plate, _, _) = awhile(
        (plate, unit(f32::INFINITY), unit(0)),
        |(_, change, round)| change.zip_with(round, |change, round| change.gt(tolerance) & round.lt(most)),
        |(plate, _, round)| {
            let next = step(plate.clone());
            let changes = next.clone().zip_with(plate, |new, old| (new - old).abs());
            (next, changes.flatten().fold(0.0, |a, b| a.max(b)), round.map(|round| round + 1))
        },
    );
    plate
}

/// The temperatures after one round.
fn step(plate: Acc<Matrix<f32>>) -> Acc<Matrix<f32>> {
    let (height, width) = plate.shape();
    plate.stencil(Boundary::Clamp, |near| {
        let (y, x) = near.index();
        let inside = y.gt(0) & y.lt(height - 1) & x.gt(0) & x.lt(width - 1);
        let beside = near.at([0, -1]) + near.at([0, 1]);
        inside.select((near.at([-1, 0]) + near.at([1, 0]) + beside) * 0.25, near.at([0, 0]))
    })
}

/// The same in plain Rust.
pub mod plain {
    /// A plate that is cold but for its upper border, and for a part of the left one.
    pub fn plate(height: usize, width: usize) -> Vec<f32> {
        let hot = |y: usize, x: usize| y == 0 || x == 0 && y < height / 3;
        (0..height * width).map(|i| if hot(i / width, i % width) { 100.0 } else { 0.0 }).collect()
    }

    /// The temperatures, and the number of rounds.
    pub fn settle(plate: &[f32], width: usize, tolerance: f32, most: i64) -> (Vec<f32>, i64) {
        let (mut plate, mut round, mut change) = (plate.to_vec(), 0, f32::INFINITY);
        while change > tolerance && round < most {
            let height = plate.len() / width;
            let next = |i: usize| {
                let (y, x) = (i / width, i % width);
                if y == 0 || y + 1 == height || x == 0 || x + 1 == width {
                    return plate[i];
                }
                (plate[i - width] + plate[i + width] + (plate[i - 1] + plate[i + 1])) * 0.25
            };
            let next: Vec<f32> = (0..plate.len()).map(next).collect();
            change = next.iter().zip(&plate).map(|(new, old)| (new - old).abs()).fold(0.0, f32::max);
            plate = next;
            round += 1;
        }
        (plate, round)
    }
}
