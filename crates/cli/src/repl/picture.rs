//! Matrices as pictures. With colours, a character is two pixels, one above the other; without, it is a shade of grey.

use crate::pum::files::Values;
use crate::pum::files::picture::byte;
use pumice::layers::scalar::Constant;
use std::fmt::Write;

/// Characters from dark to bright.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

type Pixel = [u8; 3];

/// Draws a matrix in at most this many columns and lines. The error says why it cannot be drawn.
pub fn picture(values: &Values, width: usize, height: usize, colours: bool) -> Result<String, String> {
    let [rows, columns] = values.extents[..] else {
        return Err(format!("a picture is a matrix, and this has {} dimensions", values.extents.len()));
    };
    if rows == 0 || columns == 0 {
        return Err(format!("a picture of {rows} x {columns} pixels cannot be seen"));
    }
    let scale = match values.types.len() {
        1 => Scale::of(values),
        3 => Scale::AsIs,
        parts => {
            return Err(format!(
                "a pixel is a grey value or three colours, and the elements have {parts} parts"
            ));
        }
    };
    let pixel = |row: usize, column: usize| {
        let part =
            |part: usize| values.get(part, row * columns + column).map_or(0, |value| scale.byte(value));
        if values.types.len() == 3 { [part(0), part(1), part(2)] } else { [part(0); 3] }
    };
    let shrunk = Shrunk::new(rows, columns, width.max(1), height.max(1), &pixel);
    let mut text = if colours { shrunk.in_colours() } else { shrunk.in_shades() };
    if let Scale::Between(low, high) = scale {
        let (low, high) = (super::plot::short(low), super::plot::short(high));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "from {low} (dark) to {high} (bright)");
    }
    Ok(text)
}

/// Mapping of values to brightness.
enum Scale {
    /// As in files: floats from 0 to 1, integers from 0 to 255, truth values.
    AsIs,
    /// From the least value to the largest.
    Between(f64, f64),
}

impl Scale {
    /// Returns the scale of grey values: from least to largest if some are outside the range that files use.
    fn of(values: &Values) -> Scale {
        let most = match values.types.first() {
            Some(ty) if ty.is_float() => 1.0,
            _ => 255.0,
        };
        let count = values.extents.iter().product();
        let numbers =
            (0..count).filter_map(|at| values.get(0, at).map(number)).filter(|value| value.is_finite());
        let (low, high) = numbers
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low >= 0.0 && high <= most { Scale::AsIs } else { Scale::Between(low, high) }
    }

    fn byte(&self, value: Constant) -> u8 {
        match self {
            Scale::AsIs => byte(value),
            Scale::Between(low, high) => {
                let part = (number(value) / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
                (part.clamp(0.0, 1.0) * 255.0).round() as u8
            }
        }
    }
}

/// Converts a scalar to a number.
pub fn number(value: Constant) -> f64 {
    value.as_float().or(value.as_integer().map(|integer| integer as f64)).unwrap_or(f64::NAN)
}

/// A picture scaled down to the screen.
struct Shrunk {
    columns: usize,
    rows: Vec<Vec<Pixel>>,
}

impl Shrunk {
    /// Averages as many pixels into one as are needed to make the picture fit.
    fn new(
        rows: usize,
        columns: usize,
        width: usize,
        height: usize,
        pixel: &dyn Fn(usize, usize) -> Pixel,
    ) -> Shrunk {
        let side = columns.div_ceil(width).max(rows.div_ceil(2 * height)).max(1);
        let average = |row: usize, column: usize| {
            let (mut sum, mut count) = ([0u64; 3], 0u64);
            for row in row * side..((row + 1) * side).min(rows) {
                for column in column * side..((column + 1) * side).min(columns) {
                    let pixel = pixel(row, column);
                    sum.iter_mut().zip(pixel).for_each(|(sum, part)| *sum += u64::from(part));
                    count += 1;
                }
            }
            sum.map(|sum| (sum / count.max(1)) as u8)
        };
        let columns = columns.div_ceil(side);
        let row = |row: usize| (0..columns).map(|column| average(row, column)).collect();
        Shrunk { columns, rows: (0..rows.div_ceil(side)).map(row).collect() }
    }

    /// Writes two rows per line: the upper pixel as a half block, the lower one as its background.
    fn in_colours(&self) -> String {
        let mut text = String::new();
        for pair in self.rows.chunks(2) {
            let mut before = None;
            for column in 0..self.columns {
                let colours = [0, 1].map(|row| pair.get(row).and_then(|row| row.get(column)).copied());
                if before != Some(colours) {
                    let [above, below] = colours;
                    let [red, green, blue] = above.unwrap_or_default();
                    // Writing to a String cannot fail.
                    let _ = write!(text, "\x1b[38;2;{red};{green};{blue}m");
                    if let Some([red, green, blue]) = below {
                        let _ = write!(text, "\x1b[48;2;{red};{green};{blue}m");
                    }
                }
                before = Some(colours);
                text.push('▀');
            }
            text.push_str("\x1b[0m\n");
        }
        text
    }

    fn in_shades(&self) -> String {
        let mut text = String::new();
        for pair in self.rows.chunks(2) {
            let shade = |column: usize| {
                let pixels = pair.iter().filter_map(|row| row.get(column));
                let (sum, count) =
                    pixels.flatten().fold((0, 0), |(sum, count), part| (sum + usize::from(*part), count + 1));
                SHADES[(sum * SHADES.len() / (256 * count.max(1))).min(SHADES.len() - 1)]
            };
            let line: String = (0..self.columns).map(shade).collect();
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pumice::layers::scalar::ScalarType;

    fn grey(extents: [usize; 2], numbers: &[f64]) -> Values {
        let column = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Values { extents: extents.to_vec(), types: vec![ScalarType::F64], columns: vec![column] }
    }

    #[test]
    fn shades_stand_for_grey_values() {
        let values = grey([2, 5], &[0.0, 0.25, 0.5, 0.7, 1.0, 0.0, 0.25, 0.5, 0.7, 1.0]);
        assert_eq!(picture(&values, 80, 24, false), Ok(" ░▒▓█\n".to_string()));
        let values = grey([1, 2], &[-1.0, 3.0]);
        assert_eq!(picture(&values, 80, 24, false), Ok(" █\nfrom -1 (dark) to 3 (bright)\n".to_string()));
    }

    #[test]
    fn two_rows_are_one_line_of_colours() {
        let column = |numbers: [u32; 2]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let values = Values {
            extents: vec![2, 1],
            types: vec![ScalarType::U32; 3],
            columns: vec![column([255, 0]), column([128, 1]), column([0, 2])],
        };
        let expected = "\x1b[38;2;255;128;0m\x1b[48;2;0;1;2m▀\x1b[0m\n";
        assert_eq!(picture(&values, 80, 24, true).as_deref(), Ok(expected));
    }

    #[test]
    fn large_pictures_are_made_smaller() {
        let values = grey([100, 60], &[0.5; 6000]);
        let text = picture(&values, 20, 10, false).unwrap_or_default();
        assert_eq!(text, format!("{}\n", "▒".repeat(12)).repeat(10));
        assert!(picture(&grey([0, 3], &[]), 80, 24, true).is_err());
        assert!(picture(&grey([2, 2], &[f64::NAN; 4]), 0, 0, true).is_ok());
    }
}
