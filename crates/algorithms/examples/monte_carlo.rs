//! Estimates by random numbers: π, a European call, and a call on the geometric mean of prices, beside the exact values.
//!
//! `monte_carlo [SAMPLES [STEPS]]` takes so many samples, and so many times for the mean.
//!
//! ```text
//! pi from 1000000 points: 3.140084
//! European call: 12.0244, give or take 0.0214; by its formula 12.0017
//! call on the mean of 16: 5.7691, give or take 0.0107; by its formula 5.7805
//! ok
//! ```

#[path = "../../pumice/examples/print/mod.rs"]
#[macro_use]
mod print;
mod report;

use pumice_algorithms::whole::monte_carlo::{self, plain::Market};
use report::{argument, check};
use std::error::Error;
use std::process::ExitCode;

const MARKET: Market = Market { spot: 100.0, strike: 105.0, rate: 0.03, volatility: 0.25, years: 1.5 };

fn main() -> ExitCode {
    report::end(estimated())
}

fn estimated() -> Result<(), Box<dyn Error>> {
    let samples = argument(0, 1_000_000)?.max(2);
    let steps = argument(1, 16)?.clamp(1, 10_000);
    let compiler = pumice::Compiler::new()?;
    let pi = compiler.compile(monte_carlo::pi)?.run((samples, 1))?.to_value()?;
    println!("pi from {samples} points: {pi:.6}");
    if samples <= 10_000_000 {
        check("pi", &pi, &monte_carlo::plain::pi(samples as u64, 1))?;
    }
    let Market { spot, strike, rate, volatility, years } = MARKET;
    let price = compiler.compile(monte_carlo::european_call)?;
    let found = price.run((spot, strike, rate, volatility, years, samples, 2))?.to_value()?;
    compare("European call", found, MARKET.european_call())?;
    let price = compiler.compile(monte_carlo::asian_call)?;
    let found = price.run((spot, strike, rate, volatility, years, steps, samples, 3))?.to_value()?;
    compare(&format!("call on the mean of {steps}"), found, MARKET.asian_call(steps as u32))?;
    Ok(())
}

/// Fails unless an estimate is within four times its standard error of what is exact.
fn compare(name: &str, (price, error): (f64, f64), exact: f64) -> Result<(), String> {
    println!("{name}: {price:.4}, give or take {error:.4}; by its formula {exact:.4}");
    check(&format!("{name} is near"), &((price - exact).abs() < 4.0 * error), &true)
}
