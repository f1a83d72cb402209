//! Shortest ways in a graph whose edges have lengths, which may be negative: Bellman and Ford's algorithm. A round lets every edge
//! offer a way to its end, and the smallest offer stays.
//!
//! An edge is the vertex where it begins, the one where it ends, and its length. The lengths of all edges together are below 2⁶².

use pumice::prelude::*;

/// From, to, and how long.
pub type Edge = (i64, i64, i64);

/// The distance of a vertex to which there is no way: larger than any other.
pub const UNREACHED: i64 = i64::MAX;
/// The distance of a vertex to which ways are as short as one likes, because a circle of negative length leads to it.
pub const UNBOUNDED: i64 = i64::MIN;

/// For each vertex its distance from `source`, [`UNREACHED`] or [`UNBOUNDED`]. A source that is not in the graph reaches nothing; an
/// edge between other vertices is an error that names its place.
///
/// ```
/// use pumice_algorithms::whole::shortest_paths::{self, UNBOUNDED, UNREACHED};
/// let distances = pumice::Compiler::on("sim")?.compile(shortest_paths::distances)?;
/// let found = distances.run((4, &[(0, 1, 5), (0, 2, 2), (2, 1, -4)], 0))?;
/// assert_eq!(found.to_vec()?, [0, -2, 2, UNREACHED]);
/// // A circle of negative length that leads to 3.
/// let found = distances.run((4, &[(0, 1, 5), (1, 2, 2), (2, 1, -4), (2, 3, 1)], 0))?;
/// assert_eq!(found.to_vec()?, [0, UNBOUNDED, UNBOUNDED, UNBOUNDED]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn distances(vertices: Exp<i64>, edges: Acc<Vector<Edge>>, source: Exp<i64>) -> Acc<Vector<i64>> {
    let start =
        generate(vertices.max(0), |vertex| vertex.eq(source).select(constant(0), constant(UNREACHED)));
    // The shortest ways have less edges than there are vertices, so that another round finds shorter ones only behind circles.
    let (found, _) = awhile(
        (start, unit((true, 0))),
        |(_, round)| round.map(|(changed, round)| changed & round.lt(vertices)),
        |(found, round)| {
            let offers = comp![(v, found[u] + length) | (u, v, length) <- edges, found[u] != UNREACHED];
            let shorter = offers.permute_pairs(|new, old| new.min(old), found.clone());
            let changed = any![before != after | before <- found | after <- shorter];
            (shorter, changed.zip_with(round, |changed, (_, round)| (changed, round + 1)))
        },
    );
    // A distance that is still not the shortest is behind a negative cycle, and so is everything behind that.
    let (found, _) = awhile(
        (found, unit(true)),
        |(_, changed)| changed,
        |(found, _)| {
            let behind = comp![
                (v, constant(UNBOUNDED))
                | (u, v, length) <- edges, found[u] != UNREACHED && found[v] != UNBOUNDED,
                found[u] == UNBOUNDED || found[u] + length < found[v]
            ];
            let spread = behind.permute_pairs(|new, old| new.min(old), found.clone());
            let changed = any![before != after | before <- found | after <- spread];
            (spread, changed)
        },
    );
    found
}

/// Graphs that are made by plain Rust, and the same in it.
pub mod plain {
    use super::{Edge, UNBOUNDED, UNREACHED};
    use crate::irregular::Numbers;

    /// So many edges between any two vertices, without circles of negative length: every vertex has a height, and an edge is as
    /// long as it rises, and something more.
    pub fn random(vertices: usize, edges: usize, seed: u64) -> Vec<Edge> {
        let mut numbers = Numbers::new(seed);
        let heights: Vec<i64> = (0..vertices).map(|_| numbers.between(0, 100)).collect();
        let mut edge = || {
            let (u, v) = (numbers.below(vertices), numbers.below(vertices));
            (u as i64, v as i64, heights[v] - heights[u] + numbers.between(1, 50))
        };
        (0..if vertices == 0 { 0 } else { edges }).map(|_| edge()).collect()
    }

    /// The distances.
    pub fn distances(vertices: usize, edges: &[Edge], source: usize) -> Vec<i64> {
        let mut found = vec![UNREACHED; vertices];
        if let Some(source) = found.get_mut(source) {
            *source = 0;
        }
        for round in 0..2 * vertices {
            let mut changed = false;
            for (u, v, length) in edges {
                let (from, to) = (found[*u as usize], *v as usize);
                let offer = match from {
                    UNREACHED | UNBOUNDED => from,
                    _ => from + length,
                };
                if offer < found[to] {
                    // After as many rounds as there are vertices, only circles make ways shorter.
                    found[to] = if round < vertices { offer } else { UNBOUNDED };
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        found
    }
}
