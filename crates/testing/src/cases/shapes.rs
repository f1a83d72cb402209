//! Operations that change the shape or the place of elements, but not their values.

use crate::data::{FEW_SIZES, SHAPES, SIZES, Sample, values};
use crate::{Harness, Outcome};
use pumice::prelude::*;

fn matrix<T: Sample>(seed: u64, [rows, columns]: [usize; 2]) -> Result<(Vec<T>, Matrix<T>), String> {
    let elements = values::<T>(seed, rows * columns);
    let matrix = Matrix::from_slice([rows, columns], &elements).map_err(|error| error.to_string())?;
    Ok((elements, matrix))
}

fn transposed<T: Copy>(elements: &[T], [rows, columns]: [usize; 2]) -> Vec<T> {
    (0..columns).flat_map(|j| (0..rows).map(move |i| elements[i * columns + j])).collect()
}

pub fn reshapes(h: &Harness) -> Outcome {
    let to_matrix = h.compile(|xs: Acc<Vector<i32>>, columns: Exp<i64>| {
        let rows = xs.size() / columns;
        xs.reshape((rows, columns)).map(|x| x + 1)
    })?;
    for (n, columns) in [(0, 3), (6, 3), (6, 1), (6, 6), (1000, 8), (4100, 41), (20_000, 100)] {
        let xs = values::<i32>(1, n);
        let expected: Vec<i32> = xs.iter().map(|x| x.wrapping_add(1)).collect();
        to_matrix.check_shaped((&xs, columns as i64), [n / columns, columns], &expected)?;
    }
    let other = h.compile(|m: Acc<Matrix<f64>>| {
        let (rows, columns) = m.shape();
        m.reshape((columns, rows))
    })?;
    for shape in SHAPES {
        let (elements, m) = matrix::<f64>(2, shape)?;
        other.check_shaped(&m, [shape[1], shape[0]], &elements)?;
    }
    let nothing = h.compile(|xs: Acc<Vector<i32>>| xs.reshape(()))?;
    nothing.check_shaped(&[7], [], &[7])
}

pub fn reshapes_of_computed_arrays(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<i64>>| {
        let (rows, columns) = m.shape();
        let turned = m.transpose().map(|x| x * 3).reshape((rows, columns));
        turned.zip_with(generate((rows, columns), |(i, j)| i - j), |a, b| a + b)
    })?;
    for shape in SHAPES {
        let (elements, m) = matrix::<i64>(3, shape)?;
        let turned = transposed(&elements, shape);
        let place = |k: usize| (k / shape[1]) as i64 - (k % shape[1]) as i64;
        let expected: Vec<i64> =
            turned.iter().enumerate().map(|(k, x)| x.wrapping_mul(3).wrapping_add(place(k))).collect();
        program.check_shaped(&m, shape, &expected).map_err(|m| format!("{shape:?}: {m}"))?;
    }
    Ok(())
}

pub fn flattened(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<bool>>| m.map(|x| !x).flatten())?;
    for shape in SHAPES {
        let (elements, m) = matrix::<bool>(4, shape)?;
        let expected: Vec<bool> = elements.iter().map(|x| !x).collect();
        program.check_shaped(&m, [elements.len()], &expected)?;
    }
    let program = h.compile(|| generate((2, 3, 4), |(i, j, k)| i * 100 + j * 10 + k).flatten())?;
    let mut expected = Vec::new();
    for i in 0..2 {
        for j in 0..3 {
            expected.extend((0..4).map(|k| i * 100 + j * 10 + k));
        }
    }
    program.check_shaped((), [24], &expected)?;
    h.check(|| unit(5i32).flatten(), (), &[5])
}

