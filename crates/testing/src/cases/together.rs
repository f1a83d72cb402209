//! Operations that share a kernel because they consume the same elements: those of an expansion, or of arrays of one shape.

use crate::{Harness, Outcome, Tolerance};
use pumice::prelude::*;
use pumice::{Boundary, OptionExp};

/// Returns the sizes of this many sources: many small ones, some empty, and a few large ones.
fn sizes(sources: usize) -> Vec<i64> {
    let pattern = [3, 0, 1, 7, 0, 0, 2, 40, 5];
    (0..sources)
        .map(|number| if number % 97 == 50 { 9000 } else { pattern[number % pattern.len()] })
        .collect()
}

/// A sum, a count of filtered elements, and combinations at few and at many targets, of one expansion; a further operation needs
/// a result of the others.
pub fn consumers_of_an_expansion(h: &Harness) -> Outcome {
    let program = h.compile(|sizes: Acc<Vector<i64>>| {
        let pairs = sizes.indexed().expand(|(_, size)| size, |(source, _), number| (source, number));
        let mixed = pairs.clone().map(|(source, number)| source * 31 + number * 7);
        let sum = mixed.clone().sum();
        let odd = mixed.clone().filter(|x| (x & 1).eq(1)).count(|x| (x % 3).eq(0));
        let counts = mixed.clone().histogram(10, |x| x % 10);
        let largest = mixed
            .map(|x| (OptionExp::present_if((x % 5).ne(0), x % 3001), x))
            .permute_pairs(|new, old| new.max(old), fill(3001, -7i64));
        let above = pairs.count(|(source, number)| (source * 31 + number * 7).gt(odd.the()));
        generate(3001, move |i| {
            let count = cond(i.lt(10), || counts.at(i).cast::<i64>(), || 0.into());
            largest.at(i) + 3 * count + 5 * sum.the() + 7 * odd.the() + 11 * above.the()
        })
    })?;
    for sources in [0, 1, 67, 603] {
        let sizes = sizes(sources);
        let all = || {
            let number_all =
                |(source, size): (usize, &i64)| (0..*size).map(move |number| (source as i64, number));
            let pairs = sizes.iter().enumerate().flat_map(number_all);
            pairs.map(|(source, number)| source * 31 + number * 7)
        };
        let sum: i64 = all().sum();
        let odd = all().filter(|x| x & 1 == 1 && x % 3 == 0).count() as i64;
        let above = all().filter(|x| *x > odd).count() as i64;
        let (mut counts, mut largest) = ([0i64; 10], vec![-7i64; 3001]);
        for x in all() {
            counts[(x % 10) as usize] += 1;
            if x % 5 != 0 {
                largest[(x % 3001) as usize] = largest[(x % 3001) as usize].max(x);
            }
        }
        let result = |i: usize| {
            let count = counts.get(i).copied().unwrap_or(0);
            largest[i] + 3 * count + 5 * sum + 7 * odd + 11 * above
        };
        program.check(&sizes, &(0..3001).map(result).collect::<Vec<i64>>())?;
    }
    Ok(())
}

/// Expansions of expansions, of many sources and of few, for which threads share the inner ones.
pub fn expansions_of_expansions(h: &Harness) -> Outcome {
    let triples = h.compile(|n: Exp<i64>| {
        let pairs = enum_from(n, 0, 1).expand(move |x| n - x, |x, number| (x, x + number));
        let triples = pairs
            .filter(|(x, y)| ((x + y) % 3).ne(0))
            .expand(move |(_, y)| n - y, |(x, y), number| (x, y, y + number));
        let sums = triples.map(|(x, y, z)| x + 2 * y + 3 * z);
        let total = sums.clone().sum();
        sums.histogram(7, |sum| sum % 7).map(move |count| count.cast::<i64>() + total.the())
    })?;
    for n in [0, 1, 5, 40] {
        let mut sums = Vec::new();
        for x in 0..n {
            for y in (x..n).filter(|y| (x + y) % 3 != 0) {
                sums.extend((y..n).map(|z| x + 2 * y + 3 * z));
            }
        }
        let (total, mut counts) = (sums.iter().sum::<i64>(), [0i64; 7]);
        sums.iter().for_each(|sum| counts[(sum % 7) as usize] += 1);
        triples.check(n, &counts.map(|count| count + total))?;
    }
    Ok(())
}

