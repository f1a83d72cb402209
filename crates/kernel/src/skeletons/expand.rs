//! Expansion: the elements of sources that have different numbers of them, handed on loose, by any division of the work.
//!
//! Blocks are as many as keep the device busy, whatever the number of sources, and go round: those who listen may keep
//! something per block. What differs is who takes the elements of a source ([`Division`]). One source is spread over several blocks
//! in two ways: sources that are large for one warp or worker are written to a queue, and a second kernel takes them in chunks
//! of equal size; or the sizes have been added up, and every block takes an equal share of all elements.

mod in_order;
mod queue;
mod several;

use super::ends::Ends;
use super::monoid::{Cells, each_thread, now, only_if};
use crate::effects;
use crate::item::{Dynamic, Ix, Scalars};
use crate::level::{Block, Grid, Within};
use crate::{Profile, Push, named, parts_for, quotient, warp};
pub use in_order::{InOrder, InOrderPlan};
use pumice_program::WARP;
use pumice_scalar::{Exp, ScalarType};
pub use queue::{Queue, QueueLayout};
use std::fmt;
use std::rc::Rc;

/// An element of a source, from the source and a number below its size.
pub type GetElement = Rc<dyn Fn(&Scalars, Ix) -> Scalars>;

/// Sources and their elements.
#[derive(Clone)]
pub struct Expansion {
    /// The number of sources.
    pub sources: Ix,
    /// A source.
    pub source: Rc<dyn Fn(Ix) -> Scalars>,
    /// How many elements a source has, from 0 on.
    pub size: Rc<dyn Fn(&Scalars) -> Ix>,
    /// An element of a source, by its number there.
    pub get: GetElement,
    /// How many elements there are up to the end of a source, if that is in memory: [`Division::Balanced`] needs it.
    pub ends: Option<Rc<dyn Fn(Ix) -> Ix>>,
}

/// Who takes the elements of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Division {
    /// One thread.
    Thread,
    /// The lanes of a warp, which votes on which of its 32 sources have elements and takes those one after the other.
    Warp,
    /// The threads of a block.
    Block,
    /// The threads of a block, which takes a source per thread at a time: sizes are added up in shared memory, and every
    /// thread looks its elements' sources up.
    Several,
    /// All blocks, in equal shares of all elements: each adds up the sizes of all sources, which are no more than its threads.
    Shares,
    /// All blocks, in equal shares of all elements, however many sources there are: kernels before add up the sizes, and every block
    /// searches the sums for the sources of its share.
    Balanced,
    /// A thread those of a small source, a warp those of a larger one, all blocks those of a large one.
    Mixed,
    /// A worker those of a stretch of sources, and all workers those of a large one: for a CPU.
    Stretch,
}

impl fmt::Display for Division {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Division::Thread => "a source per thread",
            Division::Warp => "a source per warp",
            Division::Block => "a source per block",
            Division::Several => "sources of a block by prefix sums",
            Division::Shares => "equal shares of all elements, by prefix sums in every block",
            Division::Balanced => "equal shares of all elements, whose sources are found by search",
            Division::Mixed => "small sources by threads, larger ones by warps, large ones by all blocks",
            Division::Stretch => "a stretch of sources per worker, large ones by all",
        })
    }
}

/// How the work of an expansion is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExpandPlan {
    /// Who takes the elements of a source.
    pub division: Division,
    /// Why, for people.
    pub why: &'static str,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of each kernel.
    pub blocks: u32,
    /// Blocks of the second kernel, which takes what is queued.
    pub queue_blocks: u32,
    /// Elements from which on a source is queued.
    pub for_queue: i64,
}

/// Stretches of sources that a CPU's worker takes, so that one that comes late has little left to do.
const STRETCHES: u64 = 8;

