//! Finds data races: records which threads accessed a cell of memory and when, and whether anything orders the accesses.
//!
//! Two threads that touch one cell race if one of them writes, not both do it atomically, and nothing orders them. Within
//! a block, its barriers do, and among the lanes of a warp the warp's. Between blocks, what comes before a release of a
//! thread comes before what another block does after it has acquired what the first one released, and so on from block
//! to block. A thread that acquires what its own block released comes after that too, for example one that waits for a lock.
//! Only atomics on global memory release and acquire:
//!
//! - An ordered store releases what its thread did before, and what barriers put before that. An ordered load acquires
//!   what was released by the store that it reads, and by the read-modify-writes between the two.
//! - Other loads and stores are relaxed, and so is every read-modify-write. A relaxed write releases what comes before a
//!   fence of the grid that comes before it: of its own thread, or of another one with a barrier between. A relaxed read
//!   acquires once such a fence comes after it, likewise. Between its fences nothing is known: what the thread did after
//!   the last one is not released, what it does before the next one may be too early.
//!
//! This may miss a race, and never reports one that is none: which of a block's releases was acquired, and by which
//! thread, is not told apart; a cell that was itself used to release counts as released with the rest; a comparison that
//! fails counts as a write; and of the blocks that only read a cell, the last two are remembered. Blocks run in order.
//! The contents of memory play no part here.

use std::collections::BTreeMap;

use super::order::{Blocks, Deeds, Join, Moment, Spread};
use crate::ir::{AtomicOp, Order, WARP};

/// Every thread of the block at once, or several of different warps.
pub(super) const EVERY: u32 = u32::MAX;
/// Set in a [`Who`] that is all lanes of a warp, or several.
const WHOLE: u32 = 1 << 31;
/// Set in the site of an access that is atomic.
const ATOMIC: u32 = 1 << 31;

/// Execution scope of an access within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who(u32);

impl Who {
    /// The block as a whole.
    pub fn block(threads: u32) -> Who {
        if threads == 1 { Who(0) } else { Who(EVERY) }
    }

    /// A warp as a whole.
    pub fn warp(warp: u32) -> Who {
        Who(WHOLE | warp)
    }

    /// One thread.
    pub fn thread(thread: u32) -> Who {
        Who(thread & !WHOLE)
    }

    fn is_thread(self) -> bool {
        self.0 & WHOLE == 0
    }

    /// Returns the warp that it is in.
    fn home(self) -> Option<u32> {
        match self.0 {
            EVERY => None,
            whole if whole & WHOLE != 0 => Some(whole & !WHOLE),
            thread => Some(thread / WARP),
        }
    }

    /// Returns a scope that includes both.
    fn with(self, other: Who) -> Who {
        match (self.home(), other.home()) {
            _ if self == other => self,
            (Some(one), Some(other)) if one == other => Who::warp(one),
            _ => Who(EVERY),
        }
    }
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            EVERY => f.write_str("several threads"),
            whole if whole & WHOLE != 0 => write!(f, "warp {}", whole & !WHOLE),
            thread => write!(f, "thread {thread}"),
        }
    }
}

/// An access that is about to happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub who: Who,
    /// The number of the statement.
    pub site: u32,
    pub atomic: bool,
}

/// The other one of two accesses that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Race {
    /// Its block, if that is another one.
    pub block: Option<u32>,
    /// Its execution scope, if it is in the same block.
    pub who: Who,
    /// The number of the statement.
    pub site: u32,
    /// Whether it writes.
    pub writes: bool,
}

/// Logical clock of a launch. It advances with every block, barrier, release and fence, so that a time tells what came
/// between.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    now: u32,
    block: u32,
    /// Start of each block.
    starts: Vec<u32>,
    /// Start of the current block.
    start: u32,
    /// Start of its current phase.
    phase: u32,
    /// By warp: time of its last barrier.
    warps: Vec<u32>,
    /// By block: the accesses that it released.
    releases: Vec<Deeds>,
    /// The blocks that come before the current one.
    before: Blocks,
    /// Accesses before fences of its threads.
    fenced: Spread<Fenced>,
    /// The blocks that come before its threads' next fences.
    pending: Spread<Blocks>,
    /// Whether threads have acquired what the current block released.
    within: Spread<bool>,
}

