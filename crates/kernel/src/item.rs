//! What an array can hold, the form that it takes while a program is built, and the levels.
//!
//! An array holds *items*: scalars and tuples, but also pull and push arrays. Each item type has a *form* (`Exp<f32>`
//! for `f32`, an array is its own form) that leads back to the item, so closures need no annotation.

use crate::{Pull, Push, Size};
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

/// A level of the machine at which a program can run.
pub trait Level: 'static {}

/// A level at which a loop over an array's elements can be written directly.
#[diagnostic::on_unimplemented(
    message = "elements cannot be pushed directly at `{Self}`",
    note = "a grid's work is divided first: split the array up, push each part at `Block`, and `concat` the results"
)]
pub trait Loops: Level {
    /// Does `body` for every index below `extent`, as this level does it.
    fn for_each(extent: Ix, body: &dyn Fn(Ix));
}

/// A level that another one is made of.
#[diagnostic::on_unimplemented(
    message = "nothing is above `{Self}`: a grid is the outermost level",
    note = "results of blocks are concatenated into a grid's; results of a grid go to memory"
)]
pub trait Below: Level {
    /// The level above.
    type Above: Level;
    /// Runs one `body` for each index below `extent`, each at this level.
    fn distribute(extent: Ix, body: &dyn Fn(Ix));
}

/// A level with memory of its own to force an array into.
#[diagnostic::on_unimplemented(message = "an array cannot be forced at `{Self}`", note = "force at `Block`")]
pub trait Forces: Loops {
    /// Memory for some elements.
    fn allocate(ty: ScalarType, length: u32) -> pumice_program::MemoryId;
    /// Waits until what was written can be read.
    fn sync();
}

/// One thread: loops are sequential.
#[derive(Clone, Copy, Debug)]
pub enum Thread {}
/// The threads of a block: they share memory and can wait for each other.
#[derive(Clone, Copy, Debug)]
pub enum Block {}
/// All blocks of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Grid {}

impl Level for Thread {}
impl Level for Block {}
impl Level for Grid {}

impl Loops for Thread {
    fn for_each(extent: Ix, body: &dyn Fn(Ix)) {
        let whole = |value: i64| Exp::<i64>::from(value).term();
        crate::builder::sequential(whole(0)..extent.term(), whole(1), &[], |index, _| {
            body(Exp::from_term(index));
            Vec::new()
        });
    }
}

impl Loops for Block {
    fn for_each(extent: Ix, body: &dyn Fn(Ix)) {
        crate::builder::parallel(extent.term(), |index| body(Exp::from_term(index)));
    }
}

impl Below for Block {
    type Above = Grid;
    fn distribute(extent: Ix, body: &dyn Fn(Ix)) {
        crate::builder::distribute(extent.term(), |index| body(Exp::from_term(index)));
    }
}

impl Forces for Block {
    fn allocate(ty: ScalarType, length: u32) -> pumice_program::MemoryId {
        crate::builder::allocate_shared(ty, length)
    }
    fn sync() {
        crate::builder::sync();
    }
}

/// The scalar type of indices.
pub const INDEX: ScalarType = <i64 as Primitive>::TYPE;
