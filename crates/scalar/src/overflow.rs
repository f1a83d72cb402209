//! Integer arithmetic with a stated behaviour on overflow: `wrapping_`, `checked_`, `saturating_` and `overflowing_` methods with
//! Rust's meanings. Each operation is written once, with the flag that tells whether its result fits; the four methods differ in
//! their use of the flag.

use crate::Op;
use crate::arena::Term;
use crate::arithmetic::{power, quotient_below, remainder_above_zero};
use crate::exp::Exp;
use crate::number::{Integer, Signed, integer};
use crate::option::OptionExp;
use crate::types::ScalarType;

/// A result that wraps, and whether it did.
type Flagged<T> = (Exp<T>, Exp<bool>);

fn is_signed<T: Integer>() -> bool {
    T::TYPE.is_signed()
}

fn add<T: Integer>(a: Exp<T>, b: Exp<T>) -> Flagged<T> {
    let sum = a + b;
    // A sum overflows if it has the sign of neither.
    let wraps = if is_signed::<T>() { ((a ^ sum) & (b ^ sum)).is_below_zero() } else { sum.lt(a) };
    (sum, wraps)
}

fn sub<T: Integer>(a: Exp<T>, b: Exp<T>) -> Flagged<T> {
    let difference = a - b;
    let wraps = if is_signed::<T>() { ((a ^ b) & (a ^ difference)).is_below_zero() } else { a.lt(b) };
    (difference, wraps)
}

fn mul<T: Integer>(a: Exp<T>, b: Exp<T>) -> Flagged<T> {
    let product = a * b;
    if T::BITS < 64 {
        let wide = if is_signed::<T>() { ScalarType::I64 } else { ScalarType::U64 };
        let exact = a.term().cast(wide).binary(Op::Mul, b.term().cast(wide));
        return (product, Exp::from_term(product.term().cast(wide).compare(Op::Ne, exact)));
    }
    let extension = if is_signed::<T>() { product >> integer(63) } else { Exp::from(T::ZERO) };
    (product, a.mul_hi(b).ne(extension))
}

fn neg<T: Integer>(a: Exp<T>) -> Flagged<T> {
    let wraps = if is_signed::<T>() { a.eq(T::MIN) } else { a.ne(T::ZERO) };
    (integer::<T>(0) - a, wraps)
}

fn pow<T: Integer>(a: Exp<T>, exponent: Exp<u32>) -> Flagged<T> {
    let times = |(a, wrapped): Flagged<T>, (b, too): Flagged<T>| {
        let (product, wraps) = mul(a, b);
        (product, wraps | wrapped | too)
    };
    power(exponent, (Exp::from(T::ONE), Exp::from(false)), (a, Exp::from(false)), times)
}

/// Shifts by a distance modulo the width, which wraps where the distance is not below it.
fn shift<T: Integer>(op: Op, a: Exp<T>, distance: Exp<u32>) -> Flagged<T> {
    let within = Exp::<T>::from_term((distance & (T::BITS - 1)).term().cast(T::TYPE));
    (a.binary(op, within), distance.ge(T::BITS))
}

/// Adds a number of the signed type of the width.
fn add_signed<T: Integer>(a: Exp<T>, b: Exp<T::Signed>) -> Flagged<T> {
    let bits = Exp::from_term(Term::apply(Op::Bitcast, T::TYPE, &[b.term()]));
    let (sum, wraps) = add(a, bits);
    // The bits of a negative number are 2^width too large: the sum of unsigned numbers wraps unless it leaves below zero.
    (sum, if is_signed::<T>() { wraps } else { wraps ^ b.is_below_zero() })
}

/// Whether the quotient of the two overflows: that of the smallest number and -1 does.
fn leaves<T: Integer>(a: Exp<T>, b: Exp<T>) -> Exp<bool> {
    if is_signed::<T>() { a.eq(T::MIN) & b.eq(integer::<T>(-1)) } else { Exp::from(false) }
}

