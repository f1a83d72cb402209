//! Layout of values that can be stored: one column per scalar, in the order of the type. A sum has a tag and the columns
//! of all its constructors.

use super::Sums;
use super::value::{Scalar, Sum, Value};
use crate::types::{Type, Variable};
use pumice_scalar::{Constant, ScalarType, Term};
use std::collections::HashMap;
use std::rc::Rc;

/// More columns than this no element has: a sum inside a sum multiplies.
const MOST_COLUMNS: usize = 1024;

/// Returns the scalars that an element of a type is stored as, if it can be stored.
pub fn columns(ty: &Type, sums: &Sums) -> Option<Vec<ScalarType>> {
    let mut types = Vec::new();
    add_columns(ty, sums, 0, &mut types)?;
    Some(types)
}

fn add_columns(ty: &Type, sums: &Sums, depth: usize, types: &mut Vec<ScalarType>) -> Option<()> {
    if types.len() > MOST_COLUMNS || depth > 64 {
        return None;
    }
    match ty {
        Type::Scalar(scalar) => types.push(*scalar),
        Type::Tuple(parts) => {
            parts.iter().try_for_each(|part| add_columns(part, sums, depth + 1, types))?;
        }
        Type::Record(fields) => {
            fields.iter().try_for_each(|(_, field)| add_columns(field, sums, depth + 1, types))?;
        }
        Type::Sum(..) => {
            types.push(ScalarType::I32);
            let fields = fields_of(ty, sums)?;
            fields.iter().flatten().try_for_each(|field| add_columns(field, sums, depth + 1, types))?;
        }
        _ => return None,
    }
    Some(())
}

/// Returns the types of the fields of each constructor of a sum.
pub fn fields_of(ty: &Type, sums: &Sums) -> Option<Vec<Vec<Type>>> {
    let Type::Sum(id, arguments) = ty else { return None };
    let declaration = sums.get(id.number as usize)?;
    let instance: HashMap<Variable, &Type> =
        declaration.parameters.iter().copied().zip(arguments.iter()).collect();
    let constructors = declaration.constructors.iter();
    Some(
        constructors
            .map(|(_, fields)| fields.iter().map(|ty| substituted(ty, &instance)).collect())
            .collect(),
    )
}

fn substituted(ty: &Type, instance: &HashMap<Variable, &Type>) -> Type {
    let all = |types: &[Type]| types.iter().map(|ty| substituted(ty, instance)).collect();
    match ty {
        Type::Variable(variable) => instance.get(variable).map_or(ty.clone(), |ty| (*ty).clone()),
        Type::Tuple(parts) => Type::Tuple(all(parts)),
        Type::Record(fields) => {
            Type::Record(fields.iter().map(|(name, ty)| (name.clone(), substituted(ty, instance))).collect())
        }
        Type::Sum(id, arguments) => Type::Sum(id.clone(), all(arguments)),
        other => other.clone(),
    }
}

/// Takes the scalars of a value of a type and returns the value; `None` if it cannot be stored or there are too few scalars.
pub fn from_terms(
    ty: &Type,
    sums: &Sums,
    outside: bool,
    terms: &mut dyn Iterator<Item = Term>,
) -> Option<Value> {
    let value = match ty {
        Type::Scalar(_) => Value::scalar(terms.next()?, outside),
        Type::Tuple(parts) => Value::Tuple(
            parts.iter().map(|part| from_terms(part, sums, outside, terms)).collect::<Option<_>>()?,
        ),
        Type::Record(fields) => {
            let field = |(name, ty): &(_, Type)| {
                let name: &crate::ast::Name = name;
                Some((name.clone(), from_terms(ty, sums, outside, terms)?))
            };
            Value::Record(fields.iter().map(field).collect::<Option<_>>()?)
        }
        Type::Sum(id, _) => {
            let term = terms.next()?;
            let tag = Scalar { term, outside: outside || term.constant().is_some() };
            let fields = fields_of(ty, sums)?;
            let constructor = |fields: Vec<Type>| {
                fields.iter().map(|field| from_terms(field, sums, outside, terms)).collect::<Option<Vec<_>>>()
            };
            let fields = fields.into_iter().map(constructor).collect::<Option<Vec<_>>>()?;
            Value::Sum(Rc::new(Sum { id: id.clone(), tag, fields }))
        }
        _ => return None,
    };
    Some(value)
}

/// Returns the value of a type whose scalars are all zero.
pub fn zero(ty: &Type, sums: &Sums) -> Option<Value> {
    let columns = columns(ty, sums)?;
    from_terms(ty, sums, true, &mut columns.into_iter().map(|ty| Constant::zero(ty).into()))
}
