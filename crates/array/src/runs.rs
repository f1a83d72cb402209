//! Runs: neighbouring elements of a vector that are equal, and vectors that are made of runs.

use crate::acc::Acc;
use crate::data::Vector;
use pumice_scalar::{Elt, Exp, Lift, Op, Place};

/// Whether two elements are equal, scalar by scalar.
fn same<L: Lift>(a: L, b: L) -> Exp<bool> {
    let scalars = a.terms().into_iter().zip(b.terms());
    scalars.fold(Exp::from(true), |all, (a, b)| all & Exp::from_term(a.compare(Op::Eq, b)))
}

impl<T: Elt> Acc<Vector<T>> {
    /// For each element whether it differs from the one before it: where groups of equal neighbours begin. The first does.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[4, 4, 7, 4]).group_starts())?.to_vec()?, [true, false, true, true]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn group_starts(self) -> Acc<Vector<bool>> {
        let place = Place::caller("group_starts");
        self.starts(place).mapped(|(start, _)| start, place)
    }

    /// The elements without those that are equal to the one before them. Of a sorted vector, every value once.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[4, 4, 7, 4]).unique())?.to_vec()?, [4, 7, 4]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn unique(self) -> Acc<Vector<T>> {
        let place = Place::caller("unique");
        self.starts(place).kept(|(start, _)| start, place).mapped(|(_, (_, x))| x, place)
    }

    /// The value and the length of each run of equal elements.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[4, 4, 7, 4]).run_lengths())?.to_vec()?, [(4, 2), (7, 1), (4, 1)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn run_lengths(self) -> Acc<Vector<(T, i64)>> {
        let place = Place::caller("run_lengths");
        self.runs(place).mapped(|(_, length, x)| (x, length), place)
    }

    /// Where each run begins, how long it is, and the value of its elements.
    pub(crate) fn runs(&self, place: Place) -> Acc<Vector<(i64, i64, T)>> {
        let end = self.size();
        let starts = self.starts(place).kept(|(start, _)| start, place).mapped(|(_, run)| run, place);
        let next = starts.clone();
        let run = move |number: Exp<i64>, (start, x): (Exp<i64>, T::Exp)| {
            let is_last = (number + 1).ge(next.size());
            let (after, _) = next.element(&[(number + 1).term()], None);
            (start, is_last.select(end, after) - start, x)
        };
        starts.with_index(run, place)
    }

    /// For each element whether a run begins with it, its index, and itself.
    pub(crate) fn starts(&self, place: Place) -> Acc<Vector<(bool, (i64, T))>> {
        let before = self.clone();
        let start = move |index: Exp<i64>, x: T::Exp| {
            let previous = before.element(&[(index - 1).max(0).term()], None);
            (index.eq(0) | !same(x, previous), (index, x))
        };
        self.clone().with_index(start, place)
    }

    /// Each element as often as a count says, one after the other; not at all where that is not positive.
    ///
    /// How long the result is depends on the counts, so the host reads that before the rest of the program is planned.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[7, 8, 9]).repeat(use_(&[2i64, 0, 3])))?.to_vec()?, [7, 7, 9, 9, 9]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat(self, counts: Acc<Vector<i64>>) -> Acc<Vector<T>> {
        let place = Place::caller("repeat");
        self.zipped(&counts, |x, count| (x, count), place).repeated(place)
    }
}

impl<T: Elt> Acc<Vector<(T, i64)>> {
    /// The vector whose runs these are: each value as often as the number beside it says. What [`Acc::run_lengths`] was made of.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[(4, 2i64), (7, 1)]).decode_runs())?.to_vec()?, [4, 4, 7]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn decode_runs(self) -> Acc<Vector<T>> {
        self.repeated(Place::caller("decode_runs"))
    }

    fn repeated(self, place: Place) -> Acc<Vector<T>> {
        self.expanded(|(_, count)| count.max(0), |(x, _), _| x, place)
    }
}
