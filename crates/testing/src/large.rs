//! Arrays whose indices do not fit into 32 bits: `pumice selftest --large`, on a device with 32 GB of memory.
//!
//! Elements are made and checked on the device, so that the host needs no memory for them.

use crate::harness::{Harness, Outcome};
use pumice::prelude::*;

/// The number of elements.
const N: i64 = (1 << 31) + 5;

/// Period of the elements.
const PERIOD: i64 = 1000;

/// A case with its name.
pub(crate) type Named = (&'static str, fn(&Harness) -> Outcome);

/// The cases.
pub(crate) const CASES: [Named; 7] = [
    ("large::map", map),
    ("large::fold", fold),
    ("large::scan", scan),
    ("large::filter", filter),
    ("large::permute", permute),
    ("large::expand", expand),
    ("large::expand_in_order", expand_in_order),
];

fn at(index: Exp<i64>) -> Exp<i32> {
    (index % PERIOD).cast::<i32>()
}

/// Returns the sum of the first elements.
fn sum_of(count: i64) -> i64 {
    let (whole, rest) = (count / PERIOD, count % PERIOD);
    whole * (PERIOD * (PERIOD - 1) / 2) + rest * (rest - 1) / 2
}

fn elements(h: &Harness) -> Result<Vector<i32>, String> {
    h.compile(|n: Exp<i64>| generate(n, at))?.run(N)
}

/// Checks each element of an array on the device.
fn check(h: &Harness, found: &Vector<i32>, count: i64, expected: fn(Exp<i64>) -> Exp<i32>) -> Outcome {
    let [length] = found.extents();
    if length as i64 != count {
        return Err(format!("{length} elements where {count} were expected"));
    }
    let wrong = move |xs: Acc<Vector<i32>>| xs.imap(move |i, x| x.ne(expected(i))).count(|wrong| wrong);
    h.check(wrong, found, &[0])
}

fn map(h: &Harness) -> Outcome {
    let found = h.compile(|xs: Acc<Vector<i32>>| xs.map(|x| x * 3 + 1))?.run(&elements(h)?)?;
    check(h, &found, N, |i| at(i) * 3 + 1)
}

fn fold(h: &Harness) -> Outcome {
    h.check(|xs: Acc<Vector<i32>>| xs.map(|x| x.cast::<i64>()).sum(), &elements(h)?, &[sum_of(N)])
}

fn scan(h: &Harness) -> Outcome {
    let found = h.compile(|xs: Acc<Vector<i32>>| xs.scanl1(|a, b| a + b))?.run(&elements(h)?)?;
    check(h, &found, N, |i| {
        let (whole, rest) = ((i + 1) / PERIOD, (i + 1) % PERIOD);
        (whole * (PERIOD * (PERIOD - 1) / 2) + rest * (rest - 1) / 2).cast::<i32>()
    })
}

fn filter(h: &Harness) -> Outcome {
    let found = h.compile(|xs: Acc<Vector<i32>>| xs.filter(|x| x.ne(7)))?.run(&elements(h)?)?;
    let left_out = N / PERIOD + i64::from(N % PERIOD > 7);
    check(h, &found, N - left_out, |i| {
        let place = i % (PERIOD - 1);
        place.lt(7).select(place, place + 1).cast::<i32>()
    })
}

fn permute(h: &Harness) -> Outcome {
    let reversed = |xs: Acc<Vector<i32>>| {
        let n = xs.size();
        xs.permute(|new, _| new, fill(n, -1), |i| n - 1 - i)
    };
    let found = h.compile(reversed)?.run(&elements(h)?)?;
    check(h, &found, N, |i| at(N - 1 - i))
}

/// Sizes whose sum does not fit into 32 bits, of elements that are in no memory: of a few sources, and of many.
fn expand(h: &Harness) -> Outcome {
    let counts = h.compile(|sizes: Acc<Vector<i64>>| {
        sizes.expand(|size| size, |size, number| size - number).histogram(2, |left| left & 1)
    })?;
    let sum = h.compile(|n: Exp<i64>, size: Exp<i64>| {
        generate(n, |i| i).expand(move |_| size, |i, number| i ^ number).map(|x| x & 1).sum()
    })?;
    counts.check([N, 0, 3, N - 3], &[(N - 1) as u32, (N + 1) as u32])?;
    for (sources, size) in [(3i64, 1_000_000_000i64), (3_000_000, 1000)] {
        sum.check((sources, size), &[sources * size / 2])?;
    }
    Ok(())
}

/// The same of elements that are written, in order.
fn expand_in_order(h: &Harness) -> Outcome {
    let numbers =
        h.compile(|sizes: Acc<Vector<i64>>| sizes.expand(|size| size, |start, number| at(start + number)))?;
    let found = numbers.run([N - 1, 0, 1])?;
    check(h, &found, N, |i| i.lt(N - 1).select(at(i + N - 1), at(1.into())))
}
