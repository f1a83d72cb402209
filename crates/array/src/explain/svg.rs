//! Explanations as drawings: kernels and arrays are boxes in layers, each below its inputs, with arrows between.
//!
//! Blue boxes are kernels with the operations that are fused into them, white ones are arrays in memory with the reason why they are.
//! Text is a user's and is escaped; sizes are those of a monospaced font.

use super::{ExplainedArray, ExplainedKernel, ExplainedPlan, Explanation, in_blocks, in_bytes};
use std::fmt::Write;

/// The height of a line, and the width of a letter.
const LINE: usize = 15;
const LETTER: f64 = 7.0;
/// Letters of a line at most; longer ones go on in the next line.
const MOST_LETTERS: usize = 62;
/// Around the text of a box, and between boxes.
const PADDING: usize = 8;
const GAP: usize = 24;
/// Between two layers.
const BETWEEN: usize = 44;
/// Around the drawing.
const MARGIN: usize = 16;

/// A box of the drawing.
struct Drawn {
    lines: Vec<String>,
    is_kernel: bool,
    layer: usize,
    /// Boxes that an arrow comes from.
    from: Vec<usize>,
    x: usize,
    y: usize,
}

impl Drawn {
    fn width(&self) -> usize {
        let letters = self.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        (letters as f64 * LETTER).ceil() as usize + 2 * PADDING
    }

    fn height(&self) -> usize {
        self.lines.len() * LINE + 2 * PADDING
    }
}

impl Explanation {
    /// The explanation as a drawing in SVG.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<i32>>| xs.map(|x| x + 1).sort())?;
    /// assert!(f.explain(&[3, 1, 2])?.svg().starts_with("<svg "));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn svg(&self) -> String {
        let (mut body, mut width, mut y) = (String::new(), 0, MARGIN);
        for (number, part) in self.parts.iter().enumerate() {
            let heading =
                part.heading(number).or_else(|| self.device.as_ref().map(|device| format!("for {device}")));
            for line in heading.iter().chain(&part.error).flat_map(|line| wrapped(line)) {
                y += LINE;
                text(&mut body, MARGIN, y, "heading", &line);
            }
            let mut boxes = boxes(part);
            let (wide, below) = arrange(&mut boxes, y + PADDING);
            width = width.max(wide);
            width = width.max(arrows(&mut body, &boxes));
            boxes.iter().for_each(|drawn| draw(&mut body, drawn));
            y = below;
            for line in part.then.iter().flat_map(|line| wrapped(&format!("then {line}"))) {
                y += LINE;
                text(&mut body, MARGIN, y, "heading", &line);
            }
            y += BETWEEN;
        }
        let (width, height) = (width.max(MOST_LETTERS * 7) + MARGIN, y);
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<style>text {{ font: 11px monospace; fill: #1f2933 }} .heading {{ font-weight: bold }} .kernel {{ fill: #dbeafe; stroke: #1f4e79 }} .array {{ fill: #fff; stroke: #9aa5b1 }} .arrow {{ fill: none; stroke: #52606d; marker-end: url(#head) }}</style>
<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto"><path d="M0 0L7 3L0 6z" fill="#52606d"/></marker></defs>
<rect width="{width}" height="{height}" fill="#fff"/>
{body}</svg>
"##
        )
    }
}

/// The boxes of a plan: its arrays, then its kernels. An array is below the last kernel that writes it.
fn boxes(part: &ExplainedPlan) -> Vec<Drawn> {
    let array = |(number, array): (usize, &ExplainedArray)| drawn(array_lines(number, array), false);
    let mut boxes: Vec<Drawn> = part.arrays.iter().enumerate().map(array).collect();
    let is_given: Vec<bool> = part.arrays.iter().map(|array| array.reason == "given").collect();
    for (number, kernel) in part.kernels.iter().enumerate() {
        let position = boxes.len();
        let mut new = drawn(kernel_lines(number, kernel), true);
        // An array that a kernel both reads and writes is below it, unless it was written before.
        let reads = |array: &&usize| {
            !kernel.writes.contains(array) || is_given[**array] || !boxes[**array].from.is_empty()
        };
        new.from = kernel.reads.iter().filter(reads).copied().collect();
        new.layer = new.from.iter().map(|from| boxes[*from].layer + 1).max().unwrap_or(0).max(1);
        let layer = new.layer;
        boxes.push(new);
        for written in kernel.writes.iter().filter(|array| !is_given[**array]) {
            let array = &mut boxes[*written];
            // A second writer does not move it: arrows would go in circles.
            if array.from.is_empty() {
                array.layer = layer + 1;
            }
            array.from.push(position);
        }
    }
    boxes
}

