//! Functions of users inside array programs, as users write them: [`foreign`], and printing while a program runs.

use crate::acc::Acc;
use crate::control::Arrays;
use crate::data::{Array, ArrayData};
use crate::error::Error;
use crate::loops::Outside;
use crate::operations::{Foreign, Trace};
use crate::shape::Shape;
use pumice_scalar::{Elt, Place};
use std::sync::Arc;

/// Applies a function of the host to an array. If the function returns `None`, `fallback` computes the result instead. This is for
/// libraries that do better than a program, for some arrays.
///
/// The array is brought to the host for the function, and its result to the device. The fallback defines the operation's meaning:
/// a program without the function, such as one read from text, runs the fallback.
///
/// ```
/// use pumice::{prelude::*, run};
/// use pumice::Vector;
/// // Some library that knows short vectors.
/// let reversed = |xs: &Vector<i32>| {
///     let mut xs = xs.to_vec().ok().filter(|xs| xs.len() < 4)?;
///     xs.reverse();
///     Some(Vector::from(xs))
/// };
/// assert_eq!(run(foreign(use_(&[1, 2, 3]), reversed, |xs| xs.reverse()))?.to_vec()?, [3, 2, 1]);
/// assert_eq!(run(foreign(use_(&[1, 2, 3, 4]), reversed, |xs| xs.reverse()))?.to_vec()?, [4, 3, 2, 1]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn foreign<D: Shape, T: Elt, E: Shape, U: Elt>(
    input: Acc<Array<D, T>>,
    function: impl Fn(&Array<D, T>) -> Option<Array<E, U>> + Send + Sync + 'static,
    fallback: impl FnOnce(Acc<Array<D, T>>) -> Acc<Array<E, U>>,
) -> Acc<Array<E, U>> {
    let call = move |arrays: &Arrays| -> Option<Result<Arc<dyn ArrayData>, Error>> {
        let given = Array::<D, T>::from_data(arrays.first()?.clone());
        given.map(|given| Some(function(&given)?.data().clone())).transpose()
    };
    foreign_by(input, None, call, fallback, Place::caller("foreign"))
}

/// Like [`foreign`], by a function of the data, which is in the memory of the device that runs the program if that is of this kind:
/// for layers that know devices.
pub fn foreign_by<D: Shape, T: Elt, E: Shape, U: Elt>(
    input: Acc<Array<D, T>>,
    device: Option<&'static str>,
    call: impl Fn(&Arrays) -> Option<Result<Arc<dyn ArrayData>, Error>> + Send + Sync + 'static,
    fallback: impl FnOnce(Acc<Array<D, T>>) -> Acc<Array<E, U>>,
    place: Place,
) -> Acc<Array<E, U>> {
    let mut outside = Outside::new(vec![input.described().clone()]);
    let fallback = fallback(input);
    let program = outside.close(std::slice::from_ref(fallback.described()));
    Acc::<Array<E, U>>::new(Foreign::new(Arc::new(call), device, program), outside.arrays, place)
}

impl<D: Shape, T: Elt> Acc<Array<D, T>> {
    /// The array as it is. When the program gets there, its extents and first elements are printed to the standard error, with
    /// the place where this was written, or given to the function that [`trace_to`](crate::trace_to) named.
    ///
    /// ```
    /// use pumice::*;
    /// trace_to(|text| assert!(text.ends_with("[3] {2, 3, 4}"), "{text}"));
    /// let xs = use_(&[1, 2, 3]).map(|x| x + 1).atrace();
    /// assert_eq!(run(xs.sum())?.to_value()?, 9);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn atrace(self) -> Self {
        Self::new(Trace, vec![self.described().clone()], Place::caller("atrace"))
    }
}
