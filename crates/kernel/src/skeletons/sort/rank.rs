//! Ranks of a tile's elements by a digit: where each belongs if the tile were sorted by it, stably.
//!
//! Where lanes vote, a warp has neighbouring elements, 32 at a time. Its lanes find those of them with the same value by a vote
//! for each bit, and the first of these adds their number to the warp's count of the value. Elsewhere each thread has
//! neighbouring elements and a count of its own for each value.

use super::tiles::SortTile;
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::size::quotient;
use crate::skeletons::compact::{adding, element, number};
use crate::skeletons::monoid::{Cells, choose, each_thread, now, only_if, scan_lanes, shuffle};
use pumice_program::{AtomicOp, CollectiveOp, WARP};
use pumice_scalar::{Exp, ScalarType};

const LANES: i64 = WARP as i64;
/// Threads whose counts one thread adds up, where lanes do not exchange values.
const GROUP: i64 = 16;

/// Does something for each value of a digit, in the thread that has it: neighbouring values are one thread's.
pub(super) fn each_value(values: i64, threads: u32, thread: Ix, f: impl Fn(Ix, i64)) {
    let own = values_of_thread(values, threads);
    for place in 0..own {
        let value = thread * own + place;
        match own * i64::from(threads) == values {
            true => f(value, place),
            false => only_if(value.lt(values), || f(value, place)),
        }
    }
}

fn values_of_thread(values: i64, threads: u32) -> i64 {
    (values + i64::from(threads) - 1) / i64::from(threads)
}

fn integer(value: impl Into<Exp<i32>>) -> Scalars {
    element(value.into())
}

/// The value of a thread's element.
pub(super) type ValueOf<'a> = &'a dyn Fn(i64) -> Exp<u32>;

