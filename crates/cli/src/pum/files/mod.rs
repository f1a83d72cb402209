//! Arrays in files, as arguments and results. The ending of a file's name determines its format.

pub mod picture;
mod table;

use crate::error::{Error, Result};
use pumice::layers::array::{ArrayData, HostData, npy, whole_columns};
use pumice::layers::scalar::{Constant, ScalarType};
use std::io::Read;

/// Limit on the bytes of files and arguments; larger ones are refused before memory is allocated for them.
pub const MOST_BYTES: usize = 1 << 36;

const KINDS: [&str; 3] = [".npy", ".csv", ".png"];

/// A result whose error is the reason why a file is not read or written.
type Outcome<T> = std::result::Result<T, String>;

/// Returns whether an argument names a file of an array.
pub fn is_file(argument: &str) -> bool {
    KINDS.iter().any(|kind| argument.ends_with(kind))
}

/// Reads an array of one scalar column and one to three dimensions.
pub fn read(path: &str) -> Result<HostData> {
    let failed = |reason: String| Error::Failed(format!("cannot read {path}: {reason}"));
    let bytes = bytes(path).map_err(failed)?;
    match path.rsplit('.').next() {
        Some("npy") => numpy(bytes),
        Some("csv") => table::read(&bytes),
        _ => picture::read(&bytes),
    }
    .map_err(failed)
}

/// Reads a NumPy file of numbers or truth values.
fn numpy(bytes: Vec<u8>) -> Outcome<HostData> {
    let array = npy::read(bytes)?;
    if array.types().len() != 1 {
        return Err("its elements are records, and only numbers and truth values are read".to_string());
    }
    match array.extents().len() {
        1..=3 => Ok(array),
        dimensions => Err(format!("it has {dimensions} dimensions, and arrays here have 1 to 3")),
    }
}

fn bytes(path: &str) -> Outcome<Vec<u8>> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    match bytes.len() > MOST_BYTES {
        true => Err("it is too large".to_string()),
        false => Ok(bytes),
    }
}

/// Returns an error unless results can be written to a file of this name.
pub fn check_output(path: &str) -> Result<()> {
    match is_file(path) {
        true => Ok(()),
        false => {
            Err(Error::Usage(format!("--output takes a name that ends in .npy, .csv or .png, not `{path}`")))
        }
    }
}

/// Writes a result to a file.
pub fn write(path: &str, array: &dyn ArrayData) -> Result<()> {
    let values = Values::new(array)?;
    let written = match path.rsplit('.').next() {
        Some("npy") => values.to_numpy(),
        Some("csv") => table::write(&values),
        _ => picture::write(&values),
    };
    let written = written.and_then(|bytes| std::fs::write(path, bytes).map_err(|error| error.to_string()));
    written.map_err(|reason| Error::Failed(format!("cannot write {path}: {reason}")))
}

/// The elements of a result.
pub struct Values {
    /// The extents.
    pub extents: Vec<usize>,
    /// Types of the scalars of an element.
    pub types: Vec<ScalarType>,
    /// The elements, one column per scalar.
    pub columns: Vec<Vec<u8>>,
}

impl Values {
    /// Brings an array to the host.
    pub fn new(array: &dyn ArrayData) -> Result<Values> {
        let columns = whole_columns(array).map_err(pumice::Error::from)?;
        let columns = columns.into_iter().map(|column| column.into_owned()).collect();
        Ok(Values { extents: array.extents().to_vec(), types: array.types().to_vec(), columns })
    }

