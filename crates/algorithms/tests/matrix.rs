//! Transpositions and products of matrices, on the simulator.

mod common;

use common::{array, number, run};
use pumice::layers::kernel::{Ix, Layout, Pull};
use pumice_algorithms::matrix::{Division, mat_mul, mat_mul_tiled, mat_vec, transpose, transpose_tiled};

const SHAPES: [(usize, usize); 9] =
    [(0, 0), (0, 5), (1, 1), (3, 5), (32, 32), (64, 96), (33, 31), (70, 130), (1, 200)];

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i * 7 % 23) as f32 - 9.0).collect()
}

#[test]
fn transposition_takes_every_shape() {
    for (rows, columns) in SHAPES {
        let xs = numbers(rows * columns);
        let expected: Vec<f32> = (0..columns)
            .flat_map(|j| (0..rows).map(move |i| (i, j)))
            .map(|(i, j)| xs[i * columns + j])
            .collect();
        let arguments = [array(&xs), number(columns)];
        let naive = run(64, transpose::<f32>, &arguments);
        assert_eq!(naive.result::<f32>(), expected, "{rows} x {columns}");
        for layout in [Layout::Plain, Layout::Padded, Layout::Swizzled] {
            let tiled = run(
                256,
                move |xs: Pull<f32, Ix>, columns| transpose_tiled(32, layout, xs, columns),
                &arguments,
            );
            assert_eq!(tiled.result::<f32>(), expected, "{rows} x {columns}, {layout:?}");
        }
    }
}

#[test]
fn a_matrix_times_a_vector() {
    for (rows, columns) in [(1, 1), (5, 3), (9, 128), (10, 700), (130, 33), (0, 4)] {
        let (xs, vector) = (numbers(rows * columns), numbers(columns));
        let dot = |i: usize| (0..columns).map(|j| xs[i * columns + j] * vector[j]).sum();
        let expected: Vec<f32> = (0..rows).map(dot).collect();
        let found = run(128, mat_vec, &[array(&xs), array(&vector)]);
        assert_eq!(found.result::<f32>(), expected, "{rows} x {columns}");
    }
}

fn product(xs: &[f32], ys: &[f32], inner: usize, columns: usize) -> Vec<f32> {
    let rows = xs.len().checked_div(inner).unwrap_or(0);
    let dot = |i: usize, j: usize| {
        (0..inner).fold(0.0, |sum, k| xs[i * inner + k].mul_add(ys[k * columns + j], sum))
    };
    (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| dot(i, j)).collect()
}

/// Rows, inner size and columns.
const PRODUCTS: [(usize, usize, usize); 7] =
    [(1, 1, 1), (32, 32, 32), (3, 5, 7), (33, 70, 40), (64, 64, 64), (40, 16, 100), (0, 3, 4)];

#[test]
fn products_in_tiles_take_every_shape() {
    for (rows, inner, columns) in PRODUCTS {
        let (xs, ys) = (numbers(rows * inner), numbers(inner * columns));
        let arguments = [array(&xs), array(&ys), number(inner), number(columns)];
        let found = run(1024, mat_mul_tiled, &arguments);
        let expected = product(&xs, &ys, inner, columns);
        assert_eq!(found.result::<f32>(), expected, "{rows} x {inner} x {columns}");
    }
}

#[test]
fn products_in_registers_take_every_shape() {
    let division = Division { tile: 32, depth: 8 };
    for (rows, inner, columns) in PRODUCTS {
        let (xs, ys) = (numbers(rows * inner), numbers(inner * columns));
        let arguments = [array(&xs), array(&ys), number(inner), number(columns)];
        let threads = division.threads() as u32;
        let found =
            run(threads, move |xs, ys, inner, columns| mat_mul(division, xs, ys, inner, columns), &arguments);
        let expected = product(&xs, &ys, inner, columns);
        assert_eq!(found.result::<f32>(), expected, "{rows} x {inner} x {columns}");
    }
}

#[test]
fn a_gpus_division_gives_the_same() {
    let (rows, inner, columns) = (130, 20, 260);
    let (xs, ys) = (numbers(rows * inner), numbers(inner * columns));
    let arguments = [array(&xs), array(&ys), number(inner), number(columns)];
    let threads = Division::GPU.threads() as u32;
    let found =
        run(threads, |xs, ys, inner, columns| mat_mul(Division::GPU, xs, ys, inner, columns), &arguments);
    assert_eq!(found.result::<f32>(), product(&xs, &ys, inner, columns));
}

#[test]
fn twos_times_twos() {
    let twos = vec![2f32; 32 * 32];
    let arguments = [array(&twos), array(&twos), number(32), number(32)];
    assert_eq!(run(1024, mat_mul_tiled, &arguments).result::<f32>(), vec![128f32; 32 * 32]);
}
