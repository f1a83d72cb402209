//! Complex numbers of the crate `num-complex` as elements, and the expression of one.
//!
//! In memory a complex number is two columns, its real and its imaginary parts. Arithmetic is that of `num-complex`, operation
//! by operation, so results on the host and on devices agree to the bit; functions are as accurate as those of `Exp` that they
//! are made of.

use super::equal;
use crate::elt::{Elt, Lift, PrintedAs};
use crate::exp::{Exp, IntoExp, constant};
use crate::number::Float;
use num_complex::Complex;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// An expression of type `Complex<T>`.
///
/// ```
/// use num_complex::Complex;
/// use pumice::prelude::*;
/// let numbers = use_(&[Complex::new(3.0f32, 4.0), Complex::new(0.0, -1.0)]);
/// let (squares, norms) = pumice::run((numbers.clone().map(|z| z * z), numbers.map(|z| z.norm())))?;
/// assert_eq!(squares.to_vec()?, [Complex::new(-7.0, 24.0), Complex::new(-1.0, 0.0)]);
/// assert_eq!(norms.to_vec()?, [5.0, 1.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Debug)]
pub struct ComplexExp<T> {
    /// The real part.
    pub re: Exp<T>,
    /// The imaginary part.
    pub im: Exp<T>,
}

impl<T> Clone for ComplexExp<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ComplexExp<T> {}

/// A number of this type.
fn number<T: Float>(value: f64) -> Exp<T> {
    Exp::<f64>::from(value).cast()
}

impl<T: Float> ComplexExp<T> {
    /// Returns the complex number with these parts.
    #[doc = example!(use_(&[2.0]).map(|x| pumice::ComplexExp::new(x, 1.0)) => [num_complex::Complex::new(2.0, 1.0)])]
    pub fn new(re: impl Into<Exp<T>>, im: impl Into<Exp<T>>) -> Self {
        ComplexExp { re: re.into(), im: im.into() }
    }

