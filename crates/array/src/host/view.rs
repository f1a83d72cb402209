//! Parts of an array and other shapes of it, without copies: elements that follow each other are looked at where they are, and of those
//! on a device only they are fetched.

use crate::data::{Array, ArrayData};
use crate::error::Error;
use crate::shape::{Larger, Shape};
use pumice_scalar::{Elt, ScalarType};
use std::any::Any;
use std::borrow::Cow;
use std::ops::{Bound, Range, RangeBounds};
use std::panic::Location;
use std::sync::Arc;

/// Elements of another array that follow each other, in a shape of their own: the data of what [`Array::slice`], [`Array::row`] and
/// [`Array::reshape`] give.
///
/// ```
/// use pumice::prelude::*;
/// use std::any::Any;
/// use pumice::layers::array::View;
/// let table = Matrix::from([[1, 2], [3, 4]]);
/// let (first, second) = (table.row(0)?, table.row(1)?);
/// let view = |row: &Vector<i32>| {
///     let data: &dyn Any = &**row.data();
///     data.downcast_ref::<View>().map(|view| (view.base().extents().to_vec(), view.begun().is_some()))
/// };
/// assert_eq!(view(&first), Some((vec![2, 2], true)));
/// assert_eq!(view(&second), Some((vec![2, 2], false)));
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct View {
    base: Arc<dyn ArrayData>,
    first: usize,
    extents: Vec<usize>,
}

impl View {
    /// Makes a view of the elements from `first` on. Of a view, it is one of that view's array.
    fn new(base: &Arc<dyn ArrayData>, first: usize, extents: Vec<usize>) -> View {
        let any: &dyn Any = &**base;
        match any.downcast_ref::<View>() {
            // Inside the first view's numbers, so the sum is one of a number of elements.
            Some(view) => View { base: view.base.clone(), first: view.first + first, extents },
            None => View { base: base.clone(), first, extents },
        }
    }

    /// The array that it looks at.
    pub fn base(&self) -> &Arc<dyn ArrayData> {
        &self.base
    }

    /// The array that it looks at, if its first element is the view's.
    pub fn begun(&self) -> Option<&Arc<dyn ArrayData>> {
        (self.first == 0).then_some(&self.base)
    }

    /// The numbers of its elements in that array.
    pub(crate) fn numbers(&self) -> Range<usize> {
        self.first..self.first + self.extents.iter().product::<usize>()
    }
}

/// The number of elements at each outermost index. An array without any may have inner extents whose product is no number.
pub(crate) fn row_size(extents: &[usize]) -> usize {
    extents.iter().skip(1).fold(1, |product: usize, extent| product.saturating_mul(*extent))
}

impl ArrayData for View {
    fn extents(&self) -> &[usize] {
        &self.extents
    }
    fn types(&self) -> &[ScalarType] {
        self.base.types()
    }
    fn columns(&self) -> Result<Vec<Cow<'_, [u8]>>, Error> {
        self.base.stretch(self.numbers())
    }
    fn stretch(&self, elements: Range<usize>) -> Result<Vec<Cow<'_, [u8]>>, Error> {
        let own = self.numbers();
        let shifted = own.start.saturating_add(elements.start)..own.start.saturating_add(elements.end);
        match shifted.end <= own.end {
            true => self.base.stretch(shifted),
            false => {
                Err(Error::Program(format!("an array has no elements with the numbers {elements:?}").into()))
            }
        }
    }
}

impl<D: Shape, T: Elt> Array<D, T> {
    /// The same elements, row by row, in another shape, which has as many. Nothing is copied or fetched.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let numbers: Vector<i32> = (0..6).collect();
    /// let m: Matrix<i32> = numbers.reshape([2, 3])?;
    /// assert_eq!(m[[1, 0]], 3);
    /// let error = numbers.reshape::<Dim2>([2, 2]).unwrap_err();
    /// assert!(error.to_string().starts_with("6 elements are not an array of extents [2, 2] in reshape at "), "{error}");
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn reshape<E: Shape>(&self, extents: E::Extents) -> Result<Array<E, T>, Error> {
        let (count, wanted) = (self.len(), extents.as_ref());
        let found = wanted.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
        if found != Some(count) {
            let what = format!("{count} elements are not an array of extents {wanted:?}");
            return Err(Error::misfit("reshape", Location::caller(), what));
        }
        Array::from_data(Arc::new(View::new(self.data(), 0, wanted.to_vec())))
    }
}

impl<D: Larger, T: Elt> Array<D, T> {
    /// Elements at some outermost indices: a part of a vector, some rows of a matrix. Looking at it fetches these elements alone.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let numbers = pumice::run(generate(1_000_000, |i| i))?;
    /// assert_eq!(numbers.slice(10..13)?.to_vec()?, [10, 11, 12]);
    /// assert_eq!(numbers.slice(999_999..)?, [999_999]);
    /// let error = numbers.slice(0..=1_000_000).unwrap_err();
    /// assert!(error.to_string().starts_with("there is no part 0..1000001 of an array of extents [1000000] in slice at "), "{error}");
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self, Error> {
        let mut extents = self.data().extents().to_vec();
        let size = row_size(&extents);
        let Some(count) = extents.first_mut() else {
            return Err(Error::misfit("slice", Location::caller(), "a single value has no parts"));
        };
        let first = match range.start_bound() {
            Bound::Included(first) => *first,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => *count,
        };
        if first > end || end > *count {
            let all = self.extents();
            let what = format!("there is no part {first}..{end} of an array of extents {all:?}");
            return Err(Error::misfit("slice", Location::caller(), what));
        }
        *count = end - first;
        Self::from_data(Arc::new(View::new(self.data(), first * size, extents)))
    }

    /// Returns the part at an outermost index: an element of a vector, a row of a matrix. Looking at it fetches these elements alone.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let table = pumice::run(generate((3, 4), |(i, j)| 10 * i + j))?;
    /// assert_eq!(table.row(2)?, [20, 21, 22, 23]);
    /// let error = table.row(3).unwrap_err();
    /// assert!(error.to_string().starts_with("there is no row 3 in an array of extents [3, 4] in row at "), "{error}");
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn row(&self, number: usize) -> Result<Array<D::Smaller, T>, Error> {
        match self.data().extents().split_first() {
            Some((count, rest)) if number < *count => {
                let first = number * row_size(self.data().extents());
                Array::from_data(Arc::new(View::new(self.data(), first, rest.to_vec())))
            }
            _ => {
                let all = self.extents();
                let what = format!("there is no row {number} in an array of extents {all:?}");
                Err(Error::misfit("row", Location::caller(), what))
            }
        }
    }
}
