//! Operations whose elements' types are data: the common part of methods of [`crate::Acc`], comprehensions in Rust and the `.pum`
//! language. Elements are their scalars, in order; functions are closures over them.

use crate::acc::Acc;
use crate::data::Vector;
use crate::described::{Described, building};
use crate::expanding::{checked, is_fixed};
use crate::operations::{
    Concat, Expand, ExpandReduce, Filter, Generate, Order, Reshape, Sort, View, ZipWith,
};
use crate::program::read;
pub use crate::row_sorts::{sorted_in_rows, sorted_rows};
use crate::sorting::{Falls, in_order};
use pumice_scalar::{Constant, Exp, Function, Op, Place, ScalarType, Term, function};
use std::sync::Arc;

/// A key that costs more instructions than this is computed once and moved with its element.
const CHEAP_KEY: u32 = 12;
/// Elements of more bytes are read where they are once they are in order; passes of sorts move their keys.
const LARGE_ELEMENT: usize = 64;

/// A function from scalars of these types.
pub(crate) fn of(types: &[ScalarType], f: impl FnOnce(&[Term]) -> Vec<Term>) -> Function {
    building(|| function(types, f))
}

pub(crate) fn whole(number: i64) -> Term {
    Constant::from(number).into()
}

/// The length of a vector: a constant if it is known.
pub fn length(vector: &Arc<Described>) -> Term {
    let known = vector.known_extents().and_then(|extents| extents.first().copied());
    known.map_or_else(|| vector.extent(0), whole)
}

/// A vector of so many elements, each a function of its index.
pub fn generated(
    length: Term,
    element: impl FnOnce(Term) -> Vec<Term>,
    types: Vec<ScalarType>,
    place: Place,
) -> Arc<Described> {
    let shape = of(&[], |_| vec![length]);
    let element = of(&[ScalarType::I64], |index| element(index.first().copied().unwrap_or(whole(0))));
    Described::new(Generate { shape, element }, Vec::new(), 1, types, place)
}

/// A function of the elements of arrays of the same shape, at each index.
pub fn zipped(
    arrays: &[&Arc<Described>],
    f: impl FnOnce(&[Term]) -> Vec<Term>,
    types: Vec<ScalarType>,
    place: Place,
) -> Arc<Described> {
    let parameters: Vec<ScalarType> = arrays.iter().flat_map(|array| array.types().to_vec()).collect();
    let rank = arrays.first().map_or(1, |array| array.rank());
    let inputs = arrays.iter().map(|array| (*array).clone()).collect();
    Described::new(ZipWith { function: of(&parameters, f) }, inputs, rank, types, place)
}

/// A function of each element of a vector and its index, which stands before it.
pub fn with_index(
    vector: &Arc<Described>,
    f: impl FnOnce(&[Term]) -> Vec<Term>,
    types: Vec<ScalarType>,
    place: Place,
) -> Arc<Described> {
    let indices = generated(length(vector), |index| vec![index], vec![ScalarType::I64], place);
    zipped(&[&indices, vector], f, types, place)
}

/// Some of the scalars of each element, by their numbers.
pub fn columns(array: &Arc<Described>, which: std::ops::Range<usize>, place: Place) -> Arc<Described> {
    let types = array.types().get(which.clone()).unwrap_or(&[]).to_vec();
    zipped(&[array], |terms| terms.get(which).unwrap_or(&[]).to_vec(), types, place)
}

/// The elements of which a condition holds.
pub fn kept(
    vector: &Arc<Described>,
    keep: impl FnOnce(&[Term]) -> Vec<Term>,
    place: Place,
) -> Arc<Described> {
    let keep = of(vector.types(), keep);
    Described::new(Filter { keep }, vec![vector.clone()], 1, vector.types().to_vec(), place)
}

/// The first elements of a vector, which has at least so many.
pub fn first(vector: &Arc<Described>, count: Term, place: Place) -> Arc<Described> {
    part(vector, whole(0), count, place)
}

/// So many elements of a vector from one on, all of which it has.
pub fn part(vector: &Arc<Described>, start: Term, count: Term, place: Place) -> Arc<Described> {
    let (shape, starts) = (of(&[], |_| vec![count]), of(&[], |_| vec![start]));
    let view = View { shape, starts, steps: vec![vec![1]] };
    Described::new(view, vec![vector.clone()], 1, vector.types().to_vec(), place)
}

/// The elements of each row of the innermost dimension in the order of keys, each with its direction; stably.
pub fn sorted(
    array: &Arc<Described>,
    keys: impl Fn(&[Term]) -> Vec<(Term, Falls)>,
    place: Place,
) -> Arc<Described> {
    let sort = |array: &Arc<Described>, keys: Function| {
        let (rank, types) = (array.rank(), array.types().to_vec());
        Described::new(Sort { order: Order::Keys(keys) }, vec![array.clone()], rank, types, place)
    };
    by_keys(array, keys, sort, place)
}

