//! Values as text, written as they would be in a program: what `pumice run`, tests in comments and the REPL print.

use crate::types::{SumDeclaration, Type};
use pumice_array::{ArrayData, Error};
use pumice_scalar::{Constant, ScalarType};
use std::fmt::Write;
use std::sync::Arc;

/// Arrays of more elements than this are abbreviated by [`show_briefly`].
const MOST_SHOWN: usize = 1_000;

/// Number of elements that an abbreviated array keeps at each end of a dimension.
const ENDS: usize = 10;

/// Writes the result of a program as text. `arrays` are the arrays of the result, in order.
pub fn show(ty: &Type, arrays: &[Arc<dyn ArrayData>], sums: &[SumDeclaration]) -> Result<String, Error> {
    let mut text = String::new();
    add_result(ty, &mut arrays.iter(), sums, usize::MAX, &mut text)?;
    Ok(text)
}

/// Writes a result as [`show`] does, for people: of arrays of more than 1,000 elements, the first and last ten of each dimension.
pub fn show_briefly(
    ty: &Type,
    arrays: &[Arc<dyn ArrayData>],
    sums: &[SumDeclaration],
) -> Result<String, Error> {
    let mut text = String::new();
    add_result(ty, &mut arrays.iter(), sums, MOST_SHOWN, &mut text)?;
    Ok(text)
}

fn add_result(
    ty: &Type,
    arrays: &mut std::slice::Iter<'_, Arc<dyn ArrayData>>,
    sums: &[SumDeclaration],
    most: usize,
    text: &mut String,
) -> Result<(), Error> {
    match ty {
        Type::Tuple(parts) => {
            text.push('(');
            for (number, part) in parts.iter().enumerate() {
                text.push_str(if number == 0 { "" } else { ", " });
                add_result(part, arrays, sums, most, text)?;
            }
            text.push(')');
        }
        Type::Record(fields) => {
            text.push_str("{ ");
            for (number, (name, field)) in fields.iter().enumerate() {
                let _ = write!(text, "{}{name} = ", if number == 0 { "" } else { ", " });
                add_result(field, arrays, sums, most, text)?;
            }
            text.push_str(" }");
        }
        _ => {
            let missing = || Error::Program("a result is missing".into());
            let array = arrays.next().ok_or_else(missing)?;
            let extents = array.extents().to_vec();
            let columns = array.columns()?;
            let (element, offsets) = match ty {
                Type::Array { element, .. } => match &**element {
                    Type::Array { element, .. } => (&**element, Some(arrays.next().ok_or_else(missing)?)),
                    _ => (&**element, None),
                },
                other => (other, None),
            };
            let types = array.types().to_vec();
            let scalar = |number: usize, column: usize| {
                let (ty, bytes) = (types[column], &columns[column]);
                Constant::from_bytes(ty, bytes.get(number * ty.bytes()..).unwrap_or(&[]))
            };
            let mut add = |number: usize, text: &mut String| {
                let mut column = 0;
                add_element(
                    element,
                    &mut || {
                        column += 1;
                        (column <= types.len()).then(|| scalar(number, column - 1))
                    },
                    sums,
                    false,
                    text,
                );
            };
            if let Some(offsets) = offsets {
                return add_ragged(&offsets_of(&**offsets)?, most, &mut add, text);
            }
            let count = extents.iter().fold(1, |count: usize, extent| count.saturating_mul(*extent));
            let ends = if count > most { ENDS } else { usize::MAX };
            add_rows(&extents, ends, 0, &mut add, text);
        }
    }
    Ok(())
}

/// Reads the offsets at which rows begin, and the end of the last row.
fn offsets_of(array: &dyn ArrayData) -> Result<Vec<usize>, Error> {
    let columns = array.columns()?;
    let bytes = columns.first().map_or(&[][..], |column| &column[..]);
    let number = |bytes: &[u8]| Constant::from_bytes(ScalarType::I64, bytes).as_integer();
    Ok(bytes.chunks_exact(8).map(|bytes| number(bytes).map_or(0, |number| number.max(0) as usize)).collect())
}

/// Writes rows of different lengths; of many rows, and of long ones, only both ends.
fn add_ragged(
    offsets: &[usize],
    most: usize,
    add: &mut dyn FnMut(usize, &mut String),
    text: &mut String,
) -> Result<(), Error> {
    let ends = if offsets.last().is_some_and(|count| *count > most) { ENDS } else { usize::MAX };
    let count = offsets.len().saturating_sub(1);
    text.push('[');
    for row in (0..count).filter(|row| *row < ends || count - row <= ends) {
        text.push_str(if row == 0 { "" } else { ", " });
        if row > 0 && row == count - ends.min(count) && count > 2 * ends.min(count) {
            let _ = write!(text, "… ({count} rows) …, ");
        }
        let (first, end) = (offsets[row], offsets[row + 1].max(offsets[row]));
        add_rows(&[end - first], ends, first, add, text);
    }
    text.push(']');
    Ok(())
}

