//! Random numbers: each is a function of a seed and of its place in the array, so that every device gives the same bits, in whatever
//! order it computes them, and an array that is computed twice is the same twice. With fast math, floats may differ.
//!
//! The function is Philox with four words of 32 bits and ten rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
//! easy as 1, 2, 3", 2011). Nothing here is for secrets.

use crate::acc::Acc;
use crate::create::numbered;
use crate::data::Array;
use crate::shape::IntoShape;
use pumice_scalar::{Exp, Float, Integer, Number, Place, cond, constant};

const ROUNDS: u32 = 10;
const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The four words for a counter and a key.
fn philox([mut a, mut b, mut c, mut d]: [Exp<u32>; 4], key: [Exp<u32>; 2]) -> [Exp<u32>; 4] {
    for round in 0..ROUNDS {
        let [left, right] = [0, 1].map(|half| key[half] + KEY_STEPS[half].wrapping_mul(round));
        let (first, second) = (a.cast::<u64>() * MULTIPLIERS[0], c.cast::<u64>() * MULTIPLIERS[1]);
        (a, b, c, d) = (high(second) ^ b ^ left, low(second), high(first) ^ d ^ right, low(first));
    }
    [a, b, c, d]
}

fn low(word: Exp<u64>) -> Exp<u32> {
    (word & u64::from(u32::MAX)).cast::<u32>()
}

fn high(word: Exp<u64>) -> Exp<u32> {
    (word >> 32).cast::<u32>()
}

/// 64 random bits for an element's number.
fn bits(seed: Exp<u64>, number: Exp<i64>) -> Exp<u64> {
    let (number, zero) = (number.cast::<u64>(), constant(0u32));
    let [a, b, ..] = philox([low(number), high(number), zero, zero], [low(seed), high(seed)]);
    (b.cast::<u64>() << 32) | a.cast::<u64>()
}

/// The number that [`uniform`] has at a place of its array, counted row by row.
///
/// ```
/// use pumice_array::random::uniform_at;
/// use pumice_scalar::{Exp, ScalarType};
/// assert_eq!(uniform_at::<f32>(Exp::from(42), Exp::from(0)).term().ty(), ScalarType::F32);
/// ```
pub fn uniform_at<T: Random>(seed: Exp<u64>, number: Exp<i64>) -> Exp<T> {
    T::from_random_bits(bits(seed, number))
}

/// The integer that [`integers`] has at a place of its array, counted row by row.
///
/// ```
/// use pumice_array::random::integer_at;
/// use pumice_scalar::{Exp, ScalarType};
/// let throw = integer_at::<i32>(Exp::from(7), Exp::from(1), Exp::from(7), Exp::from(0));
/// assert_eq!(throw.term().ty(), ScalarType::I32);
/// ```
pub fn integer_at<T: Integer>(seed: Exp<u64>, low: Exp<T>, high: Exp<T>, number: Exp<i64>) -> Exp<T> {
    let range = high.gt(low).select(high.cast::<u64>() - low.cast::<u64>(), constant(0u64));
    (low.cast::<u64>() + high_product(bits(seed, number), range)).cast::<T>()
}

/// The number that [`normal`] has at a place of its array, counted row by row.
///
/// ```
/// use pumice_array::random::normal_at;
/// use pumice_scalar::{Exp, ScalarType};
/// assert_eq!(normal_at::<f64>(Exp::from(1), Exp::from(0)).term().ty(), ScalarType::F64);
/// ```
pub fn normal_at<T: Float>(seed: Exp<u64>, number: Exp<i64>) -> Exp<T> {
    // Between 0 and 1, and never either of them.
    let uniform = ((bits(seed, number) >> 12).cast::<f64>() + 0.5) * (1.0 / (1u64 << 52) as f64);
    normal_quantile(uniform).cast::<T>()
}

/// A type of which there are random numbers.
///
/// ```
/// use pumice::random::{Random, uniform};
/// use pumice::{Acc, Vector, run};
/// fn three<T: Random>(seed: u64) -> Acc<Vector<T>> {
///     uniform(3, seed)
/// }
/// assert_eq!(run(three::<i32>(42))?.len(), 3);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait Random: Number {
    /// A number from 64 random bits.
    fn from_random_bits(bits: Exp<u64>) -> Exp<Self>;
}

