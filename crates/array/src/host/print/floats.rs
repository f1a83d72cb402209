//! Floats and complex numbers as texts that stand below each other: all in one notation, with the decimal points aligned. Digits are as
//! many as tell a number from all others of its type, unless a precision is given.

use super::align;
use pumice_scalar::{Constant, ScalarType};

/// Magnitudes from which on, and below which, all numbers are written with an exponent.
const LARGE: f64 = 1e16;
const SMALL: f64 = 1e-4;

/// How many times the smallest magnitude the largest is where all numbers are written with an exponent.
const FAR_APART: f64 = 1e8;

/// Returns the texts of floats, all of one length.
pub(super) fn floats(values: &[Constant], precision: Option<usize>) -> Vec<String> {
    let mut texts = written(values, precision);
    align_points(&mut texts);
    texts
}

/// Returns the texts of complex numbers with these real and imaginary parts, all of one length.
pub(super) fn complex(real: &[Constant], imaginary: &[Constant], precision: Option<usize>) -> Vec<String> {
    let mut imaginary = written(imaginary, precision);
    for text in &mut imaginary {
        if !text.starts_with('-') {
            text.insert(0, '+');
        }
    }
    align_points(&mut imaginary);
    let whole = floats(real, precision).into_iter().zip(imaginary).map(|(mut text, imaginary)| {
        let (number, blanks) = imaginary.split_at(imaginary.trim_end().len());
        text.extend([number, "i", blanks]);
        text
    });
    whole.collect()
}

/// Returns the texts of floats, in one notation.
fn written(values: &[Constant], precision: Option<usize>) -> Vec<String> {
    match precision {
        Some(digits) => {
            each(values, |value| format!("{value:.digits$}"), |value| format!("{value:.digits$}"))
        }
        // One value has no neighbour whose notation it could share, so it is as Rust prints it.
        None if values.len() > 1 && needs_exponents(values) => {
            let mut texts = each(values, |value| format!("{value:e}"), |value| format!("{value:e}"));
            fill_digits(&mut texts);
            texts
        }
        None => each(values, |value| format!("{value:?}"), |value| format!("{value:?}")),
    }
}

/// Returns the texts of floats, which are written as their type is: an `f32` has fewer digits than the `f64` of the same value.
fn each(values: &[Constant], single: impl Fn(f32) -> String, double: impl Fn(f64) -> String) -> Vec<String> {
    let text = |value: &Constant| {
        let float = value.as_float().unwrap_or(f64::NAN);
        match value.ty() {
            ScalarType::F64 => double(float),
            // Exact: it is the value of a float of at most 32 bits.
            _ => single(float as f32),
        }
    };
    values.iter().map(text).collect()
}

/// Whether numbers are so large, so small or so far apart that exponents are read more easily than zeros.
fn needs_exponents(values: &[Constant]) -> bool {
    let magnitudes = values.iter().filter_map(|value| value.as_float()).map(f64::abs);
    let magnitudes = magnitudes.filter(|value| *value > 0.0 && value.is_finite());
    let (smallest, largest) =
        magnitudes.fold((f64::INFINITY, 0.0f64), |(least, most), value| (least.min(value), most.max(value)));
    // Nothing is found where all are zero.
    largest > 0.0 && (smallest < SMALL || largest >= LARGE || largest / smallest >= FAR_APART)
}

/// Gives numbers with exponents as many digits as the longest has, and exponents a sign and two digits.
fn fill_digits(texts: &mut [String]) {
    let fraction = |text: &str| {
        let (mantissa, exponent) = text.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        Some((whole.to_string(), fraction.to_string(), exponent.parse::<i32>().ok()?))
    };
    let digits = texts.iter().filter_map(|text| fraction(text)).map(|(_, fraction, _)| fraction.len());
    let digits = digits.max().unwrap_or(0).max(1);
    for text in texts {
        // NaN and infinities have no exponent.
        if let Some((whole, fraction, exponent)) = fraction(text) {
            *text = format!("{whole}.{fraction:0<digits$}e{exponent:+03}");
        }
    }
}

/// Makes texts equally long: with decimal points below each other, and those without, NaN say, at the right.
fn align_points(texts: &mut [String]) {
    let halves = |text: &String| text.find('.').map(|point| (point, text.len() - point));
    let before = texts.iter().filter_map(halves).map(|(before, _)| before).max().unwrap_or(0);
    let behind = texts.iter().filter_map(halves).map(|(_, behind)| behind).max().unwrap_or(0);
    for text in texts.iter_mut() {
        if let Some((first, second)) = halves(text) {
            *text = format!("{}{text}{}", " ".repeat(before - first), " ".repeat(behind - second));
        }
    }
    align(texts);
}

#[cfg(test)]
mod tests {
    use crate::{Error, Matrix, Scalar, Vector};
    use num_complex::Complex;
    use pumice_scalar::f16;

    #[test]
    fn one_notation_holds_for_all_numbers() {
        let text = |values: &[f64]| Vector::from(values).to_string();
        assert_eq!(text(&[1.0, 20.5, -0.25]), "[ 1.0 , 20.5 , -0.25]");
        assert_eq!(text(&[1e-30, 2.5, f64::NAN]), "[1.0e-30, 2.5e+00,     NaN]");
        assert_eq!(text(&[0.0, -1e-100, f64::INFINITY]), "[ 0.0e+00 , -1.0e-100,       inf]");
        assert_eq!(text(&[1e15, 2.5e9]), "[1000000000000000.0,       2500000000.0]");
        assert_eq!(text(&[1e16, 2.5e9]), "[1.0e+16, 2.5e+09]");
        assert_eq!(text(&[0.5, 5e7]), "[5.0e-01, 5.0e+07]");
        assert_eq!(text(&[0.5, 4.9e7]), "[       0.5, 49000000.0]");
        assert_eq!(text(&[0.0, 0.0]), "[0.0, 0.0]");
        assert_eq!(text(&[f64::NAN, -f64::INFINITY]), "[ NaN, -inf]");
        assert_eq!(Vector::from([0.1f32, 1e-9]).to_string(), "[1.0e-01, 1.0e-09]");
        assert_eq!(Vector::from([1.0f32 / 3.0, -2.5e-9]).to_string(), "[ 3.3333334e-01, -2.5000000e-09]");
        assert_eq!(Vector::from([f16::from_f32(0.5), f16::from_f32(-8.0)]).to_string(), "[ 0.5, -8.0]");
        assert_eq!(format!("{:.2}", Vector::from([1e-9, 123.456])), "[  0.00, 123.46]");
    }

    #[test]
    fn one_number_is_printed_as_rust_does() -> Result<(), Error> {
        assert_eq!(Scalar::from_vec([], vec![2.5e-9])?.to_string(), "2.5e-9");
        assert_eq!(Scalar::from_vec([], vec![Complex::new(1.0, -2.0)])?.to_string(), "1.0-2.0i");
        Ok(())
    }

    #[test]
    fn complex_numbers_are_sums_with_parts_below_each_other() {
        let m = Matrix::from([[Complex::new(1.0f32, -2.0)], [Complex::new(-3.5, 10.25)]]);
        assert_eq!(m.to_string(), "[[ 1.0 -2.0i ],\n [-3.5+10.25i]]");
        assert_eq!(format!("{m:.1}"), "[[ 1.0 -2.0i],\n [-3.5+10.2i]]");
        let odd = Vector::from([Complex::new(f64::NAN, f64::INFINITY), Complex::new(1e-9, 0.0)]);
        assert_eq!(odd.to_string(), "[    NaN+infi, 1.0e-09+0.0i]");
    }
}
