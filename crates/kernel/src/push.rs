//! Push arrays: a length and a program that hands every (index, element) to a writer. Nothing is branched over.
//!
//! Putting arrays together is free here: the parts write one after the other, or side by side one level up. A push array
//! cannot be indexed; [`Push::force`] writes it to memory first.
//!
//! A push array knows whether it writes every element ([`Push::is_complete`]). Memory for one that may not is zeroed first.

use crate::bounds::{area, natural};
use crate::builder::{at_place, bind_within, fresh, named, probe, with};
use crate::item::{Form, INDEX, Item, Ix, Storable};
use crate::level::{Block, Grid, Level, Loops, Within};
use crate::pull::Matrix;
use crate::size::{Size, few, parts_for, quotient, remainder, side, whole};
use crate::{Pull, check, effects};
use pumice_program::MemoryId;
use pumice_scalar::{Elt, Exp, Place};
use std::marker::PhantomData;
use std::rc::Rc;

/// What takes the elements of a push array.
pub(crate) type Writer<'a, T> = &'a dyn Fn(Ix, <T as crate::item::Item>::Form);

/// What a push array does, given a writer.
type Producer<T> = dyn Fn(Writer<'_, T>);

/// A push array at a level.
pub struct Push<L: Level, T: Storable, S: Size = usize> {
    length: S,
    produce: Rc<Producer<T>>,
    /// Whether every element is written, if no check fails. It is asked only where memory is at hand.
    complete: Rc<dyn Fn() -> bool>,
    level: PhantomData<L>,
}

impl<L: Level, T: Storable, S: Size> Clone for Push<L, T, S> {
    fn clone(&self) -> Self {
        let (produce, complete) = (self.produce.clone(), self.complete.clone());
        Push { length: self.length, produce, complete, level: PhantomData }
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
        let place = Place::caller("push");
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
        Push { length, produce: Rc::new(produce), complete: Rc::new(|| true), level: PhantomData }
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
    /// Every index from 0 to below the length is handed to the writer; otherwise elements are whatever the memory held,
    /// which may be another program's data.
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
            ..Push::trusted(length, move |write| {
                effects::either(allowed.eq(here).term(), || (self.produce)(write), || {});
            })
        }
    }

    /// The length.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> S {
        self.length
    }

    /// Runs the program with a writer.
    pub fn write(&self, writer: Writer<'_, T>) {
        (self.produce)(writer);
    }

    /// Runs the program, writing to memory, one a scalar of the element.
    ///
    /// # Safety
    ///
    /// In every launch, each memory holds as many elements as this array has, nobody else reads or writes it, and it is
    /// zeroed before unless the array [is complete](Push::is_complete).
    pub unsafe fn write_to(&self, cells: &[MemoryId]) {
        self.write_in(cells);
    }

    /// Runs the program, writing to memory that is long enough, one a scalar of the element.
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
    pub fn map<F: Form>(self, f: impl Fn(T::Form) -> F + 'static) -> Push<L, F::Item, S>
    where
        F::Item: Storable,
    {
        let complete = self.complete.clone();
        Push::trusted(self.length, move |write| (self.produce)(&|i, value| write(i, f(value))))
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
        let place = Place::caller("ix_map");
        Push::trusted(self.length, move |write| {
            (self.produce)(&|i, value| {
                write_within(f(i), self.length.to_ix(), place, |index| write(index, value.clone()));
            });
        })
        .complete_if(|| false)
    }

    /// Every element at another index; they are in the array of this length.
    pub(crate) fn index_map<R: Size>(self, length: R, f: impl Fn(Ix) -> Ix + 'static) -> Push<L, T, R> {
        Push::trusted(length, move |write| (self.produce)(&|i, value| write(f(i), value)))
    }

    /// Both arrays, one after the other: the first is written, then the second, and nobody asks which (`concP`).
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
        Push::trusted(self.length.plus(other.length), move |write| {
            (self.produce)(write);
            (other.produce)(&|i, value| write(first + i, value));
        })
        .complete_if(move || complete.0() && complete.1())
    }
}

