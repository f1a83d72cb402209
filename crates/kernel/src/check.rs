//! Bounds: an index that the user computes is checked, unless it is plainly within.
//!
//! A check that fails is recorded with the place in the user's program, and the run ends with an error; the access goes
//! to element 0 meanwhile, so nothing outside an array is ever touched. Checks that hold for the sizes of a launch are
//! proved away before the kernel is compiled.

use crate::effects;
use crate::item::Ix;
use pumice_scalar::{Exp, FailureKind, Site};
use std::panic::Location;

/// Whether an index is below a length, recorded as a failure where it is not; `None` if it plainly is.
fn inside(
    index: Ix,
    length: Ix,
    operation: &'static str,
    location: &'static Location<'static>,
) -> Option<Exp<bool>> {
    if let (Some(index), Some(length)) = (index.term().integer(), length.term().integer())
        && (0..length).contains(&index)
    {
        return None;
    }
    let site = Site { operation, kind: FailureKind::OutOfBounds, location };
    let inside = index.ge(0) & index.lt(length);
    Some(Exp::from_term(inside.term().check(site, index.term(), length.term())))
}

/// The index if it is below the length, else 0 and a failure.
pub(crate) fn within(
    index: Ix,
    length: Ix,
    operation: &'static str,
    location: &'static Location<'static>,
) -> Ix {
    inside(index, length, operation, location).map_or(index, |inside| inside.select(index, Exp::from(0)))
}

/// Does something with an index if it is below the length, else nothing, and there is a failure.
pub(crate) fn if_within(
    index: Ix,
    length: Ix,
    operation: &'static str,
    location: &'static Location<'static>,
    f: impl FnOnce(Ix),
) {
    match inside(index, length, operation, location) {
        None => f(index),
        Some(inside) => effects::either(inside.term(), || f(index), || {}),
    }
}

/// Whether a condition holds, if that is known while the kernel is built.
pub(crate) fn known(condition: Exp<bool>) -> Option<bool> {
    condition.term().constant().map(|constant| constant.is_true())
}
