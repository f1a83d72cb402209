//! The Mandelbrot set as a picture: a loop in every element.
//!
//! `mandelbrot [FILE [WIDTH HEIGHT [CAP]]]` writes a PNG; without arguments it goes to the build directory, and is small.
//!
//! ```text
//! 240 x 160 points, at most 64 iterations each
//! stayed inside: 10110 points
//! iterations:    808762
//! picture:       ...
//! ```

#[macro_use]
mod print;

use pumice::prelude::*;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// For every point of the plane from -2 - i to 1 + i, how often `z² + c` is applied until `z` is far away, or `cap`.
fn mandelbrot(width: Exp<i64>, height: Exp<i64>, cap: Exp<i32>) -> Acc<Matrix<i32>> {
    generate((height, width), |(row, column)| {
        let cx = -2.0 + 3.0 * column.cast::<f32>() / width.cast::<f32>();
        let cy = -1.0 + 2.0 * row.cast::<f32>() / height.cast::<f32>();
        let (_, _, count) = while_(
            constant((0f32, 0f32, 0i32)),
            |(x, y, count)| count.lt(cap) & (x * x + y * y).le(4.0),
            |(x, y, count)| (x * x - y * y + cx, 2.0 * x * y + cy, count + 1),
        );
        count
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().map_or_else(in_build_directory, PathBuf::from);
    let number =
        |position: usize, default: u32| arguments.get(position).map_or(Ok(default), |text| text.parse());
    let (width, height, cap) = (number(1, 240)?, number(2, 160)?, number(3, 64)?);

    let counts =
        pumice::compile(mandelbrot)?.run((i64::from(width), i64::from(height), cap as i32))?.to_vec()?;
    let inside = counts.iter().filter(|count| **count == cap as i32).count();
    let iterations: i64 = counts.iter().map(|count| i64::from(*count)).sum();
    write_picture(&file, width, height, cap, &counts)?;

    println!("{width} x {height} points, at most {cap} iterations each");
    println!("stayed inside: {inside} points");
    println!("iterations:    {iterations}");
    println!("picture:       {}", file.display());
    if arguments.len() <= 1 {
        assert_eq!((inside, iterations), (10110, 808_762));
    }
    Ok(())
}

fn in_build_directory() -> PathBuf {
    // This program is `examples/mandelbrot` in the folder of a profile.
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().nth(3).unwrap_or(Path::new(".")).join("mandelbrot.png")
}

fn write_picture(
    file: &Path,
    width: u32,
    height: u32,
    cap: u32,
    counts: &[i32],
) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(file)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let colours: Vec<u8> = counts.iter().flat_map(|count| colour(*count as f32, cap as f32)).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&colours)?;
    writer.finish()?;
    Ok(())
}

/// From the night sky over embers to white heat; the set itself is black.
fn colour(count: f32, cap: f32) -> [u8; 3] {
    const STOPS: [[f32; 3]; 6] = [
        [9.0, 10.0, 35.0],
        [38.0, 44.0, 118.0],
        [150.0, 52.0, 122.0],
        [236.0, 104.0, 69.0],
        [253.0, 200.0, 92.0],
        [255.0, 250.0, 228.0],
    ];
    if count >= cap {
        return [0; 3];
    }
    // Most points leave early: the logarithm spreads them.
    let position = count.ln_1p() / cap.ln_1p() * (STOPS.len() - 1) as f32;
    let stop = (position as usize).min(STOPS.len() - 2);
    let part = position - stop as f32;
    std::array::from_fn(|channel| {
        let (from, to) = (STOPS[stop][channel], STOPS[stop + 1][channel]);
        (from + (to - from) * part) as u8
    })
}
