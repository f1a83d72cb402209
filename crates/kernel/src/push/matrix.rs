//! Tiles of matrices, written by blocks: which block does which tile, and how its threads share the elements.

use super::{Push, now};
use crate::bounds::area;
use crate::builder::named;
use crate::effects;
use crate::item::{Ix, Storable};
use crate::level::{Block, Grid, Loops};
use crate::place::{at_place, here};
use crate::pull::Rows;
use crate::size::{parts_for, quotient, remainder, side};
use pumice_scalar::Exp;

/// Rows of tiles that blocks go through together; see [`near`].
const NEAR: i64 = 16;

/// The row and column of the tile that a block does, of so many rows and columns of tiles. Blocks that run at the same time
/// do tiles that are near each other in both directions: what they read and write is in few pages of memory then, and
/// much of it is in the cache for more than one of them. So they go down some rows, then on to the next column.
pub(crate) fn near(block: Ix, down: Ix, across: Ix) -> (Ix, Ix) {
    // The last rows, if they are fewer, are gone through one by one: going down them would take a division by their number,
    // and so in every block.
    let striped = named(quotient(down, NEAR.into()) * NEAR, "striped");
    let is_striped = block.lt(striped * across);
    let number = is_striped.select(quotient(block, NEAR.into()), (block - striped * across).max(0));
    let row = quotient(number, across);
    let row = is_striped.select(row * NEAR + remainder(block, NEAR.into()), striped + row);
    // It is not larger, but intervals do not see that, and would have products with it in 64 bits.
    (named(row.min(down - 1), "tile_row"), named(remainder(number, across), "tile_column"))
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
    if threads % columns == 0 && all % threads == 0 && all / threads > MOST_ROUNDS {
        // The column stays: a loop over rows inside each thread, which a CPU does with vectors.
        return Block::each(Exp::from(threads), &|thread| {
            let (row, column) = if threads == columns { (Exp::from(0), thread) } else { place(thread) };
            let step = Exp::<i64>::from(threads / columns).term();
            effects::sequential(
                Exp::<i64>::from(0).term()..Exp::<i64>::from(rows).term(),
                step,
                &[],
                |down, _| {
                    let row = row + Exp::from_term(down);
                    write(row, column, read(row, column));
                    Vec::new()
                },
            );
        });
    }
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

impl<T: Storable> Rows<Rows<T>> {
    /// Tiles put together to a matrix of `rows` × `columns`, one block a tile: what [`Pull::split_2d`](crate::Pull::split_2d) with the same size
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
        let place = here("concat_2d");
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
