//! Work on a vector as a whole, or in parts if memory does not suffice.
//!
//! Both are sides of a branch whose condition is known before a run is planned (`operations/parts.rs`, `passes/decide.rs`). So the whole
//! costs nothing: it is fused with what is around it, as if there were no other way. The parts are the rounds of a loop. The function is
//! called once; what it describes is described again for the vector and for a part (`inline.rs`). Chunks of a size that the user says are in
//! `chunks.rs`.

use crate::acc::Acc;
use crate::create::unit_at;
use crate::data::{Scalar, Vector};
use crate::described::Described;
use crate::inline::{Passed, describe};
use crate::loops::{AccTuple, Outside, acond_at, awhile_at, described, parameters_of, replaced};
use crate::operations::PartsOfRun;
use crate::program::ArrayProgram;
use crate::ragged::AccRagged;
use crate::untyped::{generated, joined, length, part};
use pumice_kernel::quotient;
use pumice_scalar::{Constant, Elt, Exp, IntoExp, Place};
use std::slice::from_ref;
use std::sync::Arc;

/// What can be computed in parts by [`Acc::in_parts`]: a vector, or rows of different lengths.
///
/// ```
/// use pumice::{Parted, prelude::*, run};
/// fn every<R: Parted>(numbers: Acc<Vector<i64>>, f: impl FnOnce(Acc<Vector<i64>>) -> R) -> R {
///     numbers.in_parts(f)
/// }
/// assert_eq!(run(every(use_(&[1, 2]), |part| comp![[i | i <- 0..n] | n <- part]))?.to_vecs(), [vec![0], vec![0, 1]]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be computed in parts",
    label = "expected an `Acc<Vector<T>>` or an `AccRagged<T>`"
)]
pub trait Parted: AccTuple {
    /// Whether there is a second array, with the offsets of rows.
    const HAS_OFFSETS: bool;
}

impl<T: Elt> Parted for Acc<Vector<T>> {
    const HAS_OFFSETS: bool = false;
}

impl<T: Elt> Parted for AccRagged<T> {
    const HAS_OFFSETS: bool = true;
}

impl<T: Elt> Acc<Vector<T>> {
    /// Applies a function to the vector, and if memory does not suffice for that, to 8, 64, 512, … parts of it, one after the other: then their
    /// results are joined. So it must not matter to the function which elements it is given together: what it gives for an element, one
    /// result or several or none, depends on that element alone.
    ///
    /// As long as memory suffices, this is the function's own result, and fused with what is around it. A run for which the device has no
    /// memory begins again with more parts. Comprehensions do this by themselves.
    ///
    /// ```
    /// use pumice::layers::runtime::devices::Sim;
    /// use pumice::prelude::*;
    /// use std::sync::Arc;
    /// // Each number's remainders, in order. All of them together have 640,000 bytes, besides what sorting them takes.
    /// fn medians(ns: Acc<Vector<i64>>) -> Acc<Vector<i64>> {
    ///     ns.in_parts(|part| {
    ///         let remainders = part.clone().expand(|n| n, |n, d| n % (d + 1));
    ///         let rows = AccRagged::from_lengths(remainders, part.clone()).sort();
    ///         part.imap(|i, n| rows.flatten().at(rows.offsets().at(i) + n / 2))
    ///     })
    /// }
    /// let little = pumice::Compiler::with(Arc::new(Sim::with_memory(600_000)));
    /// assert_eq!(little.compile(medians)?.run(vec![1000; 80])?.to_vec()?, [145; 80]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn in_parts<R: Parted>(self, f: impl FnOnce(Acc<Vector<T>>) -> R) -> R {
        self.joined_parts(f, Place::caller("in_parts"))
    }

    /// Like [`Acc::in_parts`], for a function that reduces the vector to one value. If memory does not suffice for the whole, the values of its
    /// parts are combined with an associative operator, from its neutral element.
    ///
    /// ```
    /// use pumice::*;
    /// // How many different remainders have the numbers up to 30?
    /// let different = generate(30, |n| n + 1).fold_in_parts(
    ///     0,
    ///     |part| comp![[n % d | d <- 1..=n, distinct] | n <- part].lengths().sum(),
    ///     |a, b| a + b,
    /// );
    /// assert_eq!(run(different)?.to_value()?, (1..=30).map(|n| (n + 1) / 2).sum::<i64>());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn fold_in_parts<R: Elt>(
        self,
        neutral: impl IntoExp<R>,
        f: impl FnOnce(Acc<Vector<T>>) -> Acc<Scalar<R>>,
        combine: impl FnOnce(R::Exp, R::Exp) -> R::Exp,
    ) -> Acc<Scalar<R>> {
        self.folded_parts(neutral, f, combine, Place::caller("fold_in_parts"))
    }

    pub(crate) fn joined_parts<R: Parted>(self, f: impl FnOnce(Acc<Vector<T>>) -> R, place: Place) -> R {
        let f = |part| f(Acc::from_described(part));
        joined_parts(self.described(), R::HAS_OFFSETS, f, place)
    }

    pub(crate) fn folded_parts<R: Elt>(
        self,
        neutral: impl IntoExp<R>,
        f: impl FnOnce(Acc<Vector<T>>) -> Acc<Scalar<R>>,
        combine: impl FnOnce(R::Exp, R::Exp) -> R::Exp,
        place: Place,
    ) -> Acc<Scalar<R>> {
        let join = |so_far: Acc<Scalar<R>>, more: Acc<Scalar<R>>| so_far.zipped(&more, combine, place);
        let f = |part| f(Acc::from_described(part));
        parted(self.described(), f, |_| unit_at(place, neutral), join, place)
    }
}

