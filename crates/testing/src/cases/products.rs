//! Products of matrices and vectors: every shape, other operations than sum and product, and operations that are fused with them.

use crate::data::{Sample, values};
use crate::{Harness, Outcome};
use pumice::prelude::*;

/// Rows, inner extents and columns: none, one, thin ones, and extents that no tile divides, in more than three blocks.
const SHAPES: [[usize; 3]; 12] = [
    [0, 3, 9],
    [9, 0, 9],
    [3, 0, 2],
    [9, 3, 0],
    [1, 1, 1],
    [1, 300, 7],
    [300, 7, 1],
    [2, 5000, 3],
    [5, 1, 5],
    [7, 13, 33],
    [64, 48, 64],
    [140, 37, 150],
];

/// A few shapes, for cases that are not about shapes: a kernel is compiled for most of them.
const FEW_SHAPES: [[usize; 3]; 3] = [[9, 0, 9], [3, 40, 2], [40, 35, 33]];

fn array<S: Shape, T: Sample>(seed: u64, extents: S::Extents) -> Result<(Vec<T>, Array<S, T>), String> {
    let elements = values::<T>(seed, extents.as_ref().iter().product());
    let array = Array::from_slice(extents, &elements).map_err(|error| error.to_string())?;
    Ok((elements, array))
}

/// Multiplies matrices in plain Rust, combining in order.
fn product<A: Copy, B: Copy, C: Clone>(
    left: &[A],
    right: &[B],
    [rows, inner, columns]: [usize; 3],
    initial: &C,
    step: impl Fn(C, A, B) -> C,
) -> Vec<C> {
    let element = |place: usize| {
        let (row, column) = (place / columns, place % columns);
        let pairs = (0..inner).map(|k| (left[row * inner + k], right[k * columns + column]));
        pairs.fold(initial.clone(), |value, (a, b)| step(value, a, b))
    };
    (0..rows * columns).map(element).collect()
}

fn at(shape: [usize; 3]) -> impl Fn(String) -> String {
    move |message| format!("{shape:?}: {message}")
}

pub fn every_shape(h: &Harness) -> Outcome {
    let program = h.compile(|a: Acc<Matrix<f32>>, b: Acc<Matrix<f32>>| a.matmul(b))?;
    for shape in SHAPES {
        let [rows, inner, columns] = shape;
        let (left, a) = array::<Dim2, f32>(1, [rows, inner])?;
        let (right, b) = array::<Dim2, f32>(2, [inner, columns])?;
        // Small whole numbers: sums of their products are exact in any order.
        let expected = product(&left, &right, shape, &0.0, |sum, a, b| sum + a * b);
        program.check_shaped((&a, &b), [rows, columns], &expected).map_err(at(shape))?;
    }
    Ok(())
}

pub fn numbers_of_other_types(h: &Harness) -> Outcome {
    macro_rules! products {
        ($($t:ident $step:expr;)*) => { $({
            let program = h.compile(|a: Acc<Matrix<$t>>, b: Acc<Matrix<$t>>| a.matmul(b))?;
            let shape = [37, 20, 35];
            let (left, a) = array::<Dim2, $t>(3, [37, 20])?;
            let (right, b) = array::<Dim2, $t>(4, [20, 35])?;
            let expected = product(&left, &right, shape, &($t::default()), $step);
            program.check(( &a, &b), &expected).map_err(|m| format!("{}: {m}", stringify!($t)))?;
        })* };
    }
    products! {
        f64 |sum, a, b| sum + a * b;
        i32 |sum: i32, a: i32, b: i32| sum.wrapping_add(a.wrapping_mul(b));
        u64 |sum: u64, a: u64, b: u64| sum.wrapping_add(a.wrapping_mul(b));
    }
    Ok(())
}

