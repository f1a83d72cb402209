//! Push arrays put together: side by side one level up, one after the other, or element by element where an index says.

use super::{Push, write_within};
use crate::builder::{bind_within, fresh, probe};
use crate::item::{INDEX, Ix, Storable};
use crate::level::{AnyLevel, Level, Within, fixed};
use crate::place::{at_place, here};
use crate::size::{Size, parts_for, whole};
use crate::{Pull, check, effects};
use pumice_scalar::{Exp, Place};

impl<L: Level, T: Storable, S: Size, N: Size> Pull<Push<L, T, S>, N> {
    /// The arrays one level up, each element where `index` of its part and its index in the part says. Elements that are
    /// at no index are zero.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
    ///     let parts = xs.split_up(2).map(|part| part.push::<Block>());
    ///     parts.interleave(4usize, |part, i| part + i * 2)
    /// })?;
    /// assert_eq!(result, [1, 3, 2, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn interleave<A: Level, R: Size>(
        self,
        length: R,
        index: impl Fn(Ix, Ix) -> Ix + 'static,
    ) -> Push<A, T, R>
    where
        L: Within<A>,
    {
        self.interleaved(fixed::<A>(), length, here("interleave"), index)
    }

    /// As [`Pull::interleave`], at a level that is data.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Block, Ix, Pull, preview};
    /// let turned = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
    ///     let parts = xs.split_up(2).map(|part| part.push::<Block>());
    ///     parts.interleave_at(AnyLevel::Grid, 4usize, |part, i| part + i * 2).at_level()
    /// })?;
    /// assert_eq!(turned, [1, 3, 2, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn interleave_at<R: Size>(
        self,
        level: AnyLevel,
        length: R,
        index: impl Fn(Ix, Ix) -> Ix + 'static,
    ) -> Push<AnyLevel, T, R> {
        self.interleaved(level, length, here("interleave"), index)
    }

    fn interleaved<A: Level, R: Size>(
        self,
        level: AnyLevel,
        length: R,
        place: Place,
        index: impl Fn(Ix, Ix) -> Ix + 'static,
    ) -> Push<A, T, R> {
        self.placed(level, length, place, move |part, i, write| {
            write_within(index(part, i), length.to_ix(), place, write);
        })
        .complete_if(|| false)
    }

    /// The level of the parts.
    pub(crate) fn part_level(&self) -> AnyLevel {
        L::FIXED.unwrap_or_else(|| probe(|| self.get(0).level()))
    }

    /// Whether `f` plainly holds of every part and its number.
    pub(crate) fn of_every_part(&self, f: impl Fn(Ix, &Push<L, T, S>) -> bool) -> bool {
        let most = crate::bounds::bounds(self.len().to_ix()).1;
        probe(|| {
            let var = fresh(INDEX, "part");
            let part = Exp::from_term(bind_within(var, INDEX, (0, most.saturating_sub(1))));
            f(part, &self.get(part))
        })
    }

    /// The arrays one level up, where `index` hands on the place of an element.
    fn placed<A: Level, R: Size>(
        self,
        level: AnyLevel,
        length: R,
        place: Place,
        index: impl Fn(Ix, Ix, &dyn Fn(Ix)) + 'static,
    ) -> Push<A, T, R> {
        Push::trusted_at(level, length, move |write| {
            at_place(place, || {
                self.part_level().parts(level, self.len().to_ix(), &|part| {
                    self.get(part).write(&|i, value| index(part, i, &|at| write(at, value.clone())));
                });
            });
        })
    }

    /// The arrays one level up, side by side: array `k` starts at index `k * stride`, and the length of the whole is given.
    /// An array that is longer than the stride is an error; one may be shorter, and what is between it and the next is
    /// zero.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| {
    ///     let length = xs.len();
    ///     xs.tiles(2).map(|tile| tile.push::<Block>()).concat_by(2, length)
    /// })?;
    /// assert_eq!(result, [1, 2, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn concat_by<A: Level, R: Size>(self, stride: impl Into<Ix>, length: R) -> Push<A, T, R>
    where
        L: Within<A>,
    {
        self.strided(fixed::<A>(), stride.into(), length, here("concat"))
    }

    /// As [`Pull::concat_by`], at a level that is data.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Block, Ix, Pull, preview};
    /// let copy = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| {
    ///     let length = xs.len();
    ///     xs.tiles(2).map(|tile| tile.push::<Block>()).concat_by_at(AnyLevel::Grid, 2, length).at_level()
    /// })?;
    /// assert_eq!(copy, [1, 2, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn concat_by_at<R: Size>(
        self,
        level: AnyLevel,
        stride: impl Into<Ix>,
        length: R,
    ) -> Push<AnyLevel, T, R> {
        self.strided(level, stride.into(), length, here("concat"))
    }

    fn strided<A: Level, R: Size>(
        self,
        level: AnyLevel,
        stride: Ix,
        length: R,
        place: Place,
    ) -> Push<A, T, R> {
        let all = length.to_ix();
        let parts = self.clone();
        // As `tiles` takes arrays apart.
        let complete = move || {
            let count = stride.term().integer().and_then(|stride| usize::try_from(stride).ok());
            count.is_some_and(|size| check::same(parts.len().to_ix(), parts_for(all, size)))
                && parts.of_every_part(|number, part| {
                    let place = (all - number * stride).min(stride);
                    check::same(part.len().to_ix(), place) && part.is_complete()
                })
        };
        let parts = Pull::new(self.len(), move |part| self.get(part).no_longer_than(stride, place));
        let whole = parts.placed(level, length, place, move |part, i, write| {
            write_within(part * stride + i, length.to_ix(), place, write);
        });
        whole.complete_if(complete)
    }

    /// As [`Pull::concat_by`], with parts that are known to fit; or with a stride of 0 and indices of the whole.
    pub(crate) fn concat_trusted<A: Level, R: Size>(self, stride: i64, length: R) -> Push<A, T, R>
    where
        L: Within<A>,
    {
        Push::trusted(length, move |write| {
            L::parts(self.len().to_ix(), &|part| {
                self.get(part).write(&|i, value| write(part * stride + i, value));
            });
        })
    }
}

