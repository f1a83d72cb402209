//! The comparison as a picture: horizontal bars, grouped by workload, in a self-contained SVG.
//!
//! A bar's length is the share of the fastest one's speed, on a linear scale from zero: long is fast, and
//! times from microseconds to seconds fit into one picture. The labels give the figures. Pure.

use std::fmt::Write as _;

use super::compare::{Entry, Group, ratio};

pub(super) const WIDTH: f64 = 980.0;
pub(super) const MARGIN: f64 = 24.0;
const NAME_WIDTH: f64 = 190.0;
const BAR_WIDTH: f64 = 440.0;
const BAR_HEIGHT: f64 = 15.0;
const LINE_HEIGHT: f64 = 20.0;
const GROUP_TITLE_HEIGHT: f64 = 26.0;
const GROUP_GAP: f64 = 14.0;
const HEADER_HEIGHT: f64 = 92.0;
const BARS_LEFT: f64 = MARGIN + NAME_WIDTH;

const BACKGROUND: &str = "#fcfcfa";
const INK: &str = "#22262b";
const FAINT_INK: &str = "#6b7280";
const GRID: &str = "#e3e3dd";
const PUMICE: &str = "#d1603d";
const PEER: &str = "#8fa8bf";

/// Draws the groups, in their order, from top to bottom.
pub fn svg(groups: &[Group]) -> String {
    let height = picture_height(groups);
    let mut picture = Picture::new(height);
    picture.header();
    picture.scale(height);
    let mut top = HEADER_HEIGHT;
    for group in groups {
        top += GROUP_GAP;
        picture.text(MARGIN, top + 16.0, &group.title(), Style::GroupTitle);
        top += GROUP_TITLE_HEIGHT;
        let best_ms = group.best_ms();
        for entry in &group.entries {
            picture.bar(top, entry, best_ms);
            top += LINE_HEIGHT;
        }
    }
    picture.finish()
}

fn picture_height(groups: &[Group]) -> f64 {
    let bars: usize = groups.iter().map(|group| group.entries.len()).sum();
    let titles = groups.len() as f64 * (GROUP_GAP + GROUP_TITLE_HEIGHT);
    HEADER_HEIGHT + titles + bars as f64 * LINE_HEIGHT + MARGIN
}

/// Appearance and alignment of a text.
#[derive(Clone, Copy)]
pub(super) enum Style {
    Title,
    Remark,
    GroupTitle,
    Name,
    PumiceName,
    Figures,
    ScaleMark,
    Cell,
    CellOnDark,
}

impl Style {
    fn attributes(self) -> String {
        let (size, weight, colour, anchor) = match self {
            Style::Title => (18, 600, INK, "start"),
            Style::Remark => (12, 400, FAINT_INK, "start"),
            Style::GroupTitle => (13, 600, INK, "start"),
            Style::Name => (12, 400, INK, "end"),
            Style::PumiceName => (12, 700, PUMICE, "end"),
            Style::Figures => (12, 400, INK, "start"),
            Style::ScaleMark => (11, 400, FAINT_INK, "middle"),
            Style::Cell => (11, 400, INK, "middle"),
            Style::CellOnDark => (11, 400, BACKGROUND, "middle"),
        };
        format!(r#"font-size="{size}" font-weight="{weight}" fill="{colour}" text-anchor="{anchor}""#)
    }
}

/// An SVG under construction.
pub(super) struct Picture {
    text: String,
}

impl Picture {
    pub(super) fn new(height: f64) -> Picture {
        let mut picture = Picture { text: String::new() };
        picture.line(&format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif">"#
        ));
        picture.rectangle(0.0, 0.0, WIDTH, height, BACKGROUND);
        picture
    }

    pub(super) fn finish(mut self) -> String {
        self.line("</svg>");
        self.text
    }

    fn line(&mut self, element: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{element}");
    }

    pub(super) fn rectangle(&mut self, left: f64, top: f64, width: f64, height: f64, colour: &str) {
        self.line(&format!(
            r#"<rect x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}" fill="{colour}"/>"#
        ));
    }

