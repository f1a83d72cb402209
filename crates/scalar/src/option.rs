//! Values that may be absent: `Option<T>` as an element, and the expression of one.
//!
//! In memory an `Option` is a column of flags and the columns of its value. The columns of an absent value are zero, on
//! the host and in programs alike, so equal options have equal columns.

use crate::arena::Term;
use crate::composed::{ResultExp, either, equal, err, ok, zero};
use crate::elt::{Elt, Lift, own_parts};
use crate::exp::{Exp, IntoExp, constant};
use crate::types::{Constant, ScalarType};
use std::borrow::Cow;
use std::collections::TryReserveError;

/// An expression of type `Option<T>`: a flag and a value.
///
/// [`some`] and [`none`] make one. Functions on the value are evaluated only where there is one, so they may fail on
/// others: dividing by an absent value is no error.
///
/// ```
/// use pumice::{Exp, cond, none, some};
/// fn reciprocal(x: Exp<i32>) -> Exp<i32> {
///     let divisor = cond(x.ne(0), || some(x), || none());
///     divisor.map(|x| 100 / x).unwrap_or(0)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OptionExp<L> {
    present: Exp<bool>,
    value: L,
}

/// Returns a present value.
///
/// ```
/// use pumice::prelude::*;
/// let whole = pumice::run(use_(&[1, 2]).map(|x| some(x)))?;
/// assert_eq!(whole.to_vec()?, [Some(1), Some(2)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn some<L: Lift>(value: L) -> OptionExp<L> {
    OptionExp { present: Exp::from(true), value }
}

/// Returns an absent value.
///
/// ```
/// use pumice::prelude::*;
/// let xs = use_(&[4f32, -1.0]);
/// let roots = pumice::run(xs.map(|x| cond(x.ge(0.0), || some(x.sqrt()), || none())))?;
/// assert_eq!(roots.to_vec()?, [Some(2.0), None]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn none<L: Lift>() -> OptionExp<L> {
    OptionExp { present: Exp::from(false), value: zero() }
}

impl<L: Lift> OptionExp<L> {
    /// Returns a value that is present where a condition holds.
    ///
    /// ```
    /// use pumice::{Exp, OptionExp};
    /// fn below(i: Exp<i64>, length: Exp<i64>) -> OptionExp<Exp<i64>> {
    ///     OptionExp::present_if(i.lt(length), i)
    /// }
    /// ```
    pub fn present_if(condition: Exp<bool>, value: L) -> OptionExp<L> {
        OptionExp { present: condition, value: condition.select(value, zero()) }
    }

    /// The option whose value is zero wherever the condition does not hold.
    pub(crate) fn known(present: Exp<bool>, value: L) -> OptionExp<L> {
        OptionExp { present, value }
    }

    /// Whether there is a value.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.is_some()) => [true, false])]
    pub fn is_some(self) -> Exp<bool> {
        self.present
    }

    /// Whether there is none.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.is_none()) => [false, true])]
    pub fn is_none(self) -> Exp<bool> {
        !self.present
    }

    /// Whether there is a value and a condition on it holds.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.is_some_and(|x| x.gt(2))) => [true, false])]
    pub fn is_some_and(self, condition: impl FnOnce(L) -> Exp<bool>) -> Exp<bool> {
        either(self.present, || condition(self.looked_at()), || Exp::from(false))
    }

    /// Whether there is no value, or a condition on it holds.
    #[doc = example!(use_(&[Some(3), Some(2), None]).map(|x| x.is_none_or(|x| x.gt(2))) => [true, false, true])]
    pub fn is_none_or(self, condition: impl FnOnce(L) -> Exp<bool>) -> Exp<bool> {
        either(self.present, || condition(self.looked_at()), || Exp::from(true))
    }

