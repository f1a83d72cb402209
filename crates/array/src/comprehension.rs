//! What the macros of `pumice-macros` write into users' programs, beside methods of [`Acc`]. Not for others: it follows the macros.

mod rows;

pub use rows::*;

use crate::acc::{Acc, lifted, nullary};
use crate::data::Vector;
use crate::expanding::{self, checked, stretch_within};
use crate::sorting::Falls;
use crate::table;
use pumice_scalar::{
    Constant, Elt, Exp, Lift, Number, OptionExp, Place, Primitive, Term, cond, some, while_,
};
use std::marker::PhantomData;

/// What a generator can draw from.
#[diagnostic::on_unimplemented(
    message = "a generator cannot draw from `{Self}`",
    label = "expected a vector of the program",
    note = "draw from an `Acc<Vector<T>>` (`use_(&data)` makes one of data), a range `a..b`, a part of a vector `xs[a..b]`, \
            a row of a matrix `m[i]`, or a comprehension"
)]
pub trait Draw {
    /// What its elements are.
    type Elt: Elt;
    /// The vector.
    fn vector(&self) -> Acc<Vector<Self::Elt>>;
}

impl<T: Elt> Draw for Acc<Vector<T>> {
    type Elt = T;
    fn vector(&self) -> Acc<Vector<T>> {
        self.clone()
    }
}

impl<D: Draw> Draw for &D {
    type Elt = D::Elt;
    fn vector(&self) -> Acc<Vector<D::Elt>> {
        (**self).vector()
    }
}

/// The vector that a generator draws from.
pub fn vector<D: Draw>(source: &D) -> Acc<Vector<D::Elt>> {
    source.vector()
}

/// An element of a vector, by a number below its length.
pub fn element<T: Elt>(vector: &Acc<Vector<T>>, number: Exp<i64>) -> T::Exp {
    vector.element(&[number.term()], None)
}

/// How many numbers there are from one to below another.
pub fn count(from: impl Into<Exp<i64>>, to: impl Into<Exp<i64>>) -> Exp<i64> {
    (to.into() - from.into()).max(0)
}

/// How many numbers there are from one to another.
pub fn closed_count(from: impl Into<Exp<i64>>, to: impl Into<Exp<i64>>) -> Exp<i64> {
    count(from, to.into() + 1)
}

/// A number of a range.
pub fn counted(from: impl Into<Exp<i64>>, number: Exp<i64>) -> Exp<i64> {
    from.into() + number
}

/// Where a part of a vector ends, behind its last element.
pub fn end(to: impl Into<Exp<i64>>, more: i64) -> Exp<i64> {
    to.into() + more
}

/// How many elements a part of a vector has. One that ends before it begins, or is not within the vector, is an error.
#[track_caller]
pub fn slice_count<T: Elt>(
    vector: &Acc<Vector<T>>,
    from: impl Into<Exp<i64>>,
    to: impl Into<Exp<i64>>,
) -> Exp<i64> {
    let (place, from) = (Place::caller("slice"), from.into());
    stretch_within((from, from + checked(to.into() - from, place)), vector.size(), place).1
}

/// An element of a part of a vector, which is known to be within it.
pub fn slice_element<T: Elt>(vector: &Acc<Vector<T>>, from: impl Into<Exp<i64>>, number: Exp<i64>) -> T::Exp {
    let from = from.into().max(0).min(vector.size());
    vector.element(&[(from + number).term()], None)
}

/// The size of a first vector.
pub fn size(size: impl Into<Exp<i64>>) -> Exp<i64> {
    size.into()
}

/// A size where a condition holds, and 0 elsewhere.
pub fn size_if(condition: Exp<bool>, size: impl FnOnce() -> Exp<i64>) -> Exp<i64> {
    cond(condition, size, || Exp::from(0))
}

/// What a condition can be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition",
    label = "expected an `Exp<bool>`",
    note = "a qualifier is a condition, or a generator `p <- xs`, `let p = e`, `order by k`, `take n`, `distinct` or `group by k`"
)]
pub trait Condition {
    /// The condition.
    fn holds(self) -> Exp<bool>;
}

impl Condition for Exp<bool> {
    fn holds(self) -> Exp<bool> {
        self
    }
}

impl Condition for bool {
    fn holds(self) -> Exp<bool> {
        self.into()
    }
}

