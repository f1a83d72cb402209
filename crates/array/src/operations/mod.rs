//! The operations of the array language, one a file.
//!
//! Each file holds all that is to be said of its operation, as [`crate::Operation`] asks for it. [`OPERATIONS`] lists those
//! that have a text form.

mod argument;
mod backpermute;
mod branch;
mod compute;
mod concat;
mod expand;
mod expand_in_order;
mod expand_reduce;
mod filter;
mod fold;
mod foreign;
mod generate;
mod kernel;
mod parameter;
mod parts;
mod permute;
mod pick;
mod product;
mod repeat;
mod reshape;
mod scan;
mod small_loop;
mod sort;
mod sort_rows;
mod trace;
mod use_;
mod view;
mod while_;
mod zip_with;

pub use argument::Argument;
pub use backpermute::Backpermute;
pub use branch::Branch;
pub use compute::Compute;
pub use concat::Concat;
pub use expand::Expand;
pub(crate) use expand_in_order::ExpandInOrder;
pub use expand_reduce::ExpandReduce;
pub use filter::Filter;
pub use fold::Fold;
pub(crate) use fold::as_one_row;
pub use foreign::{Foreign, ForeignFunction};
pub use generate::Generate;
pub use kernel::KernelCall;
pub(crate) use parameter::Parameter;
pub(crate) use parts::PartsOfRun;
pub use permute::Permute;
pub use pick::Pick;
pub use product::Product;
pub use repeat::Repeat;
pub use reshape::Reshape;
pub use scan::{Gives, Scan};
pub(crate) use small_loop::SmallLoopResult;
pub use sort::{Order, Sort};
pub use sort_rows::SortRows;
pub use trace::{Trace, trace_to};
pub use use_::Use;
pub use view::View;
pub use while_::While;
pub use zip_with::ZipWith;

use crate::data::ArrayData;
use crate::operation::Operation;
use crate::program::ArrayProgram;
use pumice_scalar::Function;
use std::sync::Arc;

/// Parts of an operation, for its text.
pub struct Parts {
    /// Its numbers, as [`Operation::attributes`] has them.
    pub attributes: Vec<i64>,
    /// Its functions, as [`Operation::functions`] has them.
    pub functions: Vec<Function>,
    /// The array that it is, as [`Operation::given`] has it.
    pub data: Option<Arc<dyn ArrayData>>,
    /// Its programs, as [`Operation::control`] has them.
    pub programs: Vec<ArrayProgram>,
}

/// An operation by its keyword: how one is made of its parts.
pub struct Listed {
    /// Its keyword.
    pub keyword: &'static str,
    /// The operation with these parts; nothing if they do not fit.
    pub make: fn(Parts) -> Option<Arc<dyn Operation>>,
}

/// The operations that have a text form.
pub const OPERATIONS: &[Listed] = &[
    argument::LISTED,
    backpermute::LISTED,
    branch::LISTED,
    compute::LISTED,
    concat::LISTED,
    expand::LISTED,
    expand_reduce::LISTED,
    filter::LISTED,
    fold::LISTED,
    foreign::LISTED,
    generate::LISTED,
    parts::LISTED,
    permute::LISTED,
    pick::LISTED,
    product::LISTED,
    repeat::LISTED,
    reshape::LISTED,
    scan::LISTED,
    sort::LISTED,
    sort_rows::LISTED,
    trace::LISTED,
    use_::LISTED,
    view::LISTED,
    while_::LISTED,
    zip_with::LISTED,
];
