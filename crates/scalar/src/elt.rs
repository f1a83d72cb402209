//! Element types: the types that an array can hold, and the form that a value of the type takes while a program is written.
//!
//! An array of elements that are composed of several scalars is one array per scalar in memory (its *columns*), and only
//! columns cross to a device. Here are the traits and the scalars; `composed` has tuples, arrays, options, results, complex
//! numbers and the support code of `#[derive(Elt)]`.

use crate::Op;
use crate::arena::Term;
use crate::composed::{add_component, collect};
use crate::exp::{Exp, IntoExp};
use crate::types::{Constant, ScalarType};
use half::{bf16, f16};
use std::borrow::Cow;
use std::collections::TryReserveError;
use std::fmt::Debug;

/// A type that an array can hold.
///
/// ```
/// use pumice::prelude::*;
/// /// Every element beside its successor, the last beside the first.
/// fn pairs<T: Elt>(xs: Acc<Vector<T>>) -> Acc<Vector<(T, T)>> {
///     xs.clone().zip(xs.rotate(1))
/// }
/// assert_eq!(pumice::run(pairs(use_(&[1, 2, 3])))?.to_vec()?, [(1, 2), (2, 3), (3, 1)]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a Pumice array",
    label = "not an element type",
    note = "elements are i8 to i64, u8 to u64, f16, bf16, f32, f64, `bool`, `char`, and what is composed of elements: tuples of up to \
            twelve, arrays `[T; N]`, `Option`, `Result`",
    note = "a struct or enum of elements is one with `#[derive(Elt)]`, beside `Clone, Copy, Debug, PartialEq`"
)]
pub trait Elt: Copy + Debug + PartialEq + Send + Sync + IntoExp<Self> + 'static {
    /// The form of a value inside a program: `Exp<f32>` for `f32`, a tuple of expressions for a tuple.
    type Exp: Lift<Elt = Self>;
    /// The type that has the same scalars in the same order: the tuple of its fields for a struct, the type itself if it
    /// lays out its scalars with methods of its own.
    ///
    /// A derived struct says how to become its parts and nothing else, because rustc checks derived code in the user's crate.
    #[doc(hidden)]
    type Parts: Elt;

    /// Takes a value apart.
    #[doc(hidden)]
    fn parts(self) -> Self::Parts;
    /// Puts a value together.
    #[doc(hidden)]
    fn from_parts(parts: Self::Parts) -> Self;

    /// Adds the scalar types that the type consists of, in order.
    fn add_types(types: &mut Vec<ScalarType>) {
        Self::Parts::add_types(types);
    }
    /// Adds the scalars of this value, in order.
    fn add_constants(self, constants: &mut Vec<Constant>) {
        self.parts().add_constants(constants);
    }
    /// Adds one column of bytes for each scalar type.
    fn add_columns<'a>(values: &'a [Self], columns: &mut Vec<Cow<'a, [u8]>>) {
        Self::Parts::add_component(values, |value| value.parts(), columns);
    }
    /// Reads `count` values back from columns, taking as many columns as the type has scalars. Fails if there is no memory
    /// for them.
    fn from_columns(
        columns: &mut dyn Iterator<Item = &[u8]>,
        count: usize,
    ) -> Result<Vec<Self>, TryReserveError> {
        Self::Parts::collect_columns(columns, count, Self::from_parts)
    }

    /// The scalar types that the type consists of.
    fn types() -> Vec<ScalarType> {
        let mut types = Vec::new();
        Self::add_types(&mut types);
        types
    }

    /// Returns how values are printed in an array.
    #[doc(hidden)]
    fn printed_as() -> PrintedAs {
        PrintedAs::Debug
    }

    /// Adds the columns of one component of all values, of which this is the type.
    #[doc(hidden)]
    fn add_component<S>(values: &[S], component: impl Fn(&S) -> Self, columns: &mut Vec<Cow<'_, [u8]>>) {
        add_component(values, component, columns);
    }

    /// Reads values back from columns, and makes others of them.
    #[doc(hidden)]
    fn collect_columns<W>(
        columns: &mut dyn Iterator<Item = &[u8]>,
        count: usize,
        make: impl Fn(Self) -> W,
    ) -> Result<Vec<W>, TryReserveError> {
        let mut parts = Self::from_columns(columns, count)?.into_iter();
        collect(count, || parts.next().map(&make))
    }
}

