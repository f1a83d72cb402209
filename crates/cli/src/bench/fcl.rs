//! The programs of FCL's figure 2 as `.pum` files: with levels, as the paper prints them, and without, where Pumice chooses
//! them. `benches/peers/sdk.c` does the same by hand.

use super::timing::Timing;
use super::workloads::Workload;
use crate::pum::prepare_expression;
use pumice::layers::array::{ArrayData, HostData};
use pumice::layers::runtime::Inputs;
use pumice::layers::scalar::ScalarType;
use std::sync::Arc;

const REVERSE: &str = include_str!("../../../../examples/pum/reverse.pum");
const TRANSPOSE: &str = include_str!("../../../../examples/pum/transpose.pum");
const REDUCE: &str = include_str!("../../../../examples/pum/reduce.pum");

/// Returns the workloads for `side` squared elements; `side` is a multiple of 16.
pub fn workloads(side: usize) -> Vec<Workload> {
    let n = side * side;
    let by_levels = "Pumice, .pum with levels";
    let without = "Pumice, .pum without";
    let reversed = move |found: &[i32]| each(found, n, |i| number(n - 1 - i));
    let transposed = move |found: &[i32]| each(found, n, |i| number(i % side * side + i / side));
    let sum = move |found: &[i32]| {
        let sum = (0..n).fold(0i32, |sum, i| sum.wrapping_add(number(i)));
        each(found, 1, |_| sum)
    };
    let tiles = format!("transposeTiled 16 {side} {side} xs");
    vec![
        workload("FCL reverse i32", by_levels, vec![n], 8, REVERSE, "push <grid> (reverse xs)", reversed),
        workload("FCL reverse i32", without, vec![n], 8, REVERSE, "reverse xs", reversed),
        workload("FCL transpose i32", by_levels, vec![n], 8, TRANSPOSE, &tiles, transposed),
        workload("FCL transpose i32", without, vec![side, side], 8, TRANSPOSE, "transpose2 xs", transposed),
        workload("FCL reduce i32", by_levels, vec![n], 4, REDUCE, "total xs", sum),
        workload("FCL reduce i32", without, vec![n], 4, REDUCE, "sum xs", sum),
    ]
}

fn workload(
    name: &str,
    implementation: &'static str,
    extents: Vec<usize>,
    bytes_each: usize,
    file: &'static str,
    expression: &str,
    check: impl Fn(&[i32]) -> Result<(), String> + 'static,
) -> Workload {
    let (n, expression) = (extents.iter().product(), expression.to_string());
    let measure = move |timing: &Timing| median(timing, &extents, file, &expression, &check);
    Workload::new(name, n, bytes_each * n, measure).by(implementation)
}

/// Returns the median time of an expression over a file's functions and a vector or matrix `xs`.
fn median(
    timing: &Timing,
    extents: &[usize],
    file: &str,
    expression: &str,
    check: &dyn Fn(&[i32]) -> Result<(), String>,
) -> Result<f64, String> {
    let ty = if extents.len() == 1 { "[i32]" } else { "[i32; _, _]" };
    let program = prepare_expression(file, &[("xs", ty)], expression)?;
    let told = |error: pumice::Error| error.to_string();
    let program = timing.compiler().compile_program(program).map_err(told)?;
    let column = (0..extents.iter().product()).flat_map(|i| number(i).to_le_bytes()).collect();
    let xs = HostData::new(extents.to_vec(), vec![ScalarType::I32], vec![column]);
    let mut inputs = Inputs::default();
    inputs.arrays.insert(0, Arc::new(xs));
    check(&elements(&*program.run(&inputs).map_err(told)?)?)?;
    let once = || Ok(program.time(&inputs, 1)?.first().copied().unwrap_or(f64::NAN));
    timing.repeat(once).map_err(told)
}

fn elements(array: &dyn ArrayData) -> Result<Vec<i32>, String> {
    let columns = array.columns().map_err(|error| error.to_string())?;
    let [column] = &columns[..] else { return Err("the result has several columns".into()) };
    Ok(column.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect())
}

/// Returns the input element at an index, the same as in the peer.
fn number(index: usize) -> i32 {
    (index % 1_000_003 * 7) as i32
}

fn each(found: &[i32], count: usize, expected: impl Fn(usize) -> i32) -> Result<(), String> {
    if found.len() != count {
        return Err(format!("{} elements came, expected {count}", found.len()));
    }
    match found.iter().enumerate().find(|(i, found)| **found != expected(*i)) {
        Some((i, found)) => Err(format!("element {i} is {found}, expected {}", expected(i))),
        None => Ok(()),
    }
}
