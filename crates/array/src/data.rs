//! Arrays as values: extents, element types, and columns of bytes, wherever those are kept.

use crate::error::Error;
use crate::large_pages::prefer_large_pages;
use crate::shape::{Dim0, Dim1, Dim2, Shape};
use pumice_scalar::{Elt, ScalarType};
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Where an array's elements are kept. Devices have their own kinds.
pub trait ArrayData: Any + Send + Sync {
    /// The extents, outermost first.
    fn extents(&self) -> &[usize];
    /// The scalar types of an element.
    fn types(&self) -> &[ScalarType];
    /// One column of bytes for each scalar type, fetched if they are elsewhere.
    fn columns(&self) -> Result<Vec<Cow<'_, [u8]>>, Error>;
}

/// The columns of an array; an error if they are not as many and as long as it says.
pub fn whole_columns(data: &dyn ArrayData) -> Result<Vec<Cow<'_, [u8]>>, Error> {
    let columns = data.columns()?;
    check_whole(data, &columns)?;
    Ok(columns)
}

fn check_whole(data: &dyn ArrayData, columns: &[Cow<'_, [u8]>]) -> Result<(), Error> {
    let count = data.extents().iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
    let whole = |(column, ty): (&Cow<'_, [u8]>, &ScalarType)| {
        count.and_then(|count| count.checked_mul(ty.bytes())) == Some(column.len())
    };
    match columns.len() == data.types().len() && columns.iter().zip(data.types()).all(whole) {
        true => Ok(()),
        false => Err(Error::Program("an array's columns are not as long as its extents say".into())),
    }
}

/// Elements in the host's memory.
pub struct HostData {
    extents: Vec<usize>,
    types: Vec<ScalarType>,
    columns: Vec<Vec<u8>>,
}

impl HostData {
    /// The array with these columns.
    pub fn new(extents: Vec<usize>, types: Vec<ScalarType>, columns: Vec<Vec<u8>>) -> HostData {
        HostData { extents, types, columns }
    }
}

impl ArrayData for HostData {
    fn extents(&self) -> &[usize] {
        &self.extents
    }
    fn types(&self) -> &[ScalarType] {
        &self.types
    }
    fn columns(&self) -> Result<Vec<Cow<'_, [u8]>>, Error> {
        Ok(self.columns.iter().map(|column| Cow::Borrowed(column.as_slice())).collect())
    }
}

/// An array of `D` dimensions with elements of type `T`. It is a value: cloning it copies nothing, and a result stays on
/// the device until somebody looks at it with [`Array::to_vec`] or prints it.
///
/// ```
/// use pumice::{Array, Dim2};
/// let m = Array::<Dim2, i32>::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// assert_eq!(m.extents(), [2, 3]);
/// assert_eq!(m.to_vec()?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Array<D, T> {
    data: Arc<dyn ArrayData>,
    of: PhantomData<fn() -> (D, T)>,
}

/// A single value.
///
/// ```
/// use pumice::prelude::*;
/// let sum: Scalar<i32> = pumice::run(use_(&[1, 2]).sum())?;
/// assert_eq!(sum.to_value()?, 3);
/// # Ok::<(), pumice::Error>(())
/// ```
pub type Scalar<T> = Array<Dim0, T>;
/// An array of one dimension.
///
/// ```
/// use pumice::Vector;
/// let xs: Vector<f32> = vec![1.0, 2.0].into();
/// assert_eq!(xs.extents(), [2]);
/// ```
pub type Vector<T> = Array<Dim1, T>;
/// An array of two dimensions, row by row.
///
/// ```
/// use pumice::Matrix;
/// let m = Matrix::from_vec([2, 2], vec![1, 2, 3, 4])?;
/// assert_eq!(m.extents(), [2, 2]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub type Matrix<T> = Array<Dim2, T>;

impl<D, T> Clone for Array<D, T> {
    fn clone(&self) -> Self {
        Array { data: self.data.clone(), of: PhantomData }
    }
}

