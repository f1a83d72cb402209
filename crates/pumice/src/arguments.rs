//! Parameters and arguments of compiled programs: the conversion of Rust functions to programs, and the values that fit each parameter.

use crate::results::ProgramResult;
use pumice_array::{
    Acc, AccRagged, Array, ArrayType, Dim1, Dim2, IntoArray, Ragged, Shape, Vector, scalar_argument,
};
use pumice_runtime::Inputs;
use pumice_scalar::{Constant, Elt, Exp, Place, Primitive, ScalarType, bf16, f16};
use std::cell::Cell;
use std::collections::BTreeMap;

/// A parameter of a program: an array, rows of different lengths or a scalar expression.
///
/// ```
/// use pumice::{Parameter, ParameterTypes, prelude::*};
/// let mut types = ParameterTypes::default();
/// Acc::<Vector<f32>>::declare(0, &mut types);
/// Exp::<i64>::declare(1, &mut types);
/// assert_eq!((types.arrays.len(), types.scalars.len()), (1, 1));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a Pumice program",
    label = "expected an array or a scalar expression",
    note = "parameters are `Acc<Array<D, T>>` (such as `Acc<Vector<f32>>`), `AccRagged<T>` and `Exp<T>` (such as `Exp<f32>`)"
)]
pub trait Parameter: Sized {
    /// The parameter with this number.
    fn make(number: u32) -> Self;
    /// Adds the types of the parameter with this number.
    fn declare(number: u32, types: &mut ParameterTypes);
}

/// Types of a program's parameters, without Rust's types: arrays and scalars by their numbers. A parameter of rows of different
/// lengths is two arrays.
///
/// ```
/// use pumice::{Parameters, layers::scalar::ScalarType, prelude::*};
/// let types = <(Acc<Matrix<f32>>, Exp<i64>)>::types();
/// assert_eq!(types.arrays[&0], (2, vec![ScalarType::F32]));
/// assert_eq!(types.scalars[&1], ScalarType::I64);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterTypes {
    /// Ranks and element types of arrays.
    pub arrays: BTreeMap<u32, ArrayType>,
    /// Types of scalars.
    pub scalars: BTreeMap<u32, ScalarType>,
}

/// The parameters of a program: a tuple with as many as there are.
///
/// ```
/// use pumice::{Parameters, prelude::*};
/// assert_eq!(<(Acc<Vector<f32>>, Acc<Vector<f32>>)>::types().arrays.len(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the parameters of a Pumice program",
    label = "expected a tuple of parameters",
    note = "one parameter is a tuple too: `(Acc<Vector<f32>>,)`"
)]
pub trait Parameters {
    /// Their types.
    fn types() -> ParameterTypes;
}

impl Parameters for () {
    fn types() -> ParameterTypes {
        ParameterTypes::default()
    }
}

impl<D: Shape, T: Elt> Parameter for Acc<Array<D, T>> {
    #[track_caller]
    fn make(number: u32) -> Self {
        let place = COMPILED_AT.with(Cell::get).unwrap_or_else(|| Place::caller("argument"));
        Acc::<Array<D, T>>::argument_at(number, place)
    }
    fn declare(number: u32, types: &mut ParameterTypes) {
        types.arrays.insert(number, (D::RANK, T::types()));
    }
}

/// The number of the offsets of rows that are a parameter with a number: beyond those of all parameters.
pub(crate) fn number_of_offsets(number: u32) -> u32 {
    number + MOST_PARAMETERS
}

impl<T: Elt> Parameter for AccRagged<T> {
    #[track_caller]
    fn make(number: u32) -> Self {
        AccRagged::new(Acc::make(number), Acc::make(number_of_offsets(number)))
    }
    fn declare(number: u32, types: &mut ParameterTypes) {
        Acc::<Vector<T>>::declare(number, types);
        Acc::<Vector<i64>>::declare(number_of_offsets(number), types);
    }
}

impl<T: Primitive> Parameter for Exp<T> {
    fn make(number: u32) -> Self {
        scalar_argument(number)
    }
    fn declare(number: u32, types: &mut ParameterTypes) {
        types.scalars.insert(number, T::TYPE);
    }
}

thread_local! {
    /// Place in the user's code where the program is compiled. It is recorded as the place of the program's arguments.
    static COMPILED_AT: Cell<Option<Place>> = const { Cell::new(None) };
}

/// A Rust function that is a program with parameters `P`.
///
/// ```
/// use pumice::{Compiled, Function, prelude::*};
/// fn on_the_simulator<P, F: Function<P>>(program: F) -> pumice::Result<Compiled<P, F::Result>> {
///     pumice::Compiler::on("sim")?.compile(program)
/// }
/// let doubled = on_the_simulator(|xs: Acc<Vector<i32>>| xs.map(|x| x + x))?;
/// assert_eq!(doubled.run(&[1, 2])?.to_vec()?, [2, 4]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Pumice program",
    label = "expected a function from arrays and scalars to arrays",
    note = "a program takes up to eight `Acc<..>`, `AccRagged<..>` or `Exp<..>` and returns an `Acc<..>`, an `AccRagged<..>`, or a \
            tuple of these"
)]
pub trait Function<P> {
    /// Type of the function's result.
    type Result: ProgramResult;
    /// Applies the function to its parameters. Their place is that of the call.
    #[track_caller]
    fn describe(self) -> Self::Result;

