//! Finds data races: who touched a cell of memory, when, and whether anything put them in order.
//!
//! Two threads that touch one cell race if one of them writes, not both do it atomically, and nothing orders them. Within
//! a block, its barriers do, and among the lanes of a warp the warp's. Between blocks, what comes before a release of a
//! thread (an atomic write of global memory) comes before what another block does after it has acquired (atomically
//! read) a value that the first one wrote atomically, and so on from block to block. That is a little generous, and
//! never finds a race that is none: which of a block's releases was acquired, and by which thread, is not told apart,
//! and of the blocks that only read a cell, the last two are remembered. Blocks run in order. Nothing here knows what
//! memory contains.

use std::collections::BTreeSet;

use super::lanes::LANES;
use crate::ir::WARP;

/// Every thread of the block at once, or several of different warps.
pub(super) const EVERY: u32 = u32::MAX;
/// Set in a [`Who`] that is all lanes of a warp, or several.
const WHOLE: u32 = 1 << 31;
/// Set in the site of an access that is atomic.
const ATOMIC: u32 = 1 << 31;

/// Who touches memory within a block.
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

    /// The warp that it is in.
    fn home(self) -> Option<u32> {
        match self.0 {
            EVERY => None,
            whole if whole & WHOLE != 0 => Some(whole & !WHOLE),
            thread => Some(thread / WARP),
        }
    }

    /// Both.
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
    /// Which block, if it is another one.
    pub block: Option<u32>,
    /// Who, if it is in the same block.
    pub who: Who,
    /// The number of the statement.
    pub site: u32,
    /// Whether it writes.
    pub writes: bool,
}

/// The time in a launch. It goes on with every block, barrier and release, so that a moment tells what came between.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    now: u32,
    block: u32,
    /// When each block started.
    starts: Vec<u32>,
    /// When the current block started.
    start: u32,
    /// When its current phase started.
    phase: u32,
    /// By warp: when its last barrier was.
    warps: Vec<u32>,
    /// By block: what it released.
    releases: Vec<Releases>,
    /// By block: which ones come before it.
    before: Vec<Blocks>,
}

/// What a block released.
#[derive(Clone, Debug, Default)]
struct Releases {
    /// When the phase of the last release started: what was done before was released.
    phase: u32,
    /// By thread: when it last released in that phase (0 if it did not), and when its warp's last barrier was.
    threads: Vec<(u32, u32)>,
}

impl Releases {
    fn contains(&self, touch: Touch) -> bool {
        if touch.time < self.phase {
            return true;
        }
        let own = self.threads.get(touch.who.0 as usize);
        if own.is_some_and(|&(release, _)| touch.time <= release) {
            return true;
        }
        let lanes = touch.who.home().map(|warp| warp as usize * LANES).unwrap_or(usize::MAX);
        self.threads.iter().skip(lanes).take(LANES).any(|&(_, barrier)| touch.time < barrier)
    }
}

/// A set of blocks: those below some number, and some others.
#[derive(Clone, Debug, Default)]
struct Blocks {
    below: u32,
    others: BTreeSet<u32>,
}

impl Blocks {
    fn contains(&self, block: u32) -> bool {
        block < self.below || self.others.contains(&block)
    }

    fn insert(&mut self, block: u32) {
        if block >= self.below {
            self.others.insert(block);
        }
        while self.others.remove(&self.below) {
            self.below += 1;
        }
    }

    fn extend(&mut self, other: &Blocks) {
        if other.below > self.below {
            self.below = other.below;
            self.others = self.others.split_off(&other.below);
        }
        other.others.iter().for_each(|&block| self.insert(block));
        while self.others.remove(&self.below) {
            self.below += 1;
        }
    }
}

impl Clock {
    /// Before the first block.
    pub fn new() -> Clock {
        Clock {
            now: 0,
            block: 0,
            starts: Vec::new(),
            start: 0,
            phase: 0,
            warps: Vec::new(),
            releases: Vec::new(),
            before: Vec::new(),
        }
    }

    fn tick(&mut self) -> u32 {
        // After that many, races are missed.
        self.now = self.now.saturating_add(1);
        self.now
    }

    /// The next block starts.
    pub fn start_block(&mut self) {
        self.block = self.starts.len() as u32;
        self.start = self.tick();
        self.phase = self.start;
        self.starts.push(self.start);
        self.releases.push(Releases::default());
        self.before.push(Blocks::default());
    }

    /// A barrier of the block.
    pub fn sync_block(&mut self) {
        self.phase = self.tick();
    }

    /// A barrier of a warp.
    pub fn sync_warp(&mut self, warp: u32) {
        let now = self.tick();
        let warp = warp as usize;
        if self.warps.len() <= warp {
            self.warps.resize(warp + 1, 0);
        }
        self.warps[warp] = now;
    }

