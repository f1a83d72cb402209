//! Items of arrays, and the form that they take while a program is built.
//!
//! An array holds *items*: scalars and tuples, but also pull and push arrays. Each item type has a *form* (`Exp<f32>`
//! for `f32`, an array is its own form) that leads back to the item, so closures need no annotation.

use crate::builder::with;
use crate::{Level, Pull, Push, Size, effects};
use pumice_scalar::{Constant, Elt, Exp, Lift, Primitive, ScalarType, Term};

/// The index type of the kernel language.
///
/// ```
/// use pumice::kernel::{Ix, Pull};
/// fn middle(xs: &Pull<f32, Ix>) -> Ix {
///     xs.len() / 2
/// }
/// ```
pub type Ix = Exp<i64>;

/// An item of an array: a scalar, a tuple, or an array again.
///
/// ```
/// use pumice::kernel::{Item, Pull};
/// // Of arrays of anything, also of arrays.
/// fn ends<T: Item>(xs: &Pull<T>) -> (T::Form, T::Form) {
///     (xs.head(), xs.last())
/// }
/// ```
pub trait Item: sealed::Item + 'static {
    /// The form of it while a program is built.
    type Form: ItemForm<Item = Self>;

    /// The form where the condition holds. Where it does not, nothing is read: scalars are zero, and arrays hold such.
    #[doc(hidden)]
    fn guarded(condition: Exp<bool>, form: &dyn Fn() -> Self::Form) -> Self::Form;
}

/// Only what is here is an item, a length or a level: others could say what is not true, and indices would leave their
/// arrays.
pub(crate) mod sealed {
    /// An item.
    pub trait Item {}
    /// A length.
    pub trait Size {}
    /// A level.
    pub trait Level {}

    impl<T: pumice_scalar::Elt> Item for T {}
    impl Item for super::Dynamic {}
    impl<T: super::Item, S: super::Size> Item for super::Pull<T, S> {}
    impl<L: super::Level, T: super::Storable, S: super::Size> Item for super::Push<L, T, S> {}
    impl Size for usize {}
    impl Size for super::Ix {}
    impl Size for crate::Length {}
    impl Level for crate::AnyLevel {}
    impl Level for crate::Thread {}
    impl Level for crate::Warp {}
    impl Level for crate::Block {}
    impl Level for crate::Grid {}
}

/// [`Item::guarded`] for scalars.
fn guarded<T: Storable>(condition: Exp<bool>, form: &dyn Fn() -> T::Form) -> T::Form {
    T::from_terms(effects::choose(condition.term(), || T::terms(&form()), effects::zeros))
}

/// The form of an item while a program is built.
///
/// ```
/// use pumice::kernel::{ItemForm, Pull};
/// fn twice<F: ItemForm>(first: F, second: F) -> Pull<F::Item>
/// where
///     F::Item: pumice::kernel::Storable,
/// {
///     pumice::kernel::replicate(1usize, first).append(pumice::kernel::replicate(1usize, second))
/// }
/// ```
pub trait ItemForm: Clone + 'static {
    /// The item.
    type Item: Item<Form = Self>;
}

/// An item that memory can hold: one cell a scalar.
///
/// ```
/// use pumice::kernel::{Forces, Ix, Pull, Storable};
/// // In the memory of any level that has some.
/// fn stored<L: Forces, T: Storable>(xs: Pull<T>) -> Pull<T> {
///     xs.push::<L>().force()
/// }
/// ```
pub trait Storable: Item {
    /// The scalars of a value.
    fn terms(form: &Self::Form) -> Vec<Term>;
    /// The value of scalars.
    fn from_terms(terms: Vec<Term>) -> Self::Form;
    /// The types of the scalars, which may be known only from a value.
    fn types_of(value: impl FnOnce() -> Self::Form) -> Vec<ScalarType>;
}

impl<T: Elt> Item for T {
    type Form = T::Exp;
    fn guarded(condition: Exp<bool>, form: &dyn Fn() -> T::Exp) -> T::Exp {
        guarded::<T>(condition, form)
    }
}

