//! Methods of integers: bits, logarithms, roots, multiples. Names and meanings are Rust's; counts of bits are `u32`. All are
//! compositions of operations. Arithmetic with a stated behaviour on overflow is in `overflow.rs`.

use crate::Op;
use crate::arena::Term;
use crate::exp::Exp;
use crate::graph::{FailureKind, Site};
use crate::number::{Integer, Signed, as_wide, integer};
use crate::option::OptionExp;
use crate::place::Place;
use crate::types::ScalarType;
use crate::while_;
use std::panic::Location;

/// Fails where an argument is outside of a function's domain; the argument is said.
fn require<T: Integer>(
    holds: Exp<bool>,
    argument: Exp<T>,
    operation: &'static str,
    location: &Location<'_>,
) -> Exp<bool> {
    let site = Site { place: Place::at(operation, location), kind: FailureKind::OutsideDomain };
    let zero = Exp::<i64>::from(0).term();
    Exp::from_term(holds.term().check(site, argument.cast::<i64>().term(), zero))
}

impl<T: Integer> Exp<T> {
    /// The same bits as the unsigned type of this width.
    #[doc = example!(use_(&[-1i8]).map(|x| x.cast_unsigned()) => [255])]
    pub fn cast_unsigned(self) -> Exp<T::Unsigned> {
        Exp::from_term(Term::apply(Op::Bitcast, <T::Unsigned as crate::Primitive>::TYPE, &[self.term()]))
    }

    /// The same bits as the signed type of this width.
    #[doc = example!(use_(&[255u8]).map(|x| x.cast_signed()) => [-1])]
    pub fn cast_signed(self) -> Exp<T::Signed> {
        Exp::from_term(Term::apply(Op::Bitcast, <T::Signed as crate::Primitive>::TYPE, &[self.term()]))
    }

    /// These bits, which are those of the unsigned type, as this type.
    fn from_unsigned(bits: Term) -> Exp<T> {
        Exp::from_term(Term::apply(Op::Bitcast, T::TYPE, &[bits]))
    }

