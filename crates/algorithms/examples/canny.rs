//! The edges of a generated picture.
//!
//! `canny [WIDTH]` finds them and writes both to the build directory: `canny-picture.png` and `canny-edges.png`.
//!
//! ```text
//! 320 x 240 pixels, 948 of them on edges
//! picture: ...
//! edges: ...
//! ok
//! ```

mod picture;
#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::Matrix;
use pumice_algorithms::whole::canny::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

/// Changes of brightness at edges; what is weaker is noise.
const LOW: f32 = 0.25;
const HIGH: f32 = 0.8;

fn main() -> ExitCode {
    report::end(found())
}

fn found() -> Result<(), Box<dyn Error>> {
    let width = argument(0, 320)?.clamp(1, 20_000) as usize;
    let height = (width * 3 / 4).max(1);
    let image = plain::picture(height, width, 1);
    let program = pumice::compile(canny::edges)?;
    let found = program.run((&Matrix::from_slice([height, width], &image)?, LOW, HIGH))?.to_vec()?;
    let on_edges = found.iter().filter(|is| **is).count();
    println!("{width} x {height} pixels, {on_edges} of them on edges");
    let expected = plain::edges(&image, height, width, LOW, HIGH);
    let different = found.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
    check("pixels that differ from those of plain Rust", &different, &0)?;

    let grey = |brightness: &f32| (brightness.clamp(0.0, 1.0) * 255.0) as u32 * 0x01_01_01;
    let colours: Vec<u32> = image.iter().map(grey).collect();
    let file = picture::write("canny-picture.png", width as u32, height as u32, &colours)?;
    println!("picture: {}", file.display());
    let colours: Vec<u32> = found.iter().map(|is| if *is { 0xff_ff_ff } else { 0 }).collect();
    let file = picture::write("canny-edges.png", width as u32, height as u32, &colours)?;
    println!("edges: {}", file.display());
    Ok(())
}
