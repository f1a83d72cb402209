//! Engine of one device: its memory and its kernels.

use crate::deadline::{Deadline, STOP_BYTES};
use crate::device::{CompiledKernel, Device};
use crate::device_array::{DeviceArray, Fetched};
use crate::error::{Error, Result};
use crate::kernel_table::KernelTable;
use crate::plan_table::PlanTable;
use crate::pool::{Pool, Pooled};
use crate::profile::{self, Activity, Facts, Span};
use crate::status::Status;
use pumice_array::{ArrayData, Error as ArrayError, Resources, View, whole_columns};
use pumice_emit::EmitOptions;
use pumice_program::{Verified, make_stoppable};
use pumice_scalar::ScalarType;
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// A device with the memory and kernels that programs share on it.
pub struct Engine {
    device: Arc<dyn Device>,
    pool: Arc<Pool>,
    kernels: KernelTable,
    plans: PlanTable,
    /// The memory table: device copies of host arrays, as long as those live.
    copies: Mutex<HashMap<usize, Copy>>,
}

/// An array's columns on a device, and the status of the run that computes them.
pub(crate) type Resident = (Vec<Arc<Pooled>>, Option<Arc<Status>>);

/// A host array's copy.
struct Copy {
    of: Weak<dyn ArrayData>,
    columns: Vec<Arc<Pooled>>,
}

impl Engine {
    /// Returns the engine of a device; one for each in a process. Engines of devices that can be opened by name live on, with the
    /// kernels that they know; those of others as long as they are in use.
    pub fn of(device: Arc<dyn Device>) -> Arc<Engine> {
        profile::begin();
        static ENGINES: Mutex<Vec<Weak<Engine>>> = Mutex::new(Vec::new());
        static KEPT: Mutex<Vec<Arc<Engine>>> = Mutex::new(Vec::new());
        let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
        engines.retain(|engine| engine.strong_count() > 0);
        let known = engines.iter().filter_map(Weak::upgrade);
        if let Some(engine) = known.into_iter().find(|engine| engine.device.id() == device.id()) {
            return engine;
        }
        let engine = Arc::new(Engine {
            pool: Pool::new(device.clone()),
            device,
            kernels: KernelTable::new(),
            plans: PlanTable::default(),
            copies: Mutex::default(),
        });
        engines.push(Arc::downgrade(&engine));
        if crate::devices::open(&engine.device.name().to_string())
            .is_ok_and(|open| open.id() == engine.device.id())
        {
            KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(engine.clone());
        }
        engine
    }

    /// The device.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// The kernels.
    pub fn kernels(&self) -> &KernelTable {
        &self.kernels
    }

    /// The plans that were made.
    pub fn plans(&self) -> &PlanTable {
        &self.plans
    }

    /// The compiled kernel of a program; of one that can be stopped, its stop record is the last parameter.
    pub(crate) fn kernel(
        &self,
        program: &Verified,
        options: &EmitOptions,
        stoppable: bool,
    ) -> Result<Arc<CompiledKernel>> {
        let program = with_stop(program, stoppable)?;
        self.kernels.get_or_build(&*self.device, &program, &program.key_text(), options)
    }

    /// Returns what the compiled kernel of a program needs, as far as the device tells.
    pub fn resources(&self, program: &Verified, options: &EmitOptions) -> Result<Resources> {
        self.device.resources(&*self.kernel(program, options, false)?)
    }

    /// A deadline with memory for its record, if there is a limit.
    pub(crate) fn deadline(
        &self,
        limit: Option<Duration>,
        place: impl FnOnce() -> Arc<str>,
    ) -> Result<Option<Deadline>> {
        let deadline = |limit| Ok(Deadline { record: self.allocate(STOP_BYTES)?, limit, place: place() });
        limit.map(deadline).transpose()
    }