impl SortTile<'_> {
    /// Ranks a tile's elements and writes their places in the sorted tile. They are counted by values and then ranked by the
    /// same ones. `tell` is told how many elements have each value, in one thread, as soon as that is known. Gives how many
    /// elements have smaller values, for each value; and at the end how many there are.
    pub(super) fn rank(&self, values: [ValueOf<'_>; 2], places: &Cells, tell: &dyn Fn(Ix, Ix)) -> Cells {
        match self.plan.votes {
            true => self.rank_by_votes(values, places, tell),
            false => self.rank_by_threads(values[0], places, tell),
        }
    }

    fn rank_by_votes(
        &self,
        [count_by, rank_by]: [ValueOf<'_>; 2],
        places: &Cells,
        tell: &dyn Fn(Ix, Ix),
    ) -> Cells {
        let (threads, values) = (self.plan.threads, self.plan.values());
        let (items, warps) = (i64::from(self.plan.items), i64::from(threads) / LANES);
        let int = [ScalarType::I32];
        // By warp and value: how many elements, and then where they begin.
        let table = self.shared("table", ScalarType::I32, warps * values);
        effects::parallel(Exp::<i64>::from(warps * values).term(), |place| {
            table.write(Exp::<i64>::from_term(place), &integer(0));
        });
        effects::sync();
        // Counted before they are ranked: other tiles learn the counts while this one ranks.
        each_thread(threads, |thread| {
            let first = (thread / LANES) * values;
            for item in 0..items {
                count_one(&table, first + count_by(item).cast::<i64>());
            }
        });
        effects::sync();
        let own = values_of_thread(values, threads);
        let (counts, sums) = (Cells::private(&int, own), Cells::private(&int, 1));
        let totals = self.shared("totals", ScalarType::I32, warps);
        each_thread(threads, |thread| {
            (0..own).for_each(|place| counts.write(place, &integer(0)));
            each_value(values, threads, thread, |value, place| {
                let parts = (0..warps).map(|warp| number::<i32>(&table.read(value + warp * values)));
                let count = now(&integer(parts.fold(Exp::from(0), |all, part| all + part)));
                counts.write(place, &count);
                tell(value, number::<i32>(&count).cast());
            });
            let own = (0..own).map(|place| number::<i32>(&counts.read(place)));
            let sum = integer(own.fold(Exp::from(0), |all, count| all + count));
            let lane = thread % LANES;
            for scanned in scan_lanes(&adding(ScalarType::I32), lane, LANES, vec![sum.clone()]) {
                only_if(lane.eq(LANES - 1), || totals.write(thread / LANES, &scanned));
                sums.write(0, &integer(number::<i32>(&scanned) - number(&sum)));
            }
        });
        effects::sync();
        let starts = self.shared("starts", ScalarType::I32, values + 1);
        each_thread(threads, |thread| {
            let before = (0..warps - 1).map(|warp| {
                let total = number::<i32>(&totals.read(warp));
                (thread / LANES).gt(warp).select(total, Exp::from(0))
            });
            let mut start = before.fold(number::<i32>(&sums.read(0)), |all, total| all + total);
            let mut firsts = Vec::new();
            for place in 0..own {
                firsts.push(start);
                start = number(&now(&integer(start + number::<i32>(&counts.read(place)))));
            }
            each_value(values, threads, thread, |value, place| {
                let Some(mut next) = firsts.get(place as usize).copied() else { return };
                starts.write(value, &integer(next));
                for warp in 0..warps {
                    let place = value + warp * values;
                    let count = number::<i32>(&table.read(place));
                    table.write(place, &integer(next));
                    next = number(&now(&integer(next + count)));
                }
                only_if(value.eq(values - 1), || starts.write(values, &integer(next)));
            });
        });
        effects::sync();
        each_thread(threads, |thread| {
            let (lane, warp) = (thread % LANES, thread / LANES);
            for item in 0..items {
                let value = number::<u32>(&now(&element(rank_by(item))));
                places.write(item, &element(take_place(&table, lane, warp * values, value, &self.masks)));
            }
        });
        starts
    }

    fn rank_by_threads(&self, value_of: ValueOf<'_>, places: &Cells, tell: &dyn Fn(Ix, Ix)) -> Cells {
        let (count, values, items) =
            (i64::from(self.plan.threads), self.plan.values(), i64::from(self.plan.items));
        let (int, bits) = (ScalarType::I32, self.plan.bits);
        // By value and thread: how many elements, and then where they begin.
        let table = self.shared("table", int, values * count);
        each_thread(self.plan.threads, |thread| {
            (0..values).for_each(|value| table.write(thread + value * count, &integer(0)));
            for item in 0..items {
                let value = number::<u32>(&now(&element(value_of(item))));
                let place = value.cast::<i64>() * count + thread;
                let rank = number::<i32>(&table.read(place));
                // A value and a rank share a word.
                places.write(item, &element(value | (rank.cast::<u32>() << bits)));
                table.write(place, &integer(rank + 1));
            }
        });
        effects::sync();
        // A thread now has neighbouring counts of that table.
        let sums = self.shared("sums", int, count);
        let groups = self.shared("groups", int, (count + GROUP - 1) / GROUP);
        let add_up = |cells: &Cells, from: Ix, to: Ix, sum: Exp<i32>| {
            let one = Exp::<i64>::from(1).term();
            let sum = effects::sequential(from.term()..to.term(), one, &[sum.term()], |place, sum| {
                let next = number::<i32>(&cells.read(Exp::<i64>::from_term(place)));
                sum.iter().map(|sum| (Exp::<i32>::from_term(*sum) + next).term()).collect()
            });
            number::<i32>(&Scalars(sum))
        };
        each_thread(self.plan.threads, |thread| {
            let sum = add_up(&table, thread * values, thread * values + values, Exp::from(0));
            sums.write(thread, &integer(sum));
        });
        effects::sync();
        effects::parallel(Exp::<i64>::from((count + GROUP - 1) / GROUP).term(), |group| {
            let first = Exp::<i64>::from_term(group) * GROUP;
            let sum = add_up(&sums, first, (first + GROUP).min(count), Exp::from(0));
            groups.write(Exp::<i64>::from_term(group), &integer(sum));
        });
        effects::sync();
        each_thread(self.plan.threads, |thread| {
            let group = quotient(thread, GROUP.into());
            let before = add_up(&groups, Exp::from(0), group, Exp::from(0));
            let before = add_up(&sums, group * GROUP, thread, before);
            let (first, one) = (thread * values, Exp::<i64>::from(1).term());
            let all = first.term()..(first + values).term();
            effects::sequential(all, one, &[before.term()], |place, next| {
                let place: Ix = Exp::from_term(place);
                let count = number::<i32>(&table.read(place));
                let next = number::<i32>(&Scalars(next.to_vec()));
                table.write(place, &integer(next));
                vec![(next + count).term()]
            });
        });
        effects::sync();
        let starts = self.shared("starts", ScalarType::I32, values + 1);
        each_thread(self.plan.threads, |thread| {
            for item in 0..items {
                let word = number::<u32>(&places.read(item));
                let (value, rank) = (word & (values - 1) as u32, word >> bits);
                let start = number::<i32>(&table.read(value.cast::<i64>() * count + thread));
                places.write(item, &element(start.cast::<u32>() + rank));
            }
            each_value(values, self.plan.threads, thread, |value, _| {
                starts.write(value, &table.read(value * count));
            });
            only_if(thread.eq(0), || starts.write(values, &integer((count * items) as i32)));
        });
        effects::sync();
        each_thread(self.plan.threads, |thread| {
            each_value(values, self.plan.threads, thread, |value, _| {
                let [start, end] = [value, value + 1].map(|value| number::<i32>(&starts.read(value)));
                tell(value, (end - start).cast());
            });
        });
        starts
    }
}

/// Adds one to a count, which is not read before the next barrier.
fn count_one(counts: &Cells, place: Ix) {
    if let Some((memory, ty)) = counts.0.first() {
        effects::atomic(AtomicOp::Add, *memory, *ty, place.term(), &[Exp::<i32>::from(1).term()], false);
    }
}

/// The place of an element in the sorted tile: those with the same value of the warp's earlier elements and of lanes below this
/// one come before it. Where the warp's next element of each value goes stands in a table, from `first` on. Each of the masks
/// has a bit of values.
fn take_place(table: &Cells, lane: Ix, first: Ix, value: Exp<u32>, masks: &[Exp<u32>]) -> Exp<u32> {
    let mut same = Exp::<u32>::from(u32::MAX);
    for mask in masks {
        let is_set = (value & *mask).ne(0);
        let set = effects::collective(CollectiveOp::Ballot, ScalarType::U32, &[is_set.term()]);
        same &= Exp::<u32>::from_term(set) ^ is_set.select(Exp::<u32>::from(0), Exp::from(u32::MAX));
    }
    let same = number::<u32>(&now(&element(same)));
    let lane = lane.cast::<u32>();
    let below = number::<u32>(&now(&element((same & ((Exp::<u32>::from(1) << lane) - 1)).count_ones())));
    // The last of them knows how many they are.
    let add = || {
        let place = (first + value.cast::<i64>()).term();
        let before = table.0.first().and_then(|(memory, ty)| {
            effects::atomic(AtomicOp::Add, *memory, *ty, place, &[(below + 1).cast::<i32>().term()], true)
        });
        Scalars(before.into_iter().collect())
    };
    let before = choose((same >> lane).eq(1), add, || integer(0));
    let last = Exp::<u32>::from(31) - same.leading_zeros();
    number::<i32>(&shuffle(&before, last.cast::<i64>())).cast::<u32>() + below
}
