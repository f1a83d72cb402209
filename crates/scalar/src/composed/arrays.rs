//! Arrays of a fixed length as elements: `[T; N]`. The expression of one is the array of expressions, so patterns, constant
//! indices, `map` and iterators are Rust's own. Its columns are those of its elements, one after the other.

use super::{add_component, zero};
use crate::arena::Term;
use crate::elt::{Elt, Lift, own_parts};
use crate::exp::{Exp, IntoExp};
use crate::graph::{FailureKind, Site};
use crate::place::Place;
use crate::types::{Constant, ScalarType};
use std::array::from_fn;
use std::borrow::Cow;
use std::collections::TryReserveError;

impl<T: Elt, const N: usize> Elt for [T; N] {
    type Exp = [T::Exp; N];
    own_parts!();

    fn add_types(types: &mut Vec<ScalarType>) {
        for _ in 0..N {
            T::add_types(types);
        }
    }

    fn add_constants(self, constants: &mut Vec<Constant>) {
        for value in self {
            value.add_constants(constants);
        }
    }

    fn add_columns<'a>(values: &'a [Self], columns: &mut Vec<Cow<'a, [u8]>>) {
        for part in 0..N {
            add_component(values, |value| value[part], columns);
        }
    }

    fn from_columns(
        columns: &mut dyn Iterator<Item = &[u8]>,
        count: usize,
    ) -> Result<Vec<Self>, TryReserveError> {
        let mut values = Vec::new();
        values.try_reserve_exact(count)?;
        let parts = (0..N).map(|_| T::from_columns(columns, count)).collect::<Result<Vec<_>, _>>()?;
        let whole = parts.iter().map(Vec::len).fold(count, usize::min);
        values.extend((0..whole).map(|row| from_fn(|part| parts[part][row])));
        Ok(values)
    }
}

impl<L: Lift, const N: usize> Lift for [L; N] {
    type Elt = [L::Elt; N];
    own_parts!();
    fn add_terms(self, terms: &mut Vec<Term>) {
        for value in self {
            value.add_terms(terms);
        }
    }
    fn from_terms(terms: &mut dyn Iterator<Item = Term>) -> Self {
        from_fn(|_| L::from_terms(terms))
    }
}

impl<T: Elt, X: IntoExp<T>, const N: usize> IntoExp<[T; N]> for [X; N] {
    fn into_exp(self) -> [T::Exp; N] {
        self.map(X::into_exp)
    }
}

/// Access to an element array by an index that is computed.
///
/// An array of expressions is indexed by constants as any Rust array. An index that is an expression costs a choice per
/// element, because columns have no addresses inside an element: arrays that are long and indexed belong into memory.
#[doc = example!(use_(&[0i64, 2]).map(|i| [constant(10), constant(20), constant(30)].at(i)) => [10, 30])]
pub trait ElementArray<L> {
    /// Returns the element at an index. One that is out of bounds fails, and gives zero.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let colours = use_(&[[10, 20, 30], [40, 50, 60]]);
    /// let channels = pumice::run(colours.zip_with(use_(&[2i64, 0]), |rgb, channel| rgb.at(channel)))?;
    /// assert_eq!(channels.to_vec()?, [30, 40]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    fn at(self, index: impl Into<Exp<i64>>) -> L;

    /// Returns the array with another element at an index. One that is out of bounds fails, and changes nothing.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let colours = use_(&[[10, 20, 30], [40, 50, 60]]);
    /// let dimmed = pumice::run(colours.zip_with(use_(&[2i64, 0]), |rgb, channel| rgb.with(channel, constant(0))))?;
    /// assert_eq!(dimmed.to_vec()?, [[10, 20, 0], [0, 50, 60]]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    fn with(self, index: impl Into<Exp<i64>>, value: L) -> Self;
}

