//! Runs: neighbouring elements of a vector that are equal, and vectors that are made of runs.

use crate::acc::Acc;
use crate::data::Vector;
use crate::untyped;
use pumice_scalar::{Elt, Place};

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
        Acc::from_described(untyped::columns(&untyped::starts(self.described(), place), 0..1, place))
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
        Acc::from_described(untyped::unique(self.described(), Place::caller("unique")))
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

    /// The start, the length and the value of each run.
    pub(crate) fn runs(&self, place: Place) -> Acc<Vector<(i64, i64, T)>> {
        Acc::from_described(untyped::runs(self.described(), place))
    }

    /// Each element as often as a count says, one after the other; not at all where that is not positive.
    ///
    /// The length of the result depends on the counts, so the host reads it before the rest of the program is planned.
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
    /// Decodes runs: each value as often as the number beside it says. This is the inverse of [`Acc::run_lengths`].
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
