//! Pushes of pull arrays that are more than a loop over the elements: to indices that the elements name, several neighbours to
//! a thread, and elements with their partners.

use super::{Push, now, write_within};
use crate::item::{Item, ItemForm, Ix, Storable};
use crate::level::{AnyLevel, Block, Level, Loops, fixed};
use crate::place::{at_place, here};
use crate::size::{Size, group_size, whole};
use crate::{Pull, effects};
use pumice_scalar::{Elt, Place};

impl<T: Elt, S: Size> Pull<(i64, T), S> {
    /// An array of this length with each value at the index beside it, which is checked. Two values at one index race;
    /// elements without a value are zero.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| {
    ///     let length = xs.len();
    ///     xs.imap(move |i, x| (length - 1 - i, x)).scatter(length)
    /// })?;
    /// assert_eq!(result, [3, 2, 1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn scatter<L: Loops, R: Size>(self, length: R) -> Push<L, T, R> {
        self.scatter_by(length, |pair| pair)
    }
}

impl<T: Item, S: Size> Pull<T, S> {
    /// An array of this length with the value that `place` makes of each element at the index that it gives, which is checked:
    /// [`Pull::scatter`] for elements of any kind.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| {
    ///     let length = xs.len();
    ///     xs.scatter_by::<Grid, _, _>(length, |x| (x.cast::<i64>() % 3, x * 10))
    /// })?;
    /// assert_eq!(result, [30, 10, 20]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn scatter_by<L: Loops, R: Size, F: ItemForm>(
        self,
        length: R,
        place: impl Fn(T::Form) -> (Ix, F) + 'static,
    ) -> Push<L, F::Item, R>
    where
        F::Item: Storable,
    {
        self.scattered(fixed::<L>(), length, here("scatter"), place)
    }

    /// As [`Pull::scatter_by`], at a level that is data.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Ix, Pull, preview};
    /// let placed = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| {
    ///     let length = xs.len();
    ///     xs.scatter_at(AnyLevel::Grid, length, |x| (x.cast::<i64>() % 3, x * 10)).at_level()
    /// })?;
    /// assert_eq!(placed, [30, 10, 20]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn scatter_at<R: Size, F: ItemForm>(
        self,
        level: AnyLevel,
        length: R,
        place: impl Fn(T::Form) -> (Ix, F) + 'static,
    ) -> Push<AnyLevel, F::Item, R>
    where
        F::Item: Storable,
    {
        self.scattered(level, length, here("scatter"), place)
    }

    fn scattered<L: Level, R: Size, F: ItemForm>(
        self,
        level: AnyLevel,
        length: R,
        written: Place,
        place: impl Fn(T::Form) -> (Ix, F) + 'static,
    ) -> Push<L, F::Item, R>
    where
        F::Item: Storable,
    {
        Push::trusted_at(level, length, move |write| {
            at_place(written, || {
                level.each(self.len().to_ix(), &|k| {
                    let (index, value) = place(self.get(k));
                    write_within(index, length.to_ix(), written, |index| write(index, value));
                });
            });
        })
        .complete_if(|| false)
    }
}

impl<T: Storable, S: Size> Pull<T, S> {
    /// The elements, each thread of the level taking `items` neighbours, loaded before any is written: what wide loads and
    /// stores need. Elements that do not fill a group (at the grid: a block of groups) are written one a
    /// thread.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.split_up(4).map(|four| four.push_by::<Block>(2)).concat())?;
    /// assert_eq!(result, [1, 2, 3, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn push_by<L: Loops>(self, items: usize) -> Push<L, T, S> {
        self.pushed_by(fixed::<L>(), items, here("push_by"))
    }

    /// As [`Pull::push_by`], at a level that is data.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Ix, Pull, preview};
    /// let copy = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.push_by_at(AnyLevel::Grid, 2).at_level())?;
    /// assert_eq!(copy, [1, 2, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn push_by_at(self, level: AnyLevel, items: usize) -> Push<AnyLevel, T, S> {
        self.pushed_by(level, items, here("push_by"))
    }

    fn pushed_by<L: Level>(self, level: AnyLevel, items: usize, place: Place) -> Push<L, T, S> {
        Push::trusted_at(level, self.len(), move |write| {
            at_place(place, || {
                let items = group_size(items);
                let group = |first: Ix| {
                    let elements: Vec<_> =
                        (0..whole(items)).map(|k| (first + k, self.get(first + k))).collect();
                    elements.into_iter().for_each(|(index, value)| write(index, value));
                };
                level.for_groups(self.len().to_ix(), items, &group, &|index| write(index, self.get(index)));
            });
        })
    }
}

