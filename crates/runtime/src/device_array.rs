//! Arrays in a device's memory: what runs give, fetched when somebody looks.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::pool::Pooled;
use crate::status::Status;
use pumice_array::{ArrayData, Error as ArrayError};
use pumice_scalar::ScalarType;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// An array in a device's memory.
pub(crate) struct DeviceArray {
    pub(crate) engine: Arc<Engine>,
    extents: Vec<usize>,
    types: Arc<[ScalarType]>,
    pub(crate) columns: Vec<Arc<Pooled>>,
    pub(crate) status: Arc<Status>,
    host: OnceLock<Result<Vec<Vec<u8>>>>,
}

impl DeviceArray {
    /// The array with these columns, one a type, which the run of this status computes.
    pub(crate) fn new(
        engine: Arc<Engine>,
        extents: Vec<usize>,
        types: Arc<[ScalarType]>,
        columns: Vec<Arc<Pooled>>,
        status: Arc<Status>,
    ) -> DeviceArray {
        DeviceArray { engine, extents, types, columns, status, host: OnceLock::new() }
    }

    fn fetch(&self) -> Result<Vec<Vec<u8>>> {
        self.status.check()?;
        let count: usize = self.extents.iter().product();
        let column = |(column, ty): (&Arc<Pooled>, &ScalarType)| {
            let mut bytes = vec![0; count * ty.bytes()];
            self.engine.device().download(column.memory()?, &mut bytes)?;
            Ok(bytes)
        };
        self.columns.iter().zip(&*self.types).map(column).collect()
    }
}

impl ArrayData for DeviceArray {
    fn extents(&self) -> &[usize] {
        &self.extents
    }
    fn types(&self) -> &[ScalarType] {
        &self.types
    }
    fn columns(&self) -> std::result::Result<Vec<Cow<'_, [u8]>>, ArrayError> {
        match self.host.get_or_init(|| self.fetch()) {
            Ok(columns) => Ok(columns.iter().map(|column| Cow::Borrowed(column.as_slice())).collect()),
            Err(error) => Err(into_array_error(error.clone())),
        }
    }
}

fn into_array_error(error: Error) -> ArrayError {
    match error {
        Error::Failure(message) => ArrayError::Failure(message),
        error => ArrayError::Device(Arc::new(error)),
    }
}
