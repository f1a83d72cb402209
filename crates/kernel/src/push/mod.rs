//! Push arrays: a length and a program that hands every (index, element) to a writer. Nothing is branched over.
//!
//! Putting arrays together is free here: the parts write one after the other, or side by side one level up. A push array
//! cannot be indexed; [`Push::force`] writes it to memory first.
//!
//! A push array knows whether it writes every element ([`Push::is_complete`]). Memory for one that may not is zeroed first.
//!
//! `concat.rs` puts push arrays together one level up, `matrix.rs` tiles of matrices; `scatter.rs` has the pushes that give
//! elements places of their own or several to a thread.

mod concat;
mod matrix;
mod scatter;

pub(crate) use matrix::{for_rounds, for_tile, near};

use crate::bounds::natural;
use crate::builder::with;
use crate::item::{ItemForm, Ix, Storable};
use crate::level::{AnyLevel, Level, fixed};
use crate::place::here;
use crate::size::{Size, StaticLength};
use crate::{check, effects};
use pumice_program::MemoryId;
use pumice_scalar::{Elt, Place};
use std::marker::PhantomData;
use std::rc::Rc;

/// Receives the elements of a push array: a callback from index and element to effects.
pub(crate) type Writer<'a, T> = &'a dyn Fn(Ix, <T as crate::item::Item>::Form);

