//! Arrays and matrices in tiles of a size that is known while the kernel is built, of which only those at the edges are
//! smaller.
//!
//! A whole tile is a case of its own in the kernel, chosen by the block as a whole: in it every index is below a known
//! bound, so nothing is asked of single elements, and neighbouring accesses become wide ones.

use crate::bounds::{area, natural};
use crate::builder::{named, probe, with};
use crate::check::{self, same};
use crate::effects;
use crate::item::{Ix, Storable};
use crate::level::{AnyLevel, Block, Forces, Grid, Level, Loops};
use crate::mutable::Mutable;
use crate::place::{at_place, site};
use crate::pull::{Rows, choose};
use crate::push::{Writer, for_rounds, near, now, same_level};
use crate::size::{Size, few, parts_for, side, whole};
use crate::{Pull, Push};
use pumice_scalar::{Exp, FailureKind, Place};
use std::rc::Rc;

impl<T: Storable> Pull<T, Ix> {
    /// The array where it has exactly `size` elements. Whoever keeps it for where it does not is told.
    fn exactly(&self, size: usize, place: Place) -> Pull<T> {
        let array = self.clone();
        Pull::new(size, move |i| array.get_below(i, size.to_ix(), place))
    }

    /// Does `whole` with this array if it has exactly `size` elements, and `rest` otherwise. See [`Pull::if_whole`] for what
    /// makes an array.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Loops, Mutable, Pull, preview, replicate};
    /// use pumice::Exp;
    /// let sums = preview(32, &[1, 2, 3, 4, 5], |xs: Pull<i32, Ix>| {
    ///     let sum = |tile: Pull<i32, Ix>| {
    ///         let sum = Mutable::<i32>::shared(replicate(1, Exp::from(0)));
    ///         let (all, some) = (sum.clone(), sum.clone());
    ///         tile.do_whole(
    ///             2,
    ///             move |two| Block::for_each(1.into(), &|_| all.write(0, two.at(0) + two.at(1))),
    ///             move |one| Block::for_each(1.into(), &|_| some.write(0, one.at(0))),
    ///         );
    ///         let sum = sum.freeze();
    ///         Pull::<i32>::new(1, move |_| sum.at(0)).push::<Block>()
    ///     };
    ///     xs.tiles(2).map(sum).concat()
    /// })?;
    /// assert_eq!(sums, [3, 7, 5]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn do_whole(self, size: usize, whole: impl FnOnce(Pull<T>), rest: impl FnOnce(Pull<T, Ix>)) {
        let place = Place::caller("do_whole");
        at_place(place, || {
            effects::either(
                self.len().eq(size.to_ix()).term(),
                || whole(self.exactly(size, place)),
                || rest(self.clone()),
            );
        });
    }

    /// The array that `whole` makes of this one if it has exactly `size` elements, and `rest` otherwise. Both make arrays
    /// of `length` elements; for `whole` that may also be `size` where `length` is this array's.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let sums = preview(32, &[1, 2, 3, 4, 5], |xs: Pull<i32, Ix>| {
    ///     let pair = |two: Pull<i32>| Pull::<i32>::new(1, move |_| two.at(0) + two.at(1)).push::<Block>();
    ///     xs.tiles(2)
    ///         .map(move |tile| tile.if_whole(2, 1, pair, move |one| pair(one.padded(2, 0.into()))))
    ///         .concat()
    /// })?;
    /// assert_eq!(sums, [3, 7, 5]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn if_whole<L: Level, U: Storable, A: Size, B: Size, R: Size>(
        self,
        size: usize,
        length: R,
        whole: impl Fn(Pull<T>) -> Push<L, U, A> + 'static,
        rest: impl Fn(Pull<T, Ix>) -> Push<L, U, B> + 'static,
    ) -> Push<L, U, R> {
        let place = Place::caller("if_whole");
        let here = self.len();
        let fits = move |found: Ix, complete: bool| {
            let all = complete && same(here, length.to_ix()) && same(found, size.to_ix());
            if !all && !same(found, length.to_ix()) {
                with(|builder| builder.mistake("the two cases of `if_whole` are not of the length given"));
            }
        };
        let (whole, rest) = (Rc::new(whole), Rc::new(rest));
        let (array, cases) = (self.clone(), (whole.clone(), rest.clone()));
        let complete = move || {
            probe(|| {
                cases.0(array.exactly(size, place)).is_complete() && cases.1(array.clone()).is_complete()
            })
        };
        let level = L::FIXED.unwrap_or_else(|| probe(|| whole(self.exactly(size, place)).level()));
        Push::trusted_at(level, length, move |write| {
            at_place(place, || {
                let then = || {
                    let array = whole(self.exactly(size, place));
                    fits(array.len().to_ix(), true);
                    array.write(write);
                };
                let otherwise = || {
                    let array = rest(self.clone());
                    same_level(level, array.level(), "as the two cases of `if_whole`");
                    fits(array.len().to_ix(), false);
                    array.write(write);
                };
                effects::either(here.eq(size.to_ix()).term(), then, otherwise);
            });
        })
        .complete_if(complete)
    }
}

