//! Warp collectives: exchange of values between lanes without memory, and votes.
//!
//! These stand where the execution scope is a thread, in a loop over a warp's lanes or a block's threads (inside `push::<Warp>()` or
//! `push::<Block>()`), and all lanes of a warp get there or none: no condition that differs from lane to lane stands around them. One on which a
//! warp has voted does not, so each warp may repeat them as often as it needs. `pumice::cond` is none: it chooses between values, and what its
//! sides do is done by all lanes.

use crate::effects;
use crate::item::{ItemForm, Storable};
use crate::place::{at_place, here};
use pumice_program::CollectiveOp;
use pumice_scalar::{Exp, Place, ScalarType, Term};

pub use pumice_program::WARP;

fn together(op: CollectiveOp, place: Place, ty: ScalarType, operands: &[Term]) -> Term {
    at_place(place, || effects::collective(op, ty, operands))
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident $op:ident $lane:ident;)*) => { $(
        $(#[$doc])*
        #[track_caller]
        pub fn $name<F: ItemForm>(value: F, $lane: impl Into<Exp<i32>>) -> F
        where
            F::Item: Storable,
        {
            let place = here(stringify!($name));
            let lane = $lane.into().term();
            let exchange = |term: Term| together(CollectiveOp::$op, place, term.ty(), &[term, lane]);
            F::Item::from_terms(F::Item::terms(&value).into_iter().map(exchange).collect())
        }
    )* };
}
shuffles! {
    /// The value that the lane with this number (modulo 32) has.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, Warp, preview, warp};
    /// let result = preview(32, &(0..32).collect::<Vec<i32>>(), |xs: Pull<i32, Ix>| {
    ///     xs.split_up(32).map(|lanes| lanes.map(|x| warp::shuffle(x, 5)).push::<Warp>()).concat()
    /// })?;
    /// assert_eq!(result, [5; 32]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    shuffle Shuffle lane;
    /// The value of the lane so many below; the lowest ones keep their own.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, Warp, preview, warp};
    /// let result = preview(32, &(0..32).collect::<Vec<i32>>(), |xs: Pull<i32, Ix>| {
    ///     xs.split_up(32).map(|lanes| lanes.map(|x| warp::shuffle_up(x, 1)).push::<Warp>()).concat()
    /// })?;
    /// assert_eq!(result[..3], [0, 0, 1]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    shuffle_up ShuffleUp distance;
    /// The value of the lane so many above; the highest ones keep their own.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, Warp, preview, warp};
    /// let result = preview(32, &(0..32).collect::<Vec<i32>>(), |xs: Pull<i32, Ix>| {
    ///     xs.split_up(32).map(|lanes| lanes.map(|x| warp::shuffle_down(x, 1)).push::<Warp>()).concat()
    /// })?;
    /// assert_eq!(result[29..], [30, 31, 31]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    shuffle_down ShuffleDown distance;
    /// The value of the lane whose number differs in these bits.
    ///
    /// ```
    /// use pumice::kernel::{Ix, Pull, Warp, preview, warp};
    /// let result = preview(32, &(0..32).collect::<Vec<i32>>(), |xs: Pull<i32, Ix>| {
    ///     xs.split_up(32).map(|lanes| lanes.map(|x| warp::shuffle_xor(x, 1)).push::<Warp>()).concat()
    /// })?;
    /// assert_eq!(result[..4], [1, 0, 3, 2]);
    /// # Ok::<(), pumice::kernel::PreviewError>(())
    /// ```
    shuffle_xor ShuffleXor mask;
}

/// Whether a condition holds for all lanes of the warp.
///
/// ```
/// use pumice::kernel::{Ix, Pull, Warp, preview, warp};
/// let result = preview(32, &(0..32).collect::<Vec<i32>>(), |xs: Pull<i32, Ix>| {
///     xs.split_up(32).map(|lanes| lanes.map(|x| warp::vote_all(x.lt(100)).select(x, 0.into())).push::<Warp>()).concat()
/// })?;
/// assert_eq!(result[31], 31);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn vote_all(condition: Exp<bool>) -> Exp<bool> {
    vote(CollectiveOp::All, here("vote_all"), condition)
}

/// Whether a condition holds for any lane of the warp.
///
/// ```
/// use pumice::kernel::{Ix, Pull, Warp, preview, warp};
/// let result = preview(32, &(0..32).collect::<Vec<i32>>(), |xs: Pull<i32, Ix>| {
///     xs.split_up(32).map(|lanes| lanes.map(|x| warp::vote_any(x.gt(30)).select(x, 0.into())).push::<Warp>()).concat()
/// })?;
/// assert_eq!(result[1], 1);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn vote_any(condition: Exp<bool>) -> Exp<bool> {
    vote(CollectiveOp::Any, here("vote_any"), condition)
}

/// For which lanes of the warp a condition holds: bit `k` is lane `k`.
///
/// ```
/// use pumice::kernel::{Ix, Pull, Warp, preview, warp};
/// let result = preview(32, &(0..32).collect::<Vec<i32>>(), |xs: Pull<i32, Ix>| {
///     xs.split_up(32).map(|lanes| lanes.map(|x| warp::ballot(x.lt(3))).push::<Warp>()).concat()
/// })?;
/// assert_eq!(result, [0b111; 32]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[track_caller]
pub fn ballot(condition: Exp<bool>) -> Exp<u32> {
    let place = here("ballot");
    Exp::from_term(together(CollectiveOp::Ballot, place, ScalarType::U32, &[condition.term()]))
}

fn vote(op: CollectiveOp, place: Place, condition: Exp<bool>) -> Exp<bool> {
    Exp::from_term(together(op, place, ScalarType::Bool, &[condition.term()]))
}
