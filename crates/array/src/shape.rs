//! The shapes of arrays in Rust's types: the number of dimensions, the type of an index, the shape with one dimension less.

use pumice_scalar::{Exp, Lift, ScalarType, Term};
use std::fmt::Debug;

/// A number of dimensions.
///
/// ```
/// use pumice::{Acc, Array, Dim2, Elt, Shape};
/// fn rank<D: Shape, T: Elt>(_: &Acc<Array<D, T>>) -> usize {
///     D::RANK
/// }
/// assert_eq!((rank(&pumice::fill((2, 3), 1i32)), Dim2::RANK), (2, 2));
/// ```
pub trait Shape: Copy + Debug + Send + Sync + 'static {
    /// Number of dimensions.
    const RANK: usize;
    /// An index inside a program: nothing, an expression, or a tuple of expressions; the innermost dimension is last.
    type Index: Lift;
    /// The shape with a dimension more; the largest is its own.
    type Bigger: Shape;
    /// An index or the extents on the host.
    type Extents: AsRef<[usize]> + Copy + Debug + PartialEq + for<'a> TryFrom<&'a [usize]>;
    /// A distance between two indices on the host.
    type Offsets: AsRef<[i64]> + Copy + Debug;
}

/// A shape with an innermost dimension that can be folded away.
///
/// ```
/// use pumice::{Acc, Array, Larger, Shape, fill, run};
/// // Of arrays of any rank but 0.
/// fn ranges<D: Larger<Smaller = S>, S: Shape>(xs: Acc<Array<D, i32>>) -> Acc<Array<S, i32>> {
///     xs.clone().max().zip_with(xs.min(), |a, b| a - b)
/// }
/// assert_eq!(run(ranges(fill((2, 3), 7)))?.to_vec()?, [0, 0]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "an array of shape `{Self}` has no dimension to fold",
    label = "this is a single value already"
)]
pub trait Larger: Shape {
    /// The shape without its innermost dimension.
    type Smaller: Shape;
}

macro_rules! shapes {
    ($($name:ident $rank:literal $bigger:ident $index:ty;)*) => { $(
        #[doc = concat!("Arrays of ", $rank, " dimensions.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {}
        impl Shape for $name {
            const RANK: usize = $rank;
            type Index = $index;
            type Bigger = $bigger;
            type Extents = [usize; $rank];
            type Offsets = [i64; $rank];
        }
    )* };
}
shapes! {
    Dim0 0 Dim1 ();
    Dim1 1 Dim2 Exp<i64>;
    Dim2 2 Dim3 (Exp<i64>, Exp<i64>);
    Dim3 3 Dim4 (Exp<i64>, Exp<i64>, Exp<i64>);
    Dim4 4 Dim5 (Exp<i64>, Exp<i64>, Exp<i64>, Exp<i64>);
    Dim5 5 Dim5 (Exp<i64>, Exp<i64>, Exp<i64>, Exp<i64>, Exp<i64>);
}

macro_rules! smaller { ($($larger:ident $smaller:ident),*) => { $(impl Larger for $larger { type Smaller = $smaller; })* }; }
smaller!(Dim1 Dim0, Dim2 Dim1, Dim3 Dim2, Dim4 Dim3, Dim5 Dim4);

/// One extent: a number or an expression.
///
/// ```
/// use pumice::{Acc, IntoExtent, Vector, fill, run};
/// fn zeros(count: impl IntoExtent) -> Acc<Vector<i32>> {
///     fill(count.into_extent(), 0)
/// }
/// assert_eq!(run(zeros(3))?.len(), 3);
/// assert_eq!(run(zeros(fill(4, 0i32).size()))?.len(), 4);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extent",
    label = "expected a `usize` or an `Exp<i64>`"
)]
pub trait IntoExtent {
    /// The extent as an expression.
    fn into_extent(self) -> Exp<i64>;
}

impl IntoExtent for Exp<i64> {
    fn into_extent(self) -> Exp<i64> {
        self
    }
}

// The only integer type here: with several, a literal's type, and with it the index's, could not be inferred.
impl IntoExtent for usize {
    fn into_extent(self) -> Exp<i64> {
        let too_large =
            |_| Term::invalid(ScalarType::I64, format!("an extent of {self}, which no array has"));
        i64::try_from(self).map_or_else(|error| Exp::from_term(too_large(error)), Exp::from)
    }
}

impl IntoShape for usize {
    type Dim = Dim1;
    fn into_terms(self) -> Vec<Term> {
        vec![self.into_extent().term()]
    }
}

