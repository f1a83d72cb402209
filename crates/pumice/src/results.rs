//! Results of compiled programs: an array, rows of different lengths, or tuples of these.
//!
//! A result is made of arrays in a fixed order. Each part takes its own arrays from those that a run computed, so a tuple is its parts
//! one after the other, at any depth of nesting.

use pumice_array::{Acc, AccRagged, Array, ArrayData, ArrayType, Described, Error, Ragged, Shape, Vector};
use pumice_runtime::Result;
use pumice_scalar::Elt;
use std::sync::Arc;

/// The result of a program: an array, rows of different lengths, or a tuple of up to eight of these, which may be tuples
/// themselves.
///
/// ```
/// use pumice::prelude::*;
/// let moments = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<f64>>| {
///     let n = xs.size().cast::<f64>();
///     let mean = xs.clone().sum().map(|sum| sum / n);
///     let middle = mean.clone().the();
///     let variance = xs.clone().map(|x| (x - middle) * (x - middle)).sum().map(|sum| sum / n);
///     let signs = xs.histogram(2, |x| x.lt(0.0).cast::<i64>());
///     ((mean, variance), signs)
/// })?;
/// let ((mean, variance), signs) = moments.run(&[1.0, 3.0, -1.0, 5.0])?;
/// assert_eq!((mean.to_value()?, variance.to_value()?), (2.0, 5.0));
/// assert_eq!(signs.to_vec()?, [3, 1]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a Pumice program",
    label = "expected an array",
    note = "a program returns an `Acc<..>`, an `AccRagged<..>`, or a tuple of up to eight of these"
)]
pub trait ProgramResult: Sized {
    /// Type of the value that a run returns.
    type Value: Send + 'static;
    /// Adds the ranks and element types of the arrays that the result is made of, in order.
    fn add_types(types: &mut Vec<ArrayType>);
    /// Adds the arrays that the result is made of, in order.
    fn add_arrays(&self, arrays: &mut Vec<Arc<Described>>);
    /// Makes a result of descriptions: asks for those of its arrays in order, by rank and element types.
    fn describe(next: &mut dyn FnMut(ArrayType) -> Arc<Described>) -> Self;
    /// Builds the value that a run returns from the computed arrays: takes those of this result, in order.
    fn value(arrays: &mut dyn Iterator<Item = Arc<dyn ArrayData>>) -> Result<Self::Value>;

    /// The arrays that the result is made of, in order.
    fn arrays(&self) -> Vec<Arc<Described>> {
        let mut arrays = Vec::new();
        self.add_arrays(&mut arrays);
        arrays
    }
}

/// The next of the arrays that were computed.
fn computed<D: Shape, T: Elt>(arrays: &mut dyn Iterator<Item = Arc<dyn ArrayData>>) -> Result<Array<D, T>> {
    let lost = || Error::Program("a program gave fewer results than it has".into());
    Ok(Array::from_data(arrays.next().ok_or_else(lost)?)?)
}

impl<D: Shape, T: Elt> ProgramResult for Acc<Array<D, T>> {
    type Value = Array<D, T>;
    fn add_types(types: &mut Vec<ArrayType>) {
        types.push((D::RANK, T::types()));
    }
    fn add_arrays(&self, arrays: &mut Vec<Arc<Described>>) {
        arrays.push(self.described().clone());
    }
    fn describe(next: &mut dyn FnMut(ArrayType) -> Arc<Described>) -> Self {
        Self::from_described(next((D::RANK, T::types())))
    }
    fn value(arrays: &mut dyn Iterator<Item = Arc<dyn ArrayData>>) -> Result<Array<D, T>> {
        computed(arrays)
    }
}

impl<T: Elt> ProgramResult for AccRagged<T> {
    type Value = Ragged<T>;
    fn add_types(types: &mut Vec<ArrayType>) {
        <(Acc<Vector<T>>, Acc<Vector<i64>>)>::add_types(types);
    }
    fn add_arrays(&self, arrays: &mut Vec<Arc<Described>>) {
        (self.flatten(), self.offsets()).add_arrays(arrays);
    }
    fn describe(next: &mut dyn FnMut(ArrayType) -> Arc<Described>) -> Self {
        let (values, offsets) = ProgramResult::describe(next);
        AccRagged::new(values, offsets)
    }
    fn value(arrays: &mut dyn Iterator<Item = Arc<dyn ArrayData>>) -> Result<Ragged<T>> {
        let (values, offsets): (Vector<T>, Vector<i64>) = (computed(arrays)?, computed(arrays)?);
        Ok(Ragged::from_vectors(&values, &offsets)?)
    }
}

macro_rules! tuples {
    ($($part:ident)*) => {
        impl<$($part: ProgramResult),*> ProgramResult for ($($part,)*) {
            type Value = ($($part::Value,)*);
            fn add_types(types: &mut Vec<ArrayType>) {
                $($part::add_types(types);)*
            }
            #[allow(non_snake_case)]
            fn add_arrays(&self, arrays: &mut Vec<Arc<Described>>) {
                let ($($part,)*) = self;
                $($part.add_arrays(arrays);)*
            }
            fn describe(next: &mut dyn FnMut(ArrayType) -> Arc<Described>) -> Self {
                ($($part::describe(next),)*)
            }
            fn value(arrays: &mut dyn Iterator<Item = Arc<dyn ArrayData>>) -> Result<Self::Value> {
                Ok(($($part::value(arrays)?,)*))
            }
        }
    };
}
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
