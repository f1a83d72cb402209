//! Kernels inside array programs: a kernel of the user's as one more array operation.

use pumice_array::{Acc, KernelInput, Vector, kernel};
use pumice_kernel::{Ix, KernelFunction, KernelResult, Pull, define};
use pumice_scalar::{Constant, Elt, Exp, Primitive, Term};

/// A part of an array program that fits a parameter of a kernel.
///
/// ```
/// use pumice::kernel::{Feeds, Ix, Pull};
/// fn fits<P>(_: impl Feeds<P>) {}
/// fits::<Pull<f32, Ix>>(pumice::use_(&[1.0, 2.0]));
/// fits::<pumice::Exp<i32>>(3);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit the parameter `{P}` of a kernel inside an array program",
    label = "wrong input",
    note = "a `Pull<T, Ix>` takes an `Acc<Vector<T>>`, and an `Exp<T>` takes an `Exp<T>` or a `T`",
    note = "arrays of array programs never change, so a kernel with a `Mutable` parameter is for `Compiler::kernel` only"
)]
pub trait Feeds<P> {
    /// The input, as the program knows it.
    fn feed(self) -> KernelInput;
}

impl<T: Elt> Feeds<Pull<T, Ix>> for Acc<Vector<T>> {
    fn feed(self) -> KernelInput {
        KernelInput::Array(self.described().clone())
    }
}

impl<T: Elt> Feeds<Pull<T, Ix>> for &Acc<Vector<T>> {
    fn feed(self) -> KernelInput {
        KernelInput::Array(self.described().clone())
    }
}

impl<T: Primitive> Feeds<Exp<T>> for Exp<T> {
    fn feed(self) -> KernelInput {
        KernelInput::Scalar(self.term())
    }
}

impl<T: Primitive> Feeds<Exp<T>> for T {
    fn feed(self) -> KernelInput {
        KernelInput::Scalar(Term::from(Into::<Constant>::into(self)))
    }
}

/// The inputs of a kernel inside an array program: a tuple with one for each parameter; for one array also that alone.
///
/// ```
/// use pumice::kernel::{Inputs, Ix, Pull};
/// fn fit<P>(_: impl Inputs<P>) {}
/// fit::<(Pull<f32, Ix>, pumice::Exp<f32>)>((pumice::use_(&[1.0]), 2.0));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit the parameters `{P}` of a kernel inside an array program",
    label = "wrong inputs",
    note = "pass a tuple with one input for each parameter: `apply(name, threads, f, (xs, ys, 3.0))`",
    note = "arrays of array programs never change, so a kernel with a `Mutable` parameter is for `Compiler::kernel` only"
)]
pub trait Inputs<P> {
    /// The inputs in order.
    fn feed_all(self) -> Vec<KernelInput>;
}

impl Inputs<()> for () {
    fn feed_all(self) -> Vec<KernelInput> {
        Vec::new()
    }
}

impl<T: Elt> Inputs<(Pull<T, Ix>,)> for Acc<Vector<T>> {
    fn feed_all(self) -> Vec<KernelInput> {
        vec![self.feed()]
    }
}

macro_rules! tuples {
    ($($parameter:ident $value:ident),*) => {
        impl<$($parameter, $value: Feeds<$parameter>),*> Inputs<($($parameter,)*)> for ($($value,)*) {
            #[allow(non_snake_case)]
            fn feed_all(self) -> Vec<KernelInput> {
                let ($($value,)*) = self;
                vec![$($value.feed()),*]
            }
        }
    };
}
tuples!(A X);
tuples!(A X, B Y);
tuples!(A X, B Y, C Z);
tuples!(A X, B Y, C Z, D W);
tuples!(A X, B Y, C Z, D W, E V);
tuples!(A X, B Y, C Z, D W, E V, F U);

/// A function in the kernel language as an operation of an array program, with blocks of `threads` threads.
///
/// Its inputs are in memory before it runs. Its result is a push array, so operations on its elements are part of the kernel
/// (`map`, `zip_with` at the same index, `permute`, `histogram`, folds whose operator commutes), and it is written only where
/// something needs it in memory. A result that may leave elements out ([`Push::is_complete`]) is always written: the elements
/// that are left out are zero. A mistake in the kernel is an error when the program is compiled.
///
/// [`Push::is_complete`]: crate::kernel::Push::is_complete
///
/// ```
/// use pumice::kernel::{Grid, Ix, Pull, Push, apply};
/// use pumice::prelude::*;
///
/// fn rotated(xs: Pull<f32, Ix>, by: Exp<i64>) -> Push<Grid, f32, Ix> {
///     let n = xs.len();
///     xs.push().ix_map(move |i| (i + by) % n)
/// }
/// fn program(xs: Acc<Vector<f32>>, by: Exp<i64>) -> Acc<Vector<f32>> {
///     let squares = xs.map(|x| x * x);
///     apply("rotate", 128, rotated, (squares, by)).map(|x| x + 1.0)
/// }
/// let f = pumice::Compiler::on("cpu")?.compile(program)?;
/// assert_eq!(f.run((&[1.0, 2.0, 3.0], 1))?.to_vec()?, [10.0, 2.0, 5.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn apply<P, F: KernelFunction<P>>(
    name: &str,
    threads: u32,
    f: F,
    inputs: impl Inputs<P>,
) -> Acc<Vector<<F::Result as KernelResult>::Elt>> {
    // Scalars are handles into this program's expressions, so they are taken before the kernel's own are made.
    let inputs = inputs.feed_all();
    kernel(define(name, threads, f), inputs)
}
