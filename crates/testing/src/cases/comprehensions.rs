//! Comprehensions: qualifiers of every kind, against plain Rust, and the examples of the paper that they are from (Elsman and
//! Larsen, "Efficient Translation of Certain Irregular Data-Parallel Array Comprehensions").

use crate::data::values;
use crate::{Harness, Outcome};
use pumice::prelude::*;

/// Returns numbers from -20 to 20.
fn numbers(seed: u64, count: usize) -> Vec<i64> {
    values::<i64>(seed, count).into_iter().map(|x| x.rem_euclid(41) - 20).collect()
}

const LENGTHS: [usize; 3] = [0, 1, 701];

pub fn qualifiers(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i64>>, n: Exp<i64>| {
        comp![
            (x, if z % 2 == 0 { y } else { -1 })
            | n > 3, x <- xs, x > -3 && x != n, let z = x + n, y <- z - 3..=x * 2, !(y == x || 7 < y)
        ]
    })?;
    for length in LENGTHS {
        let xs = numbers(7, length);
        for n in [3i64, 5] {
            let mut expected = Vec::new();
            for x in xs.iter().copied().filter(|x| n > 3 && *x > -3 && *x != n) {
                let z = x + n;
                let ys = (z - 3..=x * 2).filter(|y| !(*y == x || 7 < *y));
                expected.extend(ys.map(|y| (x, if z % 2 == 0 { y } else { -1 })));
            }
            program.check((&xs, n), &expected)?;
        }
    }
    Ok(())
}

pub fn in_step(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i64>>, ys: Acc<Vector<i64>>| {
        comp![(i, x * y + j) | i <- 0.. | x <- xs | y <- ys, y > 0, j <- [2 * k | k <- 0..y] | _ <- xs]
    })?;
    for (first, second) in [(0, 5), (3, 1), (40, 61)] {
        let (xs, ys) = (numbers(8, first), numbers(9, second));
        let mut expected = Vec::new();
        for (i, (x, y)) in xs.iter().zip(&ys).enumerate().filter(|(_, (_, y))| **y > 0) {
            expected.extend((0..*y).take(xs.len()).map(|k| (i as i64, x * y + 2 * k)));
        }
        program.check((&xs, &ys), &expected)?;
    }
    Ok(())
}

pub fn reductions(h: &Harness) -> Outcome {
    let sum = h.compile(|xs: Acc<Vector<i64>>| sum![x * y | x <- xs, y <- 0..x, (x + y) % 3 == 0])?;
    let bounds = h.compile(|xs: Acc<Vector<i64>>| {
        let (least, most) = (min![x | x <- xs, x > -100], max![x | x <- xs]);
        least.zip_with(most, |least, most| (least, most))
    })?;
    let holds = h.compile(|xs: Acc<Vector<i64>>| {
        let (any, all) = (any![x == y | x <- xs, y <- 18..20], all![x < 20 | x <- xs]);
        any.zip_with(all, |any, all| (any, all))
    })?;
    for length in LENGTHS {
        let xs = numbers(10, length);
        let products = xs.iter().flat_map(|x| (0..*x).filter(move |y| (x + y) % 3 == 0).map(move |y| x * y));
        sum.check(&xs, &[products.sum()])?;
        if let (Some(least), Some(most)) = (xs.iter().min(), xs.iter().max()) {
            bounds.check(&xs, &[(*least, *most)])?;
        }
        holds.check(&xs, &[(xs.iter().any(|x| [18, 19].contains(x)), xs.iter().all(|x| *x < 20))])?;
    }
    Ok(())
}

