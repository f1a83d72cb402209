//! The elements of a pull array in another order, or some of them: index arithmetic that ends up in the loop that consumes
//! the array.

use super::{Pull, choose};
use crate::bounds::natural;
use crate::item::{Item, Storable};
use crate::place::here;
use crate::size::{IntoSize, Size, whole};

impl<T: Item, S: Size> Pull<T, S> {
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
        let place = here("gather");
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

    /// Both arrays, one after the other. Every access asks which one it is in; [`Push::append`](crate::Push::append) does not.
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
}
