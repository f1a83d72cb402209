//! Breadth-first search, connected components and triangles of generated graphs.
//!
//! `graphs [SCALE]` takes graphs of about 2^SCALE vertices; the chain is shorter, because a search takes a round for each of its
//! vertices.
//!
//! ```text
//! grid:        4096 vertices,   16128 ends of edges, 126 rounds to the farthest, 1 components, 0 triangles
//! random:      4096 vertices,   32722 ends of edges, 6 rounds to the farthest, 3 components, 76 triangles
//! power law:   4096 vertices,   53318 ends of edges, 4 rounds to the farthest, 1113 components, 138413 triangles
//! chain:        500 vertices,     998 ends of edges, 499 rounds to the farthest, 1 components, 0 triangles
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::irregular::graphs::{self, plain::Graph};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    report::end(searched())
}

fn searched() -> Result<(), Box<dyn Error>> {
    let scale = argument(0, 12)?.clamp(0, 30) as u32;
    let vertices = 1usize << scale;
    let compiler = pumice::Compiler::new()?;
    let search = compiler.compile(graphs::breadth_first)?;
    let components = compiler.compile(graphs::components)?;
    let triangles = compiler.compile(graphs::triangles)?;
    let all = [
        ("grid", Graph::grid(1 << (scale / 2))),
        ("random", Graph::random(vertices, 4 * vertices, 1)),
        ("power law", Graph::power_law(scale, 8 * vertices, 2)),
        ("chain", Graph::chain(vertices.min(500))),
    ];
    for (name, graph) in all {
        let found = search.run((&graph.offsets, &graph.neighbours, 0))?.to_vec()?;
        check(&format!("{name}, ways from the first vertex"), &found, &graph.breadth_first(0))?;
        let labels = components.run((&graph.offsets, &graph.neighbours))?.to_vec()?;
        check(&format!("{name}, components"), &labels, &graph.components())?;
        let closed = triangles.run((&graph.offsets, &graph.neighbours))?.to_value()?;
        check(&format!("{name}, triangles"), &closed, &graph.triangles())?;
        let farthest = found.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
        let roots = labels.iter().zip(0..).filter(|(label, vertex)| **label == *vertex).count();
        println!(
            "{:10} {:6} vertices, {:7} ends of edges, {farthest} rounds to the farthest, {roots} components, {closed} triangles",
            format!("{name}:"),
            graph.vertices(),
            graph.neighbours.len(),
        );
    }
    Ok(())
}