/// Whether a quotient or remainder of the two is defined and fits.
fn divides<T: Integer>(a: Exp<T>, b: Exp<T>) -> Exp<bool> {
    b.ne(T::ZERO) & !leaves(a, b)
}

/// The result, where it did not wrap.
fn checked<T: Integer>((result, wraps): Flagged<T>) -> OptionExp<Exp<T>> {
    OptionExp::present_if(!wraps, result)
}

/// The result, or where it wrapped the limit on the side that it left at.
fn saturated<T: Integer>((result, wraps): Flagged<T>, downwards: Exp<bool>) -> Exp<T> {
    wraps.select(downwards.select(Exp::from(T::MIN), Exp::from(T::MAX)), result)
}

macro_rules! families {
    ($($symbol:literal $plain:ident $wrapping:ident $checked:ident $saturating:ident $overflowing:ident
        ($fits:literal, $result:literal) ($too_large:literal, $wrapped:literal, $limit:literal) $below:expr;)*) => {
        impl<T: Integer> Exp<T> { $(
            #[doc = concat!("Returns ", $symbol, ", wrapped to the width.")]
            #[doc = example!(use_(&[$fits, $too_large]).map(|x| x.$wrapping(100)) => [$result, $wrapped])]
            pub fn $wrapping(self, other: impl Into<Exp<T>>) -> Exp<T> {
                $plain(self, other.into()).0
            }

            #[doc = concat!("Returns ", $symbol, "; nothing where it overflows.")]
            #[doc = example!(use_(&[$fits, $too_large]).map(|x| x.$checked(100)) => [Some($result), None])]
            pub fn $checked(self, other: impl Into<Exp<T>>) -> OptionExp<Exp<T>> {
                checked($plain(self, other.into()))
            }

            #[doc = concat!("Returns ", $symbol, ", or the limit of the type that it is beyond.")]
            #[doc = example!(use_(&[$fits, $too_large]).map(|x| x.$saturating(100)) => [$result, $limit])]
            pub fn $saturating(self, other: impl Into<Exp<T>>) -> Exp<T> {
                let other = other.into();
                let below: fn(Exp<T>, Exp<T>) -> Exp<bool> = $below;
                saturated($plain(self, other), below(self, other))
            }

            #[doc = concat!("Returns ", $symbol, ", wrapped to the width, and whether it overflows.")]
            #[doc = example!(use_(&[$fits, $too_large]).map(|x| x.$overflowing(100)) => [($result, false), ($wrapped, true)])]
            pub fn $overflowing(self, other: impl Into<Exp<T>>) -> (Exp<T>, Exp<bool>) {
                $plain(self, other.into())
            }
        )* }
    };
}
families! {
    "the sum" add wrapping_add checked_add saturating_add overflowing_add (5i8, 105) (50, -106, 127) |a, _| a.is_below_zero();
    "the difference" sub wrapping_sub checked_sub saturating_sub overflowing_sub (5i8, -95) (-50, 106, -128)
        |a, _| if is_signed::<T>() { a.is_below_zero() } else { Exp::from(true) };
    "the product" mul wrapping_mul checked_mul saturating_mul overflowing_mul (1i8, 100) (2, -56, 127)
        |a, b| a.is_below_zero() ^ b.is_below_zero();
}

impl<T: Integer> Exp<T> {
    /// Returns the number with the opposite sign, wrapped to the width.
    #[doc = example!(use_(&[7i8, i8::MIN]).map(|x| x.wrapping_neg()) => [-7, i8::MIN])]
    pub fn wrapping_neg(self) -> Exp<T> {
        neg(self).0
    }

    /// Returns the number with the opposite sign; nothing where it overflows.
    #[doc = example!(use_(&[7i8, i8::MIN]).map(|x| x.checked_neg()) => [Some(-7), None])]
    pub fn checked_neg(self) -> OptionExp<Exp<T>> {
        checked(neg(self))
    }

