//! Products of matrices, over any two operations: each element of the result combines, in order, what a row of the left
//! matrix and a column of the right one give element by element.
//!
//! A block computes a tile of the result, and goes through the inner extent in rounds. In each round it brings a slice of
//! both matrices to its memory, in the direction in which they lie in global memory, so that a transposed matrix is read
//! as well as any other. Every thread has some rows and columns of the tile, whose elements it keeps to itself: in registers
//! on a GPU, where of every pair of elements that it reads it makes many products; as rows of vectors on a CPU, where
//! neighbouring lanes have neighbouring columns. No element of the result is shared by two threads, so the first value of
//! each counts once and the order of the inner extent is kept.

use super::monoid::{Cells, each_thread, now, only_if};
use crate::bounds::area;
use crate::effects;
use crate::item::{Dynamic, Ix, Scalars};
use crate::level::{Block, Forces, Grid};
use crate::push::near;
use crate::tiles::Window;
use crate::{Profile, Pull, Push, Rows, named, parts_for, quotient, remainder, seq_for};
use pumice_scalar::{Constant, Exp, ScalarType, Term};
use std::rc::Rc;

/// Task of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductTask {
    /// Pairs of matrices.
    pub batches: i64,
    /// Rows of a left matrix.
    pub rows: i64,
    /// Columns of a right matrix.
    pub columns: i64,
    /// The scalar types of an element of a left matrix.
    pub left: Vec<ScalarType>,
    /// The scalar types of an element of a right matrix.
    pub right: Vec<ScalarType>,
    /// The scalar types of an element of the result.
    pub result: Vec<ScalarType>,
}

/// Shares of the threads along one side of a tile: `groups` groups of `wide` neighbours each, groups being as far from
/// each other as all threads reach. So neighbouring threads' elements are in different banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Side {
    threads: u32,
    wide: u32,
    groups: u32,
}

impl Side {
    /// Rows (or columns) that a thread has.
    fn own(self) -> u32 {
        self.wide * self.groups
    }

    /// Rows (or columns) of the tile.
    fn tile(self) -> u32 {
        self.threads * self.own()
    }

    /// Returns the position of the `k`-th of a thread's rows, for the thread with this number along the side.
    fn place(self, thread: Ix, k: u32) -> Ix {
        let start = k / self.wide * (self.threads * self.wide) + k % self.wide;
        thread * i64::from(self.wide) + i64::from(start)
    }
}

/// Division of the work of a product. Extents are not fixed in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProductPlan {
    rows: Side,
    columns: Side,
    /// Part of the inner extent that a block's memory holds at a time.
    depth: u32,
    /// Rows of a thread that go through a slice together: their elements are in registers meanwhile.
    rows_at_once: u32,
    /// Neighbours that a thread copies together.
    items: u32,
}

/// Threads along a side of a GPU's tile, and the rows and columns that each has at most.
const GPU_SIDE: u32 = 16;
const GPU_OWN: u32 = 8;
/// The most of the inner extent that a GPU's block has in its memory; what is done with it is written out.
const GPU_DEPTH: u32 = 16;
/// Bytes of the result that a GPU's thread keeps in registers.
const GPU_BYTES: usize = 256;
/// Bytes of its memory that a GPU's block takes, so that several blocks run side by side.
const GPU_SHARED: usize = 32 << 10;
/// Bytes of slices that stay in a cache of a CPU.
const CPU_SHARED: usize = 256 << 10;
/// Lanes of a CPU's tile, as many columns, and as much of the inner extent at a time.
const CPU_LANES: u32 = 128;
/// Rows of a CPU's tile.
const CPU_ROWS: u32 = 64;
/// Rows of a CPU's tile whose elements are in vector registers together: four of some vectors each.
const CPU_ROWS_AT_ONCE: u32 = 4;

