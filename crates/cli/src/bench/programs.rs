//! Workloads that are whole programs: statistics of a vector with several results, and one round each of k-means, of bodies that attract
//! each other and of PageRank; conjugate gradients with all their rounds.

use super::inputs::{hash, uniform};
use super::reference::{check, check_all, check_exactly, check_length};
use super::workloads::{Measured, Workload, matrix};
use pumice::prelude::*;
use pumice_algorithms::Work;
use pumice_algorithms::whole::bodies::{self, Body};
use pumice_algorithms::whole::{nbody, poisson};

/// Sizes of the inputs.
#[derive(Clone, Copy)]
pub struct ProgramSizes {
    /// Points of k-means.
    pub points: usize,
    /// Bodies of the n-body simulation.
    pub bodies: usize,
    /// Pages of PageRank, a power of two.
    pub pages: usize,
    /// The side of the grid of conjugate gradients, and the number of their rounds.
    pub grid: (usize, i64),
}

/// Returns the workloads; the statistics are of a vector of this length.
pub fn workloads(vector: usize, sizes: ProgramSizes) -> Vec<Workload> {
    let ProgramSizes { points, bodies, pages, grid: (side, rounds) } = sizes;
    vec![
        statistics(vector),
        k_means(points),
        n_body(bodies),
        n_body_of_structs(bodies),
        page_rank(pages),
        conjugate_gradients(side, rounds),
    ]
}

fn told(error: impl ToString) -> String {
    error.to_string()
}

const BINS: usize = 64;

fn bin_of(x: f32) -> usize {
    (x * BINS as f32) as usize
}