macro_rules! random {
    ($($ty:ident: $from:expr;)*) => { $(
        impl Random for $ty {
            fn from_random_bits(bits: Exp<u64>) -> Exp<$ty> {
                let from: fn(Exp<u64>) -> Exp<$ty> = $from;
                from(bits)
            }
        }
    )* };
}
random! {
    f32: |bits| (bits >> 40).cast::<f32>() * (1.0 / (1u64 << 24) as f32);
    f64: |bits| (bits >> 11).cast::<f64>() * (1.0 / (1u64 << 53) as f64);
    u64: |bits| bits;
    i64: |bits| bits.cast::<i64>();
    u32: high;
    i32: |bits| high(bits).cast::<i32>();
}

/// An array of numbers that are all equally likely: floats from 0 up to 1, of which 1 itself is none; of integers every one that there
/// is.
///
/// ```
/// use pumice::*;
/// let xs = run(random::uniform::<f32, _>(1000, 42u64))?.to_vec()?;
/// assert!(xs.iter().all(|x| (0.0..1.0).contains(x)));
/// // The same seed gives the same numbers, on every device.
/// assert_eq!(run(random::uniform::<u32, _>(3, 42u64))?.to_vec()?, [2012563771, 1404726525, 2827443659]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn uniform<T: Random, S: IntoShape>(shape: S, seed: impl Into<Exp<u64>>) -> Acc<Array<S::Dim, T>> {
    let seed = seed.into();
    numbered(shape, |number| uniform_at(seed, number), Place::caller("uniform"))
}

/// An array of integers from `low` up to `high`, all equally likely (to within 2⁻⁶⁴ times their number); `high` itself is none of
/// them. Where `high` is not larger than `low`, all are `low`.
///
/// ```
/// use pumice::*;
/// let throws = run(random::integers(600, 7u64, 1, 7))?.to_vec()?;
/// assert!((1..7).all(|number| throws.iter().filter(|throw| **throw == number).count() > 60));
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn integers<T: Integer, S: IntoShape>(
    shape: S,
    seed: impl Into<Exp<u64>>,
    low: impl Into<Exp<T>>,
    high: impl Into<Exp<T>>,
) -> Acc<Array<S::Dim, T>> {
    let (seed, low, high) = (seed.into(), low.into(), high.into());
    numbered(shape, |number| integer_at(seed, low, high, number), Place::caller("integers"))
}

/// The high half of the product of two numbers.
fn high_product(a: Exp<u64>, b: Exp<u64>) -> Exp<u64> {
    let half = u64::from(u32::MAX);
    let ([a_low, a_high], [b_low, b_high]) = ([a & half, a >> 32], [b & half, b >> 32]);
    let (one, other) = (a_low * b_high, a_high * b_low);
    let carry = ((a_low * b_low) >> 32) + (one & half) + (other & half);
    a_high * b_high + (one >> 32) + (other >> 32) + (carry >> 32)
}

/// An array of numbers of the normal distribution with mean 0 and variance 1. The quantile of a uniform number, to nine digits;
/// only operations that are rounded in the same way everywhere are used.
///
/// ```
/// use pumice::*;
/// let xs = random::normal::<f64, _>(10_000, 1u64);
/// let (mean, variance) = (run(xs.clone().mean())?.to_value()?, run(xs.variance())?.to_value()?);
/// assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn normal<T: Float, S: IntoShape>(shape: S, seed: impl Into<Exp<u64>>) -> Acc<Array<S::Dim, T>> {
    let seed = seed.into();
    numbered(shape, |number| normal_at(seed, number), Place::caller("normal"))
}

/// Probability at which the tails of the approximation begin.
const TAIL: f64 = 0.02425;
// Coefficients of Acklam's rational approximation of the normal quantile, highest power first.
const CENTRE: [f64; 6] = [
    -3.969_683_028_665_376e1,
    2.209_460_984_245_205e2,
    -2.759_285_104_469_687e2,
    1.383_577_518_672_69e2,
    -3.066_479_806_614_716e1,
    2.506_628_277_459_239,
];
const CENTRE_BELOW: [f64; 6] = [
    -5.447_609_879_822_406e1,
    1.615_858_368_580_409e2,
    -1.556_989_798_598_866e2,
    6.680_131_188_771_972e1,
    -1.328_068_155_288_572e1,
    1.0,
];
const TAILS: [f64; 6] = [
    -7.784_894_002_430_293e-3,
    -3.223_964_580_411_365e-1,
    -2.400_758_277_161_838,
    -2.549_732_539_343_734,
    4.374_664_141_464_968,
    2.938_163_982_698_783,
];
const TAILS_BELOW: [f64; 5] =
    [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416, 1.0];

