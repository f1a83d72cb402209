//! Writing a pull array to memory, every element once.

use crate::item::{Ix, Storable};
use crate::{Block, Grid, Profile, Pull, Push, Rows, named, parts_for, quotient, remainder, sequential};
use pumice_scalar::Exp;
use std::rc::Rc;

/// How the work of a write is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritePlan {
    /// Threads of a block.
    pub threads: u32,
    /// Neighbouring elements that a thread writes.
    pub items: u32,
    /// Rows that a block writes one after the other, where it goes row by row.
    pub rows: u32,
}

/// An element that costs more than this is written alone: the threads are busy enough, and registers are dear.
const EXPENSIVE: u32 = 400;

impl WritePlan {
    /// Divides the writing of elements whose largest scalar has `bytes` bytes and whose computation costs about `cost`
    /// instructions.
    pub fn new(profile: &Profile, bytes: usize, cost: u32) -> WritePlan {
        let widest = (profile.vector_bytes as usize / bytes.max(1)).clamp(1, 4) as u32;
        WritePlan { threads: profile.threads, items: if cost > EXPENSIVE { 1 } else { widest }, rows: 1 }
    }

    /// Divides the writing of a matrix whose elements are read down the columns. A piece of memory that one row's element
    /// is read from holds those of the next rows too; a block writes these soon after, while the piece is in its cache.
    pub fn across(profile: &Profile, bytes: usize) -> WritePlan {
        let piece = if profile.coalesces { 32 } else { 64 };
        let rows = (piece / bytes.max(1)).max(1) as u32;
        WritePlan { threads: profile.threads.min(256), items: 1, rows }
    }

    /// Elements that a block writes.
    pub fn tile(&self) -> usize {
        self.threads as usize * self.items as usize
    }
}

/// Writes a pull array, block by block.
pub fn write<T: Storable>(xs: Pull<T, Ix>, plan: WritePlan) -> Push<Grid, T, Ix> {
    let length = xs.len();
    xs.tiles(plan.tile())
        .map(move |tile| tile.push_items(plan.threads as usize, plan.items as usize))
        .concat_trusted(plan.tile() as i64, length)
}

/// Writes a matrix row by row, so that an element's row and column are known without dividing its index: a block takes a
/// part of one row, or of a few. Good where rows are long enough to fill blocks, and the index is not linear.
pub fn write_rows<T: Storable>(
    rows: Ix,
    columns: Ix,
    at: Rc<dyn Fn(Ix, Ix) -> T::Form>,
    plan: WritePlan,
) -> Push<Grid, T, Ix> {
    let tile = plan.tile() as i64;
    let tiles = named((columns + (tile - 1)) / tile, "tiles");
    let rows_at_once = i64::from(plan.rows);
    let groups = (rows + (rows_at_once - 1)) / rows_at_once;
    let parts = Pull::<Push<Block, T, Ix>, Ix>::new(groups * tiles, move |block| {
        let first_row = named(quotient(block, tiles) * rows_at_once, "first_row");
        let start = named(remainder(block, tiles) * tile, "start");
        let length = named((columns - start).min(tile), "length");
        let at = at.clone();
        let row = move |row: Ix| {
            let at = at.clone();
            Pull::<T, Ix>::new(length, move |i| at(row, named(start + i, "column")))
                .push_items(plan.threads as usize, plan.items as usize)
                .index_map(columns, move |i| row * columns + (start + i))
        };
        if rows_at_once == 1 {
            return row(first_row);
        }
        let last_row = (first_row + rows_at_once).min(rows);
        Push::trusted(length, move |write| {
            sequential(first_row.term()..last_row.term(), Exp::<i64>::from(1).term(), &[], |index, _| {
                row(Exp::from_term(index)).write(write);
                Vec::new()
            });
        })
    });
    parts.concat_trusted(0, rows * columns)
}

/// The side of a tile of [`write_tiles`].
const TILE: usize = 32;

/// Whether tiles of elements with so many bytes fit a block, and a matrix has some.
pub fn can_write_tiles(profile: &Profile, rows: i64, columns: i64, bytes: usize) -> bool {
    // Several blocks at once want to have theirs.
    let tile = TILE * (TILE + 1) * bytes;
    profile.coalesces && rows.min(columns) >= TILE as i64 && tile <= profile.shared_bytes as usize / 4
}

/// Writes a matrix whose elements are read down the columns: a block computes a tile with neighbouring threads in
/// neighbouring rows, and writes it with neighbouring threads in neighbouring columns.
pub fn write_tiles<T: Storable>(
    rows: Ix,
    columns: Ix,
    at: Rc<dyn Fn(Ix, Ix) -> T::Form>,
) -> Push<Grid, T, Ix> {
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
