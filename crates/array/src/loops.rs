//! Loops and branches over arrays, as users write them.
//!
//! Their functions are called once, while the program is written. The arrays that a function describes itself are part of its program;
//! arrays that were described before it was called are outside, and are further inputs of the loop or branch. Planning decides where an
//! array is computed that no round changes, or that only one side of a branch needs (`passes/float.rs`).

use crate::acc::Acc;
use crate::create::unit_at;
use crate::data::{Array, Scalar};
use crate::described::{Described, next_id};
use crate::operation::Operation;
use crate::operations::{Branch, Parameter, Pick, Repeat, While};
use crate::program::ArrayProgram;
use crate::shape::Shape;
use pumice_scalar::{Elt, Exp, Place};
use std::collections::HashMap;
use std::sync::Arc;

/// The state of a loop or the result of a branch: an array, or a tuple of two to four, of any ranks and element types.
///
/// ```
/// use pumice::{AccTuple, prelude::*, run};
/// fn four_times<S: AccTuple>(state: S, step: impl FnOnce(S) -> S) -> S {
///     iterate(4, state, step)
/// }
/// let (powers, _) = four_times((unit(1i32), unit(3i32)), |(power, base)| (power.zip_with(base.clone(), |p, b| p * b), base));
/// assert_eq!(run(powers)?.to_value()?, 81);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the state of a loop or the result of a branch",
    label = "expected an array, or a tuple of two to four arrays",
    note = "arrays are `Acc<Array<D, T>>`, such as `Acc<Vector<f32>>`; `unit` makes one of a single value"
)]
pub trait AccTuple: Sized {
    /// Replaces the description of each array, in order, by another one of the same rank and element type.
    fn map_described(&self, f: &mut dyn FnMut(&Arc<Described>) -> Arc<Described>) -> Self;
}

impl<D: Shape, T: Elt> AccTuple for Acc<Array<D, T>> {
    fn map_described(&self, f: &mut dyn FnMut(&Arc<Described>) -> Arc<Described>) -> Self {
        Self::from_described(f(self.described()))
    }
}

/// Any number of arrays, for front ends without types of Rust.
#[diagnostic::do_not_recommend]
impl AccTuple for Vec<Arc<Described>> {
    fn map_described(&self, f: &mut dyn FnMut(&Arc<Described>) -> Arc<Described>) -> Self {
        self.iter().map(f).collect()
    }
}

macro_rules! tuples {
    ($($array:ident)*) => {
        impl<$($array: AccTuple),*> AccTuple for ($($array,)*) {
            #[allow(non_snake_case)]
            fn map_described(&self, f: &mut dyn FnMut(&Arc<Described>) -> Arc<Described>) -> Self {
                let ($($array,)*) = self;
                ($($array.map_described(f),)*)
            }
        }
    };
}
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);

/// Makes `next` of the state again and again, as long as `condition` holds for it; gives the state for which it does not. The
/// state is an array or a tuple of up to four, whose extents may change from round to round.
///
/// Both functions describe programs and are called once. They may use arrays from outside. A loop invariant is computed once, wherever
/// it is described. If there is no round, the arrays that `next` describes are not computed at all. The state stays on the device.
/// Where its arrays fit one block and keep their extents, and the functions consist of maps, folds, scans and the like, the whole loop is
/// one kernel, which runs to its end once it has begun, or to the deadline if there is one. On CUDA a loop whose arrays keep their extents
/// is a graph, which goes on without the host too. Otherwise the host reads the condition in every round. `explain` says which loops are
/// kernels, and why others are not.
///
/// ```
/// use pumice::{prelude::*, run};
/// // Which numbers are left when every other one is dropped, until there are at most two?
/// let (left, rounds) = awhile(
///     (enum_from(13, 0, 1), unit(0)),
///     |(numbers, _)| unit(numbers.size().gt(2)),
///     |(numbers, rounds)| (numbers.every(2), rounds.map(|n| n + 1)),
/// );
/// assert_eq!(run(left)?.to_vec()?, [0, 8]);
/// assert_eq!(run(rounds)?.to_value()?, 3);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn awhile<S: AccTuple>(
    initial: S,
    condition: impl FnOnce(S) -> Acc<Scalar<bool>>,
    next: impl FnOnce(S) -> S,
) -> S {
    awhile_at(Place::caller("awhile"), initial, condition, next)
}

