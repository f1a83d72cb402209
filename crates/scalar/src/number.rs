//! The classes of scalar types, and constants of a type that is not known yet, for functions over any `T: Number` or
//! `T: Float`, with the methods of plain values of such a type (`plain.rs`). Operations on expressions are elsewhere.

use crate::elt::Primitive;
use crate::exp::Exp;
use crate::plain::{
    Narrow, PlainOrdered, as_rust, declared, evaluated, float_methods, integer_methods, number_methods,
    signed_methods, through_f32,
};
use crate::types::{Constant, ScalarType};
use crate::{Op, Term};
use half::{bf16, f16};
use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, DivAssign, Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl,
    Shr, Sub, SubAssign,
};

/// A type whose values have an order: numbers and characters. Plain values of such a type have `min`, `max` and `clamp`
/// ([`PlainOrdered`](crate::embedding::PlainOrdered)), as expressions have.
///
/// ```
/// use pumice::{Ordered, prelude::*};
/// fn span<T: Ordered>(a: Exp<T>, b: Exp<T>) -> (Exp<T>, Exp<T>) {
///     (a.min(b), a.max(b))
/// }
/// let found = pumice::run(use_(&[('b', 'a')]).map(|(a, b)| span(a, b)))?;
/// assert_eq!(found.to_vec()?, [('a', 'b')]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait Ordered: Primitive + PartialOrd + PlainOrdered {}

/// A type with arithmetic: every scalar type but `bool` and `char`. Its values have Rust's operators, so that a plain function, or an
/// `#[embed]` function, over any `T: Number` needs no other bound.
///
/// ```
/// use pumice::prelude::*;
/// use pumice::{Number, number};
/// /// 3x² + x - 1 for numbers of any kind.
/// fn polynomial<T: Number>(x: Exp<T>) -> Exp<T> {
///     number::<T>(3.0) * x * x + x - T::ONE
/// }
/// let whole = pumice::run(use_(&[1i64, 2]).map(|x| polynomial(x)))?;
/// assert_eq!(whole.to_vec()?, [3, 13]);
/// let single = pumice::run(use_(&[0.5f32]).map(|x| polynomial(x)))?;
/// assert_eq!(single.to_vec()?, [0.25]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait Number:
    Ordered
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + RemAssign
{
    /// The type of the exponents of [`Exp::pow`]: `u32` for integers, the type itself for floats.
    type Exponent: Primitive;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The smallest finite value.
    const MIN: Self;
    /// The largest finite value.
    const MAX: Self;

    /// Returns this to a power: [`Exp::pow`] of a plain value.
    fn pow(self, exponent: Self::Exponent) -> Self;
    number_methods!(declared!);
}

/// A type with bit operations: integers and `bool`.
///
/// ```
/// use pumice::{Bits, prelude::*};
/// fn either_but_not_both<T: Bits>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
///     a ^ b
/// }
/// let found = pumice::run(use_(&[(0b1100u8, 0b1010u8)]).map(|(a, b)| either_but_not_both(a, b)))?;
/// assert_eq!(found.to_vec()?, [0b0110]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait Bits:
    Primitive + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
}

/// An integer type.
///
/// ```
/// use pumice_scalar::{Exp, Integer};
/// /// The digits from `shift` on that are ones in `mask`.
/// fn field<T: Integer>(word: Exp<T>, shift: T, mask: T) -> Exp<T> {
///     (word >> shift) & mask
/// }
/// assert_eq!(field(Exp::from(0xabcu32), 4, 0xf).term().constant(), Some(0xbu32.into()));
/// ```
pub trait Integer: Number<Exponent = u32> + Bits + Shl<Output = Self> + Shr<Output = Self> {
    /// The unsigned type of the same width.
    type Unsigned: Integer;
    /// The signed type of the same width.
    type Signed: Integer + Signed;
    /// The width in bits.
    const BITS: u32;

    integer_methods!(declared!);
}

/// A type with a sign: signed integers and floats.
///
/// ```
/// use pumice::{Signed, prelude::*};
/// fn below_zero<T: Signed>(x: Exp<T>) -> Exp<T> {
///     -x.abs()
/// }
/// let found = pumice::run(use_(&[2.5, -3.0]).map(|x| below_zero(x)))?;
/// assert_eq!(found.to_vec()?, [-2.5, -3.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait Signed: Number + Neg<Output = Self> {
    signed_methods!(declared!);
}

/// Methods of floats that Rust has not, or not yet.
macro_rules! not_in_rust {
    ($($name:ident $op:ident),*) => { $(
        #[doc = concat!("[`Exp::", stringify!($name), "`] of a plain value.")]
        fn $name(self) -> Self {
            evaluated(Op::$op, &[self])
        }
    )* };
}

