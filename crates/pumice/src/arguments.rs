//! What a compiled program takes: how Rust functions become programs, and which values fit their parameters.

use pumice_array::{Acc, Array, Dim1, IntoArray, Shape, scalar_argument};
use pumice_runtime::Inputs;
use pumice_scalar::{Constant, Elt, Exp, Place, Primitive};
use std::cell::Cell;

/// A parameter of a program: an array or a scalar expression.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a Pumice program",
    label = "expected an array or a scalar expression",
    note = "parameters are `Acc<Array<D, T>>` (such as `Acc<Vector<f32>>`) and `Exp<T>` (such as `Exp<f32>`)"
)]
pub trait Parameter: Sized {
    /// The parameter with this number.
    fn make(number: u32) -> Self;
}

impl<D: Shape, T: Elt> Parameter for Acc<Array<D, T>> {
    fn make(number: u32) -> Self {
        let place = COMPILED_AT.with(Cell::get).unwrap_or_else(|| Place::caller("argument"));
        Acc::<Array<D, T>>::argument_at(number, place)
    }
}

impl<T: Primitive> Parameter for Exp<T> {
    fn make(number: u32) -> Self {
        scalar_argument(number)
    }
}

thread_local! {
    /// Where the user has a program compiled: where its arguments come from.
    static COMPILED_AT: Cell<Option<Place>> = const { Cell::new(None) };
}

/// Describes a program that the user has compiled at this place.
pub(crate) fn described_at<R>(place: Place, describe: impl FnOnce() -> R) -> R {
    struct Before(Option<Place>);
    impl Drop for Before {
        fn drop(&mut self) {
            COMPILED_AT.with(|at| at.set(self.0));
        }
    }
    let _before = Before(COMPILED_AT.with(|at| at.replace(Some(place))));
    describe()
}

/// A Rust function that is a program with parameters `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Pumice program",
    label = "expected a function from arrays and scalars to an array",
    note = "a program takes up to eight `Acc<..>` or `Exp<..>` and returns an `Acc<..>`"
)]
pub trait Function<P> {
    /// The shape of the result.
    type Dim: Shape;
    /// The element type of the result.
    type Elt: Elt;
    /// Applies the function to its parameters.
    fn describe(self) -> Acc<Array<Self::Dim, Self::Elt>>;
}

/// A value that fits a parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit the parameter `{P}`",
    label = "wrong argument",
    note = "an array parameter takes a slice, a `Vec`, an array or an `Array` of its element type and shape; a scalar \
            parameter takes a value of exactly its type"
)]
pub trait Gives<P> {
    /// Adds the value as the argument with this number.
    fn give(self, number: u32, inputs: &mut Inputs);
}

impl<D: Shape, T: Elt, X: IntoArray<D, T>> Gives<Acc<Array<D, T>>> for X {
    fn give(self, number: u32, inputs: &mut Inputs) {
        inputs.arrays.insert(number, self.into_array().data().clone());
    }
}

impl<T: Primitive> Gives<Exp<T>> for T {
    fn give(self, number: u32, inputs: &mut Inputs) {
        let number = number as usize;
        if inputs.scalars.len() <= number {
            // Numbers of arrays have no scalar; any value will do.
            inputs.scalars.resize(number + 1, Constant::from(false));
        }
        inputs.scalars[number] = self.into();
    }
}

/// The arguments of a run: a tuple of values that fit the parameters; for one parameter also the value alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit the parameters `{P}`",
    label = "wrong arguments",
    note = "pass a tuple with one value for each parameter: `run((&xs, &ys))`"
)]
pub trait Arguments<P> {
    /// The arguments by number.
    fn collect(self) -> Inputs;
}

impl Arguments<()> for () {
    fn collect(self) -> Inputs {
        Inputs::default()
    }
}

impl<F, D: Shape, T: Elt> Function<()> for F
where
    F: FnOnce() -> Acc<Array<D, T>>,
{
    type Dim = D;
    type Elt = T;
    fn describe(self) -> Acc<Array<D, T>> {
        self()
    }
}

macro_rules! parameters {
    ($($parameter:ident $value:ident $number:literal),*) => {
        impl<Func, Dim: Shape, Element: Elt, $($parameter: Parameter),*> Function<($($parameter,)*)> for Func
        where
            Func: FnOnce($($parameter),*) -> Acc<Array<Dim, Element>>,
        {
            type Dim = Dim;
            type Elt = Element;
            fn describe(self) -> Acc<Array<Dim, Element>> {
                self($($parameter::make($number)),*)
            }
        }
        impl<$($parameter, $value: Gives<$parameter>),*> Arguments<($($parameter,)*)> for ($($value,)*) {
            #[allow(non_snake_case)]
            fn collect(self) -> Inputs {
                let ($($value,)*) = self;
                let mut inputs = Inputs::default();
                $($value.give($number, &mut inputs);)*
                inputs
            }
        }
    };
}
parameters!(A X 0);
parameters!(A X 0, B Y 1);
parameters!(A X 0, B Y 1, C Z 2);
parameters!(A X 0, B Y 1, C Z 2, D W 3);
parameters!(A X 0, B Y 1, C Z 2, D W 3, E V 4);
parameters!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5);
parameters!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5, G T 6);
parameters!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5, G T 6, H S 7);

macro_rules! alone {
    ($([$($generics:tt)*] $value:ty => $parameter:ty;)*) => { $(
        impl<$($generics)*> Arguments<($parameter,)> for $value {
            fn collect(self) -> Inputs {
                (self,).collect()
            }
        }
    )* };
}
alone! {
    [S: Shape, T: Elt] &Array<S, T> => Acc<Array<S, T>>;
    [S: Shape, T: Elt] Array<S, T> => Acc<Array<S, T>>;
    [T: Elt] &[T] => Acc<Array<Dim1, T>>;
    [T: Elt] &Vec<T> => Acc<Array<Dim1, T>>;
    [T: Elt] Vec<T> => Acc<Array<Dim1, T>>;
    [T: Elt, const N: usize] &[T; N] => Acc<Array<Dim1, T>>;
    [] f32 => Exp<f32>;
    [] f64 => Exp<f64>;
    [] i32 => Exp<i32>;
    [] i64 => Exp<i64>;
    [] u32 => Exp<u32>;
    [] u64 => Exp<u64>;
    [] bool => Exp<bool>;
}
