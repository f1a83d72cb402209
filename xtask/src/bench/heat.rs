//! Several implementations of the same work as a heat map: a line per input, a column per implementation ("way"), and a colour for its time
//! relative to the best way on that line.
//!
//! Ways are distinguished by the names of workloads: `expand X by threads` is a way to do `expand X`, and so is a peer's result under the
//! name `expand X`. Pure.

use super::plot::{MARGIN, Picture, Style, WIDTH};
use super::rows::Row;

/// Suffix of a way in the names of workloads, and its name in the picture.
const WAYS: [(&str, &str); 9] = [
    ("", "automatic"),
    (" by threads", "threads"),
    (" by warps", "warps"),
    (" by blocks", "blocks"),
    (" by prefix sums", "prefix sums"),
    (" by shares", "shares"),
    (" balanced", "balanced"),
    (" mixed", "mixed"),
    (" unfused", "unfused"),
];

const HEADER_HEIGHT: f64 = 124.0;
const LINE_HEIGHT: f64 = 22.0;
const NAME_WIDTH: f64 = 380.0;
/// Height of a line of a column's name, and letters that fit into the column.
const NAME_LINE_HEIGHT: f64 = 13.0;
const NAME_LETTERS: usize = 9;

/// The time of each way on one input.
struct Line {
    name: String,
    times: Vec<Option<f64>>,
}

/// Draws the workloads that were done in several ways, in their order; `None` if there are none.
pub fn svg(rows: &[Row]) -> Option<String> {
    let peers = peers(rows);
    let lines: Vec<Line> =
        rows.iter().filter(|row| is_base(rows, row)).map(|row| line(rows, row, &peers)).collect();
    if lines.is_empty() {
        return None;
    }
    let height = HEADER_HEIGHT + LINE_HEIGHT * lines.len() as f64 + MARGIN;
    let mut picture = Picture::new(height);
    picture.text(MARGIN, 30.0, "Ways to divide the work", Style::Title);
    let remark = "Milliseconds (median). Pale: the best of its line; dark: sixteen times as long, or longer.";
    picture.text(MARGIN, 50.0, remark, Style::Remark);
    let names: Vec<&str> = WAYS.iter().map(|(_, name)| *name).chain(peers.iter().copied()).collect();
    let width = (WIDTH - 2.0 * MARGIN - NAME_WIDTH) / names.len() as f64;
    let left = |column: usize| MARGIN + NAME_WIDTH + width * column as f64;
    for (column, name) in names.iter().enumerate() {
        for (up, words) in (0..).zip(in_lines(name).iter().rev()) {
            let bottom = HEADER_HEIGHT - 8.0 - NAME_LINE_HEIGHT * f64::from(up);
            picture.text(left(column) + width / 2.0, bottom, words, Style::ScaleMark);
        }
    }
    for (number, line) in lines.iter().enumerate() {
        let top = HEADER_HEIGHT + LINE_HEIGHT * number as f64;
        picture.text(MARGIN + NAME_WIDTH - 8.0, top + 15.0, &line.name, Style::Name);
        let best = line.times.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        for (column, time) in line.times.iter().enumerate() {
            let Some(time) = time else { continue };
            let (colour, style) = shade(time / best);
            picture.rectangle(left(column), top, width - 1.0, LINE_HEIGHT - 1.0, &colour);
            picture.text(left(column) + width / 2.0, top + 15.0, &digits(*time), style);
        }
    }
    Some(picture.finish())
}

/// Breaks a column's name between words, so that it does not run into its neighbours'.
fn in_lines(name: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= NAME_LETTERS => *line += &format!(" {word}"),
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// Returns whether a row is ours, and another way to do its workload exists.
fn is_base(rows: &[Row], row: &Row) -> bool {
    let is_way = |other: &&Row| {
        WAYS.iter().skip(1).any(|(suffix, _)| other.workload == format!("{}{suffix}", row.workload))
            && other.n == row.n
            && other.device == row.device
    };
    row.is_pumice() && rows.iter().any(|other| is_way(&other))
}

/// Returns the peers that did a workload which has several ways.
fn peers(rows: &[Row]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| !row.is_pumice()) {
        let is_meant = rows.iter().any(|base| base.workload == row.workload && is_base(rows, base));
        if is_meant && !names.contains(&row.implementation.as_str()) {
            names.push(&row.implementation);
        }
    }
    names
}

fn line(rows: &[Row], base: &Row, peers: &[&str]) -> Line {
    let time = |workload: &str, is_meant: &dyn Fn(&Row) -> bool| {
        let same = |row: &&Row| row.workload == workload && row.n == base.n && row.device == base.device;
        rows.iter().filter(same).find(|row| is_meant(row)).map(|row| row.median_ms)
    };
    let own = WAYS.iter().map(|(suffix, _)| time(&format!("{}{suffix}", base.workload), &Row::is_pumice));
    let theirs = peers.iter().map(|peer| time(&base.workload, &|row| row.implementation == *peer));
    Line { name: format!("{}, {}", base.workload, base.n), times: own.chain(theirs).collect() }
}

/// Returns the colour for a ratio from 1 on, and the style of text on it.
fn shade(ratio: f64) -> (String, Style) {
    let heat = (ratio.max(1.0).log2() / 4.0).min(1.0);
    let between = |from: f64, to: f64| (from + (to - from) * heat).round() as u8;
    let colour =
        format!("#{:02x}{:02x}{:02x}", between(250.0, 122.0), between(240.0, 28.0), between(224.0, 16.0));
    (colour, if heat > 0.6 { Style::CellOnDark } else { Style::Cell })
}

fn digits(time: f64) -> String {
    match time {
        time if time < 0.1 => format!("{time:.4}"),
        time if time < 10.0 => format!("{time:.3}"),
        time => format!("{time:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::row;
    use super::*;

    #[test]
    fn the_best_way_is_pale_and_every_way_has_a_cell() {
        let rows = [
            row("cuda", "expand x", "Pumice", 1.0),
            row("cuda", "expand x by warps", "Pumice", 16.0),
            row("cuda", "expand x", "hand CUDA", 2.0),
            row("cuda", "dot", "cuBLAS", 2.0),
        ];
        let picture = svg(&rows).unwrap();
        assert!(roxmltree::Document::parse(&picture).is_ok());
        assert!(picture.contains("#faf0e0") && picture.contains("#7a1c10"), "{picture}");
        assert!(picture.contains(">hand CUDA<") && !picture.contains("cuBLAS"), "{picture}");
        assert!(picture.contains(">expand x, 1024<"), "{picture}");
    }

    #[test]
    fn names_of_columns_are_broken_between_words() {
        assert_eq!(in_lines("automatic"), ["automatic"]);
        assert_eq!(
            in_lines("hand CUDA, a source per thread"),
            ["hand", "CUDA, a", "source", "per", "thread"]
        );
    }

    #[test]
    fn nothing_is_drawn_of_workloads_with_one_way() {
        assert_eq!(svg(&[row("cpu", "expand x", "Pumice", 1.0)]), None);
    }
}
