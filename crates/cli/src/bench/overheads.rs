//! Workloads with little work and much overhead: planning, launches of small kernels, and rounds of loops.

use super::inputs::uniform;
use super::reference::check_exactly;
use super::timing::Timing;
use super::workloads::Workload;
use pumice::prelude::*;

/// Returns the workloads; loops have this many rounds over each of these numbers of elements.
pub fn workloads(rounds: i64, elements: [usize; 2]) -> Vec<Workload> {
    let mut all = vec![planning(), small_kernels()];
    all.extend(elements.map(|n| loop_of_maps(rounds, n)));
    all
}

/// Returns a workload of the host's work before the first launch, for a program of twenty operations.
fn planning() -> Workload {
    Workload::new("planning 20 operations", 20, 0, |timing: &Timing| {
        let xs = Vector::from(uniform(1000, 0).as_slice());
        timing.planning(twenty_operations, (&xs, &xs))
    })
}

fn twenty_operations(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    let sums = xs.clone().zip_with(ys.clone(), |x, y| x * y).map(|x| x + 1.0).scanl1(|a, b| a + b);
    let kept = sums.clone().map(|x| x * 0.5).filter(|x| x.gt(2.0)).map(|x| x - 2.0).sum();
    let table = ys.reverse().map(|y| y * y).reshape((10, 100)).transpose();
    let rows = table.clone().sum().zip_with(table.max(), |sum, most| sum / most);
    let counts = xs.histogram(100, |x| (x * 100.0).cast::<i64>().clamp(0, 99)).map(|n| n.cast::<f32>());
    let totals = rows.zip_with3(counts, sums.take(100), |a, b, c| a + b * c).rotate(3);
    totals.zip_with(kept.replicate(100), |x, total| x / total)
}

/// Kernels of the chain, and elements that each of them writes.
const KERNELS: usize = 20;
const SMALL: usize = 1000;
/// Factor of a round, which then adds 1. Neither is rounded away, and numbers stay small.
const FACTOR: f32 = 0.75;

/// Returns a workload of maps in a chain. Each is in memory before the next one begins, which reads elements that other threads have written.
fn small_kernels() -> Workload {
    Workload::new(format!("{KERNELS} small kernels"), SMALL, 8 * SMALL * KERNELS, |timing| {
        let xs = uniform(SMALL, 0);
        // Reversed an even number of times, the elements are back in their places.
        let expected: Vec<f32> = xs.iter().map(|x| after(*x, KERNELS as i64)).collect();
        let turned = |xs: Acc<Vector<f32>>| xs.reverse().map(|x| x * FACTOR + 1.0).compute();
        let chain = move |xs: Acc<Vector<f32>>| (0..KERNELS).fold(xs, |xs, _| turned(xs));
        let arguments = Vector::from(xs.as_slice());
        let launches = timing.compiler().compile(chain).and_then(|chain| chain.skeletons(&arguments));
        let launches = launches.map_err(|error| error.to_string())?.len();
        if launches != KERNELS {
            return Err(format!("{launches} kernels are launched, not {KERNELS}"));
        }
        timing.median(chain, arguments, |found| check_exactly(&found, &expected))
    })
}

/// Returns a number after this many rounds, to the bit.
fn after(x: f32, rounds: i64) -> f32 {
    (0..rounds).fold(x, |x, _| x * FACTOR + 1.0)
}

/// Number of distinct values in a vector that a loop changes: few, so that plain Rust is fast.
const DIFFERENT: usize = 1000;

/// Returns a workload of a loop whose rounds are one map, a count, and a test of it.
fn loop_of_maps(rounds: i64, n: usize) -> Workload {
    Workload::new(format!("awhile {rounds} steps {n}"), n, 8 * n * rounds as usize, move |timing| {
        let different = uniform(DIFFERENT.min(n), 0);
        let repeated = |numbers: &[f32]| (0..n).map(|i| numbers[i % numbers.len()]).collect::<Vec<f32>>();
        let results: Vec<f32> = different.iter().map(|x| after(*x, rounds)).collect();
        let program = |xs: Acc<Vector<f32>>, rounds: Exp<i64>| {
            let (xs, _) = awhile(
                (xs, unit(0)),
                |(_, round)| round.map(|round| round.lt(rounds)),
                |(xs, round)| (xs.map(|x| x * FACTOR + 1.0), round.map(|round| round + 1)),
            );
            xs
        };
        let arguments = (Vector::from(repeated(&different).as_slice()), rounds);
        timing.median(program, arguments, |found| check_exactly(&found, &repeated(&results)))
    })
}
