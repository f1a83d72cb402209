//! One measurement: as a line of the table and as JSON.

use super::workloads::{Measured, Workload};
use serde_json::{Value, json};

/// What was measured of one workload.
pub struct Row {
    workload: String,
    device: &'static str,
    implementation: &'static str,
    n: usize,
    median_ms: f64,
    fewest_bytes: usize,
}

/// The titles over [`Row::line`].
pub const HEADING: &str =
    "workload                       implementation               n    median ms       GB/s";

impl Row {
    /// A row of a workload.
    pub fn new(
        workload: &Workload,
        device: &'static str,
        implementation: &'static str,
        measured: Measured,
    ) -> Row {
        let Measured { median_ms, fewest_bytes } = measured;
        Row {
            workload: workload.name.clone(),
            device,
            implementation,
            n: workload.n,
            median_ms,
            fewest_bytes,
        }
    }

    /// The bytes that must move at least, in 10⁹ a second.
    fn gb_per_s(&self) -> f64 {
        self.fewest_bytes as f64 / self.median_ms / 1e6
    }

    /// The row for people.
    pub fn line(&self) -> String {
        format!(
            "{:<30} {:<18} {:>11} {:>12.4} {:>10.2}",
            self.workload,
            self.implementation,
            self.n,
            self.median_ms,
            self.gb_per_s()
        )
    }

    fn to_json(&self) -> Value {
        json!({
            "workload": self.workload,
            "device": self.device,
            "implementation": self.implementation,
            "n": self.n,
            "median_ms": self.median_ms,
            "fewest_bytes": self.fewest_bytes,
            "gb_per_s": self.gb_per_s(),
        })
    }
}

/// A JSON array of rows, one a line.
pub fn to_json(rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| format!("  {}", row.to_json())).collect();
    if lines.is_empty() { "[]\n".to_string() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            workload: "row sums f32 16777216x4".into(),
            device: "cuda",
            implementation: "Pumice, fast math",
            n: 1 << 26,
            median_ms: 0.5,
            fewest_bytes: 1_000_000,
        }
    }

    #[test]
    fn lines_stand_under_their_titles() {
        let line = row().line();
        assert_eq!(line.chars().count(), HEADING.chars().count(), "{line}");
        assert!(line.ends_with("2.00"), "{line}");
    }

    #[test]
    fn json_has_every_field() {
        let value: Value = serde_json::from_str(&to_json(&[row(), row()])).unwrap_or_default();
        let row = json!({
            "workload": "row sums f32 16777216x4", "device": "cuda", "implementation": "Pumice, fast math",
            "n": 67_108_864, "median_ms": 0.5, "fewest_bytes": 1_000_000, "gb_per_s": 2.0,
        });
        assert_eq!(value, json!([row, row]));
        assert_eq!(to_json(&[]), "[]\n");
    }
}
