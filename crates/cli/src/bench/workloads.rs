//! The workloads: programs, inputs, and expected results.

use super::expansions;
use super::fcl;
use super::first_run;
use super::inputs::uniform;
use super::irregular;
use super::matrices;
use super::neighbours;
use super::nested::{self, NestedSizes};
use super::overheads;
use super::programs::{self as whole_programs, ProgramSizes};
use super::reference::{self, check, check_all, check_length};
use super::sorting;
use super::sparse;
use super::streams;
use super::tables::{self, TableSizes};
use super::timing::Timing;
use pumice::f16;
use pumice::prelude::*;
use pumice_algorithms::{Program, Work};
use pumice_testing::programs;

/// A program that is measured.
pub struct Workload {
    /// Its name, here and in `benches/peers`.
    pub name: String,
    /// Elements of the input, or pixels of the picture.
    pub n: usize,
    /// Settings of fast math with which it is measured.
    pub fast_math: &'static [bool],
    /// The implementation, if there are several of ours.
    pub implementation: Option<&'static str>,
    measure: Box<Measure>,
}

/// Measurement of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The median time in milliseconds.
    pub median_ms: f64,
    /// Least work of the workload.
    pub work: Work,
}

/// Checks a workload and measures it.
type Measure = dyn Fn(&Timing) -> Result<Measured, String>;

impl Workload {
    pub(super) fn new(
        name: impl Into<String>,
        n: usize,
        fewest_bytes: usize,
        median: impl Fn(&Timing) -> Result<f64, String> + 'static,
    ) -> Workload {
        Workload::of_work(name, n, Work::Bytes(fewest_bytes), median)
    }

    /// Returns a workload whose speed is measured by this work.
    pub(super) fn of_work(
        name: impl Into<String>,
        n: usize,
        work: Work,
        median: impl Fn(&Timing) -> Result<f64, String> + 'static,
    ) -> Workload {
        Workload::measured(name, n, move |timing| {
            median(timing).map(|median_ms| Measured { median_ms, work })
        })
    }

    /// Returns a workload whose amount of work depends on its inputs.
    pub(super) fn measured(
        name: impl Into<String>,
        n: usize,
        measure: impl Fn(&Timing) -> Result<Measured, String> + 'static,
    ) -> Workload {
        let measure = Box::new(measure);
        Workload { name: name.into(), n, fast_math: &[false], implementation: None, measure }
    }

    /// Returns the workload as one by another implementation of ours.
    pub(super) fn by(self, implementation: &'static str) -> Workload {
        Workload { implementation: Some(implementation), ..self }
    }

    /// Returns the workload with and without fast math, for programs that compute more than they load.
    pub(super) fn with_fast_math(self) -> Workload {
        Workload { fast_math: &[false, true], ..self }
    }

    /// Measures it; an error if the result is wrong.
    pub fn measure(&self, timing: &Timing) -> Result<Measured, String> {
        (self.measure)(timing)
    }
}

/// Sizes of the inputs.
pub struct Sizes {
    vector: usize,
    options: usize,
    rows: &'static [[usize; 2]],
    side: usize,
    picture: usize,
    cube: usize,
    products: &'static [usize],
    sources: &'static [usize],
    sparse_rows: usize,
    triples: i64,
    nested: NestedSizes,
    tables: TableSizes,
    /// Rounds of loops, and the numbers of elements that they change.
    rounds: i64,
    looped: [usize; 2],
    programs: ProgramSizes,
    /// Chunks of a stream, of `options` each.
    chunks: usize,
    /// The side of a matrix that is decomposed in tiles.
    tiled: usize,
    /// Bytes of a text.
    text: usize,
}

impl Sizes {
    /// Returns sizes for a CPU: larger than its caches.
    pub fn cpu() -> Sizes {
        Sizes {
            vector: 1 << 24,
            options: 1 << 22,
            rows: &[[4096, 4096]],
            side: 4096,
            picture: 2048,
            cube: 256,
            products: &[1024],
            sources: &[200_000],
            sparse_rows: 1 << 17,
            triples: 1000,
            // The flags of this many odd numbers fit into a processor's first-level cache.
            nested: NestedSizes { limit: 100_000_000, stretch: 1 << 16, scale: 20, faces: 100_000 },
            tables: TableSizes { rows: 10_000_000, keys: [1000, 1_000_000], customers: 150_000 },
            rounds: 1000,
            looped: [1 << 20, 1000],
            programs: ProgramSizes { points: 1 << 20, bodies: 4096, pages: 1 << 20, grid: (512, 200) },
            chunks: 16,
            tiled: 4096,
            text: 100_000_000,
        }
    }