/// Sorts by keys, each with its direction: by functions of the elements if they cost little, otherwise by what stands before each element, or
/// its index if it is large.
pub(crate) fn by_keys(
    array: &Arc<Described>,
    keys: impl Fn(&[Term]) -> Vec<(Term, Falls)>,
    sort: impl FnOnce(&Arc<Described>, Function) -> Arc<Described>,
    place: Place,
) -> Arc<Described> {
    let types = array.types().to_vec();
    let mut directions = Vec::new();
    let direct = of(&types, |terms| {
        let keys = keys(terms);
        directions = keys.iter().map(|(term, falls)| (term.ty(), *falls)).collect();
        keys.into_iter().map(|(term, falls)| in_order(term, falls)).collect()
    });
    let is_large = array.rank() == 1 && types.iter().map(|ty| ty.bytes()).sum::<usize>() > LARGE_ELEMENT;
    if !is_large && direct.cost() <= CHEAP_KEY && read(&direct).is_empty() {
        return sort(array, direct);
    }
    // Behind the keys stands the element, or where it is if that is less to move.
    let behind = if is_large { vec![ScalarType::I64] } else { types.clone() };
    let with_keys: Vec<ScalarType> = directions.iter().map(|(ty, _)| *ty).chain(behind).collect();
    let moved = of(&with_keys, |terms| {
        terms.iter().zip(&directions).map(|(term, (_, falls))| in_order(*term, *falls)).collect()
    });
    let keys = |terms: &[Term]| keys(terms).into_iter().map(|(term, _)| term).collect::<Vec<_>>();
    if is_large {
        let add = |terms: &[Term]| [keys(&terms[1..]), vec![terms[0]]].concat();
        let sorted = sort(&with_index(array, add, with_keys, place), moved);
        return zipped(&[&sorted], |terms| array.element(&terms[directions.len()..], None), types, place);
    }
    let keyed = zipped(&[array], |terms| [&keys(terms), terms].concat(), with_keys.clone(), place);
    columns(&sort(&keyed, moved), directions.len()..with_keys.len(), place)
}

/// Replaces each element of a vector by `size` others, in order; see [`crate::Acc::expand`]. A size that is the same for all makes a
/// regular nest.
pub fn expanded(
    vector: &Arc<Described>,
    size: impl Fn(&[Term]) -> Term,
    get: impl FnOnce(&[Term], Term) -> Vec<Term>,
    types: Vec<ScalarType>,
    place: Place,
) -> Arc<Described> {
    let fixed = of(vector.types(), |source| vec![size(source)]);
    if is_fixed(&fixed) {
        // As many of each: a matrix, whose rows are one after the other.
        let shape = of(&[], |_| std::iter::once(length(vector)).chain(fixed.apply(&[])).collect());
        let element = of(&[ScalarType::I64; 2], |index| match *index {
            [source, number] => get(&vector.element(&[source], None), number),
            _ => Vec::new(),
        });
        let rows = Described::new(Generate { shape, element }, Vec::new(), 2, types.clone(), place);
        let extent = |dimension: usize| {
            let known = rows.known_extents().and_then(|extents| extents.get(dimension).copied());
            known.map_or_else(|| rows.extent(dimension), whole)
        };
        let flat = Reshape { shape: of(&[], |_| vec![extent(0).binary(Op::Mul, extent(1))]) };
        return Described::new(flat, vec![rows], 1, types, place);
    }
    let size = checked_size(vector, size, place);
    let get = with_number(vector, get);
    Described::new(Expand { size, get, has_ends: false }, vec![vector.clone()], 1, types, place)
}

/// The number of elements that each source is expanded to; an impossible size is a failure at the place.
fn checked_size(vector: &Arc<Described>, size: impl Fn(&[Term]) -> Term, place: Place) -> Function {
    of(vector.types(), |source| vec![checked(Exp::from_term(size(source)), place).term()])
}

/// A function of a source and the number of an element among its own.
fn with_number(vector: &Arc<Described>, get: impl FnOnce(&[Term], Term) -> Vec<Term>) -> Function {
    of(&[vector.types(), &[ScalarType::I64]].concat(), |terms| match terms.split_last() {
        Some((number, source)) => get(source, *number),
        None => Vec::new(),
    })
}

/// A reduction of several elements to one.
#[derive(Clone)]
pub struct Combination {
    /// An associative operator, from two elements.
    pub operator: Function,
    /// The value that is combined with the elements of a source, once and from the left. Without it, elements and results begin with a flag that
    /// says whether they are there.
    pub initial: Option<Function>,
    /// Upper bound of the number of elements of all sources, if they are stretches of an array, one after the other.
    pub most: Option<Function>,
}

