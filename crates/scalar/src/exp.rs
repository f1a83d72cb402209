//! Scalar expressions as users write them.
//!
//! An [`Exp`] is a `Copy` handle; operators work with plain values on either side; comparisons are methods. This is a
//! thin typed layer: everything is done by [`Term`].

use crate::Op;
use crate::arena::{self, Term};
use crate::elt::{Elt, Lift, Primitive};
use crate::graph::{FailureKind, Site};
use crate::place::Place;
use crate::types::Constant;
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};
use std::panic::Location;

/// A scalar expression of type `T`.
///
/// Arithmetic, division, remainder, square root and conversions of floats are correctly rounded, without contraction.
/// Mathematical functions say how far they may be from the exact result, in units in the last place: on every device,
/// unless the compiler was told `fast_math`, with which nothing is promised. Results for zeros, infinities and NaN are
/// those of C (annex F), subnormal numbers included where the device has them (an OpenCL device may not, for `f32`).
///
/// ```
/// use pumice::Exp;
/// fn polynomial(x: Exp<f32>) -> Exp<f32> {
///     2.0 * x * x + x.abs().sqrt() - 1.0
/// }
/// ```
#[derive(Debug)]
pub struct Exp<T> {
    term: Term,
    of: PhantomData<T>,
}

impl<T> Clone for Exp<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Exp<T> {}

impl<T: Primitive> Exp<T> {
    /// The expression without its type.
    pub fn term(self) -> Term {
        self.term
    }

    /// The expression that a term is. A term of another type is a mistake that is reported when the program is compiled.
    pub fn from_term(term: Term) -> Exp<T> {
        let term = match term.ty() == T::TYPE {
            true => term,
            false => Term::invalid(T::TYPE, "an expression of another type stands here"),
        };
        Exp { term, of: PhantomData }
    }

    fn unary(self, op: Op) -> Exp<T> {
        Exp::from_term(Term::apply(op, T::TYPE, &[self.term]))
    }

    fn binary(self, op: Op, other: impl Into<Exp<T>>) -> Exp<T> {
        Exp::from_term(self.term.binary(op, other.into().term))
    }

    fn compare(self, op: Op, other: impl Into<Exp<T>>) -> Exp<bool> {
        Exp::from_term(self.term.compare(op, other.into().term))
    }

    /// Whether the two are equal.
    #[allow(clippy::should_implement_trait)]
    pub fn eq(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        self.compare(Op::Eq, other)
    }

    /// Whether the two differ.
    #[allow(clippy::should_implement_trait)]
    pub fn ne(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        self.compare(Op::Ne, other)
    }

    /// Conversion to another scalar type, as Rust's `as`: integers wrap, floats saturate, NaN becomes 0.
    pub fn cast<U: Primitive>(self) -> Exp<U> {
        Exp::from_term(self.term.cast(U::TYPE))
    }
}

impl<T: Primitive> From<T> for Exp<T> {
    fn from(value: T) -> Exp<T> {
        Exp::from_term(Term::from(value.into()))
    }
}

/// A plain value as an expression.
///
/// ```
/// use pumice::{Exp, constant};
/// let pair: (Exp<f32>, Exp<i32>) = constant((1.5, 2));
/// let one = constant(1u32);
/// ```
pub fn constant<T: Elt<Exp = L>, L: Lift<Elt = T>>(value: T) -> L {
    let mut constants = Vec::new();
    value.add_constants(&mut constants);
    L::from_terms(&mut constants.into_iter().map(Term::from))
}

/// One of two values; only that one is computed.
///
/// ```
/// use pumice::{Exp, cond};
/// fn root(x: Exp<f32>) -> Exp<f32> {
///     cond(x.gt(0.0), || x.sqrt(), || 0.0.into())
/// }
/// ```
pub fn cond<L: Lift>(condition: Exp<bool>, then: impl FnOnce() -> L, otherwise: impl FnOnce() -> L) -> L {
    let values = arena::branch(condition.term, &then().terms(), &otherwise().terms());
    L::from_terms(&mut values.into_iter())
}

