//! Program IR: what a kernel is, between the kernel language above and the emitter and simulator below.

#![forbid(unsafe_code)]

pub mod dead;
mod exact;
mod failure_record;
pub mod file_test;
mod hoist;
pub mod interval;
mod ir;
mod launch;
mod lex;
mod linear;
pub mod memory;
pub mod narrow;
pub mod parse;
mod prove;
pub mod settle;
pub mod simulate;
mod stop;
pub mod text;
pub mod uniform;
pub mod vectorise;
pub mod verify;

pub use dead::{drop_spare_vars, eliminate_dead};
pub use exact::mark_exact;
pub use failure_record::{FAILURE_BYTES, FAILURE_WORDS, FailureRecord};
pub use hoist::{drop_spare_params, hoist};
pub use interval::{Interval, Intervals, Ranges};
pub use ir::*;
pub use launch::LaunchError;
pub use memory::{Layout, MemoryError, plan};
pub use narrow::narrow;
pub use parse::{ParseError, parse};
pub use pumice_scalar::MAX_NESTING;
pub use settle::settle;
pub use simulate::{Fault, FaultKind, SimMemory, simulate};
pub use stop::{STOP_WORDS, make_stoppable};
pub use uniform::{Level, Uniformity};
pub use vectorise::{VectorOptions, vectorise};
pub use verify::{Verified, VerifyError, check, verify};