/// The number below which a number of the normal distribution is with this probability.
fn normal_quantile(probability: Exp<f64>) -> Exp<f64> {
    let from_middle = probability - 0.5;
    let upper = from_middle.gt(0.0);
    let outer = upper.select(1.0 - probability, probability);
    cond(
        outer.lt(TAIL),
        || {
            let distance = (-2.0 * logarithm(outer)).sqrt();
            let quantile = polynomial(&TAILS, distance) / polynomial(&TAILS_BELOW, distance);
            upper.select(-quantile, quantile)
        },
        || {
            let square = from_middle * from_middle;
            polynomial(&CENTRE, square) * from_middle / polynomial(&CENTRE_BELOW, square)
        },
    )
}

fn polynomial(coefficients: &[f64], x: Exp<f64>) -> Exp<f64> {
    coefficients.iter().fold(constant(0.0), |sum, coefficient| sum * x + *coefficient)
}

/// The natural logarithm of a positive number, with the same bits everywhere: of its exponent and of its mantissa.
fn logarithm(x: Exp<f64>) -> Exp<f64> {
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    let bits = x.to_bits();
    let mantissa = Exp::<f64>::from_bits((bits & MANTISSA) | ONE);
    let large = mantissa.gt(std::f64::consts::SQRT_2);
    let exponent = (bits >> 52).cast::<f64>() - 1023.0 + large.select(constant(1.0), constant(0.0));
    let mantissa = large.select(mantissa * 0.5, mantissa);
    // 2 artanh((m - 1) / (m + 1)), as a series.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..=10).rev().fold(constant(0.0), |sum, k| sum * (s * s) + 1.0 / f64::from(2 * k + 1));
    exponent * std::f64::consts::LN_2 + 2.0 * s * series
}

#[cfg(test)]
mod tests {
    use super::*;
    use pumice_scalar::{Constant, Environment, Evaluator, Term, Variable, function};

    struct Nothing;

    impl Environment for Nothing {
        fn variable(&self, _: Variable) -> Option<Constant> {
            None
        }
        fn load(&self, _: u64, _: i64) -> Option<Constant> {
            None
        }
    }

    fn value(f: impl FnOnce() -> Vec<Term>) -> Vec<Constant> {
        let evaluator = Evaluator::new(&function(&[], |_| f())).expect("nothing is nested deeply");
        evaluator.evaluate(&Nothing, &[]).expect("there are no checks")
    }

    #[test]
    fn philox_gives_the_published_words() {
        let words = |counter: u32, key: u32| {
            value(|| {
                let words = philox([constant(counter); 4], [constant(key); 2]);
                words.iter().map(|word| word.term()).collect()
            })
        };
        let constants = |words: [u32; 4]| words.map(Constant::from).to_vec();
        assert_eq!(words(0, 0), constants([0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]));
        assert_eq!(
            words(u32::MAX, u32::MAX),
            constants([0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd])
        );
    }

    #[test]
    fn quantiles_and_logarithms_are_close() {
        let close = |f: &dyn Fn() -> Exp<f64>, expected: f64, by: f64| {
            let found = f64::from_bits(value(|| vec![f().term()])[0].bits());
            assert!((found - expected).abs() <= by * expected.abs().max(1.0), "{found} for {expected}");
        };
        for (probability, quantile) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_814),
            (0.99999, 4.264_890_793_922_602),
        ] {
            close(&|| normal_quantile(constant(probability)), quantile, 2e-9);
        }
        for x in [1e-300, 0.001, 0.5, 0.7, 0.75, 1.0, 1.5, 3.0, 1e10] {
            close(&|| logarithm(constant(x)), x.ln(), 1e-15);
        }
    }

    #[test]
    fn high_halves_of_products() {
        for (a, b) in
            [(u64::MAX, u64::MAX), (1 << 63, 6), (0x1234_5678_9abc_def0, 0xfedc_ba98_7654_3210), (5, 7)]
        {
            let found = value(|| vec![high_product(constant(a), constant(b)).term()])[0];
            assert_eq!(found.bits(), ((u128::from(a) * u128::from(b)) >> 64) as u64);
        }
    }
}
