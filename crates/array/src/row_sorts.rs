//! Sorts of rows of any lengths, which stand one after the other in a vector.
//!
//! Short rows are sorted by blocks, each in its own memory ([`SortRows`]); the long ones together, by their number first, as one vector that
//! has nothing else. How many there are of either, the host reads before it plans the rest: where none is long, there is nothing but
//! the blocks.

use crate::described::Described;
use crate::expanding::part_within;
use crate::operations::{Fold, Order, Permute, Sort, SortRows};
use crate::rows::short_number;
use crate::sorting::Falls;
use crate::untyped::{by_keys, expanded, generated, length, of, zipped};
use pumice_scalar::{Exp, Function, Place, ScalarType, Term, while_};
use std::sync::Arc;

/// The elements of rows in the order of keys, each with its direction; stably. Offsets say where each row begins, and at last where the last
/// one ends; what is in no row stays as it is. A row that is not in the vector, or ends before it begins, is a failure at the place.
///
/// ```
/// use pumice::layers::array::{Falls, untyped};
/// use pumice::{layers::scalar::Place, prelude::*, run};
/// let (xs, offsets) = (use_(&[3i64, 1, 2, 9, 8]), use_(&[0i64, 3, 5]));
/// let keys = |terms: &[_]| vec![(terms[0], Falls(false))];
/// let sorted = untyped::sorted_rows(xs.described(), offsets.described(), keys, Place::new("sort", "prices.pum", 3, 7));
/// assert_eq!(run(Acc::<Vector<i64>>::from_described(sorted))?.to_vec()?, [1, 2, 3, 8, 9]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn sorted_rows(
    values: &Arc<Described>,
    offsets: &Arc<Described>,
    keys: impl Fn(&[Term]) -> Vec<(Term, Falls)>,
    place: Place,
) -> Arc<Described> {
    by_keys(values, keys, |values, keys| in_order(values, offsets, keys, place), place)
}

/// The elements of each of so many rows in the order of keys, as [`sorted_rows`] sorts them. The number of an element's row is a function of it,
/// and does not fall.
///
/// ```
/// use pumice::layers::array::{Falls, untyped};
/// use pumice::{layers::scalar::Place, prelude::*, run};
/// let xs = use_(&[(0i64, 3i64), (0, 1), (2, 9), (2, 8)]);
/// let keys = |terms: &[_]| vec![(terms[1], Falls(false))];
/// let place = Place::new("order_by", "prices.pum", 3, 7);
/// let sorted = untyped::sorted_in_rows(xs.described(), (Exp::from(3), |terms: &[_]| terms[0]), keys, place);
/// let sorted = Acc::<Vector<(i64, i64)>>::from_described(sorted);
/// assert_eq!(run(sorted)?.to_vec()?, [(0, 1), (0, 3), (2, 8), (2, 9)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn sorted_in_rows(
    array: &Arc<Described>,
    (rows, row): (Exp<i64>, impl Fn(&[Term]) -> Term),
    keys: impl Fn(&[Term]) -> Vec<(Term, Falls)>,
    place: Place,
) -> Arc<Described> {
    let offset = |number: Term| {
        let halve = |(low, high): (Exp<i64>, Exp<i64>)| {
            let middle = (low + high) >> 1;
            let is_before =
                Exp::<i64>::from_term(row(&array.element(&[middle.term()], None))).lt(Exp::from_term(number));
            (is_before.select(middle + 1, low), is_before.select(high, middle))
        };
        let all = (Exp::from(0), Exp::from_term(length(array)));
        vec![while_(all, |(low, high): (Exp<i64>, Exp<i64>)| low.lt(high), halve).0.term()]
    };
    let offsets = generated((rows + 1).term(), offset, vec![ScalarType::I64], place);
    sorted_rows(array, &offsets, keys, place)
}