    /// The number of one bits.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let counts = pumice::run(use_(&[40i64]).map(|x| (x.count_ones(), x.leading_zeros(), x.trailing_zeros())))?;
    /// assert_eq!(counts.to_vec()?, [(2u32, 58u32, 3u32)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn count_ones(self) -> Exp<u32> {
        self.unary(Op::CountOnes).cast()
    }

    /// The number of zero bits.
    #[doc = example!(use_(&[40u8]).map(|x| x.count_zeros()) => [6])]
    pub fn count_zeros(self) -> Exp<u32> {
        (!self).count_ones()
    }

    /// The number of zero bits before the highest one.
    #[doc = example!(use_(&[40u8]).map(|x| x.leading_zeros()) => [2])]
    pub fn leading_zeros(self) -> Exp<u32> {
        self.unary(Op::LeadingZeros).cast()
    }

    /// The number of one bits before the highest zero.
    #[doc = example!(use_(&[0b1101_0000u8]).map(|x| x.leading_ones()) => [2])]
    pub fn leading_ones(self) -> Exp<u32> {
        (!self).leading_zeros()
    }

    /// The number of zero bits after the lowest one.
    #[doc = example!(use_(&[40u8]).map(|x| x.trailing_zeros()) => [3])]
    pub fn trailing_zeros(self) -> Exp<u32> {
        self.unary(Op::TrailingZeros).cast()
    }

    /// The number of one bits after the lowest zero.
    #[doc = example!(use_(&[0b0001_0111u8]).map(|x| x.trailing_ones()) => [3])]
    pub fn trailing_ones(self) -> Exp<u32> {
        (!self).trailing_zeros()
    }

    /// Moves the bits up by a distance, which is taken modulo the width; those that leave at the top come in at the bottom.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let moved = pumice::run(use_(&[0x1234_5678u32]).map(|x| (x.rotate_left(8), x.swap_bytes(), x.reverse_bits())))?;
    /// assert_eq!(moved.to_vec()?, [(0x3456_7812, 0x7856_3412, 0x1e6a_2c48)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn rotate_left(self, distance: impl Into<Exp<u32>>) -> Exp<T> {
        let ty = as_wide(T::TYPE, false);
        let there = distance.into().term().cast(ty);
        // Distances are masked to the width, so the way back is the opposite of the way.
        let back = Term::from(crate::Constant::zero(ty)).binary(Op::Sub, there);
        let bits = self.cast_unsigned().term();
        Exp::from_unsigned(bits.binary(Op::Shl, there).binary(Op::Or, bits.binary(Op::Shr, back)))
    }

    /// Moves the bits down by a distance, which is taken modulo the width; those that leave at the bottom come in at the top.
    #[doc = example!(use_(&[0x1234u16]).map(|x| x.rotate_right(4)) => [0x4123])]
    pub fn rotate_right(self, distance: impl Into<Exp<u32>>) -> Exp<T> {
        self.rotate_left(Exp::from(0u32) - distance.into())
    }

    /// Exchanges neighbouring groups of bits: groups of `first` bits, of twice as many, and so on up to half the width.
    fn exchange_groups(self, first: u32) -> Exp<T> {
        let mut bits: Exp<T::Unsigned> = self.cast_unsigned();
        let mut size = first;
        while size < T::BITS {
            // Ones in every other group.
            let mask = integer((u64::MAX / ((1 << size) + 1)).into());
            let distance = integer(size.into());
            bits = ((bits & mask) << distance) | ((bits >> distance) & mask);
            size *= 2;
        }
        Exp::from_unsigned(bits.term())
    }

    /// The bytes in the opposite order.
    #[doc = example!(use_(&[0x1234u16]).map(|x| x.swap_bytes()) => [0x3412])]
    pub fn swap_bytes(self) -> Exp<T> {
        self.exchange_groups(8)
    }

    /// The bits in the opposite order.
    #[doc = example!(use_(&[0b1101_0000u8]).map(|x| x.reverse_bits()) => [0b0000_1011])]
    pub fn reverse_bits(self) -> Exp<T> {
        self.exchange_groups(1)
    }

    /// The upper half of the product in twice as many bits.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let high = pumice::run(use_(&[(u64::MAX, u64::MAX)]).map(|(a, b)| a.mul_hi(b)))?;
    /// assert_eq!(high.to_vec()?, [u64::MAX - 1]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn mul_hi(self, factor: impl Into<Exp<T>>) -> Exp<T> {
        let factor = factor.into();
        if T::BITS < 64 {
            let wide = if T::TYPE.is_signed() { ScalarType::I64 } else { ScalarType::U64 };
            let product = self.term().cast(wide).binary(Op::Mul, factor.term().cast(wide));
            let distance = crate::Constant::from_integer(wide, T::BITS.into());
            return Exp::from_term(product.binary(Op::Shr, distance.into()).cast(T::TYPE));
        }
        let high = Exp::<T>::from_unsigned(high_product(
            self.term().cast(ScalarType::U64),
            factor.term().cast(ScalarType::U64),
        ));
        if !T::TYPE.is_signed() {
            return high;
        }
        // A negative number is 2⁶⁴ less than its bits.
        let sign = integer::<T>(63);
        high - ((self >> sign) & factor) - ((factor >> sign) & self)
    }

    /// The distance between the two, which always fits the unsigned type.
    #[doc = example!(use_(&[(-100i8, 100i8)]).map(|(a, b)| a.abs_diff(b)) => [200])]
    pub fn abs_diff(self, other: impl Into<Exp<T>>) -> Exp<T::Unsigned> {
        let other = other.into();
        self.lt(other).select(other - self, self - other).cast_unsigned()
    }

    /// The absolute value in the unsigned type, where it always fits.
    #[doc = example!(use_(&[-7i8, i8::MIN]).map(|x| x.unsigned_abs()) => [7, 128])]
    pub fn unsigned_abs(self) -> Exp<T::Unsigned> {
        self.abs_diff(T::ZERO)
    }

    /// The integer part of the square root. That of a negative number is a failure.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let roots = pumice::run(use_(&[99u64]).map(|x| (x.isqrt(), x.ilog2(), x.ilog10())))?;
    /// assert_eq!(roots.to_vec()?, [(9u64, 6u32, 1u32)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn isqrt(self) -> Exp<T> {
        let holds = self.ge(T::ZERO);
        if !T::TYPE.is_signed() {
            return root(self);
        }
        require(holds, self, "isqrt", Location::caller()).select(root(self), Exp::from(T::ZERO))
    }

    /// The integer part of the square root; none of a negative number.
    #[doc = example!(use_(&[99, -1]).map(|x| x.checked_isqrt()) => [Some(9), None])]
    pub fn checked_isqrt(self) -> OptionExp<Exp<T>> {
        OptionExp::present_if(self.ge(T::ZERO), root(self))
    }

    /// The integer part of the binary logarithm. That of a number that is not positive is a failure.
    #[doc = example!(use_(&[99, 128]).map(|x| x.ilog2()) => [6, 7])]
    #[track_caller]
    pub fn ilog2(self) -> Exp<u32> {
        let holds = require(self.gt(T::ZERO), self, "ilog2", Location::caller());
        holds.select(binary_logarithm(self), Exp::from(0))
    }

    /// The integer part of the binary logarithm; none of a number that is not positive.
    #[doc = example!(use_(&[99, 0]).map(|x| x.checked_ilog2()) => [Some(6), None])]
    pub fn checked_ilog2(self) -> OptionExp<Exp<u32>> {
        OptionExp::present_if(self.gt(T::ZERO), binary_logarithm(self))
    }

    /// The integer part of the decimal logarithm. That of a number that is not positive is a failure.
    #[doc = example!(use_(&[99, 100]).map(|x| x.ilog10()) => [1, 2])]
    #[track_caller]
    pub fn ilog10(self) -> Exp<u32> {
        let holds = require(self.gt(T::ZERO), self, "ilog10", Location::caller());
        holds.select(decimal_logarithm(self), Exp::from(0))
    }

    /// The integer part of the decimal logarithm; none of a number that is not positive.
    #[doc = example!(use_(&[99, 0]).map(|x| x.checked_ilog10()) => [Some(1), None])]
    pub fn checked_ilog10(self) -> OptionExp<Exp<u32>> {
        OptionExp::present_if(self.gt(T::ZERO), decimal_logarithm(self))
    }

    /// The integer part of the logarithm to a base. That of a number that is not positive, or to a base below 2, is a failure.
    #[doc = example!(use_(&[80, 81]).map(|x| x.ilog(3)) => [3, 4])]
    #[track_caller]
    pub fn ilog(self, base: impl Into<Exp<T>>) -> Exp<u32> {
        let (base, location) = (base.into(), Location::caller());
        let holds = require(self.gt(T::ZERO), self, "ilog", location)
            & require(base.gt(T::ONE), base, "ilog", location);
        holds.select(logarithm(self, base), Exp::from(0))
    }

    /// The integer part of the logarithm to a base; none of a number that is not positive, and to a base below 2.
    #[doc = example!(use_(&[81, 0]).map(|x| x.checked_ilog(3)) => [Some(4), None])]
    pub fn checked_ilog(self, base: impl Into<Exp<T>>) -> OptionExp<Exp<u32>> {
        let base = base.into();
        OptionExp::present_if(self.gt(T::ZERO) & base.gt(T::ONE), logarithm(self, base))
    }

    /// The quotient, rounded up. Dividing by zero is a failure.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let blocks = pumice::run(use_(&[1000u32]).map(|n| (n.div_ceil(256), n.next_multiple_of(256))))?;
    /// assert_eq!(blocks.to_vec()?, [(4, 1024)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn div_ceil(self, divisor: impl Into<Exp<T>>) -> Exp<T> {
        let divisor = divisor.into();
        let (quotient, rest) = (self / divisor, self.binary(Op::Rem, divisor));
        // Rounding towards zero was downwards where the rest has the divisor's sign.
        let rounded_down = rest.ne(T::ZERO) & rest.is_below_zero().eq(divisor.is_below_zero());
        rounded_down.select(quotient + T::ONE, quotient)
    }

    /// The smallest multiple of a number that is not below this (the largest that is not above, of a negative number); wraps.
    /// A multiple of zero is a failure.
    #[doc = example!(use_(&[1000, 1024]).map(|x| x.next_multiple_of(256)) => [1024, 1024])]
    #[track_caller]
    pub fn next_multiple_of(self, of: impl Into<Exp<T>>) -> Exp<T> {
        let of = of.into();
        let rest = self % of;
        // The rest with the sign of `of`.
        let moved = rest.ne(T::ZERO) & rest.is_below_zero().ne(of.is_below_zero());
        let rest = moved.select(rest + of, rest);
        rest.eq(T::ZERO).select(self, self + (of - rest))
    }

    /// Whether this is a power of two; no negative number is.
    #[doc = example!(use_(&[64, 65]).map(|x| x.is_power_of_two()) => [true, false])]
    pub fn is_power_of_two(self) -> Exp<bool> {
        self.count_ones().eq(1) & self.gt(T::ZERO)
    }

    /// The smallest power of two that is not below this; 0 where that does not fit.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let sizes = pumice::run(use_(&[0u32, 5, u32::MAX]).map(|x| x.next_power_of_two()))?;
    /// assert_eq!(sizes.to_vec()?, [1, 8, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn next_power_of_two(self) -> Exp<T> {
        let one = integer::<T>(1);
        let width = integer::<T>(T::BITS.into()) - (self - one).unary(Op::LeadingZeros);
        let fits = width.lt(integer::<T>((T::BITS - u32::from(T::TYPE.is_signed())).into()));
        self.le(one).select(one, fits.select(one << width, Exp::from(T::ZERO)))
    }

    /// The smallest power of two that is not below this; none where that does not fit.
    #[doc = example!(use_(&[5u8, 200]).map(|x| x.checked_next_power_of_two()) => [Some(8), None])]
    pub fn checked_next_power_of_two(self) -> OptionExp<Exp<T>> {
        let power = self.next_power_of_two();
        OptionExp::present_if(power.ne(T::ZERO), power)
    }
}