impl<T: Storable, S: Size> Pull<Push<Block, T, S>, Ix> {
    /// Tiles put together to an array of this length: what [`Pull::tiles`] with the same size took apart. A tile of another
    /// length than its place has is an error when the kernel runs.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Pull, preview};
    /// let turned = preview(32, &[1, 2, 3, 4, 5], |xs: Pull<i32, Ix>| {
    ///     let length = xs.len();
    ///     xs.tiles(2).map(|tile| tile.reverse().push::<Block>()).concat_tiles(2, length)
    /// })?;
    /// assert_eq!(turned, [2, 1, 4, 3, 5]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn concat_tiles(self, size: usize, length: Ix) -> Push<Grid, T, Ix> {
        let place = Place::caller("concat_tiles");
        let tiles = self.clone();
        Push::trusted(length, move |write| {
            at_place(place, || {
                effects::distribute(self.len().term(), |block| {
                    write_tile(&self, size, length, Exp::from_term(block), place, write);
                });
            });
        })
        .complete_if(move || every_tile(&tiles, size, length))
    }

    /// As [`Pull::concat_tiles`], with tiles numbered in the order in which blocks start: when a tile is begun, all before
    /// it have been, so it may wait for what they write (where [`crate::Profile::forward_progress`] says that they get
    /// on). Element 0 of `counter` is 0 before the kernel, or that is an error, and counts the tiles begun.
    ///
    /// ```
    /// use pumice::kernel::{Block, Ix, Mutable, Pull, define};
    /// define("turn", 32, |xs: Pull<i32, Ix>, counter: Mutable<u64>| {
    ///     let length = xs.len();
    ///     let tiles = xs.tiles(2).map(|tile| tile.reverse().push::<Block>());
    ///     tiles.concat_tiles_in_order(2, length, &counter)
    /// })?;
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    #[track_caller]
    pub fn concat_tiles_in_order(self, size: usize, length: Ix, counter: &Mutable<u64>) -> Push<Grid, T, Ix> {
        let place = Place::caller("concat_tiles_in_order");
        let (counter, tiles, all) = (counter.clone(), self.len(), self.clone());
        Push::trusted(length, move |write| {
            at_place(place, || {
                effects::distribute(tiles.term(), |_| {
                    let next = counter.clone();
                    let ticket = Pull::<u64>::new(1, move |_| next.atomic_add(0, 1));
                    let ticket = ticket.push::<Block>().force().get(0).cast::<i64>();
                    // A number that is too large was not counted from 0, and some tile is nobody's then.
                    if let Some(inside) = check::inside(ticket, tiles, place) {
                        effects::compute(&[inside.term()]);
                    }
                    let number = named(effects_now(ticket.clamp(0, tiles - 1)), "tile");
                    write_tile(&self, size, length, number, place, write);
                });
            });
        })
        .complete_if(move || every_tile(&all, size, length))
    }
}