/// Accesses before fences that have not been released yet.
#[derive(Clone, Debug, Default)]
struct Fenced {
    /// Whether there is a fence at all.
    any: bool,
    deeds: Deeds,
}

impl Join for Fenced {
    fn join(&mut self, other: Fenced) {
        self.any |= other.any;
        self.deeds.join(other.deeds);
    }
}

impl Clock {
    /// Creates a clock at the time before the first block.
    pub fn new() -> Clock {
        Clock {
            now: 0,
            block: 0,
            starts: Vec::new(),
            start: 0,
            phase: 0,
            warps: Vec::new(),
            releases: Vec::new(),
            before: Blocks::default(),
            fenced: Spread::default(),
            pending: Spread::default(),
            within: Spread::default(),
        }
    }

    fn tick(&mut self) -> u32 {
        // Past the largest time, races are missed.
        self.now = self.now.saturating_add(1);
        self.now
    }

    /// Starts the next block.
    pub fn start_block(&mut self) {
        self.block = self.starts.len() as u32;
        self.start = self.tick();
        self.phase = self.start;
        self.starts.push(self.start);
        self.releases.push(Deeds::default());
        self.before = Blocks::default();
        self.fenced = Spread::default();
        self.pending = Spread::default();
        self.within = Spread::default();
    }

    /// Records a barrier of the block.
    pub fn sync_block(&mut self) {
        self.phase = self.tick();
        self.fenced.sync_block();
        self.pending.sync_block();
        self.within.sync_block();
    }

    /// Records a barrier of a warp.
    pub fn sync_warp(&mut self, warp: u32) {
        let now = self.tick();
        self.fenced.sync_warp(warp);
        self.pending.sync_warp(warp);
        self.within.sync_warp(warp);
        let warp = warp as usize;
        if self.warps.len() <= warp {
            self.warps.resize(warp + 1, 0);
        }
        self.warps[warp] = now;
    }

    /// Returns the current time of a thread, with its last barriers.
    fn moment(&self, thread: u32) -> Moment {
        let barrier = self.warps.get((thread / WARP) as usize).copied().unwrap_or(0);
        Moment { thread, now: self.now, barrier, phase: self.phase }
    }

    /// Records a fence of the grid: the thread's next read-modify-writes release what it did before, and what its last ones read is
    /// acquired.
    pub fn fence(&mut self, thread: u32) {
        let moment = self.moment(thread);
        let fenced = self.fenced.own(thread);
        fenced.any = true;
        fenced.deeds.add(moment);
        let mut acquired = Blocks::default();
        self.pending.of(thread).for_each(|blocks| acquired.join(std::mem::take(blocks)));
        self.come_after(thread, &acquired);
    }

    /// Orders what a thread does from now on after what these blocks released. The same holds for all that its block does, but for what
    /// the block released itself.
    fn come_after(&mut self, thread: u32, blocks: &Blocks) {
        if blocks.contains(self.block) {
            *self.within.own(thread) = true;
        }
        self.before.extend(blocks);
    }

    /// Advances the clock: what comes now comes after the releases and fences until now.
    pub fn pass(&mut self) {
        self.tick();
    }

    /// Records an atomic write of a thread to global memory. Returns whether it releases anything.
    fn release(&mut self, thread: u32, order: Order) -> bool {
        let moment = self.moment(thread);
        let Some(releases) = self.releases.last_mut() else {
            return false;
        };
        match order {
            Order::Ordered => {
                releases.add(moment);
                true
            }
            Order::Relaxed => {
                let mut any = false;
                for fenced in self.fenced.of(thread) {
                    any |= fenced.any;
                    releases.join(std::mem::take(&mut fenced.deeds));
                }
                any
            }
        }
    }