impl ProductPlan {
    /// Divides a product; nothing if a block's memory does not hold enough of such elements.
    pub fn new(profile: &Profile, task: &ProductTask) -> Option<ProductPlan> {
        let bytes = |types: &[ScalarType]| types.iter().map(|ty| ty.bytes()).sum::<usize>().max(1);
        let (left, right, result) = (bytes(&task.left), bytes(&task.right), bytes(&task.result));
        let mut plan = match profile.coalesces {
            true => ProductPlan::of_registers(profile, task, result),
            false => ProductPlan::of_vectors(profile, task),
        };
        let most = match profile.coalesces {
            true => (profile.shared_bytes as usize).min(GPU_SHARED),
            false => (profile.shared_bytes as usize).min(CPU_SHARED),
        };
        let needed = |plan: &ProductPlan| {
            let side = |side: Side, bytes: usize| (side.tile() + PADDING) as usize * bytes;
            (side(plan.rows, left) + side(plan.columns, right)) * plan.depth as usize
        };
        while needed(&plan) > most && plan.depth > 1 {
            plan.depth /= 2;
        }
        plan.items = plan.items.min(plan.depth).min(plan.rows.tile()).min(plan.columns.tile());
        let fits = needed(&plan) <= most && plan.threads() <= profile.max_threads;
        fits.then_some(plan)
    }

    /// Tiles whose elements are in the registers of many threads.
    fn of_registers(profile: &Profile, task: &ProductTask, bytes: usize) -> ProductPlan {
        let mut side = GPU_SIDE;
        while side * side > profile.threads.min(profile.max_threads).max(1) {
            side /= 2;
        }
        let mut own = GPU_OWN;
        while (own * own) as usize * bytes > GPU_BYTES && own > 1 {
            own /= 2;
        }
        // No more than there are, and halves as long as there are too few tiles for the device.
        let fitting = |extent: i64| {
            let mut fitting = own;
            while fitting > 1 && i64::from(side * fitting / 2) >= extent {
                fitting /= 2;
            }
            fitting
        };
        let (mut down, mut across) = (fitting(task.rows), fitting(task.columns));
        let tiles = |down: u32, across: u32| {
            let parts = |extent: i64, own: u32| (extent.max(1) as u64).div_ceil((side * own).into());
            parts(task.rows, down).saturating_mul(parts(task.columns, across))
        };
        // A processor has several blocks when the device is busy, and one of these keeps it busy.
        let wanted = (profile.busy_blocks / 8).max(1);
        let batches = task.batches.max(1) as u64;
        while tiles(down, across).saturating_mul(batches) < wanted && down.max(across) > 2 {
            if down >= across { down /= 2 } else { across /= 2 }
        }
        let scalars = [&task.left, &task.right].into_iter().flatten();
        let largest = scalars.map(|ty| ty.bytes()).max().unwrap_or(1);
        let items = (profile.vector_bytes as usize / largest.max(1)).clamp(1, 4) as u32;
        let along = |own: u32| {
            let wide = items.min(own);
            Side { threads: side, wide, groups: own / wide }
        };
        let (rows, columns) = (along(down), along(across));
        ProductPlan { rows, columns, depth: GPU_DEPTH, rows_at_once: rows.own(), items }
    }

    /// Tiles of which a worker's vectors go through some rows at a time.
    fn of_vectors(profile: &Profile, task: &ProductTask) -> ProductPlan {
        let most = CPU_LANES.min(profile.max_threads.max(1));
        // Half of the lanes, as long as they suffice.
        let mut lanes = most;
        while lanes > profile.lanes && i64::from(lanes / 2) >= task.columns {
            lanes /= 2;
        }
        let rows = CPU_ROWS.min(task.rows.max(1).min(CPU_ROWS.into()) as u32);
        let rows = rows.next_multiple_of(CPU_ROWS_AT_ONCE);
        ProductPlan {
            rows: Side { threads: 1, wide: CPU_ROWS_AT_ONCE, groups: rows / CPU_ROWS_AT_ONCE },
            columns: Side { threads: lanes, wide: 1, groups: 1 },
            depth: lanes,
            rows_at_once: CPU_ROWS_AT_ONCE,
            items: 1,
        }
    }

    /// Returns the position of a thread's row in the tile: so many after the one with the number `start` in its own.
    fn row(&self, thread: Ix, start: Ix, after: u32) -> Ix {
        match start.term().integer() {
            Some(start) => self.rows.place(thread, start as u32 + after),
            // A thread that goes through its rows in a loop has all of the tile's.
            None => start + i64::from(after),
        }
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.rows.threads * self.columns.threads
    }
}

/// Cells after each line of a slice that is turned on its way to the block's memory, against bank conflicts.
const PADDING: u32 = 4;

