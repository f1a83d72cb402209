//! Stencils: each element of an array from its neighbours in another one.

use crate::acc::{Acc, lifted, nullary};
use crate::data::Array;
use crate::operations::Generate;
use crate::shape::Shape;
use pumice_scalar::{Elt, Exp, FailureKind, Lift, Place, Site, Term, cond};
use std::rc::Rc;

/// Values beyond the border of an array.
///
/// ```
/// use pumice::*;
/// use std::rc::Rc;
/// let before = |boundary| run(use_(&[1i64, 2, 3]).stencil(boundary, |near| near.at([-1])))?.to_vec().map_err(Error::from);
/// assert_eq!(before(Boundary::Clamp)?, [1, 1, 2]);
/// assert_eq!(before(Boundary::Mirror)?, [2, 1, 2]);
/// assert_eq!(before(Boundary::Wrap)?, [3, 1, 2]);
/// assert_eq!(before(Boundary::Constant(0))?, [0, 1, 2]);
/// assert_eq!(before(Boundary::Function(Rc::new(|i: Exp<i64>| i * 100)))?, [-100, 1, 2]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub enum Boundary<D: Shape, T: Elt> {
    /// The nearest element.
    Clamp,
    /// The array, mirrored at its outermost elements, which are not repeated.
    Mirror,
    /// The array from its other end on.
    Wrap,
    /// A value.
    Constant(T),
    /// A function of the index, which is not the array's.
    Function(Rc<dyn Fn(D::Index) -> T::Exp>),
}

/// The elements around one of an array.
///
/// ```
/// use pumice::{Boundary, Dim1, Exp, Neighbours, run, use_};
/// fn slope(near: &Neighbours<Dim1, f32>) -> Exp<f32> {
///     (near.at([1]) - near.at([-1])) / 2.0
/// }
/// let slopes = use_(&[0.0, 1.0, 4.0]).stencil(Boundary::Clamp, |near| slope(&near));
/// assert_eq!(run(slopes)?.to_vec()?, [0.5, 2.0, 1.5]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Neighbours<D: Shape, T: Elt> {
    array: Acc<Array<D, T>>,
    boundary: Boundary<D, T>,
    index: Vec<Exp<i64>>,
    place: Place,
}

impl<D: Shape, T: Elt> Neighbours<D, T> {
    /// The index of the element in the middle.
    ///
    /// ```
    /// use pumice::*;
    /// // Sums of neighbours, but for the first element, which stays as it is.
    /// let sums = use_(&[1, 2, 4]).stencil(Boundary::Clamp, |near| {
    ///     near.index().eq(0).select(near.at([0]), near.at([-1]) + near.at([0]))
    /// });
    /// assert_eq!(run(sums)?.to_vec()?, [1, 3, 6]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn index(&self) -> D::Index {
        D::Index::from_terms(&mut self.index.iter().map(|part| part.term()))
    }

    /// The element at this distance: `at([0, 0])` is the one in the middle, `at([-1, 0])` the one above it.
    ///
    /// ```
    /// use pumice::*;
    /// let m = generate((2, 2), |(i, j)| i * 10 + j);
    /// let above = m.stencil(Boundary::Constant(-1), |near| near.at([-1, 0]));
    /// assert_eq!(run(above)?.to_vec()?, [-1, -1, 0, 1]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn at(&self, offsets: D::Offsets) -> T::Exp {
        let offsets = offsets.as_ref();
        let moved = |dimension: usize| self.index[dimension] + offsets[dimension];
        let extent = |dimension: usize| self.array.extent(dimension);
        let always = |index: Vec<Exp<i64>>| {
            let index: Vec<Term> = index.iter().map(|part| part.term()).collect();
            self.array.element(&index, Some(Site { place: self.place, kind: FailureKind::OutOfBounds }))
        };
        // A dimension along which nothing moves has nothing beyond its border.
        let by = |beyond: &dyn Fn(usize, Exp<i64>) -> Exp<i64>| {
            let part = |dimension: usize| match offsets[dimension] {
                0 => self.index[dimension],
                _ => beyond(dimension, moved(dimension)),
            };
            always((0..D::RANK).map(part).collect())
        };
        let elsewhere = |value: &dyn Fn(D::Index) -> T::Exp| {
            let moving = (0..D::RANK).filter(|dimension| offsets[*dimension] != 0);
            let inside = moving.fold(Exp::from(true), |all, dimension| {
                all & moved(dimension).ge(0) & moved(dimension).lt(extent(dimension))
            });
            let index: Vec<Term> = (0..D::RANK).map(|dimension| moved(dimension).term()).collect();
            let here = || self.array.element(&index, None);
            cond(inside, here, || value(D::Index::from_terms(&mut index.iter().copied())))
        };
        let nearest = |dimension: usize, at: Exp<i64>| at.max(0).min(extent(dimension) - 1);
        // An index inside is used unchanged: away from the borders nothing else is computed (`lower/interior.rs`).
        let unless_inside = |dimension: usize, at: Exp<i64>, beyond: Exp<i64>| {
            let inside = at.ge(0) & at.lt(extent(dimension));
            nearest(dimension, inside.select(at, beyond))
        };
        match &self.boundary {
            Boundary::Clamp => by(&nearest),
            Boundary::Wrap => by(&|dimension, at| {
                let extent = extent(dimension);
                unless_inside(dimension, at, (at + extent * offsets[dimension].abs()) % extent)
            }),
            Boundary::Mirror => by(&|dimension, at| {
                let period = ((extent(dimension) - 1) * 2).max(1);
                let turned = (at + period * offsets[dimension].abs()) % period;
                unless_inside(dimension, at, turned.min(period - turned))
            }),
            Boundary::Constant(value) => elsewhere(&|_| {
                let mut constants = Vec::new();
                value.add_constants(&mut constants);
                T::Exp::from_terms(&mut constants.into_iter().map(Term::from))
            }),
            Boundary::Function(value) => elsewhere(&**value),
        }
    }
}