pub fn pairs_of_matrices(h: &Harness) -> Outcome {
    let three = h.compile(|a: Acc<Array<Dim3, f32>>, b: Acc<Array<Dim3, f32>>| a.matmul(b))?;
    let four = h.compile(|a: Acc<Array<Dim4, i32>>, b: Acc<Array<Dim4, i32>>| a.matmul(b))?;
    for shape in [[20, 9, 70], [3, 4, 2]] {
        let [rows, inner, columns] = shape;
        let (left, a) = array::<Dim3, f32>(5, [5, rows, inner])?;
        let (right, b) = array::<Dim3, f32>(6, [5, inner, columns])?;
        let pairs = left.chunks(rows * inner).zip(right.chunks(inner * columns));
        let expected: Vec<f32> =
            pairs.flat_map(|(a, b)| product(a, b, shape, &0.0, |sum, a, b| sum + a * b)).collect();
        three.check_shaped((&a, &b), [5, rows, columns], &expected).map_err(at(shape))?;
    }
    let (left, a) = array::<Dim4, i32>(7, [2, 3, 6, 5])?;
    let (right, b) = array::<Dim4, i32>(8, [2, 3, 5, 7])?;
    let step = |sum: i32, a: i32, b: i32| sum.wrapping_add(a.wrapping_mul(b));
    let pairs = left.chunks(30).zip(right.chunks(35));
    let expected: Vec<i32> = pairs.flat_map(|(a, b)| product(a, b, [6, 5, 7], &0, step)).collect();
    four.check_shaped((&a, &b), [2, 3, 6, 7], &expected)
}

pub fn shortest_ways_and_reachable_places(h: &Harness) -> Outcome {
    let shortest = h.compile(|a: Acc<Matrix<i64>>, b: Acc<Matrix<i64>>| {
        a.map(|x| x >> 8).product_by(b.map(|x| x >> 8), |a, b| a + b, |a, b| a.min(b), i64::MAX)
    })?;
    let reachable = h.compile(|a: Acc<Matrix<bool>>, b: Acc<Matrix<bool>>| {
        a.product_by(b, |a, b| a & b, |a, b| a | b, false)
    })?;
    for shape in FEW_SHAPES {
        let [rows, inner, columns] = shape;
        let (left, a) = array::<Dim2, i64>(9, [rows, inner])?;
        let (right, b) = array::<Dim2, i64>(10, [inner, columns])?;
        let step = |least: i64, a: i64, b: i64| least.min((a >> 8) + (b >> 8));
        shortest.check((&a, &b), &product(&left, &right, shape, &i64::MAX, step)).map_err(at(shape))?;
        let (left, a) = array::<Dim2, bool>(11, [rows, inner])?;
        let (right, b) = array::<Dim2, bool>(12, [inner, columns])?;
        let expected = product(&left, &right, shape, &false, |any, a, b| any | (a & b));
        reachable.check((&a, &b), &expected).map_err(at(shape))?;
    }
    Ok(())
}

pub fn in_order(h: &Harness) -> Outcome {
    // Compositions of x ↦ ax + b, which do not commute, with an initial map that is not the neutral element.
    let program = h.compile(|a: Acc<Matrix<i64>>, b: Acc<Matrix<(i64, bool)>>| {
        let map = |x: Exp<i64>, (y, odd): (Exp<i64>, Exp<bool>)| (odd.select(x | 1, x), y);
        a.product_by(b, map, |(a, b), (c, d)| (a * c, a * d + b), (3, 5))
    })?;
    for shape in FEW_SHAPES {
        let [rows, inner, columns] = shape;
        let (left, a) = array::<Dim2, i64>(13, [rows, inner])?;
        let (right, b) = array::<Dim2, (i64, bool)>(14, [inner, columns])?;
        let step = |(a, b): (i64, i64), x: i64, (d, odd): (i64, bool)| {
            let c = if odd { x | 1 } else { x };
            (a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b))
        };
        let expected = product(&left, &right, shape, &(3, 5), step);
        program.check((&a, &b), &expected).map_err(at(shape))?;
    }
    Ok(())
}

