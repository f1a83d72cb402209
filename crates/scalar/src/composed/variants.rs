//! One of several variants, each with a payload of its own: how the scalars of an enum are laid out, for `#[derive(Elt)]`.
//!
//! An enum is a tag, the number of the variant, and columns that variants share: a variant's n-th scalar of a type is in the
//! n-th column of that type, so there are as many columns of a type as the variant has that needs most. Columns that a
//! variant does not use are zero, on the host and in programs alike, so equal values have equal columns. A payload is the
//! tuple of a variant's fields. A tag that no variant has, which only columns that were not written by Pumice can hold,
//! stands for the last variant.

use crate::arena::Term;
use crate::elt::{Elt, Lift, Primitive};
use crate::exp::Exp;
use crate::types::{Constant, ScalarType};
use std::borrow::Cow;
use std::collections::{HashMap, TryReserveError};
use std::iter::once;
use std::vec::IntoIter;

/// The number of a variant.
pub type Tag = u32;

/// Adds the scalar types of an enum whose payloads have these.
pub fn add_variant_types(payloads: &[fn(&mut Vec<ScalarType>)], types: &mut Vec<ScalarType>) {
    types.push(Tag::TYPE);
    let mut shared: HashMap<ScalarType, usize> = HashMap::new();
    for add_types in payloads {
        let mut own = Vec::new();
        add_types(&mut own);
        let mut needed: HashMap<ScalarType, usize> = HashMap::new();
        for ty in own {
            let (needed, there) = (needed.entry(ty).or_default(), shared.entry(ty).or_default());
            *needed += 1;
            if *needed > *there {
                *there += 1;
                types.push(ty);
            }
        }
    }
}

/// Returns the column of each scalar of a payload: its n-th of a type is in the n-th column of that type.
fn places(columns: &[ScalarType], payload: &[ScalarType]) -> Vec<Option<usize>> {
    let mut after: HashMap<ScalarType, usize> = HashMap::new();
    let mut place = |ty: &ScalarType| {
        let after = after.entry(*ty).or_default();
        let found = columns.iter().enumerate().skip(*after).find(|(_, column)| *column == ty)?.0;
        *after = found + 1;
        Some(found)
    };
    payload.iter().map(&mut place).collect()
}

/// Puts the scalars of a payload into their columns.
fn put<X>(columns: &mut [X], types: &[ScalarType], payload: Vec<X>, type_of: impl Fn(&X) -> ScalarType) {
    let own: Vec<ScalarType> = payload.iter().map(type_of).collect();
    for (place, scalar) in places(types, &own).into_iter().zip(payload) {
        if let Some(column) = place.and_then(|place| columns.get_mut(place)) {
            *column = scalar;
        }
    }
}

/// Returns the types of an enum's columns, without the tag's.
fn column_types<E: Elt>() -> Vec<ScalarType> {
    E::types().split_off(1)
}

/// Returns the expression of a variant with this payload.
pub fn make_variant<E: Lift, P: Lift>(tag: Tag, payload: P) -> E {
    let types = column_types::<E::Elt>();
    let mut columns: Vec<Term> = types.iter().map(|ty| Constant::zero(*ty).into()).collect();
    put(&mut columns, &types, payload.terms(), |term| term.ty());
    E::from_terms(&mut once(Exp::from(tag).term()).chain(columns))
}

/// Takes the tag and the columns of an enum.
pub fn take_variants<E: Lift>(terms: &mut dyn Iterator<Item = Term>) -> (Exp<Tag>, Vec<Term>) {
    let tag = Exp::from_terms(terms);
    (tag, terms.take(column_types::<E::Elt>().len()).collect())
}

/// Returns a payload that is in these columns.
pub fn variant<P: Lift>(columns: &[Term]) -> P {
    let types: Vec<ScalarType> = columns.iter().map(|column| column.ty()).collect();
    // A missing scalar is reported by `from_terms`, which takes it.
    P::from_terms(
        &mut places(&types, &P::Elt::types()).into_iter().map_while(|place| columns.get(place?).copied()),
    )
}

/// Adds the terms of an enum whose payloads have these: where two share a column, they have the same term in it.
pub fn add_variant_terms<E: Lift>(tag: Exp<Tag>, payloads: Vec<Vec<Term>>, terms: &mut Vec<Term>) {
    let types = column_types::<E::Elt>();
    let mut columns: Vec<Term> = types.iter().map(|ty| Constant::zero(*ty).into()).collect();
    for payload in payloads {
        put(&mut columns, &types, payload, |term| term.ty());
    }
    terms.push(tag.term());
    terms.extend(columns);
}

/// Adds the scalars of a value that is a variant with this payload.
pub fn add_variant_constants<E: Elt, P: Elt>(tag: Tag, payload: P, constants: &mut Vec<Constant>) {
    let types = column_types::<E>();
    let mut columns: Vec<Constant> = types.iter().map(|ty| Constant::zero(*ty)).collect();
    let mut own = Vec::new();
    payload.add_constants(&mut own);
    put(&mut columns, &types, own, |constant| constant.ty());
    constants.push(tag.into());
    constants.extend(columns);
}

