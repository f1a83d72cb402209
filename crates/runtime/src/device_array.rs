//! Arrays in a device's memory: the results of runs, fetched when they are read.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::host_memory::{HostMemory, zeroed};
use crate::pool::Pooled;
use crate::profile::{self, Activity, Facts, Span};
use crate::status::Status;
use pumice_array::{ArrayData, Error as ArrayError, stretch_of};
use pumice_scalar::{Place, ScalarType};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// An array in a device's memory.
pub(crate) struct DeviceArray {
    pub(crate) engine: Arc<Engine>,
    /// The extents, or the most that they can be.
    bounds: Vec<usize>,
    /// For extents that only the device knows, the cells that they are in.
    lengths: Vec<Option<Arc<Pooled>>>,
    /// The extents, once they were asked for.
    extents: OnceLock<Vec<usize>>,
    types: Arc<[ScalarType]>,
    /// The operation that it is the result of, if there is one.
    place: Option<Place>,
    pub(crate) columns: Vec<Arc<Pooled>>,
    pub(crate) status: Arc<Status>,
    /// The elements, once they were fetched.
    host: OnceLock<Vec<HostMemory>>,
}

impl DeviceArray {
    /// Makes the array with these columns, one per type, which the run of this status computes.
    pub(crate) fn new(
        engine: Arc<Engine>,
        extents: Vec<usize>,
        types: Arc<[ScalarType]>,
        columns: Vec<Arc<Pooled>>,
        status: Arc<Status>,
    ) -> DeviceArray {
        let (lengths, extents_known, host) = (Vec::new(), OnceLock::new(), OnceLock::new());
        let (bounds, extents, place) = (extents, extents_known, None);
        DeviceArray { engine, bounds, lengths, extents, types, place, columns, status, host }
    }

    /// The same with extents that are in these cells, where there is one.
    pub(crate) fn with_lengths(mut self, lengths: Vec<Option<Arc<Pooled>>>) -> DeviceArray {
        self.lengths = lengths;
        self
    }

    /// The same as the result of this operation.
    pub(crate) fn at(mut self, place: impl Into<Option<Place>>) -> DeviceArray {
        self.place = place.into();
        self
    }

    /// Waits for the device and reads the extents that only it knows.
    fn find_extents(&self) -> Result<Vec<usize>> {
        if self.lengths.iter().any(Option::is_some) {
            self.status.check()?;
        }
        let length = |(bound, cell): (&usize, Option<&Arc<Pooled>>)| {
            let Some(cell) = cell else { return Ok(*bound) };
            let mut bytes = [0u8; 8];
            self.engine.device().download(cell.memory()?, &mut bytes)?;
            Ok(usize::try_from(i64::from_le_bytes(bytes)).unwrap_or(0).min(*bound))
        };
        let cells = self.lengths.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        self.bounds.iter().zip(cells).map(length).collect()
    }

    /// Fetches some of the elements, and nothing else.
    fn fetch_stretch(&self, elements: Range<usize>) -> Result<Vec<Cow<'_, [u8]>>> {
        let column = |(column, ty): (&Arc<Pooled>, &ScalarType)| {
            let mut bytes = zeroed(elements.len().saturating_mul(ty.bytes()))?;
            let first = elements.start.saturating_mul(ty.bytes());
            self.engine.device().download_from(column.memory()?, first, &mut bytes)?;
            Ok(Cow::Owned(bytes))
        };
        profile::at(self.place, || {
            self.status.check()?;
            self.columns.iter().zip(&*self.types).map(column).collect()
        })
    }

    pub(crate) fn fetch(&self) -> Result<Vec<HostMemory>> {
        let fetched = profile::at(self.place, || {
            let span = Span::begin();
            let fetched = self.fetched();
            span.end(Activity::Download(self.engine.device().name()), || {
                let bytes =
                    |columns: &Vec<HostMemory>| columns.iter().map(|column| column.len() as u64).sum();
                Facts { bytes_read: fetched.as_ref().map_or(0, bytes), ..Facts::of("download") }
            });
            fetched
        });
        // The device has done what was in its queue.
        profile::settle();
        fetched
    }

    fn fetched(&self) -> Result<Vec<HostMemory>> {
        self.status.check()?;
        let count: usize = self.extents().iter().product();
        let column = |(column, ty): (&Arc<Pooled>, &ScalarType)| {
            let mut bytes = HostMemory::any(count.saturating_mul(ty.bytes()))?;
            let device = &**self.engine.device();
            bytes.prepare_for(device);
            device.download(column.memory()?, &mut bytes)?;
            Ok(bytes)
        };
        self.columns.iter().zip(&*self.types).map(column).collect()
    }
}

