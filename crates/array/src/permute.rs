//! The methods of [`Acc`] that combine elements at an index: `permute`, `scatter`, `histogram`.

use crate::acc::{Acc, lifted, nullary};
use crate::data::{Array, Vector};
use crate::operations::{Generate, Permute};
use crate::shape::{Dim1, IntoExtent, Shape};
use pumice_scalar::{Elt, Exp, Function, OptionExp, Place, constant};

/// The operator of a permutation, from the new element and the old one.
fn operator<T: Elt>(combine: impl FnOnce(T::Exp, T::Exp) -> T::Exp) -> Function {
    lifted(|(new, old): (T::Exp, T::Exp)| combine(new, old))
}

impl<D: Shape, S: Elt> Acc<Array<D, S>> {
    /// Combines into the defaults the values that `target` computes from each element and its index.
    pub(crate) fn combined<E: Shape, T: Elt>(
        self,
        combine: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
        defaults: Acc<Array<E, T>>,
        target: impl FnOnce(D::Index, S::Exp) -> (OptionExp<E::Index>, T::Exp),
        place: Place,
    ) -> Acc<Array<E, T>> {
        let combine = operator::<T>(combine);
        let target = lifted(|(index, element): (D::Index, S::Exp)| target(index, element));
        let inputs = vec![defaults.described().clone(), self.described().clone()];
        Acc::<Array<E, T>>::new(Permute { rank: D::RANK, combine, target, distinct: false }, inputs, place)
    }

    /// Combines every element into an array of defaults, at the index that `target` gives for its own index.
    ///
    /// `combine` is given the element and the current value at its target. It must be associative and commutative, because
    /// elements come in any order; sums of floats may so differ in their last bits from run to run. `target` gives an index,
    /// or an `Option` of one: elements that have none are left out. An index that the defaults do not have is an error that
    /// names this place.
    ///
    /// ```
    /// use pumice::*;
    /// // The sum of every third element, and of the others nothing.
    /// let sums = run(use_(&[1, 2, 3, 4, 5, 6]).permute(
    ///     |new, old| new + old,
    ///     generate(2, |_| constant(100)),
    ///     |i| OptionExp::present_if((i % 3).eq(0), i / 3),
    /// ))?;
    /// assert_eq!(sums.to_vec()?, [101, 104]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn permute<E: Shape, I: Into<OptionExp<E::Index>>>(
        self,
        combine: impl FnOnce(S::Exp, S::Exp) -> S::Exp,
        defaults: Acc<Array<E, S>>,
        target: impl FnOnce(D::Index) -> I,
    ) -> Acc<Array<E, S>> {
        let place = Place::caller("permute");
        self.combined(combine, defaults, |index, element| (target(index).into(), element), place)
    }

    /// Writes every element to a copy of the defaults, at the index that stands for it in `targets`: an index, or an
    /// `Option` of one, without which an element is left out. Of several elements at one index, any one is there in the end.
    ///
    /// ```
    /// use pumice::*;
    /// let letters = run(use_(&[1u32, 2, 3]).scatter(
    ///     use_(&[Some(4i64), None, Some(0)]),
    ///     generate(5, |_| constant(9u32)),
    /// ))?;
    /// assert_eq!(letters.to_vec()?, [3, 9, 9, 9, 1]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn scatter<E: Shape, I: Elt>(
        self,
        targets: Acc<Array<D, I>>,
        defaults: Acc<Array<E, S>>,
    ) -> Acc<Array<E, S>>
    where
        I::Exp: Into<OptionExp<E::Index>>,
    {
        let place = Place::caller("scatter");
        let pairs = targets.zipped(&self, |target, value| (target, value), place);
        pairs.combined(|new, _| new, defaults, |_, (target, value)| (target.into(), value), place)
    }

    /// Like [`Acc::scatter`], of the elements that fulfil a condition.
    ///
    /// ```
    /// use pumice::*;
    /// let positive = use_(&[5, -1, 7]).scatter_if(use_(&[2i64, 0, 0]), |x| x.gt(0), fill(3, 0));
    /// assert_eq!(run(positive)?.to_vec()?, [7, 0, 5]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn scatter_if<E: Shape, I: Elt<Exp = E::Index>>(
        self,
        targets: Acc<Array<D, I>>,
        condition: impl FnOnce(S::Exp) -> Exp<bool>,
        defaults: Acc<Array<E, S>>,
    ) -> Acc<Array<E, S>> {
        let place = Place::caller("scatter_if");
        let pairs = targets.zipped(&self, |target, value| (target, value), place);
        let target =
            |_, (target, value): (E::Index, S::Exp)| (OptionExp::present_if(condition(value), target), value);
        pairs.combined(|new, _| new, defaults, target, place)
    }

    /// Counts elements: how many have each of `bins` numbers. `bin` gives an index below `bins`, or an `Option` of one; an
    /// index that is not below is an error that names this place. Counts wrap at 2³².
    ///
    /// ```
    /// use pumice::*;
    /// let ages = [31, 4, 38, 30];
    /// let decades = run(use_(&ages).histogram(5, |age| (age / 10).cast::<i64>()))?;
    /// assert_eq!(decades.to_vec()?, [1, 0, 0, 3, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn histogram<I: Into<OptionExp<Exp<i64>>>>(
        self,
        bins: impl IntoExtent,
        bin: impl FnOnce(S::Exp) -> I,
    ) -> Acc<Vector<u32>> {
        self.histogram_at(bins.into_extent(), bin, Place::caller("histogram"))
    }

    /// Like [`Acc::histogram`], for a method that is called at a place.
    pub(crate) fn histogram_at<I: Into<OptionExp<Exp<i64>>>>(
        self,
        bins: Exp<i64>,
        bin: impl FnOnce(S::Exp) -> I,
        place: Place,
    ) -> Acc<Vector<u32>> {
        let shape = nullary(|| vec![bins.term()]);
        let zeros = Generate { shape, element: lifted(|_: Exp<i64>| constant(0u32)) };
        let defaults = Acc::<Vector<u32>>::new(zeros, Vec::new(), place);
        let one = |_, element| (bin(element).into(), constant(1u32));
        self.combined::<Dim1, u32>(|new, old| new + old, defaults, one, place)
    }
}

impl<D: Shape, I: Elt, T: Elt> Acc<Array<D, (I, T)>> {
    /// Like [`Acc::permute`], of an array that holds the targets beside the elements: pairs of an index, or an `Option` of
    /// one, and a value.
    ///
    /// ```
    /// use pumice::*;
    /// let pairs = [(Some(1i64), 5.0f32), (None, 9.0), (Some(1), 7.0), (Some(0), 0.5)];
    /// let largest = run(use_(&pairs).permute_pairs(|new, old| new.max(old), generate(3, |_| constant(1.0f32))))?;
    /// assert_eq!(largest.to_vec()?, [1.0, 7.0, 1.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn permute_pairs<E: Shape>(
        self,
        combine: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
        defaults: Acc<Array<E, T>>,
    ) -> Acc<Array<E, T>>
    where
        I::Exp: Into<OptionExp<E::Index>>,
    {
        let place = Place::caller("permute_pairs");
        self.combined(combine, defaults, |_, (target, value)| (target.into(), value), place)
    }
}
