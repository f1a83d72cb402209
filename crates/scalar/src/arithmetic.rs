//! Methods that integers and floats share, with the meaning that Rust gives each of them: limits, signs, division that rounds
//! down, powers. They are compositions of operations; the differences between integers and floats are decided here.

use crate::Op;
use crate::elt::Lift;
use crate::exp::{Exp, divide};
use crate::number::{Number, Signed, integer, number};
use crate::types::ScalarType;
use crate::while_;
use std::panic::Location;

/// Returns the product of `count` factors by squaring: unrolled where the number is known, else in a loop.
pub(crate) fn power<L: Lift>(count: Exp<u32>, one: L, factor: L, times: impl Fn(L, L) -> L) -> L {
    let Some(count) = count.term().constant() else {
        let (_, product, _) = while_(
            (count, one, factor),
            |(left, ..)| left.gt(0),
            |(left, product, square)| {
                let odd = (left & 1).eq(1);
                (left >> 1, odd.select(times(product, square), product), times(square, square))
            },
        );
        return product;
    };
    let (mut left, mut product, mut square) = (count.bits(), one, factor);
    while left > 0 {
        if left & 1 == 1 {
            product = times(product, square);
        }
        left >>= 1;
        if left > 0 {
            square = times(square, square);
        }
    }
    product
}

fn is_float<T: Number>() -> bool {
    T::TYPE.is_float()
}

impl<T: Number> Exp<T> {
    /// Whether this is below zero; unsigned numbers never are.
    pub(crate) fn is_below_zero(self) -> Exp<bool> {
        if is_unsigned(T::TYPE) { Exp::from(false) } else { self.lt(T::ZERO) }
    }

    /// The nearest value between the bounds; a NaN stays NaN, as in Rust.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let limited = pumice::run(use_(&[-3, 4, 12]).map(|x| x.clamp(0, 9)))?;
    /// assert_eq!(limited.to_vec()?, [0, 4, 9]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn clamp(self, low: impl Into<Exp<T>>, high: impl Into<Exp<T>>) -> Exp<T> {
        let (low, high) = (low.into(), high.into());
        if !is_float::<T>() {
            return self.max(low).min(high);
        }
        let above = self.lt(low).select(low, self);
        above.gt(high).select(high, above)
    }

    /// Returns this to a power. The exponent of an integer is a `u32`, and the result wraps; that of a float is of the
    /// float's type, and the result is within 16 units in the last place (NaN of a negative number to a power that is no
    /// integer).
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let cubes = pumice::run(use_(&[2i32, -3]).map(|x| x.pow(3)))?;
    /// assert_eq!(cubes.to_vec()?, [8, -27]);
    /// let roots = pumice::run(use_(&[4f64]).map(|x| x.pow(0.5)))?;
    /// assert_eq!(roots.to_vec()?, [2.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn pow(self, exponent: impl Into<Exp<T::Exponent>>) -> Exp<T> {
        let exponent = exponent.into().term();
        if is_float::<T>() {
            return self.binary(Op::Pow, Exp::<T>::from_term(exponent));
        }
        power(Exp::from_term(exponent), Exp::from(T::ONE), self, |a, b| a * b)
    }

    /// Returns the remainder that is not negative. An integer divided by zero is a failure.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let rests = pumice::run(use_(&[7, -7]).map(|x| (x.div_euclid(4), x.rem_euclid(4))))?;
    /// assert_eq!(rests.to_vec()?, [(1, 3), (-2, 1)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn rem_euclid(self, divisor: impl Into<Exp<T>>) -> Exp<T> {
        let divisor = divisor.into();
        remainder_above_zero(divide(Op::Rem, self, divisor, Location::caller()), divisor)
    }

    /// Returns the quotient that leaves the remainder [`rem_euclid`](Exp::rem_euclid). An integer divided by zero is a
    /// failure.
    #[doc = example!(use_(&[7, -7]).map(|x| x.div_euclid(4)) => [1, -2])]
    #[track_caller]
    pub fn div_euclid(self, divisor: impl Into<Exp<T>>) -> Exp<T> {
        let divisor = divisor.into();
        let quotient = divide(Op::Div, self, divisor, Location::caller());
        quotient_below(self, quotient, divisor)
    }

    /// Returns the midpoint of the two, without overflow; that of integers is rounded as Rust does: unsigned down,
    /// signed towards zero.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let middles = pumice::run(use_(&[(1, 4), (-1, -4)]).map(|(a, b)| a.midpoint(b)))?;
    /// assert_eq!(middles.to_vec()?, [2, -2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn midpoint(self, other: impl Into<Exp<T>>) -> Exp<T> {
        let other = other.into();
        if is_float::<T>() { float_midpoint(self, other) } else { integer_midpoint(self, other) }
    }
}

/// A remainder with the sign of the dividend, moved to the one that is not negative.
pub(crate) fn remainder_above_zero<T: Number>(remainder: Exp<T>, divisor: Exp<T>) -> Exp<T> {
    if is_unsigned(T::TYPE) {
        return remainder;
    }
    remainder.is_below_zero().select(remainder + divisor.unary(Op::Abs), remainder)
}

/// A quotient rounded towards zero, moved to the one whose remainder is not negative.
pub(crate) fn quotient_below<T: Number>(dividend: Exp<T>, quotient: Exp<T>, divisor: Exp<T>) -> Exp<T> {
    if is_unsigned(T::TYPE) {
        return quotient;
    }
    let quotient = if is_float::<T>() { quotient.unary(Op::Trunc) } else { quotient };
    let one: Exp<T> = Exp::from(T::ONE);
    let moved = divisor.gt(T::ZERO).select(quotient - one, quotient + one);
    dividend.binary(Op::Rem, divisor).is_below_zero().select(moved, quotient)
}

fn is_unsigned(ty: ScalarType) -> bool {
    ty.is_integer() && !ty.is_signed()
}

fn float_midpoint<T: Number>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
    let half: Exp<T> = number(0.5);
    let most = Exp::from(T::MAX) * half;
    let both = a.unary(Op::Abs).le(most) & b.unary(Op::Abs).le(most);
    // A small number beside a huge one loses nothing that the sum would have kept.
    both.select((a + b) * half, a * half + b * half)
}

fn integer_midpoint<T: Number>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
    let differing = a.binary(Op::Xor, b);
    let one = integer::<T>(1);
    let down = a.binary(Op::And, b) + differing.binary(Op::Shr, one);
    if is_unsigned(T::TYPE) {
        return down;
    }
    let odd = differing.binary(Op::And, one);
    down.is_below_zero().select(down + odd, down)
}

impl<T: Signed> Exp<T> {
    /// The absolute value; integers wrap.
    #[doc = example!(use_(&[-3, 4]).map(|x| x.abs()) => [3, 4])]
    pub fn abs(self) -> Exp<T> {
        self.unary(Op::Abs)
    }

    /// The sign, as Rust has it: -1, 0 or 1 of an integer; of a float 1 or -1, also for zeros, and NaN of a NaN.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let signs = pumice::run(use_(&[-2.5f32, -0.0, 7.0]).map(|x| x.signum()))?;
    /// assert_eq!(signs.to_vec()?, [-1.0, -1.0, 1.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn signum(self) -> Exp<T> {
        if is_float::<T>() {
            let sign = crate::floats::with_sign_of(Exp::from(T::ONE), self);
            return self.ne(self).select(self, sign);
        }
        let (zero, one, minus_one) = (integer::<T>(0), integer::<T>(1), integer::<T>(-1));
        self.gt(zero).select(one, self.lt(zero).select(minus_one, zero))
    }
}
