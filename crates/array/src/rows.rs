//! Operations on the rows of an [`AccRagged`], each by itself. Rows may be empty, and there may be none.
//!
//! A row of any length is a stretch of one vector: operations on elements are operations on that vector, folds are folds
//! of segments, scans are scans of segments, and rows are sorted where they are.

use crate::acc::Acc;
use crate::data::{Scalar, Vector};
use crate::expanding::present;
use crate::folds::{better_of, number};
use crate::ragged::AccRagged;
use crate::row_sorts::sorted_rows;
use crate::segments::Segments;
use crate::shape::IntoExtent;
use crate::sorting::Falls;
use pumice_scalar::{Elt, Exp, FailureKind, IntoExp, Lift, Number, Place, Site, Term, cond};

impl<T: Elt> AccRagged<T> {
    /// Applies a function to every element.
    ///
    /// ```
    /// use pumice::*;
    /// let triangle = comp![[j | j <- 0..i] | i <- 0..3];
    /// assert_eq!(run(triangle.map(|x| x + 1))?.to_vecs(), [vec![], vec![1], vec![1, 2]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn map<L: Lift>(self, f: impl FnOnce(T::Exp) -> L) -> AccRagged<L::Elt> {
        AccRagged { values: self.values.mapped(f, Place::caller("map")), offsets: self.offsets }
    }

    /// Combines two arrays with rows of the same lengths, element by element. Two rows of different lengths are an error that
    /// names this place, where rows of the result are looked at.
    ///
    /// ```
    /// use pumice::*;
    /// let (xs, ys) = (use_ragged(&[vec![1, 2], vec![], vec![3]]), use_ragged(&[vec![10, 20], vec![], vec![30]]));
    /// assert_eq!(run(xs.zip_with(ys, |x, y| x + y))?.to_vecs(), [vec![11, 22], vec![], vec![33]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn zip_with<U: Elt, L: Lift>(
        self,
        other: AccRagged<U>,
        f: impl FnOnce(T::Exp, U::Exp) -> L,
    ) -> AccRagged<L::Elt> {
        let place = Place::caller("zip_with");
        let site = Site { place, kind: FailureKind::LengthsDiffer };
        let both = self.offsets.zipped(&other.offsets, |one, two| (one, two), place);
        let before = both.clone();
        let same = move |index: Exp<i64>, (one, two): (Exp<i64>, Exp<i64>)| {
            let (first, second) = before.element(&[(index - 1).max(0).term()], None);
            // Before the first row there is none, on either side.
            let lengths = (index.eq(0).select(one, one - first), index.eq(0).select(two, two - second));
            let fits = lengths.0.eq(lengths.1).term().check(site, lengths.0.term(), lengths.1.term());
            Exp::<bool>::from_term(fits).select(one, Exp::from(0))
        };
        let values = self.values.zipped(&other.values, f, place);
        AccRagged { values, offsets: both.with_index(same, place) }
    }

    /// Keeps the elements of which a predicate holds, in order. There are as many rows, some of which are shorter.
    ///
    /// ```
    /// use pumice::*;
    /// let rows = use_ragged(&[vec![3, -1, 4], vec![], vec![-5]]);
    /// assert_eq!(run(rows.filter(|x| x.gt(0)))?.to_vecs(), [vec![3, 4], vec![], vec![]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn filter(self, keep: impl Fn(T::Exp) -> Exp<bool>) -> AccRagged<T> {
        let place = Place::caller("filter");
        let kept = |x, _| keep(x).select(Exp::<i64>::from(1), Exp::from(0));
        let lengths =
            self.values.fold_stretches::<i64>(&self.offsets, kept, Exp::from(0), |a, b| a + b, place);
        // Elements before the first row or behind the last one are in no row.
        let offset = |number: Exp<i64>| self.offsets.element(&[number.term()], None);
        let (first, end) = (offset(Exp::from(0)), offset(self.size()));
        let in_row = |index: Exp<i64>, x: T::Exp| (index.ge(first) & index.lt(end), x);
        let values = self.values.with_index(in_row, place);
        let values = values.kept(|(in_row, x)| cond(in_row, || keep(x), || Exp::from(false)), place);
        AccRagged::with_lengths(values.mapped(|(_, x)| x, place), lengths, place)
    }

    /// Reduces each row with an associative operator, as [`Acc::fold_segments`]; a row without elements gives `initial`.
    ///
    /// ```
    /// use pumice::*;
    /// let triangle = comp![[j + 1 | j <- 0..i] | i <- 0..4];
    /// assert_eq!(run(triangle.fold(1, |a, b| a * b))?.to_vec()?, [1, 1, 2, 6]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn fold(self, initial: impl IntoExp<T>, f: impl FnOnce(T::Exp, T::Exp) -> T::Exp) -> Acc<Vector<T>> {
        let place = Place::caller("fold");
        self.values.fold_stretches(&self.offsets, |x, _| x, initial.into_exp(), f, place)
    }

    /// Combines every element with those before it in its row, by an associative operator, as [`Acc::scanl1`] does.
    ///
    /// ```
    /// use pumice::*;
    /// let rows = use_ragged(&[vec![1, 2, 3], vec![], vec![4, 5]]);
    /// assert_eq!(run(rows.scan(|a, b| a + b))?.to_vecs(), [vec![1, 3, 6], vec![], vec![4, 9]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn scan(self, f: impl FnOnce(T::Exp, T::Exp) -> T::Exp) -> AccRagged<T> {
        let place = Place::caller("scan");
        let heads = Segments::Offsets(self.offsets.clone()).heads(self.values.size(), place);
        AccRagged { values: self.values.scan_heads(&heads, f, place), offsets: self.offsets }
    }

    /// Sorts each row, as [`Acc::sort`] does.
    ///
    /// ```
    /// use pumice::*;
    /// let rows = use_ragged(&[vec![3, 1, 2], vec![], vec![0, -1]]);
    /// assert_eq!(run(rows.sort())?.to_vecs(), [vec![1, 2, 3], vec![], vec![-1, 0]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn sort(self) -> AccRagged<T> {
        self.sorted(|x| x, Place::caller("sort"))
    }

    /// Sorts each row by a key, as [`Acc::sort_by_key`] does: elements with equal keys stay in the order that they have.
    ///
    /// ```
    /// use pumice::*;
    /// let rows = use_ragged(&[vec![31, 12, 21], vec![], vec![5, 4]]);
    /// let sorted = run(rows.sort_by_key(|x| x % 10))?;
    /// assert_eq!(sorted.to_vecs(), [vec![31, 21, 12], vec![], vec![4, 5]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn sort_by_key<K: Lift>(self, key: impl Fn(T::Exp) -> K) -> AccRagged<T> {
        self.sorted(key, Place::caller("sort_by_key"))
    }

    fn sorted<K: Lift>(self, key: impl Fn(T::Exp) -> K, place: Place) -> AccRagged<T> {
        let keys = |terms: &[Term]| {
            let key = key(T::Exp::from_terms(&mut terms.iter().copied())).terms();
            key.into_iter().map(|term| (term, Falls(false))).collect()
        };
        let sorted = sorted_rows(self.values.described(), self.offsets.described(), keys, place);
        AccRagged { values: Acc::from_described(sorted), offsets: self.offsets }
    }

    /// Returns one row. The host reads how long it is before the rest of the program is planned. A row that is not there is an
    /// error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// let rows = use_ragged(&[vec![3, 1], vec![], vec![2]]);
    /// assert_eq!(run(rows.at(0).map(|x| 10 * x))?.to_vec()?, [30, 10]);
    /// assert!(run(rows.at(1))?.is_empty());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn at(&self, row: impl IntoExtent) -> Acc<Vector<T>> {
        let place = Place::caller("at");
        let ends: Acc<Scalar<(i64, i64)>> =
            self.rows_at(place).viewed(Vec::new(), vec![row.into_extent()], vec![Vec::new()], place);
        let (first, end) = ends.the();
        self.values.clone().stretch(first, 1, end - first, place)
    }
}

