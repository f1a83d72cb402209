//! Rows of the same work side by side, with ratios. Pure: reads nothing, prints nothing.

use std::fmt::Write as _;

use super::rows::Row;

/// All measurements of the same work on the same device, fastest first.
#[derive(Debug, PartialEq)]
pub struct Group<'a> {
    /// The device of all rows.
    pub device: &'a str,
    /// The workload of all rows.
    pub workload: &'a str,
    /// The size of all rows. Times of different sizes are never compared.
    pub n: u64,
    /// The measurements, with their ratios.
    pub entries: Vec<Entry<'a>>,
}

/// A row with its ratios.
#[derive(Debug, PartialEq)]
pub struct Entry<'a> {
    /// The measurement.
    pub row: &'a Row,
    /// Its time over that of the fastest peer, if there is a peer.
    pub to_best_peer: Option<f64>,
    /// Pumice's time over its time; only for a peer, and if Pumice did the same work.
    pub pumice_to_it: Option<f64>,
}

impl Group<'_> {
    /// Returns the group's name, for headings.
    pub fn title(&self) -> String {
        format!("{} · {} · n = {}", self.device, self.workload, self.n)
    }

    /// Returns the time of the fastest entry.
    pub fn best_ms(&self) -> f64 {
        self.entries.iter().map(|entry| entry.row.median_ms).fold(f64::INFINITY, f64::min)
    }

    fn is_of(&self, row: &Row) -> bool {
        (self.device, self.workload, self.n) == (row.device.as_str(), row.workload.as_str(), row.n)
    }

    /// Sorts by time and fills in the ratios.
    fn rank(&mut self) {
        self.entries.sort_by(|left, right| left.row.median_ms.total_cmp(&right.row.median_ms));
        let pumice = self.fastest_ms(Row::is_pumice);
        let best_peer = self.fastest_ms(|row| !row.is_pumice());
        for entry in &mut self.entries {
            let time = entry.row.median_ms;
            entry.to_best_peer = best_peer.map(|best| time / best);
            entry.pumice_to_it = pumice.filter(|_| !entry.row.is_pumice()).map(|ours| ours / time);
        }
    }

    fn fastest_ms(&self, is_meant: impl Fn(&Row) -> bool) -> Option<f64> {
        let times = self.entries.iter().filter(|entry| is_meant(entry.row)).map(|entry| entry.row.median_ms);
        times.reduce(f64::min)
    }
}

/// Groups rows by device, workload and size, in the order in which each first appears, one device after another.
pub fn compare(rows: &[Row]) -> Vec<Group<'_>> {
    let mut devices: Vec<&str> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    for row in rows {
        if !devices.contains(&row.device.as_str()) {
            devices.push(&row.device);
        }
        let entry = Entry { row, to_best_peer: None, pumice_to_it: None };
        match groups.iter_mut().find(|group| group.is_of(row)) {
            Some(group) => group.entries.push(entry),
            None => groups.push(Group {
                device: &row.device,
                workload: &row.workload,
                n: row.n,
                entries: vec![entry],
            }),
        }
    }
    groups.sort_by_key(|group| devices.iter().position(|device| *device == group.device));
    groups.iter_mut().for_each(Group::rank);
    groups
}

