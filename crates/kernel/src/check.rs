//! Bounds and lengths: an index that the user computes is checked, unless it is plainly in bounds, and so is whether the
//! lengths of arrays fit together: no operation drops elements unless its name says so.
//!
//! A check that fails is recorded with the place in the user's program, and the run ends with an error; the access goes
//! to element 0 meanwhile, or nowhere where there may be none, so nothing outside an array is ever touched. Checks that
//! hold for the sizes of a launch are proved away before the kernel is compiled.

use crate::bounds::bounds;
use crate::bounds::natural;
use crate::builder::with;
use crate::built::require_at_launch;
use crate::effects;
use crate::item::Ix;
use crate::place::site;
use crate::size::{Size, whole};
use pumice_scalar::{Exp, FailureKind, Place};

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
    let site = site(place, FailureKind::OutOfBounds);
    let inside = index.ge(0) & index.lt(length);
    Some(Exp::from_term(inside.term().check(site, index.term(), length.term())))
}

/// The index if it is below the length, which is not 0, else 0 and a failure.
pub(crate) fn within(index: Ix, length: Ix, place: Place) -> Ix {
    inside(index, length, place).map_or(index, |inside| inside.select(index, Exp::from(0)))
}

/// Runs `f` on an index that is below the length; otherwise does nothing and records a failure.
pub(crate) fn if_within(index: Ix, length: Ix, place: Place, f: impl FnOnce(Ix)) {
    match inside(index, length, place) {
        None => f(index),
        Some(inside) => effects::either(inside.term(), || f(index), || {}),
    }
}

/// Whether a condition holds, if that is known while the kernel is built.
pub(crate) fn known(condition: Exp<bool>) -> Option<bool> {
    condition.term().constant().map(|constant| constant.is_true())
}

/// Returns a length that is right if a condition holds. Where it does not, that is an error as early as it is known: while
/// the kernel is built, when it is launched, or when it runs; in the last case the length is 0 then. `found` and `wanted`
/// are the numbers of the message.
pub(crate) fn require(
    length: Ix,
    holds: Exp<bool>,
    (kind, place): (FailureKind, Place),
    found: Ix,
    wanted: Ix,
) -> Ix {
    let site = site(place, kind);
    match known(holds) {
        Some(true) => return length,
        Some(false) => {
            let number = |value: Ix| value.term().integer().unwrap_or(0);
            with(|builder| builder.refuse(site, number(found), number(wanted)));
            return length;
        }
        None => {}
    }
    if require_at_launch(holds.term(), site, found.term(), wanted.term()) {
        return length;
    }
    Exp::<bool>::from_term(holds.term().check(site, found.term(), wanted.term())).select(length, Exp::from(0))
}

/// Returns the length of two arrays that belong together. It is an error if they differ.
pub(crate) fn same_length<S: Size>(a: S, b: S, place: Place) -> S {
    if same(a.to_ix(), b.to_ix()) {
        return a;
    }
    let (here, there) = (natural(a.to_ix()), natural(b.to_ix()));
    let failure = (FailureKind::LengthsDiffer, place);
    let length = if a.known().is_some() && b.known().is_some() { a.least(b) } else { a };
    length.checked(|length| require(length, here.eq(there), failure, here, there))
}

/// Returns how many parts of `size` elements there are in `length`. It is an error if some elements are left over.
pub(crate) fn whole_parts<S: Size>(length: S, size: usize, place: Place) -> S {
    let (all, part) = (natural(length.to_ix()), whole(size));
    let rest = if part == 0 { all } else { all % part };
    let failure = (FailureKind::NotWhole, place);
    length.parts(size).checked(|parts| require(parts, rest.eq(0), failure, all, Exp::from(part)))
}

/// Returns a length that is not larger than `most`. It is an error if it is.
pub(crate) fn no_longer_than(length: Ix, most: Ix, place: Place) -> Ix {
    if at_most(length, most) {
        return length;
    }
    require(length, length.le(natural(most)), (FailureKind::TooLong, place), length, most)
}