    /// Records an atomic read of a thread from global memory, which found what these blocks released.
    fn acquire(&mut self, thread: u32, order: Order, blocks: &Blocks) {
        match order {
            Order::Ordered => self.come_after(thread, blocks),
            Order::Relaxed => self.pending.own(thread).extend(blocks),
        }
    }

    /// Returns the block that was running at a time.
    fn block_at(&self, time: u32) -> u32 {
        self.starts.partition_point(|&start| start <= time).saturating_sub(1) as u32
    }

    /// Whether the time is in the current block.
    fn in_block(&self, time: u32) -> bool {
        time >= self.start
    }

    /// Whether what an earlier block did comes before what this one does now.
    fn across(&self, touch: Touch) -> bool {
        let block = self.block_at(touch.time);
        self.before.contains(block) && self.is_released(touch, block)
    }

    /// Whether what this block did was released and comes before what one of its threads does now.
    fn acquired_within(&self, touch: Touch, who: Who) -> bool {
        who.is_thread() && self.within.any(who.0, |acquired| *acquired) && self.is_released(touch, self.block)
    }

    fn is_released(&self, touch: Touch, block: u32) -> bool {
        let thread = touch.who.is_thread().then_some(touch.who.0);
        self.releases
            .get(block as usize)
            .is_some_and(|releases| releases.contains(touch.time, touch.who.home(), thread))
    }

    /// Whether an earlier block wrote a cell atomically to release something that this one has acquired, if these blocks
    /// did that in the cell.
    fn observed(&self, touch: Touch, released: Option<&Blocks>) -> bool {
        let block = self.block_at(touch.time);
        touch.is_atomic()
            && !self.in_block(touch.time)
            && self.before.contains(block)
            && released.is_some_and(|blocks| blocks.contains(block))
    }
}

/// Past access of a cell.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// Time of the access; 0 if there was none.
    time: u32,
    who: Who,
    site: u32,
}

impl Touch {
    const NONE: Touch = Touch { time: 0, who: Who(0), site: 0 };

    fn new(access: Access, clock: &Clock) -> Touch {
        Touch { time: clock.now, who: access.who, site: access.site | if access.atomic { ATOMIC } else { 0 } }
    }

    fn is_atomic(self) -> bool {
        self.site & ATOMIC != 0
    }

    /// Whether it comes before what `who` does now.
    #[inline]
    fn is_before(self, who: Who, clock: &Clock, across_blocks: bool) -> bool {
        if self.time == 0 {
            return true;
        }
        if !clock.in_block(self.time) {
            return !across_blocks || clock.across(self);
        }
        self.time < clock.phase || self.who == who && who.is_thread() || {
            let (one, other) = (self.who.home(), who.home());
            let barrier = one.and_then(|warp| clock.warps.get(warp as usize));
            let together = one == other && barrier.is_some_and(|&barrier| self.time < barrier);
            together || across_blocks && clock.acquired_within(self, who)
        }
    }

    fn race(self, clock: &Clock, writes: bool) -> Race {
        let block = (!clock.in_block(self.time)).then(|| clock.block_at(self.time));
        Race { block, who: self.who, site: self.site & !ATOMIC, writes }
    }
}

/// Past accesses of one cell.
#[derive(Clone, Copy, Debug)]
struct Cell {
    write: Touch,
    read: Touch,
    /// Time and site of a read by a block other than that of `read`.
    other_read: (u32, u32),
}

/// Past accesses of one memory in a launch.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// Pages of `PAGE` cells, allocated when they are first accessed: much memory of a launch often is not.
    pages: Vec<Option<Box<[Cell]>>>,
    across_blocks: bool,
    /// By cell: the blocks that released something with what is in it, and those before them.
    released: BTreeMap<usize, Blocks>,
}

const PAGE: usize = 1 << 10;

