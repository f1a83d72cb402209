//! Looking at an array's elements: as a slice, by an index, one after the other, row by row, and comparing them. The first look fetches
//! them all; `view.rs` fetches some.

use crate::data::{Array, Kept, Vector};
use crate::error::Error;
use crate::host::view::{View, row_size};
use crate::shape::{Dim1, Dim2, Dim3, Dim4, Dim5, Larger, Shape};
use pumice_scalar::Elt;
use std::any::Any;
use std::ops::Index;
use std::panic::Location;

impl<D: Shape, T: Elt> Array<D, T> {
    /// The elements, row by row. The first look at a result waits for the device and fetches them, and they are kept; it fails as
    /// [`Array::to_vec`] does. Elements that came from the host as numbers or truth values are not copied.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let doubled = pumice::run(use_(&[1, 2, 3]).map(|x| x + x))?;
    /// assert_eq!(doubled.as_slice()?, [2, 4, 6]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn as_slice(&self) -> Result<&[T], Error> {
        if let Some(values) = kept(&**self.data()) {
            return Ok(values);
        }
        if self.seen.get().is_none() {
            // Not in `get_or_init`: while it fetches, this thread may do other work that looks at this array, and would wait for itself.
            let values = self.to_vec()?;
            let _ = self.seen.set(values);
        }
        Ok(self.seen.get().map_or(&[], Vec::as_slice))
    }

    /// Goes through the elements, row by row. Fails as [`Array::as_slice`] does; there is no `for x in &array`, which could only panic.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let m = Matrix::from([[1, 2], [3, 4]]);
    /// assert_eq!(m.iter()?.sum::<i32>(), 10);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn iter(&self) -> Result<std::slice::Iter<'_, T>, Error> {
        Ok(self.as_slice()?.iter())
    }

    /// The element at an index: a number for a vector, else an array or a tuple of numbers, the innermost dimension last. Fails if there is
    /// none, and as [`Array::as_slice`] does.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let m = Matrix::from([[1, 2], [3, 4]]);
    /// assert_eq!((m.get((1, 0))?, m.get([0, 1])?), (&3, &2));
    /// let error = m.get((2, 0)).unwrap_err();
    /// assert!(error.to_string().starts_with("there is no element [2, 0] in an array of extents [2, 2] in get at "), "{error}");
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn get(&self, index: impl HostIndex<D>) -> Result<&T, Error> {
        let (index, extents) = (index.into_index(), self.extents());
        let parts = index.as_ref().iter().zip(extents.as_ref());
        let number = parts.clone().all(|(part, extent)| part < extent).then(|| {
            // Smaller than the number of elements.
            parts.fold(0, |number, (part, extent)| number * extent + part)
        });
        let caller = Location::caller();
        let none = || {
            let what = format!("there is no element {index:?} in an array of extents {extents:?}");
            Error::misfit("get", caller, what)
        };
        number.and_then(|number| self.as_slice().map(|all| all.get(number)).transpose()).ok_or_else(none)?
    }
}

/// The elements of data whose memory holds them as they are.
fn kept<T: Elt>(data: &dyn Any) -> Option<&[T]> {
    if let Some(kept) = data.downcast_ref::<Kept<T>>() {
        return Some(&kept.values);
    }
    let view = data.downcast_ref::<View>()?;
    kept(&**view.base())?.get(view.numbers())
}

impl<D: Larger, T: Elt> Array<D, T> {
    /// Iterates over the rows: of a matrix slices of elements, of more dimensions the part at each outermost index, row by row. Fails
    /// as [`Array::as_slice`] does.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let m = Matrix::from([[1, 2], [3, 4], [5, 6]]);
    /// let sums: Vec<i32> = m.rows()?.map(|row| row.iter().sum()).collect();
    /// assert_eq!(sums, [3, 7, 11]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn rows(&self) -> Result<impl DoubleEndedIterator<Item = &[T]> + ExactSizeIterator, Error> {
        let (values, extents) = (self.as_slice()?, self.data().extents());
        let count = extents.first().copied().unwrap_or(0);
        let size = row_size(extents);
        // Not `chunks`: rows may be empty.
        Ok((0..count).map(move |row| values.get(row * size..(row + 1) * size).unwrap_or(&[])))
    }
}

