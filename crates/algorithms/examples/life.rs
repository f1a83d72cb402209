//! The game of life on a torus: a glider, and a random world.
//!
//! `life [WIDTH [GENERATIONS]]` writes the last generation to the build directory, `life.png`.
//!
//! ```text
//! after 160 generations, the glider is where it was on a torus of 40 x 40
//! 200 x 150 cells, 10189 living at first, 2917 after 100 generations
//! picture: ...
//! ok
//! ```

mod picture;
#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::Matrix;
use pumice_algorithms::whole::life::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(lived())
}

fn lived() -> Result<(), Box<dyn Error>> {
    let (width, count) = (argument(0, 200)?.clamp(1, 20_000) as usize, argument(1, 100)?.max(0));
    let height = (width * 3 / 4).max(1);
    let program = pumice::compile(life::generations)?;
    // A glider moves down and right by one in four generations.
    let glider = plain::glider(40, 40);
    let found = program.run((&Matrix::from_slice([40, 40], &glider)?, 160))?.to_vec()?;
    check("glider", &found, &glider)?;
    println!("after 160 generations, the glider is where it was on a torus of 40 x 40");

    let cells = plain::cells(height * width, 1);
    let found = program.run((&Matrix::from_slice([height, width], &cells)?, count))?.to_vec()?;
    let living = |cells: &[bool]| cells.iter().filter(|cell| **cell).count();
    println!(
        "{width} x {height} cells, {} living at first, {} after {count} generations",
        living(&cells),
        living(&found)
    );
    check("cells", &found, &plain::generations(&cells, height, width, count as usize))?;
    let colours: Vec<u32> = found.iter().map(|lives| if *lives { 0xff_ff_ff } else { 0 }).collect();
    let file = picture::write("life.png", width as u32, height as u32, &colours)?;
    println!("picture: {}", file.display());
    Ok(())
}