pub fn functions_around_products(h: &Harness) -> Outcome {
    // Both sides are transposed and mapped before, and a bias is added after.
    let layer = h.compile(|a: Acc<Matrix<f32>>, b: Acc<Matrix<f32>>, bias: Acc<Vector<f32>>| {
        let (_, rows) = a.shape();
        let product = a.map(|x| x + 1.0).transpose().matmul(b.transpose().map(|x| x * 2.0));
        product.zip_with(bias.replicate_rows(rows), |x, b| (x + b).max(0.0))
    })?;
    let total = h.compile(|a: Acc<Matrix<i32>>, b: Acc<Matrix<i32>>| a.matmul(b).flatten().sum())?;
    let counts = h.compile(|a: Acc<Matrix<i32>>, b: Acc<Matrix<i32>>| {
        a.matmul(b).flatten().histogram(7, |x| (x & 7).min(6).cast::<i64>())
    })?;
    for shape in [[40, 19, 33], [3, 40, 2]] {
        let [rows, inner, columns] = shape;
        let (left, a) = array::<Dim2, f32>(15, [inner, rows])?;
        let (right, b) = array::<Dim2, f32>(16, [columns, inner])?;
        let bias = values::<f32>(17, columns);
        let turned: Vec<f32> = (0..rows * inner).map(|i| left[i % inner * rows + i / inner] + 1.0).collect();
        let other: Vec<f32> =
            (0..inner * columns).map(|i| right[i % columns * inner + i / columns] * 2.0).collect();
        let mut expected = product(&turned, &other, shape, &0.0, |sum, a, b| sum + a * b);
        for (place, x) in expected.iter_mut().enumerate() {
            *x = (*x + bias[place % columns]).max(0.0);
        }
        layer.check_shaped((&a, &b, &bias), [rows, columns], &expected).map_err(at(shape))?;
        let (left, a) = array::<Dim2, i32>(18, [rows, inner])?;
        let (right, b) = array::<Dim2, i32>(19, [inner, columns])?;
        let step = |sum: i32, a: i32, b: i32| sum.wrapping_add(a.wrapping_mul(b));
        let all = product(&left, &right, shape, &0, step);
        let sum = all.iter().fold(0i32, |sum, x| sum.wrapping_add(*x));
        total.check((&a, &b), &[sum]).map_err(at(shape))?;
        let mut expected = [0u32; 7];
        all.iter().for_each(|x| expected[(*x & 7).min(6) as usize] += 1);
        counts.check((&a, &b), &expected).map_err(at(shape))?;
    }
    Ok(())
}

pub fn matrices_and_vectors(h: &Harness) -> Outcome {
    let matvec = h.compile(|m: Acc<Matrix<f32>>, v: Acc<Vector<f32>>| m.matvec(v))?;
    let vecmat = h.compile(|v: Acc<Vector<f32>>, m: Acc<Matrix<f32>>| v.vecmat(m))?;
    for [rows, columns] in [[0, 3], [3, 0], [1, 1], [300, 7], [20, 1000]] {
        let (elements, m) = array::<Dim2, f32>(20, [rows, columns])?;
        let (across, down) = (values::<f32>(21, columns), values::<f32>(22, rows));
        let at = at([rows, columns, 1]);
        let expected = product(&elements, &across, [rows, columns, 1], &0.0, |sum, a, b| sum + a * b);
        matvec.check((&m, &across), &expected).map_err(&at)?;
        let expected = product(&down, &elements, [1, rows, columns], &0.0, |sum, a, b| sum + a * b);
        vecmat.check((&down, &m), &expected).map_err(&at)?;
    }
    Ok(())
}

pub fn products_written_as_folds(h: &Harness) -> Outcome {
    let program = h.compile(|a: Acc<Matrix<f32>>, b: Acc<Matrix<f32>>| {
        let ((rows, _), (_, columns)) = (a.shape(), b.shape());
        let (left, right) = (a.replicate((All, columns, All)), b.transpose().replicate((rows, All, All)));
        left.zip_with(right, |x, y| x * y).sum()
    })?;
    for shape in [[9, 0, 9], [33, 40, 70]] {
        let [rows, inner, columns] = shape;
        let (left, a) = array::<Dim2, f32>(23, [rows, inner])?;
        let (right, b) = array::<Dim2, f32>(24, [inner, columns])?;
        let expected = product(&left, &right, shape, &0.0, |sum, a, b| sum + a * b);
        program.check_shaped((&a, &b), [rows, columns], &expected).map_err(at(shape))?;
    }
    Ok(())
}

pub fn functions_that_fail(h: &Harness) -> Outcome {
    // The zeros with which tiles are padded must not be divided by.
    let program = |a: Acc<Matrix<i32>>, b: Acc<Matrix<i32>>| a.product_by(b, |a, b| a / b, |a, b| a + b, 0);
    let shape = [9, 5, 9];
    let (left, a) = array::<Dim2, i32>(25, [9, 5])?;
    let right: Vec<i32> = (1..46).collect();
    let b = Matrix::from_slice([5, 9], &right).map_err(|error| error.to_string())?;
    let step = |sum: i32, a: i32, b: i32| sum.wrapping_add(a.wrapping_div(b));
    h.check(program, (&a, &b), &product(&left, &right, shape, &0, step))?;
    let zeros = Matrix::from_vec([5, 9], vec![0; 45]).map_err(|error| error.to_string())?;
    h.expect_error(program, (&a, &zeros), &["division by zero", file!()])
}

