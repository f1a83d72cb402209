//! Sorting as users write it: methods of [`Acc`].
//!
//! Elements are in order as Rust's tuples, options and integers are; floats are in the order of `total_cmp`, except that every NaN
//! comes last. A scalar's place in that order is an unsigned integer, so elements are sorted by its digits.

use crate::acc::{Acc, lifted};
use crate::data::Array;
use crate::operations::{Order, Sort};
use crate::selecting::first_by_keys;
use crate::shape::{IntoExtent, Larger, Shape};
use crate::untyped;
use pumice_scalar::{Constant, Elt, Exp, Function, Lift, Op, Place, ScalarType, Term, function};

impl<S: Shape, D: Larger<Smaller = S>, T: Elt> Acc<Array<D, T>> {
    fn sorted(&self, order: Order, place: Place) -> Self {
        Acc::new(Sort { order }, vec![self.described().clone()], place)
    }

    /// The elements of each row of the innermost dimension in rising order. Equal ones stay in the order that they have.
    ///
    /// Tuples are in order by their first component, then by the second, and so on; an absent value comes before any other;
    /// `-0.0` comes before `0.0`, and NaN comes last.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[3, -1, 2]).sort())?.to_vec()?, [-1, 2, 3]);
    /// let pairs = use_(&[(2, 0.5), (1, 9.0), (2, -1.0)]);
    /// assert_eq!(run(pairs.sort())?.to_vec()?, [(1, 9.0), (2, -1.0), (2, 0.5)]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn sort(self) -> Self {
        self.sorted(Order::Keys(keys(T::types().len(), &T::types(), Falls(false))), Place::caller("sort"))
    }

    /// Like [`Acc::sort`], in falling order. Equal elements stay in the order that they have, and NaN comes last.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[3.0, f32::NAN, 5.0]).sort_descending().take(2))?.to_vec()?, [5.0, 3.0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn sort_descending(self) -> Self {
        let place = Place::caller("sort_descending");
        self.sorted(Order::Keys(keys(T::types().len(), &T::types(), Falls(true))), place)
    }

    /// The elements of each row of the innermost dimension, in the order in which [`Acc::sort`] has the values that a function
    /// gives for them. Elements with equal values stay in the order that they have.
    ///
    /// ```
    /// use pumice::*;
    /// let words = use_(&[(30, 'c' as u32), (10, 'a' as u32), (20, 'b' as u32)]);
    /// let letters = words.sort_by_key(|(key, _)| key).map(|(_, letter)| letter);
    /// assert_eq!(run(letters)?.to_vec()?, ['a', 'b', 'c'].map(u32::from));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn sort_by_key<K: Lift>(self, key: impl Fn(T::Exp) -> K) -> Self {
        let place = Place::caller("sort_by_key");
        let rising = |x| {
            let key = key(x);
            (key, vec![Falls(false); K::Elt::types().len()])
        };
        self.sorted_by(rising, place)
    }

    /// Like [`Acc::sort_by_key`], with a direction for each scalar of the key, for a method that is called at a place.
    pub(crate) fn sorted_by<K: Lift>(self, key: impl Fn(T::Exp) -> (K, Vec<Falls>), place: Place) -> Self {
        let keys = |terms: &[Term]| {
            let (key, falls) = key(T::Exp::from_terms(&mut terms.iter().copied()));
            key.terms().into_iter().zip(falls).collect()
        };
        Acc::from_described(untyped::sorted(self.described(), keys, place))
    }

    /// The elements of each row of the innermost dimension, in an order that is given by whether one comes before another.
    /// Elements of which neither comes before the other stay in the order that they have.
    ///
    /// Prefer [`Acc::sort_by_key`] where there is a key: sorting by digits takes fewer passes than merging. If there is no such
    /// order (`a` before `b`, `b` before `c` and `c` before `a`), the elements come out in some order.
    ///
    /// ```
    /// use pumice::*;
    /// // By the last digit, then the larger one first.
    /// let sorted = use_(&[12, 31, 2, 41]).sort_by(|a, b| {
    ///     let (x, y) = (a % 10, b % 10);
    ///     x.lt(y) | (x.eq(y) & a.gt(b))
    /// });
    /// assert_eq!(run(sorted)?.to_vec()?, [41, 31, 12, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn sort_by(self, before: impl FnOnce(T::Exp, T::Exp) -> Exp<bool>) -> Self {
        let before = lifted(|(a, b): (T::Exp, T::Exp)| before(a, b));
        self.sorted(Order::Before(before), Place::caller("sort_by"))
    }

    /// For each row of the innermost dimension the indices of its elements in the order that [`Acc::sort`] gives them.
    ///
    /// ```
    /// use pumice::*;
    /// let order = use_(&[30, 10, 20]).argsort();
    /// assert_eq!(run(order)?.to_vec()?, [1, 2, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn argsort(self) -> Acc<Array<D, i64>> {
        let place = Place::caller("argsort");
        let order = Order::Keys(keys_with_places::<T>(Falls(false)));
        self.with_places(place).sorted(order, place).mapped(|(_, index)| index, place)
    }

    /// The `k` largest elements of each row of the innermost dimension, the largest first, and their indices in the row. Of equal
    /// ones those that stand first are taken, and NaN comes last.
    ///
    /// Of a vector only these elements are sorted; which they are is found by counting. Rows of other arrays are sorted as a
    /// whole.
    ///
    /// ```
    /// use pumice::*;
    /// let (best, places) = use_(&[3, 9 << 40, 4i64, 9 << 40]).top_k(2);
    /// assert_eq!(run(best)?.to_vec()?, [9 << 40, 9 << 40]);
    /// assert_eq!(run(places)?.to_vec()?, [1, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn top_k(self, k: impl IntoExtent) -> (Self, Acc<Array<D, i64>>) {
        let (place, k) = (Place::caller("top_k"), k.into_extent());
        let keys = keys_with_places::<T>(Falls(true));
        let placed = self.with_places(place);
        let best = match D::RANK {
            1 => {
                let vector = Acc::from_described(placed.described().clone());
                Acc::from_described(first_by_keys::<(T, i64)>(&vector, &keys, k, place).described().clone())
            }
            _ => placed.sorted(Order::Keys(keys), place).stretch(Exp::from(0), 1, k, place),
        };
        (best.clone().mapped(|(x, _)| x, place), best.mapped(|(_, index)| index, place))
    }

    /// The elements of each row, each with its index in the row.
    fn with_places(self, place: Place) -> Acc<Array<D, (T, i64)>> {
        let with_place = |index: D::Index, x: T::Exp| {
            let last = index.terms().last().copied();
            (x, last.map_or(Exp::from(0), Exp::<i64>::from_term))
        };
        self.with_index(with_place, place)
    }
}

