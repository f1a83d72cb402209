//! Named values of a session. Their arrays stay on the device for as long as the name exists.

use super::trouble::Trouble;
use pumice::layers::array::{ArrayData, whole_columns};
use pumice::layers::scalar::Constant;
use pumice_lang::additions::Given;
use pumice_lang::types::{SumDeclaration, Type};
use std::sync::Arc;

/// The arrays of a value, in the order of its type.
pub type Arrays = Vec<Arc<dyn ArrayData>>;

/// A named value.
#[derive(Clone)]
pub struct Kept {
    /// Its name, type and scalars, as programs are compiled with them.
    pub given: Given,
    /// Its parts that are arrays.
    pub arrays: Arrays,
    /// The expression that computed it.
    pub text: String,
    /// Names of the declared types that its type contains.
    pub sums: Vec<String>,
}

impl Kept {
    /// Keeps a result, which must be without failures: the caller has read all of it.
    pub fn new(
        name: &str,
        text: &str,
        ty: &Type,
        results: &Arrays,
        declared: &[SumDeclaration],
    ) -> Result<Kept, Trouble> {
        let ty = without_levels(ty);
        let (mut arrays, mut scalars, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        divide(&ty, &mut results.iter(), &mut arrays, &mut scalars)?;
        add_sums(&ty, declared, &mut sums);
        Ok(Kept { given: Given { name: name.into(), ty, scalars }, arrays, text: text.into(), sums })
    }
}

/// Returns the type of a value once its push arrays have been run: without levels.
fn without_levels(ty: &Type) -> Type {
    match ty {
        Type::Tuple(parts) => Type::Tuple(parts.iter().map(without_levels).collect()),
        Type::Record(fields) => {
            Type::Record(fields.iter().map(|(name, ty)| (name.clone(), without_levels(ty))).collect())
        }
        Type::Array { element, sizes, .. } => {
            Type::Array { element: element.clone(), sizes: sizes.clone(), level: None }
        }
        other => other.clone(),
    }
}

/// Separates arrays from numbers; programs have the numbers as constants.
fn divide(
    ty: &Type,
    results: &mut std::slice::Iter<'_, Arc<dyn ArrayData>>,
    arrays: &mut Arrays,
    scalars: &mut Vec<Constant>,
) -> Result<(), Trouble> {
    match ty {
        Type::Tuple(parts) => parts.iter().try_for_each(|part| divide(part, results, arrays, scalars)),
        Type::Record(fields) => {
            fields.iter().try_for_each(|(_, field)| divide(field, results, arrays, scalars))
        }
        _ => {
            let array = results.next().ok_or_else(|| "a part of the value is missing".to_string())?;
            if matches!(ty, Type::Array { .. }) {
                arrays.push(array.clone());
                return Ok(());
            }
            let columns = whole_columns(&**array).map_err(pumice::Error::from)?;
            let constants = array.types().iter().zip(&columns);
            scalars.extend(constants.map(|(ty, column)| Constant::from_bytes(*ty, column)));
            Ok(())
        }
    }
}

/// Adds the names of all declared types that a type contains.
fn add_sums(ty: &Type, declared: &[SumDeclaration], names: &mut Vec<String>) {
    match ty {
        Type::Tuple(parts) => parts.iter().for_each(|part| add_sums(part, declared, names)),
        Type::Record(fields) => fields.iter().for_each(|(_, field)| add_sums(field, declared, names)),
        Type::Array { element, .. } => add_sums(element, declared, names),
        Type::Sum(id, arguments) => {
            arguments.iter().for_each(|argument| add_sums(argument, declared, names));
            let name = id.name.to_string();
            if names.contains(&name) {
                return;
            }
            names.push(name);
            let fields = declared.get(id.number as usize).map_or(&[][..], |sum| &sum.constructors);
            fields.iter().flat_map(|(_, fields)| fields).for_each(|ty| add_sums(ty, declared, names));
        }
        _ => {}
    }
}
