//! The example programs, which `pumice emit` prints, benches measure and snapshots record.
//!
//! They are written as a user would write them, and use none of the layers below.

use pumice::layers::array::{ArrayProgram, CheckedProgram, Described, Error, Knowledge, Plan, PlanOptions};
use pumice::layers::kernel::Profile;
use pumice::layers::scalar::{Constant, scope};
use pumice::prelude::*;
use pumice::{Boundary, Function, Place, Segments, concat};
use std::collections::HashMap;
use std::sync::Arc;

/// Computes the dot product of two vectors.
pub fn dotp(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Scalar<f32>> {
    xs.zip_with(ys, |x, y| x * y).fold(0.0, |a, b| a + b)
}

/// Computes `a * xs + ys`.
pub fn saxpy(a: Exp<f32>, xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    xs.zip_with(ys, |x, y| a * x + y)
}

/// Adds up each row of a matrix.
pub fn row_sums(m: Acc<Matrix<f32>>) -> Acc<Vector<f32>> {
    m.sum()
}

/// Adds up each column of a matrix.
pub fn column_sums(m: Acc<Matrix<f32>>) -> Acc<Vector<f32>> {
    m.transpose().sum()
}

/// Multiplies a matrix with a vector.
pub fn matrix_vector(m: Acc<Matrix<f32>>, v: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    let (rows, _) = m.shape();
    m.zip_with(v.replicate_rows(rows), |a, x| a * x).sum()
}

/// Computes the squared distances between the rows of two matrices: a matrix product written as a pattern of other operations.
pub fn distances(a: Acc<Matrix<f32>>, b: Acc<Matrix<f32>>) -> Acc<Matrix<f32>> {
    let ((ours, _), (theirs, _)) = (a.shape(), b.shape());
    let (a, b) = (a.replicate((All, theirs, All)), b.replicate((ours, All, All)));
    a.zip_with(b, |x, y| (x - y) * (x - y)).sum()
}

/// Concatenates three vectors, one of them mapped.
pub fn joined(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>, zs: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    concat(0, [xs, ys.map(|y| y * 2.0), zs])
}

/// Computes the running sums of a vector.
pub fn prefix_sums(xs: Acc<Vector<i32>>) -> Acc<Vector<i32>> {
    xs.scanl1(|a, b| a + b)
}

/// Filters the multiples of four.
pub fn select(xs: Acc<Vector<i32>>) -> Acc<Vector<i32>> {
    xs.filter(|x| (x & 3).eq(0))
}

/// Counts how many ranges cover each of 100 places. A range is its first place and its length.
pub fn covered(stretches: Acc<Vector<(i64, i64)>>) -> Acc<Vector<u32>> {
    stretches.expand(|(_, count)| count, |(first, _), number| first + number).histogram(100, |place| place)
}

/// Multiplies a sparse matrix with a vector. The matrix is its values, their columns, and the offset of each row.
pub fn sparse_vector(
    values: Acc<Vector<f32>>,
    columns: Acc<Vector<i32>>,
    offsets: Acc<Vector<i64>>,
    v: Acc<Vector<f32>>,
) -> Acc<Vector<f32>> {
    let products = values.zip_with(columns, move |value, column| value * v.at(column.cast::<i64>()));
    products.fold_segments(Segments::Offsets(offsets), 0.0, |a, b| a + b)
}

/// Sorts numbers in ascending order.
pub fn sorted(xs: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    xs.sort()
}

/// Averages each element of a matrix and its eight neighbours.
pub fn blur(m: Acc<Matrix<f32>>) -> Acc<Matrix<f32>> {
    m.stencil(Boundary::Clamp, |near| {
        let around = (-1..=1).flat_map(|i| (-1..=1).map(move |j| [i, j]));
        let sum = around.map(|offsets| near.at(offsets)).reduce(|a, b| a + b);
        sum.map_or(constant(0f32), |sum| sum * (1.0 / 9.0))
    })
}

/// Adds up each element of a cube and the six with which it shares a face.
pub fn faces(xs: Acc<Array<Dim3, f32>>) -> Acc<Array<Dim3, f32>> {
    xs.stencil(Boundary::Clamp, |near| {
        let along = |axis: usize, step: i64| {
            let mut offsets = [0; 3];
            offsets[axis] = step;
            near.at(offsets)
        };
        (0..3).fold(near.at([0; 3]), |sum, axis| sum + along(axis, -1) + along(axis, 1))
    })
}

/// Counts how often each number occurs, modulo 256.
pub fn bins(xs: Acc<Vector<i32>>) -> Acc<Vector<u32>> {
    xs.histogram(256, |x| (x & 255).cast::<i64>())
}

/// The annual interest rate of [`black_scholes`].
pub const RISK_FREE: f32 = 0.02;
/// The volatility of [`black_scholes`].
pub const VOLATILITY: f32 = 0.3;
/// The polynomial of [`black_scholes`]'s normal distribution, lowest power first; there is no constant term.
pub const COEFFICIENTS: [f32; 5] = [0.319_381_53, -0.356_563_78, 1.781_477_9, -1.821_255_9, 1.330_274_5];
/// One over the square root of two pi.
pub const RSQRT_2PI: f32 = 0.398_942_3;

/// Approximates the cumulative normal distribution by a polynomial: `cnd'` of the Accelerate paper, section 6.3, is
/// `tail` here, and is used on both sides.
fn cumulative_normal(d: Exp<f32>) -> Exp<f32> {
    let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
    let polynomial = COEFFICIENTS.iter().rev().fold(constant(0f32), |sum, c| (sum + *c) * k);
    let tail = RSQRT_2PI * (-0.5 * d * d).exp() * polynomial;
    d.gt(0.0).select(1.0 - tail, tail)
}

fn price(price: Exp<f32>, strike: Exp<f32>, years: Exp<f32>) -> (Exp<f32>, Exp<f32>) {
    let spread = VOLATILITY * years.sqrt();
    let drift = RISK_FREE + 0.5 * VOLATILITY * VOLATILITY;
    let d1 = ((price / strike).ln() + drift * years) / spread;
    let d2 = d1 - spread;
    let (n1, n2) = (cumulative_normal(d1), cumulative_normal(d2));
    let discounted = strike * (-RISK_FREE * years).exp();
    (price * n1 - discounted * n2, discounted * (1.0 - n2) - price * (1.0 - n1))
}

/// Prices call and put options by the formula of Black and Scholes, from (price, strike, years).
pub fn black_scholes(options: Acc<Vector<(f32, f32, f32)>>) -> Acc<Vector<(f32, f32)>> {
    options.map(|(stock, strike, years)| price(stock, strike, years))
}

/// Runs [`black_scholes`] on numbers between 0 and 1, which are scaled to prices of 5 to 30, strikes of 1 to 100 and terms of
/// a quarter to ten years.
pub fn black_scholes_scaled(
    xs: Acc<Vector<f32>>,
    ys: Acc<Vector<f32>>,
    zs: Acc<Vector<f32>>,
) -> Acc<Vector<(f32, f32)>> {
    xs.zip_with3(ys, zs, |x, y, z| price(x * 25.0 + 5.0, y * 99.0 + 1.0, z * 9.75 + 0.25))
}

/// Counts, for every pixel of the view from -2 - i to 1 + i, the applications of `z² + c` until `z` escapes, up to `cap`.
pub fn mandelbrot(width: Exp<i64>, height: Exp<i64>, cap: Exp<i32>) -> Acc<Matrix<i32>> {
    generate((height, width), |(i, j)| {
        let cx = -2.0 + 3.0 * j.cast::<f32>() / width.cast::<f32>();
        let cy = -1.0 + 2.0 * i.cast::<f32>() / height.cast::<f32>();
        let (_, _, count) = while_(
            (constant(0f32), constant(0f32), constant(0i32)),
            |(x, y, count)| count.lt(cap) & (x * x + y * y).le(4.0),
            |(x, y, count)| (x * x - y * y + cx, 2.0 * x * y + cy, count + 1),
        );
        count
    })
}

/// A program with arguments of typical sizes, so that it can be planned and emitted without any data.
pub struct Example {
    /// Name on the command line.
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
    /// Its result.
    pub root: Arc<Described>,
    /// The extents of its array arguments, by argument number.
    pub extents: HashMap<u32, Vec<usize>>,
    /// Its scalar arguments, by argument number; the values at the numbers of arrays are not used.
    pub scalars: Vec<Constant>,
}

impl Example {
    #[track_caller]
    fn new<P, D: Shape, T: Elt>(
        name: &'static str,
        about: &'static str,
        program: impl Function<P, Result = Acc<Array<D, T>>>,
        extents: &[(u32, &[usize])],
        scalars: &[Constant],
    ) -> Example {
        let place = Place::caller("argument");
        let root = scope(|| program.describe_at(place).described().clone());
        let extents = extents.iter().map(|(number, extents)| (*number, extents.to_vec())).collect();
        Example { name, about, root, extents, scalars: scalars.to_vec() }
    }

    /// Returns the program in the array language's text form.
    pub fn describe(&self) -> String {
        ArrayProgram::of(std::slice::from_ref(&self.root)).to_string()
    }

    /// Plans the program for a device with this profile.
    pub fn plan(&self, profile: &Profile, options: &PlanOptions) -> Result<Plan, Error> {
        let program = CheckedProgram::new(ArrayProgram::of(std::slice::from_ref(&self.root)))?;
        Plan::new(&program, profile, &Knowledge::of(self.extents.clone(), &self.scalars), options)
    }
}

/// Returns every example.
pub fn examples() -> Vec<Example> {
    let n: &[usize] = &[1 << 24];
    let square: &[usize] = &[4096, 4096];
    let side = Constant::from(2048i64);
    vec![
        Example::new("dotp", "the dot product of two vectors", dotp, &[(0, n), (1, n)], &[]),
        Example::new("saxpy", "a * xs + ys", saxpy, &[(1, n), (2, n)], &[2.5f32.into()]),
        Example::new("row_sums", "the sum of each row of a matrix", row_sums, &[(0, square)], &[]),
        Example::new("column_sums", "the sum of each column of a matrix", column_sums, &[(0, square)], &[]),
        Example::new(
            "matrix_vector",
            "a matrix times a vector",
            matrix_vector,
            &[(0, square), (1, &[4096])],
            &[],
        ),
        Example::new(
            "distances",
            "squared distances of the rows of two matrices",
            distances,
            &[(0, square), (1, square)],
            &[],
        ),
        Example::new("joined", "three vectors one after the other", joined, &[(0, n), (1, n), (2, n)], &[]),
        Example::new("prefix_sums", "the running sums of a vector", prefix_sums, &[(0, n)], &[]),
        Example::new("select", "the multiples of four among some numbers", select, &[(0, n)], &[]),
        Example::new("covered", "how many of some stretches each place is in", covered, &[(0, n)], &[]),
        Example::new(
            "sparse_vector",
            "a sparse matrix times a vector",
            sparse_vector,
            &[(0, n), (1, n), (2, &[(1 << 19) + 1]), (3, &[1 << 19])],
            &[],
        ),
        Example::new("bins", "how often each number occurs, modulo 256", bins, &[(0, n)], &[]),
        Example::new("sorted", "numbers in rising order", sorted, &[(0, n)], &[]),
        Example::new("blur", "the mean of each 3×3 neighbourhood of a matrix", blur, &[(0, square)], &[]),
        Example::new("faces", "a seven-point stencil on a cube", faces, &[(0, &[512; 3])], &[]),
        Example::new("black_scholes", "prices of call and put options", black_scholes, &[(0, n)], &[]),
        Example::new(
            "mandelbrot",
            "how fast points of the plane escape",
            mandelbrot,
            &[],
            &[side, side, 64i32.into()],
        ),
    ]
}

/// Returns the example with this name.
pub fn example(name: &str) -> Option<Example> {
    examples().into_iter().find(|example| example.name == name)
}
