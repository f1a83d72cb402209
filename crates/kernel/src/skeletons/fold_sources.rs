//! Folds of the elements of each source of an expansion: rows of different lengths, which nobody has in memory.
//!
//! Teams of lanes take a source each, then warps those that are larger, the block one that is large for a warp, and one that is large
//! for a block is queued, as expansions do it (`expand.rs`): all blocks of a second kernel fold its chunks, and a third one combines those. A CPU's worker
//! takes one source after the other. Operators need not commute: then every lane has neighbouring elements.

mod larger;

use super::block_sum::{BlockSum, combine_lanes};
use super::expand::{Expansion, Queue};
use super::monoid::{Cells, Monoid, choose, each_thread, only_if};
use crate::effects;
use crate::item::{Dynamic, Ix, Scalars};
use crate::level::{Block, Grid, Within};
use crate::warp::ballot;
use crate::{Profile, Push, named, parts_for, quotient, remainder};
use larger::Larger;
use pumice_program::WARP;
use pumice_scalar::{Exp, Term};

/// Sources whose elements are folded, and the operator.
#[derive(Clone)]
pub struct FoldSources {
    /// The sources and their elements.
    pub expansion: Expansion,
    /// The operator.
    pub monoid: Monoid,
    /// Whether it commutes.
    pub commutes: bool,
}

/// How folds of sources are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FoldSourcesPlan {
    /// Threads of a block.
    pub threads: u32,
    /// Lanes that take a source together: a power of two, at most a warp.
    pub team: u32,
    /// Blocks of the kernels that take what is queued.
    pub blocks: u32,
    /// Stretches of equal length that the sources are cut into, one per block, where a thread takes one source after the other;
    /// 1 elsewhere. Stretches are cut when the number of sources is known, which may be far below its bound.
    pub stretches: i64,
    /// Whether large sources are queued: not if none can be large.
    pub queues: bool,
    /// Whether lanes shuffle without memory.
    pub shuffles: bool,
    /// Elements that a thread takes at once, so that it waits for their loads together: one of a team, of a warp, and of a block.
    pub batches: [i64; 3],
}

/// Elements from which on a source is large.
const FOR_QUEUE: i64 = 1 << 13;
/// From how many elements on a source is too large for whom: for a lane of a team, for a team, and for a warp.
const LANE_LIMIT: i64 = 16;
const TEAM_LIMIT: i64 = 64;
const WARP_LIMIT: i64 = 1 << 10;
/// Elements that the sources of a block have together if they are too much for it, so that all of them are queued.
const MUCH: i64 = 1 << 14;

impl FoldSourcesPlan {
    /// Divides the work of so many sources, none of which has more elements than `most` if that is known. A thread of a GPU
    /// may take elements in batches.
    pub fn new(profile: &Profile, sources: i64, most: Option<i64>, in_batches: bool) -> FoldSourcesPlan {
        let busy = profile.busy_blocks.clamp(1, 1 << 20);
        let queues = most.is_none_or(|most| most >= FOR_QUEUE);
        if !profile.coalesces {
            let stretches = (sources.max(0) as u64).clamp(1, busy * 8) as i64;
            return FoldSourcesPlan {
                threads: 1,
                team: 1,
                blocks: busy as u32,
                stretches,
                queues,
                shuffles: false,
                batches: [1; 3],
            };
        }
        let team = match (profile.native_warps, most) {
            (false, _) => 1,
            (true, None) => 4,
            // Some elements per lane, if all sources together have so many: a lane has much to do before its first element.
            (true, Some(most)) => {
                let average = most.max(0) as u64 / sources.max(1) as u64;
                (average / 8).clamp(1, WARP.into()).next_power_of_two() as u32
            }
        };
        let shuffles = profile.native_warps;
        // What takes chunks has more in registers than most kernels, so that fewer of its blocks are at work at once.
        let blocks = (busy / 2).max(1) as u32;
        let (threads, batches) = match (in_batches, profile.native_warps) {
            (true, _) => (profile.threads, [4; 3]),
            (false, false) => (profile.threads, [1; 3]),
            // A block is done when the last of its warps is: fewer wait for one that has large sources.
            (false, true) => (profile.threads.min(4 * WARP), [8, 8, 1]),
        };
        FoldSourcesPlan { threads, team: team.min(WARP), blocks, stretches: 1, queues, shuffles, batches }
    }

