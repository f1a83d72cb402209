//! Scans of rows that are cut into tiles: a block scans a tile.
//!
//! A tile is `groups` parts, in each of which a thread has a group of neighbours. So it is read and written wide, and
//! nothing is exchanged through shared memory but a sum per warp and part.

use super::look_back::{LookBack, LookBackKind, ticket};
use super::monoid::{
    Cells, Monoid, before_lanes, choose, each_thread, now, only_if, scan_lanes, select, shuffle,
};
use super::scan::{Before, Scan, ScanKind, ScanPlan, Write};
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::size::{quotient, remainder};
use crate::{bounds, named};
use pumice_program::WARP;
use pumice_scalar::Exp;

const LANES: i64 = WARP as i64;

/// Scans all tiles.
pub(super) fn write(scan: &Scan, plan: ScanPlan, before: &Before, write: Write<'_>) {
    let tiles = bounds::area(scan.rows, scan.tiles);
    effects::distribute(tiles.term(), |block| {
        let number = match before {
            Before::LookBack(state) if plan.tickets => named(ticket(state.words, tiles), "tile"),
            _ => Exp::from_term(block),
        };
        let tile = Tile::new(scan, plan, number);
        let parts = tile.load();
        let prefix = match before {
            Before::LookBack(state) => {
                let kind = LookBackKind {
                    counts: false,
                    threads: plan.threads,
                    groups: plan.tiles > i64::from(plan.threads),
                };
                let (monoid, matrix) = (scan.monoid.clone(), [scan.rows, scan.tiles]);
                let asks = LookBack::new(state, monoid, kind, matrix, [tile.row, tile.number]);
                tile.scan_parts(&parts, |thread, sum| {
                    asks.tell_own(thread, sum);
                    asks.ask(thread);
                });
                effects::sync();
                asks.ask_groups(|| parts.sum.read(0));
                Prefix::LookBack(Box::new(asks))
            }
            Before::Sums(sums) => {
                tile.scan_parts(&parts, |_, _| {});
                Prefix::Known(sums(number))
            }
            Before::Nothing => {
                tile.scan_parts(&parts, |_, _| {});
                Prefix::Nothing
            }
        };
        tile.store(&parts, &prefix, write);
    });
}

/// The sums of all tiles.
pub(super) fn write_sums(scan: &Scan, plan: ScanPlan, write: Write<'_>) {
    effects::distribute(bounds::area(scan.rows, scan.tiles).term(), |block| {
        let number = Exp::from_term(block);
        let tile = Tile::new(scan, plan, number);
        let parts = tile.load();
        tile.scan_parts(&parts, |thread, sum| only_if(thread.eq(0), || write(number, sum.clone())));
    });
}

/// Everything before a tile, combined.
enum Prefix {
    Nothing,
    Known(Scalars),
    LookBack(Box<LookBack>),
}

/// The tile that a block scans.
struct Tile<'a> {
    scan: &'a Scan,
    plan: ScanPlan,
    row: Ix,
    /// Its number among the row's, in the order of the scan.
    number: Ix,
    /// The column of its first element in memory, and how many there are.
    start: Ix,
    length: Ix,
}

/// Memory for a tile while it is scanned.
struct Parts {
    /// By thread: its elements, each with those before it in its group, in the order of the scan.
    own: Cells,
    /// By thread and part: everything before its group, in the warp's part at first, then in the tile.
    bases: Cells,
    /// By thread: the sum of the tile.
    sum: Cells,
    /// By part and warp: the sum of what the warp has of the part.
    totals: Cells,
}

