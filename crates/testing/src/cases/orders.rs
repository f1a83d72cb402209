//! Folds with operators that do not commute: the order of elements must be kept. All are exact, in integers that wrap.

use crate::data::{Sample, values};
use crate::{Harness, Outcome};
use pumice::prelude::*;

/// Rows and columns: few and many rows, short and long ones.
const MATRICES: [[usize; 2]; 16] = [
    [0, 3],
    [3, 0],
    [1, 1],
    [5, 2],
    [1, 16],
    [1, 17],
    [4099, 3],
    [700, 16],
    [129, 33],
    [10, 255],
    [10, 256],
    [10, 257],
    [2, 1000],
    [3, 4099],
    [1, 20_000],
    [2, 10_001],
];

/// A few of [`MATRICES`]: a kernel is compiled for most of them.
const FEW_MATRICES: [[usize; 2]; 8] =
    [[3, 0], [1, 1], [4099, 3], [129, 33], [10, 257], [2, 1000], [3, 4099], [1, 20_000]];

/// Folds the rows of a matrix in plain Rust.
fn rows<T: Copy>(elements: &[T], columns: usize, rows: usize, neutral: T, f: impl Fn(T, T) -> T) -> Vec<T> {
    (0..rows).map(|i| elements[i * columns..(i + 1) * columns].iter().copied().fold(neutral, &f)).collect()
}

fn matrix<T: Sample>(seed: u64, extents: [usize; 2]) -> Result<(Vec<T>, Matrix<T>), String> {
    let elements = values::<T>(seed, extents[0] * extents[1]);
    let matrix = Matrix::from_slice(extents, &elements).map_err(|error| error.to_string())?;
    Ok((elements, matrix))
}

/// The composition of x ↦ ax + b after x ↦ cx + d.
macro_rules! affine {
    ($($name:ident $t:ident;)*) => { $(
        fn $name((a, b): ($t, $t), (c, d): ($t, $t)) -> ($t, $t) {
            (a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b))
        }
    )* };
}
affine! { affine_i64 i64; affine_u32 u32; }