/// A float type. Plain values of such a type have the methods that are listed here: in a generic function, and, where this trait is imported,
/// `f16` and `bf16` too, and all floats those that Rust has not.
///
/// ```
/// use pumice::prelude::*;
/// use pumice::Float;
/// fn area<T: Float>(radius: Exp<T>) -> Exp<T> {
///     radius * radius * T::PI
/// }
/// let areas = pumice::run(use_(&[1f64, 2.0]).map(|r| area(r)))?;
/// assert_eq!(areas.to_vec()?, [std::f64::consts::PI, 4.0 * std::f64::consts::PI]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait Float: Signed + Number<Exponent = Self> {
    /// The ratio of a circle's circumference to its diameter.
    const PI: Self;
    /// The base of the natural logarithm.
    const E: Self;
    /// The difference between 1 and the next larger number.
    const EPSILON: Self;
    /// The smallest positive number that is not subnormal.
    const MIN_POSITIVE: Self;
    /// Infinity.
    const INFINITY: Self;
    /// Not a number.
    const NAN: Self;

    float_methods!(declared!);

    /// Returns this × `factor` + `summand` with one rounding.
    fn mul_add(self, factor: Self, summand: Self) -> Self {
        evaluated(Op::MulAdd, &[self, factor, summand])
    }
    /// Whether this is neither zero, subnormal, infinite nor NaN.
    fn is_normal(self) -> bool {
        self.abs() >= Self::MIN_POSITIVE && self.is_finite()
    }
    /// Whether this is subnormal: smaller than any normal number, and not zero.
    fn is_subnormal(self) -> bool {
        self.abs() < Self::MIN_POSITIVE && self != Self::ZERO
    }
    /// Returns 1 through the square root, each of the two rounded.
    fn rsqrt(self) -> Self {
        self.sqrt().recip()
    }
    /// Returns a number between this and another, by how far it is from the first to the second.
    fn lerp(self, to: Self, part: Self) -> Self {
        self + (to - self) * part
    }
    not_in_rust!(exp10 Exp10, erf Erf, erfc Erfc, gamma Gamma, ln_gamma LnGamma);
}

/// Returns a number as an expression of whatever type is wanted, converted as Rust's `as` does.
///
/// ```
/// use pumice::{Exp, Number, number};
/// fn half<T: Number>(x: Exp<T>) -> Exp<T> {
///     x / number::<T>(2.0)
/// }
/// ```
pub fn number<T: Number>(value: f64) -> Exp<T> {
    Exp::from_term(Term::from(Op::Cast.evaluate(T::TYPE, &[value.into()])))
}

/// Returns an integer as an expression of a type, wrapped to its width.
pub(crate) fn integer<T: Primitive>(value: i128) -> Exp<T> {
    Exp::from_term(Term::from(Constant::from_integer(T::TYPE, value)))
}

/// Returns the integer type, signed or not, that has as many bits as a scalar type.
pub(crate) fn as_wide(ty: ScalarType, signed: bool) -> ScalarType {
    let fits =
        |other: &ScalarType| other.is_integer() && other.is_signed() == signed && other.bytes() == ty.bytes();
    ScalarType::ALL.into_iter().find(fits).unwrap_or(ScalarType::U64)
}

macro_rules! floats {
    ($($t:ident $consts:path;)*) => { $(
        impl Number for $t {
            type Exponent = $t;
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            const MIN: $t = <$t>::MIN;
            const MAX: $t = <$t>::MAX;
            fn pow(self, exponent: $t) -> $t {
                self.powf(exponent)
            }
            number_methods!(as_rust! $t);
        }
        impl Signed for $t {
            signed_methods!(as_rust! $t);
        }
        impl Float for $t {
            const PI: $t = { use $consts as consts; consts::PI };
            const E: $t = { use $consts as consts; consts::E };
            const EPSILON: $t = <$t>::EPSILON;
            const MIN_POSITIVE: $t = <$t>::MIN_POSITIVE;
            const INFINITY: $t = <$t>::INFINITY;
            const NAN: $t = <$t>::NAN;
            float_methods!(as_rust! $t);
        }
    )* };
}
floats! {
    f32 std::f32::consts;
    f64 std::f64::consts;
}

macro_rules! halves {
    ($($t:ident)*) => { $(
        impl Number for $t {
            type Exponent = $t;
            const ZERO: $t = <$t>::ZERO;
            const ONE: $t = <$t>::ONE;
            const MIN: $t = <$t>::MIN;
            const MAX: $t = <$t>::MAX;
            fn pow(self, exponent: $t) -> $t {
                self.powf(exponent)
            }
            number_methods!(through_f32! $t);
        }
        impl Signed for $t {
            signed_methods!(through_f32! $t);
        }
        impl Float for $t {
            const PI: $t = <$t>::PI;
            const E: $t = <$t>::E;
            const EPSILON: $t = <$t>::EPSILON;
            const MIN_POSITIVE: $t = <$t>::MIN_POSITIVE;
            const INFINITY: $t = <$t>::INFINITY;
            const NAN: $t = <$t>::NAN;
            float_methods!(through_f32! $t);
        }
    )* };
}
halves!(f16 bf16);

macro_rules! integers {
    ($($t:ident $unsigned:ident $signed:ident;)*) => { $(
        impl Number for $t {
            type Exponent = u32;
            const ZERO: $t = 0;
            const ONE: $t = 1;
            const MIN: $t = <$t>::MIN;
            const MAX: $t = <$t>::MAX;
            #[track_caller]
            fn pow(self, exponent: u32) -> $t {
                <$t>::pow(self, exponent)
            }
            number_methods!(as_rust! $t);
        }
        impl Bits for $t {}
        impl Integer for $t {
            type Unsigned = $unsigned;
            type Signed = $signed;
            const BITS: u32 = <$t>::BITS;
            integer_methods!(as_rust! $t);
        }
    )* };
}
integers! {
    i32 u32 i32;
    i64 u64 i64;
    u32 u32 i32;
    u64 u64 i64;
    i8 u8 i8;
    i16 u16 i16;
    u8 u8 i8;
    u16 u16 i16;
}

macro_rules! signed_integers {
    ($($t:ident)*) => { $(impl Signed for $t {
        signed_methods!(as_rust! $t);
    })* };
}
signed_integers!(i8 i16 i32 i64);

macro_rules! mark { ($mark:ident: $($t:ident)*) => { $(impl $mark for $t {})* }; }
mark!(Bits: bool);
mark!(Ordered: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 char);