/// How values of an element type are printed in an array.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintedAs {
    /// As `Debug` prints them, one beside the other.
    Debug,
    /// As `Debug` prints them, below each other.
    Scalar,
    /// As a float, with the decimal points below each other.
    Float,
    /// As the sum of two floats, the real and the imaginary part.
    Complex,
}

/// An expression of an element type.
///
/// ```
/// use pumice::{Lift, prelude::*};
/// /// The first of a number of choices of any form: numbers, tuples, structs.
/// fn first_if<L: Lift>(flag: Exp<bool>, one: L, other: L) -> L {
///     cond(flag, || one, || other)
/// }
/// let found = pumice::run(use_(&[1, -2]).map(|x| first_if(x.gt(0), (x, x * x), (-x, x))))?;
/// assert_eq!(found.to_vec()?, [(1, 1), (2, -2)]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an expression",
    label = "not an expression",
    note = "functions on elements return expressions: write `constant(1.0)` to make one from a plain value, and \
            return a tuple of expressions for several values",
    note = "an array cannot be computed for each element: bring both to one shape with `replicate`, `zip_with` them and fold, \
            or loop over elements with `while_` and `at`"
)]
pub trait Lift: Copy + Debug + IntoExp<<Self as Lift>::Elt> + 'static {
    /// The type of the value that the expression stands for.
    type Elt: Elt<Exp = Self>;

    /// The expression of the element's parts, which has the same scalar expressions in the same order.
    #[doc(hidden)]
    type Parts: Lift;

    /// Takes an expression apart.
    #[doc(hidden)]
    fn parts(self) -> Self::Parts;
    /// Puts an expression together.
    #[doc(hidden)]
    fn from_parts(parts: Self::Parts) -> Self;

    /// Adds the scalar expressions, in order.
    fn add_terms(self, terms: &mut Vec<Term>) {
        self.parts().add_terms(terms);
    }
    /// Makes the expression of scalar ones, taking as many as the type has scalars.
    fn from_terms(terms: &mut dyn Iterator<Item = Term>) -> Self {
        Self::from_parts(Self::Parts::from_terms(terms))
    }

    /// The scalar expressions.
    fn terms(self) -> Vec<Term> {
        let mut terms = Vec::new();
        self.add_terms(&mut terms);
        terms
    }
}

/// Says in an implementation of [`Elt`] or [`Lift`] that the type is its own parts: it lays out its scalars itself.
macro_rules! own_parts {
    () => {
        type Parts = Self;
        fn parts(self) -> Self {
            self
        }
        fn from_parts(parts: Self) -> Self {
            parts
        }
    };
}
pub(crate) use own_parts;

/// A scalar type of the language.
///
/// ```
/// use pumice::{Primitive, prelude::*};
/// fn as_bytes<T: Primitive>(xs: Acc<Vector<T>>) -> Acc<Vector<u8>> {
///     xs.map(|x| x.cast::<u8>())
/// }
/// assert_eq!(pumice::run(as_bytes(use_(&[1.5, 300.0])))?.to_vec()?, [1, 255]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a Pumice array",
    label = "not an element type",
    note = "elements are i8 to i64, u8 to u64, f16, bf16, f32, f64, `bool`, `char`, and what is composed of elements: tuples of up to \
            twelve, arrays `[T; N]`, `Option`, `Result`",
    note = "a struct or enum of elements is one with `#[derive(Elt)]`, beside `Clone, Copy, Debug, PartialEq`"
)]
pub trait Primitive: Elt<Exp = Exp<Self>, Parts = Self> + Into<Constant> + Default {
    /// The scalar type.
    const TYPE: ScalarType;
    /// Returns the bytes of a column.
    fn as_bytes(values: &[Self]) -> &[u8];
    /// Reads `count` values of a column back; missing values are zero.
    fn from_bytes(bytes: &[u8], count: usize) -> Result<Vec<Self>, TryReserveError>;
    /// Returns the value of a constant of this type.
    #[doc(hidden)]
    fn from_constant(constant: Constant) -> Self;

    /// Converts a plain value to another scalar type as [`Exp::cast`] does an expression: Rust's `as`, for generic functions, and for `f16` and
    /// `bf16`, which have none.
    ///
    /// ```
    /// use pumice::{Float, Primitive, prelude::*};
    /// #[embed]
    /// fn half<T: Float>(x: T) -> T {
    ///     x * 0.5f64.cast::<T>()
    /// }
    /// assert_eq!(half(3f32), 1.5);
    /// assert_eq!(pumice::run(use_(&[3f64]).map(half))?.to_vec()?, [1.5]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    fn cast<U: Primitive>(self) -> U {
        U::from_constant(Op::Cast.evaluate(U::TYPE, &[self.into()]))
    }
}

