//! Arrays as values: extents, element types, and columns of bytes, wherever those are kept.

use crate::error::Error;
use crate::large_pages::prefer_large_pages;
use crate::shape::{Dim0, Dim1, Dim2, Shape};
use pumice_scalar::{Elt, ScalarType};
use std::any::Any;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::panic::Location;
use std::sync::{Arc, OnceLock};

/// Storage of an array's elements. Devices have their own kinds.
pub trait ArrayData: Any + Send + Sync {
    /// The extents, outermost first.
    fn extents(&self) -> &[usize];
    /// The scalar types of an element.
    fn types(&self) -> &[ScalarType];
    /// One column of bytes for each scalar type, fetched if they are elsewhere.
    fn columns(&self) -> Result<Vec<Cow<'_, [u8]>>, Error>;
    /// The same of some elements, by their numbers row by row. Those that are elsewhere are fetched without the others. Fails if there
    /// are no elements of these numbers.
    fn stretch(&self, elements: Range<usize>) -> Result<Vec<Cow<'_, [u8]>>, Error> {
        stretch_of(self.columns()?, self.types(), elements)
    }
}

/// Cuts the bytes of some elements out of an array's columns; an error if they are not there.
pub fn stretch_of<'a>(
    columns: Vec<Cow<'a, [u8]>>,
    types: &[ScalarType],
    elements: Range<usize>,
) -> Result<Vec<Cow<'a, [u8]>>, Error> {
    let cut = |(column, ty): (Cow<'a, [u8]>, &ScalarType)| {
        let bytes = elements.start.checked_mul(ty.bytes())?..elements.end.checked_mul(ty.bytes())?;
        Some(match column {
            Cow::Borrowed(column) => Cow::Borrowed(column.get(bytes)?),
            Cow::Owned(column) => Cow::Owned(column.get(bytes)?.to_vec()),
        })
    };
    let cut: Option<Vec<_>> = columns.into_iter().zip(types).map(cut).collect();
    cut.ok_or_else(|| {
        Error::Program(format!("an array has no elements with the numbers {elements:?}").into())
    })
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

/// Elements whose bytes are a column as they stand, in memory that others allocated: a vector of the user's, say.
pub(crate) struct Kept<T> {
    extents: Vec<usize>,
    types: Vec<ScalarType>,
    pub(crate) values: Box<dyn Deref<Target = [T]> + Send + Sync>,
}

impl<T: Elt> ArrayData for Kept<T> {
    fn extents(&self) -> &[usize] {
        &self.extents
    }
    fn types(&self) -> &[ScalarType] {
        &self.types
    }
    fn columns(&self) -> Result<Vec<Cow<'_, [u8]>>, Error> {
        let mut columns = Vec::new();
        T::add_columns(&self.values, &mut columns);
        Ok(columns)
    }
}

/// Whether elements are a column as they stand, and need not be taken apart.
fn is_plain<T: Elt>() -> bool {
    let mut columns = Vec::new();
    T::add_columns(&[], &mut columns);
    columns.iter().all(|column| matches!(column, Cow::Borrowed(_)))
}

/// An array of `D` dimensions with elements of type `T`. It is a value: cloning it copies nothing, and a result stays on
/// the device until the program looks at it with [`Array::to_vec`], an index or an iterator, compares or prints it.
///
/// ```
/// use pumice::{Array, Dim2};
/// let m = Array::<Dim2, i32>::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// assert_eq!(m.extents(), [2, 3]);
/// assert_eq!(m.to_vec()?, [1, 2, 3, 4, 5, 6]);
/// assert_eq!(m[[1, 2]], 6);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Array<D, T> {
    data: Arc<dyn ArrayData>,
    /// The elements, once they were looked at as a slice.
    pub(crate) seen: Arc<OnceLock<Vec<T>>>,
    of: PhantomData<fn() -> D>,
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
        Array { data: self.data.clone(), seen: self.seen.clone(), of: PhantomData }
    }
}

