//! Functions that macros call for rows: generators that draw from one, inner arrays, and inner comprehensions that are sorted, grouped and cut.

use super::{Keys, groups, present};
use crate::acc::Acc;
use crate::data::{Matrix, Vector};
use crate::expanding::part_within;
use crate::ragged::AccRagged;
use crate::row_sorts::sorted_in_rows;
use pumice_scalar::{Elt, Exp, FailureKind, IntoExp, Lift, OptionExp, Place, Site, Term};

/// Arrays with rows that a generator can draw from.
#[diagnostic::on_unimplemented(
    message = "a generator cannot draw from a row of `{Self}`",
    label = "expected a matrix of the program",
    note = "`x <- m[i]` draws from a row of an `Acc<Matrix<T>>`; a part of a vector is `xs[a..b]`"
)]
pub trait Rows {
    /// Type of their elements.
    type Elt: Elt;
    /// Returns the number of elements of a row.
    fn count(&self, row: Exp<i64>, place: Place) -> Exp<i64>;
    /// An element of a row, by a number below its length.
    fn element(&self, row: Exp<i64>, number: Exp<i64>, place: Place) -> <Self::Elt as Elt>::Exp;
    /// An element of a row; a number that the row does not have is an error.
    fn at(&self, row: Exp<i64>, number: Exp<i64>, place: Place) -> <Self::Elt as Elt>::Exp {
        self.element(row, number, place)
    }
}

impl<T: Elt> Rows for Acc<Matrix<T>> {
    type Elt = T;
    fn count(&self, _: Exp<i64>, _: Place) -> Exp<i64> {
        self.shape().1
    }
    fn element(&self, row: Exp<i64>, number: Exp<i64>, place: Place) -> T::Exp {
        let site = Site { place, kind: FailureKind::OutOfBounds };
        Acc::element(self, &[row.term(), number.term()], Some(site))
    }
}

impl<R: Rows> Rows for &R {
    type Elt = R::Elt;
    fn count(&self, row: Exp<i64>, place: Place) -> Exp<i64> {
        (**self).count(row, place)
    }
    fn element(&self, row: Exp<i64>, number: Exp<i64>, place: Place) -> <R::Elt as Elt>::Exp {
        (**self).element(row, number, place)
    }
    fn at(&self, row: Exp<i64>, number: Exp<i64>, place: Place) -> <R::Elt as Elt>::Exp {
        (**self).at(row, number, place)
    }
}

/// Returns the number of elements of a row.
#[track_caller]
pub fn row_count<R: Rows>(rows: &R, row: impl Into<Exp<i64>>) -> Exp<i64> {
    rows.count(row.into(), Place::caller("row"))
}

/// An element of a row.
#[track_caller]
pub fn row_element<R: Rows>(rows: &R, row: impl Into<Exp<i64>>, number: Exp<i64>) -> <R::Elt as Elt>::Exp {
    rows.element(row.into(), number, Place::caller("row"))
}

/// An element of a row, by a number that the user computes.
#[track_caller]
pub fn row_at<R: Rows>(
    rows: &R,
    row: impl Into<Exp<i64>>,
    number: impl Into<Exp<i64>>,
) -> <R::Elt as Elt>::Exp {
    rows.at(row.into(), number.into(), Place::caller("at"))
}

/// Returns the start and length of a part of a row. A part that is not within the row is an error.
fn row_stretch<R: Rows>(
    rows: &R,
    row: Exp<i64>,
    (from, to): (Exp<i64>, Option<Exp<i64>>),
    place: Place,
) -> (Exp<i64>, Exp<i64>) {
    let count = rows.count(row, place);
    let to = to.unwrap_or(count);
    part_within((from, to), count, place)
}

/// Returns the number of elements of a part of a row.
#[track_caller]
pub fn row_slice_count<R: Rows>(
    rows: &R,
    row: Exp<i64>,
    from: impl Into<Exp<i64>>,
    to: Option<Exp<i64>>,
) -> Exp<i64> {
    row_stretch(rows, row, (from.into(), to), Place::caller("slice")).1
}

/// An element of a part of a row, which is known to be within it.
#[track_caller]
pub fn row_slice_element<R: Rows>(
    rows: &R,
    row: Exp<i64>,
    from: impl Into<Exp<i64>>,
    number: Exp<i64>,
) -> <R::Elt as Elt>::Exp {
    rows.element(row, from.into().max(0) + number, Place::caller("slice"))
}

/// The value of one row in the result of a reduction of rows.
pub fn of_row<T: Elt>(values: &Acc<Vector<T>>, row: Exp<i64>) -> T::Exp {
    values.element(&[row.term()], None)
}

/// The value of one row of a reduction that empty rows have none of: an error only where it is asked for.
#[track_caller]
pub fn of_row_present<T: Elt<Exp = OptionExp<L>>, L: Lift>(values: &Acc<Vector<T>>, row: Exp<i64>) -> L {
    present(values.element(&[row.term()], None))
}

