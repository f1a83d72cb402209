//! Arrays in text: the extents, then one column of values for each scalar of an element, `[2, 2] {1, 2, 3, 4}`.
//!
//! A text may also have `{0; 64}`, one value so many times, or `{0..64}`, whole numbers in order.

use crate::data::{ArrayData, HostData};
use pumice_scalar::text::lex::Token;
use pumice_scalar::text::{Cursor, Parsed};
use pumice_scalar::{Constant, ScalarType};

/// The most elements that a text may stand for: a few characters must not fill the memory.
pub(super) const MOST_ELEMENTS: usize = 1 << 24;

/// An array as text; of one with more elements than `most`, or whose elements cannot be had, the extents and `..`.
pub fn print_data(data: &dyn ArrayData, most: usize) -> String {
    let extents: Vec<String> = data.extents().iter().map(|extent| extent.to_string()).collect();
    let mut text = format!("[{}]", extents.join(", "));
    let count = data.extents().iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
    let columns = match count.filter(|count| *count <= most) {
        Some(_) => crate::data::whole_columns(data).ok(),
        None => None,
    };
    let Some(columns) = columns else { return text + " .." };
    for (column, ty) in columns.iter().zip(data.types()) {
        let value = |bytes: &[u8]| Constant::from_bytes(*ty, bytes).to_string();
        let values: Vec<String> = column.chunks_exact(ty.bytes()).map(value).collect();
        text.push_str(&format!(" {{{}}}", values.join(", ")));
    }
    text
}

/// Reads an array whose elements have these types.
pub fn parse_data(cursor: &mut Cursor<'_>, types: &[ScalarType]) -> Parsed<HostData> {
    let at = cursor.peek();
    cursor.expect("[")?;
    let mut extents: Vec<usize> = Vec::new();
    while !cursor.eat("]") {
        if !extents.is_empty() {
            cursor.expect(",")?;
        }
        extents.push(cursor.number("an extent")?);
    }
    if let Token::Symbol("..") = cursor.peek().token {
        return cursor.expected("the elements, which were left out");
    }
    let count = extents.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
    let Some(count) = count.filter(|count| *count <= MOST_ELEMENTS) else {
        return cursor.error(at, format!("an array in text has at most {MOST_ELEMENTS} elements"));
    };
    let mut columns = Vec::new();
    for ty in types {
        let at = cursor.peek();
        let column = parse_column(cursor, *ty, count)?;
        if column.len() != count {
            let message = format!("expected {count} values, found {}", column.len());
            return cursor.error(at, message);
        }
        columns.push(column.into_iter().flat_map(Constant::to_bytes).collect());
    }
    Ok(HostData::new(extents, types.to_vec(), columns))
}

/// Reads a column; the error of one that stands for more values than `count` is the caller's.
fn parse_column(cursor: &mut Cursor<'_>, ty: ScalarType, count: usize) -> Parsed<Vec<Constant>> {
    cursor.expect("{")?;
    let mut values = Vec::new();
    while !cursor.eat("}") {
        if !values.is_empty() {
            cursor.expect(",")?;
        }
        let first = parse_value(cursor, ty)?;
        values.push(first);
        if values.len() > 1 {
            continue;
        }
        if cursor.eat(";") {
            let at = cursor.peek();
            let times: usize = cursor.number("how many times")?;
            if times != count {
                return cursor.error(at, format!("expected {count} values, found {times}"));
            }
            cursor.expect("}")?;
            return Ok(vec![first; times]);
        }
        let at = cursor.peek();
        if cursor.eat("..") {
            let end = parse_value(cursor, ty)?;
            cursor.expect("}")?;
            let (Some(start), Some(end)) = (first.as_integer(), end.as_integer()) else {
                return cursor.error(at, "only whole numbers can be counted");
            };
            if end.saturating_sub(start).max(0) != count as i128 {
                return cursor.error(at, format!("expected {count} values, found {}", end - start));
            }
            return Ok((start..end).map(|value| Constant::from_integer(ty, value)).collect());
        }
    }
    Ok(values)
}

fn parse_value(cursor: &mut Cursor<'_>, ty: ScalarType) -> Parsed<Constant> {
    let value = match cursor.peek().token {
        Token::Number(text) | Token::Word(text @ ("true" | "false" | "inf")) => Constant::parse(ty, text),
        _ => None,
    };
    match value {
        Some(value) => {
            cursor.advance();
            Ok(value)
        }
        None => cursor.expected(&format!("a value of type {ty}")),
    }
}
