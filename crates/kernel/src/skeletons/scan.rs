//! Scanning the rows of a matrix: what to do, how it is divided, and the kernels that do it.
//!
//! Short rows are scanned by a few lanes of a warp each ([`super::scan_rows`]). Longer ones are cut into tiles, one block
//! each ([`super::scan_tiles`]). What stands before a tile it learns from the tiles before it in the same kernel
//! ([`super::look_back`]), where blocks make progress; elsewhere there are three kernels: the sums of the tiles, a scan of
//! these (a scan like any other, of a matrix with a column per tile), and the scan of each tile from there. A CPU's workers
//! each take neighbouring tiles and go through them in order ([`super::scan_stretches`]), with the same three kernels.

use super::fold::FoldPlan;
use super::look_back::{ScanState, StateSize};
use super::monoid::Monoid;
use super::{scan_rows, scan_stretches, scan_tiles};
use crate::item::{Dynamic, Ix, Scalars};
use crate::size::divide_rounding_up;
use crate::{Grid, Profile, Push};
use pumice_program::WARP;
use pumice_scalar::ScalarType;
use std::rc::Rc;

/// Elements that are combined to an element of a scan's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// All up to the one at its index, and that one.
    Inclusive,
    /// All before the one at its index.
    Exclusive,
    /// As `Exclusive`, and at the end all of them: a row of the result has an element more than one of the matrix.
    Extended,
}

/// Task of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanTask {
    /// Number of rows.
    pub rows: i64,
    /// Elements of a row.
    pub columns: i64,
    /// The scalar types of an element.
    pub types: Vec<ScalarType>,
    /// About how many instructions it takes to compute an element of the matrix.
    pub cost: u32,
    /// Whether the operator is known to commute.
    pub commutes: bool,
}

/// Execution units that scan a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScanWay {
    /// Some lanes of a warp: `lanes` of them, a power of two. A thread does so with `batch` rows at a time.
    Lanes {
        /// Lanes that share a row.
        lanes: u32,
        /// Rows that a thread has a part of.
        batch: u32,
    },
    /// Blocks, one per tile of the row.
    Tiles,
    /// A CPU's workers, each of which goes through a stretch of the row in order.
    Stretches,
}

/// Source from which a tile learns what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScanPhases {
    /// None: a row is no longer than a tile.
    Alone,
    /// The tiles before it, in one pass: [`Scan::push`] with a state.
    LookBack,
    /// A scan of the sums of the tiles: [`Scan::tile_sums`], a scan of these, and [`Scan::push_with_sums`].
    Three,
}

/// Division of the work of a scan. Extents are not fixed in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanPlan {
    /// Execution units that scan a row.
    pub way: ScanWay,
    /// Source from which a tile learns what stands before it.
    pub phases: ScanPhases,
    /// Threads of a block: a multiple of 32, except for [`ScanWay::Stretches`].
    pub threads: u32,
    /// Groups of neighbours that a thread has of a row or a tile.
    pub groups: u32,
    /// Neighbours in a group.
    pub items: u32,
    /// Tiles of a row.
    pub tiles: i64,
    /// Elements of a tile. With [`ScanWay::Stretches`] that is an argument of the kernel, otherwise it is fixed in it.
    pub tile: i64,
    /// Whether blocks take tiles in the order in which they start, rather than each the one with its own number. Blocks
    /// wait for each other only where tiles are begun in order.
    pub tickets: bool,
    /// Whether there is a case of its own for whole tiles, without a check per element.
    pub whole_tiles: bool,
    /// Division of the sums of tiles, where these are a fold.
    pub sums: Option<FoldPlan>,
}

/// Bytes of elements that a thread has in registers.
const THREAD_BYTES: i64 = 64;
/// The most elements that a thread has; what it does with each is written out.
const THREAD_ELEMENTS: i64 = 16;
/// Factor by which a thread has more elements in a long scan whose tiles wait for each other: with large tiles there
/// is less to wait for.
const LARGER_TILES: i64 = 4;
/// An element that costs more than this is not computed in several places of a kernel.
const EXPENSIVE: u32 = 60;
/// The most threads that share a row that is no longer than a tile.
const MOST_THREADS: u32 = 512;

