//! Loops of which each row has its own: [`while_rows`], and [`AccRagged::while_`] for rows alone.
//!
//! All rows whose condition holds advance together, as one flattened step; the others are not part of it, so a step never sees a
//! row that is through. Rows that are through are taken out of the way when they are half of those that were left: copying costs
//! at most about as much as the steps do, independent of how long each row runs.

use crate::acc::Acc;
use crate::data::{Scalar, Vector};
use crate::described::Described;
use crate::expanding::stretch_within;
use crate::loops::{AccTuple, awhile_at};
use crate::operations::Gives;
use crate::ragged::AccRagged;
use pumice_scalar::{Elt, Exp, FailureKind, Place, Site, cond};
use std::sync::Arc;

/// The state of loops of rows: rows, a vector with one element per row, or a tuple of two to four of these.
///
/// ```
/// use pumice::{RowTuple, prelude::*, run};
/// fn count<S: RowTuple>(state: &S) -> Acc<Scalar<i64>> {
///     unit(state.count())
/// }
/// let rows = Ragged::from(vec![vec![1, 2], vec![], vec![3]]).use_();
/// assert_eq!(run(count(&(rows, use_(&[0, 0, 0]))))?.to_value()?, 3);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the state of loops of rows",
    label = "expected an `AccRagged<T>`, an `Acc<Vector<T>>` with one element per row, or a tuple of two to four of these"
)]
pub trait RowTuple: AccTuple {
    /// The number of rows.
    fn count(&self) -> Exp<i64>;

    /// Rows of this state and of another one: for each row of the result whether it is of the other, and its number there.
    fn picked(&self, other: &Self, rows: &Acc<Vector<(bool, i64)>>, place: Place) -> Self;
}

impl<T: Elt> RowTuple for Acc<Vector<T>> {
    fn count(&self) -> Exp<i64> {
        self.size()
    }
    fn picked(&self, other: &Self, rows: &Acc<Vector<(bool, i64)>>, place: Place) -> Self {
        let site = Some(Site { place, kind: FailureKind::OutOfBounds });
        let of = |vector: &Self, row: Exp<i64>| vector.element(&[row.term()], site);
        let element =
            |(is_other, row): (Exp<bool>, Exp<i64>)| cond(is_other, || of(other, row), || of(self, row));
        rows.clone().mapped(element, place)
    }
}

impl<T: Elt> AccTuple for AccRagged<T> {
    fn map_described(&self, f: &mut dyn FnMut(&Arc<Described>) -> Arc<Described>) -> Self {
        AccRagged { values: self.values.map_described(f), offsets: self.offsets.map_described(f) }
    }
}

impl<T: Elt> RowTuple for AccRagged<T> {
    fn count(&self) -> Exp<i64> {
        self.size()
    }
    fn picked(&self, other: &Self, rows: &Acc<Vector<(bool, i64)>>, place: Place) -> Self {
        let site = Some(Site { place, kind: FailureKind::OutOfBounds });
        let stretch = |of: &Self, row: Exp<i64>| {
            let offset = |row: Exp<i64>| of.offsets.element(&[row.term()], site);
            stretch_within((offset(row), offset(row + 1)), of.values.size(), place)
        };
        let stretches = rows.clone().mapped(
            |(is_other, row): (Exp<bool>, Exp<i64>)| {
                (is_other, cond(is_other, || stretch(other, row), || stretch(self, row)))
            },
            place,
        );
        let element = |of: &Self, index: Exp<i64>| of.values.element(&[index.term()], None);
        let values = stretches.clone().expanded(
            |(_, (_, size))| size,
            |(is_other, (first, _)), number| {
                cond(is_other, || element(other, first + number), || element(self, first + number))
            },
            place,
        );
        AccRagged::with_lengths(values, stretches.mapped(|(_, (_, size))| size, place), place)
    }
}

macro_rules! tuples {
    ($($state:ident $number:tt)*) => {
        impl<$($state: RowTuple),*> RowTuple for ($($state,)*) {
            fn count(&self) -> Exp<i64> {
                self.0.count()
            }
            fn picked(&self, other: &Self, rows: &Acc<Vector<(bool, i64)>>, place: Place) -> Self {
                ($(self.$number.picked(&other.$number, rows, place),)*)
            }
        }
    };
}
tuples!(A 0 B 1);
tuples!(A 0 B 1 C 2);
tuples!(A 0 B 1 C 2 D 3);

impl<T: Elt> AccRagged<T> {
    /// Returns the rows with these numbers, each as often as it is named. A number that no row has is an error that names this
    /// place.
    ///
    /// ```
    /// use pumice::*;
    /// let rows = use_ragged(&[vec![1, 2], vec![], vec![3]]);
    /// assert_eq!(run(rows.gather(use_(&[2i64, 0, 2])))?.to_vecs(), [vec![3], vec![1, 2], vec![3]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn gather(&self, rows: Acc<Vector<i64>>) -> AccRagged<T> {
        self.gathered(&rows, Place::caller("gather"))
    }

    /// Makes `step` of each row again and again, as long as `condition` holds for it, as [`while_rows`] does.
    ///
    /// ```
    /// use pumice::*;
    /// // Halves all elements of a row until their sum is at most 10.
    /// let rows = use_ragged(&[vec![8.0f32, 16.0], vec![], vec![1.0, 2.0]]);
    /// let halved = rows.while_(|rows| rows.sum().map(|sum| sum.gt(10.0)), |rows| rows.map(|x| x / 2.0));
    /// assert_eq!(run(halved)?.to_vecs(), [vec![2.0, 4.0], vec![], vec![1.0, 2.0]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn while_(
        self,
        condition: impl Fn(AccRagged<T>) -> Acc<Vector<bool>>,
        step: impl FnOnce(AccRagged<T>) -> AccRagged<T>,
    ) -> AccRagged<T> {
        advanced(self, condition, step, Place::caller("while_"))
    }
}

