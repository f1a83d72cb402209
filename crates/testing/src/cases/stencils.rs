//! Stencils with every boundary, in one to three dimensions, against plain Rust.

use crate::data::values;
use crate::{Harness, Outcome};
use pumice::prelude::*;
use pumice::{Boundary, Neighbours};
use std::rc::Rc;

/// Returns the index that a boundary maps an out-of-bounds index to, if any.
fn beyond(boundary: usize, at: i64, extent: i64) -> Option<i64> {
    match boundary {
        _ if (0..extent).contains(&at) => Some(at),
        0 => Some(at.clamp(0, extent - 1)),
        1 => {
            let period = (2 * extent - 2).max(1);
            let at = at.rem_euclid(period);
            Some(at.min(period - at))
        }
        2 => Some(at.rem_euclid(extent)),
        _ => None,
    }
}

fn boundaries() -> Vec<Boundary<Dim2, i32>> {
    let function = |(i, j): (Exp<i64>, Exp<i64>)| (i * 1000 + j).cast::<i32>();
    vec![
        Boundary::Clamp,
        Boundary::Mirror,
        Boundary::Wrap,
        Boundary::Constant(7),
        Boundary::Function(Rc::new(function)),
    ]
}

const OFFSETS: [[i64; 2]; 6] = [[0, 0], [-1, 0], [0, 2], [1, -1], [-3, -3], [2, 1]];

fn combined(near: &Neighbours<Dim2, i32>) -> Exp<i32> {
    OFFSETS.iter().fold(Exp::from(0), |sum, offsets| sum * 3 + near.at(*offsets))
}

pub fn boundaries_of_matrices(h: &Harness) -> Outcome {
    for (number, boundary) in boundaries().into_iter().enumerate() {
        let program = h.compile(move |m: Acc<Matrix<i32>>| m.stencil(boundary, |near| combined(&near)))?;
        for extents @ [rows, columns] in [[0usize, 3], [1, 1], [2, 5], [40, 67], [202, 132]] {
            let xs: Vec<i32> = values(130, rows * columns);
            let m = Matrix::from_slice(extents, &xs).map_err(|error| error.to_string())?;
            let near =
                |i: i64, j: i64| match (beyond(number, i, rows as i64), beyond(number, j, columns as i64)) {
                    (Some(i), Some(j)) => xs[i as usize * columns + j as usize],
                    _ if number == 3 => 7,
                    _ => (i * 1000 + j) as i32,
                };
            let element = |at: usize| {
                let (i, j) = ((at / columns) as i64, (at % columns) as i64);
                OFFSETS
                    .iter()
                    .fold(0i32, |sum, [di, dj]| sum.wrapping_mul(3).wrapping_add(near(i + di, j + dj)))
            };
            program.check_shaped(&m, extents, &(0..rows * columns).map(element).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

pub fn one_and_three_dimensions(h: &Harness) -> Outcome {
    let xs: Vec<f64> = values(131, 3000);
    let smooth = |xs: Acc<Vector<f64>>| {
        xs.map(|x| x * 0.5).stencil(Boundary::Mirror, |near| (near.at([-1]), near.at([1])))
    };
    let at = |i: usize| xs[i] * 0.5;
    let expected: Vec<(f64, f64)> = (0..3000)
        .map(|i| (at(if i == 0 { 1 } else { i - 1 }), at(if i == 2999 { 2998 } else { i + 1 })))
        .collect();
    h.check(smooth, &xs, &expected)?;
    // Few rows, and so many that blocks take several.
    cubes(h, [4, 5, 70])?;
    cubes(h, [18, 21, 132])
}

/// Adds up each element of a cube and those with which it shares a face.
fn cubes(h: &Harness, extents @ [a, b, c]: [usize; 3]) -> Outcome {
    let xs: Vec<i32> = values(132, a * b * c);
    let cube = Array::<Dim3, i32>::from_slice(extents, &xs).map_err(|error| error.to_string())?;
    let faces: [[i64; 3]; 7] =
        [[0, 0, 0], [-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];
    let extents = extents.map(|extent| extent as i64);
    for (number, boundary) in [(0, Boundary::Clamp), (3, Boundary::Constant(0))] {
        let sums = move |xs: Acc<Array<Dim3, i32>>| {
            xs.stencil(boundary, |near| faces.iter().fold(Exp::from(0), |sum, face| sum + near.at(*face)))
        };
        let mut expected = Vec::new();
        for at in 0..a * b * c {
            let index = [(at / (b * c)) as i64, (at / c % b) as i64, (at % c) as i64];
            let near = |face: &[i64; 3]| {
                let part = |d: usize| beyond(number, index[d] + face[d], extents[d]);
                match (0..3).map(part).collect::<Option<Vec<i64>>>() {
                    Some(at) => xs[((at[0] * extents[1] + at[1]) * extents[2] + at[2]) as usize],
                    None => 0,
                }
            };
            expected.push(faces.iter().fold(0i32, |sum, face| sum.wrapping_add(near(face))));
        }
        h.check(sums, &cube, &expected)?;
    }
    Ok(())
}

pub fn two_arrays(h: &Harness) -> Outcome {
    let (xs, ys): (Vec<i32>, Vec<bool>) = (values(133, 1025), values(134, 1025));
    let program = |xs: Acc<Vector<i32>>, ys: Acc<Vector<bool>>| {
        xs.stencil2(Boundary::Wrap, ys, Boundary::Constant(true), |x, y| {
            y.at([1]).select(x.at([-2]), x.at([0]))
        })
    };
    let element = |i: usize| match ys.get(i + 1).copied().unwrap_or(true) {
        true => xs[(i + 1023) % 1025],
        false => xs[i],
    };
    h.check(program, (&xs, &ys), &(0..1025).map(element).collect::<Vec<_>>())
}

pub fn arrays_that_are_kept(h: &Harness) -> Outcome {
    let xs: Vec<i64> = values(135, 3000);
    let program = |xs: Acc<Vector<i64>>| {
        let kept = xs.map(|x| x * 3).compute();
        kept.clone()
            .reverse()
            .zip_with(kept.filter(|x| x.ge(0)).compute().sum().replicate(3000), |x, sum| x - sum)
    };
    let sum = xs.iter().map(|x| x.wrapping_mul(3)).filter(|x| *x >= 0).fold(0i64, |a, b| a.wrapping_add(b));
    let expected = xs.iter().rev().map(|x| x.wrapping_mul(3).wrapping_sub(sum));
    h.check(program, &xs, &expected.collect::<Vec<_>>())
}