impl ExpandPlan {
    /// Divides the work of so many sources, of whose elements each may be a loop by itself. A consumer may ask for so many threads of
    /// a block, and for at most so many blocks.
    pub fn new(
        profile: &Profile,
        sources: i64,
        loops: bool,
        wanted: Option<Division>,
        asked: Option<(u32, u32)>,
    ) -> ExpandPlan {
        let busy = profile.busy_blocks.min(i64::MAX as u64) as i64;
        let threads = asked.map_or(profile.threads, |(threads, _)| threads);
        let are_few = profile.native_warps && sources <= i64::from(threads);
        let (division, why) = match wanted {
            // Where warps are imitated, a vote costs more than an element.
            Some(Division::Warp | Division::Mixed) | None if !profile.native_warps => match profile.coalesces
            {
                true => (Division::Several, "since the device has no warps"),
                false => (Division::Stretch, "since a worker is quickest with neighbours"),
            },
            Some(Division::Shares) if !are_few => {
                (Division::Several, "since a block cannot add up the sizes of all sources")
            }
            Some(division) => (division, "as asked for"),
            None if loops && (busy / 4..=2 * busy).contains(&sources) => (
                Division::Block,
                "since each element is a loop, and there are about as many sources as blocks",
            ),
            None if are_few => (Division::Shares, "since every block can add up the sizes of all sources"),
            None => (Division::Mixed, "since the device has warps; each size is met when its source is"),
        };
        let threads = match division {
            Division::Warp | Division::Mixed | Division::Shares => threads.next_multiple_of(WARP),
            // A thread alone goes from source to source, and searches once.
            Division::Balanced if asked.is_none() && !profile.coalesces => 1,
            _ => threads,
        };
        let most = match (asked, profile.coalesces) {
            (Some((_, blocks)), _) => blocks.into(),
            (None, true) => profile.busy_blocks,
            (None, false) => profile.busy_blocks.saturating_mul(STRETCHES),
        };
        let sources = sources.max(0) as u64;
        let warps = u64::from(threads / WARP);
        let wanted_blocks = match division {
            Division::Block => sources,
            Division::Stretch => sources.div_ceil(16),
            // How many elements there are is not known yet.
            Division::Shares | Division::Balanced => most,
            Division::Warp | Division::Mixed => match sources.div_ceil(most * warps) > FEW_OF_WARP as u64 {
                true => sources.div_ceil(threads.into()),
                false => sources.div_ceil(warps),
            },
            Division::Thread | Division::Several => sources.div_ceil(threads.into()),
        };
        let blocks = wanted_blocks.clamp(1, most.clamp(1, 1 << 20));
        // Few blocks leave most of the device idle until others can take part.
        let leaves_idle = profile.coalesces && blocks < profile.busy_blocks / 4;
        // Of many sources, few are so large that a worker keeps others waiting, and theirs would come later than their neighbours'.
        let has_tables = profile.coalesces && asked.is_some();
        let for_queue = match division {
            Division::Stretch if sources >= 16 * profile.busy_blocks => FOR_QUEUE_OF_MANY,
            _ if leaves_idle && loops => 1,
            _ if leaves_idle => FOR_QUEUE_OF_FEW,
            Division::Mixed if has_tables => FOR_QUEUE_WITH_TABLES,
            Division::Mixed => FOR_QUEUE,
            _ => FOR_QUEUE_OF_WORKERS,
        };
        ExpandPlan {
            division,
            why,
            threads,
            blocks: blocks as u32,
            queue_blocks: most.clamp(1, 1 << 20) as u32,
            for_queue,
        }
    }

    /// Whether large sources are queued.
    pub fn queues(&self) -> bool {
        matches!(self.division, Division::Mixed | Division::Stretch)
    }
}

/// Lanes of a warp.
const LANES: i64 = WARP as i64;
/// Sources up to which a warp takes its share of them; if it has more, all its lanes are to be at work.
const FEW_OF_WARP: i64 = LANES / 2;
/// Elements from which on a source is taken by a warp: a thread alone would keep its neighbours waiting.
const FOR_WARP: i64 = 24;
/// Elements up to which it is not, if a warp has so many sources from there on.
const ALIKE: i64 = 128;
const MANY: u32 = 12;
/// Elements from which on a source is queued. A warp may have 32 sources that are nearly as large, one after the other, and large ones often
/// are neighbours: the vertices of a graph with most edges are. Blocks that have tables pay for one more.
const FOR_QUEUE: i64 = 1 << 11;
const FOR_QUEUE_WITH_TABLES: i64 = 1 << 12;
/// The same for a CPU's workers: some chunks.
const FOR_QUEUE_OF_WORKERS: i64 = 2 * queue::CHUNK;
const FOR_QUEUE_OF_FEW: i64 = 1 << 9;
const FOR_QUEUE_OF_MANY: i64 = 1 << 18;
/// Elements that no device lives to see; below, no index of a block's share overflows.
const MOST: i64 = i64::MAX >> 4;

