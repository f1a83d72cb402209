//! Fourier transforms of the rows of a matrix, of any length: by factors of the length where all are small, and otherwise as a
//! convolution of a length that is a power of two. `matrix.in_dimension(0, fft::forward)` transforms columns.
//!
//! Every pass is Stockham's: it reads elements far apart and writes them side by side, so that nothing is put in order before or after.

pub use num_complex::Complex;
use pumice::prelude::*;
use pumice::{ComplexExp, Float};

/// The largest factor that is a pass of its own. A pass costs as many multiplications for each element.
const LARGEST_FACTOR: i64 = 13;

/// Returns the transform of each row: `Σ x[j]·exp(-2πi·jk/n)` for each k.
///
/// ```
/// use pumice_algorithms::whole::fft;
/// let forward = pumice::Compiler::on("sim")?.compile(fft::forward::<f64>)?;
/// let row = pumice::Matrix::from([[1.0, 0.0, 0.0].map(fft::Complex::from)]);
/// assert_eq!(forward.run(&row)?.to_vec()?, [fft::Complex::from(1.0); 3]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn forward<T: Float>(rows: Acc<Matrix<Complex<T>>>) -> Acc<Matrix<Complex<T>>> {
    transformed(rows, -1.0)
}

/// Returns the inverse transform of each row.
///
/// ```
/// use pumice_algorithms::whole::fft;
/// let inverse = pumice::Compiler::on("sim")?.compile(fft::inverse::<f64>)?;
/// let row = pumice::Matrix::from([[fft::Complex::new(3.0, 1.0), fft::Complex::new(1.0, 1.0)]]);
/// let found = inverse.run(&row)?.to_vec()?;
/// assert!((found[0] - fft::Complex::new(2.0, 1.0)).norm() < 1e-9 && (found[1] - 1.0).norm() < 1e-9);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn inverse<T: Float>(rows: Acc<Matrix<Complex<T>>>) -> Acc<Matrix<Complex<T>>> {
    let scale = number::<T>(1.0) / rows.shape().1.cast::<T>();
    transformed(rows, 1.0).map(|x| x * scale)
}

/// The transform with this sign in the exponent, and without a scale.
fn transformed<T: Float>(rows: Acc<Matrix<Complex<T>>>, sign: f64) -> Acc<Matrix<Complex<T>>> {
    let (_, length) = rows.shape();
    let is_smooth = unit(largest_factor(length).le(LARGEST_FACTOR));
    acond(is_smooth, || by_factors(rows.clone(), sign), || by_convolution(rows.clone(), sign))
}

/// Passes for the factors of the length, the smallest first.
fn by_factors<T: Float>(rows: Acc<Matrix<Complex<T>>>, sign: f64) -> Acc<Matrix<Complex<T>>> {
    let (_, length) = rows.shape();
    let roots = generate(length, |k| root(k, length, sign));
    let (rows, _) = awhile(
        (rows, unit(1)),
        |(_, stride)| stride.map(|stride| stride.lt(length)),
        |(rows, stride)| {
            let factor = stride.clone().map(|stride| factor(length / stride));
            let next = stride.clone().zip_with(factor.clone(), |stride, factor| stride * factor);
            (pass(rows, &roots, stride.the(), factor.the()), next)
        },
    );
    rows
}

/// Passes by two, of a length that is a power of two.
fn by_two<T: Float>(rows: Acc<Matrix<Complex<T>>>, sign: f64) -> Acc<Matrix<Complex<T>>> {
    let (_, length) = rows.shape();
    let passes = 63 - (length | 1).leading_zeros().cast::<i64>();
    let roots = generate(length, |k| root(k, length, sign));
    let (rows, _) = iterate(passes, (rows, unit(1)), |(rows, stride)| {
        (pass(rows, &roots, stride.the(), constant(2)), stride.map(|stride| stride * 2))
    });
    rows
}

