//! A block's own table of targets in shared memory: elements are combined there, and in the end the table is combined into
//! the targets in global memory, once per target and block.
//!
//! A table has several copies of each target, and neighbouring threads use different ones: threads of a warp that meet in
//! one target do not wait for each other, and with as many copies as there are banks they never meet in a bank.

use super::operator::{ColumnUpdate, neutral};
use super::update::{Cells, differ, under_lock};
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::level::{Block, Loops};
use crate::{named, quotient};
use pumice_program::{AtomicOp, MemoryId};
use pumice_scalar::{Constant, Exp, Op, ScalarType, Term};

/// A column of a table.
struct Column {
    /// The column of the targets that it belongs to, and its memory.
    number: usize,
    target: MemoryId,
    table: MemoryId,
    ty: ScalarType,
    atomic: AtomicOp,
    op: Op,
    neutral: Constant,
}

/// Layout of the copies of targets in a table.
#[derive(Clone, Copy)]
pub(super) enum Copies {
    /// The copies of a target side by side: in different banks.
    Interleaved,
    /// One whole table after the other: an address is a target's plus a constant, if the copy is known.
    Apart,
}

/// A table in the shared memory of the current block.
pub(super) struct Table {
    columns: Vec<Column>,
    /// Copies of each target, a power of two.
    copies: i64,
    /// The distance between neighbouring targets, and between a target's copies.
    strides: (i64, i64),
    /// The first target that the table stands for.
    first: Ix,
    /// Number of targets from the first on, at most the table's size.
    here: Ix,
}

impl Table {
    /// Allocates and clears a table for `size` targets from `first` on. All columns are updated by atomic operations, or
    /// not at all.
    pub fn new(
        cells: &Cells,
        updates: &[ColumnUpdate],
        (size, copies): (u32, u32),
        layout: Copies,
        first: Ix,
        targets: Ix,
    ) -> Table {
        let column = |(number, ((target, ty), update)): (usize, (&(MemoryId, ScalarType), &ColumnUpdate))| {
            let ColumnUpdate::Atomic(atomic) = *update else { return None };
            let (op, neutral) = neutral(atomic, *ty)?;
            let table = effects::allocate_shared(*ty, effects::cells(size as usize * copies as usize));
            Some(Column { number, target: *target, table, ty: *ty, atomic, op, neutral })
        };
        let columns: Vec<Column> = cells.iter().zip(updates).enumerate().filter_map(column).collect();
        Block::each(Exp::from(i64::from(size) * i64::from(copies)), &|cell| {
            for column in &columns {
                effects::store(column.table, cell.term(), column.neutral.into());
            }
        });
        effects::sync();
        let here = (targets - first).min(i64::from(size)).max(0);
        let strides = match layout {
            Copies::Interleaved => (copies.into(), 1),
            Copies::Apart => (1, size.into()),
        };
        Table { columns, copies: copies.into(), strides, first, here }
    }

    /// Combines an element into a target, which the table has or not; if it has not, another block's table does. One that is
    /// trusted has been checked, by a caller whose table is for all targets.
    pub fn element(&self, lane: Ix, target: Ix, new: &Scalars, trusted: bool) {
        let place = target - self.first;
        // Where the table is for all targets, the caller's check says the same, and no other is written.
        let inside = if trusted { Exp::from(true) } else { place.ge(0) & place.lt(self.here) };
        effects::either(
            inside.term(),
            || {
                let cell = self.cell(place, lane);
                for column in &self.columns {
                    if let Some(value) = new.0.get(column.number) {
                        let cell = cell.term();
                        effects::atomic(column.atomic, column.table, column.ty, cell, &[*value], false);
                    }
                }
            },
            || {},
        );
    }

    /// The cell of a target's copy: the one with this number, modulo the number of copies.
    fn cell(&self, place: Ix, copy: Ix) -> Ix {
        match self.copies {
            1 => place,
            copies => place * self.strides.0 + (copy & (copies - 1)) * self.strides.1,
        }
    }

    /// Returns the copies of a target, combined.
    fn total(&self, column: &Column, place: Ix) -> Term {
        let copy = |number: i64| {
            // Neighbouring threads begin with different copies, in different banks.
            effects::read_now(column.table, column.ty, self.cell(place, place + number).term())
        };
        let total: Term =
            (1..self.copies).fold(copy(0), |total, number| total.binary(column.op, copy(number)));
        effects::compute(&[total]).first().copied().unwrap_or(total)
    }

    /// Combines the table into the targets of a block that is a single thread, stretch after stretch, each under a lock of its
    /// own: no target needs an atomic operation. Blocks begin with different ones.
    pub fn finish_in_stretches(&self, block: Ix, blocks: u32, (locks, count): (MemoryId, u32)) {
        let number = |value: i64| Exp::<i64>::from(value).term();
        let count = i64::from(count);
        let length = named(quotient(self.here + (count - 1), Exp::from(count)), "stretch");
        Block::each(Exp::from(1), &|_| {
            effects::sequential(number(0)..number(count), number(1), &[], |step, _| {
                let begin = block * (count / i64::from(blocks)).max(1);
                let stretch = named((begin + Exp::from_term(step)) & (count - 1), "lock");
                under_lock((locks, stretch), || {
                    let from = stretch * length;
                    let to = (from + length).min(self.here);
                    effects::sequential(from.term()..to.term(), number(1), &[], |place, _| {
                        let place = Ix::from_term(place);
                        for column in &self.columns {
                            let target = (self.first + place).term();
                            let old = effects::read_now(column.target, column.ty, target);
                            let total = self.total(column, place);
                            // Fast math does not know that a neutral NaN changes nothing.
                            let is_changed = differ(total, column.neutral.into()).term();
                            let combined = old.binary(column.op, total);
                            let new = Term::apply(Op::Select, column.ty, &[is_changed, combined, old]);
                            effects::store(column.target, target, new);
                        }
                        Vec::new()
                    });
                });
                Vec::new()
            });
        });
    }

    /// Combines the table into the targets.
    pub fn finish(&self) {
        effects::sync();
        Block::each(self.here, &|place| {
            for column in &self.columns {
                let total = self.total(column, place);
                effects::either(
                    differ(total, column.neutral.into()).term(),
                    || {
                        let target = (self.first + place).term();
                        effects::atomic(column.atomic, column.target, column.ty, target, &[total], false);
                    },
                    || {},
                );
            }
        });
    }
}