impl ScanPlan {
    /// Divides a scan.
    pub fn new(profile: &Profile, task: &ScanTask) -> ScanPlan {
        if !profile.coalesces || profile.max_threads < WARP {
            return scan_stretches::plan(profile, task);
        }
        let largest = task.types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
        let bytes = task.types.iter().map(|ty| ty.bytes()).sum::<usize>().max(1) as i64;
        let expensive = task.cost > EXPENSIVE;
        let items = (profile.vector_bytes as usize / largest.max(1)).clamp(1, 4) as i64;
        let most = (THREAD_BYTES / bytes).min(THREAD_ELEMENTS);
        let own = if expensive { items } else { (most / items * items).max(items) };
        // Each group costs an exchange between lanes.
        let items = if profile.native_warps { items } else { own };
        let threads = (profile.threads.min(profile.max_threads) / WARP * WARP).max(WARP);
        let (rows, columns) = (task.rows.max(1), task.columns.max(1));
        let plan = ScanPlan {
            way: ScanWay::Tiles,
            phases: ScanPhases::Alone,
            threads,
            groups: (own / items) as u32,
            items: items as u32,
            tiles: 1,
            tile: i64::from(threads) * own,
            tickets: true,
            whole_tiles: !expensive,
            sums: None,
        };
        let warp = i64::from(WARP);
        if columns <= warp * own * 2 {
            let lanes = (columns + items - 1) / items;
            let lanes = (lanes as u64).next_power_of_two().min(warp as u64) as i64;
            let groups = (columns + lanes * items - 1) / (lanes * items);
            let batch = (own / (groups * items)).max(1).min(rows);
            let needed = (rows as u64).div_ceil(batch as u64).saturating_mul(lanes as u64);
            let needed = needed.next_multiple_of(warp as u64).min(threads.into()) as u32;
            let way = ScanWay::Lanes { lanes: lanes as u32, batch: batch as u32 };
            // The lanes exchange sums in either case, and where that takes a barrier, it stands in no branch.
            let whole_tiles = plan.whole_tiles && profile.native_warps;
            let groups = groups as u32;
            return ScanPlan { way, threads: needed, groups, tile: columns, whole_tiles, ..plan };
        }
        let most = i64::from(profile.max_threads.min(MOST_THREADS) / WARP * WARP);
        if columns <= most * own {
            // Half the threads, as long as they suffice.
            let halves = |threads: i64| columns <= threads / 2 * own && threads % (2 * warp) == 0;
            let mut threads = most;
            while halves(threads) {
                threads /= 2;
            }
            return ScanPlan { threads: threads as u32, tile: threads * own, ..plan };
        }
        if !profile.forward_progress {
            return ScanPlan {
                phases: ScanPhases::Three,
                tiles: divide_rounding_up(columns, plan.tile),
                ..plan
            };
        }
        let busy = i64::try_from(profile.busy_blocks).unwrap_or(i64::MAX).saturating_mul(2);
        let long = rows.saturating_mul(columns) / plan.tile >= busy;
        let times = if long && !expensive { LARGER_TILES } else { 1 };
        let tile = plan.tile * times;
        let (phases, groups) = (ScanPhases::LookBack, plan.groups * times as u32);
        ScanPlan { phases, groups, tile, tiles: divide_rounding_up(columns, tile), ..plan }
    }

    /// The memory that tiles tell each other their sums through, in a launch for a task.
    pub fn state(&self, task: &ScanTask) -> Option<StateSize> {
        match self.phases {
            ScanPhases::LookBack => {
                Some(StateSize::new(&task.types, false, self.threads, task.rows, self.tiles))
            }
            ScanPhases::Alone | ScanPhases::Three => None,
        }
    }

    /// Threads of a block of [`Scan::tile_sums`].
    pub fn sums_threads(&self) -> u32 {
        self.sums.map_or(self.threads, |fold| fold.threads)
    }