    /// Memory for at least so many bytes. If the device has no room for it, copies of host arrays that are gone are released
    /// and the pool is emptied first.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Arc<Pooled>> {
        self.pool.take(bytes, || self.forget_copies())
    }

    /// Returns the bytes of device memory that arrays, runs and device copies of host arrays hold. Free memory that is kept to be
    /// used again does not count.
    ///
    /// ```
    /// use pumice::layers::runtime::{Engine, devices::Sim};
    /// use pumice::{Compiler, prelude::*};
    /// use std::sync::Arc;
    /// let device = Arc::new(Sim::with_memory(1 << 20));
    /// let (engine, compiler) = (Engine::of(device.clone()), Compiler::with(device));
    /// let numbers = compiler.run(fill(1000, 7i32))?;
    /// assert_eq!(engine.memory_in_use(), 4000);
    /// drop(numbers);
    /// assert_eq!(engine.memory_in_use(), 0);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn memory_in_use(&self) -> usize {
        self.forget_copies();
        self.pool.in_use()
    }

    /// Returns the most bytes of [`Engine::memory_in_use`] at a time since the last call of this function.
    pub fn most_memory_in_use(&self) -> usize {
        self.forget_copies();
        self.pool.most_in_use()
    }

    /// Releases device copies of host arrays that are gone. That happens by itself with the next array that is brought here.
    pub fn forget_copies(&self) {
        let (copies, gone) = self.living_copies();
        drop(copies);
        drop(gone);
    }

    /// The memory table, and copies of arrays that are gone, which were taken out of it: to be dropped without the lock.
    fn living_copies(&self) -> (MutexGuard<'_, HashMap<usize, Copy>>, Vec<Copy>) {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = copies.extract_if(|_, copy| copy.of.strong_count() == 0).map(|(_, copy)| copy).collect();
        (copies, gone)
    }

    /// An array as this device has it, if it does.
    fn device_array<'a>(&self, data: &'a dyn ArrayData) -> Option<&'a DeviceArray> {
        let any: &dyn Any = data;
        any.downcast_ref::<DeviceArray>().filter(|array| std::ptr::eq(&*array.engine, self))
    }

    /// The memory of an array on this device: its own, or a copy that is made now. With it comes the status of the run
    /// that computes it.
    pub(crate) fn resident(&self, data: &Arc<dyn ArrayData>) -> Result<Resident> {
        // Views that begin where their array does need no memory of their own.
        let begun = (&**data as &dyn Any).downcast_ref::<View>().and_then(View::begun);
        if let Some(array) = self.device_array(begun.map_or(&**data, |base| &**base)) {
            return Ok((array.columns.clone(), Some(array.status.clone())));
        }
        let key = Arc::as_ptr(data).cast::<()>() as usize;
        let known = {
            let (copies, gone) = self.living_copies();
            let known = copies.get(&key).map(|copy| copy.columns.clone());
            drop(copies);
            drop(gone);
            known
        };
        if let Some(columns) = known {
            return Ok((columns, None));
        }
        let columns = self.uploaded(&**data)?;
        let copy = Copy { of: Arc::downgrade(data), columns: columns.clone() };
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).insert(key, copy);
        Ok((columns, None))
    }

    /// Returns the memory of an array on this device, to be changed: its own if nothing else holds it, or a copy of its own.
    pub(crate) fn own(&self, data: &Arc<dyn ArrayData>) -> Result<Resident> {
        let Some(array) = self.device_array(&**data) else { return Ok((self.uploaded(&**data)?, None)) };
        let status = Some(array.status.clone());
        let alone =
            Arc::strong_count(data) == 1 && array.columns.iter().all(|column| Arc::strong_count(column) == 1);
        if alone {
            return Ok((array.columns.clone(), status));
        }
        let count: usize = data.extents().iter().product();
        let copy = |(column, ty): (&Arc<Pooled>, &ScalarType)| {
            let copy = self.allocate(count * ty.bytes())?;
            self.device.copy(column.memory()?, copy.memory()?, count * ty.bytes())?;
            Ok(copy)
        };
        let columns = array.columns.iter().zip(data.types()).map(copy).collect::<Result<Vec<_>>>()?;
        Ok((columns, status))
    }

    /// An array with the same elements that is on this device.
    pub fn upload(self: &Arc<Self>, data: &Arc<dyn ArrayData>) -> Result<Arc<dyn ArrayData>> {
        if self.device_array(&**data).is_some() {
            return Ok(data.clone());
        }
        let columns = self.uploaded(&**data)?;
        let status = Status::new(self.device.clone(), None, [].into(), []);
        let (extents, types) = (data.extents().to_vec(), data.types().into());
        Ok(Arc::new(DeviceArray::new(self.clone(), extents, types, columns, status)))
    }

    /// As [`Engine::upload`], but the copy is the one that runs share as long as the array lives, and is not to be changed.
    pub fn shared(self: &Arc<Self>, data: &Arc<dyn ArrayData>) -> Result<Arc<dyn ArrayData>> {
        if self.device_array(&**data).is_some() {
            return Ok(data.clone());
        }
        let (columns, _) = self.resident(data)?;
        let status = Status::new(self.device.clone(), None, [].into(), []);
        let (extents, types) = (data.extents().to_vec(), data.types().into());
        Ok(Arc::new(DeviceArray::new(self.clone(), extents, types, columns, status)))
    }

    /// An array with the same elements in the host's memory, where no copy of it is kept on the device.
    pub fn download(&self, data: &Arc<dyn ArrayData>) -> Result<Arc<dyn ArrayData>> {
        let Some(array) = self.device_array(&**data) else { return Ok(data.clone()) };
        let (columns, extents) = (array.fetch()?, data.extents().to_vec());
        Ok(Arc::new(Fetched { extents, types: data.types().into(), columns }))
    }

    fn uploaded(&self, data: &dyn ArrayData) -> Result<Vec<Arc<Pooled>>> {
        let host = whole_columns(data).map_err(from_array_error)?;
        let span = Span::begin();
        let column = |bytes: &Cow<'_, [u8]>| {
            let pooled = self.allocate(bytes.len())?;
            self.device.upload(pooled.memory()?, bytes)?;
            Ok(pooled)
        };
        let columns = host.iter().map(column).collect();
        span.end(Activity::Upload(self.device.name()), || {
            let bytes_read = host.iter().map(|column| column.len() as u64).sum();
            Facts { bytes_read, ..Facts::of("upload") }
        });
        columns
    }
}

