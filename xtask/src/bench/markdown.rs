//! The comparison as tables in Markdown, with the date and the command that made it, to be pasted into a document. Pure
//! but for the clock.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use super::compare::{Entry, Group};

/// Writes a table per device: first workloads with a peer, with the best one and the ratio of the times, then the rest.
pub fn tables(groups: &[Group], command: &str, date: &str) -> String {
    let mut text = String::new();
    let mut devices: Vec<&str> = groups.iter().map(|group| group.device).collect();
    devices.dedup();
    for device in devices {
        let own = || groups.iter().filter(|group| group.device == device);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "`{command}` on {date}, device `{device}` (medians in ms):\n");
        let compared: Vec<String> = own().filter_map(compared).collect();
        if !compared.is_empty() {
            let _ = writeln!(
                text,
                "| workload | n | Pumice | speed | best peer | ratio |\n|---|---|---|---|---|---|"
            );
            compared.iter().for_each(|line| text.push_str(line));
            text.push('\n');
        }
        let alone: Vec<String> = own().flat_map(alone).collect();
        if !alone.is_empty() {
            let _ = writeln!(text, "| program | n | by | ms | speed |\n|---|---|---|---|---|");
            alone.iter().for_each(|line| text.push_str(line));
            text.push('\n');
        }
    }
    text
}

/// Returns today's date in UTC, as `2026-11-16`.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date_of(seconds / 86_400)
}

/// Returns the line of a group that has both Pumice and a peer.
fn compared(group: &Group) -> Option<String> {
    let peer = group.entries.iter().find(|entry| !entry.row.is_pumice())?;
    let ours: Vec<&Entry> = group.entries.iter().filter(|entry| entry.row.is_pumice()).collect();
    let best = ours.first()?;
    // If we have several implementations, each is named.
    let own_time = |entry: &&Entry| match entry.row.implementation.split_once(", ") {
        Some((_, how)) => format!("{} ({how})", time(entry)),
        None => time(entry),
    };
    let times: Vec<String> = ours.iter().map(own_time).collect();
    Some(format!(
        "| {} | {} | {} | {} | {}, {} | {:.2} |\n",
        escaped(group.workload),
        size(group.n),
        times.join(", "),
        speed(best),
        time(peer),
        escaped(&peer.row.implementation),
        best.row.median_ms / peer.row.median_ms,
    ))
}

/// Returns the lines of a group that has nothing to compare.
fn alone(group: &Group) -> Vec<String> {
    if compared(group).is_some() {
        return Vec::new();
    }
    let line = |entry: &Entry| {
        let (workload, by) = (escaped(group.workload), escaped(&entry.row.implementation));
        format!("| {workload} | {} | {by} | {} | {} |\n", size(group.n), time(entry), speed(entry))
    };
    group.entries.iter().map(line).collect()
}

/// Formats a time with three significant digits.
fn time(entry: &Entry) -> String {
    match entry.row.median_ms {
        time if time < 0.1 => format!("{time:.4}"),
        time if time < 1.0 => format!("{time:.3}"),
        time if time < 100.0 => format!("{time:.2}"),
        time => format!("{time:.0}"),
    }
}

fn speed(entry: &Entry) -> String {
    entry.row.speed().map_or(String::new(), |(speed, unit)| format!("{speed:.0} {unit}"))
}

/// Formats a size; large powers of two as powers.
fn size(n: u64) -> String {
    if n.is_power_of_two() && n >= 1024 { format!("2^{}", n.trailing_zeros()) } else { n.to_string() }
}

/// Escapes text for a cell of a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Returns the date of a day, counted from 1970-01-01 (Howard Hinnant's `civil_from_days`, for days that are not negative).
fn date_of(days: u64) -> String {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::super::compare::compare;
    use super::super::rows::tests::row;
    use super::super::rows::{Row, Work};
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, date) in
            [(0, "1970-01-01"), (11_016, "2000-02-29"), (20_773, "2026-11-16"), (47_541, "2100-03-01")]
        {
            assert_eq!(date_of(days), date);
        }
    }

    #[test]
    fn a_table_compares_and_the_next_has_the_rest() {
        let rows = [
            row("cpu", "a|b f32", "Pumice", 3.0),
            row("cpu", "a|b f32", "Pumice, fast math", 1.5),
            row("cpu", "a|b f32", "NumPy", 6.0),
            row("cpu", "a|b f32", "C, OpenMP", 2.0),
            Row { work: Some(Work::Operations(6_000_000)), ..row("cpu", "matMul", "Pumice", 0.25) },
            Row { work: None, n: 5, ..row("cpu", "sobol", "Pumice", 400.0) },
        ];
        let text = tables(&compare(&rows), "cargo xtask bench --device cpu", "2026-11-16");
        let expected = "`cargo xtask bench --device cpu` on 2026-11-16, device `cpu` (medians in ms):\n\n\
            | workload | n | Pumice | speed | best peer | ratio |\n|---|---|---|---|---|---|\n\
            | a\\|b f32 | 2^10 | 1.50 (fast math), 3.00 | 3 GB/s | 2.00, C, OpenMP | 0.75 |\n\n\
            | program | n | by | ms | speed |\n|---|---|---|---|---|\n\
            | matMul | 2^10 | Pumice | 0.250 | 24 GFLOP/s |\n\
            | sobol | 5 | Pumice | 400 |  |\n\n";
        assert_eq!(text, expected);
    }
}
