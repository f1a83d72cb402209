//! `.png` files: a matrix of grey values from 0 to 1, and films, which are several such pictures (APNG).

use super::{Outcome, Values};
use pumice::layers::array::HostData;
use pumice::layers::scalar::{Constant, ScalarType};
use std::io::Cursor;

/// Reads grey values as `f32`; colours are converted to their brightness, and transparency is ignored.
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
        // The luma weights of Rec. 601 for the primary colours.
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

/// Frame rate of a film.
const PICTURES_PER_SECOND: u16 = 10;

/// Writes a matrix of grey values, or of colours if its elements have three parts: floats from 0 to 1, integers from 0 to 255, truth values.
/// The first of three dimensions is time: a film that repeats without end.
pub fn write(values: &Values) -> Outcome<Vec<u8>> {
    let (count, height, width) = match values.extents[..] {
        [height, width] => (1, height, width),
        [count, height, width] => (count, height, width),
        _ => {
            let dimensions = values.extents.len();
            return Err(format!(
                "a picture has two dimensions and a film three, and the result has {dimensions}"
            ));
        }
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
    let (Some(rows), Some(columns), Some(pictures)) = (side(height), side(width), side(count)) else {
        return Err(format!("{count} pictures of {height} x {width} pixels cannot be"));
    };
    let pixel =
        |number: usize| (0..values.types.len()).map(move |part| values.get(part, number).map_or(0, byte));
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, columns, rows);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    if values.extents.len() == 3 {
        encoder.set_animated(pictures, 0).map_err(|error| error.to_string())?;
        encoder.set_frame_delay(1, PICTURES_PER_SECOND).map_err(|error| error.to_string())?;
    }
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    for picture in 0..count {
        let first = picture * height * width;
        let pixels: Vec<u8> = (first..first + height * width).flat_map(pixel).collect();
        writer.write_image_data(&pixels).map_err(|error| error.to_string())?;
    }
    writer.finish().map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Returns the brightness of a value.
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
