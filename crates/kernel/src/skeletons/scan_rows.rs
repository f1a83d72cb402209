//! Scans of short rows: the lanes of a warp share one or several, and need no memory for it.
//!
//! A lane has `groups` groups of `items` neighbours of a row, each as far from the next as all lanes of the row reach. So
//! neighbouring lanes read neighbouring memory, wide. What stands before a group is what the lanes below have of it, and all
//! of the groups before.

use super::monoid::{Cells, before_lanes, choose, each_thread, now, only_if, scan_lanes, shuffle};
use super::scan::{Scan, ScanKind, ScanPlan, Write};
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::named;
use pumice_program::WARP;
use pumice_scalar::Exp;

/// Scans the rows, `batch` at a time with `lanes` lanes each.
pub(super) fn write(scan: &Scan, plan: ScanPlan, lanes: u32, batch: u32, write: Write<'_>) {
    let rows = Rows { scan, plan, lanes: lanes.into(), batch: batch.into() };
    let at_once = rows.teams() * rows.batch;
    let blocks = (scan.rows + (at_once - 1)) / at_once;
    effects::distribute(blocks.term(), |block| {
        let first = named(Exp::<i64>::from_term(block) * at_once, "first_row");
        let own = Cells::private(&scan.monoid.types(), rows.batch * rows.elements());
        let whole = (first + at_once).le(scan.rows) & scan.columns.eq(rows.covered());
        let load = |whole| each_thread(plan.threads, |thread| rows.load(thread, first, &own, whole));
        let store = |whole| each_thread(plan.threads, |thread| rows.store(thread, first, &own, whole, write));
        if !plan.whole_tiles {
            load(false);
            return store(false);
        }
        effects::either(
            whole.term(),
            || {
                load(true);
                store(true);
            },
            || {
                load(false);
                store(false);
            },
        );
    });
}

struct Rows<'a> {
    scan: &'a Scan,
    plan: ScanPlan,
    lanes: i64,
    batch: i64,
}

