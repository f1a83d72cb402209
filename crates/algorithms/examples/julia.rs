//! A Julia set as a picture in the build directory.
//!
//! `julia [WIDTH [STEPS]]` takes so many columns, and at most so many steps for each pixel.
//!
//! ```text
//! 480 x 320 pixels, 4448757 steps, 9427 pixels stay
//! picture: ...
//! ok
//! ```

mod picture;
#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::whole::julia::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

const NUMBER: (f32, f32) = (-0.8, 0.156);

fn main() -> ExitCode {
    report::end(drawn())
}

fn drawn() -> Result<(), Box<dyn Error>> {
    let width = argument(0, 480)?.clamp(1, 20_000);
    let most = argument(1, 200)?.clamp(1, 1_000_000) as i32;
    let (height, (real, imaginary)) = ((width * 2 / 3).max(1), NUMBER);
    let compiler = pumice::Compiler::new()?;
    // One kernel: steps are coloured as they are counted.
    let picture = compiler.compile(|real, imaginary, width, height, most| {
        julia::coloured(julia::steps(real, imaginary, width, height, most), most)
    })?;
    let colours = picture.run((real, imaginary, width, height, most))?.to_vec()?;
    let steps = plain::steps(real, imaginary, width, height, most);
    check("colours", &colours, &plain::coloured(&steps, most))?;
    let inside = steps.iter().filter(|steps| **steps == most).count();
    println!(
        "{width} x {height} pixels, {} steps, {inside} pixels stay",
        steps.iter().map(|steps| i64::from(*steps)).sum::<i64>()
    );
    let file = picture::write("julia.png", width as u32, height as u32, &colours)?;
    println!("picture: {}", file.display());
    Ok(())
}
