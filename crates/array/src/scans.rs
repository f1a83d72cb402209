//! Scans and filters as users write them: methods of [`Acc`].

use crate::acc::{Acc, lifted, nullary};
use crate::data::{Array, Vector};
use crate::operations::{Filter, Gives, Scan};
use crate::shape::{Larger, Shape};
use pumice_scalar::{Elt, Exp, IntoExp, Lift, Place};

impl<D: Shape, T: Elt> Acc<Array<D, T>> {
    pub(crate) fn scanned<S: Shape>(
        &self,
        (gives, from_right): (Gives, bool),
        initial: Option<T::Exp>,
        f: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
        place: Place,
    ) -> Acc<Array<S, T>> {
        let operator = lifted(|(a, b): (T::Exp, T::Exp)| f(a, b));
        let initial = initial.map(|initial| nullary(|| initial.terms()));
        let scan = Scan { operator, initial, gives, from_right };
        Acc::<Array<S, T>>::new(scan, vec![self.described().clone()], place)
    }

    /// The running results of reducing the innermost dimension from the left: `initial`, then that combined with the first
    /// element, then with the first two, and so on. The result has one element more than the array in each row.
    ///
    /// The operator is associative and need not commute. Which elements are combined first is the device's choice; on the
    /// same device the same bits come out every time.
    ///
    /// ```
    /// use pumice::*;
    /// let sums = run(use_(&[1, 2, 3]).scanl(10, |a, b| a + b))?;
    /// assert_eq!(sums.to_vec()?, [10, 11, 13, 16]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn scanl<S: Shape>(self, initial: impl IntoExp<T>, f: impl FnOnce(T::Exp, T::Exp) -> T::Exp) -> Self
    where
        D: Larger<Smaller = S>,
    {
        self.scanned((Gives::Extended, false), Some(initial.into_exp()), f, Place::caller("scanl"))
    }

    /// Like [`Acc::scanl`], from the right: the last element of a row is `initial`, the first one everything combined.
    ///
    /// ```
    /// use pumice::*;
    /// let sums = run(use_(&[1, 2, 3]).scanr(10, |a, b| a + b))?;
    /// assert_eq!(sums.to_vec()?, [16, 15, 13, 10]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn scanr<S: Shape>(self, initial: impl IntoExp<T>, f: impl FnOnce(T::Exp, T::Exp) -> T::Exp) -> Self
    where
        D: Larger<Smaller = S>,
    {
        self.scanned((Gives::Extended, true), Some(initial.into_exp()), f, Place::caller("scanr"))
    }

    /// The running results of reducing the innermost dimension from the left: each element combined with all before it in
    /// its row. The result has the array's shape.
    ///
    /// ```
    /// use pumice::*;
    /// let largest = run(use_(&[3, 1, 4, 1, 5]).scanl1(|a, b| a.max(b)))?;
    /// assert_eq!(largest.to_vec()?, [3, 3, 4, 4, 5]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn scanl1<S: Shape>(self, f: impl FnOnce(T::Exp, T::Exp) -> T::Exp) -> Self
    where
        D: Larger<Smaller = S>,
    {
        self.scanned((Gives::Inclusive, false), None, f, Place::caller("scanl1"))
    }

    /// Like [`Acc::scanl1`], from the right: each element combined with all behind it in its row.
    ///
    /// ```
    /// use pumice::*;
    /// let sums = run(use_(&[1, 2, 3]).scanr1(|a, b| a + b))?;
    /// assert_eq!(sums.to_vec()?, [6, 5, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn scanr1<S: Shape>(self, f: impl FnOnce(T::Exp, T::Exp) -> T::Exp) -> Self
    where
        D: Larger<Smaller = S>,
    {
        self.scanned((Gives::Inclusive, true), None, f, Place::caller("scanr1"))
    }