/// A condition.
pub fn condition(condition: impl Condition) -> Exp<bool> {
    condition.holds()
}

/// Both conditions hold.
pub fn and(a: impl Condition, b: impl Condition) -> Exp<bool> {
    a.holds() & b.holds()
}

/// One of the conditions holds.
pub fn or(a: impl Condition, b: impl Condition) -> Exp<bool> {
    a.holds() | b.holds()
}

/// Both conditions hold; the second is computed only where the first does.
pub fn and_then<C: Condition>(a: impl Condition, b: impl FnOnce() -> C) -> Exp<bool> {
    cond(a.holds(), || b().holds(), || Exp::from(false))
}

/// One of the conditions holds; the second is computed only where the first does not.
pub fn or_else<C: Condition>(a: impl Condition, b: impl FnOnce() -> C) -> Exp<bool> {
    cond(a.holds(), || Exp::from(true), || b().holds())
}

macro_rules! comparisons {
    ($($name:ident $bound:ident)*) => { $(
        #[doc = concat!("`", stringify!($name), "` of two expressions or plain values.")]
        pub fn $name<T: $bound>(a: impl Into<Exp<T>>, b: impl Into<Exp<T>>) -> Exp<bool> {
            a.into().$name(b)
        }
    )* };
}
comparisons! { eq Primitive ne Primitive lt Number le Number gt Number ge Number }

fn number<T: Primitive>(number: i128) -> Exp<T> {
    Exp::from_term(Constant::from_integer(T::TYPE, number).into())
}

/// What a sum begins with.
pub fn zero<T: Number>() -> Exp<T> {
    number(0)
}

/// What a product begins with.
pub fn one<T: Number>() -> Exp<T> {
    number(1)
}

/// The sum of two.
pub fn add<T: Number>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
    a + b
}

/// The product of two.
pub fn multiply<T: Number>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
    a * b
}

/// The smaller of two.
pub fn min<T: Number>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
    a.min(b)
}

/// The larger of two.
pub fn max<T: Number>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
    a.max(b)
}

/// Two values combined by an operator.
pub fn combine<L: Lift>(a: L, b: L, operator: impl FnOnce(L, L) -> L) -> L {
    operator(a, b)
}

/// What is combined so far, if there is any, with one more.
pub fn with<L: Lift>(so_far: OptionExp<L>, next: L, operator: impl FnOnce(L, L) -> L) -> OptionExp<L> {
    some(so_far.map(|so_far| operator(so_far, next)).unwrap_or_else(|| next))
}

/// What is combined, if there is any, from an initial value.
pub fn from<L: Lift>(initial: L, combined: OptionExp<L>, operator: impl FnOnce(L, L) -> L) -> L {
    combined.map(|combined| operator(initial, combined)).unwrap_or_else(|| initial)
}

/// What is combined, of which there must be any.
#[track_caller]
pub fn present<L: Lift>(combined: OptionExp<L>) -> L {
    expanding::present(combined, Place::caller("reduction"))
}

/// Goes through the numbers from 0 to below a size with a value.
pub fn each<L: Lift>(size: Exp<i64>, initial: L, step: impl FnOnce(Exp<i64>, L) -> L) -> L {
    let next = |(number, value): (Exp<i64>, L)| (number + 1, step(number, value));
    while_((Exp::from(0), initial), |(number, _)| number.lt(size), next).1
}

/// What elements are sorted by: keys as nested pairs, and the direction of each scalar.
pub struct Keys<K> {
    keys: K,
    directions: Vec<Falls>,
}

impl Default for Keys<()> {
    fn default() -> Self {
        Keys { keys: (), directions: Vec::new() }
    }
}

impl<K: Lift> Keys<K> {
    /// With a further key, the smallest first.
    pub fn rising<L: Lift>(self, key: L) -> Keys<(K, L)> {
        self.and(key, Falls(false))
    }

    /// With a further key, the largest first.
    pub fn falling<L: Lift>(self, key: L) -> Keys<(K, L)> {
        self.and(key, Falls(true))
    }

    fn and<L: Lift>(mut self, key: L, falls: Falls) -> Keys<(K, L)> {
        self.directions.extend(L::Elt::types().iter().map(|_| falls));
        Keys { keys: (self.keys, key), directions: self.directions }
    }
}

