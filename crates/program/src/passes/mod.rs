//! The passes over Program IR: each takes a program that the verifier accepts and leaves one that it accepts.
//!
//! A file here is one pass. It opens with the invariant that the pass needs beyond that and the one that it leaves;
//! [`crate::pipeline`] says in which order they run, and verifies between them.

pub mod dead;
mod defer;
pub mod exact;
pub mod hoist;
pub mod legalise;
pub mod narrow;
pub mod overwrite;
pub mod predicate;
pub mod settle;
mod small;
pub mod stop;
pub mod unsign;
pub mod vectorise;
