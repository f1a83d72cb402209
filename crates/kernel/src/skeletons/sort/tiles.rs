//! A tile of a row that is sorted by a digit: its elements are ranked, exchanged through shared memory so that neighbouring
//! threads have neighbours of the sorted tile, and written behind those of other tiles.

use super::look_back::DigitLookBack;
use super::rank::each_value;
use super::{Digit, KeyOf, Sort, SortPlan};
use crate::item::{Ix, Scalars};
use crate::size::{quotient, remainder};
use crate::skeletons::compact::{element, number};
use crate::skeletons::monoid::{Cells, choose, each_thread, now, only_if};
use crate::skeletons::scan::Write;
use crate::{effects, named};
use pumice_program::{AtomicOp, MemoryId, WARP};
use pumice_scalar::{Exp, Op, ScalarType};
use std::cell::RefCell;
use std::collections::HashMap;

const LANES: i64 = WARP as i64;
/// Blocks that a multiprocessor has at once: while one waits for others' counts, another one ranks.
const RESIDENT: u32 = 3;

/// The tile that a block sorts.
pub(super) struct SortTile<'a> {
    pub sort: &'a Sort,
    pub plan: SortPlan,
    row: Ix,
    start: Ix,
    length: Ix,
    /// A mask for each bit of a value.
    pub masks: Vec<Exp<u32>>,
    /// Shared memory that every pass takes again, by what it is for and by type.
    taken: RefCell<HashMap<(&'static str, ScalarType), Cells>>,
}

/// Source from which a tile learns, for each value of a digit, how many elements of its row stand before its own.
pub(super) enum Before<'a> {
    LookBack(DigitLookBack<'a>),
    Counts(&'a dyn Fn(Ix) -> Ix),
}

/// Assignment of a tile's elements to threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrangement {
    /// As ranking wants it.
    Ranked,
    /// Neighbouring threads have neighbours.
    Striped,
}

