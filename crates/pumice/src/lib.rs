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

#![forbid(unsafe_code)]

mod arguments;
mod call;
mod compile;
pub mod kernel;
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
pub use compile::{Compiled, Compiler, compile, run};
#[doc(hidden)]
pub use pumice_array::comprehension;
pub use pumice_array::random;
pub use pumice_array::{
    Acc, AccRagged, AccTuple, All, Array, Boundary, Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, IntoArray,
    IntoExtent, IntoShape, Larger, Matrix, Neighbours, Pattern, PatternPart, Ragged, RaggedRows, RowTuple,
    Scalar, Segments, Shape, Vector, acond, awhile, concat, enum_from, fill, foreign, generate, iterate,
    iterate_numbered, meshgrid, trace_to, unit, use_, use_ragged, while_rows,
};
#[cfg(feature = "pum")]
pub use pumice_macros::include_pum;
pub use pumice_macros::{all, any, comp, count, fold, max, min, product, sum};
pub use pumice_runtime::{DeviceCall, DeviceColumns, Error, Result, foreign_on};
pub use pumice_scalar::{
    Bits, Elt, Exp, Float, Integer, IntoExp, Lift, Number, OptionExp, Place, Primitive, RangeEnd, Signed,
    cond, constant, for_, let_, none, number, repeat_, some, while_,
};
pub use results::ProgramResult;
pub use running::Running;
pub use stream::MapStream;
pub use untyped::Untyped;

/// The layers below, for those who write kernels, devices or front ends.
pub mod layers {
    pub use pumice_array as array;
    pub use pumice_emit as emit;
    pub use pumice_kernel as kernel;
    pub use pumice_program as program;
    pub use pumice_runtime as runtime;
    pub use pumice_scalar as scalar;
}

/// What programs need: `use pumice::prelude::*`.
pub mod prelude {
    pub use crate::{
        Acc, AccRagged, All, Array, Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Elt, Exp, Matrix, Ragged, Scalar,
        Shape, Vector, acond, all, any, awhile, comp, cond, constant, count, enum_from, fill, fold, for_,
        foreign, generate, iterate, iterate_numbered, let_, max, min, none, product, repeat_, some, sum,
        unit, use_, use_ragged, while_, while_rows,
    };
}

/// The guide's code, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/kernel-language.md")]
struct Guide;

/// The same for comprehensions.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/comprehensions.md")]
struct Comprehensions;

/// The same for the text form of array programs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/array-ir.md")]
struct ArrayIr;

/// The same for the first page.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
