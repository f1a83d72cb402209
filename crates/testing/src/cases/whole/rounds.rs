//! Programs that compute numbers, most of them in rounds.

use super::made;
use crate::{Harness, Outcome, Tolerance};
use pumice::prelude::*;
use pumice::random;
use pumice_algorithms::whole::monte_carlo::{self, plain::Market};
use pumice_algorithms::whole::{lu, poisson, queens, shortest_paths, smvm};

/// The paper's matrix, one without rows, and one whose rows are very different.
pub fn sparse_matrix_times_vector(h: &Harness) -> Outcome {
    use smvm::plain::Sparse;
    let program = h.compile(smvm::smvm)?;
    let vector: Vec<f32> = (0..40u8).map(|i| f32::from(i) - 9.0).collect();
    let uneven = Sparse::uneven(300, 40, 6, 3);
    for (matrix, columns) in [(Sparse::of_the_paper(), 3), (Sparse::new([]), 0), (uneven, 40)] {
        let vector = &vector[..columns];
        program.check((&matrix.segments, &matrix.entries, vector), &matrix.times(vector))?;
    }
    Ok(())
}

pub fn estimates_of_pi(h: &Harness) -> Outcome {
    let program = h.compile(monte_carlo::pi)?;
    for points in [0, 3000] {
        program.check((points, 5), &[monte_carlo::plain::pi(points as u64, 5)])?;
    }
    Ok(())
}

/// Prices from the same random numbers in plain Rust; and those must be near the formula.
pub fn prices_of_options(h: &Harness) -> Outcome {
    let market = Market { spot: 100.0, strike: 95.0, rate: 0.04, volatility: 0.3, years: 2.0 };
    let Market { spot, strike, rate, volatility, years } = market;
    let normal = |seed: u64| {
        made(h.run(|count, seed| random::normal::<f64, _>(count, seed), (2000i64, seed))?.to_vec())
    };
    let steps = 3;
    let moves: Vec<Vec<f64>> = (0..steps).map(|step| normal(9 + step)).collect::<Result<_, String>>()?;
    let estimate = |end: &dyn Fn(usize) -> f64| {
        let payoffs: Vec<f64> =
            (0..moves[0].len()).map(|path| (-rate * years).exp() * (end(path) - strike).max(0.0)).collect();
        let mean = payoffs.iter().sum::<f64>() / payoffs.len() as f64;
        let squares: f64 = payoffs.iter().map(|payoff| (payoff - mean) * (payoff - mean)).sum();
        (mean, (squares / (payoffs.len() - 1) as f64 / payoffs.len() as f64).sqrt())
    };
    let log = |path: usize, interval: f64, steps: usize| {
        let log = |step: &Vec<f64>| {
            (rate - volatility * volatility / 2.0) * interval + volatility * interval.sqrt() * step[path]
        };
        moves[..steps].iter().map(log).sum::<f64>()
    };
    let european = estimate(&|path| spot * log(path, years, 1).exp());
    let interval = years / steps as f64;
    let mean_log =
        |path| (1..=steps as usize).map(|step| log(path, interval, step)).sum::<f64>() / steps as f64;
    let asian = estimate(&|path| spot * mean_log(path).exp());
    for ((price, error), formula) in [(european, market.european_call()), (asian, market.asian_call(3))] {
        if !h.is_planning() && (price - formula).abs() > 4.0 * error {
            return Err(format!("{price} is not within four times {error} of {formula}"));
        }
    }
    let near = Tolerance::Relative(1e-9);
    let program = h.compile(monte_carlo::european_call)?;
    program.check_close((spot, strike, rate, volatility, years, 2000, 9), &[european], near)?;
    program.check_close((spot, strike, rate, volatility, years, 1, 9), &[(0.0, 0.0)], near)?;
    let program = h.compile(monte_carlo::asian_call)?;
    program.check_close((spot, strike, rate, volatility, years, 3, 2000, 9), &[asian], near)
}

/// No vertex, a graph without cycles of negative length, and one with such a cycle in its middle.
pub fn shortest_ways(h: &Harness) -> Outcome {
    let program = h.compile(shortest_paths::distances)?;
    let edges = shortest_paths::plain::random(400, 900, 2);
    let mut circle = edges.clone();
    circle.extend([(20, 21, 3), (21, 20, -5)]);
    for (vertices, edges) in [(0, &vec![]), (400, &edges), (400, &circle)] {
        let expected = shortest_paths::plain::distances(vertices, edges, 0);
        program.check((vertices as i64, edges, 0), &expected)?;
    }
    h.expect_error(shortest_paths::distances, (2, &[(0, 2, 1)], 0), &["2", "permute_pairs"])
}

/// Until the residual is small, and for a given number of rounds. The order of summation differs from plain Rust's.
pub fn conjugate_gradients(h: &Harness) -> Outcome {
    let program = h.compile(poisson::solve)?;
    let counted = h.compile(|f: Acc<_>, tolerance, most| poisson::solve_counting(f, tolerance, most).1)?;
    let (height, width) = (23, 31);
    let f: Vec<f64> = (0..height * width).map(|i| f64::from(i * 7919 % 101) - 50.0).collect();
    let matrix = made(Matrix::from_vec([height as usize, width as usize], f.clone()))?;
    for (tolerance, most) in [(1e-14, 1000), (0.0, 3)] {
        let (expected, square, rounds) =
            poisson::plain::solve(&f, height as usize, width as usize, tolerance, most);
        program.check_close((&matrix, tolerance, most), &expected, Tolerance::Relative(1e-7))?;
        let found = made(counted.run((&matrix, tolerance, most))?.to_value())?;
        if !h.is_planning() && (found.1.abs_diff(rounds) > 2 || found.0 > tolerance.max(square * 1.01)) {
            return Err(format!("{found:?} after {rounds} rounds of plain Rust, which come to {square}"));
        }
    }
    let empty = made(Matrix::from_vec([0, 3], Vec::new()))?;
    program.check((&empty, 0.0, 10), &[])
}

/// No matrix, one of a single element, and several blocks of matrices, one of which has no pivot.
pub fn decomposed_matrices(h: &Harness) -> Outcome {
    let program = h.compile(lu::decompose_and_solve)?;
    let triangles = h.compile(|matrices| lu::decompose(matrices).0)?;
    for (count, n) in [(0, 3), (1, 1), (90, 6)] {
        let (mut matrices, right) = lu::plain::systems(count, n, 4);
        let array = made(Array::from_vec([count, n, n], matrices.clone()))?;
        let expected = lu::plain::decompose_and_solve(&matrices, &right, n);
        let right = made(Matrix::from_vec([count, n], right))?;
        program.check((&array, &right), &expected)?;
        if count > 1 {
            matrices[n * n..2 * n * n].fill(3.0);
            let array = made(Array::from_vec([count, n, n], matrices.clone()))?;
            matrices.chunks_mut(n * n).for_each(|matrix| drop(lu::plain::decompose(matrix, n)));
            triangles.check(&array, &matrices)?;
        }
    }
    Ok(())
}

pub fn queens_on_boards(h: &Harness) -> Outcome {
    let program = h.compile(queens::count)?;
    for n in [0, 1, 6] {
        program.check(n, &[queens::plain::KNOWN[n as usize]])?;
    }
    Ok(())
}
