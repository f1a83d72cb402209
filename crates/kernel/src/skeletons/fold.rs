//! Folding the rows of a matrix, each to one element.
//!
//! A row is shared by `lanes` threads; a block takes as many rows as it has room for, or a long row is cut into chunks
//! for several blocks, whose results are folded once more. Each lane reduces a part of the row by itself; the lanes'
//! results are reduced as a tree of neighbours, which keeps the order. Which part a lane takes depends on the operator:
//! if it commutes, every `lanes`-th group of elements (neighbouring lanes read neighbouring memory), otherwise a
//! contiguous stretch.

use super::block_sum::BlockSum;
use super::monoid::{Cells, Monoid, choose, only_if};
use super::write::dividing;
use crate::item::{Ix, Scalars, Storable};
use crate::{Block, Grid, Profile, Pull, Push, named, quotient, remainder, seq_for};
use pumice_program::WARP;
use pumice_scalar::Exp;
use std::rc::Rc;

/// Task of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldTask {
    /// Number of rows.
    pub rows: i64,
    /// Elements of a row.
    pub columns: i64,
    /// Bytes of the largest scalar that an element is loaded from.
    pub bytes: usize,
    /// Whether the operator is known to commute.
    pub commutes: bool,
    /// Whether it is the elements of a column that are neighbours in memory (the rows of a transposed matrix), or nothing that
    /// a row reads alone is: neighbouring threads had better take neighbouring rows.
    pub columns_are_contiguous: bool,
    /// Whether elements or the operator choose between values, by selects or branches.
    pub chooses: bool,
}

/// How the work of a fold is divided. All of it but the number of chunks is fixed in the kernel; extents are not, unless
/// `fixed_columns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FoldPlan {
    /// Threads that share a row: a power of two, at most `threads`.
    pub lanes: u32,
    /// Threads of a block, a multiple of `lanes`.
    pub threads: u32,
    /// Neighbouring elements that a lane takes at a time.
    pub items: u32,
    /// Groups of items that a lane takes in one step of its loop.
    pub unroll: u32,
    /// Parts that a row is cut into, for one block each.
    pub chunks: u32,
    /// The length of a row, if the kernel is made for it.
    pub fixed_columns: Option<u32>,
    /// Whether the order of elements is free.
    pub commutes: bool,
    /// Whether lanes combine what they have by shuffles.
    pub shuffles: bool,
}

/// Rows up to this length get a kernel of their own, without loops.
const SHORT_ROW: i64 = 16;
/// Compilers vectorise so many choices of a row after each other. Where a row has more, a CPU's lanes are rows, and the loop
/// over columns goes around them.
const FEW_CHOICES: i64 = 2;
/// A lane wants so many groups of items, to have several loads under way.
const GROUPS_PER_LANE: i64 = 4;
/// A single row of no more elements is not about loads, but about waiting for them once.
const SHORT_WAIT: i64 = 1 << 12;
/// A row is cut only into chunks that give a lane at least so many groups.
const GROUPS_PER_CHUNK: i64 = 16;

impl FoldPlan {
    /// Divides a fold.
    pub fn new(profile: &Profile, task: FoldTask) -> FoldPlan {
        let FoldTask { rows, columns, commutes, .. } = task;
        let short = columns <= SHORT_ROW;
        let alone = short || task.columns_are_contiguous || (!profile.coalesces && !commutes);
        let widest = (profile.vector_bytes as i64 / task.bytes.max(1) as i64).clamp(1, 16);
        let widest = if short { widest.min(4) } else { widest };
        let wide = (commutes || short) && !task.columns_are_contiguous;
        // Groups are read at multiples of their size, so every row must start at one.
        let items = match wide {
            true if rows == 1 => widest,
            true => dividing(widest, columns),
            false => 1,
        };
        let lanes = if alone {
            1
        } else {
            let groups = if rows == 1 && columns <= SHORT_WAIT { 1 } else { GROUPS_PER_LANE };
            let wanted = (columns / (items * groups)).max(1) as u64;
            match profile.coalesces {
                true => wanted.next_power_of_two().min(profile.threads.into()) as u32,
                // A vector is there whether it is filled or not.
                false => profile.lanes,
            }
        };
        // On a CPU a row's lanes are one vector, and a block is one worker: more rows at once gain nothing.
        let threads = if profile.coalesces || lanes == 1 { profile.threads.max(lanes) } else { lanes };
        // Rows that nobody needs are not worth a thread.
        let needed = (rows.max(1) as u64).saturating_mul(lanes.into()).next_power_of_two();
        let shuffles = profile.native_warps && lanes > 1;
        let whole = if shuffles { WARP } else { 1 };
        let threads = threads.min(needed.min(u64::from(u32::MAX)) as u32).max(lanes).max(whole);
        let blocks = (rows.max(1) as u64).div_ceil(u64::from(threads / lanes)) as i64;
        let group = i64::from(lanes) * items;
        // Too few rows to keep the device busy: cut them.
        let wanted_chunks = (profile.busy_blocks as i64) / blocks;
        let chunks =
            if short { 1 } else { wanted_chunks.clamp(1, (columns / (group * GROUPS_PER_CHUNK)).max(1)) };
        let per_lane = columns / (chunks * group);
        let unroll =
            if profile.coalesces && !short && per_lane >= 4 && (commutes || lanes == 1) { 4 } else { 1 };
        let is_written_out = short && (profile.coalesces || !task.chooses || columns <= FEW_CHOICES);
        let fixed_columns = is_written_out.then_some(columns as u32);
        FoldPlan {
            lanes,
            threads,
            items: items as u32,
            unroll,
            chunks: chunks as u32,
            fixed_columns,
            commutes,
            shuffles,
        }
    }

