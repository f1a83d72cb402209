//! Which sources of a block all its threads take together, because they are larger than a warp should take.

use crate::item::{Ix, Scalars};
use crate::skeletons::monoid::{Cells, each_thread};
use crate::{effects, named};
use pumice_program::AtomicOp;
use pumice_scalar::{Exp, ScalarType};

/// The sources of a block that are larger than a warp should take, in memory that its threads share.
pub(super) struct Larger {
    /// How many there are, and how many elements they have together.
    counts: Cells,
    /// Their numbers in the block, in any order.
    sources: Cells,
    /// How many there may be.
    most: i64,
}

impl Larger {
    /// None so far, of so many sources.
    pub fn new(most: u32) -> Larger {
        let (counts, sources) =
            (Cells::shared(&[ScalarType::U32], 2), Cells::shared(&[ScalarType::U32], most.into()));
        each_thread(2, |which| counts.write(which, &Scalars(vec![Exp::<u32>::from(0).term()])));
        effects::sync();
        Larger { counts, sources, most: most.into() }
    }

    /// Adds a source. In one thread.
    pub fn add(&self, source: Ix, size: Ix) {
        let (memory, ty) = self.counts.0[0];
        let add = |which: i64, value: Exp<u32>| {
            let which = Exp::<i64>::from(which).term();
            effects::atomic(AtomicOp::Add, memory, ty, which, &[value.term()], true)
        };
        add(1, size.cast());
        let Some(place) = add(0, Exp::from(1)) else { return };
        let place = Exp::<u32>::from_term(place).cast::<i64>();
        self.sources.write(place, &Scalars(vec![source.cast::<u32>().term()]));
    }

    /// How many there are, after a barrier.
    pub fn count(&self) -> Ix {
        named(self.number(0).min(self.most), "count")
    }

    /// How many elements they have together, after a barrier.
    pub fn elements(&self) -> Ix {
        self.number(1)
    }

    fn number(&self, which: i64) -> Ix {
        Exp::<u32>::from_term(self.counts.read(which).0[0]).cast()
    }

    /// The number in the block of a source, by its place among them.
    pub fn source(&self, place: Ix) -> Ix {
        // The minimum changes nothing, and lets intervals see that it is small.
        Exp::<u32>::from_term(self.sources.read(place).0[0]).cast::<i64>().min(self.most - 1)
    }
}
