//! Pictures of the examples, as PNG files in the build directory.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

/// Levels of red, green and blue.
type Pixels = Vec<[u8; 3]>;

/// Writes rows of colours, whose red, green and blue parts are 8 bits each in a number, and says where.
#[allow(dead_code)]
pub fn write(name: &str, width: u32, height: u32, colours: &[u32]) -> Result<PathBuf, Box<dyn Error>> {
    let pixels: Pixels =
        colours.iter().map(|colour| [16, 8, 0].map(|shift| (colour >> shift) as u8)).collect();
    write_rgb(name, width, height, &pixels)
}

/// Writes rows of levels of red, green and blue, and says where.
#[allow(dead_code)]
pub fn write_rgb(name: &str, width: u32, height: u32, pixels: &[[u8; 3]]) -> Result<PathBuf, Box<dyn Error>> {
    // This program is in the folder `examples` in the folder of a profile.
    let program = std::env::current_exe()?;
    let file = program.ancestors().nth(3).unwrap_or(Path::new(".")).join(name);
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(&file)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels.as_flattened())?;
    writer.finish()?;
    Ok(file)
}

/// Reads a picture with red, green and blue in 8 bits each: its rows, one after the other, and how long they are.
#[allow(dead_code)]
pub fn read_rgb(file: &Path) -> Result<(Pixels, usize), Box<dyn Error>> {
    let mut reader = png::Decoder::new(BufReader::new(File::open(file)?)).read_info()?;
    let mut levels = vec![0; reader.output_buffer_size().ok_or("the picture is too large")?];
    let frame = reader.next_frame(&mut levels)?;
    if (frame.color_type, frame.bit_depth) != (png::ColorType::Rgb, png::BitDepth::Eight) {
        return Err(format!("{} has other colours than red, green and blue of 8 bits", file.display()).into());
    }
    levels.truncate(frame.buffer_size());
    Ok((levels.as_chunks().0.to_vec(), frame.width as usize))
}
