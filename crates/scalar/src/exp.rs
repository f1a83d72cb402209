//! Scalar expressions as users write them.
//!
//! An [`Exp`] is a `Copy` handle; operators work with plain values on either side; comparisons are methods. This is a
//! thin typed layer: everything is done by [`Term`].

use crate::Op;
use crate::arena::Term;
use crate::elt::{Elt, Lift, Primitive};
use crate::graph::{FailureKind, Site};
use crate::number::{Bits, Integer, Number, Ordered, Signed};
use crate::place::Place;
use crate::types::Constant;
use half::{bf16, f16};
use std::marker::PhantomData;
use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul,
    MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};
use std::panic::Location;

/// A scalar expression of type `T`.
///
/// Arithmetic, division, remainder, square root and conversions of floats are correctly rounded, without contraction.
/// Operations on `f16` and `bf16` are done in `f32` and rounded, so their mathematical functions are within one unit.
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
    ///
    /// ```
    /// use pumice::Exp;
    /// assert_eq!((Exp::from(2) + 1).term().constant(), Some(3.into()));
    /// ```
    pub fn term(self) -> Term {
        self.term
    }

    /// The expression that a term is. A term of another type is a mistake that is reported when the program is compiled.
    ///
    /// ```
    /// use pumice::Exp;
    /// let two = Exp::<i32>::from_term(Exp::from(2).term());
    /// assert_eq!((two * 3).term().constant(), Some(6.into()));
    /// ```
    pub fn from_term(term: Term) -> Exp<T> {
        let term = match term.ty() == T::TYPE {
            true => term,
            false => Term::invalid(T::TYPE, "an expression of another type stands here"),
        };
        Exp { term, of: PhantomData }
    }

    pub(crate) fn unary(self, op: Op) -> Exp<T> {
        Exp::from_term(Term::apply(op, T::TYPE, &[self.term]))
    }

    pub(crate) fn binary(self, op: Op, other: impl Into<Exp<T>>) -> Exp<T> {
        Exp::from_term(self.term.binary(op, other.into().term))
    }

    fn compare(self, op: Op, other: impl Into<Exp<T>>) -> Exp<bool> {
        Exp::from_term(self.term.compare(op, other.into().term))
    }

    /// Whether the two are equal.
    #[doc = example!(use_(&[1, 2]).map(|x| x.eq(2)) => [false, true])]
    #[allow(clippy::should_implement_trait)]
    pub fn eq(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        self.compare(Op::Eq, other)
    }

    /// Whether the two differ.
    #[doc = example!(use_(&[1, 2]).map(|x| x.ne(2)) => [true, false])]
    #[allow(clippy::should_implement_trait)]
    pub fn ne(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        self.compare(Op::Ne, other)
    }

    /// Conversion to another scalar type, as Rust's `as`: integers wrap, floats saturate, NaN becomes 0. To `f16` and `bf16`
    /// it rounds to nearest, ties to even. A number that is no character becomes U+FFFD when the host reads it.
    #[doc = example!(use_(&[1e10, -1.5, f64::NAN]).map(|x| (x.cast::<i32>(), x.cast::<u8>())) => [(i32::MAX, 255), (-1, 0), (0, 0)])]
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

