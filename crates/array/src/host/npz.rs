//! NumPy's `.npz` files: named arrays, each an `.npy` file in an archive.

use super::files::{Call, Reason};
use super::npy::{self, typed};
use crate::data::{Array, whole_columns};
use crate::error::Error;
use crate::shape::Shape;
use pumice_scalar::Elt;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// File extension of an array's entry.
const ENDING: &str = ".npy";

/// A file of named arrays, as `numpy.savez` and `numpy.savez_compressed` write it.
///
/// ```
/// use pumice::prelude::*;
/// use pumice::{Npz, NpzWriter};
/// let path = std::env::temp_dir().join(format!("pumice-{}.npz", std::process::id()));
/// let mut writer = NpzWriter::create(&path)?;
/// writer.add("xs", &Vector::from([1.5, 2.5]))?;
/// writer.add("m", &Matrix::from([[1, 2], [3, 4]]))?;
/// writer.finish()?;
/// let mut file = Npz::open(&path)?;
/// assert_eq!(file.names(), ["m", "xs"]);
/// assert_eq!(file.read::<Dim2, i32>("m")?[[1, 0]], 3);
/// assert!(file.read::<Dim1, f64>("ys").unwrap_err().to_string().contains("there is no array `ys` in it; it has m, xs"));
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Npz {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
}

impl Npz {
    /// Opens a file. Fails if it is none, or no archive.
    ///
    /// ```
    /// use pumice::Npz;
    /// let path = std::env::temp_dir().join(format!("pumice-opened-{}.npz", std::process::id()));
    /// assert!(Npz::open(&path).is_err(), "there is no such file");
    /// std::fs::write(&path, "no archive").expect("a file");
    /// assert!(Npz::open(&path).is_err());
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> Result<Npz, Error> {
        let (path, call) = (path.as_ref(), Call::of("Npz::open"));
        let file = File::open(path).map_err(|error| call.cannot("read", path, error))?;
        let archive =
            ZipArchive::new(BufReader::new(file)).map_err(|error| call.cannot("read", path, error))?;
        Ok(Npz { path: path.into(), archive })
    }

    /// The names of its arrays, sorted.
    ///
    /// ```
    /// use pumice::{Npz, NpzWriter, Vector};
    /// let path = std::env::temp_dir().join(format!("pumice-names-{}.npz", std::process::id()));
    /// let mut writer = NpzWriter::create(&path)?;
    /// writer.add("ys", &Vector::from([1]))?;
    /// writer.add("xs", &Vector::from([2]))?;
    /// writer.finish()?;
    /// assert_eq!(Npz::open(&path)?.names(), ["xs", "ys"]);
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn names(&self) -> Vec<String> {
        let name = |name: &str| name.strip_suffix(ENDING).map(str::to_string);
        let mut names: Vec<String> = self.archive.file_names().filter_map(|file| name(&file.ok()?)).collect();
        names.sort();
        names
    }

    /// Reads an array. Fails if there is none of this name, or as [`Array::read_npy`] does.
    ///
    /// ```
    /// use pumice::{Dim1, Dim2, Npz, NpzWriter, Vector};
    /// let path = std::env::temp_dir().join(format!("pumice-read-{}.npz", std::process::id()));
    /// let mut writer = NpzWriter::create(&path)?;
    /// writer.add("xs", &Vector::from([1.5, 2.5]))?;
    /// writer.finish()?;
    /// let mut file = Npz::open(&path)?;
    /// let xs: Vector<f64> = file.read("xs")?;
    /// assert_eq!(xs, [1.5, 2.5]);
    /// assert!(file.read::<Dim1, f32>("xs").is_err(), "of another element type");
    /// assert!(file.read::<Dim2, f64>("xs").is_err(), "of another rank");
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn read<D: Shape, T: Elt>(&mut self, name: &str) -> Result<Array<D, T>, Error> {
        let (names, call) = (self.names(), Call::of("Npz::read"));
        let mut read = || {
            if !names.iter().any(|known| known == name) {
                return Err(format!("there is no array `{name}` in it; it has {}", names.join(", ")).into());
            }
            let entry = self.archive.by_name(&format!("{name}{ENDING}"))?;
            let length = entry.size();
            let array = typed(Arc::new(npy::read_from(entry, length)?));
            Ok(array.map_err(|reason| format!("`{name}`: {reason}"))?)
        };
        read().map_err(|reason: Reason| call.cannot("read", &self.path, reason))
    }
}

