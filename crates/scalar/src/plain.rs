//! Methods of plain values whose type is not known: in a function over any `T: Float`, `x.sqrt()` is a method of the trait for a plain `x`, as it is one of
//! `Exp<T>` for an expression. So `#[embed]` functions may be generic.
//!
//! Names and meanings are Rust's. Where the type is known, Rust's own methods are found first, so importing the traits changes nothing; methods that
//! Rust has not, as `erf`, and those of `f16` and `bf16`, are found with the trait imported.

use crate::Op;
use crate::elt::Primitive;
use crate::float::FloatOrder;
use half::{bf16, f16};

/// Evaluates an operation on plain values as the interpreter does.
pub(crate) fn evaluated<T: Primitive>(op: Op, operands: &[T]) -> T {
    let mut constants = [T::default().into(); 3];
    for (constant, operand) in constants.iter_mut().zip(operands) {
        *constant = (*operand).into();
    }
    T::from_constant(op.evaluate(T::TYPE, constants.get(..operands.len()).unwrap_or(&constants)))
}

/// Minimum, maximum and limits of plain values of any type that is [`Ordered`](crate::Ordered), as expressions have them.
///
/// These are no methods of `Ordered` itself, because integers have them from [`Ord`], and with both traits imported neither would be found.
///
/// ```
/// use pumice::{Number, prelude::*};
/// #[embed]
/// fn positive_part<T: Number>(x: T) -> T {
///     x.max(T::ZERO)
/// }
/// assert_eq!((positive_part(-2), positive_part(0.5)), (0, 0.5));
/// assert_eq!(pumice::run(use_(&[-1.5f32, 2.0]).map(positive_part))?.to_vec()?, [0.0, 2.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait PlainOrdered: Sized {
    /// Returns the smaller of the two; of a NaN and a number, the number; -0.0 is smaller than 0.0.
    fn min(self, other: Self) -> Self;
    /// Returns the larger of the two; of a NaN and a number, the number; 0.0 is larger than -0.0.
    fn max(self, other: Self) -> Self;
    /// Returns the nearest value between the bounds, which must not be swapped; a NaN stays NaN.
    fn clamp(self, low: Self, high: Self) -> Self;
}

macro_rules! ordered {
    ($($t:ident)*, $min:path, $max:path, $clamp:path) => { $(
        impl PlainOrdered for $t {
            #[inline]
            fn min(self, other: $t) -> $t { $min(self, other) }
            #[inline]
            fn max(self, other: $t) -> $t { $max(self, other) }
            #[inline]
            #[track_caller]
            fn clamp(self, low: $t, high: $t) -> $t { $clamp(self, low, high) }
        }
    )* };
}
ordered!(i8 i16 i32 i64 u8 u16 u32 u64 char, Ord::min, Ord::max, Ord::clamp);
ordered!(f32, FloatOrder::smaller, FloatOrder::larger, f32::clamp);
ordered!(f64, FloatOrder::smaller, FloatOrder::larger, f64::clamp);

macro_rules! ordered_halves {
    ($($t:ident)*) => { $(
        impl PlainOrdered for $t {
            fn min(self, other: $t) -> $t { evaluated(Op::Min, &[self, other]) }
            fn max(self, other: $t) -> $t { evaluated(Op::Max, &[self, other]) }
            #[track_caller]
            fn clamp(self, low: $t, high: $t) -> $t { <$t>::clamp(self, low, high) }
        }
    )* };
}
ordered_halves!(f16 bf16);

/// Hands the methods of all numbers to a macro that declares or defines them.
macro_rules! number_methods {
    ($make:ident! $($t:ident)?) => { $make! { $($t:)?
        rem_euclid(divisor: Self) -> Self;
        div_euclid(divisor: Self) -> Self;
        midpoint(other: Self) -> Self;
    } };
}

/// Hands the methods of numbers with a sign to a macro.
macro_rules! signed_methods {
    ($make:ident! $($t:ident)?) => { $make! { $($t:)?
        abs() -> Self;
        signum() -> Self;
    } };
}

/// Hands the methods of floats to a macro.
macro_rules! float_methods {
    ($make:ident! $($t:ident)?) => { $make! { $($t:)?
        sqrt() -> Self;
        cbrt() -> Self;
        exp() -> Self;
        exp2() -> Self;
        exp_m1() -> Self;
        ln() -> Self;
        log2() -> Self;
        log10() -> Self;
        ln_1p() -> Self;
        log(base: Self) -> Self;
        sin() -> Self;
        cos() -> Self;
        tan() -> Self;
        sin_cos() -> (Self, Self);
        asin() -> Self;
        acos() -> Self;
        atan() -> Self;
        atan2(x: Self) -> Self;
        sinh() -> Self;
        cosh() -> Self;
        tanh() -> Self;
        asinh() -> Self;
        acosh() -> Self;
        atanh() -> Self;
        floor() -> Self;
        ceil() -> Self;
        round() -> Self;
        round_ties_even() -> Self;
        trunc() -> Self;
        fract() -> Self;
        recip() -> Self;
        to_degrees() -> Self;
        to_radians() -> Self;
        powf(exponent: Self) -> Self;
        powi(exponent: i32) -> Self;
        hypot(other: Self) -> Self;
        copysign(sign: Self) -> Self;
        is_nan() -> bool;
        is_finite() -> bool;
        is_infinite() -> bool;
        is_sign_negative() -> bool;
        is_sign_positive() -> bool;
    } };
}

