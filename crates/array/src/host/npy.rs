//! NumPy's `.npy` files: a header that says types, order and shape, and the elements. Big-endian numbers, arrays that stand column by
//! column, complex numbers and records of several numbers are converted as they are read; elements of several parts are written as records.

use super::files::{Call, Reason};
use super::python::Literal;
use crate::data::{Array, ArrayData, HostData, whole_columns};
use crate::error::Error;
use crate::shape::Shape;
use pumice_scalar::{Elt, ScalarType};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// Bytes that are read to see the header; larger ones are refused.
const MOST_HEADER: usize = 1 << 16;

/// NumPy's names of our types, which follow a letter for the byte order.
const NAMES: [(&str, ScalarType); 12] = [
    ("b1", ScalarType::Bool),
    ("i1", ScalarType::I8),
    ("i2", ScalarType::I16),
    ("i4", ScalarType::I32),
    ("i8", ScalarType::I64),
    ("u1", ScalarType::U8),
    ("u2", ScalarType::U16),
    ("u4", ScalarType::U32),
    ("u8", ScalarType::U64),
    ("f2", ScalarType::F16),
    ("f4", ScalarType::F32),
    ("f8", ScalarType::F64),
];

/// Why a file is not read.
type Outcome<T> = Result<T, String>;

/// A header, which describes the bytes of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    columns: Vec<Column>,
    /// Bytes of an element.
    stride: usize,
    /// Whether elements stand column by column.
    is_fortran: bool,
    extents: Vec<usize>,
    /// Offset of the first element in the file.
    start: usize,
}

/// A scalar of every element.
#[derive(Clone, Debug, PartialEq)]
struct Column {
    ty: ScalarType,
    /// Offset in an element.
    offset: usize,
    is_big_endian: bool,
}

impl Header {
    /// Reads the header at the beginning of a file's bytes, which may go on.
    pub fn read(bytes: &[u8]) -> Outcome<Header> {
        let (text, start) = header_text(bytes).ok_or("this is no NumPy file")?;
        let unclear = || format!("its header is unclear: {}", text.trim());
        let literal = Literal::parse(text).ok_or_else(unclear)?;
        let (columns, stride) = columns(literal.get("descr").ok_or_else(unclear)?)?;
        let Some(Literal::Truth(is_fortran)) = literal.get("fortran_order") else { return Err(unclear()) };
        let Some(Literal::Items(items)) = literal.get("shape") else { return Err(unclear()) };
        let extents = items.iter().map(|item| match item {
            Literal::Number(extent) => Ok(*extent),
            _ => Err(unclear()),
        });
        let extents = extents.collect::<Outcome<Vec<usize>>>()?;
        Ok(Header { columns, stride, is_fortran: *is_fortran, extents, start })
    }

    /// The scalars of an element.
    pub fn types(&self) -> Vec<ScalarType> {
        self.columns.iter().map(|column| column.ty).collect()
    }

    /// The extents, outermost first.
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }

    /// Returns the offset of the elements in the file, if they stand there as an array has them: one scalar each, little-endian and row by row.
    pub fn plain_start(&self) -> Option<usize> {
        let [column] = &self.columns[..] else { return None };
        let is_ordered = !self.is_fortran || self.extents.len() < 2;
        (is_ordered && !(column.is_big_endian && column.ty.bytes() > 1)).then_some(self.start)
    }

    /// An error unless a file of so many bytes has as many elements as the header says.
    pub fn check_length(&self, bytes: u64) -> Outcome<()> {
        let count = self.extents.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent));
        let wanted = count.and_then(|count| count.checked_mul(self.stride)?.checked_add(self.start));
        if wanted.is_some_and(|wanted| wanted as u64 == bytes) {
            return Ok(());
        }
        let found = bytes.saturating_sub(self.start as u64);
        let shape = self.extents.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        let types = self.types().iter().map(|ty| ty.name()).collect::<Vec<_>>().join(", ");
        let shape = if shape.is_empty() { "one element".into() } else { shape };
        Err(format!("it has {found} bytes of elements, which is not {shape} of {types}"))
    }
}