pub fn affine_maps_of_64_bits(h: &Harness) -> Outcome {
    let program =
        h.compile(|m: Acc<Matrix<(i64, i64)>>| m.fold((1, 0), |(a, b), (c, d)| (a * c, a * d + b)))?;
    for extents in MATRICES {
        let (elements, m) = matrix::<(i64, i64)>(1, extents)?;
        let expected = rows(&elements, extents[1], extents[0], (1, 0), affine_i64);
        program.check(&m, &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn affine_maps_from_an_initial_value(h: &Harness) -> Outcome {
    let program =
        h.compile(|m: Acc<Matrix<(i64, i64)>>| m.fold((3, 5), |(a, b), (c, d)| (a * c, a * d + b)))?;
    for extents in FEW_MATRICES {
        let (elements, m) = matrix::<(i64, i64)>(1, extents)?;
        let expected = rows(&elements, extents[1], extents[0], (3, 5), affine_i64);
        program.check(&m, &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn affine_maps_of_32_bits(h: &Harness) -> Outcome {
    let program =
        h.compile(|m: Acc<Matrix<(u32, u32)>>| m.fold((1, 0), |(a, b), (c, d)| (a * c, a * d + b)))?;
    for extents in MATRICES {
        let (mut elements, _) = matrix::<(u32, u32)>(2, extents)?;
        // Odd factors, so that products do not become zero.
        elements.iter_mut().for_each(|(a, _)| *a |= 1);
        let expected = rows(&elements, extents[1], extents[0], (1, 0), affine_u32);
        let m = Matrix::from_vec(extents, elements).map_err(|error| error.to_string())?;
        program.check(&m, &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn affine_maps_in_long_rows(h: &Harness) -> Outcome {
    let program =
        h.compile(|m: Acc<Matrix<(u32, u32)>>| m.fold((1, 0), |(a, b), (c, d)| (a * c, a * d + b)))?;
    for extents in [[1, 100_000], [3, 40_000], [1, 300_001]] {
        let (mut elements, _) = matrix::<(u32, u32)>(3, extents)?;
        elements.iter_mut().for_each(|(a, _)| *a |= 1);
        let expected = rows(&elements, extents[1], extents[0], (1, 0), affine_u32);
        let m = Matrix::from_vec(extents, elements).map_err(|error| error.to_string())?;
        program.check(&m, &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

type Square = (i32, i32, i32, i32);

pub fn products_of_matrices(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<Square>>| {
        m.fold((1, 0, 0, 1), |(a, b, c, d), (e, f, g, i)| {
            (a * e + b * g, a * f + b * i, c * e + d * g, c * f + d * i)
        })
    })?;
    let product = |(a, b, c, d): Square, (e, f, g, i): Square| {
        let dot = |a: i32, b: i32, c: i32, d: i32| a.wrapping_mul(b).wrapping_add(c.wrapping_mul(d));
        (dot(a, e, b, g), dot(a, f, b, i), dot(c, e, d, g), dot(c, f, d, i))
    };
    for extents in FEW_MATRICES {
        let (mut elements, _) = matrix::<Square>(4, extents)?;
        // Determinant ±1 (mod 2), so that products do not become zero.
        elements.iter_mut().for_each(|(a, b, c, d)| (*a, *b, *c, *d) = (*a | 1, *b & !1, *c & !1, *d | 1));
        let expected = rows(&elements, extents[1], extents[0], (1, 0, 0, 1), product);
        let m = Matrix::from_vec(extents, elements).map_err(|error| error.to_string())?;
        program.check(&m, &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn the_first_and_the_last(h: &Harness) -> Outcome {
    // A flag says whether a value is present: the first, and the last, present value.
    let first = h.compile(|m: Acc<Matrix<(bool, i64)>>| m.fold((false, 0), |a, b| a.0.select(a, b)))?;
    let last = h.compile(|m: Acc<Matrix<(bool, i64)>>| m.fold((false, 0), |a, b| b.0.select(b, a)))?;
    for extents in FEW_MATRICES {
        let (mut elements, _) = matrix::<(bool, i64)>(5, extents)?;
        for (position, element) in elements.iter_mut().enumerate() {
            // Mostly absent, so that the search goes far; an absent value is the neutral element.
            element.0 &= position % 37 == 5;
            if !element.0 {
                element.1 = 0;
            }
        }
        let m = Matrix::from_slice(extents, &elements).map_err(|error| error.to_string())?;
        let [count, columns] = extents;
        let expected = rows(&elements, columns, count, (false, 0), |a, b| if a.0 { a } else { b });
        first.check(&m, &expected).map_err(|m| format!("first of {extents:?}: {m}"))?;
        let expected = rows(&elements, columns, count, (false, 0), |a, b| if b.0 { b } else { a });
        last.check(&m, &expected).map_err(|m| format!("last of {extents:?}: {m}"))?;
    }
    Ok(())
}

pub fn polynomial_hashes(h: &Harness) -> Outcome {
    // (hash, base to the power of the length) of a text, from those of its parts.
    let program = h.compile(|xs: Acc<Vector<u64>>| {
        let letters = xs.map(|x| (x & 255, constant(1_000_003u64)));
        letters.fold((0, 1), |(a, p), (b, q)| (a * q + b, p * q)).map(|(hash, _)| hash)
    })?;
    for n in [0, 1, 2, 100, 1000, 4099, 20_000, 140_000] {
        let xs = values::<u64>(6, n);
        let hash = xs.iter().fold(0u64, |hash, x| hash.wrapping_mul(1_000_003).wrapping_add(x & 255));
        program.check(&xs, &[hash]).map_err(|m| format!("{n} elements: {m}"))?;
    }
    Ok(())
}

pub fn affine_maps_of_computed_elements(h: &Harness) -> Outcome {
    let program = h.compile(|rows: Exp<i64>, columns: Exp<i64>| {
        generate((rows, columns), |(i, j)| (j * 2 + 1, i * 7 - j))
            .fold((1, 0), |(a, b), (c, d)| (a * c, a * d + b))
    })?;
    for [count, columns] in FEW_MATRICES {
        let element = |k: usize| {
            let (i, j) = ((k / columns) as i64, (k % columns) as i64);
            (j * 2 + 1, i * 7 - j)
        };
        let elements: Vec<(i64, i64)> = (0..count * columns).map(element).collect();
        let expected = rows(&elements, columns, count, (1, 0), affine_i64);
        program
            .check((count as i64, columns as i64), &expected)
            .map_err(|m| format!("{count} × {columns}: {m}"))?;
    }
    Ok(())
}

pub fn columns_in_order(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<(u32, u32)>>| {
        m.transpose().fold((1, 0), |(a, b), (c, d)| (a * c, a * d + b))
    })?;
    for extents @ [count, columns] in FEW_MATRICES {
        let (elements, m) = matrix::<(u32, u32)>(7, extents)?;
        let column = |j: usize| (0..count).map(|i| elements[i * columns + j]).fold((1, 0), affine_u32);
        let expected: Vec<(u32, u32)> = (0..columns).map(column).collect();
        program.check(&m, &expected).map_err(|m| format!("{extents:?}: {m}"))?;
    }
    Ok(())
}