/// One pass, with the roots of unity for the whole length: `stride` transforms, one in between the other, of length n, become
/// `stride · factor` of length n / factor.
fn pass<T: Float>(
    rows: Acc<Matrix<Complex<T>>>,
    roots: &Acc<Vector<Complex<T>>>,
    stride: Exp<i64>,
    factor: Exp<i64>,
) -> Acc<Matrix<Complex<T>>> {
    let (_, length) = rows.shape();
    let n = length / stride;
    let part = n / factor;
    rows.clone().imap(|(row, i), _| {
        let (q, rest) = (i % stride, i / stride);
        let (p, k) = (rest / factor, rest % factor);
        let term = |j: Exp<i64>| {
            let number = p + part * j;
            rows.at((row, q + stride * number)) * roots.at(k * number % n * stride)
        };
        for_(constant(0)..factor, zero(), |j, sum| sum + term(j))
    })
}

/// Transforms by a convolution after Bluestein: jk is (j² + k² - (j - k)²) / 2.
fn by_convolution<T: Float>(rows: Acc<Matrix<Complex<T>>>, sign: f64) -> Acc<Matrix<Complex<T>>> {
    let (height, length) = rows.shape();
    let padded = constant(1i64) << (64 - (length * 2 - 2).leading_zeros().cast::<i64>());
    let chirp = move |k: Exp<i64>, sign: f64| root(k * k % (length * 2), length * 2, sign);
    let modulated = generate((height, padded), |(row, j)| {
        cond(j.lt(length), || rows.at((row, j)) * chirp(j, sign), zero)
    });
    let chirps = generate((1, padded), |(_, j)| chirp(j.min(padded - j), -sign));
    let kernel = by_two(chirps, -1.0);
    let product = by_two(modulated, -1.0).imap(|(_, k), x| x * kernel.at((constant(0i64), k)));
    let convolved = by_two(product, 1.0);
    let scale = number::<T>(1.0) / padded.cast::<T>();
    generate((height, length), |(row, k)| convolved.at((row, k)) * chirp(k, sign) * scale)
}

/// A factor for the next pass, which is not 1: two twos at once, or the smallest.
fn factor(n: Exp<i64>) -> Exp<i64> {
    let smallest = while_(constant(2i64), |f| (n % f).ne(0) & (f * f).lt(n), |f| f + 1);
    (n % 4).eq(0).select(constant(4), (n % smallest).eq(0).select(smallest, n))
}

/// The largest prime factor of a number; of 0 and 1, which have none, 1.
fn largest_factor(n: Exp<i64>) -> Exp<i64> {
    let (rest, _) = while_(
        (n, constant(2i64)),
        |(rest, f)| (f * f).le(rest),
        |(rest, f)| {
            let divides = (rest % f).eq(0);
            (divides.select(rest / f, rest), divides.select(f, f + 1))
        },
    );
    rest.max(1)
}

/// A root of unity: exp(±2πi·k/n).
fn root<T: Float>(k: Exp<i64>, n: Exp<i64>, sign: f64) -> ComplexExp<T> {
    let angle = number::<T>(sign * std::f64::consts::TAU) * (k.cast::<T>() / n.cast::<T>());
    ComplexExp::new(angle.cos(), angle.sin())
}

fn zero<T: Float>() -> ComplexExp<T> {
    ComplexExp::new(number(0.0), number(0.0))
}

/// A constant of any float type.
fn number<T: Float>(value: f64) -> Exp<T> {
    constant(value).cast()
}

/// The same in plain Rust, by the definition.
pub mod plain {
    use super::Complex;
    use crate::irregular::Numbers;

    /// Numbers between -1 and 1.
    pub fn values(count: usize, seed: u64) -> Vec<Complex<f64>> {
        let mut numbers = Numbers::new(seed);
        let mut value = || numbers.between(-1000, 1001) as f64 / 1000.0;
        (0..count).map(|_| Complex::new(value(), value())).collect()
    }

    /// The transform of each row of this length.
    pub fn forward(rows: &[Complex<f64>], length: usize) -> Vec<Complex<f64>> {
        let turn = -std::f64::consts::TAU / length as f64;
        let roots: Vec<Complex<f64>> = (0..length).map(|k| Complex::cis(turn * k as f64)).collect();
        let at = |row: &[Complex<f64>], k: usize| -> Complex<f64> {
            row.iter().enumerate().map(|(j, x)| x * roots[j * k % length]).sum()
        };
        let rows = rows.chunks_exact(length.max(1));
        rows.flat_map(|row| (0..length).map(|k| at(row, k)).collect::<Vec<_>>()).collect()
    }
}
