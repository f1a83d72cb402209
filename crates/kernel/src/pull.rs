//! Pull arrays: a length and a function from index to element. Nothing is computed until somebody asks.
//!
//! Taking arrays apart is free here: every operation below is index arithmetic that ends up inside the loop which
//! consumes the array. Putting arrays together needs a condition on the index (`append`, `unpair`); where that matters,
//! use the operations of the same names on [`crate::Push`].

use crate::Push;
use crate::bounds::{area, natural};
use crate::builder::named;
use crate::check;
use crate::effects;
use crate::item::{Item, ItemForm, Ix, Storable};
use crate::level::{AnyLevel, Level, Loops, fixed};
use crate::place::at_place;
use crate::size::{IntoSize, Size, StaticLength, parts_for, quotient, remainder, whole};
use pumice_program::MemoryId;
use pumice_scalar::{Elt, Exp, FailureKind, Place, ScalarType, Term};
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
    pub fn new(length: S, at: impl Fn(Ix) -> T::Form + 'static) -> Self {
        Pull { length, at: Rc::new(at) }
    }

    /// The length.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> S {
        self.length
    }

    /// The same array, with its length as one that is known on the device.
    pub fn dynamic(self) -> Pull<T, Ix> {
        Pull { length: self.length.to_ix(), at: self.at }
    }

    /// The same array, with its length as one that is known while the kernel is built. Where it is not, that is an error then.
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
        self.checked(index.into(), Place::caller("at"))
    }

    /// The element at an index, which is checked.
    fn checked(&self, index: Ix, place: Place) -> T::Form {
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
        self.checked(Exp::from(0), Place::caller("head"))
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
        let place = Place::caller("last");
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
        self.zip_at(other, Place::caller("zip_with"), f)
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
        self.zip3_at(second, third, Place::caller("zip_with3"), f)
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

    /// The elements at these indices, each of which is checked.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[5, 6], |xs: Pull<i32, Ix>| xs.gather(Pull::new(4usize, |i| i % 2)).push())?;
    /// assert_eq!(result, [5, 6, 5, 6]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn gather<R: Size>(self, indices: Pull<i64, R>) -> Pull<T, R> {
        let place = Place::caller("gather");
        indices.map_raw(move |index| self.checked(index, place))
    }

    /// Like [`Pull::map`], to any item.
    fn map_raw<U: Item>(self, f: impl Fn(T::Form) -> U::Form + 'static) -> Pull<U, S> {
        Pull::new(self.length, move |i| f((self.at)(i)))
    }

    /// The elements from the last to the first.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.reverse().push())?;
    /// assert_eq!(result, [3, 2, 1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn reverse(self) -> Self {
        let (length, last) = (self.length, self.length.to_ix() - 1);
        self.index_map(length, move |i| last - i)
    }

    /// The first `count` elements, or all if there are fewer. A negative number is none.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.take(2).push())?;
    /// assert_eq!(result, [1, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn take(self, count: impl IntoSize<S>) -> Self {
        let count = count.into_size().least(self.length);
        self.index_map(count, |i| i)
    }

    /// All but the first `count` elements. A negative number is none.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.drop(2).push())?;
    /// assert_eq!(result, [3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn drop(self, count: impl IntoSize<S>) -> Self {
        let count = count.into_size().natural().least(self.length);
        let rest = self.length.minus(count);
        self.index_map(rest, move |i| i + count.to_ix())
    }

    /// The first `count` elements, and the rest.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| { let (a, b) = xs.split_at(1); b.append(a).push() })?;
    /// assert_eq!(result, [2, 3, 1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn split_at(self, count: impl IntoSize<S>) -> (Self, Self) {
        let count = count.into_size();
        (self.clone().take(count), self.drop(count))
    }

    /// The first half and the rest, which is one longer if the length is odd.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| { let (a, b) = xs.halve(); a.zip_with(b, |a, b| a + b).push() })?;
    /// assert_eq!(result, [4, 6]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn halve(self) -> (Self, Self) {
        let half = self.length.parts(2);
        let rest = self.length.minus(half);
        let low = self.clone().index_map(half, |i| i);
        (low, self.index_map(rest, move |i| i + half.to_ix()))
    }

    /// The elements with even and those with odd indices; of the former there is one more if the length is odd.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4, 5], |xs: Pull<i32, Ix>| { let (a, b) = xs.even_odds(); a.append(b).push() })?;
    /// assert_eq!(result, [1, 3, 5, 2, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn even_odds(self) -> (Self, Self) {
        let odd = self.length.parts(2);
        let even = self.length.minus(odd);
        let evens = self.clone().index_map(even, |i| i * 2);
        (evens, self.index_map(odd, |i| i * 2 + 1))
    }

    /// Every `n`-th element, starting with the first.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4, 5], |xs: Pull<i32, Ix>| xs.every_nth(2).push())?;
    /// assert_eq!(result, [1, 3, 5]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn every_nth(self, n: usize) -> Self {
        let n = n.max(1);
        let count = self.length.plus(S::of(n - 1)).parts(n);
        self.index_map(count, move |i| i * whole(n))
    }

    /// The elements moved `distance` places to the right, with others coming in from the left and the last ones going
    /// out.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.shift(1, 0.into()).push())?;
    /// assert_eq!(result, [0, 1, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn shift(self, distance: usize, fill: T::Form) -> Self
    where
        T: Storable,
    {
        let (length, distance) = (self.length, whole(distance));
        Pull::new(length, move |i| choose::<T>(i.lt(distance), || fill.clone(), || (self.at)(i - distance)))
    }

    /// Both arrays, one after the other. Every access asks which one it is in; [`Push::append`] does not.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.clone().append(xs).push())?;
    /// assert_eq!(result, [1, 2, 1, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn append(self, other: Self) -> Self
    where
        T: Storable,
    {
        let first = natural(self.length.to_ix());
        Pull::new(self.length.plus(other.length), move |i| {
            choose::<T>(i.lt(first), || (self.at)(i), || (other.at)(i - first))
        })
    }

    /// Parts of `size` elements. A length that is no multiple of that is an error; [`Pull::tiles`] takes any.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.split_up(2).map(|part| part.at(0) * part.at(1)).push())?;
    /// assert_eq!(result, [2, 12]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn split_up(self, size: usize) -> Pull<Pull<T>, S> {
        let place = Place::caller("split_up");
        let parts = check::whole_parts(self.length, size, place);
        Pull::new(parts, move |part| {
            let start = named(part * whole(size), "start");
            self.clone().index_map(size, move |i| start + i)
        })
    }

    /// Parts of `size` elements that are far from each other: part `k` has every `n`-th element from the `k`-th on, where
    /// `n` is the number of parts. Neighbouring threads that each run through a part touch neighbouring elements. A length
    /// that is no multiple of `size` is an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.coalesce(2).map(|part| (part.at(0), part.at(1))).push())?;
    /// assert_eq!(result, [(1, 3), (2, 4)]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn coalesce(self, size: usize) -> Pull<Pull<T>, S> {
        let place = Place::caller("coalesce");
        let parts = check::whole_parts(self.length, size, place);
        Pull::new(parts, move |part| self.clone().index_map(size, move |i| part + i * parts.to_ix()))
    }

    /// As [`Pull::coalesce`], with `items` neighbours taken together wherever a part takes one there: what wide loads
    /// need. A length that is no multiple of `size` is an error, and so is a `size` that is no multiple of `items`.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, Thread, preview};
    /// let parts = preview(32, &[0, 1, 2, 3, 4, 5, 6, 7], |xs: Pull<i32, Ix>| {
    ///     xs.coalesce_by(4, 2).map(|part| part.push::<Thread>()).concat()
    /// })?;
    /// assert_eq!(parts, [0, 1, 4, 5, 2, 3, 6, 7]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn coalesce_by(self, size: usize, items: usize) -> Pull<Pull<T>, S> {
        let place = Place::caller("coalesce_by");
        let (parts, items) = (check::whole_parts(self.length, size, place), items.max(1));
        let (size, row) = (check::whole_parts(size, items, place) * items, parts.times(items));
        Pull::new(parts, move |part| {
            let items = whole(items);
            let first = part * items;
            self.clone().index_map(size, move |i| first + (i / items) * row.to_ix() + i % items)
        })
    }

    /// Parts of `size` elements, the last one shorter if need be.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.tiles(2).map(|tile| tile.len()).push())?;
    /// assert_eq!(result, [2, 1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn tiles(self, size: usize) -> Pull<Pull<T, Ix>, Ix> {
        let (length, size) = (self.length.to_ix(), size.max(1));
        Pull::new(parts_for(length, size), move |tile| {
            let start = named(tile * whole(size), "start");
            let here = named((length - start).min(whole(size)), "length");
            self.clone().index_map(here, move |i| named(start + i, "i"))
        })
    }

    /// The rows of a matrix with this many columns. A length that is no multiple of that is an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.rows(2.into()).map(|row| row.at(1)).push())?;
    /// assert_eq!(result, [2, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn rows(self, columns: Ix) -> Pull<Pull<T, Ix>, Ix> {
        let place = Place::caller("rows");
        let (all, width) = (natural(self.length.to_ix()), columns.max(1));
        let filled = remainder(all, width).eq(0) & (columns.gt(0) | all.eq(0));
        let failure = (FailureKind::NotWhole, place);
        let count = check::require(quotient(all, width), filled, failure, all, columns);
        Pull::new(count, move |row| {
            let start = row * columns;
            self.clone().index_map(columns, move |column| start + column)
        })
    }
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