/// Writes the elements of an array from a number on, with brackets for each dimension; of long dimensions, only both ends.
fn add_rows(
    extents: &[usize],
    ends: usize,
    first: usize,
    add: &mut dyn FnMut(usize, &mut String),
    text: &mut String,
) {
    let [extent, inner @ ..] = extents else { return add(first, text) };
    let size: usize = inner.iter().product();
    text.push('[');
    let mut row = 0;
    while row < *extent {
        text.push_str(if row == 0 { "" } else { ", " });
        if row == ends && extent - row > ends {
            let what = if inner.is_empty() { "elements" } else { "rows" };
            let _ = write!(text, "… ({extent} {what}) …, ");
            row = extent - ends;
        }
        add_rows(inner, ends, first + row * size, add, text);
        row += 1;
    }
    text.push(']');
}

fn add_element(
    ty: &Type,
    next: &mut dyn FnMut() -> Option<Constant>,
    sums: &[SumDeclaration],
    inside: bool,
    text: &mut String,
) {
    match ty {
        Type::Tuple(parts) => {
            text.push('(');
            for (number, part) in parts.iter().enumerate() {
                text.push_str(if number == 0 { "" } else { ", " });
                add_element(part, next, sums, false, text);
            }
            text.push(')');
        }
        Type::Record(fields) => {
            text.push_str("{ ");
            for (number, (name, field)) in fields.iter().enumerate() {
                let _ = write!(text, "{}{name} = ", if number == 0 { "" } else { ", " });
                add_element(field, next, sums, false, text);
            }
            text.push_str(" }");
        }
        Type::Sum(id, _) => {
            let tag = next().and_then(|tag| tag.as_integer()).unwrap_or(0);
            let fields = crate::evaluate::fields_of(ty, sums).unwrap_or_default();
            for (number, fields) in fields.iter().enumerate() {
                let mut own = String::new();
                for field in fields {
                    own.push(' ');
                    add_element(field, next, sums, true, &mut own);
                }
                if number as i128 == tag {
                    let name = sums.get(id.number as usize).and_then(|sum| sum.constructors.get(number));
                    let name = name.map_or("", |(name, _)| name);
                    let _ = match inside && !own.is_empty() {
                        true => write!(text, "({name}{own})"),
                        false => write!(text, "{name}{own}"),
                    };
                }
            }
        }
        _ => {
            if let Some(constant) = next() {
                text.push_str(&literal(constant));
            }
        }
    }
}

/// Writes a number as a literal.
pub fn literal(constant: Constant) -> String {
    match constant.ty() {
        ScalarType::F32 => {
            float(f64::from(f32::from_bits(constant.bits() as u32)), &f32::from_bits(constant.bits() as u32))
        }
        ScalarType::F64 => float(f64::from_bits(constant.bits()), &f64::from_bits(constant.bits())),
        ScalarType::F16 | ScalarType::BF16 => {
            let value = constant.as_float().unwrap_or_default();
            float(value, &(value as f32))
        }
        ScalarType::Bool => (constant == Constant::from(true)).to_string(),
        _ => constant.as_integer().unwrap_or(0).to_string(),
    }
}

/// Writes a float with a point, so that it cannot be taken for an integer.
fn float(value: f64, shortest: &dyn std::fmt::Display) -> String {
    let text = shortest.to_string();
    match value.is_finite() && !text.contains(['.', 'e']) {
        true => format!("{text}.0"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Size;
    use pumice_array::HostData;

    fn numbers(extents: &[usize]) -> (Type, Vec<Arc<dyn ArrayData>>) {
        let count: usize = extents.iter().product();
        let column = (0..count as i64).flat_map(i64::to_le_bytes).collect();
        let data = HostData::new(extents.to_vec(), vec![ScalarType::I64], vec![column]);
        let element = Box::new(Type::Scalar(ScalarType::I64));
        let sizes = vec![Size::Any; extents.len()];
        (Type::Array { element, sizes, level: None }, vec![Arc::new(data)])
    }

    #[test]
    fn long_arrays_are_abbreviated_for_people_alone() {
        let briefly = |extents: &[usize]| {
            let (ty, arrays) = numbers(extents);
            show_briefly(&ty, &arrays, &[]).unwrap_or_else(|error| error.to_string())
        };
        assert_eq!(briefly(&[2, 3]), "[[0, 1, 2], [3, 4, 5]]");
        assert_eq!(briefly(&[1000]).matches(',').count(), 999);
        let text = briefly(&[1001]);
        assert!(text.starts_with("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … (1001 elements) …, 991, 992, "), "{text}");
        assert!(text.ends_with(", 1000]"), "{text}");
        let text = briefly(&[400, 3]);
        assert!(text.contains("[27, 28, 29], … (400 rows) …, [1170, 1171, 1172], "), "{text}");
        let (ty, arrays) = numbers(&[1001]);
        assert!(show(&ty, &arrays, &[]).is_ok_and(|text| text.matches(',').count() == 1000));
    }
}
