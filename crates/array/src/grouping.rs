//! Groups of elements by number: where keys are whole numbers of a small range, each is the number of a cell of a table, and elements are
//! combined there as `permute` does it. Nothing is sorted then, and elements stay where they are, so that what makes them is fused.
//!
//! Which range keys have is found by a fold before. Where it is too large, the table has no cells, and all elements are left to who
//! sorts them. Only operators that give the same bits in any order are for this: others would change from run to run.

use crate::described::Described;
use crate::operation::Nature;
use crate::operations::{Fold, Permute};
use crate::untyped::{first, generated, kept, of, whole, with_index, zipped};
use pumice_kernel::skeletons::is_exact_in_any_order;
use pumice_scalar::{Constant, Exp, Function, Op, Place, ScalarType, Term};
use std::sync::Arc;

/// So many cells are little work, however few elements there are.
const FEW_CELLS: i64 = 1 << 12;
/// More cells are not tried: a table of them would take as long as sorting does.
const MOST_CELLS: i64 = 1 << 16;

/// A function of an element's scalars, and the types of its results.
pub(crate) type Of<'a> = (&'a dyn Fn(&[Term]) -> Vec<Term>, Vec<ScalarType>);

/// The groups of a vector's elements by their keys, in rising order: a key and the combined values of each. The second vector has all
/// elements if their keys are too far apart, and none otherwise. `None` for keys and operators that are not for this.
pub(crate) fn by_number(
    vector: &Arc<Described>,
    (key, keys): Of<'_>,
    (value, values): Of<'_>,
    combine: &Function,
    place: Place,
) -> Option<(Arc<Described>, Arc<Described>)> {
    if keys.is_empty() || keys.iter().any(|ty| ty.is_float()) || !is_exact_in_any_order(combine) {
        return None;
    }
    let neutral = combine.neutral()?;
    let numbering = numbering(vector, (key, keys.clone()), place);
    let number = |which: usize| {
        let found = numbering.element(&[], None).get(which).copied();
        Exp::<i64>::from_term(found.unwrap_or(whole(0)))
    };
    let (cells, others) = (number(0), number(1));
    let (low, span) = (|digit: usize| number(2 * digit + 3), |digit: usize| number(2 * digit + 4));

    // Each cell says whether there is an element with its key.
    let types = [&[ScalarType::U32], &values[..]].concat();
    let (absent, present): (Term, Term) = (Constant::from(0u32).into(), Constant::from(1u32).into());
    let nothing = |_| std::iter::once(absent).chain(neutral.into_iter().map(Term::from)).collect();
    let empty = generated(cells.term(), nothing, types.clone(), place);
    // Where there are no cells, nothing is looked at, unless only a look tells which elements there are.
    let elements = match is_loose(vector) {
        true => vector.clone(),
        false => first(vector, (number(2) - others).term(), place),
    };
    let target = of(&[&[ScalarType::I64], vector.types()].concat(), |terms| {
        let element = terms.get(1..).unwrap_or(&[]);
        let cell = key(element).into_iter().enumerate().fold(Exp::<i64>::from(0), |cell, (digit, key)| {
            cell * span(digit) + (in_order(key) - low(digit))
        });
        [&[cells.gt(0).term(), cell.term(), present], &value(element)[..]].concat()
    });
    let combine = of(&[&types[..], &types].concat(), |terms| match terms.split_at(types.len()) {
        ([new, news @ ..], [old, olds @ ..]) => {
            [vec![new.binary(Op::Max, *old)], combine.apply(&[news, olds].concat())].concat()
        }
        _ => Vec::new(),
    });
    let permute = Permute { rank: 1, combine, target, distinct: false };
    let table = Described::new(permute, vec![empty, elements], 1, types.clone(), place);

    let numbered = with_index(&table, <[Term]>::to_vec, [&[ScalarType::I64], &types[..]].concat(), place);
    let is_present =
        |terms: &[Term]| terms.get(1).map(|there| there.compare(Op::Ne, absent)).into_iter().collect();
    let found = kept(&numbered, is_present, place);
    let group = |terms: &[Term]| {
        let mut rest = Exp::<i64>::from_term(terms.first().copied().unwrap_or(whole(0)));
        let mut key = Vec::new();
        for (digit, ty) in keys.iter().enumerate().rev() {
            key.insert(0, from_order(low(digit) + rest % span(digit), *ty));
            rest /= span(digit);
        }
        [&key, terms.get(2..).unwrap_or(&[])].concat()
    };
    let groups = zipped(&[&found], group, [&keys[..], &values].concat(), place);
    Some((groups, first(vector, others.term(), place)))
}

