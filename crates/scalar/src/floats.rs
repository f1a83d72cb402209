//! Methods of floats: the mathematical functions, each with its largest error, and compositions of operations on floats
//! and their bits. Names and meanings are Rust's, where Rust has them.

use crate::Op;
use crate::arena::Term;
use crate::arithmetic::power;
use crate::exp::Exp;
use crate::number::{Float, Number, as_wide, number};
use crate::types::Constant;

macro_rules! float_functions {
    ($($name:ident $op:ident $at:expr, $value:expr, $doc:literal;)*) => {
        impl<T: Float> Exp<T> {
            $(#[doc = $doc]
            #[doc = example!(use_(&[$at]).map(|x| x.$name()), near $value)]
            pub fn $name(self) -> Exp<T> {
                self.unary(Op::$op)
            })*
        }
    };
}
float_functions! {
    sqrt Sqrt 9f64, 3.0, "Returns the square root, correctly rounded; NaN of a negative number.";
    cbrt Cbrt 27f64, 3.0, "Returns the cube root, to within 2 units in the last place.";
    exp Exp 1f64, std::f64::consts::E, "Returns e to this power, to within 3 units in the last place.";
    exp2 Exp2 8f64, 256.0, "Returns 2 to this power, to within 3 units in the last place.";
    exp10 Exp10 2f64, 100.0, "Returns 10 to this power, to within 3 units in the last place.";
    exp_m1 ExpM1 1f64, 1.718281828459045, "Returns e to this power, less 1, to within 3 units in the last place: exact also near 0.";
    ln Log std::f64::consts::E, 1.0, "Returns the natural logarithm, to within 3 units in the last place; NaN of a negative number.";
    log2 Log2 8f64, 3.0, "Returns the binary logarithm, to within 3 units in the last place; NaN of a negative number.";
    log10 Log10 1000f64, 3.0, "Returns the decimal logarithm, to within 3 units in the last place; NaN of a negative number.";
    ln_1p Ln1p std::f64::consts::E - 1.0, 1.0, "Returns the natural logarithm of 1 and this, to within 3 units in the last place: exact also near 0.";
    sin Sin std::f64::consts::FRAC_PI_6, 0.5, "Returns the sine, to within 4 units in the last place (16 for an `f64` beyond ±2³⁰).";
    cos Cos std::f64::consts::FRAC_PI_3, 0.5, "Returns the cosine, to within 4 units in the last place (16 for an `f64` beyond ±2³⁰).";
    tan Tan std::f64::consts::FRAC_PI_4, 1.0, "Returns the tangent, to within 5 units in the last place (16 for an `f64` beyond ±2³⁰).";
    asin Asin 0.5f64, std::f64::consts::FRAC_PI_6, "Returns the arc sine, to within 4 units in the last place; NaN beyond ±1.";
    acos Acos 0.5f64, std::f64::consts::FRAC_PI_3, "Returns the arc cosine, to within 4 units in the last place; NaN beyond ±1.";
    atan Atan 1f64, std::f64::consts::FRAC_PI_4, "Returns the arc tangent, to within 5 units in the last place.";
    sinh Sinh 1f64, 1.1752011936438014, "Returns the hyperbolic sine, to within 4 units in the last place.";
    cosh Cosh 1f64, 1.5430806348152437, "Returns the hyperbolic cosine, to within 4 units in the last place.";
    tanh Tanh 1f64, 0.7615941559557649, "Returns the hyperbolic tangent, to within 5 units in the last place.";
    asinh Asinh 1.1752011936438014f64, 1.0, "Returns the inverse of the hyperbolic sine, to within 4 units in the last place.";
    acosh Acosh 1.5430806348152437f64, 1.0, "Returns the inverse of the hyperbolic cosine, to within 4 units in the last place; NaN below 1.";
    atanh Atanh 0.7615941559557649f64, 1.0, "Returns the inverse of the hyperbolic tangent, to within 5 units in the last place; NaN beyond ±1.";
    erf Erf 0.5f64, 0.5204998778130465, "Returns the error function, to within 16 units in the last place.";
    erfc Erfc 0.5f64, 0.4795001221869535, "Returns 1 less the error function, to within 16 units in the last place: exact also where that is near 0.";
    gamma Gamma 5f64, 24.0, "Returns the gamma function, to within 16 units in the last place; NaN of a negative integer.";
    ln_gamma LnGamma 5f64, 24f64.ln(), "Returns the natural logarithm of the gamma function's absolute value, for positive numbers to within 16 \
        units in the last place; for negative ones, near to its zeros only the absolute error is small.";
    floor Floor -2.5f64, -3.0, "Returns the largest integer not above, which is exact.";
    ceil Ceil -2.5f64, -2.0, "Returns the smallest integer not below, which is exact.";
    round Round -2.5f64, -3.0, "Returns the nearest integer, halves away from zero, which is exact.";
    round_ties_even RoundTiesEven -2.5f64, -2.0, "Returns the nearest integer, halves to the even one, which is exact.";
    trunc Trunc -2.5f64, -2.0, "Returns the integer part, which is exact.";
}

