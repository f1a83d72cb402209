//! Programs over matrices: pictures, cells, temperatures, and transforms of rows and columns.

use super::made;
use crate::{Harness, Outcome, Tolerance};
use num_complex::Complex;
use pumice::prelude::*;
use pumice_algorithms::whole::{canny, fft, heat, life};

fn matrix<T: Elt>(extents: [usize; 2], values: &[T]) -> Result<Matrix<T>, String> {
    made(Matrix::from_slice(extents, values))
}

pub fn edges_of_a_picture(h: &Harness) -> Outcome {
    let edges = h.compile(canny::edges)?;
    for (height, width) in [(1, 1), (40, 61)] {
        let picture = canny::plain::picture(height, width, 7);
        let expected = canny::plain::edges(&picture, height, width, 0.25, 0.8);
        edges.check((&matrix([height, width], &picture)?, 0.25, 0.8), &expected)?;
    }
    Ok(())
}

/// A glider on a torus that is higher than wide: shifted by one row after one way round the width, and back at its start in the end.
pub fn generations_of_life(h: &Harness) -> Outcome {
    let generations = h.compile(life::generations)?;
    for (height, width, count) in [(1, 1, 1), (37, 30, 5)] {
        let cells = life::plain::cells(height * width, 8);
        let expected = life::plain::generations(&cells, height, width, count);
        generations.check((&matrix([height, width], &cells)?, count as i64), &expected)?;
    }
    let (height, width) = (6, 5);
    let glider = life::plain::glider(height, width);
    let mut higher: Vec<bool> = glider[width..].to_vec();
    higher.extend(&glider[..width]);
    generations.check((&matrix([height, width], &glider)?, 4 * width as i64), &higher)?;
    generations.check((&matrix([height, width], &glider)?, (4 * width * height) as i64), &glider)
}

pub fn heat_of_a_plate(h: &Harness) -> Outcome {
    let settle = h.compile(heat::settle)?;
    for (height, width, tolerance, most) in
        [(0, 3, 0.0, 4), (1, 1, 0.0, 4), (40, 33, 0.0, 7), (40, 33, 2.0, 100)]
    {
        let plate = heat::plain::plate(height, width);
        let (expected, _) = heat::plain::settle(&plate, width, tolerance, most);
        settle.check((&matrix([height, width], &plate)?, tolerance, most), &expected)?;
    }
    Ok(())
}

/// Length 0 and 1, factors of two, three and five, and a prime; rows and columns, forward and inverse.
pub fn fourier_transforms(h: &Harness) -> Outcome {
    let (forward, inverse) = (h.compile(fft::forward::<f64>)?, h.compile(fft::inverse::<f64>)?);
    for (height, length) in [(2, 0), (2, 1), (3, 240), (3, 101)] {
        let values = fft::plain::values(height * length, 9);
        let there = fft::plain::forward(&values, length);
        forward.check_close(&matrix([height, length], &values)?, &there, Tolerance::Relative(1e-10))?;
        inverse.check_close(&matrix([height, length], &there)?, &values, Tolerance::Relative(1e-10))?;
    }
    let column = fft::plain::values(64, 9);
    let expected = fft::plain::forward(&column, 64);
    let single = |values: &[Complex<f64>]| {
        values.iter().map(|x| Complex::new(x.re as f32, x.im as f32)).collect::<Vec<_>>()
    };
    let columns = h.compile(|matrix: Acc<Matrix<Complex<f32>>>| matrix.in_dimension(0, fft::forward))?;
    columns.check_close(&matrix([64, 1], &single(&column))?, &single(&expected), Tolerance::Relative(1e-4))
}
