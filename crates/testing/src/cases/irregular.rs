//! The programs over irregular data of `pumice_algorithms` at small sizes: nothing, and a few blocks, against plain Rust. Few extents, because
//! each may need kernels of its own; the cases of the operations have others.

use crate::{Harness, Outcome};
use pumice::prelude::*;
use pumice_algorithms::irregular::graphs::plain::Graph;
use pumice_algorithms::irregular::{
    graphs, neighbours, renderer, shapes, sieve, sparse, tpch, triples, words,
};

/// Converts an error, which only a mistake in a case can cause.
fn made<T, E: ToString>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

pub fn primes(h: &Harness) -> Outcome {
    let primes = h.compile(sieve::primes)?;
    for n in [-1, 3, 5000] {
        primes.check(n, &sieve::plain::primes(n))?;
    }
    Ok(())
}

/// Segments are counted one by one, and by the program that loops over all; the last one is shorter, or it is the only one.
pub fn primes_in_segments(h: &Harness) -> Outcome {
    let count = h.compile(sieve::count_odd_primes)?;
    let primes = sieve::plain::primes(10_000);
    let small = sieve::plain::primes(101);
    for (from, to) in [(0, 0), (0, 2), (0, 4000), (4000, 8000), (9998, 10_000)] {
        let expected = primes.iter().filter(|p| **p > 2 && (from..to).contains(*p)).count();
        count.check((&small, from, to), &[expected as i64])?;
    }
    let count = h.compile(sieve::count_primes)?;
    [(9_999, 4_000, 1229), (3, 4_000, 1), (-1, 0, 0)]
        .iter()
        .try_for_each(|(n, segment, expected)| count.check((*n, *segment), &[*expected]))
}

/// A single vertex, and graphs of every kind in one, so that there are few extents: a chain that leads to a grid, from which a path leads
/// to a graph of hubs, and a separate graph with many components.
fn small_graphs() -> [Graph; 2] {
    let parts = [Graph::chain(9), Graph::grid(7), Graph::power_law(8, 1200, 2), Graph::random(300, 250, 1)];
    let (mut count, mut edges) = (0, vec![(8, 9), (57, 58)]);
    for part in parts {
        let of = |u: usize| part.of(u).iter().map(move |v| (count + u, count + *v as usize));
        edges.extend((0..part.vertices()).flat_map(of));
        count += part.vertices();
    }
    [Graph::new(1, []), Graph::new(count, edges)]
}

pub fn breadth_first_search(h: &Harness) -> Outcome {
    let search = h.compile(graphs::breadth_first)?;
    for graph in small_graphs() {
        search.check((&graph.offsets, &graph.neighbours, 0), &graph.breadth_first(0))?;
    }
    Ok(())
}

pub fn connected_components(h: &Harness) -> Outcome {
    let components = h.compile(graphs::components)?;
    small_graphs()
        .iter()
        .try_for_each(|graph| components.check((&graph.offsets, &graph.neighbours), &graph.components()))
}

pub fn triangles_of_graphs(h: &Harness) -> Outcome {
    let triangles = h.compile(graphs::triangles)?;
    small_graphs()
        .iter()
        .try_for_each(|graph| triangles.check((&graph.offsets, &graph.neighbours), &[graph.triangles()]))
}

/// A knot that exceeds the screen on all sides, and an empty mesh.
pub fn rendered_meshes(h: &Harness) -> Outcome {
    use renderer::plain::Mesh;
    let render = h.compile(renderer::render)?;
    let nothing = Mesh { vertices: Vec::new(), faces: Vec::new() };
    for (mesh, width, height) in
        [(nothing, 3, 2), (Mesh::torus_knot(700), 33, 60), (Mesh::height_field(300), 33, 60)]
    {
        let (cosine, sine) = (0.8, 0.6);
        let expected = mesh.render(cosine, sine, width, height);
        render.check((&mesh.vertices, &mesh.faces, cosine, sine, width, height), &expected)?;
    }
    Ok(())
}

pub fn pythagorean_triples(h: &Harness) -> Outcome {
    let (list, count) = (h.compile(triples::list)?, h.compile(triples::count)?);
    for (n, known) in [(0, 0), (100, 50)] {
        let expected = triples::plain::list(n);
        if expected.len() != known {
            return Err(format!("there are {known} triples below {n}, and not {}", expected.len()));
        }
        list.check(n, &expected)?;
        count.check(n, &[known as i64])?;
    }
    Ok(())
}

/// Lines in all directions and filled shapes, including degenerate ones, as points and as a picture.
pub fn drawn_shapes(h: &Harness) -> Outcome {
    let mut numbers = pumice_algorithms::irregular::Numbers::new(5);
    let mut point = || (numbers.between(-5, 30), numbers.between(-5, 30));
    let mut random: Vec<_> = (0..150).map(|_| (point(), point(), point())).collect();
    random[0] = ((3, 4), (3, 4), (3, 4));
    let (lines, triangles) = (h.compile(shapes::lines)?, h.compile(shapes::triangles)?);
    let circles =
        h.compile(|circles: Acc<_>| shapes::draw(shapes::circles(circles), 7, fill((20, 30), 0)))?;
    for corners in [vec![], random] {
        let ends: Vec<_> = corners.iter().map(|(p, q, _)| (*p, *q)).collect();
        lines.check(&ends, &shapes::plain::lines(&ends))?;
        triangles.check(&corners, &shapes::plain::triangles(&corners))?;
        let round: Vec<_> =
            corners.iter().map(|(p, (radius, _), _)| (*p, radius.rem_euclid(4))).take(20).collect();
        let mut picture = vec![0; 600];
        for (x, y) in shapes::plain::circles(&round) {
            if (0..30).contains(&x) && (0..20).contains(&y) {
                picture[(30 * y + x) as usize] = 7;
            }
        }
        circles.check(&round, &picture)?;
    }
    Ok(())
}

