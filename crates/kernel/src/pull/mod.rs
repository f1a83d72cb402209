//! Pull arrays: a length and a function from index to element. Nothing is computed until an element is read.
//!
//! Taking arrays apart is free here: every operation below is index arithmetic that ends up inside the loop which
//! consumes the array. Putting arrays together needs a condition on the index (`append`, `unpair`); where that matters,
//! use the operations of the same names on [`crate::Push`].
//!
//! Here is what a pull array is, how it is read and mapped, and how it is pushed; `rearrange.rs` has other orders and parts of
//! the elements, `split.rs` arrays of arrays, and `pairs.rs` arrays of tuples.

mod pairs;
mod rearrange;
mod split;

pub use split::Rows;

use crate::Push;
use crate::check;
use crate::effects;
use crate::item::{Item, ItemForm, Ix, Storable};
use crate::level::{AnyLevel, Level, Loops, fixed};
use crate::place::{at_place, here};
use crate::size::{Size, StaticLength};
use pumice_program::MemoryId;
use pumice_scalar::{Exp, Place, ScalarType, Term};
use std::rc::Rc;

/// A pull array.
///
/// ```
/// use pumice::kernel::Pull;
/// let squares = Pull::<i64>::new(10, |i| i * i);
/// let (low, high) = squares.halve();
/// let sums = low.zip_with(high, |a, b| a + b);
/// assert_eq!(sums.len(), 5);
/// ```
pub struct Pull<T: Item, S: Size = usize> {
    length: S,
    at: Rc<dyn Fn(Ix) -> T::Form>,
}

impl<T: Item, S: Size> Clone for Pull<T, S> {
    fn clone(&self) -> Self {
        Pull { length: self.length, at: self.at.clone() }
    }
}

