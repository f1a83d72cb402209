//! The rows that `pumice bench` and the peer programs write, read from JSON and written to it.
//! Unknown fields are dropped; a missing field is an error that names it.

use serde_json::{Value, json};

use crate::error::{Error, Result};

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the workload, the same for all implementations.
    pub workload: String,
    /// `cpu`, `cuda`, `opencl` or `sim`.
    pub device: String,
    /// Name of the implementation.
    pub implementation: String,
    /// Number of elements.
    pub n: u64,
    /// The median time in milliseconds.
    pub median_ms: f64,
    /// Least work of the workload, if it is meaningful.
    pub work: Option<Work>,
}

/// The least work of a workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Work {
    /// Bytes that must move.
    Bytes(u64),
    /// Floating-point operations, if they take longer than moving the data.
    Operations(u64),
}

impl Work {
    /// Returns its name and value in JSON.
    fn field(self) -> (&'static str, u64) {
        match self {
            Work::Bytes(count) => ("fewest_bytes", count),
            Work::Operations(count) => ("operations", count),
        }
    }
}

impl Row {
    /// Returns whether the row is ours and not a peer's.
    pub fn is_pumice(&self) -> bool {
        self.implementation.starts_with("Pumice")
    }

    /// Returns the speed with its unit.
    pub fn speed(&self) -> Option<(f64, &'static str)> {
        let billions_per_s = |count: u64| count as f64 / self.median_ms / 1e6;
        self.work.map(|work| match work {
            Work::Bytes(count) => (billions_per_s(count), "GB/s"),
            Work::Operations(count) => (billions_per_s(count), "GFLOP/s"),
        })
    }

    fn from_json(value: &Value) -> Result<Row> {
        let text = |field: &str| match value[field].as_str() {
            Some(text) => Ok(text.to_string()),
            None => Err(wrong_field(value, field, "a text")),
        };
        let count = |field: &str| value[field].as_u64().ok_or_else(|| wrong_field(value, field, "a count"));
        let positive = |field: &str| match value[field].as_f64() {
            Some(number) if number > 0.0 && number.is_finite() => Ok(number),
            _ => Err(wrong_field(value, field, "a positive number")),
        };
        // Rows of programs without such a number may lack it, or have 0.
        let optional = |field: &str| match &value[field] {
            Value::Null => Ok(None),
            _ => count(field).map(|count| Some(count).filter(|count| *count > 0)),
        };
        let (bytes, operations) = (optional("fewest_bytes")?, optional("operations")?);
        Ok(Row {
            workload: text("workload")?,
            device: text("device")?,
            implementation: text("implementation")?,
            n: count("n")?,
            median_ms: positive("median_ms")?,
            work: operations.map(Work::Operations).or(bytes.map(Work::Bytes)),
        })
    }

    fn to_json(&self) -> Value {
        let mut row = json!({
            "workload": self.workload,
            "device": self.device,
            "implementation": self.implementation,
            "n": self.n,
            "median_ms": self.median_ms,
        });
        if let Some((field, count)) = self.work.map(Work::field) {
            row[field] = count.into();
        }
        if let Some((speed, unit)) = self.speed() {
            row[if unit == "GB/s" { "gb_per_s" } else { "gflop_per_s" }] = speed.into();
        }
        row
    }
}

fn wrong_field(row: &Value, field: &str, wanted: &str) -> Error {
    Error::new(format!("{field} is not {wanted} in the row {row}"))
}

/// Reads a JSON array of rows.
pub fn parse_rows(text: &str) -> Result<Vec<Row>> {
    let value: Value =
        serde_json::from_str(text).map_err(|cause| Error::new(format!("rows that are no JSON: {cause}")))?;
    let Some(rows) = value.as_array() else {
        return Err(Error::new("rows that are no JSON array"));
    };
    rows.iter().map(Row::from_json).collect()
}

