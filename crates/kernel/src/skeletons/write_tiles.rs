//! Writing a matrix whose elements are read down the columns, in tiles that go through a block's memory.

use crate::effects::{self, sequential};
use crate::item::{Ix, Storable};
use crate::level::Loops;
use crate::{Block, Grid, Profile, Pull, Push, Rows, named, parts_for, quotient, remainder};
use pumice_scalar::Exp;
use std::rc::Rc;

/// The side of a tile of [`write_tiles`].
const TILE: usize = 32;

/// Whether tiles of elements with so many bytes fit a block, and a matrix has some.
pub fn can_write_tiles(profile: &Profile, rows: i64, columns: i64, bytes: usize) -> bool {
    // Several blocks at once want to have theirs.
    let tile = TILE * (TILE + 1) * bytes;
    rows.min(columns) >= TILE as i64 && tile <= profile.shared_bytes as usize / 4
}

/// Writes a matrix whose elements are read down the columns: a block computes a tile with neighbouring threads in
/// neighbouring rows, and writes it with neighbouring threads in neighbouring columns.
pub fn write_tiles<T: Storable>(
    profile: &Profile,
    rows: Ix,
    columns: Ix,
    at: Rc<dyn Fn(Ix, Ix) -> T::Form>,
) -> Push<Grid, T, Ix> {
    if !profile.coalesces {
        return write_tiles_line_by_line(rows, columns, at);
    }
    let turned: Rows<T> = Pull::new(columns, move |column| {
        let at = at.clone();
        Pull::new(rows, move |row| at(row, column))
    });
    turned
        .split_2d(rows, TILE)
        .map(|across| {
            across.map(|tile| {
                let (height, width) = (tile.len(), tile.get(0).len());
                tile.force_2d(height, width, TILE).transpose(width)
            })
        })
        .transpose(parts_for(rows, TILE))
        .concat_2d(TILE, rows, columns)
}

/// As [`write_tiles`], by a block that is one worker: it computes a tile one column after the other and writes it one row after
/// the other, so that it goes through memory in whole lines both times.
fn write_tiles_line_by_line<T: Storable>(
    rows: Ix,
    columns: Ix,
    at: Rc<dyn Fn(Ix, Ix) -> T::Form>,
) -> Push<Grid, T, Ix> {
    let side = TILE as i64;
    let (down, across) = (parts_for(rows, TILE), named(parts_for(columns, TILE), "tiles"));
    let blocks = Pull::<Push<Block, T, Ix>, Ix>::new(down * across, move |block| {
        // It is not larger, but intervals do not see that, and would have products with it in 64 bits.
        let first_row = named(quotient(block, across).min(down - 1) * side, "first_row");
        let first_column = named(remainder(block, across) * side, "first_column");
        let height = named((rows - first_row).min(side), "height");
        let width = named((columns - first_column).min(side), "width");
        let at = at.clone();
        let at: Rc<dyn Fn(Ix, Ix) -> T::Form> =
            Rc::new(move |row, column| at(first_row + row, first_column + column));
        Push::trusted(height * width, move |write| {
            let write = |row: Ix, column: Ix, value: T::Form| {
                write((first_row + row) * columns + first_column + column, value);
            };
            // Loops of as many rounds as everybody knows are a quarter faster.
            effects::either(
                (height.eq(side) & width.eq(side)).term(),
                || write_tile::<T>(Exp::from(side), Exp::from(side), &at, &write),
                || write_tile::<T>(height, width, &at, &write),
            );
        })
    });
    blocks.concat_trusted(0, rows * columns)
}

/// Writes one tile, through the memory of the block. There a row's elements are a cell further apart than a column is long: a
/// power of two would have all of them in few places of the cache.
fn write_tile<T: Storable>(
    height: Ix,
    width: Ix,
    at: &Rc<dyn Fn(Ix, Ix) -> T::Form>,
    write: &dyn Fn(Ix, Ix, T::Form),
) {
    const PITCH: usize = TILE + 1;
    let place = |row: Ix, column: Ix| column * PITCH as i64 + row;
    let at = at.clone();
    let tile = Push::<Block, T, Ix>::trusted(Exp::from((TILE * PITCH) as i64), move |put| {
        one_by_one(width, |column| Block::each(height, &|row| put(place(row, column), at(row, column))));
    });
    let tile = tile.force_within(TILE * PITCH);
    one_by_one(height, |row| {
        Block::each(width, &|column| write(row, column, tile.get(place(row, column))));
    });
}

/// Does something for each index below a count, in order.
fn one_by_one(count: Ix, each: impl Fn(Ix)) {
    sequential(Exp::<i64>::from(0).term()..count.term(), Exp::<i64>::from(1).term(), &[], |index, _| {
        each(Exp::from_term(index));
        Vec::new()
    });
}