pub fn pricing_summaries(h: &Harness) -> Outcome {
    let (summary, change) = (h.compile(tpch::pricing_summary)?, h.compile(tpch::revenue_change)?);
    let [until, _, year] = tpch::plain::DAYS;
    for customers in [0, 60] {
        let tables = tpch::plain::Tables::new(customers, 4);
        summary.check((&tables.items, until), &tables.pricing_summary(until))?;
        change.check((&tables.items, year), &[tables.revenue_change(year)])?;
    }
    Ok(())
}

pub fn shipping_priorities(h: &Harness) -> Outcome {
    let priority = h.compile(tpch::shipping_priority)?;
    let day = tpch::plain::DAYS[1];
    for customers in [0, 60] {
        let tables = tpch::plain::Tables::new(customers, 4);
        let expected = tables.shipping_priority(1, day);
        priority.check((&tables.customers, &tables.orders, &tables.items, 1, day), &expected)?;
    }
    Ok(())
}

/// Returns the rows of entries at these offsets, as programs take them.
fn rows(entries: Acc<Vector<sparse::Entry>>, offsets: Acc<Vector<i64>>) -> AccRagged<sparse::Entry> {
    AccRagged::new(entries, offsets)
}

fn offsets(matrix: &Ragged<sparse::Entry>) -> Vec<i64> {
    matrix.offsets().iter().map(|at| *at as i64).collect()
}

pub fn sparse_times_dense(h: &Harness) -> Outcome {
    type Entries = Acc<Vector<sparse::Entry>>;
    let times_vector = h.compile(|entries: Entries, offsets: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| {
        sparse::times_vector(rows(entries, offsets), xs)
    })?;
    let times_dense = h.compile(|entries: Entries, offsets: Acc<Vector<i64>>, dense: Acc<Matrix<f64>>| {
        sparse::times_dense(rows(entries, offsets), dense)
    })?;
    for (height, width) in [(0, 3), (200, 3)] {
        let matrix = sparse::plain::random(height, 40, 6, 7);
        let xs: Vec<f64> = (0..40).map(|i| f64::from(i - 9)).collect();
        let expected = sparse::plain::times_vector(&matrix, &xs);
        times_vector.check((matrix.values(), offsets(&matrix), &xs), &expected)?;
        let dense: Vec<f64> = (0..40 * width).map(|i| (i % 7) as f64).collect();
        let expected = sparse::plain::times_dense(&matrix, &dense, width);
        let dense = made(Matrix::from_vec([40, width], dense))?;
        times_dense.check_shaped((matrix.values(), offsets(&matrix), &dense), [height, width], &expected)?;
    }
    Ok(())
}

pub fn sparse_times_sparse(h: &Harness) -> Outcome {
    type Entries = Acc<Vector<sparse::Entry>>;
    let product = |a: Entries, starts: Acc<Vector<i64>>, b: Entries, others: Acc<Vector<i64>>| {
        sparse::times_sparse(rows(a, starts), rows(b, others))
    };
    let entries = h.compile(move |a: Entries, starts: Acc<_>, b: Entries, others: Acc<_>| {
        product(a, starts, b, others).flatten()
    })?;
    let begins = h.compile(move |a: Entries, starts: Acc<_>, b: Entries, others: Acc<_>| {
        product(a, starts, b, others).offsets()
    })?;
    for height in [0, 90] {
        let (a, b) = (sparse::plain::random(height, 30, 3, 8), sparse::plain::random(30, 50, 2, 9));
        let expected: Ragged<sparse::Entry> = sparse::plain::times_sparse(&a, &b).into_iter().collect();
        let arguments = || (a.values(), offsets(&a), b.values(), offsets(&b));
        entries.check(arguments(), expected.values())?;
        begins.check(arguments(), &offsets(&expected))?;
    }
    Ok(())
}

pub fn pairs_within_a_radius(h: &Harness) -> Outcome {
    let pairs = h.compile(neighbours::pairs)?;
    for (count, radius) in [(0, 0.1), (400, 0.05), (400, 2.0)] {
        let points = neighbours::plain::points(count, 3);
        let mut found = made(pairs.run((&points, radius))?.to_vec())?;
        // Their order is unspecified.
        found.sort_unstable();
        if !h.is_planning() && found != neighbours::plain::pairs(&points, radius) {
            return Err(format!(
                "{} pairs of {count} points within {radius} are not those expected",
                found.len()
            ));
        }
    }
    Ok(())
}

pub fn counted_words(h: &Harness) -> Outcome {
    let count = h.compile(words::count)?;
    for text in ["", &words::plain::text(500, 2)] {
        let text = words::plain::characters(text);
        count.check((&text, 20), &words::plain::count(&text, 20))?;
    }
    Ok(())
}