    /// Applies the function to its parameters, whose place is this one: explanations, profiles and errors about arguments name it.
    ///
    /// ```
    /// use pumice::{Function, Place, prelude::*};
    /// fn written<P, F: Function<P>>(program: F) -> F::Result {
    ///     program.describe_at(Place::new("argument", "doubled.txt", 3, 7))
    /// }
    /// let doubled = written(|xs: Acc<Vector<i32>>| xs.map(|x| x + x));
    /// assert_eq!(doubled.described().inputs()[0].place().to_string(), "argument at doubled.txt:3");
    /// ```
    fn describe_at(self, place: Place) -> Self::Result
    where
        Self: Sized,
    {
        struct Before(Option<Place>);
        impl Drop for Before {
            fn drop(&mut self) {
                COMPILED_AT.with(|at| at.set(self.0));
            }
        }
        let _before = Before(COMPILED_AT.with(|at| at.replace(Some(place))));
        self.describe()
    }
}

/// A value that fits a parameter.
///
/// ```
/// use pumice::{Gives, prelude::*};
/// fn fits<P>(_: impl Gives<P>) {}
/// fits::<Acc<Vector<f32>>>(&[1.0, 2.0]);
/// fits::<Acc<Vector<f32>>>(vec![1.0, 2.0]);
/// fits::<Exp<i64>>(3);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit the parameter `{P}`",
    label = "wrong argument",
    note = "an array parameter takes a slice, a `Vec`, an array or an `Array` of its element type and shape, `AccRagged` takes a \
            `&Ragged`; a scalar parameter takes a value of exactly its type"
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

impl<T: Elt> Gives<AccRagged<T>> for &Ragged<T> {
    fn give(self, number: u32, inputs: &mut Inputs) {
        // A vector has at most as many elements as there are positive `i64`.
        let offsets: Vec<i64> = self.offsets().iter().map(|offset| *offset as i64).collect();
        Gives::<Acc<Vector<T>>>::give(self.values(), number, inputs);
        Gives::<Acc<Vector<i64>>>::give(offsets, number_of_offsets(number), inputs);
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
///
/// ```
/// use pumice::{Arguments, prelude::*};
/// fn fit<P>(_: impl Arguments<P>) {}
/// fit::<(Acc<Vector<f32>>, Exp<f32>)>((&[1.0, 2.0], 3.0));
/// fit::<(Exp<f32>,)>(3.0);
/// ```
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

impl<F, R: ProgramResult> Function<()> for F
where
    F: FnOnce() -> R,
{
    type Result = R;
    fn describe(self) -> R {
        self()
    }
}

/// The most parameters that a program has.
pub(crate) const MOST_PARAMETERS: u32 = 8;

macro_rules! parameters {
    ($($parameter:ident $value:ident $number:literal),*) => {
        impl<Func, Returned: ProgramResult, $($parameter: Parameter),*> Function<($($parameter,)*)> for Func
        where
            Func: FnOnce($($parameter),*) -> Returned,
        {
            type Result = Returned;
            #[track_caller]
            fn describe(self) -> Returned {
                self($($parameter::make($number)),*)
            }
        }
        impl<$($parameter: Parameter),*> Parameters for ($($parameter,)*) {
            fn types() -> ParameterTypes {
                let mut types = ParameterTypes::default();
                $($parameter::declare($number, &mut types);)*
                types
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
                Arguments::<($parameter,)>::collect((self,))
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
    [T: Elt, const N: usize] [T; N] => Acc<Array<Dim1, T>>;
    [T: Elt, const M: usize, const N: usize] &[[T; M]; N] => Acc<Array<Dim2, T>>;
    [T: Elt, const M: usize, const N: usize] [[T; M]; N] => Acc<Array<Dim2, T>>;
    [T: Elt] &Ragged<T> => AccRagged<T>;
    [] f32 => Exp<f32>;
    [] f64 => Exp<f64>;
    [] i32 => Exp<i32>;
    [] i64 => Exp<i64>;
    [] u32 => Exp<u32>;
    [] u64 => Exp<u64>;
    [] bool => Exp<bool>;
    [] i8 => Exp<i8>;
    [] i16 => Exp<i16>;
    [] u8 => Exp<u8>;
    [] u16 => Exp<u16>;
    [] f16 => Exp<f16>;
    [] bf16 => Exp<bf16>;
    [] char => Exp<char>;
}
