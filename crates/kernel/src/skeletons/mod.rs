//! The skeletons: how the array language's operations are done, as programs in the kernel language.
//!
//! A skeleton asks the [`crate::Profile`] and the extents, and chooses; it never asks which device it is for.

mod fold;
mod write;

pub use fold::{Fold, FoldPlan, FoldTask};
pub use write::{WritePlan, write, write_rows};
