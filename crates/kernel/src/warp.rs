//! What the lanes of a warp do together: exchange of values without memory, votes.
//!
//! These stand where threads are at work, in a loop over a warp's lanes or a block's threads (inside `push::<Warp>()` or
//! `push::<Block>()`), and every thread of the loop gets there: no condition that differs from thread to thread stands
//! around them.

use crate::builder::{Place, at_place};
use crate::effects;
use pumice_program::CollectiveOp;
use pumice_scalar::{Exp, Lift, ScalarType, Term};
use std::panic::Location;

pub use pumice_program::WARP;

fn together(
    op: CollectiveOp,
    location: &'static Location<'static>,
    ty: ScalarType,
    operands: &[Term],
) -> Term {
    at_place(Place { operation: op.name(), location }, || effects::collective(op, ty, operands))
}

macro_rules! shuffles {
    ($($name:ident $op:ident $lane:ident $doc:literal;)*) => { $(
        #[doc = $doc]
        #[track_caller]
        pub fn $name<L: Lift>(value: L, $lane: impl Into<Exp<i32>>) -> L {
            let (location, lane) = (Location::caller(), $lane.into().term());
            let exchange = |term: Term| together(CollectiveOp::$op, location, term.ty(), &[term, lane]);
            L::from_terms(&mut value.terms().into_iter().map(exchange))
        }
    )* };
}
shuffles! {
    shuffle Shuffle lane "The value that the lane with this number (modulo 32) has.";
    shuffle_up ShuffleUp distance "The value of the lane so many below; the lowest ones keep their own.";
    shuffle_down ShuffleDown distance "The value of the lane so many above; the highest ones keep their own.";
    shuffle_xor ShuffleXor mask "The value of the lane whose number differs in these bits.";
}

/// Whether a condition holds for all lanes of the warp.
#[track_caller]
pub fn vote_all(condition: Exp<bool>) -> Exp<bool> {
    vote(CollectiveOp::All, Location::caller(), condition)
}

/// Whether a condition holds for any lane of the warp.
#[track_caller]
pub fn vote_any(condition: Exp<bool>) -> Exp<bool> {
    vote(CollectiveOp::Any, Location::caller(), condition)
}

/// For which lanes of the warp a condition holds: bit `k` is lane `k`.
#[track_caller]
pub fn ballot(condition: Exp<bool>) -> Exp<u32> {
    Exp::from_term(together(CollectiveOp::Ballot, Location::caller(), ScalarType::U32, &[condition.term()]))
}

fn vote(op: CollectiveOp, location: &'static Location<'static>, condition: Exp<bool>) -> Exp<bool> {
    Exp::from_term(together(op, location, ScalarType::Bool, &[condition.term()]))
}