    pub(super) fn text(&mut self, x: f64, baseline: f64, content: &str, style: Style) {
        let (attributes, content) = (style.attributes(), escape(content));
        self.line(&format!(r#"<text x="{x:.1}" y="{baseline:.1}" {attributes}>{content}</text>"#));
    }

    fn header(&mut self) {
        self.text(MARGIN, 34.0, "Pumice beside its peers", Style::Title);
        let remark = "Bars: speed as a share of the fastest in the group, longer is faster. \
                      Figures: median time, fewest bytes or operations a second, time over the best peer's.";
        self.text(MARGIN, 54.0, remark, Style::Remark);
    }

    /// Draws lines across the whole picture at every quarter of the full length.
    fn scale(&mut self, height: f64) {
        for quarter in 0..=4 {
            let x = BARS_LEFT + BAR_WIDTH * f64::from(quarter) / 4.0;
            self.text(x, HEADER_HEIGHT - 8.0, &format!("{} %", quarter * 25), Style::ScaleMark);
            self.rectangle(x - 0.5, HEADER_HEIGHT, 1.0, height - HEADER_HEIGHT - MARGIN / 2.0, GRID);
        }
    }

    fn bar(&mut self, top: f64, entry: &Entry, best_ms: f64) {
        let (colour, name_style) =
            if entry.row.is_pumice() { (PUMICE, Style::PumiceName) } else { (PEER, Style::Name) };
        // At least one pixel, so that even the slowest one is visible.
        let length = (BAR_WIDTH * best_ms / entry.row.median_ms).max(1.0);
        let baseline = top + BAR_HEIGHT - 3.0;
        self.text(BARS_LEFT - 8.0, baseline, &entry.row.implementation, name_style);
        self.rectangle(BARS_LEFT, top, length, BAR_HEIGHT, colour);
        self.text(BARS_LEFT + BAR_WIDTH + 12.0, baseline, &figures(entry), Style::Figures);
    }
}

fn figures(entry: &Entry) -> String {
    let mut parts = vec![milliseconds(entry.row.median_ms)];
    parts.extend(entry.row.speed().map(|(speed, unit)| format!("{speed:.1} {unit}")));
    if entry.to_best_peer.is_some() {
        parts.push(ratio(entry.to_best_peer));
    }
    parts.join("  ·  ")
}

/// Formats a time with three significant digits.
fn milliseconds(time: f64) -> String {
    match time {
        time if time < 1.0 => format!("{time:.4} ms"),
        time if time < 100.0 => format!("{time:.2} ms"),
        time => format!("{time:.0} ms"),
    }
}

/// Escapes text for XML. Characters that XML 1.0 forbids become replacement characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::compare::compare;
    use super::super::rows::tests::row;
    use super::super::rows::{Row, Work};
    use super::*;

    fn draw(rows: &[Row]) -> String {
        svg(&compare(rows))
    }

    fn bars(document: &roxmltree::Document, colour: &str) -> Vec<f64> {
        let is_bar = |node: &roxmltree::Node| node.has_tag_name(("http://www.w3.org/2000/svg", "rect"));
        let nodes = document.descendants().filter(is_bar);
        let coloured = nodes.filter(|node| node.attribute("fill") == Some(colour));
        coloured.map(|node| node.attribute("width").unwrap().parse().unwrap()).collect()
    }

    fn texts(document: &roxmltree::Document) -> Vec<String> {
        document
            .descendants()
            .filter(|node| node.is_text())
            .map(|node| node.text().unwrap().to_string())
            .collect()
    }

    #[test]
    fn names_with_special_characters_keep_the_document_well_formed() {
        let rows =
            [row("cpu", "a < b & \"c\" > 'd'", "Peer <&>", 2.0), row("cpu", "a\u{1}b\nc", "Pumice", 1.0)];
        let picture = draw(&rows);
        let document = roxmltree::Document::parse(&picture).unwrap();
        let texts = texts(&document);
        assert!(texts.iter().any(|text| text == "cpu · a < b & \"c\" > 'd' · n = 1024"), "{texts:?}");
        assert!(texts.iter().any(|text| text == "Peer <&>"), "{texts:?}");
        assert!(texts.iter().any(|text| text == "cpu · a\u{fffd}b c · n = 1024"), "{texts:?}");
    }

    #[test]
    fn a_bar_is_as_long_as_its_share_of_the_best_speed() {
        let rows = [
            row("cpu", "dot f32", "Pumice", 4.0),
            row("cpu", "dot f32", "C, OpenMP", 2.0),
            row("cpu", "dot f32", "NumPy", 2e6),
        ];
        let picture = draw(&rows);
        let document = roxmltree::Document::parse(&picture).unwrap();
        assert_eq!(bars(&document, PUMICE), [BAR_WIDTH / 2.0]);
        assert_eq!(bars(&document, PEER), [BAR_WIDTH, 1.0]);
    }

    #[test]
    fn everything_lies_within_the_picture() {
        let rows: Vec<Row> = (0..7)
            .map(|i| row("cpu", &format!("workload {}", i / 2), "Pumice", 1.0 + f64::from(i)))
            .collect();
        let picture = draw(&rows);
        let document = roxmltree::Document::parse(&picture).unwrap();
        let number = |node: &roxmltree::Node, name: &str| {
            node.attribute(name).map_or(0.0, |value| value.parse::<f64>().unwrap())
        };
        let height = number(&document.root_element(), "height");
        for node in document.root_element().children().filter(|node| node.is_element()) {
            let bottom = number(&node, "y") + number(&node, "height");
            assert!(bottom <= height, "{bottom} of {height}");
            assert!(number(&node, "x") + number(&node, "width") <= WIDTH);
        }
    }

    #[test]
    fn no_rows_still_make_a_picture() {
        assert!(roxmltree::Document::parse(&draw(&[])).is_ok());
    }

    #[test]
    fn the_figures_of_a_bar_are_those_of_its_row() {
        let rows = [row("cuda", "dot f32", "Pumice", 0.15), row("cuda", "dot f32", "cuBLAS", 0.125)];
        let picture = draw(&rows);
        let document = roxmltree::Document::parse(&picture).unwrap();
        let texts = texts(&document);
        assert!(texts.contains(&"0.1500 ms  ·  26.7 GB/s  ·  1.20 ×".to_string()), "{texts:?}");
        let product = Row { work: Some(Work::Operations(6_000_000)), ..row("cuda", "matMul", "Pumice", 2.0) };
        let unknown = Row { work: None, ..row("cuda", "sobol", "Pumice", 2.0) };
        let picture = draw(&[product, unknown]);
        assert!(picture.contains(">2.00 ms  ·  3.0 GFLOP/s<") && picture.contains(">2.00 ms<"), "{picture}");
    }
}