impl<T: Integer + Signed> Exp<T> {
    /// Whether this is above zero.
    #[doc = example!(use_(&[-3, 0, 4]).map(|x| x.is_positive()) => [false, false, true])]
    pub fn is_positive(self) -> Exp<bool> {
        self.gt(T::ZERO)
    }

    /// Whether this is below zero.
    #[doc = example!(use_(&[-3, 0, 4]).map(|x| x.is_negative()) => [true, false, false])]
    pub fn is_negative(self) -> Exp<bool> {
        self.lt(T::ZERO)
    }
}

/// The upper 64 bits of the product of two `u64`s, from products of halves.
fn high_product(a: Term, b: Term) -> Term {
    let half = |word: Exp<u64>| (word & u64::from(u32::MAX), word >> 32);
    let ((a_low, a_high), (b_low, b_high)) = (half(Exp::from_term(a)), half(Exp::from_term(b)));
    let middle = a_high * b_low + ((a_low * b_low) >> 32);
    // No sum here can be 2⁶⁴.
    let (middle_low, middle_high) = half(middle);
    (a_high * b_high + middle_high + ((a_low * b_high + middle_low) >> 32)).term()
}

/// The integer part of the square root; anything of a negative number.
fn root<T: Integer>(x: Exp<T>) -> Exp<T> {
    let bits: Exp<u64> = x.cast();
    // Off by one at most, above 2⁵².
    let near: Exp<u64> = bits.cast::<f64>().sqrt().cast();
    let near = near.min(u64::from(u32::MAX));
    let near = (near * near).gt(bits).select(near - 1, near);
    let next = (near + 1).min(u64::from(u32::MAX));
    (next * next).le(bits).select(next, near).cast()
}

