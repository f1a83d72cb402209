//! Bounds: an index that the user computes is checked, unless it is plainly within.
//!
//! A check that fails is recorded with the place in the user's program, and the run ends with an error; the access goes
//! to element 0 meanwhile, or nowhere where there may be none, so nothing outside an array is ever touched. Checks that
//! hold for the sizes of a launch are proved away before the kernel is compiled.

use crate::bounds::bounds;
use crate::builder::Place;
use crate::effects;
use crate::item::Ix;
use pumice_scalar::{Exp, FailureKind, Site};
use std::panic::Location;

/// Whether two lengths are plainly the same.
pub(crate) fn same(a: Ix, b: Ix) -> bool {
    let constant = a.term().integer();
    (constant.is_some() && constant == b.term().integer()) || a.term().id() == b.term().id()
}

/// Whether one length is plainly not larger than another.
pub(crate) fn at_most(a: Ix, b: Ix) -> bool {
    same(a, b) || bounds(a).1 <= bounds(b).0
}

/// Whether an array of this length plainly has elements.
pub(crate) fn has_some(length: Ix) -> bool {
    bounds(length).0 > 0
}

/// Whether an index is below a length, recorded as a failure where it is not; `None` if it plainly is.
pub(crate) fn inside(index: Ix, length: Ix, place: Place) -> Option<Exp<bool>> {
    let (low, high) = bounds(index);
    if low >= 0 && high < bounds(length).0 {
        return None;
    }
    let Place { operation, location } = place;
    let site = Site { operation, kind: FailureKind::OutOfBounds, location };
    let inside = index.ge(0) & index.lt(length);
    Some(Exp::from_term(inside.term().check(site, index.term(), length.term())))
}

/// The index if it is below the length, which is not 0, else 0 and a failure.
pub(crate) fn within(index: Ix, length: Ix, place: Place) -> Ix {
    inside(index, length, place).map_or(index, |inside| inside.select(index, Exp::from(0)))
}

/// Does something with an index if it is below the length, else nothing, and there is a failure.
pub(crate) fn if_within(
    index: Ix,
    length: Ix,
    operation: &'static str,
    location: &'static Location<'static>,
    f: impl FnOnce(Ix),
) {
    match inside(index, length, Place { operation, location }) {
        None => f(index),
        Some(inside) => effects::either(inside.term(), || f(index), || {}),
    }
}

/// Whether a condition holds, if that is known while the kernel is built.
pub(crate) fn known(condition: Exp<bool>) -> Option<bool> {
    condition.term().constant().map(|constant| constant.is_true())
}
