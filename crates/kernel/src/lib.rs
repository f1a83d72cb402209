//! The kernel language: pull and push arrays over levels, and the skeletons that are written in it.
//!
//! Functions on [`Pull`] and [`Push`] are composed in Rust; [`define`] runs one and gives the [`pumice_program::Program`]
//! that it describes. Rust's loops and recursion are the meta-language: they are unrolled while the kernel is built.
//! This layer knows Program IR below it, and nothing of array programs or devices above and beside it.

mod atomic;
mod binding;
mod bounds;
mod builder;
mod built;
mod check;
mod control;
mod define;
mod define_data;
mod device_length;
mod effects;
mod embed;
mod error;
mod filter;
mod force;
mod item;
mod level;
mod mutable;
mod passes;
mod place;
mod preview;
mod profile;
mod pull;
mod push;
mod raw;
mod simulated;
mod size;
pub mod skeletons;
mod specialise;
mod tiles;
mod value;
pub mod warp;

pub use atomic::{AtomicElt, fence_block, fence_grid};
pub use binding::{Binding, Launcher};
pub use builder::{build, named, probe};
pub use built::BuiltKernel;
pub use control::{Round, accumulate, cond, power, seq_for, seq_until, while_};
pub use define::{Definition, KernelFunction, KernelParameter, KernelResult, Outcome, ParameterKind, define};
pub use define_data::define_data;
pub use effects::{
    allocate_shared, block_threads, block_warps, choose, comment, compute, distribute, either, flag_failures,
    parallel, repeat_while, sequential, sync,
};
pub use embed::Embedded;
pub use error::BuildError;
pub use force::{Forced, Layout, force_scalar};
pub use item::{Dynamic, INDEX, Item, ItemForm, Ix, Scalars, Storable};
pub use level::{AnyLevel, Block, Forces, Grid, Level, Loops, Thread, Warp, Within};
pub use mutable::Mutable;
pub use passes::{Known, Passes, PipelineError, Ready, ready};
pub use place::{on_behalf, written_at};
pub use preview::{PreviewError, preview};
pub use profile::Profile;
pub use pull::{Pull, Rows, generate, iota, replicate};
pub use pumice_program::{AtomicOp, Order};
pub use push::Push;
pub use raw::{length_parameter, memory_parameter, read, read_now, scalar_parameter, store};
pub use simulated::{SimArgument, SimResult, Simulated, simulate_bound};
pub use size::{IntoSize, Length, Size, StaticLength, parts_for, quotient, remainder};
pub use specialise::{KernelArgument, Specialised};
pub use tiles::{Placed, Window, force_windows};
pub use value::{Any, Value};