/// Makes `next` of an array, or of a tuple of up to four, so many times: not at all if `rounds` is not positive.
///
/// Where the arrays are small the loop is one kernel, as for [`awhile`]. Otherwise the host reads the number of rounds before the first
/// one, and nothing after it: rounds are described ahead of the device.
///
/// ```
/// use pumice::prelude::*;
/// fn power(matrix: Acc<Vector<f64>>, n: Exp<i64>) -> Acc<Vector<f64>> {
///     iterate(n, fill(1, 1.0), |powers| powers.zip_with(matrix, |x, y| x * y))
/// }
/// assert_eq!(pumice::compile(power)?.run((&[3.0], 4))?.to_vec()?, [81.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn iterate<S: AccTuple>(rounds: impl Into<Exp<i64>>, initial: S, next: impl FnOnce(S) -> S) -> S {
    iterate_at(Place::caller("iterate"), rounds.into(), initial, next)
}

/// Like [`iterate`], but `next` is also given the number of the round, from 0 on.
///
/// ```
/// use pumice::{prelude::*, run};
/// // Each round adds its number times itself.
/// let sums = iterate_numbered(4, fill(2, 0), |round, sums| sums.map(|sum| sum + round * round));
/// assert_eq!(run(sums)?.to_vec()?, [14, 14]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn iterate_numbered<S: AccTuple>(
    rounds: impl Into<Exp<i64>>,
    initial: S,
    next: impl FnOnce(Exp<i64>, S) -> S,
) -> S {
    let place = Place::caller("iterate_numbered");
    let next = |(done, state): (Acc<Scalar<i64>>, S)| {
        let round = done.the();
        (done.mapped(|done| done + 1, place), next(round, state))
    };
    iterate_at(place, rounds.into(), (unit_at(place, 0i64), initial), next).1
}

/// Like [`iterate`], for a loop that is written at a place of a front end's own files.
///
/// ```
/// use pumice_array::{Acc, Vector, enum_from, iterate_at};
/// use pumice_scalar::{Exp, Place};
/// let place = Place::new("iterate", "prices.pum", 3, 7);
/// let doubled: Acc<Vector<i64>> =
///     iterate_at(place, Exp::from(3), enum_from(4, 0, 1), |xs: Acc<Vector<i64>>| xs.map(|x| x * 2));
/// assert_eq!(doubled.described().place(), place);
/// ```
pub fn iterate_at<S: AccTuple>(place: Place, rounds: Exp<i64>, initial: S, next: impl FnOnce(S) -> S) -> S {
    let before = described(&initial);
    let parameters = parameters_of(&before, place);
    let rounds = unit_at(place.named("rounds"), rounds).described().clone();
    let mut outside = Outside::new([vec![rounds], parameters.clone()].concat());
    let step = outside.close(&described(&next(replaced(&initial, &parameters))));
    let mut inputs = outside.arrays;
    inputs.splice(1..=before.len(), before.iter().cloned());
    given(&initial, Repeat::new(before.len(), step), inputs, place)
}

/// Runs `then` if the condition holds, and `otherwise` if not; returns an array, or a tuple of up to four. Only that side
/// is run. The extents may differ.
///
/// Both functions describe programs and are called once. They may use arrays from outside. An array that only one side needs is computed only
/// if that side is run, wherever it is described.
///
/// ```
/// use pumice::prelude::*;
/// fn without_negatives(xs: Acc<Vector<i32>>) -> Acc<Vector<i32>> {
///     let fine = xs.clone().map(|x| x.ge(0)).all(|positive| positive);
///     acond(fine, || xs.clone(), || xs.clone().filter(|x| x.ge(0)))
/// }
/// let program = pumice::compile(without_negatives)?;
/// assert_eq!(program.run(&[1, -2, 3])?.to_vec()?, [1, 3]);
/// assert_eq!(program.run(&[1, 2])?.to_vec()?, [1, 2]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn acond<S: AccTuple>(
    condition: Acc<Scalar<bool>>,
    then: impl FnOnce() -> S,
    otherwise: impl FnOnce() -> S,
) -> S {
    acond_at(Place::caller("acond"), condition, then, otherwise)
}