/// The keys of elements with their places, which do not matter.
fn keys_with_places<T: Elt>(falls: Falls) -> Function {
    keys(T::types().len(), &<(T, i64) as Elt>::types(), falls)
}

/// Whether larger values come first.
#[derive(Clone, Copy, Debug)]
pub struct Falls(pub bool);

/// The keys of elements of these types by their first scalars.
fn keys(count: usize, types: &[ScalarType], falls: Falls) -> Function {
    function(types, |terms| terms.iter().take(count).map(|term| in_order(*term, falls)).collect())
}

/// A number that is larger the later a scalar comes: a key of [`crate::operations::Order::Keys`].
///
/// ```
/// use pumice_array::{Falls, in_order};
/// use pumice_scalar::{Constant, Term};
/// let key = |x: i32| in_order(Term::from(Constant::from(x)), Falls(false)).integer();
/// assert!(key(-1) < key(0) && key(0) < key(7));
/// ```
pub fn in_order(term: Term, Falls(falls): Falls) -> Term {
    let ty = term.ty();
    if ty == ScalarType::Bool {
        return if falls { (!Exp::<bool>::from_term(term)).term() } else { term };
    }
    let unsigned = ty.unsigned();
    let signed = match unsigned {
        ScalarType::U8 => ScalarType::I8,
        ScalarType::U16 => ScalarType::I16,
        ScalarType::U32 => ScalarType::I32,
        _ => ScalarType::I64,
    };
    let last = 8 * ty.bytes() as u32 - 1;
    let number = |bits: u64| Term::from(Constant::from_bits(unsigned, bits));
    let as_bits = |term: Term, ty| Term::apply(Op::Bitcast, ty, &[term]);
    let sign = number(1 << last);
    let key = match ty {
        ty if ty.is_signed() => as_bits(term, unsigned).binary(Op::Xor, sign),
        ty if ty.is_integer() => term,
        // Of negative floats, the larger bits are those of the smaller number.
        _ => {
            let shift = Constant::from_bits(signed, last.into()).into();
            let negative = as_bits(as_bits(term, signed).binary(Op::Shr, shift), unsigned);
            as_bits(term, unsigned).binary(Op::Xor, negative.binary(Op::Or, sign))
        }
    };
    let key = if falls { key.binary(Op::Xor, number(u64::MAX >> (63 - last))) } else { key };
    // NaNs would be at both ends: the rotation puts all of them last.
    match ty.is_float() {
        true => key.binary(Op::Sub, number(!Constant::from_float(ty, f64::NEG_INFINITY).bits())),
        false => key,
    }
}