/// Reduces the elements that each element of a vector is expanded to: one result per element; see [`crate::Acc::expand_reduce`].
pub fn reduced(
    vector: &Arc<Described>,
    size: impl Fn(&[Term]) -> Term,
    get: impl FnOnce(&[Term], Term) -> Vec<Term>,
    Combination { operator, initial, most }: Combination,
    types: Vec<ScalarType>,
    place: Place,
) -> Arc<Described> {
    let (size, get) = (checked_size(vector, size, place), with_number(vector, get));
    let reduction = ExpandReduce { size, get, operator, initial, most };
    Described::new(reduction, vec![vector.clone()], 1, types, place)
}

/// Sources whose elements are each computed by a loop, and those whose elements' loops are divided among threads: all of them are on one side,
/// and the other one has none. Loops are for sources with elements enough for every thread to have one.
pub fn by_size(
    vector: &Arc<Described>,
    size: impl Fn(&[Term]) -> Term,
    place: Place,
) -> (Arc<Described>, Arc<Described>) {
    let all = Exp::<i64>::from_term(length(vector));
    // Many sources have many elements, whatever their sizes.
    let few = all.lt(MANY_LOOPS);
    let few_sources = few.select(all, Exp::from(0));
    let size = |source: &[Term]| Exp::<i64>::from_term(size(source)).max(0).min(MANY_LOOPS);
    let fixed = of(vector.types(), |source| vec![size(source).term()]);
    let total = match is_fixed(&fixed) {
        true => few_sources * Exp::from_term(fixed.apply(&[]).first().copied().unwrap_or(whole(0))),
        false => {
            let sources = first(vector, few_sources.term(), place);
            let sizes = zipped(&[&sources], |source| vec![size(source).term()], vec![ScalarType::I64], place);
            let sizes = Acc::<Vector<i64>>::from_described(sizes);
            sizes.folded(Some(Exp::from(0)), |a, b| a + b, place).the()
        }
    };
    let divided = (few & total.lt(MANY_LOOPS)).select(all, Exp::from(0));
    (first(vector, (all - divided).term(), place), first(vector, divided.term(), place))
}

/// So many loops are enough for all threads of a large device to have one.
const MANY_LOOPS: i64 = 1 << 16;

/// A vector with another one behind it.
pub fn joined(vector: &Arc<Described>, more: &Arc<Described>, place: Place) -> Arc<Described> {
    let inputs = vec![vector.clone(), more.clone()];
    Described::new(Concat { dimension: 0 }, inputs, 1, vector.types().to_vec(), place)
}

/// For each element of a vector whether a run of equal ones begins with it, its index, and itself.
pub fn starts(vector: &Arc<Described>, place: Place) -> Arc<Described> {
    let before = vector.clone();
    let types = [&[ScalarType::Bool, ScalarType::I64], vector.types()].concat();
    let start = move |terms: &[Term]| {
        let Some((index, element)) = terms.split_first() else { return Vec::new() };
        let previous = before.element(&[(Exp::<i64>::from_term(*index) - 1).max(0).term()], None);
        let pairs = element.iter().zip(previous);
        let same = pairs.fold(Exp::from(true), |all, (a, b)| all & Exp::from_term(a.compare(Op::Eq, b)));
        let begins = Exp::<i64>::from_term(*index).eq(0) | !same;
        [&[begins.term(), *index], element].concat()
    };
    with_index(vector, start, types, place)
}

/// Selects from [`starts`] the elements with which a run begins.
fn first_of_runs(vector: &Arc<Described>, place: Place) -> Arc<Described> {
    kept(&starts(vector, place), |terms| terms.iter().take(1).copied().collect(), place)
}

/// The elements of a vector without those that are equal to the one before them.
pub fn unique(vector: &Arc<Described>, place: Place) -> Arc<Described> {
    columns(&first_of_runs(vector, place), 2..vector.types().len() + 2, place)
}

/// The start, the length and the element of each run of equal elements.
pub fn runs(vector: &Arc<Described>, place: Place) -> Arc<Described> {
    let end = length(vector);
    let starts = columns(&first_of_runs(vector, place), 1..vector.types().len() + 2, place);
    let next = starts.clone();
    let types = [&[ScalarType::I64], starts.types()].concat();
    let run = move |terms: &[Term]| {
        let [number, start, element @ ..] = terms else { return Vec::new() };
        let (number, start) = (Exp::<i64>::from_term(*number), Exp::<i64>::from_term(*start));
        let is_last = (number + 1).ge(Exp::<i64>::from_term(length(&next)));
        let after = next.element(&[(number + 1).term()], None).first().map_or(whole(0), |after| *after);
        let size = is_last.select(Exp::<i64>::from_term(end), Exp::from_term(after)) - start;
        [&[start.term(), size.term()], element].concat()
    };
    with_index(&starts, run, types, place)
}
