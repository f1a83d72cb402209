//! Elements that are combined at an index: `permute`, `scatter`, `histogram`.

use crate::data::{FEW_SIZES, SHAPES, SIZES, mix, values};
use crate::{Harness, Outcome};
use pumice::OptionExp;
use pumice::prelude::*;

/// Counts how often each value occurs.
fn counts(bins: usize, values: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut counts = vec![0; bins];
    values.for_each(|value| counts[value] += 1);
    counts
}

pub fn histograms(h: &Harness) -> Outcome {
    for bins in [1usize, 7, 256, 5000] {
        let of = bins as u32;
        let program = h.compile(|xs: Acc<Vector<u32>>| xs.histogram(bins, |x| (x % of).cast::<i64>()))?;
        for n in SIZES {
            let xs = values::<u32>(1, n);
            let expected = counts(bins, xs.iter().map(|x| *x as usize % bins));
            program.check(&xs, &expected).map_err(|m| format!("{n} elements, {bins} bins: {m}"))?;
        }
    }
    // All in one bin, except elements without a target.
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        xs.histogram(300, |x| OptionExp::present_if((x % 3).ne(0), constant(299i64)))
    })?;
    for n in FEW_SIZES {
        let xs: Vec<i32> = (0..n as i32).collect();
        let mut expected = vec![0; 300];
        expected[299] = xs.iter().filter(|x| **x % 3 != 0).count() as u32;
        program.check(&xs, &expected).map_err(|m| format!("{n} in one bin: {m}"))?;
    }
    Ok(())
}

pub fn sums_and_extrema_by_key(h: &Harness) -> Outcome {
    macro_rules! by_key {
        ($($t:ident $name:literal $f:expr, $plain:expr;)*) => { $({
            let program = h.compile(|xs: Acc<Vector<(u32, $t)>>, defaults: Acc<Vector<$t>>| {
                xs.map(|(key, x)| ((key % 50).cast::<i64>(), x)).permute_pairs($f, defaults)
            })?;
            let plain: fn($t, $t) -> $t = $plain;
            for n in FEW_SIZES {
                let (xs, defaults) = (values::<(u32, $t)>(2, n), values::<$t>(3, 50));
                let mut expected = defaults.clone();
                for (key, x) in &xs {
                    let target = &mut expected[*key as usize % 50];
                    *target = plain(*x, *target);
                }
                program.check((&xs, &defaults), &expected).map_err(|m| format!("{n}, {}: {m}", $name))?;
            }
        })* };
    }
    by_key! {
        i32 "sum of i32" |a, b| a + b, |a, b| a.wrapping_add(b);
        u64 "sum of u64" |a, b| a + b, |a, b| a.wrapping_add(b);
        f32 "sum of f32" |a, b| a + b, |a, b| a + b;
        f64 "sum of f64" |a, b| a + b, |a, b| a + b;
        i64 "maximum of i64" |a, b| a.max(b), |a, b| a.max(b);
        u32 "bits of u32" |a, b| a ^ b, |a, b| a ^ b;
        f32 "minimum of f32" |a, b| a.min(b), |a, b| a.min(b);
        f64 "maximum of f64" |a, b| a.max(b), |a, b| a.max(b);
        i32 "product of i32" |a, b| a * b, |a, b| a.wrapping_mul(b);
        bool "any of bool" |a, b| a | b, |a, b| a | b;
    }
    Ok(())
}

pub fn elements_of_several_columns(h: &Harness) -> Outcome {
    // The value of the largest key, and the number of entries: columns that depend on each other.
    let program = h.compile(|xs: Acc<Vector<(i64, f32)>>| {
        let entries = xs.map(|(key, x)| ((key & 15), (key, x, constant(1u32))));
        let none = generate(16, |_| (constant(i64::MIN), constant(0.0f32), constant(0u32)));
        entries.permute_pairs(
            |(k, x, n), (l, y, m)| {
                let (key, value) = cond(k.gt(l), || (k, x), || (l, y));
                (key, value, n + m)
            },
            none,
        )
    })?;
    for n in FEW_SIZES {
        let xs: Vec<(i64, f32)> = values::<i64>(4, n)
            .into_iter()
            .enumerate()
            .map(|(i, key)| (key.wrapping_add(i as i64), key as f32))
            .collect();
        let mut expected = vec![(i64::MIN, 0.0, 0); 16];
        for (key, x) in &xs {
            let target = &mut expected[(*key & 15) as usize];
            let (largest, value) = if *key > target.0 { (*key, *x) } else { (target.0, target.1) };
            *target = (largest, value, target.2 + 1);
        }
        // Equal keys may have different values, and then either may win.
        let found = program.run(&xs)?;
        if !h.is_planning() {
            let found = found.to_vec().map_err(|error| error.to_string())?;
            let right = found
                .iter()
                .zip(&expected)
                .all(|(f, e)| f.0 == e.0 && f.2 == e.2 && (f.2 == 0 || xs.contains(&(f.0, f.1))));
            if !right {
                return Err(format!("{n} elements: {found:?} instead of {expected:?}"));
            }
        }
    }
    Ok(())
}

