//! Workloads over tables, as comprehensions: rows grouped by a key, two tables joined by equal keys, and a query that does both.

use super::inputs::hash;
use super::reference::check_exactly;
use super::workloads::Workload;
use pumice::prelude::*;
use pumice_algorithms::irregular::tpch::{self, plain::DAYS, plain::Tables};

/// Sizes of the tables.
#[derive(Clone, Copy)]
pub struct TableSizes {
    /// Rows that are grouped or joined.
    pub rows: usize,
    /// Numbers of keys: for few large groups, and for many small ones. The second is also the number of rows of the table that is joined.
    pub keys: [usize; 2],
    /// Customers of the query's tables.
    pub customers: usize,
}

/// Returns all workloads.
pub fn workloads(sizes: TableSizes) -> Vec<Workload> {
    let TableSizes { rows, keys: [few, many], customers } = sizes;
    let mut all = vec![group_sums(rows, few), group_sums(rows, many)];
    all.extend([group_extremes(rows, few), group_extremes(rows, many)]);
    all.extend([join(rows, many), shipping_priority(customers)]);
    all
}

/// Returns rows of a key and a number.
fn rows(n: usize, keys: usize) -> Vec<(i64, i64)> {
    let row = |i: u32| ((hash(i, 3) as usize % keys) as i64, i64::from(hash(i, 4) >> 20));
    (0..n as u32).map(row).collect()
}

/// Combines the numbers of each key that occurs, in the order of keys.
fn by_key<T: Copy>(
    rows: &[(i64, i64)],
    keys: usize,
    one: impl Fn(i64) -> T,
    add: impl Fn(T, T) -> T,
) -> Vec<(i64, T)> {
    let mut groups = vec![None; keys];
    for (key, x) in rows {
        let group: &mut Option<T> = &mut groups[*key as usize];
        *group = Some(group.map_or(one(*x), |sum| add(sum, one(*x))));
    }
    (0..).zip(groups).filter_map(|(key, group)| Some((key, group?))).collect()
}

fn group_sums(n: usize, keys: usize) -> Workload {
    Workload::new(format!("group sums i64 {keys}"), n, 16 * n, move |timing| {
        let rows = rows(n, keys);
        let expected = by_key(&rows, keys, |x| x, |a, b| a + b);
        let program = |rows: Acc<Vector<(i64, i64)>>| comp![(key, sum![x]) | (key, x) <- rows, group by key];
        timing.median(program, Vector::from(rows.as_slice()), |found| check_exactly(&found, &expected))
    })
}

fn group_extremes(n: usize, keys: usize) -> Workload {
    Workload::new(format!("group extremes i64 {keys}"), n, 16 * n, move |timing| {
        let rows = rows(n, keys);
        let groups = by_key(&rows, keys, |x| (x, x), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        let expected: Vec<(i64, i64, i64)> =
            groups.iter().map(|(key, (min, max))| (*key, *min, *max)).collect();
        let program =
            |rows: Acc<Vector<(i64, i64)>>| comp![(key, min![x], max![x]) | (key, x) <- rows, group by key];
        timing.median(program, Vector::from(rows.as_slice()), |found| check_exactly(&found, &expected))
    })
}

/// Returns a workload that joins every row with the row of a table that has its key; half of the keys are there.
fn join(n: usize, keys: usize) -> Workload {
    Workload::new(format!("join i64 {keys}"), n, 24 * n, move |timing| {
        let rows = rows(n, 2 * keys);
        // Every even key once, in scattered order: the factor is a prime.
        let table: Vec<(i64, i64)> =
            (0..keys as i64).map(|i| (i * 2 * 7919 % (2 * keys as i64), i)).collect();
        let mut place = vec![None; 2 * keys];
        table.iter().for_each(|(key, x)| place[*key as usize] = Some(*x));
        let expected: Vec<(i64, i64)> =
            rows.iter().filter_map(|(key, x)| Some((*x, place[*key as usize]?))).collect();
        let program = |rows: Acc<Vector<(i64, i64)>>, table: Acc<Vector<(i64, i64)>>| comp![(x, y) | (key, x) <- rows, (of, y) <- table, key == of];
        let arguments = (Vector::from(rows.as_slice()), Vector::from(table.as_slice()));
        timing.median(program, arguments, |found| check_exactly(&found, &expected))
    })
}

fn shipping_priority(customers: usize) -> Workload {
    let segment = 1u32;
    Workload::new(format!("TPC-H query 3, {customers} customers"), customers, 0, move |timing| {
        let tables = Tables::new(customers, 4);
        let expected = tables.shipping_priority(segment, DAYS[1]);
        let customers = Vector::from(tables.customers.as_slice());
        let (orders, items) = (Vector::from(tables.orders.as_slice()), Vector::from(tables.items.as_slice()));
        let arguments = (customers, orders, items, segment, DAYS[1]);
        timing.median(tpch::shipping_priority, arguments, |found| check_exactly(&found, &expected))
    })
}
