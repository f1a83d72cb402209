//! Compiled programs that are called inside others: which parts of the caller's program fit their parameters.

use crate::arguments::number_of_offsets;
use pumice_array::{Acc, AccRagged, Passed};
use pumice_scalar::{Constant, Elt, Exp, Primitive, Term};

/// A part of a program that fits a parameter of a program that it calls: an array, rows of different lengths, or a scalar
/// expression, which may be a plain value.
///
/// ```
/// use pumice::{Passes, prelude::*};
/// fn fits<P>(_: impl Passes<P>) {}
/// fits::<Acc<Vector<f32>>>(use_(&[1.0, 2.0]));
/// fits::<Exp<i32>>(3);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit the parameter `{P}` of a program that is called",
    label = "wrong argument",
    note = "an `Acc<..>` takes an `Acc<..>` of the same type, an `AccRagged<T>` an `AccRagged<T>`, and an `Exp<T>` an `Exp<T>` or a `T`"
)]
pub trait Passes<P> {
    /// Adds it as the argument with this number.
    fn pass(self, number: u32, passed: &mut Passed);
}

impl<A> Passes<Acc<A>> for Acc<A> {
    fn pass(self, number: u32, passed: &mut Passed) {
        passed.arrays.insert(number, self.described().clone());
    }
}

impl<A> Passes<Acc<A>> for &Acc<A> {
    fn pass(self, number: u32, passed: &mut Passed) {
        passed.arrays.insert(number, self.described().clone());
    }
}

impl<T: Elt> Passes<AccRagged<T>> for AccRagged<T> {
    fn pass(self, number: u32, passed: &mut Passed) {
        (&self).pass(number, passed);
    }
}

impl<T: Elt> Passes<AccRagged<T>> for &AccRagged<T> {
    fn pass(self, number: u32, passed: &mut Passed) {
        self.flatten().pass(number, passed);
        self.offsets().pass(number_of_offsets(number), passed);
    }
}

impl<T: Primitive> Passes<Exp<T>> for Exp<T> {
    fn pass(self, number: u32, passed: &mut Passed) {
        passed.scalars.insert(number, self.term());
    }
}

impl<T: Primitive> Passes<Exp<T>> for T {
    fn pass(self, number: u32, passed: &mut Passed) {
        passed.scalars.insert(number, Term::from(Into::<Constant>::into(self)));
    }
}

/// The arguments of a program that is called inside another one: a tuple with a part of the caller's program for each parameter;
/// for one parameter also that alone.
///
/// ```
/// use pumice::{CallArguments, prelude::*};
/// fn fit<P>(_: impl CallArguments<P>) {}
/// fit::<(Acc<Vector<f32>>, Exp<f32>)>((use_(&[1.0]), 2.0));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit the parameters `{P}` of a program that is called",
    label = "wrong arguments",
    note = "pass a tuple with one part of the caller's program for each parameter: `call((xs, ys, 3.0))`"
)]
pub trait CallArguments<P> {
    /// The arguments by number.
    fn pass_all(self) -> Passed;
}

impl CallArguments<()> for () {
    fn pass_all(self) -> Passed {
        Passed::default()
    }
}

macro_rules! tuples {
    ($($parameter:ident $value:ident $number:literal),*) => {
        impl<$($parameter, $value: Passes<$parameter>),*> CallArguments<($($parameter,)*)> for ($($value,)*) {
            #[allow(non_snake_case)]
            fn pass_all(self) -> Passed {
                let ($($value,)*) = self;
                let mut passed = Passed::default();
                $($value.pass($number, &mut passed);)*
                passed
            }
        }
    };
}
tuples!(A X 0);
tuples!(A X 0, B Y 1);
tuples!(A X 0, B Y 1, C Z 2);
tuples!(A X 0, B Y 1, C Z 2, D W 3);
tuples!(A X 0, B Y 1, C Z 2, D W 3, E V 4);
tuples!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5);
tuples!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5, G T 6);
tuples!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5, G T 6, H S 7);

macro_rules! alone {
    ($([$($generics:tt)*] $value:ty => $parameter:ty;)*) => { $(
        impl<$($generics)*> CallArguments<($parameter,)> for $value {
            fn pass_all(self) -> Passed {
                (self,).pass_all()
            }
        }
    )* };
}
alone! {
    [A] Acc<A> => Acc<A>;
    [A] &Acc<A> => Acc<A>;
    [T: Elt] AccRagged<T> => AccRagged<T>;
    [T: Elt] &AccRagged<T> => AccRagged<T>;
    [T: Primitive] Exp<T> => Exp<T>;
}