/// A vector in the order of its keys.
#[track_caller]
pub fn ordered<T: Elt, K: Lift>(vector: Acc<Vector<T>>, keys: impl Fn(T::Exp) -> Keys<K>) -> Acc<Vector<T>> {
    let keys = |x| {
        let Keys { keys, directions } = keys(x);
        (keys, directions)
    };
    vector.sorted_by(keys, Place::caller("order_by"))
}

/// A vector of pairs in the order of their first parts.
fn by_first<K: Lift, T: Elt>(pairs: Acc<Vector<(K::Elt, T)>>, place: Place) -> Acc<Vector<(K::Elt, T)>> {
    pairs.sorted_by(|(key, _): (K, T::Exp)| (key, vec![Falls(false); K::Elt::types().len()]), place)
}

/// The first elements, or all if there are fewer.
#[track_caller]
pub fn first<T: Elt>(vector: Acc<Vector<T>>, count: impl Into<Exp<i64>>) -> Acc<Vector<T>> {
    let count = count.into().max(0).min(vector.size());
    vector.stretch(Exp::from(0), 1, count, Place::caller("take"))
}

/// The groups of elements with equal keys, in the order of their keys: each with what a function of its elements gives, combined.
#[track_caller]
pub fn grouped<T: Elt, K: Lift, L: Lift>(
    vector: Acc<Vector<T>>,
    key: impl FnOnce(T::Exp) -> K,
    value: impl FnOnce(T::Exp) -> L,
    combine: impl Fn(L, L) -> L,
) -> Acc<Vector<(K::Elt, L::Elt)>> {
    groups(vector, key, value, combine, Place::caller("group_by"))
}

fn groups<T: Elt, K: Lift, L: Lift>(
    vector: Acc<Vector<T>>,
    key: impl FnOnce(T::Exp) -> K,
    value: impl FnOnce(T::Exp) -> L,
    combine: impl Fn(L, L) -> L,
    place: Place,
) -> Acc<Vector<(K::Elt, L::Elt)>> {
    let pairs = vector.mapped(|x| (key(x), value(x)), place);
    let sorted = by_first::<K, L::Elt>(pairs, place);
    let keys: Acc<Vector<K::Elt>> = sorted.clone().mapped(|(key, _)| key, place);
    // Groups are reduced as sources of an expansion are: large ones are shared by many threads, small ones are not.
    let (runs, most) = (keys.runs(place), nullary(|| vec![sorted.size().term()]));
    let size = |(_, length, _): (Exp<i64>, Exp<i64>, K)| length;
    let element = |(start, _, _): (Exp<i64>, Exp<i64>, K), number: Exp<i64>| -> L {
        sorted.element(&[(start + number).term()], None).1
    };
    let sums = match lifted(|(a, b): (L, L)| combine(a, b)).neutral() {
        Some(neutral) => {
            let neutral = L::from_terms(&mut neutral.into_iter().map(Term::from));
            runs.clone().reduced(size, element, neutral, &combine, Some(most), place)
        }
        None => {
            let element = |run, number| some(element(run, number));
            let sums = runs.clone().reduced_some(size, element, &combine, Some(most), place);
            sums.mapped(|sum| expanding::present(sum, place), place)
        }
    };
    runs.zipped(&sums, |(_, _, key), sum| (key, sum), place)
}

/// A vector by key, for joins.
pub struct Table<T: Elt, K: Lift> {
    table: table::Table,
    of: PhantomData<fn(K) -> T>,
}

impl<T: Elt, K: Lift> Table<T, K> {
    /// Sorts a vector by a key.
    #[track_caller]
    pub fn new(vector: Acc<Vector<T>>, key: impl Fn(T::Exp) -> K) -> Table<T, K> {
        let key = |terms: &[Term]| key(T::Exp::from_terms(&mut terms.iter().copied())).terms();
        let table = table::Table::new(vector.described(), key, K::Elt::types(), Place::caller("join"));
        Table { table, of: PhantomData }
    }

    /// Where the elements with a key are: the first of them, and the one behind the last. What is not a number equals nothing.
    pub fn range(&self, key: K) -> (Exp<i64>, Exp<i64>) {
        self.table.range(&key.terms())
    }

    /// An element, in the order of keys.
    pub fn element(&self, number: Exp<i64>) -> T::Exp {
        T::Exp::from_terms(&mut self.table.element(number.term()).into_iter())
    }
}
