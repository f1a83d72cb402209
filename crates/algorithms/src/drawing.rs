//! Pictures of networks, from the same stages that the kernels are made of.
//!
//! Wires are horizontal, with the first at the bottom; data flows from left to right. A comparator is a vertical line
//! between its two wires, with the smaller element on the lower one. Comparators of one stage that would lie over each other
//! are drawn side by side.

use crate::networks::{Stage, bmerge, bpmerge, tmerge, tsort, vsort};
use std::fmt::Write;

/// Between two wires.
const WIRE: u32 = 14;
/// Between two comparators of a stage that are side by side.
const STEP: u32 = 8;
/// Between two stages.
const GAP: u32 = 20;
/// Around the picture.
const MARGIN: u32 = 10;
/// The radius of the dot where a comparator is on a wire.
const DOT: &str = "2.2";

/// Puts the comparators of a stage into columns, in which none lies over another. Gives the column of each, and how many
/// there are.
fn columns(comparators: &[(u32, u32)]) -> (Vec<usize>, usize) {
    // For each column, the comparators that are in it.
    let mut taken: Vec<Vec<(u32, u32)>> = Vec::new();
    let mut places = Vec::new();
    for &(lower, upper) in comparators {
        let free = |others: &Vec<(u32, u32)>| {
            others.iter().all(|&(other_lower, other_upper)| upper < other_lower || other_upper < lower)
        };
        let column = taken.iter().position(free).unwrap_or_else(|| {
            taken.push(Vec::new());
            taken.len() - 1
        });
        taken[column].push((lower, upper));
        places.push(column);
    }
    (places, taken.len())
}

/// A picture of a network on 2^`n` wires, as SVG.
pub fn svg(stages: &[Stage], n: u32) -> String {
    let wires = 1 << n;
    let height = (wires - 1) * WIRE + 2 * MARGIN;
    let y = |wire: u32| height - MARGIN - wire * WIRE;
    let (mut lines, mut dots) = (String::new(), String::new());
    let mut x = MARGIN + GAP / 2;
    for stage in stages {
        let comparators: Vec<(u32, u32)> = stage.comparators(n).collect();
        let (places, count) = columns(&comparators);
        for ((lower, upper), column) in comparators.into_iter().zip(places) {
            let at = x + column as u32 * STEP;
            // Writing to a string does not fail.
            let _ = write!(lines, "M{at} {}V{}", y(lower), y(upper));
            for wire in [lower, upper] {
                let _ = writeln!(dots, r#"  <circle cx="{at}" cy="{}" r="{DOT}"/>"#, y(wire));
            }
        }
        lines.push('\n');
        x += count.saturating_sub(1) as u32 * STEP + GAP;
    }
    let width = x - GAP / 2 + MARGIN;
    let mut horizontal = String::new();
    for wire in 0..wires {
        let _ = write!(horizontal, "M{MARGIN} {}H{}", y(wire), width - MARGIN);
    }
    let lines = lines.trim_end();
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<rect width="{width}" height="{height}" fill="#fff"/>
<path d="{horizontal}" stroke="#9aa5b1" fill="none"/>
<path d="{lines}" stroke="#1f4e79" stroke-width="1.4" fill="none"/>
<g fill="#1f4e79">
{dots}</g>
</svg>
"##
    )
}

/// The networks of the paper's figures 1 to 5, on 16 wires, each with the name of its picture.
pub fn figures() -> Vec<(&'static str, String)> {
    let figures = [
        ("bmerge", bmerge(4)),
        ("tmerge", tmerge(4)),
        ("tsort", tsort(4)),
        ("bpmerge", bpmerge(4)),
        ("vsort", vsort(4)),
    ];
    figures.into_iter().map(|(name, stages)| (name, svg(&stages, 4))).collect()
}