impl<T: Elt, S: Size> Pull<T, S> {
    /// Pairs of the elements of two arrays of the same length. Other lengths are an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.clone().zip(xs.reverse()).push())?;
    /// assert_eq!(result, [(1, 2), (2, 1)]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn zip<U: Elt>(self, other: Pull<U, S>) -> Pull<(T, U), S> {
        self.zip_at(other, Place::caller("zip"), |a, b| (a, b))
    }

    /// Triples of the elements of three arrays of the same length. Other lengths are an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1], |xs: Pull<i32, Ix>| xs.clone().zip3(xs.clone(), xs).push())?;
    /// assert_eq!(result, [(1, 1, 1)]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn zip3<U: Elt, V: Elt>(self, second: Pull<U, S>, third: Pull<V, S>) -> Pull<(T, U, V), S> {
        let place = Place::caller("zip3");
        self.zip3_at(second, third, place, |a, b, c| (a, b, c))
    }

    /// Neighbours as pairs. An odd length is an error.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.pair().push())?;
    /// assert_eq!(result, [(1, 2), (3, 4)]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn pair(self) -> Pull<(T, T), S> {
        let place = Place::caller("pair");
        Pull::new(check::whole_parts(self.length, 2, place), move |i| {
            ((self.at)(i * 2), (self.at)(i * 2 + 1))
        })
    }
}

