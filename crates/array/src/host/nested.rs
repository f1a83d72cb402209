//! Vectors in vectors as arrays, and arrays as vectors in vectors: a matrix is a `Vec<Vec<T>>`. Rows of different lengths are a
//! [`Ragged`](crate::Ragged).

use crate::data::{Array, Matrix};
use crate::error::Error;
use crate::host::view::row_size;
use crate::shape::{Dim1, Dim2, Dim3, Dim4, Dim5, Shape};
use pumice_scalar::Elt;
use std::panic::Location;

/// A shape whose arrays can be vectors in vectors.
///
/// ```
/// use pumice::prelude::*;
/// use pumice::{NestedShape, Shape};
/// /// The array of twice the elements, as vectors in vectors.
/// fn doubled<D: Shape + NestedShape<i32>>(array: &Array<D, i32>) -> pumice::Result<D::Vecs> {
///     Ok(array.map_elements(|x| 2 * x)?.to_nested()?)
/// }
/// assert_eq!(doubled(&Matrix::from([[1, 2], [3, 4]]))?, [[2, 4], [6, 8]]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait NestedShape<T>: Shape {
    /// The vectors: `Vec<Vec<T>>` for a matrix.
    type Vecs;
    /// Makes vectors of an array's extents and elements.
    fn nest(extents: &[usize], values: &[T]) -> Self::Vecs;
    /// Adds the elements, and finds the extents: those that are not known yet, or are none. Fails with a message if vectors of one depth
    /// have different lengths.
    fn flatten(vecs: Self::Vecs, extents: &mut [Option<usize>], values: &mut Vec<T>) -> Result<(), String>;
}

impl<T: Copy> NestedShape<T> for Dim1 {
    type Vecs = Vec<T>;
    fn nest(_: &[usize], values: &[T]) -> Vec<T> {
        values.to_vec()
    }
    fn flatten(vec: Vec<T>, extents: &mut [Option<usize>], values: &mut Vec<T>) -> Result<(), String> {
        found(extents, vec.len())?;
        values.extend(vec);
        Ok(())
    }
}

macro_rules! nested { ($($shape:ident $inner:ident),*) => { $(
    impl<T: Copy> NestedShape<T> for $shape {
        type Vecs = Vec<<$inner as NestedShape<T>>::Vecs>;
        fn nest(extents: &[usize], values: &[T]) -> Self::Vecs {
            let size = row_size(extents);
            let Some((count, extents)) = extents.split_first() else { return Vec::new() };
            let part = |number: usize| values.get(number * size..(number + 1) * size).unwrap_or(&[]);
            (0..*count).map(|number| $inner::nest(extents, part(number))).collect()
        }
        fn flatten(vecs: Self::Vecs, extents: &mut [Option<usize>], values: &mut Vec<T>) -> Result<(), String> {
            let inner = found(extents, vecs.len())?;
            vecs.into_iter().try_for_each(|vec| $inner::flatten(vec, inner, values))
        }
    }
)* }; }
nested!(Dim2 Dim1, Dim3 Dim2, Dim4 Dim3, Dim5 Dim4);

/// Notes the first extent, or compares it with the one that is known; returns the others.
fn found(extents: &mut [Option<usize>], count: usize) -> Result<&mut [Option<usize>], String> {
    let Some((extent, inner)) = extents.split_first_mut() else { return Ok(&mut []) };
    match *extent.get_or_insert(count) {
        known if known == count => Ok(inner),
        known => Err(format!(
            "a row of {count} elements stands behind one of {known}, and rows of an array have one length; \
             `Ragged::from` takes rows of different lengths"
        )),
    }
}

impl<D: Shape, T: Elt> Array<D, T> {
    /// Makes an array of vectors in vectors. Fails if some of one depth have different lengths.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let m = Matrix::from_nested(vec![vec![1, 2, 3], vec![4, 5, 6]])?;
    /// assert_eq!((m.extents(), m[[1, 0]]), ([2, 3], 4));
    /// assert!(Matrix::from_nested(vec![vec![1, 2], vec![3]]).is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn from_nested(vecs: D::Vecs) -> Result<Self, Error>
    where
        D: NestedShape<T>,
    {
        let caller = Location::caller();
        Self::flattened(vecs).map_err(|what| Error::misfit("from_nested", caller, what))
    }

    fn flattened(vecs: D::Vecs) -> Result<Self, String>
    where
        D: NestedShape<T>,
    {
        let (mut extents, mut values) = (vec![None; D::RANK], Vec::new());
        D::flatten(vecs, &mut extents, &mut values)?;
        // An array without rows does not tell how long they would be.
        let extents = extents.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Self::from_held(extents, values))
    }

    /// The elements as vectors in vectors. Fails as [`Array::as_slice`] does.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let table = pumice::run(generate((2, 3), |(i, j)| 10 * i + j))?;
    /// assert_eq!(table.to_nested()?, [[0, 1, 2], [10, 11, 12]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn to_nested(&self) -> Result<D::Vecs, Error>
    where
        D: NestedShape<T>,
    {
        Ok(D::nest(self.data().extents(), self.as_slice()?))
    }
}

impl<T: Elt> TryFrom<Vec<Vec<T>>> for Matrix<T> {
    type Error = Error;
    /// Its error has no place: `try_into` does not tell where it was called.
    fn try_from(rows: Vec<Vec<T>>) -> Result<Self, Error> {
        Self::flattened(rows).map_err(|what| Error::Shape(what.into()))
    }
}