    /// A thread writes global memory atomically, and so releases what it did before.
    pub fn release(&mut self, thread: u32) {
        let Some(releases) = self.releases.last_mut() else {
            return;
        };
        if releases.phase != self.phase {
            releases.phase = self.phase;
            releases.threads.clear();
        }
        let (warp, thread) = ((thread / WARP) as usize, thread as usize);
        if releases.threads.len() <= thread {
            releases.threads.resize(thread + 1, (0, 0));
        }
        releases.threads[thread] = (self.now, self.warps.get(warp).copied().unwrap_or(0));
    }

    /// What comes now was not released before.
    pub fn after_releases(&mut self) {
        self.tick();
    }

    fn acquire(&mut self, block: u32) {
        let (earlier, current) = self.before.split_at_mut(self.block as usize);
        if let (Some(earlier), Some(current)) = (earlier.get(block as usize), current.first_mut())
            && !current.contains(block)
        {
            current.insert(block);
            current.extend(earlier);
        }
    }

    /// The block that was running at a time.
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
        let known = self.before.last().is_some_and(|before| before.contains(block));
        known && self.releases.get(block as usize).is_some_and(|releases| releases.contains(touch))
    }
}

/// Somebody who touched a cell.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// When; 0 if nobody did.
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

    /// Whether it comes before what somebody does now.
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
            one == other && barrier.is_some_and(|&barrier| self.time < barrier)
        }
    }

    fn race(self, clock: &Clock, writes: bool) -> Race {
        let block = (!clock.in_block(self.time)).then(|| clock.block_at(self.time));
        Race { block, who: self.who, site: self.site & !ATOMIC, writes }
    }
}

/// What happened to one cell.
#[derive(Clone, Copy, Debug)]
struct Cell {
    write: Touch,
    read: Touch,
    /// When a block other than that of `read` read it, and where.
    other_read: (u32, u32),
}

/// What happened to one memory in a launch.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// So many cells a page; made when they are first touched, as much memory of a launch often is not.
    pages: Vec<Option<Box<[Cell]>>>,
    across_blocks: bool,
}

const PAGE: usize = 1 << 10;

impl History {
    /// Of memory with this many cells. Blocks race only in memory that they have in common.
    pub fn new(cells: usize, across_blocks: bool) -> History {
        History { pages: vec![None; cells.div_ceil(PAGE)], across_blocks }
    }

    #[inline]
    fn cell(&mut self, index: usize) -> Option<&mut Cell> {
        let cell = Cell { write: Touch::NONE, read: Touch::NONE, other_read: (0, 0) };
        let page = self.pages.get_mut(index / PAGE)?;
        page.get_or_insert_with(|| vec![cell; PAGE].into()).get_mut(index % PAGE)
    }

    /// Somebody reads a cell. Cells that do not exist are not watched.
    pub fn read(&mut self, index: usize, access: Access, clock: &Clock) -> Result<(), Race> {
        let across = self.across_blocks;
        let Some(cell) = self.cell(index) else {
            return Ok(());
        };
        let new = Touch::new(access, clock);
        let both_atomic = access.atomic && cell.write.is_atomic();
        if !both_atomic && !cell.write.is_before(access.who, clock, across) {
            return Err(cell.write.race(clock, true));
        }
        let old = cell.read;
        let same_block = clock.in_block(old.time);
        if old.is_before(access.who, clock, across) {
            // What is not atomic races with more, so it is what is remembered.
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

    /// Somebody writes a cell, or reads and writes it at once.
    pub fn write(&mut self, index: usize, access: Access, clock: &Clock) -> Result<(), Race> {
        let across = self.across_blocks;
        let Some(cell) = self.cell(index) else {
            return Ok(());
        };
        let new = Touch::new(access, clock);
        for (old, writes) in [(cell.write, true), (cell.read, false)] {
            let both_atomic = access.atomic && old.is_atomic();
            if !both_atomic && !old.is_before(access.who, clock, across) {
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
        } else if cell.write.time < clock.phase {
            cell.write = new;
        } else if cell.write.is_atomic() {
            cell.write = Touch { who: cell.write.who.with(access.who), ..new };
        }
        Ok(())
    }

    /// Somebody has read a cell atomically: what the block that wrote it atomically did before comes before what this
    /// block does from now on.
    pub fn acquire(&self, index: usize, clock: &mut Clock) {
        if let Some(Some(page)) = self.pages.get(index / PAGE)
            && let Some(cell) = page.get(index % PAGE)
            && cell.write.is_atomic()
            && cell.write.time != 0
            && !clock.in_block(cell.write.time)
        {
            clock.acquire(clock.block_at(cell.write.time));
        }
    }
}