impl<'a> Tile<'a> {
    fn new(scan: &'a Scan, plan: ScanPlan, number: Ix) -> Tile<'a> {
        let (row, tile) = match scan.rows.term().integer() {
            Some(1) => (Exp::from(0), number),
            _ if plan.tiles == 1 => (number, Exp::from(0)),
            _ => (
                named(quotient(number, scan.tiles), "row"),
                named(remainder(number, scan.tiles), "tile_of_row"),
            ),
        };
        let from_left = if scan.from_right { scan.tiles - 1 - tile } else { tile };
        let start = named(from_left * plan.tile, "start");
        let length = named((scan.columns - start).min(plan.tile).max(0), "length");
        Tile { scan, plan, row, number: tile, start, length }
    }

    fn warps(&self) -> i64 {
        i64::from(self.plan.threads) / LANES
    }

    fn groups(&self) -> i64 {
        self.plan.groups.into()
    }

    fn items(&self) -> i64 {
        self.plan.items.into()
    }

    /// The first element of a thread's group of a part, as it lies in memory from the tile's first on.
    fn offset(&self, thread: Ix, part: i64) -> Ix {
        let threads = i64::from(self.plan.threads);
        match self.scan.from_right {
            false => (thread + part * threads) * self.items(),
            true => (Exp::from((self.groups() - part) * threads - 1) - thread) * self.items(),
        }
    }

    /// The number of an item in the order of the scan, from that in memory and back.
    fn turned(&self, item: i64) -> i64 {
        if self.scan.from_right { self.items() - 1 - item } else { item }
    }

    /// Whether all of the tile is there. Not asked of `length`: ptxas 13.0 takes a clamped value for equal to its upper bound
    /// where it is not.
    fn is_whole(&self) -> Exp<bool> {
        (self.scan.columns - self.start).ge(self.plan.tile)
    }

    /// Does something in a case for whole tiles and one for others.
    fn by_case(&self, f: impl Fn(bool)) {
        if !self.plan.whole_tiles {
            return f(false);
        }
        effects::either(self.is_whole().term(), || f(true), || f(false));
    }

    /// Reads the tile and scans what each warp has of each part; waits.
    fn load(&self) -> Parts {
        let types = self.scan.monoid.types();
        let parts = self.groups() * self.warps();
        let parts = Parts {
            own: Cells::private(&types, self.groups() * self.items()),
            bases: Cells::private(&types, self.groups()),
            sum: Cells::private(&types, 1),
            totals: Cells::shared(&types, parts),
        };
        self.by_case(|whole| {
            each_thread(self.plan.threads, |thread| {
                for (part, item) in self.each_item() {
                    let offset = self.offset(thread, part) + item;
                    let element = || (self.scan.at)(self.row, self.start + offset);
                    let element = match whole {
                        true => element(),
                        false => choose(offset.lt(self.length), element, || self.scan.monoid.neutral.clone()),
                    };
                    parts.own.write(part * self.items() + self.turned(item), &element);
                }
            });
        });
        each_thread(self.plan.threads, |thread| self.scan_warps(thread, &parts));
        effects::sync();
        parts
    }

    fn each_item(&self) -> Vec<(i64, i64)> {
        (0..self.groups()).flat_map(|part| (0..self.items()).map(move |item| (part, item))).collect()
    }

    fn scan_warps(&self, thread: Ix, parts: &Parts) {
        let monoid = &self.scan.monoid;
        let lane = thread % LANES;
        let mut sums: Vec<Scalars> = Vec::new();
        for part in 0..self.groups() {
            let mut sum = parts.own.read(part * self.items());
            for item in 1..self.items() {
                let place = part * self.items() + item;
                sum = now(&monoid.combine(&sum, &parts.own.read(place)));
                parts.own.write(place, &sum);
            }
            sums.push(sum);
        }
        let scanned = scan_lanes(monoid, lane, LANES, sums);
        let below = before_lanes(monoid, lane, LANES, &scanned);
        for (part, below) in (0..).zip(&below) {
            parts.bases.write(part, below);
        }
        only_if(lane.eq(LANES - 1), || {
            for (part, total) in (0..).zip(&scanned) {
                parts.totals.write(thread / LANES + part * self.warps(), total);
            }
        });
    }

    /// Finds what stands before each group in the tile, and the sum of the tile, with which each thread does `then`.
    fn scan_parts(&self, parts: &Parts, then: impl Fn(Ix, &Scalars)) {
        let monoid = &self.scan.monoid;
        each_thread(self.plan.threads, |thread| {
            let (bases, sum) = scan_totals(monoid, thread, self.warps(), self.groups(), &parts.totals);
            for (part, base) in (0..).zip(&bases) {
                parts.bases.write(part, &monoid.combine(base, &parts.bases.read(part)));
            }
            parts.sum.write(0, &sum);
            then(thread, &sum);
        });
    }

    /// Writes the results.
    fn store(&self, parts: &Parts, prefix: &Prefix, write: Write<'_>) {
        let scan = self.scan;
        let monoid = &scan.monoid;
        each_thread(self.plan.threads, |thread| {
            let sum = || parts.sum.read(0);
            let prefix = match prefix {
                Prefix::Nothing => None,
                Prefix::Known(prefix) => Some(prefix.clone()),
                Prefix::LookBack(asks) => Some(asks.answer()),
            };
            if let Some(prefix) = &prefix {
                for part in 0..self.groups() {
                    parts.bases.write(part, &monoid.combine(prefix, &parts.bases.read(part)));
                }
            }
            if scan.totals.is_some() || scan.kind == ScanKind::Extended {
                let is_last = thread.eq(0) & self.number.eq(scan.tiles - 1);
                only_if(is_last, || {
                    let total = match &prefix {
                        Some(prefix) => monoid.combine(prefix, &sum()),
                        None => sum(),
                    };
                    scan.finish_row(self.row, &total, write);
                });
            }
        });
        self.by_case(|whole| {
            each_thread(self.plan.threads, |thread| {
                for part in 0..self.groups() {
                    let base = parts.bases.read(part);
                    let sums: Vec<Scalars> =
                        (0..self.items()).map(|item| parts.own.read(part * self.items() + item)).collect();
                    let values = scan.results(&base, &sums, false);
                    for item in 0..self.items() {
                        let offset = self.offset(thread, part) + item;
                        let Some(value) = values.get(self.turned(item) as usize) else { continue };
                        let store = || scan.write_element(self.row, self.start + offset, value, write);
                        match whole {
                            true => store(),
                            false => only_if(offset.lt(self.length), store),
                        }
                    }
                }
            });
        });
    }
}

/// Scans the totals of a block's warps, of which there is one per part and warp, those of a part side by side. Returns what
/// stands before the thread's warp in each part, and the sum of all. For all threads of the block.
pub(super) fn scan_totals(
    monoid: &Monoid,
    thread: Ix,
    warps: i64,
    parts: i64,
    totals: &Cells,
) -> (Vec<Scalars>, Scalars) {
    let (lane, warp, count) = (thread % LANES, thread / LANES, parts * warps);
    // A lane has the total with its number, and those that are 32 further.
    let total = |first: i64| match first + LANES <= count {
        true => totals.read(lane + first),
        false => choose(lane.lt(count - first), || totals.read(lane + first), || monoid.neutral.clone()),
    };
    let rounds = (0..count).step_by(LANES as usize);
    let scanned = scan_lanes(monoid, lane, LANES, rounds.map(total).collect());
    // For each 32 totals, everything before them.
    let mut carries = vec![None];
    for totals in &scanned {
        let all = shuffle(totals, Exp::from(LANES - 1));
        carries.push(Some(match carries.last() {
            Some(Some(carry)) => now(&monoid.combine(carry, &all)),
            _ => all,
        }));
    }
    let in_round = |first: i64, round: i64| {
        let index = warp + (first - round * LANES);
        let scanned = scanned.get(round as usize).unwrap_or(&monoid.neutral);
        let below = select(index.eq(0), &monoid.neutral, &shuffle(scanned, index - 1));
        match carries.get(round as usize).cloned().flatten() {
            Some(carry) => now(&monoid.combine(&carry, &below)),
            None => below,
        }
    };
    let base = |part: i64| {
        let first = part * warps;
        // The totals of a part may be among different 32, for different warps.
        let (low, high) = (first / LANES, (first + warps - 1) / LANES);
        (low + 1..=high).fold(in_round(first, low), |base, round| {
            let own = in_round(first, round);
            select((warp + first).ge(round * LANES), &own, &base)
        })
    };
    let bases = (0..parts).map(base).collect();
    (bases, carries.pop().flatten().unwrap_or(monoid.neutral.clone()))
}
