//! A turning mesh as pictures: faces, scan lines, points, and the nearest point of each pixel.
//!
//! `renderer [FACES [WIDTH [FRAMES [MESH]]]]` draws so many pictures, writes the last one to the build directory and says how many
//! a second there were, brought to the host. The mesh is 0, a torus knot, or 1, hills.
//!
//! ```text
//! 100000 faces, 640 x 480 pixels, 108327 of them covered
//! ... frames a second
//! picture: ...
//! ok
//! ```

mod picture;
#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::irregular::renderer::{self, plain::Mesh};
use report::argument;
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    report::end(rendered())
}

fn rendered() -> Result<(), Box<dyn Error>> {
    let (faces, width, frames) =
        (argument(0, 100_000)?.max(1), argument(1, 640)?.clamp(1, 20_000), argument(2, 10)?);
    let height = (width * 3 / 4).max(1);
    let mesh = match argument(3, 0)? {
        0 => Mesh::torus_knot(faces as usize),
        _ => Mesh::height_field(faces as usize),
    };
    let program = pumice::compile(renderer::render)?;
    let vertices = pumice::Vector::from(mesh.vertices.as_slice());
    let faces = pumice::Vector::from(mesh.faces.as_slice());
    let draw = |angle: f32| -> pumice::Result<Vec<u32>> {
        let (sine, cosine) = angle.sin_cos();
        Ok(program.run((&vertices, &faces, cosine, sine, width, height))?.to_vec()?)
    };
    let first = draw(0.0)?;
    let covered = first.iter().filter(|colour| **colour != renderer::BACKGROUND).count();
    println!("{} faces, {width} x {height} pixels, {covered} of them covered", mesh.faces.len());
    let expected = mesh.render(1.0, 0.0, width, height);
    let different = first.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
    report::check("pixels that differ from those of plain Rust", &different, &0)?;

    let start = Instant::now();
    let mut last = first;
    for frame in 1..=frames {
        last = draw(frame as f32 * 0.05)?;
    }
    println!("{:.1} frames a second", frames as f64 / start.elapsed().as_secs_f64());
    let file = picture::write("renderer.png", width as u32, height as u32, &last)?;
    println!("picture: {}", file.display());
    Ok(())
}
