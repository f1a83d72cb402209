//! A hazy photograph, made clearer: sharpened, with stronger colours and spread levels, and a mask of its edges.
//!
//! `photo [WIDTH]` makes a photograph of so many columns, writes it to the build directory as `photo-before.png`, reads that file, and
//! writes `photo-after.png` and `photo-edges.png`. `photo FILE` takes a photograph of yours, a PNG file of 8 bits a colour.
//!
//! ```text
//! 480 x 320 pixels: levels from 61 to 154 became those from 0 to 255
//! 4436 pixels are on edges
//! pictures: ...
//! ok
//! ```

mod picture;
#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::Matrix;
use pumice_algorithms::whole::photo::{self, Rgb, plain};
use report::{argument, check};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Percent of what is added to details, and of what distinguishes colours from grey; the change of levels at an edge.
const SHARPNESS: i32 = 80;
const SATURATION: i32 = 140;
const STEEPEST: i32 = 60;

fn main() -> ExitCode {
    report::end(developed())
}

fn developed() -> Result<(), Box<dyn Error>> {
    let (pixels, width) = picture::read_rgb(&file()?)?;
    let height = pixels.len() / width.max(1);
    let image = Matrix::from_slice([height, width], &pixels)?;
    let program = pumice::compile(photo::develop)?;
    let (clear, edges) = program.run((&image, SHARPNESS, SATURATION, STEEPEST))?;
    let (clear, edges) = (clear.to_vec()?, edges.to_vec()?);
    println!("{width} x {height} pixels: levels from {} became those from {}", range(&pixels), range(&clear));
    println!("{} pixels are on edges", edges.iter().filter(|level| **level > 0).count());
    let expected = plain::develop(&pixels, height, width, SHARPNESS, SATURATION, STEEPEST);
    let different = clear.iter().zip(&expected.0).filter(|(found, expected)| found != expected).count();
    check("pixels that differ from those of plain Rust", &different, &0)?;
    check("edges", &edges, &expected.1)?;

    let grey: Vec<Rgb> = edges.iter().map(|level| [*level; 3]).collect();
    let after = picture::write_rgb("photo-after.png", width as u32, height as u32, &clear)?;
    let mask = picture::write_rgb("photo-edges.png", width as u32, height as u32, &grey)?;
    println!("pictures: {} and {}", after.display(), mask.display());
    Ok(())
}

/// The file of the command line, or one that is made here.
fn file() -> Result<PathBuf, Box<dyn Error>> {
    if let Some(file) = std::env::args().nth(1).filter(|text| text.ends_with(".png")) {
        return Ok(file.into());
    }
    let width = argument(0, 480)?.clamp(1, 20_000) as usize;
    let height = (width * 2 / 3).max(1);
    let pixels = plain::picture(height, width, 1);
    picture::write_rgb("photo-before.png", width as u32, height as u32, &pixels)
}

/// The smallest and the largest level.
fn range(pixels: &[Rgb]) -> String {
    let levels = || pixels.as_flattened().iter();
    format!("{} to {}", levels().min().unwrap_or(&0), levels().max().unwrap_or(&0))
}