    /// Returns the complex number with this norm and angle.
    ///
    /// ```
    /// use num_complex::Complex;
    /// use pumice::{ComplexExp, prelude::*};
    /// let turned = pumice::run(use_(&[0.0f32]).map(|angle| ComplexExp::from_polar(2.0, angle)))?;
    /// assert_eq!(turned.to_vec()?, [Complex::new(2.0, 0.0)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn from_polar(norm: impl Into<Exp<T>>, angle: impl Into<Exp<T>>) -> Self {
        let (norm, angle) = (norm.into(), angle.into());
        ComplexExp { re: norm * angle.cos(), im: norm * angle.sin() }
    }

    /// Returns the complex number with this angle on the unit circle: e to the power of `angle` times i.
    #[doc = example!(use_(&[0f64]).map(|angle| pumice::ComplexExp::cis(angle)) => [num_complex::Complex::new(1.0, 0.0)])]
    pub fn cis(angle: impl Into<Exp<T>>) -> Self {
        let angle = angle.into();
        ComplexExp { re: angle.cos(), im: angle.sin() }
    }

    /// Returns the norm and the angle, of which [`from_polar`](ComplexExp::from_polar) makes the number.
    #[doc = example!(use_(&[num_complex::Complex::new(2.0, 0.0)]).map(|z| z.to_polar()) => [(2.0, 0.0)])]
    pub fn to_polar(self) -> (Exp<T>, Exp<T>) {
        (self.norm(), self.arg())
    }

    /// Returns the complex conjugate.
    #[doc = example!(use_(&[num_complex::Complex::new(3.0, 4.0)]).map(|z| z.conj()) => [num_complex::Complex::new(3.0, -4.0)])]
    pub fn conj(self) -> Self {
        ComplexExp { re: self.re, im: -self.im }
    }

    /// Returns the square of the norm, which is cheaper than the norm.
    #[doc = example!(use_(&[num_complex::Complex::new(3.0, 4.0)]).map(|z| z.norm_sqr()) => [25.0])]
    pub fn norm_sqr(self) -> Exp<T> {
        self.re * self.re + self.im * self.im
    }

    /// Returns the norm, the distance from zero, to within 3 units in the last place; it overflows only where the result does.
    #[doc = example!(use_(&[num_complex::Complex::new(3.0, 4.0)]).map(|z| z.norm()) => [5.0])]
    pub fn norm(self) -> Exp<T> {
        let (re, im) = (self.re.abs(), self.im.abs());
        let (larger, smaller) = (re.max(im), re.min(im));
        let quotient = smaller / larger;
        let scaled = larger * (quotient * quotient + number(1.0)).sqrt();
        // Of zero and of infinity there is no quotient; nor is there one where a part is not a number, and the sum is none then.
        let proper = larger.gt(number(0.0))
            & larger.lt(number(f64::INFINITY))
            & self.im.eq(self.im)
            & self.re.eq(self.re);
        let infinite = larger.eq(number(f64::INFINITY));
        proper.select(scaled, infinite.select(larger, re + im))
    }

    /// Returns the angle to the real axis, between -π and π.
    #[doc = example!(use_(&[num_complex::Complex::new(0f64, 2.0)]).map(|z| z.arg()), near std::f64::consts::FRAC_PI_2)]
    pub fn arg(self) -> Exp<T> {
        self.im.atan2(self.re)
    }

    /// Returns e to this power.
    ///
    /// ```
    /// use num_complex::Complex;
    /// use pumice::prelude::*;
    /// let one = pumice::run(use_(&[Complex::new(0.0f64, 0.0)]).map(|z| z.exp()))?;
    /// assert_eq!(one.to_vec()?, [Complex::new(1.0, 0.0)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn exp(self) -> Self {
        ComplexExp::from_polar(self.re.exp(), self.im)
    }

    /// Returns the principal natural logarithm.
    #[doc = example!(use_(&[num_complex::Complex::new(1.0, 0.0)]).map(|z| z.ln()) => [num_complex::Complex::new(0.0, 0.0)])]
    pub fn ln(self) -> Self {
        ComplexExp { re: self.norm().ln(), im: self.arg() }
    }

    /// Returns the principal square root, whose real part is not negative.
    #[doc = example!(use_(&[num_complex::Complex::new(-4.0, 0.0)]).map(|z| z.sqrt()) => [num_complex::Complex::new(0.0, 2.0)])]
    pub fn sqrt(self) -> Self {
        let half = number::<T>(0.5);
        let zero = number::<T>(0.0);
        // The larger part of the result by a root of a sum, which cancels nothing; the other by division.
        let part = ((self.norm() + self.re.abs()) * half).sqrt();
        let other = part.gt(zero).select(self.im.abs() * half / part, zero);
        let right = self.re.ge(zero);
        let (re, im) = (right.select(part, other), right.select(other, part));
        // The sign of the imaginary part, that of a zero included.
        let below = self.im.lt(zero) | (self.im.eq(zero) & (number::<T>(1.0) / self.im).lt(zero));
        ComplexExp { re, im: below.select(-im, im) }
    }

    /// Returns this to an integer power, by squaring.
    ///
    /// ```
    /// use num_complex::Complex;
    /// use pumice::prelude::*;
    /// let fourth = pumice::run(use_(&[Complex::new(1.0f32, 1.0)]).map(|z| z.powi(4)))?;
    /// assert_eq!(fourth.to_vec()?, [Complex::new(-4.0, 0.0)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn powi(self, exponent: i32) -> Self {
        let mut rest = exponent.unsigned_abs();
        let (mut power, mut result) = (self, None);
        while rest > 0 {
            if rest & 1 == 1 {
                result = Some(result.map_or(power, |result| result * power));
            }
            rest >>= 1;
            if rest > 0 {
                power = power * power;
            }
        }
        let one = ComplexExp { re: number(1.0), im: number(0.0) };
        let result = result.unwrap_or(one);
        if exponent < 0 { one / result } else { result }
    }

    /// Returns this to a power, by way of norm and angle; 1 to the power of zero.
    ///
    /// ```
    /// use num_complex::Complex;
    /// use pumice::prelude::*;
    /// let root = pumice::run(use_(&[Complex::new(0.0f64, 2.0)]).map(|z| z.powf(0.5)))?.to_vec()?[0];
    /// assert!((root - Complex::new(1.0, 1.0)).norm() < 1e-15);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn powf(self, exponent: impl Into<Exp<T>>) -> Self {
        let (exponent, (norm, angle)) = (exponent.into(), self.to_polar());
        let power = ComplexExp::from_polar(norm.powf(exponent), angle * exponent);
        let one = ComplexExp { re: number(1.0), im: number(0.0) };
        exponent.eq(number::<T>(0.0)).select(one, power)
    }

    /// Returns 1 through this.
    #[doc = example!(use_(&[num_complex::Complex::new(0.0, 2.0)]).map(|z| z.inv()) => [num_complex::Complex::new(0.0, -0.5)])]
    pub fn inv(self) -> Self {
        let square = self.norm_sqr();
        ComplexExp { re: self.re / square, im: -self.im / square }
    }

    /// Returns the sine.
    #[doc = example!(use_(&[num_complex::Complex::new(0f64, 0.0)]).map(|z| z.sin()) => [num_complex::Complex::new(0.0, 0.0)])]
    pub fn sin(self) -> Self {
        ComplexExp { re: self.re.sin() * self.im.cosh(), im: self.re.cos() * self.im.sinh() }
    }

    /// Returns the cosine.
    #[doc = example!(use_(&[num_complex::Complex::new(0f64, 0.0)]).map(|z| z.cos()) => [num_complex::Complex::new(1.0, 0.0)])]
    pub fn cos(self) -> Self {
        ComplexExp { re: self.re.cos() * self.im.cosh(), im: -self.re.sin() * self.im.sinh() }
    }

    /// Whether both parts are equal.
    #[doc = example!(use_(&[num_complex::Complex::new(3.0, 4.0)]).map(|z| z.eq(num_complex::Complex::new(3.0, 0.0))) => [false])]
    #[allow(clippy::should_implement_trait)]
    pub fn eq(self, other: impl IntoExp<Complex<T>>) -> Exp<bool> {
        equal(self, other)
    }

    /// Whether a part differs.
    #[doc = example!(use_(&[num_complex::Complex::new(3.0, 4.0)]).map(|z| z.ne(num_complex::Complex::new(3.0, 0.0))) => [true])]
    #[allow(clippy::should_implement_trait)]
    pub fn ne(self, other: impl IntoExp<Complex<T>>) -> Exp<bool> {
        !equal(self, other)
    }
}

