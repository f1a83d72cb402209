//! Values or errors: `Result<T, E>` as an element, and the expression of one.
//!
//! In memory a `Result` is a column of flags, the columns of its value and those of its error. Columns of the side that is
//! not there are zero, on the host and in programs alike, so equal results have equal columns.

use super::{either, equal, zero};
use crate::arena::Term;
use crate::elt::{Elt, Lift, own_parts};
use crate::exp::{Exp, IntoExp, constant};
use crate::option::OptionExp;
use crate::types::{Constant, ScalarType};
use std::borrow::Cow;
use std::collections::TryReserveError;

/// An expression of type `Result<T, E>`: a flag, a value and an error.
///
/// [`ok`] and [`err`] make one. Functions on the value or the error are evaluated only where there is one.
///
/// ```
/// use pumice::prelude::*;
/// use pumice::ResultExp;
/// /// The quotient, or the dividend of what cannot be divided.
/// fn divide(x: Exp<i32>, y: Exp<i32>) -> ResultExp<Exp<i32>, Exp<i32>> {
///     cond(y.ne(0), || ok(x / y), || err(x))
/// }
/// let quotients = use_(&[7, 8]).zip_with(use_(&[2, 0]), divide);
/// assert_eq!(pumice::run(quotients)?.to_vec()?, [Ok(3), Err(8)]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ResultExp<L, M> {
    succeeded: Exp<bool>,
    value: L,
    error: M,
}

/// Returns the result that is a value.
///
/// ```
/// use pumice::prelude::*;
/// let results = pumice::run(use_(&[1, 2]).map(|x| cond(x.gt(1), || ok(x), || err(constant(0.5f32)))))?;
/// assert_eq!(results.to_vec()?, [Err(0.5), Ok(2)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn ok<L: Lift, M: Lift>(value: L) -> ResultExp<L, M> {
    ResultExp { succeeded: Exp::from(true), value, error: zero() }
}

/// Returns the result that is an error.
///
/// ```
/// use pumice::{Exp, ResultExp, cond, err, ok};
/// fn root(x: Exp<f32>) -> ResultExp<Exp<f32>, Exp<f32>> {
///     cond(x.ge(0.0), || ok(x.sqrt()), || err(x))
/// }
/// ```
pub fn err<L: Lift, M: Lift>(error: M) -> ResultExp<L, M> {
    ResultExp { succeeded: Exp::from(false), value: zero(), error }
}

impl<L: Lift, M: Lift> ResultExp<L, M> {
    /// Whether this is a value.
    #[doc = example!(use_(&[Ok(3), Err(true)]).map(|x| x.is_ok()) => [true, false])]
    pub fn is_ok(self) -> Exp<bool> {
        self.succeeded
    }

    /// Whether this is an error.
    #[doc = example!(use_(&[Ok(3), Err(true)]).map(|x| x.is_err()) => [false, true])]
    pub fn is_err(self) -> Exp<bool> {
        !self.succeeded
    }

