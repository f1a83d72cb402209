//! Passes over the whole array: the stages of a merger whose comparators join elements of different blocks.

use super::Key;
use super::small::complete;
use crate::combinators::{Threading, computed};
use crate::networks::Stage;
use pumice::Exp;
use pumice::kernel::{Block, Grid, Ix, Loops, Pull, Push, Within, force_scalar, quotient};

/// A pass over a large array: stages of a merger whose partners are far from each other.
///
/// It does consecutive stages of which the first has partners `stride` apart, the second half of that, and so on. A block
/// has tiles of 2^`rows` × 2^`columns` elements: the columns of a row are neighbours in memory, and rows are as far apart as
/// the last stage's partners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exchange {
    /// Whether the first stage is that of two sorted runs, where partners are in mirrored places: a `vee`.
    pub mirrored: bool,
    /// Number of stages; a tile has 2^`rows` rows.
    pub rows: u32,
    /// Elements next to each other in a row, as a power of two. With 0, a thread has a tile alone, in registers.
    pub columns: u32,
    /// Elements of a larger tile that a thread has at a time, as a power of two.
    pub registers: u32,
}

/// Threads of a block of a pass whose threads have tiles of their own.
const ALONE: u32 = 256;

impl Exchange {
    /// `vSwap`: the first stage of a merger.
    pub const V_SWAP: Exchange = Exchange::alone(true, 1);
    /// `iSwap`: any other stage.
    pub const I_SWAP: Exchange = Exchange::alone(false, 1);
    /// `iSwap2`: two of them.
    pub const I_SWAP2: Exchange = Exchange::alone(false, 2);
    /// `iSwap3`: three of them.
    pub const I_SWAP3: Exchange = Exchange::alone(false, 3);

    /// The pass in which every thread has a tile alone.
    pub const fn alone(mirrored: bool, rows: u32) -> Exchange {
        Exchange { mirrored, rows, columns: 0, registers: rows }
    }

    /// A name for the kernel.
    pub fn name(self) -> String {
        match (self.mirrored, self.rows, self.columns) {
            (true, 1, 0) => "vSwap".into(),
            (false, 1, 0) => "iSwap".into(),
            (false, rows @ (2 | 3), 0) => format!("iSwap{rows}"),
            (mirrored, rows, columns) => {
                format!("{}Swap{rows}_{columns}", if mirrored { "v" } else { "i" })
            }
        }
    }

    /// The division of a tile among the threads of a block.
    fn threading(self) -> Threading {
        Threading::Registers(self.registers)
    }

    /// Threads of a block.
    pub fn threads(self) -> u32 {
        match self.columns {
            0 => ALONE,
            columns => self.threading().threads(self.rows + columns),
        }
    }

    /// The stages on the elements of a tile, row after row.
    fn stages(self) -> Vec<Stage> {
        let first = if self.mirrored {
            Stage::vee(self.rows + self.columns - 1)
        } else {
            Stage::ilv(self.rows + self.columns - 1)
        };
        let others = (0..self.rows - 1).rev().map(|row| Stage::ilv(row + self.columns));
        std::iter::once(first).chain(others).collect()
    }

    /// The pass, of an array and the stride of the first stage.
    ///
    /// # Safety
    ///
    /// In every launch, the stride is a power of two, and at least 2^(`rows` + `columns` - 1): then each element is in one
    /// tile. With others, elements of the result are whatever the memory held.
    pub unsafe fn kernel<T: Key>(self) -> impl Fn(Pull<T, Ix>, Ix) -> Push<Grid, T, Ix> {
        move |xs, stride| {
            let length = xs.len();
            let exchanged = Push::clipped(length, move |write| {
                let tiles = Tiles::new(self, length, stride);
                let read = |index: Ix| xs.at_or(index, Exp::from(T::LARGEST));
                match self.columns {
                    0 => Grid::for_each(tiles.count, &|tile| {
                        let base = tiles.base(tile);
                        let index = |element: u32| tiles.index(base, Exp::from(i64::from(element)));
                        let mut elements: Vec<Exp<T>> =
                            (0..1 << self.rows).map(|element| read(index(element))).collect();
                        for stage in self.stages() {
                            for (lower, upper) in stage.comparators(self.rows) {
                                let (a, b) = (elements[lower as usize], elements[upper as usize]);
                                (elements[lower as usize], elements[upper as usize]) = (a.min(b), a.max(b));
                            }
                        }
                        let elements = computed(elements);
                        for (number, element) in elements.into_iter().enumerate() {
                            write(index(number as u32), element);
                        }
                    }),
                    columns => Block::distribute(tiles.count, &|tile| {
                        let (xs, base) = (xs.clone(), tiles.base(tile));
                        let bits = self.rows + columns;
                        let elements: Pull<T> = Pull::new(1 << bits, move |element| {
                            xs.at_or(tiles.index(base, element), Exp::from(T::LARGEST))
                        });
                        let done = complete(self.threading().network(self.stages(), bits)(elements));
                        done.write(&|element, value| write(tiles.index(base, element), value));
                    }),
                }
            });
            // SAFETY: the tiles have every element between them, as the caller says, and each writes all of its own.
            unsafe { exchanged.assume_complete() }
        }
    }
}

/// Places of the tiles of a pass.
///
/// The bits of an index are, from the lowest: the column; where the tile lies between two rows; the row; and where the tile
/// lies otherwise. A tile of a mirrored pass has its upper half of rows at mirrored places between two rows, where the
/// partners of the lower half are.
#[derive(Clone, Copy)]
struct Tiles {
    pass: Exchange,
    /// The distance of two rows.
    row: Ix,
    /// Number of tiles.
    count: Ix,
}

impl Tiles {
    fn new(pass: Exchange, length: Ix, stride: Ix) -> Tiles {
        let row = stride >> i64::from(pass.rows - 1);
        let runs = quotient(length + ((stride << 1) - 1), stride << 1);
        Tiles { pass, row, count: runs * (row >> i64::from(pass.columns)) }
    }

    /// The first element of a tile.
    fn base(self, tile: Ix) -> Ix {
        let (rows, columns) = (i64::from(self.pass.rows), i64::from(self.pass.columns));
        let between = self.row >> columns;
        // By division, from which it is known how large the parts are: so no bounds need to be checked for most lengths.
        let (high, low) = (quotient(tile, between), tile & (between - 1));
        force_scalar((low << columns) + high * (self.row << rows))
    }

    /// An element of the tile that starts at an index.
    fn index(self, base: Ix, element: Ix) -> Ix {
        let (rows, columns) = (i64::from(self.pass.rows), i64::from(self.pass.columns));
        let column = element & ((1 << columns) - 1);
        let index = base + column + (element >> columns) * self.row;
        if !self.pass.mirrored {
            return index;
        }
        let between = (self.row - 1) & !((1 << columns) - 1);
        match element.term().integer() {
            Some(element) if element >> (rows + columns - 1) == 0 => index,
            Some(_) => index ^ between,
            None => index ^ ((element >> (rows + columns - 1)) * between),
        }
    }
}