pub fn permutations_by_index(h: &Harness) -> Outcome {
    // Reversed, without every seventh element.
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        let n = xs.size();
        let defaults = generate(n, |i| i.cast::<i32>());
        xs.permute(|new, _| new, defaults, |i| OptionExp::present_if((i % 7).ne(0), n - 1 - i))
    })?;
    for n in SIZES {
        let xs = values::<i32>(5, n);
        let mut expected: Vec<i32> = (0..n as i32).collect();
        (0..n).filter(|i| i % 7 != 0).for_each(|i| expected[n - 1 - i] = xs[i]);
        program.check(&xs, &expected).map_err(|m| format!("{n} elements: {m}"))?;
    }
    // A matrix transposed into one that is larger.
    let program = h.compile(|m: Acc<Matrix<f32>>| {
        let (rows, columns) = m.shape();
        let defaults = generate((columns + 1, rows), |_| constant(-1.0f32));
        m.permute(|new, old| new + old, defaults, |(i, j)| (j + 1, i))
    })?;
    for [rows, columns] in SHAPES {
        let xs = values::<f32>(6, rows * columns);
        let mut expected = vec![-1.0; rows];
        (0..columns).for_each(|j| expected.extend((0..rows).map(|i| xs[i * columns + j] - 1.0)));
        let m = Matrix::from_vec([rows, columns], xs).map_err(|error| error.to_string())?;
        program
            .check_shaped(&m, [columns + 1, rows], &expected)
            .map_err(|m| format!("{rows} × {columns}: {m}"))?;
    }
    // Everything to one value.
    let total = h.compile(|xs: Acc<Vector<i64>>| xs.permute(|a, b| a + b, unit(7i64), |_| ()))?;
    let xs = values::<i64>(7, 1000);
    total.check(&xs, &[xs.iter().fold(7i64, |sum, x| sum.wrapping_add(*x))])
}

pub fn scattered(h: &Harness) -> Outcome {
    let plain = h.compile(|xs: Acc<Vector<f64>>, to: Acc<Vector<i64>>, defaults: Acc<Vector<f64>>| {
        xs.map(|x| x * 2.0).scatter(to, defaults)
    })?;
    let optional = h.compile(|xs: Acc<Vector<(u32, bool)>>, to: Acc<Vector<Option<i64>>>| {
        let defaults = generate(to.size(), |i| (i.cast::<u32>(), constant(true)));
        xs.scatter(to, defaults)
    })?;
    for n in SIZES {
        // A factor that no size shares a divisor with: places are distinct.
        let place = |i: usize| (i * 7919 % n) as i64;
        let (xs, places) = (values::<f64>(8, n), (0..n).map(place).collect::<Vec<i64>>());
        let mut expected = vec![0.5; n];
        xs.iter().zip(&places).for_each(|(x, place)| expected[*place as usize] = x * 2.0);
        plain.check((&xs, &places, &vec![0.5; n]), &expected).map_err(|m| format!("{n} elements: {m}"))?;
        let xs = values::<(u32, bool)>(9, n);
        let places: Vec<Option<i64>> =
            (0..n).map(|i| (!mix(i as u64).is_multiple_of(4)).then_some(place(i))).collect();
        let mut expected: Vec<(u32, bool)> = (0..n as u32).map(|i| (i, true)).collect();
        for (x, place) in xs.iter().zip(&places) {
            if let Some(place) = place {
                expected[*place as usize] = *x;
            }
        }
        optional.check((&xs, &places), &expected).map_err(|m| format!("{n} optional: {m}"))?;
    }
    Ok(())
}