impl History {
    /// Creates the history of memory with this many cells. Blocks race only in memory that they have in common.
    pub fn new(cells: usize, across_blocks: bool) -> History {
        History { pages: vec![None; cells.div_ceil(PAGE)], across_blocks, released: BTreeMap::new() }
    }

    #[inline]
    fn cell(pages: &mut [Option<Box<[Cell]>>], index: usize) -> Option<&mut Cell> {
        let cell = Cell { write: Touch::NONE, read: Touch::NONE, other_read: (0, 0) };
        let page = pages.get_mut(index / PAGE)?;
        page.get_or_insert_with(|| vec![cell; PAGE].into()).get_mut(index % PAGE)
    }

    /// Records a read of a cell, or returns the race. Cells that do not exist are not watched.
    pub fn read(&mut self, index: usize, access: Access, clock: &Clock) -> Result<(), Race> {
        let across = self.across_blocks;
        let Some(cell) = History::cell(&mut self.pages, index) else {
            return Ok(());
        };
        let new = Touch::new(access, clock);
        let both_atomic = access.atomic && cell.write.is_atomic();
        let observed = || clock.observed(cell.write, self.released.get(&index));
        if !both_atomic && !cell.write.is_before(access.who, clock, across) && !observed() {
            return Err(cell.write.race(clock, true));
        }
        let old = cell.read;
        let same_block = clock.in_block(old.time);
        if old.is_before(access.who, clock, across) {
            // An access that is not atomic races with more accesses, so it is the one to remember.
            if old.is_atomic() || !access.atomic || old.time < clock.phase {
                cell.read = new;
            }
        } else if !same_block {
            cell.other_read = (old.time, old.site);
            cell.read = new;
        } else if old.is_atomic() == access.atomic {
            cell.read = Touch { who: old.who.with(access.who), ..new };
        } else if old.is_atomic() {
            cell.read = new;
        }
        Ok(())
    }

    /// Records a write of a cell, or a read-modify-write, or returns the race.
    pub fn write(&mut self, index: usize, access: Access, clock: &Clock) -> Result<(), Race> {
        let across = self.across_blocks;
        let Some(cell) = History::cell(&mut self.pages, index) else {
            return Ok(());
        };
        let new = Touch::new(access, clock);
        for (old, writes) in [(cell.write, true), (cell.read, false)] {
            let both_atomic = access.atomic && old.is_atomic();
            let observed = || writes && clock.observed(old, self.released.get(&index));
            if !both_atomic && !old.is_before(access.who, clock, across) && !observed() {
                return Err(old.race(clock, writes));
            }
        }
        let (time, site) = cell.other_read;
        let other = Touch { time, who: Who(EVERY), site };
        if across && !(access.atomic && other.is_atomic()) && !other.is_before(access.who, clock, across) {
            return Err(other.race(clock, false));
        }
        if !access.atomic {
            *cell = Cell { write: new, read: Touch::NONE, other_read: (0, 0) };
            self.released.remove(&index);
        } else if cell.write.time < clock.phase {
            cell.write = new;
        } else if cell.write.is_atomic() {
            cell.write = Touch { who: cell.write.who.with(access.who), ..new };
        }
        Ok(())
    }

    /// Acquires what was released with a cell that a thread reads atomically.
    pub fn acquire(&self, index: usize, thread: u32, order: Order, clock: &mut Clock) {
        if let Some(blocks) = self.released.get(&index) {
            clock.acquire(thread, order, blocks);
        }
    }

    /// Records an atomic write of a cell by a thread. If the operation also reads the cell, threads that read it later still acquire
    /// what was released with the previous value.
    pub fn release(&mut self, index: usize, thread: u32, op: AtomicOp, clock: &mut Clock) {
        if !op.reads() {
            self.released.remove(&index);
        }
        if clock.release(thread, op.order()) {
            let blocks = self.released.entry(index).or_default();
            blocks.insert(clock.block);
            blocks.extend(&clock.before);
        }
    }
}