/// Folds and combinations at an index over one array, whole and filtered, and an array computed from it.
pub fn consumers_of_an_array(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        let wide = xs.clone().map(|x| x.cast::<i64>());
        let (sum, squares) = (wide.clone().sum(), wide.map(|x| x * x).sum());
        let largest = xs.clone().fold(i32::MIN, |a, b| a.max(b));
        let even = xs.clone().filter(|x| (x & 1).eq(0)).count(|x| x.gt(3));
        let counts = xs.clone().histogram(64, |x| x.cast::<i64>() & 63);
        let others = xs.clone().filter(|x| x.lt(0)).histogram(9, |x| x.cast::<i64>() & 7);
        let doubled = xs.clone().map(|x| x * 2).compute();
        generate(xs.size(), move |i| {
            let bins = counts.at(i & 63).cast::<i64>() + others.at(i % 9).cast::<i64>() * 100;
            let folds = sum.the() + squares.the() * 3 + largest.the().cast::<i64>() * 5 + even.the() * 7;
            bins + folds + doubled.at(doubled.size() - 1 - i).cast::<i64>()
        })
    })?;
    for n in [0, 1, 31, 40_007] {
        let xs: Vec<i32> = (0..n).map(|i: i64| ((i * 7919) % 2003 - 1000) as i32).collect();
        let wide = || xs.iter().map(|x| i64::from(*x));
        let (sum, squares): (i64, i64) = (wide().sum(), wide().map(|x| x * x).sum());
        let largest = i64::from(xs.iter().copied().fold(i32::MIN, i32::max));
        let even = wide().filter(|x| x & 1 == 0 && *x > 3).count() as i64;
        let (mut counts, mut others) = ([0i64; 64], [0i64; 9]);
        for x in wide() {
            counts[(x & 63) as usize] += 1;
            if x < 0 {
                others[(x & 7) as usize] += 1;
            }
        }
        let folds = sum + squares * 3 + largest * 5 + even * 7;
        let result =
            |(i, last): (usize, &i32)| counts[i & 63] + others[i % 9] * 100 + folds + i64::from(*last) * 2;
        program.check(&xs, &xs.iter().rev().enumerate().map(result).collect::<Vec<i64>>())?;
    }
    Ok(())
}

/// Two arrays of one shape that read a third: one kernel writes both, also if it reads neighbours.
pub fn arrays_of_one_shape(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<f32>>| {
        let (rows, columns) = m.shape();
        let right = m.clone().imap(|(i, j), x| x + m.at((i, (j + 1).min(columns - 1))));
        let down = m.clone().imap(|(i, j), x| x - m.at(((i + 1).min(rows - 1), j)));
        right.compute().reverse().zip_with(down.compute(), |a, b| a * b)
    })?;
    for [rows, columns] in [[0, 3], [1, 1], [37, 201]] {
        let m: Vec<f32> = (0..rows * columns).map(|i| ((i * 37) % 101) as f32).collect();
        let at = |i: usize, j: usize| m[i * columns + j];
        let mut expected = Vec::new();
        for i in 0..rows {
            for j in 0..columns {
                let k = columns - 1 - j;
                let right = at(i, k) + at(i, (k + 1).min(columns - 1));
                expected.push(right * (at(i, j) - at((i + 1).min(rows - 1), j)));
            }
        }
        let m = Matrix::from_vec([rows, columns], m.clone()).map_err(|error| error.to_string())?;
        program.check(&m, &expected)?;
    }
    Ok(())
}