impl<D: Shape, T: Elt> Acc<Array<D, T>> {
    /// A function of the elements around each element, of any distance and in any number of dimensions.
    ///
    /// ```
    /// use pumice::*;
    /// let xs = use_(&[1, 2, 4, 8]);
    /// let sums = xs.stencil(Boundary::Clamp, |near| near.at([-1]) + near.at([0]) + near.at([1]));
    /// assert_eq!(run(sums)?.to_vec()?, [4, 7, 14, 20]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn stencil<L: Lift>(
        self,
        boundary: Boundary<D, T>,
        f: impl FnOnce(Neighbours<D, T>) -> L,
    ) -> Acc<Array<D, L::Elt>> {
        let place = Place::caller("stencil");
        let array = self.clone();
        self.around_each(|index| f(Neighbours { array, boundary, index, place }), place)
    }

    /// Like [`Acc::stencil`], of two arrays of the same shape.
    ///
    /// ```
    /// use pumice::*;
    /// let (xs, ys) = (use_(&[1, 2, 3]), use_(&[10, 20, 30]));
    /// let sums = xs.stencil2(Boundary::Wrap, ys, Boundary::Constant(0), |x, y| x.at([-1]) + y.at([1]));
    /// assert_eq!(run(sums)?.to_vec()?, [23, 31, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn stencil2<U: Elt, L: Lift>(
        self,
        boundary: Boundary<D, T>,
        other: Acc<Array<D, U>>,
        other_boundary: Boundary<D, U>,
        f: impl FnOnce(Neighbours<D, T>, Neighbours<D, U>) -> L,
    ) -> Acc<Array<D, L::Elt>> {
        let place = Place::caller("stencil2");
        let array = self.clone();
        let of_both = |index: Vec<Exp<i64>>| {
            let first = Neighbours { array, boundary, index: index.clone(), place };
            f(first, Neighbours { array: other, boundary: other_boundary, index, place })
        };
        self.around_each(of_both, place)
    }

    fn around_each<L: Lift>(
        &self,
        f: impl FnOnce(Vec<Exp<i64>>) -> L,
        place: Place,
    ) -> Acc<Array<D, L::Elt>> {
        let extents: Vec<Term> = (0..D::RANK).map(|dimension| self.extent(dimension).term()).collect();
        let element = lifted(|index: D::Index| f(index.terms().into_iter().map(Exp::from_term).collect()));
        let generate = Generate { shape: nullary(|| extents), element };
        Acc::<Array<D, L::Elt>>::new(generate, Vec::new(), place)
    }
}
