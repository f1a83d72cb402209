//! Workloads of sparse matrices and nested ranges: products of a matrix in compressed rows with a vector, as a fold of segments
//! and as a comprehension; rows of different lengths that are folded, scanned and sorted; reductions of reductions; and Pythagorean triples that are counted.

use super::inputs::{hash, uniform, words};
use super::reference::{check_all, check_exactly};
use super::workloads::{Measured, Workload};
use pumice::prelude::*;
use pumice::{Segments, comp, count};
use pumice_algorithms::Work;

/// Returns the workloads for matrices of this many rows, ragged arrays of this many elements, and numbers below a limit.
pub fn workloads(rows: usize, elements: usize, limit: i64) -> Vec<Workload> {
    let kinds = [Kind::Band, Kind::PowerLaw, Kind::Skewed];
    let mut all: Vec<Workload> = kinds.into_iter().map(|kind| by_segments(kind, rows)).collect();
    all.extend(kinds.map(|kind| by_comprehension(kind, rows)));
    all.extend([Kind::Band, Kind::PowerLaw].into_iter().flat_map(|kind| of_rows(kind, elements)));
    all.extend(of_reductions(elements as i64));
    all.push(triples(limit));
    all
}

/// Distribution of the lengths of a matrix's rows.
#[derive(Clone, Copy)]
enum Kind {
    /// All have 32 elements, beside the diagonal.
    Band,
    /// Few long ones and many short ones.
    PowerLaw,
    /// 8 elements, and 16384 in every thousandth row.
    Skewed,
}

impl Kind {
    /// Returns the length of a row, for a random number.
    fn length(self, row: usize, random: u32) -> usize {
        match self {
            Kind::Band => 32,
            Kind::PowerLaw => (4.0 / (f64::from((random & 0xffff) + 1) / 65536.0)).min(4096.0) as usize,
            Kind::Skewed if row.is_multiple_of(1000) => 16384,
            Kind::Skewed => 8,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Band => "band32",
            Kind::PowerLaw => "powerlaw",
            Kind::Skewed => "skewed",
        }
    }
}

/// A matrix in compressed sparse rows (CSR).
struct Sparse {
    offsets: Vec<i64>,
    columns: Vec<i32>,
    values: Vec<f32>,
}

impl Sparse {
    fn new(kind: Kind, rows: usize) -> Sparse {
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        let mut state = 12345u32;
        for row in 0..rows {
            state = hash(state.wrapping_add(row as u32), 0);
            for place in 0..kind.length(row, state) {
                state = hash(state.wrapping_add(place as u32), 0);
                columns.push(match kind {
                    Kind::Band => (row + place).saturating_sub(16).min(rows - 1) as i32,
                    _ => (state as usize % rows) as i32,
                });
            }
            offsets.push(columns.len() as i64);
        }
        let values = uniform(columns.len(), 1);
        Sparse { offsets, columns, values }
    }

    /// Returns the measurement of a product with a vector, with the bytes that it must move.
    fn measured(&self, median_ms: f64) -> Measured {
        let bytes = 8 * self.values.len() + 16 * self.offsets.len();
        Measured { median_ms, work: Work::Bytes(bytes) }
    }

    fn times(&self, xs: &[f32]) -> Vec<f64> {
        let product = |at: usize| f64::from(self.values[at]) * f64::from(xs[self.columns[at] as usize]);
        let rows = self.offsets.windows(2);
        rows.map(|ends| (ends[0] as usize..ends[1] as usize).map(product).sum()).collect()
    }
}

fn by_segments(kind: Kind, rows: usize) -> Workload {
    let name = format!("smvm {}", kind.name());
    Workload::measured(name, rows, move |timing| {
        let (matrix, xs) = (Sparse::new(kind, rows), uniform(rows, 0));
        let expected = matrix.times(&xs);
        let program = |values: Acc<Vector<f32>>,
                       columns: Acc<Vector<i32>>,
                       offsets: Acc<Vector<i64>>,
                       xs: Acc<Vector<f32>>| {
            let products = values.zip_with(columns, move |v, c| v * xs.at(c.cast::<i64>()));
            products.fold_segments(Segments::Offsets(offsets), 0.0, |a, b| a + b)
        };
        let arguments = (
            Vector::from(matrix.values.as_slice()),
            Vector::from(matrix.columns.as_slice()),
            Vector::from(matrix.offsets.as_slice()),
            Vector::from(xs.as_slice()),
        );
        let check = |found: Vec<f32>| check_all(&found, rows, 1e-4, |row| expected[row]);
        Ok(matrix.measured(timing.median(program, arguments, check)?))
    })
}