pub fn shapes_that_do_not_fit(h: &Harness) -> Outcome {
    let matrices = |a: Acc<Matrix<f32>>, b: Acc<Matrix<f32>>| a.matmul(b);
    let (_, a) = array::<Dim2, f32>(26, [2, 3])?;
    let message = "the left matrix has 3 columns and the right one has 2 rows in matmul at";
    h.expect_error(matrices, (&a, &a), &[message, file!()])?;
    let batches = |a: Acc<Array<Dim3, f32>>, b: Acc<Array<Dim3, f32>>| a.matmul(b);
    let (_, a) = array::<Dim3, f32>(27, [2, 3, 3])?;
    let (_, b) = array::<Dim3, f32>(28, [4, 3, 3])?;
    let message = "there are not as many matrices on the left as on the right, [2] and [4], in matmul at";
    h.expect_error(batches, (&a, &b), &[message, file!()])?;
    let vector = |m: Acc<Matrix<f32>>, v: Acc<Vector<f32>>| m.matvec(v);
    let (_, m) = array::<Dim2, f32>(29, [2, 3])?;
    h.expect_error(vector, (&m, &[1.0, 2.0]), &["shapes differ, [2, 3] and [2, 2], in matvec at", file!()])
}

pub fn wide_elements_with_long_inner_extents(h: &Harness) -> Outcome {
    // On a CPU, slices of several rounds fill a block's memory.
    let floats = h.compile(|a: Acc<Matrix<f64>>, b: Acc<Matrix<f64>>| a.matmul(b))?;
    for shape in [[140, 130, 150], [9, 300, 130]] {
        let [rows, inner, columns] = shape;
        let (left, a) = array::<Dim2, f64>(29, [rows, inner])?;
        let (right, b) = array::<Dim2, f64>(30, [inner, columns])?;
        let expected = product(&left, &right, shape, &0.0, |sum, a, b| sum + a * b);
        floats.check_shaped((&a, &b), [rows, columns], &expected).map_err(at(shape))?;
    }
    Ok(())
}

/// Writes a product of matrices with other operations.
fn pattern<T: Elt>(
    a: Acc<Matrix<T>>,
    b: Acc<Matrix<T>>,
    initial: T,
    multiply: impl Fn(T::Exp, T::Exp) -> T::Exp,
    add: impl Fn(T::Exp, T::Exp) -> T::Exp,
) -> Acc<Matrix<T>> {
    let ((rows, _), (_, columns)) = (a.shape(), b.shape());
    let left = a.replicate((All, columns, All));
    let right = b.transpose().replicate((rows, All, All));
    left.zip_with(right, multiply).fold(initial, add)
}

/// Shapes for patterns, whose inner extents are long enough for tiles.
const LONG_SHAPES: [[usize; 3]; 4] = [[5, 17, 5], [33, 18, 70], [140, 130, 150], [4, 100, 300]];