/// Reductions per element: several in one expression, in conditions and keys, some over ranges that are long for a block,
/// and some that are computed only under a condition.
pub fn reductions_of_each(h: &Harness) -> Outcome {
    let mean = h.compile(|xs: Acc<Vector<i64>>, n: Exp<i64>| {
        comp![
            (x, sum![y * y | y <- 0..x] / n - min![y * 7 % 11 | y <- 0..=x, y % 2 == 0], longest)
            | x <- xs, any![y % 5 == 4 | y <- 0..x], let longest = fold!(|a, b| a.max(b), x; y | y <- 3..x / 2)
        ]
    })?;
    let sometimes = h.compile(|xs: Acc<Vector<i64>>| {
        comp![
            if 0 < x && min![y * y | y <- 0..x] == 0 { max![y % 100 | y <- 0..x] } else { -1 }
            | x <- xs, order by (count![z <- 0..x, _ <- 0..z % 3] desc, x)
        ]
    })?;
    for length in LENGTHS {
        let mut xs = numbers(17, length);
        if length > 1 {
            xs[length / 2] = 20_011;
        }
        let kept = xs.iter().copied().filter(|x| (0..*x).any(|y| y % 5 == 4));
        let expected = kept.map(|x| {
            let (sum, least) =
                ((0..x).map(|y| y * y).sum::<i64>(), (0..=x).step_by(2).map(|y| y * 7 % 11).min());
            (x, sum / 3 - least.unwrap_or(0), (3..x / 2).fold(x, i64::max))
        });
        mean.check((&xs, 3i64), &expected.collect::<Vec<_>>())?;
        xs.sort_by_key(|x| (-(0..*x).map(|z| z % 3).sum::<i64>(), *x));
        let most = |x: &i64| if *x > 0 { (0..*x).map(|y| y % 100).max().unwrap_or(-1) } else { -1 };
        sometimes.check(&xs, &xs.iter().map(most).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Returns the offsets of this many rows in `count` elements; some rows are empty.
fn offsets(rows: usize, count: usize) -> Vec<i64> {
    (0..=rows)
        .map(|row| ((row * row * 7) % 100 + row * 100) * count / ((rows.max(1)) * 100))
        .map(|at| at.min(count) as i64)
        .collect()
}

/// Multiplies a sparse matrix, in compressed rows, with a vector and with a dense matrix.
pub fn sparse_matrices(h: &Harness) -> Outcome {
    type Rows = Acc<Vector<(i64, i64)>>;
    let times_vector = h.compile(|rows: Rows, entries: Acc<Vector<(i64, f64)>>, xs: Acc<Vector<f64>>| {
        comp![sum![v * xs[column] | (column, v) <- entries[a..b]] | (a, b) <- rows]
    })?;
    let times_matrix = h.compile(|rows: Rows, entries: Acc<Vector<(i64, f64)>>, m: Acc<Matrix<f64>>| {
        let (_, width) = m.shape();
        comp![
            sum![v * m.at((column, j)) | (column, v) <- entries[a..b], v != 0.5]
            | (a, b) <- rows, j <- 0..width
        ]
    })?;
    let largest = h.compile(|rows: Rows, entries: Acc<Vector<(i64, f64)>>| {
        comp![max![v | (_, v) <- entries[a..b]] | (a, b) <- rows, a < b]
    })?;
    for (rows, count, width) in [(0, 0, 3), (1, 0, 2), (5, 12, 4), (200, 1500, 3)] {
        let columns = 50;
        let entries: Vec<(i64, f64)> =
            (0..count).map(|i| ((i * 37 % columns) as i64, (i % 9) as f64 * 0.5)).collect();
        let ends = offsets(rows, count);
        let rows: Vec<(i64, i64)> = ends.windows(2).map(|ends| (ends[0], ends[1].max(ends[0]))).collect();
        let of = |(a, b): &(i64, i64)| entries[*a as usize..*b as usize].iter();
        let xs: Vec<f64> = (0..columns).map(|i| i as f64 - 3.0).collect();
        let sums = rows.iter().map(|row| of(row).map(|(column, v)| v * xs[*column as usize]).sum::<f64>());
        // Sums of small multiples of a half are exact in any order; an empty sum is 0.
        times_vector.check((&rows, &entries, &xs), &sums.map(|sum| sum + 0.0).collect::<Vec<_>>())?;
        let m = Matrix::from_fn([columns, width], |[i, j]| (i + 2 * j) as f64).map_err(|e| e.to_string())?;
        let mut expected = Vec::new();
        for row in &rows {
            for j in 0..width {
                let kept = of(row).filter(|(_, v)| *v != 0.5);
                expected.push(kept.map(|(c, v)| v * (*c as usize + 2 * j) as f64).sum::<f64>() + 0.0);
            }
        }
        times_matrix.check((&rows, &entries, &m), &expected)?;
        let most = rows.iter().filter(|(a, b)| a < b);
        let most = most.map(|row| of(row).map(|(_, v)| *v).fold(f64::MIN, f64::max));
        largest.check((&rows, &entries), &most.collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn rows_of_matrices(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<i64>>, picked: Acc<Vector<i64>>| {
        comp![(i, x) | i <- picked, i >= 0, x <- m[i], x % 2 == 0]
    })?;
    let m = Matrix::from_fn([5, 9], |[i, j]| (i * 7 + j) as i64).map_err(|error| error.to_string())?;
    for picked in [vec![], vec![4, -1, 0, 4, 2]] {
        let rows = picked.iter().copied().filter(|i| *i >= 0);
        let expected = rows.flat_map(|i| (0..9).map(move |j| (i, i * 7 + j)).filter(|(_, x)| x % 2 == 0));
        program.check((&m, &picked), &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn orders(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<(i64, f32)>>, n: Exp<i64>| {
        comp![(x, y) | (x, y) <- xs, x != 3, order by (x % 4 desc, y), take n]
    })?;
    let distinct = h.compile(|xs: Acc<Vector<(i64, f32)>>| comp![x / 3 | (x, _) <- xs, distinct])?;
    for length in LENGTHS {
        let xs: Vec<(i64, f32)> =
            numbers(11, length).into_iter().zip(0..).map(|(x, i)| (x, (i * 31 % 17) as f32)).collect();
        let mut sorted: Vec<(i64, f32)> = xs.iter().copied().filter(|(x, _)| *x != 3).collect();
        sorted.sort_by(|(a, b), (c, d)| (c % 4).cmp(&(a % 4)).then(b.total_cmp(d)));
        for n in [0i64, 20, 1000] {
            program.check((&xs, n), &sorted[..sorted.len().min(n as usize)])?;
        }
        let once: std::collections::BTreeSet<i64> = xs.iter().map(|(x, _)| x / 3).collect();
        distinct.check(&xs, &once.into_iter().collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Words are grouped by length and first letter, counted and summed up; groups of several are listed, the largest first.
pub fn groups(h: &Harness) -> Outcome {
    let program = h.compile(|words: Acc<Vector<(u32, u32, i64)>>| {
        comp![
            (letter, length, count![], sum![n * 2], max![n], any![n > 15])
            | (letter, length, n) <- words, n != 0, group by (letter, length), count![] > 1,
            order by (count![] desc, letter, length)
        ]
    })?;
    for length in LENGTHS {
        let words: Vec<(u32, u32, i64)> = numbers(12, length)
            .into_iter()
            .zip(0u32..)
            .map(|(n, i)| (97 + i * i % 5, i * 7 % 3, n))
            .collect();
        let mut groups = std::collections::BTreeMap::<(u32, u32), Vec<i64>>::new();
        for (letter, length, n) in words.iter().filter(|(_, _, n)| *n != 0) {
            groups.entry((*letter, *length)).or_default().push(*n);
        }
        let mut expected: Vec<_> = groups
            .iter()
            .filter(|(_, ns)| ns.len() > 1)
            .map(|((letter, length), ns)| {
                let most = ns.iter().max().copied().unwrap_or(0);
                (*letter, *length, ns.len() as i64, 2 * ns.iter().sum::<i64>(), most, most > 15)
            })
            .collect();
        expected.sort_by_key(|group| (-group.2, group.0, group.1));
        program.check(&words, &expected)?;
    }
    Ok(())
}

/// Rows whose keys number groups, and rows whose keys are too far apart for that.
pub fn groups_by_number(h: &Harness) -> Outcome {
    let program = h.compile(|rows: Acc<Vector<(i64, u64, i32)>>, most: Exp<i32>| {
        comp![
            (a, b, odd, sum![x as i64], min![x], count![])
            | (a, b, x) <- rows, x <= most, let odd = x % 2 != 0, group by (a, b, odd)
        ]
    })?;
    let all = h.compile(|rows: Acc<Vector<(i64, u64, i32)>>| comp![a | (a, _, _) <- rows, group by a])?;
    for length in LENGTHS {
        for spread in [1, 1_000_003, i64::MAX / 20] {
            let rows: Vec<(i64, u64, i32)> = numbers(20, length)
                .into_iter()
                .zip(0..)
                .map(|(n, i)| (n / 5 * spread, u64::MAX - i as u64 % 3 * spread as u64, i))
                .collect();
            let mut groups = std::collections::BTreeMap::<(i64, u64, bool), Vec<i32>>::new();
            for (a, b, x) in rows.iter().filter(|(_, _, x)| *x <= 600) {
                groups.entry((*a, *b, x % 2 != 0)).or_default().push(*x);
            }
            let group = |((a, b, odd), xs): (&(i64, u64, bool), &Vec<i32>)| {
                let sum = xs.iter().map(|x| i64::from(*x)).sum::<i64>();
                (*a, *b, *odd, sum, xs.iter().min().copied().unwrap_or(0), xs.len() as i64)
            };
            let expected: Vec<(i64, u64, bool, i64, i32, i64)> = groups.iter().map(group).collect();
            program.check((&rows, 600), &expected)?;
            let keys: std::collections::BTreeSet<i64> = rows.iter().map(|(a, _, _)| *a).collect();
            all.check(&rows, &keys.into_iter().collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

pub fn joins(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<(i64, i32)>>, ys: Acc<Vector<(f64, i32)>>| {
        comp![(a, b) | (k, a) <- xs, (l, b) <- ys, k as f64 * 0.5 == l && a < b]
    })?;
    for (first, second) in [(0, 4), (5, 0), (300, 200)] {
        let xs: Vec<(i64, i32)> = numbers(13, first).into_iter().zip(0..).collect();
        let ys: Vec<(f64, i32)> = numbers(14, second)
            .into_iter()
            .zip(0..)
            .map(|(y, i)| (if y == 20 { f64::NAN } else { y as f64 * -0.5 }, 3 * i))
            .collect();
        let pairs = xs.iter().flat_map(|(k, a)| {
            let same = ys.iter().filter(move |(l, b)| *k as f64 * 0.5 == *l && a < b);
            same.map(move |(_, b)| (*a, *b))
        });
        program.check((&xs, &ys), &pairs.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Keys that are far apart, the smallest and largest possible ones, and many that are equal; the searched keys lie among and
/// outside of them.
pub fn joins_of_uneven_keys(h: &Harness) -> Outcome {
    let program = h.compile(
        |xs: Acc<Vector<i64>>, ys: Acc<Vector<(i64, i64)>>| comp![(x, y) | x <- xs, (k, y) <- ys, x == k],
    )?;
    let close: Vec<i64> = (0..100).map(|i| i % 7).chain([1 << 40, -5]).collect();
    let extreme = vec![i64::MIN, i64::MAX, 0, i64::MIN, -1, i64::MAX - 1];
    for keys in [close, extreme, vec![3; 20]] {
        let ys: Vec<(i64, i64)> = keys.into_iter().zip(0..).collect();
        let xs = [-5, 3, 0, 6, 7, 1 << 40, (1 << 40) - 1, i64::MIN, i64::MAX, i64::MAX - 1, -1, 3];
        let pairs =
            xs.iter().flat_map(|x| ys.iter().filter(move |(k, _)| k == x).map(move |(_, y)| (*x, *y)));
        program.check((&xs, &ys), &pairs.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Pythagorean triples below a number, counted and listed.
pub fn pythagorean_triples(h: &Harness) -> Outcome {
    let listed = h.compile(
        |n: Exp<i64>| comp![(x, y, z) | x <- 1..n, y <- x..n, z <- y..x + y, z < n, x * x + y * y == z * z],
    )?;
    let counted = h.compile(|n: Exp<i64>| {
        // The third number follows from the other two, so the work is proportional to the number of pairs.
        count![x <- 1..n, y <- x..n, let z = ((x * x + y * y) as f64).sqrt() as i64, z < n, x * x + y * y == z * z]
    })?;
    let triples = |n: i64| {
        let pairs =
            (1..n).flat_map(move |x| (x..n).map(move |y| (x, y, ((x * x + y * y) as f64).sqrt() as i64)));
        pairs.filter(move |(x, y, z)| *z < n && x * x + y * y == z * z)
    };
    for n in [0, 1, 40] {
        listed.check(n, &triples(n).collect::<Vec<_>>())?;
        counted.check(n, &[triples(n).count() as i64])?;
    }
    let below_100: Vec<_> = triples(100).collect();
    assert_eq!(below_100.len(), 50);
    listed.check(100, &below_100)?;
    counted.check(1000, &[878])
}

type Point = (i64, i64);
type PointExp = (Exp<i64>, Exp<i64>);

/// Returns the `i`-th point of a line, counted from its first: the paper's `get_point_in_line`, with integers.
fn on_line((x1, y1): PointExp, (x2, y2): PointExp, i: Exp<i64>) -> PointExp {
    let (dx, dy) = (x2 - x1, y2 - y1);
    let steps = dx.abs().max(dy.abs()).max(1);
    (x1 + i * dx / steps, y1 + i * dy / steps)
}

/// The points of lines, of triangles and of filled circles (section 5 of the paper).
pub fn drawings(h: &Harness) -> Outcome {
    let lines = h.compile(|lines: Acc<Vector<(Point, Point)>>| {
        comp![on_line(p, q, i) | (p, q) <- lines, let (x, y) = p, let (u, v) = q, i <- 0..=(u - x).abs().max((v - y).abs())]
    })?;
    let circles = h.compile(|circles: Acc<Vector<(i64, i64, i64)>>| {
        comp![(x + i, y + j) | (x, y, r) <- circles, i <- -r..=r, j <- -r..=r, i * i + j * j <= r * r]
    })?;
    // Points below the line from the left corner to the right one: a triangle over its base.
    let triangles = h.compile(|triangles: Acc<Vector<(i64, i64, i64)>>| {
        comp![(x + i, y + j) | (x, y, side) <- triangles, i <- 0..side, j <- 0..=i]
    })?;
    for length in [0, 1, 40] {
        let ends: Vec<i64> = numbers(15, 4 * length);
        let given: Vec<_> = ends.chunks(4).map(|c| ((c[0], c[1]), (c[2], c[3]))).collect();
        let mut expected = Vec::new();
        for ((x, y), (u, v)) in &given {
            let (dx, dy) = (u - x, v - y);
            let steps = dx.abs().max(dy.abs());
            expected.extend((0..=steps).map(|i| (x + i * dx / steps.max(1), y + i * dy / steps.max(1))));
        }
        lines.check(&given, &expected)?;
        let given: Vec<_> = ends.chunks(4).map(|c| (c[0], c[1], c[2].rem_euclid(9))).collect();
        let (mut round, mut cornered) = (Vec::new(), Vec::new());
        for (x, y, r) in &given {
            let square = (-r..=*r).flat_map(|i| (-r..=*r).map(move |j| (i, j)));
            round.extend(square.filter(|(i, j)| i * i + j * j <= r * r).map(|(i, j)| (x + i, y + j)));
            cornered.extend((0..*r).flat_map(|i| (0..=i).map(move |j| (x + i, y + j))));
        }
        circles.check(&given, &round)?;
        triangles.check(&given, &cornered)?;
    }
    Ok(())
}

pub fn rows_of_different_lengths(h: &Harness) -> Outcome {
    let divisors = |n: Acc<Vector<i64>>| comp![[d | d <- 1..=n, n % d == 0] | n <- n, n > 0];
    let values = h.compile(|n: Acc<Vector<i64>>| divisors(n).flatten())?;
    let offsets = h.compile(|n: Acc<Vector<i64>>| divisors(n).offsets())?;
    let sums = h.compile(|n: Acc<Vector<i64>>| {
        let rows = divisors(n);
        comp![sum![d | d <- rows[i]] | i <- 0..rows.size()]
    })?;
    for length in LENGTHS {
        let n = numbers(16, length);
        let of = |n: &i64| -> Vec<i64> { (1..=*n).filter(|d| n % d == 0).collect() };
        let expected: Ragged<i64> = n.iter().filter(|n| **n > 0).map(of).collect();
        values.check(&n, expected.values())?;
        offsets.check(&n, &expected.offsets().iter().map(|at| *at as i64).collect::<Vec<_>>())?;
        sums.check(&n, &expected.rows().map(|row| row.iter().sum()).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn mistakes(h: &Harness) -> Outcome {
    let parts =
        |xs: Acc<Vector<i64>>, rows: Acc<Vector<(i64, i64)>>| comp![x | (a, b) <- rows, x <- xs[a..b]];
    h.expect_error(
        parts,
        (&[1, 2, 3], &[(0, 2), (2, 4)]),
        &["slice at", "index 3 out of bounds for length 3"],
    )?;
    h.expect_error(parts, (&[1, 2, 3], &[(2, 1)]), &["slice at", "a size of -1"])?;
    let least = |xs: Acc<Vector<i64>>| comp![min![y | y <- 0..x] | x <- xs];
    h.expect_error(least, &[3, 0], &["there is no element to begin with in reduction at"])?;
    let branch = |xs: Acc<Vector<i64>>| comp![if x > 1 { min![y | y <- 2..x] } else { 0 } | x <- xs];
    h.expect_error(branch, &[1, 2], &["there is no element to begin with in reduction at"])?;
    let rows = |m: Acc<Matrix<i64>>, is: Acc<Vector<i64>>| comp![x | i <- is, x <- m[i]];
    let m = Matrix::from_vec([2, 2], vec![1, 2, 3, 4]).map_err(|error| error.to_string())?;
    h.expect_error(rows, (&m, &[0, 2]), &["row at", "out of bounds"])
}
