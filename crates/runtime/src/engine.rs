//! One device at work: its memory, its kernels, and the execution of plans.

use crate::deadline::{Deadline, STOP_BYTES};
use crate::device::{Argument, Device, Kernel};
use crate::device_array::DeviceArray;
use crate::error::{Error, Result};
use crate::kernel_table::KernelTable;
use crate::pool::{Pool, Pooled};
use crate::status::{RECORD_BYTES, Status};
use pumice_array::{
    Argument as PlanArgument, ArrayData, Error as ArrayError, Operation, Plan, Step, whole_columns,
};
use pumice_emit::Options;
use pumice_program::{Stmt, Verified, make_stoppable};
use pumice_scalar::{Constant, ScalarType};
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// A device with the memory and kernels that programs share on it.
pub struct Engine {
    device: Arc<dyn Device>,
    pool: Arc<Pool>,
    kernels: KernelTable,
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
    /// The engine of a device; one for each in a process. Engines of devices that can be opened by name live on, with the
    /// kernels that they know; those of others as long as somebody uses them.
    pub fn of(device: Arc<dyn Device>) -> Arc<Engine> {
        static ENGINES: Mutex<Vec<Weak<Engine>>> = Mutex::new(Vec::new());
        static KEPT: Mutex<Vec<Arc<Engine>>> = Mutex::new(Vec::new());
        let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
        engines.retain(|engine| engine.strong_count() > 0);
        let known = engines.iter().filter_map(Weak::upgrade);
        if let Some(engine) = known.into_iter().find(|engine| same_device(&engine.device, &device)) {
            return engine;
        }
        let engine = Arc::new(Engine {
            pool: Pool::new(device.clone()),
            device,
            kernels: KernelTable::new(),
            copies: Mutex::default(),
        });
        engines.push(Arc::downgrade(&engine));
        if crate::devices::open(engine.device.name()).is_ok_and(|open| same_device(&open, &engine.device)) {
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

    /// The compiled kernel of a program; of one that can be stopped, its stop record is the last parameter.
    pub(crate) fn kernel(
        &self,
        program: &Verified,
        options: &Options,
        stoppable: bool,
    ) -> Result<Arc<Kernel>> {
        let program = with_stop(program, stoppable)?;
        self.kernels.get_or_build(&*self.device, &program, &program.key_text(), options)
    }

    /// A deadline with memory for its record, if there is a limit.
    pub(crate) fn deadline(
        &self,
        limit: Option<Duration>,
        place: impl FnOnce() -> Arc<str>,
    ) -> Result<Option<Deadline>> {
        let deadline = |limit| Ok(Deadline { record: self.pool.take(STOP_BYTES)?, limit, place: place() });
        limit.map(deadline).transpose()
    }

    /// Memory for at least so many bytes.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Arc<Pooled>> {
        self.pool.take(bytes)
    }

    /// An array as this device has it, if it does.
    fn device_array<'a>(&self, data: &'a dyn ArrayData) -> Option<&'a DeviceArray> {
        let any: &dyn Any = data;
        any.downcast_ref::<DeviceArray>().filter(|array| std::ptr::eq(&*array.engine, self))
    }

    /// The memory of an array on this device: its own, or a copy that is made now. With it comes the status of the run
    /// that computes it.
    pub(crate) fn resident(&self, data: &Arc<dyn ArrayData>) -> Result<Resident> {
        if let Some(array) = self.device_array(&**data) {
            return Ok((array.columns.clone(), Some(array.status.clone())));
        }
        let key = Arc::as_ptr(data).cast::<()>() as usize;
        let known = {
            let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
            copies.retain(|_, copy| copy.of.strong_count() > 0);
            copies.get(&key).map(|copy| copy.columns.clone())
        };
        if let Some(columns) = known {
            return Ok((columns, None));
        }
        let columns = self.uploaded(&**data)?;
        let copy = Copy { of: Arc::downgrade(data), columns: columns.clone() };
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).insert(key, copy);
        Ok((columns, None))
    }

    /// The memory of an array on this device, to be changed: its own if nobody else holds it, or a copy of its own.
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
            let copy = self.pool.take(count * ty.bytes())?;
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

    fn uploaded(&self, data: &dyn ArrayData) -> Result<Vec<Arc<Pooled>>> {
        let host = whole_columns(data).map_err(from_array_error)?;
        let column = |bytes: &Cow<'_, [u8]>| {
            let pooled = self.pool.take(bytes.len())?;
            self.device.upload(pooled.memory()?, bytes)?;
            Ok(pooled)
        };
        host.iter().map(column).collect()
    }
}

