//! Programs with several results, and programs as values: called by others, saved, run by other threads and on streams
//! of chunks. Against plain Rust.

use crate::data::values;
use crate::{Harness, Outcome, Tolerance};
use pumice::prelude::*;

/// No element, one, and several blocks with an incomplete last one.
const LENGTHS: [usize; 3] = [0, 1, 1001];

/// Small whole numbers, so that sums are exact.
fn numbers(seed: u64, length: usize) -> Vec<i64> {
    values::<i64>(seed, length).into_iter().map(|x| x.rem_euclid(41) - 20).collect()
}

/// Different ranks, element types and kinds of operations; one length that only the device knows.
pub fn of_different_shapes(h: &Harness) -> Outcome {
    let program = |xs: Acc<Vector<i64>>, least: Exp<i64>| {
        let sum = xs.clone().sum();
        let pairs = xs.clone().map(|x| (x * 2, x.lt(least)));
        let table = xs.clone().replicate((All, 3));
        let kept = xs.clone().filter(|x| x.ge(least));
        let counts = xs.histogram(41, |x| x + 20);
        (sum, pairs, table, kept, counts)
    };
    for length in LENGTHS {
        let xs = numbers(1, length);
        let Some((sum, pairs, table, kept, counts)) = h.results(program, (&xs, 3))? else { continue };
        h.expect(&sum, &[xs.iter().sum()], Tolerance::Exact)?;
        let expected: Vec<(i64, bool)> = xs.iter().map(|x| (x * 2, *x < 3)).collect();
        h.expect(&pairs, &expected, Tolerance::Exact)?;
        if table.extents() != [length, 3] {
            return Err(format!("a table of {length} rows has extents {:?}", table.extents()));
        }
        let expected: Vec<i64> = xs.iter().flat_map(|x| [*x; 3]).collect();
        h.expect(&table, &expected, Tolerance::Exact)?;
        let expected: Vec<i64> = xs.iter().copied().filter(|x| *x >= 3).collect();
        h.expect(&kept, &expected, Tolerance::Exact)?;
        let count = |number: i64| xs.iter().filter(|x| **x + 20 == number).count() as u32;
        h.expect(&counts, &(0..41).map(count).collect::<Vec<_>>(), Tolerance::Exact)?;
    }
    Ok(())
}

pub fn the_same_array_twice(h: &Harness) -> Outcome {
    let program = |xs: Acc<Vector<i64>>| {
        let doubled = xs.clone().map(|x| x * 2);
        (doubled.clone(), xs.clone().sum(), doubled.clone(), doubled.map(|x| x + 1), xs.sum())
    };
    for length in LENGTHS {
        let xs = numbers(2, length);
        let Some((first, sum, second, next, again)) = h.results(program, &xs)? else { continue };
        let doubled: Vec<i64> = xs.iter().map(|x| x * 2).collect();
        h.expect(&first, &doubled, Tolerance::Exact)?;
        h.expect(&second, &doubled, Tolerance::Exact)?;
        h.expect(&next, &doubled.iter().map(|x| x + 1).collect::<Vec<_>>(), Tolerance::Exact)?;
        for sum in [sum, again] {
            h.expect(&sum, &[xs.iter().sum()], Tolerance::Exact)?;
        }
    }
    Ok(())
}

/// An argument, and an array that the program holds, as unchanged results beside computed ones.
pub fn arguments_as_they_are(h: &Harness) -> Outcome {
    let held = numbers(3, 5);
    for length in LENGTHS {
        let xs = numbers(4, length);
        let program = |xs: Acc<Vector<i64>>| (xs.clone(), xs.clone().map(|x| -x), xs, use_(&held));
        let Some((first, negated, last, kept)) = h.results(program, &xs)? else { continue };
        h.expect(&first, &xs, Tolerance::Exact)?;
        h.expect(&negated, &xs.iter().map(|x| -x).collect::<Vec<_>>(), Tolerance::Exact)?;
        h.expect(&last, &xs, Tolerance::Exact)?;
        h.expect(&kept, &held, Tolerance::Exact)?;
    }
    Ok(())
}

