//! The programs over arrays and matrices of any size: one kernel comes of both languages.

use super::same::{of_one, same_kernel};
use pumice_algorithms::{fcl, histogram, matrix, scan, sieve};
use pumice_kernel::{Grid, Ix, Layout, Mutable, Pull, Push};
use pumice_scalar::Exp;

/// The programs in `.pum`.
fn tiled() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/pum/tiled.pum");
    std::fs::read_to_string(path).expect("the example is there")
}

fn add(a: Exp<i32>, b: Exp<i32>) -> Exp<i32> {
    a + b
}

/// A length of whole tiles; other lengths have tiles that are not whole.
///
/// In `.pum`, `tiles`, `halve`, `rowsOf` and their like are library functions with bounds checks. Rust's are trusted to stay in bounds. So
/// kernels are the same where the checks are proved away for the lengths of a launch.
///
/// No counterpart in `.pum`: `vSwap` and `iSwap` where a thread places each of its two elements (`examples/pum/obsidian.pum` has them with one);
/// scans in one pass, which wait for other blocks; and `vsort` in registers, a network that Rust rearranges.
const WHOLE: usize = 2048;

#[test]
fn reductions_of_tiles() {
    for length in [WHOLE, 1100, 100] {
        let reduced = of_one(&tiled(), "reduceTiles (+) 0 512 xs");
        same_kernel(&reduced, 256, &[length], |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
            fcl::reduce_grid(add, 0.into(), 512, xs)
        });
    }
}

#[test]
fn reductions_in_a_loop_of_the_kernel() {
    for length in [WHOLE, 1100, 100] {
        let reduced = of_one(&tiled(), "reduceTilesWhile (+) 0 512 xs");
        same_kernel(&reduced, 256, &[length], |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
            fcl::reduce_grid_while(add, 0.into(), 512, xs)
        });
    }
}

#[test]
fn reductions_by_lanes() {
    for length in [WHOLE, 1100, 100] {
        let reduced = of_one(&tiled(), "reduceTilesSeq (+) 0 64 16 xs");
        same_kernel(&reduced, 64, &[length], |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
            fcl::reduce_grid_seq(add, 0.into(), 64, 16, xs)
        });
    }
}

#[test]
fn reversal_in_tiles() {
    for length in [WHOLE, 1100, 100] {
        let reversed = of_one(&tiled(), "reverseTiles 256 xs");
        same_kernel(&reversed, 64, &[length], |xs: Pull<i32, Ix>| fcl::rev_block(256, xs));
    }
}

#[test]
fn scans_of_tiles() {
    let networks = [
        ("sklansky", scan::Network::Sklansky),
        ("koggeStone", scan::Network::KoggeStone),
        ("brentKung", scan::Network::BrentKung),
    ];
    for (name, network) in networks {
        for length in [WHOLE, 64, 1100, 10] {
            let scanned = of_one(&tiled(), &format!("scanTiles ({name} <block> (+)) 0 64 xs"));
            same_kernel(&scanned, 32, &[length], move |xs: Pull<i32, Ix>| {
                let monoid = scan::Monoid { operator: add, neutral: 0.into() };
                scan::scan_chunks(network, monoid, 64, xs)
            });
        }
    }
}

#[test]
fn histogram_of_tiles() {
    let division = histogram::Division { bins: 16, threads: 64, items: 32 };
    let counted = format!(
        "{}\nsig it : [i32] -> [i32] -> [i32]\nfun it bins xs = histogramTiles 16 64 32 bins xs",
        tiled()
    );
    for length in [4096, 6144, 5000, 100] {
        same_kernel(&counted, 64, &[16, length], move |bins: Mutable<i32>, xs: Pull<i32, Ix>| {
            histogram::histogram(division, bins, xs);
        });
    }
}