/// Makes `step` of each row of a state again and again, as long as `condition` holds for that row. The state is an `AccRagged`, a
/// vector with one element per row, or a tuple of two to four of these; rows may change their lengths.
///
/// `condition` gives one truth value per row. Both functions are given the rows that are still at it, in order and without the
/// others, and give as many; they describe programs. The host reads in every round whether any row goes on.
///
/// ```
/// use pumice::*;
/// // The largest element is dropped until the rest sums up to at most 10; how often?
/// let rows = use_ragged(&[vec![1i64, 9, 5], vec![2], vec![7, 7]]);
/// let (left, dropped) = while_rows(
///     (rows, fill(3, 0)),
///     |(rows, _)| rows.sum().map(|sum| sum.gt(10)),
///     |(rows, dropped)| {
///         let most = rows.clone().argmax();
///         let left = comp![[x | j <- 0.. | x <- rows[i], j != most[i]] | i <- 0..rows.size()];
///         (left, dropped.map(|n| n + 1))
///     },
/// );
/// assert_eq!(run(left)?.to_vecs(), [vec![1, 5], vec![2], vec![7]]);
/// assert_eq!(run(dropped)?.to_vec()?, [1, 0, 1]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn while_rows<S: RowTuple>(
    initial: S,
    condition: impl Fn(S) -> Acc<Vector<bool>>,
    step: impl FnOnce(S) -> S,
) -> S {
    advanced(initial, condition, step, Place::caller("while_rows"))
}

/// A state, and for each of its rows whether it goes on.
type Going<S> = (S, Acc<Vector<bool>>);

fn advanced<S: RowTuple>(
    initial: S,
    condition: impl Fn(S) -> Acc<Vector<bool>>,
    step: impl FnOnce(S) -> S,
    place: Place,
) -> S {
    let count = |flags: Acc<Vector<bool>>| -> Acc<Scalar<i64>> {
        let counted = flags.mapped(|flag| flag.cast::<i64>(), place);
        counted.folded(Some(Exp::from(0)), |a, b| a + b, place)
    };
    let first = condition(same(&initial));
    let is_any = |(_, going): Going<S>| count(going).mapped(|count| count.gt(0), place);
    let is_most = |(_, going): Going<S>| {
        let all = going.size();
        count(going).mapped(|count| (count * 2).gt(all), place)
    };
    let round = |state: Going<S>| {
        among_going(state, place, |rows, numbers| {
            let next = step(rows);
            // Of which there must be as many as before.
            let going = numbers.zipped(&condition(same(&next)), |_, going| going, place);
            (next, going)
        })
    };
    let until_half_is_through = |state: Going<S>| {
        among_going(state, place, |rows, numbers| {
            let all = numbers.clone().mapped(|_| Exp::from(true), place);
            awhile_at(place, (rows, all), is_most, round)
        })
    };
    awhile_at(place, (initial, first), is_any, until_half_is_through).0
}

/// Applies a function to the rows that go on, and returns the state of all rows. The function is also given the rows' numbers.
fn among_going<S: RowTuple>(
    (state, going): Going<S>,
    place: Place,
    f: impl FnOnce(S, &Acc<Vector<i64>>) -> Going<S>,
) -> Going<S> {
    let marked = going.clone().with_index(|row, going| (going, row), place);
    let rows = marked.kept(|(going, _)| going, place);
    let numbers = rows.clone().mapped(|(_, row)| row, place);
    let own = rows.mapped(|(_, row)| (Exp::from(false), row), place);
    let (next, next_going) = f(state.picked(&state, &own, place), &numbers);
    let before = going.clone().mapped(|going| going.cast::<i64>(), place);
    let before: Acc<Vector<i64>> =
        before.scanned((Gives::Exclusive, false), Some(Exp::from(0)), |a, b| a + b, place);
    let choice = marked.zipped(&before, |(going, row), before| (going, going.select(before, row)), place);
    (state.picked(&next, &choice, place), going.picked(&next_going, &choice, place))
}

/// The same arrays.
fn same<S: AccTuple>(state: &S) -> S {
    state.map_described(&mut |array| array.clone())
}

impl<T: Elt> AccRagged<T> {
    /// Like [`AccRagged::gather`], for a method that is called at a place.
    pub(crate) fn gathered(&self, rows: &Acc<Vector<i64>>, place: Place) -> AccRagged<T> {
        self.picked(self, &rows.clone().mapped(|row| (Exp::from(false), row), place), place)
    }
}