impl<L: Lift> ItemForm for L {
    type Item = L::Elt;
}

impl<T: Elt> Storable for T {
    fn terms(form: &T::Exp) -> Vec<Term> {
        form.terms()
    }
    fn from_terms(terms: Vec<Term>) -> T::Exp {
        T::Exp::from_terms(&mut terms.into_iter())
    }
    fn types_of(_: impl FnOnce() -> T::Exp) -> Vec<ScalarType> {
        T::types()
    }
}

/// An element whose scalars are known when the kernel is built, not when Rust is compiled: what the array language and
/// other front ends use.
///
/// ```
/// use pumice::kernel::{Dynamic, Pull, Scalars};
/// // Pairs without static types.
/// fn turned(xs: Pull<Dynamic>) -> Pull<Dynamic> {
///     xs.map(|pair: Scalars| Scalars(vec![pair.column(1), pair.column(0)]))
/// }
/// ```
#[derive(Debug)]
pub enum Dynamic {}

/// The form of a [`Dynamic`] element: its scalars.
///
/// ```
/// use pumice::Exp;
/// use pumice::kernel::Scalars;
/// let pair = Scalars(vec![Exp::from(1i32).term(), Exp::from(true).term()]);
/// assert_eq!(pair.0.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Scalars(pub Vec<Term>);

impl Scalars {
    /// The scalar with this number. One that the element has not is an error when the kernel is built.
    ///
    /// ```
    /// use pumice::Exp;
    /// use pumice::kernel::Scalars;
    /// use pumice::layers::scalar::ScalarType;
    /// let pair = Scalars(vec![Exp::from(1i32).term(), Exp::from(true).term()]);
    /// assert_eq!(pair.column(1).ty(), ScalarType::Bool);
    /// ```
    pub fn column(&self, number: usize) -> Term {
        self.0.get(number).copied().unwrap_or_else(|| {
            let count = self.0.len();
            with(|builder| builder.mistake(format!("column {number} of an element that has {count}")));
            Constant::zero(ScalarType::I32).into()
        })
    }
}

impl Item for Dynamic {
    type Form = Scalars;
    fn guarded(condition: Exp<bool>, form: &dyn Fn() -> Scalars) -> Scalars {
        guarded::<Dynamic>(condition, form)
    }
}

impl ItemForm for Scalars {
    type Item = Dynamic;
}

impl Storable for Dynamic {
    fn terms(form: &Scalars) -> Vec<Term> {
        form.0.clone()
    }
    fn from_terms(terms: Vec<Term>) -> Scalars {
        Scalars(terms)
    }
    fn types_of(value: impl FnOnce() -> Scalars) -> Vec<ScalarType> {
        value().0.iter().map(|term| term.ty()).collect()
    }
}

impl<T: Item, S: Size> Item for Pull<T, S> {
    type Form = Pull<T, S>;
    fn guarded(condition: Exp<bool>, form: &dyn Fn() -> Self) -> Self {
        let array = effects::under(condition.term(), form);
        Pull::new(array.len(), move |i| T::guarded(condition, &|| array.get(i)))
    }
}

impl<T: Item, S: Size> ItemForm for Pull<T, S> {
    type Item = Pull<T, S>;
}

impl<L: Level, T: Storable, S: Size> Item for Push<L, T, S> {
    type Form = Push<L, T, S>;
    fn guarded(condition: Exp<bool>, form: &dyn Fn() -> Self) -> Self {
        let array = effects::under(condition.term(), form);
        let every = array.clone();
        Push::trusted_at(array.level(), array.len(), move |write| {
            effects::either(condition.term(), || array.write(write), || {});
        })
        .complete_if(move || every.is_complete())
    }
}

impl<L: Level, T: Storable, S: Size> ItemForm for Push<L, T, S> {
    type Item = Push<L, T, S>;
}

/// The scalar type of indices.
pub const INDEX: ScalarType = <i64 as Primitive>::TYPE;
