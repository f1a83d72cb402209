//! Graphs as lists of neighbours: breadth-first search, connected components and triangles. Each round of a search is one
//! comprehension over the edges of its frontier, which is combined into the state of the vertices as it is made.
//!
//! A graph is two arrays: the neighbours of all vertices, one after the other, and where those of each vertex begin, with the end
//! of the last behind it. An edge stands with both of its vertices. There are fewer than 2³² vertices.

use pumice::prelude::*;

/// The bits of a vertex below the depth in the state of a vertex.
const VERTEX_BITS: i64 = 32;

/// State of a vertex that was not reached: larger than any other.
const UNREACHED: i64 = i64::MAX;

/// For each vertex its distance from `source` and the vertex before it on a shortest way, the smallest of several; (-1, -1) where
/// there is no way. The source comes before itself. A source that is not in the graph reaches nothing.
///
/// ```
/// use pumice_algorithms::irregular::graphs;
/// let search = pumice::Compiler::on("sim")?.compile(graphs::breadth_first)?;
/// // 0 - 1 - 2, and 3 alone.
/// let found = search.run((&[0, 1, 3, 4, 4], &[1, 0, 2, 1], 0))?;
/// assert_eq!(found.to_vec()?, [(0, 0), (1, 0), (2, 1), (-1, -1)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn breadth_first(
    offsets: Acc<Vector<i64>>,
    neighbours: Acc<Vector<i64>>,
    source: Exp<i64>,
) -> Acc<Vector<(i64, i64)>> {
    // Distance and predecessor are one number, so that the minimum of two prefers the shorter way, then the smaller vertex.
    let start = generate(offsets.size() - 1, |vertex| vertex.eq(source).select(source, UNREACHED.into()));
    let (found, _) = awhile(
        (start, unit(0)),
        |(found, depth)| any![x >> VERTEX_BITS == depth.the() | x <- found],
        |(found, depth)| {
            let frontier = comp![u | u <- 0.. | x <- found, x >> VERTEX_BITS == depth.the()];
            let depth = depth.map(|depth| depth + 1);
            let claims = comp![
                (v, (depth.the() << VERTEX_BITS) + u)
                | u <- frontier, v <- neighbours[offsets[u]..offsets[u + 1]]
            ];
            (claims.permute_pairs(|new, old| new.min(old), found), depth)
        },
    );
    let vertex = (1i64 << VERTEX_BITS) - 1;
    comp![if x == UNREACHED { (-1, -1) } else { (x >> VERTEX_BITS, x & vertex) } | x <- found]
}

/// For each vertex the smallest one that it is connected with.
///
/// Every round hooks the label of each vertex's label to the smallest label among its neighbours, then lets labels jump to
/// their labels until they are roots; a few rounds do for most graphs, also for long chains.
///
/// ```
/// use pumice_algorithms::irregular::graphs;
/// let components = pumice::Compiler::on("sim")?.compile(graphs::components)?;
/// let found = components.run((&[0, 1, 3, 4, 4], &[1, 0, 2, 1]))?;
/// assert_eq!(found.to_vec()?, [0, 0, 0, 3]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn components(offsets: Acc<Vector<i64>>, neighbours: Acc<Vector<i64>>) -> Acc<Vector<i64>> {
    let (labels, _) = awhile(
        (enum_from(offsets.size() - 1, 0, 1), unit(true)),
        |(_, changed)| changed,
        |(labels, _)| {
            let hooks = comp![
                (labels[u], labels[v]) | u <- 0..labels.size(), v <- neighbours[offsets[u]..offsets[u + 1]],
                labels[v] < labels[u]
            ];
            let hooked = hooks.permute_pairs(|new, old| new.min(old), labels.clone());
            let rooted = awhile(
                hooked,
                |labels| any![labels[label] != label | label <- labels],
                |labels| comp![labels[label] | label <- labels],
            );
            let changed = any![old != new | old <- labels | new <- rooted];
            (rooted, changed)
        },
    );
    labels
}

/// Counts the triangles: vertices u < v < w of which each is a neighbour of the others. Neighbours of a vertex are in rising
/// order, each once.
///
/// ```
/// use pumice_algorithms::irregular::graphs;
/// let triangles = pumice::Compiler::on("sim")?.compile(graphs::triangles)?;
/// // A square with one diagonal.
/// let found = triangles.run((&[0, 3, 5, 8, 10], &[1, 2, 3, 0, 2, 0, 1, 3, 0, 2]))?;
/// assert_eq!(found.to_value()?, 2);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn triangles(offsets: Acc<Vector<i64>>, neighbours: Acc<Vector<i64>>) -> Acc<Scalar<i64>> {
    count![
        u <- 0..offsets.size() - 1, v <- neighbours[offsets[u]..offsets[u + 1]], u < v,
        w <- neighbours[offsets[v]..offsets[v + 1]], v < w, is_edge(&offsets, &neighbours, u, w)
    ]
}