pub fn ranks_three_and_four(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Array<Dim3, i32>>, ys: Acc<Array<Dim3, i32>>| {
        let (a, b, c) = xs.shape();
        xs.zip_with(ys, |x, y| x - y).reshape((c, 1, b, a))
    })?;
    for [a, b, c] in [[2, 3, 4], [1, 1, 1], [0, 2, 2], [2, 0, 2], [31, 7, 33], [5, 1, 1000]] {
        let (xs, ys) = (values::<i32>(5, a * b * c), values::<i32>(6, a * b * c));
        let expected: Vec<i32> = xs.iter().zip(&ys).map(|(x, y)| x.wrapping_sub(*y)).collect();
        let array = |elements: &[i32]| Array::<Dim3, i32>::from_slice([a, b, c], elements);
        let (xs, ys) = (array(&xs).map_err(|e| e.to_string())?, array(&ys).map_err(|e| e.to_string())?);
        program.check_shaped((&xs, &ys), [c, 1, b, a], &expected)?;
    }
    Ok(())
}

pub fn reversed_and_strided(h: &Harness) -> Outcome {
    let reverse = h.compile(|xs: Acc<Vector<f32>>| {
        let n = xs.size();
        xs.backpermute(n, |i| n - 1 - i)
    })?;
    let strided = h.compile(|xs: Acc<Vector<u64>>, start: Exp<i64>, step: Exp<i64>| {
        let n = (xs.size() - start + step - 1) / step;
        xs.backpermute(n, |i| start + i * step)
    })?;
    let rotated = h.compile(|xs: Acc<Vector<(i32, bool)>>, by: Exp<i64>| {
        let n = xs.size();
        xs.backpermute(n, |i| (i + by) % n)
    })?;
    for n in SIZES {
        let xs = values::<f32>(7, n);
        reverse.check(&xs, &xs.iter().rev().copied().collect::<Vec<_>>())?;
        let xs = values::<u64>(8, n);
        for (start, step) in [(0, 1), (0, 2), (1, 7), (2, 300)] {
            if start <= n {
                let expected: Vec<u64> = xs.iter().skip(start).step_by(step).copied().collect();
                strided.check((&xs, start as i64, step as i64), &expected)?;
            }
        }
        let xs = values::<(i32, bool)>(9, n);
        let mut expected = xs.clone();
        if n > 0 {
            expected.rotate_left(5 % n);
        }
        rotated.check((&xs, 5), &expected)?;
    }
    Ok(())
}

