//! Folds and scans of segments, runs of equal elements, and searches, against plain Rust.

use crate::data::{Sample, values};
use crate::{Harness, Outcome};
use pumice::Segments;
use pumice::prelude::*;

/// Returns lengths of segments, some of them empty, of `count` elements together.
fn lengths(count: usize) -> Vec<i64> {
    let pattern = [3usize, 0, 1, 70, 0, 0, 2, 513];
    let (mut lengths, mut left) = (vec![0i64], count);
    for length in pattern.into_iter().cycle() {
        if left == 0 {
            break;
        }
        let length = length.min(left);
        left -= length;
        lengths.push(length as i64);
    }
    lengths.push(0);
    lengths
}

fn offsets(lengths: &[i64]) -> Vec<i64> {
    let ends = lengths.iter().scan(0, |sum, length| {
        *sum += length;
        Some(*sum)
    });
    std::iter::once(0).chain(ends).collect()
}

fn pieces<'a, T>(xs: &'a [T], lengths: &[i64]) -> Vec<&'a [T]> {
    offsets(lengths).windows(2).map(|ends| &xs[ends[0] as usize..ends[1] as usize]).collect()
}

/// Affine maps, whose composition does not commute.
type Affine = (i32, i32);

fn after(a: Affine, b: Affine) -> Affine {
    (a.0.wrapping_mul(b.0), b.0.wrapping_mul(a.1).wrapping_add(b.1))
}

fn after_exp(a: (Exp<i32>, Exp<i32>), b: (Exp<i32>, Exp<i32>)) -> (Exp<i32>, Exp<i32>) {
    (a.0 * b.0, b.0 * a.1 + b.1)
}

const SIZES: [usize; 4] = [0, 1, 67, 7003];

pub fn folds_of_segments(h: &Harness) -> Outcome {
    let by_offsets = h.compile(|xs: Acc<Vector<Affine>>, offsets: Acc<Vector<i64>>| {
        xs.fold_segments(Segments::Offsets(offsets), (3, 1), after_exp)
    })?;
    let by_lengths = h.compile(|xs: Acc<Vector<Affine>>, lengths: Acc<Vector<i64>>| {
        xs.map(|(a, b)| (a + 1, b)).fold_segments(Segments::Lengths(lengths), (3, 1), after_exp)
    })?;
    let by_heads = h.compile(|xs: Acc<Vector<Affine>>, heads: Acc<Vector<bool>>| {
        xs.fold_segments(Segments::Heads(heads), (3, 1), after_exp)
    })?;
    for size in SIZES {
        let (xs, lengths) = (values::<Affine>(120, size), lengths(size));
        let fold = |piece: &&[Affine]| piece.iter().fold((3, 1), |a, b| after(a, *b));
        let expected: Vec<Affine> = pieces(&xs, &lengths).iter().map(fold).collect();
        by_offsets.check((&xs, &offsets(&lengths)), &expected)?;
        let more: Vec<Affine> = xs.iter().map(|(a, b)| (a.wrapping_add(1), *b)).collect();
        let expected: Vec<Affine> = pieces(&more, &lengths).iter().map(fold).collect();
        by_lengths.check((&xs, &lengths), &expected)?;
        let mut heads = vec![false; size];
        offsets(&lengths).iter().filter(|at| **at < size as i64).for_each(|at| heads[*at as usize] = true);
        let expected = pieces(&xs, &lengths).into_iter().filter(|piece| !piece.is_empty());
        by_heads.check((&xs, &heads), &expected.map(|piece| fold(&piece)).collect::<Vec<_>>())?;
    }
    h.expect_failure(by_offsets.run((&[(1, 2)], &[0, 2])), &["index 1", "fold_segments", file!()])?;
    gathered_clusters(h)
}