    /// Returns the array as a NumPy file.
    fn to_numpy(&self) -> Outcome<Vec<u8>> {
        if self.types.len() != 1 {
            return Err("elements of several parts are no numbers; .csv takes them".to_string());
        }
        let mut bytes = Vec::new();
        npy::write(&self.extents, &self.types, &self.columns, &mut bytes)
            .map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    /// Returns a scalar of an element.
    pub fn get(&self, column: usize, number: usize) -> Option<Constant> {
        let ty = *self.types.get(column)?;
        let bytes = self.columns.get(column)?.get(number.checked_mul(ty.bytes())?..)?;
        Some(Constant::from_bytes(ty, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(extents: &[usize], numbers: &[f32]) -> Values {
        let column = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Values { extents: extents.to_vec(), types: vec![ScalarType::F32], columns: vec![column] }
    }

    fn same(found: Outcome<HostData>, expected: &Values) {
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((found.extents(), found.types()), (&expected.extents[..], &expected.types[..]));
        let columns = found.columns().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(columns[0], expected.columns[0]);
    }

    #[test]
    fn numpy_files_are_read_as_they_were_written() {
        for extents in [&[6][..], &[2, 3], &[1, 3, 2]] {
            let array = values(extents, &[1.5, -2.0, 3.25, f32::INFINITY, 0.0, 1e-30]);
            same(array.to_numpy().and_then(numpy), &array);
        }
        same(values(&[0], &[]).to_numpy().and_then(numpy), &values(&[0], &[]));
    }

    #[test]
    fn pictures_keep_grey_values() {
        let array = values(&[2, 3], &[0.0, 1.0, 0.2, 0.4, 0.6, 0.8]);
        same(picture::write(&array).and_then(|bytes| picture::read(&bytes)), &array);
        assert!(picture::write(&values(&[3], &[0.0; 3])).is_err());
    }

    #[test]
    fn films_are_pictures_one_after_the_other() {
        let film = values(&[2, 1, 3], &[0.0, 1.0, 0.2, 0.4, 0.6, 0.8]);
        let bytes = picture::write(&film).unwrap_or_else(|error| panic!("{error}"));
        // A reader that does not know films shows the first picture.
        same(picture::read(&bytes), &values(&[1, 3], &[0.0, 1.0, 0.2]));
        let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        let mut reader = decoder.read_info().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(reader.info().animation_control().map(|control| control.num_frames), Some(2));
        let mut pixels = [0; 3];
        for expected in [[0, 255, 51], [102, 153, 204]] {
            reader.next_frame(&mut pixels).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(pixels, expected);
        }
        assert!(picture::write(&values(&[0, 1, 3], &[])).is_err());
    }

    #[test]
    fn tables_are_vectors_or_matrices_of_doubles() {
        let read = |text: &str| {
            let array = table::read(text.as_bytes())?;
            let columns = array.columns().map_err(|error| error.to_string())?;
            let numbers = columns[0].chunks(8).map(|bytes| Constant::from_bytes(ScalarType::F64, bytes));
            Ok((array.extents().to_vec(), numbers.filter_map(Constant::as_float).collect::<Vec<f64>>()))
        };
        assert_eq!(read("1\n2.5\n-3e2\n"), Ok((vec![3], vec![1.0, 2.5, -300.0])));
        assert_eq!(read("a, b\n1, 2\n3, 4\n"), Ok((vec![2, 2], vec![1.0, 2.0, 3.0, 4.0])));
        assert_eq!(read("1,2\n3,x\n"), Err("line 2: `x` is no number".to_string()));
        assert!(read("1,2\n3\n").is_err_and(|error: String| error.contains("line")));
        assert_eq!(read(""), Ok((vec![0], vec![])));
        let text = table::write(&values(&[2, 2], &[1.0, 2.0, 0.5, 4.0])).map(String::from_utf8);
        assert_eq!(text, Ok(Ok("1.0,2.0\n0.5,4.0\n".to_string())));
    }

    #[test]
    fn files_that_are_no_arguments_are_refused() {
        let refused = |array: Values, part: &str| {
            let error = array.to_numpy().and_then(numpy).err().unwrap_or_default();
            assert!(error.contains(part), "{error}");
        };
        refused(values(&[], &[1.0]), "0 dimensions");
        refused(values(&[1, 1, 1, 1], &[1.0]), "4 dimensions");
        let column = vec![0; 4];
        let pairs = Values {
            types: vec![ScalarType::F32; 2],
            columns: vec![column.clone(), column],
            ..values(&[1], &[])
        };
        refused(pairs, "several parts");
        let text =
            b"{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (0,), }".to_vec();
        let bytes = [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), &text].concat();
        assert!(numpy(bytes).is_err_and(|error| error.contains("records")));
        assert!(picture::read(b"no picture").is_err());
    }
}
