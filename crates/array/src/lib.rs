//! The array language: collective operations over shaped arrays, from the user's program to a plan of kernels.
//!
//! [`Acc`] is how users write it, [`Node`] is the same as data, [`Forms`] decides what is fused, [`Plan`] is what a
//! runtime executes, and [`interpret`] says what it all means. This layer builds kernels with the kernel language; it
//! knows no device.

mod acc;
mod check;
mod data;
mod error;
mod extents;
mod form;
mod interpret;
mod lower;
#[cfg(feature = "ndarray")]
mod ndarray;
mod node;
mod plan;
mod reduction;
mod shape;

pub use acc::{Acc, IntoArray, KernelInput, generate, kernel, scalar_argument, unit, use_};
pub use data::{Array, ArrayData, HostData, Matrix, Scalar, Vector, whole_columns};
pub use error::Error;
pub use extents::Extents;
pub use form::{Form, Forms, RECOMPUTE};
pub use interpret::interpret;
#[cfg(feature = "ndarray")]
pub use ndarray::NdShape;
pub use node::{Node, Operation, in_order, print_program};
pub use plan::{Argument, Buffer, Launch, Options, Plan, Step};
pub use shape::{Dim0, Dim1, Dim2, Dim3, Dim4, IntoExtent, IntoShape, Larger, Shape};