/// Hands the methods of integers, those that Rust has for signed and unsigned ones, to a macro.
macro_rules! integer_methods {
    ($make:ident! $($t:ident)?) => { $make! { $($t:)?
        count_ones() -> u32;
        count_zeros() -> u32;
        leading_zeros() -> u32;
        leading_ones() -> u32;
        trailing_zeros() -> u32;
        trailing_ones() -> u32;
        rotate_left(distance: u32) -> Self;
        rotate_right(distance: u32) -> Self;
        swap_bytes() -> Self;
        reverse_bits() -> Self;
        abs_diff(other: Self) -> Self::Unsigned;
        isqrt() -> Self;
        ilog(base: Self) -> u32;
        ilog2() -> u32;
        ilog10() -> u32;
        checked_ilog(base: Self) -> Option<u32>;
        checked_ilog2() -> Option<u32>;
        checked_ilog10() -> Option<u32>;
        wrapping_add(other: Self) -> Self;
        wrapping_sub(other: Self) -> Self;
        wrapping_mul(other: Self) -> Self;
        wrapping_div(divisor: Self) -> Self;
        wrapping_rem(divisor: Self) -> Self;
        wrapping_div_euclid(divisor: Self) -> Self;
        wrapping_rem_euclid(divisor: Self) -> Self;
        wrapping_neg() -> Self;
        wrapping_pow(exponent: u32) -> Self;
        wrapping_shl(distance: u32) -> Self;
        wrapping_shr(distance: u32) -> Self;
        checked_add(other: Self) -> Option<Self>;
        checked_sub(other: Self) -> Option<Self>;
        checked_mul(other: Self) -> Option<Self>;
        checked_div(divisor: Self) -> Option<Self>;
        checked_rem(divisor: Self) -> Option<Self>;
        checked_div_euclid(divisor: Self) -> Option<Self>;
        checked_rem_euclid(divisor: Self) -> Option<Self>;
        checked_neg() -> Option<Self>;
        checked_pow(exponent: u32) -> Option<Self>;
        checked_shl(distance: u32) -> Option<Self>;
        checked_shr(distance: u32) -> Option<Self>;
        saturating_add(other: Self) -> Self;
        saturating_sub(other: Self) -> Self;
        saturating_mul(other: Self) -> Self;
        saturating_div(divisor: Self) -> Self;
        saturating_pow(exponent: u32) -> Self;
        overflowing_add(other: Self) -> (Self, bool);
        overflowing_sub(other: Self) -> (Self, bool);
        overflowing_mul(other: Self) -> (Self, bool);
        overflowing_div(divisor: Self) -> (Self, bool);
        overflowing_rem(divisor: Self) -> (Self, bool);
        overflowing_neg() -> (Self, bool);
        overflowing_pow(exponent: u32) -> (Self, bool);
        overflowing_shl(distance: u32) -> (Self, bool);
        overflowing_shr(distance: u32) -> (Self, bool);
    } };
}

/// Declares methods in a trait.
macro_rules! declared {
    ($($name:ident($($argument:ident: $ty:ty)?) -> $result:ty;)*) => { $(
        #[doc = concat!("Rust's `", stringify!($name), "`, of a plain value of any such type.")]
        fn $name(self $(, $argument: $ty)?) -> $result;
    )* };
}

/// Defines methods of a type by Rust's own.
macro_rules! as_rust {
    ($t:ident: $($name:ident($($argument:ident: $ty:ty)?) -> $result:ty;)*) => { $(
        #[inline]
        #[track_caller]
        fn $name(self $(, $argument: $ty)?) -> $result {
            <$t>::$name(self $(, $argument)?)
        }
    )* };
}

/// Defines methods of a float of 16 bits by those of `f32`: the result is rounded, as that of an operation is on devices.
macro_rules! through_f32 {
    ($t:ident: $($name:ident($($argument:ident: $ty:ty)?) -> $result:ty;)*) => { $(
        fn $name(self $(, $argument: $ty)?) -> $result {
            Narrow::narrow(f32::$name(self.to_f32() $(, $crate::plain::Widen::widen($argument))?))
        }
    )* };
}
pub(crate) use {
    as_rust, declared, float_methods, integer_methods, number_methods, signed_methods, through_f32,
};

/// Arguments of methods of `f32` from those of a float of 16 bits.
pub(crate) trait Widen {
    type Wide;
    fn widen(self) -> Self::Wide;
}

/// Results of methods of `f32` as those of a float of 16 bits.
pub(crate) trait Narrow<Wide> {
    fn narrow(wide: Wide) -> Self;
}

macro_rules! halves {
    ($($t:ident)*) => { $(
        impl Widen for $t {
            type Wide = f32;
            fn widen(self) -> f32 { self.to_f32() }
        }
        impl Narrow<f32> for $t {
            fn narrow(wide: f32) -> $t { <$t>::from_f32(wide) }
        }
        impl Narrow<(f32, f32)> for ($t, $t) {
            fn narrow((a, b): (f32, f32)) -> ($t, $t) { (<$t>::from_f32(a), <$t>::from_f32(b)) }
        }
    )* };
}
halves!(f16 bf16);

impl Widen for i32 {
    type Wide = i32;
    fn widen(self) -> i32 {
        self
    }
}

impl Narrow<bool> for bool {
    fn narrow(wide: bool) -> bool {
        wide
    }
}