/// An array that is written is consumed in the same kernel, unless it is also the defaults, or is read at another index.
pub fn arrays_that_are_written_and_heard(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i64>>| {
        let ys = xs.map(|x| x * 3 + 1).compute();
        let sum = ys.clone().sum();
        let counts = ys.clone().histogram(5, |y| y & 3);
        let own = ys.clone().map(|y| (some(y % 7), y)).permute_pairs(|new, old| new + old, ys.clone());
        let by_others = ys.clone().permute(|new, old| new.max(old), fill(4, 0i64), {
            let ys = ys.clone();
            move |i| ys.at(i) & 3
        });
        let with_last = ys.clone().sum().map({
            let ys = ys.clone();
            move |sum| sum + ys.at(0)
        });
        generate(ys.size(), move |i| {
            let folds = sum.the() + 3 * with_last.the() + 5 * counts.at(i % 5).cast::<i64>();
            folds + 7 * own.at(i) + 11 * by_others.at(i & 3) + ys.at(i)
        })
    })?;
    for n in [7, 31, 30_011] {
        let xs: Vec<i64> = (0..n).map(|i| (i * 7919) % 2003).collect();
        let ys: Vec<i64> = xs.iter().map(|x| x * 3 + 1).collect();
        let sum: i64 = ys.iter().sum();
        let (mut counts, mut own, mut largest) = ([0i64; 5], ys.clone(), [0i64; 4]);
        for y in &ys {
            counts[(y & 3) as usize] += 1;
            own[(y % 7) as usize] += y;
            largest[(y & 3) as usize] = largest[(y & 3) as usize].max(*y);
        }
        let folds = sum + 3 * (sum + ys.first().copied().unwrap_or(0));
        let result = |i: usize| folds + 5 * counts[i % 5] + 7 * own[i] + 11 * largest[i & 3] + ys[i];
        program.check(&xs, &(0..ys.len()).map(result).collect::<Vec<i64>>())?;
    }
    Ok(())
}

/// Arrays of one size and different shapes, which have only the number of elements in common.
pub fn arrays_of_one_size(h: &Harness) -> Outcome {
    let program = |xs: Acc<Vector<i64>>| {
        let long = xs.clone().reshape((1, 600)).map(|x| x + 1);
        let narrow = generate((300, 2), move |(row, column)| xs.at(row * 2 + column) + 1000 * row + column);
        (long, narrow)
    };
    let xs: Vec<i64> = (0..600).map(|x| x * x % 17).collect();
    let Some((long, narrow)) = h.results(program, &xs)? else { return Ok(()) };
    h.expect(&long, &xs.iter().map(|x| x + 1).collect::<Vec<i64>>(), Tolerance::Exact)?;
    let expected = (0..).zip(&xs).map(|(i, x)| x + 1000 * (i / 2) + i % 2);
    h.expect(&narrow, &expected.collect::<Vec<i64>>(), Tolerance::Exact)
}

/// A stencil that is written row by row, with borders, is folded in the same kernel: alone, with its input, and filtered.
pub fn stencils_that_are_written_and_heard(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Matrix<i64>>| {
        let image =
            xs.clone().stencil(Boundary::Constant(5), |x| 3 * x.at([0, 0]) - x.at([-1, 0]) - x.at([0, 1]));
        let product = xs.zip_with(image.clone(), |x, y| x * y).flatten().sum();
        let odd = image.clone().flatten().filter(|y| (y & 1).eq(1)).max();
        // The image is needed in memory, because this operation depends on both folds.
        image.map(|y| y + 7 * product.the() - odd.the())
    })?;
    for (rows, columns) in [(1usize, 40usize), (5, 65), (23, 128)] {
        let xs: Vec<i64> = (0..rows * columns).map(|i| (i * i % 17) as i64 - 5).collect();
        let at = |row: usize, column: usize| match row < rows && column < columns {
            true => xs[row * columns + column],
            false => 5,
        };
        let element = |i: usize| {
            let (row, column) = (i / columns, i % columns);
            3 * at(row, column) - at(row.wrapping_sub(1), column) - at(row, column + 1)
        };
        let image: Vec<i64> = (0..rows * columns).map(element).collect();
        let product: i64 = xs.iter().zip(&image).map(|(x, y)| x * y).sum();
        let odd = image.iter().copied().filter(|y| y & 1 == 1).fold(i64::MIN, i64::max);
        let expected: Vec<i64> = image.iter().map(|y| y + 7 * product - odd).collect();
        let matrix = Matrix::from_slice([rows, columns], &xs).map_err(|error| error.to_string())?;
        program.check(&matrix, &expected)?;
    }
    Ok(())
}
