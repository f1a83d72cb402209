//! Writing a pull array to memory, every element once.

use crate::item::{Block, Grid, Ix, Storable};
use crate::pull::{quotient, remainder};
use crate::{Profile, Pull, Push, named};
use std::rc::Rc;

/// How the work of a write is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritePlan {
    /// Threads of a block.
    pub threads: u32,
    /// Neighbouring elements that a thread writes.
    pub items: u32,
}

/// An element that costs more than this is written alone: the threads are busy enough, and registers are dear.
const EXPENSIVE: u32 = 400;

impl WritePlan {
    /// Divides the writing of elements whose largest scalar has `bytes` bytes and whose computation costs about `cost`
    /// instructions.
    pub fn new(profile: &Profile, bytes: usize, cost: u32) -> WritePlan {
        let widest = (profile.vector_bytes as usize / bytes.max(1)).clamp(1, 4) as u32;
        WritePlan { threads: profile.threads, items: if cost > EXPENSIVE { 1 } else { widest } }
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
        .concat(plan.tile() as i64, length)
}

/// Writes a matrix row by row, so that an element's row and column are known without dividing its index: a block takes a
/// part of one row. Good where rows are long enough to fill blocks, and the index is not linear.
pub fn write_rows<T: Storable>(
    rows: Ix,
    columns: Ix,
    at: Rc<dyn Fn(Ix, Ix) -> T::Form>,
    plan: WritePlan,
) -> Push<Grid, T, Ix> {
    let tile = plan.tile() as i64;
    let tiles = named((columns + (tile - 1)) / tile, "tiles");
    let parts = Pull::<Push<Block, T, Ix>, Ix>::new(rows * tiles, move |block| {
        let row = named(quotient(block, tiles), "row");
        let start = named(remainder(block, tiles) * tile, "start");
        let at = at.clone();
        Pull::<T, Ix>::new((columns - start).min(tile), move |i| at(row, named(start + i, "column")))
            .push_items(plan.threads as usize, plan.items as usize)
            .index_map(move |i| row * columns + (start + i))
    });
    parts.concat(0, rows * columns)
}
