//! Folds of rows in one block.

use super::inside::Inside;
use super::jobs::Rows;
use crate::reduction::Reduction;
use pumice_kernel::skeletons::{Fold, FoldPlan};
use pumice_kernel::{Dynamic, Ix, Scalars, block_threads};
use std::rc::Rc;

/// Folds rows into a slot.
pub(super) fn fold_rows(inside: &Rc<Inside>, rows: &Rows, slot: usize) {
    let block = &inside.block;
    let Some(held) = block.at(slot) else { return };
    let (count, columns) = rows.size;
    if count == 0 {
        return;
    }
    block.sync_before(&rows.functions());
    let Reduction { elements, operator, neutral, .. } = rows.reduction.clone();
    let plan = FoldPlan::for_one_block(count as u32, columns as u32, block_threads(), operator.commutes());
    let (at, combine, total) = (inside.clone(), inside.clone(), operator.is_total());
    let fold = Fold::<Dynamic, _> {
        rows: inside.row_count(rows),
        columns: inside.column_count(rows),
        cut: None,
        at: Rc::new(move |row: Ix, column: Ix| Scalars(at.apply(&elements, &[row.term(), column.term()]))),
        operator: move |a: Scalars, b: Scalars| Scalars(combine.apply(&operator, &[a.0, b.0].concat())),
        neutral: Scalars(inside.apply(&neutral, &[])),
        total,
    };
    fold.in_block(plan).write(&|row, value| inside.finish(rows, row, value.0, &held));
    if plan.lanes > 1 {
        // Its lanes have waited for each other.
        block.waited();
    }
    block.written(slot);
}
