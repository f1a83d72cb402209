//! A sparse matrix times a vector, by segments: the matrix of the paper, second differences, and rows of very different lengths.
//!
//! `smvm [ROWS]` takes matrices of so many rows.
//!
//! ```text
//! of the paper:      3 rows,       3 entries
//! differences:   20000 rows,   59998 entries
//! uneven:        20000 rows,  322061 entries
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::whole::smvm::{self, plain::Sparse};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(multiplied())
}

fn multiplied() -> Result<(), Box<dyn Error>> {
    let rows = argument(0, 20_000)?.clamp(0, 1 << 24) as usize;
    let program = pumice::compile(smvm::smvm)?;
    let matrices = [
        ("of the paper", Sparse::of_the_paper(), 3),
        ("differences", Sparse::differences(rows), rows),
        ("uneven", Sparse::uneven(rows, rows, 16, 1), rows),
    ];
    for (name, matrix, columns) in matrices {
        // Small whole numbers, of whose sums none is rounded.
        let vector: Vec<f32> = (0..columns).map(|column| (column % 17) as f32 - 8.0).collect();
        let product = program.run((&matrix.segments, &matrix.entries, &vector))?.to_vec()?;
        check(name, &product, &matrix.times(&vector))?;
        println!(
            "{:13} {:6} rows, {:7} entries",
            format!("{name}:"),
            matrix.segments.len(),
            matrix.entries.len()
        );
    }
    Ok(())
}