/// Returns the groups as a table for a terminal.
pub fn table(groups: &[Group]) -> String {
    let names =
        groups.iter().flat_map(|group| &group.entries).map(|entry| entry.row.implementation.chars().count());
    let width = names.max().unwrap_or(0).max("implementation".len());
    let mut text = format!(
        "  {:<width$}  {:>12}  {:>16}  {:>12}  {:>12}\n",
        "implementation", "median ms", "speed   ", "to best peer", "Pumice to it",
    );
    for group in groups {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", group.title());
        for entry in &group.entries {
            let line = format!(
                "  {:<width$}  {:>12.4}  {:>16}  {:>12}  {:>12}",
                entry.row.implementation,
                entry.row.median_ms,
                entry.row.speed().map_or(String::new(), |(speed, unit)| format!("{speed:.2} {unit:<7}")),
                ratio(entry.to_best_peer),
                ratio(entry.pumice_to_it),
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}

/// Formats a ratio for the table and the plot, with at least two digits; an empty text if there is none.
pub fn ratio(value: Option<f64>) -> String {
    match value {
        Some(value) if value < 0.1 => format!("{value:.3} ×"),
        Some(value) => format!("{value:.2} ×"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::row;
    use super::*;

    fn some_rows() -> Vec<Row> {
        vec![
            row("cpu", "dot f32", "Pumice", 3.0),
            row("cuda", "dot f32", "Pumice", 0.5),
            row("cpu", "sum f32", "Pumice", 1.0),
            row("cpu", "dot f32", "NumPy", 6.0),
            row("cpu", "dot f32", "C, OpenMP", 2.0),
            row("cuda", "copy f32", "CUDA, cudaMemcpy", 0.25),
        ]
    }

    #[test]
    fn a_group_is_one_workload_on_one_device() {
        let rows = some_rows();
        let groups = compare(&rows);
        let names: Vec<_> = groups.iter().map(|group| (group.device, group.workload)).collect();
        assert_eq!(
            names,
            [("cpu", "dot f32"), ("cpu", "sum f32"), ("cuda", "dot f32"), ("cuda", "copy f32")]
        );
        let dot: Vec<_> = groups[0].entries.iter().map(|entry| entry.row.implementation.as_str()).collect();
        assert_eq!(dot, ["C, OpenMP", "Pumice", "NumPy"]);
        assert_eq!(groups[0].best_ms(), 2.0);
    }

    #[test]
    fn ratios_are_to_the_best_peer_and_of_pumice_to_each_peer() {
        let rows = some_rows();
        let groups = compare(&rows);
        let ratios: Vec<_> =
            groups[0].entries.iter().map(|entry| (entry.to_best_peer, entry.pumice_to_it)).collect();
        assert_eq!(ratios, [(Some(1.0), Some(1.5)), (Some(1.5), None), (Some(3.0), Some(0.5))]);
    }

    #[test]
    fn without_a_peer_or_without_pumice_there_is_no_ratio() {
        let rows = some_rows();
        let groups = compare(&rows);
        let (sum, copy) = (&groups[1].entries[0], &groups[3].entries[0]);
        assert_eq!((sum.to_best_peer, sum.pumice_to_it), (None, None));
        assert_eq!((copy.to_best_peer, copy.pumice_to_it), (Some(1.0), None));
    }

    #[test]
    fn different_sizes_are_not_compared() {
        let mut rows = vec![row("cpu", "dot f32", "Pumice", 3.0), row("cpu", "dot f32", "NumPy", 6.0)];
        rows[1].n *= 2;
        assert_eq!(compare(&rows).len(), 2);
    }

    #[test]
    fn the_fastest_of_several_pumice_rows_counts() {
        let rows = [
            row("cpu", "dot f32", "Pumice", 4.0),
            row("cpu", "dot f32", "Pumice, fast_math", 1.0),
            row("cpu", "dot f32", "NumPy", 2.0),
        ];
        let groups = compare(&rows);
        let numpy = groups[0].entries.iter().find(|entry| entry.row.implementation == "NumPy").unwrap();
        assert_eq!(numpy.pumice_to_it, Some(0.5));
    }

    #[test]
    fn the_table_lists_every_row_under_its_group() {
        let rows = some_rows();
        let text = table(&compare(&rows));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 4 + rows.len(), "{text}");
        assert_eq!(lines[1], "cpu · dot f32 · n = 1024");
        let words: Vec<_> = lines[2].split_whitespace().collect();
        assert_eq!(words, ["C,", "OpenMP", "2.0000", "2.00", "GB/s", "1.00", "×", "1.50", "×"]);
        assert!(lines[3].trim_start().starts_with("Pumice") && lines[3].ends_with("1.50 ×"), "{text}");
    }
}