/// The bits of a float, as the unsigned or the signed integer of its width.
fn bits<T: Number>(x: Exp<T>, signed: bool) -> Term {
    Term::apply(Op::Bitcast, as_wide(T::TYPE, signed), &[x.term()])
}

/// The float with these bits.
fn from_bits<T: Number>(bits: Term) -> Exp<T> {
    Exp::from_term(Term::apply(Op::Bitcast, T::TYPE, &[bits]))
}

/// An integer of the type of some bits.
fn like(bits: Term, value: i128) -> Term {
    Constant::from_integer(bits.ty(), value).into()
}

/// The magnitude of one number with the sign of another.
pub(crate) fn with_sign_of<T: Number>(magnitude: Exp<T>, sign: Exp<T>) -> Exp<T> {
    let (magnitude, sign) = (bits(magnitude, false), bits(sign, false));
    let mask = 1i128 << (8 * T::TYPE.bytes() - 1);
    let rest = magnitude.binary(Op::And, like(magnitude, mask - 1));
    from_bits(rest.binary(Op::Or, sign.binary(Op::And, like(sign, mask))))
}

/// The bits of a float as an integer in the order of IEEE 754's `totalOrder`.
fn order<T: Float>(x: Exp<T>) -> Term {
    let bits = bits(x, true);
    let width = 8 * T::TYPE.bytes() as i128;
    // All ones but the first, where the number is negative.
    let negative = bits.binary(Op::Shr, like(bits, width - 1));
    bits.binary(Op::Xor, negative.binary(Op::And, like(bits, (1 << (width - 1)) - 1)))
}

impl<T: Float> Exp<T> {
    /// Returns this to a power, to within 16 units in the last place: the same as [`pow`](Exp::pow) of floats.
    #[doc = example!(use_(&[4f64]).map(|x| x.powf(0.5)), near 2.0)]
    pub fn powf(self, exponent: impl Into<Exp<T>>) -> Exp<T> {
        self.binary(Op::Pow, exponent)
    }