impl<'a> SortTile<'a> {
    /// The tile with this number in a row.
    pub fn new(sort: &'a Sort, plan: SortPlan, [row, tile]: [Ix; 2]) -> SortTile<'a> {
        let start = named(tile * plan.tile, "start");
        let length = named((sort.columns - start).min(plan.tile).max(0), "length");
        // Here, and not in a branch, so that they are arguments of the launch and take no registers.
        let masks = (1..=plan.bits).map(|bit| (sort.values >> bit).term()).collect::<Vec<_>>();
        let masks = effects::compute(&masks).into_iter().map(Exp::from_term).collect();
        SortTile { sort, plan, row, start, length, masks, taken: RefCell::default() }
    }

    /// Memory that the threads of the block share: the same for all passes, which have a barrier between them.
    pub fn shared(&self, purpose: &'static str, ty: ScalarType, length: i64) -> Cells {
        let mut taken = self.taken.borrow_mut();
        taken.entry((purpose, ty)).or_insert_with(|| Cells::shared(&[ty], length)).clone()
    }

    /// The place in the tile of an element that a thread has.
    fn place(&self, arrangement: Arrangement, thread: Ix, item: i64) -> Ix {
        let (items, threads) = (i64::from(self.plan.items), i64::from(self.plan.threads));
        match (self.plan.votes, arrangement) {
            (true, _) => (thread / LANES) * (items * LANES) + thread % LANES + item * LANES,
            (false, Arrangement::Ranked) => thread * items + item,
            (false, Arrangement::Striped) => thread + item * threads,
        }
    }

    fn items(&self) -> i64 {
        self.plan.items.into()
    }

    /// Describes what is done to a whole tile, and to the last one of a row.
    fn by_case(&self, f: impl Fn(bool)) {
        // Not asked of `length`: ptxas 13.0 takes a clamped value for equal to its upper bound where it is not.
        let is_whole = (self.sort.columns - self.start).ge(self.plan.tile);
        effects::either(is_whole.term(), || f(true), || f(false));
    }

    /// Each thread does something with each of its places.
    fn each_place(&self, arrangement: Arrangement, f: impl Fn(i64, Ix)) {
        each_thread(self.plan.threads, |thread| {
            (0..self.items()).for_each(|item| f(item, self.place(arrangement, thread, item)));
        });
    }

    /// Reads the tile; beyond its end there are copies of the last element.
    fn load(&self) -> Cells {
        let own = Cells::private(&self.sort.types, self.items());
        self.by_case(|whole| {
            self.each_place(Arrangement::Ranked, |item, place| {
                let place = if whole { place } else { place.min(self.length - 1) };
                own.write(item, &(self.sort.at)(self.row, self.start + place));
            });
        });
        own
    }

    /// The values of a digit that the elements have. What is beyond the end comes last.
    fn values(&self, digit: &Digit, own: &Cells) -> Cells {
        let values = Cells::private(&[ScalarType::U32], self.items());
        let last = Exp::from((self.plan.values() - 1) as u32);
        self.by_case(|whole| {
            self.each_place(Arrangement::Ranked, |item, place| {
                let value = || element(digit.of(self.plan, &own.read(item)));
                let value = match whole {
                    true => value(),
                    false => choose(place.lt(self.length), value, || element(last)),
                };
                values.write(item, &value);
            });
        });
        values
    }

    /// Brings the elements to their places in the tile, and gives each thread those of its places. One scalar after the other:
    /// that takes less memory.
    fn exchange(&self, own: &Cells, places: &Cells) {
        for column in &own.0 {
            let own = Cells(vec![*column]);
            let staged = self.shared("staged", column.1, self.plan.tile);
            self.stage(&own, places, &staged);
            effects::sync();
            self.each_place(Arrangement::Ranked, |item, place| own.write(item, &staged.read(place)));
            effects::sync();
        }
    }

    /// Writes the elements to shared memory, at their places in the tile.
    fn stage(&self, own: &Cells, places: &Cells, staged: &Cells) {
        self.each_place(Arrangement::Ranked, |item, _| {
            staged.write(number::<u32>(&places.read(item)).cast::<i64>(), &own.read(item));
        });
    }

    /// Does something if the tile has elements. Rows may be shorter than they were planned for; the counts of tiles beyond
    /// their ends are not asked for.
    fn if_any(&self, f: impl FnOnce()) {
        effects::either(self.length.gt(0).term(), f, || {});
    }

    /// Moves the tile's elements by a digit.
    pub fn write(&self, digit: &Digit, before: &Before<'_>, write: Write<'_>) {
        let digit = digit.now();
        self.if_any(|| self.write_some(&digit, before, write));
    }

    fn write_some(&self, digit: &Digit, before: &Before<'_>, write: Write<'_>) {
        let (threads, values) = (self.plan.threads, self.plan.values());
        effects::resident(RESIDENT);
        let own = self.load();
        let places = Cells::private(&[ScalarType::U32], self.items());
        let tell = |value: Ix, count: Ix| {
            if let Before::LookBack(asks) = before {
                asks.tell(value, count);
            }
        };
        let starts = if digit.is_cheap {
            let count_by = |item: i64| digit.of(self.plan, &own.read(item));
            let rank_by = |item: i64| digit.again(self.plan, &own.read(item));
            self.rank([&count_by, &rank_by], &places, &tell)
        } else {
            self.each_place(Arrangement::Ranked, |item, _| {
                places.write(item, &element(digit.of(self.plan, &own.read(item))));
            });
            let kept = |item: i64| number(&places.read(item));
            self.rank([&kept, &kept], &places, &tell)
        };
        let staged = Cells::shared(&self.sort.types, self.plan.tile);
        self.stage(&own, &places, &staged);
        // From the place of an element in the tile to that in its row.
        let ty = if self.plan.wide { ScalarType::I64 } else { ScalarType::I32 };
        let offsets = Cells::shared(&[ty], values);
        each_thread(threads, |thread| {
            each_value(values, threads, thread, |value, _| {
                let [start, end] = [value, value + 1].map(|value| number::<i32>(&starts.read(value)).cast());
                let before = match before {
                    Before::LookBack(asks) => asks.ask(value, end - start),
                    Before::Counts(counts) => counts(value),
                };
                offsets.write(value, &Scalars(vec![(before - start).term().cast(ty)]));
            });
        });
        effects::sync();
        let row = named(self.row * self.sort.columns, "row_start");
        self.by_case(|whole| {
            let copies = (!whole).then(|| self.copies(digit, &starts));
            self.each_place(Arrangement::Striped, |_, place| {
                let move_ = || {
                    let element = staged.read(place);
                    let value = digit.again(self.plan, &element).cast::<i64>();
                    // In the type of the offsets: they are known to be far from its ends, but analyses of the program do not see that.
                    let index = offsets
                        .read(value)
                        .0
                        .first()
                        .map(|offset| offset.binary(Op::Add, place.term().cast(ty)));
                    let index = index.map_or(place, |index| Exp::from_term(index.cast(ScalarType::I64)));
                    write(row + index, element);
                };
                match copies {
                    None => move_(),
                    Some((first, end)) => only_if(place.lt(first) | place.ge(end), move_),
                }
            });
        });
    }

    /// Returns the start and the end of the copies of the last element in the sorted tile: behind all that have its value.
    fn copies(&self, digit: &Digit, starts: &Cells) -> (Ix, Ix) {
        let last = (self.sort.at)(self.row, self.start + self.length - 1);
        let value = digit.of(self.plan, &now(&last)).cast::<i64>();
        let end = named(number::<i32>(&now(&starts.read(value + 1))).cast::<i64>(), "copies_end");
        (named(end - (self.plan.tile - self.length), "copies"), end)
    }

    /// Sorts the tile, which is a row, by keys.
    pub fn sort(&self, keys: &[(u32, KeyOf)], write: Write<'_>) {
        self.if_any(|| self.sort_some(keys, write));
    }

    fn sort_some(&self, keys: &[(u32, KeyOf)], write: Write<'_>) {
        let own = self.load();
        for (bits, key) in keys.iter().rev() {
            let step = i64::from(self.plan.bits);
            let end = i64::from(self.plan.passes(*bits)) * step;
            let sort = |shift: Ix| {
                let shift = shift.cast();
                let digit = Digit { key: key.clone(), shift, shift_again: shift, is_cheap: false }.now();
                let places = self.values(&digit, &own);
                let kept = |item: i64| number(&places.read(item));
                self.rank([&kept, &kept], &places, &|_, _| {});
                self.exchange(&own, &places);
            };
            if end == step {
                sort(Exp::from(0));
                continue;
            }
            let [zero, end, step] = [0, end, step].map(|number| Exp::<i64>::from(number).term());
            effects::sequential(zero..end, step, &[], |shift, _| {
                sort(Exp::from_term(shift));
                Vec::new()
            });
        }
        self.each_place(Arrangement::Ranked, |item, place| {
            only_if(place.lt(self.length), || {
                write(self.row * self.sort.columns + self.start + place, own.read(item));
            });
        });
    }
}

/// Memory of counts that a block shares, zero at first, to which its threads add one at a time.
fn counted(length: i64, count: impl FnOnce(&dyn Fn(Ix))) -> Cells {
    let table = Cells::shared(&[ScalarType::I32], length);
    effects::parallel(Exp::<i64>::from(length).term(), |place| {
        table.write(Exp::<i64>::from_term(place), &Scalars(vec![Exp::<i32>::from(0).term()]));
    });
    effects::sync();
    count(&|place| {
        for (memory, ty) in &table.0 {
            let one = [Exp::<i32>::from(1).term()];
            effects::atomic(AtomicOp::Add, *memory, *ty, place.term(), &one, false);
        }
    });
    effects::sync();
    table
}

/// Loads that a thread has under way at once where it only counts.
const AT_ONCE: i64 = 4;

/// Does something with each element of a stretch of a row.
fn each_element(sort: &Sort, plan: SortPlan, [row, start, length]: [Ix; 3], f: impl Fn(&Scalars)) {
    let threads = i64::from(plan.threads);
    each_thread(plan.threads, |thread| {
        let round = |first: Ix, whole: bool| {
            let places: Vec<Ix> = (0..AT_ONCE).map(|item| first + item * threads).collect();
            if whole {
                let elements: Vec<Scalars> =
                    places.iter().map(|place| now(&(sort.at)(row, start + *place))).collect();
                return elements.iter().for_each(&f);
            }
            for place in places {
                only_if(place.lt(length), || f(&now(&(sort.at)(row, start + place))));
            }
        };
        let step = threads * AT_ONCE;
        let whole = named(quotient(length, step.into()) * step, "whole");
        effects::sequential(thread.term()..whole.term(), Exp::<i64>::from(step).term(), &[], |first, _| {
            round(Exp::from_term(first), true);
            Vec::new()
        });
        round(whole + thread, false);
    });
}

/// Counts the elements of a tile by the value of a digit.
pub(super) fn count(
    sort: &Sort,
    plan: SortPlan,
    digit: &Digit,
    [row, tile]: [Ix; 2],
    write: &dyn Fn(Ix, Ix),
) {
    let start = named(tile * plan.tile, "start");
    let length = named((sort.columns - start).min(plan.tile).max(0), "length");
    let table = counted(plan.values(), |add| {
        each_element(sort, plan, [row, start, length], |element| add(digit.of(plan, element).cast()));
    });
    effects::parallel(Exp::<i64>::from(plan.values()).term(), |value| {
        let value: Ix = Exp::from_term(value);
        write(value, number::<i32>(&table.read(value)).cast());
    });
}

/// Tiles whose elements a block counts by all digits.
const TILES_AT_ONCE: i64 = 4;

/// Counts the elements of all rows by the values of several digits.
pub(super) fn count_all(sort: &Sort, plan: SortPlan, digits: &[Digit], counts: MemoryId) {
    let (values, step) = (plan.values(), plan.tile * TILES_AT_ONCE);
    let all = values * digits.len() as i64;
    let parts = named((sort.columns + (step - 1)) / step, "parts");
    effects::distribute(crate::bounds::area(sort.rows, parts).term(), |block| {
        let block: Ix = Exp::from_term(block);
        let one_row = sort.rows.term().integer() == Some(1);
        let row = if one_row { Exp::from(0) } else { named(quotient(block, parts), "row") };
        let part = if one_row { block } else { remainder(block, parts) };
        let start = named(part * step, "start");
        let length = named((sort.columns - start).min(step).max(0), "length");
        let table = counted(all, |add| {
            each_element(sort, plan, [row, start, length], |element| {
                for (number, digit) in (0..).zip(digits) {
                    add(digit.of(plan, element).cast::<i64>() + number * values);
                }
            });
        });
        effects::parallel(Exp::<i64>::from(all).term(), |place| {
            let place: Ix = Exp::from_term(place);
            let count = number::<i32>(&table.read(place)).cast::<i64>();
            only_if(count.gt(0), || {
                let index = (row * all + place).term();
                effects::atomic(AtomicOp::Add, counts, ScalarType::I64, index, &[count.term()], false);
            });
        });
    });
}