    /// Applies a function to the value, where there is one.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let doubled = pumice::run(use_(&[Some(3), None]).map(|x| x.map(|x| x * 2)))?;
    /// assert_eq!(doubled.to_vec()?, [Some(6), None]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn map<M: Lift>(self, f: impl FnOnce(L) -> M) -> OptionExp<M> {
        OptionExp { present: self.present, value: either(self.present, || f(self.looked_at()), zero) }
    }

    /// Applies a function that may give no value, where there is one.
    #[doc = example!(use_(&[Some(9u8), Some(3), None]).map(|x| x.and_then(|x| x.checked_sub(5))) => [Some(4), None, None])]
    pub fn and_then<M: Lift>(self, f: impl FnOnce(L) -> OptionExp<M>) -> OptionExp<M> {
        either(self.present, || f(self.looked_at()), none)
    }

    /// Applies a function to the value; another result where there is none.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.map_or(7, |x| x * 2)) => [6, 7])]
    pub fn map_or<M: Lift>(self, default: impl IntoExp<M::Elt>, f: impl FnOnce(L) -> M) -> M {
        let default = default.into_exp();
        either(self.present, || f(self.looked_at()), || default)
    }

    /// Applies a function to the value, or evaluates `default` where there is none; only one of them is computed.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.map_or_else(|| constant(7), |x| x * 2)) => [6, 7])]
    pub fn map_or_else<M: Lift>(self, default: impl FnOnce() -> M, f: impl FnOnce(L) -> M) -> M {
        either(self.present, || f(self.looked_at()), default)
    }

    /// Returns the value, or an error where there is none.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.ok_or(constant(true))) => [Ok(3), Err(true)])]
    pub fn ok_or<M: Lift>(self, error: M) -> ResultExp<L, M> {
        self.ok_or_else(|| error)
    }

    /// Returns the value, or the result of `error` where there is none, which is computed only there.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.ok_or_else(|| constant(true))) => [Ok(3), Err(true)])]
    pub fn ok_or_else<M: Lift>(self, error: impl FnOnce() -> M) -> ResultExp<L, M> {
        either(self.present, || ok(self.value), || err(error()))
    }

    /// Returns the value only where a condition on it holds.
    #[doc = example!(use_(&[Some(3), Some(4), None]).map(|x| x.filter(|x| (x % 2).eq(0))) => [None, Some(4), None])]
    pub fn filter(self, condition: impl FnOnce(L) -> Exp<bool>) -> OptionExp<L> {
        OptionExp::present_if(self.is_some_and(condition), self.value)
    }

    /// Returns this value where there is one, else the other.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.or(some(constant(7)))) => [Some(3), Some(7)])]
    pub fn or(self, other: OptionExp<L>) -> OptionExp<L> {
        OptionExp {
            present: self.present | other.present,
            value: self.present.select(self.value, other.value),
        }
    }

    /// Returns this value where there is one, else the result of `other`, which is computed only there.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.or_else(|| some(constant(7)))) => [Some(3), Some(7)])]
    pub fn or_else(self, other: impl FnOnce() -> OptionExp<L>) -> OptionExp<L> {
        either(self.present, || self, other)
    }

    /// Returns the other value where there are both.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.and(some(constant('c')))) => [Some('c'), None])]
    pub fn and<M: Lift>(self, other: OptionExp<M>) -> OptionExp<M> {
        OptionExp::present_if(self.present & other.present, other.value)
    }

    /// Returns the value of the one that has one, where the other has none.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.xor(some(constant(7)))) => [None, Some(7)])]
    pub fn xor(self, other: OptionExp<L>) -> OptionExp<L> {
        let value = self.present.select(self.value, other.value);
        OptionExp::present_if(self.present ^ other.present, value)
    }

    /// Returns both values, where there are both.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let (xs, ys) = (use_(&[Some(1), None]), use_(&[Some(2), Some(3)]));
    /// let sums = pumice::run(xs.zip_with(ys, |x, y| x.zip(y).map(|(x, y)| x + y).unwrap_or(0)))?;
    /// assert_eq!(sums.to_vec()?, [3, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn zip<M: Lift>(self, other: OptionExp<M>) -> OptionExp<(L, M)> {
        OptionExp::present_if(self.present & other.present, (self.value, other.value))
    }

    /// Returns the value, or another one where there is none.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.unwrap_or(7)) => [3, 7])]
    pub fn unwrap_or(self, default: impl IntoExp<L::Elt>) -> L {
        self.present.select(self.value, default.into_exp())
    }

    /// Returns the value, or the result of `default` where there is none; only one of them is computed.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.unwrap_or_else(|| constant(7))) => [3, 7])]
    pub fn unwrap_or_else(self, default: impl FnOnce() -> L) -> L {
        either(self.present, || self.looked_at(), default)
    }

    /// Returns the value, or the default of its type where there is none.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.unwrap_or_default()) => [3, 0])]
    pub fn unwrap_or_default(self) -> L
    where
        L::Elt: Default,
    {
        self.unwrap_or(<L::Elt>::default())
    }

    /// Whether both are absent, or both present with equal values.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.eq(Some(3))) => [true, false])]
    #[allow(clippy::should_implement_trait)]
    pub fn eq(self, other: impl IntoExp<Option<L::Elt>>) -> Exp<bool> {
        equal(self, other)
    }

    /// Whether the two differ.
    #[doc = example!(use_(&[Some(3), None]).map(|x| x.ne(Some(3))) => [false, true])]
    #[allow(clippy::should_implement_trait)]
    pub fn ne(self, other: impl IntoExp<Option<L::Elt>>) -> Exp<bool> {
        !equal(self, other)
    }

    /// The value, zero where there is none: for code that has looked.
    #[doc(hidden)]
    pub fn unpack_some(self) -> (L,) {
        (self.looked_at(),)
    }

    /// The value, for code that is evaluated only where there is one: zeros that stand for an absent value are not chosen there.
    fn looked_at(self) -> L {
        let present = self.present.term();
        L::from_terms(&mut self.value.terms().into_iter().map(|term| term.given(present)))
    }
}

