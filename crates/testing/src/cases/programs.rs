//! The example programs, against the same in plain Rust.

use crate::data::{FEW_SIZES, SHAPES, SIZES, floats, values};
use crate::programs::{self, COEFFICIENTS, RISK_FREE, RSQRT_2PI, VOLATILITY};
use crate::{Harness, Outcome, Tolerance};
use pumice::prelude::*;

fn matrix(seed: u64, [rows, columns]: [usize; 2]) -> Result<(Vec<f32>, Matrix<f32>), String> {
    let elements = values::<f32>(seed, rows * columns);
    let matrix = Matrix::from_slice([rows, columns], &elements).map_err(|error| error.to_string())?;
    Ok((elements, matrix))
}

pub fn dot_product(h: &Harness) -> Outcome {
    let program = h.compile(programs::dotp)?;
    for n in SIZES.into_iter().chain([140_000]) {
        let (xs, ys) = (values::<f32>(100, n), values::<f32>(101, n));
        let expected: f64 = xs.iter().zip(&ys).map(|(x, y)| f64::from(x * y)).fold(0.0, |a, b| a + b);
        // Sums of products of small whole numbers are exact up to 2^24.
        let tolerance = if expected.abs() < 1e7 { Tolerance::Exact } else { Tolerance::Relative(1e-6) };
        program
            .check_close((&xs, &ys), &[expected as f32], tolerance)
            .map_err(|m| format!("{n} elements: {m}"))?;
    }
    Ok(())
}

pub fn saxpy(h: &Harness) -> Outcome {
    let program = h.compile(programs::saxpy)?;
    for n in SIZES {
        let (xs, ys) = (values::<f32>(102, n), values::<f32>(103, n));
        let expected: Vec<f32> = xs.iter().zip(&ys).map(|(x, y)| 2.5 * x + y).collect();
        program.check((2.5, &xs, &ys), &expected).map_err(|m| format!("{n} elements: {m}"))?;
    }
    Ok(())
}

pub fn sums_of_rows_and_columns(h: &Harness) -> Outcome {
    let by_rows = h.compile(programs::row_sums)?;
    let by_columns = h.compile(programs::column_sums)?;
    for extents @ [rows, columns] in SHAPES {
        let (elements, m) = matrix(104, extents)?;
        let row = |i: usize| elements[i * columns..(i + 1) * columns].iter().fold(0.0, |a, b| a + b);
        by_rows.check(&m, &(0..rows).map(row).collect::<Vec<f32>>())?;
        let column = |j: usize| (0..rows).map(|i| elements[i * columns + j]).fold(0.0, |a, b| a + b);
        by_columns.check(&m, &(0..columns).map(column).collect::<Vec<f32>>())?;
    }
    Ok(())
}

pub fn matrix_times_vector(h: &Harness) -> Outcome {
    let program = h.compile(programs::matrix_vector)?;
    for extents @ [rows, columns] in SHAPES {
        let ((elements, m), v) = (matrix(105, extents)?, values::<f32>(106, columns));
        let row = |i: usize| (0..columns).map(|j| elements[i * columns + j] * v[j]).fold(0.0, |a, b| a + b);
        program.check((&m, &v), &(0..rows).map(row).collect::<Vec<f32>>())?;
    }
    Ok(())
}

fn cumulative_normal(d: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let polynomial = COEFFICIENTS.iter().rev().fold(0.0, |sum, c| (sum + f64::from(*c)) * k);
    let tail = f64::from(RSQRT_2PI) * (-0.5 * d * d).exp() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}

fn prices(&(stock, strike, years): &(f32, f32, f32)) -> (f32, f32) {
    let (stock, strike, years) = (f64::from(stock), f64::from(strike), f64::from(years));
    let (rate, volatility) = (f64::from(RISK_FREE), f64::from(VOLATILITY));
    let spread = volatility * years.sqrt();
    let d1 = ((stock / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / spread;
    let (n1, n2) = (cumulative_normal(d1), cumulative_normal(d1 - spread));
    let discounted = strike * (-rate * years).exp();
    let (call, put) = (stock * n1 - discounted * n2, discounted * (1.0 - n2) - stock * (1.0 - n1));
    (call as f32, put as f32)
}

pub fn black_scholes(h: &Harness) -> Outcome {
    let program = h.compile(programs::black_scholes)?;
    let scaled = h.compile(programs::black_scholes_scaled)?;
    let as_f32 = |seed, n| -> Vec<f32> { floats(seed, n, 0.0, 1.0).into_iter().map(|x| x as f32).collect() };
    for n in FEW_SIZES {
        let (xs, ys, zs) = (as_f32(107, n), as_f32(108, n), as_f32(109, n));
        let options: Vec<(f32, f32, f32)> =
            (0..n).map(|i| (xs[i] * 25.0 + 5.0, ys[i] * 99.0 + 1.0, zs[i] * 9.75 + 0.25)).collect();
        let expected: Vec<(f32, f32)> = options.iter().map(prices).collect();
        // Prices up to 100 in 32 bits, computed as differences of such numbers.
        program.check_close(&options, &expected, Tolerance::Relative(5e-5))?;
        scaled.check_close((&xs, &ys, &zs), &expected, Tolerance::Relative(5e-5))?;
    }
    Ok(())
}

pub fn mandelbrot(h: &Harness) -> Outcome {
    let program = h.compile(programs::mandelbrot)?;
    for (width, height, cap) in [(0, 5, 3), (1, 1, 10), (64, 48, 64), (77, 61, 200), (130, 3, 0)] {
        let pixel = |k: usize| {
            let cx = -2.0 + 3.0 * (k % width) as f32 / width as f32;
            let cy = -1.0 + 2.0 * (k / width) as f32 / height as f32;
            let (mut x, mut y, mut count) = (0.0f32, 0.0f32, 0);
            while count < cap && x * x + y * y <= 4.0 {
                (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
                count += 1;
            }
            count
        };
        let expected: Vec<i32> = (0..width * height).map(pixel).collect();
        program
            .check_shaped((width as i64, height as i64, cap), [height, width], &expected)
            .map_err(|m| format!("{width} × {height}, at most {cap}: {m}"))?;
    }
    Ok(())
}
