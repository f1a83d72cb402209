//! Filter: the elements of which a condition holds, in order, without gaps.
//!
//! Their number is known only on the device, so the result has a run-time length. Their new indices are found with a
//! prefix sum over the level's memory.

use crate::effects;
use crate::item::{Ix, Storable};
use crate::level::{AnyLevel, Forces, Level, fixed};
use crate::place::{at_place, here};
use crate::pull::choose;
use crate::size::whole;
use crate::{Pull, Push, Size};
use pumice_scalar::{Exp, Place};

/// Prefix sums, each with its own element: `log n` steps in which everybody adds what stands so many places before.
fn running_sums(level: AnyLevel, counts: Pull<i64>) -> Pull<i64> {
    let length = counts.len();
    let mut sums = counts.push_at(level).force();
    let mut distance = 1;
    while distance < whole(length) {
        let before = sums.clone();
        let step = Pull::new(length, move |i: Ix| {
            let earlier = before.clone();
            let far = i.ge(distance);
            choose::<i64>(far, || earlier.get(i - distance) + earlier.get(i), || earlier.get(i))
        });
        sums = step.push_at(level).force();
        distance *= 2;
    }
    sums
}

impl<T: Storable> Pull<T> {
    /// The elements of which `keep` holds, in order, at a level with memory.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[5, 2, 7, 4], |xs: Pull<i32, Ix>| {
    ///     let odd = xs.split_up(4).map(|part| part.filter::<Block>(|x| (x % 2).eq(1)));
    ///     odd.concat_by(4, 2usize)
    /// })?;
    /// assert_eq!(result, [5, 7]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn filter<L: Forces>(self, keep: impl Fn(T::Form) -> Exp<bool> + 'static) -> Push<L, T, Ix> {
        self.filtered(fixed::<L>(), here("filter"), keep)
    }

    /// As [`Pull::filter`], at a level that is data.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Ix, Pull, preview};
    /// let odd = preview(32, &[3, 4, 5, 6], |xs: Pull<i32, Ix>| {
    ///     let part = |four: Pull<i32>| four.filter_at(AnyLevel::Block, |x| (x % 2).eq(1));
    ///     xs.split_up(4).map(part).concat_by_at(AnyLevel::Grid, 4, 4usize).at_level()
    /// })?;
    /// assert_eq!(odd, [3, 5, 0, 0]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn filter_at(
        self,
        level: AnyLevel,
        keep: impl Fn(T::Form) -> Exp<bool> + 'static,
    ) -> Push<AnyLevel, T, Ix> {
        self.filtered(level, here("filter"), keep)
    }

    fn filtered<L: Level>(
        self,
        level: AnyLevel,
        place: Place,
        keep: impl Fn(T::Form) -> Exp<bool> + 'static,
    ) -> Push<L, T, Ix> {
        let length = self.len();
        if length == 0 {
            return Push::trusted_at(level, Exp::from(0), |_| {});
        }
        at_place(place, || {
            let elements = self.clone();
            let counts = Pull::new(length, move |i| keep(elements.get(i)).select(1i64.into(), 0i64.into()));
            let ends = running_sums(level, counts);
            // The block (or warp, or thread) reads the last sum as a whole.
            let kept = ends.get(length.to_ix() - 1);
            let kept: Ix =
                Exp::from_term(effects::compute(&[kept.term()]).first().copied().unwrap_or(kept.term()));
            Push::trusted_at(level, kept, move |write| {
                at_place(place, || {
                    level.each(length.to_ix(), &|i| {
                        // `keep` is not evaluated again: it can read mutable memory and disagree with itself, and then
                        // elements would be missing.
                        let end = ends.get(i);
                        let before = choose::<i64>(i.gt(0), || ends.get(i - 1), || Exp::from(0));
                        effects::either(end.gt(before).term(), || write(end - 1, self.get(i)), || {});
                    });
                });
            })
        })
    }
}
