//! Expansion: the elements of sources that have different numbers of them, handed on loose, by any division of the work.

use crate::effects;
use crate::item::{Dynamic, Ix, Scalars};
use crate::level::{Block, Grid, Loops, Within};
use crate::push::now;
use crate::{Profile, Push, named, parts_for, quotient};
use pumice_scalar::Exp;
use std::rc::Rc;

/// Sources and their elements.
pub struct Expansion {
    /// The number of sources.
    pub sources: Ix,
    /// A source.
    pub source: Rc<dyn Fn(Ix) -> Scalars>,
    /// How many elements a source has.
    pub size: Rc<dyn Fn(&Scalars) -> Ix>,
    /// An element of a source, by its number there.
    pub get: Rc<dyn Fn(&Scalars, Ix) -> Scalars>,
}

/// How the work of an expansion is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExpandPlan {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks.
    pub blocks: u32,
}

impl ExpandPlan {
    /// Decides how to divide the work of so many sources.
    pub fn new(profile: &Profile, sources: i64) -> ExpandPlan {
        let threads = profile.threads;
        let tiles = (sources.max(0) as u64).div_ceil(u64::from(threads));
        ExpandPlan { threads, blocks: tiles.clamp(1, profile.busy_blocks.max(1)) as u32 }
    }
}

impl Expansion {
    /// Hands on all elements, each with the number of its source.
    pub fn push(self, plan: ExpandPlan, blocks: Ix) -> Push<Grid, Dynamic, Ix> {
        let threads = i64::from(plan.threads);
        Push::trusted(self.sources, move |write| {
            let blocks = named(blocks.max(1), "blocks");
            let tiles = named(parts_for(self.sources, plan.threads as usize), "tiles");
            Block::parts(blocks, &|block| {
                let rounds = named(quotient(tiles - block + (blocks - 1), blocks).max(0), "rounds");
                Block::each(Exp::from(threads), &|thread| {
                    in_sequence(rounds, &|round| {
                        let number = named((block + round * blocks) * threads + thread, "source");
                        effects::either(number.lt(self.sources).term(), || self.by_thread(number, write), || {});
                    });
                });
            });
        })
    }

    /// Hands on the elements of a source, in one thread.
    fn by_thread(&self, number: Ix, write: &dyn Fn(Ix, Scalars)) {
        let source = now::<Dynamic>(&(self.source)(number));
        let size = named((self.size)(&source), "size");
        in_sequence(size, &|element| write(number, (self.get)(&source, element)));
    }
}

/// Does something for every number below a count, one after the other.
fn in_sequence(count: Ix, body: &dyn Fn(Ix)) {
    let (zero, one) = (Exp::<i64>::from(0).term(), Exp::<i64>::from(1).term());
    effects::sequential(zero..count.term(), one, &[], |number, _| {
        body(Exp::from_term(number));
        Vec::new()
    });
}