/// A program, with a stop record if its runs may be stopped.
fn with_stop(program: &Verified, stoppable: bool) -> Result<Cow<'_, Verified>> {
    if !stoppable {
        return Ok(Cow::Borrowed(program));
    }
    make_stoppable(program).map(Cow::Owned).map_err(|error| Error::Invalid(error.to_string()))
}

/// Whether two handles are one device.
fn same_device(one: &Arc<dyn Device>, other: &Arc<dyn Device>) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(other))
}

/// A plan with its kernels, ready to be executed many times.
pub struct Prepared {
    plan: Plan,
    /// For each launch of the plan the kernel and the number of blocks.
    launches: Vec<(Arc<Kernel>, u64)>,
    /// How long a run may take.
    limit: Option<Duration>,
}

/// Arguments of a program by their numbers: arrays and scalars.
#[derive(Default)]
pub struct Inputs {
    /// The arrays.
    pub arrays: HashMap<u32, Arc<dyn ArrayData>>,
    /// The scalars; numbers that are arrays' have any value.
    pub scalars: Vec<Constant>,
}

impl Prepared {
    /// Compiles the kernels of a plan where they are not compiled yet, on as many threads as there are cores, while the
    /// inputs are brought to the device. A run may take as long as `limit` says.
    pub fn new(
        engine: &Engine,
        plan: Plan,
        options: &Options,
        inputs: &Inputs,
        limit: Option<Duration>,
    ) -> Result<Prepared> {
        let programs = plan.launches().map(|launch| with_stop(&launch.program, limit.is_some()));
        let programs = programs.collect::<Result<Vec<_>>>()?;
        let programs: Vec<&Verified> = programs.iter().map(|program| &**program).collect();
        let upload = || {
            let arrays = plan.inputs().iter().filter_map(|input| given(&input.node.operation, inputs));
            arrays.into_iter().try_for_each(|data| engine.resident(data).map(drop))
        };
        let kernels = engine.kernels.get_or_build_all(&*engine.device, &programs, options, upload)?;
        let blocks = plan.launches().map(|launch| {
            // How many blocks there are depends on extents only, and those are constants of the plan.
            let values = launch.arguments.iter().zip(&launch.program.params);
            let scalars = values.filter_map(|(argument, param)| match (argument, param) {
                (PlanArgument::Constant(constant), _) => Some(*constant),
                (_, pumice_program::Param::Scalar(var)) => {
                    Some(Constant::zero(launch.program.var_type(*var)))
                }
                _ => None,
            });
            let scalars: Vec<Constant> = scalars.collect();
            let blocks =
                launch.program.blocks_for(&scalars).map_err(|error| Error::Invalid(error.to_string()))?;
            match blocks <= pumice_program::MAX_BLOCKS as u64 {
                true => Ok(blocks),
                false => Err(Error::Invalid(format!("{} needs {blocks} blocks, too many", launch.place))),
            }
        });
        let blocks = blocks.collect::<Result<Vec<u64>>>()?;
        Ok(Prepared { plan, launches: kernels.into_iter().zip(blocks).collect(), limit })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Reserves memory for an execution on these inputs.
    pub fn bind<'a>(&'a self, engine: &Arc<Engine>, inputs: &Inputs) -> Result<Execution<'a>> {
        let plan = &self.plan;
        let mut memories: Vec<Option<Arc<Pooled>>> = vec![None; plan.buffers().len()];
        let mut before = Vec::new();
        let mut given_data = HashMap::new();
        for input in plan.inputs() {
            let data = given(&input.node.operation, inputs)
                .ok_or_else(|| Error::Invalid(format!("{} has no array", input.node.place())))?;
            let fits =
                |buffer: &usize| plan.buffers()[*buffer].length == data.extents().iter().product::<usize>();
            let types: Vec<ScalarType> =
                input.buffers.iter().map(|buffer| plan.buffers()[*buffer].ty).collect();
            if !input.buffers.iter().all(fits) || data.types() != types {
                return Err(Error::Invalid(format!(
                    "{} is given another array than planned",
                    input.node.place()
                )));
            }
            let (columns, status) = engine.resident(data)?;
            before.extend(status);
            for (buffer, column) in input.buffers.iter().zip(columns) {
                // Whoever implements `ArrayData` may have another length each time it is asked.
                column.memory()?.check_copy("an input", plan.buffers()[*buffer].bytes())?;
                memories[*buffer] = Some(column);
                given_data.insert(*buffer, data.clone());
            }
        }
        let record = match plan.sites().is_empty() {
            true => None,
            false => Some(engine.pool.take(RECORD_BYTES)?),
        };
        // Work happens in order, so what is released can be written by a later launch.
        let mut released: HashMap<usize, Vec<Arc<Pooled>>> = HashMap::new();
        let mut launches = Vec::new();
        let mut compiled = self.launches.iter();
        for step in plan.steps() {
            match step {
                Step::Allocate(number) => {
                    let bytes = plan.buffers()[*number].bytes();
                    let again = released.get_mut(&bytes).and_then(Vec::pop);
                    memories[*number] = Some(again.map_or_else(|| engine.pool.take(bytes), Ok)?);
                }
                Step::Release(number) => {
                    let bytes = plan.buffers()[*number].bytes();
                    if !given_data.contains_key(number)
                        && let Some(memory) = &memories[*number]
                    {
                        released.entry(bytes).or_default().push(memory.clone());
                    }
                }
                Step::Launch(launch) => {
                    let argument = |argument: &PlanArgument| match argument {
                        PlanArgument::Buffer(number) => memories[*number].clone().map(Bound::Memory),
                        PlanArgument::Constant(constant) => Some(Bound::Scalar(*constant)),
                        PlanArgument::Scalar(number) => {
                            inputs.scalars.get(*number as usize).map(|constant| Bound::Scalar(*constant))
                        }
                        PlanArgument::Failure => record.clone().map(Bound::Memory),
                        PlanArgument::FailureBase => None,
                    };
                    let arguments = launch.arguments.iter().map(argument).collect::<Option<Vec<_>>>();
                    let arguments = arguments.ok_or_else(|| {
                        Error::Invalid(format!("an argument of {} is missing", launch.place))
                    })?;
                    let clear = |number: &usize| {
                        memories[*number].clone().map(|memory| (memory, plan.buffers()[*number].bytes()))
                    };
                    let clears = launch.clears.iter().filter_map(clear).collect();
                    if let Some((kernel, blocks)) = compiled.next() {
                        launches.push(Bindings {
                            kernel: kernel.clone(),
                            blocks: *blocks,
                            arguments,
                            clears,
                        });
                    }
                }
            }
        }
        let deadline = engine.deadline(self.limit, || places(plan).into())?;
        let (device, sites) = (engine.device.clone(), plan.sites().into());
        let status = Status::with_deadline(device, record.clone(), sites, before, deadline.clone());
        let engine = engine.clone();
        Ok(Execution { engine, plan, memories, given: given_data, record, deadline, launches, status })
    }
}

