//! Workloads that read other elements than their own: concatenations, gathers and stencils.

use super::inputs::{uniform, words};
use super::reference::check_all;
use super::workloads::{Workload, matrix};
use pumice::prelude::*;
use pumice::{Boundary, concat};

/// Returns the workloads for vectors of length `n`, matrices of this side and cubes of side `cube`.
pub fn workloads(n: usize, side: usize, cube: usize) -> Vec<Workload> {
    vec![
        joined(n, 2),
        joined(n, 8),
        gather(n, true),
        gather(n, false),
        stencil_of_nine(side),
        stencil_of_seven(cube),
    ]
}

fn joined(n: usize, parts: usize) -> Workload {
    Workload::new(format!("concat {parts} f32"), n, 8 * n, move |timing| {
        let xs = uniform(n / parts, 0);
        let program = move |xs: Acc<Vector<f32>>| concat(0, vec![xs; parts]);
        let expected = |i: usize| f64::from(xs[i % (n / parts)]);
        timing.median(program, Vector::from(xs.as_slice()), |found| check_all(&found, n, 0.0, expected))
    })
}

/// Returns a workload that gathers elements at random indices, with bounds checks or with indices that need none.
fn gather(n: usize, checked: bool) -> Workload {
    let name = if checked { "gather f32" } else { "gather f32 unchecked" };
    Workload::new(name, n, 12 * n, move |timing| {
        let xs = uniform(n, 0);
        let last = n as i32 - 1;
        let indices: Vec<i32> = words(n).into_iter().map(|word| word & last).collect();
        let program = move |xs: Acc<Vector<f32>>, indices: Acc<Vector<i32>>| match checked {
            true => indices.map(|i| xs.at(i.cast::<i64>())),
            false => indices.map(|i| xs.at((i & last).cast::<i64>())),
        };
        let arguments = (Vector::from(xs.as_slice()), Vector::from(indices.as_slice()));
        let expected = |i: usize| f64::from(xs[indices[i] as usize]);
        timing.median(program, arguments, |found| check_all(&found, n, 0.0, expected))
    })
}

/// Returns a workload that averages each element and its eight neighbours.
fn stencil_of_nine(side: usize) -> Workload {
    let n = side * side;
    Workload::new(format!("stencil 3x3 f32 {side}x{side}"), n, 8 * n, move |timing| {
        let xs = uniform(n, 0);
        let program = |m: Acc<Matrix<f32>>| {
            m.stencil(Boundary::Clamp, |near| {
                let around = (-1..=1).flat_map(|i| (-1..=1).map(move |j| [i, j]));
                let sum = around.map(|offset| near.at(offset)).reduce(|a, b| a + b);
                sum.map_or(constant(0.0f32), |sum| sum * (1.0 / 9.0))
            })
        };
        let at = |i: i64, j: i64| {
            let within = |at: i64| at.clamp(0, side as i64 - 1) as usize;
            f64::from(xs[within(i) * side + within(j)])
        };
        let expected = |k: usize| {
            let (i, j) = ((k / side) as i64, (k % side) as i64);
            (-1..=1)
                .flat_map(|di| (-1..=1).map(move |dj| (di, dj)))
                .map(|(di, dj)| at(i + di, j + dj))
                .sum::<f64>()
                / 9.0
        };
        timing.median(program, matrix(side, side, &xs)?, |found| check_all(&found, n, 1e-5, expected))
    })
}

/// Returns a workload that adds up each element of a cube and the six with which it shares a face.
fn stencil_of_seven(side: usize) -> Workload {
    let n = side * side * side;
    Workload::new(format!("stencil 7-point f32 {side}x{side}x{side}"), n, 8 * n, move |timing| {
        const FACES: [[i64; 3]; 7] =
            [[0, 0, 0], [-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];
        let xs = uniform(n, 0);
        let program = |xs: Acc<Array<Dim3, f32>>| {
            xs.stencil(Boundary::Clamp, |near| {
                FACES.iter().map(|face| near.at(*face)).reduce(|a, b| a + b).unwrap_or(constant(0.0f32))
            })
        };
        let expected = |k: usize| {
            let index = [(k / side / side) as i64, (k / side % side) as i64, (k % side) as i64];
            let near = |face: &[i64; 3]| {
                let part = |d: usize| (index[d] + face[d]).clamp(0, side as i64 - 1) as usize;
                f64::from(xs[(part(0) * side + part(1)) * side + part(2)])
            };
            FACES.iter().map(near).sum::<f64>()
        };
        let cube = Array::from_slice([side, side, side], &xs).map_err(|error| error.to_string())?;
        timing.median(program, cube, |found| check_all(&found, n, 1e-5, expected))
    })
}