fn by_comprehension(kind: Kind, rows: usize) -> Workload {
    let name = format!("smvm by comprehension {}", kind.name());
    Workload::measured(name, rows, move |timing| {
        let (matrix, xs) = (Sparse::new(kind, rows), uniform(rows, 0));
        let expected = matrix.times(&xs);
        let ends: Vec<(i64, i64)> = matrix.offsets.windows(2).map(|ends| (ends[0], ends[1])).collect();
        let program = |values: Acc<Vector<f32>>,
                       columns: Acc<Vector<i32>>,
                       rows: Acc<Vector<(i64, i64)>>,
                       xs: Acc<Vector<f32>>| {
            comp![sum![v * xs.at(c.cast::<i64>()) | v <- values[a..b] | c <- columns[a..b]] | (a, b) <- rows]
        };
        let arguments = (
            Vector::from(matrix.values.as_slice()),
            Vector::from(matrix.columns.as_slice()),
            Vector::from(ends.as_slice()),
            Vector::from(xs.as_slice()),
        );
        let check = |found: Vec<f32>| check_all(&found, rows, 1e-4, |row| expected[row]);
        Ok(matrix.measured(timing.median(program, arguments, check)?))
    })
}

/// Returns workloads that fold, scan and sort rows of this kind, with this many elements together.
fn of_rows(kind: Kind, elements: usize) -> [Workload; 3] {
    let fold: Rows = |xs, offsets| AccRagged::new(xs, offsets).sum();
    let scan: Rows = |xs, offsets| AccRagged::new(xs, offsets).scan(|a, b| a + b).flatten();
    let sort: Rows = |xs, offsets| AccRagged::new(xs, offsets).sort().flatten();
    let sum = |row: &[i32]| vec![row.iter().fold(0, |sum: i32, x| sum.wrapping_add(*x))];
    let sorted = |row: &[i32]| {
        let mut row = row.to_vec();
        row.sort_unstable();
        row
    };
    [
        rows("fold", kind, (elements, 4), fold, sum),
        rows("scan", kind, (elements, 8), scan, running_sums),
        rows("sort", kind, (elements, 8), sort, sorted),
    ]
}

/// A program over ragged rows, given by their elements and offsets.
type Rows = fn(Acc<Vector<i32>>, Acc<Vector<i64>>) -> Acc<Vector<i32>>;

fn rows(
    name: &str,
    kind: Kind,
    (elements, bytes): (usize, usize),
    program: Rows,
    expected: impl Fn(&[i32]) -> Vec<i32> + 'static,
) -> Workload {
    let lengths = if matches!(kind, Kind::Band) { "equal32" } else { kind.name() };
    Workload::new(format!("rows {name} {lengths}"), elements, bytes * elements, move |timing| {
        let (values, mut offsets, mut results) = (words(elements), vec![0], Vec::new());
        let mut start = 0;
        while start < elements {
            let row = offsets.len() - 1;
            let end = (start + kind.length(row, hash(row as u32, 1))).min(elements);
            results.extend(expected(&values[start..end]));
            offsets.push(end as i64);
            start = end;
        }
        let arguments = (Vector::from(values.as_slice()), Vector::from(offsets.as_slice()));
        timing.median(program, arguments, |found| check_exactly(&found, &results))
    })
}

fn running_sums(row: &[i32]) -> Vec<i32> {
    let sums = row.iter().scan(0i32, |sum, x| {
        *sum = sum.wrapping_add(*x);
        Some(*sum)
    });
    sums.collect()
}

/// Returns workloads that reduce reductions: few long ones, which are divided among threads, and the same as loops of a thread.
fn of_reductions(elements: i64) -> [Workload; 2] {
    let inner = elements / 1024;
    let workload = |name: &str, program: Nested| {
        Workload::new(format!("nested sums {name}"), elements as usize, 0, move |timing| {
            let xs: Vec<i64> = (0..64).collect();
            let sum = |x: i64, y: i64| (0..inner).map(|z| (x * 7 + y) ^ z).sum::<i64>();
            let expected: Vec<i64> = xs.iter().map(|x| (0..16).map(|y| sum(*x, y)).sum()).collect();
            timing.median(program, (Vector::from(xs), inner), |found| check_exactly(&found, &expected))
        })
    };
    [
        workload(
            "divided",
            |xs, inner| comp![sum![sum![(x * 7 + y) ^ z | z <- 0..inner] | y <- 0..16] | x <- xs],
        ),
        // What may not be computed stays where it is.
        workload(
            "as loops",
            |xs, inner| comp![sum![if y < 16 { sum![(x * 7 + y) ^ z | z <- 0..inner] } else { 0 } | y <- 0..16] | x <- xs],
        ),
    ]
}

/// A program over sources, and how many elements each inner reduction has.
type Nested = fn(Acc<Vector<i64>>, Exp<i64>) -> Acc<Vector<i64>>;

fn triples(limit: i64) -> Workload {
    Workload::new(format!("triples below {limit}"), limit as usize, 8, move |timing| {
        let squares = |x: i64, y: i64| (y..limit).filter(|z| x * x + y * y == z * z).count() as i64;
        let expected: i64 = (1..limit).flat_map(|x| (x..limit).map(move |y| squares(x, y))).sum();
        let program =
            |limit: Exp<i64>| count![x <- 1..limit, y <- x..limit, z <- y..limit, x * x + y * y == z * z];
        timing.median(program, limit, |found| check_exactly(&found, &[expected]))
    })
}