/// Whether elements are absent from a vector, so that the number of those that are there is not known before.
fn is_loose(vector: &Arc<Described>) -> bool {
    let operation = vector.operation();
    match (operation.nature(), vector.inputs()) {
        (Nature::Loose, _) => true,
        (Nature::Pull, [input]) => is_loose(input),
        _ => operation.hands_on_loose(),
    }
}

/// How keys number cells, as one array without dimensions: the number of cells, the number of elements if there are none, that of all
/// elements, and for each scalar of a key its least value, and how many values it may have.
fn numbering(vector: &Arc<Described>, (key, keys): Of<'_>, place: Place) -> Arc<Described> {
    let (count, int) = (keys.len(), ScalarType::I64);
    let types = vec![int; 1 + 2 * count];
    let each = |element: &[Term]| {
        let key: Vec<Term> = key(element).into_iter().map(|key| in_order(key).term()).collect();
        [&[whole(1)], &key[..], &key].concat()
    };
    let extremes = zipped(&[vector], each, types.clone(), place);
    let op = |which: usize| match which {
        0 => Op::Add,
        _ if which <= count => Op::Min,
        _ => Op::Max,
    };
    let operator = of(&[&types[..], &types].concat(), |terms| {
        let (left, right) = terms.split_at(types.len());
        let pairs = left.iter().zip(right).enumerate();
        pairs.map(|(which, (left, right))| left.binary(op(which), *right)).collect()
    });
    let initial = of(&[], |_| {
        let neutral = |which| match op(which) {
            Op::Min => whole(i64::MAX),
            Op::Max => whole(i64::MIN),
            _ => whole(0),
        };
        (0..types.len()).map(neutral).collect()
    });
    let fold = Fold { operator, initial: Some(initial) };
    let found = Described::new(fold, vec![extremes], 0, types, place);
    let numbering = |found: &[Term]| {
        let found = |which: usize| Exp::<i64>::from_term(found.get(which).copied().unwrap_or(whole(0)));
        let most = found(0).max(FEW_CELLS).min(MOST_CELLS);
        let (mut cells, mut digits) = (Exp::from(1), Vec::new());
        for digit in 1..=count {
            // What is too large for an integer is below zero.
            let last = found(count + digit) - found(digit);
            let all = cells * (last + 1);
            cells = (last.ge(0) & last.lt(most) & all.le(most)).select(all, Exp::from(0));
            digits.extend([found(digit).term(), (last + 1).term()]);
        }
        let others = cells.eq(0).select(found(0), Exp::from(0));
        [vec![cells.term(), others.term(), found(0).term()], digits].concat()
    };
    zipped(&[&found], numbering, vec![int; 3 + 2 * count], place)
}

/// A scalar as an integer that is less where it is.
fn in_order(key: Term) -> Exp<i64> {
    let as_integer = Exp::from_term(key.cast(ScalarType::I64));
    match key.ty() {
        ScalarType::U64 => as_integer ^ i64::MIN,
        _ => as_integer,
    }
}

/// The scalar that is this integer in its order.
fn from_order(number: Exp<i64>, ty: ScalarType) -> Term {
    match ty {
        ScalarType::Bool => number.ne(0).term(),
        ScalarType::U64 => (number ^ i64::MIN).term().cast(ty),
        _ => number.term().cast(ty),
    }
}