/// Writes a file of named arrays, which [`Npz`] and `numpy.load` read.
///
/// ```
/// use pumice::{Dim1, Npz, NpzWriter, Vector};
/// let path = std::env::temp_dir().join(format!("pumice-writer-{}.npz", std::process::id()));
/// let mut writer = NpzWriter::create(&path)?;
/// for (name, number) in [("first", 1), ("second", 2)] {
///     writer.add(name, &Vector::from([number]))?;
/// }
/// writer.finish()?;
/// assert_eq!(Npz::open(&path)?.read::<Dim1, i32>("second")?, [2]);
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct NpzWriter {
    path: PathBuf,
    archive: ZipWriter<BufWriter<File>>,
}

impl NpzWriter {
    /// Creates a file, in the place of one of its name.
    ///
    /// ```
    /// use pumice::{Npz, NpzWriter};
    /// let path = std::env::temp_dir().join(format!("pumice-created-{}.npz", std::process::id()));
    /// NpzWriter::create(&path)?.finish()?;
    /// assert!(Npz::open(&path)?.names().is_empty());
    /// assert!(NpzWriter::create("/no such folder/all.npz").is_err());
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn create(path: impl AsRef<Path>) -> Result<NpzWriter, Error> {
        let (path, call) = (path.as_ref(), Call::of("NpzWriter::create"));
        let file = File::create(path).map_err(|error| call.cannot("write", path, error))?;
        Ok(NpzWriter { path: path.into(), archive: ZipWriter::new(BufWriter::new(file)) })
    }

    /// Adds an array. Fails as [`Array::write_npy`] does, and if there is one of this name already.
    ///
    /// ```
    /// use pumice::{Matrix, NpzWriter, Vector};
    /// let path = std::env::temp_dir().join(format!("pumice-added-{}.npz", std::process::id()));
    /// let mut writer = NpzWriter::create(&path)?;
    /// writer.add("xs", &Vector::from([1, 2]))?;
    /// writer.add("m", &Matrix::from([[0.5, 1.5]]))?;
    /// assert!(writer.add("xs", &Vector::from([3])).is_err());
    /// writer.finish()?;
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn add<D: Shape, T: Elt>(&mut self, name: &str, array: &Array<D, T>) -> Result<(), Error> {
        let (data, call) = (&**array.data(), Call::of("NpzWriter::add"));
        let columns = whole_columns(data)?;
        let options =
            SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
        let mut written = || {
            self.archive.start_file(format!("{name}{ENDING}"), options)?;
            Ok(npy::write(data.extents(), data.types(), &columns, &mut self.archive)?)
        };
        written().map_err(|error: zip::result::ZipError| call.cannot("write", &self.path, error))
    }

    /// Writes the list of arrays, without which the file is none.
    ///
    /// ```
    /// use pumice::{Npz, NpzWriter, Vector};
    /// let path = std::env::temp_dir().join(format!("pumice-finished-{}.npz", std::process::id()));
    /// let mut writer = NpzWriter::create(&path)?;
    /// writer.add("xs", &Vector::from([1, 2]))?;
    /// writer.finish()?;
    /// assert_eq!(Npz::open(&path)?.names().len(), 1);
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn finish(self) -> Result<(), Error> {
        let (finished, call) = (self.archive.finish(), Call::of("NpzWriter::finish"));
        finished.map(|_| ()).map_err(|error| call.cannot("write", &self.path, error))
    }
}
