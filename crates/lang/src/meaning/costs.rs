//! Costs of an evaluation: the clock of parallel steps, and counts by place and level. Knows no expression and no value; the costs
//! of each rule are in `docs/semantics-of-pum.md`.

use crate::source::{FileId, Sources, Span};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ops::AddAssign;

/// The level of an operation, or of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CostLevel {
    /// One thread.
    Thread,
    /// The lanes of a warp.
    Warp,
    /// The threads of a block.
    Block,
    /// The blocks of a grid.
    Grid,
    /// No level: operations of whole arrays, which are scheduled automatically.
    Array,
}

impl CostLevel {
    /// All levels, from the lowest.
    pub const ALL: [CostLevel; 5] =
        [CostLevel::Thread, CostLevel::Warp, CostLevel::Block, CostLevel::Grid, CostLevel::Array];

    /// Returns the level that is so many above a thread.
    pub fn above_thread(count: u32) -> Option<CostLevel> {
        CostLevel::ALL.get(..4)?.get(count as usize).copied()
    }

    /// Returns the level below, if there is one.
    pub(super) fn below(self) -> Option<CostLevel> {
        CostLevel::above_thread((self as u32).checked_sub(1)?)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        ["thread", "warp", "block", "grid", "array"][self as usize]
    }
}

/// Counts of one place or level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostCounts {
    /// Steps of all threads that run there.
    pub work: u64,
    /// Arrays that are forced to its memory.
    pub forces: u64,
    /// Elements that are written to its memory.
    pub written: u64,
    /// Elements that are read from its memory.
    pub read: u64,
    /// Barriers of its threads.
    pub barriers: u64,
}

impl AddAssign for CostCounts {
    fn add_assign(&mut self, other: CostCounts) {
        self.work += other.work;
        self.forces += other.forces;
        self.written += other.written;
        self.read += other.read;
        self.barriers += other.barriers;
    }
}

/// Costs at one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelCosts {
    /// The level.
    pub level: CostLevel,
    /// Counts of all places.
    pub counts: CostCounts,
    /// The greatest number of bytes that one location of the level has alive at a time.
    pub memory: u64,
    /// Threads that had an element to compute, summed over rounds.
    pub busy: u64,
    /// Threads that had none while others of their group did, summed over rounds.
    pub idle: u64,
}

/// Costs of one line at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCosts {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The level.
    pub level: CostLevel,
    /// The counts.
    pub counts: CostCounts,
}

/// Costs of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeaningCosts {
    /// Parallel steps: work that is done side by side counts as its longest part.
    pub steps: u64,
    /// Steps of all threads.
    pub work: u64,
    /// Steps that are taken when a program is built: applications, projections, rearrangements of pull arrays.
    pub administrative: u64,
    /// Costs by level, without levels at which nothing happened.
    pub levels: Vec<LevelCosts>,
    /// Costs by line and level, in the order of files and lines.
    pub lines: Vec<LineCosts>,
}

impl MeaningCosts {
    /// Returns the costs at a level; all zero if nothing happened there.
    pub fn at(&self, level: CostLevel) -> LevelCosts {
        let nothing = LevelCosts { level, counts: CostCounts::default(), memory: 0, busy: 0, idle: 0 };
        self.levels.iter().find(|costs| costs.level == level).copied().unwrap_or(nothing)
    }
}

/// Counts while a program is evaluated.
#[derive(Default)]
pub(super) struct Meter {
    clock: Cell<u64>,
    administrative: Cell<u64>,
    /// Counts by the first byte of a place, and the level.
    counts: RefCell<HashMap<(FileId, u32, CostLevel), CostCounts>>,
    alive: [Cell<u64>; 5],
    memory: [Cell<u64>; 5],
    busy: [Cell<u64>; 5],
    idle: [Cell<u64>; 5],
}

fn add(cell: &Cell<u64>, count: u64) {
    cell.set(cell.get().saturating_add(count));
}

impl Meter {
    /// Returns the parallel steps so far.
    pub fn clock(&self) -> u64 {
        self.clock.get()
    }

    /// Sets the clock: parallel parts begin at the same time.
    pub fn set_clock(&self, clock: u64) {
        self.clock.set(clock);
    }

    /// Counts a step that costs nothing when the program runs.
    pub fn administrative(&self) {
        add(&self.administrative, 1);
    }

    /// Counts steps: the work of all threads, and the time that they take.
    pub fn steps(&self, span: Span, level: CostLevel, work: u64, time: u64) {
        add(&self.clock, time);
        self.count(span, level, CostCounts { work, ..CostCounts::default() });
    }

    /// Adds counts at a place.
    pub fn count(&self, span: Span, level: CostLevel, counts: CostCounts) {
        *self.counts.borrow_mut().entry((span.file, span.start, level)).or_default() += counts;
    }

    /// Counts busy and idle threads.
    pub fn threads(&self, level: CostLevel, busy: u64, idle: u64) {
        add(&self.busy[level as usize], busy);
        add(&self.idle[level as usize], idle);
    }

    /// Counts memory that is allocated.
    pub fn taken(&self, level: CostLevel, bytes: u64) {
        let (alive, memory) = (&self.alive[level as usize], &self.memory[level as usize]);
        add(alive, bytes);
        memory.set(memory.get().max(alive.get()));
    }

    /// Counts memory that is freed.
    pub fn freed(&self, level: CostLevel, bytes: u64) {
        let alive = &self.alive[level as usize];
        alive.set(alive.get().saturating_sub(bytes));
    }

    /// Returns all costs.
    pub fn costs(&self, sources: &Sources) -> MeaningCosts {
        let mut lines: BTreeMap<(FileId, u32, CostLevel), CostCounts> = BTreeMap::new();
        let mut by_level = [CostCounts::default(); 5];
        for ((file, start, level), counts) in self.counts.borrow().iter() {
            let line = sources.get(*file).map_or(1, |source| source.line_column(*start).0);
            *lines.entry((*file, line, *level)).or_default() += *counts;
            by_level[*level as usize] += *counts;
        }
        let level = |level: CostLevel| {
            let number = level as usize;
            LevelCosts {
                level,
                counts: by_level[number],
                memory: self.memory[number].get(),
                busy: self.busy[number].get(),
                idle: self.idle[number].get(),
            }
        };
        let happened = |costs: &LevelCosts| costs.counts != CostCounts::default() || costs.busy > 0;
        let name = |file: FileId| sources.get(file).map_or(String::new(), |source| source.name().to_string());
        MeaningCosts {
            steps: self.clock.get(),
            work: by_level.iter().map(|counts| counts.work).sum(),
            administrative: self.administrative.get(),
            levels: CostLevel::ALL.into_iter().map(level).filter(happened).collect(),
            lines: lines
                .into_iter()
                .map(|((file, line, level), counts)| LineCosts { file: name(file), line, level, counts })
                .collect(),
        }
    }
}