/// The operations of a plan in which a run may be stopped: those whose kernels may loop for ever, or all if there is none.
fn places(plan: &Plan) -> String {
    fn may_go_on(stmt: &Stmt) -> bool {
        matches!(stmt, Stmt::While { .. }) || stmt.children().into_iter().flatten().any(may_go_on)
    }
    let endless = plan.launches().filter(|launch| launch.program.body.iter().any(may_go_on));
    let mut places: Vec<String> = endless.map(|launch| launch.place.to_string()).collect();
    if places.is_empty() {
        places = plan.launches().map(|launch| launch.place.to_string()).collect();
    }
    places.dedup();
    places.join(" or ")
}

fn given<'a>(operation: &'a Operation, inputs: &'a Inputs) -> Option<&'a Arc<dyn ArrayData>> {
    match operation {
        Operation::Use(data) => Some(data),
        Operation::Argument(number) => inputs.arrays.get(number),
        _ => None,
    }
}

enum Bound {
    Memory(Arc<Pooled>),
    Scalar(Constant),
}

/// A kernel with the memory of one launch.
struct Bindings {
    kernel: Arc<Kernel>,
    blocks: u64,
    arguments: Vec<Bound>,
    /// Memory that is zeroed first, with its bytes.
    clears: Vec<(Arc<Pooled>, usize)>,
}