/// The elements of one side's matrices.
#[derive(Clone)]
pub struct Operand {
    /// The element at (row, column) of the matrix with a number: for the left side the column, for the right side the row, is
    /// the index in the inner extent.
    pub at: Rc<dyn Fn(Ix, Ix, Ix) -> Scalars>,
    /// Whether the elements of a column, and not those of a row, are neighbours in memory.
    pub columns_are_contiguous: bool,
    /// The scalar types of an element.
    pub types: Vec<ScalarType>,
}

/// Combines a value of the result with one more element of each side.
pub type ProductStep = Rc<dyn Fn(&Scalars, &Scalars, &Scalars) -> Scalars>;

/// A product of matrices.
#[derive(Clone)]
pub struct Product {
    /// Pairs of matrices.
    pub batches: Ix,
    /// Rows of a left matrix.
    pub rows: Ix,
    /// Columns of a left matrix and rows of a right one.
    pub inner: Ix,
    /// Columns of a right matrix.
    pub columns: Ix,
    /// The left matrices.
    pub left: Operand,
    /// The right matrices.
    pub right: Operand,
    /// Initial value of each element of the result.
    pub initial: Scalars,
    /// Update of it by an element of a row and one of a column. It can be applied to any values: it cannot fail and comes to
    /// an end.
    pub step: ProductStep,
}

impl Product {
    /// Multiplies the matrices. The results come one after the other, each row by row.
    pub fn push(self, plan: ProductPlan) -> Push<Grid, Dynamic, Ix> {
        let length = area(self.batches, area(self.rows, self.columns));
        Push::trusted(length, move |write| {
            let down = named(parts_for(self.rows, plan.rows.tile() as usize), "tiles_down");
            let across = named(parts_for(self.columns, plan.columns.tile() as usize), "tiles");
            let tiles = area(down, across);
            effects::distribute(area(self.batches, tiles).term(), |block| {
                let block = Exp::from_term(block);
                let (batch, tile) = match self.batches.term().integer() {
                    Some(1) => (Exp::from(0), block),
                    _ => (named(quotient(block, tiles), "batch"), named(remainder(block, tiles), "tile")),
                };
                let (tile_row, tile_column) = near(tile, down, across);
                let first_row = named(tile_row * i64::from(plan.rows.tile()), "first_row");
                let first_column = named(tile_column * i64::from(plan.columns.tile()), "first_column");
                Tile { product: &self, plan, batch, first_row, first_column }.write(write);
            });
        })
    }
}

/// One block's part.
struct Tile<'a> {
    product: &'a Product,
    plan: ProductPlan,
    batch: Ix,
    first_row: Ix,
    first_column: Ix,
}

/// An element of a slice in the block's memory, by its index in the inner extent and along the side.
type Slice = Box<dyn Fn(Ix, Ix) -> Scalars>;

/// Does `body` for each multiple of `step` below `end`: once where that is all there is, otherwise in a loop.
fn in_steps(end: i64, step: i64, body: impl FnOnce(Ix)) {
    if end == step {
        return body(Exp::from(0));
    }
    let (start, end, step) = (Exp::<i64>::from(0), Exp::<i64>::from(end), Exp::<i64>::from(step));
    effects::sequential(start.term()..end.term(), step.term(), &[], |index, _| {
        body(Exp::from_term(index));
        Vec::new()
    });
}