pub fn combined_from_folds(h: &Harness) -> Outcome {
    // The result of a fold is combined in the fold's own kernel, by its value and by its index.
    let by_value =
        h.compile(|m: Acc<Matrix<i32>>| m.fold(0, |a, b| a ^ b).histogram(8, |x| (x & 7).cast::<i64>()))?;
    let by_index = h.compile(|m: Acc<Matrix<i32>>| {
        let sums = m.fold(0, |a, b| a + b).map(|x| x * 3);
        sums.permute(|a, b| a + b, generate(5, |i| i.cast::<i32>()), |i| i % 5)
    })?;
    for [rows, columns] in SHAPES {
        let xs = values::<i32>(10, rows * columns);
        let row = |i: usize| &xs[i * columns..(i + 1) * columns];
        let keys = (0..rows).map(|i| (row(i).iter().fold(0, |a, b| a ^ b) & 7) as usize);
        let expected = counts(8, keys);
        let mut sums: Vec<i32> = (0..5).collect();
        for i in 0..rows {
            let sum = row(i).iter().fold(0i32, |a, b| a.wrapping_add(*b)).wrapping_mul(3);
            sums[i % 5] = sums[i % 5].wrapping_add(sum);
        }
        let m = Matrix::from_vec([rows, columns], xs.clone()).map_err(|error| error.to_string())?;
        by_value.check(&m, &expected).map_err(|m| format!("{rows} × {columns}, by value: {m}"))?;
        by_index.check(&m, &sums).map_err(|m| format!("{rows} × {columns}, by index: {m}"))?;
    }
    Ok(())
}

pub fn scalar_arguments_in_operators(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>, most: Exp<i32>| {
        xs.permute(|a, b| (a + b).min(most), generate(3, |_| constant(1)), |i| i % 3)
    })?;
    program.check((&[2, 3, 4, 5, 1, 6], 9), &[8, 5, 9])
}

pub fn indices_that_are_no_targets(h: &Harness) -> Outcome {
    let one = h.compile(|xs: Acc<Vector<i64>>| xs.histogram(10, |x| x))?;
    h.expect_failure(one.run(&[3i64, 9, 10, 4]), &["index 10 out of bounds for length 10 in histogram"])?;
    h.expect_failure(one.run(&[3i64, -1, 4]), &["index -1 out of bounds for length 10 in histogram"])?;
    let two = h.compile(|xs: Acc<Vector<(i64, i64)>>| {
        xs.map(|place| (place, constant(1i32))).permute_pairs(|a, b| a + b, generate((3, 4), |_| constant(0)))
    })?;
    // The flattened index would be in bounds.
    h.expect_failure(two.run(&[(1i64, 4i64)]), &["index 4 out of bounds for length 4 in permute_pairs"])?;
    two.check(&[(1i64, 3i64)], &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])?;
    // An absent index has no target, whatever its value column holds.
    let nothing = h.compile(|xs: Acc<Vector<Option<i64>>>| xs.histogram(0, |x| x))?;
    nothing.check(&[None, None], &[])
}

/// Computed defaults: updated in place if nothing else uses them, and copied otherwise.
pub fn into_computed_defaults(h: &Harness) -> Outcome {
    let xs: Vec<i32> = values(57, 1000);
    let sums = |xs: Acc<Vector<i32>>| xs.scanl1(|a, b| a + b);
    let add =
        |sums: Acc<Vector<i32>>, xs: Acc<Vector<i32>>| xs.permute(|new, old| new + old, sums, |i| i / 2);
    let mut before = xs.clone();
    (1..1000).for_each(|i| before[i] = before[i].wrapping_add(before[i - 1]));
    let mut after = before.clone();
    xs.iter().enumerate().for_each(|(i, x)| after[i / 2] = after[i / 2].wrapping_add(*x));
    h.check(move |xs: Acc<Vector<i32>>| add(sums(xs.clone()), xs), &xs, &after)?;
    let both = move |xs: Acc<Vector<i32>>| {
        let sums = sums(xs.clone());
        add(sums.clone(), xs).zip_with(sums, |after, before| (after, before))
    };
    h.check(both, &xs, &after.iter().copied().zip(before.iter().copied()).collect::<Vec<_>>())?;
    // An argument is never changed.
    let given = h.compile(move |xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| add(xs, ys))?;
    let mut twice = xs.clone();
    xs.iter().enumerate().for_each(|(i, x)| twice[i / 2] = twice[i / 2].wrapping_add(*x));
    given.check((&xs, &xs), &twice)?;
    given.check((&xs, &xs), &twice)
}
