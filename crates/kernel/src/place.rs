//! Source locations, in the user's program, of the statements and errors of a kernel.
//!
//! Every operation of the kernel language says where it was written ([`at_place`]); the statements that it adds stand under a
//! comment with that place, and its checks fail with it. A skeleton is written by us on behalf of an operation that the user
//! wrote: inside [`on_behalf`], whatever the kernel language does names the user's place instead of ours.

use crate::builder::{Builder, during};
use pumice_scalar::{FailureKind, Place, Site};
use std::cell::Cell;

thread_local! {
    static BEHALF: Cell<Option<Place>> = const { Cell::new(None) };
    static WRITTEN: Cell<Option<Place>> = const { Cell::new(None) };
}

/// Runs `f` on behalf of what a user wrote at a place: comments, failures and errors of the kernel-language operations
/// in it name that place, not the lines of Rust that call them. With `None`, operations name themselves again (inside a
/// user's own skeleton, say). Functions on scalars keep their own places in any case.
///
/// ```
/// use pumice::Place;
/// use pumice::kernel::{Grid, Ix, Pull, define, on_behalf};
/// let place = Place::new("doubled", "prices.pum", 3, 7);
/// let kernel = on_behalf(place, || {
///     define("kernel", 32, |xs: Pull<i32, Ix>| xs.map(|x| x + x).push::<Grid>())
/// })?;
/// assert!(kernel.kernel().program.to_string().contains("doubled at prices.pum:3"));
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
pub fn on_behalf<R>(place: impl Into<Option<Place>>, f: impl FnOnce() -> R) -> R {
    /// The place from before, also after a panic: the user may catch that and go on.
    struct Before(Option<Place>);
    impl Drop for Before {
        fn drop(&mut self) {
            BEHALF.set(self.0);
        }
    }
    let place = place.into();
    let _before = Before(BEHALF.replace(place));
    match place {
        Some(place) => at_place(place, f),
        None => f(),
    }
}

/// Runs `f`, whose operations are written at a place of another language than Rust: a front end says so of each operation that it
/// describes. Statements that are written later, when the array is used, still name it.
///
/// ```
/// use pumice::Place;
/// use pumice::kernel::{Grid, Ix, Pull, define, written_at};
/// let place = Place::new("push", "prices.pum", 3, 7);
/// let kernel = define("kernel", 32, |xs: Pull<i32, Ix>| written_at(place, || xs.push::<Grid>()))?;
/// assert!(kernel.kernel().program.to_string().contains("push at prices.pum:3"));
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
pub fn written_at<R>(place: Place, f: impl FnOnce() -> R) -> R {
    /// The place from before, also after a panic.
    struct Before(Option<Place>);
    impl Drop for Before {
        fn drop(&mut self) {
            WRITTEN.set(self.0);
        }
    }
    let _before = Before(WRITTEN.replace(Some(place)));
    f()
}

/// The place of an operation that is described here: where the function that asks was called, or as [`written_at`] says.
#[track_caller]
pub(crate) fn here(operation: &str) -> Place {
    // Not in a closure: that would be the caller.
    match WRITTEN.get() {
        Some(place) => place,
        None => Place::caller(operation),
    }
}

/// The user's place for what is written at this one.
pub(crate) fn users(place: Place) -> Place {
    BEHALF.get().unwrap_or(place)
}

/// A site of failures of an operation at this place.
pub(crate) fn site(place: Place, kind: FailureKind) -> Site {
    Site { place: users(place), kind }
}

/// Runs `f` with this as the place that its statements come from.
pub(crate) fn at_place<R>(place: Place, f: impl FnOnce() -> R) -> R {
    let restore = |builder: &mut Builder, before| builder.place = before;
    during(|builder| builder.place.replace(users(place)), restore, f)
}