/// Repeats `next` on a value while `condition` holds.
///
/// ```
/// use pumice::{Exp, while_, constant};
/// fn bits(n: Exp<u32>) -> Exp<i32> {
///     let (_, count) = while_((n, constant(0)), |(n, _)| n.gt(0), |(n, count)| (n >> 1, count + 1));
///     count
/// }
/// ```
pub fn while_<L: Lift>(initial: L, condition: impl FnOnce(L) -> Exp<bool>, next: impl FnOnce(L) -> L) -> L {
    let lift = |terms: &[Term]| L::from_terms(&mut terms.iter().copied());
    let values = arena::repeat(
        &initial.terms(),
        |terms| condition(lift(terms)).term,
        |terms| next(lift(terms)).terms(),
    );
    L::from_terms(&mut values.into_iter())
}

/// A type with arithmetic: every scalar type but `bool`.
pub trait Number: Primitive {}
/// A type with bit operations: integers and `bool`.
pub trait Bits: Primitive {}
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
pub trait Integer: Number + Bits {}
/// A type with a sign: signed integers and floats.
pub trait Signed: Number {}
/// A float type.
pub trait Float: Signed {}

macro_rules! mark { ($($t:ident: $($mark:ident)*;)*) => { $($(impl $mark for $t {})*)* }; }
mark! {
    bool: Bits;
    f32: Number Signed Float; f64: Number Signed Float;
    i32: Number Bits Integer Signed; i64: Number Bits Integer Signed;
    u32: Number Bits Integer; u64: Number Bits Integer;
}

/// Integer division: checked unless the divisor is a constant other than zero.
fn divide<T: Number>(op: Op, a: Exp<T>, b: Exp<T>, location: &Location<'_>) -> Exp<T> {
    let quotient = a.term.binary(op, b.term);
    let safe = T::TYPE.is_float() || b.term.constant().is_some_and(|c| c != Constant::zero(T::TYPE));
    if safe {
        return Exp::from_term(quotient);
    }
    let operation = if op == Op::Div { "division" } else { "remainder" };
    let site = Site { place: Place::at(operation, location), kind: FailureKind::DivisionByZero };
    let zero = Term::from(Constant::from(0i64));
    let checked = b.ne(Exp::from_term(Constant::zero(T::TYPE).into())).term.check(site, zero, zero);
    Exp::from_term(Term::apply(Op::Select, T::TYPE, &[checked, quotient, Constant::zero(T::TYPE).into()]))
}

macro_rules! operator {
    ($trait:ident $method:ident $op:ident $bound:ident [$($t:ident)*] $a:ident $b:ident $make:expr) => {
        impl<T: $bound> $trait for Exp<T> {
            type Output = Exp<T>;
            #[track_caller]
            fn $method(self, other: Exp<T>) -> Exp<T> {
                let ($a, $b) = (self, other);
                $make
            }
        }
        impl<T: $bound> $trait<T> for Exp<T> {
            type Output = Exp<T>;
            #[track_caller]
            fn $method(self, other: T) -> Exp<T> {
                $trait::$method(self, Exp::from(other))
            }
        }
        $(impl $trait<Exp<$t>> for $t {
            type Output = Exp<$t>;
            #[track_caller]
            fn $method(self, other: Exp<$t>) -> Exp<$t> {
                $trait::$method(Exp::from(self), other)
            }
        })*
    };
}
operator!(Add add Add Number [f32 f64 i32 i64 u32 u64] a b a.binary(Op::Add, b));
operator!(Sub sub Sub Number [f32 f64 i32 i64 u32 u64] a b a.binary(Op::Sub, b));
operator!(Mul mul Mul Number [f32 f64 i32 i64 u32 u64] a b a.binary(Op::Mul, b));
operator!(Div div Div Number [f32 f64 i32 i64 u32 u64] a b divide(Op::Div, a, b, Location::caller()));
operator!(Rem rem Rem Number [f32 f64 i32 i64 u32 u64] a b divide(Op::Rem, a, b, Location::caller()));
operator!(Shl shl Shl Integer [i32 i64 u32 u64] a b a.binary(Op::Shl, b));
operator!(Shr shr Shr Integer [i32 i64 u32 u64] a b a.binary(Op::Shr, b));
operator!(BitAnd bitand And Bits [i32 i64 u32 u64 bool] a b a.binary(Op::And, b));
operator!(BitOr bitor Or Bits [i32 i64 u32 u64 bool] a b a.binary(Op::Or, b));
operator!(BitXor bitxor Xor Bits [i32 i64 u32 u64 bool] a b a.binary(Op::Xor, b));

