//! Slices, replications, reversals, rotations, windows and rearranged dimensions, against plain Rust.

use crate::data::{Sample, values};
use crate::{Harness, Outcome};
use pumice::prelude::*;

const MATRICES: [[usize; 2]; 5] = [[3, 5], [1, 1], [0, 4], [37, 64], [5, 1025]];

fn matrix<T: Sample>(seed: u64, extents: [usize; 2]) -> Result<(Vec<T>, Matrix<T>), String> {
    let elements = values::<T>(seed, extents[0] * extents[1]);
    let matrix = Matrix::from_slice(extents, &elements).map_err(|error| error.to_string())?;
    Ok((elements, matrix))
}

/// Applies a function to every row, and concatenates the results.
fn of_rows<T: Clone>(elements: &[T], [rows, columns]: [usize; 2], f: impl Fn(&[T]) -> Vec<T>) -> Vec<T> {
    (0..rows).flat_map(|row| f(&elements[row * columns..(row + 1) * columns])).collect()
}

fn of_every_type<T: Sample>(h: &Harness) -> Outcome {
    let stretch = h.compile(|m: Acc<Matrix<T>>| m.drop(1).reverse().every(2))?;
    let turned = h.compile(|m: Acc<Matrix<T>>| m.rotate(-2).tile(2))?;
    for extents @ [rows, columns] in MATRICES {
        let (elements, m) = matrix::<T>(90, extents)?;
        let expected = of_rows(&elements, extents, |row| row[1..].iter().rev().step_by(2).cloned().collect());
        stretch.check_shaped(&m, [rows, (columns - 1).div_ceil(2)], &expected)?;
        let expected = of_rows(&elements, extents, |row| {
            let mut row = row.to_vec();
            row.rotate_right(2 % columns);
            row.repeat(2)
        });
        turned.check_shaped(&m, [rows, 2 * columns], &expected)?;
    }
    Ok(())
}

pub fn parts_of_rows_of_every_type(h: &Harness) -> Outcome {
    for_every_type!(of_every_type, h)
}

pub fn parts_of_vectors(h: &Harness) -> Outcome {
    let xs: Vec<i32> = values(91, 1000);
    h.check(|xs: Acc<Vector<i32>>| xs.take(7), &xs, &xs[..7])?;
    h.check(|xs: Acc<Vector<i32>>| xs.take(0), &xs, &[])?;
    h.check(|xs: Acc<Vector<i32>>| xs.slit(300, 400), &xs, &xs[300..700])?;
    h.check(|xs: Acc<Vector<i32>>| xs.init().tail(), &xs, &xs[1..999])?;
    let sum: i32 =
        xs[..10].iter().zip(&xs[990..]).fold(0, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)));
    let ends = |xs: Acc<Vector<i32>>| {
        let (low, high) = xs.split_at(10);
        let high = high.reverse().take(10).reverse();
        low.zip_with(high, |x, y| x * y).sum()
    };
    h.check(ends, &xs, &[sum])?;
    let by = |xs: Acc<Vector<i32>>, distance: Exp<i64>| xs.rotate(distance);
    for distance in [0i64, 1, 999, 1000, 1001, -1, -2500] {
        let mut expected = xs.clone();
        expected.rotate_left(distance.rem_euclid(1000) as usize);
        h.check(by, (&xs, distance), &expected)?;
    }
    h.check(|xs: Acc<Vector<i32>>| xs.rotate(3).tile(4), &[0i32; 0], &[])?;
    h.expect_error(
        |xs: Acc<Vector<i32>>| xs.take(4),
        &[1, 2],
        &["indices 0..4 of a dimension of 2 in take", file!()],
    )?;
    h.expect_error(
        |xs: Acc<Vector<i32>>| xs.tail(),
        &[0; 0],
        &["extents [-1] are not possible in tail", file!()],
    )?;
    h.expect_error(|xs: Acc<Vector<i32>>| xs.every(0), &[1], &["every 0th element", file!()])
}

pub fn windows(h: &Harness) -> Outcome {
    let sums = h.compile(|m: Acc<Matrix<i64>>| m.windows(3).sum())?;
    let kept = h.compile(|xs: Acc<Vector<i32>>, width: Exp<i64>| xs.windows(width))?;
    for extents @ [rows, columns] in [[3, 5], [1, 3], [0, 4], [7, 300]] {
        let (elements, m) = matrix::<i64>(92, extents)?;
        let sum = |window: &[i64]| window.iter().fold(0i64, |a, b| a.wrapping_add(*b));
        let expected = of_rows(&elements, extents, |row| row.windows(3).map(sum).collect());
        sums.check_shaped(&m, [rows, columns - 2], &expected)?;
    }
    let xs: Vec<i32> = values(93, 130);
    for width in [1usize, 4, 130] {
        let expected: Vec<i32> = xs.windows(width).flatten().copied().collect();
        kept.check_shaped((&xs, width as i64), [131 - width, width], &expected)?;
    }
    h.expect_failure(kept.run((&xs, 132)), &["extents [-1, 132] are not possible in windows", file!()])
}

