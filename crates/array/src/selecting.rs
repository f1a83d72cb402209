//! The elements of a vector that come first in an order, without sorting the others.
//!
//! The keys of the last element that is wanted are found digit by digit, the highest first: elements that have the digits found
//! so far are counted by the next one. Then it is known of each element whether it comes before the last one, or is its equal,
//! and by a scan where those are put that are wanted. Only they are sorted.

use crate::acc::{Acc, lifted, nullary};
use crate::data::{Array, Scalar, Vector};
use crate::operations::{Generate, Gives, Order, Sort};
use crate::shape::{Dim2, Shape};
use pumice_scalar::{Constant, Elt, Exp, Function, Lift, Op, OptionExp, Place, ScalarType, Term, constant};

/// Bits of a digit: a table that counts its values fits a block's memory.
const BITS: u32 = 11;

/// So many elements are counted by one counter at most, of 32 bits.
const COUNTED: i64 = 1 << 31;

/// A selection of the first elements in the order of keys.
struct Selection<'a, T: Elt> {
    elements: &'a Acc<Vector<T>>,
    /// From an element to its keys.
    keys: &'a Function,
    count: Exp<i64>,
    place: Place,
}

/// The highest digits of one of the last element's keys.
struct Found {
    key: usize,
    /// Number of lower bits of the key.
    shift: u32,
    /// The digits, and the number of elements before all that have them and those found before.
    digits: Acc<Scalar<(u64, i64)>>,
}

/// The first `count` elements of a vector in the order of keys. Equal ones stay in the order that they have.
pub(crate) fn first_by_keys<T: Elt>(
    elements: &Acc<Vector<T>>,
    keys: &Function,
    count: Exp<i64>,
    place: Place,
) -> Acc<Vector<T>> {
    let selection = Selection { elements, keys, count, place };
    let mut found = Vec::new();
    for (key, ty) in keys.result_types().iter().enumerate() {
        let mut shift = if *ty == ScalarType::Bool { 1 } else { 8 * ty.bytes() as u32 };
        while shift > 0 {
            let bits = BITS.min(shift);
            let digits = selection.with_digit(&found, key, shift, bits);
            // The digits found of the same key before are part of it.
            found.retain(|found: &Found| found.key != key);
            shift -= bits;
            found.push(Found { key, shift, digits });
        }
    }
    let sort = Sort { order: Order::Keys(keys.clone()) };
    Acc::<Vector<T>>::new(sort, vec![selection.unsorted(&found).described().clone()], place)
}