fn in_order(
    values: &Arc<Described>,
    offsets: &Arc<Described>,
    keys: Function,
    place: Place,
) -> Arc<Described> {
    let types = values.types().to_vec();
    let limit = SortRows::limit(&types);
    let number =
        |terms: &[Term], at: usize| terms.get(at).map_or(Exp::<i64>::from(0), |term| Exp::from_term(*term));
    let count = (Exp::<i64>::from_term(length(offsets)) - 1).max(0);
    // The start and the size of a row.
    let row = |row: Term| {
        let offset = |row: Exp<i64>| number(&offsets.element(&[row.term()], None), 0);
        let row = Exp::<i64>::from_term(row);
        part_within((offset(row), offset(row + 1)), Exp::from_term(length(values)), place)
    };

    // The most elements of a short row, as a power of two, so that few plans are made for many arrays; and the number of elements of long ones.
    let sizes = |at: Term| {
        let (_, size) = row(at);
        let is_short = size.le(limit);
        let longest = is_short.select(size.max(1).next_power_of_two(), Exp::from(1));
        vec![longest.term(), is_short.select(Exp::from(0), size).term()]
    };
    let pair = vec![ScalarType::I64; 2];
    let sizes = generated(count.term(), sizes, pair.clone(), place);
    let both = of(&[ScalarType::I64; 4], |pairs| {
        let at = |which| number(pairs, which);
        vec![at(0).max(at(2)).term(), (at(1) + at(3)).term()]
    });
    let none = of(&[], |_| [1, 0].map(|number| Exp::<i64>::from(number).term()).to_vec());
    let measured =
        Described::new(Fold { operator: both, initial: Some(none) }, vec![sizes], 0, pair.clone(), place);
    let longest = of(&[], |_| measured.element(&[], None)[..1].to_vec());
    let short = SortRows { order: Order::Keys(keys.clone()), longest };
    let short = match limit {
        0 => values.clone(),
        _ => Described::new(short, vec![values.clone(), offsets.clone()], 1, types.clone(), place),
    };

    // Where no row is long, none is looked at: all of what follows has no element.
    let none_is_long = number(&measured.element(&[], None), 1).eq(0);
    let long = |at: Term| {
        let (start, size) = row(at);
        let size = size.le(limit).select(Exp::from(0), size);
        vec![short_number(Exp::from_term(at), count, place).term(), start.term(), size.term()]
    };
    let types_of_long = vec![ScalarType::U32, ScalarType::I64, ScalarType::I64];
    let long = generated(none_is_long.select(Exp::from(0), count).term(), long, types_of_long, place);
    let place_of = |row: &[Term], at: Term| vec![row[0], (number(row, 1) + Exp::from_term(at)).term()];
    let places = expanded(&long, |row| row[2], place_of, vec![ScalarType::U32, ScalarType::I64], place);
    let numbered_types = [&[ScalarType::U32], &types[..]].concat();
    let elements = |at: &[Term]| [vec![at[0]], values.element(&at[1..], None)].concat();
    let elements = zipped(&[&places], elements, numbered_types.clone(), place);
    let keys = of(&numbered_types, |terms| [vec![terms[0]], keys.apply(&terms[1..])].concat());
    let sorted =
        Described::new(Sort { order: Order::Keys(keys) }, vec![elements], 1, numbered_types.clone(), place);

    // Rows stay where they are, so the elements that were taken first go to where the first ones were.
    let placed_types = [&[ScalarType::I64], &types[..]].concat();
    let placed = |terms: &[Term]| [&terms[1..2], &terms[3..]].concat();
    let placed = zipped(&[&places, &sorted], placed, placed_types.clone(), place);
    let target = of(&[&[ScalarType::I64], &placed_types[..]].concat(), |terms| {
        // Every place is in the vector: nothing is to be checked.
        let place = number(terms, 1).clamp(0, Exp::<i64>::from_term(length(values)) - 1);
        [&[Exp::from(true).term(), place.term()], &terms[2..]].concat()
    });
    let combine = of(&[&types[..], &types[..]].concat(), |both| both[..types.len()].to_vec());
    Described::new(Permute { rank: 1, combine, target, distinct: true }, vec![short, placed], 1, types, place)
}
