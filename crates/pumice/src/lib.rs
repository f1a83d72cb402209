//! Pumice: a functional array language for GPUs and CPUs, embedded in Rust.
//!
//! A program is an ordinary Rust function on [`Acc`] arrays. It is compiled at run time, fused into few kernels, and
//! executed on the best device of the machine:
//!
//! ```
//! use pumice::prelude::*;
//!
//! fn dotp(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Scalar<f32>> {
//!     xs.zip_with(ys, |x, y| x * y).fold(0.0, |a, b| a + b)
//! }
//!
//! fn main() -> pumice::Result<()> {
//!     let f = pumice::compile(dotp)?;
//!     let z = f.run((&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]))?;
//!     assert_eq!(z.to_value()?, 32.0);
//!     Ok(())
//! }
//! ```
//!
//! The product is never stored: this is one pass over memory on every device. A program that is run once needs no function:
//! `pumice::run(use_(&xs).map(|x| x * x).sum())`.
//!
//! # Where to find what
//!
//! | | |
//! |---|---|
//! | [`Acc`] | an array that a program computes, with all operations on arrays as methods; [`generate`], [`use_`], [`fill`] and others make one |
//! | [`Exp`] | a scalar in a program, with operators and functions; [`cond`] and [`while_`] |
//! | [`Elt`], [`macro@embed`] | what can be an element, `#[derive(Elt)]` for your own types; plain Rust as functions on elements |
//! | [`Array`] | an array that exists: arguments and results. [`Vector`], [`Matrix`], [`Scalar`] |
//! | [`comp!`], [`sum!`], … | comprehensions; [`AccRagged`] for rows of different lengths |
//! | [`awhile`], [`iterate`], [`acond`] | loops and branches over arrays |
//! | [`compile`], [`run`], [`Compiler`], [`Compiled`] | compiling and running, on a device of your choice, with choices of your own |
//! | [`kernel`] | the kernel language: kernels by hand |
//! | [`random`], [`tune`] | random numbers; finding the fastest settings |
//! | [`layers`] | what all this is made of, for front ends and devices |
//! | [`Error`], [`ArrayError`] | what can go wrong |
//!
//! `use pumice::prelude::*` has what most programs need. Features, of which only `opencl` is on: `num-complex` (complex numbers as elements);
//! `ndarray`, `image`, `arrow`, `serde`, `npz`, `mmap` and `approx` (data of the host in other forms); `pum` (files of the `.pum` language:
//! `include_pum!`).
//!
//! # The guide
//!
//! In the repository's `docs` folder, also as a book (`mdbook serve docs`), with all code tested: `tour.md` for people who know NumPy; a
//! chapter for each part of the array language, from `arrays.md` to `streams.md`; `elements.md`, `embed.md`, `host.md`,
//! `comprehensions.md`, `kernel-language.md`, `pum.md`; `devices.md` and their limits, `performance.md`, `errors.md`; `semantics.md` for what exactly holds; and tables of names for those who come from NumPy and JAX,
//! Accelerate, Futhark or CUDA.

#![forbid(unsafe_code)]

mod arguments;
mod call;
mod compile;
#[cfg(doctest)]
mod guide;
pub mod kernel;
mod profile;
#[cfg(feature = "pum")]
pub mod pum;
mod results;
mod running;
mod saved;
mod stream;
pub mod tune;
mod untyped;

pub use arguments::{Arguments, Function, Gives, Parameter, ParameterTypes, Parameters};
pub use call::{CallArguments, Passes};
pub use compile::{Compiled, Compiler, Explain, compile, run};
pub use profile::{Ceilings, QueueTime, RunReport, Transfers};
#[cfg(feature = "image")]
pub use pumice_array::Colour;
pub use pumice_array::Error as ArrayError;
#[cfg(feature = "ndarray")]
pub use pumice_array::NdShape;
#[cfg(feature = "arrow")]
pub use pumice_array::arrow;
#[doc(hidden)]
pub use pumice_array::comprehension;
pub use pumice_array::random;
pub use pumice_array::{
    Acc, AccRagged, AccTuple, All, Array, Boundary, Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, IntoArray,
    IntoExtent, IntoShape, Larger, Matrix, Neighbours, Parted, Pattern, PatternPart, Ragged, RaggedRows,
    RowTuple, Scalar, Segments, Shape, Vector, acond, awhile, concat, enum_from, fill, foreign, generate,
    iterate, iterate_numbered, meshgrid, trace_to, unit, use_, use_ragged, while_rows,
};
pub use pumice_array::{ExplainedArray, ExplainedKernel, ExplainedPlan, Explanation, Measured, Resources};
pub use pumice_array::{HostIndex, NestedShape};
#[cfg(feature = "npz")]
pub use pumice_array::{Npz, NpzWriter};
pub use pumice_macros::embed;
#[cfg(feature = "pum")]
pub use pumice_macros::include_pum;
pub use pumice_macros::{Elt, all, any, comp, count, fold, max, min, product, sum};
pub use pumice_runtime::{DeviceCall, DeviceColumns, Error, Result, foreign_on};
#[cfg(feature = "num-complex")]
pub use pumice_scalar::ComplexExp;
#[doc(hidden)]
pub use pumice_scalar::derived;
pub use pumice_scalar::embedding;
pub use pumice_scalar::{
    Bits, ElementArray, Elt, Exp, Float, Integer, IntoExp, Lift, Number, OptionExp, Ordered, Place,
    Primitive, RangeEnd, ResultExp, Signed, bf16, cond, constant, equal, err, f16, for_, let_, none, number,
    ok, repeat_, some, while_,
};
pub use results::ProgramResult;
pub use running::Running;
pub use stream::MapStream;
pub use untyped::Untyped;

/// The layers below, for authors of kernels, devices and front ends.
pub mod layers {
    pub use pumice_array as array;
    pub use pumice_emit as emit;
    pub use pumice_kernel as kernel;
    pub use pumice_program as program;
    pub use pumice_runtime as runtime;
    pub use pumice_scalar as scalar;
}

/// Names that most programs need: `use pumice::prelude::*`.
pub mod prelude {
    pub use crate::Explain;
    pub use crate::{
        Acc, AccRagged, All, Array, Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, ElementArray, Elt, Exp, Matrix,
        Ragged, Scalar, Shape, Vector, acond, all, any, awhile, comp, cond, constant, count, embed,
        enum_from, err, fill, fold, for_, foreign, generate, iterate, iterate_numbered, let_, max, min, none,
        ok, product, repeat_, some, sum, unit, use_, use_ragged, while_, while_rows,
    };
}
