//! The programs of the FCL paper, on the simulator.

mod common;

use common::{array, run};
use pumice::layers::kernel::{Ix, Pull};
use pumice_algorithms::fcl::{reduce_grid, reduce_grid_seq, reduce_grid_while, rev_distribute, reverse};

const SIZES: [usize; 9] = [0, 1, 3, 63, 64, 100, 512, 513, 2051];

fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| i.wrapping_mul(i) % 1000 - 300).collect()
}

#[test]
fn reversal_takes_every_size() {
    for n in SIZES {
        let xs = numbers(n);
        let expected: Vec<i32> = xs.iter().rev().copied().collect();
        let whole = run(64, reverse::<i32>, &[array(&xs)]);
        assert_eq!(whole.result::<i32>(), expected, "{n}");
        let chunks = run(64, |xs: Pull<i32, Ix>| rev_distribute(128, xs), &[array(&xs)]);
        assert_eq!(chunks.result::<i32>(), expected, "{n}");
    }
}

#[test]
fn reductions_take_every_size() {
    for n in SIZES {
        let xs = numbers(n);
        let sums = |size: usize| xs.chunks(size).map(|chunk| chunk.iter().sum()).collect::<Vec<i32>>();
        let unrolled =
            run(64, |xs: Pull<i32, Ix>| reduce_grid(|a, b| a + b, 0.into(), 128, xs), &[array(&xs)]);
        assert_eq!(unrolled.result::<i32>(), sums(128), "{n}");
        let looped =
            run(64, |xs: Pull<i32, Ix>| reduce_grid_while(|a, b| a + b, 0.into(), 128, xs), &[array(&xs)]);
        assert_eq!(looped.result::<i32>(), sums(128), "{n}");
        let sequential =
            run(64, |xs: Pull<i32, Ix>| reduce_grid_seq(|a, b| a + b, 0.into(), 64, 8, xs), &[array(&xs)]);
        assert_eq!(sequential.result::<i32>(), sums(512), "{n}");
    }
}

#[test]
fn sums_of_512_are_the_papers() {
    let xs: Vec<i32> = (0..4096).collect();
    let sums = run(256, |xs: Pull<i32, Ix>| reduce_grid(|a, b| a + b, 0.into(), 512, xs), &[array(&xs)]);
    let expected: Vec<i32> = (0..8).map(|k| 130816 + 262144 * k).collect();
    assert_eq!(sums.result::<i32>(), expected);
}