/// The integer part of the binary logarithm; anything of a number that is not positive.
fn binary_logarithm<T: Integer>(x: Exp<T>) -> Exp<u32> {
    Exp::from(T::BITS - 1) - x.leading_zeros()
}

/// The integer part of the decimal logarithm: how many powers of ten are not above.
fn decimal_logarithm<T: Integer>(x: Exp<T>) -> Exp<u32> {
    let (_, most) = T::TYPE.range();
    let powers = (1..).map(|k| 10i128.pow(k)).take_while(|power| *power <= most);
    powers.map(|power| x.ge(integer::<T>(power)).cast::<u32>()).fold(Exp::from(0), |sum, above| sum + above)
}

/// The integer part of the logarithm to a base of 2 or more; anything of a number that is not positive.
fn logarithm<T: Integer>(x: Exp<T>, base: Exp<T>) -> Exp<u32> {
    // With a smaller base the loop would not end.
    let base = base.max(integer(2));
    let divided = |(rest, count): (Exp<T>, Exp<u32>)| (rest.binary(Op::Div, base), count + 1);
    while_((x, Exp::from(0)), |(rest, _)| rest.ge(base), divided).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option::tests::{constants, evaluate, failure};

    macro_rules! as_rust {
        ($($t:ident [$($method:ident)*];)*) => { $(
            for x in [0, 1, 2, 3, 7, 8, 9, 10, 99, 100, 101, 255u8 as $t, <$t>::MAX, <$t>::MAX - 1, <$t>::MIN, <$t>::MAX / 2 + 1, <$t>::MIN + 1] {
                $(assert_eq!(Exp::from(x).$method().term().constant(), Some(x.$method().into()), "{x}.{}", stringify!($method));)*
                for n in [0, 1, 31, 32, 33, 64, 200] {
                    assert_eq!(Exp::from(x).rotate_left(n).term().constant(), Some(x.rotate_left(n).into()), "{x} {n}");
                    assert_eq!(Exp::from(x).rotate_right(n).term().constant(), Some(x.rotate_right(n).into()), "{x} {n}");
                }
                for y in [0, 1, 3, 7, <$t>::MAX, <$t>::MIN] {
                    assert_eq!(Exp::from(x).abs_diff(y).term().constant(), Some(x.abs_diff(y).into()), "{x} {y}");
                    assert_eq!(Exp::from(x).midpoint(y).term().constant(), Some(x.midpoint(y).into()), "{x} {y}");
                    let high = (i128::from(x).wrapping_mul(i128::from(y)) >> <$t>::BITS) as $t;
                    assert_eq!(Exp::from(x).mul_hi(y).term().constant(), Some(high.into()), "{x} {y}");
                }
                if x > 0 {
                    assert_eq!(Exp::from(x).ilog2().term().constant(), Some(x.ilog2().into()));
                    assert_eq!(Exp::from(x).ilog10().term().constant(), Some(x.ilog10().into()));
                    assert_eq!(Exp::from(x).isqrt().term().constant(), Some(x.isqrt().into()), "{x}");
                }
            }
        )* };
    }

    #[test]
    fn methods_mean_what_they_do_in_rust() {
        as_rust! {
            i32 [count_zeros leading_ones trailing_ones swap_bytes reverse_bits count_ones leading_zeros trailing_zeros unsigned_abs signum is_positive is_negative];
            i64 [count_zeros leading_ones trailing_ones swap_bytes reverse_bits count_ones leading_zeros trailing_zeros unsigned_abs signum is_positive is_negative];
            u32 [count_zeros leading_ones trailing_ones swap_bytes reverse_bits count_ones leading_zeros trailing_zeros is_power_of_two];
            u64 [count_zeros leading_ones trailing_ones swap_bytes reverse_bits count_ones leading_zeros trailing_zeros is_power_of_two];
            i8 [count_zeros leading_ones trailing_ones swap_bytes reverse_bits count_ones leading_zeros trailing_zeros unsigned_abs signum is_positive is_negative];
            i16 [count_zeros leading_ones trailing_ones swap_bytes reverse_bits count_ones leading_zeros trailing_zeros unsigned_abs signum is_positive is_negative];
            u8 [count_zeros leading_ones trailing_ones swap_bytes reverse_bits count_ones leading_zeros trailing_zeros is_power_of_two];
            u16 [count_zeros leading_ones trailing_ones swap_bytes reverse_bits count_ones leading_zeros trailing_zeros is_power_of_two];
        }
    }

    #[test]
    fn roots_are_exact_at_squares() {
        for root in [94_906_267u64, 67_108_865, u32::MAX.into(), 3_037_000_499] {
            for x in [root * root - 1, root * root, root * root + 1] {
                assert_eq!(Exp::from(x).isqrt().term().constant(), Some(x.isqrt().into()), "{x}");
            }
        }
    }

    #[test]
    fn multiples_and_powers_of_two() {
        for x in [0u32, 1, 5, 8, 9, 1 << 31, (1 << 31) + 1, u32::MAX] {
            let power = x.checked_next_power_of_two();
            assert_eq!(Exp::from(x).next_power_of_two().term().constant(), Some(power.unwrap_or(0).into()));
            for y in [1, 3, 256, u32::MAX] {
                assert_eq!(Exp::from(x).div_ceil(y).term().constant(), Some(x.div_ceil(y).into()));
                let next = x.checked_next_multiple_of(y).unwrap_or_else(|| (x / y + 1).wrapping_mul(y));
                assert_eq!(Exp::from(x).next_multiple_of(y).term().constant(), Some(next.into()), "{x} {y}");
            }
        }
        for (x, y, up, next) in
            [(-7, 2, -3, -6), (7, -2, -3, 6), (-7, -2, 4, -8), (7, 2, 4, 8), (-8, 2, -4, -8)]
        {
            assert_eq!(Exp::from(x).div_ceil(y).term().constant(), Some(up.into()), "{x} {y}");
            assert_eq!(Exp::from(x).next_multiple_of(y).term().constant(), Some(next.into()), "{x} {y}");
        }
        assert_eq!(Exp::from((1 << 30) + 1).next_power_of_two().term().constant(), Some(0.into()));
    }

    #[test]
    fn logarithms_to_any_base_are_those_of_rust() {
        macro_rules! logarithms {
            ($($t:ident)*) => { $(
                for x in [0, 1, 2, 9, 26, 27, 100, <$t>::MAX, <$t>::MIN, <$t>::MAX / 2] {
                    for base in [0, 1, 2, 3, 10, <$t>::MAX, <$t>::MIN] {
                        let found = evaluate(|(x, base): (Exp<$t>, Exp<$t>)| x.checked_ilog(base), (x, base));
                        assert_eq!(found, constants(x.checked_ilog(base)), "{x} {base}");
                        if let Some(log) = x.checked_ilog(base) {
                            let found = evaluate(|(x, base): (Exp<$t>, Exp<$t>)| x.ilog(base), (x, base));
                            assert_eq!(found, constants(log), "{x} {base}");
                        } else {
                            let kind = failure(|(x, base): (Exp<$t>, Exp<$t>)| x.ilog(base), (x, base)).map(|found| found.0);
                            assert_eq!(kind, Some(FailureKind::OutsideDomain), "{x} {base}");
                        }
                    }
                }
            )* };
        }
        logarithms!(i8 i16 i32 i64 u8 u16 u32 u64);
    }

    #[test]
    fn what_has_no_result_is_a_failure_or_none() {
        let none = |option: OptionExp<Exp<u32>>| option.is_none().term().constant() == Some(true.into());
        assert!(none(Exp::from(0u64).checked_ilog2()) && none(Exp::from(-5).checked_ilog10()));
        assert!(Exp::from(0).ilog2().term().constant().is_none());
    }
}
