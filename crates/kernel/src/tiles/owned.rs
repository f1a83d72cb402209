//! Matrices of which each thread of a block has several elements, in registers.

use crate::bounds::area;
use crate::builder::{named, probe};
use crate::check;
use crate::effects;
use crate::item::{Ix, Storable};
use crate::level::{Block, Grid, Loops};
use crate::place::{at_place, here};
use crate::pull::Rows;
use crate::push::near;
use crate::size::{Size, parts_for, side};
use crate::{Pull, Push};
use pumice_scalar::Exp;
use std::rc::Rc;

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
        let place = here("concat_owned");
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