/// Takes an element, with a number that neighbouring threads have neighbouring ones of.
type Write<'a> = &'a dyn Fn(Ix, Scalars);

impl Expansion {
    /// Hands on all elements that are not queued, with so many blocks.
    pub fn push(self, plan: ExpandPlan, blocks: Ix, queue: Option<Queue>) -> Push<Grid, Dynamic, Ix> {
        let threads = i64::from(plan.threads);
        Push::trusted(self.sources, move |write| {
            let blocks = named(blocks.max(1), "blocks");
            if plan.division == Division::Shares {
                return effects::distribute_before_hooks(blocks.term(), |block| {
                    several::by_shares(&self, (Exp::from_term(block), blocks), plan.threads, write);
                });
            }
            Block::parts(blocks, &|block| match (plan.division, &self.ends) {
                // A block without elements passes the hooks as others do: barriers under a condition that memory decides are more than
                // some OpenCL compilers get right.
                (Division::Balanced, Some(ends)) => {
                    let in_order = self.in_order(ends.clone());
                    let share = in_order.share((block, blocks), plan.threads);
                    in_order.by_threads(plan.threads, share, write);
                }
                (Division::Stretch, _) => {
                    // There may be far fewer sources than the bound that the blocks are for: all have equal shares of them.
                    let stretch = named(quotient(self.sources + (blocks - 1), blocks), "stretch");
                    self.by_stretch(plan, block, stretch, queue, write);
                }
                (Division::Block, _) => {
                    let rounds =
                        named(quotient(self.sources - block + (blocks - 1), blocks).max(0), "rounds");
                    in_sequence(rounds, |round| {
                        // The minimum changes nothing, and lets intervals see what users' arithmetic on the source stays below.
                        let number = named((block + round * blocks).min(self.sources - 1), "source");
                        self.by_block(number, self.source_at(number), None, threads, write);
                    });
                }
                (Division::Warp | Division::Mixed, _) => self.by_votes(plan, (block, blocks), queue, write),
                _ => {
                    let tiles = parts_for(self.sources, plan.threads as usize);
                    in_rounds(tiles, (block, blocks), |tile| {
                        let first = named((tile * threads).min(self.sources), "first");
                        match plan.division {
                            Division::Several => several::by_prefix_sums(&self, first, plan.threads, write),
                            _ => each_thread(plan.threads, |thread| {
                                let number = named(first + thread, "source");
                                only_if(number.lt(self.sources), || {
                                    let (source, size) = self.source_at(number);
                                    self.by_thread(number, &source, size, write);
                                });
                            }),
                        }
                    });
                }
            });
        })
    }

    /// Hands on the elements of the sources that are queued. There are no blocks if none is.
    pub fn push_queued(self, plan: ExpandPlan, blocks: Ix, all: Ix, queue: Queue) -> Push<Grid, Dynamic, Ix> {
        Push::trusted(self.sources, move |write| {
            Block::parts(blocks, &|block| {
                queue.each_chunk(&self, block, all, &|chunk| {
                    let source = (chunk.source.clone(), chunk.size);
                    self.by_block(
                        chunk.number,
                        source,
                        Some((chunk.from, chunk.to)),
                        plan.threads.into(),
                        write,
                    );
                });
            });
        })
    }

    /// These sources, given where the elements of each end.
    fn in_order(&self, end: Rc<dyn Fn(Ix) -> Ix>) -> InOrder {
        let total = effects::choose(
            self.sources.gt(0).term(),
            || vec![end(self.sources - 1).term()],
            |_| vec![Exp::<i64>::from(0).term()],
        );
        let total = total.first().map_or(Exp::from(0), |total| Exp::from_term(*total));
        let (source, get) = (self.source.clone(), self.get.clone());
        let ends = Ends { count: self.sources, end };
        InOrder { ends, source, get, total: named(total.min(MOST), "total"), few: None }
    }

    pub(super) fn source_at(&self, number: Ix) -> (Scalars, Ix) {
        let source = now(&(self.source)(number));
        let size = named((self.size)(&source), "size");
        (source, size)
    }