impl<T: Item, S: Size> Pull<T, S> {
    /// The array with this length and these elements; [`generate`] finds the element type by itself.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let squares = preview(32, &[0; 4], |xs: Pull<i64, Ix>| Pull::<i64, Ix>::new(xs.len(), |i| i * i).push())?;
    /// assert_eq!(squares, [0, 1, 4, 9]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn new(length: S, at: impl Fn(Ix) -> T::Form + 'static) -> Self {
        Pull { length, at: Rc::new(at) }
    }

    /// The length.
    ///
    /// ```
    /// use pumice::kernel::Pull;
    /// assert_eq!(Pull::<i64>::new(10, |i| i * i).len(), 10);
    /// ```
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> S {
        self.length
    }

    /// The same array, with its length as one that is known on the device.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull};
    /// let squares: Pull<i64, Ix> = Pull::<i64>::new(10, |i| i * i).dynamic();
    /// ```
    pub fn dynamic(self) -> Pull<T, Ix> {
        Pull { length: self.length.to_ix(), at: self.at }
    }

    /// The same array, with its length as one that is known while the kernel is built. Where it is not, that is an error then.
    ///
    /// ```
    /// use pumice::kernel::{Length, Pull};
    /// let squares = Pull::<i64, Length>::new(Length::Known(10), |i| i * i);
    /// assert_eq!(squares.fixed().len(), 10);
    /// ```
    pub fn fixed(self) -> Pull<T>
    where
        S: StaticLength,
    {
        Pull { length: self.length.now(), at: self.at }
    }

    /// The element at an index. An index that is not in the array is an error when the kernel runs; where it cannot
    /// happen, nothing is checked.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, generate, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| generate(2usize, move |i| xs.at(i + 1)).push())?;
    /// assert_eq!(result, [2, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn at(&self, index: impl Into<Ix>) -> T::Form {
        self.checked(index.into(), here("at"))
    }

    /// The element at an index, which is checked.
    pub(crate) fn checked(&self, index: Ix, place: Place) -> T::Form {
        match check::inside(index, self.length.to_ix(), place) {
            None => (self.at)(index),
            Some(inside) if check::has_some(self.length.to_ix()) => (self.at)(inside.select(index, 0.into())),
            // Not even element 0 is there for sure.
            Some(inside) => T::guarded(inside, &|| (self.at)(index)),
        }
    }

    /// The element at an index that is below `bound`, and not negative. It is checked, unless the array is plainly as long
    /// as that.
    pub(crate) fn get_below(&self, index: Ix, bound: Ix, place: Place) -> T::Form {
        match check::at_most(bound, self.length.to_ix()) {
            true => (self.at)(index),
            false => self.checked(index, place),
        }
    }

    /// The element at an index, or `otherwise` where the index is not in the array: that is no error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| Pull::<i32>::new(3, move |i| xs.at_or(i - 1, 0.into())).push())?;
    /// assert_eq!(result, [0, 1, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn at_or(&self, index: impl Into<Ix>, otherwise: T::Form) -> T::Form
    where
        T: Storable,
    {
        let index = index.into();
        let inside = index.ge(0) & index.lt(self.length.to_ix());
        choose::<T>(inside, || (self.at)(index), || otherwise)
    }

    /// The element at an index that is in the array.
    pub(crate) fn get(&self, index: impl Into<Ix>) -> T::Form {
        (self.at)(index.into())
    }

    /// The first element.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview, replicate};
    /// let result = preview(32, &[4, 5], |xs: Pull<i32, Ix>| replicate(1usize, xs.head()).push())?;
    /// assert_eq!(result, [4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn head(&self) -> T::Form {
        self.checked(Exp::from(0), here("head"))
    }

    /// The last element.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview, replicate};
    /// let result = preview(32, &[4, 5], |xs: Pull<i32, Ix>| replicate(1usize, xs.last()).push())?;
    /// assert_eq!(result, [5]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn last(&self) -> T::Form {
        let place = here("last");
        self.checked(self.length.to_ix() - 1, place)
    }

    /// A function of every element.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.map(|x| x * x).push())?;
    /// assert_eq!(result, [1, 4, 9]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn map<F: ItemForm>(self, f: impl Fn(T::Form) -> F + 'static) -> Pull<F::Item, S> {
        Pull::new(self.length, move |i| f((self.at)(i)))
    }

    /// A function of every index and element.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[5, 6], |xs: Pull<i32, Ix>| xs.imap(|i, x| (i, x)).push())?;
    /// assert_eq!(result, [(0, 5), (1, 6)]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn imap<F: ItemForm>(self, f: impl Fn(Ix, T::Form) -> F + 'static) -> Pull<F::Item, S> {
        Pull::new(self.length, move |i| f(i, (self.at)(i)))
    }

    /// A function of the elements of two arrays of the same length. Other lengths are an error; see [`Pull::take`] and
    /// [`Pull::padded`].
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 4], |xs: Pull<i32, Ix>| xs.clone().zip_with(xs.reverse(), |a, b| a - b).push())?;
    /// assert_eq!(result, [-3, 0, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn zip_with<U: Item, F: ItemForm>(
        self,
        other: Pull<U, S>,
        f: impl Fn(T::Form, U::Form) -> F + 'static,
    ) -> Pull<F::Item, S> {
        self.zip_at(other, here("zip_with"), f)
    }

    fn zip_at<U: Item, F: ItemForm>(
        self,
        other: Pull<U, S>,
        place: Place,
        f: impl Fn(T::Form, U::Form) -> F + 'static,
    ) -> Pull<F::Item, S> {
        let length = check::same_length(self.length, other.length, place);
        Pull::new(length, move |i| f((self.at)(i), (other.at)(i)))
    }

    /// A function of the elements of three arrays of the same length. Other lengths are an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.clone().zip_with3(xs.clone(), xs, |a, b, c| a + b + c).push())?;
    /// assert_eq!(result, [3, 6]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn zip_with3<U: Item, V: Item, F: ItemForm>(
        self,
        second: Pull<U, S>,
        third: Pull<V, S>,
        f: impl Fn(T::Form, U::Form, V::Form) -> F + 'static,
    ) -> Pull<F::Item, S> {
        self.zip3_at(second, third, here("zip_with3"), f)
    }

    fn zip3_at<U: Item, V: Item, F: ItemForm>(
        self,
        second: Pull<U, S>,
        third: Pull<V, S>,
        place: Place,
        f: impl Fn(T::Form, U::Form, V::Form) -> F + 'static,
    ) -> Pull<F::Item, S> {
        let length = check::same_length(self.length, second.length, place);
        let length = check::same_length(length, third.length, place);
        Pull::new(length, move |i| f((self.at)(i), (second.at)(i), (third.at)(i)))
    }

    /// Other indices into the same elements; they are in the array.
    pub(crate) fn index_map<R: Size>(self, length: R, f: impl Fn(Ix) -> Ix + 'static) -> Pull<T, R> {
        Pull::new(length, move |i| (self.at)(f(i)))
    }
}

