//! A sort's pass on a CPU: a worker goes through a stretch of a row in order and counts, or moves, each element.

use super::{Digit, Sort, SortPlan};
use crate::item::{Ix, Scalars};
use crate::skeletons::compact::number;
use crate::skeletons::monoid::{Cells, each_thread, now};
use crate::skeletons::scan::Write;
use crate::{effects, named};
use pumice_scalar::{Exp, ScalarType};

/// Goes through a stretch with a number for each value of the digit: first `begin` says which, then `each` changes one.
fn go_through(
    sort: &Sort,
    (plan, digit): (SortPlan, &Digit),
    [row, tile]: [Ix; 2],
    begin: impl Fn(Ix) -> Ix,
    each: impl Fn(Ix, Scalars),
) -> Cells {
    let start = named(tile * sort.tile, "start");
    let end = named((start + sort.tile).min(sort.columns).max(start), "end");
    let table = Cells::shared(&[ScalarType::I64], plan.digits());
    let one = Exp::<i64>::from(1).term();
    each_thread(1, |_| {
        let values = Exp::<i64>::from(plan.digits()).term();
        effects::sequential(Exp::<i64>::from(0).term()..values, one, &[], |value, _| {
            let value = Exp::from_term(value);
            table.write(value, &Scalars(vec![begin(value).term()]));
            Vec::new()
        });
        effects::sequential(start.term()..end.term(), one, &[], |column, _| {
            let element = now(&(sort.at)(row, Exp::from_term(column)));
            let value = digit.of(plan, &element).cast::<i64>();
            let count = number::<i64>(&table.read(value));
            table.write(value, &Scalars(vec![(count + 1).term()]));
            each(count, element);
            Vec::new()
        });
    });
    table
}

/// Counts the elements of a stretch by the value of a digit.
pub(super) fn count(sort: &Sort, plan: SortPlan, digit: &Digit, place: [Ix; 2], write: &dyn Fn(Ix, Ix)) {
    let table = go_through(sort, (plan, digit), place, |_| Exp::from(0), |_, _| {});
    each_thread(1, |_| {
        let (one, values) = (Exp::<i64>::from(1).term(), Exp::<i64>::from(plan.digits()).term());
        effects::sequential(Exp::<i64>::from(0).term()..values, one, &[], |value, _| {
            let value: Ix = Exp::from_term(value);
            write(value, number::<i64>(&table.read(value)));
            Vec::new()
        });
    });
}

/// Moves the elements of a stretch.
pub(super) fn write(
    sort: &Sort,
    plan: SortPlan,
    digit: &Digit,
    place: [Ix; 2],
    before: &dyn Fn(Ix) -> Ix,
    write: Write<'_>,
) {
    let first = named(place[0] * sort.columns, "first");
    go_through(sort, (plan, digit), place, before, |index, element| {
        // As many elements were counted, so that this changes nothing but what can be seen of the range.
        write(first + index.clamp(0, sort.columns - 1), element);
    });
}