    /// Divides a fold that a single block of so many threads does, however many rows there are: it is as if it had threads for all.
    pub fn for_one_block(rows: u32, columns: u32, threads: u32, commutes: bool) -> FoldPlan {
        let wanted = (columns / GROUPS_PER_LANE as u32).max(1).next_power_of_two();
        let rows = rows.max(1).next_power_of_two();
        let spare = (threads / rows).max(1);
        let lanes = wanted.min(1 << spare.ilog2());
        let threads = lanes * rows;
        let (fixed_columns, shuffles) = (None, false);
        FoldPlan { lanes, threads, items: 1, unroll: 1, chunks: 1, fixed_columns, commutes, shuffles }
    }

    /// Rows that a block folds at once.
    pub fn rows_at_once(&self) -> usize {
        (self.threads / self.lanes).max(1) as usize
    }

    /// Elements that the lanes of a row take together in one group each.
    fn group(&self) -> i64 {
        i64::from(self.lanes) * i64::from(self.items)
    }

    /// Elements that the lanes of a row take together in one step of their loops. A chunk is a whole number of steps, so
    /// that only the last one has a remainder.
    pub fn step(&self) -> i64 {
        self.group() * i64::from(self.unroll)
    }

    /// Steps that a chunk of a row of `columns` elements has.
    pub fn steps(&self, columns: i64) -> i64 {
        let whole = self.step() * i64::from(self.chunks);
        (columns + whole - 1) / whole
    }
}

/// A fold: the matrix, the operator and its neutral element.
pub struct Fold<T: Storable, F> {
    /// Number of rows.
    pub rows: Ix,
    /// Elements of a row.
    pub columns: Ix,
    /// The number of chunks of a row and the steps in each, if rows are cut.
    pub cut: Option<(Ix, Ix)>,
    /// The element at (row, column).
    pub at: Rc<dyn Fn(Ix, Ix) -> T::Form>,
    /// An associative operator.
    pub operator: F,
    /// Its neutral element.
    pub neutral: T::Form,
    /// Whether the operator can be applied to any values, as that of a [`Monoid`].
    pub total: bool,
}

impl<T: Storable, F: Fn(T::Form, T::Form) -> T::Form + Clone + 'static> Fold<T, F> {
    /// Folds the rows. If rows are cut, the result has an element a chunk, those of a row side by side.
    pub fn push(self, plan: FoldPlan) -> Push<Grid, T, Ix> {
        let rows_at_once = plan.rows_at_once() as i64;
        let (rows, cut) = (self.rows, self.cut);
        let groups = (rows + (rows_at_once - 1)) / rows_at_once;
        let chunks = cut.map_or(Exp::from(1), |(chunks, _)| chunks);
        let blocks = Pull::<Push<Block, T, Ix>, Ix>::new(groups * chunks, move |block| {
            let (group, chunk) = match cut {
                None => (block, Exp::from(0)),
                Some((chunks, _)) => (quotient(block, chunks), remainder(block, chunks)),
            };
            let first_row = named(group * rows_at_once, "first_row");
            let here =
                if rows_at_once == 1 { Exp::from(1) } else { (rows - first_row).min(rows_at_once).max(1) };
            let here = named(here, "rows_here");
            let results = self.block(plan, first_row, here, chunk);
            results.index_map(rows * chunks, move |row| (first_row + row) * chunks + chunk)
        });
        // The indices are those of the whole already.
        blocks.concat_trusted(0, rows * chunks)
    }

    /// Folds all rows in one block that is at work already.
    pub fn in_block(&self, plan: FoldPlan) -> Push<Block, T, Ix> {
        self.block(plan, Exp::from(0), self.rows, Exp::from(0))
    }

    /// The results of one block: `here` rows from `first_row` on, one chunk of each.
    fn block(&self, plan: FoldPlan, first_row: Ix, here: Ix, chunk: Ix) -> Push<Block, T, Ix> {
        let lanes = i64::from(plan.lanes);
        let (start, length) = match self.cut {
            None => (Exp::from(0), self.columns),
            Some((_, steps)) => {
                let size = named(steps * plan.step(), "chunk_size");
                let start = named(chunk * size, "start");
                (start, named((self.columns - start).min(size).max(0), "length"))
            }
        };
        let (at, operator, neutral) = (self.at.clone(), self.operator.clone(), self.neutral.clone());
        let partial = Pull::<T, Ix>::new(here * lanes, move |thread| {
            let (row, lane) =
                if lanes == 1 { (thread, Exp::from(0)) } else { (thread / lanes, thread % lanes) };
            let row = if plan.rows_at_once() == 1 { first_row } else { named(first_row + row, "row") };
            let lane = if plan.rows_at_once() == 1 { thread } else { named(lane, "lane") };
            let at = at.clone();
            let elements = Pull::<T, Ix>::new(length, move |i| at(row, start + i));
            // One lane alone takes the elements in order in any case.
            match plan.commutes || plan.lanes == 1 {
                true => strided(elements, plan, lane, neutral.clone(), &operator),
                false => contiguous(elements, plan, lane, neutral.clone(), &operator),
            }
        });
        match plan.shuffles {
            true => self.by_shuffles(partial, plan, here),
            false => tree(partial, plan, here, self.operator.clone()),
        }
    }

    /// Combines the lanes' results of each row by shuffles.
    fn by_shuffles(&self, partial: Pull<T, Ix>, plan: FoldPlan, rows: Ix) -> Push<Block, T, Ix> {
        let operator = self.operator.clone();
        let combine = move |a: Scalars, b: Scalars| {
            Scalars(T::terms(&operator(T::from_terms(a.0), T::from_terms(b.0))))
        };
        let neutral = Scalars(T::terms(&self.neutral));
        let monoid = Monoid { operator: Rc::new(combine), neutral, total: self.total };
        Push::trusted(rows, move |write| {
            let sum = BlockSum { threads: plan.threads, team: plan.lanes, shuffles: true };
            let cells = Cells::shared(&monoid.types(), sum.cells());
            let lanes = i64::from(plan.lanes);
            let own = |thread: Ix| Scalars(T::terms(&partial.get(thread)));
            // A shuffle is for all lanes, also of rows that are not there.
            let value = |thread: Ix| match plan.rows_at_once() {
                1 => own(thread),
                _ => choose(thread.lt(rows * lanes), || own(thread), || monoid.neutral.clone()),
            };
            sum.combine(&monoid, (&cells, Exp::from(0)), value, |row, sum| {
                let result = || write(row, T::from_terms(sum.0.clone()));
                match plan.rows_at_once() {
                    1 => result(),
                    _ => only_if(row.lt(rows), result),
                }
            });
        })
    }
}