    /// Returns the number with the opposite sign, wrapped to the width, and whether it overflows.
    #[doc = example!(use_(&[7i8, i8::MIN]).map(|x| x.overflowing_neg()) => [(-7, false), (i8::MIN, true)])]
    pub fn overflowing_neg(self) -> (Exp<T>, Exp<bool>) {
        neg(self)
    }

    /// Returns this to a power, wrapped to the width.
    #[doc = example!(use_(&[2i8, 3]).map(|x| x.wrapping_pow(5)) => [32, -13])]
    pub fn wrapping_pow(self, exponent: impl Into<Exp<u32>>) -> Exp<T> {
        self.pow(exponent)
    }

    /// Returns this to a power; nothing where it overflows.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let powers = pumice::run(use_(&[9u32, 10]).map(|n| constant(10u32).checked_pow(n)))?;
    /// assert_eq!(powers.to_vec()?, [Some(1_000_000_000), None]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn checked_pow(self, exponent: impl Into<Exp<u32>>) -> OptionExp<Exp<T>> {
        checked(pow(self, exponent.into()))
    }

    /// Returns this to a power, or the limit of the type that it is beyond.
    #[doc = example!(use_(&[2i8, -3]).map(|x| x.saturating_pow(5)) => [32, i8::MIN])]
    pub fn saturating_pow(self, exponent: impl Into<Exp<u32>>) -> Exp<T> {
        let exponent = exponent.into();
        saturated(pow(self, exponent), self.is_below_zero() & (exponent & 1).eq(1))
    }

    /// Returns this to a power, wrapped to the width, and whether it overflows.
    #[doc = example!(use_(&[2i8, 3]).map(|x| x.overflowing_pow(5)) => [(32, false), (-13, true)])]
    pub fn overflowing_pow(self, exponent: impl Into<Exp<u32>>) -> (Exp<T>, Exp<bool>) {
        pow(self, exponent.into())
    }

    /// Shifts to the left by a distance modulo the width.
    #[doc = example!(use_(&[7, 9]).map(|n| constant(1u8).wrapping_shl(n)) => [128, 2])]
    pub fn wrapping_shl(self, distance: impl Into<Exp<u32>>) -> Exp<T> {
        shift(Op::Shl, self, distance.into()).0
    }

    /// Shifts to the left; nothing where the distance is not below the width.
    #[doc = example!(use_(&[7, 9]).map(|n| constant(1u8).checked_shl(n)) => [Some(128), None])]
    pub fn checked_shl(self, distance: impl Into<Exp<u32>>) -> OptionExp<Exp<T>> {
        checked(shift(Op::Shl, self, distance.into()))
    }

    /// Shifts to the left by a distance modulo the width, and says whether the distance is not below it.
    #[doc = example!(use_(&[7, 9]).map(|n| constant(1u8).overflowing_shl(n)) => [(128, false), (2, true)])]
    pub fn overflowing_shl(self, distance: impl Into<Exp<u32>>) -> (Exp<T>, Exp<bool>) {
        shift(Op::Shl, self, distance.into())
    }

    /// Shifts to the right by a distance modulo the width.
    #[doc = example!(use_(&[7, 9]).map(|n| constant(128u8).wrapping_shr(n)) => [1, 64])]
    pub fn wrapping_shr(self, distance: impl Into<Exp<u32>>) -> Exp<T> {
        shift(Op::Shr, self, distance.into()).0
    }

    /// Shifts to the right; nothing where the distance is not below the width.
    #[doc = example!(use_(&[7, 9]).map(|n| constant(128u8).checked_shr(n)) => [Some(1), None])]
    pub fn checked_shr(self, distance: impl Into<Exp<u32>>) -> OptionExp<Exp<T>> {
        checked(shift(Op::Shr, self, distance.into()))
    }

    /// Shifts to the right by a distance modulo the width, and says whether the distance is not below it.
    #[doc = example!(use_(&[7, 9]).map(|n| constant(128u8).overflowing_shr(n)) => [(1, false), (64, true)])]
    pub fn overflowing_shr(self, distance: impl Into<Exp<u32>>) -> (Exp<T>, Exp<bool>) {
        shift(Op::Shr, self, distance.into())
    }

    /// Returns the quotient; nothing where the divisor is zero or the quotient overflows.
    #[doc = example!(use_(&[2, 0]).map(|x| constant(-7).checked_div(x)) => [Some(-3), None])]
    pub fn checked_div(self, divisor: impl Into<Exp<T>>) -> OptionExp<Exp<T>> {
        let divisor = divisor.into();
        OptionExp::present_if(divides(self, divisor), self.binary(Op::Div, divisor))
    }

    /// Returns the remainder; nothing where the divisor is zero or the quotient overflows.
    #[doc = example!(use_(&[2, 0]).map(|x| constant(-7).checked_rem(x)) => [Some(-1), None])]
    pub fn checked_rem(self, divisor: impl Into<Exp<T>>) -> OptionExp<Exp<T>> {
        let divisor = divisor.into();
        OptionExp::present_if(divides(self, divisor), self.binary(Op::Rem, divisor))
    }

    /// Returns the quotient of [`div_euclid`](Exp::div_euclid); nothing where the divisor is zero or it overflows.
    #[doc = example!(use_(&[2, 0]).map(|x| constant(-7).checked_div_euclid(x)) => [Some(-4), None])]
    pub fn checked_div_euclid(self, divisor: impl Into<Exp<T>>) -> OptionExp<Exp<T>> {
        let divisor = divisor.into();
        let quotient = quotient_below(self, self.binary(Op::Div, divisor), divisor);
        OptionExp::present_if(divides(self, divisor), quotient)
    }

    /// Returns the remainder that is not negative; nothing where the divisor is zero or the quotient overflows.
    #[doc = example!(use_(&[2, 0]).map(|x| constant(-7).checked_rem_euclid(x)) => [Some(1), None])]
    pub fn checked_rem_euclid(self, divisor: impl Into<Exp<T>>) -> OptionExp<Exp<T>> {
        let divisor = divisor.into();
        let remainder = remainder_above_zero(self.binary(Op::Rem, divisor), divisor);
        OptionExp::present_if(divides(self, divisor), remainder)
    }

    /// Returns the quotient, wrapped to the width. Dividing by zero is a failure.
    #[doc = example!(use_(&[7i8, i8::MIN]).map(|x| x.wrapping_div(-1)) => [-7, i8::MIN])]
    #[track_caller]
    pub fn wrapping_div(self, divisor: impl Into<Exp<T>>) -> Exp<T> {
        self / divisor.into()
    }

    /// Returns the remainder, 0 where the quotient overflows. Dividing by zero is a failure.
    #[doc = example!(use_(&[(7i8, 4i8), (i8::MIN, -1)]).map(|(x, y)| x.wrapping_rem(y)) => [3, 0])]
    #[track_caller]
    pub fn wrapping_rem(self, divisor: impl Into<Exp<T>>) -> Exp<T> {
        self % divisor.into()
    }

    /// Returns the quotient of [`div_euclid`](Exp::div_euclid), wrapped to the width. Dividing by zero is a failure.
    #[doc = example!(use_(&[-7i8, i8::MIN]).map(|x| x.wrapping_div_euclid(-1)) => [7, i8::MIN])]
    #[track_caller]
    pub fn wrapping_div_euclid(self, divisor: impl Into<Exp<T>>) -> Exp<T> {
        self.div_euclid(divisor)
    }

    /// Returns the remainder that is not negative, 0 where the quotient overflows. Dividing by zero is a failure.
    #[doc = example!(use_(&[(-7i8, 4i8), (i8::MIN, -1)]).map(|(x, y)| x.wrapping_rem_euclid(y)) => [1, 0])]
    #[track_caller]
    pub fn wrapping_rem_euclid(self, divisor: impl Into<Exp<T>>) -> Exp<T> {
        self.rem_euclid(divisor)
    }

    /// Returns the quotient, or the largest number where it overflows. Dividing by zero is a failure.
    #[doc = example!(use_(&[7i8, i8::MIN]).map(|x| x.saturating_div(-1)) => [-7, i8::MAX])]
    #[track_caller]
    pub fn saturating_div(self, divisor: impl Into<Exp<T>>) -> Exp<T> {
        let divisor = divisor.into();
        saturated((self / divisor, leaves(self, divisor)), Exp::from(false))
    }

    /// Returns the quotient, wrapped to the width, and whether it overflows. Dividing by zero is a failure.
    #[doc = example!(use_(&[7i8, i8::MIN]).map(|x| x.overflowing_div(-1)) => [(-7, false), (i8::MIN, true)])]
    #[track_caller]
    pub fn overflowing_div(self, divisor: impl Into<Exp<T>>) -> (Exp<T>, Exp<bool>) {
        let divisor = divisor.into();
        (self / divisor, leaves(self, divisor))
    }

    /// Returns the remainder, 0 where the quotient overflows, and whether that does. Dividing by zero is a failure.
    #[doc = example!(use_(&[(7i8, 4i8), (i8::MIN, -1)]).map(|(x, y)| x.overflowing_rem(y)) => [(3, false), (0, true)])]
    #[track_caller]
    pub fn overflowing_rem(self, divisor: impl Into<Exp<T>>) -> (Exp<T>, Exp<bool>) {
        let divisor = divisor.into();
        (self % divisor, leaves(self, divisor))
    }

    /// Returns the sum with a signed number, wrapped to the width.
    #[doc = example!(use_(&[(7u8, -3i8), (2, -3)]).map(|(x, y)| x.wrapping_add_signed(y)) => [4, 255])]
    pub fn wrapping_add_signed(self, other: impl Into<Exp<T::Signed>>) -> Exp<T> {
        add_signed(self, other.into()).0
    }

    /// Returns the sum with a signed number; nothing where it overflows.
    #[doc = example!(use_(&[(7u8, -3i8), (2, -3)]).map(|(x, y)| x.checked_add_signed(y)) => [Some(4), None])]
    pub fn checked_add_signed(self, other: impl Into<Exp<T::Signed>>) -> OptionExp<Exp<T>> {
        checked(add_signed(self, other.into()))
    }

    /// Returns the sum with a signed number, or the limit of the type that it is beyond.
    #[doc = example!(use_(&[(7u8, -3i8), (2, -3)]).map(|(x, y)| x.saturating_add_signed(y)) => [4, 0])]
    pub fn saturating_add_signed(self, other: impl Into<Exp<T::Signed>>) -> Exp<T> {
        let other = other.into();
        saturated(add_signed(self, other), other.is_below_zero())
    }

    /// Returns the sum with a signed number, wrapped to the width, and whether it overflows.
    #[doc = example!(use_(&[(7u8, -3i8), (2, -3)]).map(|(x, y)| x.overflowing_add_signed(y)) => [(4, false), (255, true)])]
    pub fn overflowing_add_signed(self, other: impl Into<Exp<T::Signed>>) -> (Exp<T>, Exp<bool>) {
        add_signed(self, other.into())
    }
}