/// A run that fails does so for all results that it computed; an argument that it returns is unchanged.
pub fn one_that_fails(h: &Harness) -> Outcome {
    let program = |xs: Acc<Vector<i64>>, divisor: Exp<i64>| {
        (xs.clone(), xs.clone().map(|x| x + 1), xs.sum().map(|sum| sum / divisor))
    };
    let xs = [6i64, 7, 8];
    if let Some((_, next, quotient)) = h.results(program, (&xs, 7))? {
        h.expect(&next, &[7, 8, 9], Tolerance::Exact)?;
        h.expect(&quotient, &[3], Tolerance::Exact)?;
    }
    let Some((argument, next, quotient)) = h.results(program, (&xs, 0))? else { return Ok(()) };
    h.expect_failure(Ok(quotient), &["division by zero", "results.rs"])?;
    h.expect_failure(Ok(next), &["division by zero", "results.rs"])?;
    h.expect(&argument, &xs, Tolerance::Exact)
}

/// Nested tuples, rows of different lengths, and the largest number of results.
pub fn nested_tuples(h: &Harness) -> Outcome {
    let program = |rows: AccRagged<i64>, n: Exp<i64>| {
        let sums = rows.clone().sum();
        let lengths = rows.lengths();
        let number = || unit(n);
        let more = (number(), number().map(|n| n + 1), sums.clone().sum(), lengths.clone().max());
        ((rows.clone().map(|x| x * n), (sums, lengths)), more, rows)
    };
    let rows = Ragged::from(vec![vec![3, 1], vec![], vec![2, 5, 9]]);
    let Some(((scaled, (sums, lengths)), more, same)) = h.results(program, (&rows, 10))? else {
        return Ok(());
    };
    if scaled.to_vecs() != [vec![30, 10], vec![], vec![20, 50, 90]] || same != rows {
        return Err(format!("rows are {scaled:?} and {same:?}"));
    }
    h.expect(&sums, &[4, 0, 16], Tolerance::Exact)?;
    h.expect(&lengths, &[2, 0, 3], Tolerance::Exact)?;
    for (single, expected) in [(more.0, 10), (more.1, 11), (more.2, 20), (more.3, 3)] {
        h.expect(&single, &[expected], Tolerance::Exact)?;
    }
    let eight = |xs: Acc<Vector<i64>>| {
        let times = |n: i64| xs.clone().map(|x| x * n);
        (times(0), times(1), times(2), times(3), times(4), times(5), times(6), times(7))
    };
    let Some(all) = h.results(eight, &[1, -2])? else { return Ok(()) };
    let all = [all.0, all.1, all.2, all.3, all.4, all.5, all.6, all.7];
    (0..).zip(&all).try_for_each(|(n, found)| h.expect(found, &[n, -2 * n], Tolerance::Exact))
}

/// Results that come from before a loop, from the loop, and from after it.
pub fn beside_loops(h: &Harness) -> Outcome {
    let program = |xs: Acc<Vector<i64>>, rounds: Exp<i64>| {
        let before = xs.clone().map(|x| x + 1);
        let first = before.clone();
        let (powers, total) = iterate(rounds, (xs, unit(0)), |(powers, total)| {
            let next = powers.zip_with(first.clone(), |x, y| x * y % 1000);
            (next.clone(), total.zip_with(next.sum(), |a, b| a + b))
        });
        let after = powers.clone().filter(|x| x.gt(1));
        (before, powers, total, after)
    };
    for (length, rounds) in [(0, 2), (7, 0), (300, 3)] {
        let xs = numbers(5, length);
        let Some((before, powers, total, after)) = h.results(program, (&xs, rounds))? else { continue };
        let next: Vec<i64> = xs.iter().map(|x| x + 1).collect();
        let (mut state, mut sum) = (xs.clone(), 0);
        for _ in 0..rounds {
            state = state.iter().zip(&next).map(|(x, y)| x * y % 1000).collect();
            sum += state.iter().sum::<i64>();
        }
        h.expect(&before, &next, Tolerance::Exact)?;
        h.expect(&powers, &state, Tolerance::Exact)?;
        h.expect(&total, &[sum], Tolerance::Exact)?;
        h.expect(&after, &state.iter().copied().filter(|x| *x > 1).collect::<Vec<_>>(), Tolerance::Exact)?;
    }
    Ok(())
}

