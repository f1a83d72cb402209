//! Folding whatever comes, in any order: a consumer of any producer, for operators that commute.
//!
//! Each thread combines what it hears in registers; at the end a block's threads are combined as a tree, to one partial result
//! a block.

use super::Listener;
use super::replace::Operator;
use crate::item::{Dynamic, Ix, Scalars};
use crate::pull::choose;
use crate::{Block, Mutable, Pull, block_threads, replicate};
use std::cell::RefCell;
use std::rc::Rc;

/// Combines all elements that the threads of a block hear.
pub struct GatherFold {
    operator: Operator,
    neutral: Scalars,
    write: Rc<dyn Fn(Ix, Scalars)>,
    own: RefCell<Option<Mutable<Dynamic>>>,
}

impl GatherFold {
    /// A fold with an associative operator that commutes. `write` is given the number of a block and its partial result, by
    /// one thread.
    pub fn new(operator: Operator, neutral: Scalars, write: impl Fn(Ix, Scalars) + 'static) -> GatherFold {
        GatherFold { operator, neutral, write: Rc::new(write), own: RefCell::default() }
    }

    fn own(&self) -> Option<Mutable<Dynamic>> {
        self.own.borrow().clone()
    }
}

impl Listener for GatherFold {
    fn start(&self, _: Ix) {
        let own = Mutable::own(replicate(1usize, self.neutral.clone()));
        self.own.replace(Some(own));
    }

    fn element(&self, _: Ix, value: Scalars) {
        if let Some(own) = self.own() {
            own.write(0, (self.operator)(own.read(0), value));
        }
    }

    fn finish(&self, block: Ix) {
        let Some(own) = self.own() else { return };
        let mut threads = block_threads() as usize;
        let mut current = Pull::<Dynamic>::new(threads, move |_| own.read(0)).push::<Block>().force();
        while threads > 1 {
            let (half, all) = (threads.div_ceil(2), threads);
            let (before, operator) = (current.clone(), self.operator.clone());
            let paired = Pull::<Dynamic>::new(half, move |i| {
                let both = || operator(before.get(i), before.get(i + half as i64));
                // The last of an odd number has nobody to be combined with.
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
