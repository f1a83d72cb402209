//! Prices of options by the formula of Black and Scholes, as in the Accelerate paper, section 6.3.
//!
//! An element is a tuple, and so is its expression: closures take them apart. `d1`, `d2` and both values of the normal
//! distribution serve two prices each, and are computed once.
//!
//! ```text
//!  stock  strike  years    call     put
//!  20.00   20.00    1.0    2.56    2.17
//!  20.00   25.00    1.0    0.98    5.48
//!  20.00   15.00    1.0    5.70    0.41
//!  20.00   20.00    5.0    6.01    4.11
//!  25.00   20.00    0.5    5.52    0.32
//! 10000 prices agree with plain Rust
//! ```

#[macro_use]
mod print;

use pumice::prelude::*;

/// The interest rate without risk, in a year.
const RATE: f32 = 0.02;
/// Annual volatility of the stock's price.
const VOLATILITY: f32 = 0.3;

/// The cumulative normal distribution, by a polynomial.
fn normal(d: Exp<f32>) -> Exp<f32> {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let polynomial =
        k * (0.31938153 + k * (-0.35656378 + k * (1.7814779 + k * (-1.8212559 + k * 1.3302745))));
    let tail = 0.3989423 * (-0.5 * d * d).exp() * polynomial;
    d.gt(0.0).select(1.0 - tail, tail)
}

/// From (price of the stock, strike price, years) the prices of a call and a put.
fn black_scholes(options: Acc<Vector<(f32, f32, f32)>>) -> Acc<Vector<(f32, f32)>> {
    options.map(|(stock, strike, years)| {
        let deviation = VOLATILITY * years.sqrt();
        let d1 = ((stock / strike).ln() + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years) / deviation;
        let d2 = d1 - deviation;
        let discounted = strike * (-RATE * years).exp();
        let call = stock * normal(d1) - discounted * normal(d2);
        let put = discounted * (1.0 - normal(d2)) - stock * (1.0 - normal(d1));
        (call, put)
    })
}

fn main() -> pumice::Result<()> {
    let f = pumice::compile(black_scholes)?;

    let few = [(20.0, 20.0, 1.0), (20.0, 25.0, 1.0), (20.0, 15.0, 1.0), (20.0, 20.0, 5.0), (25.0, 20.0, 0.5)];
    println!(" stock  strike  years    call     put");
    for ((stock, strike, years), (call, put)) in few.into_iter().zip(f.run(few)?.to_vec()?) {
        println!("{stock:6.2}  {strike:6.2}  {years:5.1}  {call:6.2}  {put:6.2}");
    }

    let spread = |i: usize, step: usize| (i * step % 1009) as f32 / 1009.0;
    let many: Vec<(f32, f32, f32)> = (0..10_000)
        .map(|i| (spread(i, 7) * 25.0 + 5.0, spread(i, 11) * 99.0 + 1.0, spread(i, 13) * 9.75 + 0.25))
        .collect();
    let prices = f.run(&many)?.to_vec()?;
    for (option, (call, put)) in many.iter().zip(&prices) {
        let (true_call, true_put) = plain(*option);
        let is_close = |price: f32, truth: f64| (f64::from(price) - truth).abs() < 2e-5 * (1.0 + truth);
        assert!(is_close(*call, true_call) && is_close(*put, true_put), "{option:?}: {call} and {put}");
    }
    println!("{} prices agree with plain Rust", prices.len());
    Ok(())
}

/// The same in plain Rust and double precision, with the integral itself.
fn plain((stock, strike, years): (f32, f32, f32)) -> (f64, f64) {
    let [stock, strike, years, rate, volatility] = [stock, strike, years, RATE, VOLATILITY].map(f64::from);
    let deviation = volatility * years.sqrt();
    let d1 = ((stock / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / deviation;
    let d2 = d1 - deviation;
    let discounted = strike * (-rate * years).exp();
    let call = stock * plain_normal(d1) - discounted * plain_normal(d2);
    (call, call - stock + discounted)
}

/// Simpson's rule for the bell curve between 0 and `d`.
fn plain_normal(d: f64) -> f64 {
    const STEPS: usize = 200;
    let bell = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    let width = d / STEPS as f64;
    let inner = |i: usize| if i % 2 == 1 { 4.0 } else { 2.0 } * bell(width * i as f64);
    0.5 + width / 3.0 * (bell(0.0) + (1..STEPS).map(inner).sum::<f64>() + bell(d))
}
