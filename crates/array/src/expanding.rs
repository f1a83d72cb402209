//! The methods of [`Acc`] that replace elements by several others, whose number depends on them: nested work, flattened.

use crate::acc::{Acc, lifted, nullary};
use crate::data::Vector;
use crate::untyped::{self, Combination};
use pumice_scalar::{
    Constant, Elt, Exp, FailureKind, Function, IntoExp, Lift, Node, OptionExp, Place, Site, Term, Variable,
};

/// The most elements that one source is expanded to: more take a device minutes, and their numbers' sums would wrap.
const MOST: i64 = 1 << 42;

/// A size that is not negative, and that elements can be counted for; where it is not, that is a failure at the user's place.
pub(crate) fn checked(size: Exp<i64>, place: Place) -> Exp<i64> {
    let check = |holds: Exp<bool>, kind: FailureKind, bound: i64| {
        let holds = holds.term().check(Site { place, kind }, size.term(), Exp::<i64>::from(bound).term());
        Exp::<bool>::from_term(holds)
    };
    let fits =
        check(size.ge(0), FailureKind::NegativeSize, 0) & check(size.le(MOST), FailureKind::TooLong, MOST);
    fits.select(size, Exp::from(0))
}

/// Clamps a stretch to a vector with so many elements: returns its start and length, which is 0 if it ends before it begins. One check
/// covers all elements. Where it fails, at the first missing one, the length is 0. Both are provably within the vector:
/// reading its elements takes no further checks, and indices are as narrow as its length allows.
///
/// ```
/// use pumice_array::stretch_within;
/// use pumice_scalar::{Exp, Place};
/// let (first, size) = stretch_within((1.into(), 3.into()), 5.into(), Place::new("reduceSegments", "prices.pum", 3, 7));
/// assert_eq!((first.term().integer(), size.term().integer()), (Some(1), Some(2)));
/// ```
pub fn stretch_within(stretch: (Exp<i64>, Exp<i64>), length: Exp<i64>, place: Place) -> (Exp<i64>, Exp<i64>) {
    clamped(stretch, length, Exp::from(true), place)
}

/// Clamps a part to a vector as [`stretch_within`] does, and fails too where it ends before it begins.
///
/// ```
/// use pumice_array::part_within;
/// use pumice_scalar::{Exp, Place};
/// let (first, size) = part_within((1.into(), 3.into()), 5.into(), Place::new("slice", "prices.pum", 3, 7));
/// assert_eq!((first.term().integer(), size.term().integer()), (Some(1), Some(2)));
/// ```
pub fn part_within(
    (start, end): (Exp<i64>, Exp<i64>),
    length: Exp<i64>,
    place: Place,
) -> (Exp<i64>, Exp<i64>) {
    let (site, zero) = (Site { place, kind: FailureKind::NegativeSize }, Exp::<i64>::from(0));
    let goes_forward = start.le(end).term().check(site, (end - start).term(), zero.term());
    clamped((start, end), length, Exp::from_term(goes_forward), place)
}

/// Clamps a stretch, whose length is 0 also where a condition does not hold.
fn clamped(
    (start, end): (Exp<i64>, Exp<i64>),
    length: Exp<i64>,
    holds: Exp<bool>,
    place: Place,
) -> (Exp<i64>, Exp<i64>) {
    let is_empty = end.le(start);
    let fits = is_empty | (start.ge(0) & end.le(length));
    let missing = start.lt(0).select(start, start.max(length));
    let site = Site { place, kind: FailureKind::OutOfBounds };
    let fits = Exp::<bool>::from_term(fits.term().check(site, missing.term(), length.term()));
    let size = (holds & fits & !is_empty).select(end - start, Exp::from(0));
    let first = start.max(0).min(length);
    (first, size.max(0).min(length - first))
}

/// The value of an option; where there is none, that is a failure at the user's place.
pub(crate) fn present<L: Lift>(option: OptionExp<L>, place: Place) -> L {
    let (site, zero) = (Site { place, kind: FailureKind::NoElement }, Exp::<i64>::from(0).term());
    let is_present = Exp::from_term(option.is_some().term().check(site, zero, zero));
    let absent = || L::from_terms(&mut L::Elt::types().into_iter().map(|ty| Constant::zero(ty).into()));
    is_present.select(option.unwrap_or_else(absent), absent())
}