#[test]
fn sieve_of_segments() {
    let segments = sieve::Segments { size: 1024, threads: 64 };
    let sieved = format!(
        "{}\nsig it : [i32] -> [i32] -> [i32] -> [i32]<grid>\nfun it xs ys zs = sieveTiles 1024 64 10000 xs ys zs",
        tiled()
    );
    same_kernel(
        &sieved,
        64,
        &[3, 5, 20],
        move |by_blocks: Pull<i32, Ix>, by_warps: Pull<i32, Ix>, by_threads: Pull<i32, Ix>| {
            sieve::sieve(segments, sieve::Primes { by_blocks, by_warps, by_threads }, 10000.into())
        },
    );
}

#[test]
fn transposition_in_tiles() {
    for (name, layout) in
        [("Padded", Layout::Padded), ("Plain", Layout::Plain), ("Swizzled", Layout::Swizzled)]
    {
        for (rows, columns) in [(64, 96), (32, 64), (50, 70), (10, 20)] {
            let turned = of_one(&tiled(), &format!("transposeTiles {name} 32 {columns} xs"));
            same_kernel(&turned, 256, &[rows * columns], move |xs: Pull<i32, Ix>| {
                matrix::transpose_tiled(32, layout, xs, (columns as i64).into())
            });
        }
    }
}

/// A product of two matrices.
fn product(call: &str) -> String {
    format!("{}\nsig it : [f32] -> [f32] -> [f32]<grid>\nfun it xs ys = {call} xs ys", tiled())
}

#[test]
fn products_of_matrices() {
    let ix = |number: usize| Exp::from(number as i64);
    for [rows, inner, columns] in [[64, 640, 96], [50, 70, 90]] {
        same_kernel(
            &product(&format!("matMulTiles 32 {inner} {columns}")),
            1024,
            &[rows * inner, inner * columns],
            move |xs: Pull<f32, Ix>, ys: Pull<f32, Ix>| matrix::mat_mul_tiled(xs, ys, ix(inner), ix(columns)),
        );
    }
}

#[test]
fn products_of_matrices_in_registers() {
    let ix = |number: usize| Exp::from(number as i64);
    for [rows, inner, columns] in [[128, 64, 256], [50, 70, 90]] {
        same_kernel(
            &product(&format!("matMul 64 16 {inner} {columns}")),
            64,
            &[rows * inner, inner * columns],
            move |xs: Pull<f32, Ix>, ys: Pull<f32, Ix>| {
                let division = matrix::Division { tile: 64, depth: 16 };
                matrix::mat_mul(division, xs, ys, ix(inner), ix(columns))
            },
        );
    }
}

#[test]
fn one_element_too_far_is_still_a_failure() {
    let whole = "fun beyond xs =
  let first tile = push <block> (generate 4 (fn i => index xs (length xs - length tile + 1 + i)))
  in tiles 4 xs |> map (ifWhole 4 first (push <block>)) |> concatTiles 4 (length xs)";
    super::fails(whole, "beyond (iota 8)", "index 8 out of bounds for length 8");
    let halved = "fun beyond part =
  let step xs = push <block> (generate (length xs div 2) (fn i => index xs (length xs div 2 + 1 + i)))
      last = whileWithin 8 (fn xs => length xs != 1) step (push <block> part)
  in push <block> (generate 1 (fn _ => index last 0))";
    super::fails(
        halved,
        "splitUp 8 (iota 8) |> map beyond |> concat 1",
        "index 8 out of bounds for length 8",
    );
}

#[test]
fn the_programs_do_what_they_say() {
    let text = tiled();
    let module = pumice_lang::syntax::parse(pumice_lang::source::FileId(0), &text, &mut 0).module;
    let docs = module.signatures.iter().filter_map(|item| item.docs.as_deref());
    let all: Vec<_> = docs.flat_map(pumice_lang::cases::cases).collect();
    assert!(all.len() > 8, "{}", all.len());
    for case in all {
        super::is(&text, &case.expression, &case.expected);
    }
}
