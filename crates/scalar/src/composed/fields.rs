//! Structs as the tuple of their fields: how the scalars of a struct are laid out, for `#[derive(Elt)]`.
//!
//! What a derived struct does is what its tuple does. The macro writes how to take a value apart and how to put it together, once, and calls
//! the functions here: each line that is not generated is one that rustc need not check in the user's crate, and a type that
//! is no element is mentioned as few times as can be.

use crate::elt::{Elt, Lift};
use crate::types::{Constant, ScalarType};
use std::borrow::Cow;
use std::collections::TryReserveError;
use std::fmt;

/// A struct, as its fields.
pub trait Fields: Sized {
    /// The tuple of the fields, in order.
    type Parts: Elt;
    /// Takes a value apart.
    fn parts(self) -> Self::Parts;
    /// Puts a value together.
    fn from_parts(parts: Self::Parts) -> Self;
}

/// Adds the scalar types of a struct.
pub fn add_field_types<T: Fields>(types: &mut Vec<ScalarType>) {
    T::Parts::add_types(types);
}

/// Adds the scalars of a value.
pub fn add_field_constants<T: Fields>(value: T, constants: &mut Vec<Constant>) {
    value.parts().add_constants(constants);
}

/// Adds the columns of values.
pub fn add_field_columns<T: Fields + Copy>(values: &[T], columns: &mut Vec<Cow<'_, [u8]>>) {
    T::Parts::add_component(values, |value| value.parts(), columns);
}

/// Reads values back from columns.
pub fn read_fields<T: Fields>(
    columns: &mut dyn Iterator<Item = &[u8]>,
    count: usize,
) -> Result<Vec<T>, TryReserveError> {
    T::Parts::collect_columns(columns, count, T::from_parts)
}

/// Prints an expression: the name of its type, and the scalar expressions that it consists of.
pub fn debug_expression<L: Lift>(expression: &L, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(name)?;
    f.debug_list().entries(expression.terms()).finish()
}