/// Whether there plainly is a tile for every place, and each is complete. That each is as long as its place is checked.
fn every_tile<T: Storable, S: Size>(tiles: &Pull<Push<Block, T, S>, Ix>, size: usize, length: Ix) -> bool {
    same(tiles.len(), parts_for(length, size)) && tiles.of_every_part(|_, tile| tile.is_complete())
}

/// A value of the block as a whole, computed here.
fn effects_now(value: Ix) -> Ix {
    effects::compute(&[value.term()]).first().map_or(value, |term| Exp::from_term(*term))
}

/// Writes the tile with this number where it belongs.
fn write_tile<T: Storable, S: Size>(
    tiles: &Pull<Push<Block, T, S>, Ix>,
    size: usize,
    length: Ix,
    number: Ix,
    place: Place,
    write: Writer<'_, T>,
) {
    let places = parts_for(length, size);
    if !check::at_most(tiles.len(), places) {
        // A tile for which there is no place.
        let write = |number| write_placed(tiles, size, length, number, place, write);
        return check::if_within(number, places, place, write);
    }
    write_placed(tiles, size, length, number, place, write);
}

/// As [`write_tile`], where there is a place for the tile.
fn write_placed<T: Storable, S: Size>(
    tiles: &Pull<Push<Block, T, S>, Ix>,
    size: usize,
    length: Ix,
    number: Ix,
    place: Place,
    write: Writer<'_, T>,
) {
    let side = whole(size).max(1);
    let start = named(number * side, "start");
    let here = named((length - start).min(side), "length");
    let tile = tiles.get(number);
    let found = tile.len().to_ix();
    let each = || tile.write(&|i, value| write(start + i, value));
    if same(found, here) {
        return each();
    }
    // A tile that is too long would write over its neighbour, or beyond the end.
    let fits = Exp::<bool>::from_term((found.eq(here)).term().check(
        site(place, FailureKind::OutOfBounds),
        found.term(),
        here.term(),
    ));
    effects::either(fits.term(), each, || {});
}

/// A window of a matrix that a block keeps in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Neighbours of a row that a thread takes together; a divisor of `columns`.
    pub items: usize,
    /// Whether it lies in memory column by column, and is read as an array of its columns.
    pub transposed: bool,
    /// Cells that are left empty after each row (or column), against bank conflicts.
    pub padding: usize,
}

/// A window at a place of a matrix, for [`force_windows`].
pub struct Placed<T: Storable> {
    matrix: Rows<T>,
    columns: Ix,
    first: (Ix, Ix),
    window: Window,
    place: Place,
}

impl<T: Storable> Rows<T> {
    /// The window of this matrix of `columns` columns that starts at a row and column. It may go beyond every edge. Rows that
    /// are shorter than that are an error when the kernel runs. See [`force_windows`].
    #[track_caller]
    pub fn window(&self, columns: Ix, first: (Ix, Ix), window: Window) -> Placed<T> {
        let place = Place::caller("window");
        Placed { matrix: self.clone(), columns, first, window, place }
    }
}

/// Writes windows of matrices to the block's memory, waits once for all, and reads them from there: arrays of rows, or of
/// columns where the window is transposed. Beyond the edges of a matrix stands `otherwise`.
///
/// ```
/// use pumice::kernel::{Block, Ix, Pull, Window, force_windows, preview};
/// // The columns of a window that starts at row 1 and column 1 of a matrix of 2 by 3 elements.
/// let columns = preview(32, &[1, 2, 3, 4, 5, 6], |xs: Pull<i32, Ix>| {
///     let window = Window { rows: 2, columns: 2, items: 1, transposed: true, padding: 1 };
///     let block = move |_: Ix| {
///         let placed = xs.clone().rows(3.into()).window(3.into(), (1.into(), 1.into()), window);
///         let [columns] = force_windows([placed], 0.into());
///         Pull::<i32>::new(4, move |i| columns.at(i / 2).at(i % 2)).push::<Block>()
///     };
///     Pull::new(1, block).concat()
/// })?;
/// assert_eq!(columns, [5, 0, 6, 0]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn force_windows<T: Storable, const N: usize>(
    windows: [Placed<T>; N],
    otherwise: T::Form,
) -> [Pull<Pull<T>>; N] {
    let place = Place::caller("force_windows");
    at_place(place, || {
        let written = windows.map(|placed| placed.write(&otherwise));
        Block::sync();
        written
    })
}

