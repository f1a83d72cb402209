//! The skeletons: how the array language's operations are done, as programs in the kernel language.
//!
//! Users put their own in place of ours with [`Skeletons`]. A skeleton asks the [`crate::Profile`] and the extents, and chooses; it never asks which device it is for.

mod combine;
mod fold;
mod listen;
mod replace;
mod rounds;
mod write;

pub use combine::{Combine, CombinePlan, CombineTask, Combiner, Route};
pub use fold::{Fold, FoldPlan, FoldTask};
pub(crate) use listen::between_hooks;
pub use listen::{Listener, hand_on};
pub use replace::{
    FoldRows, FoldSkeleton, Operator, Skeletons, WriteSkeleton, fold_skeleton, within, write_skeleton,
};
pub use rounds::Rounds;
pub use write::{WritePlan, can_write_tiles, write, write_rows, write_tiles};