/// The extents of a new array: a number or expression for a vector, a tuple for more dimensions.
///
/// ```
/// use pumice::{Acc, Array, IntoShape, fill, run};
/// fn zeros<S: IntoShape>(shape: S) -> Acc<Array<S::Dim, f32>> {
///     fill(shape, 0.0)
/// }
/// assert_eq!(run(zeros((2, 3)))?.extents(), [2, 3]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "expected an extent, or a tuple of up to five extents",
    note = "extents are `usize` or `Exp<i64>`, as `shape()` gives them"
)]
pub trait IntoShape {
    /// The shape, with its number of dimensions.
    type Dim: Shape;
    /// The extents, outermost first.
    fn into_terms(self) -> Vec<Term>;
}

impl IntoShape for Exp<i64> {
    type Dim = Dim1;
    fn into_terms(self) -> Vec<Term> {
        vec![self.term()]
    }
}

macro_rules! tuple_shapes { ($($dim:ident $($name:ident)*;)*) => { $(
    impl<$($name: IntoExtent),*> IntoShape for ($($name,)*) {
        type Dim = $dim;
        #[allow(non_snake_case)]
        fn into_terms(self) -> Vec<Term> {
            let ($($name,)*) = self;
            vec![$($name.into_extent().term()),*]
        }
    }
)* }; }
tuple_shapes! {
    Dim0;
    Dim1 A;
    Dim2 A B;
    Dim3 A B C;
    Dim4 A B C D;
    Dim5 A B C D E;
}

/// In a pattern for [`crate::Acc::slice`] and [`crate::Acc::replicate`]: all of a dimension, as it is.
///
/// ```
/// use pumice::{All, generate, run};
/// let m = generate((2, 3), |(i, j)| i * 10 + j);
/// assert_eq!(run(m.slice((All, 1)))?.to_vec()?, [1, 11]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct All;

/// One dimension in a [`Pattern`].
///
/// ```
/// use pumice::{All, Exp, PatternPart};
/// fn is_number(part: impl PatternPart) -> bool {
///     part.number().is_some()
/// }
/// assert_eq!((is_number(All), is_number(2), is_number(Exp::from(2i64))), (false, true, true));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a part of a pattern",
    label = "expected `All`, a `usize` or an `Exp<i64>`"
)]
pub trait PatternPart {
    /// A shape with this dimension added, if it is one that stays.
    type Kept<S: Shape>: Shape;
    /// The index or the extent; nothing for a dimension that stays.
    fn number(self) -> Option<Exp<i64>>;
}

impl PatternPart for All {
    type Kept<S: Shape> = S::Bigger;
    fn number(self) -> Option<Exp<i64>> {
        None
    }
}

macro_rules! numbers { ($($ty:ty)*) => { $(
    impl PatternPart for $ty {
        type Kept<S: Shape> = S;
        fn number(self) -> Option<Exp<i64>> {
            Some(self.into_extent())
        }
    }
    impl Pattern for $ty {
        type Kept = Dim0;
        type Whole = Dim1;
        fn numbers(self) -> Vec<Option<Exp<i64>>> {
            vec![self.number()]
        }
    }
)* }; }
numbers!(usize Exp<i64>);

/// For each dimension of a larger array whether it is one of a smaller one ([`All`]), or else a number: the index to take, or
/// how often to repeat.
///
/// ```
/// use pumice::{All, Pattern, Shape};
/// fn ranks<P: Pattern>(_: P) -> (usize, usize) {
///     (P::Kept::RANK, P::Whole::RANK)
/// }
/// assert_eq!(ranks((2, All, All)), (2, 3));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pattern of dimensions",
    label = "expected a tuple of up to five parts",
    note = "a part is `All`, a `usize` or an `Exp<i64>`: `m.slice((2, All))` is a row of a matrix, and \
            `v.replicate((All, 3))` has a vector three times as a column"
)]
pub trait Pattern {
    /// The shape of the dimensions that stay.
    type Kept: Shape;
    /// The shape of all dimensions.
    type Whole: Shape;
    /// The numbers, with nothing for dimensions that stay.
    fn numbers(self) -> Vec<Option<Exp<i64>>>;
}

macro_rules! kept {
    () => { Dim0 };
    ($first:ident $($name:ident)*) => { <$first as PatternPart>::Kept<kept!($($name)*)> };
}

macro_rules! patterns { ($($dim:ident $($name:ident)*;)*) => { $(
    impl<$($name: PatternPart),*> Pattern for ($($name,)*) {
        type Kept = kept!($($name)*);
        type Whole = $dim;
        #[allow(non_snake_case)]
        fn numbers(self) -> Vec<Option<Exp<i64>>> {
            let ($($name,)*) = self;
            vec![$($name.number()),*]
        }
    }
)* }; }
patterns! {
    Dim0;
    Dim1 A;
    Dim2 A B;
    Dim3 A B C;
    Dim4 A B C D;
    Dim5 A B C D E;
}
