//! Arrays of the crate `ndarray` as inputs and results.

use crate::create::IntoArray;
use crate::data::Array;
use crate::error::Error;
use crate::shape::{Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Shape};
use ::ndarray::{ArrayBase, Data, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5};
use pumice_scalar::Elt;

/// The dimension type of `ndarray` that a shape corresponds to.
pub trait NdShape: Shape {
    /// The dimension type.
    type Dimension: Dimension;
}

macro_rules! dimensions {
    ($($shape:ident $dimension:ident),*) => { $(
        impl NdShape for $shape {
            type Dimension = $dimension;
        }
        impl<T: Elt, S: Data<Elem = T>> IntoArray<$shape, T> for &ArrayBase<S, $dimension> {
            fn into_array(self) -> Array<$shape, T> {
                // `iter` goes row by row whatever the strides.
                let values: Vec<T> = self.iter().copied().collect();
                Array::from_parts(self.shape().to_vec(), &values)
            }
        }
    )* };
}
dimensions!(Dim0 Ix0, Dim1 Ix1, Dim2 Ix2, Dim3 Ix3, Dim4 Ix4, Dim5 Ix5);

impl<D: NdShape, T: Elt> Array<D, T> {
    /// The array as an `ndarray` array. Waits for the device and copies, as [`Array::to_vec`].
    ///
    /// ```
    /// use pumice::Matrix;
    /// let m = Matrix::<i32>::from_vec([2, 2], vec![1, 2, 3, 4])?;
    /// assert_eq!(m.to_ndarray()?[[1, 0]], 3);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn to_ndarray(&self) -> Result<::ndarray::Array<T, D::Dimension>, Error> {
        let dynamic = ::ndarray::ArrayD::from_shape_vec(self.data().extents().to_vec(), self.to_vec()?);
        let fixed = dynamic.and_then(|array| array.into_dimensionality());
        fixed.map_err(|error| Error::Shape(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Matrix, use_};

    #[test]
    fn rows_come_in_order_whatever_the_strides() -> Result<(), crate::Error> {
        let m = ::ndarray::arr2(&[[1, 2, 3], [4, 5, 6]]);
        let transposed: Matrix<i32> = crate::IntoArray::into_array(&m.t());
        assert_eq!(transposed.extents(), [3, 2]);
        assert_eq!(transposed.to_vec()?, [1, 4, 2, 5, 3, 6]);
        assert_eq!(transposed.to_ndarray()?, m.t());
        let _program = use_(&m).map(|x| x + 1);
        Ok(())
    }
}