impl<T: Bits> Not for Exp<T> {
    type Output = Exp<T>;
    fn not(self) -> Exp<T> {
        self.unary(Op::Not)
    }
}

impl<T: Signed> Neg for Exp<T> {
    type Output = Exp<T>;
    fn neg(self) -> Exp<T> {
        self.unary(Op::Neg)
    }
}

impl<T: Number> Exp<T> {
    /// Whether this is less.
    #[allow(clippy::should_implement_trait)]
    pub fn lt(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        self.compare(Op::Lt, other)
    }

    /// Whether this is less or equal.
    #[allow(clippy::should_implement_trait)]
    pub fn le(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        self.compare(Op::Le, other)
    }

    /// Whether this is greater.
    #[allow(clippy::should_implement_trait)]
    pub fn gt(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        other.into().compare(Op::Lt, self)
    }

    /// Whether this is greater or equal.
    #[allow(clippy::should_implement_trait)]
    pub fn ge(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        other.into().compare(Op::Le, self)
    }

    /// The smaller of the two; of a NaN and a number, the number. -0.0 is smaller than 0.0, but with `fast_math`.
    pub fn min(self, other: impl Into<Exp<T>>) -> Exp<T> {
        self.binary(Op::Min, other)
    }

    /// The larger of the two; of a NaN and a number, the number. 0.0 is larger than -0.0, but with `fast_math`.
    pub fn max(self, other: impl Into<Exp<T>>) -> Exp<T> {
        self.binary(Op::Max, other)
    }

    /// The nearest value between the bounds.
    pub fn clamp(self, low: impl Into<Exp<T>>, high: impl Into<Exp<T>>) -> Exp<T> {
        self.max(low).min(high)
    }
}

impl<T: Signed> Exp<T> {
    /// The absolute value; integers wrap.
    pub fn abs(self) -> Exp<T> {
        self.unary(Op::Abs)
    }

    /// -1, 0 or 1 by the sign; of a NaN, 0.
    pub fn signum(self) -> Exp<T> {
        let one = |value| Exp::<T>::from_term(Term::from(Constant::from_integer(T::TYPE, value)));
        self.gt(one(0)).select(one(1), self.lt(one(0)).select(one(-1), one(0)))
    }
}

impl<T: Integer> Exp<T> {
    /// The number of one bits.
    pub fn count_ones(self) -> Exp<T> {
        self.unary(Op::CountOnes)
    }

    /// The number of zero bits before the highest one.
    pub fn leading_zeros(self) -> Exp<T> {
        self.unary(Op::LeadingZeros)
    }

    /// The number of zero bits after the lowest one.
    pub fn trailing_zeros(self) -> Exp<T> {
        self.unary(Op::TrailingZeros)
    }
}

