//! CUDA code of the main programs, at the sizes that are measured.
//!
//! The texts are in `snapshots/`, for people to read when they change; `INSTA_UPDATE=always` writes them anew. They are made
//! for a made-up device, so that they are the same on every machine.

use pumice::Exp;
use pumice::kernel::{Ix, KernelFunction, Layout, Mutable, Pull};
use pumice::layers::emit::{Dialect, EmitOptions, emit};
use pumice::layers::kernel::{KernelArgument, Passes, define};
use pumice::layers::runtime::devices::Sim;
use pumice_algorithms::scan::Monoid;
use pumice_algorithms::{fcl, histogram, matrix, scan};

/// A kernel in CUDA for arguments of these lengths and values.
fn cuda<P, F: KernelFunction<P>>(name: &str, threads: u32, f: F, actual: &[KernelArgument]) -> String {
    let definition = define(name, threads, f).unwrap_or_else(|error| panic!("{error}"));
    let special = definition.specialise(actual, &Sim::gpu_profile(), Passes::default());
    let special = special.unwrap_or_else(|error| panic!("{error}"));
    let source = emit(&special.program, Dialect::Cuda, &EmitOptions::default());
    without_lines(&source.unwrap_or_else(|error| panic!("{error}")).text)
}

/// The text with `:_` for the line after each name of a Rust file: they change when anything is added above.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(".rs:");
    let mut clean = parts.next().unwrap_or_default().to_string();
    for part in parts {
        clean += ".rs:_";
        clean += part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    }
    clean
}

fn snapshot(name: &str, text: String) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

fn number(value: i64) -> KernelArgument {
    KernelArgument::Scalar(value.into())
}

#[test]
fn reverse() {
    let text = cuda("reverse", 256, fcl::reverse::<i32>, &[KernelArgument::Length(1 << 24)]);
    assert!(text.contains("int4") && !text.contains("fail"), "{text}");
    snapshot("reverse.cuda", text);
}

#[test]
fn rev_distribute() {
    let f = |xs: Pull<i32, Ix>| fcl::rev_distribute(1024, xs);
    snapshot("revDistribute.cuda", cuda("revDistribute", 256, f, &[KernelArgument::Length(1 << 24)]));
}

#[test]
fn reduce_grid() {
    let f = |xs: Pull<i32, Ix>| fcl::reduce_grid(|a, b| a + b, 0.into(), 512, xs);
    snapshot("reduceGrid.cuda", cuda("reduceGrid", 256, f, &[KernelArgument::Length(1 << 24)]));
}

#[test]
fn reduce_grid_while() {
    let f = |xs: Pull<i32, Ix>| fcl::reduce_grid_while(|a, b| a + b, 0.into(), 512, xs);
    snapshot("reduceGridWhile.cuda", cuda("reduceGridWhile", 256, f, &[KernelArgument::Length(1 << 24)]));
}

#[test]
fn sum_grid() {
    let f = |xs: Pull<i32, Ix>| fcl::reduce_grid_seq(|a, b| a + b, 0.into(), 256, 64, xs);
    snapshot("sumGrid.cuda", cuda("sumGrid", 256, f, &[KernelArgument::Length(1 << 24)]));
}

#[test]
fn transpose_tiled() {
    let f = |xs: Pull<f32, Ix>, columns| matrix::transpose_tiled(32, Layout::Padded, xs, columns);
    let actual = [KernelArgument::Length(8192 * 8192), number(8192)];
    snapshot("transposeTiled.cuda", cuda("transposeTiled", 256, f, &actual));
}

#[test]
fn mat_vec() {
    let actual = [KernelArgument::Length(8192 * 8192), KernelArgument::Length(8192)];
    snapshot("matVec.cuda", cuda("matVec", 256, matrix::mat_vec, &actual));
}

#[test]
fn mat_mul() {
    let f = |xs, ys, inner, columns| matrix::mat_mul(matrix::Division::GPU, xs, ys, inner, columns);
    let actual = [
        KernelArgument::Length(4096 * 4096),
        KernelArgument::Length(4096 * 4096),
        number(4096),
        number(4096),
    ];
    let text = cuda("matMul", 256, f, &actual);
    assert!(!text.contains("fail"), "{text}");
    snapshot("matMul.cuda", text);
}

#[test]
fn scan_in_one_pass() {
    let f = |xs: Pull<i32, Ix>, state: Mutable<u64>| {
        let sum = Monoid { operator: |a: Exp<i32>, b: Exp<i32>| a + b, neutral: 0.into() };
        scan::scan_look_back(sum, scan::Division::GPU, xs, state)
    };
    let n = 1 << 26;
    let actual = [KernelArgument::Length(n), KernelArgument::Length(n / scan::Division::GPU.tile() + 1)];
    snapshot("scan.cuda", cuda("scan", 256, f, &actual));
}

#[test]
fn sklansky() {
    let f = |xs: Pull<i32, Ix>| {
        let sum = Monoid { operator: |a: Exp<i32>, b: Exp<i32>| a + b, neutral: 0.into() };
        scan::scan_chunks(scan::Network::Sklansky, sum, 512, xs)
    };
    snapshot("sklansky.cuda", cuda("sklansky", 256, f, &[KernelArgument::Length(1 << 24)]));
}

#[test]
fn histogram_in_shared_memory() {
    let division = histogram::Division::GPU;
    let f = move |bins: Mutable<i32>, xs: Pull<i32, Ix>| histogram::histogram(division, bins, xs);
    snapshot(
        "histogram.cuda",
        cuda("histogram", 256, f, &[KernelArgument::Length(256), KernelArgument::Length(1 << 26)]),
    );
}
