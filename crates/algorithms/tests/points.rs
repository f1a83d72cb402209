//! Histograms, the Mandelbrot set and Sobol numbers, on the simulator.

mod common;

use common::{array, number, run, scalar};
use pumice::Exp;
use pumice::layers::kernel::{Ix, Mutable, Pull};
use pumice_algorithms::histogram::{Division, histogram, histogram_global};
use pumice_algorithms::{mandelbrot, sobol};

fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| i.wrapping_mul(i).wrapping_mul(31) - 1000).collect()
}

fn counted(xs: &[i32], bins: u32) -> Vec<i32> {
    let mut counts = vec![0; bins as usize];
    xs.iter().for_each(|x| counts[(*x as u32 % bins) as usize] += 1);
    counts
}

#[test]
fn histograms_take_every_size() {
    let division = Division { bins: 256, threads: 64, items: 8 };
    for n in [0, 1, 100, 512, 513, 2100] {
        let xs = numbers(n);
        let arguments = [array(&[0i32; 256]), array(&xs)];
        let private = move |bins: Mutable<i32>, xs: Pull<i32, Ix>| histogram(division, bins, xs);
        assert_eq!(run(64, private, &arguments).changed::<i32>(0), counted(&xs, 256), "{n}");
        for bins in [1, 10, 256, 1000] {
            let arguments = [array(&vec![0i32; bins]), array(&xs)];
            let global = run(64, histogram_global, &arguments);
            assert_eq!(global.changed::<i32>(0), counted(&xs, bins as u32), "{n}, {bins} bins");
        }
    }
}

#[test]
fn mandelbrot_is_the_known_one() {
    let points = mandelbrot::reference(512, 512);
    assert_eq!(points.iter().filter(|count| **count == 512).count(), 51769);
    assert_eq!(points.iter().map(|count| i64::from(*count)).sum::<i64>(), 28009472);
    let small = run(32, |cap: Exp<i32>| mandelbrot::mandelbrot(40, cap), &[scalar(100)]);
    assert_eq!(small.result::<i32>(), mandelbrot::reference(40, 100));
}

#[test]
fn sobol_numbers_are_the_known_ones() {
    let points = sobol::reference(1 << 20);
    assert_eq!(points.iter().filter(|(x, y)| x * x + y * y < 1.0).count(), 823574);
    assert_eq!(points[..4], [(0.0, 0.0), (0.5, 0.5), (0.25, 0.75), (0.75, 0.25)]);
    for n in [0, 1, 33, 1000] {
        let found = run(64, sobol::sobol, &[number(n)]).result::<(f32, f32)>();
        assert_eq!(found, points[..n]);
        let inside = run(64, |count: Ix| sobol::inside(count, 64, 8), &[number(n)]).result::<i32>();
        let expected = points[..n].iter().filter(|(x, y)| x * x + y * y < 1.0).count();
        assert_eq!(inside.iter().sum::<i32>() as usize, expected);
    }
}