pub fn as_patterns(h: &Harness) -> Outcome {
    macro_rules! patterns {
        ($($t:ty, $initial:expr, $multiply:expr, $add:expr, $plain:expr;)*) => { $({
            let program = h.compile(|a: Acc<Matrix<$t>>, b: Acc<Matrix<$t>>| {
                pattern::<$t>(a, b, $initial, $multiply, $add)
            })?;
            for shape in LONG_SHAPES.into_iter().chain([[0, 20, 9], [9, 0, 9], [1, 1, 1], [7, 13, 33]]) {
                let [rows, inner, columns] = shape;
                let (left, a) = array::<Dim2, $t>(31, [rows, inner])?;
                let (right, b) = array::<Dim2, $t>(32, [inner, columns])?;
                let expected = product(&left, &right, shape, &$initial, $plain);
                program.check_shaped((&a, &b), [rows, columns], &expected).map_err(at(shape))?;
            }
        })* };
    }
    patterns! {
        f32, 0.0f32, |x, y| x * y, |x, y| x + y, |sum: f32, a: f32, b: f32| sum + a * b;
        // An initial value that must count exactly once.
        f64, 5.0f64, |x, y| x * y, |x, y| x + y, |sum: f64, a: f64, b: f64| sum + a * b;
        i64, 3i64, |x, y| (x - y) * (x - y), |x, y| x + y,
            |sum: i64, a: i64, b: i64| sum.wrapping_add(a.wrapping_sub(b).wrapping_mul(a.wrapping_sub(b)));
        i32, i32::MAX, |x, y| x.max(y), |x, y| x.min(y), |least: i32, a: i32, b: i32| least.min(a.max(b));
        u32, 0u32, |x, y| x ^ y, |x, y| x | y, |all: u32, a: u32, b: u32| all | (a ^ b);
        bool, false, |x, y| x & y, |x, y| x | y, |any: bool, a: bool, b: bool| any | (a & b);
    }
    // Pairs, whose operator does not commute: x -> a x + b, one after the other.
    let composed = h.compile(|a: Acc<Matrix<(i64, i64)>>, b: Acc<Matrix<(i64, i64)>>| {
        let multiply = |(a, b): (Exp<i64>, Exp<i64>), (c, d): (Exp<i64>, Exp<i64>)| (a ^ c, b + d);
        let then = |(a, b): (Exp<i64>, Exp<i64>), (c, d): (Exp<i64>, Exp<i64>)| (a * c, b * c + d);
        pattern::<(i64, i64)>(a, b, (1, 0), multiply, then)
    })?;
    for shape in LONG_SHAPES {
        let [rows, inner, columns] = shape;
        let (left, a) = array::<Dim2, (i64, i64)>(33, [rows, inner])?;
        let (right, b) = array::<Dim2, (i64, i64)>(34, [inner, columns])?;
        let expected = product(&left, &right, shape, &(1i64, 0i64), |(p, q), (a, b), (c, d)| {
            let (a, b) = (a ^ c, b.wrapping_add(d));
            (p.wrapping_mul(a), q.wrapping_mul(a).wrapping_add(b))
        });
        composed.check_shaped((&a, &b), [rows, columns], &expected).map_err(at(shape))?;
    }
    Ok(())
}

pub fn patterns_with_functions_around_them(h: &Harness) -> Outcome {
    // Batches, views and functions of each side, a weight of the inner index, indices as values, and consumers.
    let program = h.compile(
        |a: Acc<Array<Dim3, f32>>, b: Acc<Array<Dim3, f32>>, weights: Acc<Vector<f32>>, scale: Exp<f32>| {
            let ((batches, rows, _), (_, columns, _)) = (a.shape(), b.shape());
            let left = a.map(|x| x + 1.0).replicate((All, All, columns, All));
            let right = b.reverse().replicate((All, rows, All, All));
            let weights = weights.replicate((batches, rows, columns, All));
            let products = left.zip_with3(right, weights, move |x, y, w| x * y * w * scale);
            let indexed = products.imap(|(_, i, j, _), x| x + (i - j).cast::<f32>());
            indexed.fold(1.0, |x, y| x + y).map(|x| x * 2.0)
        },
    )?;
    for [batches, rows, columns, inner] in [[3, 7, 9, 20], [2, 70, 66, 33], [0, 7, 9, 20], [5, 40, 5, 17]] {
        let (left, a) = array::<Dim3, f32>(35, [batches, rows, inner])?;
        let (right, b) = array::<Dim3, f32>(36, [batches, columns, inner])?;
        let weights = values::<f32>(37, inner);
        let element = |place: usize| {
            let (batch, row, column) = (place / columns / rows, place / columns % rows, place % columns);
            let term = |k: usize| {
                let x = left[(batch * rows + row) * inner + k] + 1.0;
                let y = right[(batch * columns + column) * inner + inner - 1 - k];
                x * y * weights[k] * 2.0 + (row as f32 - column as f32)
            };
            ((0..inner).map(term).sum::<f32>() + 1.0) * 2.0
        };
        let expected: Vec<f32> = (0..batches * rows * columns).map(element).collect();
        program
            .check_shaped((&a, &b, &weights, 2.0), [batches, rows, columns], &expected)
            .map_err(at([rows, inner, columns]))?;
    }
    Ok(())
}

pub fn patterns_that_can_fail(h: &Harness) -> Outcome {
    let program = h.compile(|a: Acc<Matrix<i64>>, b: Acc<Matrix<i64>>| {
        pattern::<i64>(a, b, 0, |x, y| x / y, |x, y| x + y)
    })?;
    let ones = |extents: [usize; 2], value: i64| {
        Matrix::from_vec(extents, vec![value; extents[0] * extents[1]]).map_err(|error| error.to_string())
    };
    program.check((&ones([9, 20], 6)?, &ones([20, 9], 2)?), &[60; 81])?;
    h.expect_failure(program.run((&ones([9, 20], 6)?, &ones([20, 9], 0)?)), &["division by zero", file!()])
}
