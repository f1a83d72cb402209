//! Spheres over a plane, which mirror each other, as a picture in the build directory.
//!
//! `ray_tracer [WIDTH [SPHERES [DEPTH]]]` takes so many columns and spheres, and mirrors a ray at most so many times.
//!
//! ```text
//! 20 spheres, 480 x 320 pixels, mirrored at most 4 times
//! the mean of red, green and blue is 149, 146 and 168
//! picture: ...
//! ok
//! ```

mod picture;
#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::whole::ray_tracer::{self, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(traced())
}

fn traced() -> Result<(), Box<dyn Error>> {
    let width = argument(0, 480)?.clamp(1, 20_000);
    let count = argument(1, 20)?.clamp(0, 100_000);
    let depth = argument(2, 4)?.clamp(0, 1000) as i32;
    let height = (width * 2 / 3).max(1);
    let spheres = plain::row_of_spheres(count as usize);
    let colours = pumice::compile(ray_tracer::trace)?.run((&spheres, width, height, depth))?.to_vec()?;
    let expected = plain::trace(&spheres, width, height, depth);
    let different = colours.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
    check("pixels that differ from those of plain Rust", &different, &0)?;
    println!("{count} spheres, {width} x {height} pixels, mirrored at most {depth} times");
    let mean = |shift: u32| {
        colours.iter().map(|colour| u64::from(colour >> shift & 255)).sum::<u64>() / colours.len() as u64
    };
    println!("the mean of red, green and blue is {}, {} and {}", mean(16), mean(8), mean(0));
    let file = picture::write("ray_tracer.png", width as u32, height as u32, &colours)?;
    println!("picture: {}", file.display());
    Ok(())
}