pub fn gathered_by_values_of_the_index(h: &Harness) -> Outcome {
    // The index is computed in 32 bits and by a hash, so nothing can be proved about it.
    let program = h.compile(|xs: Acc<Vector<f64>>, m: Exp<i64>| {
        let n = xs.size();
        xs.backpermute(m, |i| {
            let hash = (i.cast::<u32>() * 2_654_435_761) >> 7;
            hash.cast::<i64>() % n
        })
    })?;
    for n in FEW_SIZES.into_iter().filter(|n| *n > 0) {
        for m in [0, 1, 1000, 5000] {
            let xs = values::<f64>(10, n);
            let place = |i: u32| (i.wrapping_mul(2_654_435_761) >> 7) as usize % n;
            program.check((&xs, i64::from(m)), &(0..m).map(|i| xs[place(i)]).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

pub fn rows_columns_and_diagonals(h: &Harness) -> Outcome {
    let row = h.compile(|m: Acc<Matrix<i32>>, i: Exp<i64>| {
        let (_, columns) = m.shape();
        m.backpermute(columns, |j| (i, j))
    })?;
    let column = h.compile(|m: Acc<Matrix<i32>>, j: Exp<i64>| {
        let (rows, _) = m.shape();
        m.backpermute(rows, |i| (i, j))
    })?;
    let diagonal = h.compile(|m: Acc<Matrix<i32>>| {
        let (rows, columns) = m.shape();
        m.backpermute(rows.min(columns), |i| (i, i))
    })?;
    let from_vector = h.compile(|xs: Acc<Vector<i32>>, rows: Exp<i64>| {
        let n = xs.size();
        xs.backpermute((rows, n - rows + 1), |(i, j)| i + j)
    })?;
    for shape @ [rows, columns] in SHAPES {
        let (elements, m) = matrix::<i32>(11, shape)?;
        for i in [0, rows / 2, rows.saturating_sub(1)].into_iter().filter(|i| *i < rows) {
            row.check((&m, i as i64), &elements[i * columns..(i + 1) * columns])?;
        }
        for j in [0, columns / 2, columns.saturating_sub(1)].into_iter().filter(|j| *j < columns) {
            let expected: Vec<i32> = (0..rows).map(|i| elements[i * columns + j]).collect();
            column.check((&m, j as i64), &expected)?;
        }
        let expected: Vec<i32> = (0..rows.min(columns)).map(|i| elements[i * columns + i]).collect();
        diagonal.check(&m, &expected)?;
    }
    for (n, rows) in [(1, 1), (10, 3), (500, 100), (300, 300)] {
        let xs = values::<i32>(12, n);
        let width = n - rows + 1;
        let expected: Vec<i32> = (0..rows).flat_map(|i| xs[i..i + width].iter().copied()).collect();
        from_vector.check_shaped((&xs, rows as i64), [rows, width], &expected)?;
    }
    Ok(())
}

pub fn backpermutes_that_need_no_check(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<f32>>| {
        let n = xs.size();
        let left = xs.clone().backpermute(n, |i| (i - 1).max(0));
        let right = xs.clone().backpermute(n, |i| (i + 1).min(n - 1));
        left.zip_with3(xs, right, |a, b, c| a - 2.0 * b + c)
    })?;
    for n in SIZES {
        let xs = values::<f32>(13, n);
        let at = |i: usize| xs[i.min(n - 1)];
        let expected: Vec<f32> = (0..n).map(|i| at(i.saturating_sub(1)) - 2.0 * at(i) + at(i + 1)).collect();
        program.check(&xs, &expected)?;
    }
    Ok(())
}

fn transposes_of<T: Sample>(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<T>>| m.transpose())?;
    for shape in SHAPES {
        let (elements, m) = matrix::<T>(14, shape)?;
        program
            .check_shaped(&m, [shape[1], shape[0]], &transposed(&elements, shape))
            .map_err(|m| format!("{shape:?} of {}: {m}", std::any::type_name::<T>()))?;
    }
    Ok(())
}

pub fn transposes(h: &Harness) -> Outcome {
    transposes_of::<f32>(h)?;
    transposes_of::<i64>(h)?;
    transposes_of::<bool>(h)
}

pub fn transposes_of_tuples_and_twice(h: &Harness) -> Outcome {
    transposes_of::<(u32, (f64, bool))>(h)?;
    let twice = h.compile(|m: Acc<Matrix<f32>>| m.transpose().map(|x| x * 2.0).transpose())?;
    let with_itself = h.compile(|m: Acc<Matrix<f32>>| m.clone().zip_with(m.transpose(), |a, b| a - b))?;
    for shape in SHAPES {
        let (elements, m) = matrix::<f32>(15, shape)?;
        let expected: Vec<f32> = elements.iter().map(|x| x * 2.0).collect();
        twice.check_shaped(&m, shape, &expected)?;
    }
    for n in [0, 1, 2, 33, 100] {
        let (elements, m) = matrix::<f32>(16, [n, n])?;
        let turned = transposed(&elements, [n, n]);
        let expected: Vec<f32> = elements.iter().zip(&turned).map(|(a, b)| a - b).collect();
        with_itself.check(&m, &expected)?;
    }
    Ok(())
}

pub fn replicated_rows_and_columns(h: &Harness) -> Outcome {
    let outer = h.compile(|xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| {
        let (rows, columns) = (xs.size(), ys.size());
        xs.replicate_columns(columns).zip_with(ys.replicate_rows(rows), |x, y| x * y + 1)
    })?;
    let alone = h.compile(|xs: Acc<Vector<(f32, bool)>>, count: Exp<i64>| xs.replicate_rows(count))?;
    let fixed = h.compile(|xs: Acc<Vector<u64>>| xs.map(|x| x + 1).replicate_columns(3))?;
    for [rows, columns] in SHAPES {
        let (xs, ys) = (values::<i32>(17, rows), values::<i32>(18, columns));
        let row = |x: &i32| ys.iter().map(|y| x.wrapping_mul(*y).wrapping_add(1)).collect::<Vec<_>>();
        outer.check_shaped((&xs, &ys), [rows, columns], &xs.iter().flat_map(row).collect::<Vec<_>>())?;
        let xs = values::<(f32, bool)>(19, columns);
        let count = rows % 20;
        alone.check_shaped((&xs, count as i64), [count, columns], &vec![xs.clone(); count].concat())?;
        let xs = values::<u64>(20, rows);
        let expected: Vec<u64> = xs.iter().flat_map(|x| [x.wrapping_add(1); 3]).collect();
        fixed.check_shaped(&xs, [rows, 3], &expected)?;
    }
    Ok(())
}

pub fn replicated_values(h: &Harness) -> Outcome {
    let program = h.compile(|a: Exp<i64>, b: Exp<i64>| unit(7i32).replicate((a, b)))?;
    let of_fold = h.compile(|xs: Acc<Vector<f32>>| {
        let n = xs.size();
        let total = xs.clone().sum();
        xs.zip_with(total.replicate(n), |x, total| x - total)
    })?;
    for [rows, columns] in SHAPES {
        program.check_shaped((rows as i64, columns as i64), [rows, columns], &vec![7; rows * columns])?;
    }
    for n in SIZES {
        let xs = values::<f32>(21, n);
        let total: f32 = xs.iter().sum();
        of_fold.check(&xs, &xs.iter().map(|x| x - total).collect::<Vec<_>>())?;
    }
    h.check(|| unit((true, 2.5f64)).replicate(3), (), &[(true, 2.5); 3])
}

pub fn permutations_of_three_and_four_dimensions(h: &Harness) -> Outcome {
    let three = h.compile(|xs: Acc<Array<Dim3, i32>>| {
        let (a, b, c) = xs.shape();
        xs.backpermute((c, a, b), |(k, i, j)| (i, j, k))
    })?;
    for [a, b, c] in [[2, 3, 4], [1, 5, 1], [0, 3, 2], [9, 31, 17]] {
        let xs = values::<i32>(22, a * b * c);
        let mut expected = Vec::new();
        for k in 0..c {
            for i in 0..a {
                expected.extend((0..b).map(|j| xs[(i * b + j) * c + k]));
            }
        }
        let xs = Array::<Dim3, i32>::from_vec([a, b, c], xs).map_err(|error| error.to_string())?;
        three.check_shaped(&xs, [c, a, b], &expected)?;
    }
    let four = h.compile(|xs: Acc<Array<Dim4, i32>>| {
        let (a, b, c, d) = xs.shape();
        xs.backpermute((d, c, b, a), |(l, k, j, i)| (i, j, k, l))
    })?;
    let [a, b, c, d] = [3, 4, 5, 37];
    let xs = values::<i32>(23, a * b * c * d);
    let mut expected = Vec::new();
    for l in 0..d {
        for k in 0..c {
            for j in 0..b {
                expected.extend((0..a).map(|i| xs[((i * b + j) * c + k) * d + l]));
            }
        }
    }
    let xs = Array::<Dim4, i32>::from_vec([a, b, c, d], xs).map_err(|error| error.to_string())?;
    four.check_shaped(&xs, [d, c, b, a], &expected)
}

pub fn chains_of_index_changes(h: &Harness) -> Outcome {
    // Reverse the flattened transpose, fold it back to a matrix, take every second row.
    let program = h.compile(|m: Acc<Matrix<i64>>| {
        let (rows, columns) = m.shape();
        let n = m.size();
        let reversed = m.transpose().flatten().backpermute(n, |i| n - 1 - i).map(|x| x + 1);
        reversed.reshape((columns, rows)).backpermute(((columns + 1) / 2, rows), |(i, j)| (i * 2, j))
    })?;
    for shape @ [rows, columns] in SHAPES {
        let (elements, m) = matrix::<i64>(24, shape)?;
        let mut turned = transposed(&elements, shape);
        turned.reverse();
        let expected: Vec<i64> = (0..columns.div_ceil(2))
            .flat_map(|i| turned[2 * i * rows..(2 * i + 1) * rows].iter().map(|x| x.wrapping_add(1)))
            .collect();
        program.check_shaped(&m, [columns.div_ceil(2), rows], &expected)?;
    }
    Ok(())
}