impl<T: Integer + Signed> Exp<T> {
    /// Returns the number with the opposite sign, or the largest number where it overflows.
    #[doc = example!(use_(&[7i8, i8::MIN]).map(|x| x.saturating_neg()) => [-7, i8::MAX])]
    pub fn saturating_neg(self) -> Exp<T> {
        saturated(neg(self), Exp::from(false))
    }

    /// Returns the absolute value, wrapped to the width.
    #[doc = example!(use_(&[-7i8, i8::MIN]).map(|x| x.wrapping_abs()) => [7, i8::MIN])]
    pub fn wrapping_abs(self) -> Exp<T> {
        self.abs()
    }

    /// Returns the absolute value; nothing where it overflows.
    #[doc = example!(use_(&[-7i8, i8::MIN]).map(|x| x.checked_abs()) => [Some(7), None])]
    pub fn checked_abs(self) -> OptionExp<Exp<T>> {
        OptionExp::present_if(self.ne(T::MIN), self.abs())
    }

    /// Returns the absolute value, or the largest number where it overflows.
    #[doc = example!(use_(&[-7i8, i8::MIN]).map(|x| x.saturating_abs()) => [7, i8::MAX])]
    pub fn saturating_abs(self) -> Exp<T> {
        saturated((self.abs(), self.eq(T::MIN)), Exp::from(false))
    }