    /// Describes who takes which source, and why, for people.
    pub fn why(&self) -> String {
        let queued = match self.queues {
            true => format!("all blocks those with {FOR_QUEUE} elements or more"),
            false => format!("none has {FOR_QUEUE} elements, so none is shared by blocks"),
        };
        match (self.threads, self.shuffles) {
            (1, _) => format!(
                "a worker goes through a stretch of sources, since it is quickest with neighbours; {queued}"
            ),
            (_, false) => format!("a thread takes a source, since the device has no warps; {queued}"),
            _ => {
                let (team, others, block) = (self.team, self.least_for_others(), self.least_for_block());
                let team = if team == 1 { "a thread takes".into() } else { format!("{team} threads take") };
                format!(
                    "{team} a source with fewer than {others} elements, a warp one with fewer than {block}, a block a larger one; {queued}"
                )
            }
        }
    }

    /// Elements from which on a source is queued.
    fn least_for_queue(&self) -> i64 {
        if self.queues { FOR_QUEUE } else { i64::MAX }
    }

    /// Elements from which on the block takes a source.
    fn least_for_block(&self) -> i64 {
        if self.shuffles { WARP_LIMIT } else { i64::MAX }
    }

    /// Elements from which on a warp or the block takes the source of a team.
    fn least_for_others(&self) -> i64 {
        match self.shuffles {
            true => (LANE_LIMIT * i64::from(self.team)).max(TEAM_LIMIT).min(self.least_for_queue()),
            false => self.least_for_queue(),
        }
    }

    /// How the threads of a block combine what each has of a source.
    fn in_block(&self) -> BlockSum {
        BlockSum { threads: self.threads, team: self.threads, shuffles: self.shuffles }
    }

    /// Results of chunks that there is room for. A source that would need more is folded by one block.
    pub const CHUNKS: i64 = 1 << 16;
}

type Write<'a> = &'a dyn Fn(Ix, Scalars);

impl FoldSources {
    /// Hands on the results of all sources that are not queued, each at the source's number.
    pub fn push(self, plan: FoldSourcesPlan, stretches: Ix, queue: Option<Queue>) -> Push<Grid, Dynamic, Ix> {
        let sources = self.expansion.sources;
        Push::trusted(sources, move |write| match plan.threads {
            1 => Block::parts(stretches, &|block| {
                let stretch = named(quotient(sources + (stretches - 1), stretches.max(1)), "stretch");
                let first = named(block * stretch, "first");
                let count = named((sources - first).min(stretch).max(0), "count");
                each_thread(1, |_| {
                    let (zero, one) = (Exp::<i64>::from(0).term(), Exp::<i64>::from(1).term());
                    effects::sequential(zero..count.term(), one, &[], |turn, _| {
                        self.by_team(plan, first + Exp::from_term(turn), Exp::from(0), (queue, None), write);
                        Vec::new()
                    });
                });
            }),
            _ => {
                let per_block = plan.threads / plan.team;
                Block::parts(parts_for(sources, per_block as usize), &|block| {
                    let first = named(block * i64::from(per_block), "first");
                    let larger =
                        (plan.least_for_block() < plan.least_for_queue()).then(|| Larger::new(per_block));
                    each_thread(plan.threads, |thread| {
                        self.by_team(plan, first, thread, (queue, larger.as_ref()), write);
                    });
                    let Some(larger) = &larger else { return };
                    effects::sync();
                    // Most blocks have none.
                    let count = larger.count();
                    only_if(count.gt(0), || self.take_larger(plan, (first, count), larger, queue, write));
                });
            }
        })
    }