/// Returns a workload with five results of one program.
fn statistics(n: usize) -> Workload {
    Workload::new("statistics f32", n, 4 * n, move |timing| {
        let xs = uniform(n, 0);
        let count = n as f64;
        let mean = xs.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
        let squares = xs.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>() / count;
        let (least, most) = xs.iter().fold((f32::MAX, f32::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
        let mut expected = vec![0u32; BINS];
        xs.iter().for_each(|x| expected[bin_of(*x)] += 1);
        let program = |xs: Acc<Vector<f32>>| {
            let n = xs.size().cast::<f32>();
            let mean = xs.clone().sum().map(|sum| sum / n);
            let squares = xs.clone().map(|x| x * x).sum();
            let variance = squares.zip_with(mean.clone(), |squares, mean| squares / n - mean * mean);
            let counts = xs.clone().histogram(BINS, |x| (x * BINS as f32).cast::<i64>());
            (mean, variance, xs.clone().min(), xs.max(), counts)
        };
        timing.median_of_results(program, Vector::from(xs.as_slice()), |found| {
            let (found_mean, variance, found_least, found_most, counts) = found;
            check("the mean", found_mean.to_value().map_err(told)?, 1e-3, mean)?;
            check("the variance", variance.to_value().map_err(told)?, 1e-3, squares - mean * mean)?;
            check_exactly(&[found_least.to_value().map_err(told)?], &[least])?;
            check_exactly(&[found_most.to_value().map_err(told)?], &[most])?;
            check_exactly(&counts.to_vec().map_err(told)?, &expected)
        })
    })
}

/// Coordinates of a point of k-means, and the number of centres.
const COORDINATES: usize = 16;
const CENTRES: usize = 32;

/// Moves each centre to the mean of the points that are nearest to it.
fn moved_centres(points: Acc<Matrix<f32>>, centres: Acc<Matrix<f32>>) -> Acc<Matrix<f32>> {
    let (count, clusters) = (points.shape().0, centres.shape().0);
    // A thread loads its point once and goes through all centres.
    let nearest = |i: Exp<i64>| {
        let point: Vec<Exp<f32>> = (0..COORDINATES).map(|d| points.at((i, d))).collect();
        let (_, _, label) = while_(
            (constant(0i64), constant(f32::INFINITY), constant(0i64)),
            |(j, _, _)| j.lt(clusters),
            |(j, best, label)| {
                let ways = point.iter().enumerate().map(|(d, x)| *x - centres.at((j, d)));
                let distance = ways.fold(constant(0f32), |sum, way| sum + way * way);
                let is_nearer = distance.lt(best);
                (j + 1, is_nearer.select(distance, best), is_nearer.select(j, label))
            },
        );
        label
    };
    let labels = generate(count, nearest);
    let sums = points.permute(|a, b| a + b, fill(centres.shape(), 0.0), |(i, d)| (labels.at(i), d));
    let counts = labels.histogram(clusters, |label| label);
    sums.zip_with(centres, |sum, before| (sum, before)).imap(|(j, _), (sum, before)| {
        let count = counts.at(j);
        count.gt(0).select(sum / count.cast::<f32>(), before)
    })
}

fn k_means(n: usize) -> Workload {
    let (name, numbers) = (format!("k-means {n}x{COORDINATES} k {CENTRES}"), n * COORDINATES);
    Workload::new(name, n, 4 * numbers, move |timing| {
        let points = uniform(numbers, 0);
        let centres = &points[..CENTRES * COORDINATES];
        let mut sums = vec![(0.0, 0u32); CENTRES * COORDINATES];
        for point in points.chunks(COORDINATES) {
            let distance = |centre: &[f32]| -> f64 {
                point.iter().zip(centre).map(|(a, b)| f64::from(a - b).powi(2)).sum()
            };
            let distances = centres.chunks(COORDINATES).map(distance).enumerate();
            let nearest = distances.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(label, _)| label);
            for (sum, x) in sums[nearest * COORDINATES..].iter_mut().zip(point) {
                *sum = (sum.0 + f64::from(*x), sum.1 + 1);
            }
        }
        // Each centre is the nearest one to itself, so none is without points.
        let expected = |i: usize| sums[i].0 / f64::from(sums[i].1);
        let arguments = (matrix(n, COORDINATES, &points)?, matrix(CENTRES, COORDINATES, centres)?);
        timing.median(moved_centres, arguments, |found| {
            check_all(&found, CENTRES * COORDINATES, 1e-3, expected)
        })
    })
}

/// Time step of the simulation.
const STEP: f32 = 0.01;
/// Floating-point operations per pair of bodies, as they are usually counted.
const OPERATIONS_OF_PAIR: usize = 20;

/// Returns bodies at rest, before the first step and after it.
fn still_bodies(n: usize) -> [Vec<nbody::Body>; 2] {
    let (places, masses) = (uniform(3 * n, 0), uniform(n, 1));
    let body = |i: usize| {
        let place = (places[3 * i], places[3 * i + 1], places[3 * i + 2]);
        (place, (0.0, 0.0, 0.0), masses[i] / n as f32)
    };
    let bodies: Vec<nbody::Body> = (0..n).map(body).collect();
    let expected = nbody::plain::advance(&bodies, STEP, 1);
    [bodies, expected]
}

/// Compares the positions and velocities of bodies with the expected ones.
fn check_bodies(found: &[[f32; 6]], expected: &[nbody::Body]) -> Result<(), String> {
    check_length(found, expected.len())?;
    found.iter().zip(expected).enumerate().try_for_each(|(i, (found, expected))| {
        let ((x, y, z), (u, v, w), _) = *expected;
        found.iter().zip([x, y, z, u, v, w]).try_for_each(|(found, expected)| {
            check(&format!("a number of body {i}"), *found, 1e-4, f64::from(expected))
        })
    })
}

/// Returns a workload of one step of bodies that are tuples.
fn n_body(n: usize) -> Workload {
    let work = Work::Operations(OPERATIONS_OF_PAIR * n * n);
    Workload::of_work(format!("n-body {n}"), n, work, move |timing| {
        let [bodies, expected] = still_bodies(n);
        timing.median(nbody::step, (Vector::from(bodies), STEP), |found| {
            let numbers = |((x, y, z), (u, v, w), _): &nbody::Body| [*x, *y, *z, *u, *v, *w];
            check_bodies(&found.iter().map(numbers).collect::<Vec<_>>(), &expected)
        })
    })
    .with_fast_math()
}

/// Returns the same workload of bodies that are structs, which must cost nothing.
fn n_body_of_structs(n: usize) -> Workload {
    let work = Work::Operations(OPERATIONS_OF_PAIR * n * n);
    Workload::of_work(format!("n-body of structs {n}"), n, work, move |timing| {
        let [bodies, expected] = still_bodies(n);
        let bodies: Vec<Body> = bodies.into_iter().map(Body::from).collect();
        timing.median(bodies::step, (Vector::from(bodies), STEP), |found| {
            let numbers = |Body { position: p, velocity: v, .. }: &Body| [p.x, p.y, p.z, v.x, v.y, v.z];
            check_bodies(&found.iter().map(numbers).collect::<Vec<_>>(), &expected)
        })
    })
}

/// Links per page.
const LINKS: usize = 16;
/// Damping factor: the probability that a link is followed.
const DAMPING: f32 = 0.85;

/// The pages that link to each page, in compressed rows, and the number of links of each page.
struct Web {
    offsets: Vec<i64>,
    sources: Vec<i32>,
    links: Vec<u32>,
}

impl Web {
    /// Makes a web with this many pages, a power of two. Many links go to few pages, and every eighth page has none to others.
    fn new(pages: usize) -> Web {
        let page = |link: u32, stream: u32| hash(link, stream) as usize % pages;
        let count = LINKS * pages;
        let ends = (0..count as u32).map(|link| {
            let source = page(link, 0);
            // Numbers with few set bits are frequent.
            (source + usize::from(source % 8 == 0), page(link, 1) & page(link, 2))
        });
        let (mut offsets, mut links) = (vec![0i64; pages + 1], vec![0u32; pages]);
        for (source, target) in ends.clone() {
            links[source] += 1;
            offsets[target + 1] += 1;
        }
        (0..pages).for_each(|page| offsets[page + 1] += offsets[page]);
        let (mut next, mut sources) = (offsets.clone(), vec![0i32; count]);
        for (source, target) in ends {
            sources[next[target] as usize] = source as i32;
            next[target] += 1;
        }
        Web { offsets, sources, links }
    }

    /// Returns the ranks after one round, and the sum of their changes.
    fn round(&self, ranks: &[f32]) -> (Vec<f64>, f64) {
        let (damping, equal) = (f64::from(DAMPING), 1.0 / ranks.len() as f64);
        let lost: f64 =
            ranks.iter().zip(&self.links).filter(|(_, links)| **links == 0).map(|(x, _)| f64::from(*x)).sum();
        let share = |source: &i32| {
            let source = *source as usize;
            f64::from(ranks[source]) / f64::from(self.links[source])
        };
        let rank = |ends: &[i64]| {
            let followed: f64 = self.sources[ends[0] as usize..ends[1] as usize].iter().map(share).sum();
            damping * (followed + equal * lost) + (1.0 - damping) * equal
        };
        let next: Vec<f64> = self.offsets.windows(2).map(rank).collect();
        let change = next.iter().zip(ranks).map(|(new, old)| (new - f64::from(*old)).abs()).sum();
        (next, change)
    }
}

/// Computes one round, and the sum of the changes of ranks, which would end a loop.
fn ranked(
    offsets: Acc<Vector<i64>>,
    sources: Acc<Vector<i32>>,
    links: Acc<Vector<u32>>,
    ranks: Acc<Vector<f32>>,
) -> (Acc<Vector<f32>>, Acc<Scalar<f32>>) {
    let equal = 1.0 / ranks.size().cast::<f32>();
    let lost = sum![rank | rank <- ranks | links <- links, links == 0];
    let shares = comp![rank / (links as f32) | rank <- ranks | links <- links];
    let followed = comp![
        sum![shares[source as i64] | source <- sources[start..end]] | start <- offsets | end <- offsets[1..]
    ];
    let next =
        comp![DAMPING * (followed + equal * lost.the()) + (1.0 - DAMPING) * equal | followed <- followed];
    let change = sum![(new - old).abs() | new <- next | old <- ranks];
    (next, change)
}

fn page_rank(pages: usize) -> Workload {
    let links = LINKS * pages;
    // Sources of links, row offsets, links of each page, and ranks, read and written.
    let bytes = 4 * links + 8 * (pages + 1) + 12 * pages;
    Workload::new(format!("PageRank {pages} {links}"), links, bytes, move |timing| {
        let web = Web::new(pages);
        // As if after some rounds: not all the same, and their sum about 1.
        let ranks: Vec<f32> = uniform(pages, 3).iter().map(|x| (x + 0.5) / pages as f32).collect();
        let (expected, change) = web.round(&ranks);
        let arguments = (
            Vector::from(web.offsets.as_slice()),
            Vector::from(web.sources.as_slice()),
            Vector::from(web.links.as_slice()),
            Vector::from(ranks.as_slice()),
        );
        timing.median_of_results(ranked, arguments, |(found, found_change)| {
            let found = found.to_vec().map_err(told)?;
            check_length(&found, pages)?;
            // Ranks are far below 1, so they are compared as multiples of their mean.
            let scaled = |rank: f64| rank * pages as f64;
            found.iter().zip(&expected).enumerate().try_for_each(|(i, (found, expected))| {
                let found = scaled(f64::from(*found)) as f32;
                check(&format!("the rank of page {i}, of the mean,"), found, 1e-3, scaled(*expected))
            })?;
            check("the change", found_change.to_value().map_err(told)?, 1e-3, change)
        })
    })
}

/// Least memory traffic of a round of conjugate gradients per point: reads the direction for its image and the first inner product;
/// solution, direction and residual, of which two are written; and residual and direction once more, of which one is written.
const BYTES_OF_ROUND: usize = 8 * (1 + 5 + 3);

fn conjugate_gradients(side: usize, rounds: i64) -> Workload {
    let n = side * side;
    let name = format!("conjugate gradients {side}x{side}");
    Workload::measured(name, n, move |timing| {
        let f: Vec<f64> = uniform(n, 0).iter().map(|x| f64::from(*x) - 0.5).collect();
        let (expected, _, made) = poisson::plain::solve(&f, side, side, 0.0, rounds);
        let arguments = (Matrix::from_slice([side, side], &f).map_err(told)?, 0.0, rounds);
        let median_ms = timing.median(poisson::solve, arguments, |found| {
            check_length(&found, n)?;
            let largest = expected.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
            let farthest = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Written so that a NaN is an error too.
            match farthest <= 1e-6 * (1.0 + largest) {
                true => Ok(()),
                false => Err(format!("the solution is off by {farthest}, of at most {largest}")),
            }
        })?;
        Ok(Measured { median_ms, work: Work::Bytes(made as usize * BYTES_OF_ROUND * n) })
    })
}