    /// Returns the absolute value, wrapped to the width, and whether it overflows.
    #[doc = example!(use_(&[-7i8, i8::MIN]).map(|x| x.overflowing_abs()) => [(7, false), (i8::MIN, true)])]
    pub fn overflowing_abs(self) -> (Exp<T>, Exp<bool>) {
        (self.abs(), self.eq(T::MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Constant, Lift};

    fn known(value: impl Lift) -> Vec<Constant> {
        value.terms().into_iter().map(|term| term.constant().expect("a constant")).collect()
    }

    fn constants(value: impl crate::Elt) -> Vec<Constant> {
        let mut constants = Vec::new();
        value.add_constants(&mut constants);
        constants
    }

    macro_rules! as_rust {
        ($x:ident $y:ident: $($call:ident)*) => {
            $(assert_eq!(known(Exp::from($x).$call($y)), constants($x.$call($y)), "{} {} {}", $x, stringify!($call), $y);)*
        };
    }
    macro_rules! each_type {
        ($($t:ident)*) => { $(
            let edges = [0, 1, 2, 3, 7, 100, <$t>::MAX, <$t>::MAX - 1, <$t>::MIN, <$t>::MIN + 1, <$t>::MAX / 2, <$t>::MAX / 3 + 1];
            for x in edges {
                for y in edges {
                    as_rust!(x y: wrapping_add wrapping_sub wrapping_mul checked_add checked_sub checked_mul saturating_add
                        saturating_sub saturating_mul overflowing_add overflowing_sub overflowing_mul checked_div checked_rem
                        checked_div_euclid checked_rem_euclid);
                    if y != 0 {
                        as_rust!(x y: wrapping_div wrapping_rem wrapping_div_euclid wrapping_rem_euclid saturating_div
                            overflowing_div overflowing_rem);
                    }
                }
                for n in [0u32, 1, 2, 3, 5, 19, 20, 31, 32, 63, 64, 65, 1000] {
                    as_rust!(x n: wrapping_shl wrapping_shr checked_shl checked_shr overflowing_shl overflowing_shr wrapping_pow
                        checked_pow saturating_pow overflowing_pow);
                }
                assert_eq!(known(Exp::from(x).checked_neg()), constants(x.checked_neg()));
                assert_eq!(known(Exp::from(x).overflowing_neg()), constants(x.overflowing_neg()));
            }
        )* };
    }

    macro_rules! each_unsigned {
        ($($signed:ident $t:ident),*) => { $(
            for x in [0, 1, 2, 100, <$t>::MAX, <$t>::MAX - 1, <$t>::MAX / 2, <$t>::MAX / 2 + 1] {
                for y in [0, 1, -1, 2, -2, 100, <$signed>::MAX, <$signed>::MIN, <$signed>::MIN + 1] {
                    as_rust!(x y: wrapping_add_signed checked_add_signed saturating_add_signed overflowing_add_signed);
                }
            }
        )* };
    }

    #[test]
    fn overflow_is_what_it_is_in_rust() {
        each_type!(i8 i16 i32 i64 u8 u16 u32 u64);
        each_unsigned!(i8 u8, i16 u16, i32 u32, i64 u64);
        for x in [0, 5, -5, i32::MIN, i32::MAX] {
            assert_eq!(known(Exp::from(x).saturating_neg()), constants(x.saturating_neg()));
            assert_eq!(known(Exp::from(x).saturating_abs()), constants(x.saturating_abs()));
            assert_eq!(known(Exp::from(x).checked_abs()), constants(x.checked_abs()));
            assert_eq!(known(Exp::from(x).overflowing_abs()), constants(x.overflowing_abs()));
        }
    }
}
