//! Plots of numbers in braille characters, each of which has two by four dots, with axes.

use std::fmt::Write;

/// Smallest and largest canvas, in characters, whatever the size of the terminal.
const LEAST: (usize, usize) = (8, 3);
const MOST: (usize, usize) = (120, 18);

/// Draws points, as dots or joined by a line in their order, as a text of this many columns and about this many lines. Numbers that
/// are not finite are left out; an error says why there is nothing to draw.
pub fn plot(points: &[(f64, f64)], joined: bool, width: usize, height: usize) -> Result<String, String> {
    let finite = |points: &[(f64, f64)]| points.iter().any(|(x, y)| x.is_finite() && y.is_finite());
    if !finite(points) {
        return Err("there is nothing to plot: no finite number".to_string());
    }
    let (x_range, y_range) =
        (range(points.iter().map(|point| point.0)), range(points.iter().map(|point| point.1)));
    let labels = [y_range.1, y_range.0].map(short);
    let margin = labels.iter().map(|label| label.len()).max().unwrap_or(0);
    let columns = width.saturating_sub(margin + 3).clamp(LEAST.0, MOST.0);
    let rows = height.saturating_sub(4).clamp(LEAST.1, MOST.1);
    let mut canvas = Canvas { columns, rows, cells: vec![0; columns * rows] };
    let place = |(x, y): (f64, f64)| {
        let at = |value: f64, (low, high): (f64, f64), dots: usize| {
            // Halves first: the difference of the largest floats would overflow.
            let part = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
            (part * (dots - 1) as f64).round() as i64
        };
        (at(x, x_range, columns * 2), (rows * 4 - 1) as i64 - at(y, y_range, rows * 4))
    };
    let mut before = None;
    for point in thinned(points, columns * 2, joined) {
        if !finite(&[point]) {
            before = None;
            continue;
        }
        let dot = place(point);
        match before.filter(|_| joined) {
            Some(from) => canvas.line(from, dot),
            None => canvas.set(dot),
        }
        before = Some(dot);
    }
    Ok(framed(&canvas, &labels, margin, x_range))
}

/// Returns the canvas with its axes.
fn framed(canvas: &Canvas, labels: &[String; 2], margin: usize, x_range: (f64, f64)) -> String {
    let mut text = String::new();
    for row in 0..canvas.rows {
        let (label, axis) = match row {
            0 => (labels[0].as_str(), '┤'),
            _ if row + 1 == canvas.rows => (labels[1].as_str(), '┤'),
            _ => ("", '│'),
        };
        let line: String = canvas.row(row).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{label:>margin$} {axis}{}", line.trim_end_matches('\u{2800}'));
    }
    let (low, high) = (short(x_range.0), short(x_range.1));
    let gap = canvas.columns.saturating_sub(low.len() + high.len()).max(1);
    let _ = writeln!(text, "{:margin$} └{}", "", "─".repeat(canvas.columns));
    let _ = writeln!(text, "{:margin$}  {low}{:gap$}{high}", "", "");
    text
}

/// Returns the least and the largest finite number; a wider range if they are equal.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low < high {
        return (low, high);
    }
    let around = (low.abs() / 2.0).max(0.5);
    ((low - around).max(f64::MIN), (high + around).min(f64::MAX))
}

/// Reduces a line of many points to the lowest and highest of each run of neighbours: more could not be seen.
fn thinned(points: &[(f64, f64)], dots: usize, joined: bool) -> Vec<(f64, f64)> {
    let together = points.len() / (8 * dots);
    if together < 2 || !joined {
        return points.to_vec();
    }
    let ends = |points: &[(f64, f64)]| {
        let finite = || points.iter().filter(|point| point.1.is_finite()).copied();
        let low = finite().min_by(|a, b| a.1.total_cmp(&b.1));
        let high = finite().max_by(|a, b| a.1.total_cmp(&b.1));
        low.into_iter().chain(high)
    };
    points.chunks(together).flat_map(ends).collect()
}

/// Formats a number in few characters.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_string()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{value:.2e}")
    } else if value.fract() == 0.0 {
        format!("{value}")
    } else {
        let digits = if size < 1.0 {
            4
        } else if size < 100.0 {
            3
        } else {
            1
        };
        let text = format!("{value:.digits$}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

/// A grid of dots, eight per character.
struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<u8>,
}

/// The bits of a character's dots, row by row.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl Canvas {
    fn set(&mut self, (x, y): (i64, i64)) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x / 2 < self.columns
            && let Some(cell) = self.cells.get_mut(y / 4 * self.columns + x / 2)
        {
            *cell |= DOTS[y % 4][x % 2];
        }
    }

    fn line(&mut self, from: (i64, i64), to: (i64, i64)) {
        let (wide, high) = (to.0 - from.0, to.1 - from.1);
        let steps = wide.abs().max(high.abs()).max(1);
        for step in 0..=steps {
            let part = |distance: i64| (distance as f64 * step as f64 / steps as f64).round() as i64;
            self.set((from.0 + part(wide), from.1 + part(high)));
        }
    }

    fn row(&self, row: usize) -> impl Iterator<Item = char> {
        let cells = self.cells.get(row * self.columns..(row + 1) * self.columns).unwrap_or(&[]);
        cells.iter().map(|cell| char::from_u32(0x2800 + u32::from(*cell)).unwrap_or(' '))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(points: &[(f64, f64)], joined: bool) -> String {
        plot(points, joined, 16, 7).unwrap_or_else(|error| error)
    }

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        let points: Vec<(f64, f64)> = (0..10).map(|i| (f64::from(i), f64::from(i))).collect();
        let expected = "9 ┤⠀⠀⠀⠀⠀⠀⠀⠀⣀⠔⠒⠉\n  │⠀⠀⠀⠀⡠⠤⠒⠉\n0 ┤⣀⠤⠒⠉\n  └────────────\n   0          9\n";
        assert_eq!(drawn(&points, true), expected);
    }

    #[test]
    fn any_numbers_can_be_drawn() {
        let cases: [&[(f64, f64)]; 5] = [
            &[(0.0, 5.0)],
            &[(f64::MIN, f64::MAX), (f64::MAX, f64::MIN)],
            &[(0.0, f64::NAN), (1.0, 2.0), (2.0, f64::INFINITY)],
            &[(-0.0, 0.0), (0.0, -0.0)],
            &[(1e-300, 1e300), (2e-300, -1e300)],
        ];
        for points in cases {
            for joined in [false, true] {
                let text = drawn(points, joined);
                assert_eq!(text.lines().count(), 5, "{points:?}\n{text}");
                assert!(text.chars().any(|letter| ('\u{2801}'..='\u{28ff}').contains(&letter)), "{text}");
            }
        }
        assert!(plot(&[], true, 80, 24).is_err() && plot(&[(f64::NAN, 1.0)], true, 80, 24).is_err());
        let many: Vec<(f64, f64)> = (0..1_000_000).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        assert!(plot(&many, true, 0, 0).is_ok());
    }

    #[test]
    fn labels_are_short() {
        let all = [0.0, 1.0, -2.5, 0.12345, 1234.56, 1e9, -3e-7];
        assert_eq!(all.map(short), ["0", "1", "-2.5", "0.1235", "1234.6", "1.00e9", "-3.00e-7"]);
    }
}
