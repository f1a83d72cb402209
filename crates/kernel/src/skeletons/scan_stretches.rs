//! Scans on a CPU: a worker goes through a stretch of a row in order.
//!
//! An element of a scan waits for the one before it, and a processor could do more meanwhile. So a worker has several
//! strands: neighbouring stretches of a row, or whole rows where there are enough, that it goes through side by side.

use super::fold::{Fold, FoldPlan, FoldTask};
use super::monoid::{choose, now};
use super::scan::{Before, Scan, ScanKind, ScanPhases, ScanPlan, ScanTask, ScanWay, Write};
use crate::effects;
use crate::item::{Dynamic, Ix, Scalars};
use crate::size::{divide_rounding_up, quotient, remainder};
use crate::{Profile, bounds, named};
use pumice_scalar::{Exp, Term};
use std::rc::Rc;

/// Stretches that a worker goes through side by side.
const STRANDS: i64 = 4;
/// Rows that are shorter are not cut.
const LONG_ROW: i64 = 1 << 14;
/// About so many elements are worth a block.
const BLOCK: i64 = 1 << 13;

/// Divides a scan.
pub(super) fn plan(profile: &Profile, task: &ScanTask) -> ScanPlan {
    let (rows, columns) = (task.rows.max(1), task.columns.max(1));
    let busy = i64::try_from(profile.busy_blocks).unwrap_or(i64::MAX).clamp(1, 1 << 16);
    let plan = ScanPlan {
        way: ScanWay::Stretches,
        phases: ScanPhases::Alone,
        threads: 1,
        groups: 1,
        items: STRANDS as u32,
        tiles: 1,
        tile: columns,
        tickets: false,
        whole_tiles: false,
        sums: None,
    };
    if columns < LONG_ROW || rows >= busy * STRANDS {
        let groups = (BLOCK / (columns * STRANDS)).max(1) as u64;
        return ScanPlan { groups: groups.next_power_of_two() as u32, ..plan };
    }
    // A row's tiles go to whole blocks.
    let wanted = (busy / rows).max(1) * STRANDS;
    let bytes = task.types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
    let commutes = task.commutes;
    let fold = FoldTask {
        rows: 1,
        columns: columns / wanted,
        bytes,
        commutes,
        columns_are_contiguous: false,
        chooses: false,
    };
    let fold = FoldPlan { chunks: 1, ..FoldPlan::new(profile, fold) };
    let tile = divide_rounding_up(divide_rounding_up(columns, wanted), fold.step()) * fold.step();
    let tiles = divide_rounding_up(divide_rounding_up(columns, tile), STRANDS) * STRANDS;
    let fold = FoldPlan { chunks: u32::try_from(tiles).unwrap_or(u32::MAX), ..fold };
    ScanPlan { phases: ScanPhases::Three, tiles, tile, sums: Some(fold), ..plan }
}

/// The sums of all tiles.
pub(super) fn write_sums(scan: &Scan, plan: FoldPlan, write: Write<'_>) {
    let (at, columns) = (scan.at.clone(), scan.columns);
    let at: super::scan::ElementAt = match scan.from_right {
        true => Rc::new(move |row, column| at(row, columns - 1 - column)),
        false => at,
    };
    let monoid = scan.monoid.clone();
    let steps = named(quotient(scan.tile, Exp::from(plan.step())), "steps");
    let fold = Fold::<Dynamic, _> {
        rows: scan.rows,
        columns,
        cut: Some((scan.tiles, steps)),
        at,
        operator: move |a: Scalars, b: Scalars| monoid.combine(&a, &b),
        neutral: scan.monoid.neutral.clone(),
        total: scan.monoid.total,
    };
    fold.push(plan).write(write);
}

/// A stretch that is scanned from its first element on.
struct Strand {
    row: Ix,
    /// Its first element and how many there are, in the order of the scan.
    start: Ix,
    length: Ix,
    /// Everything before it, combined.
    before: Scalars,
    /// Whether it ends with the row.
    ends_row: Exp<bool>,
}

