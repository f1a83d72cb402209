//! Arrays of the crate `ndarray` as inputs and results. One that is handed over and stands row by row is not copied.

use crate::create::IntoArray;
use crate::data::Array;
use crate::error::Error;
use crate::shape::{Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Shape};
use ::ndarray::{
    ArcArray, ArrayBase, ArrayView, ArrayViewD, Data, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, RawData,
};
use pumice_scalar::Elt;
use std::ops::Deref;
use std::panic::Location;

/// The dimension type of `ndarray` that a shape corresponds to.
///
/// ```
/// use pumice::prelude::*;
/// use pumice::NdShape;
/// /// Computes the sum on the host, by `ndarray`.
/// fn sum<D: NdShape>(array: &Array<D, f64>) -> pumice::Result<f64> {
///     Ok(array.as_ndarray()?.sum())
/// }
/// assert_eq!(sum(&Matrix::from([[1.0, 2.0], [3.0, 4.0]]))?, 10.0);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait NdShape: Shape {
    /// The dimension type.
    type Dimension: Dimension;
}

/// An array that stands row by row in memory.
struct Standard<S: RawData, N>(ArrayBase<S, N>);

impl<T, S: Data<Elem = T>, N: Dimension> Deref for Standard<S, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // An array that stands row by row has a slice.
        self.0.as_slice().unwrap_or(&[])
    }
}

/// A copy, row by row whatever the strides.
fn copied<T: Elt, S: Data<Elem = T>, N: Dimension, D: Shape>(array: &ArrayBase<S, N>) -> Array<D, T> {
    let extents = array.shape().to_vec();
    match array.as_slice() {
        Some(values) => Array::from_parts(extents, values),
        None => Array::from_held(extents, array.iter().copied().collect::<Vec<T>>()),
    }
}

macro_rules! dimensions {
    ($($shape:ident $dimension:ident),*) => { $(
        impl NdShape for $shape {
            type Dimension = $dimension;
        }
        impl<T: Elt, S: Data<Elem = T>> IntoArray<$shape, T> for &ArrayBase<S, $dimension> {
            fn into_array(self) -> Array<$shape, T> {
                copied(self)
            }
        }
        handed_over!($shape $dimension ::ndarray::Array<T, $dimension>);
        handed_over!($shape $dimension ArcArray<T, $dimension>);
    )* };
}
macro_rules! handed_over {
    ($shape:ident $dimension:ident $array:ty) => {
        impl<T: Elt> IntoArray<$shape, T> for $array {
            fn into_array(self) -> Array<$shape, T> {
                match self.is_standard_layout() {
                    true => Array::from_held(self.shape().to_vec(), Standard(self)),
                    false => copied(&self),
                }
            }
        }
    };
}
dimensions!(Dim0 Ix0, Dim1 Ix1, Dim2 Ix2, Dim3 Ix3, Dim4 Ix4, Dim5 Ix5);

impl<D: NdShape, T: Elt> Array<D, T> {
    /// Makes an array of an `ndarray` array of any dimension type, with a copy of its elements; one whose dimensions are in its type can
    /// also be given to a program as it is. Fails if it has another number of dimensions.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let dynamic = ndarray::ArrayD::from_shape_vec(vec![2, 2], vec![1, 2, 3, 4]).unwrap();
    /// assert_eq!(Matrix::from_ndarray(&dynamic)?[[1, 0]], 3);
    /// assert!(Vector::from_ndarray(&dynamic).is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn from_ndarray<S: Data<Elem = T>, N: Dimension>(array: &ArrayBase<S, N>) -> Result<Self, Error> {
        match array.ndim() == D::RANK {
            true => Ok(copied(array)),
            false => {
                let (found, wanted) = (array.ndim(), D::RANK);
                let what =
                    format!("an `ndarray` array of {found} dimensions is no array of {wanted} dimensions");
                Err(Error::misfit("from_ndarray", Location::caller(), what))
            }
        }
    }

    /// The array as an `ndarray` array. Waits for the device and copies, as [`Array::to_vec`].
    ///
    /// ```
    /// use pumice::Matrix;
    /// let m = Matrix::<i32>::from_vec([2, 2], vec![1, 2, 3, 4])?;
    /// assert_eq!(m.to_ndarray()?[[1, 0]], 3);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn to_ndarray(&self) -> Result<::ndarray::Array<T, D::Dimension>, Error> {
        let dynamic = ::ndarray::ArrayD::from_shape_vec(self.data().extents().to_vec(), self.to_vec()?);
        let fixed = dynamic.and_then(|array| array.into_dimensionality());
        let caller = Location::caller();
        fixed.map_err(|error| Error::misfit("to_ndarray", caller, error))
    }

    /// The elements as a view of `ndarray`, without a copy: a view of [`Array::as_slice`]. Fails as that does.
    ///
    /// ```
    /// use pumice::Matrix;
    /// let m = Matrix::from([[1, 2], [3, 4]]);
    /// assert_eq!(m.as_ndarray()?.t()[[1, 0]], 2);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn as_ndarray(&self) -> Result<ArrayView<'_, T, D::Dimension>, Error> {
        let dynamic = ArrayViewD::from_shape(self.data().extents(), self.as_slice()?);
        let fixed = dynamic.and_then(|array| array.into_dimensionality());
        let caller = Location::caller();
        fixed.map_err(|error| Error::misfit("as_ndarray", caller, error))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Array, Dim2, Matrix, use_};

    fn into_array<I: crate::IntoArray<Dim2, i32>>(array: I) -> Matrix<i32> {
        array.into_array()
    }

    #[test]
    fn rows_come_in_order_whatever_the_strides() -> Result<(), crate::Error> {
        let m = ::ndarray::arr2(&[[1, 2, 3], [4, 5, 6]]);
        for transposed in [into_array(&m.t()), into_array(m.t().to_owned()), Array::from_ndarray(&m.t())?] {
            assert_eq!(transposed.extents(), [3, 2]);
            assert_eq!(transposed.to_vec()?, [1, 4, 2, 5, 3, 6]);
            assert_eq!(transposed.to_ndarray()?, m.t());
            assert_eq!(transposed.as_ndarray()?, m.t());
        }
        let _program = use_(&m).map(|x| x + 1);
        Ok(())
    }

    #[test]
    fn what_is_handed_over_is_not_copied() -> Result<(), crate::Error> {
        let m = ::ndarray::arr2(&[[1, 2, 3], [4, 5, 6]]);
        let (address, shared) = (m.as_ptr(), m.clone().into_shared());
        assert_eq!(into_array(m).as_slice()?.as_ptr(), address);
        let address = shared.as_ptr();
        assert_eq!(into_array(shared.clone()).as_ndarray()?.as_ptr(), address);
        // A part of one is not all of its memory.
        let part = shared.slice_move(::ndarray::s![1.., ..]);
        assert_eq!(into_array(part).to_vec()?, [4, 5, 6]);
        Ok(())
    }
}
