//! The programs with loops and those over regular arrays, with inputs of a size that keeps a device busy, and results by plain Rust.

use super::Entry;
use super::subject::{equals, near, told};
use pumice::prelude::*;
use pumice_algorithms::irregular::Numbers;
use pumice_algorithms::whole::monte_carlo::plain::Market;
use pumice_algorithms::whole::*;

/// Returns all of them; small sizes take little time on the simulator.
pub fn entries(small: bool) -> Vec<Entry> {
    let of = |small_one: usize, other: usize| if small { small_one } else { other };
    vec![
        find_edges(of(32, 1024)),
        equalise_levels(of(32, 2048)),
        transform(of(2, 256), of(12, 1024)),
        settle_heat(of(16, 256), 1000),
        draw_julia(of(32, 1024)),
        cluster(of(200, 100_000)),
        live(of(16, 1024), of(5, 100)),
        solve_systems(of(3, 10_000)),
        estimate_pi(of(1000, 10_000_000)),
        price_option(of(1000, 1_000_000)),
        move_bodies(of(20, 4096), of(3, 10)),
        rank_pages(of(50, 100_000)),
        solve_poisson(of(12, 512)),
        burn(of(100, 1 << 20), of(20, 100)),
        develop_photo(of(32, 2048)),
        place_queens(of(5, 10)),
        quick_sort(of(50, 1 << 16)),
        radix_sort_keys(of(50, 1 << 20)),
        trace_rays(of(24, 960)),
        shortest_ways(of(30, 10_000)),
        multiply_sparse(of(50, 100_000)),
    ]
}

fn find_edges(width: usize) -> Entry {
    const LOW: f32 = 0.25;
    const HIGH: f32 = 0.8;
    let height = width * 3 / 4;
    Entry::new("Canny's edges", format!("{width}x{height} pixels"), move |subject| {
        let picture = canny::plain::picture(height, width, 1);
        let expected = canny::plain::edges(&picture, height, width, LOW, HIGH);
        let picture = Matrix::from_vec([height, width], picture).map_err(told)?;
        subject.examine(canny::edges, (&picture, LOW, HIGH), equals(expected))
    })
}

fn equalise_levels(side: usize) -> Entry {
    Entry::new("histogram equalisation", format!("{side}x{side} pixels"), move |subject| {
        let levels = equalise::plain::foggy(side, side, 1);
        let expected = equalise::plain::equalise(&levels);
        let image = Matrix::from_vec([side, side], levels).map_err(told)?;
        subject.examine(equalise::equalise, &image, equals(expected))
    })
}

fn transform(rows: usize, length: usize) -> Entry {
    Entry::new("Fourier transform", format!("{rows} rows of {length}, f64"), move |subject| {
        let values = fft::plain::values(rows * length, 1);
        let expected = fft::plain::forward(&values, length);
        let matrix = Matrix::from_vec([rows, length], values).map_err(told)?;
        let distance = |a: &fft::Complex<f64>, b: &fft::Complex<f64>| (a - b).norm();
        subject.examine(fft::forward::<f64>, &matrix, near(expected, 1e-9, distance))
    })
}

fn settle_heat(width: usize, most: i64) -> Entry {
    const TOLERANCE: f32 = 0.01;
    let height = width * 3 / 4;
    Entry::new("heat", format!("{width}x{height}, at most {most} rounds"), move |subject| {
        let plate = heat::plain::plate(height, width);
        let (expected, _) = heat::plain::settle(&plate, width, TOLERANCE, most);
        let plate = Matrix::from_vec([height, width], plate).map_err(told)?;
        subject.examine(heat::settle, (&plate, TOLERANCE, most), equals(expected))
    })
}

fn draw_julia(side: usize) -> Entry {
    const NUMBER: (f32, f32) = (-0.8, 0.156);
    const MOST: i32 = 200;
    Entry::new("Julia set", format!("{side}x{side} pixels"), move |subject| {
        let extent = side as i64;
        let program =
            |real: Exp<f32>, imaginary: Exp<f32>, width: Exp<i64>, height: Exp<i64>, most: Exp<i32>| {
                julia::coloured(julia::steps(real, imaginary, width, height, most), most)
            };
        let steps = julia::plain::steps(NUMBER.0, NUMBER.1, extent, extent, MOST);
        let expected = julia::plain::coloured(&steps, MOST);
        subject.examine(program, (NUMBER.0, NUMBER.1, extent, extent, MOST), equals(expected))
    })
}

