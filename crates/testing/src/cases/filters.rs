//! Filters: only the device knows the number of kept elements.

use crate::data::{FEW_SIZES, SIZES, values};
use crate::{Harness, Outcome};
use pumice::prelude::*;

fn at(n: usize) -> impl Fn(String) -> String {
    move |message| format!("{n}: {message}")
}

fn is_kept(x: &i32) -> bool {
    x & 3 == 0
}

pub fn kept_in_order(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>| xs.filter(|x| (x & 3).eq(0)))?;
    for n in SIZES {
        let xs = values::<i32>(1, n);
        let expected: Vec<i32> = xs.iter().copied().filter(is_kept).collect();
        program.check(&xs, &expected).map_err(at(n))?;
    }
    Ok(())
}

pub fn all_or_nothing_is_kept(h: &Harness) -> Outcome {
    let program =
        h.compile(|least: Exp<i32>, xs: Acc<Vector<(i32, f64)>>| xs.filter(|(x, _)| x.ge(least)))?;
    for n in FEW_SIZES {
        let xs: Vec<(i32, f64)> = (0..n).map(|i| (i as i32, i as f64 / 2.0)).collect();
        program.check((0, &xs), &xs).map_err(at(n))?;
        program.check((i32::MAX, &xs), &[]).map_err(at(n))?;
    }
    Ok(())
}

pub fn filters_of_matrices(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<i32>>| m.transpose().filter(|x| (x & 3).eq(0)))?;
    for [rows, columns] in [[0, 5], [5, 0], [1, 1], [33, 70], [200, 100]] {
        let elements = values::<i32>(2, rows * columns);
        let m = Matrix::from_slice([rows, columns], &elements).map_err(|error| error.to_string())?;
        let down = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
        let expected: Vec<i32> = down.map(|place| elements[place]).filter(is_kept).collect();
        program.check(&m, &expected).map_err(at(rows))?;
    }
    Ok(())
}

pub fn filters_after_filters(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        xs.filter(|x| (x & 3).eq(0)).map(|x| x / 4).filter(|x| x.gt(0)).map(|x| (x, x * 2))
    })?;
    for n in FEW_SIZES {
        let xs = values::<i32>(3, n);
        let quarters = xs.iter().copied().filter(is_kept).map(|x| x / 4).filter(|x| *x > 0);
        let expected: Vec<(i32, i32)> = quarters.map(|x| (x, x.wrapping_mul(2))).collect();
        program.check(&xs, &expected).map_err(at(n))?;
    }
    Ok(())
}

pub fn folds_of_filters(h: &Harness) -> Outcome {
    let sum = h.compile(|xs: Acc<Vector<i32>>| xs.filter(|x| (x & 3).eq(0)).fold(5, |a, b| a + b))?;
    let affine = h.compile(|xs: Acc<Vector<i32>>| {
        let maps = xs.filter(|x| (x & 3).eq(0)).map(|x| (x / 4, x));
        maps.fold((1, 0), |(a, b), (c, d)| (a * c, b * c + d))
    })?;
    for n in FEW_SIZES {
        let xs = values::<i32>(4, n);
        let kept: Vec<i32> = xs.iter().copied().filter(is_kept).collect();
        sum.check(&xs, &[kept.iter().fold(5, |a: i32, b| a.wrapping_add(*b))]).map_err(at(n))?;
        let expected = kept
            .iter()
            .fold((1i32, 0i32), |(a, b), x| (a.wrapping_mul(x / 4), b.wrapping_mul(x / 4).wrapping_add(*x)));
        affine.check(&xs, &[expected]).map_err(at(n))?;
    }
    Ok(())
}

