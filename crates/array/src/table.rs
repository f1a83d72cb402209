//! Vectors by key, for joins: in the order of their keys, with a directory that says about where each key is.
//!
//! The ranks of the first scalar of keys, from the smallest to the largest, are cut into buckets of equal width, a power of two, at
//! most as many as there are elements. So a search begins with few elements where keys are spread evenly, and is a binary search
//! where they are not.

use crate::described::Described;
use crate::sorting::{Falls, in_order};
use crate::untyped::{length, sorted, with_index, zipped};
use pumice_scalar::{Constant, Exp, Op, Place, ScalarType, Term, cond, while_};
use std::sync::Arc;

/// A vector by key.
pub struct Table {
    /// Keys, and behind each its element, in the order of keys.
    sorted: Arc<Described>,
    /// Number of scalars of a key.
    keys: usize,
    /// For each bucket the number of elements in the buckets before it. There are more numbers than buckets.
    directory: Arc<Described>,
}

impl Table {
    /// Sorts a vector by a key of these types.
    pub fn new(
        vector: &Arc<Described>,
        key: impl Fn(&[Term]) -> Vec<Term>,
        key_types: Vec<ScalarType>,
        place: Place,
    ) -> Table {
        let keys = key_types.len();
        let keyed = |terms: &[Term]| {
            let key = key(terms).into_iter().map(without_sign_of_zero);
            key.chain(terms.iter().copied()).collect()
        };
        let types = [&key_types[..], vector.types()].concat();
        let keyed = zipped(&[vector], keyed, types, place);
        let rising = |terms: &[Term]| terms.iter().take(keys).map(|term| (*term, Falls(false))).collect();
        let sorted = sorted(&keyed, rising, place);
        let table = Table { directory: sorted.clone(), sorted, keys };
        let bucket = |terms: &[Term]| {
            let number = Exp::<i64>::from_term(terms[0]);
            let ranks = table.ranks();
            let before = |key: &[Term]| ranks.bucket(first_rank(key)).lt(number);
            vec![table.found((Exp::from(0), table.size()), before).term()]
        };
        let directory = with_index(&table.sorted, bucket, vec![ScalarType::I64], place);
        Table { directory, ..table }
    }

    /// Returns the range of the elements with a key: the first of them, and the one behind the last. NaN equals nothing.
    pub fn range(&self, key: &[Term]) -> (Exp<i64>, Exp<i64>) {
        let key: Vec<Term> = key.iter().copied().map(without_sign_of_zero).collect();
        let (keys, rank, size) = (ranks(&key), first_rank(&key), self.size());
        let is_number =
            key.iter().fold(Exp::from(true), |all, term| all & Exp::from_term(term.compare(Op::Eq, *term)));
        let order = |other: &[Term], equal: bool| before(&ranks(other), &keys, equal);
        let none = (Exp::from(0), Exp::from(0));
        let search = || {
            let ranks = self.ranks();
            let search = || {
                let bucket = ranks.bucket(rank);
                let next = (bucket + 1).min(size - 1);
                let [start, end] = [bucket, next].map(|bucket| {
                    let found = self.directory.element(&[bucket.term()], None);
                    found.first().map_or(Exp::from(0), |number| Exp::from_term(*number))
                });
                let end = next.gt(bucket).select(end, size);
                let first = self.found((start, end), |other| order(other, false));
                (first, self.found((first, end), |other| order(other, true)))
            };
            cond(ranks.lowest.le(rank) & rank.le(ranks.highest), search, || none)
        };
        cond(is_number & size.gt(0), search, || none)
    }

    /// An element, in the order of keys.
    pub fn element(&self, number: Term) -> Vec<Term> {
        self.sorted.element(&[number], None).into_iter().skip(self.keys).collect()
    }

    fn size(&self) -> Exp<i64> {
        Exp::from_term(length(&self.sorted))
    }

    /// The key with a number.
    fn key(&self, number: Exp<i64>) -> Vec<Term> {
        self.sorted.element(&[number.term()], None).into_iter().take(self.keys).collect()
    }

    /// Counts the keys that come before something by binary search between these limits.
    fn found(&self, limits: (Exp<i64>, Exp<i64>), before: impl FnOnce(&[Term]) -> Exp<bool>) -> Exp<i64> {
        let halve = |(low, high): (Exp<i64>, Exp<i64>)| {
            let middle = (low + high) >> 1;
            let is_before = before(&self.key(middle));
            (is_before.select(middle + 1, low), is_before.select(high, middle))
        };
        while_(limits, |(low, high)| low.lt(high), halve).0
    }

    /// The ranks of the keys, of a table that has elements.
    fn ranks(&self) -> Ranks {
        let size = self.size();
        let rank = |number: Exp<i64>| first_rank(&self.key(number));
        let (lowest, highest) = (rank(Exp::from(0)), rank(size - 1));
        // The bits that the largest difference has, and those that every number below a power of two has, which is not larger than
        // the size.
        let bits = Exp::<i64>::from(64) - (highest - lowest).leading_zeros().cast::<i64>();
        let kept = Exp::<i64>::from(63) - size.leading_zeros().cast::<i64>();
        Ranks { lowest, highest, shift: (bits - kept).max(0).min(63).cast::<u64>() }
    }
}

/// The ranks of the keys of a table that has elements, and how they are cut into buckets.
struct Ranks {
    lowest: Exp<u64>,
    highest: Exp<u64>,
    /// The bits of a difference of ranks that do not matter for the bucket.
    shift: Exp<u64>,
}

impl Ranks {
    /// The bucket of a rank that is not outside: below the size of the table.
    fn bucket(&self, rank: Exp<u64>) -> Exp<i64> {
        ((rank - self.lowest) >> self.shift).cast::<i64>()
    }
}

/// The scalars of a key as unsigned integers that keep its order.
fn ranks(key: &[Term]) -> Vec<Term> {
    key.iter().map(|term| in_order(*term, Falls(false))).collect()
}

/// The rank of the first scalar of a key; of a key without any, always the same.
fn first_rank(key: &[Term]) -> Exp<u64> {
    ranks(key).first().map_or(Exp::from(0), |rank| Exp::from_term(rank.cast(ScalarType::U64)))
}

/// A scalar of a key, in which -0.0 is 0.0, as for `==`.
fn without_sign_of_zero(term: Term) -> Term {
    match term.ty() {
        float if float.is_float() => term.binary(Op::Add, Constant::zero(term.ty()).into()),
        _ => term,
    }
}

/// Whether keys come before others, or are the same if that will do too.
fn before(keys: &[Term], others: &[Term], or_equal: bool) -> Exp<bool> {
    let pairs = keys.iter().zip(others).rev();
    pairs.fold(Exp::from(or_equal), |rest, (a, b)| {
        let less = Exp::<bool>::from_term(a.compare(Op::Lt, *b));
        less | (Exp::from_term(a.compare(Op::Eq, *b)) & rest)
    })
}