fn cluster(count: usize) -> Entry {
    const CENTRES: usize = 9;
    const MOST: i64 = 100;
    Entry::new("k-means", format!("{count} points, {CENTRES} centres"), move |subject| {
        let points = kmeans::plain::points(count, 1);
        let (expected, _) = kmeans::plain::cluster(&points, &points[..CENTRES], MOST);
        subject.examine(kmeans::cluster, (&points, &points[..CENTRES], MOST), equals(expected))
    })
}

fn live(side: usize, generations: usize) -> Entry {
    Entry::new("game of life", format!("{side}x{side}, {generations} generations"), move |subject| {
        let cells = life::plain::cells(side * side, 1);
        let expected = life::plain::generations(&cells, side, side, generations);
        let cells = Matrix::from_vec([side, side], cells).map_err(told)?;
        subject.examine(life::generations, (&cells, generations as i64), equals(expected))
    })
}

fn solve_systems(count: usize) -> Entry {
    const EQUATIONS: usize = 8;
    Entry::new("LU decomposition", format!("{count} systems of {EQUATIONS}"), move |subject| {
        let (matrices, right) = lu::plain::systems(count, EQUATIONS, 1);
        let expected = lu::plain::decompose_and_solve(&matrices, &right, EQUATIONS);
        let matrices = Array::from_vec([count, EQUATIONS, EQUATIONS], matrices).map_err(told)?;
        let right = Matrix::from_vec([count, EQUATIONS], right).map_err(told)?;
        // Compared to the bit: infinities and NaNs would not be near themselves.
        let differ = |a: &f64, b: &f64| f64::from(u8::from(a.to_bits() != b.to_bits()));
        subject.examine(lu::decompose_and_solve, (&matrices, &right), near(expected, 0.0, differ))
    })
}

fn estimate_pi(points: usize) -> Entry {
    Entry::new("pi by Monte Carlo", format!("{points} points"), move |subject| {
        let expected = monte_carlo::plain::pi(points as u64, 1);
        subject.examine(monte_carlo::pi, (points as i64, 1), equals(vec![expected]))
    })
}

fn price_option(paths: usize) -> Entry {
    const STEPS: u32 = 16;
    Entry::new("option on a mean by Monte Carlo", format!("{paths} paths of {STEPS} steps"), move |subject| {
        let market = Market { spot: 100.0, strike: 105.0, rate: 0.03, volatility: 0.25, years: 1.5 };
        let exact = market.asian_call(STEPS);
        let Market { spot, strike, rate, volatility, years } = market;
        let arguments = (spot, strike, rate, volatility, years, i64::from(STEPS), paths as i64, 3);
        subject.examine(monte_carlo::asian_call, arguments, |found| {
            let (price, error) = found.to_value().map_err(told)?;
            // Written so that a NaN is an error too.
            match (price - exact).abs() < 4.0 * error {
                true => Ok(()),
                false => Err(format!("{price}, give or take {error}, is not {exact}")),
            }
        })
    })
}

fn move_bodies(count: usize, steps: usize) -> Entry {
    const STEP: f32 = 0.01;
    Entry::new("bodies", format!("{count} bodies, {steps} steps"), move |subject| {
        let bodies = nbody::plain::disc(count, 1);
        let expected = nbody::plain::advance(&bodies, STEP, steps);
        let distance = |(p, ..): &nbody::Body, (q, ..): &nbody::Body| {
            let parts = [p.0 - q.0, p.1 - q.1, p.2 - q.2];
            parts.iter().map(|part| f64::from(part * part)).sum::<f64>().sqrt()
        };
        subject.examine(nbody::advance, (&bodies, STEP, steps as i64), near(expected, 1e-3, distance))
    })
}

fn rank_pages(pages: usize) -> Entry {
    const DAMPING: f64 = 0.85;
    const TOLERANCE: f64 = 1e-9;
    const MOST: i64 = 100;
    let drawn = 16 * pages;
    Entry::new("PageRank", format!("{pages} pages, {drawn} links"), move |subject| {
        let links = pagerank::plain::Links::random(pages, drawn, 1);
        let (expected, _) = links.ranks(DAMPING, TOLERANCE, MOST);
        let arguments = (&links.offsets, &links.sources, DAMPING, TOLERANCE, MOST);
        subject.examine(pagerank::ranks, arguments, near(expected, 1e-9, |a, b| (a - b).abs()))
    })
}

