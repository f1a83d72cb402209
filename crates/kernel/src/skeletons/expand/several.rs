//! Sources whose elements the threads of a block take evenly, in order, because the block has added up their sizes in shared memory. A
//! block has as many sources as threads, or all sources if they are so few.

use super::{Expansion, InOrder, Write};
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::named;
use crate::skeletons::between_hooks;
use crate::skeletons::compact::{adding, number};
use crate::skeletons::ends::Ends;
use crate::skeletons::monoid::{Cells, each_thread, now, only_if, scan_lanes};
use crate::skeletons::scan_tiles::scan_totals;
use pumice_program::WARP;
use pumice_scalar::{Exp, ScalarType};
use std::rc::Rc;

const LANES: i64 = WARP as i64;

/// Hands on the elements of as many sources as a block has threads, from one on.
pub(super) fn by_prefix_sums(expansion: &Expansion, first: Ix, threads: u32, write: Write<'_>) {
    let sources = in_order(expansion, first, threads, ends_by_threads(expansion, first, threads));
    let all = (Exp::from(0), sources.total);
    sources.by_threads(threads, all, write);
}

/// Hands on a block's share of all elements, if there is one, between the hooks of the listeners. There are no more sources than threads:
/// every block adds up all sizes.
pub(super) fn by_shares(expansion: &Expansion, (block, blocks): (Ix, Ix), threads: u32, write: Write<'_>) {
    let sources = in_order(expansion, Exp::from(0), threads, ends_by_warps(expansion, threads));
    let share = sources.share((block, blocks), threads);
    only_if(share.1.gt(0), || between_hooks(block, || sources.by_threads(threads, share, write)));
}

/// As many sources as a block has threads, from one on, given where the elements of each end. If there are fewer, the last ones have none.
fn in_order(expansion: &Expansion, first: Ix, threads: u32, ends: Cells) -> InOrder {
    let (count, source) = (i64::from(threads), expansion.source.clone());
    let total = named(number::<i64>(&ends.read(count - 1)), "total");
    InOrder {
        ends: Ends { count: Exp::from(count), end: Rc::new(move |at| number(&ends.read(at))) },
        source: Rc::new(move |at| source(first + at)),
        get: expansion.get.clone(),
        total,
        few: Some(count),
    }
}

/// The size of a source, if there is one.
fn size(expansion: &Expansion, at: Ix) -> Scalars {
    let size = || vec![expansion.source_at(at).1.term()];
    Scalars(effects::choose(at.lt(expansion.sources).term(), size, effects::zeros))
}

/// Adds sizes up where lanes shuffle.
fn ends_by_warps(expansion: &Expansion, threads: u32) -> Cells {
    let (types, warps) = ([ScalarType::I64], i64::from(threads) / LANES);
    let (ends, totals) = (Cells::shared(&types, threads.into()), Cells::shared(&types, warps));
    let (own, adding) = (Cells::private(&types, 1), adding(ScalarType::I64));
    each_thread(threads, |thread| {
        let (lane, warp) = (thread % LANES, thread / LANES);
        let sum = scan_lanes(&adding, lane, LANES, vec![size(expansion, thread)]).remove(0);
        own.write(0, &sum);
        only_if(lane.eq(LANES - 1), || totals.write(warp, &sum));
    });
    effects::sync();
    each_thread(threads, |thread| {
        let before = scan_totals(&adding, thread, warps, 1, &totals).0.remove(0);
        ends.write(thread, &now(&adding.combine(&before, &own.read(0))));
    });
    effects::sync();
    ends
}

/// Adds sizes up where they do not: over twice the distance each time.
fn ends_by_threads(expansion: &Expansion, first: Ix, threads: u32) -> Cells {
    let mut ends = Cells::shared(&[ScalarType::I64], threads.into());
    each_thread(threads, |thread| ends.write(thread, &size(expansion, first + thread)));
    effects::sync();
    let mut distance = 1;
    while distance < i64::from(threads) {
        let next = Cells::shared(&[ScalarType::I64], threads.into());
        each_thread(threads, |thread| {
            let own: Ix = number(&ends.read(thread));
            let before = number(&ends.read((thread - distance).max(0)));
            let sum = own + thread.ge(distance).select(before, Exp::from(0));
            next.write(thread, &Scalars(vec![sum.term()]));
        });
        effects::sync();
        (ends, distance) = (next, distance * 2);
    }
    ends
}
