//! Folding whatever comes, in any order: a consumer of any producer, for operators that commute.
//!
//! Each thread combines what it hears in registers; at the end a block's threads are combined as a tree, to one partial result
//! a block.

use super::Listener;
use super::block_sum::BlockSum;
use super::monoid::{Cells, Monoid};
use crate::item::{Dynamic, Ix, Scalars};
use crate::pull::choose;
use crate::{Block, Mutable, Pull, block_threads, replicate};
use pumice_program::WARP;
use pumice_scalar::Exp;
use std::cell::RefCell;
use std::rc::Rc;

/// Combines all elements that the threads of a block hear.
pub struct GatherFold {
    monoid: Monoid,
    shuffles: bool,
    write: Rc<dyn Fn(Ix, Scalars)>,
    own: RefCell<Option<Mutable<Dynamic>>>,
}

impl GatherFold {
    /// A fold with an operator that commutes; whether lanes shuffle without memory. `write` is given the number of a block and its
    /// partial result, by one thread.
    pub fn new(monoid: Monoid, shuffles: bool, write: impl Fn(Ix, Scalars) + 'static) -> GatherFold {
        GatherFold { monoid, shuffles, write: Rc::new(write), own: RefCell::default() }
    }

    fn own(&self) -> Option<Mutable<Dynamic>> {
        self.own.borrow().clone()
    }
}

impl Listener for GatherFold {
    fn start(&self, _: Ix) {
        let own = Mutable::own(replicate(1usize, self.monoid.neutral.clone()));
        self.own.replace(Some(own));
    }

    fn element(&self, _: Ix, value: Scalars) {
        if let Some(own) = self.own() {
            own.write(0, self.monoid.combine(&own.read(0), &value));
        }
    }

    fn finish(&self, block: Ix) {
        let Some(own) = self.own() else { return };
        let threads = block_threads();
        if self.shuffles && threads.is_multiple_of(WARP) {
            let sum = BlockSum { threads, team: threads, shuffles: true };
            let cells = Cells::shared(&self.monoid.types(), sum.cells());
            let write = |_, sum| (self.write)(block, sum);
            return sum.combine(&self.monoid, (&cells, Exp::from(0)), |_| own.read(0), write);
        }
        self.as_tree(threads as usize, own, block);
    }
}

impl GatherFold {
    /// Combines what the threads have in shared memory, halves of them at a time.
    fn as_tree(&self, mut threads: usize, own: Mutable<Dynamic>, block: Ix) {
        let mut current = Pull::<Dynamic>::new(threads, move |_| own.read(0)).push::<Block>().force();
        while threads > 1 {
            let (half, all) = (threads.div_ceil(2), threads);
            let (before, operator) = (current.clone(), self.monoid.operator.clone());
            let paired = Pull::<Dynamic>::new(half, move |i| {
                let both = || operator(before.get(i), before.get(i + half as i64));
                // The last of an odd number has no partner.
                choose::<Dynamic>((i + half as i64).lt(all as i64), both, || before.get(i))
            });
            current = paired.push::<Block>().force();
            threads = half;
        }
        let write = self.write.clone();
        Pull::<Dynamic>::new(1, move |_| current.get(0))
            .push::<Block>()
            .write(&|_, value| write(block, value));
    }
}