impl<T: Elt, S: Size> Pull<(T, T), S> {
    /// Pairs as neighbours. Every access asks whether its index is even; [`Push::unpair`] does not.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[(1, 2), (3, 4)], |xs: Pull<(i32, i32), Ix>| xs.unpair().push())?;
    /// assert_eq!(result, [1, 2, 3, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn unpair(self) -> Pull<T, S> {
        Pull::new(self.length.times(2), move |i| {
            // The pair is the same on both sides, and only one of its elements is needed.
            choose::<T>((i % 2).eq(0), || (self.at)(i >> 1).0, || (self.at)(i >> 1).1)
        })
    }

    /// The arrays of the first and of the second elements.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[(1, 2), (3, 4)], |xs: Pull<(i32, i32), Ix>| { let (a, b) = xs.unzip(); b.append(a).push() })?;
    /// assert_eq!(result, [2, 4, 1, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn unzip(self) -> (Pull<T, S>, Pull<T, S>) {
        (self.clone().map(|(a, _)| a), self.map(|(_, b)| b))
    }
}

impl<T: Item> Pull<T> {
    /// Divides the array `times` times in two, does `f` to each of the 2^`times` parts, and puts the results side by
    /// side. A length that is no multiple of 2^`times` is an error.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.split_up(4).map(|four| four.bin_split(1, |two| two.reverse()).push::<Block>()).concat())?;
    /// assert_eq!(result, [2, 1, 4, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn bin_split<U: Item>(self, times: u32, f: impl Fn(Pull<T>) -> Pull<U> + 'static) -> Pull<U> {
        let place = Place::caller("bin_split");
        let parts = 1usize.checked_shl(times).unwrap_or(usize::MAX);
        let size = check::whole_parts(self.length, parts, place);
        let part = move |number: Ix| f(self.clone().index_map(size, move |i| number * whole(size) + i));
        let each = part(Exp::from(0)).len();
        Pull::new(each.saturating_mul(parts), move |i| {
            let each = whole(each).max(1);
            part(i / each).get_below(i % each, Exp::from(each), place)
        })
    }
}