impl<L: Level, T: Storable> Push<L, T> {
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
        Push::trusted(self.length.to_ix(), move |write| (self.produce)(write)).complete_if(move || complete())
    }

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
        let complete = self.complete.clone();
        Push::trusted(self.length.times(2), move |write| {
            (self.produce)(&|i, (a, b)| {
                write(i * 2, a);
                write(i * 2 + 1, b);
            });
        })
        .complete_if(move || complete())
    }
}

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
        let place = Place::caller("interleave");
        self.placed(length, place, move |part, i, write| {
            write_within(index(part, i), length.to_ix(), place, write);
        })
        .complete_if(|| false)
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
        length: R,
        place: Place,
        index: impl Fn(Ix, Ix, &dyn Fn(Ix)) + 'static,
    ) -> Push<A, T, R>
    where
        L: Within<A>,
    {
        Push::trusted(length, move |write| {
            at_place(place, || {
                L::parts(self.len().to_ix(), &|part| {
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
        let place = Place::caller("concat");
        let (stride, all) = (stride.into(), length.to_ix());
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
        let whole = parts.placed(length, place, move |part, i, write| {
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
        let place = Place::caller("concat");
        let stride = probe(|| self.get(0).len());
        let length = self.len().times(stride);
        let parts = self.map(move |part| part.of_length(stride));
        let every = parts.clone();
        let whole = parts.placed(length, place, move |part, i, write| write(part * whole(stride) + i));
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
        let place = Place::caller("seq_concat");
        let stride = probe(|| self.get(0).len());
        let every = self.clone();
        Push::trusted(self.len().times(stride), move |write| {
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

/// Rows of tiles that blocks go through together; see [`near`].
const NEAR: i64 = 16;

/// The row and column of the tile that a block does, of so many rows and columns of tiles. Blocks that run at the same time
/// do tiles that are near each other in both directions: what they read and write is in few pages of memory then, and
/// much of it is in the cache for more than one of them. So they go down some rows, then on to the next column.
pub(crate) fn near(block: Ix, down: Ix, across: Ix) -> (Ix, Ix) {
    let stripe = named(quotient(block, across * NEAR), "stripe");
    let within = named(remainder(block, across * NEAR), "within");
    let first = stripe * NEAR;
    let high = named((down - first).min(NEAR), "high");
    (named(first + remainder(within, high), "tile_row"), named(quotient(within, high), "tile_column"))
}

/// More rounds than this are left to a loop.
const MOST_ROUNDS: i64 = 16;

/// The threads of a block read something for every row and column, and then write it, like [`Block`]'s loop over the
/// elements row by row. Where each thread has the same few elements, it reads all of them before it writes, so that its
/// loads are under way at once.
pub(crate) fn for_rounds<V>(
    (rows, columns): (i64, i64),
    read: &dyn Fn(Ix, Ix) -> V,
    write: &dyn Fn(Ix, Ix, V),
) {
    let place = |e: Ix| (named(e / columns, "row"), named(e % columns, "column"));
    let (all, threads) = (rows * columns, i64::from(effects::block_threads()));
    if all % threads != 0 || all / threads > MOST_ROUNDS {
        return Block::each(Exp::from(all), &|e| {
            let (row, column) = place(e);
            write(row, column, read(row, column));
        });
    }
    Block::each(Exp::from(threads.min(all)), &|thread| {
        let place = |round: i64| match threads % columns {
            // The column stays, and the row is so many further down.
            0 => (place(thread).0 + round * (threads / columns), place(thread).1),
            _ => place(thread + round * threads),
        };
        let with_value = |(row, column)| (row, column, read(row, column));
        let values: Vec<(Ix, Ix, V)> = (0..all / threads).map(place).map(with_value).collect();
        values.into_iter().for_each(|(row, column, value)| write(row, column, value));
    });
}

/// An element, computed where this stands.
pub(crate) fn now<T: Storable>(value: &T::Form) -> T::Form {
    T::from_terms(effects::compute(&T::terms(value)))
}

/// The threads of a block read and write every element of a tile of at most `size` × `size` by its row and column. A whole
/// tile is done without asking whether an element is in it.
pub(crate) fn for_tile<T: Storable>(
    (rows, columns): (Ix, Ix),
    size: usize,
    read: &dyn Fn(Ix, Ix) -> T::Form,
    write: &dyn Fn(Ix, Ix, T::Form),
) {
    let side = side(size);
    effects::either(
        (rows.eq(side) & columns.eq(side)).term(),
        || for_rounds((side, side), &|row, column| now::<T>(&read(row, column)), write),
        || {
            Block::each(Exp::from(side * side), &|e| {
                let (row, column) = (named(e / side, "row"), named(e % side, "column"));
                let inside = row.lt(rows) & column.lt(columns);
                effects::either(inside.term(), || write(row, column, read(row, column)), || {});
            });
        },
    );
}

impl<T: Storable> Matrix<Matrix<T>> {
    /// Tiles put together to a matrix of `rows` × `columns`, one block a tile: what [`Pull::split_2d`] with the same size
    /// took apart, or the same with rows and columns exchanged. Tiles that are smaller than their place, or fewer, are an
    /// error when the kernel runs.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, preview};
    /// let result = preview(32, &[1, 2, 3, 4, 5, 6], |xs: Pull<i32, Ix>| {
    ///     // The transpose of a matrix of two rows and three columns.
    ///     let tiles = xs.rows(3.into()).split_2d(3.into(), 2).transpose(2.into());
    ///     let turned = tiles.map(|row| row.map(|tile| tile.transpose(2.into())));
    ///     turned.concat_2d(2, 3.into(), 2.into())
    /// })?;
    /// assert_eq!(result, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn concat_2d(self, size: usize, rows: Ix, columns: Ix) -> Push<Grid, T, Ix> {
        let place = Place::caller("concat_2d");
        let side = side(size);
        let down = named(parts_for(rows, size), "tiles_down");
        let tiles = named(parts_for(columns, size), "tiles");
        Push::trusted(area(rows, columns), move |write| {
            at_place(place, || {
                effects::distribute(area(down, tiles).term(), |block| {
                    let (tile_row, tile_column) = near(Exp::from_term(block), down, tiles);
                    let first_row = named(tile_row * side, "first_row");
                    let first_column = named(tile_column * side, "first_column");
                    let here_rows = named((rows - first_row).min(side), "rows_here");
                    let here_columns = named((columns - first_column).min(side), "columns_here");
                    let row_of_tiles = self.get_below(tile_row, down, place);
                    let tile = row_of_tiles.get_below(tile_column, tiles, place);
                    let read = |row, column| {
                        tile.get_below(row, here_rows, place).get_below(column, here_columns, place)
                    };
                    for_tile::<T>((here_rows, here_columns), size, &read, &|row, column, value| {
                        write((first_row + row) * columns + (first_column + column), value);
                    });
                });
            });
        })
    }
}

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
    pub fn scatter_by<L: Loops, R: Size, F: Form>(
        self,
        length: R,
        place: impl Fn(T::Form) -> (Ix, F) + 'static,
    ) -> Push<L, F::Item, R>
    where
        F::Item: Storable,
    {
        let written = Place::caller("scatter");
        Push::trusted(length, move |write| {
            at_place(written, || {
                L::each(self.len().to_ix(), &|k| {
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
        let place = Place::caller("push_by");
        Push::trusted(self.len(), move |write| {
            at_place(place, || {
                let items = few(items);
                let group = |first: Ix| {
                    let elements: Vec<_> =
                        (0..whole(items)).map(|k| (first + k, self.get(first + k))).collect();
                    elements.into_iter().for_each(|(index, value)| write(index, value));
                };
                L::for_groups(self.len().to_ix(), items, &group, &|index| write(index, self.get(index)));
            });
        })
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