impl<D: Shape, T: Elt> Array<D, T> {
    /// The array with these extents and elements, row by row.
    ///
    /// ```
    /// use pumice::{Array, Dim3, Matrix};
    /// let cube = Array::<Dim3, i32>::from_vec([2, 1, 2], vec![1, 2, 3, 4])?;
    /// assert_eq!(cube.len(), 4);
    /// assert!(Matrix::from_vec([2, 2], vec![1, 2, 3]).is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn from_vec(extents: D::Extents, values: Vec<T>) -> Result<Self, Error> {
        Self::from_slice(extents, &values)
    }

    /// The array with these extents whose elements a function on the host makes of their indices. [`crate::generate`] makes one
    /// on the device.
    ///
    /// ```
    /// use pumice::*;
    /// let table = Matrix::from_fn([2, 3], |[i, j]| 10 * i as i32 + j as i32)?;
    /// assert_eq!(table.to_vec()?, [0, 1, 2, 10, 11, 12]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn from_fn(extents: D::Extents, mut f: impl FnMut(D::Extents) -> T) -> Result<Self, Error> {
        let sides = extents.as_ref();
        let count = sides.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
        let count =
            count.ok_or_else(|| Error::Shape(format!("an array of extents {sides:?} is too large")))?;
        let mut values = Vec::new();
        let no_room = |_| Error::Shape(format!("there is no memory for an array of extents {sides:?}"));
        values.try_reserve_exact(count).map_err(no_room)?;
        let mut index = vec![0; D::RANK];
        for _ in 0..count {
            // As many parts as the shape has.
            values.extend(D::Extents::try_from(&index[..]).ok().map(&mut f));
            for dimension in (0..D::RANK).rev() {
                index[dimension] += 1;
                if index[dimension] < sides[dimension] {
                    break;
                }
                index[dimension] = 0;
            }
        }
        Self::from_vec(extents, values)
    }

    /// The array with these extents and a copy of these elements, row by row.
    ///
    /// ```
    /// use pumice::Matrix;
    /// let rows = [1.0, 2.0, 3.0, 4.0];
    /// let m = Matrix::from_slice([2, 2], &rows)?;
    /// assert_eq!(m.to_vec()?, rows);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn from_slice(extents: D::Extents, values: &[T]) -> Result<Self, Error> {
        let extents = extents.as_ref().to_vec();
        let wanted = extents.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
        if wanted != Some(values.len()) {
            let count = values.len();
            return Err(Error::Shape(format!(
                "an array of extents {extents:?} cannot hold {count} elements"
            )));
        }
        Ok(Self::from_parts(extents, values))
    }

    /// The array with these extents and as many elements.
    pub(crate) fn from_parts(extents: Vec<usize>, values: &[T]) -> Self {
        let mut columns = Vec::new();
        T::add_columns(values, &mut columns);
        let owned = |column: Cow<'_, [u8]>| match column {
            Cow::Owned(column) => column,
            Cow::Borrowed(column) => {
                let mut copy = Vec::with_capacity(column.len());
                prefer_large_pages(copy.as_mut_ptr(), column.len());
                copy.extend_from_slice(column);
                copy
            }
        };
        let columns = columns.into_iter().map(owned).collect();
        Array { data: Arc::new(HostData::new(extents, T::types(), columns)), of: PhantomData }
    }

    /// The array that this data is; an error if it has another shape or element type.
    ///
    /// ```
    /// use pumice::Vector;
    /// let xs = Vector::from(vec![1i32, 2]);
    /// assert_eq!(Vector::<i32>::from_data(xs.data().clone())?.to_vec()?, [1, 2]);
    /// assert!(Vector::<f32>::from_data(xs.data().clone()).is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn from_data(data: Arc<dyn ArrayData>) -> Result<Self, Error> {
        if data.extents().len() != D::RANK || data.types() != T::types() {
            return Err(Error::Program("an array has another shape or element type than its data".into()));
        }
        Ok(Array { data, of: PhantomData })
    }

    /// The data.
    ///
    /// ```
    /// use pumice::{Vector, layers::scalar::ScalarType};
    /// let pairs = Vector::from(vec![(1i32, true)]);
    /// assert_eq!(pairs.data().types(), [ScalarType::I32, ScalarType::Bool]);
    /// ```
    pub fn data(&self) -> &Arc<dyn ArrayData> {
        &self.data
    }

    /// The extents, outermost first.
    ///
    /// ```
    /// use pumice::Matrix;
    /// let m = Matrix::from_vec([2, 3], vec![0; 6])?;
    /// let [rows, columns] = m.extents();
    /// assert_eq!((rows, columns), (2, 3));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn extents(&self) -> D::Extents {
        match D::Extents::try_from(self.data.extents()) {
            Ok(extents) => extents,
            Err(_) => unreachable!("the rank is checked when an array is made"),
        }
    }

    /// The number of elements.
    ///
    /// ```
    /// let m = pumice::Matrix::from_vec([2, 3], vec![0; 6])?;
    /// assert_eq!(m.len(), 6);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.data.extents().iter().product()
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let none = pumice::run(use_(&[1, 2]).filter(|x| x.gt(2)))?;
    /// assert!(none.is_empty());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, row by row. Waits for the device and copies; fails if the computation of this array (or of one
    /// that it was computed from) failed, or if the host has no memory for the elements.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let quotients = pumice::compile(|xs: Acc<Vector<i32>>| xs.map(|x| 12 / x))?;
    /// assert_eq!(quotients.run(&[3, 4])?.to_vec()?, [4, 3]);
    /// assert!(quotients.run(&[3, 0])?.to_vec().is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        let columns = self.data.columns()?;
        let count = self.len();
        let values = T::from_columns(&mut columns.iter().map(|column| &**column), count)
            .map_err(|_| Error::HostMemory { bytes: count.saturating_mul(size_of::<T>()) })?;
        check_whole(&*self.data, &columns)?;
        Ok(values)
    }
}

