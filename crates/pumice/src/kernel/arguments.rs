//! Arguments of kernels: the values that fit the parameters of a function in the kernel language.

use pumice_array::{Array, Dim1, IntoArray};
use pumice_kernel::{Ix, Mutable, Pull};
use pumice_runtime::Given;
use pumice_scalar::{Elt, Exp, Primitive};

/// A value that fits a parameter of a kernel.
///
/// ```
/// use pumice::kernel::{Gives, Ix, Pull};
/// fn fits<P>(_: impl Gives<P>) {}
/// fits::<Pull<f32, Ix>>(&[1.0, 2.0]);
/// fits::<pumice::Exp<i32>>(3);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit the kernel's parameter `{P}`",
    label = "wrong argument",
    note = "a `Pull<T, Ix>` takes a slice, a `Vec`, an array or an `Array<Dim1, T>`; an `Exp<T>` takes a `T`; a \
            `Mutable<T>` takes a `&mut Array<Dim1, T>`"
)]
pub trait Gives<P> {
    /// The value, as a kernel is given it.
    fn give<'a>(self) -> Given<'a>
    where
        Self: 'a;
}

impl<T: Elt, X: IntoArray<Dim1, T>> Gives<Pull<T, Ix>> for X {
    fn give<'a>(self) -> Given<'a>
    where
        Self: 'a,
    {
        Given::Array(self.into_array().data().clone())
    }
}

impl<T: Primitive> Gives<Exp<T>> for T {
    fn give<'a>(self) -> Given<'a>
    where
        Self: 'a,
    {
        Given::Scalar(self.into())
    }
}

impl<T: Elt> Gives<Mutable<T>> for &mut Array<Dim1, T> {
    fn give<'a>(self) -> Given<'a>
    where
        Self: 'a,
    {
        Given::Change(self)
    }
}

/// The arguments of a launch: a tuple of values that fit the parameters; for one parameter also the value alone.
///
/// ```
/// use pumice::kernel::{Arguments, Ix, Pull};
/// fn fit<P>(_: impl Arguments<P>) {}
/// fit::<(Pull<f32, Ix>, pumice::Exp<f32>)>((vec![1.0, 2.0], 3.0));
/// fit::<(Pull<f32, Ix>,)>(&[1.0, 2.0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit the kernel's parameters `{P}`",
    label = "wrong arguments",
    note = "pass a tuple with one value for each parameter: `run((&xs, 3.0, &mut sums))`"
)]
pub trait Arguments<P> {
    /// The arguments in order.
    fn collect<'a>(self) -> Vec<Given<'a>>
    where
        Self: 'a;
}

impl Arguments<()> for () {
    fn collect<'a>(self) -> Vec<Given<'a>> {
        Vec::new()
    }
}

macro_rules! tuples {
    ($($parameter:ident $value:ident),*) => {
        impl<$($parameter, $value: Gives<$parameter>),*> Arguments<($($parameter,)*)> for ($($value,)*) {
            #[allow(non_snake_case)]
            fn collect<'a>(self) -> Vec<Given<'a>>
            where
                Self: 'a,
            {
                let ($($value,)*) = self;
                vec![$($value.give()),*]
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

macro_rules! alone {
    ($([$($generics:tt)*] $value:ty => $parameter:ty;)*) => { $(
        impl<$($generics)*> Arguments<($parameter,)> for $value {
            fn collect<'a>(self) -> Vec<Given<'a>>
            where
                Self: 'a,
            {
                vec![Gives::<$parameter>::give(self)]
            }
        }
    )* };
}
alone! {
    [T: Elt] &Array<Dim1, T> => Pull<T, Ix>;
    [T: Elt] Array<Dim1, T> => Pull<T, Ix>;
    [T: Elt] &[T] => Pull<T, Ix>;
    [T: Elt] &Vec<T> => Pull<T, Ix>;
    [T: Elt] Vec<T> => Pull<T, Ix>;
    [T: Elt, const N: usize] &[T; N] => Pull<T, Ix>;
    [T: Elt, const N: usize] [T; N] => Pull<T, Ix>;
    [T: Elt] &mut Array<Dim1, T> => Mutable<T>;
    [] f32 => Exp<f32>;
    [] f64 => Exp<f64>;
    [] i32 => Exp<i32>;
    [] i64 => Exp<i64>;
    [] u32 => Exp<u32>;
    [] u64 => Exp<u64>;
    [] bool => Exp<bool>;
}