/// A plan bound to memory.
pub struct Execution<'a> {
    engine: Arc<Engine>,
    plan: &'a Plan,
    memories: Vec<Option<Arc<Pooled>>>,
    given: HashMap<usize, Arc<dyn ArrayData>>,
    record: Option<Arc<Pooled>>,
    deadline: Option<Deadline>,
    launches: Vec<Bindings>,
    status: Arc<Status>,
}

impl Execution<'_> {
    /// Starts the launches. They may be started again: they compute the same.
    pub fn launch(&self) -> Result<()> {
        if let Some(record) = &self.record {
            self.engine.device.zero(record.memory()?, RECORD_BYTES)?;
        }
        if let Some(deadline) = &self.deadline {
            deadline.arm(&*self.engine.device)?;
        }
        for Bindings { kernel, blocks, arguments, clears } in &self.launches {
            for (memory, bytes) in clears {
                self.engine.device.zero(memory.memory()?, *bytes)?;
            }
            let stop = self.deadline.iter().map(|deadline| deadline.record.memory().map(Argument::Memory));
            let arguments = arguments.iter().map(|argument| match argument {
                Bound::Memory(pooled) => pooled.memory().map(Argument::Memory),
                Bound::Scalar(constant) => Ok(Argument::Scalar(*constant)),
            });
            let arguments = arguments.chain(stop).collect::<Result<Vec<_>>>()?;
            // SAFETY: the program and its arguments come from a plan, which only Plan::new makes: programs stay within the
            // lengths that it gives its buffers, `bind` checked that inputs have those lengths, and what is written was
            // allocated for it.
            unsafe { self.engine.device.launch(kernel, *blocks, &arguments)? };
        }
        Ok(())
    }

    /// Milliseconds that the launches take, by the device's clock.
    pub fn time(&self) -> Result<f64> {
        self.engine.device.time(&mut || self.launch())
    }

    /// The results, which stay on the device until somebody looks.
    pub fn results(self) -> Result<Vec<Arc<dyn ArrayData>>> {
        let result = |(extents, buffers): &(Vec<usize>, Vec<usize>)| {
            // A program may return an argument as it is.
            if let Some(data) = buffers.first().and_then(|buffer| self.given.get(buffer)) {
                return Ok(data.clone());
            }
            let column = |buffer: &usize| {
                self.memories[*buffer].clone().ok_or_else(|| Error::Invalid("a result has no memory".into()))
            };
            let columns = buffers.iter().map(column).collect::<Result<Vec<_>>>()?;
            let types = buffers.iter().map(|buffer| self.plan.buffers()[*buffer].ty).collect();
            let (engine, status) = (self.engine.clone(), self.status.clone());
            Ok(Arc::new(DeviceArray::new(engine, extents.clone(), types, columns, status))
                as Arc<dyn ArrayData>)
        };
        self.plan.results().iter().map(result).collect()
    }
}

/// An error of the array language as one of the runtime.
pub fn from_array_error(error: ArrayError) -> Error {
    match error {
        ArrayError::Shape(message) | ArrayError::Program(message) => Error::Invalid(message),
        ArrayError::Failure(message) => Error::Failure(message),
        ArrayError::HostMemory { bytes } => Error::OutOfHostMemory { bytes },
        ArrayError::Device(inner) => {
            let any: Option<&Error> = inner.downcast_ref();
            any.cloned().unwrap_or_else(|| Error::Invalid(inner.to_string()))
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