    /// The scan of the tiles' sums, which is exclusive and from the left: the second of three kernels.
    pub fn sums_task(&self, task: &ScanTask) -> ScanTask {
        ScanTask {
            rows: task.rows,
            columns: self.tiles,
            types: task.types.clone(),
            cost: 1,
            commutes: task.commutes,
        }
    }
}

/// The element of a matrix at a row and column.
pub type ElementAt = Rc<dyn Fn(Ix, Ix) -> Scalars>;

/// A scan of the rows of a matrix.
#[derive(Clone)]
pub struct Scan {
    /// Number of rows.
    pub rows: Ix,
    /// Elements of a row.
    pub columns: Ix,
    /// Tiles of a row, as the plan says: an argument of the launch, or a constant where there is one.
    pub tiles: Ix,
    /// Elements of a tile, as the plan says; matters for [`ScanWay::Stretches`] only.
    pub tile: Ix,
    /// The elements.
    pub at: ElementAt,
    /// Operator that combines them, with its neutral element.
    pub monoid: Monoid,
    /// Elements that are combined.
    pub kind: ScanKind,
    /// Whether rows are scanned from their last element to their first. The operator still has what stands further left on
    /// its left.
    pub from_right: bool,
    /// Receives the number of each row and all of its elements combined, in one thread.
    pub totals: Option<Rc<dyn Fn(Ix, Scalars)>>,
}

impl Scan {
    /// The elements of a row of the result.
    pub fn result_columns(&self) -> Ix {
        match self.kind {
            ScanKind::Inclusive | ScanKind::Exclusive => self.columns,
            ScanKind::Extended => self.columns + 1,
        }
    }

    /// Scans the rows in one kernel; with [`ScanPhases::LookBack`] through a state.
    ///
    /// # Safety
    ///
    /// In every launch the memory of the state is as large as [`ScanPlan::state`] says, its words are zero, and nothing else
    /// uses it.
    pub unsafe fn push(self, plan: ScanPlan, state: Option<ScanState>) -> Push<Grid, Dynamic, Ix> {
        let before = match (plan.phases, state) {
            (ScanPhases::LookBack, Some(state)) => Before::LookBack(state),
            _ => Before::Nothing,
        };
        self.push_after(plan, before)
    }

    /// Scans the rows, given what stands before each tile: the element with the number of the tile among all.
    pub fn push_with_sums(self, plan: ScanPlan, sums: Rc<dyn Fn(Ix) -> Scalars>) -> Push<Grid, Dynamic, Ix> {
        self.push_after(plan, Before::Sums(sums))
    }

    fn push_after(self, plan: ScanPlan, before: Before) -> Push<Grid, Dynamic, Ix> {
        let length = crate::bounds::area(self.rows, self.result_columns());
        let scan = self.in_order();
        Push::trusted(length, move |write| match plan.way {
            ScanWay::Lanes { lanes, batch } => scan_rows::write(&scan, plan, lanes, batch, write),
            ScanWay::Tiles => scan_tiles::write(&scan, plan, &before, write),
            ScanWay::Stretches => scan_stretches::write(&scan, plan, &before, write),
        })
    }

    /// The sums of all tiles, those of a row side by side: the first of three kernels.
    pub fn tile_sums(self, plan: ScanPlan) -> Push<Grid, Dynamic, Ix> {
        let length = crate::bounds::area(self.rows, self.tiles);
        let scan = self.in_order();
        Push::trusted(length, move |write| match plan.sums {
            Some(fold) => scan_stretches::write_sums(&scan, fold, write),
            None => scan_tiles::write_sums(&scan, plan, write),
        })
    }

    /// The scan with an operator that has what comes first in the order of the scan on its left.
    fn in_order(mut self) -> Scan {
        if self.from_right {
            self.monoid = self.monoid.flipped();
        }
        self
    }
}

/// Source from which a tile learns what stands before it.
pub(super) enum Before {
    /// Nothing stands before it.
    Nothing,
    /// Other tiles.
    LookBack(ScanState),
    /// This function of the tile's number among all.
    Sums(Rc<dyn Fn(Ix) -> Scalars>),
}

/// Receives the elements of the result with their indices.
pub(super) type Write<'a> = &'a dyn Fn(Ix, Scalars);
