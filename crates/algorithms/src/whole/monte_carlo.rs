//! Monte-Carlo estimates: π from points in a square, and options from prices at random. Random numbers are functions of a seed and of
//! an index, so nothing of them is in memory, and every run of a seed gives the same.

use pumice::prelude::*;
use pumice::random;

/// Estimates π: the part of so many points of a square that are inside of a quarter of a circle. 0 of no points.
///
/// ```
/// use pumice_algorithms::whole::monte_carlo;
/// let pi = pumice::Compiler::on("sim")?.compile(monte_carlo::pi)?;
/// let found = pi.run((2000, 7))?.to_value()?;
/// assert!((found - 3.14).abs() < 0.1);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn pi(points: Exp<i64>, seed: Exp<u64>) -> Acc<Scalar<f64>> {
    let points = points.max(0);
    let xs = random::uniform::<f64, _>(points, seed);
    let ys = random::uniform::<f64, _>(points, seed + 1);
    let inside = xs.zip(ys).count(|(x, y)| (x * x + y * y).lt(1.0));
    inside.map(|inside| 4.0 * inside.cast::<f64>() / points.max(1).cast::<f64>())
}

/// Estimates the price of a European call from so many prices at its end, by Black and Scholes' model, and gives the standard
/// error of the estimate beside it.
///
/// ```
/// use pumice_algorithms::whole::monte_carlo::{self, plain};
/// let price = pumice::Compiler::on("sim")?.compile(monte_carlo::european_call)?;
/// let option = plain::Market { spot: 100.0, strike: 105.0, rate: 0.03, volatility: 0.2, years: 0.5 };
/// let (found, error) = price.run((option.spot, option.strike, option.rate, option.volatility, option.years, 3000, 1))?.to_value()?;
/// assert!((found - option.european_call()).abs() < 4.0 * error);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn european_call(
    spot: Exp<f64>,
    strike: Exp<f64>,
    rate: Exp<f64>,
    volatility: Exp<f64>,
    years: Exp<f64>,
    paths: Exp<i64>,
    seed: Exp<u64>,
) -> Acc<Scalar<(f64, f64)>> {
    let (drift, spread) = ((rate - volatility * volatility / 2.0) * years, volatility * years.sqrt());
    let discount = (-rate * years).exp();
    let payoffs = random::normal::<f64, _>(paths.max(0), seed)
        .map(|z| discount * (spot * (drift + spread * z).exp() - strike).max(0.0));
    mean_and_error(payoffs)
}

/// Prices a call on the geometric mean of the prices at so many evenly spaced times, as [`european_call`] does. All paths take a step
/// together, in a loop over their states.
///
/// ```
/// use pumice_algorithms::whole::monte_carlo::{self, plain};
/// let price = pumice::Compiler::on("sim")?.compile(monte_carlo::asian_call)?;
/// let option = plain::Market { spot: 100.0, strike: 105.0, rate: 0.03, volatility: 0.2, years: 0.5 };
/// let (found, error) = price.run((option.spot, option.strike, option.rate, option.volatility, option.years, 4, 3000, 1))?.to_value()?;
/// assert!((found - option.asian_call(4)).abs() < 4.0 * error);
/// # Ok::<(), pumice::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "a program takes its scalars one by one")]
pub fn asian_call(
    spot: Exp<f64>,
    strike: Exp<f64>,
    rate: Exp<f64>,
    volatility: Exp<f64>,
    years: Exp<f64>,
    steps: Exp<i64>,
    paths: Exp<i64>,
    seed: Exp<u64>,
) -> Acc<Scalar<(f64, f64)>> {
    let steps = steps.max(1);
    let interval = years / steps.cast::<f64>();
    let (drift, spread) = ((rate - volatility * volatility / 2.0) * interval, volatility * interval.sqrt());
    // The logarithm of each path's price, relative to the first, and the sum of those so far.
    let start = fill(paths.max(0), (0.0, 0.0));
    let ends = iterate_numbered(steps, start, |step, paths| {
        let moves = random::normal::<f64, _>(paths.size(), seed + step.cast::<u64>());
        paths.zip_with(moves, |(log, sum), z| {
            let log = log + drift + spread * z;
            (log, sum + log)
        })
    });
    let discount = (-rate * years).exp();
    mean_and_error(
        ends.map(|(_, sum)| discount * (spot * (sum / steps.cast::<f64>()).exp() - strike).max(0.0)),
    )
}