/// A program inside another one, with scalars of every kind: a number, an argument, an extent, an element.
pub fn called_inside_others(h: &Harness) -> Outcome {
    let text = |error: pumice::Error| error.to_string();
    let held = [1i64, 10, 100];
    let inner = h.compiler().compile(|xs: Acc<Vector<i64>>, by: Exp<i64>| {
        let table = use_(&held);
        let scaled = xs.map(|x| x * by + table.at((x & 1) + 1));
        (scaled.clone().filter(|x| x.gt(0)), scaled.sum())
    });
    let inner = inner.map_err(text)?;
    let program = |xs: Acc<Vector<i64>>, by: Exp<i64>| {
        let (kept, sum) = inner.call((&xs, by));
        let longest = xs.size();
        let (_, by_length) = inner.call((xs.clone().map(|x| x + 1), longest));
        let (again, by_sum) = inner.call((kept.clone(), sum.the()));
        let (_, plain) = inner.call((again, 2));
        (kept, sum, by_length, by_sum, plain)
    };
    let expect = |xs: &[i64], by: i64| {
        let scaled = xs.iter().map(|x| x.wrapping_mul(by).wrapping_add(held[(x & 1) as usize + 1]));
        let scaled: Vec<i64> = scaled.collect();
        let kept: Vec<i64> = scaled.iter().copied().filter(|x| *x > 0).collect();
        (kept, scaled.iter().fold(0i64, |a, b| a.wrapping_add(*b)))
    };
    for length in LENGTHS {
        let xs = numbers(6, length);
        let Some((kept, sum, by_length, by_sum, plain)) = h.results(program, (&xs, 3))? else { continue };
        let (expected, total) = expect(&xs, 3);
        h.expect(&kept, &expected, Tolerance::Exact)?;
        h.expect(&sum, &[total], Tolerance::Exact)?;
        let next: Vec<i64> = xs.iter().map(|x| x + 1).collect();
        h.expect(&by_length, &[expect(&next, length as i64).1], Tolerance::Exact)?;
        let (again, expected) = expect(&expected, total);
        h.expect(&by_sum, &[expected], Tolerance::Exact)?;
        h.expect(&plain, &[expect(&again, 2).1], Tolerance::Exact)?;
    }
    Ok(())
}

/// Called programs with loops and branches, whose programs take scalars of the caller's that are computed from its arrays; and
/// with rows of different lengths.
pub fn called_with_loops_and_rows(h: &Harness) -> Outcome {
    let text = |error: pumice::Error| error.to_string();
    let power = |xs: Acc<Vector<i64>>, rounds: Exp<i64>, modulus: Exp<i64>| {
        let squared = iterate(rounds, xs.clone(), |powers| powers.zip_with(xs, |x, y| x * y % modulus));
        acond(
            squared.clone().sum().map(|sum| sum.gt(modulus)),
            || squared.clone().map(|x| x - modulus),
            || fill(rounds, 7),
        )
    };
    let power = h.compiler().compile(power).map_err(text)?;
    let sorted =
        h.compiler().compile(|rows: AccRagged<i64>, by: Exp<i64>| (rows.sort().map(|x| x * by), unit(by)));
    let sorted = sorted.map_err(text)?;
    let program = |xs: Acc<Vector<i64>>, rows: AccRagged<i64>, modulus: Exp<i64>| {
        let largest = rows.clone().flatten().fold(0, |a, b| a.max(b));
        let powers = power.call((xs.clone(), largest.the(), modulus + 1));
        let twice = power.call((power.call((&xs, 1, modulus)), xs.size(), 100));
        let (rows, _) = sorted.call((rows, xs.size()));
        (powers, twice, rows)
    };
    let expect = |xs: &[i64], rounds: i64, modulus: i64| {
        let mut state = xs.to_vec();
        for _ in 0..rounds {
            state = state.iter().zip(xs).map(|(x, y)| x * y % modulus).collect();
        }
        match state.iter().sum::<i64>() > modulus {
            true => state.iter().map(|x| x - modulus).collect(),
            false => vec![7; rounds as usize],
        }
    };
    let rows = Ragged::from(vec![vec![3, 1], vec![], vec![2]]);
    for length in [0, 4, 200] {
        let xs = numbers(7, length);
        let Some((powers, twice, sorted)) = h.results(program, (&xs, &rows, 50))? else { continue };
        h.expect(&powers, &expect(&xs, 3, 51), Tolerance::Exact)?;
        h.expect(&twice, &expect(&expect(&xs, 1, 50), length as i64, 100), Tolerance::Exact)?;
        let by = length as i64;
        if sorted.to_vecs() != [vec![by, 3 * by], vec![], vec![2 * by]] {
            return Err(format!("{length} elements: rows are {sorted:?}"));
        }
    }
    Ok(())
}

