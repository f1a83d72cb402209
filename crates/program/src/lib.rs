//! Program IR: what a kernel is, between the kernel language above and the emitter and simulator below.

#![forbid(unsafe_code)]

pub mod capabilities;
pub mod divergence;
mod failure_record;
pub mod file_test;
pub mod interval;
mod ir;
pub mod lanes;
mod launch;
mod linear;
pub mod memory;
pub mod parse;
pub mod passes;
pub mod pipeline;
mod prove;
pub mod simulate;
pub mod text;
pub mod uniform;
pub mod verify;

pub use capabilities::{Atomics, Capabilities, Target, Warps, WideAtomics};
pub use failure_record::{FAILURE_BYTES, FAILURE_WORDS, FailureRecord};
pub use interval::{Interval, Intervals, Ranges};
pub use ir::*;
pub use lanes::{LanePlan, LaneStep};
pub use launch::LaunchError;
pub use memory::{Layout, MemoryError, plan};
pub use parse::parse;
pub use passes::dead::{drop_spare_vars, eliminate_dead};
pub use passes::exact::mark_exact;
pub use passes::hoist::{drop_spare_params, hoist};
pub use passes::legalise::{Unsupported, legal, legalise};
pub use passes::narrow::narrow;
pub use passes::overwrite::overwrite;
pub use passes::settle::settle;
pub use passes::stop::{STOP_WORDS, make_stoppable};
pub use passes::vectorise::{VectorOptions, vectorise};
pub use pipeline::{Known, Passes, PipelineError, Ready};
pub use pumice_scalar::MAX_NESTING;
pub use pumice_scalar::text::ParseError;
pub use simulate::{Fault, FaultKind, SimMemory, simulate};
pub use uniform::{Level, Uniformity};
pub use verify::{Verified, VerifyError, check, verify};
