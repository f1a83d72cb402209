//! An expansion whose elements are in order, because the sizes of its sources were added up: every block takes an equal share of
//! the elements, however large sources are, and finds out once which sources those are of.

use super::{GetElement, STRETCHES};
use crate::item::{Dynamic, Ix, Scalars};
use crate::level::{Block, Grid, Within};
use crate::skeletons::compact::number;
use crate::skeletons::ends::{Ends, numbers};
use crate::skeletons::monoid::{Cells, each_thread, now};
use crate::{Profile, Push, effects, named, quotient};
use pumice_program::WARP;
use pumice_scalar::{Exp, Op, ScalarType};
use std::rc::Rc;

/// Sources, where their elements end, and the elements.
#[derive(Clone)]
pub struct InOrder {
    /// The elements of each source.
    pub ends: Ends,
    /// A source.
    pub source: Rc<dyn Fn(Ix) -> Scalars>,
    /// An element of a source, by its number there.
    pub get: GetElement,
    /// The number of elements.
    pub total: Ix,
    /// The most sources that there can be, if they are few: then a search is so many halvings, without a branch.
    pub few: Option<i64>,
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

    /// The threads of a block. Each team of neighbouring threads has a stretch of the elements, of which a thread takes every so many, and
    /// goes on from the source that it has.
    fn by_block(&self, threads: u32, first: Ix, count: Ix, write: &dyn Fn(Ix, Scalars)) {
        // Teams are of one size.
        let of_team = if threads.is_multiple_of(WARP) { WARP } else { threads };
        let (teams, of_team) = (i64::from(threads / of_team), i64::from(of_team));
        let stretch = named(quotient(count + (teams - 1), Exp::from(teams)), "stretch");
        // Of many sources, the block searches for the first and the last one of each stretch.
        let limits = self.few.is_none().then(|| Cells::shared(&[ScalarType::I64], teams + 1));
        if let Some(limits) = &limits {
            each_thread(teams as u32 + 1, |limit| {
                let index = first + (limit * stretch).min(count - 1);
                let source = self.ends.search(index);
                limits.write(limit, &Scalars(vec![source.term()]));
            });
            effects::sync();
        }
        each_thread(threads, |thread| {
            let team = named(quotient(thread, Exp::from(of_team)), "team");
            let limit =
                |limit: Ix| limits.as_ref().map_or(Exp::from(0), |limits| number(&limits.read(limit)));
            let (low, last): (Ix, Ix) = (named(limit(team), "low"), named(limit(team + 1), "last"));
            let from = named(first + team * stretch, "from") + thread % of_team;
            let to = (first + (team + 1) * stretch).min(first + count);
            let (zero, step) = (Exp::<i64>::from(0).term(), Exp::<i64>::from(of_team).term());
            // A source, the index of its first element and the one behind its last; none that has any at first.
            let before = [low.term(), zero, zero];
            effects::sequential(from.term()..to.term(), step, &before, |index, held| {
                let index = Exp::<i64>::from_term(index);
                let [source, _, end] = numbers(held);
                let ahead = || {
                    let source = match self.few {
                        Some(most) => self.among_few(index, most),
                        None => self.ends.ahead(index, source, last),
                    };
                    vec![source.term(), self.ends.begin(source).term(), self.ends.end(source).term()]
                };
                let held = effects::choose(end.le(index).term(), ahead, |_| held.to_vec());
                let [source, begin, _] = numbers(&held);
                write(index, (self.get)(&now(&(self.source)(source)), named(index - begin, "element")));
                held
            });
        });
        effects::sync();
    }

    /// The source of an element, which is the first that ends behind it.
    fn among_few(&self, index: Ix, most: i64) -> Ix {
        let (mut source, mut half) = (Exp::<i64>::from(0), (most as u64).next_power_of_two() as i64 / 2);
        while half > 0 {
            let next = source + half;
            // One before the last is the most that is asked for.
            let is_before = next.le(most) & self.ends.end((next - 1).min(most - 1)).le(index);
            source = named(is_before.select(next, source), "source");
            half /= 2;
        }
        source
    }

    /// A worker, which goes from source to source.
    fn by_worker(&self, first: Ix, end: Ix, write: &dyn Fn(Ix, Scalars)) {
        each_thread(1, |_| {
            let source = self.ends.search(first);
            effects::repeat_while(
                &[source.term(), first.term()],
                |at| at[1].compare(Op::Lt, end.term()),
                |at| {
                    let (source, from) = (Exp::<i64>::from_term(at[0]), Exp::<i64>::from_term(at[1]));
                    let (begin, to) = (self.ends.begin(source), named(self.ends.end(source).min(end), "to"));
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