impl<T: Item, S: Size, N: Size> Pull<Pull<T, S>, N> {
    /// Columns for rows: the arrays inside are of one length, which is given. Reading from one that is shorter is an error
    /// when the kernel runs.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.split_up(2).transpose(2).map(|row| row.at(0)).push())?;
    /// assert_eq!(result, [1, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn transpose(self, columns: S) -> Pull<Pull<T, N>, S> {
        let place = Place::caller("transpose");
        let rows = self.length;
        Pull::new(columns, move |column| {
            let whole = self.clone();
            Pull::new(rows, move |row| (whole.at)(row).get_below(column, columns.to_ix(), place))
        })
    }

    /// The arrays, which are all of this length, one after the other as one array. Reading from one that is shorter is an
    /// error when the kernel runs.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.rows(2.into()).transpose(2.into()).join(2.into()).push())?;
    /// assert_eq!(result, [1, 3, 2, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn join(self, columns: S) -> Pull<T, Ix> {
        let place = Place::caller("join");
        let width = columns.to_ix();
        Pull::new(area(self.length.to_ix(), width), move |i| {
            (self.at)(quotient(i, width)).get_below(remainder(i, width), width, place)
        })
    }
}

/// A matrix in the kernel language: an array of rows, all of one length.
pub type Rows<T> = Pull<Pull<T, Ix>, Ix>;

impl<T: Item> Rows<T> {
    /// Cuts a matrix of `columns` columns into tiles of `size` × `size` elements, smaller at the lower and right edges:
    /// an array of rows of tiles, each a matrix itself. Rows that are shorter than that are an error when the kernel runs.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[0, 1, 2, 3, 4, 5, 6, 7], |xs: Pull<i32, Ix>| {
    ///     let tiles = xs.rows(4.into()).split_2d(4.into(), 2);
    ///     tiles.map(|row| row.at(1)).map(|tile| tile.at(0).at(0)).push()
    /// })?;
    /// assert_eq!(result, [2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn split_2d(self, columns: Ix, size: usize) -> Rows<Rows<T>> {
        let place = Place::caller("split_2d");
        let (rows, size) = (self.length, size.max(1));
        let side = whole(size);
        Pull::new(parts_for(rows, size), move |tile_row| {
            let (matrix, first_row) = (self.clone(), named(tile_row * side, "first_row"));
            let tile_rows = named((rows - first_row).min(side), "rows_here");
            Pull::new(parts_for(columns, size), move |tile_column| {
                let (matrix, first_column) = (matrix.clone(), named(tile_column * side, "first_column"));
                let tile_columns = named((columns - first_column).min(side), "columns_here");
                Pull::new(tile_rows, move |row| {
                    let matrix = matrix.clone();
                    Pull::new(tile_columns, move |column| {
                        (matrix.at)(first_row + row).get_below(first_column + column, columns, place)
                    })
                })
            })
        })
    }
}

impl<T: Storable, S: Size> Pull<T, S> {
    /// The array in memory.
    ///
    /// # Safety
    ///
    /// In every launch, the memories are of this length at least, one a scalar, and nobody writes them before they are read
    /// for the last time.
    pub unsafe fn from_memory(length: S, cells: Vec<(MemoryId, ScalarType)>) -> Self {
        Pull::in_memory(length, cells)
    }

    /// The array in memories of this length at least, one a scalar.
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
        self.pushed(fixed::<L>(), Place::caller("push"))
    }

    /// As [`Pull::push`], at a level that is data.
    #[track_caller]
    pub fn push_at(self, level: AnyLevel) -> Push<AnyLevel, T, S> {
        self.pushed(level, Place::caller("push"))
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
        let place = Place::caller("padded");
        let here = check::no_longer_than(self.length.to_ix(), length.to_ix(), place);
        Pull::new(length, move |i| choose::<T>(i.lt(here), || (self.at)(i), || otherwise.clone()))
    }
}
