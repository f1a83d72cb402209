//! The small programs of the Obsidian paper, on the simulator, against plain Rust.

mod support;

use pumice_algorithms::numbers::numbers;
use pumice_algorithms::obsidian::*;
use support::{Arguments, array, run};

/// Nothing, less than a block, a block, several, and several with a rest.
fn sizes(block: usize) -> [usize; 6] {
    [0, 1, block, 3 * block, 3 * block + 1, 40 * block + block / 2]
}

fn blockwise(xs: &[i32], size: usize, f: impl Fn(&[i32]) -> Vec<i32>) -> Vec<i32> {
    xs.chunks_exact(size).flat_map(f).collect()
}

#[test]
fn blocks_are_reduced() {
    let add = |a: pumice::Exp<i32>, b: pumice::Exp<i32>| a + b;
    for size in sizes(REDUCED) {
        let xs = numbers(size);
        let total = |block: &[i32]| vec![block.iter().fold(0i32, |a, b| a.wrapping_add(*b))];
        let expected = blockwise(&xs, REDUCED, total);
        assert_eq!(run("sum", 4, sum, &array(&xs)), expected, "sum of {size}");
        assert_eq!(run("reduceS", 1, reduce_s(REDUCED, add), &array(&xs)), expected, "reduceS of {size}");
        assert_eq!(run("reduce", 4, reduce(REDUCED, add), &array(&xs)), expected, "reduce of {size}");
    }
}

#[test]
fn reductions_take_any_operator_and_any_power_of_two() {
    for (size, count) in [(1, 5), (2, 7), (64, 200), (512, 1500)] {
        let xs = numbers(count);
        let largest = blockwise(&xs, size, |block| block.iter().max().copied().into_iter().collect());
        let f = reduce(size, |a: pumice::Exp<i32>, b| a.max(b));
        assert_eq!(run("reduce", (size as u32 / 2).max(1), f, &array(&xs)), largest);
        let f = reduce_s(size, |a: pumice::Exp<i32>, b| a.max(b));
        assert_eq!(run("reduceS", 1, f, &array(&xs)), largest);
    }
}

#[test]
fn maps_are_fused_or_not() {
    for size in sizes(MAPPED) {
        let xs = numbers(size);
        let each = |block: &[i32]| block.iter().map(|x| x.wrapping_mul(2).wrapping_add(1)).collect();
        let expected = blockwise(&xs, MAPPED, each);
        assert_eq!(run("mapFusion", 32, map_fusion, &array(&xs)), expected);
        assert_eq!(run("mapUnFused", 32, map_unfused, &array(&xs)), expected);
    }
}

#[test]
fn arrays_are_put_together() {
    for size in sizes(APPENDED) {
        let (xs, ys) = (numbers(size), numbers(size + 3));
        let both = || Arguments { arrays: vec![&xs, &ys], scalars: Vec::new() };
        let parts = xs.chunks_exact(APPENDED).zip(ys.chunks_exact(APPENDED));
        let expected: Vec<i32> = parts.flat_map(|(x, y)| [x, y].concat()).collect();
        assert_eq!(run("catArrays", 32, cat_arrays, &both()), expected);
        assert_eq!(run("catArrayPs", 16, cat_array_ps, &both()), expected);
    }
    for size in sizes(ZIPPED) {
        let (xs, ys) = (numbers(size + 9), numbers(size));
        let both = || Arguments { arrays: vec![&xs, &ys], scalars: Vec::new() };
        let whole = size / ZIPPED * ZIPPED;
        let expected: Vec<i32> = xs.iter().zip(&ys).take(whole).flat_map(|(x, y)| [*x, *y]).collect();
        assert_eq!(run("zippUnpair", 64, zip_unpair, &both()), expected);
        assert_eq!(run("zippUnpairP", 32, zip_unpair_p, &both()), expected);
    }
}