/// Adjacent long segments, too much work for one block, before many short ones; their elements are gathered with bounds checks.
fn gathered_clusters(h: &Harness) -> Outcome {
    let sums = h.compile(|at: Acc<Vector<i32>>, offsets: Acc<Vector<i64>>, xs: Acc<Vector<i32>>| {
        let gathered = at.map(move |i| xs.at(i.cast::<i64>()));
        gathered.fold_segments(Segments::Offsets(offsets), 0, |a, b| a + b)
    })?;
    let clusters = [(30, 600), (11, 200), (1, 9001), (2, 0), (2500, 1), (5, 7)];
    let lengths: Vec<i64> = clusters.iter().flat_map(|(count, length)| vec![*length; *count]).collect();
    let (size, xs) = (lengths.iter().sum::<i64>(), values::<i32>(121, 1000));
    let mut at: Vec<i32> = (0..size).map(|i| (i * 7919 % 1000) as i32).collect();
    let sum = |piece: &&[i32]| piece.iter().fold(0i32, |sum, i| sum.wrapping_add(xs[*i as usize]));
    let expected: Vec<i32> = pieces(&at, &lengths).iter().map(sum).collect();
    sums.check((&at, &offsets(&lengths), &xs), &expected)?;
    at[4321] = 1000;
    h.expect_failure(sums.run((&at, &offsets(&lengths), &xs)), &["index 1000", "length 1000", file!()])
}

fn firsts<T: Sample>(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<T>>, lengths: Acc<Vector<i64>>| {
        // The first of each segment: associative, but not commutative.
        xs.scan_segments(Segments::Lengths(lengths), |first, _| first)
    })?;
    for size in SIZES {
        let (xs, lengths) = (values::<T>(121, size), lengths(size));
        let expected = pieces(&xs, &lengths).into_iter().flat_map(|piece| vec![piece.first(); piece.len()]);
        program.check((&xs, &lengths), &expected.flatten().copied().collect::<Vec<T>>())?;
    }
    Ok(())
}

pub fn scans_of_segments(h: &Harness) -> Outcome {
    // Scans of every type have cases of their own, and compiling one more for an emulated warp takes long.
    firsts::<(i32, (f64, bool))>(h)?;
    let program = h.compile(|xs: Acc<Vector<Affine>>, offsets: Acc<Vector<i64>>| {
        xs.scan_segments(Segments::Offsets(offsets), after_exp)
    })?;
    for size in SIZES {
        let (xs, lengths) = (values::<Affine>(122, size), lengths(size));
        let mut expected = xs.clone();
        for ends in offsets(&lengths).windows(2) {
            for at in ends[0] as usize + 1..ends[1].max(1) as usize {
                expected[at] = after(expected[at - 1], expected[at]);
            }
        }
        program.check((&xs, &offsets(&lengths)), &expected)?;
    }
    Ok(())
}

pub fn scans_of_what_stands_before(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<Affine>>, offsets: Acc<Vector<i64>>| {
        xs.prescan_segments(Segments::Offsets(offsets), (3, 1), after_exp)
    })?;
    for size in SIZES {
        let (xs, lengths) = (values::<Affine>(123, size), lengths(size));
        let before = |piece: &&[Affine]| {
            let sums = piece.iter().scan((3, 1), |sum, x| Some(std::mem::replace(sum, after(*sum, *x))));
            sums.collect::<Vec<Affine>>()
        };
        let expected: Vec<Affine> = pieces(&xs, &lengths).iter().flat_map(before).collect();
        program.check((&xs, &offsets(&lengths)), &expected)?;
    }
    Ok(())
}

pub fn repeated_elements(h: &Harness) -> Outcome {
    let repeat = h.compile(|xs: Acc<Vector<(i32, f32)>>, counts: Acc<Vector<i64>>| {
        xs.map(|(a, b)| (a + 1, b)).repeat(counts).map(|(a, b)| (b, a))
    })?;
    for size in SIZES {
        let (xs, counts) = (values::<(i32, f32)>(124, size), values::<i32>(125, size));
        let counts: Vec<i64> = counts.iter().map(|count| i64::from(count % 5)).collect();
        let times =
            |(x, count): (&(i32, f32), &i64)| vec![(x.1, x.0.wrapping_add(1)); (*count).max(0) as usize];
        let expected: Vec<(f32, i32)> = xs.iter().zip(&counts).flat_map(times).collect();
        repeat.check((&xs, &counts), &expected)?;
    }
    h.expect_failure(repeat.run((&[(1, 2.0)], &[1, 2])), &["shapes differ", "repeat", file!()])?;
    // Encodes and decodes twice, with a length that the host reads each time.
    let twice = h.compile(|xs: Acc<Vector<i32>>| {
        let xs = xs.map(|x| x & 3);
        xs.run_lengths().decode_runs().run_lengths().decode_runs()
    })?;
    for size in SIZES {
        let xs = values::<i32>(126, size);
        twice.check(&xs, &xs.iter().map(|x| x & 3).collect::<Vec<i32>>())?;
    }
    Ok(())
}

