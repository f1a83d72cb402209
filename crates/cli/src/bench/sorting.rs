//! Workloads that sort.

use super::inputs::{uniform, words};
use super::reference::check_length;
use super::workloads::Workload;
use pumice::prelude::*;

/// Returns the workloads for vectors of this length.
pub fn workloads(n: usize) -> Vec<Workload> {
    vec![sort_integers(n), sort_floats(n), sort_pairs(n), sort_by_comparison(n), largest(n)]
}

/// Returns an error unless two vectors are equal.
fn check_same<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T]) -> Result<(), String> {
    check_length(found, expected.len())?;
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        Some(i) => Err(format!("element {i} is {:?}, not {:?}", found[i], expected[i])),
        None => Ok(()),
    }
}

fn sort_integers(n: usize) -> Workload {
    Workload::new("sort i32", n, 8 * n, move |timing| {
        let xs = words(n);
        let mut expected = xs.clone();
        expected.sort_unstable();
        let program = |xs: Acc<Vector<i32>>| xs.sort();
        timing.median(program, Vector::from(xs.as_slice()), |found| check_same(&found, &expected))
    })
}

fn sort_floats(n: usize) -> Workload {
    Workload::new("sort f32", n, 8 * n, move |timing| {
        let xs = uniform(n, 0);
        let mut expected = xs.clone();
        expected.sort_unstable_by(f32::total_cmp);
        let program = |xs: Acc<Vector<f32>>| xs.sort();
        timing.median(program, Vector::from(xs.as_slice()), |found| check_same(&found, &expected))
    })
}

fn sort_pairs(n: usize) -> Workload {
    Workload::new("sort by key (u32, u32)", n, 16 * n, move |timing| {
        let xs: Vec<(u32, u32)> = (0..).zip(words(n)).map(|(place, word)| (word as u32, place)).collect();
        let mut expected = xs.clone();
        expected.sort_by_key(|(key, _)| *key);
        let program = |xs: Acc<Vector<(u32, u32)>>| xs.sort_by_key(|(key, _)| key);
        timing.median(program, Vector::from(xs.as_slice()), |found| check_same(&found, &expected))
    })
}

fn sort_by_comparison(n: usize) -> Workload {
    Workload::new("sort by comparison i32", n, 8 * n, move |timing| {
        let xs = words(n);
        let mut expected = xs.clone();
        expected.sort_unstable();
        let program = |xs: Acc<Vector<i32>>| xs.sort_by(|a, b| a.lt(b));
        timing.median(program, Vector::from(xs.as_slice()), |found| check_same(&found, &expected))
    })
}

fn largest(n: usize) -> Workload {
    Workload::new("top 100 f32", n, 4 * n, move |timing| {
        let xs = uniform(n, 0);
        let mut expected: Vec<(f32, i64)> = xs.iter().copied().zip(0..).collect();
        expected.sort_by(|a, b| b.0.total_cmp(&a.0));
        expected.truncate(100);
        let program = |xs: Acc<Vector<f32>>| {
            let (best, places) = xs.top_k(100);
            best.zip(places)
        };
        timing.median(program, Vector::from(xs.as_slice()), |found| check_same(&found, &expected))
    })
}