/// Like [`acond`], for a branch that is written at a place of a front end's own files.
///
/// ```
/// use pumice_array::{acond_at, fill, unit};
/// use pumice_scalar::Place;
/// let place = Place::new("if", "prices.pum", 3, 7);
/// let chosen = acond_at(place, unit(true), || fill(2, 1), || fill(3, 2));
/// assert_eq!(chosen.described().place(), place);
/// ```
pub fn acond_at<S: AccTuple>(
    place: Place,
    condition: Acc<Scalar<bool>>,
    then: impl FnOnce() -> S,
    otherwise: impl FnOnce() -> S,
) -> S {
    let mut outside = Outside::new(vec![condition.described().clone()]);
    let then = then();
    let first = outside.close(&described(&then));
    let second = outside.close(&described(&otherwise()));
    given(&then, Branch::new(first, second), outside.arrays, place)
}

/// Like [`awhile`], for a loop that is written at a place of a front end's own files.
///
/// ```
/// use pumice_array::{Acc, Scalar, awhile_at, unit};
/// use pumice_scalar::Place;
/// let place = Place::new("iterateWhile", "prices.pum", 3, 7);
/// let small = |x: Acc<Scalar<i64>>| x.map(|x| x.lt(100));
/// let power = awhile_at(place, unit(1i64), small, |x| x.map(|x| x * 2));
/// assert_eq!(power.described().place(), place);
/// ```
pub fn awhile_at<S: AccTuple>(
    place: Place,
    initial: S,
    condition: impl FnOnce(S) -> Acc<Scalar<bool>>,
    next: impl FnOnce(S) -> S,
) -> S {
    let before = described(&initial);
    let parameters = parameters_of(&before, place);
    let state = || replaced(&initial, &parameters);
    let mut outside = Outside::new(parameters.clone());
    let condition = outside.close(&described(&condition(state())));
    let step = outside.close(&described(&next(state())));
    let mut inputs = outside.arrays;
    inputs.splice(..before.len(), before.iter().cloned());
    given(&initial, While::new(before.len(), condition, step), inputs, place)
}

/// Returns placeholders for the arrays of a state in the functions of a loop.
pub(crate) fn parameters_of(state: &[Arc<Described>], place: Place) -> Vec<Arc<Described>> {
    let parameter = |array: &Arc<Described>| {
        Described::new(Parameter, Vec::new(), array.rank(), array.types().to_vec(), place.named("state"))
    };
    state.iter().map(parameter).collect()
}

/// The arrays of a tuple.
pub(crate) fn described(tuple: &impl AccTuple) -> Vec<Arc<Described>> {
    let mut all = Vec::new();
    tuple.map_described(&mut |array| {
        all.push(array.clone());
        array.clone()
    });
    all
}

/// A tuple of these arrays.
pub(crate) fn replaced<S: AccTuple>(like: &S, arrays: &[Arc<Described>]) -> S {
    let mut arrays = arrays.iter();
    like.map_described(&mut |old| arrays.next().unwrap_or(old).clone())
}

/// The arrays that a loop or a branch gives, which are like others.
fn given<S: AccTuple>(like: &S, operation: impl Operation, inputs: Vec<Arc<Described>>, place: Place) -> S {
    let arrays = described(like);
    let Some(first) = arrays.first() else { return replaced(like, &[]) };
    let control = Described::new(operation, inputs, first.rank(), first.types().to_vec(), place);
    let pick = |(number, like): (usize, &Arc<Described>)| match number {
        0 => control.clone(),
        _ => {
            let (rank, types) = (like.rank(), like.types().to_vec());
            Described::new(Pick(number), vec![control.clone()], rank, types, place)
        }
    };
    let all: Vec<Arc<Described>> = arrays.iter().enumerate().map(pick).collect();
    replaced(like, &all)
}

/// The arrays that programs of a loop or branch take from outside, by their numbers as arguments.
pub(crate) struct Outside {
    /// Descriptions with this number or a larger one belong to the programs.
    first_inside: u64,
    /// The arrays from outside.
    pub arrays: Vec<Arc<Described>>,
    numbers: HashMap<u64, u32>,
}

impl Outside {
    /// Begins the description of programs whose first arguments are these.
    pub fn new(arrays: Vec<Arc<Described>>) -> Outside {
        let numbers = arrays.iter().map(|array| array.id()).zip(0..).collect();
        Outside { first_inside: next_id(), arrays, numbers }
    }

    /// The program that gives these arrays.
    pub fn close(&mut self, results: &[Arc<Described>]) -> ArrayProgram {
        ArrayProgram::within(results, |array| {
            if let Some(number) = self.numbers.get(&array.id()) {
                return Some(*number);
            }
            (array.id() < self.first_inside).then(|| {
                let number = self.arrays.len() as u32;
                self.arrays.push(array.clone());
                self.numbers.insert(array.id(), number);
                number
            })
        })
    }
}