pub fn slices_and_replications(h: &Harness) -> Outcome {
    let [a, b, c] = [3, 4, 5];
    let xs: Vec<i32> = values(94, a * b * c);
    let cube = Array::<Dim3, i32>::from_vec([a, b, c], xs.clone()).map_err(|error| error.to_string())?;
    let at = |i: usize, j: usize, k: usize| xs[(i * b + j) * c + k];
    type Cube = Acc<Array<Dim3, i32>>;
    let middle: Vec<i32> =
        (0..a).flat_map(|i| (0..c).map(move |k| (i, k))).map(|(i, k)| at(i, 2, k)).collect();
    h.check(|xs: Cube| xs.slice((All, 2, All)), &cube, &middle)?;
    let column: Vec<i32> = (0..b).map(|j| at(1, j, 4)).collect();
    h.check(|xs: Cube, i: Exp<i64>| xs.slice((i, All, 4)), (&cube, 1), &column)?;
    h.check(|xs: Cube| xs.slice((2, 3, 4)), &cube, &[at(2, 3, 4)])?;
    h.check(|xs: Cube| xs.slice((All, All, All)), &cube, &xs)?;
    h.expect_error(
        |xs: Cube, i: Exp<i64>| xs.slice((i, All, 4)),
        (&cube, 3),
        &["index 3 out of bounds for length 3 in slice", file!()],
    )?;
    let twice: Vec<i32> =
        (0..a).flat_map(|i| [i, i]).flat_map(|i| xs[i * b * c..(i + 1) * b * c].to_vec()).collect();
    h.check(|xs: Cube| xs.replicate((All, 2, All, All)).map(|x| x), &cube, &twice)?;
    // Five dimensions, and back again.
    h.check(|xs: Cube| xs.replicate((All, 2, All, 3, All)).slice((All, 1, All, 2, All)), &cube, &xs)
}

pub fn dimensions_in_another_order(h: &Harness) -> Outcome {
    let [a, b, c] = [3, 40, 5];
    let xs: Vec<i32> = values(95, a * b * c);
    let cube = Array::<Dim3, i32>::from_vec([a, b, c], xs.clone()).map_err(|error| error.to_string())?;
    let at = |i: usize, j: usize, k: usize| xs[(i * b + j) * c + k];
    type Cube = Acc<Array<Dim3, i32>>;
    let each = |x: usize, y: usize, z: usize| {
        (0..x).flat_map(move |i| (0..y).flat_map(move |j| (0..z).map(move |k| (i, j, k))))
    };
    let expected: Vec<i32> = each(c, a, b).map(|(k, i, j)| at(i, j, k)).collect();
    h.check(|xs: Cube| xs.rearrange([2, 0, 1]), &cube, &expected)?;
    let wrap = |a: i32, b: i32| a.wrapping_add(b);
    let sums: Vec<i32> = each(a, c, 1).map(|(i, k, _)| (0..b).map(|j| at(i, j, k)).fold(0, wrap)).collect();
    h.check(|xs: Cube| xs.along(1).sum(), &cube, &sums)?;
    let mut running = xs.clone();
    for (i, j, k) in each(a, b, c).filter(|(_, j, _)| *j > 0) {
        running[(i * b + j) * c + k] = wrap(running[(i * b + j - 1) * c + k], running[(i * b + j) * c + k]);
    }
    h.check(|xs: Cube| xs.in_dimension(1, |rows| rows.scanl1(|a, b| a + b)), &cube, &running)?;
    let upside_down: Vec<i32> = each(a, b, c).map(|(i, j, k)| at(a - 1 - i, j, k)).collect();
    h.check(|xs: Cube| xs.in_dimension(0, |rows| rows.reverse()), &cube, &upside_down)?;
    h.expect_error(
        |xs: Cube| xs.rearrange([2, 0, 0]),
        &cube,
        &["an order [2, 0, 0] of an array of 3 dimensions", file!()],
    )?;
    h.expect_error(
        |xs: Cube| xs.along(3),
        &cube,
        &["an order [0, 1, 2, 3] of an array of 3 dimensions", file!()],
    )
}
