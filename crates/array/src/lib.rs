//! The array language: collective operations over shaped arrays, from the user's program to a plan of kernels.
//!
//! [`Acc`] is how users write it, [`ArrayProgram`] is the same as data and [`CheckedProgram`] the same verified; [`Forms`]
//! decides what is fused, [`Plan`] is executed by a runtime, and [`interpret`] defines the meaning of programs. An [`Operation`] is
//! a file in [`operations`]. This layer builds kernels with the kernel language; it knows no device.

mod acc;
mod chunks;
#[doc(hidden)]
pub mod comprehension;
mod control;
mod create;
mod data;
mod described;
mod elementwise;
mod error;
mod expanding;
mod explain;
mod extents;
pub mod file_test;
mod folds;
mod foreign;
mod foresee;
mod form;
mod fuser;
mod grouping;
mod host;
mod in_memory;
mod indexing;
mod inline;
mod interpret;
mod json;
mod large_pages;
mod loops;
mod lower;
mod operation;
pub mod operations;
mod parts;
mod passes;
mod permute;
mod plan;
mod products;
mod program;
mod ragged;
pub mod random;
mod reduction;
mod row_loops;
mod row_sorts;
mod rows;
mod runs;
mod scans;
mod searching;
mod segments;
mod selecting;
mod shape;
mod sorting;
mod stencils;
mod table;
pub mod text;
pub mod untyped;
mod verify;
mod views;

pub use acc::{Acc, KernelInput, kernel, scalar_argument};
pub use control::{
    ArrayType, Arrays, Control, Loop, MOST_NESTED, Nested, Rounds, RunNested, is_true, whole_number,
};
pub use create::{IntoArray, concat, enum_from, fill, generate, meshgrid, unit, use_};
pub use data::{Array, ArrayData, HostData, Matrix, Scalar, Vector, stretch_of, whole_columns};
pub use described::{Described, building};
pub use elementwise::Indexed;
pub use error::{Cause, Error};
pub use expanding::{is_fixed, part_within, stretch_within};
pub use explain::{ExplainedArray, ExplainedKernel, ExplainedPlan, Explanation, Measured, Resources};
pub use extents::{Extent, Extents, Knowledge, Length, Shapes, Unplanned};
pub use foreign::{foreign, foreign_by};
pub use foresee::{Foreseen, foresee};
pub use form::{Form, Forms, RECOMPUTE};
pub use fuser::{Element, Elements as FusedElements, Fuser};
#[cfg(feature = "image")]
pub use host::Colour;
#[cfg(feature = "ndarray")]
pub use host::NdShape;
#[cfg(feature = "arrow")]
pub use host::arrow;
pub use host::{HostIndex, NestedShape, View, npy};
#[cfg(feature = "npz")]
pub use host::{Npz, NpzWriter};
pub use in_memory::InMemory;
pub use inline::Passed;
pub use interpret::{Elements, Interpreter, interpret};
pub use json::Json;
pub use large_pages::prefer_large_pages;
pub use loops::{AccTuple, acond, acond_at, awhile, awhile_at, iterate, iterate_at, iterate_numbered};
pub use lower::{Consumer, Heard, KernelName, Listeners, Lowering, Parameters};
pub use operation::{Demand, Given, Listens, Nature, Operation, Signature};
pub use operations::trace_to;
pub use parts::{Parted, joined_parts};
pub use plan::{
    Buffer, Input, Launch, Plan, PlanArgument, PlanOptions, PlannedArray, Read, ResultArray, Step, Use,
};
pub use program::{ArrayProgram, Identity, Node, NodeId};
pub use ragged::{AccRagged, Ragged, RaggedRows, use_ragged};
pub use row_loops::{RowTuple, while_rows};
pub use segments::Segments;
pub use shape::{
    All, Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, IntoExtent, IntoShape, Larger, Pattern, PatternPart, Shape,
};
pub use sorting::{Falls, in_order};
pub use stencils::{Boundary, Neighbours};
pub use table::Table;
pub use verify::CheckedProgram;

/// The code of the guide's page on data of the host, which needs features that `pumice`'s own tests do without.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/host.md")]
mod guide {}
