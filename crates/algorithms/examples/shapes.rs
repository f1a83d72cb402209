//! Lines, triangles and filled circles of different sizes, drawn to a picture in the build directory.
//!
//! `shapes [COUNT]` draws so many of each.
//!
//! ```text
//! 24 lines:     4521 points
//! 24 triangles: 16608 points
//! 24 circles:   14660 points
//! picture: ...
//! ok
//! ```

mod picture;
#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice::prelude::*;
use pumice_algorithms::irregular::Numbers;
use pumice_algorithms::irregular::shapes::{self, Point, plain};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

const WIDTH: i64 = 480;
const HEIGHT: i64 = 320;

fn main() -> ExitCode {
    report::end(drawn())
}

fn drawn() -> Result<(), Box<dyn Error>> {
    let count = argument(0, 24)?.max(0);
    let mut numbers = Numbers::new(3);
    let mut point = || -> Point { (numbers.between(0, WIDTH), numbers.between(0, HEIGHT)) };
    let lines: Vec<_> = (0..count).map(|_| (point(), point())).collect();
    let mut near = |(x, y): Point| (x + numbers.between(-60, 60), y + numbers.between(-60, 60));
    let triangles: Vec<_> = lines.iter().map(|(p, _)| (*p, near(*p), near(*p))).collect();
    let circles: Vec<_> = lines.iter().map(|(_, q)| (*q, numbers.between(0, 30))).collect();

    let compiler = pumice::Compiler::new()?;
    let points = [
        ("lines", compiler.compile(shapes::lines)?.run(&lines)?, plain::lines(&lines)),
        ("triangles", compiler.compile(shapes::triangles)?.run(&triangles)?, plain::triangles(&triangles)),
        ("circles", compiler.compile(shapes::circles)?.run(&circles)?, plain::circles(&circles)),
    ];
    for (name, found, expected) in points {
        println!("{count} {:10} {} points", format!("{name}:"), expected.len());
        check(name, &found.to_vec()?, &expected)?;
    }
    // Drawn as they are made: no point is in memory.
    let picture = compiler.compile(|circles: Acc<_>, triangles: Acc<_>, lines: Acc<_>| {
        let picture = shapes::draw(
            shapes::circles(circles),
            0xe8_68_45,
            fill((HEIGHT as usize, WIDTH as usize), 0xff_fa_e4),
        );
        let picture = shapes::draw(shapes::triangles(triangles), 0x26_2c_76, picture);
        shapes::draw(shapes::lines(lines), 0x09_0a_23, picture)
    })?;
    let colours = picture.run((&circles, &triangles, &lines))?.to_vec()?;
    let file = picture::write("shapes.png", WIDTH as u32, HEIGHT as u32, &colours)?;
    println!("picture: {}", file.display());
    Ok(())
}
