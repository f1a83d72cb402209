//! A fire of sparks that become smoke, as a picture in the build directory.
//!
//! `particles [COUNT [STEPS]]` takes so many particles and goes so many steps.
//!
//! ```text
//! 6000 particles after 200 steps: 997 sparks, 4148 of smoke
//! without new ones all are gone after 201 steps
//! picture: ...
//! ok
//! ```

mod picture;
#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::whole::particles::{self, Kind, Particle, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

const WIDTH: i64 = 320;
const HEIGHT: i64 = 320;

fn main() -> ExitCode {
    report::end(burnt())
}

fn burnt() -> Result<(), Box<dyn Error>> {
    let count = argument(0, 6000)?.clamp(0, 10_000_000) as usize;
    let steps = argument(1, 200)?.clamp(0, 100_000);
    let compiler = pumice::Compiler::new()?;
    let places = plain::free_places(count);
    // What the first program gives stays on the device for the others.
    let found = compiler.compile(particles::burning)?.run((&places, steps))?;
    let last = compiler.compile(particles::last)?.run(&found)?.to_value()?;
    let colours = compiler.compile(particles::drawn)?.run((&found, WIDTH, HEIGHT))?.to_vec()?;
    let found = found.to_vec()?;
    let are = |is: fn(&Particle) -> bool| found.iter().filter(|particle| is(particle)).count();
    let sparks = are(|particle| matches!(particle.kind, Kind::Spark { .. }));
    let smoke = are(|particle| matches!(particle.kind, Kind::Smoke { .. }));
    println!("{count} particles after {steps} steps: {sparks} sparks, {smoke} of smoke");
    println!("without new ones all are gone after {last} steps");
    check(
        "whether particles are those of plain Rust",
        &(found == plain::burning(&places, steps as usize)),
        &true,
    )?;
    check("steps", &last, &plain::last(&found))?;
    check(
        "whether the picture is that of plain Rust",
        &(colours == plain::drawn(&found, WIDTH, HEIGHT)),
        &true,
    )?;

    let file = picture::write_rgb("particles.png", WIDTH as u32, HEIGHT as u32, &colours)?;
    println!("picture: {}", file.display());
    Ok(())
}