impl<L: Lift> From<L> for OptionExp<L> {
    fn from(value: L) -> OptionExp<L> {
        some(value)
    }
}

impl<L: Lift> Lift for OptionExp<L> {
    type Elt = Option<L::Elt>;
    own_parts!();
    fn add_terms(self, terms: &mut Vec<Term>) {
        self.present.add_terms(terms);
        self.value.add_terms(terms);
    }
    fn from_terms(terms: &mut dyn Iterator<Item = Term>) -> Self {
        OptionExp { present: Exp::from_terms(terms), value: L::from_terms(terms) }
    }
}

impl<L: Lift> IntoExp<Option<L::Elt>> for OptionExp<L> {
    fn into_exp(self) -> OptionExp<L> {
        self
    }
}

impl<T: Elt> IntoExp<Option<T>> for Option<T> {
    fn into_exp(self) -> OptionExp<T::Exp> {
        constant(self)
    }
}

impl<T: Elt> Elt for Option<T> {
    type Exp = OptionExp<T::Exp>;
    own_parts!();

    fn add_types(types: &mut Vec<ScalarType>) {
        types.push(ScalarType::Bool);
        T::add_types(types);
    }

    fn add_constants(self, constants: &mut Vec<Constant>) {
        constants.push(self.is_some().into());
        match self {
            Some(value) => value.add_constants(constants),
            None => constants.extend(T::types().into_iter().map(Constant::zero)),
        }
    }

