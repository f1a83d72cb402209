//! Vectors, slices, iterators and arrays of arrays as arrays. Conversions that fail if rows differ in length are in `nested.rs`.

use crate::create::IntoArray;
use crate::data::{Array, Matrix, Vector};
use crate::error::Error;
use crate::shape::{Dim2, Dim3, Dim4, Dim5, Shape};
use pumice_scalar::Elt;

impl<T: Elt> From<Vec<T>> for Vector<T> {
    fn from(values: Vec<T>) -> Self {
        Self::from_held(vec![values.len()], values)
    }
}

impl<T: Elt> From<&[T]> for Vector<T> {
    fn from(values: &[T]) -> Self {
        Self::from_parts(vec![values.len()], values)
    }
}

impl<T: Elt> From<&Vec<T>> for Vector<T> {
    fn from(values: &Vec<T>) -> Self {
        Self::from(values.as_slice())
    }
}

impl<T: Elt, const N: usize> From<[T; N]> for Vector<T> {
    fn from(values: [T; N]) -> Self {
        Self::from(values.as_slice())
    }
}

impl<T: Elt, const N: usize> From<&[T; N]> for Vector<T> {
    fn from(values: &[T; N]) -> Self {
        Self::from(values.as_slice())
    }
}

/// ```
/// use pumice::prelude::*;
/// let squares: Vector<i64> = (0..5).map(|i| i * i).collect();
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
impl<T: Elt> FromIterator<T> for Vector<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::from(values.into_iter().collect::<Vec<T>>())
    }
}

/// A matrix of its rows.
///
/// ```
/// use pumice::prelude::*;
/// let m = Matrix::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!((m.extents(), m[[1, 0]]), ([2, 3], 4));
/// let sums = pumice::compile(|m: Acc<Matrix<i32>>| m.sum())?.run(&[[1, 2, 3], [4, 5, 6]])?;
/// assert_eq!(sums, [6, 15]);
/// # Ok::<(), pumice::Error>(())
/// ```
impl<T: Elt, const M: usize, const N: usize> From<&[[T; M]; N]> for Matrix<T> {
    fn from(rows: &[[T; M]; N]) -> Self {
        Self::from_parts(vec![N, M], rows.as_flattened())
    }
}

impl<T: Elt, const M: usize, const N: usize> From<[[T; M]; N]> for Matrix<T> {
    fn from(rows: [[T; M]; N]) -> Self {
        Self::from(&rows)
    }
}

macro_rules! arguments {
    ($([$($size:ident)*] $from:ty => $shape:ident;)*) => { $(
        impl<T: Elt, $(const $size: usize),*> IntoArray<$shape, T> for $from {
            fn into_array(self) -> Array<$shape, T> {
                self.into()
            }
        }
    )* };
}
arguments! {
    [M N] &[[T; M]; N] => Dim2;
    [M N] [[T; M]; N] => Dim2;
}

/// Conversions of arrays in arrays of more than two dimensions, with the calls that make a slice of the elements.
macro_rules! nested_arrays {
    ($($shape:ident [$($size:ident)*] $nested:ty, $($flat:ident)*;)*) => { $(
        impl<T: Elt, $(const $size: usize),*> From<&$nested> for Array<$shape, T> {
            fn from(parts: &$nested) -> Self {
                Self::from_parts(vec![$($size),*], parts$(.$flat())*)
            }
        }
        impl<T: Elt, $(const $size: usize),*> From<$nested> for Array<$shape, T> {
            fn from(parts: $nested) -> Self {
                Self::from(&parts)
            }
        }
        arguments! {
            [$($size)*] &$nested => $shape;
            [$($size)*] $nested => $shape;
        }
    )* };
}
nested_arrays! {
    Dim3 [N M L] [[[T; L]; M]; N], as_flattened as_flattened;
    Dim4 [N M L K] [[[[T; K]; L]; M]; N], as_flattened as_flattened as_flattened;
    Dim5 [N M L K J] [[[[[T; J]; K]; L]; M]; N], as_flattened as_flattened as_flattened as_flattened;
}

impl<D: Shape, T: Elt> Array<D, T> {
    /// Applies a function on the host to each element: a conversion, say. [`Acc::map`](crate::Acc::map) does
    /// that on the device.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let m = Matrix::from([[1.5f64, 2.5], [3.5, 4.5]]);
    /// let narrow: Matrix<f32> = m.map_elements(|x| x as f32)?;
    /// assert_eq!(narrow[[1, 1]], 4.5);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn map_elements<U: Elt>(&self, f: impl FnMut(T) -> U) -> Result<Array<D, U>, Error> {
        let values: Vec<U> = self.as_slice()?.iter().copied().map(f).collect();
        Ok(Array::from_held(self.data().extents().to_vec(), values))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Array, Dim3, Dim4, Dim5, IntoArray};

    #[test]
    fn arrays_in_arrays_have_up_to_five_dimensions() -> Result<(), crate::Error> {
        let cube = Array::<Dim3, i32>::from_fn([2, 1, 3], |[i, j, k]| (100 * i + 10 * j + k) as i32)?;
        assert_eq!(cube, [[[0, 1, 2]], [[100, 101, 102]]]);
        let four = Array::<Dim4, i32>::from([[[[1, 2, 3], [4, 5, 6]]], [[[7, 8, 9], [10, 11, 12]]]]);
        assert_eq!((four.extents(), four[[1, 0, 1, 2]]), ([2, 1, 2, 3], 12));
        let five: Array<Dim5, u8> = (&[[[[[1], [2]]], [[[3], [4]]], [[[5], [6]]]]]).into_array();
        assert_eq!((five.extents(), five[[0, 2, 0, 1, 0]]), ([1, 3, 1, 2, 1], 6));
        Ok(())
    }
}
