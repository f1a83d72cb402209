//! Workloads of matrix products, measured in operations per second.

use super::inputs::uniform;
use super::reference::{check, check_length};
use super::workloads::Workload;
use pumice::prelude::*;
use pumice_algorithms::Work;

/// Returns the workloads for matrices of these sides.
pub fn workloads(sides: &[usize]) -> Vec<Workload> {
    let square = |side: &usize| {
        [
            product(format!("matmul f32 {side}x{side}"), 1, *side, |a, b| a.matmul(b)),
            product(format!("matmul f32 {side}x{side}, left side transposed"), 1, *side, |a, b| {
                a.rearrange([0, 2, 1]).matmul(b)
            }),
            product(format!("matmul f32 {side}x{side} as a pattern"), 1, *side, pattern),
        ]
    };
    let mut all: Vec<Workload> = sides.iter().flat_map(square).collect();
    all.push(product("matmul f32 256 times 64x64".into(), 256, 64, |a, b| a.matmul(b)));
    all
}

type Matrices = Acc<Array<Dim3, f32>>;

/// Multiplies matrices with other operations than `product`.
fn pattern(a: Matrices, b: Matrices) -> Matrices {
    let ((_, rows, _), (_, _, columns)) = (a.shape(), b.shape());
    let left = a.replicate((All, All, columns, All));
    let right = b.rearrange([0, 2, 1]).replicate((All, rows, All, All));
    left.zip_with(right, |x, y| x * y).fold(0.0, |x, y| x + y)
}

/// Returns a workload of this many products of square matrices. Only some elements are checked.
fn product(
    name: String,
    batches: usize,
    side: usize,
    program: impl Fn(Matrices, Matrices) -> Matrices + Copy + 'static,
) -> Workload {
    let n = batches * side * side;
    let is_transposed = name.contains("transposed");
    let work = Work::Operations(2 * n * side);
    Workload::of_work(name, n, work, move |timing| {
        let (xs, ys) = (uniform(n, 0), uniform(n, 1));
        let array = |elements: &[f32]| {
            Array::<Dim3, f32>::from_slice([batches, side, side], elements).map_err(|error| error.to_string())
        };
        let left = |batch: usize, row: usize, k: usize| {
            let (row, k) = if is_transposed { (k, row) } else { (row, k) };
            f64::from(xs[(batch * side + row) * side + k])
        };
        let expected = |place: usize| {
            let (batch, row, column) = (place / side / side, place / side % side, place % side);
            let right = |k: usize| f64::from(ys[(batch * side + k) * side + column]);
            (0..side).map(|k| left(batch, row, k) * right(k)).sum()
        };
        timing.median(program, (array(&xs)?, array(&ys)?), |found| {
            check_length(&found, n)?;
            let mut places = (0..n).step_by((n / 10_000).max(1) | 1);
            places.try_for_each(|i| check(&format!("element {i}"), found[i], 1e-5, expected(i)))
        })
    })
}
