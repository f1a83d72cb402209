//! Scans of rows in one block.
//!
//! Each of a few lanes has a stretch of a row. It reduces that by itself; when all have, it combines the stretches before its own and
//! goes through it once more. Two sequential passes over about the square root of a row, and one barrier: that is quicker than a
//! tree's barriers for rows of this size.

use super::held::{Held, whole};
use super::inside::Inside;
use super::jobs::Rows;
use crate::operations::Gives;
use crate::reduction::Reduction;
use pumice_kernel::{Ix, allocate_shared, block_threads, either, parallel, sequential};
use pumice_scalar::{Exp, Term};
use std::rc::Rc;

/// Scans rows into a slot.
pub(super) fn scan_rows(inside: &Rc<Inside>, rows: &Rows, gives: Gives, from_right: bool, slot: usize) {
    let block = &inside.block;
    block.sync_before(&rows.functions());
    let Some(held) = block.at(slot) else { return };
    let (count, _) = rows.size;
    if count == 0 {
        return;
    }
    let lanes = lanes(rows.size, block_threads());
    let (columns, row_count) = (inside.column_count(rows), inside.row_count(rows));
    let stretch = (columns + (lanes - 1)) / lanes;
    let Reduction { types, elements, operator, neutral, .. } = &rows.reduction;
    let neutral = inside.apply(neutral, &[]);
    let combine = |a: &[Term], b: &[Term]| inside.apply(operator, &[a, b].concat());
    // The element at a place in the order of the scan.
    let column = |place: Ix| if from_right { columns - 1 - place } else { place };
    let element = |row: Ix, place: Ix| inside.apply(elements, &[row.term(), column(place).term()]);
    let own = |thread: Ix| {
        let (row, lane) = if lanes == 1 { (thread, Exp::from(0)) } else { (thread / lanes, thread % lanes) };
        let first = lane * stretch;
        (row, lane, first.min(columns), (first + stretch).min(columns))
    };
    let one = whole(1);
    let sums = (lanes > 1).then(|| {
        let cells = super::capacity(count.saturating_mul(lanes));
        let memories = types.iter().map(|ty| allocate_shared(*ty, cells)).collect();
        let sums = Held::Shared(memories, whole(0));
        parallel((row_count * lanes).term(), |thread| {
            let (row, _, first, end) = own(Exp::from_term(thread));
            let sum = sequential(first.term()..end.term(), one, &neutral, |place, sum| {
                combine(sum, &element(row, Exp::from_term(place)))
            });
            sums.put(thread, &sum);
        });
        block.sync();
        sums
    });
    let write = |row: Ix, place: Ix, value: &[Term]| {
        let index = match gives {
            Gives::Total => row,
            Gives::Extended if from_right => row * (columns + 1) + (columns - place),
            Gives::Extended => row * (columns + 1) + place,
            Gives::Inclusive | Gives::Exclusive => row * columns + column(place),
        };
        inside.finish(rows, index, value.to_vec(), &held);
    };
    parallel((row_count * lanes).term(), |thread| {
        let (row, lane, first, end) = own(Exp::from_term(thread));
        let before = match &sums {
            None => neutral.clone(),
            Some(sums) => {
                let start = row * lanes;
                sequential(start.term()..(start + lane).term(), one, &neutral, |other, sum| {
                    combine(sum, &sums.element(other, types))
                })
            }
        };
        let total = sequential(first.term()..end.term(), one, &before, |place, sum| {
            let place = Exp::from_term(place);
            let next = combine(sum, &element(row, place));
            match gives {
                Gives::Inclusive => write(row, place, &next),
                Gives::Exclusive | Gives::Extended => write(row, place, sum),
                Gives::Total => {}
            }
            next
        });
        if matches!(gives, Gives::Extended | Gives::Total) {
            either(lane.eq(lanes - 1).term(), || write(row, columns, &total), || {});
        }
    });
    block.written(slot);
}

/// Returns the number of lanes that share a row: about as many as a lane has elements, if there are threads.
pub(super) fn lanes((rows, columns): (i64, i64), threads: u32) -> i64 {
    let threads = (i64::from(threads) / rows.max(1)).max(1);
    let root = columns.max(1).isqrt().max(1);
    1 << threads.min(root).ilog2()
}
