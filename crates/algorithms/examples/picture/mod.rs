//! Pictures of the examples, as PNG files in the build directory.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Writes rows of colours, whose red, green and blue parts are 8 bits each, and says where.
pub fn write(name: &str, width: u32, height: u32, colours: &[u32]) -> Result<PathBuf, Box<dyn Error>> {
    // This program is in the folder `examples` in the folder of a profile.
    let program = std::env::current_exe()?;
    let file = program.ancestors().nth(3).unwrap_or(Path::new(".")).join(name);
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(&file)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let parts: Vec<u8> =
        colours.iter().flat_map(|colour| [16, 8, 0].map(|shift| (colour >> shift) as u8)).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&parts)?;
    writer.finish()?;
    Ok(file)
}