impl<L: Lift, const N: usize> ElementArray<L> for [L; N] {
    #[track_caller]
    fn at(self, index: impl Into<Exp<i64>>) -> L {
        let index = index.into();
        if let Some(value) = index.term().integer().and_then(|i| self.get(usize::try_from(i).ok()?)) {
            return *value;
        }
        let Some((last, others)) = self.split_last() else {
            let empty = |ty| Term::invalid(ty, "`at` of an array `[T; 0]`, which has no element");
            return L::from_terms(&mut L::Elt::types().into_iter().map(empty));
        };
        let choose = |otherwise, (i, value): (i64, &L)| index.eq(i).select(*value, otherwise);
        let numbered = (0i64..).zip(others).collect::<Vec<_>>();
        let chosen = numbered.into_iter().rev().fold(*last, choose);
        inside(index, N, Place::caller("at")).select(chosen, zero())
    }

    #[track_caller]
    fn with(self, index: impl Into<Exp<i64>>, value: L) -> Self {
        let index = index.into();
        let inside = inside(index, N, Place::caller("with"));
        let numbers: [i64; N] = from_fn(|i| i as i64);
        numbers.map(|i| (inside & index.eq(i)).select(value, self[i as usize]))
    }
}

/// Whether an index is below a length, which fails at a place where it is not.
fn inside(index: Exp<i64>, length: usize, place: Place) -> Exp<bool> {
    let length = Exp::from(i64::try_from(length).unwrap_or(i64::MAX));
    let holds = index.ge(0) & index.lt(length);
    if holds.term().constant().is_some_and(|known| known.is_true()) {
        return holds;
    }
    let site = Site { place, kind: FailureKind::OutOfBounds };
    Exp::from_term(holds.term().check(site, index.term(), length.term()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elt::Primitive;
    use crate::option::tests::{constants, evaluate, failure};

    #[test]
    fn arrays_are_the_columns_of_their_elements_and_come_back() {
        let values = [[(1i32, true), (2, false)], [(3, false), (4, true)], [(5, true), (6, true)]];
        let mut columns = Vec::new();
        Elt::add_columns(&values, &mut columns);
        assert_eq!(columns.len(), 4);
        assert_eq!(i32::from_bytes(&columns[2], 3), Ok(vec![2, 4, 6]));
        let back = <[(i32, bool); 2]>::from_columns(&mut columns.iter().map(|column| &**column), 3);
        assert_eq!(back.as_deref(), Ok(&values[..]));
        assert_eq!(<[f32; 0]>::from_columns(&mut std::iter::empty(), 2), Ok(vec![[], []]));
        assert!(<[f32; 2]>::from_columns(&mut std::iter::empty(), isize::MAX as usize).is_err());
    }

    #[test]
    fn an_index_that_is_computed_finds_its_element() {
        for index in 0..3i64 {
            let value = ([10i32, 20, 30], index);
            let found = evaluate::<([i32; 3], i64), _>(|(xs, i)| xs.at(i), value);
            assert_eq!(found, constants(value.0[index as usize]));
            let mut changed = value.0;
            changed[index as usize] = 7;
            let found = evaluate::<([i32; 3], i64), _>(|(xs, i)| xs.with(i, Exp::from(7)), value);
            assert_eq!(found, constants(changed));
        }
    }

    #[test]
    fn an_index_out_of_bounds_fails_at_its_place() {
        for index in [-1i64, 3, i64::MAX] {
            let line = line!() + 1;
            let site = failure::<([i32; 3], i64), _>(|(xs, i)| xs.at(i), ([1, 2, 3], index));
            assert_eq!(site, Some((FailureKind::OutOfBounds, line, index, 3)));
            let line = line!() + 1;
            let site = failure::<([i32; 3], i64), _>(|(xs, i)| xs.with(i, xs[0]), ([1, 2, 3], index));
            assert_eq!(site, Some((FailureKind::OutOfBounds, line, index, 3)));
        }
        let line = line!() + 1;
        let site = failure::<[i32; 2], _>(|xs| xs.at(2), [1, 2]);
        assert_eq!(site, Some((FailureKind::OutOfBounds, line, 2, 2)));
    }

    #[test]
    fn an_index_that_is_known_costs_nothing() {
        let array = [Exp::from(4i32), Exp::from(5)];
        assert_eq!(array.at(1).term().integer(), Some(5));
    }
}
