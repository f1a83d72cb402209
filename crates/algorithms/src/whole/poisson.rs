//! The Poisson equation on a square grid, by conjugate gradients: -Δu = f, where u is 0 beyond the border. The matrix is never there;
//! times a vector it is a stencil.

use pumice::Boundary;
use pumice::prelude::*;

/// The square of the residual's length, and the number of rounds.
pub type Progress = (f64, i64);

/// Four times each element, less its four neighbours; beyond the border is 0.
///
/// ```
/// use pumice::prelude::*;
/// use pumice_algorithms::whole::poisson;
/// let found = pumice::run(poisson::laplace(fill((2, 3), 1.0)))?;
/// assert_eq!(found.to_vec()?, [2.0, 1.0, 2.0, 2.0, 1.0, 2.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn laplace(u: Acc<Matrix<f64>>) -> Acc<Matrix<f64>> {
    u.stencil(Boundary::Constant(0.0), |u| {
        4.0 * u.at([0, 0]) - u.at([-1, 0]) - u.at([1, 0]) - u.at([0, -1]) - u.at([0, 1])
    })
}

/// The u for which [`laplace`] is f: until the square of the residual's length is at most `tolerance`, or after `most` rounds.
///
/// ```
/// use pumice_algorithms::whole::poisson;
/// let solve = pumice::Compiler::on("sim")?.compile(poisson::solve)?;
/// let f = pumice::Matrix::from_vec([1, 3], vec![1.0, 0.0, 0.0])?;
/// let found = solve.run((&f, 1e-20, 100))?.to_vec()?;
/// let expected = [15.0 / 56.0, 4.0 / 56.0, 1.0 / 56.0];
/// assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn solve(f: Acc<Matrix<f64>>, tolerance: Exp<f64>, most: Exp<i64>) -> Acc<Matrix<f64>> {
    solve_counting(f, tolerance, most).0
}

/// As [`solve`], with the square of the residual's length and the number of rounds.
///
/// ```
/// use pumice::prelude::*;
/// use pumice_algorithms::whole::poisson;
/// // Of a single point the first round finds the solution.
/// let (_, how) = poisson::solve_counting(fill((1, 1), 8.0), 0.0.into(), 100.into());
/// assert_eq!(pumice::run(how)?.to_value()?, (0.0, 1));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn solve_counting(
    f: Acc<Matrix<f64>>,
    tolerance: Exp<f64>,
    most: Exp<i64>,
) -> (Acc<Matrix<f64>>, Acc<Scalar<Progress>>) {
    let nothing = fill(f.shape(), 0.0);
    let start = dot(f.clone(), f.clone()).map(|square| (square, Exp::from(0)));
    let (u, _, _, how) = awhile(
        (nothing, f.clone(), f, start),
        |(_, _, _, how)| how.map(|(square, round)| square.gt(tolerance) & round.lt(most)),
        |(u, residual, direction, how)| {
            let image = laplace(direction.clone());
            let length = dot(direction.clone(), image.clone());
            let step = how.clone().zip_with(length, |(square, _), length| square / length);
            let u = u.zip_with(direction.clone(), |u, d| u + step.the() * d);
            let residual = residual.zip_with(image, |r, q| r - step.the() * q);
            let now = dot(residual.clone(), residual.clone());
            let ratio = now.clone().zip_with(how.clone(), |now, (before, _)| now / before);
            let direction = residual.clone().zip_with(direction, |r, d| r + ratio.the() * d);
            let how = now.zip_with(how, |square, (_, round)| (square, round + 1));
            (u, residual, direction, how)
        },
    );
    (u, how)
}

/// The inner product of two matrices of one shape.
fn dot(a: Acc<Matrix<f64>>, b: Acc<Matrix<f64>>) -> Acc<Scalar<f64>> {
    a.zip_with(b, |x, y| x * y).flatten().sum()
}

/// The same in plain Rust.
pub mod plain {
    /// Four times each element, less its four neighbours.
    pub fn laplace(u: &[f64], height: usize, width: usize) -> Vec<f64> {
        let at = |row: usize, column: usize| match row < height && column < width {
            true => u[row * width + column],
            false => 0.0,
        };
        let element = |(row, column): (usize, usize)| {
            let (up, left) = (row.wrapping_sub(1), column.wrapping_sub(1));
            4.0 * at(row, column) - at(up, column) - at(row + 1, column) - at(row, left) - at(row, column + 1)
        };
        (0..height * width).map(|number| element((number / width, number % width))).collect()
    }

    /// The solution, the square of the residual's length, and the number of rounds.
    pub fn solve(f: &[f64], height: usize, width: usize, tolerance: f64, most: i64) -> (Vec<f64>, f64, i64) {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let (mut u, mut residual, mut direction) = (vec![0.0; f.len()], f.to_vec(), f.to_vec());
        let (mut square, mut round) = (dot(f, f), 0);
        while square > tolerance && round < most {
            let image = laplace(&direction, height, width);
            let step = square / dot(&direction, &image);
            u.iter_mut().zip(&direction).for_each(|(u, d)| *u += step * d);
            residual.iter_mut().zip(&image).for_each(|(r, q)| *r -= step * q);
            let now = dot(&residual, &residual);
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + now / square * *d);
            (square, round) = (now, round + 1);
        }
        (u, square, round)
    }
}