/// The program of a push array: hands every index and element to a writer.
type Producer<T> = dyn Fn(Writer<'_, T>);

/// A push array at a level.
///
/// ```
/// use pumice::kernel::{Block, Grid, Ix, Pull, Push, preview};
/// // Each block reverses two elements, and the grid puts their arrays side by side.
/// fn turned(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
///     let parts: Pull<Push<Block, i32>, Ix> = xs.split_up(2).map(|two| two.reverse().push());
///     parts.concat()
/// }
/// assert_eq!(preview(32, &[1, 2, 3, 4], turned)?, [2, 1, 4, 3]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
pub struct Push<L: Level, T: Storable, S: Size = usize> {
    length: S,
    produce: Rc<Producer<T>>,
    /// Whether every element is written, if no check fails. It is asked only where memory is at hand.
    complete: Rc<dyn Fn() -> bool>,
    level: AnyLevel,
    of: PhantomData<L>,
}

impl<L: Level, T: Storable, S: Size> Clone for Push<L, T, S> {
    fn clone(&self) -> Self {
        let (produce, complete) = (self.produce.clone(), self.complete.clone());
        Push { length: self.length, produce, complete, level: self.level, of: PhantomData }
    }
}

/// Notes a mistake unless two arrays are at one level: where levels are data, they may not be.
pub(crate) fn same_level(a: AnyLevel, b: AnyLevel, what: &str) {
    if a != b {
        with(|builder| builder.mistake(format!("an array at `{a}` and one at `{b}` {what}")));
    }
}

/// Hands an index on if it is in the array; otherwise that is an error when the kernel runs.
fn write_within(index: Ix, length: Ix, place: Place, write: impl FnOnce(Ix)) {
    check::if_within(index, length, place, write);
}

impl<L: Level, T: Storable, S: Size> Push<L, T, S> {
    /// The array with this length whose elements this program hands to the writer. An index that is not in the array is an
    /// error when the kernel runs; an element that is never written is zero.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, Push, parallel, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| {
    ///     let twice = move |_: Ix| {
    ///         let xs = xs.clone();
    ///         Push::<Block, i32>::new(4, move |write| {
    ///             let both = xs.clone().push::<Block>();
    ///             both.write(&|i, x| {
    ///                 write(i, x);
    ///                 write(i + 2, x);
    ///             });
    ///         })
    ///     };
    ///     Pull::<Push<Block, i32>>::new(1, twice).concat()
    /// })?;
    /// assert_eq!(result, [1, 2, 1, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn new(length: S, produce: impl Fn(Writer<'_, T>) + 'static) -> Self {
        let place = here("push");
        Push::trusted(length, move |write| {
            produce(&|index, value| {
                write_within(index, length.to_ix(), place, |index| write(index, value.clone()));
            });
        })
        .complete_if(|| false)
    }

    /// As [`Push::new`], except that an element whose index is not in the array is left out: that is no error.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Loops, Pull, Push, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| {
    ///     let length = xs.len();
    ///     Push::<Grid, i32, Ix>::clipped(length, move |write| {
    ///         Grid::for_each(length, &|i| {
    ///             write(i * 2, xs.at(i));
    ///             write(i * 2 + 1, xs.at(i));
    ///         });
    ///     })
    /// })?;
    /// assert_eq!(result, [1, 1, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn clipped(length: S, produce: impl Fn(Writer<'_, T>) + 'static) -> Self {
        let end = length.to_ix();
        Push::trusted(length, move |write| {
            produce(&|index, value| {
                let inside = index.ge(0) & index.lt(end);
                effects::either(inside.term(), || write(index, value.clone()), || {});
            });
        })
        .complete_if(|| false)
    }

    /// As [`Push::new`], with indices that are in the array, each of which is written if no check fails.
    pub(crate) fn trusted(length: S, produce: impl Fn(Writer<'_, T>) + 'static) -> Self {
        Push::trusted_at(fixed::<L>(), length, produce)
    }

    /// As [`Push::trusted`], at a level that is data.
    pub(crate) fn trusted_at(level: AnyLevel, length: S, produce: impl Fn(Writer<'_, T>) + 'static) -> Self {
        Push { length, produce: Rc::new(produce), complete: Rc::new(|| true), level, of: PhantomData }
    }

    /// The level.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Block, Pull};
    /// assert_eq!(Pull::<i64>::new(4, |i| i).push::<Block>().level(), AnyLevel::Block);
    /// ```
    pub fn level(&self) -> AnyLevel {
        self.level
    }

    /// The same array, with its level as data.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Block, Pull, Push};
    /// let numbers: Push<AnyLevel, i64> = Pull::<i64>::new(4, |i| i).push::<Block>().any_level();
    /// ```
    pub fn any_level(self) -> Push<AnyLevel, T, S> {
        let Push { length, produce, complete, level, .. } = self;
        Push { length, produce, complete, level, of: PhantomData }
    }

    /// The same array, with its level as a type. Another level is an error when the kernel is built.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Grid, Ix, Pull, Push, preview};
    /// fn copied(xs: Pull<i32, Ix>, level: AnyLevel) -> Push<Grid, i32, Ix> {
    ///     xs.push_at(level).at_level()
    /// }
    /// assert!(preview(32, &[1], |xs: Pull<i32, Ix>| copied(xs, AnyLevel::Grid)).is_ok());
    /// assert!(preview(32, &[1], |xs: Pull<i32, Ix>| copied(xs, AnyLevel::Block)).is_err());
    /// ```
    pub fn at_level<A: Level>(self) -> Push<A, T, S> {
        if A::FIXED.is_some_and(|wanted| wanted != self.level) {
            let (found, wanted) = (self.level, fixed::<A>());
            with(|builder| {
                builder.mistake(format!(
                    "an array at `{found}` where one at `{wanted}` is wanted: bring it up with `concat`, or push it there"
                ));
            });
        }
        let Push { length, produce, complete, level, .. } = self;
        Push { length, produce, complete, level: A::FIXED.unwrap_or(level), of: PhantomData }
    }

    /// The array, of which every element is written only if `complete` says so.
    pub(crate) fn complete_if(self, complete: impl Fn() -> bool + 'static) -> Self {
        Push { complete: Rc::new(complete), ..self }
    }

    /// Returns whether every element is plainly written. Elements that are not are zero: the memory of an array that is not
    /// complete is zeroed before it is written.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, preview};
    /// let result = preview(32, &[7, 8], |xs: Pull<i32, Ix>| {
    ///     assert!(xs.clone().push::<Grid>().is_complete());
    ///     let spread = xs.imap(|i, x| (i * 2, x)).scatter::<Grid, _>(4usize);
    ///     assert!(!spread.is_complete());
    ///     spread
    /// })?;
    /// assert_eq!(result, [7, 0, 8, 0]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn is_complete(&self) -> bool {
        (self.complete)()
    }

    /// The array, every element of which is written. Its memory is not zeroed first.
    ///
    /// # Safety
    ///
    /// Every index from 0 to below the length is handed to the writer, once; otherwise elements are whatever the memory held,
    /// which may be another program's data, and listeners hear some of them twice.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, preview};
    /// let turned = preview(32, &[7, 8], |xs: Pull<i32, Ix>| {
    ///     let length = xs.len();
    ///     // SAFETY: each index is that of one element.
    ///     unsafe { xs.push::<Grid>().ix_map(move |i| length - 1 - i).assume_complete() }
    /// })?;
    /// assert_eq!(turned, [8, 7]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub unsafe fn assume_complete(self) -> Self {
        self.complete_if(|| true)
    }

    /// The array, which is an error when the kernel runs where it is longer than `most`.
    fn no_longer_than(self, most: Ix, place: Place) -> Self {
        let here = self.length.to_ix();
        if check::at_most(here, most) {
            return self;
        }
        let (length, complete) = (self.length, self.complete.clone());
        let allowed = check::no_longer_than(here, most, place);
        Push {
            complete,
            ..Push::trusted_at(self.level, length, move |write| {
                effects::either(allowed.eq(here).term(), || (self.produce)(write), || {});
            })
        }
    }

    /// The length.
    ///
    /// ```
    /// use pumice::kernel::{Block, Pull};
    /// assert_eq!(Pull::<i64>::new(4, |i| i).push::<Block>().len(), 4);
    /// ```
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> S {
        self.length
    }

    /// Runs the program with a writer.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Mutable, Pull, define};
    /// define("doubled", 32, |xs: Pull<i32, Ix>, out: Mutable<i32>| {
    ///     xs.push::<Grid>().write(&|i, x| out.write(i, x * 2));
    /// })?;
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn write(&self, writer: Writer<'_, T>) {
        (self.produce)(writer);
    }

    /// Runs the program, writing to memory, one per scalar of the element.
    ///
    /// # Safety
    ///
    /// In every launch, each memory holds as many elements as this array has, nothing else reads or writes it, and it is
    /// zeroed before unless the array [is complete](Push::is_complete).
    pub unsafe fn write_to(&self, cells: &[MemoryId]) {
        self.write_in(cells);
    }

    /// Runs the program, writing to memory that is long enough, one per scalar of the element.
    pub(crate) fn write_in(&self, cells: &[MemoryId]) {
        self.write(&|index, value| effects::store_element(cells, index.term(), &T::terms(&value)));
    }

    /// A function of every element.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.push::<Grid>().map(|x| x + 1))?;
    /// assert_eq!(result, [2, 3]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn map<F: ItemForm>(self, f: impl Fn(T::Form) -> F + 'static) -> Push<L, F::Item, S>
    where
        F::Item: Storable,
    {
        let complete = self.complete.clone();
        Push::trusted_at(self.level, self.length, move |write| (self.produce)(&|i, value| write(i, f(value))))
            .complete_if(move || complete())
    }

    /// A function of every element and its index.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, preview};
    /// let result = preview(32, &[5i64, 5], |xs: Pull<i64, Ix>| xs.push::<Grid>().imap(|i, x| x + i))?;
    /// assert_eq!(result, [5, 6]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn imap<F: ItemForm>(self, f: impl Fn(Ix, T::Form) -> F + 'static) -> Push<L, F::Item, S>
    where
        F::Item: Storable,
    {
        let complete = self.complete.clone();
        Push::trusted_at(self.level, self.length, move |write| {
            (self.produce)(&|i, value| write(i, f(i, value)));
        })
        .complete_if(move || complete())
    }

    /// Every element at another index of the array, which is checked.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3], |xs: Pull<i32, Ix>| {
    ///     let last = xs.len() - 1;
    ///     xs.push::<Grid>().ix_map(move |i| last - i)
    /// })?;
    /// assert_eq!(result, [3, 2, 1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn ix_map(self, f: impl Fn(Ix) -> Ix + 'static) -> Self {
        let place = here("ix_map");
        Push::trusted_at(self.level, self.length, move |write| {
            (self.produce)(&|i, value| {
                write_within(f(i), self.length.to_ix(), place, |index| write(index, value.clone()));
            });
        })
        .complete_if(|| false)
    }

    /// Every element as `count` neighbours, which the thread that has it writes. `parts` gives as many; elements that it does not
    /// give are an error when the kernel is built.
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.push::<Grid>().unpack(3, |x| vec![x, x * 10, x * 100]))?;
    /// assert_eq!(result, [1, 10, 100, 2, 20, 200]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn unpack<F: ItemForm>(
        self,
        count: usize,
        parts: impl Fn(T::Form) -> Vec<F> + 'static,
    ) -> Push<L, F::Item, S>
    where
        F::Item: Storable,
    {
        let (complete, all) = (self.complete.clone(), crate::size::whole(count));
        Push::trusted_at(self.level, self.length.times(count), move |write| {
            (self.produce)(&|i, value| {
                let parts = parts(value);
                if parts.len() != count {
                    let found = parts.len();
                    with(|builder| builder.mistake(format!("{found} parts of an element that has {count}")));
                }
                for (k, part) in parts.into_iter().enumerate().take(count) {
                    write(i * all + k as i64, part);
                }
            });
        })
        .complete_if(move || complete())
    }

    /// Every element at another index; they are in the array of this length.
    pub(crate) fn index_map<R: Size>(self, length: R, f: impl Fn(Ix) -> Ix + 'static) -> Push<L, T, R> {
        Push::trusted_at(self.level, length, move |write| (self.produce)(&|i, value| write(f(i), value)))
    }

    /// Concatenates both arrays: the first is written, then the second, without a test per element (`concP`).
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let result = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.split_up(2).map(|two| two.clone().push::<Block>().append(two.push())).concat())?;
    /// assert_eq!(result, [1, 2, 1, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn append(self, other: Self) -> Self {
        let first = natural(self.length.to_ix());
        let complete = (self.complete.clone(), other.complete.clone());
        same_level(self.level, other.level, "one after the other");
        Push::trusted_at(self.level, self.length.plus(other.length), move |write| {
            (self.produce)(write);
            (other.produce)(&|i, value| write(first + i, value));
        })
        .complete_if(move || complete.0() && complete.1())
    }
}

