//! An expansion whose elements are in order, because the sizes of its sources were added up: every block takes an equal share of
//! the elements, however large sources are, and finds out once which sources those are of.

use super::{GetElement, STRETCHES};
use crate::item::{Dynamic, Ix, Scalars};
use crate::level::{Block, Grid, Within};
use crate::skeletons::monoid::{Cells, each_thread, now};
use crate::{Profile, Push, effects, named, quotient};
use pumice_scalar::{Exp, Op, ScalarType};
use std::rc::Rc;

/// Sources, where their elements end, and the elements.
#[derive(Clone)]
pub struct InOrder {
    /// The number of sources.
    pub sources: Ix,
    /// A source.
    pub source: Rc<dyn Fn(Ix) -> Scalars>,
    /// The index behind a source's last element: how many elements there are up to there.
    pub end: Rc<dyn Fn(Ix) -> Ix>,
    /// An element of a source, by its number there.
    pub get: GetElement,
    /// The number of elements.
    pub total: Ix,
}

/// How the elements are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InOrderPlan {
    /// Threads of a block.
    pub threads: u32,
    /// Elements of a block.
    pub share: i64,
}

/// Elements of a thread: the more, the smaller is the part of a search that every thread does for itself.
const ITEMS: i64 = 8;
/// A CPU's worker takes no fewer.
const LEAST: i64 = 1 << 12;
/// Elements per thread that are worth a block: what listeners do before the first and after the last takes as long as some elements.
const WORTH: i64 = 4;

impl InOrderPlan {
    /// Divides so many elements.
    pub fn new(profile: &Profile, total: i64) -> InOrderPlan {
        if profile.coalesces {
            return InOrderPlan { threads: profile.threads, share: i64::from(profile.threads) * ITEMS };
        }
        let shares = profile.busy_blocks.clamp(1, 1 << 20) * STRETCHES;
        let share = (total.max(0) as u64).div_ceil(shares) as i64;
        InOrderPlan { threads: 1, share: share.max(LEAST) }
    }
}

impl InOrder {
    /// Hands on all elements.
    pub fn push(self, plan: InOrderPlan, share: Ix) -> Push<Grid, Dynamic, Ix> {
        Push::trusted(self.total, move |write| {
            Block::parts(quotient(self.total + (share - 1), share.max(1)), &|block| {
                let first = named(block * share, "first");
                let count = named((self.total - first).min(share).max(0), "count");
                self.by_threads(plan.threads, (first, count), write);
            });
        })
    }

    /// A block's share of all elements: the index of the first, and their number, of which later blocks may have none.
    pub(super) fn share(&self, (block, blocks): (Ix, Ix), threads: u32) -> (Ix, Ix) {
        let least = if threads == 1 { LEAST } else { i64::from(threads) * WORTH };
        let share = named(quotient(self.total + (blocks - 1), blocks).max(least), "share");
        let first = named((block * share).min(self.total), "first");
        (first, named((self.total - first).min(share), "count"))
    }

    /// Hands on some of the elements by the threads of a block.
    pub(super) fn by_threads(&self, threads: u32, (first, count): (Ix, Ix), write: &dyn Fn(Ix, Scalars)) {
        match threads {
            1 => self.by_worker(first, first + count, write),
            threads => self.by_block(threads, first, count, write),
        }
    }

    /// The source of an element that is at or behind the first of some sources, and at or before the last of others.
    fn search(&self, index: Ix, (low, high): (Ix, Ix)) -> Ix {
        let found = effects::repeat_while(
            &[low.term(), high.term()],
            |ends| ends[0].compare(Op::Lt, ends[1]),
            |ends| {
                let (low, high) = (Exp::<i64>::from_term(ends[0]), Exp::<i64>::from_term(ends[1]));
                let middle = named((low + high) >> 1, "middle");
                let is_before = (self.end)(middle).le(index);
                vec![is_before.select(middle + 1, low).term(), is_before.select(high, middle).term()]
            },
        );
        named(found.first().map_or(low, |found| Exp::from_term(*found)), "source")
    }

    /// The index of a source's first element.
    fn begin(&self, source: Ix) -> Ix {
        named(source.gt(0).select((self.end)((source - 1).max(0)), Exp::from(0)), "begin")
    }

    /// The threads of a block, which take neighbouring elements. Two of them search among all sources.
    fn by_block(&self, threads: u32, first: Ix, count: Ix, write: &dyn Fn(Ix, Scalars)) {
        let ends = Cells::shared(&[ScalarType::I64], 2);
        each_thread(2, |which| {
            let index = first + which * (count - 1);
            let source = self.search(index, (Exp::from(0), self.sources - 1));
            ends.write(which, &Scalars(vec![source.term()]));
        });
        effects::sync();
        let source = |which: i64| Exp::<i64>::from_term(ends.read(which).0[0]);
        let range = (named(source(0), "low"), named(source(1), "high"));
        each_thread(threads, |thread| {
            let step = Exp::<i64>::from(i64::from(threads)).term();
            effects::sequential(thread.term()..count.term(), step, &[], |at, _| {
                let index = named(first + Exp::from_term(at), "index");
                let source = self.search(index, range);
                let element = named(index - self.begin(source), "element");
                write(index, (self.get)(&now(&(self.source)(source)), element));
                Vec::new()
            });
        });
        effects::sync();
    }

    /// A worker, which goes from source to source.
    fn by_worker(&self, first: Ix, end: Ix, write: &dyn Fn(Ix, Scalars)) {
        each_thread(1, |_| {
            let source = self.search(first, (Exp::from(0), self.sources - 1));
            effects::repeat_while(
                &[source.term(), first.term()],
                |at| at[1].compare(Op::Lt, end.term()),
                |at| {
                    let (source, from) = (Exp::<i64>::from_term(at[0]), Exp::<i64>::from_term(at[1]));
                    let (begin, to) = (self.begin(source), named((self.end)(source).min(end), "to"));
                    let scalars = now(&(self.source)(source));
                    let one = Exp::<i64>::from(1).term();
                    effects::sequential(from.term()..to.term(), one, &[], |index, _| {
                        let index = Exp::<i64>::from_term(index);
                        write(index, (self.get)(&scalars, index - begin));
                        Vec::new()
                    });
                    vec![(source + 1).term(), to.term()]
                },
            );
        });
    }
}