    /// A thread with a source.
    fn by_thread(&self, number: Ix, source: &Scalars, size: Ix, write: Write<'_>) {
        in_sequence(size, |element| write(number + element, (self.get)(source, element)));
    }

    /// A block's warps: each lane has a source of its own, and votes on whether the warp takes it.
    fn by_votes(&self, plan: ExpandPlan, (block, blocks): (Ix, Ix), queue: Option<Queue>, write: Write<'_>) {
        let warps = i64::from(plan.threads / WARP);
        // A lane has a source in each round; but few sources are shared out evenly among blocks, and those of a block among its warps.
        // These are the sources that there are: of a bound there may be few.
        let share = quotient(self.sources + (blocks * warps - 1), blocks * warps);
        let of_block = quotient(self.sources + (blocks - 1), blocks).max(1);
        let tile = named(share.gt(FEW_OF_WARP).select(Exp::from(LANES * warps), of_block), "tile");
        let tiles = quotient(self.sources + (tile - 1), tile);
        let votes = Votes::new(plan.threads);
        in_rounds(tiles, (block, blocks), |number| {
            // The smaller one is what it is anyway; but so its bounds are seen, and 32 bits suffice.
            let first = named((number * tile).min(self.sources), "first");
            // A warp waits for its own lanes only: others are with other sources meanwhile.
            each_warp(plan.threads, |warp| {
                let from = |warp: Ix| first + quotient(warp * tile, Exp::from(warps));
                let end = named(from(warp + 1).min(self.sources), "end");
                let turns = Turns { first: named(from(warp), "first"), cells: warp * LANES };
                each_lane(|lane| self.by_lanes(plan, turns, (lane, end), (queue, &votes), write));
                effects::sync_warp();
                each_lane(|lane| self.by_warps(plan, turns, lane, &votes, write));
                effects::sync_warp();
            });
        });
    }

    /// A warp's lanes, each with a source of its own if that is small.
    fn by_lanes(
        &self,
        plan: ExpandPlan,
        Turns { first, cells }: Turns,
        (lane, end): (Ix, Ix),
        (queue, Votes { sizes, voted }): (Option<Queue>, &Votes),
        write: Write<'_>,
    ) {
        let number = named(first + lane, "source");
        let zero = Exp::<i64>::from(0);
        // A vote is for all lanes, so those without a source have one without elements.
        let size = effects::choose(
            number.lt(end).term(),
            || vec![self.source_at(number).1.term()],
            |_| vec![zero.term()],
        );
        let size = named(size.first().map_or(zero, |size| Exp::from_term(*size)), "size");
        let (for_warp, for_queue) = match plan.division {
            Division::Mixed => {
                // Where many lanes have larger ones, each takes its own up to a limit: nobody waits for long.
                let many = warp::ballot(size.ge(FOR_WARP)).count_ones().ge(MANY);
                (named(many.select(Exp::from(ALIKE), Exp::from(FOR_WARP)), "for_warp"), plan.for_queue)
            }
            _ => (Exp::from(1), i64::MAX),
        };
        let vote = warp::ballot(size.ge(for_warp) & size.lt(for_queue));
        voted.write(0, &Scalars(vec![vote.term()]));
        only_if(size.ge(for_warp), || {
            sizes.write(cells + lane, &Scalars(vec![size.term()]));
            if let Some(queue) = queue {
                only_if(size.ge(for_queue), || queue.add(number, size));
            }
        });
        if plan.division == Division::Mixed {
            let own = named(size.lt(for_warp).select(size, zero).min(ALIKE), "own");
            only_if(own.gt(0), || self.by_thread(number, &now(&(self.source)(number)), own, write));
        }
    }