impl<T: Storable, S: Size> Pull<T, S> {
    /// The array in memory.
    ///
    /// # Safety
    ///
    /// In every launch, the memories are of this length at least, one per scalar, and nothing writes them before they are read
    /// for the last time.
    pub unsafe fn from_memory(length: S, cells: Vec<(MemoryId, ScalarType)>) -> Self {
        Pull::in_memory(length, cells)
    }

    /// The array in memories of this length at least, one per scalar.
    pub(crate) fn in_memory(length: S, cells: Vec<(MemoryId, ScalarType)>) -> Self {
        Pull::new(length, move |i| {
            T::from_terms(cells.iter().map(|(memory, ty)| effects::read(*memory, *ty, i.term())).collect())
        })
    }

    /// The elements, written in a loop at a level.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.tiles(4).map(|tile| tile.push::<Block>()).concat_by(4, 3usize))?;
    /// assert_eq!(result, [1, 2, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn push<L: Loops>(self) -> Push<L, T, S> {
        self.pushed(fixed::<L>(), here("push"))
    }

    /// As [`Pull::push`], at a level that is data.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Ix, Pull, preview};
    /// let copy = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.push_at(AnyLevel::Grid).at_level())?;
    /// assert_eq!(copy, [1, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn push_at(self, level: AnyLevel) -> Push<AnyLevel, T, S> {
        self.pushed(level, here("push"))
    }

    fn pushed<L: Level>(self, level: AnyLevel, place: Place) -> Push<L, T, S> {
        Push::trusted_at(level, self.length, move |write| {
            at_place(place, || level.each(self.length.to_ix(), &|i| write(i, (self.at)(i))));
        })
    }

    /// The elements, and `otherwise` beyond their end: an array of another length, which is an error if it is smaller.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.padded(4usize, 0.into()).push())?;
    /// assert_eq!(result, [1, 2, 0, 0]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn padded<R: Size>(self, length: R, otherwise: T::Form) -> Pull<T, R> {
        let place = here("padded");
        let here = check::no_longer_than(self.length.to_ix(), length.to_ix(), place);
        Pull::new(length, move |i| choose::<T>(i.lt(here), || (self.at)(i), || otherwise.clone()))
    }
}

/// The array with this length and these elements.
///
/// ```
/// use pumice::kernel::{Ix, Pull, generate, preview};
/// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| generate(xs.len(), |i| i * i).push())?;
/// assert_eq!(result, [0, 1, 4]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
pub fn generate<F: ItemForm, S: Size>(length: S, f: impl Fn(Ix) -> F + 'static) -> Pull<F::Item, S> {
    Pull::new(length, f)
}

/// The same element everywhere.
///
/// ```
/// use pumice::kernel::{Ix, Pull, preview, replicate};
/// let result = preview(32, &[7, 8, 9], |xs: Pull<i32, Ix>| replicate(xs.len(), xs.at(0)).push())?;
/// assert_eq!(result, [7, 7, 7]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
pub fn replicate<F: ItemForm, S: Size>(length: S, element: F) -> Pull<F::Item, S> {
    Pull::new(length, move |_| element.clone())
}

/// 0, 1, 2, …
///
/// ```
/// use pumice::kernel::{Ix, Pull, iota, preview};
/// let result = preview(32, &[7, 7, 7], |xs: Pull<i32, Ix>| iota(xs.len()).push())?;
/// assert_eq!(result, [0, 1, 2]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
pub fn iota<S: Size>(length: S) -> Pull<i64, S> {
    Pull::new(length, |i| i)
}

/// One of two values; only that one is computed.
pub(crate) fn choose<T: Storable>(
    condition: Exp<bool>,
    then: impl FnOnce() -> T::Form,
    otherwise: impl FnOnce() -> T::Form,
) -> T::Form {
    match check::known(condition) {
        Some(true) => then(),
        Some(false) => otherwise(),
        None => {
            let otherwise = |_: &[Term]| T::terms(&otherwise());
            T::from_terms(effects::choose(condition.term(), || T::terms(&then()), otherwise))
        }
    }
}
