//! Fourier transforms there and back, of powers of two, small factors and primes, and of both dimensions of a matrix.
//!
//! `fft [LENGTH]` transforms rows of that length too. The definition takes a time that grows with its square, so that a long one is
//! compared with what it was made of alone.
//!
//! ```text
//! 4 rows of 1024: as by the definition, and back
//! 4 rows of 720: as by the definition, and back
//! 4 rows of 509: as by the definition, and back
//! 4 rows of 1000: as by the definition, and back
//! 4 rows of 1024, in f32: as by the definition, and back
//! both dimensions of 60 x 48: as by the definition
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::Matrix;
use pumice::prelude::*;
use pumice_algorithms::whole::fft::{self, Complex, plain};
use report::{argument, below};
use std::error::Error;
use std::process::ExitCode;

const ROWS: usize = 4;
const LONG: usize = 5000;
const PRECISION: f64 = 1e-9;
/// In `f32`: about a millionth of the results, which are around 30 where 1024 numbers up to 1 are added up with signs.
const SINGLE_PRECISION: f64 = 1e-4;

fn main() -> ExitCode {
    report::end(transformed())
}

fn transformed() -> Result<(), Box<dyn Error>> {
    let compiler = pumice::Compiler::new()?;
    let (forward, inverse) = (compiler.compile(fft::forward::<f64>)?, compiler.compile(fft::inverse::<f64>)?);
    for length in [1024, 720, 509, argument(0, 1000)?.max(1) as usize] {
        let values = plain::values(ROWS * length, 1);
        let there = forward.run(&Matrix::from_slice([ROWS, length], &values)?)?;
        below("inverse", farthest(&inverse.run(&there)?.to_vec()?, &values), PRECISION)?;
        if length > LONG {
            println!("{ROWS} rows of {length}: there and back");
            continue;
        }
        below("transform", farthest(&there.to_vec()?, &plain::forward(&values, length)), PRECISION)?;
        println!("{ROWS} rows of {length}: as by the definition, and back");
    }

    let length = 1024;
    let values = plain::values(ROWS * length, 1);
    let single: Vec<Complex<f32>> = values.iter().map(|z| Complex::new(z.re as f32, z.im as f32)).collect();
    let there = compiler.compile(fft::forward::<f32>)?.run(&Matrix::from_slice([ROWS, length], &single)?)?;
    let back = compiler.compile(fft::inverse::<f32>)?.run(&there)?;
    below("inverse in f32", farthest(&widened(&back)?, &values), SINGLE_PRECISION)?;
    let expected = plain::forward(&values, length);
    below("transform in f32", farthest(&widened(&there)?, &expected), SINGLE_PRECISION)?;
    println!("{ROWS} rows of {length}, in f32: as by the definition, and back");

    let (height, width) = (60, 48);
    let values = plain::values(height * width, 2);
    let both = |matrix: Acc<Matrix<Complex<f64>>>| fft::forward(matrix).in_dimension(0, fft::forward);
    let found = compiler.compile(both)?.run(&Matrix::from_slice([height, width], &values)?)?.to_vec()?;
    let columns = plain::forward(&transposed(&plain::forward(&values, width), width), height);
    below("both dimensions", farthest(&found, &transposed(&columns, height)), PRECISION)?;
    println!("both dimensions of {height} x {width}: as by the definition");
    Ok(())
}

fn transposed(values: &[Complex<f64>], width: usize) -> Vec<Complex<f64>> {
    let height = values.len() / width;
    (0..values.len()).map(|i| values[i % height * width + i / height]).collect()
}

fn widened(values: &Matrix<Complex<f32>>) -> pumice::Result<Vec<Complex<f64>>> {
    Ok(values.iter()?.map(|z| Complex::new(z.re.into(), z.im.into())).collect())
}

fn farthest(found: &[Complex<f64>], expected: &[Complex<f64>]) -> f64 {
    let distance = |(found, expected): (&Complex<f64>, &Complex<f64>)| (found - expected).norm();
    found.iter().zip(expected).map(distance).fold(0.0, f64::max)
}
