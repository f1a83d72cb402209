//! The game of life on a torus: a cell lives if three of its eight neighbours do, or two and it lived before.

use pumice::Boundary;
use pumice::prelude::*;

/// The cells after so many generations.
///
/// ```
/// use pumice_algorithms::whole::life;
/// let live = pumice::Compiler::on("sim")?.compile(life::generations)?;
/// let blinker = |cell: &[usize]| (0..25).map(|i| cell.contains(&i)).collect::<Vec<_>>();
/// let upright = pumice::Matrix::from_vec([5, 5], blinker(&[7, 12, 17]))?;
/// assert_eq!(live.run((&upright, 1))?.to_vec()?, blinker(&[11, 12, 13]));
/// assert_eq!(live.run((&upright, 2))?.to_vec()?, blinker(&[7, 12, 17]));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn generations(cells: Acc<Matrix<bool>>, count: Exp<i64>) -> Acc<Matrix<bool>> {
    iterate(count, cells, |cells| {
        cells.stencil(Boundary::Wrap, |near| {
            let around = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]];
            let living =
                around.map(|at| near.at(at).cast::<i32>()).into_iter().fold(constant(0), |a, b| a + b);
            living.eq(3) | (near.at([0, 0]) & living.eq(2))
        })
    })
}

/// The same in plain Rust.
pub mod plain {
    use crate::irregular::Numbers;

    /// Cells of which about a third live.
    pub fn cells(count: usize, seed: u64) -> Vec<bool> {
        let mut numbers = Numbers::new(seed);
        (0..count).map(|_| numbers.below(3) == 0).collect()
    }

    /// A glider in the upper left corner.
    pub fn glider(height: usize, width: usize) -> Vec<bool> {
        let glider = [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)];
        (0..height * width).map(|i| glider.contains(&(i / width, i % width))).collect()
    }

    /// The cells after so many generations.
    pub fn generations(cells: &[bool], height: usize, width: usize, count: usize) -> Vec<bool> {
        let mut cells = cells.to_vec();
        for _ in 0..count {
            let lives = |i: usize| {
                let (y, x) = (i / width, i % width);
                let at = |dy: usize, dx: usize| cells[(y + dy) % height * width + (x + dx) % width];
                let (up, left) = (height - 1, width - 1);
                let around = [(up, left), (up, 0), (up, 1), (0, left), (0, 1), (1, left), (1, 0), (1, 1)];
                let living = around.iter().filter(|(dy, dx)| at(*dy, *dx)).count();
                living == 3 || living == 2 && cells[i]
            };
            cells = (0..cells.len()).map(lives).collect();
        }
        cells
    }
}
