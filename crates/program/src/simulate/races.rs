//! Finds data races: who touched a cell of memory, in which phase.
//!
//! A phase is what a block does between two barriers. Within one, two indices of parallel loops that touch one cell
//! race if one of them writes; so do, in global memory, two blocks at any time of the launch. The index stands for the
//! thread: which thread takes which index is not promised within one loop, and one index is on one thread in all loops.
//! What a block does as a whole (outside parallel loops) is done by every thread of it.

/// Who touches memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    /// The block.
    pub block: u32,
    /// The phase, unique in the launch.
    pub phase: u32,
    /// The index in the parallel loop, or [`EVERY`].
    pub index: u32,
}

/// Instead of an index: every thread of the block.
pub(super) const EVERY: u32 = u32::MAX - 1;
const NOBODY: u32 = u32::MAX;
/// Instead of one reader: several.
const SEVERAL: u32 = EVERY;

/// Two that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Race {
    /// With another block.
    Block {
        /// The other, or `None` for one of several.
        other: Option<u32>,
        /// Whether the other one writes.
        writes: bool,
    },
    /// With another index of the same block, in the same phase.
    Index {
        /// The other, or `None` for one of several.
        other: Option<u32>,
        /// Whether the other one writes.
        writes: bool,
    },
}

/// What happened to one cell.
#[derive(Clone, Copy, Debug)]
struct Cell {
    writing_block: u32,
    reading_block: u32,
    /// The phase that the two below are about.
    phase: u32,
    writer: u32,
    reader: u32,
}

/// What happened to one memory in a launch.
#[derive(Clone, Debug)]
pub(super) struct History {
    cells: Vec<Cell>,
    across_blocks: bool,
}

impl History {
    /// Of memory with this many cells. Blocks race only in memory that they have in common.
    pub fn new(cells: usize, across_blocks: bool) -> History {
        let cell = Cell {
            writing_block: NOBODY,
            reading_block: NOBODY,
            phase: u32::MAX,
            writer: NOBODY,
            reader: NOBODY,
        };
        History { cells: vec![cell; cells], across_blocks }
    }

    /// Somebody reads a cell. Cells that do not exist are not watched.
    pub fn read(&mut self, index: usize, who: Who) -> Result<(), Race> {
        let across_blocks = self.across_blocks;
        let Some(cell) = self.cells.get_mut(index) else {
            return Ok(());
        };
        cell.enter(who.phase);
        if across_blocks {
            if cell.writing_block != NOBODY && cell.writing_block != who.block {
                return Err(Race::Block { other: Some(cell.writing_block), writes: true });
            }
            cell.reading_block = merge(cell.reading_block, who.block);
        }
        if cell.writer != NOBODY && cell.writer != who.index {
            return Err(Race::Index { other: Some(cell.writer), writes: true });
        }
        cell.reader = merge(cell.reader, who.index);
        Ok(())
    }

    /// Somebody writes a cell.
    pub fn write(&mut self, index: usize, who: Who) -> Result<(), Race> {
        let across_blocks = self.across_blocks;
        let Some(cell) = self.cells.get_mut(index) else {
            return Ok(());
        };
        cell.enter(who.phase);
        if across_blocks {
            for (block, writes) in [(cell.writing_block, true), (cell.reading_block, false)] {
                if block != NOBODY && block != who.block {
                    return Err(Race::Block { other: one(block), writes });
                }
            }
            cell.writing_block = who.block;
        }
        for (index, writes) in [(cell.writer, true), (cell.reader, false)] {
            if index != NOBODY && index != who.index {
                return Err(Race::Index { other: one(index), writes });
            }
        }
        cell.writer = who.index;
        Ok(())
    }
}

impl Cell {
    fn enter(&mut self, phase: u32) {
        if self.phase != phase {
            *self = Cell { phase, writer: NOBODY, reader: NOBODY, ..*self };
        }
    }
}

fn merge(known: u32, new: u32) -> u32 {
    if known == NOBODY || known == new { new } else { SEVERAL }
}

fn one(who: u32) -> Option<u32> {
    (who != SEVERAL).then_some(who)
}
