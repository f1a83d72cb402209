//! Arrays and matrices in tiles of a size that is known while the kernel is built, of which only those at the edges are
//! smaller.
//!
//! A whole tile is a case of its own in the kernel, chosen by the block as a whole: in it every index is below a known
//! bound, so nothing is asked of single elements, and neighbouring accesses become wide ones.
//!
//! `window.rs` keeps windows of matrices in a block's memory; `owned.rs` writes matrices of which each thread has some
//! elements in registers.

mod owned;
mod window;

pub use window::{Placed, Window, force_windows};

use crate::builder::{named, probe, with};
use crate::check::{self, same};
use crate::effects;
use crate::item::{Ix, Storable};
use crate::level::{Block, Grid, Level};
use crate::mutable::Mutable;
use crate::place::{at_place, here, site};
use crate::push::{Writer, same_level};
use crate::size::{Size, parts_for, whole};
use crate::{Pull, Push};
use pumice_scalar::{Exp, FailureKind, Place};
use std::rc::Rc;

impl<T: Storable> Pull<T, Ix> {
    /// Views this array as one of static length `size`. Reading it where the run-time length differs records a failure.
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
        let place = here("do_whole");
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
        let place = here("if_whole");
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
        let place = here("concat_tiles");
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
        let place = here("concat_tiles_in_order");
        let (counter, tiles, all) = (counter.clone(), self.len(), self.clone());
        Push::trusted(length, move |write| {
            at_place(place, || {
                effects::distribute(tiles.term(), |_| {
                    let next = counter.clone();
                    let ticket = Pull::<u64>::new(1, move |_| next.atomic_add(0, 1));
                    let ticket = ticket.push::<Block>().force().get(0).cast::<i64>();
                    // A number that is too large was not counted from 0, and then no block has done some tile.
                    if let Some(inside) = check::inside(ticket, tiles, place) {
                        effects::compute(&[inside.term()]);
                    }
                    let number = named(compute_here(ticket.clamp(0, tiles - 1)), "tile");
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

/// Computes a value of the block as a whole where this stands.
fn compute_here(value: Ix) -> Ix {
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
