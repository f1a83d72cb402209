//! Questions about the order of elements.

use crate::acc::Acc;
use crate::data::{Array, Scalar, Vector};
use crate::shape::Shape;
use pumice_scalar::{Elt, Exp, Number, Place, while_};

impl<T: Elt> Acc<Vector<T>> {
    /// For each of these values, how many elements of the vector come before it, in an order that the vector has: `before`
    /// tells of an element and a value. Of a vector that has no such order, some number.
    ///
    /// ```
    /// use pumice::*;
    /// let falling = use_(&[9, 5, 2]);
    /// let places = falling.search_sorted_by(use_(&[7, 2, 0]), |x, value| x.gt(value));
    /// assert_eq!(run(places)?.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn search_sorted_by<D: Shape, V: Elt>(
        self,
        values: Acc<Array<D, V>>,
        before: impl FnOnce(T::Exp, V::Exp) -> Exp<bool>,
    ) -> Acc<Array<D, i64>> {
        self.searched(values, before, Place::caller("search_sorted_by"))
    }

    fn searched<D: Shape, V: Elt>(
        self,
        values: Acc<Array<D, V>>,
        before: impl FnOnce(T::Exp, V::Exp) -> Exp<bool>,
        place: Place,
    ) -> Acc<Array<D, i64>> {
        values.mapped(|value| self.found(|x| before(x, value)), place)
    }

    /// Counts the elements that come before something, inside a function, by binary search.
    pub(crate) fn found(&self, before: impl FnOnce(T::Exp) -> Exp<bool>) -> Exp<i64> {
        self.found_between((Exp::from(0), self.size()), before)
    }

    /// The same, where at least so many come before it, and at most so many.
    pub(crate) fn found_between(
        &self,
        limits: (Exp<i64>, Exp<i64>),
        before: impl FnOnce(T::Exp) -> Exp<bool>,
    ) -> Exp<i64> {
        let halve = |(low, high): (Exp<i64>, Exp<i64>)| {
            let middle = (low + high) >> 1;
            let is_before = before(self.element(&[middle.term()], None));
            (is_before.select(middle + 1, low), is_before.select(high, middle))
        };
        while_(limits, |(low, high)| low.lt(high), halve).0
    }
}

impl<T: Number> Acc<Vector<T>> {
    /// For each of these values, how many elements of a rising vector are smaller: where it would be put in, before those that
    /// are equal.
    ///
    /// ```
    /// use pumice::*;
    /// let edges = use_(&[0.0, 1.0, 2.0]);
    /// assert_eq!(run(edges.search_sorted(use_(&[-1.0, 1.0, 1.5, 9.0])))?.to_vec()?, [0, 1, 2, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn search_sorted<D: Shape>(self, values: Acc<Array<D, T>>) -> Acc<Array<D, i64>>
    where
        T: Elt<Exp = Exp<T>>,
    {
        self.searched(values, |x, value| x.lt(value), Place::caller("search_sorted"))
    }

    /// Whether no element is smaller than the one before it.
    ///
    /// ```
    /// use pumice::*;
    /// assert!(run(use_(&[1, 1, 2]).is_sorted())?.to_value()?);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn is_sorted(self) -> Acc<Scalar<bool>>
    where
        T: Elt<Exp = Exp<T>>,
    {
        let place = Place::caller("is_sorted");
        let before = self.clone();
        let fits =
            move |index: Exp<i64>, x: Exp<T>| !x.lt(before.element(&[(index - 1).max(0).term()], None));
        self.with_index(fits, place).folded(Some(Exp::from(true)), |a, b| a & b, place)
    }
}