impl<T: Storable> Placed<T> {
    /// Writes the window; it can be read after a barrier.
    fn write(self, otherwise: &T::Form) -> Pull<Pull<T>> {
        let Placed { matrix, columns, first: (first_row, first_column), window, place } = self;
        let items = few(window.items);
        if !window.columns.is_multiple_of(items) {
            with(|builder| builder.mistake(format!("rows of {} in groups of {items}", window.columns)));
        }
        let (outer, inner) = match window.transposed {
            true => (window.columns, window.rows),
            false => (window.rows, window.columns),
        };
        let stride = inner.saturating_add(window.padding);
        let target = crate::force::Target::new(AnyLevel::Block, outer.saturating_mul(stride));
        let (stride, groups, items) = (whole(stride), whole(window.columns / items), whole(items));
        // Sums of these do not wrap, and neither do products.
        let (down, across) = (side(window.rows), side(window.columns));
        let fill = |at: &dyn Fn(Ix, Ix) -> T::Form| {
            let read = |row: Ix, group: Ix| {
                let values = (0..items).map(|k| now::<T>(&at(row, group * items + k)));
                values.collect::<Vec<T::Form>>()
            };
            for_rounds((whole(window.rows), groups), &read, &|row, group, values| {
                for (k, value) in (0..).zip(&values) {
                    let column = group * items + k;
                    let cell = match window.transposed {
                        true => column * stride + row,
                        false => row * stride + column,
                    };
                    target.write::<T>(cell, value);
                }
            });
        };
        let rows = matrix.len();
        let element = |row: Ix, column: Ix| {
            matrix.get(first_row + row).get_below(first_column + column, columns, place)
        };
        let whole = first_row.ge(0)
            & first_row.le(natural(rows) - down)
            & first_column.ge(0)
            & first_column.le(natural(columns) - across);
        let edge = |row: Ix, column: Ix| {
            let (at_row, at_column) = (first_row + row, first_column + column);
            let inside = at_row.ge(0) & at_row.lt(rows) & at_column.ge(0) & at_column.lt(columns);
            choose::<T>(inside, || element(row, column), || otherwise.clone())
        };
        effects::either(whole.term(), || fill(&element), || fill(&edge));
        let read = target.reader::<T>();
        Pull::new(outer, move |i| {
            let read = read.clone();
            Pull::new(inner, move |j| read(i * stride + j))
        })
    }
}