impl<L: Level, T: Storable, N: Size> Pull<Push<L, T>, N> {
    /// The arrays one level up, side by side. They are all of one length, that of the first.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, Thread, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| xs.split_up(2).map(|part| part.reverse().push::<Thread>()).concat())?;
    /// assert_eq!(result, [2, 1, 4, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn concat<A: Level>(self) -> Push<A, T, N>
    where
        L: Within<A>,
    {
        self.side_by_side(fixed::<A>(), here("concat"))
    }

    /// As [`Pull::concat`], at a level that is data: one that the parts' level is not a part of is an error when the kernel
    /// is built.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Ix, Pull, Thread, preview};
    /// let turned = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
    ///     xs.split_up(2).map(|part| part.reverse().push::<Thread>()).concat_at(AnyLevel::Grid).at_level()
    /// })?;
    /// assert_eq!(turned, [2, 1, 4, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn concat_at(self, level: AnyLevel) -> Push<AnyLevel, T, N> {
        self.side_by_side(level, here("concat"))
    }

    fn side_by_side<A: Level>(self, level: AnyLevel, place: Place) -> Push<A, T, N> {
        let stride = probe(|| self.get(0).len());
        let length = self.len().times(stride);
        let parts = self.map(move |part| part.of_length(stride));
        let every = parts.clone();
        let whole = parts.placed(level, length, place, move |part, i, write| write(part * whole(stride) + i));
        whole.complete_if(move || every.of_every_part(|_, part| part.is_complete()))
    }

    /// The arrays one after the other, at the same level. They are all of one length, that of the first.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
    ///     let block = xs.split_up(4).map(|four| {
    ///         four.split_up(2).map(|two| two.reverse().push::<Block>()).seq_concat()
    ///     });
    ///     block.concat()
    /// })?;
    /// assert_eq!(result, [2, 1, 4, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn seq_concat(self) -> Push<L, T, N> {
        let place = here("seq_concat");
        let stride = probe(|| self.get(0).len());
        let every = self.clone();
        Push::trusted_at(self.part_level(), self.len().times(stride), move |write| {
            at_place(place, || {
                let number = |value: i64| Exp::<i64>::from(value).term();
                effects::sequential(number(0)..self.len().to_ix().term(), number(1), &[], |part, _| {
                    let part: Ix = Exp::from_term(part);
                    self.get(part)
                        .of_length(stride)
                        .write(&|i, value| write(part * whole(stride) + i, value));
                    Vec::new()
                });
            });
        })
        .complete_if(move || every.of_every_part(|_, part| part.is_complete()))
    }
}