impl<T: Float> Neg for ComplexExp<T> {
    type Output = Self;
    fn neg(self) -> Self {
        ComplexExp { re: -self.re, im: -self.im }
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $a:ident $b:ident $complex:expr, $real:expr;)*) => { $(
        impl<T: Float> $trait for ComplexExp<T> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $complex
            }
        }
        impl<T: Float> $trait<Complex<T>> for ComplexExp<T> {
            type Output = Self;
            fn $method(self, other: Complex<T>) -> Self {
                $trait::$method(self, constant(other))
            }
        }
        impl<T: Float> $trait<ComplexExp<T>> for Complex<T> {
            type Output = ComplexExp<T>;
            fn $method(self, other: ComplexExp<T>) -> ComplexExp<T> {
                $trait::$method(constant(self), other)
            }
        }
        impl<T: Float> $trait<Exp<T>> for ComplexExp<T> {
            type Output = Self;
            fn $method(self, other: Exp<T>) -> Self {
                let ($a, $b) = (self, other);
                $real
            }
        }
        impl<T: Float> $trait<T> for ComplexExp<T> {
            type Output = Self;
            fn $method(self, other: T) -> Self {
                $trait::$method(self, Exp::from(other))
            }
        }
    )* };
}
operators! {
    Add add a b ComplexExp { re: a.re + b.re, im: a.im + b.im }, ComplexExp { re: a.re + b, im: a.im };
    Sub sub a b ComplexExp { re: a.re - b.re, im: a.im - b.im }, ComplexExp { re: a.re - b, im: a.im };
    Mul mul a b ComplexExp { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re },
        ComplexExp { re: a.re * b, im: a.im * b };
    Div div a b {
        let square = b.norm_sqr();
        ComplexExp { re: (a.re * b.re + a.im * b.im) / square, im: (a.im * b.re - a.re * b.im) / square }
    }, ComplexExp { re: a.re / b, im: a.im / b };
}