/// A program that was saved as text and loaded again is the same program, also its loops and the data that it holds.
pub fn saved_and_loaded(h: &Harness) -> Outcome {
    let text = |error: pumice::Error| error.to_string();
    let held = [f64::NAN, -0.0, f64::NEG_INFINITY, 1.0 / 3.0, f64::MIN_POSITIVE / 4.0];
    let program = |xs: Acc<Vector<f64>>, rows: AccRagged<i64>, n: Exp<i64>| {
        let table = use_(&held);
        let sums = iterate(n, rows.clone().sum(), |sums| sums.map(|x| x * n));
        (xs.map(|x| x + table.at(n)), table, (rows.filter(|x| x.lt(n)), sums))
    };
    type Parameters = (Acc<Vector<f64>>, AccRagged<i64>, Exp<i64>);
    type Results = (Acc<Vector<f64>>, Acc<Vector<f64>>, (AccRagged<i64>, Acc<Vector<i64>>));
    let saved = h.compiler().compile(program).map_err(text)?.to_text().map_err(text)?;
    let loaded = h.compiler().load::<Parameters, Results>(&saved).map_err(text)?;
    let again = loaded.to_text().map_err(text)?;
    if saved != again {
        return Err(format!("the text of a loaded program is another one:\n{saved}\n{again}"));
    }
    let rows = Ragged::from(vec![vec![1, 5], vec![]]);
    let program = |xs: Acc<Vector<f64>>, rows: AccRagged<i64>, n: Exp<i64>| loaded.call((xs, rows, n));
    let Some((moved, table, (rows, sums))) = h.results(program, (&[1.0, 2.0], &rows, 3))? else {
        return Ok(());
    };
    h.expect(&moved, &[1.0 + held[3], 2.0 + held[3]], Tolerance::Exact)?;
    h.expect(&table, &held, Tolerance::Exact)?;
    h.expect(&sums, &[6 * 27, 0], Tolerance::Exact)?;
    match rows.to_vecs() == [vec![1], vec![]] {
        true => Ok(()),
        false => Err(format!("rows are {rows:?}")),
    }
}

/// Runs of one program on threads of their own, several at once, and one whose check fails.
pub fn run_asynchronously(h: &Harness) -> Outcome {
    let text = |error: pumice::Error| error.to_string();
    if h.is_planning() {
        return Ok(());
    }
    let program =
        |xs: Acc<Vector<i64>>, n: Exp<i64>| (xs.clone().map(|x| 60 * x / n), xs.filter(|x| x.lt(n)).sum());
    let program = h.compiler().compile(program).map_err(text)?;
    let numbers: Vec<Vec<i64>> = LENGTHS.iter().map(|length| numbers(8, *length)).collect();
    let runs: Vec<_> = (1..4).flat_map(|n| numbers.iter().map(move |xs| (n, xs))).collect();
    let runs: Vec<_> = runs.into_iter().map(|(n, xs)| (n, xs, program.run_async((xs, n)))).collect();
    let failing = program.run_async((&[1], 0));
    for (n, xs, run) in runs {
        let (quotients, sum) = run.wait().map_err(text)?;
        h.expect(&quotients, &xs.iter().map(|x| 60 * x / n).collect::<Vec<_>>(), Tolerance::Exact)?;
        h.expect(&sum, &[xs.iter().filter(|x| **x < n).sum()], Tolerance::Exact)?;
    }
    h.expect_failure(
        failing.wait().map_err(text).map(|(quotients, _)| quotients),
        &["division by zero", "results.rs"],
    )
}

/// Chunks of different lengths, of which one fails, come back in order.
pub fn streams_of_chunks(h: &Harness) -> Outcome {
    let text = |error: pumice::Error| error.to_string();
    if h.is_planning() {
        return Ok(());
    }
    let program = |xs: Acc<Vector<i64>>, n: Exp<i64>| xs.map(|x| 60 * x / n);
    let program = h.compiler().compile(program).map_err(text)?;
    let chunk = |number: i64| (numbers(9, 300 * number as usize), number - 2);
    let mut found = 0;
    for (number, result) in (0..).zip(program.map_stream((0..7).map(chunk))) {
        let (xs, n) = chunk(number);
        match n {
            0 => h.expect_failure(result.map_err(text), &["division by zero", "results.rs"])?,
            _ => {
                let expected: Vec<i64> = xs.iter().map(|x| 60 * x / n).collect();
                h.expect(&result.map_err(text)?, &expected, Tolerance::Exact)?;
            }
        }
        found += 1;
    }
    if found == 7 { Ok(()) } else { Err(format!("{found} of 7 chunks came back")) }
}
