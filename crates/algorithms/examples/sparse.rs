//! Products of a random sparse matrix with a vector, a dense matrix and itself.
//!
//! `sparse [ROWS]` takes a matrix of so many rows and columns.
//!
//! ```text
//! 1000 x 1000 with 5021 entries, 385 rows are empty
//! times a vector: sum -105
//! times a dense matrix: sum 758
//! times itself: 23422 entries
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::Matrix;
use pumice::prelude::*;
use pumice_algorithms::irregular::sparse::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

const WIDTH: usize = 5;

fn main() -> ExitCode {
    report::end(multiplied())
}

fn multiplied() -> Result<(), Box<dyn Error>> {
    let size = argument(0, 1000)?.max(0) as usize;
    let matrix = plain::random(size, size, 5, 6);
    let empty = matrix.rows().filter(|row| row.is_empty()).count();
    println!("{size} x {size} with {} entries, {empty} rows are empty", matrix.values().len());
    let compiler = pumice::Compiler::new()?;

    let xs: Vec<f64> = (0..size).map(|i| (i % 7) as f64 - 3.0).collect();
    let found = compiler.run(sparse::times_vector(matrix.use_(), use_(&xs)))?.to_vec()?;
    check("times a vector", &found, &plain::times_vector(&matrix, &xs))?;
    println!("times a vector: sum {}", found.iter().sum::<f64>());

    let dense: Vec<f64> = (0..size * WIDTH).map(|i| (i % 11) as f64 - 5.0).collect();
    let on_device = Matrix::from_slice([size, WIDTH], &dense)?;
    let found = compiler.run(sparse::times_dense(matrix.use_(), use_(&on_device)))?.to_vec()?;
    check("times a dense matrix", &found, &plain::times_dense(&matrix, &dense, WIDTH))?;
    println!("times a dense matrix: sum {}", found.iter().sum::<f64>());

    let found = compiler.run(sparse::times_sparse(matrix.use_(), matrix.use_()))?;
    check("times itself", &found.to_vecs(), &plain::times_sparse(&matrix, &matrix))?;
    println!("times itself: {} entries", found.values().len());
    Ok(())
}