    /// Applies a function to the value, where there is one.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let results = use_(&[Ok(3), Err(true)]);
    /// assert_eq!(pumice::run(results.map(|x| x.map(|x| x * 2)))?.to_vec()?, [Ok(6), Err(true)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn map<N: Lift>(self, f: impl FnOnce(L) -> N) -> ResultExp<N, M> {
        let value = either(self.succeeded, || f(self.value), zero);
        ResultExp { succeeded: self.succeeded, value, error: self.error }
    }

    /// Applies a function to the error, where there is one.
    #[doc = example!(use_(&[Ok(3), Err(true)]).map(|x| x.map_err(|flag| !flag)) => [Ok(3), Err(false)])]
    pub fn map_err<N: Lift>(self, f: impl FnOnce(M) -> N) -> ResultExp<L, N> {
        let error = either(self.succeeded, zero, || f(self.error));
        ResultExp { succeeded: self.succeeded, value: self.value, error }
    }

    /// Applies a function that may fail to the value, where there is one.
    #[doc = example!(use_(&[Ok(3), Err(true)]).map(|x| x.and_then(|x| cond(x.gt(3), || ok(x), || err(constant(false))))) => [Err(false), Err(true)])]
    pub fn and_then<N: Lift>(self, f: impl FnOnce(L) -> ResultExp<N, M>) -> ResultExp<N, M> {
        either(self.succeeded, || f(self.value), || err(self.error))
    }

    /// Returns the value, where there is one.
    #[doc = example!(use_(&[Ok(3), Err(true)]).map(|x| x.ok()) => [Some(3), None])]
    pub fn ok(self) -> OptionExp<L> {
        OptionExp::known(self.succeeded, self.value)
    }

    /// Returns the error, where there is one.
    #[doc = example!(use_(&[Ok(3), Err(true)]).map(|x| x.err()) => [None, Some(true)])]
    pub fn err(self) -> OptionExp<M> {
        OptionExp::known(!self.succeeded, self.error)
    }

    /// Returns the value, or another one where there is an error.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let results = use_(&[Ok(3), Err(true)]);
    /// assert_eq!(pumice::run(results.map(|x| x.unwrap_or(7)))?.to_vec()?, [3, 7]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn unwrap_or(self, default: impl IntoExp<L::Elt>) -> L {
        self.succeeded.select(self.value, default.into_exp())
    }

    /// Returns the value, or the result of a function of the error; only one of them is computed.
    #[doc = example!(use_(&[Ok(3), Err(true)]).map(|x| x.unwrap_or_else(|flag| flag.cast())) => [3, 1])]
    pub fn unwrap_or_else(self, default: impl FnOnce(M) -> L) -> L {
        either(self.succeeded, || self.value, || default(self.error))
    }

    /// Returns the result of one function of the value, or of the other of the error.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let results = use_(&[Ok(3), Err(0.5f32)]);
    /// let numbers = results.map(|x| x.match_(|value| value.cast::<f32>(), |error| -error));
    /// assert_eq!(pumice::run(numbers)?.to_vec()?, [3.0, -0.5]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn match_<R: Lift>(self, ok: impl FnOnce(L) -> R, err: impl FnOnce(M) -> R) -> R {
        either(self.succeeded, || ok(self.value), || err(self.error))
    }

    /// Whether both are equal values, or both equal errors.
    #[doc = example!(use_(&[Ok(3), Err(true)]).map(|x| x.eq(Ok(3))) => [true, false])]
    #[allow(clippy::should_implement_trait)]
    pub fn eq(self, other: impl IntoExp<Result<L::Elt, M::Elt>>) -> Exp<bool> {
        equal(self, other)
    }

    /// Whether the two differ.
    #[doc = example!(use_(&[Ok(3), Err(true)]).map(|x| x.ne(Ok(3))) => [false, true])]
    #[allow(clippy::should_implement_trait)]
    pub fn ne(self, other: impl IntoExp<Result<L::Elt, M::Elt>>) -> Exp<bool> {
        !equal(self, other)
    }

    /// The value, zero where there is none: for code that has looked.
    #[doc(hidden)]
    pub fn unpack_ok(self) -> (L,) {
        (self.value,)
    }

    /// The error, zero where there is none: for code that has looked.
    #[doc(hidden)]
    pub fn unpack_err(self) -> (M,) {
        (self.error,)
    }
}

impl<L: Lift, M: Lift> Lift for ResultExp<L, M> {
    type Elt = Result<L::Elt, M::Elt>;
    own_parts!();
    fn add_terms(self, terms: &mut Vec<Term>) {
        self.succeeded.add_terms(terms);
        self.value.add_terms(terms);
        self.error.add_terms(terms);
    }
    fn from_terms(terms: &mut dyn Iterator<Item = Term>) -> Self {
        ResultExp {
            succeeded: Exp::from_terms(terms),
            value: L::from_terms(terms),
            error: M::from_terms(terms),
        }
    }
}

impl<L: Lift, M: Lift> IntoExp<Result<L::Elt, M::Elt>> for ResultExp<L, M> {
    fn into_exp(self) -> ResultExp<L, M> {
        self
    }
}

impl<T: Elt, E: Elt> IntoExp<Result<T, E>> for Result<T, E> {
    fn into_exp(self) -> ResultExp<T::Exp, E::Exp> {
        constant(self)
    }
}