/// An index of an array of shape `D` on the host.
///
/// ```
/// use pumice::prelude::*;
/// use pumice::HostIndex;
/// /// The element at an index, or zero where there is none.
/// fn or_zero<I: HostIndex<Dim2>>(m: &Matrix<i32>, index: I) -> i32 {
///     m.get(index).copied().unwrap_or(0)
/// }
/// let m = Matrix::from([[1, 2], [3, 4]]);
/// assert_eq!((or_zero(&m, [1, 0]), or_zero(&m, (1, 2))), (3, 0));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index of an array of shape `{D}`",
    label = "expected a number for each dimension",
    note = "a vector has `v[3]`, a matrix `m[[1, 2]]` or `m[(1, 2)]`"
)]
pub trait HostIndex<D: Shape> {
    /// The index with a number for each dimension.
    fn into_index(self) -> D::Extents;
}

impl HostIndex<Dim1> for usize {
    fn into_index(self) -> [usize; 1] {
        [self]
    }
}

macro_rules! indices {
    ($($shape:ident $rank:literal $($tuple:ty)?;)*) => { $(
        impl HostIndex<$shape> for [usize; $rank] {
            fn into_index(self) -> [usize; $rank] {
                self
            }
        }
        $(impl HostIndex<$shape> for $tuple {
            fn into_index(self) -> [usize; $rank] {
                self.into()
            }
        })?
    )* };
}
indices! {
    Dim1 1;
    Dim2 2 (usize, usize);
    Dim3 3 (usize, usize, usize);
    Dim4 4 (usize, usize, usize, usize);
    Dim5 5 (usize, usize, usize, usize, usize);
}

/// # Panics
/// If there is no such element, as slices do, and if the elements cannot be had; [`Array::get`] says so with an error.
impl<D: Shape, T: Elt, I: HostIndex<D>> Index<I> for Array<D, T> {
    type Output = T;
    #[track_caller]
    fn index(&self, index: I) -> &T {
        self.get(index).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Arrays are equal if their extents and elements are. One whose elements cannot be had, because its computation failed, is equal to
/// nothing, as a NaN is.
impl<D: Shape, T: Elt> PartialEq for Array<D, T> {
    fn eq(&self, other: &Self) -> bool {
        self.data().extents() == other.data().extents() && other.as_slice().is_ok_and(|other| is(self, other))
    }
}

fn is<D: Shape, T: Elt>(array: &Array<D, T>, elements: &[T]) -> bool {
    array.as_slice().is_ok_and(|own| own == elements)
}

macro_rules! equalities {
    ($([$($generics:tt)*] $other:ty;)*) => { $(
        impl<T: Elt, $($generics)*> PartialEq<$other> for Vector<T> {
            fn eq(&self, other: &$other) -> bool {
                is(self, &other[..])
            }
        }
    )* };
}
equalities! {
    [] [T];
    [] &[T];
    [] Vec<T>;
    [const N: usize] [T; N];
    [const N: usize] &[T; N];
}

/// Comparisons with arrays in arrays: their extents must be those of the array as well.
macro_rules! nested_equalities {
    ($($shape:ident [$($size:ident)*] $nested:ty, $($flat:ident)*;)*) => { $(
        impl<T: Elt, $(const $size: usize),*> PartialEq<$nested> for Array<$shape, T> {
            fn eq(&self, other: &$nested) -> bool {
                self.data().extents() == [$($size),*] && is(self, other$(.$flat())*)
            }
        }
        impl<T: Elt, $(const $size: usize),*> PartialEq<&$nested> for Array<$shape, T> {
            fn eq(&self, other: &&$nested) -> bool {
                self == *other
            }
        }
    )* };
}
nested_equalities! {
    Dim2 [N M] [[T; M]; N], as_flattened;
    Dim3 [N M L] [[[T; L]; M]; N], as_flattened as_flattened;
    Dim4 [N M L K] [[[[T; K]; L]; M]; N], as_flattened as_flattened as_flattened;
    Dim5 [N M L K J] [[[[[T; J]; K]; L]; M]; N], as_flattened as_flattened as_flattened as_flattened;
}

#[cfg(test)]
mod tests {
    use crate::{Matrix, Vector};

    #[test]
    fn arrays_are_compared_with_those_of_rust() {
        let m = Matrix::from([[1, 2], [3, 4]]);
        assert_eq!(m, [[1, 2], [3, 4]]);
        assert_eq!(m, &[[1, 2], [3, 4]]);
        assert_ne!(m, [[1, 2], [3, 5]]);
        // The same elements in other rows.
        assert_ne!(m, [[1, 2, 3, 4]]);
        assert_ne!(m, [[1], [2], [3], [4]]);
        let none: Vector<i32> = Vector::from(vec![]);
        assert_eq!(none, []);
        assert_eq!(Vector::from([[1, 2], [3, 4]]), [[1, 2], [3, 4]]);
    }
}
