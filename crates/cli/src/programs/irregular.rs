//! The programs over irregular data, with inputs of a size that keeps a device busy, and results by plain Rust.

use super::Entry;
use super::subject::{equals, told};
use pumice::Ragged;
use pumice_algorithms::irregular::graphs::plain::Graph;
use pumice_algorithms::irregular::renderer::plain::Mesh;
use pumice_algorithms::irregular::tpch::plain::{DAYS, Tables};
use pumice_algorithms::irregular::*;

/// Returns all of them; small sizes take little time on the simulator.
pub fn entries(small: bool) -> Vec<Entry> {
    let of = |small_one: usize, other: usize| if small { small_one } else { other };
    let scale = of(5, 16) as u32;
    let mut all = vec![sieve_primes(of(1000, 10_000_000), of(1 << 10, 1 << 22))];
    all.extend(graphs_of(scale));
    all.extend([
        count_words(of(30, 200_000)),
        find_neighbours(of(60, 20_000)),
        render(of(50, 100_000), of(24, 640)),
        draw_shapes(of(3, 2000)),
        multiply_ragged(of(30, 100_000)),
    ]);
    all.extend(queries(of(20, 15_000)));
    all.push(count_triples(of(30, 500)));
    all
}

fn sieve_primes(limit: usize, segment: usize) -> Entry {
    Entry::new("sieve of primes", format!("below {limit}, in segments of {segment}"), move |subject| {
        let (limit, segment) = (limit as i64, segment as i64);
        let expected = sieve::plain::primes(limit).len() as i64;
        subject.examine(sieve::count_primes, (limit, segment), equals(vec![expected]))
    })
}

fn graphs_of(scale: u32) -> [Entry; 3] {
    let size = format!("{} vertices, power law", 1 << scale);
    let graph = move || Graph::power_law(scale, 8 << scale, 2);
    [
        Entry::new("breadth-first search", size.clone(), move |subject| {
            let graph = graph();
            let expected = graph.breadth_first(0);
            let arguments = (&graph.offsets, &graph.neighbours, 0);
            subject.examine(graphs::breadth_first, arguments, equals(expected))
        }),
        Entry::new("connected components", size.clone(), move |subject| {
            let graph = graph();
            let expected = graph.components();
            subject.examine(graphs::components, (&graph.offsets, &graph.neighbours), equals(expected))
        }),
        Entry::new("triangles of a graph", size, move |subject| {
            let graph = graph();
            let expected = graph.triangles();
            subject.examine(graphs::triangles, (&graph.offsets, &graph.neighbours), equals(vec![expected]))
        }),
    ]
}

fn count_words(words: usize) -> Entry {
    const MOST: usize = 10;
    Entry::new("frequent words", format!("{words} words"), move |subject| {
        let text = words::plain::characters(&words::plain::text(words, 9));
        let expected = words::plain::count(&text, MOST);
        subject.examine(words::count, (&text, MOST as i64), equals(expected))
    })
}

fn find_neighbours(count: usize) -> Entry {
    const RADIUS: f32 = 0.01;
    Entry::new("near neighbours", format!("{count} points"), move |subject| {
        let points = neighbours::plain::points(count, 8);
        let expected = neighbours::plain::pairs(&points, RADIUS);
        subject.examine(neighbours::pairs, (&points, RADIUS), |found| {
            let mut pairs = found.to_vec().map_err(told)?;
            // The program gives them in no particular order.
            pairs.sort_unstable();
            if pairs == expected { Ok(()) } else { Err("other pairs than plain Rust finds".into()) }
        })
    })
}

fn render(faces: usize, width: usize) -> Entry {
    let height = width * 3 / 4;
    Entry::new("picture of a mesh", format!("{faces} faces, {width}x{height} pixels"), move |subject| {
        let (mesh, width, height) = (Mesh::torus_knot(faces), width as i64, height as i64);
        let expected = mesh.render(1.0, 0.0, width, height);
        let arguments = (&mesh.vertices, &mesh.faces, 1.0, 0.0, width, height);
        subject.examine(renderer::render, arguments, equals(expected))
    })
}

fn draw_shapes(count: usize) -> Entry {
    const SIDE: i64 = 1000;
    Entry::new("points of triangles", format!("{count} triangles"), move |subject| {
        let mut numbers = Numbers::new(3);
        let mut point = || (numbers.between(0, SIDE), numbers.between(0, SIDE));
        let triangles: Vec<_> = (0..count)
            .map(|_| {
                let (x, y) = point();
                ((x, y), (x + 40, y + 10), (x - 20, y + 50))
            })
            .collect();
        let expected = shapes::plain::triangles(&triangles);
        subject.examine(shapes::triangles, &triangles, equals(expected))
    })
}

fn multiply_ragged(size: usize) -> Entry {
    Entry::new("ragged matrix times vector", format!("{size}x{size}"), move |subject| {
        let matrix: Ragged<sparse::Entry> = sparse::plain::random(size, size, 5, 6);
        let xs: Vec<f64> = (0..size).map(|i| (i % 7) as f64 - 3.0).collect();
        let expected = sparse::plain::times_vector(&matrix, &xs);
        subject.examine(sparse::times_vector, (&matrix, &xs), equals(expected))
    })
}

fn queries(customers: usize) -> [Entry; 3] {
    const SEGMENT: u32 = 1;
    let size = format!("{customers} customers");
    let tables = move || Tables::new(customers, 4);
    let [until, day, year] = DAYS;
    [
        Entry::new("TPC-H query 1", size.clone(), move |subject| {
            let tables = tables();
            let expected = tables.pricing_summary(until);
            subject.examine(tpch::pricing_summary, (&tables.items, until), equals(expected))
        }),
        Entry::new("TPC-H query 3", size.clone(), move |subject| {
            let tables = tables();
            let expected = tables.shipping_priority(SEGMENT, day);
            let arguments = (&tables.customers, &tables.orders, &tables.items, SEGMENT, day);
            subject.examine(tpch::shipping_priority, arguments, equals(expected))
        }),
        Entry::new("TPC-H query 6", size, move |subject| {
            let tables = tables();
            let expected = tables.revenue_change(year);
            subject.examine(tpch::revenue_change, (&tables.items, year), equals(vec![expected]))
        }),
    ]
}

fn count_triples(limit: usize) -> Entry {
    Entry::new("Pythagorean triples", format!("below {limit}"), move |subject| {
        let expected = triples::plain::list(limit as i64).len() as i64;
        subject.examine(triples::count, limit as i64, equals(vec![expected]))
    })
}