/// Scans all stretches.
pub(super) fn write(scan: &Scan, plan: ScanPlan, before: &Before, write: Write<'_>) {
    let at_once = STRANDS * i64::from(plan.groups);
    let all = bounds::area(scan.rows, scan.tiles);
    let blocks = (all + (at_once - 1)) / at_once;
    effects::distribute(blocks.term(), |block| {
        let first = named(Exp::<i64>::from_term(block) * at_once, "first");
        effects::parallel(Exp::<i64>::from(1).term(), |_| {
            if plan.groups == 1 {
                return scan_strands(scan, &strands(scan, before, first), write);
            }
            let last = (first + at_once).min(all);
            let step = Exp::<i64>::from(STRANDS).term();
            effects::sequential(first.term()..last.term(), step, &[], |first, _| {
                scan_strands(scan, &strands(scan, before, Exp::from_term(first)), write);
                Vec::new()
            });
        });
    });
}

/// The strands from one with this number on.
fn strands(scan: &Scan, before: &Before, first: Ix) -> Vec<Strand> {
    let neutral = &scan.monoid.neutral;
    let strand = |number: i64| {
        let number = first + number;
        let whole_rows = scan.tiles.term().integer() == Some(1);
        let (row, tile) = match whole_rows {
            true => (number, Exp::from(0)),
            false => (quotient(number, scan.tiles), remainder(number, scan.tiles)),
        };
        let is_there = row.lt(scan.rows);
        let start = if whole_rows { Exp::from(0) } else { named(tile * scan.tile, "start") };
        let length = if whole_rows { scan.columns } else { (scan.columns - start).min(scan.tile).max(0) };
        let length = named(is_there.select(length, Exp::from(0)), "length");
        let before = match before {
            Before::Sums(sums) => now(&choose(is_there, || sums(number), || neutral.clone())),
            Before::Nothing | Before::LookBack(_) => neutral.clone(),
        };
        Strand { row, start, length, before, ends_row: is_there & tile.eq(scan.tiles - 1) }
    };
    (0..STRANDS).map(strand).collect()
}

/// Scans strands side by side as far as all of them go, then what is left of each.
fn scan_strands(scan: &Scan, strands: &[Strand], write: Write<'_>) {
    let lengths = strands.iter().map(|strand| strand.length);
    let common = named(lengths.reduce(|a, b| a.min(b)).unwrap_or(Exp::from(0)), "common");
    let befores = strands.iter().map(|strand| strand.before.clone()).collect();
    let sums = scan_range(scan, strands, Exp::from(0), common, befores, write);
    for (strand, sum) in strands.iter().zip(sums) {
        let rest = scan_range(scan, std::slice::from_ref(strand), common, strand.length, vec![sum], write);
        if scan.totals.is_some() || scan.kind == ScanKind::Extended {
            let finish = || rest.iter().for_each(|total| scan.finish_row(strand.row, total, write));
            super::monoid::only_if(strand.ends_row, finish);
        }
    }
}

/// Scans the same range of each strand, and returns everything up to its end.
fn scan_range(
    scan: &Scan,
    strands: &[Strand],
    start: Ix,
    end: Ix,
    sums: Vec<Scalars>,
    write: Write<'_>,
) -> Vec<Scalars> {
    let width = scan.monoid.neutral.0.len().max(1);
    let carried: Vec<Term> = sums.iter().flat_map(|sum| sum.0.clone()).collect();
    let one = Exp::<i64>::from(1).term();
    let last = effects::sequential(start.term()..end.term(), one, &carried, |index, carried| {
        let index: Ix = Exp::from_term(index);
        let column = |strand: &Strand| match scan.from_right {
            true => scan.columns - 1 - (strand.start + index),
            false => strand.start + index,
        };
        let elements: Vec<Scalars> =
            strands.iter().map(|strand| now(&(scan.at)(strand.row, column(strand)))).collect();
        let mut next = Vec::new();
        for ((strand, element), sum) in strands.iter().zip(&elements).zip(carried.chunks(width)) {
            let sum = Scalars(sum.to_vec());
            let with_own = now(&scan.monoid.combine(&sum, element));
            let result = if scan.kind == ScanKind::Inclusive { &with_own } else { &sum };
            scan.write_element(strand.row, column(strand), result, write);
            next.extend(with_own.0);
        }
        next
    });
    last.chunks(width).map(|sum| Scalars(sum.to_vec())).collect()
}
