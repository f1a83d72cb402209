//! One measurement: as a line of the table and as JSON.

use super::workloads::{Measured, Workload};
use pumice_algorithms::Work;
use serde_json::{Value, json};

/// Measurement of one workload.
pub struct Row {
    workload: String,
    device: &'static str,
    implementation: &'static str,
    n: usize,
    measured: Measured,
}

/// The titles over [`Row::line`].
pub const HEADING: &str =
    "workload                       implementation               n    median ms         speed   ";

impl Row {
    /// Returns the row of a workload.
    pub fn new(
        workload: &Workload,
        device: &'static str,
        implementation: &'static str,
        measured: Measured,
    ) -> Row {
        Row { workload: workload.name.clone(), device, implementation, n: workload.n, measured }
    }

    /// Returns the row as a line of the table.
    pub fn line(&self) -> String {
        let speed = match self.measured.work {
            Work::Bytes(bytes) => format!("{:.2} GB/s   ", self.billions_per_s(bytes)),
            Work::Operations(operations) => format!("{:.2} GFLOP/s", self.billions_per_s(operations)),
            Work::Unknown => String::new(),
        };
        let Row { workload, implementation, n, measured, .. } = self;
        format!("{workload:<30} {implementation:<18} {n:>11} {:>12.4} {speed:>16}", measured.median_ms)
    }

    /// Returns a count per median time, in 10⁹ per second.
    fn billions_per_s(&self, count: usize) -> f64 {
        count as f64 / self.measured.median_ms / 1e6
    }

    fn to_json(&self) -> Value {
        let mut row = json!({
            "workload": self.workload,
            "device": self.device,
            "implementation": self.implementation,
            "n": self.n,
            "median_ms": self.measured.median_ms,
        });
        match self.measured.work {
            Work::Bytes(bytes) => {
                row["fewest_bytes"] = bytes.into();
                row["gb_per_s"] = self.billions_per_s(bytes).into();
            }
            Work::Operations(operations) => {
                row["operations"] = operations.into();
                row["gflop_per_s"] = self.billions_per_s(operations).into();
            }
            Work::Unknown => {}
        }
        row
    }
}

/// Writes rows as a JSON array, one per line.
pub fn to_json(rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| format!("  {}", row.to_json())).collect();
    if lines.is_empty() { "[]\n".to_string() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(work: Work) -> Row {
        Row {
            workload: "row sums f32 16777216x4".into(),
            device: "cuda",
            implementation: "Pumice, fast math",
            n: 1 << 26,
            measured: Measured { median_ms: 0.5, work },
        }
    }

    #[test]
    fn lines_stand_under_their_titles() {
        for (work, end) in [
            (Work::Bytes(1_000_000), "0.5000     2.00 GB/s   "),
            (Work::Operations(3_000_000), "0.5000     6.00 GFLOP/s"),
            (Work::Unknown, "0.5000                 "),
        ] {
            let line = row(work).line();
            assert_eq!(line.chars().count(), HEADING.chars().count(), "{line}");
            assert!(line.ends_with(end), "{line:?}");
        }
    }

    #[test]
    fn json_has_every_field() {
        let rows = [row(Work::Bytes(1_000_000)), row(Work::Operations(3_000_000)), row(Work::Unknown)];
        let value: Value = serde_json::from_str(&to_json(&rows)).unwrap_or_default();
        let mut row = json!({
            "workload": "row sums f32 16777216x4", "device": "cuda", "implementation": "Pumice, fast math",
            "n": 67_108_864, "median_ms": 0.5,
        });
        let unknown = row.clone();
        row["fewest_bytes"] = 1_000_000.into();
        row["gb_per_s"] = 2.0.into();
        let mut operations = unknown.clone();
        operations["operations"] = 3_000_000.into();
        operations["gflop_per_s"] = 6.0.into();
        assert_eq!(value, json!([row, operations, unknown]));
        assert_eq!(to_json(&[]), "[]\n");
    }
}
