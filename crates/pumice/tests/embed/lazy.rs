//! `&&` and `||` whose right side fails where it must not be computed, in loops: dividing by zero is a failure of the evaluator.

use super::{agree, pairs};
use pumice::prelude::*;

/// Everywhere in a loop: its condition, branches, guards, `let` in conditions, and values that do not change in the loop.
#[embed]
fn in_loops(a: i32, b: i32) -> (i32, i32, i32, bool) {
    let mut n = a;
    let mut rounds = 0;
    while n > 0 && 1000 / n > b && rounds < 20 {
        n -= 1;
        rounds += 1;
    }
    let mut found = 0;
    for i in -3..4 {
        if i != 0 && 12 / i == 6 {
            found += i;
            continue;
        }
        // The quotient is the same in each round, and computed in none if `b` is zero.
        if b != 0 && a / b > i || b == 0 {
            found += 10;
        }
        if b == 0 || i == 0 || a % b == b / i {
            found += 100;
        }
        found += match i {
            k if k > 0 && a / k > 2 => k,
            _ => -1,
        };
    }
    let mut all = true;
    let mut k = 3;
    loop {
        all = all && (k == 0 || b / k < 50);
        if !all || k < -3 && a / k > 3 {
            break;
        }
        k -= 1;
        if k < -6 {
            return (rounds, found, k, b != 0 && a / b == 1);
        }
    }
    (rounds, found, k, all)
}

/// The right side has steps of its own, and leaves.
#[embed]
fn with_steps(a: i32, b: i32) -> i32 {
    let mut sum = 0;
    for i in 0..6 {
        let small = i > 0 && {
            let q = a / i;
            q < b
        };
        let changed = i > 1 && {
            sum += 60 / (i - 1);
            b != 0 && sum % b == 1
        };
        if small && changed || i == 5 && (b == 0 || a / b > 3) {
            sum += 7;
        }
        let q = if i % 2 == 1 || b == 0 { i } else { a / b };
        if q > 3 && b != 0 && {
            if a / b == 100 {
                return -1;
            }
            a % b == 0
        } {
            break;
        }
        let mut inner = 3;
        while inner > -3 && (inner == 0 || i / inner >= 0) {
            inner -= 1;
            sum += inner;
        }
    }
    sum
}

#[test]
fn what_is_behind_and_or_or_is_computed_only_where_it_is_needed() {
    agree!(pairs(), |a, b| in_loops(a, b));
    agree!(pairs(), |a, b| with_steps(a, b));
}

#[test]
fn devices_do_not_compute_it_either() -> pumice::Result<()> {
    let (a, b): (Vec<i32>, Vec<i32>) = pairs().unzip();
    for device in ["sim", "cpu"] {
        let f = pumice::Compiler::on(device)?.compile(|a: Acc<Vector<i32>>, b: Acc<Vector<i32>>| {
            (a.clone().zip_with(b.clone(), in_loops), a.zip_with(b, with_steps))
        })?;
        let (found, sums) = f.run((&a, &b))?;
        let values = a.iter().zip(&b);
        assert_eq!(found.to_vec()?, values.clone().map(|(a, b)| in_loops(*a, *b)).collect::<Vec<_>>());
        assert_eq!(sums.to_vec()?, values.map(|(a, b)| with_steps(*a, *b)).collect::<Vec<_>>());
    }
    Ok(())
}