impl<T: Elt> Array<Dim0, T> {
    /// The value.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// assert_eq!(pumice::run(use_(&[1.5, 2.5]).sum())?.to_value()?, 4.0);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn to_value(&self) -> Result<T, Error> {
        self.to_vec()?.first().copied().ok_or_else(|| Error::Shape("a scalar without a value".into()))
    }
}

impl<T: Elt> From<Vec<T>> for Array<Dim1, T> {
    fn from(values: Vec<T>) -> Self {
        Self::from(values.as_slice())
    }
}

impl<T: Elt> From<&[T]> for Array<Dim1, T> {
    fn from(values: &[T]) -> Self {
        Self::from_parts(vec![values.len()], values)
    }
}

impl<D: Shape, T: Elt> fmt::Debug for Array<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Elements that are printed before the rest is left out.
const PRINTED: usize = 20;

impl<D: Shape, T: Elt> fmt::Display for Array<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = match self.to_vec() {
            Ok(values) => values,
            Err(error) => return write!(f, "<{error}>"),
        };
        let extents = self.data.extents();
        if let ([], [value]) = (extents, values.as_slice()) {
            return write!(f, "{value:?}");
        }
        print(f, extents, &values)
    }
}

fn print<T: Elt>(f: &mut fmt::Formatter<'_>, extents: &[usize], values: &[T]) -> fmt::Result {
    f.write_str("[")?;
    match extents {
        [outer, inner @ ..] if !inner.is_empty() => {
            let size: usize = inner.iter().product();
            for row in 0..(*outer).min(PRINTED) {
                if row > 0 {
                    f.write_str(", ")?;
                }
                print(f, inner, &values[row * size..(row + 1) * size])?;
            }
            if *outer > PRINTED {
                write!(f, ", … {} more", outer - PRINTED)?;
            }
        }
        _ => {
            for (position, value) in values.iter().take(PRINTED).enumerate() {
                if position > 0 {
                    f.write_str(", ")?;
                }
                write!(f, "{value:?}")?;
            }
            if values.len() > PRINTED {
                write!(f, ", … {} more", values.len() - PRINTED)?;
            }
        }
    }
    f.write_str("]")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An array of any length, without its elements.
    struct Claimed([usize; 1]);

    impl ArrayData for Claimed {
        fn extents(&self) -> &[usize] {
            &self.0
        }
        fn types(&self) -> &[ScalarType] {
            &[ScalarType::F32]
        }
        fn columns(&self) -> Result<Vec<Cow<'_, [u8]>>, Error> {
            Ok(vec![Cow::Borrowed(&[])])
        }
    }

    #[test]
    fn elements_that_no_memory_holds_are_an_error() -> Result<(), Error> {
        let array = Vector::<f32>::from_data(Arc::new(Claimed([1 << 60])))?;
        let Err(error) = array.to_vec() else { panic!("2^62 bytes were allocated") };
        let message = "the host is out of memory: it could not allocate 4611686018427387904 bytes for an array's elements";
        assert_eq!(error.to_string(), message);
        Ok(())
    }
}