    /// Returns sizes for a GPU: larger than its caches, and rows from very short to very long.
    pub fn gpu() -> Sizes {
        const ROWS: [[usize; 2]; 5] =
            [[1 << 24, 4], [1 << 20, 64], [1 << 16, 1024], [8192, 8192], [64, 1 << 20]];
        Sizes {
            vector: 1 << 26,
            options: 1 << 24,
            rows: &ROWS,
            side: 8192,
            picture: 2048,
            cube: 512,
            products: &[1024, 2048, 4096],
            sources: &[200_000, 10_000_000],
            sparse_rows: 1 << 20,
            triples: 1000,
            nested: NestedSizes { limit: 100_000_000, stretch: 100_000_000, scale: 20, faces: 1_000_000 },
            tables: TableSizes { rows: 10_000_000, keys: [1000, 1_000_000], customers: 150_000 },
            rounds: 10_000,
            looped: [1 << 20, 1000],
            programs: ProgramSizes { points: 1 << 20, bodies: 1 << 14, pages: 1 << 20, grid: (2048, 200) },
            chunks: 64,
            tiled: 4096,
            text: 100_000_000,
        }
    }

    /// Returns small sizes, to see that everything works.
    pub fn quick() -> Sizes {
        Sizes {
            vector: 1 << 16,
            options: 1 << 14,
            rows: &[[256, 256]],
            side: 256,
            picture: 128,
            cube: 32,
            products: &[96],
            sources: &[1000],
            sparse_rows: 1 << 10,
            triples: 30,
            nested: NestedSizes { limit: 1000, stretch: 100, scale: 8, faces: 200 },
            tables: TableSizes { rows: 3000, keys: [10, 1000], customers: 30 },
            rounds: 20,
            looped: [5000, 100],
            programs: ProgramSizes { points: 1000, bodies: 64, pages: 1 << 8, grid: (32, 10) },
            chunks: 5,
            tiled: 64,
            text: 10_000,
        }
    }
}

/// Returns the kernel-language programs, in the sizes that they are measured in.
pub fn programs_in_sizes(quick: bool) -> Vec<Workload> {
    let sizes = |program: &Program| if quick { vec![program.small] } else { program.large.to_vec() };
    let workload = |(program, size): (Program, usize)| {
        Workload::measured(program.name, size, move |timing| timing.program(&program, size))
    };
    let all = pumice_algorithms::programs().into_iter();
    all.flat_map(|program| sizes(&program).into_iter().map(move |size| (program, size)))
        .map(workload)
        .collect()
}

/// The most elements that are sorted.
const SORTED: usize = 1 << 24;
/// The cap of Mandelbrot's iterations.
const CAP: i32 = 64;
const SAXPY_FACTOR: f32 = 2.5;

/// Returns the workloads; expansions and the sieve in all ways that are compared, or as they are by default.
pub fn workloads(sizes: &Sizes, all_ways: bool) -> Vec<Workload> {
    let mut all = vec![copy(sizes.vector), saxpy(sizes.vector), dot(sizes.vector), sum(sizes.vector)];
    all.extend(sums_of_small_numbers(sizes.vector));
    all.extend(sizes.rows.iter().map(|[rows, columns]| row_sums(*rows, *columns)));
    all.extend([black_scholes(sizes.options), mandelbrot(sizes.picture), transpose(sizes.side)]);
    all.extend(irregular::workloads(sizes.vector, sizes.rows, sizes.text));
    all.extend(neighbours::workloads(sizes.vector, sizes.side, sizes.cube));
    all.extend(sorting::workloads(sizes.vector.min(SORTED)));
    all.extend(matrices::workloads(sizes.products));
    all.extend(expansions::workloads(sizes.sources, all_ways));
    all.extend(sparse::workloads(sizes.sparse_rows, sizes.vector.min(SORTED), sizes.triples));
    all.extend(nested::workloads(sizes.nested, all_ways));
    all.extend(tables::workloads(sizes.tables));
    all.extend(first_run::workloads());
    all.extend(overheads::workloads(sizes.rounds, sizes.looped));
    all.extend(whole_programs::workloads(sizes.vector, sizes.programs));
    all.extend(streams::workloads(sizes.chunks, sizes.options));
    all.extend(fcl::workloads(sizes.tiled));
    all
}

