//! Work on a vector in chunks, for intermediate arrays that would not fit into memory for all elements at once.
//!
//! A chunk is a stretch of elements whose sizes sum up to at most a limit, found by halving in their prefix sums. The chunks are
//! the rounds of a loop, so a device holds the arrays of one chunk, and the results.

use crate::acc::Acc;
use crate::create::{numbered, unit};
use crate::data::{Scalar, Vector};
use crate::loops::{AccTuple, awhile_at};
use crate::operations::Gives;
use pumice_scalar::{Constant, Elt, Exp, IntoExp, Lift, Place};

/// The largest limit: sums of up to so much for each element do not wrap.
const MOST: i64 = 1 << 32;

impl<T: Elt> Acc<Vector<T>> {
    /// Applies a function to parts of the vector, one after the other, and joins its results to one vector: one result per
    /// element. A part has as many elements as have a `size` of at most `limit` together, and at least one.
    ///
    /// So the intermediate arrays of `f`, whose size for an element is given by `size`, need memory for `limit` at a time.
    /// The host reads in every round where the next part ends.
    ///
    /// ```
    /// use pumice::*;
    /// // The middle one of each number's remainders, of which at most 100 are in memory.
    /// let medians = generate(30, |n| n + 1).in_chunks(
    ///     100,
    ///     |n| n,
    ///     |part| {
    ///         let remainders = comp![[n % d | d <- 1..=n] | n <- part].sort();
    ///         comp![remainders[i][n / 2] | i <- 0.. | n <- part]
    ///     },
    /// );
    /// assert_eq!(run(medians)?.to_vec()?[..6], [0, 0, 0, 0, 1, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn in_chunks<R: Elt>(
        self,
        limit: impl Into<Exp<i64>>,
        size: impl FnOnce(T::Exp) -> Exp<i64>,
        f: impl FnOnce(Acc<Vector<T>>) -> Acc<Vector<R>>,
    ) -> Acc<Vector<R>> {
        let place = Place::caller("in_chunks");
        let zeros = || R::Exp::from_terms(&mut R::types().into_iter().map(|ty| Constant::zero(ty).into()));
        let nothing = numbered(0, |_| zeros(), place);
        let step = |results: Acc<Vector<R>>, part: Acc<Vector<T>>| {
            // Of which there must be as many as elements.
            let more = part.zipped(&f(part.clone()), |_, result| result, place);
            results.joined(vec![more], place)
        };
        self.chunked(limit.into(), size, nothing, step, place)
    }

    /// Reduces parts of the vector to one value each, one after the other, and combines these with an associative operator, from
    /// an initial value. Parts are as [`Acc::in_chunks`] says.
    ///
    /// ```
    /// use pumice::*;
    /// // How many different remainders have the numbers up to 30?
    /// let different = generate(30, |n| n + 1).fold_in_chunks(
    ///     100,
    ///     |n| n,
    ///     0,
    ///     |part| comp![[n % d | d <- 1..=n, distinct] | n <- part].lengths().sum(),
    ///     |a, b| a + b,
    /// );
    /// assert_eq!(run(different)?.to_value()?, (1..=30).map(|n| (n + 1) / 2).sum::<i64>());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn fold_in_chunks<R: Elt>(
        self,
        limit: impl Into<Exp<i64>>,
        size: impl FnOnce(T::Exp) -> Exp<i64>,
        initial: impl IntoExp<R>,
        f: impl FnOnce(Acc<Vector<T>>) -> Acc<Scalar<R>>,
        combine: impl FnOnce(R::Exp, R::Exp) -> R::Exp,
    ) -> Acc<Scalar<R>> {
        let place = Place::caller("fold_in_chunks");
        let step = |so_far: Acc<Scalar<R>>, part: Acc<Vector<T>>| so_far.zipped(&f(part), combine, place);
        self.chunked(limit.into(), size, unit(initial), step, place)
    }

    /// Goes through the vector in chunks with a state.
    fn chunked<S: AccTuple>(
        self,
        limit: Exp<i64>,
        size: impl FnOnce(T::Exp) -> Exp<i64>,
        initial: S,
        step: impl FnOnce(S, Acc<Vector<T>>) -> S,
        place: Place,
    ) -> S {
        let (count, limit) = (self.size(), limit.max(0).min(MOST));
        // More than the limit is as good as the limit, and keeps sums small.
        let sizes = self.clone().mapped(|x| size(x).max(0).min(limit), place);
        let before: Acc<Vector<i64>> =
            sizes.scanned((Gives::Extended, false), Some(Exp::from(0)), |a, b| a + b, place);
        let end_of = |start: Exp<i64>| {
            let most = before.element(&[start.term()], None) + limit;
            (before.found(|sum| sum.le(most)) - 1).max(start + 1).min(count)
        };
        type Bounds = Acc<Scalar<(i64, i64)>>;
        let first: Bounds = unit(Exp::<i64>::from(0)).mapped(|start| (start, end_of(start)), place);
        let is_left = |(bounds, _): (Bounds, S)| bounds.mapped(|(start, _)| start.lt(count), place);
        let next = |(bounds, state): (Bounds, S)| {
            let (start, end) = bounds.the();
            let part = self.clone().stretch(start, 1, end - start, place);
            (bounds.mapped(|(_, end)| (end, end_of(end)), place), step(state, part))
        };
        awhile_at(place, (first, initial), is_left, next).1
    }
}
