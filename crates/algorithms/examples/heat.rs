//! The temperatures of a plate whose upper border is hot.
//!
//! `heat [WIDTH]` writes them to the build directory, `heat.png`.
//!
//! ```text
//! 64 x 48 points, 1345 rounds until none changes by more than 0.01
//! mean: 33.5 degrees
//! picture: ...
//! ok
//! ```

mod picture;
#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::Matrix;
use pumice_algorithms::whole::heat::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

const TOLERANCE: f32 = 0.01;
const MOST: i64 = 10_000;

fn main() -> ExitCode {
    report::end(settled())
}

fn settled() -> Result<(), Box<dyn Error>> {
    let width = argument(0, 64)?.clamp(1, 20_000) as usize;
    let height = (width * 3 / 4).max(1);
    let plate = plain::plate(height, width);
    let program = pumice::compile(heat::settle)?;
    let found = program.run((&Matrix::from_slice([height, width], &plate)?, TOLERANCE, MOST))?.to_vec()?;
    let (expected, rounds) = plain::settle(&plate, width, TOLERANCE, MOST);
    println!("{width} x {height} points, {rounds} rounds until none changes by more than {TOLERANCE}");
    let different = found.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
    check("points that differ from those of plain Rust", &different, &0)?;
    println!("mean: {:.1} degrees", found.iter().sum::<f32>() / found.len() as f32);
    let colour = |degrees: &f32| {
        let warm = (degrees / 100.0 * 255.0) as u32;
        warm << 16 | (255 - warm)
    };
    let colours: Vec<u32> = found.iter().map(colour).collect();
    let file = picture::write("heat.png", width as u32, height as u32, &colours)?;
    println!("picture: {}", file.display());
    Ok(())
}
