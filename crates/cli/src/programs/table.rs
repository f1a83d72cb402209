//! Rows of the table of programs, as JSON and in Markdown.

use super::subject::Facts;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Facts about a program on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The program and its size.
    pub program: String,
    pub size: String,
    /// The device's kind.
    pub device: String,
    /// See [`Facts`].
    pub least_bytes: u64,
    pub launches: Option<u64>,
    pub kernel_bytes: Option<u64>,
    pub most_bytes: Option<u64>,
    pub median_ms: Option<f64>,
}

impl Row {
    /// Returns a row of these facts.
    pub fn new(program: &str, size: &str, device: &str, facts: Facts) -> Row {
        let Facts { least_bytes, launches, kernel_bytes, most_bytes, median_ms } = facts;
        let [program, size, device] = [program, size, device].map(str::to_string);
        Row { program, size, device, least_bytes, launches, kernel_bytes, most_bytes, median_ms }
    }

    fn from_json(value: &Value) -> Result<Row, String> {
        let missing = |field: &str| format!("{field} is missing in the row {value}");
        let text = |field: &str| value[field].as_str().map(str::to_string).ok_or_else(|| missing(field));
        Ok(Row {
            program: text("program")?,
            size: text("size")?,
            device: text("device")?,
            least_bytes: value["least_bytes"].as_u64().ok_or_else(|| missing("least_bytes"))?,
            launches: value["launches"].as_u64(),
            kernel_bytes: value["kernel_bytes"].as_u64(),
            most_bytes: value["most_bytes"].as_u64(),
            median_ms: value["median_ms"].as_f64(),
        })
    }

    fn to_json(&self) -> Value {
        json!({
            "program": self.program,
            "size": self.size,
            "device": self.device,
            "least_bytes": self.least_bytes,
            "launches": self.launches,
            "kernel_bytes": self.kernel_bytes,
            "most_bytes": self.most_bytes,
            "median_ms": self.median_ms,
        })
    }
}

/// Writes rows as a JSON array, one per line.
pub fn to_json(rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| format!("  {}", row.to_json())).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// Reads rows from a JSON array.
pub fn from_json(text: &str) -> Result<Vec<Row>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
    value.as_array().ok_or("no JSON array of rows")?.iter().map(Row::from_json).collect()
}

/// Writes a Markdown table: a line per program and size, in the order in which they first come, and four columns per device.
pub fn markdown(rows: &[Row]) -> String {
    let (mut programs, mut devices) = (Vec::new(), Vec::new());
    for row in rows {
        let program = (&row.program, &row.size, row.least_bytes);
        if !programs.contains(&program) {
            programs.push(program);
        }
        if !devices.contains(&&row.device) {
            devices.push(&row.device);
        }
    }
    let mut text = String::from("| program | size | MB in and out |");
    for device in &devices {
        // Writing to a String cannot fail.
        let _ = write!(text, " launches on {device} | MB of their arrays | MB at a time | ms on {device} |");
    }
    let _ = writeln!(text, "\n|---|---|---:|{}", "---:|---:|---:|---:|".repeat(devices.len()));
    for (program, size, least) in programs {
        let _ = write!(text, "| {program} | {size} | {} |", number(least as f64 / 1e6));
        for device in &devices {
            let is_of = |row: &&Row| (&row.program, &row.size, &row.device) == (program, size, *device);
            let row = rows.iter().find(is_of);
            let shown = |value: Option<f64>| value.map_or("–".to_string(), number);
            let launches =
                row.and_then(|row| row.launches).map_or("–".to_string(), |count| count.to_string());
            let megabytes =
                |bytes: fn(&Row) -> Option<u64>| shown(row.and_then(bytes).map(|bytes| bytes as f64 / 1e6));
            let (moved, most) = (megabytes(|row| row.kernel_bytes), megabytes(|row| row.most_bytes));
            let time = shown(row.and_then(|row| row.median_ms));
            let _ = write!(text, " {launches} | {moved} | {most} | {time} |");
        }
        text.push('\n');
    }
    text
}

/// Formats a number with three significant digits.
fn number(value: f64) -> String {
    match value {
        value if value < 0.1 => format!("{value:.4}"),
        value if value < 1.0 => format!("{value:.3}"),
        value if value < 100.0 => format!("{value:.2}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(device: &str, launches: Option<u64>, median_ms: Option<f64>) -> Row {
        let (kernel_bytes, most_bytes) = (launches.map(|count| count * 1_000_000), launches.map(|_| 16384));
        let facts = Facts { least_bytes: 8192, launches, kernel_bytes, most_bytes, median_ms };
        Row::new("life", "64x64", device, facts)
    }

    #[test]
    fn rows_come_back_as_they_were_written() {
        let rows = vec![row("cpu", Some(7), Some(0.25)), row("cuda", None, None)];
        assert_eq!(from_json(&to_json(&rows)), Ok(rows));
        for text in ["", "{}", "[1]", r#"[{"program": "life", "size": "1", "device": "cpu"}]"#] {
            assert!(from_json(text).is_err(), "{text}");
        }
    }

    #[test]
    fn devices_stand_side_by_side_and_what_is_not_known_is_a_dash() {
        let text = markdown(&[row("cpu", Some(7), Some(0.25)), row("cuda", None, Some(200.0))]);
        let expected = "| program | size | MB in and out | launches on cpu | MB of their arrays | MB at a time | ms on cpu | \
            launches on cuda | MB of their arrays | MB at a time | ms on cuda |\n\
            |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n\
            | life | 64x64 | 0.0082 | 7 | 7.00 | 0.0164 | 0.250 | – | – | – | 200 |\n";
        assert_eq!(text, expected);
    }
}