pub(super) fn matrix(rows: usize, columns: usize, values: &[f32]) -> Result<Matrix<f32>, String> {
    Array::from_slice([rows, columns], values).map_err(|error| error.to_string())
}

fn copy(n: usize) -> Workload {
    Workload::new("copy f32", n, 8 * n, move |timing| {
        let xs = uniform(n, 0);
        let program = |xs: Acc<Vector<f32>>| xs.map(|x| x);
        let arguments = Vector::from(xs.as_slice());
        timing.median(program, arguments, |found| check_all(&found, n, 0.0, |i| f64::from(xs[i])))
    })
}

fn saxpy(n: usize) -> Workload {
    Workload::new("saxpy f32", n, 12 * n, move |timing| {
        let (xs, ys) = (uniform(n, 0), uniform(n, 1));
        let arguments = (SAXPY_FACTOR, Vector::from(xs.as_slice()), Vector::from(ys.as_slice()));
        let expected = |i: usize| f64::from(SAXPY_FACTOR) * f64::from(xs[i]) + f64::from(ys[i]);
        timing.median(programs::saxpy, arguments, |found| check_all(&found, n, 1e-6, expected))
    })
}

fn dot(n: usize) -> Workload {
    Workload::new("dot f32", n, 8 * n, move |timing| {
        let (xs, ys) = (uniform(n, 0), uniform(n, 1));
        let expected: f64 = xs.iter().zip(&ys).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
        let arguments = (Vector::from(xs.as_slice()), Vector::from(ys.as_slice()));
        timing.median(programs::dotp, arguments, |found| check_all(&found, 1, 1e-4, |_| expected))
    })
}

fn sum(n: usize) -> Workload {
    Workload::new("sum f32", n, 4 * n, move |timing| {
        let xs = uniform(n, 0);
        let expected: f64 = xs.iter().map(|x| f64::from(*x)).sum();
        let program = |xs: Acc<Vector<f32>>| xs.sum();
        timing.median(program, Vector::from(xs.as_slice()), |found| check_all(&found, 1, 1e-4, |_| expected))
    })
}