impl<L: Level, T: Storable, S: Size> Push<L, T, S> {
    /// The same array, with its length as one that is known on the device: what loops in the kernel work on.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview, while_};
    /// let largest = preview(32, &[3, 1, 4, 1], |xs: Pull<i32, Ix>| {
    ///     let block = |four: Pull<i32>| {
    ///         let halves = |xs: Pull<i32, Ix>| {
    ///             let (low, high) = xs.halve();
    ///             low.zip_with(high, |a, b| a.max(b)).push::<Block>()
    ///         };
    ///         let one = while_(4, four.push::<Block>().dynamic(), |xs| xs.len().gt(1), halves);
    ///         Pull::<i32>::new(1, move |_| one.head()).push::<Block>()
    ///     };
    ///     xs.split_up(4).map(block).concat()
    /// })?;
    /// assert_eq!(largest, [4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn dynamic(self) -> Push<L, T, Ix> {
        let complete = self.complete.clone();
        Push::trusted_at(self.level, self.length.to_ix(), move |write| (self.produce)(write))
            .complete_if(move || complete())
    }

    /// The same array, with its length as one that is known while the kernel is built. Where it is not, that is an error then.
    ///
    /// ```
    /// use pumice::kernel::{Block, Length, Pull};
    /// let squares = Pull::<i64, Length>::new(Length::Known(10), |i| i * i).push::<Block>();
    /// assert_eq!(squares.fixed().len(), 10);
    /// ```
    pub fn fixed(self) -> Push<L, T>
    where
        S: StaticLength,
    {
        let complete = self.complete.clone();
        Push::trusted_at(self.level, self.length.now(), move |write| (self.produce)(write))
            .complete_if(move || complete())
    }
}

impl<L: Level, T: Storable> Push<L, T> {
    /// The array, which has this length: otherwise the kernel cannot be built.
    fn of_length(self, length: usize) -> Self {
        if self.length != length {
            let found = self.length;
            with(|builder| {
                builder.mistake(format!("parts of {length} and of {found} elements side by side"))
            });
        }
        self
    }
}

impl<L: Level, T: Elt, S: Size> Push<L, (T, T), S> {
    /// Pairs as neighbours, without a condition: each thread writes both elements of its pair (`unpairP`).
    ///
    /// ```
    /// use pumice::kernel::{Grid, Ix, Pull, preview};
    /// let result = preview(32, &[(1, 2), (3, 4)], |xs: Pull<(i32, i32), Ix>| xs.push::<Grid>().unpair())?;
    /// assert_eq!(result, [1, 2, 3, 4]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    pub fn unpair(self) -> Push<L, T, S> {
        self.unpack(2, |(a, b)| vec![a, b])
    }
}

/// An element, computed where this stands.
pub(crate) fn now<T: Storable>(value: &T::Form) -> T::Form {
    T::from_terms(effects::compute(&T::terms(value)))
}
