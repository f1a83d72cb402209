//! A picture in fog, equalised: both are written to the build directory, one beside the other.
//!
//! `equalise [WIDTH]` takes a picture of so many columns.
//!
//! ```text
//! 480 x 320 pixels: levels from 96 to 136 became those from 0 to 255
//! picture: ...
//! ok
//! ```

mod picture;
#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::Matrix;
use pumice_algorithms::whole::equalise::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(equalised())
}

fn equalised() -> Result<(), Box<dyn Error>> {
    let width = argument(0, 480)?.clamp(1, 20_000) as usize;
    let height = (width * 2 / 3).max(1);
    let levels = plain::foggy(width, height, 1);
    let image = Matrix::from_vec([height, width], levels.clone())?;
    let spread = pumice::compile(equalise::equalise)?.run(&image)?.to_vec()?;
    check("levels", &spread, &plain::equalise(&levels))?;
    let range = |levels: &[u32]| {
        let (darkest, brightest) = (levels.iter().min(), levels.iter().max());
        format!("{} to {}", darkest.unwrap_or(&0), brightest.unwrap_or(&0))
    };
    println!(
        "{width} x {height} pixels: levels from {} became those from {}",
        range(&levels),
        range(&spread)
    );
    let rows = levels.chunks(width).zip(spread.chunks(width));
    let colours: Vec<u32> =
        rows.flat_map(|(before, after)| before.iter().chain(after)).map(|level| level * 0x01_01_01).collect();
    let file = picture::write("equalise.png", 2 * width as u32, height as u32, &colours)?;
    println!("picture: {}", file.display());
    Ok(())
}