impl<T: Storable> Pull<T> {
    /// For each element and its partner, whose index differs in the bits of `mask`, `f` of both at the lower index and `g` of both
    /// at the upper one. A thread does a pair, so nothing asks which of the two an element is. The length is a multiple of twice
    /// the highest of the bits; of any other, partners are missing, which is an error when the kernel runs.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let sorted = preview(32, &[4, 3, 2, 1], |xs: Pull<i32, Ix>| {
    ///     xs.split_up(4).map(|four| four.pairwise::<Block, _>(0b11, |a, b| a.min(b), |a, b| a.max(b))).concat()
    /// })?;
    /// assert_eq!(sorted, [1, 2, 3, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn pairwise<L: Loops, F: ItemForm>(
        self,
        mask: u32,
        f: impl Fn(T::Form, T::Form) -> F + 'static,
        g: impl Fn(T::Form, T::Form) -> F + 'static,
    ) -> Push<L, F::Item>
    where
        F::Item: Storable,
    {
        self.paired(fixed::<L>(), mask, here("pairwise"), f, g)
    }

    /// As [`Pull::pairwise`], at a level that is data.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Ix, Pull, preview};
    /// let sorted = preview(32, &[4, 3, 2, 1], |xs: Pull<i32, Ix>| {
    ///     let sort = |four: Pull<i32>| four.pairwise_at(AnyLevel::Block, 0b11, |a, b| a.min(b), |a, b| a.max(b));
    ///     xs.split_up(4).map(sort).concat_at(AnyLevel::Grid).at_level()
    /// })?;
    /// assert_eq!(sorted, [1, 2, 3, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn pairwise_at<F: ItemForm>(
        self,
        level: AnyLevel,
        mask: u32,
        f: impl Fn(T::Form, T::Form) -> F + 'static,
        g: impl Fn(T::Form, T::Form) -> F + 'static,
    ) -> Push<AnyLevel, F::Item>
    where
        F::Item: Storable,
    {
        self.paired(level, mask, here("pairwise"), f, g)
    }

    fn paired<L: Level, F: ItemForm>(
        self,
        level: AnyLevel,
        mask: u32,
        place: Place,
        f: impl Fn(T::Form, T::Form) -> F + 'static,
        g: impl Fn(T::Form, T::Form) -> F + 'static,
    ) -> Push<L, F::Item>
    where
        F::Item: Storable,
    {
        let (length, mask) = (self.len(), mask.max(1));
        let top = i64::from(mask.ilog2());
        Push::trusted_at(level, length, move |write| {
            at_place(place, || {
                let pairs = whole(length) / 2;
                level.each(pairs.into(), &|pair: Ix| {
                    // A zero is put in where the highest bit of the mask is.
                    let left = pair + (pair & (-1i64 << top));
                    // As a sum, neighbours are seen to be neighbours, and are read and written in one access.
                    let right = if mask == 1 { left + 1 } else { left ^ i64::from(mask) };
                    let (l, r) = (self.checked(left, place), self.checked(right, place));
                    // Both before any is written, so that each element is read once.
                    let lower = now::<F::Item>(&f(l.clone(), r.clone()));
                    let upper = now::<F::Item>(&g(l, r));
                    write_within(left, length.to_ix(), place, |index| write(index, lower));
                    write_within(right, length.to_ix(), place, |index| write(index, upper));
                });
            });
        })
        // Every index has one partner, whose partner it is, and the lower one of each pair comes once. So as many different
        // indices are written as there are elements in pairs; they are in the array, or a check fails.
        .complete_if(move || length.is_multiple_of(2))
    }
}

impl<T: Storable> Pull<T, Ix> {
    /// The elements, written by the threads of a block. A part of exactly `threads * items` elements is written by its
    /// threads `items` neighbouring elements each, which is what wide loads and stores need; a shorter one an element
    /// each.
    pub(crate) fn push_items(self, threads: usize, items: usize) -> Push<Block, T, Ix> {
        let simple = self.clone().push::<Block>();
        if items <= 1 {
            return simple;
        }
        let full = whole(threads * items);
        Push::trusted(self.len(), move |write| {
            let whole: Pull<T> = self.clone().index_map(threads * items, |i| i);
            effects::either(
                self.len().eq(full).term(),
                || whole.push_by::<Block>(items).write(write),
                || simple.write(write),
            );
        })
    }
}