/// [`Acc::in_parts`], for front ends without types of Rust: `f` gives a vector or, with offsets, the elements and the offsets of rows.
///
/// ```
/// use pumice::layers::array::joined_parts;
/// use pumice::{layers::scalar::Place, prelude::*, run};
/// let place = Place::new("comprehension", "prices.pum", 3, 7);
/// let negated = |part| vec![Acc::<Vector<i64>>::from_described(part).map(|x| -x).described().clone()];
/// let all = joined_parts(use_(&[1i64, 2]).described(), false, negated, place);
/// assert_eq!(run(Acc::<Vector<i64>>::from_described(all[0].clone()))?.to_vec()?, [-1, -2]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn joined_parts<R: AccTuple>(
    vector: &Arc<Described>,
    has_offsets: bool,
    f: impl FnOnce(Arc<Described>) -> R,
    place: Place,
) -> R {
    let nothing = |result: &R| {
        let number = |offsets: usize| if has_offsets { offsets as i64 } else { 0 };
        let none = |(offsets, array): (usize, &Arc<Described>)| {
            let types = array.types().to_vec();
            let zeros = |_| types.iter().map(|ty| Constant::zero(*ty).into()).collect();
            generated(Exp::from(number(offsets)).term(), zeros, types.clone(), place)
        };
        replaced(result, &described(result).iter().enumerate().map(none).collect::<Vec<_>>())
    };
    let join = |results: R, more: R| {
        let (before, behind) = (described(&results), described(&more));
        let joined = match (&before[..], &behind[..]) {
            ([values, offsets], [more, more_offsets]) if has_offsets => {
                rows_behind((values, offsets), (more, more_offsets), place)
            }
            _ => before.iter().zip(&behind).map(|(array, more)| joined(array, more, place)).collect(),
        };
        replaced(&results, &joined)
    };
    parted(vector, f, nothing, join, place)
}

/// Rows, as elements and offsets, with others behind them. The offsets of the others need not begin with 0.
fn rows_behind(
    (values, offsets): (&Arc<Described>, &Arc<Described>),
    (more, more_offsets): (&Arc<Described>, &Arc<Described>),
    place: Place,
) -> Vec<Arc<Described>> {
    let starts = Acc::<Vector<i64>>::from_described(more_offsets.clone());
    let (rows, before) = (starts.size() - 1, Exp::<i64>::from_term(length(values)));
    let offset = |number: Exp<i64>| {
        let offset: Acc<Scalar<i64>> = unit_at(place, starts.element(&[number.term()], None));
        offset.the()
    };
    let (first, last) = (offset(Exp::from(0)), offset(rows));
    let ends = starts.clone().stretch(Exp::from(1), 1, rows, place).mapped(|end| end - first + before, place);
    let more = part(more, first.term(), (last - first).term(), place);
    vec![joined(values, &more, place), joined(offsets, ends.described(), place)]
}

/// The function of the whole vector, or of its parts with a state, as the run says. The initial state is like what the function gives.
fn parted<R: AccTuple>(
    vector: &Arc<Described>,
    f: impl FnOnce(Arc<Described>) -> R,
    initial: impl FnOnce(&R) -> R,
    join: impl FnOnce(R, R) -> R,
    place: Place,
) -> R {
    let f = OfParts::new(vector, f, place);
    let parts: Acc<Scalar<i64>> = Acc::new(PartsOfRun, Vec::new(), place);
    let in_turn = || {
        let count = Exp::<i64>::from_term(length(vector));
        let most = parts.clone().mapped(|parts| quotient(count + (parts - 1), parts).max(1), place);
        let is_left = |(start, _): (Acc<Scalar<i64>>, R)| start.mapped(|start| start.lt(count), place);
        let next = |(start, state): (Acc<Scalar<i64>>, R)| {
            let (from, most) = (start.the(), most.the());
            let part = part(vector, from.term(), (count - from).min(most).term(), place);
            (start.mapped(|start| start + most, place), join(state, f.of(&part)))
        };
        let first = (unit_at(place, Exp::<i64>::from(0)), initial(&f.result));
        awhile_at(place, first, is_left, next).1
    };
    let is_cut = parts.clone().mapped(|parts| parts.gt(1), place);
    acond_at(place, is_cut, in_turn, || f.of(vector))
}

/// A function of a vector that was called once, and is described again for each vector that it is applied to.
struct OfParts<R> {
    program: ArrayProgram,
    /// The arrays that it takes from outside, behind a place for the vector.
    outside: Vec<Arc<Described>>,
    result: R,
}

impl<R: AccTuple> OfParts<R> {
    fn new(like: &Arc<Described>, f: impl FnOnce(Arc<Described>) -> R, place: Place) -> Self {
        let parameters = parameters_of(from_ref(like), place);
        let mut outside = Outside::new(parameters.clone());
        let result = f(parameters.into_iter().next().unwrap_or_else(|| like.clone()));
        let program = outside.close(&described(&result));
        OfParts { program, outside: outside.arrays, result }
    }

    fn of(&self, part: &Arc<Described>) -> R {
        let arrays = from_ref(part).iter().chain(self.outside.iter().skip(1)).cloned();
        replaced(&self.result, &describe(&self.program, &Passed::to_part(arrays, &self.program)))
    }
}