impl<T: Elt, E: Elt> Elt for Result<T, E> {
    type Exp = ResultExp<T::Exp, E::Exp>;
    own_parts!();

    fn add_types(types: &mut Vec<ScalarType>) {
        <Option<T>>::add_types(types);
        E::add_types(types);
    }

    fn add_constants(self, constants: &mut Vec<Constant>) {
        self.ok().add_constants(constants);
        match self {
            Ok(_) => constants.extend(E::types().into_iter().map(Constant::zero)),
            Err(error) => error.add_constants(constants),
        }
    }

    fn add_columns<'a>(values: &'a [Self], columns: &mut Vec<Cow<'a, [u8]>>) {
        // As two options; the flags of the second are left out, because those of the first tell as much.
        super::add_component(values, |value| value.ok(), columns);
        let flags = columns.len();
        super::add_component(values, |value| value.err(), columns);
        columns.remove(flags);
    }

    fn from_columns(
        columns: &mut dyn Iterator<Item = &[u8]>,
        count: usize,
    ) -> Result<Vec<Self>, TryReserveError> {
        let mut results = Vec::new();
        results.try_reserve_exact(count)?;
        let values = <Option<T>>::from_columns(columns, count)?;
        let errors = E::from_columns(columns, count)?;
        results.extend(values.into_iter().zip(errors).map(|(value, error)| value.ok_or(error)));
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::cond;
    use crate::elt::Primitive;
    use crate::option::tests::{constants, evaluate};

    type Sample = Result<i32, (bool, f32)>;
    type SampleExp = <Sample as Elt>::Exp;
    const SAMPLES: [Sample; 3] = [Ok(4), Err((true, 0.5)), Ok(-3)];

    #[test]
    fn results_are_flags_values_and_errors_and_come_back() {
        let mut columns = Vec::new();
        Sample::add_columns(&SAMPLES, &mut columns);
        assert_eq!(Sample::types(), [ScalarType::Bool, ScalarType::I32, ScalarType::Bool, ScalarType::F32]);
        assert_eq!(columns.len(), 4);
        assert_eq!(&*columns[0], [1, 0, 1]);
        assert_eq!(i32::from_bytes(&columns[1], 3), Ok(vec![4, 0, -3]));
        assert_eq!(&*columns[2], [0, 1, 0]);
        assert_eq!(f32::from_bytes(&columns[3], 3), Ok(vec![0.0, 0.5, 0.0]));
        let back = Sample::from_columns(&mut columns.iter().map(|column| &**column), 3);
        assert_eq!(back.as_deref(), Ok(&SAMPLES[..]));
        assert!(Sample::from_columns(&mut std::iter::empty(), isize::MAX as usize).is_err());
    }

    #[test]
    fn functions_are_applied_to_what_is_there_as_rust_does() {
        for value in SAMPLES {
            let mapped = evaluate(|x: SampleExp| x.map(|x| 100 / x), value);
            assert_eq!(mapped, constants(value.map(|x| 100 / x)));
            let renamed = evaluate(|x: SampleExp| x.map_err(|(flag, _)| flag), value);
            assert_eq!(renamed, constants(value.map_err(|(flag, _)| flag)));
            let chained = |x: SampleExp| {
                x.and_then(|x| cond(x.gt(0), || ok(x + 1), || err((Exp::from(false), Exp::from(2f32)))))
            };
            let plain = value.and_then(|x| if x > 0 { Ok(x + 1) } else { Err((false, 2f32)) });
            assert_eq!(evaluate(chained, value), constants(plain));
            let sides = evaluate(|x: SampleExp| (x.ok(), x.err(), x.is_ok(), x.is_err()), value);
            assert_eq!(sides, constants((value.ok(), value.err(), value.is_ok(), value.is_err())));
            let other = evaluate(|x: SampleExp| (x.unwrap_or(7), x.unwrap_or_else(|(_, e)| e.cast())), value);
            assert_eq!(other, constants((value.unwrap_or(7), value.unwrap_or_else(|(_, e)| e as i32))));
            let same = evaluate(|x: SampleExp| (x.eq(Ok(4)), x.ne(x.map_err(|e| e))), value);
            assert_eq!(same, constants((value == Ok(4), false)));
        }
    }
}