/// The text of the header, and where elements begin.
fn header_text(bytes: &[u8]) -> Option<(&str, usize)> {
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

/// The scalars of an element, and its bytes.
fn columns(described: &Literal) -> Outcome<(Vec<Column>, usize)> {
    let (mut columns, mut offset) = (Vec::new(), 0);
    let mut add = |name: &str| {
        let (order, kind) = name.split_at_checked(1).unwrap_or(("", name));
        let known = |kind: &str| NAMES.iter().find(|(known, _)| *known == kind).map(|(_, ty)| *ty);
        let (ty, count) = match kind {
            "c8" => (Some(ScalarType::F32), 2),
            "c16" => (Some(ScalarType::F64), 2),
            kind => (known(kind), 1),
        };
        let Some(ty) = ty.filter(|_| ["<", ">", "|"].contains(&order)) else {
            let known = NAMES.map(|(name, _)| name).join(", ");
            return Err(format!(
                "its elements are of type `{name}`, and those that are read are {known}, c8 and c16; `astype` converts"
            ));
        };
        for _ in 0..count {
            columns.push(Column { ty, offset, is_big_endian: order == ">" });
            offset += ty.bytes();
        }
        Ok(())
    };
    match described {
        Literal::Text(name) => add(name)?,
        Literal::Items(fields) => fields.iter().try_for_each(|field| match field {
            Literal::Items(field) => match &field[..] {
                [_, Literal::Text(name)] => add(name),
                _ => Err(
                    "its records have arrays or records in them, and only numbers and truth values are read"
                        .into(),
                ),
            },
            _ => Err("its type is unclear".to_string()),
        })?,
        _ => return Err("its type is unclear".into()),
    }
    Ok((columns, offset))
}

/// Reads a file that is in memory.
pub fn read(mut bytes: Vec<u8>) -> Outcome<HostData> {
    let header = Header::read(&bytes)?;
    header.check_length(bytes.len() as u64)?;
    let Header { stride, extents, start, .. } = &header;
    let columns = match &header.columns[..] {
        [_] => {
            bytes.drain(..start);
            vec![bytes]
        }
        columns => {
            let elements = bytes.get(*start..).unwrap_or(&[]);
            columns.iter().map(|column| gathered(elements, column, *stride)).collect()
        }
    };
    let finished = |(mut bytes, column): (Vec<u8>, &Column)| {
        if column.ty == ScalarType::Bool {
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        if column.is_big_endian {
            bytes.chunks_exact_mut(column.ty.bytes()).for_each(<[u8]>::reverse);
        }
        if header.is_fortran { row_by_row(&bytes, extents, column.ty.bytes()) } else { bytes }
    };
    let columns = columns.into_iter().zip(&header.columns).map(finished).collect();
    Ok(HostData::new(extents.clone(), header.types(), columns))
}

/// Reads a file of so many bytes, and no more of it than its header says.
pub(super) fn read_from(mut file: impl Read, length: u64) -> Result<HostData, Reason> {
    let mut bytes = Vec::new();
    (&mut file).take(MOST_HEADER as u64).read_to_end(&mut bytes)?;
    Header::read(&bytes)?.check_length(length)?;
    let rest = usize::try_from(length).unwrap_or(usize::MAX).saturating_sub(bytes.len());
    bytes.try_reserve_exact(rest).map_err(|_| format!("there is no memory for its {length} bytes"))?;
    file.take(rest as u64).read_to_end(&mut bytes)?;
    Ok(read(bytes)?)
}

/// A scalar of every element, one after the other.
fn gathered(elements: &[u8], column: &Column, stride: usize) -> Vec<u8> {
    let scalar =
        |element: &[u8]| element.get(column.offset..column.offset + column.ty.bytes()).map(<[u8]>::to_vec);
    elements.chunks_exact(stride.max(1)).filter_map(scalar).flatten().collect()
}

/// Elements row by row of those that stand column by column.
fn row_by_row(bytes: &[u8], extents: &[usize], size: usize) -> Vec<u8> {
    let mut strides = Vec::new();
    let mut stride = size;
    for extent in extents {
        strides.push(stride);
        stride = stride.saturating_mul(*extent);
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

/// Writes an array of these extents, scalar types and columns. Elements of several scalars are records with fields `f0`, `f1` and so on.
pub fn write(
    extents: &[usize],
    types: &[ScalarType],
    columns: &[impl AsRef<[u8]>],
    out: &mut impl Write,
) -> io::Result<()> {
    let name = |ty: &ScalarType| {
        let name = NAMES.iter().find(|(_, known)| known == ty).map(|(name, _)| *name);
        let order = if ty.bytes() == 1 { '|' } else { '<' };
        let unknown =
            || io::Error::other(format!("NumPy has no type for {}; convert the elements", ty.name()));
        Ok(format!("'{order}{}'", name.ok_or_else(unknown)?))
    };
    let names = types.iter().map(name).collect::<io::Result<Vec<String>>>()?;
    let described = match &names[..] {
        [name] => name.clone(),
        names => {
            let fields = names.iter().enumerate().map(|(number, name)| format!("('f{number}', {name})"));
            format!("[{}]", fields.collect::<Vec<_>>().join(", "))
        }
    };
    let shape: String = extents.iter().map(|extent| format!("{extent}, ")).collect();
    let shape = if extents.len() == 1 { shape.trim_end() } else { shape.trim_end_matches([',', ' ']) };
    let mut header = format!("{{'descr': {described}, 'fortran_order': False, 'shape': ({shape}), }}");
    let before = MAGIC.len() + 4;
    let padded = (before + header.len() + 1).next_multiple_of(ALIGNMENT) - before - 1;
    header.push_str(&" ".repeat(padded - header.len()));
    header.push('\n');
    let length =
        u16::try_from(header.len()).map_err(|_| io::Error::other("its elements have too many parts"))?;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    if let [column] = columns {
        return out.write_all(column.as_ref());
    }
    let mut scalars: Vec<_> =
        columns.iter().zip(types).map(|(column, ty)| column.as_ref().chunks_exact(ty.bytes())).collect();
    while let Some(parts) = scalars.iter_mut().map(Iterator::next).collect::<Option<Vec<&[u8]>>>() {
        if parts.is_empty() {
            break;
        }
        parts.into_iter().try_for_each(|part| out.write_all(part))?;
    }
    Ok(())
}

/// The array that a file's data is; why not, if it has another shape or element type.
pub(super) fn typed<D: Shape, T: Elt>(data: Arc<dyn ArrayData>) -> Outcome<Array<D, T>> {
    let names = |types: &[ScalarType]| types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(", ");
    if data.extents().len() != D::RANK {
        let (found, wanted) = (data.extents().len(), D::RANK);
        return Err(format!("it has {found} dimensions, and an array of {wanted} was asked for"));
    }
    if data.types() != T::types() {
        let (found, wanted) = (names(data.types()), names(&T::types()));
        return Err(format!(
            "its elements are {found}, and {wanted} was asked for; read it as what it is, then `map_elements` converts"
        ));
    }
    Array::from_data(data).map_err(|error| error.to_string())
}

impl<D: Shape, T: Elt> Array<D, T> {
    /// Reads a NumPy file (`.npy`). Numbers of big-endian machines and arrays that stand column by column are converted, records and
    /// complex numbers are elements of several parts. Fails if the file is broken, or has another rank or element type.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let path = std::env::temp_dir().join(format!("pumice-{}.npy", std::process::id()));
    /// let m = Matrix::from([[1.5f32, 2.5], [3.5, 4.5]]);
    /// m.write_npy(&path)?;
    /// assert_eq!(Matrix::<f32>::read_npy(&path)?, m);
    /// let wrong = Matrix::<i32>::read_npy(&path).unwrap_err().to_string();
    /// assert!(wrong.contains("its elements are f32, and i32 was asked for"));
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn read_npy(path: impl AsRef<Path>) -> Result<Self, Error> {
        let (path, call) = (path.as_ref(), Call::of("read_npy"));
        let read = || {
            let file = File::open(path)?;
            let length = file.metadata()?.len();
            Ok(typed(Arc::new(read_from(file, length)?))?)
        };
        read().map_err(|reason: Reason| call.cannot("read", path, reason))
    }

    /// Writes a NumPy file (`.npy`). Elements of several parts are records with fields `f0`, `f1` and so on. Fails as
    /// [`Array::to_vec`] does, and if the file cannot be written.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let path = std::env::temp_dir().join(format!("pumice-written-{}.npy", std::process::id()));
    /// Vector::from([(1i32, 0.5f64), (2, 1.5)]).write_npy(&path)?;
    /// let bytes = std::fs::read(&path).expect("a file");
    /// let header = "{'descr': [('f0', '<i4'), ('f1', '<f8')], 'fortran_order': False, 'shape': (2,), }";
    /// assert!(String::from_utf8_lossy(&bytes).contains(header));
    /// assert!(Vector::from([1]).write_npy("/no such folder/xs.npy").is_err());
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn write_npy(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let (path, data, call) = (path.as_ref(), &**self.data(), Call::of("write_npy"));
        let columns = whole_columns(data)?;
        let written = || {
            let mut file = BufWriter::new(File::create(path)?);
            write(data.extents(), data.types(), &columns, &mut file)?;
            file.flush()
        };
        written().map_err(|error: io::Error| call.cannot("write", path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str, elements: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{text:<117}\n").bytes());
        bytes.extend(elements);
        bytes
    }

    fn columns(bytes: Vec<u8>) -> (Vec<usize>, Vec<ScalarType>, Vec<Vec<u8>>) {
        let array = read(bytes).unwrap_or_else(|error| panic!("{error}"));
        let columns = array.columns().unwrap_or_else(|error| panic!("{error}"));
        let columns = columns.into_iter().map(|column| column.into_owned()).collect();
        (array.extents().to_vec(), array.types().to_vec(), columns)
    }

    #[test]
    fn files_of_numpy_are_read() {
        let text = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }";
        let elements: Vec<u8> =
            [0, 3, 1, 4, 2, 5i32].iter().flat_map(|number| number.to_le_bytes()).collect();
        let expected = (0..6i32).flat_map(i32::to_le_bytes).collect::<Vec<u8>>();
        assert_eq!(columns(file(text, &elements)), (vec![2, 3], vec![ScalarType::I32], vec![expected]));
        let big = file("{'descr': '>u4', 'fortran_order': False, 'shape': (2,)}", &[0, 0, 0, 1, 0, 0, 1, 0]);
        assert_eq!(columns(big).2, [[1, 0, 0, 0, 0, 1, 0, 0]]);
        let records = "{'descr': [('x', '>i4'), ('y', '|b1')], 'fortran_order': False, 'shape': (2,), }";
        let found = columns(file(records, &[0, 0, 0, 7, 1, 0, 0, 0, 8, 3]));
        assert_eq!(found.1, [ScalarType::I32, ScalarType::Bool]);
        assert_eq!(found.2, [vec![7, 0, 0, 0, 8, 0, 0, 0], vec![1, 1]]);
        let complex = "{'descr': '<c8', 'fortran_order': False, 'shape': (), }";
        assert_eq!(columns(file(complex, &[1, 2, 3, 4, 5, 6, 7, 8])).2, [[1, 2, 3, 4], [5, 6, 7, 8]]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (extents, types) in [
            (&[6][..], &[ScalarType::U64][..]),
            (&[2, 3], &[ScalarType::Bool]),
            (&[], &[ScalarType::F64]),
            (&[0, 4], &[ScalarType::F32]),
            (&[1, 3, 1, 2, 1], &[ScalarType::F32, ScalarType::Bool, ScalarType::I64]),
        ] {
            let count: usize = extents.iter().product();
            let column = |ty: &ScalarType| (0..count * ty.bytes()).map(|byte| byte as u8 % 2).collect();
            let expected: Vec<Vec<u8>> = types.iter().map(column).collect();
            let mut bytes = Vec::new();
            write(extents, types, &expected, &mut bytes).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((bytes.len() - count * types.iter().map(|ty| ty.bytes()).sum::<usize>()) % 64, 0);
            assert_eq!(columns(bytes), (extents.to_vec(), types.to_vec(), expected));
        }
    }

    #[test]
    fn elements_that_stand_column_by_column_are_put_in_order() {
        // A matrix of rows [0, 1, 2] and [3, 4, 5], column by column.
        assert_eq!(row_by_row(&[0, 3, 1, 4, 2, 5], &[2, 3], 1), [0, 1, 2, 3, 4, 5]);
        let pairs = row_by_row(&[0, 0, 2, 2, 1, 1, 3, 3], &[2, 1, 2], 2);
        assert_eq!(pairs, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn broken_files_are_refused() {
        let mut whole = Vec::new();
        write(&[2, 3], &[ScalarType::F32], &[vec![0; 24]], &mut whole)
            .unwrap_or_else(|error| panic!("{error}"));
        let text = |from: &str, to: &str| {
            let text: String = whole.iter().map(|byte| char::from(*byte)).collect();
            text.replacen(from, to, 1).chars().map(|letter| letter as u8).collect::<Vec<u8>>()
        };
        let refused = |bytes: Vec<u8>, part: &str| {
            let error = read(bytes).err().unwrap_or_default();
            assert!(error.contains(part), "{error}");
        };
        refused(whole[..whole.len() - 1].to_vec(), "it has 23 bytes of elements, which is not 2 x 3 of f32");
        refused(text("NUMPY", "numpy"), "no NumPy file");
        refused(text("'<f4'", "'|O' "), "type `|O`");
        refused(text("'<f4'", "'<f9'"), "type `<f9`");
        refused(text("'<f4'", "12345"), "its type is unclear");
        refused(text("'descr'", "'other'"), "its header is unclear");
        refused(text("(2, 3)", "(2, 9)"), "bytes of elements");
        refused(text("(2, 3), }                    ", "(99999999999, 99999999999), }"), "bytes of elements");
        for end in 0..whole.len() {
            assert!(read(whole[..end].to_vec()).is_err(), "{end}");
            assert!(read_from(&whole[..end], whole.len() as u64).is_err(), "{end}");
        }
        assert!(read_from(&whole[..], u64::MAX).is_err());
        assert!(read_from(&whole[..], whole.len() as u64).is_ok());
    }
}