/// `z += w` and its like, with all that `z + w` takes.
macro_rules! assignment {
    ($($trait:ident $method:ident $operator:ident $operate:ident;)*) => { $(
        impl<T: Float, R> $trait<R> for ComplexExp<T>
        where
            ComplexExp<T>: $operator<R, Output = ComplexExp<T>>,
        {
            fn $method(&mut self, other: R) {
                *self = $operator::$operate(*self, other);
            }
        }
    )* };
}
assignment! {
    AddAssign add_assign Add add;
    SubAssign sub_assign Sub sub;
    MulAssign mul_assign Mul mul;
    DivAssign div_assign Div div;
}

macro_rules! real_operators {
    ($($trait:ident $method:ident $a:ident $b:ident $make:expr, [$($t:ident)*];)*) => { $(
        impl<T: Float> $trait<ComplexExp<T>> for Exp<T> {
            type Output = ComplexExp<T>;
            fn $method(self, other: ComplexExp<T>) -> ComplexExp<T> {
                let ($a, $b) = (self, other);
                $make
            }
        }
        $(impl $trait<ComplexExp<$t>> for $t {
            type Output = ComplexExp<$t>;
            fn $method(self, other: ComplexExp<$t>) -> ComplexExp<$t> {
                $trait::$method(Exp::from(self), other)
            }
        })*
    )* };
}
real_operators! {
    Add add a b ComplexExp { re: a + b.re, im: b.im }, [f32 f64];
    Sub sub a b ComplexExp { re: a - b.re, im: number::<T>(0.0) - b.im }, [f32 f64];
    Mul mul a b ComplexExp { re: a * b.re, im: a * b.im }, [f32 f64];
    Div div a b {
        let square = b.norm_sqr();
        ComplexExp { re: a * b.re / square, im: number::<T>(0.0) - a * b.im / square }
    }, [f32 f64];
}

impl<T: Float> Lift for ComplexExp<T> {
    type Elt = Complex<T>;
    type Parts = (Exp<T>, Exp<T>);
    fn parts(self) -> (Exp<T>, Exp<T>) {
        (self.re, self.im)
    }
    fn from_parts((re, im): (Exp<T>, Exp<T>)) -> Self {
        ComplexExp { re, im }
    }
}

impl<T: Float> IntoExp<Complex<T>> for ComplexExp<T> {
    fn into_exp(self) -> Self {
        self
    }
}

impl<T: Float> IntoExp<Complex<T>> for Complex<T> {
    fn into_exp(self) -> ComplexExp<T> {
        constant(self)
    }
}