impl<T: Storable> Rows<Pull<Pull<T>>> {
    /// Tiles of `tile.0` × `tile.1` elements put together to a matrix of `rows` × `columns`, one block a tile, of which
    /// each thread of a block has several elements (see [`crate::accumulate`]): `place` says which row and column of the
    /// tile the element with a number has that belongs to a thread. What is beyond the edges of the matrix is left out, and
    /// elements that no thread has are zero.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, Round, accumulate, parts_for, preview};
    /// use pumice::Exp;
    /// // Tiles of one row and two columns, of which the one thread of a block has both elements.
    /// let found = preview(1, &[1, 2, 3, 4, 5, 6], |xs: Pull<i32, Ix>| {
    ///     let (rows, columns): (Ix, Ix) = (2.into(), 3.into());
    ///     let matrix = xs.rows(columns);
    ///     let tile = move |row: Ix, first: Ix| {
    ///         let row = matrix.at(row).padded(4usize, 0.into());
    ///         let own = move |_| vec![row.at(first), row.at(first + 1)];
    ///         accumulate(1, 1.into(), own, |_| Box::new(|_, own: Vec<Exp<i32>>| own) as Round<_>)
    ///     };
    ///     let tiles = Pull::new(rows, move |row| {
    ///         let tile = tile.clone();
    ///         Pull::new(parts_for(columns, 2), move |across| tile(row, across * 2))
    ///     });
    ///     tiles.concat_owned((1, 2), rows, columns, |_, k| (0.into(), (k as i64).into()))
    /// })?;
    /// assert_eq!(found, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    #[track_caller]
    pub fn concat_owned(
        self,
        tile: (usize, usize),
        rows: Ix,
        columns: Ix,
        place_of: impl Fn(Ix, usize) -> (Ix, Ix) + 'static,
    ) -> Push<Grid, T, Ix> {
        let place = Place::caller("concat_owned");
        let down = named(parts_for(rows, tile.0), "tiles_down");
        let across = named(parts_for(columns, tile.1), "tiles");
        let (height, width) = (side(tile.0), side(tile.1));
        let place_of = Rc::new(place_of);
        let (tiles, places) = (self.clone(), place_of.clone());
        let complete = move || {
            let (threads, own) = probe(|| {
                let first = tiles.get(0).get(0);
                (first.len(), first.get(0).len())
            });
            covers((height, width), threads, own, &*places)
        };
        Push::trusted(area(rows, columns), move |write| {
            at_place(place, || {
                effects::distribute(area(down, across).term(), |block| {
                    let (tile_row, tile_column) = near(Exp::from_term(block), down, across);
                    let first_row = named(tile_row * height, "first_row");
                    let first_column = named(tile_column * width, "first_column");
                    let row_of_tiles = self.get_below(tile_row, down, place);
                    let values = row_of_tiles.get_below(tile_column, across, place);
                    let within = |index, size: i64| check::within(index, Exp::from(size), place);
                    let each = |write_at: &dyn Fn(Ix, Ix, T::Form)| {
                        Block::each(values.len().to_ix(), &|thread| {
                            let own = values.get(thread);
                            for k in 0..own.len() {
                                let (row, column) = place_of(thread, k);
                                let row = first_row + within(row, height);
                                write_at(row, first_column + within(column, width), own.get(k as i64));
                            }
                        });
                    };
                    let whole = (first_row + height).le(rows) & (first_column + width).le(columns);
                    effects::either(
                        whole.term(),
                        || each(&|row, column, value| write(row * columns + column, value)),
                        || {
                            each(&|row, column, value| {
                                let inside = row.lt(rows) & column.lt(columns);
                                let at = row * columns + column;
                                effects::either(inside.term(), || write(at, value.clone()), || {});
                            });
                        },
                    );
                });
            });
        })
        .complete_if(complete)
    }
}

/// Whether the elements of so many threads, each with `own` of them, are plainly at every place of a tile.
fn covers(
    (height, width): (i64, i64),
    threads: usize,
    own: usize,
    place_of: &dyn Fn(Ix, usize) -> (Ix, Ix),
) -> bool {
    const MOST: i64 = 1 << 16;
    let all = height.saturating_mul(width);
    if all > MOST || threads.saturating_mul(own) as i64 != all {
        return false;
    }
    let mut found = vec![false; all as usize];
    for (thread, k) in (0..threads as i64).flat_map(|thread| (0..own).map(move |k| (thread, k))) {
        let (row, column) = place_of(Exp::from(thread), k);
        let (Some(row), Some(column)) = (row.term().integer(), column.term().integer()) else { return false };
        if !(0..height).contains(&row) || !(0..width).contains(&column) {
            return false;
        }
        found[(row * width + column) as usize] = true;
    }
    found.into_iter().all(|found| found)
}
