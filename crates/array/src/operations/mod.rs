//! The operations of the array language, one a file.
//!
//! Each file holds all that is to be said of its operation, as [`crate::Operation`] asks for it. [`OPERATIONS`] lists those
//! that have a text form.

mod argument;
mod backpermute;
mod compute;
mod concat;
mod filter;
mod fold;
mod generate;
mod kernel;
mod permute;
mod product;
mod reshape;
mod scan;
mod use_;
mod view;
mod zip_with;

pub use argument::Argument;
pub use backpermute::Backpermute;
pub use compute::Compute;
pub use concat::Concat;
pub use filter::Filter;
pub use fold::Fold;
pub use generate::Generate;
pub use kernel::KernelCall;
pub use permute::Permute;
pub use product::Product;
pub use reshape::Reshape;
pub use scan::{Gives, Scan};
pub use use_::Use;
pub use view::View;
pub use zip_with::ZipWith;

use crate::data::ArrayData;
use crate::operation::Operation;
use pumice_scalar::Function;
use std::sync::Arc;

/// What an operation is made of, for its text.
pub struct Parts {
    /// Its numbers, as [`Operation::attributes`] has them.
    pub attributes: Vec<i64>,
    /// Its functions, as [`Operation::functions`] has them.
    pub functions: Vec<Function>,
    /// The array that it is, as [`Operation::given`] has it.
    pub data: Option<Arc<dyn ArrayData>>,
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
    compute::LISTED,
    concat::LISTED,
    filter::LISTED,
    fold::LISTED,
    generate::LISTED,
    permute::LISTED,
    product::LISTED,
    reshape::LISTED,
    scan::LISTED,
    use_::LISTED,
    view::LISTED,
    zip_with::LISTED,
];