impl<T: Elt> Selection<'_, T> {
    /// A key of an element from a bit on.
    fn key(&self, keys: &[Term], number: usize, shift: u32) -> Term {
        match keys.get(number).copied() {
            None => Term::invalid(ScalarType::U32, "an element has too few keys"),
            Some(key) if shift == 0 => key,
            Some(key) => key.binary(Op::Shr, Constant::from_bits(key.ty(), shift.into()).into()),
        }
    }

    /// Whether the digits found so far come after those of an element, and whether they are the same.
    fn compare(&self, keys: &[Term], found: &[Found]) -> (Exp<bool>, Exp<bool>) {
        let start = (Exp::from(false), Exp::from(true));
        found.iter().rev().fold(start, |(is_before, is_equal), found| {
            let key = self.key(keys, found.key, found.shift).cast(ScalarType::U64);
            let (last, _) = found.digits.the();
            let key = Exp::<u64>::from_term(key);
            (key.lt(last) | (key.eq(last) & is_before), key.eq(last) & is_equal)
        })
    }

    /// The digits of a key above `shift`, of which all but the last `bits` are known: adds these.
    fn with_digit(&self, found: &[Found], key: usize, shift: u32, bits: u32) -> Acc<Scalar<(u64, i64)>> {
        let (place, values, low) = (self.place, 1i64 << bits, shift - bits);
        // The first bin is for all that come before whatever has the digits found so far.
        let target = |index: Exp<i64>, x: T::Exp| {
            let keys = self.keys.apply(&x.terms());
            let digit = Exp::<i64>::from_term(self.key(&keys, key, low).cast(ScalarType::I64)) & (values - 1);
            let (is_before, is_equal) = self.compare(&keys, found);
            let bin = is_equal.select(digit + 1, Exp::from(0));
            (OptionExp::present_if(is_before | is_equal, (bin, index / COUNTED)), constant(1u32))
        };
        let shape =
            nullary(|| vec![Exp::from(values + 1).term(), (self.elements.size() / COUNTED + 1).term()]);
        let zeros = Generate { shape, element: lifted(|_: <Dim2 as Shape>::Index| constant(0u32)) };
        let zeros = Acc::<Array<Dim2, u32>>::new(zeros, Vec::new(), place);
        let counts = self.elements.clone().combined(|new, old| new + old, zeros, target, place);
        let counts = counts.mapped(|count| count.cast::<i64>(), place);
        let counts: Acc<Vector<i64>> = counts.folded(Some(Exp::from(0)), |a, b| a + b, place);
        let sums: Acc<Vector<i64>> = counts.scanned((Gives::Inclusive, false), None, |a, b| a + b, place);
        // How many sums are too small, and the last of these.
        let small = |sum: Exp<i64>| {
            let is_small = sum.lt(self.count);
            (is_small.select(Exp::from(1i64), Exp::from(0)), is_small.select(sum, Exp::from(0)))
        };
        let none = (Exp::from(0i64), Exp::from(0i64));
        let small: Acc<Scalar<(i64, i64)>> = sums.mapped(small, place).folded(
            Some(none),
            |(a, before), (b, later)| (a + b, before.max(later)),
            place,
        );
        let higher = found.iter().find(|found| found.key == key);
        let next = |(bin, before): (Exp<i64>, Exp<i64>)| {
            let digit = (bin - 1).max(0).cast::<u64>();
            let digits = higher.map_or(digit, |higher| (higher.digits.the().0 << u64::from(bits)) | digit);
            (digits, before)
        };
        small.mapped(next, place)
    }

    /// The elements that are wanted, in the order that they have, but all equals of the last one behind the others.
    fn unsorted(&self, found: &[Found]) -> Acc<Vector<T>> {
        let place = self.place;
        let one_if = |flag: Exp<bool>| flag.select(Exp::from(1i64), Exp::from(0));
        let flags = |x: T::Exp| {
            let (is_before, is_equal) = self.compare(&self.keys.apply(&x.terms()), found);
            (one_if(is_before), one_if(is_equal))
        };
        let none = (Exp::from(0i64), Exp::from(0i64));
        let seen: Acc<Vector<(i64, i64)>> = self.elements.clone().mapped(flags, place).scanned(
            (Gives::Exclusive, false),
            Some(none),
            |(a, b), (c, d)| (a + c, b + d),
            place,
        );
        let pairs = seen.zipped(self.elements, |seen, x| (seen, x), place);
        // As many as are wanted, if there are so many.
        let zeros = self.elements.clone().stretch(Exp::from(0), 1, self.count, place);
        let zero = |_| T::Exp::from_terms(&mut T::types().iter().map(|ty| Constant::zero(*ty).into()));
        let zeros = zeros.mapped(zero, place);
        let target = |_, ((before, equal), x): ((Exp<i64>, Exp<i64>), T::Exp)| {
            let (is_before, is_equal) = self.compare(&self.keys.apply(&x.terms()), found);
            let equal = found.last().map_or(equal, |found| found.digits.the().1 + equal);
            let there = is_before.select(before, equal);
            (OptionExp::present_if(is_before | (is_equal & there.lt(self.count)), there), x)
        };
        pairs.combined(|new, _| new, zeros, target, place)
    }
}
