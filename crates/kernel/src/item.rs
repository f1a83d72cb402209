//! What an array can hold, and the form that it takes while a program is built.
//!
//! An array holds *items*: scalars and tuples, but also pull and push arrays. Each item type has a *form* (`Exp<f32>`
//! for `f32`, an array is its own form) that leads back to the item, so closures need no annotation.

use crate::{Level, Pull, Push, Size};
use pumice_scalar::{Elt, Exp, Lift, Primitive, ScalarType, Term};

/// The index type of the kernel language.
pub type Ix = Exp<i64>;

/// What an array can hold.
pub trait Item: 'static {
    /// The form of it while a program is built.
    type Form: Form<Item = Self>;
}

/// The form of an item while a program is built.
pub trait Form: Clone + 'static {
    /// The item.
    type Item: Item<Form = Self>;
}

/// An item that memory can hold: one cell a scalar.
pub trait Storable: Item {
    /// The scalars of a value.
    fn terms(form: &Self::Form) -> Vec<Term>;
    /// The value of scalars.
    fn from_terms(terms: Vec<Term>) -> Self::Form;
}

impl<T: Elt> Item for T {
    type Form = T::Exp;
}

impl<L: Lift> Form for L {
    type Item = L::Elt;
}

impl<T: Elt> Storable for T {
    fn terms(form: &T::Exp) -> Vec<Term> {
        form.terms()
    }
    fn from_terms(terms: Vec<Term>) -> T::Exp {
        T::Exp::from_terms(&mut terms.into_iter())
    }
}

/// An element whose scalars are known when the kernel is built, not when Rust is compiled: what the array language and
/// other front ends use.
#[derive(Debug)]
pub enum Dynamic {}

/// The form of a [`Dynamic`] element: its scalars.
#[derive(Clone, Debug)]
pub struct Scalars(pub Vec<Term>);

impl Item for Dynamic {
    type Form = Scalars;
}

impl Form for Scalars {
    type Item = Dynamic;
}

impl Storable for Dynamic {
    fn terms(form: &Scalars) -> Vec<Term> {
        form.0.clone()
    }
    fn from_terms(terms: Vec<Term>) -> Scalars {
        Scalars(terms)
    }
}

impl<T: Item, S: Size> Item for Pull<T, S> {
    type Form = Pull<T, S>;
}

impl<T: Item, S: Size> Form for Pull<T, S> {
    type Item = Pull<T, S>;
}

impl<L: Level, T: Storable, S: Size> Item for Push<L, T, S> {
    type Form = Push<L, T, S>;
}

impl<L: Level, T: Storable, S: Size> Form for Push<L, T, S> {
    type Item = Push<L, T, S>;
}

/// The scalar type of indices.
pub const INDEX: ScalarType = <i64 as Primitive>::TYPE;