/// Whether a function gives the same whatever its parameters, so that it can be an extent.
///
/// ```
/// use pumice_array::is_fixed;
/// use pumice_scalar::{Exp, ScalarType, function};
/// assert!(is_fixed(&function(&[ScalarType::I64], |_| vec![Exp::<i64>::from(3).term()])));
/// assert!(!is_fixed(&function(&[ScalarType::I64], |parameters| parameters.to_vec())));
/// ```
pub fn is_fixed(function: &Function) -> bool {
    function.nodes().iter().all(|node| {
        !matches!(node, Node::Variable(Variable::Parameter(_), _) | Node::Element { .. } | Node::Check { .. })
    })
}

/// An element of its scalars.
fn lift<T: Elt>(terms: &[Term]) -> T::Exp {
    T::Exp::from_terms(&mut terms.iter().copied())
}

/// A size as a function of an element's scalars.
fn sizes<T: Elt>(size: impl Fn(T::Exp) -> Exp<i64>) -> impl Fn(&[Term]) -> Term {
    move |source| size(lift::<T>(source)).term()
}

/// The expression of an element once it is in an array.
type Reduced<L> = <<L as Lift>::Elt as Elt>::Exp;

impl<T: Elt> Acc<Vector<T>> {
    /// Replaces each element by `size` others, in order: `get` gives them, from the element and a number from 0 to below
    /// its size.
    ///
    /// Operations that take the elements in any order (`permute_pairs`, `histogram`, `count`, a fold whose operator commutes) are fused
    /// with the expansion, through maps and filters: then nothing is in memory. Otherwise the host reads how many elements
    /// there are before the rest of the program is planned. A negative size is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// let rows = use_(&[3i64, 0, 2]).expand(|n| n, |n, i| 10 * n + i);
    /// assert_eq!(run(rows)?.to_vec()?, [30, 31, 32, 20, 21]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn expand<L: Lift>(
        self,
        size: impl Fn(T::Exp) -> Exp<i64>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> L,
    ) -> Acc<Vector<L::Elt>> {
        self.expanded(size, get, Place::caller("expand"))
    }

    pub(crate) fn expanded<L: Lift>(
        self,
        size: impl Fn(T::Exp) -> Exp<i64>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> L,
        place: Place,
    ) -> Acc<Vector<L::Elt>> {
        let get = |source: &[Term], number: Term| get(lift::<T>(source), Exp::from_term(number)).terms();
        let (size, types) = (sizes::<T>(size), L::Elt::types());
        Acc::from_described(untyped::expanded(self.described(), size, get, types, place))
    }

    /// Reduces the elements that each element is expanded to, as by [`Acc::expand`], with an associative operator: one result per element.
    /// `initial` stands before the others; where there are none, it is the result.
    ///
    /// ```
    /// use pumice::*;
    /// let sums = use_(&[3i64, 0, 2]).expand_reduce(|n| n, |_, i| i + 1, 0, |a, b| a + b);
    /// assert_eq!(run(sums)?.to_vec()?, [6, 0, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn expand_reduce<L: Lift>(
        self,
        size: impl Fn(T::Exp) -> Exp<i64>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> L,
        initial: impl IntoExp<L::Elt>,
        f: impl FnOnce(Reduced<L>, Reduced<L>) -> Reduced<L>,
    ) -> Acc<Vector<L::Elt>> {
        self.reduced(size, get, initial.into_exp(), f, None, Place::caller("expand_reduce"))
    }

    /// Same as [`Acc::expand_reduce`], by the name that Futhark's library has for it: there, the reduction that keeps empty ones.
    ///
    /// ```
    /// use pumice::*;
    /// let largest = use_(&[3i64, 0]).expand_outer_reduce(|n| n, |_, i| i, -1, |a, b| a.max(b));
    /// assert_eq!(run(largest)?.to_vec()?, [2, -1]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn expand_outer_reduce<L: Lift>(
        self,
        size: impl Fn(T::Exp) -> Exp<i64>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> L,
        initial: impl IntoExp<L::Elt>,
        f: impl FnOnce(Reduced<L>, Reduced<L>) -> Reduced<L>,
    ) -> Acc<Vector<L::Elt>> {
        self.reduced(size, get, initial.into_exp(), f, None, Place::caller("expand_outer_reduce"))
    }

    /// Like [`Acc::expand_reduce`], over the elements that are present: `None` where a source has none.
    ///
    /// ```
    /// use pumice::*;
    /// let odd = |i: Exp<i64>| OptionExp::present_if((i % 2).eq(1), i);
    /// let largest = use_(&[6i64, 1, 2]).expand_reduce_some(|n| n, |_, i| odd(i), |a, b| a.max(b));
    /// assert_eq!(run(largest)?.to_vec()?, [Some(5), None, Some(1)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn expand_reduce_some<L: Lift>(
        self,
        size: impl Fn(T::Exp) -> Exp<i64>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> OptionExp<L>,
        f: impl FnOnce(L, L) -> L,
    ) -> Acc<Vector<Option<L::Elt>>> {
        self.reduced_some(size, get, f, None, Place::caller("expand_reduce_some"))
    }

    pub(crate) fn reduced_some<L: Lift>(
        self,
        size: impl Fn(T::Exp) -> Exp<i64>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> OptionExp<L>,
        f: impl FnOnce(L, L) -> L,
        most: Option<Function>,
        place: Place,
    ) -> Acc<Vector<Option<L::Elt>>> {
        let get = |source, number| get(source, number).terms();
        self.reduced_by(size, get, (None, lifted(|(a, b): (L, L)| f(a, b))), most, place)
    }

    pub(crate) fn reduced<L: Lift>(
        self,
        size: impl Fn(T::Exp) -> Exp<i64>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> L,
        initial: Reduced<L>,
        f: impl FnOnce(Reduced<L>, Reduced<L>) -> Reduced<L>,
        most: Option<Function>,
        place: Place,
    ) -> Acc<Vector<L::Elt>> {
        let get = |source, number| get(source, number).terms();
        let operator = lifted(|(a, b): (Reduced<L>, Reduced<L>)| f(a, b));
        self.reduced_by(size, get, (Some(nullary(|| initial.terms())), operator), most, place)
    }

    fn reduced_by<U: Elt>(
        self,
        size: impl Fn(T::Exp) -> Exp<i64>,
        get: impl FnOnce(T::Exp, Exp<i64>) -> Vec<Term>,
        (initial, operator): (Option<Function>, Function),
        most: Option<Function>,
        place: Place,
    ) -> Acc<Vector<U>> {
        let get = |source: &[Term], number: Term| get(lift::<T>(source), Exp::from_term(number));
        let combination = Combination { operator, initial, most };
        let (source, size) = (self.described(), sizes::<T>(size));
        Acc::from_described(untyped::reduced(source, size, get, combination, U::types(), place))
    }

    /// Replaces each element by the results of `f` for every number of a range: from the first to below the second that
    /// `range` gives for it.
    ///
    /// ```
    /// use pumice::*;
    /// let pairs = use_(&[1i64, 3]).flat_map(|x| (x, 2 * x), |x, y| (x, y));
    /// assert_eq!(run(pairs)?.to_vec()?, [(1, 1), (3, 3), (3, 4), (3, 5)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn flat_map<L: Lift>(
        self,
        range: impl Fn(T::Exp) -> (Exp<i64>, Exp<i64>),
        f: impl FnOnce(T::Exp, Exp<i64>) -> L,
    ) -> Acc<Vector<L::Elt>> {
        let size = |x| {
            let (from, to) = range(x);
            (to - from).max(0)
        };
        self.expanded(size, |x, number| f(x, range(x).0 + number), Place::caller("flat_map"))
    }
}

impl Acc<Vector<i64>> {
    /// The number of each element, as often as the element says.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[2i64, 0, 3]).replicated_iota())?.to_vec()?, [0, 0, 2, 2, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn replicated_iota(self) -> Acc<Vector<i64>> {
        let place = Place::caller("replicated_iota");
        let counted = self.with_index(|number, count| (number, count), place);
        counted.expanded(|(_, count)| count, |(number, _), _| number, place)
    }

    /// For each element the numbers from 0 to below it.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[2i64, 0, 3]).segmented_iota())?.to_vec()?, [0, 1, 0, 1, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn segmented_iota(self) -> Acc<Vector<i64>> {
        self.expanded(|count| count, |_, number| number, Place::caller("segmented_iota"))
    }
}