/// Returns workloads that add up as many bytes as `n` `f32` have, as `u8` and as `f16`, in a wider type.
fn sums_of_small_numbers(n: usize) -> [Workload; 2] {
    let bytes = Workload::new("sum u8", 4 * n, 4 * n, move |timing| {
        let xs: Vec<u8> = (0..4 * n as u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
        let expected: u64 = xs.iter().map(|x| u64::from(*x)).sum();
        let program = |xs: Acc<Vector<u8>>| xs.sum_as::<u64, _>();
        timing.median(program, Vector::from(xs), |found| match found[..] {
            [found] if found == expected => Ok(()),
            _ => Err(format!("expected {expected}, found {found:?}")),
        })
    });
    let halves = Workload::new("sum f16", 2 * n, 4 * n, move |timing| {
        // Small whole numbers, which `f16` represents exactly.
        let xs: Vec<f16> = (0..2 * n as u32).map(|i| f16::from_f32((i % 8) as f32)).collect();
        let expected: f64 = xs.iter().map(|x| f64::from(f32::from(*x))).sum();
        let program = |xs: Acc<Vector<f16>>| xs.sum_as::<f32, _>();
        timing.median(program, Vector::from(xs), |found| check_all(&found, 1, 1e-4, |_| expected))
    });
    [bytes, halves]
}

fn row_sums(rows: usize, columns: usize) -> Workload {
    let n = rows * columns;
    Workload::new(format!("row sums f32 {rows}x{columns}"), n, 4 * n + 4 * rows, move |timing| {
        let xs = uniform(n, 0);
        let row = |row: usize| &xs[row * columns..(row + 1) * columns];
        let expected = |i: usize| row(i).iter().map(|x| f64::from(*x)).sum();
        let arguments = matrix(rows, columns, &xs)?;
        timing.median(programs::row_sums, arguments, |found| check_all(&found, rows, 1e-5, expected))
    })
}

fn black_scholes(n: usize) -> Workload {
    Workload::new("black-scholes f32", n, 20 * n, move |timing| {
        let (xs, ys, zs) = (uniform(n, 0), uniform(n, 1), uniform(n, 2));
        let arguments =
            (Vector::from(xs.as_slice()), Vector::from(ys.as_slice()), Vector::from(zs.as_slice()));
        timing.median(programs::black_scholes_scaled, arguments, |found| {
            check_length(&found, n)?;
            found.iter().enumerate().try_for_each(|(i, (call, put))| {
                let expected = reference::black_scholes(xs[i], ys[i], zs[i]);
                // Prices go up to 100, and are differences of numbers of that size.
                check(&format!("call {i}"), *call, 5e-5, expected.0)?;
                check(&format!("put {i}"), *put, 5e-5, expected.1)
            })
        })
    })
    .with_fast_math()
}

fn mandelbrot(side: usize) -> Workload {
    let n = side * side;
    Workload::new(format!("mandelbrot {side}x{side} cap {CAP}"), n, 4 * n, move |timing| {
        let extent = side as i64;
        let program = |width: Exp<i64>, height: Exp<i64>| programs::mandelbrot(width, height, CAP.into());
        timing.median(program, (extent, extent), |found| {
            check_length(&found, n)?;
            // Near the edge of the set, a difference in the last bit changes the count, so a few points may differ.
            let is_wrong =
                |(i, count): &(usize, &i32)| **count != reference::mandelbrot(i / side, i % side, side, CAP);
            let wrong = found.iter().enumerate().filter(is_wrong).count();
            if wrong * 200 <= n { Ok(()) } else { Err(format!("{wrong} of {n} counts are wrong")) }
        })
    })
    .with_fast_math()
}

fn transpose(side: usize) -> Workload {
    let n = side * side;
    Workload::new(format!("transpose f32 {side}x{side}"), n, 8 * n, move |timing| {
        let xs = uniform(n, 0);
        let program = |xs: Acc<Matrix<f32>>| xs.transpose();
        let expected = |i: usize| f64::from(xs[i % side * side + i / side]);
        timing.median(program, matrix(side, side, &xs)?, |found| check_all(&found, n, 0.0, expected))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_are_those_of_the_peers() {
        let all = workloads(&Sizes::gpu(), false);
        let size = |name: &str| all.iter().find(|workload| workload.name == name).map(|workload| workload.n);
        assert_eq!(size("saxpy f32"), Some(1 << 26));
        assert_eq!(size("row sums f32 16777216x4"), Some(1 << 26));
        assert_eq!(size("black-scholes f32"), Some(1 << 24));
        assert_eq!(size("mandelbrot 2048x2048 cap 64"), Some(1 << 22));
        assert_eq!(size("transpose f32 8192x8192"), Some(1 << 26));
        assert_eq!(size("row prefix sums f32 1048576x64"), Some(1 << 26));
        assert_eq!(workloads(&Sizes::cpu(), false).len(), 87);
    }

    /// The simulator's speed means nothing to `pumice bench`, but results must be right there too.
    #[test]
    fn whole_programs_loops_and_streams_are_right_on_the_simulator() -> pumice::Result<()> {
        let sizes = Sizes::quick();
        let mut all = whole_programs::workloads(1000, sizes.programs);
        all.extend(overheads::workloads(sizes.rounds, [300, 1]));
        all.extend(streams::workloads(sizes.chunks, 100));
        all.extend(fcl::workloads(64));
        let timing = Timing::new(pumice::Compiler::on("sim")?, true);
        for workload in all {
            let measured = workload.measure(&timing);
            assert!(measured.is_ok_and(|measured| measured.median_ms > 0.0), "{}", workload.name);
        }
        Ok(())
    }
}