    /// The lanes of a warp, all with those of its sources that are larger, one after the other.
    fn by_warps(
        &self,
        plan: ExpandPlan,
        Turns { first, cells }: Turns,
        lane: Ix,
        Votes { sizes, voted }: &Votes,
        write: Write<'_>,
    ) {
        let most = if plan.division == Division::Mixed { plan.for_queue } else { i64::MAX };
        effects::repeat_while(
            &voted.read(0).0,
            |left| Exp::<u32>::from_term(left[0]).ne(0).term(),
            |left| {
                let left = Exp::<u32>::from_term(left[0]);
                let turn = named(left.trailing_zeros().cast::<i64>(), "turn");
                let number = named(first + turn, "source");
                let source = now(&(self.source)(number));
                // What memory holds is within these bounds; so they are seen, and counting takes 32 bits.
                let size = Exp::<i64>::from_term(sizes.read(cells + turn).0[0]).clamp(0, most).term();
                let step = Exp::<i64>::from(LANES).term();
                effects::sequential(lane.term()..size, step, &[], |element, _| {
                    let element = Exp::from_term(element);
                    write(number + element, (self.get)(&source, element));
                    Vec::new()
                });
                vec![(left & (left - 1)).term()]
            },
        );
    }

    /// The threads of a block, all with one source: its elements, or some of them.
    fn by_block(
        &self,
        number: Ix,
        (source, size): (Scalars, Ix),
        range: Option<(Ix, Ix)>,
        threads: i64,
        write: Write<'_>,
    ) {
        let (from, to) = range.unwrap_or((Exp::from(0), size));
        each_thread(threads as u32, |thread| {
            let (start, step) = ((from + thread).term(), Exp::<i64>::from(threads).term());
            effects::sequential(start..to.term(), step, &[], |element, _| {
                let element = Exp::from_term(element);
                write(number + element, (self.get)(&source, element));
                Vec::new()
            });
        });
    }

    /// A worker with its stretch of sources.
    fn by_stretch(&self, plan: ExpandPlan, block: Ix, stretch: Ix, queue: Option<Queue>, write: Write<'_>) {
        let first = named(block * stretch, "first");
        let count = named((self.sources - first).min(stretch).max(0), "count");
        in_sequence(count, |turn| {
            let number = named(first + turn, "source");
            let (source, size) = self.source_at(number);
            let is_queued = queue.map_or(Exp::from(false), |_| size.ge(plan.for_queue));
            if let Some(queue) = queue {
                only_if(is_queued, || each_thread(1, |_| queue.add(number, size)));
            }
            let size = named(is_queued.select(Exp::from(0), size), "own");
            self.by_block(number, (source, size), None, plan.threads.into(), write);
        });
    }
}

/// The sources of a warp: the number of the first one, and that of the first lane's cell in the memory of the block.
#[derive(Clone, Copy)]
struct Turns {
    first: Ix,
    cells: Ix,
}

/// Which sources the warps of a block take. Sizes go through memory: a warp has as many turns as it needs, and shuffles are for all
/// warps alike.
struct Votes {
    /// The size of each lane's source, if it is larger.
    sizes: Cells,
    /// Vote of each thread's warp: a bit per source.
    voted: Cells,
}

impl Votes {
    fn new(threads: u32) -> Votes {
        Votes {
            sizes: Cells::shared(&[ScalarType::I64], threads.into()),
            voted: Cells::private(&[ScalarType::U32], 1),
        }
    }
}

/// Does something with each of a block's warps as a whole.
pub(super) fn each_warp(threads: u32, body: impl FnOnce(Ix)) {
    let warps = Exp::<i64>::from(i64::from(threads / WARP));
    effects::warps(warps.term(), |warp| body(Exp::from_term(warp)));
}

/// Does something with each lane of a warp.
pub(super) fn each_lane(body: impl FnOnce(Ix)) {
    effects::lanes(Exp::<i64>::from(LANES).term(), |lane| body(Exp::from_term(lane)));
}

/// Does something for every so many of all numbers below a count, from that of a block on.
fn in_rounds(count: Ix, (block, blocks): (Ix, Ix), body: impl FnOnce(Ix)) {
    let rounds = named(quotient(named(count, "tiles") - block + (blocks - 1), blocks).max(0), "rounds");
    in_sequence(rounds, |round| body(block + round * blocks));
}

/// Does something for every number below a count, one after the other.
fn in_sequence(count: Ix, body: impl FnOnce(Ix)) {
    let (zero, one) = (Exp::<i64>::from(0).term(), Exp::<i64>::from(1).term());
    effects::sequential(zero..count.term(), one, &[], |number, _| {
        body(Exp::from_term(number));
        Vec::new()
    });
}
