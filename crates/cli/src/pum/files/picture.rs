//! `.png` files: a matrix of grey values from 0 to 1.

use super::{Outcome, Values};
use pumice::layers::array::HostData;
use pumice::layers::scalar::{Constant, ScalarType};
use std::io::Cursor;

/// Reads grey values as `f32`; of colours, how bright they are, and transparency is ignored.
pub fn read(bytes: &[u8]) -> Outcome<HostData> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let size = reader.output_buffer_size().filter(|size| *size <= super::MOST_BYTES);
    let mut pixels = vec![0; size.ok_or("it is too large")?];
    let frame = reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    pixels.truncate(frame.buffer_size());
    let parts = frame.color_type.samples();
    let grey = |pixel: &[u8]| match pixel {
        // The weights that television gives to colours.
        [red, green, blue] | [red, green, blue, _] => {
            (0.299 * f32::from(*red) + 0.587 * f32::from(*green) + 0.114 * f32::from(*blue)) / 255.0
        }
        [grey, ..] => f32::from(*grey) / 255.0,
        [] => 0.0,
    };
    let column = pixels.chunks_exact(parts).flat_map(|pixel| grey(pixel).to_le_bytes()).collect();
    let extents = vec![frame.height as usize, frame.width as usize];
    Ok(HostData::new(extents, vec![ScalarType::F32], vec![column]))
}

/// Writes a matrix of grey values, or of colours if its elements have three parts: floats from 0 to 1, integers from 0 to 255, truth values.
pub fn write(values: &Values) -> Outcome<Vec<u8>> {
    let [height, width] = values.extents[..] else {
        return Err(format!("a picture has two dimensions, and the result has {}", values.extents.len()));
    };
    let color = match values.types.len() {
        1 => png::ColorType::Grayscale,
        3 => png::ColorType::Rgb,
        parts => {
            return Err(format!(
                "a pixel is a grey value or three colours, and the elements have {parts} parts"
            ));
        }
    };
    let side = |extent: usize| u32::try_from(extent).ok().filter(|extent| *extent > 0);
    let (Some(rows), Some(columns)) = (side(height), side(width)) else {
        return Err(format!("a picture of {height} x {width} pixels cannot be"));
    };
    let mut pixels = Vec::with_capacity(height * width * values.types.len());
    for number in 0..height * width {
        for part in 0..values.types.len() {
            pixels.push(values.get(part, number).map_or(0, byte));
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, columns, rows);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(&pixels).map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// How bright a value is.
pub fn byte(value: Constant) -> u8 {
    match (value.ty(), value.as_float(), value.as_integer()) {
        (ScalarType::Bool, ..) => {
            if value.is_true() {
                255
            } else {
                0
            }
        }
        // A NaN is black.
        (_, Some(float), _) => (float.clamp(0.0, 1.0) * 255.0).round() as u8,
        (_, _, integer) => integer.unwrap_or(0).clamp(0, 255) as u8,
    }
}
