//! Control flow of scalar expressions: choices, and loops with a condition, a number of rounds or a range. Everything is
//! a branch or a loop of the graph; nothing here is evaluated.

use crate::Op;
use crate::arena::{self, Term};
use crate::composed::either;
use crate::elt::Lift;
use crate::exp::Exp;
use crate::number::{Integer, integer};
use crate::option::{OptionExp, none, some};
use std::ops::Range;

impl Exp<bool> {
    /// The first value if this holds, else the second. Both are computed; see [`cond`] for one only.
    #[doc = example!(use_(&[-3, 4]).map(|x| x.gt(0).select(x, -x)) => [3, 4])]
    pub fn select<L: Lift>(self, then: L, otherwise: L) -> L {
        let pairs = then.terms().into_iter().zip(otherwise.terms());
        let mut chosen = pairs.map(|(a, b)| Term::apply(Op::Select, a.ty(), &[self.term(), a, b]));
        L::from_terms(&mut chosen)
    }

    /// Returns a value where this holds, and none elsewhere.
    #[doc = example!(use_(&[-3, 4]).map(|x| x.gt(0).then_some(x)) => [None, Some(4)])]
    pub fn then_some<L: Lift>(self, value: L) -> OptionExp<L> {
        OptionExp::present_if(self, value)
    }

    /// Returns the result of a function where this holds, and none elsewhere, where it is not evaluated.
    #[doc = example!(use_(&[0, 4]).map(|x| x.ne(0).then(|| 100 / x)) => [None, Some(25)])]
    pub fn then<L: Lift>(self, value: impl FnOnce() -> L) -> OptionExp<L> {
        either(self, || some(value()), none)
    }
}

/// One of two values; only that one is computed.
///
/// ```
/// use pumice::{Exp, cond};
/// fn root(x: Exp<f32>) -> Exp<f32> {
///     cond(x.gt(0.0), || x.sqrt(), || 0.0.into())
/// }
/// ```
pub fn cond<L: Lift>(condition: Exp<bool>, then: impl FnOnce() -> L, otherwise: impl FnOnce() -> L) -> L {
    let values = arena::branch(condition.term(), &then().terms(), &otherwise().terms());
    L::from_terms(&mut values.into_iter())
}

/// Gives a value a name: `let_(value, body)` is `body(value)`.
///
/// A Rust `let` does the same. An expression is a handle to a node of a graph in which equal expressions are one node, so
/// whatever is used more than once is computed once, named or not.
///
/// ```
/// use pumice::prelude::*;
/// let squares = pumice::run(use_(&[3, 4]).map(|x| let_(x + 1, |y| y * y)))?;
/// assert_eq!(squares.to_vec()?, [16, 25]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn let_<A, B>(value: A, body: impl FnOnce(A) -> B) -> B {
    body(value)
}

/// Repeats `next` on a value while `condition` holds.
///
/// ```
/// use pumice::{Exp, while_, constant};
/// fn bits(n: Exp<u32>) -> Exp<i32> {
///     let (_, count) = while_((n, constant(0)), |(n, _)| n.gt(0), |(n, count)| (n >> 1, count + 1));
///     count
/// }
/// ```
pub fn while_<L: Lift>(initial: L, condition: impl FnOnce(L) -> Exp<bool>, next: impl FnOnce(L) -> L) -> L {
    let lift = |terms: &[Term]| L::from_terms(&mut terms.iter().copied());
    let values = arena::repeat(
        &initial.terms(),
        |terms| condition(lift(terms)).term(),
        |terms| next(lift(terms)).terms(),
    );
    L::from_terms(&mut values.into_iter())
}

/// An end of the range of [`for_`]: a plain integer or an expression of one.
///
/// ```
/// use pumice::{RangeEnd, prelude::*};
/// fn count<R: RangeEnd>(end: R) -> Exp<R::Of> {
///     end.into_end()
/// }
/// let found = pumice::run(use_(&[1, 2]).map(|x| count(x) + count(10)))?;
/// assert_eq!(found.to_vec()?, [11, 12]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait RangeEnd {
    /// The type of the numbers in the range.
    type Of: Integer;
    /// Returns the expression.
    fn into_end(self) -> Exp<Self::Of>;
}

impl<T: Integer> RangeEnd for T {
    type Of = T;
    fn into_end(self) -> Exp<T> {
        Exp::from(self)
    }
}

impl<T: Integer> RangeEnd for Exp<T> {
    type Of = T;
    fn into_end(self) -> Exp<T> {
        self
    }
}

/// Goes through a range of numbers, from the first to below the last: `next` makes the next state of a number and the
/// state before it.
///
/// ```
/// use pumice::prelude::*;
/// // The sum of the squares below n.
/// let sums = pumice::run(use_(&[0i64, 1, 4]).map(|n| {
///     for_(constant(0)..n, constant(0), |i, sum| sum + i * i)
/// }))?;
/// assert_eq!(sums.to_vec()?, [0, 0, 14]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn for_<R: RangeEnd, L: Lift>(range: Range<R>, initial: L, next: impl FnOnce(Exp<R::Of>, L) -> L) -> L {
    let (first, end) = (range.start.into_end(), range.end.into_end());
    let condition = |(number, _): (Exp<R::Of>, L)| number.lt(end);
    let (_, last) =
        while_((first, initial), condition, |(number, state)| (number + integer(1), next(number, state)));
    last
}

/// Repeats `next` on a value as many times as `rounds` says; never, if that is not positive.
///
/// (A loop over whole arrays is called `iterate`.)
///
/// ```
/// use pumice::prelude::*;
/// // Newton's iteration for the square root.
/// let roots = pumice::run(use_(&[2f64]).map(|a| repeat_(6, a, |x| 0.5 * (x + a / x))))?;
/// assert!((roots.to_vec()?[0] - 2f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), pumice::Error>(())
/// ```
#[doc(alias = "iterate")]
pub fn repeat_<R: RangeEnd, L: Lift>(rounds: R, initial: L, next: impl FnOnce(L) -> L) -> L {
    for_(integer::<R::Of>(0)..rounds.into_end(), initial, |_, state| next(state))
}
