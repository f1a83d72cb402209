//! Expected results: plain Rust in double precision, one element at a time, with no cleverness.

use pumice_testing::programs::{COEFFICIENTS, RISK_FREE, VOLATILITY};

/// Returns an error if there are not `n` elements, or one that names the first element which differs from the expected value
/// by more than `tolerance` times one plus the magnitude of that value.
pub fn check_all(
    found: &[f32],
    n: usize,
    tolerance: f64,
    expected: impl Fn(usize) -> f64,
) -> Result<(), String> {
    check_length(found, n)?;
    found
        .iter()
        .enumerate()
        .try_for_each(|(i, found)| check(&format!("element {i}"), *found, tolerance, expected(i)))
}

/// Returns an error that names the first element which is not as expected, if there is one.
pub fn check_exactly<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T]) -> Result<(), String> {
    check_length(found, expected.len())?;
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        Some(i) => Err(format!("element {i} is {:?}, expected {:?}", found[i], expected[i])),
        None => Ok(()),
    }
}

/// Returns an error if there are not `n` elements.
pub fn check_length<T>(found: &[T], n: usize) -> Result<(), String> {
    if found.len() == n { Ok(()) } else { Err(format!("{} elements came, expected {n}", found.len())) }
}

/// Returns an error if a number is too far from the expected one.
pub fn check(what: &str, found: f32, tolerance: f64, expected: f64) -> Result<(), String> {
    // A NaN compares false, so it is an error.
    let is_close = (f64::from(found) - expected).abs() <= tolerance * (1.0 + expected.abs());
    if is_close { Ok(()) } else { Err(format!("{what} is {found}, expected {expected}")) }
}

/// Returns the prices of a call and a put for numbers in [0, 1), which are scaled as the programs scale them.
pub fn black_scholes(x: f32, y: f32, z: f32) -> (f64, f64) {
    let (price, strike) = (f64::from(x) * 25.0 + 5.0, f64::from(y) * 99.0 + 1.0);
    let years = f64::from(z) * 9.75 + 0.25;
    let (rate, volatility) = (f64::from(RISK_FREE), f64::from(VOLATILITY));
    let deviation = volatility * years.sqrt();
    let d1 = ((price / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / deviation;
    let d2 = d1 - deviation;
    let discounted = strike * (-rate * years).exp();
    let call = price * cumulative_normal(d1) - discounted * cumulative_normal(d2);
    let put = discounted * cumulative_normal(-d2) - price * cumulative_normal(-d1);
    (call, put)
}

/// Approximates the cumulative normal distribution within 7.5e-8, by Abramowitz and Stegun, 26.2.17.
fn cumulative_normal(d: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
    let polynomial = COEFFICIENTS.iter().rev().fold(0.0, |sum, c| (sum + f64::from(*c)) * k);
    let tail = (-0.5 * d * d).exp() / std::f64::consts::TAU.sqrt() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}

/// Returns the iterations of the point at a row and a column of a picture.
pub fn mandelbrot(row: usize, column: usize, side: usize, cap: i32) -> i32 {
    let cx = -2.0 + 3.0 * column as f64 / side as f64;
    let cy = -1.0 + 2.0 * row as f64 / side as f64;
    let (mut x, mut y, mut count) = (0.0, 0.0, 0);
    while count < cap && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_puts_are_in_parity() {
        for (x, y, z) in [(0.0, 0.0, 0.0), (0.5, 0.2, 0.7), (0.9, 0.99, 0.01)] {
            let (call, put) = black_scholes(x, y, z);
            let (price, strike) = (f64::from(x) * 25.0 + 5.0, f64::from(y) * 99.0 + 1.0);
            let discounted = strike * (-f64::from(RISK_FREE) * (f64::from(z) * 9.75 + 0.25)).exp();
            assert!((call - put - (price - discounted)).abs() < 1e-9, "{call} {put}");
        }
    }

    #[test]
    fn points_of_the_set_reach_the_cap() {
        // The origin lies two thirds to the right and half-way down.
        assert_eq!(mandelbrot(150, 200, 300, 64), 64);
        assert_eq!(mandelbrot(0, 0, 300, 64), 1);
    }

    #[test]
    fn nan_is_never_right() {
        assert!(
            check_all(&[1.0, f32::NAN], 2, 1e9, |_| 1.0)
                .is_err_and(|message| message.starts_with("element 1 "))
        );
        assert!(check_all(&[1.0, 2.000_001], 2, 1e-5, |i| i as f64 + 1.0).is_ok());
        assert!(check_all(&[], 1, 1e9, |_| 1.0).is_err());
    }
}