/// Integer division: checked unless the divisor is a constant other than zero.
pub(crate) fn divide<T: Number>(op: Op, a: Exp<T>, b: Exp<T>, location: &Location<'_>) -> Exp<T> {
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
operator!(Add add Add Number [f32 f64 i32 i64 u32 u64 i8 i16 u8 u16 f16 bf16] a b a.binary(Op::Add, b));
operator!(Sub sub Sub Number [f32 f64 i32 i64 u32 u64 i8 i16 u8 u16 f16 bf16] a b a.binary(Op::Sub, b));
operator!(Mul mul Mul Number [f32 f64 i32 i64 u32 u64 i8 i16 u8 u16 f16 bf16] a b a.binary(Op::Mul, b));
operator!(Div div Div Number [f32 f64 i32 i64 u32 u64 i8 i16 u8 u16 f16 bf16] a b divide(Op::Div, a, b, Location::caller()));
operator!(Rem rem Rem Number [f32 f64 i32 i64 u32 u64 i8 i16 u8 u16 f16 bf16] a b divide(Op::Rem, a, b, Location::caller()));
operator!(Shl shl Shl Integer [i32 i64 u32 u64 i8 i16 u8 u16] a b a.binary(Op::Shl, b));
operator!(Shr shr Shr Integer [i32 i64 u32 u64 i8 i16 u8 u16] a b a.binary(Op::Shr, b));
operator!(BitAnd bitand And Bits [i32 i64 u32 u64 bool i8 i16 u8 u16] a b a.binary(Op::And, b));
operator!(BitOr bitor Or Bits [i32 i64 u32 u64 bool i8 i16 u8 u16] a b a.binary(Op::Or, b));
operator!(BitXor bitxor Xor Bits [i32 i64 u32 u64 bool i8 i16 u8 u16] a b a.binary(Op::Xor, b));

/// `x += y` and its like make a new expression in the place of the variable's old one.
macro_rules! assignment {
    ($($trait:ident $method:ident $operator:ident $operate:ident $bound:ident;)*) => { $(
        impl<T: $bound> $trait for Exp<T> {
            #[track_caller]
            fn $method(&mut self, other: Exp<T>) {
                *self = $operator::$operate(*self, other);
            }
        }
        impl<T: $bound> $trait<T> for Exp<T> {
            #[track_caller]
            fn $method(&mut self, other: T) {
                *self = $operator::$operate(*self, other);
            }
        }
    )* };
}
assignment! {
    AddAssign add_assign Add add Number;
    SubAssign sub_assign Sub sub Number;
    MulAssign mul_assign Mul mul Number;
    DivAssign div_assign Div div Number;
    RemAssign rem_assign Rem rem Number;
    ShlAssign shl_assign Shl shl Integer;
    ShrAssign shr_assign Shr shr Integer;
    BitAndAssign bitand_assign BitAnd bitand Bits;
    BitOrAssign bitor_assign BitOr bitor Bits;
    BitXorAssign bitxor_assign BitXor bitxor Bits;
}

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

impl<T: Ordered> Exp<T> {
    /// Whether this is less.
    #[doc = example!(use_(&[1, 2, 3]).map(|x| x.lt(2)) => [true, false, false])]
    #[allow(clippy::should_implement_trait)]
    pub fn lt(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        self.compare(Op::Lt, other)
    }

    /// Whether this is less or equal.
    #[doc = example!(use_(&[1, 2, 3]).map(|x| x.le(2)) => [true, true, false])]
    #[allow(clippy::should_implement_trait)]
    pub fn le(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        self.compare(Op::Le, other)
    }

    /// Whether this is greater.
    #[doc = example!(use_(&[1, 2, 3]).map(|x| x.gt(2)) => [false, false, true])]
    #[allow(clippy::should_implement_trait)]
    pub fn gt(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        other.into().compare(Op::Lt, self)
    }

    /// Whether this is greater or equal.
    #[doc = example!(use_(&[1, 2, 3]).map(|x| x.ge(2)) => [false, true, true])]
    #[allow(clippy::should_implement_trait)]
    pub fn ge(self, other: impl Into<Exp<T>>) -> Exp<bool> {
        other.into().compare(Op::Le, self)
    }

    /// The smaller of the two; of a NaN and a number, the number. -0.0 is smaller than 0.0, but with `fast_math`.
    #[doc = example!(use_(&[2.0, f64::NAN]).map(|x| x.min(1.0)) => [1.0, 1.0])]
    pub fn min(self, other: impl Into<Exp<T>>) -> Exp<T> {
        self.binary(Op::Min, other)
    }

    /// The larger of the two; of a NaN and a number, the number. 0.0 is larger than -0.0, but with `fast_math`.
    #[doc = example!(use_(&[2.0, f64::NAN]).map(|x| x.max(1.0)) => [2.0, 1.0])]
    pub fn max(self, other: impl Into<Exp<T>>) -> Exp<T> {
        self.binary(Op::Max, other)
    }
}

macro_rules! bit_patterns {
    ($($float:ident $bits:ident $shown:ty, $one:literal;)*) => { $(
        impl Exp<$float> {
            /// The bits of the float.
            #[doc = example!(use_(&[1.0]).map(|x| x.cast::<$shown>().to_bits()) => [$one])]
            pub fn to_bits(self) -> Exp<$bits> {
                Exp::from_term(Term::apply(Op::Bitcast, <$bits as Primitive>::TYPE, &[self.term]))
            }

            /// The float with these bits.
            #[doc = example!(use_(&[$one]).map(|bits| Exp::<$shown>::from_bits(bits).cast::<f64>()) => [1.0])]
            pub fn from_bits(bits: Exp<$bits>) -> Exp<$float> {
                Exp::from_term(Term::apply(Op::Bitcast, <$float as Primitive>::TYPE, &[bits.term]))
            }
        }
    )* };
}
bit_patterns! {
    f32 u32 f32, 0x3f80_0000u32;
    f64 u64 f64, 0x3ff0_0000_0000_0000u64;
    f16 u16 pumice::f16, 0x3c00u16;
    bf16 u16 pumice::bf16, 0x3f80u16;
}

/// A value of type `T` in a program: the plain value, or an expression of it.
///
/// ```
/// use pumice::{IntoExp, prelude::*};
/// fn doubled(x: impl IntoExp<i32>) -> Exp<i32> {
///     let x = x.into_exp();
///     x + x
/// }
/// let found = pumice::run(use_(&[1, 2]).map(|x| doubled(x) + doubled(10)))?;
/// assert_eq!(found.to_vec()?, [22, 24]);
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