/// A lane's part if the order is free: `items` elements of every `lanes * items`, then what is left one by one.
fn strided<T: Storable>(
    xs: Pull<T, Ix>,
    plan: FoldPlan,
    lane: Ix,
    neutral: T::Form,
    f: &impl Fn(T::Form, T::Form) -> T::Form,
) -> T::Form {
    let (items, group) = (i64::from(plan.items), plan.group());
    let first = lane * items;
    let groups = named(xs.len() / group, "groups");
    // Takes the lane's elements of `count` groups from group `from` on, `unroll` groups in one step.
    let take = |from: Ix, count: Ix, unroll: i64, accumulator: T::Form| {
        seq_for::<T>(count, unroll, accumulator, |accumulator, k| {
            let start = named((from + k) * group + first, "from");
            let elements = (0..unroll).flat_map(|u| (0..items).map(move |item| u * group + item));
            elements.fold(accumulator, |accumulator, offset| f(accumulator, xs.get(start + offset)))
        })
    };
    let unroll = i64::from(plan.unroll);
    let unrolled = if unroll == 1 { Exp::from(0) } else { named(groups / unroll * unroll, "unrolled") };
    let mut accumulator = take(Exp::from(0), unrolled, unroll, neutral);
    accumulator = take(unrolled, groups - unrolled, 1, accumulator);
    let done = named(groups * group, "done");
    for item in 0..items {
        accumulator = xs.reduce_if_within(done + item * i64::from(plan.lanes) + lane, accumulator, f);
    }
    accumulator
}

/// A lane's part if the order matters: a stretch of consecutive elements.
fn contiguous<T: Storable>(
    xs: Pull<T, Ix>,
    plan: FoldPlan,
    lane: Ix,
    neutral: T::Form,
    f: &impl Fn(T::Form, T::Form) -> T::Form,
) -> T::Form {
    let lanes = i64::from(plan.lanes);
    let stretch = (xs.len() + (lanes - 1)) / lanes;
    let start = lane * stretch;
    let own = (xs.len() - start).min(stretch).max(0);
    Pull::<T, Ix>::new(own, move |i| xs.get(start + i)).seq_reduce(neutral, f)
}

/// Reduces neighbouring lanes' results until one a row is left.
fn tree<T: Storable>(
    partial: Pull<T, Ix>,
    plan: FoldPlan,
    rows: Ix,
    f: impl Fn(T::Form, T::Form) -> T::Form + Clone + 'static,
) -> Push<Block, T, Ix> {
    Push::trusted(rows, move |write| {
        let mut current = partial.clone();
        let mut lanes = plan.lanes as usize;
        while lanes > 1 {
            let forced = current.push::<Block>().force_within(plan.rows_at_once() * lanes);
            lanes /= 2;
            let f = f.clone();
            current = Pull::new(rows * lanes as i64, move |i| f(forced.get(i * 2), forced.get(i * 2 + 1)));
        }
        current.push::<Block>().write(write);
    })
}
