//! CUDA code of the programs of the Obsidian paper, compared with the code that the paper prints.
//!
//! The texts are in `snapshots/`, for people to read when they change; `INSTA_UPDATE=always` writes them anew. They are for
//! 2^20 elements, a made-up GPU, and (where the paper's kernels have 512) for blocks of 16, which is enough to see them.
//! Everywhere, a block asks whether there is one for it to do, and nothing is left of bounds checks: that is asserted. What else differs from the paper is said with each.

mod support;

use pumice::Exp;
use pumice_algorithms::combinators::Threading;
use pumice_algorithms::networks::{Stage, bmerge, tsort, vsort};
use pumice_algorithms::obsidian::*;
use pumice_algorithms::sort::{BlockFunction, Exchange, Small, on_blocks};
use std::rc::Rc;
use support::cuda;

const N: usize = 1 << 20;

fn snapshot(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

/// Counts the barriers.
fn barriers(text: &str) -> usize {
    text.matches("__syncthreads").count()
}

/// Counts the conditions, except the one that asks whether there is a block to do.
fn conditions(text: &str) -> usize {
    text.matches("if (").count() - text.matches("if (block < ").count()
}

/// The paper's code with four threads, too: three rounds, each with a barrier, and a thread that copies the result. Here
/// the two elements of a pair are read in one access.
#[test]
fn sum_of_8() {
    let text = cuda("sum", 4, sum, &[N], &[]);
    assert_eq!((barriers(&text), text.matches("int2").count()), (3, 6));
    snapshot("sum", &text);
}

/// One expression, as in the paper.
#[test]
fn fused_maps() {
    snapshot("mapFusion", &cuda("mapFusion", 32, map_fusion, &[N], &[]));
}

/// As in the paper, an array in shared memory and one barrier.
#[test]
fn unfused_maps() {
    let text = cuda("mapUnFused", 32, map_unfused, &[N], &[]);
    assert_eq!(barriers(&text), 1);
    snapshot("mapUnFused", &text);
}

/// As in the paper, one thread adds all eight. It is written as a list of sums instead of one nested one, and the elements
/// are read four at a time.
#[test]
fn sequential_reduction() {
    let text = cuda("reduceS", 1, reduce_s(REDUCED, |a: Exp<i32>, b| a + b), &[N], &[]);
    assert!(!text.contains("__syncthreads"));
    snapshot("reduceS", &text);
}

/// As in the paper: four, two and one threads at work, with barriers between.
#[test]
fn parallel_reduction() {
    let text = cuda("reduce", 4, reduce(REDUCED, |a: Exp<i32>, b| a + b), &[N], &[]);
    assert_eq!(barriers(&text), 3);
    snapshot("reduce", &text);
}

/// The paper's conditional expression is an `if` here, so that only the array that an element is from is read.
#[test]
fn pull_append() {
    let text = cuda("catArrays", 32, cat_arrays, &[N, N], &[]);
    assert_eq!(conditions(&text), 1);
    snapshot("catArrays", &text);
}

/// As in the paper: two assignments by each of 16 threads, and no condition.
#[test]
fn push_append() {
    let text = cuda("catArrayPs", 16, cat_array_ps, &[N, N], &[]);
    assert_eq!(conditions(&text), 0);
    snapshot("catArrayPs", &text);
}

/// The paper's conditional expression is an `if` here, so that only the array that an element is from is read.
#[test]
fn pull_unpair() {
    let text = cuda("zippUnpair", 64, zip_unpair, &[N, N], &[]);
    assert_eq!(conditions(&text), 1);
    snapshot("zippUnpair", &text);
}

/// As in the paper, without a condition; the two assignments of a thread are to neighbours and become one.
#[test]
fn push_unpair() {
    let text = cuda("zippUnpairP", 32, zip_unpair_p, &[N, N], &[]);
    assert_eq!(conditions(&text), 0);
    assert_eq!(text.matches("int2").count(), 2);
    snapshot("zippUnpairP", &text);
}

fn blocks(name: &str, n: u32, threads: u32, f: BlockFunction<i32>) -> String {
    cuda(name, threads, on_blocks(n, f), &[N], &[])
}

fn network(name: &str, stages: Vec<Stage>, n: u32, threading: Threading) -> String {
    blocks(name, n, threading.threads(n), Rc::new(threading.network(stages, n)))
}

/// As in the paper, except that the last stage writes the result itself: there is a barrier and a copy less.
#[test]
fn bitonic_merge_of_16() {
    let text = network("bitonicMerge", bmerge(4), 4, Threading::One);
    assert_eq!((barriers(&text), text.matches(" ? ").count()), (3, 4 + 2));
    snapshot("bitonicMerge", &text);
}

/// The paper does not print these. One index a thread has a choice in each stage; two have none; with four, some barriers
/// are gone as well.
#[test]
fn sorters_of_16() {
    for (name, stages, threading, expected) in [
        ("tsort1", tsort(4), Threading::One, 9),
        ("tsort2", tsort(4), Threading::Two, 9),
        ("vsort1", vsort(4), Threading::One, 9),
        ("vsort2", vsort(4), Threading::Two, 9),
        ("vsort", vsort(4), Threading::Registers(2), 4),
    ] {
        let text = network(name, stages, 4, threading);
        assert_eq!(barriers(&text), expected, "{name}");
        // `min` and `max` have a choice each.
        assert_eq!(text.matches(" ? ").count() > 2, threading == Threading::One, "{name}");
        snapshot(name, &text);
    }
}

/// The kernels that are measured: one barrier a stage but the last; ten in all where a thread has sixteen elements.
#[test]
fn sorters_of_512() {
    for small in Small::ALL {
        let text = blocks(small.name(), 9, small.threading(4).threads(9), small.block(9, 4));
        let expected = match small {
            Small::Vsort => 10,
            // One after the elements are in shared memory, and one after each stage.
            Small::Bitonic => 46,
            _ => 44,
        };
        assert_eq!(barriers(&text), expected, "{small:?}");
    }
}

/// The appendix's loops are unrolled here, as every loop of Rust is: what depends on them is known.
#[test]
fn bitonic_of_16() {
    snapshot("bitonic", &blocks("bitonic", 4, 16, Small::Bitonic.block(4, 0)));
}

/// The paper has these as CUDA by hand, and does not print them.
#[test]
fn passes_between_blocks() {
    for pass in [Exchange::V_SWAP, Exchange::I_SWAP, Exchange::I_SWAP2, Exchange::I_SWAP3] {
        // SAFETY: nothing is launched.
        let kernel = unsafe { pass.kernel::<i32>() };
        let text = cuda(&pass.name(), pass.threads(), kernel, &[N], &[1 << 14]);
        assert_eq!(conditions(&text), 0, "{text}");
        snapshot(&pass.name(), &text);
    }
    for (mirrored, rows) in [(true, 8), (false, 5)] {
        let pass = Exchange { mirrored, rows, columns: 12 - rows, registers: 4 };
        // SAFETY: nothing is launched.
        let kernel = unsafe { pass.kernel::<i32>() };
        let text = cuda(&pass.name(), pass.threads(), kernel, &[N], &[1 << 19]);
        assert_eq!(conditions(&text), 0, "{text}");
    }
}