/// The mean of values, and the standard error of that; both are 0 of less than two values.
fn mean_and_error(values: Acc<Vector<f64>>) -> Acc<Scalar<(f64, f64)>> {
    let count = values.size();
    let sums = values.map(|x| (x, x * x)).fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
    sums.map(|(sum, squares)| {
        let n = count.cast::<f64>();
        let mean = sum / n;
        let variance = ((squares - sum * mean) / (n - 1.0)).max(0.0);
        count.lt(2).select((Exp::from(0.0), Exp::from(0.0)), (mean, (variance / n).sqrt()))
    })
}

/// The same random points in plain Rust, and the exact prices.
pub mod plain {
    /// The estimate of π of [`super::pi`], to the bit.
    pub fn pi(points: u64, seed: u64) -> f64 {
        let square = |number: u64, seed: u64| uniform(seed, number) * uniform(seed, number);
        let inside = (0..points).filter(|number| square(*number, seed) + square(*number, seed + 1) < 1.0);
        4.0 * inside.count() as f64 / points.max(1) as f64
    }

    /// The number of a uniform distribution for a seed and an index: Philox with four words and ten rounds.
    pub fn uniform(seed: u64, number: u64) -> f64 {
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let ([mut a, mut b], [mut c, mut d], [mut left, mut right]) = (halves(number), [0, 0], halves(seed));
        for _ in 0..10 {
            let [low, high] = halves(u64::from(a) * 0xD251_1F53);
            let [other_low, other_high] = halves(u64::from(c) * 0xCD9E_8D57);
            (a, b, c, d) = (other_high ^ b ^ left, other_low, high ^ d ^ right, low);
            (left, right) = (left.wrapping_add(0x9E37_79B9), right.wrapping_add(0xBB67_AE85));
        }
        let bits = (u64::from(b) << 32) | u64::from(a);
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Parameters of an option's price.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Market {
        /// The price of the share today.
        pub spot: f64,
        /// The price at which the option allows to buy.
        pub strike: f64,
        /// Interest per year.
        pub rate: f64,
        /// The standard deviation of the logarithm of the price after a year.
        pub volatility: f64,
        /// The time until the option's end.
        pub years: f64,
    }

    impl Market {
        /// The price of a European call, by Black and Scholes' formula.
        pub fn european_call(&self) -> f64 {
            let mean = (self.rate - self.volatility * self.volatility / 2.0) * self.years;
            self.call(mean, self.volatility * self.years.sqrt())
        }

        /// The price of a call on the geometric mean of the prices at so many evenly spaced times: its logarithm is normal too.
        pub fn asian_call(&self, steps: u32) -> f64 {
            let n = f64::from(steps);
            let mean =
                (self.rate - self.volatility * self.volatility / 2.0) * self.years * (n + 1.0) / (2.0 * n);
            let variance = self.years * (n + 1.0) * (2.0 * n + 1.0) / (6.0 * n * n);
            self.call(mean, self.volatility * variance.sqrt())
        }

        /// The price of a call on a share whose price is `spot` times e to a normal variable.
        fn call(&self, mean: f64, deviation: f64) -> f64 {
            let d = ((self.spot / self.strike).ln() + mean) / deviation;
            let forward = self.spot * (mean + deviation * deviation / 2.0).exp();
            (-self.rate * self.years).exp() * (forward * normal(d + deviation) - self.strike * normal(d))
        }
    }

    /// The probability that a number of the normal distribution is below: a series, for numbers that are not far out.
    fn normal(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for k in 1..200 {
            term *= x * x / f64::from(2 * k + 1);
            sum += term;
        }
        0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
    }
}