/// Columns of an enum that are being written, one variant after the other.
pub struct WrittenVariants {
    tags: Vec<Tag>,
    types: Vec<ScalarType>,
    columns: Vec<Vec<u8>>,
}

impl WrittenVariants {
    /// Begins with as many values as there will be.
    pub fn new<E: Elt>(count: usize) -> WrittenVariants {
        let types = column_types::<E>();
        let columns = types.iter().map(|ty| vec![0; count * ty.bytes()]).collect();
        WrittenVariants { tags: vec![0; count], types, columns }
    }

    /// Writes the values that are this variant, which are those that have its payload.
    pub fn add<T, P: Elt>(&mut self, tag: Tag, values: &[T], payload: impl Fn(&T) -> Option<P>) {
        let numbered = self.tags.iter_mut().enumerate().zip(values);
        let own = numbered.filter_map(|((row, row_tag), value)| {
            let payload = payload(value)?;
            *row_tag = tag;
            Some((row, payload))
        });
        let (rows, payloads): (Vec<usize>, Vec<P>) = own.unzip();
        let mut packed = Vec::new();
        P::add_columns(&payloads, &mut packed);
        for (place, (ty, packed)) in
            places(&self.types, &P::types()).into_iter().zip(P::types().into_iter().zip(packed))
        {
            let Some(column) = place.and_then(|place| self.columns.get_mut(place)) else { continue };
            for (row, bytes) in rows.iter().zip(packed.chunks_exact(ty.bytes())) {
                if let Some(cell) = column.get_mut(row * ty.bytes()..(row + 1) * ty.bytes()) {
                    cell.copy_from_slice(bytes);
                }
            }
        }
    }

    /// Adds the columns.
    pub fn finish(self, columns: &mut Vec<Cow<'_, [u8]>>) {
        columns.push(Cow::Owned(Tag::as_bytes(&self.tags).to_vec()));
        columns.extend(self.columns.into_iter().map(Cow::Owned));
    }
}

/// Columns of an enum that are being read.
pub struct ReadVariants<'c> {
    tags: Vec<Tag>,
    types: Vec<ScalarType>,
    columns: Vec<&'c [u8]>,
}

impl<'c> ReadVariants<'c> {
    /// Takes the columns of `count` values of an enum whose last variant has this number.
    pub fn take<E: Elt>(
        columns: &mut dyn Iterator<Item = &'c [u8]>,
        count: usize,
        last: Tag,
    ) -> Result<ReadVariants<'c>, TryReserveError> {
        let mut tags = Tag::from_columns(columns, count)?;
        for tag in &mut tags {
            *tag = (*tag).min(last);
        }
        let types = column_types::<E>();
        let columns = types.iter().map(|_| columns.next().unwrap_or(&[])).collect();
        Ok(ReadVariants { tags, types, columns })
    }

    /// Reads the payloads of the values that are this variant, in order.
    pub fn payloads<P: Elt>(&self, tag: Tag) -> Result<IntoIter<P>, TryReserveError> {
        let rows = || (0..).zip(&self.tags).filter(|(_, row_tag)| **row_tag == tag).map(|(row, _)| row);
        let count = rows().count();
        let mut packed = Vec::new();
        for (place, ty) in places(&self.types, &P::types()).into_iter().zip(P::types()) {
            let column = place.and_then(|place| self.columns.get(place)).copied().unwrap_or(&[]);
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(count.saturating_mul(ty.bytes()))?;
            // Bytes that are missing are zero: they are at the end.
            bytes.extend(rows().flat_map(|row: usize| cell(column, row, ty.bytes())));
            packed.push(bytes);
        }
        Ok(P::from_columns(&mut packed.iter().map(|column| &**column), count)?.into_iter())
    }

    /// Returns the values, each made of the number of its variant.
    pub fn collect<E: Elt>(self, make: impl FnMut(Tag) -> Option<E>) -> Result<Vec<E>, TryReserveError> {
        let mut values = Vec::new();
        values.try_reserve_exact(self.tags.len())?;
        values.extend(self.tags.into_iter().map_while(make));
        Ok(values)
    }
}

/// Returns the bytes of a cell, none if there is no such cell.
fn cell(column: &[u8], row: usize, bytes: usize) -> &[u8] {
    row.checked_mul(bytes).and_then(|start| column.get(start..start.checked_add(bytes)?)).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarType::{Bool, F32, I32, U32};

    fn shared(payloads: &[fn(&mut Vec<ScalarType>)]) -> Vec<ScalarType> {
        let mut types = Vec::new();
        add_variant_types(payloads, &mut types);
        types
    }

    #[test]
    fn variants_share_columns_of_a_type() {
        let payloads = [<(f32,)>::add_types, <(i32, f32, f32)>::add_types, <()>::add_types];
        assert_eq!(shared(&payloads), [U32, F32, I32, F32]);
        assert_eq!(shared(&[<()>::add_types]), [U32]);
        assert_eq!(places(&[F32, I32, F32], &[I32, F32, F32]), [Some(1), Some(0), Some(2)]);
        assert_eq!(places(&[F32, I32, F32], &[F32]), [Some(0)]);
        assert_eq!(places(&[F32], &[F32, F32, Bool]), [Some(0), None, None]);
    }
}