fn drawn(lines: Vec<String>, is_kernel: bool) -> Drawn {
    Drawn { lines, is_kernel, layer: 0, from: Vec::new(), x: 0, y: 0 }
}

fn array_lines(number: usize, array: &ExplainedArray) -> Vec<String> {
    let title = format!("m{number}  {}  {}", array.type_text(), in_bytes(array.bytes));
    [title, array.place.clone(), array.why.clone()].iter().flat_map(|line| wrapped(line)).collect()
}

fn kernel_lines(number: usize, kernel: &ExplainedKernel) -> Vec<String> {
    let ExplainedKernel { name, skeleton, .. } = kernel;
    let title = format!("{}. {name}, by {skeleton}", number + 1);
    let size = in_blocks(kernel.blocks, kernel.threads);
    let rest = kernel.lines().into_iter().map(|(what, line)| format!("{what} {line}"));
    [title, size].into_iter().chain(rest).flat_map(|line| wrapped(&line)).collect()
}

/// Places boxes in rows, one per layer, from a height on; gives the width, and the height below.
fn arrange(boxes: &mut [Drawn], from: usize) -> (usize, usize) {
    let layers = boxes.iter().map(|drawn| drawn.layer + 1).max().unwrap_or(0);
    let (mut widest, mut y) = (0, from);
    for layer in 0..layers {
        let mut row: Vec<usize> = (0..boxes.len()).filter(|number| boxes[*number].layer == layer).collect();
        // Below the middle of their inputs.
        let middle = |number: &usize| {
            let from = &boxes[*number].from;
            let sum: usize = from.iter().map(|from| boxes[*from].x + boxes[*from].width() / 2).sum();
            sum / from.len().max(1)
        };
        row.sort_by_cached_key(|number| (middle(number), *number));
        let (mut x, mut height) = (MARGIN, 0);
        for number in row {
            let drawn = &mut boxes[number];
            (drawn.x, drawn.y) = (x, y);
            x += drawn.width() + GAP;
            height = height.max(drawn.height());
        }
        widest = widest.max(x);
        y += height + if height > 0 { BETWEEN } else { 0 };
    }
    (widest, y)
}

/// Draws the arrows; how far to the right they go. Those that go past a layer go round its boxes.
fn arrows(body: &mut String, boxes: &[Drawn]) -> usize {
    let mut rightmost = 0;
    for drawn in boxes {
        for from in drawn.from.iter().filter_map(|from| boxes.get(*from)) {
            let (x, y) = (from.x + from.width() / 2, from.y + from.height());
            let (to_x, to_y) = (drawn.x + drawn.width() / 2, drawn.y);
            let between = boxes.iter().filter(|other| other.layer > from.layer && other.layer < drawn.layer);
            let path = match between.map(|other| other.x + other.width() + GAP / 2).max() {
                None => {
                    let half = y.midpoint(to_y);
                    format!("C{x} {half} {to_x} {half} {to_x} {to_y}")
                }
                Some(side) => {
                    rightmost = rightmost.max(side);
                    let (out, back) = (y + BETWEEN / 2, to_y - BETWEEN / 2);
                    format!(
                        "C{x} {out} {side} {y} {side} {}V{back}C{side} {to_y} {to_x} {back} {to_x} {to_y}",
                        y + BETWEEN
                    )
                }
            };
            // Writing to a string does not fail.
            let _ = writeln!(body, r#"<path class="arrow" d="M{x} {y}{path}"/>"#);
        }
    }
    rightmost
}

fn draw(body: &mut String, drawn: &Drawn) {
    let (class, round) = if drawn.is_kernel { ("kernel", 2) } else { ("array", 8) };
    let (Drawn { x, y, .. }, width, height) = (drawn, drawn.width(), drawn.height());
    let _ = writeln!(
        body,
        r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{round}"/>"#
    );
    for (number, line) in drawn.lines.iter().enumerate() {
        let class = if number == 0 { "heading" } else { "line" };
        text(body, x + PADDING, y + PADDING + (number + 1) * LINE - 4, class, line);
    }
}

fn text(body: &mut String, x: usize, y: usize, class: &str, line: &str) {
    let _ = writeln!(
        body,
        r#"<text class="{class}" x="{x}" y="{y}" xml:space="preserve">{}</text>"#,
        escaped(line)
    );
}

/// A line cut at blanks into lines that are not too long.
fn wrapped(line: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= MOST_LETTERS => {
                last.push(' ');
                last.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_string()),
        }
    }
    lines
}

/// Text as XML has it. Characters that XML has not become question marks.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('?'),
            letter if letter.is_control() => escaped.push('?'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