impl<T: Float> Elt for Complex<T> {
    type Exp = ComplexExp<T>;
    type Parts = (T, T);
    fn parts(self) -> (T, T) {
        (self.re, self.im)
    }
    fn from_parts((re, im): (T, T)) -> Self {
        Complex::new(re, im)
    }
    fn printed_as() -> PrintedAs {
        PrintedAs::Complex
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option::tests::{constants, evaluate};
    use crate::types::Constant;

    type Z = Complex<f64>;

    fn numbers(parts: &[f64]) -> Vec<Z> {
        parts.iter().flat_map(|re| parts.iter().map(|im| Z::new(*re, *im))).collect()
    }

    fn same(found: &[Constant], expected: &[f64], of: &dyn std::fmt::Debug) {
        let equal = |(found, expected): (&Constant, &f64)| {
            let found = found.as_float().unwrap();
            found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan())
        };
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(equal), "{of:?}: {found:?} and not {expected:?}");
    }

    #[test]
    fn arithmetic_is_that_of_num_complex() {
        let numbers = numbers(&[-0.0, -2.5, 3e200, f64::INFINITY, f64::NAN]);
        for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(|b| (*a, *b))) {
            let results = evaluate::<(Z, Z), _>(|(a, b)| [a + b, a - b, a * b, a / b, -a], (a, b));
            let plain = [a + b, a - b, a * b, a / b, -a];
            same(&results, &plain.map(|z| [z.re, z.im]).concat(), &(a, b));
        }
        for (a, r) in numbers.iter().map(|a| (*a, a.re + 2.0)) {
            let results = evaluate::<(Z, f64), _>(
                |(a, r)| [a + r, a - r, a * r, a / r, r + a, r - a, r * a, r / a],
                (a, r),
            );
            let plain = [a + r, a - r, a * r, a / r, r + a, r - a, r * a, r / a];
            same(&results, &plain.map(|z| [z.re, z.im]).concat(), &(a, r));
        }
    }

    #[test]
    fn operators_assign_complex_and_real_numbers() {
        let (a, b, r) = (Z::new(1.5, -2.0), Z::new(0.25, 3.0), -2.5);
        let results = evaluate::<(Z, Z, f64), _>(
            |(mut a, b, r)| {
                a += b;
                a -= r;
                a *= Z::new(2.0, 1.0);
                a /= b;
                a += 4.0;
                [a, b.inv()]
            },
            (a, b, r),
        );
        let expected = (a + b - r) * Z::new(2.0, 1.0) / b + 4.0;
        same(&results, &[expected, b.inv()].map(|z| [z.re, z.im]).concat(), &(a, b));
    }

    fn close(found: f64, expected: f64, scale: f64) -> bool {
        (found - expected).abs() <= 1e-14 * scale
    }

    #[test]
    fn functions_are_close_to_those_of_num_complex() {
        for z in numbers(&[0.0, -0.0, 1.0, -2.5, 1e-200, 3e200, -7e-3]) {
            let results = evaluate::<Z, _>(|z| (z.norm(), z.arg(), z.conj(), z.sqrt()), z);
            let found: Vec<f64> = results.iter().map(|constant| constant.as_float().unwrap()).collect();
            assert!(close(found[0], z.norm(), z.norm()) && close(found[1], z.arg(), 4.0), "{z}: {found:?}");
            same(&results[2..4], &[z.re, -z.im], &z);
            // Closer than the root of `num-complex`, which goes by way of the angle.
            let root = Z::new(found[4], found[5]);
            let square = root * root;
            assert!(close(square.re, z.re, z.norm()) && close(square.im, z.im, z.norm()), "{z}: {root}");
            assert!(root.re >= 0.0 && root.im.is_sign_negative() == z.im.is_sign_negative(), "{z}: {root}");
        }
        for z in [Z::new(0.5, -0.25), Z::new(-1.5, 2.0)] {
            let results = evaluate::<Z, _>(|z| [z.powi(5), z.powi(-3), z.powi(0), z.exp(), z.ln()], z);
            let plain = [z.powi(5), z.powi(-3), z.powi(0), z.exp(), z.ln()].map(|z| [z.re, z.im]).concat();
            let more =
                evaluate::<Z, _>(|z| [z.powf(1.7), z.powf(0.0), z.sin(), z.cos(), ComplexExp::cis(z.re)], z);
            let plain_more =
                [z.powf(1.7), z.powf(0.0), z.sin(), z.cos(), Z::cis(z.re)].map(|z| [z.re, z.im]).concat();
            for (found, expected) in results.iter().chain(&more).zip(plain.into_iter().chain(plain_more)) {
                assert!(close(found.as_float().unwrap(), expected, 100.0), "{z}: {found:?}, {expected}");
            }
        }
    }

    #[test]
    fn the_norm_of_the_infinite_is_infinite_and_that_of_no_number_is_none() {
        for z in [Z::new(f64::INFINITY, f64::NAN), Z::new(1.0, f64::NEG_INFINITY)] {
            same(&evaluate::<Z, _>(|z| z.norm(), z), &[f64::INFINITY], &z);
        }
        for z in [Z::new(1.0, f64::NAN), Z::new(f64::NAN, 0.0), Z::new(f64::NAN, f64::NAN)] {
            same(&evaluate::<Z, _>(|z| z.norm(), z), &[f64::NAN], &z);
        }
        assert_eq!(evaluate::<Z, _>(|z| z.eq(Z::new(1.0, 2.0)), Z::new(1.0, 2.0)), constants(true));
    }
}