/// The first elements of each row, or all if there are fewer: of elements in the order of their rows, of which there are so many.
#[track_caller]
pub fn first_of_rows<T: Elt>(
    vector: Acc<Vector<T>>,
    rows: Exp<i64>,
    row: impl Fn(T::Exp) -> Exp<i64>,
    count: impl FnOnce(T::Exp) -> Exp<i64>,
) -> Acc<Vector<T>> {
    let place = Place::caller("take");
    let numbered = vector.clone().mapped(|x| (row(x), Exp::from(true)), place);
    let starts = AccRagged::of_numbered(rows, numbered, place).offsets();
    let ranked = vector.with_index(|index, x| (index - starts.element(&[row(x).term()], None), x), place);
    ranked.kept(|(rank, x)| rank.lt(count(x)), place).mapped(|(_, x)| x, place)
}

/// The elements of each of so many rows in the order of their keys: of elements in the order of their rows.
#[track_caller]
pub fn ordered_in_rows<T: Elt, K: Lift>(
    vector: Acc<Vector<T>>,
    rows: Exp<i64>,
    row: impl Fn(T::Exp) -> Exp<i64>,
    keys: impl Fn(T::Exp) -> Keys<K>,
) -> Acc<Vector<T>> {
    in_order_of_rows(vector, (rows, row), keys, Place::caller("order_by"))
}

fn in_order_of_rows<T: Elt, K: Lift>(
    vector: Acc<Vector<T>>,
    (rows, row): (Exp<i64>, impl Fn(T::Exp) -> Exp<i64>),
    keys: impl Fn(T::Exp) -> Keys<K>,
    place: Place,
) -> Acc<Vector<T>> {
    let element = |terms: &[Term]| T::Exp::from_terms(&mut terms.iter().copied());
    let keys = |terms: &[Term]| {
        let Keys { keys, directions } = keys(element(terms));
        keys.terms().into_iter().zip(directions).collect()
    };
    let row = |terms: &[Term]| row(element(terms)).term();
    Acc::from_described(sorted_in_rows(vector.described(), (rows, row), keys, place))
}

/// Elements beside the number of their row, of which there are so many: each once, in rising order by row.
#[track_caller]
pub fn once_in_rows<T: Elt>(rows: Exp<i64>, numbered: Acc<Vector<(i64, T)>>) -> Acc<Vector<(i64, T)>> {
    let place = Place::caller("distinct");
    let row = |(row, _): (Exp<i64>, T::Exp)| row;
    in_order_of_rows(numbered, (rows, row), |(_, x)| Keys::default().rising(x), place).unique()
}

/// The groups of elements with equal keys in each of so many rows, in rising order by row and key, beside the number of their row: each
/// with its key, and with the combined values of a function of its elements.
#[track_caller]
#[allow(clippy::type_complexity)]
pub fn grouped_in_rows<T: Elt, K: Lift, L: Lift>(
    vector: Acc<Vector<T>>,
    rows: Exp<i64>,
    row: impl FnOnce(T::Exp) -> Exp<i64>,
    key: impl FnOnce(T::Exp) -> K,
    value: impl FnOnce(T::Exp) -> L,
    combine: impl Fn(L, L) -> L,
) -> Acc<Vector<(i64, (K::Elt, L::Elt))>> {
    let place = Place::caller("group_by");
    let pairs = vector.mapped(|x| ((row(x), key(x)), value(x)), place);
    let row = |((row, _), _): ((Exp<i64>, K), L)| row;
    let keys = |((_, key), _): ((Exp<i64>, K), L)| Keys::default().rising(key);
    let sorted = in_order_of_rows(pairs, (rows, row), keys, place);
    let groups = groups::<(Exp<i64>, K), L>(sorted, combine, place);
    groups.mapped(|((row, key), combined): ((Exp<i64>, K), L)| (row, (key, combined)), place)
}

/// Reduces each row with an operator that has a neutral element.
#[track_caller]
pub fn reduced_rows<T: Elt>(
    rows: AccRagged<T>,
    neutral: impl IntoExp<T>,
    combine: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
) -> Acc<Vector<T>> {
    let place = Place::caller("reduction");
    rows.flatten().fold_stretches::<T>(&rows.offsets(), |x, _| x, neutral.into_exp(), combine, place)
}

/// Reduces each row that has elements.
#[track_caller]
pub fn reduced_rows_some<T: Elt>(
    rows: AccRagged<T>,
    combine: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
) -> Acc<Vector<Option<T>>> {
    let place = Place::caller("reduction");
    rows.flatten().fold_stretches_some::<T>(&rows.offsets(), |x, _| x, combine, place)
}

/// Rows of these elements with these lengths.
#[track_caller]
pub fn rows_of<T: Elt>(values: Acc<Vector<T>>, lengths: Acc<Vector<i64>>) -> AccRagged<T> {
    AccRagged::with_lengths(values, lengths, Place::caller("comp"))
}

/// Rows of elements that stand beside the number of their row.
#[track_caller]
pub fn ragged<T: Elt>(rows: Exp<i64>, numbered: Acc<Vector<(i64, T)>>) -> AccRagged<T> {
    AccRagged::of_numbered(rows, numbered, Place::caller("comp"))
}
