//! The buckets of a sort on a CPU: the elements with one value of the highest digit, which one worker sorts by the others.
//!
//! A pass over all elements waits for memory; a bucket is in a cache. But one that has a great part of all elements would keep one
//! worker busy and leave the others idle, so whether there are buckets is found on the device.

use super::stretches::{DigitOf, each_value, tally};
use super::{FoundDigit, Sort, SortPlan};
use crate::item::{Ix, Scalars};
use crate::skeletons::compact::number;
use crate::skeletons::monoid::{Cells, each_thread, now, only_if};
use crate::skeletons::scan::Write;
use crate::{effects, named, quotient};
use pumice_program::MemoryId;
use pumice_scalar::{Exp, ScalarType};

/// Buckets are taken in steps of this, modulo their number, a power of two: neighbours, which are often alike, go to different workers.
const STRIDE: i64 = 797;

/// Notes in a cell whether there is more than one digit, and no value of the highest one has more elements than a worker's share.
pub(super) fn choose(
    sort: &Sort,
    plan: SortPlan,
    digit: &FoundDigit,
    starts: &dyn Fn(Ix) -> Ix,
    (memory, cell): (MemoryId, i64),
) {
    let passes = digit.settle(plan, Exp::from(0)).passes;
    each_thread(1, |_| {
        let values = Exp::<i64>::from(plan.values()).term();
        let [zero, one] = [0, 1].map(|number| Exp::<i64>::from(number).term());
        let largest = effects::sequential(zero..values, one, &[zero], |value, largest| {
            let [start, end] = bucket(sort, plan, Exp::from_term(value), starts);
            vec![Exp::<i64>::from_term(largest[0]).max(end - start).term()]
        });
        let largest = Exp::<i64>::from_term(largest[0]);
        let chosen = passes.gt(1) & (largest * sort.tiles).le(sort.columns);
        effects::store(memory, Exp::<i64>::from(cell).term(), chosen.cast::<u64>().term());
    });
}

/// Returns the start and the end of the elements with a value of the highest digit.
fn bucket(sort: &Sort, plan: SortPlan, value: Ix, starts: &dyn Fn(Ix) -> Ix) -> [Ix; 2] {
    let last = plan.values() - 1;
    let next = starts((value + 1).min(last));
    let end = value.eq(last).select(sort.columns, next);
    [starts(value), end].map(|place| place.clamp(0, sort.columns))
}

/// Sorts the buckets of a block, whose elements are in the first memory. They take turns between that and a part of the second, which
/// is the block's alone and has room for any bucket: it stays in a cache.
pub(super) fn sort_buckets(
    sort: &Sort,
    plan: SortPlan,
    digit: &FoundDigit,
    block: Ix,
    starts: &dyn Fn(Ix) -> Ix,
    memories: &[Cells; 2],
    write: Write<'_>,
) {
    let [given, room] = memories;
    let room_start = named(block * quotient(sort.columns, sort.tiles), "room");
    let table = Cells::shared(&[ScalarType::I64], plan.values());
    let [zero, one] = [0, 1].map(|number| Exp::<i64>::from(number).term());
    let buckets = named(quotient(sort.tiles - block + (plan.values() - 1), sort.tiles), "buckets");
    each_thread(1, |_| {
        let each = || {
            let passes = digit.settle(plan, Exp::from(0)).passes;
            effects::sequential(zero..buckets.term(), one, &[], |turn, _| {
                let number = named(Exp::<i64>::from_term(turn) * sort.tiles + block, "number");
                let value = named((number * STRIDE) & (plan.values() - 1), "value");
                let [start, end] = bucket(sort, plan, value, starts).map(|end| named(end, "end"));
                let size = named(end - start, "size");
                let here = Part { cells: given, start };
                let there = Part { cells: room, start: room_start };
                let is_even = |turn: Ix| (turn & 1).eq(0).term();
                only_if(size.gt(0), || {
                    effects::sequential(zero..(passes - 1).term(), one, &[], |turn, _| {
                        let turn = Exp::<i64>::from_term(turn);
                        let digit = digit.settle(plan, passes - 1 - turn).digit;
                        let pass = |from: &Part, to: &Part| pass(plan, size, &table, &digit, from, to);
                        effects::either(is_even(turn), || pass(&here, &there), || pass(&there, &here));
                        Vec::new()
                    });
                    let hand_on = |from: &Part| {
                        effects::sequential(zero..size.term(), one, &[], |place, _| {
                            let place = Exp::<i64>::from_term(place);
                            write((start + place).min(sort.columns - 1), now(&from.read(place)));
                            Vec::new()
                        });
                    };
                    effects::either(is_even(passes - 1), || hand_on(&here), || hand_on(&there));
                });
                Vec::new()
            });
        };
        match digit.only {
            Some(chosen) => only_if(chosen, each),
            None => each(),
        }
    });
}

/// A part of a memory, from one element on.
struct Part<'a> {
    cells: &'a Cells,
    start: Ix,
}

impl Part<'_> {
    fn read(&self, place: Ix) -> Scalars {
        self.cells.read(self.start + place)
    }

    fn write(&self, place: Ix, element: &Scalars) {
        self.cells.write(self.start + place, element);
    }
}

/// Moves so many elements by a digit.
fn pass(plan: SortPlan, size: Ix, table: &Cells, digit: &DigitOf, from: &Part<'_>, to: &Part<'_>) {
    let set = |value: Ix, to: Ix| table.write(value, &Scalars(vec![to.term()]));
    let [zero, one, values] = [0, 1, plan.values()].map(|number| Exp::<i64>::from(number).term());
    let range = [Exp::from(0), size];
    each_value(plan, |value| set(value, Exp::from(0)));
    tally(range, &|place| from.read(place), digit, table, &|_, _| {});
    effects::sequential(zero..values, one, &[zero], |value, before| {
        let (value, before) = (Exp::<i64>::from_term(value), Exp::<i64>::from_term(before[0]));
        let count = number::<i64>(&table.read(value));
        set(value, before);
        vec![(before + count).term()]
    });
    tally(range, &|place| from.read(place), digit, table, &|place, element| to.write(place, &element));
}
