//! A sort's passes on a CPU: a worker goes through a stretch of a row in order and counts, or moves, each element.
//!
//! Keys seldom have as many different bits as their type. So the smallest and the largest of each key are found first, and digits are
//! those of the difference to the smallest. A sort has passes for all bits of its keys, the last of which do the work and the others
//! nothing: which digit a pass takes is found on the device.

use super::{FoundDigit, KeyOf, Sort, SortPlan};
use crate::item::{Ix, Scalars};
use crate::skeletons::compact::number;
use crate::skeletons::monoid::{Cells, each_thread, now, only_if};
use crate::skeletons::scan::{ElementAt, Write};
use crate::{effects, named};
use pumice_program::{AtomicOp, MemoryId};
use pumice_scalar::{Constant, Exp, Op, ScalarType, Term};
use std::rc::Rc;

/// Returns the start and the end of a worker's stretch of a row.
fn stretch(sort: &Sort, tile: Ix) -> [Ix; 2] {
    let start = named(tile * sort.tile, "start");
    [start, named((start + sort.tile).min(sort.columns).max(start), "end")]
}

/// Finds the smallest and the largest of each key in all stretches.
pub(super) fn find_limits(sort: &Sort, keys: &[KeyOf], [row, tile]: [Ix; 2], limits: MemoryId) {
    let [start, end] = stretch(sort, tile);
    let keys_at = |column: Ix| -> Vec<Term> {
        let element = (sort.at)(row, column);
        keys.iter().map(|key| key(&element)).collect()
    };
    each_thread(1, |_| {
        only_if(start.lt(end), || {
            let first = effects::compute(&keys_at(start));
            let both: Vec<Term> = first.iter().flat_map(|key| [*key, *key]).collect();
            let found = effects::sequential(start.term()..end.term(), one(), &both, |column, so_far| {
                let keys = keys_at(Exp::from_term(column)).into_iter();
                let pairs = keys.zip(so_far.chunks(2));
                pairs
                    .flat_map(|(key, so_far)| {
                        [so_far[0].binary(Op::Min, key), so_far[1].binary(Op::Max, key)]
                    })
                    .collect()
            });
            for (cell, found) in (0..).zip(&found) {
                // Memory is zero at first, so the largest complement is found of what is to be smallest.
                let found = Exp::<u64>::from_term(found.cast(ScalarType::U64));
                let value = if cell % 2 == 0 { !found } else { found };
                let cell = Exp::<i64>::from(cell).term();
                effects::atomic(AtomicOp::Max, limits, ScalarType::U64, cell, &[value.term()], false);
            }
        });
    });
}

/// The digit of an element.
pub(super) type DigitOf = Rc<dyn Fn(&Scalars) -> Exp<u32>>;

/// A pass that has been told its digit.
pub(super) struct Settled {
    /// Number of passes that do something.
    pub passes: Ix,
    /// The digit that comes so many before the highest one.
    pub digit: DigitOf,
}

impl FoundDigit {
    /// Finds the digit that comes so many before the highest one.
    pub(super) fn settle(&self, plan: SortPlan, after: Ix) -> Settled {
        let mask = (plan.values() - 1) as u32;
        let Some(limit) = &self.limits else {
            let key = self.keys.first().cloned();
            let zero = || Term::from(Constant::zero(ScalarType::U32));
            let digit = move |element: &Scalars| {
                let key = key.as_ref().map_or_else(zero, |key| key(element));
                Exp::<u32>::from_term(key.cast(ScalarType::U32)) & mask
            };
            return Settled { passes: Exp::from(1), digit: Rc::new(digit) };
        };
        let bits = i64::from(plan.bits);
        let count = self.keys.len() as i64;
        let lowest: Vec<Exp<u64>> = (0..count).map(|key| !limit(2 * key)).collect();
        // The last pass takes the highest bits of the first key, those before it what is left: this one is so far from the end. The
        // lowest digit of a key may have bits of the one above it, which change nothing.
        let (mut left, mut taken) = (after, Exp::from(false));
        let (mut chosen, mut shift, mut total) =
            (Exp::<i64>::from(0), Exp::<i64>::from(0), Exp::<i64>::from(0));
        for (key, lowest) in (0..).zip(&lowest) {
            let width = Exp::<i64>::from(64) - (limit(2 * key + 1) - *lowest).leading_zeros().cast::<i64>();
            let digits = (width + (bits - 1)) / bits;
            let is_here = !taken & left.lt(digits);
            chosen = is_here.select(Exp::from(key), chosen);
            shift = is_here.select((width - (left + 1) * bits).max(0), shift);
            (left, taken, total) = (left - digits, taken | is_here, total + digits);
        }
        let passes = total.max(1);
        let terms = [passes.term(), chosen.term(), shift.term()]
            .into_iter()
            .chain(lowest.iter().map(|low| low.term()));
        let known = effects::compute(&terms.collect::<Vec<Term>>());
        let [passes, chosen] = [known[0], known[1]].map(Exp::<i64>::from_term);
        let (shift, lowest, keys) = (known[2], known[3..].to_vec(), self.keys.clone());
        let digit = move |element: &Scalars| {
            let shifted = |(key, lowest): (&KeyOf, &Term)| {
                let key = key(element);
                let difference = key.binary(Op::Sub, lowest.cast(key.ty()));
                difference.binary(Op::Shr, shift.cast(key.ty())).cast(ScalarType::U32)
            };
            let mut digits = (0..).zip(keys.iter().zip(&lowest).map(shifted));
            let first = digits.next().map_or(Exp::from(0), |(_, first)| Exp::<u32>::from_term(first));
            digits.fold(first, |digit, (key, other)| chosen.eq(key).select(Exp::from_term(other), digit))
                & mask
        };
        Settled { passes, digit: Rc::new(digit) }
    }
}