impl ArrayData for DeviceArray {
    /// Of a run that failed, extents that only the device knew are 0; the failure is told with the elements.
    fn extents(&self) -> &[usize] {
        if self.extents.get().is_none() {
            let none = || {
                let unknown = self.lengths.iter().map(Option::is_some).chain(std::iter::repeat(false));
                self.bounds
                    .iter()
                    .zip(unknown)
                    .map(|(bound, unknown)| if unknown { 0 } else { *bound })
                    .collect()
            };
            // Not in `get_or_init`; see `columns`.
            let _ = self.extents.set(self.find_extents().unwrap_or_else(|_| none()));
        }
        self.extents.get().map_or(&[], Vec::as_slice)
    }
    fn types(&self) -> &[ScalarType] {
        &self.types
    }
    fn columns(&self) -> std::result::Result<Vec<Cow<'_, [u8]>>, ArrayError> {
        if self.host.get().is_none() {
            // Not in `get_or_init`: the device may share the download among Rayon's workers, and one of them may take up
            // another task that looks at this array, and would wait for itself. Several threads may fetch; the first one's
            // copy is kept. An error is not: the host may have more memory the next time.
            let fetched = self.fetch().map_err(into_array_error)?;
            let _ = self.host.set(fetched);
        }
        let columns = self.host.get().into_iter().flatten();
        Ok(columns.map(|column| Cow::Borrowed(&**column)).collect())
    }
    fn stretch(&self, elements: Range<usize>) -> std::result::Result<Vec<Cow<'_, [u8]>>, ArrayError> {
        let count: usize = self.extents().iter().product();
        let is_part = (elements.start > 0 || elements.end < count) && elements.end <= count;
        // The whole is kept for the next time.
        if self.host.get().is_some() || !is_part {
            return stretch_of(self.columns()?, &self.types, elements);
        }
        self.fetch_stretch(elements).map_err(into_array_error)
    }
}

/// Elements of a device's array in the host's memory.
pub(crate) struct Fetched {
    pub(crate) extents: Vec<usize>,
    pub(crate) types: Arc<[ScalarType]>,
    pub(crate) columns: Vec<HostMemory>,
}

impl ArrayData for Fetched {
    fn extents(&self) -> &[usize] {
        &self.extents
    }
    fn types(&self) -> &[ScalarType] {
        &self.types
    }
    fn columns(&self) -> std::result::Result<Vec<Cow<'_, [u8]>>, ArrayError> {
        Ok(self.columns.iter().map(|column| Cow::Borrowed(&**column)).collect())
    }
}

pub(crate) fn into_array_error(error: Error) -> ArrayError {
    match error {
        Error::Failure(message) => ArrayError::Failure(message),
        Error::OutOfHostMemory { bytes } => ArrayError::HostMemory { bytes },
        error => ArrayError::Device(Arc::new(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_the_host_cannot_hold_is_an_error() -> Result<()> {
        let engine = Engine::of(crate::open("sim")?);
        let status = Status::new(engine.device().clone(), None, [].into(), []);
        let column = engine.allocate(4)?;
        let array = DeviceArray::new(engine, vec![1 << 50], [ScalarType::I32].into(), vec![column], status);
        let Err(ArrayError::HostMemory { bytes }) = array.columns() else {
            panic!("2^52 bytes were fetched")
        };
        assert_eq!(bytes, 1 << 52);
        Ok(())
    }
}