    fn add_columns<'a>(values: &'a [Self], columns: &mut Vec<Cow<'a, [u8]>>) {
        columns.push(Cow::Owned(values.iter().map(|value| u8::from(value.is_some())).collect()));
        // There need be no value of the type that stands for an absent one, so present ones are put in their places.
        let present: Vec<T> = values.iter().filter_map(|value| *value).collect();
        let mut packed = Vec::new();
        T::add_columns(&present, &mut packed);
        for (column, ty) in packed.iter().zip(T::types()) {
            let mut spread = vec![0; values.len() * ty.bytes()];
            let places = spread.chunks_exact_mut(ty.bytes()).zip(values).filter(|(_, value)| value.is_some());
            for ((place, _), bytes) in places.zip(column.chunks_exact(ty.bytes())) {
                place.copy_from_slice(bytes);
            }
            columns.push(Cow::Owned(spread));
        }
    }

    fn from_columns(
        columns: &mut dyn Iterator<Item = &[u8]>,
        count: usize,
    ) -> Result<Vec<Self>, TryReserveError> {
        let flags = bool::from_columns(columns, count)?;
        let mut options = Vec::new();
        options.try_reserve_exact(count)?;
        let values = T::from_columns(columns, count)?;
        options.extend(flags.into_iter().zip(values).map(|(present, value)| present.then_some(value)));
        Ok(options)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::elt::Primitive;
    use crate::{CheckFailure, Environment, Evaluator, FailureKind, Node, Variable, function};

    type Nested = Option<(i32, Option<f64>)>;

    #[test]
    fn options_are_a_column_of_flags_and_those_of_the_value_and_come_back() {
        let values: [Nested; 4] = [Some((7, Some(-0.5))), None, Some((9, None)), None];
        let mut columns = Vec::new();
        Nested::add_columns(&values, &mut columns);
        assert_eq!(Nested::types(), [ScalarType::Bool, ScalarType::I32, ScalarType::Bool, ScalarType::F64]);
        assert_eq!(columns.len(), 4);
        assert_eq!(&*columns[0], [1, 0, 1, 0]);
        assert_eq!(i32::from_bytes(&columns[1], 4), Ok(vec![7, 0, 9, 0]));
        assert_eq!(&*columns[2], [1, 0, 0, 0]);
        assert_eq!(f64::from_bytes(&columns[3], 4), Ok(vec![-0.5, 0.0, 0.0, 0.0]));
        let back = Nested::from_columns(&mut columns.iter().map(|column| &**column), 4);
        assert_eq!(back.as_deref(), Ok(&values[..]));
    }

    #[test]
    fn an_absent_value_is_not_looked_at() {
        let column: [&[u8]; 2] = [&[0, 1], &[5, 0, 0, 0, 6, 0, 0, 0]];
        assert_eq!(<Option<i32>>::from_columns(&mut column.into_iter(), 2), Ok(vec![None, Some(6)]));
    }

    #[test]
    fn options_that_no_memory_holds_are_an_error() {
        assert!(<Option<bool>>::from_columns(&mut std::iter::empty(), isize::MAX as usize).is_err());
    }

    struct Nothing;
    impl Environment for Nothing {
        fn variable(&self, _: Variable) -> Option<Constant> {
            None
        }
        fn load(&self, _: u64, _: i64) -> Option<Constant> {
            None
        }
    }

    fn outcome<A: Elt, L: Lift>(
        f: impl FnOnce(A::Exp) -> L,
        argument: A,
    ) -> Result<Vec<Constant>, CheckFailure> {
        let f = function(&A::types(), |terms| f(A::Exp::from_terms(&mut terms.iter().copied())).terms());
        assert_eq!(f.mistake(), None);
        Evaluator::new(&f).unwrap().evaluate(&Nothing, &constants(argument))
    }

    /// Evaluates a function on elements for an argument.
    pub(crate) fn evaluate<A: Elt, L: Lift>(f: impl FnOnce(A::Exp) -> L, argument: A) -> Vec<Constant> {
        outcome(f, argument).unwrap()
    }

    /// Returns the failure of a function on elements: its kind and line, with its index and bound.
    pub(crate) fn failure<A: Elt, L: Lift>(
        f: impl FnOnce(A::Exp) -> L,
        argument: A,
    ) -> Option<(FailureKind, u32, i64, i64)> {
        let found = outcome(f, argument).err()?;
        Some((found.site.kind, found.site.place.line(), found.index, found.bound))
    }

    pub(crate) fn constants(value: impl Elt) -> Vec<Constant> {
        let mut constants = Vec::new();
        value.add_constants(&mut constants);
        constants
    }

    #[test]
    fn functions_are_applied_to_present_values_only() {
        type Whole = Option<i32>;
        for value in [Some(4), Some(-3), None] {
            let mapped = evaluate(|x: OptionExp<Exp<i32>>| x.map(|x| 100 / x), value);
            assert_eq!(mapped, constants(value.map(|x| 100 / x)));
            let chained =
                |x: OptionExp<Exp<i32>>| x.and_then(|x| OptionExp::present_if((12 / x).gt(0), x + 1));
            assert_eq!(
                evaluate::<Whole, _>(chained, value),
                constants(value.and_then(|x| (12 / x > 0).then_some(x + 1)))
            );
            let filtered = evaluate(|x: OptionExp<Exp<i32>>| x.filter(|x| (12 / x).gt(0)), value);
            assert_eq!(filtered, constants(value.filter(|x| 12 / x > 0)));
            let tested = evaluate(|x: OptionExp<Exp<i32>>| x.is_some_and(|x| (12 / x).gt(0)), value);
            assert_eq!(tested, constants(value.is_some_and(|x| 12 / x > 0)));
            let other = evaluate(|x: OptionExp<Exp<i32>>| x.unwrap_or(7), value);
            assert_eq!(other, constants(value.unwrap_or(7)));
            let lazy = evaluate(|x: OptionExp<Exp<i32>>| x.unwrap_or_else(|| Exp::from(8)), value);
            assert_eq!(lazy, constants(value.unwrap_or(8)));
            let tested = evaluate(|x: OptionExp<Exp<i32>>| x.is_none_or(|x| (12 / x).gt(0)), value);
            assert_eq!(tested, constants(value.is_none_or(|x| 12 / x > 0)));
            let mapped = evaluate(|x: OptionExp<Exp<i32>>| x.map_or(7, |x| 100 / x), value);
            assert_eq!(mapped, constants(value.map_or(7, |x| 100 / x)));
            let lazy = evaluate(|x: OptionExp<Exp<i32>>| x.map_or_else(|| Exp::from(8), |x| 100 / x), value);
            assert_eq!(lazy, constants(value.map_or(8, |x| 100 / x)));
            let result = evaluate(|x: OptionExp<Exp<i32>>| x.ok_or(Exp::from('c')), value);
            assert_eq!(result, constants(value.ok_or('c')));
            let other = evaluate(|x: OptionExp<Exp<i32>>| x.or_else(|| some(Exp::from(8))), value);
            assert_eq!(other, constants(value.or(Some(8))));
            let default = evaluate(|x: OptionExp<Exp<i32>>| x.unwrap_or_default(), value);
            assert_eq!(default, constants(value.unwrap_or_default()));
            let flags = evaluate(|x: OptionExp<Exp<i32>>| (x.is_some(), x.is_none()), value);
            assert_eq!(flags, constants((value.is_some(), value.is_none())));
        }
    }

    #[test]
    fn two_options_are_combined_as_rust_does() {
        type Two = (Option<i32>, Option<f32>);
        for value in [(Some(1), Some(2.0)), (None, Some(2.0)), (Some(1), None), (None, None)] {
            let zipped = evaluate::<Two, _>(|(a, b)| a.zip(b), value);
            assert_eq!(zipped, constants(value.0.zip(value.1)));
        }
        for value in [(Some(1), Some(2)), (None, Some(0)), (Some(1), None), (None, None), (Some(3), Some(3))]
        {
            let (or, equal) = (value.0.or(value.1), value.0 == value.1);
            let (and, xor) = (value.0.and(value.1), value.0.xor(value.1));
            assert_eq!(evaluate::<(Option<i32>, Option<i32>), _>(|(a, b)| a.and(b), value), constants(and));
            assert_eq!(evaluate::<(Option<i32>, Option<i32>), _>(|(a, b)| a.xor(b), value), constants(xor));
            assert_eq!(evaluate::<(Option<i32>, Option<i32>), _>(|(a, b)| a.or(b), value), constants(or));
            assert_eq!(evaluate::<(Option<i32>, Option<i32>), _>(|(a, b)| a.eq(b), value), constants(equal));
        }
    }

    #[test]
    fn what_is_known_to_be_present_needs_no_branch() {
        let f = function(&[ScalarType::I32], |terms| {
            some(Exp::<i32>::from_term(terms[0])).map(|x| x + 1).unwrap_or_else(|| Exp::from(0)).terms()
        });
        assert!(!f.nodes().iter().any(|node| matches!(node, Node::Branch { .. })), "{f}");
        let nothing: OptionExp<Exp<i32>> = none();
        assert_eq!(nothing.map(|x| x + 1).value.term().integer(), Some(0));
    }
}