pub fn extents_from_elements(h: &Harness) -> Outcome {
    // A length that is the largest element; and a matrix whose extents are a pair.
    let squares = h.compile(|xs: Acc<Vector<i64>>| {
        let longest = xs.clone().max();
        generate(longest.the(), |i| i * i).zip_with(xs.sum().replicate(longest.the()), |a, b| a + b)
    })?;
    squares.check(&[2, 4, 1], &[7, 8, 11, 16])?;
    squares.check(&[0], &[])?;
    h.expect_failure(squares.run(&[-1]), &["extents [-1]", "generate", file!()])?;
    let table = h.compile(|extents: Acc<Scalar<(i64, i64)>>| {
        let (rows, columns) = extents.the();
        generate((rows, columns), |(i, j)| i * 10 + j).sum()
    })?;
    for (rows, columns) in [(3i64, 4i64), (2, 0), (0, 3)] {
        let expected: Vec<i64> = (0..rows).map(|i| (0..columns).map(|j| i * 10 + j).sum()).collect();
        let extents = Scalar::from_slice([], &[(rows, columns)]).map_err(|error| error.to_string())?;
        table.check(&extents, &expected)?;
    }
    Ok(())
}

pub fn runs_of_equal_elements(h: &Harness) -> Outcome {
    let starts = h.compile(|xs: Acc<Vector<i32>>| xs.group_starts())?;
    let unique = h.compile(|xs: Acc<Vector<i32>>| xs.unique())?;
    let pairs = h.compile(|xs: Acc<Vector<i32>>| xs.map(|x| (x, x.gt(0))).unique())?;
    let lengths = h.compile(|xs: Acc<Vector<i32>>| xs.run_lengths())?;
    for size in SIZES {
        let xs: Vec<i32> = values::<i32>(123, size).into_iter().map(|x| x & 1).collect();
        let is_start = |i: usize| i == 0 || xs[i] != xs[i - 1];
        starts.check(&xs, &(0..size).map(is_start).collect::<Vec<_>>())?;
        let runs: Vec<&[i32]> = xs.chunk_by(|a, b| a == b).collect();
        unique.check(&xs, &runs.iter().map(|run| run[0]).collect::<Vec<_>>())?;
        let expected: Vec<(i32, i64)> = runs.iter().map(|run| (run[0], run.len() as i64)).collect();
        lengths.check(&xs, &expected)?;
        pairs.check(&xs, &runs.iter().map(|run| (run[0], run[0] > 0)).collect::<Vec<_>>())?;
    }
    // No two NaN are equal, and both zeros are.
    let xs = [f32::NAN, f32::NAN, 0.0, -0.0, 1.0];
    h.check(|xs: Acc<Vector<f32>>| xs.group_starts(), &xs, &[true, true, true, false, true])
}

pub fn searches(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i64>>, wanted: Acc<Vector<i64>>| xs.search_sorted(wanted))?;
    let sorted = h.compile(|xs: Acc<Vector<i64>>| xs.is_sorted())?;
    let wanted: Vec<i64> =
        values::<i64>(124, 500).into_iter().map(|x| x % 5000).chain([i64::MIN, i64::MAX]).collect();
    for size in SIZES {
        let mut xs: Vec<i64> = values::<i64>(125, size).into_iter().map(|x| x % 5000).collect();
        sorted.check(&xs, &[xs.is_sorted()])?;
        xs.sort_unstable();
        sorted.check(&xs, &[true])?;
        let place = |wanted: &i64| xs.partition_point(|x| x < wanted) as i64;
        program.check((&xs, &wanted), &wanted.iter().map(place).collect::<Vec<_>>())?;
    }
    Ok(())
}