impl<D: Shape, T: Elt> Array<D, T> {
    /// The array with these extents and elements, row by row. Numbers and truth values are not copied.
    ///
    /// ```
    /// use pumice::{Array, Dim3, Matrix};
    /// let cube = Array::<Dim3, i32>::from_vec([2, 1, 2], vec![1, 2, 3, 4])?;
    /// assert_eq!(cube.len(), 4);
    /// assert!(Matrix::from_vec([2, 2], vec![1, 2, 3]).is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn from_vec(extents: D::Extents, values: Vec<T>) -> Result<Self, Error> {
        let caller = Location::caller();
        check_count(extents.as_ref(), values.len())
            .map_err(|what| Error::misfit("from_vec", caller, what))?;
        Ok(Self::from_held(extents.as_ref().to_vec(), values))
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
    #[track_caller]
    pub fn from_fn(extents: D::Extents, mut f: impl FnMut(D::Extents) -> T) -> Result<Self, Error> {
        let sides = extents.as_ref();
        let count = sides.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
        let caller = Location::caller();
        let too_large =
            || Error::misfit("from_fn", caller, format!("an array of extents {sides:?} is too large"));
        let count = count.ok_or_else(too_large)?;
        let mut values = Vec::new();
        let no_room = |_| Error::HostMemory { bytes: count.saturating_mul(size_of::<T>()) };
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
    #[track_caller]
    pub fn from_slice(extents: D::Extents, values: &[T]) -> Result<Self, Error> {
        let caller = Location::caller();
        check_count(extents.as_ref(), values.len())
            .map_err(|what| Error::misfit("from_slice", caller, what))?;
        Ok(Self::from_parts(extents.as_ref().to_vec(), values))
    }

    /// The array with these extents and a copy of as many elements.
    pub(crate) fn from_parts(extents: Vec<usize>, values: &[T]) -> Self {
        if !is_plain::<T>() {
            return Self::from_columns(extents, values);
        }
        let mut copy: Vec<T> = Vec::with_capacity(values.len());
        prefer_large_pages(copy.as_mut_ptr().cast(), size_of_val(values));
        copy.extend_from_slice(values);
        Self::from_held(extents, copy)
    }

    /// The array with these extents and as many elements, which are kept where they are if they need not be taken apart.
    pub(crate) fn from_held(
        extents: Vec<usize>,
        values: impl Deref<Target = [T]> + Send + Sync + 'static,
    ) -> Self {
        match is_plain::<T>() {
            true => Self::of(Arc::new(Kept { extents, types: T::types(), values: Box::new(values) })),
            false => Self::from_columns(extents, &values),
        }
    }

    /// The array with these extents and as many elements, taken apart.
    fn from_columns(extents: Vec<usize>, values: &[T]) -> Self {
        let mut columns = Vec::new();
        T::add_columns(values, &mut columns);
        let columns = columns.into_iter().map(Cow::into_owned).collect();
        Self::of(Arc::new(HostData::new(extents, T::types(), columns)))
    }

    /// The array that this data is, whose rank and element type were checked.
    fn of(data: Arc<dyn ArrayData>) -> Self {
        Array { data, seen: Arc::default(), of: PhantomData }
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
        Ok(Self::of(data))
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

    /// The same as [`Array::extents`], by NumPy's name.
    pub fn shape(&self) -> D::Extents {
        self.extents()
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
        let values = elements(&columns, self.len())?;
        check_whole(&*self.data, &columns)?;
        Ok(values)
    }

    /// Some elements, by their numbers row by row. No others are fetched.
    pub(crate) fn stretch(&self, numbers: Range<usize>) -> Result<Vec<T>, Error> {
        let count = numbers.len();
        elements(&self.data.stretch(numbers)?, count)
    }
}

/// A message unless an array of these extents has as many elements.
pub(crate) fn check_count(extents: &[usize], count: usize) -> Result<(), String> {
    match extents.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent)) {
        Some(wanted) if wanted == count => Ok(()),
        _ => Err(format!("an array of extents {extents:?} cannot hold {count} elements")),
    }
}

fn elements<T: Elt>(columns: &[Cow<'_, [u8]>], count: usize) -> Result<Vec<T>, Error> {
    let values = T::from_columns(&mut columns.iter().map(|column| &**column), count);
    values.map_err(|_| Error::HostMemory { bytes: count.saturating_mul(size_of::<T>()) })
}

impl<T: Elt> Array<Dim0, T> {
    /// The value.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// assert_eq!(pumice::run(use_(&[1.5, 2.5]).sum())?.to_value()?, 4.0);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn to_value(&self) -> Result<T, Error> {
        let caller = Location::caller();
        let none = || Error::misfit("to_value", caller, "a scalar has no value");
        self.to_vec()?.first().copied().ok_or_else(none)
    }
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