pub fn scans_of_filters(h: &Harness) -> Outcome {
    let sums = h.compile(|xs: Acc<Vector<i32>>| xs.filter(|x| (x & 3).eq(0)).scanl1(|a, b| a + b))?;
    let both = h.compile(|xs: Acc<Vector<i32>>| {
        let kept = xs.filter(|x| (x & 3).eq(0));
        let sums = kept.clone().scanl1(|a, b| a + b);
        kept.zip(sums).filter(|(_, sum)| sum.gt(0))
    })?;
    let longer = h.compile(|xs: Acc<Vector<i32>>| xs.filter(|x| (x & 3).eq(0)).scanl(0, |a, b| a + b))?;
    for n in FEW_SIZES {
        let xs = values::<i32>(5, n);
        let kept: Vec<i32> = xs.iter().copied().filter(is_kept).collect();
        let add = |sum: &mut i32, x: &i32| {
            *sum = sum.wrapping_add(*x);
            Some(*sum)
        };
        let expected: Vec<i32> = kept.iter().scan(0, add).collect();
        sums.check(&xs, &expected).map_err(at(n))?;
        let pairs: Vec<(i32, i32)> =
            kept.iter().copied().zip(expected.iter().copied()).filter(|(_, sum)| *sum > 0).collect();
        both.check(&xs, &pairs).map_err(at(n))?;
        let expected: Vec<i32> = std::iter::once(0).chain(expected).collect();
        longer.check(&xs, &expected).map_err(at(n))?;
    }
    Ok(())
}

pub fn filters_of_scans(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>| xs.scanl1(|a, b| a + b).filter(|sum| (sum & 3).eq(0)))?;
    for n in FEW_SIZES {
        let xs = values::<i32>(6, n);
        let add = |sum: &mut i32, x: &i32| {
            *sum = sum.wrapping_add(*x);
            Some(*sum)
        };
        let expected: Vec<i32> = xs.iter().scan(0, add).filter(is_kept).collect();
        program.check(&xs, &expected).map_err(at(n))?;
    }
    Ok(())
}

pub fn partitions_and_flags(h: &Harness) -> Outcome {
    let others = h.compile(|xs: Acc<Vector<i32>>| xs.partition(|x| (x & 3).eq(0)).1)?;
    let flagged = h.compile(|xs: Acc<Vector<i32>>, flags: Acc<Vector<bool>>| xs.compact(flags))?;
    for n in FEW_SIZES {
        let xs = values::<i32>(7, n);
        let expected: Vec<i32> = xs.iter().copied().filter(|x| !is_kept(x)).collect();
        others.check(&xs, &expected).map_err(at(n))?;
        let flags = values::<bool>(8, n);
        let kept = xs.iter().zip(&flags).filter(|(_, flag)| **flag).map(|(x, _)| *x);
        flagged.check((&xs, &flags), &kept.collect::<Vec<i32>>()).map_err(at(n))?;
    }
    Ok(())
}

/// The number of kept elements is used inside functions, also if the elements themselves are not used.
pub fn counts_inside_functions(h: &Harness) -> Outcome {
    let kept = |xs: Acc<Vector<i32>>| xs.filter(|x| (x & 3).eq(0));
    let alone = h.compile(move |xs: Acc<Vector<i32>>| unit(kept(xs).size()))?;
    let behind =
        h.compile(move |xs: Acc<Vector<i32>>| unit(kept(xs).scanl1(|a, b| a + b).reverse().size()))?;
    let beside = h.compile(move |xs: Acc<Vector<i32>>| {
        // The first one could be computed in one kernel with the last.
        let tripled = xs.clone().map(|x| x * 3).compute();
        let count = kept(xs.clone()).size().cast::<i32>();
        tripled.zip(xs.map(|x| x ^ count).compute())
    })?;
    let within = h.compile(move |xs: Acc<Vector<i32>>| {
        let kept = kept(xs);
        let count = kept.size().cast::<i32>();
        kept.map(|x| x ^ count)
    })?;
    for n in FEW_SIZES {
        let xs = values::<i32>(9, n);
        let kept: Vec<i32> = xs.iter().copied().filter(is_kept).collect();
        let count = kept.len() as i32;
        alone.check(&xs, &[i64::from(count)]).map_err(at(n))?;
        behind.check(&xs, &[i64::from(count)]).map_err(at(n))?;
        let expected: Vec<(i32, i32)> = xs.iter().map(|x| (x.wrapping_mul(3), x ^ count)).collect();
        beside.check(&xs, &expected).map_err(at(n))?;
        within.check(&xs, &kept.iter().map(|x| x ^ count).collect::<Vec<_>>()).map_err(at(n))?;
    }
    Ok(())
}
