//! The skeletons: how the array language's operations are done, as programs in the kernel language.
//!
//! Users put their own in place of ours with [`Skeletons`]. A skeleton asks the [`crate::Profile`] and the extents, and chooses; it never asks which device it is for.

mod block_sum;
mod combine;
mod compact;
mod compact_tiles;
mod ends;
mod expand;
mod fold;
mod fold_sources;
mod gather;
mod join;
mod listen;
mod look_back;
mod monoid;
mod product;
mod replace;
mod rounds;
mod scan;
mod scan_rows;
mod scan_stretches;
mod scan_tiles;
mod sort;
mod write;
mod write_tiles;

pub use combine::{Combine, CombinePlan, CombineTask, Combiner, Route, is_exact_in_any_order};
pub use compact::{Compact, CompactPlan, CompactTask, counting};
pub use ends::Ends;
pub use expand::{Division, ExpandPlan, Expansion, GetElement, InOrder, InOrderPlan, Queue, QueueLayout};
pub use fold::{Fold, FoldPlan, FoldTask};
pub use fold_sources::{FoldSources, FoldSourcesPlan};
pub use gather::GatherFold;
pub use join::{JoinPart, join};
pub(crate) use listen::between_hooks;
pub use listen::{Listener, hand_on};
pub use look_back::{ScanState, StateSize};
pub use monoid::Monoid;
pub use product::{Operand, Product, ProductPlan, ProductStep, ProductTask};
pub use replace::{
    FoldRows, FoldSkeleton, Operator, Skeletons, WriteSkeleton, fold_skeleton, within, write_skeleton,
};
pub use rounds::Rounds;
pub use scan::{ElementAt, Scan, ScanKind, ScanPhases, ScanPlan, ScanTask, ScanWay};
pub use sort::{
    CountAt, Digit, FoundDigit, KeyOf, Less, LimitAt, PassDigit, Runs, Sort, SortPlan, SortRows,
    SortRowsPlan, SortState, SortTask, SortWay, merge, sort_runs,
};
pub use write::{At, Interior, WritePlan, write, write_rows};
pub use write_tiles::{can_write_tiles, write_tiles};
