//! Files as arrays without reading them first: the system loads pages as they are looked at, and an upload goes from the file's
//! pages to the device in pieces.

use super::files::{Call, Reason};
use super::npy::{Header, typed};
use crate::data::{Array, ArrayData, HostData, Vector};
use crate::error::Error;
use crate::shape::Shape;
use memmap2::Mmap;
use pumice_scalar::{Elt, Primitive, ScalarType};
use std::borrow::Cow;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Elements of one scalar each in a file.
struct Mapped {
    map: Mmap,
    start: usize,
    extents: Vec<usize>,
    types: [ScalarType; 1],
}

impl ArrayData for Mapped {
    fn extents(&self) -> &[usize] {
        &self.extents
    }
    fn types(&self) -> &[ScalarType] {
        &self.types
    }
    fn columns(&self) -> Result<Vec<Cow<'_, [u8]>>, Error> {
        Ok(vec![Cow::Borrowed(self.map.get(self.start..).unwrap_or(&[]))])
    }
}

/// Why a file is not mapped.
type Outcome<T> = Result<T, Reason>;

/// Maps a file; nothing if it is empty, which no system maps.
///
/// # Safety
/// Nobody changes the file as long as it is mapped.
unsafe fn map(path: &Path) -> Outcome<Option<Mmap>> {
    let mapped = || {
        let file = File::open(path)?;
        match file.metadata()?.len() {
            0 => Ok(None),
            // SAFETY: as the caller promises.
            _ => unsafe { Mmap::map(&file) }.map(Some),
        }
    };
    mapped().map_err(|error: std::io::Error| error.into())
}

/// The elements of a map, whose length was checked.
fn elements(map: Mmap, start: usize, extents: Vec<usize>, ty: ScalarType) -> Outcome<Arc<dyn ArrayData>> {
    let data = Mapped { map, start, extents, types: [ty] };
    if ty == ScalarType::Bool && data.map.iter().skip(start).any(|byte| *byte > 1) {
        return Err("it has bytes other than 0 and 1, which are no truth values".into());
    }
    Ok(Arc::new(data))
}

impl<T: Primitive> Vector<T> {
    /// Makes a vector of a file of elements as they are in memory, little-endian, without reading it: a use on a device brings it there in
    /// pieces. [`Array::reshape`] makes it a matrix. Fails if there is no such file, or its length is not one of so many elements.
    ///
    /// # Safety
    /// Nobody changes the file as long as the array or a copy of it lives.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let path = std::env::temp_dir().join(format!("pumice-{}.raw", std::process::id()));
    /// std::fs::write(&path, [1, 0, 0, 0, 2, 0, 0, 0]).expect("a file");
    /// // SAFETY: nobody else knows the file.
    /// let numbers = unsafe { Vector::<u32>::map_file(&path)? };
    /// assert_eq!(pumice::run(use_(&numbers).sum())?.to_value()?, 3);
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub unsafe fn map_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        let (path, size, call) = (path.as_ref(), T::TYPE.bytes(), Call::of("map_file"));
        // SAFETY: as the caller promises.
        let data = unsafe { map(path) }.and_then(|map| {
            let Some(map) = map else {
                return Ok(
                    Arc::new(HostData::new(vec![0], T::types(), vec![Vec::new()])) as Arc<dyn ArrayData>
                );
            };
            let bytes = map.len();
            match bytes % size {
                0 => elements(map, 0, vec![bytes / size], T::TYPE),
                _ => Err(format!("its {bytes} bytes are no whole number of elements of {size} bytes").into()),
            }
        });
        data.and_then(|data| Ok(typed(data)?)).map_err(|reason| call.cannot("map", path, reason))
    }
}

impl<D: Shape, T: Elt> Array<D, T> {
    /// Like [`Array::read_npy`], without reading the file: a use on a device brings it there in pieces. Fails also if the file must be
    /// converted.
    ///
    /// # Safety
    /// Nobody changes the file as long as the array or a copy of it lives.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let path = std::env::temp_dir().join(format!("pumice-mapped-{}.npy", std::process::id()));
    /// Matrix::from([[1.5f32, 2.5], [3.5, 4.5]]).write_npy(&path)?;
    /// // SAFETY: nobody else knows the file.
    /// let m = unsafe { Matrix::<f32>::map_npy(&path)? };
    /// assert_eq!(m.row(1)?, [3.5, 4.5]);
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub unsafe fn map_npy(path: impl AsRef<Path>) -> Result<Self, Error> {
        let (path, call) = (path.as_ref(), Call::of("map_npy"));
        // SAFETY: as the caller promises.
        let data = unsafe { map(path) }.and_then(|map| {
            let map = map.ok_or("this is no NumPy file")?;
            let header = Header::read(&map)?;
            header.check_length(map.len() as u64)?;
            let start = header.plain_start().ok_or(
                "its elements are big-endian, stand column by column or have several parts; `read_npy` converts them",
            )?;
            let ty = header.types().first().copied().ok_or("it has no type")?;
            elements(map, start, header.extents().to_vec(), ty)
        });
        data.and_then(|data| Ok(typed(data)?)).map_err(|reason| call.cannot("map", path, reason))
    }
}