    /// For each element `initial` combined with all before it in its row, and for each row everything combined. This is
    /// [`Acc::scanl`] with the last element of each row by itself. Both come out of one kernel.
    ///
    /// ```
    /// use pumice::*;
    /// let lengths = use_(&[3, 1, 2]);
    /// let (starts, total) = lengths.scanl_with_total(0, |a, b| a + b);
    /// assert_eq!(run(starts)?.to_vec()?, [0, 3, 4]);
    /// assert_eq!(run(total)?.to_value()?, 6);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn scanl_with_total<S: Shape>(
        self,
        initial: impl IntoExp<T>,
        f: impl Fn(T::Exp, T::Exp) -> T::Exp,
    ) -> (Self, Acc<Array<S, T>>)
    where
        D: Larger<Smaller = S>,
    {
        self.scanned_with_total(false, initial.into_exp(), f, Place::caller("scanl_with_total"))
    }

    /// Like [`Acc::scanl_with_total`], from the right.
    ///
    /// ```
    /// use pumice::*;
    /// let (rests, total) = use_(&[3, 1, 2]).scanr_with_total(0, |a, b| a + b);
    /// assert_eq!(run(rests)?.to_vec()?, [3, 2, 0]);
    /// assert_eq!(run(total)?.to_value()?, 6);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn scanr_with_total<S: Shape>(
        self,
        initial: impl IntoExp<T>,
        f: impl Fn(T::Exp, T::Exp) -> T::Exp,
    ) -> (Self, Acc<Array<S, T>>)
    where
        D: Larger<Smaller = S>,
    {
        self.scanned_with_total(true, initial.into_exp(), f, Place::caller("scanr_with_total"))
    }

    fn scanned_with_total<S: Shape>(
        &self,
        from_right: bool,
        initial: T::Exp,
        f: impl Fn(T::Exp, T::Exp) -> T::Exp,
        place: Place,
    ) -> (Self, Acc<Array<S, T>>) {
        let elements = self.scanned((Gives::Exclusive, from_right), Some(initial), &f, place);
        (elements, self.scanned((Gives::Total, from_right), Some(initial), &f, place))
    }

    /// The elements of which a predicate holds, in order, in one dimension.
    ///
    /// The device finds their number; the host waits for it only when it looks. An operation after a filter that needs
    /// no indices (a map, another filter, a fold) takes the elements as they come, and nothing is written in between.
    ///
    /// ```
    /// use pumice::*;
    /// let odd = run(use_(&[3, 1, 4, 1, 5]).filter(|x| (x % 2).eq(1)))?;
    /// assert_eq!(odd.to_vec()?, [3, 1, 1, 5]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn filter(self, keep: impl FnOnce(T::Exp) -> Exp<bool>) -> Acc<Vector<T>> {
        self.kept(keep, Place::caller("filter"))
    }

    /// Like [`Acc::filter`], for a method that is called at a place.
    pub(crate) fn kept(&self, keep: impl FnOnce(T::Exp) -> Exp<bool>, place: Place) -> Acc<Vector<T>> {
        let filter = Filter { keep: lifted(keep) };
        Acc::<Vector<T>>::new(filter, vec![self.described().clone()], place)
    }

    /// The elements of which a predicate holds, and the others, each in order.
    ///
    /// ```
    /// use pumice::*;
    /// let (small, large) = use_(&[3, 1, 4, 1, 5]).partition(|x| x.lt(3));
    /// assert_eq!(run(small)?.to_vec()?, [1, 1]);
    /// assert_eq!(run(large)?.to_vec()?, [3, 4, 5]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn partition(self, keep: impl Fn(T::Exp) -> Exp<bool>) -> (Acc<Vector<T>>, Acc<Vector<T>>) {
        let place = Place::caller("partition");
        (self.kept(&keep, place), self.kept(|x| !keep(x), place))
    }

    /// The elements whose flag holds in an array of the same shape, in order, in one dimension.
    ///
    /// ```
    /// use pumice::*;
    /// let kept = run(use_(&[7, 8, 9]).compact(use_(&[true, false, true])))?;
    /// assert_eq!(kept.to_vec()?, [7, 9]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn compact(self, flags: Acc<Array<D, bool>>) -> Acc<Vector<T>> {
        let place = Place::caller("compact");
        self.zipped(&flags, |x, flag| (x, flag), place)
            .kept(|(_, flag)| flag, place)
            .mapped(|(x, _)| x, place)
    }
}