/// Writes rows as a JSON array, one per line.
pub fn rows_to_json(rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| format!("  {}", row.to_json())).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// Returns the fastest row per device, workload, size and implementation, in the order in which they first came.
pub fn best(rows: Vec<Row>) -> Vec<Row> {
    let mut kept: Vec<Row> = Vec::new();
    for row in rows {
        let same = |other: &&mut Row| {
            (&other.device, &other.workload, other.n, &other.implementation)
                == (&row.device, &row.workload, row.n, &row.implementation)
        };
        match kept.iter_mut().find(same) {
            Some(other) if row.median_ms < other.median_ms => *other = row,
            Some(_) => {}
            None => kept.push(row),
        }
    }
    kept
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Makes a row for tests: all but the names and the time is made up.
    pub fn row(device: &str, workload: &str, implementation: &str, median_ms: f64) -> Row {
        Row {
            workload: workload.to_string(),
            device: device.to_string(),
            implementation: implementation.to_string(),
            n: 1024,
            median_ms,
            work: Some(Work::Bytes(4_000_000)),
        }
    }

    #[test]
    fn rows_come_back_as_they_were_written() {
        let rows =
            vec![row("cpu", "dot f32", "C, OpenMP", 1.25), row("cuda", "a \"b\" & <c>", "Pumice", 0.5)];
        assert_eq!(parse_rows(&rows_to_json(&rows)).unwrap(), rows);
        let without = Row { work: None, ..row("cpu", "sobol", "Pumice", 1.0) };
        let product = Row { work: Some(Work::Operations(7)), ..row("cpu", "matMul", "Pumice", 1.0) };
        assert_eq!(
            parse_rows(&rows_to_json(&[without.clone(), product.clone()])).unwrap(),
            [without, product]
        );
        assert_eq!(parse_rows(&rows_to_json(&[])).unwrap(), []);
    }

    #[test]
    fn the_best_of_several_rounds_counts() {
        let (slow, fast) = (row("cpu", "dot f32", "Pumice", 2.0), row("cpu", "dot f32", "Pumice", 1.0));
        let other = row("cpu", "dot f32", "NumPy", 3.0);
        assert_eq!(best(vec![slow.clone(), other.clone(), fast.clone(), slow]), [fast, other]);
    }

    #[test]
    fn unknown_fields_are_dropped() {
        let text = r#"[{"workload": "dot f32", "device": "cpu", "implementation": "Pumice", "n": 8,
            "median_ms": 2, "fewest_bytes": 64, "gb_per_s": 0.5, "kernel": "fold", "runs": 31}]"#;
        let rows = parse_rows(text).unwrap();
        assert_eq!((rows[0].n, rows[0].median_ms, rows[0].is_pumice()), (8, 2.0, true));
    }

    #[test]
    fn a_row_has_bytes_or_operations_or_neither() {
        let speed = |work: &str| {
            let text = format!(
                r#"[{{"workload": "matMul", "device": "cuda", "implementation": "Pumice", "n": 8, "median_ms": 2{work}}}]"#
            );
            parse_rows(&text).unwrap()[0].speed()
        };
        assert_eq!(speed(r#", "fewest_bytes": 4000000, "gb_per_s": 2.0"#), Some((2.0, "GB/s")));
        assert_eq!(
            speed(r#", "fewest_bytes": 0, "gb_per_s": 0.0, "operations": 6000000"#),
            Some((3.0, "GFLOP/s"))
        );
        assert_eq!(speed(r#", "fewest_bytes": 0, "gb_per_s": 0.0"#), None);
        assert_eq!(speed(""), None);
    }

    #[test]
    fn a_bad_field_is_named() {
        let good = rows_to_json(&[row("cpu", "dot f32", "NumPy", 1.5)]);
        for (field, from, to) in [
            ("n", "1024", "-1"),
            ("n", "1024", "\"many\""),
            ("median_ms", "1.5", "0"),
            ("median_ms", "1.5", "null"),
            ("fewest_bytes", "4000000", "-4"),
            ("device", "\"cpu\"", "7"),
            ("implementation", "\"implementation\"", "\"by\""),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good);
            let error = parse_rows(&bad).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{field} is not")), "{error}");
        }
    }

    #[test]
    fn what_is_no_array_of_rows_is_an_error() {
        for text in ["", "[", "{}", "[1]", "[{\"workload\": \"dot f32\"}", "null"] {
            assert!(parse_rows(text).is_err(), "{text}");
        }
    }
}
