//! Small sorters and mergers, which a block runs on the elements in its memory.

use super::{BlockFunction, Key};
use crate::bitonic::bitonic_block;
use crate::combinators::Threading;
use crate::networks::{tsort, vsort};
use pumice::Exp;
use pumice::kernel::{Block, Grid, Ix, Pull, Push, Within};
use std::rc::Rc;

/// The small sorters of the paper's tables, and the one that we use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Small {
    /// The tree of bitonic mergers, one index a thread.
    Tsort1,
    /// The same, two indices a thread.
    Tsort2,
    /// The tree of balanced periodic mergers, one index a thread.
    Vsort1,
    /// The same, as many indices a thread as its registers hold.
    Vsort,
    /// Bitonic sort by hand.
    Bitonic,
}

impl Small {
    /// All of them.
    pub const ALL: [Small; 5] = [Small::Tsort1, Small::Tsort2, Small::Vsort1, Small::Vsort, Small::Bitonic];

    /// The name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Small::Tsort1 => "tsort1",
            Small::Tsort2 => "tsort2",
            Small::Vsort1 => "vsort1",
            Small::Vsort => "vsort",
            Small::Bitonic => "bitonic",
        }
    }

    /// Returns the division of its work among threads; those of [`Small::Vsort`] have 2^`registers` elements each.
    pub fn threading(self, registers: u32) -> Threading {
        match self {
            Small::Tsort1 | Small::Vsort1 | Small::Bitonic => Threading::One,
            Small::Tsort2 => Threading::Two,
            Small::Vsort => Threading::Registers(registers),
        }
    }

    /// The sorter of 2^`n` elements, as a function of a block.
    pub fn block<T: Key>(self, n: u32, registers: u32) -> BlockFunction<T> {
        let threading = self.threading(registers);
        match self {
            Small::Tsort1 | Small::Tsort2 => Rc::new(threading.network(tsort(n), n)),
            Small::Vsort1 | Small::Vsort => Rc::new(threading.network(vsort(n), n)),
            Small::Bitonic => Rc::new(bitonic_block),
        }
    }
}

/// Does something to every block of 2^`n` elements of an array, the last of which may be shorter.
pub fn on_blocks<T: Key>(n: u32, f: BlockFunction<T>) -> impl Fn(Pull<T, Ix>) -> Push<Grid, T, Ix> {
    move |xs| {
        let (size, length, f) = (1i64 << n, xs.len(), f.clone());
        let blocks = Push::clipped(length, move |write| {
            Block::distribute((length + (size - 1)) / size, &|block| {
                let (xs, start) = (xs.clone(), block * size);
                let elements: Pull<T> =
                    Pull::new(1 << n, move |i| xs.at_or(start + i, Exp::from(T::LARGEST)));
                complete(f(elements)).write(&|i, element| write(start + i, element));
            });
        });
        // SAFETY: there is a block for every element, and each writes all of its own that are in the array.
        unsafe { blocks.assume_complete() }
    }
}

/// A block's array that writes every element: by way of its memory, if it may not by itself.
pub(super) fn complete<T: Key>(block: Push<Block, T>) -> Push<Block, T> {
    if block.is_complete() { block } else { block.force().push() }
}