fn solve_poisson(side: usize) -> Entry {
    const ROUNDS: i64 = 200;
    let name = "Poisson's equation by conjugate gradients";
    Entry::new(name, format!("{side}x{side}, at most {ROUNDS} rounds"), move |subject| {
        let mut f = vec![0.0; side * side];
        f[(side / 3) * side + side / 3] = 1.0;
        f[(side * 2 / 3) * side + side / 2] = -1.0;
        let (expected, ..) = poisson::plain::solve(&f, side, side, 1e-20, ROUNDS);
        let f = Matrix::from_vec([side, side], f).map_err(told)?;
        let check = near(expected, 1e-8, |a: &f64, b: &f64| (a - b).abs());
        subject.examine(poisson::solve, (&f, 1e-20, ROUNDS), check)
    })
}

fn burn(count: usize, steps: usize) -> Entry {
    Entry::new("particles", format!("{count} particles, {steps} steps"), move |subject| {
        let places = particles::plain::free_places(count);
        let expected = particles::plain::burning(&places, steps);
        subject.examine(particles::burning, (&places, steps as i64), equals(expected))
    })
}

fn develop_photo(width: usize) -> Entry {
    const SETTINGS: (i32, i32, i32) = (80, 140, 60);
    let height = width * 3 / 4;
    Entry::new("photograph", format!("{width}x{height} pixels of 3 bytes"), move |subject| {
        let pixels = photo::plain::picture(height, width, 1);
        let (sharpness, saturation, steepest) = SETTINGS;
        let (clear, edges) = photo::plain::develop(&pixels, height, width, sharpness, saturation, steepest);
        let picture = Matrix::from_vec([height, width], pixels).map_err(told)?;
        subject.examine(photo::develop, (&picture, sharpness, saturation, steepest), |found| {
            equals(clear)(found.0)?;
            equals(edges)(found.1)
        })
    })
}

fn place_queens(n: usize) -> Entry {
    Entry::new("queens", format!("{n}x{n}"), move |subject| {
        let known = queens::plain::KNOWN.get(n).copied().unwrap_or_else(|| queens::plain::count(n as u32));
        subject.examine(queens::count, n as i64, equals(vec![known]))
    })
}

/// Returns 64-bit numbers, and the same numbers sorted.
fn numbers(count: usize) -> [Vec<i64>; 2] {
    let mut numbers = Numbers::new(1);
    let values: Vec<i64> = (0..count).map(|_| numbers.bits() as i64).collect();
    let mut sorted = values.clone();
    sorted.sort_unstable();
    [values, sorted]
}

fn quick_sort(count: usize) -> Entry {
    Entry::new("quicksort", format!("{count} i64"), move |subject| {
        let [values, expected] = numbers(count);
        subject.examine(quicksort::sort::<i64>, &values, equals(expected))
    })
}

fn radix_sort_keys(count: usize) -> Entry {
    Entry::new("radix sort, bit by bit", format!("{count} i64"), move |subject| {
        let [values, expected] = numbers(count);
        subject.examine(radix_sort::sort::<i64>, &values, equals(expected))
    })
}

fn trace_rays(width: usize) -> Entry {
    const SPHERES: usize = 20;
    const DEPTH: i32 = 4;
    let height = width * 2 / 3;
    Entry::new("ray tracer", format!("{width}x{height} pixels, {SPHERES} spheres"), move |subject| {
        let spheres = ray_tracer::plain::row_of_spheres(SPHERES);
        let (width, height) = (width as i64, height as i64);
        let expected = ray_tracer::plain::trace(&spheres, width, height, DEPTH);
        subject.examine(ray_tracer::trace, (&spheres, width, height, DEPTH), equals(expected))
    })
}

fn shortest_ways(vertices: usize) -> Entry {
    let count = 4 * vertices;
    Entry::new("shortest paths", format!("{vertices} vertices, {count} edges"), move |subject| {
        let edges = shortest_paths::plain::random(vertices, count, 1);
        let expected = shortest_paths::plain::distances(vertices, &edges, 0);
        subject.examine(shortest_paths::distances, (vertices as i64, &edges, 0), equals(expected))
    })
}

fn multiply_sparse(rows: usize) -> Entry {
    Entry::new("sparse matrix times vector", format!("{rows} rows of about 16"), move |subject| {
        let matrix = smvm::plain::Sparse::uneven(rows, rows, 16, 1);
        let vector: Vec<f32> = (0..rows).map(|column| (column % 17) as f32 - 8.0).collect();
        let expected = matrix.times(&vector);
        subject.examine(smvm::smvm, (&matrix.segments, &matrix.entries, &vector), equals(expected))
    })
}