impl Tile<'_> {
    fn write(&self, write: &dyn Fn(Ix, Scalars)) {
        let Tile { product, plan, .. } = self;
        let count = plan.rows.own() * plan.columns.own();
        let types: Vec<ScalarType> = product.initial.0.iter().map(|term| term.ty()).collect();
        let own = Cells::private(&types, count.into());
        each_thread(plan.threads(), |_| {
            let at_once = i64::from(plan.rows_at_once * plan.columns.own());
            in_steps(count.into(), at_once, |start| {
                (0..at_once).for_each(|k| own.write(start + k, &product.initial));
            });
        });
        let depth = i64::from(plan.depth);
        let whole = named(quotient(product.inner, Exp::from(depth)), "rounds");
        let zero = Exp::<i64>::from(0).term();
        effects::sequential(zero..whole.term(), Exp::<i64>::from(1).term(), &[], |round, _| {
            let round: Ix = Exp::from_term(round);
            self.round(named(round * depth, "inner"), Exp::from(depth), &own);
            Vec::new()
        });
        let done = named(whole * depth, "done");
        let rest = named(product.inner - done, "rest");
        // Between these barriers nothing of the rounds before is read: their slices and the last one's share memory. They
        // stand outside of the condition, because PoCL loses what threads own across barriers that begin or end one.
        Block::sync();
        effects::either(rest.gt(0).term(), || self.round(done, rest.min(depth), &own), || {});
        Block::sync();
        self.hand_on(&own, write);
    }

    /// The number of a thread among the rows and among the columns of threads.
    fn thread(&self, thread: Ix) -> (Ix, Ix) {
        let across = i64::from(self.plan.columns.threads);
        match self.plan.rows.threads {
            1 => (Exp::from(0), thread),
            _ => (named(thread / across, "down"), named(thread % across, "across")),
        }
    }

    /// Brings `count` (at most the plan's depth) of the inner extent from `first` on to the block's memory, and combines them
    /// into the threads' elements.
    fn round(&self, first: Ix, count: Ix, own: &Cells) {
        let Tile { product, plan, batch, .. } = *self;
        let (at, inner) = (product.left.at.clone(), product.inner);
        let left = self.slice(
            &product.left,
            (plan.rows, self.first_row, product.rows),
            first,
            !product.left.columns_are_contiguous,
            Rc::new(move |row, k| at(batch, row, k)),
            inner,
        );
        let at = product.right.at.clone();
        let right = self.slice(
            &product.right,
            (plan.columns, self.first_column, product.columns),
            first,
            product.right.columns_are_contiguous,
            Rc::new(move |column, k| at(batch, k, column)),
            inner,
        );
        Block::sync();
        let (across, at_once) = (plan.columns.own(), plan.rows_at_once);
        each_thread(plan.threads(), |thread| {
            let (thread_row, thread_column) = self.thread(thread);
            let scalars = product.initial.0.len().max(1);
            // From the number of the first of some rows of the thread that go through the slice together.
            let go_through = |start: Ix| {
                let cell = |n: u32| start * i64::from(across) + i64::from(n);
                let values = Scalars((0..at_once * across).flat_map(|n| own.read(cell(n)).0).collect());
                // Everything is computed where it stands: a step needs the elements of one column and one row, and no
                // others are kept in registers meanwhile.
                let next = seq_for::<Dynamic>(count, 1, values, |values, k| {
                    let ours: Vec<Scalars> =
                        (0..at_once).map(|row| now(&left(k, plan.row(thread_row, start, row)))).collect();
                    let theirs = (0..across).map(|n| now(&right(k, plan.columns.place(thread_column, n))));
                    let theirs: Vec<Scalars> = theirs.collect();
                    let step = |(n, value): (usize, &[Term])| {
                        let (row, column) = (n / theirs.len(), n % theirs.len());
                        now(&(product.step)(&Scalars(value.to_vec()), &ours[row], &theirs[column])).0
                    };
                    Scalars(values.0.chunks(scalars).enumerate().flat_map(step).collect())
                });
                for (n, value) in (0..).zip(next.0.chunks(scalars)) {
                    own.write(cell(n), &Scalars(value.to_vec()));
                }
            };
            let (all, some) = (i64::from(plan.rows.own()), i64::from(at_once));
            in_steps(all, some, go_through);
        });
    }

    /// Brings a slice of one side to the block's memory. `turned` says that it is the elements along the inner extent that are
    /// neighbours in memory.
    fn slice(
        &self,
        operand: &Operand,
        (side, start, extent): (Side, Ix, Ix),
        first: Ix,
        turned: bool,
        at: Rc<dyn Fn(Ix, Ix) -> Scalars>,
        inner: Ix,
    ) -> Slice {
        let (tile, depth, items) = (side.tile() as usize, self.plan.depth as usize, self.plan.items as usize);
        let zeros = Scalars(operand.types.iter().map(|ty| Constant::zero(*ty).into()).collect());
        // On a CPU a turned slice stays as it is: a row's elements are read one by one in any case.
        let stays = turned && side.threads == 1;
        let padding = if turned && !stays { PADDING as usize } else { 0 };
        let (rows, columns) = if turned { (tile, depth) } else { (depth, tile) };
        let window = Window { rows, columns, items, transposed: turned && !stays, padding };
        let matrix: Rows<Dynamic> = match turned {
            true => Pull::new(extent, move |i| {
                let at = at.clone();
                Pull::new(inner, move |k| at(i, k))
            }),
            false => Pull::new(inner, move |k| {
                let at = at.clone();
                Pull::new(extent, move |i| at(i, k))
            }),
        };
        let (width, corner) = if turned { (inner, (start, first)) } else { (extent, (first, start)) };
        let cells = matrix.window(width, corner, window).write(&zeros);
        Box::new(move |k, i| match stays {
            true => cells.get(i).get(k),
            false => cells.get(k).get(i),
        })
    }

    /// Hands on the elements of the tile that are there.
    fn hand_on(&self, own: &Cells, write: &dyn Fn(Ix, Scalars)) {
        let Tile { product, plan, batch, first_row, first_column } = *self;
        let (rows, columns) = (product.rows, product.columns);
        let each = |write_at: &dyn Fn(Ix, Ix, Scalars)| {
            each_thread(plan.threads(), |thread| {
                let (thread_row, thread_column) = self.thread(thread);
                let across = plan.columns.own();
                in_steps(plan.rows.own().into(), plan.rows_at_once.into(), |start| {
                    for n in 0..plan.rows_at_once * across {
                        let row = first_row + plan.row(thread_row, start, n / across);
                        let column = first_column + plan.columns.place(thread_column, n % across);
                        let cell = start * i64::from(across) + i64::from(n);
                        write_at(row, column, own.read(cell));
                    }
                });
            });
        };
        let index = |row: Ix, column: Ix| (batch * rows + row) * columns + column;
        let (height, width) = (i64::from(plan.rows.tile()), i64::from(plan.columns.tile()));
        let whole = (first_row + height).le(rows) & (first_column + width).le(columns);
        effects::either(
            whole.term(),
            || each(&|row, column, value| write(index(row, column), value)),
            || {
                each(&|row, column, value| {
                    only_if(row.lt(rows) & column.lt(columns), || write(index(row, column), value.clone()));
                });
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(batches: i64, rows: i64, columns: i64, ty: ScalarType, count: usize) -> ProductTask {
        let types = vec![ty; count];
        ProductTask { batches, rows, columns, left: types.clone(), right: types.clone(), result: types }
    }

    #[test]
    fn large_matrices_have_large_tiles_and_small_ones_keep_the_device_busy() {
        let tile = |task: &ProductTask| {
            let plan = ProductPlan::new(&Profile::large_gpu(), task)?;
            assert_eq!(plan.threads(), 256);
            Some((plan.rows.tile(), plan.columns.tile(), plan.depth))
        };
        assert_eq!(tile(&task(1, 2048, 2048, ScalarType::F32, 1)), Some((128, 128, 16)));
        assert_eq!(tile(&task(1, 512, 512, ScalarType::F32, 1)), Some((32, 32, 16)));
        assert_eq!(tile(&task(500, 512, 512, ScalarType::F32, 1)), Some((128, 128, 16)));
        assert_eq!(tile(&task(1, 100_000, 20, ScalarType::F32, 1)), Some((128, 32, 16)));
        assert_eq!(tile(&task(1, 2048, 2048, ScalarType::F64, 1)), Some((64, 64, 16)));
        // What a block's memory does not hold is not done in tiles.
        assert_eq!(tile(&task(1, 2048, 2048, ScalarType::F64, 300)), None);
    }

    #[test]
    fn a_tile_has_every_row_once() {
        let plan = ProductPlan::new(&Profile::large_gpu(), &task(1, 2048, 2048, ScalarType::F32, 1));
        let side = plan.map(|plan| plan.rows);
        let places = side.into_iter().flat_map(|side| {
            let threads = 0..i64::from(side.threads);
            threads.flat_map(move |thread| (0..side.own()).map(move |k| side.place(Exp::from(thread), k)))
        });
        let mut places: Vec<Option<i64>> = places.map(|place| place.term().integer()).collect();
        places.sort_unstable();
        assert_eq!(places, (0..128).map(Some).collect::<Vec<_>>());
    }
}