    /// A thread of a team that takes a source. Those that are larger are taken by all lanes of the warp, one after the other; what is large for a
    /// warp is noted for the block.
    fn by_team(
        &self,
        plan: FoldSourcesPlan,
        first: Ix,
        thread: Ix,
        (queue, larger): (Option<Queue>, Option<&Larger>),
        write: Write<'_>,
    ) {
        let Expansion { sources, .. } = self.expansion;
        let team = i64::from(plan.team);
        let number_here = named(quotient(thread, Exp::from(team)), "team");
        let number = named(first + number_here, "source");
        let place = named(remainder(thread, Exp::from(team)), "place");
        let (for_others, for_block, for_queue) =
            (plan.least_for_others(), plan.least_for_block(), plan.least_for_queue());
        let zero = Exp::<i64>::from(0);
        // A shuffle is for all lanes, so what is beyond the last source has no elements.
        let found = effects::choose(
            number.lt(sources).term(),
            || {
                let (source, size) = self.expansion.source_at(number);
                if let Some(queue) = queue {
                    only_if(size.ge(for_queue) & place.eq(0), || queue.add(number, size));
                }
                if let Some(larger) = larger {
                    let is_larger = size.ge(for_block) & size.lt(for_queue) & place.eq(0);
                    only_if(is_larger, || larger.add(number_here, size));
                }
                let own = size.lt(for_others).select(size, zero);
                let sum = self.fold(plan.batches[0], &source, (zero, own), place, team);
                std::iter::once(size.term()).chain(sum.0).collect()
            },
            |_| std::iter::once(zero.term()).chain(self.monoid.neutral.0.iter().copied()).collect(),
        );
        let size = named(Exp::<i64>::from_term(found[0]), "size");
        let sum = combine_lanes(&self.monoid, Scalars(found[1..].to_vec()), place, team);
        let is_own = number.lt(sources) & size.lt(for_others) & place.eq(0);
        only_if(is_own, || write(number, sum));
        if for_others < for_block.min(for_queue) {
            let is_for_warp = size.ge(for_others) & size.lt(for_block) & size.lt(for_queue) & place.eq(0);
            self.by_warps(plan, first, thread, is_for_warp, write);
        }
    }

    /// The lanes of a warp vote on which of its sources they take together, and take those one after the other.
    fn by_warps(
        &self,
        plan: FoldSourcesPlan,
        first: Ix,
        thread: Ix,
        is_for_warp: Exp<bool>,
        write: Write<'_>,
    ) {
        let (lanes, team) = (i64::from(WARP), Exp::<i64>::from(i64::from(plan.team)));
        let lane = named(remainder(thread, Exp::from(lanes)), "lane");
        let first = named(first + quotient(thread - lane, team), "first");
        let is_left = |left: &[Term]| Exp::<u32>::from_term(left[0]).ne(0).term();
        effects::repeat_while(&[ballot(is_for_warp).term()], is_left, |left| {
            let left = Exp::<u32>::from_term(left[0]);
            let turn = left.trailing_zeros().cast::<i64>();
            let number = named(first + quotient(turn, team), "source");
            // Loaded once more: what the source's own lanes have of it would have to be exchanged value by value.
            let (source, size) = self.expansion.source_at(number);
            let zero = Exp::<i64>::from(0);
            let sum = self.fold(plan.batches[1], &source, (zero, size), lane, lanes);
            let sum = combine_lanes(&self.monoid, sum, lane, lanes);
            only_if(lane.eq(0), || write(number, sum));
            vec![(left & (left - 1)).term()]
        });
    }

    /// All threads of a block take its sources that are large for a warp. If they are much work together, they are queued instead: other
    /// blocks may have little to do.
    fn take_larger(
        &self,
        plan: FoldSourcesPlan,
        (first, count): (Ix, Ix),
        larger: &Larger,
        queue: Option<Queue>,
        write: Write<'_>,
    ) {
        let queued = match queue {
            Some(_) => larger.elements().gt(MUCH),
            None => Exp::from(false),
        };
        if let Some(queue) = queue {
            only_if(queued, || {
                each_thread(plan.threads, |thread| {
                    only_if(thread.lt(count), || {
                        let number = named(first + larger.source(thread), "source");
                        queue.add(number, self.expansion.source_at(number).1);
                    });
                });
            });
        }
        only_if(!queued, || {
            // One source's sums are read while those of the next are written.
            let side = plan.in_block().cells();
            let sums = Cells::shared(&self.monoid.types(), 2 * side);
            let (zero, one) = (Exp::<i64>::from(0).term(), Exp::<i64>::from(1).term());
            effects::sequential(zero..count.term(), one, &[], |turn, _| {
                let turn = Exp::<i64>::from_term(turn);
                let number = named(first + larger.source(turn), "source");
                let (source, size) = self.expansion.source_at(number);
                let range = (Exp::from(0), size);
                self.by_block(plan, (&sums, (turn & 1) * side), &source, range, |sum| write(number, sum));
                Vec::new()
            });
        });
    }