/// A program, with a stop record if its runs may be stopped.
pub(crate) fn with_stop(program: &Verified, stoppable: bool) -> Result<Cow<'_, Verified>> {
    if !stoppable {
        return Ok(Cow::Borrowed(program));
    }
    make_stoppable(program).map(Cow::Owned).map_err(|error| Error::Invalid(error.to_string().into()))
}

/// An error of the array language as one of the runtime.
pub fn from_array_error(error: ArrayError) -> Error {
    match error {
        ArrayError::Shape(message) | ArrayError::Program(message) => Error::Invalid(message),
        ArrayError::Failure(message) => Error::Failure(message),
        ArrayError::HostMemory { bytes } => Error::OutOfHostMemory { bytes },
        ArrayError::File { action, path, reason, place, cause } => {
            Error::File { action, path, reason, place, cause }
        }
        ArrayError::Device(inner) => {
            let any: Option<&Error> = inner.downcast_ref();
            any.cloned().unwrap_or_else(|| Error::Invalid(inner.to_string().into()))
        }
    }
}

impl From<ArrayError> for Error {
    fn from(error: ArrayError) -> Error {
        from_array_error(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pumice_array::Vector;

    #[test]
    fn copies_of_arrays_that_are_gone_are_forgotten() -> Result<()> {
        let engine = Engine::of(crate::open("sim")?);
        let kept = Vector::from(vec![0i32]);
        for length in 0..2000 {
            let array = Vector::from(vec![1i32; length]);
            engine.resident(array.data())?;
            engine.resident(kept.data())?;
        }
        let copies = engine.copies.lock().unwrap_or_else(PoisonError::into_inner).len();
        // Other tests use the same engine.
        assert!(copies < 100, "{copies} copies");
        Ok(())
    }
}
