//! Elements of arrays by index: inside functions of a program, and arrays of elements of other arrays.

use crate::acc::Acc;
use crate::data::{Array, Scalar};
use crate::described::{Described, remember};
use crate::shape::{IntoShape, Shape};
use pumice_scalar::{ElementOf, Elt, Exp, FailureKind, Lift, OptionExp, Place, Site, Term, cond, none, some};
use std::sync::Arc;

impl Described {
    /// The scalars of the element at an index, for functions of a program. An index that the array does not have is a failure
    /// at the site; without one, the scalars are zero there.
    pub fn element(self: &Arc<Described>, index: &[Term], site: Option<Site>) -> Vec<Term> {
        remember(self);
        let array = self.id();
        let scalar = |(column, ty)| Term::element(ElementOf { array, column, ty, site }, index);
        (0..).zip(self.types().iter().copied()).map(scalar).collect()
    }
}

impl<D: Shape, T: Elt> Acc<Array<D, T>> {
    /// The element at an index, inside a function: of any array of the program, which need not be the one that the function
    /// is applied to. An index that the array does not have is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// let table = use_(&[0.5, 1.5, 2.5]);
    /// let looked_up = run(use_(&[2i64, 0, 2]).map(|key| table.at(key)))?;
    /// assert_eq!(looked_up.to_vec()?, [2.5, 0.5, 2.5]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn at(&self, index: impl IntoShape<Dim = D>) -> T::Exp {
        let site = Site { place: Place::caller("at"), kind: FailureKind::OutOfBounds };
        self.element(&index.into_terms(), Some(site))
    }

    /// Like [`Acc::at`], but `None` where the index is out of bounds.
    ///
    /// ```
    /// use pumice::*;
    /// let table = use_(&[5, 6]);
    /// let looked_up = run(use_(&[1i64, -1, 2]).map(|key| table.get(key).unwrap_or(0)))?;
    /// assert_eq!(looked_up.to_vec()?, [6, 0, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn get(&self, index: impl IntoShape<Dim = D>) -> OptionExp<T::Exp> {
        let index = index.into_terms();
        let parts = index.iter().map(|part| Exp::<i64>::from_term(*part)).enumerate();
        let inside = parts.fold(Exp::from(true), |all, (dimension, part)| {
            all & part.ge(0) & part.lt(self.extent(dimension))
        });
        cond(inside, || some(self.element(&index, None)), none)
    }

    /// The element at an index; one that the array does not have is a failure at the site, or zero if there is none.
    pub(crate) fn element(&self, index: &[Term], site: Option<Site>) -> T::Exp {
        T::Exp::from_terms(&mut self.described().element(index, site).into_iter())
    }

    /// The elements at these indices. An index that the array does not have is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// let letters = use_(&[10, 20, 30]);
    /// assert_eq!(run(letters.gather(use_(&[2i64, 2, 0])))?.to_vec()?, [30, 30, 10]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn gather<E: Shape, I: Elt<Exp = D::Index>>(self, indices: Acc<Array<E, I>>) -> Acc<Array<E, T>> {
        let place = Place::caller("gather");
        let site = Site { place, kind: FailureKind::OutOfBounds };
        indices.mapped(|index| self.element(&index.terms(), Some(site)), place)
    }

    /// The elements at these indices where a condition holds, and those of `otherwise` elsewhere. An index for which it does not hold may be
    /// out of bounds.
    ///
    /// ```
    /// use pumice::*;
    /// let letters = use_(&[10, 20, 30]);
    /// let indices = use_(&[2i64, -1, 0]);
    /// let found = letters.gather_if(indices, |index| index.ge(0), use_(&[0, 0, 0]));
    /// assert_eq!(run(found)?.to_vec()?, [30, 0, 10]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn gather_if<E: Shape, I: Elt<Exp = D::Index>>(
        self,
        indices: Acc<Array<E, I>>,
        condition: impl FnOnce(D::Index) -> Exp<bool>,
        otherwise: Acc<Array<E, T>>,
    ) -> Acc<Array<E, T>> {
        let place = Place::caller("gather_if");
        let site = Site { place, kind: FailureKind::OutOfBounds };
        let either = |index: D::Index, other: T::Exp| {
            cond(condition(index), || self.element(&index.terms(), Some(site)), || other)
        };
        indices.zipped(&otherwise, either, place)
    }
}

impl<T: Elt> Acc<Scalar<T>> {
    /// The value of a single one, inside a function.
    ///
    /// ```
    /// use pumice::*;
    /// let xs = use_(&[1.0, 3.0]);
    /// let total = xs.clone().sum();
    /// assert_eq!(run(xs.map(|x| x / total.the()))?.to_vec()?, [0.25, 0.75]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn the(&self) -> T::Exp {
        // It is always there, so that there is no place to name: wherever it is asked for, it is the same value.
        self.element(&[], None)
    }
}
