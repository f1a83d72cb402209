//! The shapes of arrays in Rust's types: how many dimensions, what an index is, which shape has one dimension less.

use pumice_scalar::{Exp, Lift, ScalarType, Term};
use std::fmt::Debug;

/// A number of dimensions.
pub trait Shape: Copy + Debug + Send + Sync + 'static {
    /// How many.
    const RANK: usize;
    /// An index inside a program: nothing, an expression, or a tuple of expressions; the innermost dimension is last.
    type Index: Lift;
    /// An index or the extents on the host.
    type Extents: AsRef<[usize]> + Copy + Debug + PartialEq + for<'a> TryFrom<&'a [usize]>;
}

/// A shape with an innermost dimension that can be folded away.
#[diagnostic::on_unimplemented(
    message = "an array of shape `{Self}` has no dimension to fold",
    label = "this is a single value already"
)]
pub trait Larger: Shape {
    /// The shape without its innermost dimension.
    type Smaller: Shape;
}

macro_rules! shapes {
    ($($name:ident $rank:literal $index:ty;)*) => { $(
        #[doc = concat!("Arrays of ", $rank, " dimensions.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {}
        impl Shape for $name {
            const RANK: usize = $rank;
            type Index = $index;
            type Extents = [usize; $rank];
        }
    )* };
}
shapes! {
    Dim0 0 ();
    Dim1 1 Exp<i64>;
    Dim2 2 (Exp<i64>, Exp<i64>);
    Dim3 3 (Exp<i64>, Exp<i64>, Exp<i64>);
    Dim4 4 (Exp<i64>, Exp<i64>, Exp<i64>, Exp<i64>);
}

macro_rules! smaller { ($($larger:ident $smaller:ident),*) => { $(impl Larger for $larger { type Smaller = $smaller; })* }; }
smaller!(Dim1 Dim0, Dim2 Dim1, Dim3 Dim2, Dim4 Dim3);

/// One extent: a number or an expression.
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "expected an extent, or a tuple of up to four extents",
    note = "extents are `usize` or `Exp<i64>`, as `shape()` gives them"
)]
pub trait IntoShape {
    /// How many dimensions.
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
}