/// Goes through some elements with a number for each value of a digit, which counts them.
pub(super) fn tally(
    [start, end]: [Ix; 2],
    at: &dyn Fn(Ix) -> Scalars,
    digit: &DigitOf,
    table: &Cells,
    each: &dyn Fn(Ix, Scalars),
) {
    effects::sequential(start.term()..end.term(), one(), &[], |column, _| {
        let element = now(&at(Exp::from_term(column)));
        let value = digit(&element).cast::<i64>();
        let count = number::<i64>(&table.read(value));
        table.write(value, &Scalars(vec![(count + 1).term()]));
        each(count, element);
        Vec::new()
    });
}

/// For each value of a digit.
pub(super) fn each_value(plan: SortPlan, body: impl FnOnce(Ix)) {
    let values = Exp::<i64>::from(plan.values()).term();
    effects::sequential(Exp::<i64>::from(0).term()..values, one(), &[], |value, _| {
        body(Exp::from_term(value));
        Vec::new()
    });
}

fn one() -> Term {
    Exp::<i64>::from(1).term()
}

/// Goes through a stretch with a number for each value of the digit: first `begin` says which, then `each` changes one.
fn go_through(
    sort: &Sort,
    (plan, pass): (SortPlan, &FoundDigit),
    [row, tile]: [Ix; 2],
    begin: impl Fn(Ix) -> Ix,
    each: impl Fn(Ix, Scalars),
) -> Cells {
    let range = stretch(sort, tile);
    let settled = pass.settle(plan, pass.after);
    let table = Cells::shared(&[ScalarType::I64], plan.values());
    let elements = |at: &ElementAt| tally(range, &|column| at(row, column), &settled.digit, &table, &each);
    each_thread(1, |_| {
        each_value(plan, |value| table.write(value, &Scalars(vec![begin(value).term()])));
        let from_somewhere = || match &pass.moved {
            None => elements(&sort.at),
            Some(moved) => {
                let is_first = settled.passes.eq(pass.after + 1);
                effects::either(is_first.term(), || elements(&sort.at), || elements(moved));
            }
        };
        let has_digit = pass.limits.is_some().then(|| settled.passes.gt(pass.after));
        match has_digit.into_iter().chain(pass.only).reduce(|a, b| a & b) {
            None => from_somewhere(),
            Some(takes_part) => only_if(takes_part, from_somewhere),
        }
    });
    table
}

/// Counts the elements of a stretch by the value of a digit. A pass without a digit counts none.
pub(super) fn count(sort: &Sort, plan: SortPlan, pass: &FoundDigit, place: [Ix; 2], write: &dyn Fn(Ix, Ix)) {
    let table = go_through(sort, (plan, pass), place, |_| Exp::from(0), |_, _| {});
    each_thread(1, |_| each_value(plan, |value| write(value, number::<i64>(&table.read(value)))));
}

/// Moves the elements of a stretch.
pub(super) fn write(
    sort: &Sort,
    plan: SortPlan,
    pass: &FoundDigit,
    place: [Ix; 2],
    before: &dyn Fn(Ix) -> Ix,
    write: Write<'_>,
) {
    let first = named(place[0] * sort.columns, "first");
    go_through(sort, (plan, pass), place, before, |index, element| {
        // As many elements were counted, so that this changes nothing but what can be seen of the range.
        write(first + index.clamp(0, sort.columns - 1), element);
    });
}