macro_rules! primitive {
    ($($t:ident $ty:ident $value:ident $decode:expr),* $(,)?) => { $(
        impl Primitive for $t {
            const TYPE: ScalarType = ScalarType::$ty;
            fn as_bytes(values: &[$t]) -> &[u8] {
                // SAFETY: the type has no padding and every byte of it is initialised; bytes have no alignment; the
                // length in bytes is that of the slice.
                unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }
            }
            fn from_bytes(bytes: &[u8], count: usize) -> Result<Vec<$t>, TryReserveError> {
                let decode = |$value: &[u8; size_of::<$t>()]| $decode;
                let mut values = Vec::new();
                values.try_reserve_exact(count)?;
                values.extend(bytes.as_chunks::<{ size_of::<$t>() }>().0.iter().take(count).map(decode));
                values.resize(count, <$t>::default());
                Ok(values)
            }
            fn from_constant(constant: Constant) -> $t {
                let decode = |$value: &[u8; size_of::<$t>()]| $decode;
                constant.bits().to_le_bytes().first_chunk().map_or(<$t>::default(), decode)
            }
        }
    )* };
}
primitive! {
    f32 F32 b f32::from_le_bytes(*b), f64 F64 b f64::from_le_bytes(*b), i32 I32 b i32::from_le_bytes(*b),
    i64 I64 b i64::from_le_bytes(*b), u32 U32 b u32::from_le_bytes(*b), u64 U64 b u64::from_le_bytes(*b),
    bool Bool b b[0] != 0,
    i8 I8 b i8::from_le_bytes(*b), i16 I16 b i16::from_le_bytes(*b), u8 U8 b b[0], u16 U16 b u16::from_le_bytes(*b),
    f16 F16 b f16::from_le_bytes(*b), bf16 BF16 b bf16::from_le_bytes(*b),
    // No device knows of characters, so any number may come back.
    char U32 b char::from_u32(u32::from_le_bytes(*b)).unwrap_or(char::REPLACEMENT_CHARACTER),
}

// One implementation for all scalars, not one each: so that the expression of a literal whose type is still open is known to
// be an `Exp`, and closures on it need no annotation.
impl<T: Primitive> Elt for T {
    type Exp = Exp<T>;
    own_parts!();
    fn add_types(types: &mut Vec<ScalarType>) {
        types.push(T::TYPE);
    }
    fn add_constants(self, constants: &mut Vec<Constant>) {
        constants.push(self.into());
    }
    fn printed_as() -> PrintedAs {
        if T::TYPE.is_float() { PrintedAs::Float } else { PrintedAs::Scalar }
    }
    fn add_columns<'a>(values: &'a [T], columns: &mut Vec<Cow<'a, [u8]>>) {
        columns.push(Cow::Borrowed(T::as_bytes(values)));
    }
    fn from_columns(
        columns: &mut dyn Iterator<Item = &[u8]>,
        count: usize,
    ) -> Result<Vec<T>, TryReserveError> {
        T::from_bytes(columns.next().unwrap_or(&[]), count)
    }
}

impl<T: Primitive> Lift for Exp<T> {
    type Elt = T;
    own_parts!();
    fn add_terms(self, terms: &mut Vec<Term>) {
        terms.push(self.term());
    }
    fn from_terms(terms: &mut dyn Iterator<Item = Term>) -> Self {
        match terms.next() {
            Some(term) if term.ty() == T::TYPE => Exp::from_term(term),
            _ => Exp::from_term(Term::invalid(T::TYPE, "an expression of another type stands here")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bool_column_with_other_bytes_is_still_bool() {
        let column: &[u8] = &[0, 1, 7];
        assert_eq!(bool::from_columns(&mut std::iter::once(column), 3), Ok(vec![false, true, true]));
    }

    #[test]
    fn a_number_that_is_no_character_is_replaced() {
        let column = [0x61u32, 0xd800, 0x11_0000, 0x1f600].map(u32::to_le_bytes).concat();
        assert_eq!(char::from_bytes(&column, 5), Ok(vec!['a', '\u{fffd}', '\u{fffd}', '😀', '\0']));
    }

    #[test]
    fn elements_that_no_memory_holds_are_an_error() {
        let count = isize::MAX as usize;
        assert!(bool::from_columns(&mut std::iter::empty(), count).is_err());
    }
}
