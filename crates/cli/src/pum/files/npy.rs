//! NumPy's `.npy` files: a line of text that says type, order and shape, and the elements. Elements are read as they are, so only types
//! that Pumice has and little endian are.

use super::{Outcome, Values};
use pumice::layers::array::HostData;
use pumice::layers::scalar::ScalarType;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// Reads a file.
pub fn read(mut bytes: Vec<u8>) -> Outcome<HostData> {
    let (header, start) = header(&bytes).ok_or("this is no NumPy file")?;
    let Header { ty, fortran, extents } = Header::parse(header)?;
    if extents.is_empty() || extents.len() > 3 {
        return Err(format!("it has {} dimensions, and arrays here have 1 to 3", extents.len()));
    }
    let count = extents.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent));
    let wanted = count.and_then(|count| count.checked_mul(ty.bytes()));
    let found = bytes.len() - start;
    if wanted != Some(found) {
        let shape = extents.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        return Err(format!("it has {found} bytes of elements, which is not {shape} of {}", ty.name()));
    }
    bytes.drain(..start);
    if ty == ScalarType::Bool {
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
    if fortran {
        bytes = row_by_row(&bytes, &extents, ty.bytes());
    }
    Ok(HostData::new(extents, vec![ty], vec![bytes]))
}

/// The text of the header, and where elements begin.
fn header(bytes: &[u8]) -> Option<(&str, usize)> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_first_chunk::<2>()?;
    let (length, rest) = match version {
        [1, _] => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (u16::from_le_bytes(*length) as usize, rest)
        }
        [2 | 3, _] => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => return None,
    };
    let text = std::str::from_utf8(rest.get(..length)?).ok()?;
    Some((text, bytes.len() - rest.len() + length))
}

struct Header {
    ty: ScalarType,
    fortran: bool,
    extents: Vec<usize>,
}

impl Header {
    /// Reads a dictionary as Python writes it: `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
    fn parse(text: &str) -> Outcome<Header> {
        let unclear = || format!("its header is unclear: {}", text.trim());
        let value = |key: &str| {
            let (_, behind) = text.split_once(&format!("'{key}'"))?;
            Some(behind.trim_start().strip_prefix(':')?.trim_start())
        };
        let described = value("descr").ok_or_else(unclear)?;
        // Records are lists of names and types.
        let name = described.strip_prefix('\'').and_then(|name| Some(name.split_once('\'')?.0));
        let name = name.ok_or("its elements are records, and only numbers and truth values are read")?;
        let ty = type_of(name).ok_or_else(|| {
            format!(
                "its elements are of type `{name}`, and those that are read are {}; `astype` converts",
                NAMES.map(|(name, _)| name).join(", ")
            )
        })?;
        let order = value("fortran_order").ok_or_else(unclear)?;
        let fortran = match (order.starts_with("True"), order.starts_with("False")) {
            (true, _) => true,
            (_, true) => false,
            _ => return Err(unclear()),
        };
        let shape = value("shape").and_then(|shape| Some(shape.strip_prefix('(')?.split_once(')')?.0));
        let parts = shape.ok_or_else(unclear)?.split(',').map(str::trim).filter(|part| !part.is_empty());
        let extents = parts.map(|part| part.parse().ok()).collect::<Option<Vec<usize>>>();
        Ok(Header { ty, fortran, extents: extents.ok_or_else(unclear)? })
    }
}

/// What NumPy calls our types.
const NAMES: [(&str, ScalarType); 12] = [
    ("|b1", ScalarType::Bool),
    ("<i4", ScalarType::I32),
    ("<i8", ScalarType::I64),
    ("<u4", ScalarType::U32),
    ("<u8", ScalarType::U64),
    ("<f4", ScalarType::F32),
    ("<f8", ScalarType::F64),
    ("|i1", ScalarType::I8),
    ("<i2", ScalarType::I16),
    ("|u1", ScalarType::U8),
    ("<u2", ScalarType::U16),
    ("<f2", ScalarType::F16),
];

fn type_of(name: &str) -> Option<ScalarType> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, ty)| *ty)
}

/// Elements row by row of those that stand column by column.
fn row_by_row(bytes: &[u8], extents: &[usize], size: usize) -> Vec<u8> {
    let mut strides = Vec::new();
    let mut stride = size;
    for extent in extents {
        strides.push(stride);
        stride *= extent;
    }
    let mut ordered = Vec::with_capacity(bytes.len());
    for number in 0..bytes.len() / size {
        let (mut rest, mut at) = (number, 0);
        for (extent, stride) in extents.iter().zip(&strides).rev() {
            at += rest % extent * stride;
            rest /= extent;
        }
        ordered.extend_from_slice(&bytes[at..at + size]);
    }
    ordered
}

/// Writes an array of elements that are one scalar each.
pub fn write(values: &Values) -> Outcome<Vec<u8>> {
    let ([ty], [column]) = (&values.types[..], &values.columns[..]) else {
        return Err("elements of several parts are no numbers; .csv takes them".to_string());
    };
    let name = NAMES.iter().find(|(_, known)| known == ty).map(|(name, _)| name);
    let name = name.ok_or_else(|| format!("NumPy has no `{ty}`; convert elements to `f32` first"))?;
    let shape: String = values.extents.iter().map(|extent| format!("{extent}, ")).collect();
    let shape = if values.extents.len() == 1 { shape.trim_end() } else { shape.trim_end_matches([',', ' ']) };
    let mut header = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': ({shape}), }}");
    let before = MAGIC.len() + 4;
    let padded = (before + header.len() + 1).next_multiple_of(ALIGNMENT) - before - 1;
    header.push_str(&" ".repeat(padded - header.len()));
    header.push('\n');
    // A header of three numbers is short.
    let length = u16::try_from(header.len()).map_err(|_| "its shape is too long".to_string())?;
    let mut bytes = Vec::with_capacity(before + header.len() + column.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(column);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pumice::layers::array::ArrayData;

    #[test]
    fn files_of_numpy_are_read() {
        let text = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }";
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{text:<117}\n").bytes());
        assert_eq!(bytes.len(), 128);
        [0, 3, 1, 4, 2, 5i32].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        let array = read(bytes).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((array.extents(), array.types()), (&[2, 3][..], &[ScalarType::I32][..]));
        let columns = array.columns().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(*columns[0], (0..6i32).flat_map(i32::to_le_bytes).collect::<Vec<u8>>());
    }

    #[test]
    fn elements_that_stand_column_by_column_are_put_in_order() {
        // A matrix of rows [0, 1, 2] and [3, 4, 5], column by column.
        assert_eq!(row_by_row(&[0, 3, 1, 4, 2, 5], &[2, 3], 1), [0, 1, 2, 3, 4, 5]);
        let pairs = row_by_row(&[0, 0, 2, 2, 1, 1, 3, 3], &[2, 1, 2], 2);
        assert_eq!(pairs, [0, 0, 1, 1, 2, 2, 3, 3]);
    }
}
