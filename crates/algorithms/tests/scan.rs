//! Scans, on the simulator.

mod common;

use common::{array, run};
use pumice::Exp;
use pumice::layers::kernel::{Ix, Mutable, Pull};
use pumice_algorithms::scan::{
    Division, Monoid, Network, Operator, add_to_chunks, last_of_chunks, scan_chunks, scan_look_back,
    scan_with_sums, scanl, tile_sums,
};

const SIZES: [usize; 9] = [0, 1, 3, 64, 100, 511, 512, 2000, 5121];
const NETWORKS: [Network; 3] = [Network::Sklansky, Network::KoggeStone, Network::BrentKung];
const SMALL: Division = Division { threads: 64, rows: 2 };

fn numbers(n: usize) -> Vec<i32> {
    (0..n).map(|i| if i % 3 == 0 { 0 } else { (i * i % 1000) as i32 - 300 }).collect()
}

fn sum() -> Monoid<i32, impl Operator<i32>> {
    Monoid { operator: |a: Exp<i32>, b: Exp<i32>| a + b, neutral: 0.into() }
}

/// Not commutative: the later one, unless it is zero.
fn later() -> Monoid<i32, impl Operator<i32>> {
    Monoid { operator: |a: Exp<i32>, b: Exp<i32>| b.eq(0).select(a, b), neutral: 0.into() }
}

fn scanned(xs: &[i32], f: impl Fn(i32, i32) -> i32) -> Vec<i32> {
    let step = |sum: &mut i32, x: &i32| {
        *sum = f(*sum, *x);
        Some(*sum)
    };
    xs.iter().scan(0, step).collect()
}

fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

fn last_of_two(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { b }
}

#[test]
fn networks_scan_chunks_of_every_size() {
    for n in SIZES {
        let xs = numbers(n);
        for network in NETWORKS {
            let sums = run(64, move |xs: Pull<i32, Ix>| scan_chunks(network, sum(), 128, xs), &[array(&xs)]);
            let expected: Vec<i32> = xs.chunks(128).flat_map(|chunk| scanned(chunk, add)).collect();
            assert_eq!(sums.result::<i32>(), expected, "{n}, {network:?}");
            let kept =
                run(64, move |xs: Pull<i32, Ix>| scan_chunks(network, later(), 128, xs), &[array(&xs)]);
            let expected: Vec<i32> = xs.chunks(128).flat_map(|chunk| scanned(chunk, last_of_two)).collect();
            assert_eq!(kept.result::<i32>(), expected, "{n}, {network:?}");
        }
    }
}

/// Products of 2 × 2 matrices do not commute either, and are four numbers.
#[test]
fn networks_scan_matrices() {
    type M = (i32, i32, i32, i32);
    fn times(x: M, y: M) -> M {
        let dot = |a: i32, b: i32, c: i32, d: i32| a.wrapping_mul(b).wrapping_add(c.wrapping_mul(d));
        (dot(x.0, y.0, x.1, y.2), dot(x.0, y.1, x.1, y.3), dot(x.2, y.0, x.3, y.2), dot(x.2, y.1, x.3, y.3))
    }
    let xs: Vec<M> = (0..200).map(|i| (i % 3, 1, i % 5, i % 2 - 1)).collect();
    type E = (Exp<i32>, Exp<i32>, Exp<i32>, Exp<i32>);
    let product = |x: E, y: E| {
        let dot = |a, b, c, d| a * b + c * d;
        (dot(x.0, y.0, x.1, y.2), dot(x.0, y.1, x.1, y.3), dot(x.2, y.0, x.3, y.2), dot(x.2, y.1, x.3, y.3))
    };
    let mut expected = Vec::new();
    for chunk in xs.chunks(64) {
        let mut all = (1, 0, 0, 1);
        for x in chunk {
            all = times(all, *x);
            expected.push(all);
        }
    }
    for network in NETWORKS {
        let f = move |xs: Pull<M, Ix>| {
            let one = |x: i32| Exp::from(x);
            let neutral = (one(1), one(0), one(0), one(1));
            scan_chunks(network, Monoid { operator: product, neutral }, 64, xs)
        };
        assert_eq!(run(32, f, &[array(&xs)]).result::<M>(), expected, "{network:?}");
    }
}

#[test]
fn scanl_of_iota_by_32() {
    let xs: Vec<i32> = (0..96).collect();
    for network in NETWORKS {
        let rows = run(32, move |xs: Pull<i32, Ix>| scanl(network, sum(), 32, xs), &[array(&xs)]);
        let rows = rows.result::<i32>();
        assert_eq!(rows.len(), 3 * 33);
        assert_eq!(rows[..4], [0, 0, 1, 3]);
        assert_eq!(rows[32], 496);
    }
}

#[test]
fn chunks_are_put_together_recursively() {
    fn whole(xs: &[i32]) -> Vec<i32> {
        let scan = |xs: Pull<i32, Ix>| scan_chunks(Network::Sklansky, sum(), 32, xs);
        let chunks = run(32, scan, &[array(xs)]).result::<i32>();
        if xs.len() <= 32 {
            return chunks;
        }
        let last = run(32, |xs: Pull<i32, Ix>| last_of_chunks(32, xs), &[array(&chunks)]).result::<i32>();
        let add = |xs: Pull<i32, Ix>, sums: Pull<i32, Ix>| add_to_chunks(|a, b| a + b, 32, xs, sums);
        run(32, add, &[array(&chunks), array(&whole(&last))]).result()
    }
    for n in SIZES {
        assert_eq!(whole(&numbers(n)), scanned(&numbers(n), add), "{n}");
    }
}

#[test]
fn three_phases_scan_every_size() {
    for n in SIZES {
        let xs = numbers(n);
        let sums = run(64, |xs: Pull<i32, Ix>| tile_sums(later(), SMALL, xs), &[array(&xs)]).result::<i32>();
        let expected: Vec<i32> =
            xs.chunks(SMALL.tile()).map(|tile| tile.iter().copied().fold(0, last_of_two)).collect();
        assert_eq!(sums, expected, "{n}");
        let f = |xs: Pull<i32, Ix>, sums: Pull<i32, Ix>| scan_with_sums(later(), SMALL, xs, sums);
        let found = run(64, f, &[array(&xs), array(&scanned(&sums, last_of_two))]);
        assert_eq!(found.result::<i32>(), scanned(&xs, last_of_two), "{n}");
    }
}

#[test]
fn one_pass_scans_every_size() {
    for n in SIZES {
        let xs = numbers(n);
        let state = vec![0u64; n.div_ceil(SMALL.tile()) + 1];
        let f = |xs: Pull<i32, Ix>, state: Mutable<u64>| scan_look_back(later(), SMALL, xs, state);
        let found = run(64, f, &[array(&xs), array(&state)]);
        assert_eq!(found.result::<i32>(), scanned(&xs, last_of_two), "{n}");
    }
}

#[test]
fn a_gpus_division_scans_too() {
    let xs = numbers(3 * Division::GPU.tile() + 17);
    let state = vec![0u64; 5];
    let f = |xs: Pull<i32, Ix>, state: Mutable<u64>| scan_look_back(sum(), Division::GPU, xs, state);
    let found = run(256, f, &[array(&xs), array(&state)]);
    assert_eq!(found.result::<i32>(), scanned(&xs, add));
}
