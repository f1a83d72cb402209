//! Elements that are composed of other elements, and what their implementations share.
//!
//! A composed element is a sequence of scalars: those of its parts, in order, and a flag or tag where there is a choice. It
//! says how to take itself apart and put itself together; memory, kernels and devices see scalars alone. Nothing here may
//! depend on which composition it is: what `#[derive(Elt)]` writes calls the same functions as the implementations below.

mod arrays;
#[cfg(feature = "num-complex")]
mod complex;
mod result;
mod tuples;
mod variants;

pub use arrays::ElementArray;
#[cfg(feature = "num-complex")]
pub use complex::ComplexExp;
pub use result::{ResultExp, err, ok};
pub use variants::{
    ReadVariants, Tag, WrittenVariants, add_variant_constants, add_variant_terms, add_variant_types,
    make_variant, take_variants, variant,
};

use crate::arena::Term;
use crate::control::cond;
use crate::elt::{Elt, Lift};
use crate::exp::Exp;
use crate::op::Op;
use crate::types::{Constant, ScalarType};
use std::borrow::Cow;
use std::collections::TryReserveError;
use std::fmt;

/// Whether two values are equal: whether all their scalars are, as `==` of a type that derives `PartialEq`.
///
/// ```
/// use pumice::{equal, prelude::*};
/// let pairs = use_(&[(1, 2.0), (3, f32::NAN)]);
/// assert_eq!(pumice::run(pairs.map(|pair| equal(pair, (1, 2.0))))?.to_vec()?, [true, false]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn equal<L: Lift>(a: L, b: impl crate::IntoExp<L::Elt>) -> Exp<bool> {
    // What an absent value or another variant has in its columns is zero, so equal values have equal scalars.
    let pairs = a.terms().into_iter().zip(b.into_exp().terms());
    let equal = pairs.map(|(a, b)| Exp::from_term(a.compare(Op::Eq, b)));
    equal.reduce(|a, b: Exp<bool>| a & b).unwrap_or(Exp::from(true))
}

/// Whether two values differ: `ne` of derived expressions.
pub fn unequal<L: Lift>(a: L, b: impl crate::IntoExp<L::Elt>) -> Exp<bool> {
    !equal(a, b)
}

/// Returns the value whose scalars are zero.
pub fn zero<L: Lift>() -> L {
    L::from_terms(&mut L::Elt::types().into_iter().map(|ty| Term::from(Constant::zero(ty))))
}

/// Returns one of two values, without a branch where the condition is known.
pub fn either<L: Lift>(condition: Exp<bool>, then: impl FnOnce() -> L, otherwise: impl FnOnce() -> L) -> L {
    match condition.term().constant() {
        Some(known) if known.is_true() => then(),
        Some(_) => otherwise(),
        None => cond(condition, then, otherwise),
    }
}

/// Prints an expression: the name of its type, and the scalar expressions that it consists of.
pub fn debug_expression<L: Lift>(expression: &L, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    debug_terms(&expression.terms(), name, f)
}

fn debug_terms(terms: &[Term], name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(name)?;
    f.debug_list().entries(terms).finish()
}

/// Returns `count` values, as long as there are any.
pub fn collect<T>(count: usize, value: impl FnMut() -> Option<T>) -> Result<Vec<T>, TryReserveError> {
    let mut values = Vec::new();
    values.try_reserve_exact(count)?;
    values.extend(std::iter::from_fn(value).take(count));
    Ok(values)
}

/// Elements whose components are taken out at a time: few enough to stay in a processor's cache.
const PIECE: usize = 4096;

/// Adds the columns of one component of all values.
pub fn add_component<T, C: Elt>(values: &[T], component: impl Fn(&T) -> C, columns: &mut Vec<Cow<'_, [u8]>>) {
    let room = |ty: ScalarType| Vec::with_capacity(values.len() * ty.bytes());
    let mut whole: Vec<Vec<u8>> = C::types().into_iter().map(room).collect();
    for piece in values.chunks(PIECE) {
        let components: Vec<C> = piece.iter().map(&component).collect();
        let mut parts = Vec::new();
        C::add_columns(&components, &mut parts);
        for (column, part) in whole.iter_mut().zip(&parts) {
            column.extend_from_slice(part);
        }
    }
    columns.extend(whole.into_iter().map(Cow::Owned));
}