    /// Returns this to the power of an integer, as Rust does: by multiplications, each of which rounds; and of a negative
    /// exponent the reciprocal of that.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let powers = pumice::run(use_(&[1.5f64]).map(|x| (x.powi(3), x.powi(-1))))?;
    /// assert_eq!(powers.to_vec()?, [(3.375, 1.0 / 1.5)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn powi(self, exponent: impl Into<Exp<i32>>) -> Exp<T> {
        let exponent = exponent.into();
        let product = power(exponent.unsigned_abs(), Exp::from(T::ONE), self, |a, b| a * b);
        exponent.lt(0).select(product.recip(), product)
    }

    /// Returns the angle of the point (`x`, this), to within 6 units in the last place.
    #[doc = example!(use_(&[1f64]).map(|y| y.atan2(1.0)), near std::f64::consts::FRAC_PI_4)]
    pub fn atan2(self, x: impl Into<Exp<T>>) -> Exp<T> {
        self.binary(Op::Atan2, x)
    }

    /// Returns the length of the hypotenuse, to within 4 units in the last place, without overflow on the way.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let lengths = pumice::run(use_(&[(3e200f64, 4e200f64)]).map(|(x, y)| x.hypot(y)))?;
    /// assert!((lengths.to_vec()?[0] / 5e200 - 1.0).abs() < 1e-15);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn hypot(self, other: impl Into<Exp<T>>) -> Exp<T> {
        self.binary(Op::Hypot, other)
    }

    /// Returns this × `factor` + `summand` with one rounding.
    #[doc = example!(use_(&[2.0]).map(|x| x.mul_add(3.0, 4.0)) => [10.0])]
    pub fn mul_add(self, factor: impl Into<Exp<T>>, summand: impl Into<Exp<T>>) -> Exp<T> {
        let operands = [self.term(), factor.into().term(), summand.into().term()];
        Exp::from_term(Term::apply(Op::MulAdd, T::TYPE, &operands))
    }

    /// Returns the logarithm to a base: the quotient of two natural logarithms, as in Rust.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let logarithms = pumice::run(use_(&[81f64]).map(|x| x.log(3.0)))?;
    /// assert!((logarithms.to_vec()?[0] - 4.0).abs() < 1e-14);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn log(self, base: impl Into<Exp<T>>) -> Exp<T> {
        self.ln() / base.into().ln()
    }

    /// Returns the sine and the cosine, each as exact as by itself.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let points = pumice::run(use_(&[0f64]).map(|x| x.sin_cos()))?;
    /// assert_eq!(points.to_vec()?, [(0.0, 1.0)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn sin_cos(self) -> (Exp<T>, Exp<T>) {
        (self.sin(), self.cos())
    }

    /// Returns the part behind the point, with the sign of the number.
    #[doc = example!(use_(&[-1.25]).map(|x| x.fract()) => [-0.25])]
    pub fn fract(self) -> Exp<T> {
        self - self.trunc()
    }

    /// Returns 1 through this.
    #[doc = example!(use_(&[4.0]).map(|x| x.recip()) => [0.25])]
    pub fn recip(self) -> Exp<T> {
        Exp::from(T::ONE) / self
    }

    /// Returns 1 through the square root, each of the two rounded.
    #[doc = example!(use_(&[4.0]).map(|x| x.rsqrt()) => [0.5])]
    pub fn rsqrt(self) -> Exp<T> {
        self.sqrt().recip()
    }

    /// Returns an angle in radians as degrees.
    #[doc = example!(use_(&[std::f64::consts::PI]).map(|x| x.to_degrees()), near 180.0)]
    pub fn to_degrees(self) -> Exp<T> {
        self * number::<T>(180.0 / std::f64::consts::PI)
    }

    /// Returns an angle in degrees as radians.
    #[doc = example!(use_(&[180f64]).map(|x| x.to_radians()), near std::f64::consts::PI)]
    pub fn to_radians(self) -> Exp<T> {
        self * number::<T>(std::f64::consts::PI / 180.0)
    }

    /// Returns this magnitude with the sign of another number.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let signed = pumice::run(use_(&[(3f32, -0f32)]).map(|(x, sign)| x.copysign(sign)))?;
    /// assert_eq!(signed.to_vec()?, [-3.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn copysign(self, sign: impl Into<Exp<T>>) -> Exp<T> {
        with_sign_of(self, sign.into())
    }

    /// Returns a number between this and another, by how far it is from the first to the second: `self + (to - self) * part`.
    #[doc = example!(use_(&[1.0]).map(|x| x.lerp(3.0, 0.25)) => [1.5])]
    pub fn lerp(self, to: impl Into<Exp<T>>, part: impl Into<Exp<T>>) -> Exp<T> {
        self + (to.into() - self) * part.into()
    }

    /// Returns the least number above this; infinity and NaN are returned unchanged.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let next = pumice::run(use_(&[1f64, 0.0]).map(|x| x.next_up()))?;
    /// assert_eq!(next.to_vec()?, [1.0 + f64::EPSILON, 5e-324]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn next_up(self) -> Exp<T> {
        let bits = bits(self, true);
        let up = from_bits::<T>(bits.binary(Op::Add, like(bits, 1)));
        let down = from_bits::<T>(bits.binary(Op::Sub, like(bits, 1)));
        let smallest = from_bits::<T>(like(bits, 1));
        let next = self.eq(T::ZERO).select(smallest, self.gt(T::ZERO).select(up, down));
        (self.is_nan() | self.eq(T::INFINITY)).select(self, next)
    }

    /// Returns the greatest number below this; minus infinity and NaN are returned unchanged.
    #[doc = example!(use_(&[1f64]).map(|x| x.next_down()) => [1.0 - f64::EPSILON / 2.0])]
    pub fn next_down(self) -> Exp<T> {
        -(-self).next_up()
    }

    /// Compares in the order of IEEE 754's `totalOrder`, in which -0.0 is below 0.0 and NaN beyond the infinities: -1, 0 or 1,
    /// which are the numbers of `std::cmp::Ordering`.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let pairs = [(-0f64, 0f64), (f64::NAN, 1.0), (2.0, 2.0)];
    /// let orders = pumice::run(use_(&pairs).map(|(a, b)| a.total_cmp(b)))?;
    /// assert_eq!(orders.to_vec()?, [-1, 1, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn total_cmp(self, other: impl Into<Exp<T>>) -> Exp<i32> {
        let (a, b) = (order(self), order(other.into()));
        let holds = |term: Term| Exp::<bool>::from_term(term).cast::<i32>();
        holds(b.compare(Op::Lt, a)) - holds(a.compare(Op::Lt, b))
    }

    /// Whether this is not a number.
    #[doc = example!(use_(&[1.0, f32::NAN]).map(|x| x.is_nan()) => [false, true])]
    pub fn is_nan(self) -> Exp<bool> {
        self.ne(self)
    }

    /// Whether this is a number, and not infinite.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let kinds = pumice::run(use_(&[1f32, f32::INFINITY, 1e-40]).map(|x| (x.is_finite(), x.is_normal())))?;
    /// assert_eq!(kinds.to_vec()?, [(true, true), (false, false), (true, false)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn is_finite(self) -> Exp<bool> {
        self.abs().lt(T::INFINITY)
    }

    /// Whether this is infinity or minus infinity.
    #[doc = example!(use_(&[1.0, -f32::INFINITY]).map(|x| x.is_infinite()) => [false, true])]
    pub fn is_infinite(self) -> Exp<bool> {
        self.abs().eq(T::INFINITY)
    }

    /// Whether this is neither zero, subnormal, infinite nor NaN.
    #[doc = example!(use_(&[1.0, 1e-310]).map(|x| x.is_normal()) => [true, false])]
    pub fn is_normal(self) -> Exp<bool> {
        self.abs().ge(T::MIN_POSITIVE) & self.is_finite()
    }

    /// Whether this is subnormal: smaller than any normal number, and not zero.
    #[doc = example!(use_(&[1.0, 1e-310]).map(|x| x.is_subnormal()) => [false, true])]
    pub fn is_subnormal(self) -> Exp<bool> {
        self.abs().lt(T::MIN_POSITIVE) & self.ne(T::ZERO)
    }

    /// Whether the sign bit is set, also that of -0.0 and of a NaN.
    #[doc = example!(use_(&[0.0, -0.0]).map(|x| x.is_sign_negative()) => [false, true])]
    pub fn is_sign_negative(self) -> Exp<bool> {
        let bits = bits(self, true);
        Exp::from_term(bits.compare(Op::Lt, like(bits, 0)))
    }

    /// Whether the sign bit is not set.
    #[doc = example!(use_(&[0.0, -0.0]).map(|x| x.is_sign_positive()) => [true, false])]
    pub fn is_sign_positive(self) -> Exp<bool> {
        !self.is_sign_negative()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(found: Option<Constant>, wanted: Constant) -> bool {
        let nan = |c: Constant| c.as_float().is_some_and(f64::is_nan);
        found.is_some_and(|found| found == wanted || (nan(found) && nan(wanted)))
    }

    macro_rules! unary {
        ($x:ident: $($method:ident)*) => { $(
            let found = Exp::from($x).$method().term().constant();
            assert!(same(found, $x.$method().into()), "{}.{}: {found:?}", $x, stringify!($method));
        )* };
    }
    macro_rules! binary {
        ($x:ident $y:ident: $($method:ident)*) => { $(
            let found = Exp::from($x).$method($y).term().constant();
            assert!(same(found, $x.$method($y).into()), "{}.{}({}): {found:?}", $x, stringify!($method), $y);
        )* };
    }
    macro_rules! each_type {
        ($($t:ident)*) => { $(
            let edges = [
                0.0, -0.0, 1.0, -1.5, 2.5, -3.5, 0.1, 1e30, <$t>::MAX, <$t>::MIN, <$t>::MIN_POSITIVE,
                <$t>::MIN_POSITIVE / 4.0, <$t>::EPSILON, <$t>::INFINITY, <$t>::NEG_INFINITY, <$t>::NAN,
            ];
            for x in edges {
                unary!(x: fract recip to_degrees to_radians signum is_nan is_finite is_infinite is_normal is_subnormal
                    is_sign_negative is_sign_positive next_up next_down round_ties_even exp_m1);
                for y in edges {
                    binary!(x y: copysign rem_euclid div_euclid midpoint powf hypot);
                    let order = Exp::from(x).total_cmp(y).term().constant();
                    assert_eq!(order, Some((x.total_cmp(&y) as i32).into()), "{x} {y}");
                }
                for n in [0, 1, 2, 3, -1, -2, 7, 30] {
                    binary!(x n: powi);
                }
                let clamped = Exp::from(x).clamp(-1.0, 2.0).term().constant();
                assert!(same(clamped, x.clamp(-1.0, 2.0).into()), "{x}");
            }
        )* };
    }

    #[test]
    fn methods_mean_what_they_do_in_rust() {
        each_type!(f32 f64);
    }
}
