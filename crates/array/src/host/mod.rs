//! Arrays on the host: conversions of Rust's data, of other crates' and of files to arrays, and access to their elements.
//!
//! Arrays and the storage of their elements are in `data.rs`. Nothing here knows a device: elements that are elsewhere come
//! through [`ArrayData`](crate::ArrayData), in stretches where only some are looked at.

#[cfg(feature = "approx")]
mod approx;
#[cfg(feature = "arrow")]
pub mod arrow;
mod convert;
mod files;
#[cfg(feature = "image")]
mod image;
mod look;
#[cfg(feature = "mmap")]
mod mapped;
#[cfg(feature = "ndarray")]
mod ndarray;
mod nested;
pub mod npy;
#[cfg(feature = "npz")]
mod npz;
mod print;
mod python;
#[cfg(feature = "serde")]
mod serde;
mod view;

#[cfg(feature = "image")]
pub use image::Colour;
pub use look::HostIndex;
#[cfg(feature = "ndarray")]
pub use ndarray::NdShape;
pub use nested::NestedShape;
#[cfg(feature = "npz")]
pub use npz::{Npz, NpzWriter};
pub use view::View;