/// A number of one of so many rows in 32 bits: sorting by it takes half as many passes as by 64. More rows are an error.
pub(crate) fn short_number(row: Exp<i64>, count: Exp<i64>, place: Place) -> Exp<u32> {
    let (most, site) = (Exp::<i64>::from(i64::from(u32::MAX)), Site { place, kind: FailureKind::TooLong });
    let fits = Exp::<bool>::from_term(count.le(most).term().check(site, count.term(), most.term()));
    fits.select(row, Exp::from(0)).cast::<u32>()
}

impl<T: Number> AccRagged<T> {
    /// Sums up each row.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_ragged(&[vec![1, 2], vec![]]).sum())?.to_vec()?, [3, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn sum(self) -> Acc<Vector<T>> {
        let place = Place::caller("sum");
        self.values.fold_stretches::<T>(&self.offsets, |x, _| x, number(0), |a, b| a + b, place)
    }

    /// Finds the smallest element of each row, as [`Exp::min`] says. A row without elements is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_ragged(&[vec![3, 1], vec![2]]).min())?.to_vec()?, [1, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn min(self) -> Acc<Vector<T>> {
        self.values.fold1_stretches::<T>(&self.offsets, |x, _| x, |a, b| a.min(b), Place::caller("min"))
    }

    /// Finds the largest element of each row, as [`Exp::max`] says. A row without elements is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_ragged(&[vec![3, 1], vec![2]]).max())?.to_vec()?, [3, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn max(self) -> Acc<Vector<T>> {
        self.values.fold1_stretches::<T>(&self.offsets, |x, _| x, |a, b| a.max(b), Place::caller("max"))
    }

    /// Finds the index in its row of the smallest element, as [`Acc::argmin`] does: of several the first. A row without elements
    /// is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_ragged(&[vec![3, 1, 1], vec![2]]).argmin())?.to_vec()?, [1, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn argmin(self) -> Acc<Vector<i64>> {
        self.best(|a, b| a.lt(b), Place::caller("argmin"))
    }

    /// Finds the index in its row of the largest element, as [`Acc::argmax`] does: of several the first. A row without elements is
    /// an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_ragged(&[vec![1, 3, 3], vec![2]]).argmax())?.to_vec()?, [1, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn argmax(self) -> Acc<Vector<i64>> {
        self.best(|a, b| a.gt(b), Place::caller("argmax"))
    }

    /// Like [`AccRagged::min`], but `None` for a row without elements.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_ragged(&[vec![3, 1], vec![]]).min_some())?.to_vec()?, [Some(1), None]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn min_some(self) -> Acc<Vector<Option<T>>> {
        self.values.fold_stretches_some::<T>(
            &self.offsets,
            |x, _| x,
            |a, b| a.min(b),
            Place::caller("min_some"),
        )
    }

    /// Like [`AccRagged::max`], but `None` for a row without elements.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_ragged(&[vec![3, 1], vec![]]).max_some())?.to_vec()?, [Some(3), None]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn max_some(self) -> Acc<Vector<Option<T>>> {
        self.values.fold_stretches_some::<T>(
            &self.offsets,
            |x, _| x,
            |a, b| a.max(b),
            Place::caller("max_some"),
        )
    }

    /// Like [`AccRagged::argmin`], but `None` for a row without elements.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_ragged(&[vec![3, 1], vec![]]).argmin_some())?.to_vec()?, [Some(1), None]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn argmin_some(self) -> Acc<Vector<Option<i64>>> {
        self.best_some(|a, b| a.lt(b), Place::caller("argmin_some"))
    }

    /// Like [`AccRagged::argmax`], but `None` for a row without elements.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_ragged(&[vec![3, 1], vec![]]).argmax_some())?.to_vec()?, [Some(0), None]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn argmax_some(self) -> Acc<Vector<Option<i64>>> {
        self.best_some(|a, b| a.gt(b), Place::caller("argmax_some"))
    }

    fn best_some(
        self,
        better: impl FnOnce(Exp<T>, Exp<T>) -> Exp<bool>,
        place: Place,
    ) -> Acc<Vector<Option<i64>>> {
        let operator = |a, b| better_of(a, b, better);
        let best = self.values.fold_stretches_some::<(T, i64)>(&self.offsets, |x, i| (x, i), operator, place);
        best.mapped(|best| best.map(|(_, index)| index), place)
    }

    fn best(self, better: impl FnOnce(Exp<T>, Exp<T>) -> Exp<bool>, place: Place) -> Acc<Vector<i64>> {
        self.best_some(better, place).mapped(|best| present(best, place), place)
    }
}
