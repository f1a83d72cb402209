//! Expansions: by index, taken in any order, and reduced per source, against plain Rust.

use crate::data::{Sample, values};
use crate::{Harness, Outcome};
use pumice::OptionExp;
use pumice::kernel::skeletons::Division;
use pumice::prelude::*;

/// Returns the sizes of this many sources: many small ones, some empty, and a few large ones.
fn sizes(sources: usize) -> Vec<i64> {
    let pattern = [3, 0, 1, 7, 0, 0, 2, 40, 5, 1, 300, 0, 33];
    let size = |number: usize| match number % 701 {
        350 => 40_000,
        351 => 5_000,
        _ => pattern[number % pattern.len()],
    };
    (0..sources).map(size).collect()
}

const SOURCES: [usize; 4] = [0, 1, 67, 1503];

fn in_order_of<T: Sample>(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<(T, i64)>>| {
        xs.expand(|(_, size)| size, |(x, size), number| (x, size - number))
    })?;
    for sources in SOURCES {
        let sources: Vec<(T, i64)> = values::<T>(130, sources).into_iter().zip(sizes(sources)).collect();
        let expected = sources.iter().flat_map(|(x, size)| (0..*size).map(move |number| (*x, size - number)));
        program.check(&sources, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn in_order(h: &Harness) -> Outcome {
    // The scan is of sizes, whatever the elements are, so one type suffices: the compiler takes long for an emulated warp.
    in_order_of::<(i32, (f64, bool))>(h)?;
    let filtered = h.compile(|sizes: Acc<Vector<i64>>| {
        let pairs = sizes.map(|size| size * 2).expand(|size| size / 2, |size, number| (size, number));
        pairs.filter(|(size, number)| ((size + number) % 3).eq(0)).map(|(size, number)| size + number)
    })?;
    let zipped = h.compile(|sizes: Acc<Vector<i64>>| {
        let numbers = sizes.expand(|size| size, |_, number| number);
        numbers.clone().zip_with(numbers.reverse(), |a, b| 3 * a + b)
    })?;
    for sources in SOURCES {
        let sizes = sizes(sources);
        let pairs = sizes.iter().flat_map(|size| (0..*size).map(move |number| 2 * size + number));
        filtered.check(&sizes, &pairs.filter(|sum| sum % 3 == 0).collect::<Vec<_>>())?;
        let numbers: Vec<i64> = sizes.iter().flat_map(|size| 0..*size).collect();
        let expected = numbers.iter().zip(numbers.iter().rev()).map(|(a, b)| 3 * a + b);
        zipped.check(&sizes, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Returns the target of an element: one of `bins`, or none.
fn target(source: i64, number: i64, bins: i64) -> Option<i64> {
    let mixed = source * 31 + number * 7;
    (mixed % 5 != 0).then_some(mixed % bins)
}

fn target_exp(source: Exp<i64>, number: Exp<i64>, bins: i64) -> OptionExp<Exp<i64>> {
    let mixed = source * 31 + number * 7;
    OptionExp::present_if((mixed % 5).ne(0), mixed % bins)
}

pub fn gathered(h: &Harness) -> Outcome {
    // Few targets, for which a block may keep a table, and many.
    for bins in [10i64, 3001] {
        let counts = h.compile(move |sizes: Acc<Vector<i64>>| {
            let sources = sizes.indexed();
            let targets = sources.expand(|(_, size)| size, |(source, _), number| (source, number));
            targets.histogram(bins as usize, move |(source, number)| target_exp(source, number, bins))
        })?;
        let largest = h.compile(move |sizes: Acc<Vector<i64>>| {
            let sources = sizes.indexed();
            let pairs = sources.expand(
                |(_, size)| size,
                move |(source, _), number| (target_exp(source, number, bins), source - number),
            );
            pairs.permute_pairs(|new, old| new.max(old), fill(bins as usize, -7i64))
        })?;
        for sources in SOURCES {
            let sizes = sizes(sources);
            let (mut counted, mut most) = (vec![0u32; bins as usize], vec![-7i64; bins as usize]);
            for (source, size) in sizes.iter().enumerate() {
                for number in 0..*size {
                    if let Some(at) = target(source as i64, number, bins) {
                        counted[at as usize] += 1;
                        most[at as usize] = most[at as usize].max(source as i64 - number);
                    }
                }
            }
            counts.check(&sizes, &counted)?;
            largest.check(&sizes, &most)?;
        }
    }
    let sum = h.compile(|sizes: Acc<Vector<i64>>| {
        sizes.expand(|size| size, |size, number| size ^ number).filter(|x| (x & 1).eq(0)).map(|x| x * 3).sum()
    })?;
    let count = h.compile(|sizes: Acc<Vector<i64>>| {
        sizes.expand(|size| size, |size, number| size - number).count(|x| x.gt(2))
    })?;
    for sources in SOURCES {
        let sizes = sizes(sources);
        let all = || sizes.iter().flat_map(|size| (0..*size).map(move |number| (*size, number)));
        let even = all().map(|(size, number)| size ^ number).filter(|x| x & 1 == 0);
        sum.check(&sizes, &[even.map(|x| x * 3).sum()])?;
        count.check(&sizes, &[all().filter(|(size, number)| size - number > 2).count() as i64])?;
    }
    Ok(())
}

pub fn gathered_by_every_division(h: &Harness) -> Outcome {
    use Division::*;
    for division in [Thread, Warp, Block, Several, Shares, Balanced, Mixed, Stretch] {
        h.dividing(division, gathered_so).map_err(|error| format!("{division}: {error}"))?;
    }
    Ok(())
}

fn gathered_so(h: &Harness) -> Outcome {
    let counts = h.compile(|sizes: Acc<Vector<i64>>| {
        let pairs = sizes.indexed().expand(|(_, size)| size, |(source, _), number| (source, number));
        pairs.histogram(10, |(source, number)| target_exp(source, number, 10))
    })?;
    // Elements that are expanded again by those who hear them.
    let sum = h.compile(|sizes: Acc<Vector<i64>>| {
        let pairs = sizes.indexed().expand(|(_, size)| size, |(source, _), number| (source, number));
        let again = pairs.expand(|(_, number)| number & 3, |(source, _), number| source - number);
        again.filter(|x| (x & 1).eq(0)).sum()
    })?;
    // One large source among many that are empty, and sources that begin and end with empty ones.
    let giant: Vec<i64> = (0..901).map(|source| if source == 450 { 70_001 } else { 0 }).collect();
    let all = SOURCES.map(sizes).into_iter().chain([giant, vec![0; 300], vec![0, 0, 5, 0, 9_001, 0]]);
    for sizes in all {
        let (mut counted, mut even) = (vec![0u32; 10], 0);
        for (size, source) in sizes.iter().zip(0i64..) {
            let targets = (0..*size).filter_map(|number| target(source, number, 10));
            targets.for_each(|at| counted[at as usize] += 1);
            let again = (0..*size).flat_map(|number| (0..number & 3).map(|again| source - again));
            even += again.filter(|x| x & 1 == 0).sum::<i64>();
        }
        counts.check(&sizes, &counted)?;
        sum.check(&sizes, &[even])?;
    }
    h.expect_failure(counts.run(&[3, -2, 1]), &["a size of -2", "expand", file!()])?;
    h.expect_failure(counts.run(&[3, i64::MAX]), &["9223372036854775807 elements", "expand", file!()])
}

pub fn reduced_per_source(h: &Harness) -> Outcome {
    // Affine maps do not commute, and the initial one is not the neutral element.
    let program = h.compile(|sizes: Acc<Vector<i64>>| {
        sizes.expand_reduce(
            |size| size,
            |size, number| (size + number, number),
            (3i64, 1i64),
            |a, b| (a.0 * b.0, b.0 * a.1 + b.1),
        )
    })?;
    for sources in SOURCES {
        let sizes = sizes(sources);
        let after =
            |a: (i64, i64), b: (i64, i64)| (a.0.wrapping_mul(b.0), b.0.wrapping_mul(a.1).wrapping_add(b.1));
        let fold = |size: &i64| (0..*size).fold((3, 1), |a, number| after(a, (size + number, number)));
        program.check(&sizes, &sizes.iter().map(fold).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn as_many_of_each(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>, count: Exp<i64>| {
        xs.expand(move |_| count, |x, number| (x, number)).filter(|(x, _)| x.gt(0))
    })?;
    for sources in SOURCES {
        let xs = values::<i32>(131, sources);
        for count in [0, 3] {
            let all = xs.iter().flat_map(|x| (0..count).map(move |number| (*x, number)));
            program.check((&xs, count), &all.filter(|(x, _)| *x > 0).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

pub fn numbers_of_sources(h: &Harness) -> Outcome {
    let sources = h.compile(|sizes: Acc<Vector<i64>>| sizes.replicated_iota())?;
    let numbers = h.compile(|sizes: Acc<Vector<i64>>| sizes.segmented_iota())?;
    let ranges = h.compile(|xs: Acc<Vector<i64>>| xs.flat_map(|x| (x, 9.into()), |x, y| x * 10 + y))?;
    for count in SOURCES {
        let sizes = sizes(count);
        let expected = sizes.iter().zip(0i64..).flat_map(|(size, source)| (0..*size).map(move |_| source));
        sources.check(&sizes, &expected.collect::<Vec<_>>())?;
        numbers.check(&sizes, &sizes.iter().flat_map(|size| 0..*size).collect::<Vec<_>>())?;
        // A range that ends before it begins is empty.
        let expected = sizes.iter().flat_map(|x| (*x..9).map(move |y| x * 10 + y));
        ranges.check(&sizes, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn wrong_sizes(h: &Harness) -> Outcome {
    let expand = |sizes: Acc<Vector<i64>>| sizes.expand(|size| size, |_, number| number);
    let placed = h.compile(expand)?;
    let gathered = h.compile(move |sizes: Acc<Vector<i64>>| expand(sizes).histogram(4, |number| number))?;
    let reduced = h.compile(|sizes: Acc<Vector<i64>>| {
        sizes.expand_reduce(|size| size, |_, number| number, 0, |a, b| a + b)
    })?;
    let negative = ["a size of -2", "expand", file!(), "size.max(0)"];
    h.expect_failure(placed.run(&[3, -2, 1]), &negative)?;
    h.expect_failure(gathered.run(&[3, -2, 1]), &negative)?;
    h.expect_failure(reduced.run(&[3, -2, 1]), &negative)?;
    h.expect_failure(gathered.run(&[3, 5, 1]), &["index 4", "length 4", "histogram", file!()])?;
    let large = ["9223372036854775807 elements", "room", "expand", file!()];
    h.expect_failure(placed.run(&[i64::MAX, 7]), &large)?;
    h.expect_failure(gathered.run(&[3, i64::MAX]), &large)?;
    // Each size is valid, but their sum is too large for an array.
    h.expect_failure(placed.run(&[1 << 42; 1 << 18]), &["too large", "expand", file!()])?;
    // A size that cannot be computed, wherever the elements go.
    let parts = |xs: Acc<Vector<i64>>| xs.expand(|x| 12 / x, |x, number| x + number);
    let counted = move |xs: Acc<Vector<i64>>| parts(xs).histogram(20, |number| number);
    let division = ["integer division by zero in division at", file!()];
    h.expect_error(parts, &[3, 0, 4], &division)?;
    h.expect_error(counted, &[3, 0, 4], &division)?;
    // An element without a place is an error of the result. The defaults are another array, which stays as it is.
    let add = |sizes: Acc<Vector<i64>>, defaults: Acc<Vector<i64>>| {
        sizes
            .expand(|size| size, |size, number| (size + number, constant(1i64)))
            .permute_pairs(|new, old| new + old, defaults)
    };
    let (add, defaults) = (h.compile(add)?, h.compile(|n: Exp<i64>| generate(n, |i| 10 * i))?.run(5)?);
    h.expect_failure(add.run((&[2, 3], &defaults)), &["index 5", "length 5", "permute_pairs", file!()])?;
    h.expect(&defaults, &[0, 10, 20, 30, 40], crate::Tolerance::Exact)?;
    add.check((&[2, 1], &defaults), &[0, 11, 21, 31, 40])
}