    /// Folds the share of some elements of a source that a thread takes, one of several at this place among them.
    fn fold(&self, batch: i64, source: &Scalars, (from, to): (Ix, Ix), place: Ix, threads: i64) -> Scalars {
        let (start, end, step) = match self.commutes || threads == 1 {
            true => (from + place, to, threads),
            false => {
                let each = named(quotient(to - from + (threads - 1), Exp::from(threads)), "each");
                let start = named((from + place * each).min(to), "start");
                (start, (start + each).min(to), 1)
            }
        };
        let end = named(end, "end");
        let whole = Exp::<i64>::from(step * batch).term();
        Scalars(effects::sequential(start.term()..end.term(), whole, &self.monoid.neutral.0, |at, sum| {
            let at = Exp::<i64>::from_term(at);
            let with = |sum: &Scalars, at: Ix| self.monoid.combine(sum, &(self.expansion.get)(source, at));
            let first = with(&Scalars(sum.to_vec()), at);
            // The last batch may have fewer.
            let others = (1..batch).map(|number| at + number * step);
            others.fold(first, |sum, at| choose(at.lt(end), || with(&sum, at), || sum.clone())).0
        }))
    }

    /// Folds chunks of the queued sources: `partial` takes the result of each, by its number, and `write` that of a source
    /// which is taken as a whole. There are no blocks if nothing is queued.
    pub fn push_chunks(
        self,
        plan: FoldSourcesPlan,
        blocks: Ix,
        all: Ix,
        queue: Queue,
        partial: impl Fn(Ix, Scalars) + 'static,
    ) -> Push<Grid, Dynamic, Ix> {
        Push::trusted(self.expansion.sources, move |write| {
            Block::parts(blocks, &|block| {
                let sums = Cells::shared(&self.monoid.types(), plan.in_block().cells());
                queue.each_chunk(&self.expansion, block, all, &|taken| {
                    let is_whole = (taken.first + taken.chunks).gt(FoldSourcesPlan::CHUNKS);
                    let is_first = taken.chunk.eq(taken.first);
                    let zero = Exp::<i64>::from(0);
                    let none = is_whole & !is_first;
                    let from = named(is_whole.select(zero, taken.from), "from");
                    let to = named(is_whole.select(taken.size, taken.to), "to");
                    let to = named(none.select(from, to), "end");
                    self.by_block(plan, (&sums, zero), &taken.source, (from, to), |sum| {
                        let by_itself = is_whole | taken.chunks.eq(1);
                        effects::either(
                            by_itself.term(),
                            || only_if(is_first, || write(taken.number, sum.clone())),
                            || partial(taken.chunk, sum.clone()),
                        );
                    });
                    effects::sync();
                });
            });
        })
    }

    /// Combines the results of chunks, one thread for each source.
    pub fn push_results(
        self,
        plan: FoldSourcesPlan,
        blocks: Ix,
        all: Ix,
        queue: Queue,
        partial: impl Fn(Ix) -> Scalars + 'static,
    ) -> Push<Grid, Dynamic, Ix> {
        Push::trusted(self.expansion.sources, move |write| {
            Block::parts(blocks, &|block| {
                each_thread(plan.threads, |thread| {
                    let threads = i64::from(plan.threads);
                    queue.each_source(&self.expansion, block * threads + thread, all * threads, &|taken| {
                        let is_spread =
                            taken.chunks.gt(1) & (taken.first + taken.chunks).le(FoldSourcesPlan::CHUNKS);
                        only_if(is_spread, || {
                            let one = Exp::<i64>::from(1).term();
                            let (start, end) = (taken.first, taken.first + taken.chunks);
                            let initial = self.monoid.neutral.0.clone();
                            let sum =
                                effects::sequential(start.term()..end.term(), one, &initial, |chunk, sum| {
                                    let chunk = partial(Exp::from_term(chunk));
                                    self.monoid.combine(&Scalars(sum.to_vec()), &chunk).0
                                });
                            write(taken.number, Scalars(sum));
                        });
                    });
                });
            });
        })
    }

    /// Folds some elements of a source with all threads of a block, through cells from one on. The result is for the first thread.
    fn by_block(
        &self,
        plan: FoldSourcesPlan,
        (sums, base): (&Cells, Ix),
        source: &Scalars,
        range: (Ix, Ix),
        result: impl Fn(Scalars),
    ) {
        let fold = |thread| self.fold(plan.batches[2], source, range, thread, plan.threads.into());
        plan.in_block().combine(&self.monoid, (sums, base), fold, |_, sum| result(sum));
    }
}