macro_rules! float_functions {
    ($($name:ident $op:ident $doc:literal;)*) => {
        impl<T: Float> Exp<T> {
            $(#[doc = $doc]
            pub fn $name(self) -> Exp<T> {
                self.unary(Op::$op)
            })*
        }
    };
}
float_functions! {
    sqrt Sqrt "Returns the square root, correctly rounded; NaN of a negative number.";
    exp Exp "Returns e to this power, to within 3 units in the last place.";
    exp2 Exp2 "Returns 2 to this power, to within 3 units in the last place.";
    ln Log "Returns the natural logarithm, to within 3 units in the last place; NaN of a negative number.";
    log2 Log2 "Returns the binary logarithm, to within 3 units in the last place; NaN of a negative number.";
    log10 Log10 "Returns the decimal logarithm, to within 3 units in the last place; NaN of a negative number.";
    sin Sin "Returns the sine, to within 4 units in the last place (16 for an `f64` beyond ±2³⁰).";
    cos Cos "Returns the cosine, to within 4 units in the last place (16 for an `f64` beyond ±2³⁰).";
    tan Tan "Returns the tangent, to within 5 units in the last place (16 for an `f64` beyond ±2³⁰).";
    asin Asin "Returns the arc sine, to within 4 units in the last place; NaN beyond ±1.";
    acos Acos "Returns the arc cosine, to within 4 units in the last place; NaN beyond ±1.";
    atan Atan "Returns the arc tangent, to within 5 units in the last place.";
    sinh Sinh "Returns the hyperbolic sine, to within 4 units in the last place.";
    cosh Cosh "Returns the hyperbolic cosine, to within 4 units in the last place.";
    tanh Tanh "Returns the hyperbolic tangent, to within 5 units in the last place.";
    floor Floor "Returns the largest integer not above, which is exact.";
    ceil Ceil "Returns the smallest integer not below, which is exact.";
    round Round "Returns the nearest integer, halves away from zero, which is exact.";
    trunc Trunc "Returns the integer part, which is exact.";
}

impl<T: Float> Exp<T> {
    /// Returns this to a power, to within 16 units in the last place; NaN of a negative number to a power that is no
    /// integer.
    pub fn pow(self, exponent: impl Into<Exp<T>>) -> Exp<T> {
        self.binary(Op::Pow, exponent)
    }

    /// Returns the angle of the point (`x`, this), to within 6 units in the last place.
    pub fn atan2(self, x: impl Into<Exp<T>>) -> Exp<T> {
        self.binary(Op::Atan2, x)
    }

    /// Returns this × `factor` + `summand` with one rounding.
    pub fn mul_add(self, factor: impl Into<Exp<T>>, summand: impl Into<Exp<T>>) -> Exp<T> {
        let operands = [self.term, factor.into().term, summand.into().term];
        Exp::from_term(Term::apply(Op::MulAdd, T::TYPE, &operands))
    }

    /// Whether this is not a number.
    pub fn is_nan(self) -> Exp<bool> {
        self.ne(self)
    }
}

macro_rules! bit_patterns {
    ($($float:ident $bits:ident),*) => { $(
        impl Exp<$float> {
            /// The bits of the float.
            pub fn to_bits(self) -> Exp<$bits> {
                Exp::from_term(Term::apply(Op::Bitcast, <$bits as Primitive>::TYPE, &[self.term]))
            }

            /// The float with these bits.
            pub fn from_bits(bits: Exp<$bits>) -> Exp<$float> {
                Exp::from_term(Term::apply(Op::Bitcast, <$float as Primitive>::TYPE, &[bits.term]))
            }
        }
    )* };
}
bit_patterns!(f32 u32, f64 u64);

impl Exp<bool> {
    /// The first value if this holds, else the second. Both are computed; see [`cond`] for one only.
    pub fn select<L: Lift>(self, then: L, otherwise: L) -> L {
        let pairs = then.terms().into_iter().zip(otherwise.terms());
        let mut chosen = pairs.map(|(a, b)| Term::apply(Op::Select, a.ty(), &[self.term, a, b]));
        L::from_terms(&mut chosen)
    }
}

/// What can stand for a value of type `T` in a program: the plain value, an expression of it, or a tuple or array that is
/// partly one, partly the other.
///
/// ```
/// use pumice::prelude::*;
/// let zeros = fill(3, (0, [constant(1.5f32), constant(2.5)]));
/// assert_eq!(pumice::run(zeros)?.to_vec()?, [(0, [1.5, 2.5]); 3]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a value nor an expression of type `{T}`",
    label = "expected a `{T}` or an expression of it"
)]
pub trait IntoExp<T: Elt> {
    /// The expression.
    fn into_exp(self) -> T::Exp;
}

impl<T: Primitive> IntoExp<T> for T {
    fn into_exp(self) -> Exp<T> {
        Exp::from(self)
    }
}

impl<T: Primitive> IntoExp<T> for Exp<T> {
    fn into_exp(self) -> Exp<T> {
        self
    }
}