impl Rows<'_> {
    /// Rows that a block scans at once.
    fn teams(&self) -> i64 {
        i64::from(self.plan.threads) / self.lanes
    }

    /// Elements that a lane has of a row.
    fn elements(&self) -> i64 {
        i64::from(self.plan.groups) * i64::from(self.plan.items)
    }

    /// Elements that the lanes of a row have together.
    fn covered(&self) -> i64 {
        self.lanes * self.elements()
    }

    /// The row of a batch that a thread has a part of.
    fn row(&self, thread: Ix, first: Ix, batch: i64) -> Ix {
        first + batch * self.teams() + thread / self.lanes
    }

    fn lane(&self, thread: Ix) -> Ix {
        if self.lanes == 1 { Exp::from(0) } else { thread % self.lanes }
    }

    /// The column of the first element of a group, as it lies in memory.
    fn column(&self, thread: Ix, group: i64) -> Ix {
        let (groups, items) = (i64::from(self.plan.groups), i64::from(self.plan.items));
        match self.scan.from_right {
            false => (self.lane(thread) + group * self.lanes) * items,
            true => (Exp::from(groups * self.lanes - 1 - group * self.lanes) - self.lane(thread)) * items,
        }
    }

    /// The place in a thread's memory of an element, by its number in the order of the scan.
    fn place(&self, batch: i64, group: i64, item: i64) -> i64 {
        batch * self.elements() + group * i64::from(self.plan.items) + item
    }

    /// The number of an item in the order of the scan, from that in memory and back.
    fn turned(&self, item: i64) -> i64 {
        if self.scan.from_right { i64::from(self.plan.items) - 1 - item } else { item }
    }

    fn each_group(&self, mut f: impl FnMut(i64, i64)) {
        for batch in 0..self.batch {
            (0..i64::from(self.plan.groups)).for_each(|group| f(batch, group));
        }
    }

    /// Reads a thread's elements; beyond the matrix there are neutral ones.
    fn load(&self, thread: Ix, first: Ix, own: &Cells, whole: bool) {
        self.each_group(|batch, group| {
            let row = self.row(thread, first, batch);
            for item in 0..i64::from(self.plan.items) {
                let column = self.column(thread, group) + item;
                let element = || (self.scan.at)(row, column);
                let inside = row.lt(self.scan.rows) & column.lt(self.scan.columns);
                let element = match whole {
                    true => element(),
                    false => choose(inside, element, || self.scan.monoid.neutral.clone()),
                };
                own.write(self.place(batch, group, self.turned(item)), &element);
            }
        });
    }

    /// Scans what the lanes have, and writes it.
    fn store(&self, thread: Ix, first: Ix, own: &Cells, whole: bool, write: Write<'_>) {
        let monoid = &self.scan.monoid;
        let lane = self.lane(thread);
        // Each item with those before it in its group.
        let mut sums: Vec<Vec<Scalars>> = Vec::new();
        self.each_group(|batch, group| {
            let mut group_sums: Vec<Scalars> = Vec::new();
            for item in 0..i64::from(self.plan.items) {
                let element = own.read(self.place(batch, group, item));
                let sum = group_sums.last().map(|sum| now(&monoid.combine(sum, &element)));
                group_sums.push(sum.unwrap_or(element));
            }
            sums.push(group_sums);
        });
        let last = |sums: &Vec<Scalars>| sums.last().cloned().unwrap_or(monoid.neutral.clone());
        let scanned = scan_lanes(monoid, lane, self.lanes, sums.iter().map(last).collect());
        let below = before_lanes(monoid, lane, self.lanes, &scanned);
        let top = (thread % i64::from(WARP)) - lane + (self.lanes - 1);
        let groups = i64::from(self.plan.groups);
        let wants_totals = self.scan.totals.is_some() || self.scan.kind == ScanKind::Extended;
        let mut before = monoid.neutral.clone();
        self.each_group(|batch, group| {
            let number = (batch * groups + group) as usize;
            let (Some(sums), Some(below), Some(scanned)) =
                (sums.get(number), below.get(number), scanned.get(number))
            else {
                return;
            };
            if group == 0 {
                before = monoid.neutral.clone();
            }
            let base = match (group, self.lanes) {
                (0, _) => below.clone(),
                (_, 1) => before.clone(),
                _ => now(&monoid.combine(&before, below)),
            };
            if group + 1 < groups || wants_totals {
                let all = if self.lanes == 1 { scanned.clone() } else { shuffle(scanned, top) };
                before = if group == 0 { all } else { now(&monoid.combine(&before, &all)) };
            }
            let row = self.row(thread, first, batch);
            self.store_group(thread, (row, group), (&base, sums), whole, write);
            if group + 1 == groups && wants_totals {
                let is_there = if whole { Exp::from(true) } else { row.lt(self.scan.rows) };
                only_if(lane.eq(0) & is_there, || self.scan.finish_row(row, &before, write));
            }
        });
    }

    /// Writes a group, from what stands before it and its sums.
    fn store_group(
        &self,
        thread: Ix,
        (row, group): (Ix, i64),
        (base, sums): (&Scalars, &[Scalars]),
        whole: bool,
        write: Write<'_>,
    ) {
        let alone = self.lanes == 1 && group == 0;
        let values = self.scan.results(base, sums, alone);
        for item in 0..i64::from(self.plan.items) {
            let column = self.column(thread, group) + item;
            let Some(value) = values.get(self.turned(item) as usize) else { continue };
            let store = || self.scan.write_element(row, column, value, write);
            match whole {
                true => store(),
                false => only_if(row.lt(self.scan.rows) & column.lt(self.scan.columns), store),
            }
        }
    }
}

impl Scan {
    /// The results of a group of neighbours in the order of the scan, from what stands before it and the sums of its items.
    /// Where there is nothing before, `base` is neutral.
    pub(super) fn results(&self, base: &Scalars, sums: &[Scalars], nothing_before: bool) -> Vec<Scalars> {
        let with_base = |sum: &Scalars| match nothing_before {
            true => sum.clone(),
            false => now(&self.monoid.combine(base, sum)),
        };
        match self.kind {
            ScanKind::Inclusive => sums.iter().map(with_base).collect(),
            ScanKind::Exclusive | ScanKind::Extended => {
                let count = sums.len().saturating_sub(1);
                std::iter::once(base.clone()).chain(sums.iter().take(count).map(with_base)).collect()
            }
        }
    }

    /// Writes the result for an element of the matrix.
    pub(super) fn write_element(&self, row: Ix, column: Ix, value: &Scalars, write: Write<'_>) {
        // From the right, the total comes first.
        let shift = i64::from(self.kind == ScanKind::Extended && self.from_right);
        write(row * self.result_columns() + (column + shift), value.clone());
    }

    /// Hands on all elements of a row combined; in one thread.
    pub(super) fn finish_row(&self, row: Ix, total: &Scalars, write: Write<'_>) {
        if let Some(totals) = &self.totals {
            totals(row, total.clone());
        }
        if self.kind == ScanKind::Extended {
            let last = if self.from_right { Exp::from(0) } else { self.columns };
            write(row * self.result_columns() + last, total.clone());
        }
    }
}
