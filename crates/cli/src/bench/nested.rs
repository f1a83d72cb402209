//! Workloads that are whole programs over irregular data: primes by expansion, a breadth-first search, triangles drawn as points.

use super::reference::check_exactly;
use super::workloads::Workload;
use pumice::prelude::*;
use pumice_algorithms::irregular::graphs::{self, plain::Graph};
use pumice_algorithms::irregular::renderer::{self, plain::Mesh};
use pumice_algorithms::irregular::sieve;

/// The side of pictures.
const SIDE: i64 = 1080;
/// Edges that are drawn for each vertex.
const EDGES: usize = 16;

/// Sizes of the inputs.
#[derive(Clone, Copy)]
pub struct NestedSizes {
    /// Primes below this number are computed.
    pub limit: i64,
    /// Numbers per round of the sieve.
    pub stretch: i64,
    /// Binary logarithm of the number of vertices.
    pub scale: u32,
    /// Approximate number of faces that are drawn.
    pub faces: usize,
}

/// Returns the workloads; with `all_ways` the sieve also for smaller limits, and without fusion.
pub fn workloads(sizes: NestedSizes, all_ways: bool) -> Vec<Workload> {
    let NestedSizes { limit, stretch, scale, faces } = sizes;
    let mut all = vec![primes(format!("primes below {limit}"), limit, stretch, true)];
    let limits = std::iter::successors(Some(10), |limit| Some(limit * 10));
    for limit in limits.take_while(|below| all_ways && *below <= limit) {
        for (way, fuse) in [("", true), (" unfused", false)] {
            all.push(primes(format!("sieve, primes below {limit}{way}"), limit, stretch, fuse));
        }
    }
    all.extend([search(scale), pictures(faces)]);
    all
}

fn primes(name: String, limit: i64, stretch: i64, fuse: bool) -> Workload {
    Workload::new(name, limit as usize, limit as usize / 2, move |timing| {
        let roots = sieve::plain::primes(limit.isqrt() + 1);
        // The program counts odd primes, which excludes 2.
        let expected = sieve::plain::primes(limit).len() as i64 - 1;
        let program = move |primes: Acc<Vector<i64>>, limit: Exp<i64>| {
            sieve::count_odd_primes_by(primes, Exp::from(0), limit, stretch)
        };
        let timing = timing.with(|compiler| compiler.fuse(fuse));
        timing.median(program, (Vector::from(roots.as_slice()), limit), |found| {
            check_exactly(&found, &[expected])
        })
    })
}

fn search(scale: u32) -> Workload {
    let edges = EDGES << scale;
    Workload::new(format!("breadth-first R-MAT {scale}"), 1 << scale, 8 * edges, move |timing| {
        let graph = Graph::power_law(scale, edges, 1);
        let expected = graph.breadth_first(0);
        let arguments =
            (Vector::from(graph.offsets.as_slice()), Vector::from(graph.neighbours.as_slice()), 0i64);
        timing.median(graphs::breadth_first, arguments, |found| check_exactly(&found, &expected))
    })
}

fn pictures(faces: usize) -> Workload {
    Workload::new(format!("picture of {faces} faces"), faces, 24 * faces, move |timing| {
        let mesh = Mesh::torus_knot(faces);
        let expected = mesh.render(1.0, 0.0, SIDE, SIDE);
        let (vertices, faces) = (Vector::from(mesh.vertices.as_slice()), Vector::from(mesh.faces.as_slice()));
        let arguments = (vertices, faces, 1f32, 0f32, SIDE, SIDE);
        timing.median(renderer::render, arguments, |found| check_exactly(&found, &expected))
    })
}