/// Whether two vertices are neighbours: found by halving.
fn is_edge(offsets: &Acc<Vector<i64>>, neighbours: &Acc<Vector<i64>>, u: Exp<i64>, w: Exp<i64>) -> Exp<bool> {
    let end = offsets.at(u + 1);
    let (first, _) = while_(
        (offsets.at(u), end),
        |(low, high)| low.lt(high),
        |(low, high)| {
            let middle = (low + high) / 2;
            let is_before = neighbours.at(middle).lt(w);
            (is_before.select(middle + 1, low), is_before.select(high, middle))
        },
    );
    cond(first.lt(end), || neighbours.at(first).eq(w), || false.into())
}

/// Graphs that are made by plain Rust, and the same programs in it.
pub mod plain {
    use crate::irregular::Numbers;
    use std::collections::VecDeque;

    /// A graph on the host.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Graph {
        /// Start of each vertex's neighbours, and the end of the last vertex's neighbours.
        pub offsets: Vec<i64>,
        /// The neighbours of each vertex in rising order.
        pub neighbours: Vec<i64>,
    }

    impl Graph {
        /// The graph of these edges, in both directions. Edges from a vertex to itself are left out, and each is there once.
        pub fn new(vertices: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Graph {
            let mut rows = vec![Vec::new(); vertices];
            for (u, v) in edges.into_iter().filter(|(u, v)| u != v) {
                rows[u].push(v as i64);
                rows[v].push(u as i64);
            }
            let mut graph = Graph { offsets: vec![0], neighbours: Vec::new() };
            for mut row in rows {
                row.sort_unstable();
                row.dedup();
                graph.neighbours.extend(row);
                graph.offsets.push(graph.neighbours.len() as i64);
            }
            graph
        }

        /// A chain: every vertex with the next.
        pub fn chain(vertices: usize) -> Graph {
            Graph::new(vertices, (1..vertices).map(|v| (v - 1, v)))
        }

        /// A square grid of so many vertices a side.
        pub fn grid(side: usize) -> Graph {
            let across = (0..side).flat_map(|y| (1..side).map(move |x| (y * side + x - 1, y * side + x)));
            let down = (0..side).flat_map(|x| (1..side).map(move |y| ((y - 1) * side + x, y * side + x)));
            Graph::new(side * side, across.chain(down))
        }

        /// So many edges between any two vertices.
        pub fn random(vertices: usize, edges: usize, seed: u64) -> Graph {
            let mut numbers = Numbers::new(seed);
            let edges = (0..if vertices == 0 { 0 } else { edges })
                .map(|_| (numbers.below(vertices), numbers.below(vertices)));
            Graph::new(vertices, edges.collect::<Vec<_>>())
        }

        /// So many edges between 2^`scale` vertices, of which few have many: each bit of an edge's vertices is drawn with unequal
        /// chances (R-MAT of Chakrabarti, Zhan and Faloutsos, with the chances of Graph 500).
        pub fn power_law(scale: u32, edges: usize, seed: u64) -> Graph {
            let mut numbers = Numbers::new(seed);
            let mut edge = || {
                (0..scale).fold((0, 0), |(u, v), _| {
                    let (down, right) = match numbers.below(100) {
                        0..57 => (0, 0),
                        57..76 => (0, 1),
                        76..95 => (1, 0),
                        _ => (1, 1),
                    };
                    (2 * u + down, 2 * v + right)
                })
            };
            let edges: Vec<(usize, usize)> = (0..edges).map(|_| edge()).collect();
            Graph::new(1 << scale, edges)
        }

        /// The number of vertices.
        pub fn vertices(&self) -> usize {
            self.offsets.len() - 1
        }

        /// The neighbours of a vertex.
        pub fn of(&self, vertex: usize) -> &[i64] {
            &self.neighbours[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
        }

        /// Distances and predecessors, as [`super::breadth_first`] gives them.
        pub fn breadth_first(&self, source: usize) -> Vec<(i64, i64)> {
            let mut found = vec![(-1, -1); self.vertices()];
            found[source] = (0, source as i64);
            let mut queue = VecDeque::from([source]);
            while let Some(u) = queue.pop_front() {
                for v in self.of(u).iter().map(|v| *v as usize) {
                    let depth = found[u].0 + 1;
                    if found[v].0 < 0 {
                        queue.push_back(v);
                        found[v] = (depth, u as i64);
                    } else if found[v].0 == depth {
                        found[v].1 = found[v].1.min(u as i64);
                    }
                }
            }
            found
        }

        /// The smallest vertex that each is connected with.
        pub fn components(&self) -> Vec<i64> {
            let mut labels = vec![-1; self.vertices()];
            for root in 0..self.vertices() {
                let mut open = if labels[root] < 0 { vec![root] } else { Vec::new() };
                while let Some(u) = open.pop() {
                    if labels[u] < 0 {
                        labels[u] = root as i64;
                        open.extend(self.of(u).iter().map(|v| *v as usize));
                    }
                }
            }
            labels
        }

        /// The number of triangles.
        pub fn triangles(&self) -> i64 {
            let later = |u: usize| self.of(u).iter().filter(move |v| **v > u as i64);
            let closed =
                |u: usize, v: usize| later(v).filter(|w| self.of(u).binary_search(w).is_ok()).count();
            (0..self.vertices()).map(|u| later(u).map(|v| closed(u, *v as usize)).sum::<usize>() as i64).sum()
        }
    }
}
