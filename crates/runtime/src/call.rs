//! Kernels of users, launched directly and without a plan.
//!
//! A [`Callable`] is a definition of the kernel language on a device. It is specialised for lengths and integer scalars
//! when it first meets them; after that a launch is a lookup, memory for the result, and the device's own call. Host
//! loops launch small kernels many times, so nothing here may wait for the device or write text on that way.

use crate::deadline::Deadline;
use crate::device::{CompiledKernel, LaunchArgument, LaunchParameter};
use crate::device_array::DeviceArray;
use crate::engine::{Engine, Resident};
use crate::error::{Error, Result};
use crate::pool::Pooled;
use crate::profile::{self, Facts};
use crate::status::Status;
use pumice_array::{Array, ArrayData, Shape};
use pumice_emit::EmitOptions;
use pumice_kernel::{Binding, Definition, KernelArgument, Launcher, ParameterKind, Passes};
use pumice_program::{Access, FAILURE_BYTES};
use pumice_scalar::{Constant, Elt, Place, PlacedMessage, ScalarType, Site};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An array that a kernel changes.
pub trait Change {
    /// The array as it is.
    fn data(&self) -> &Arc<dyn ArrayData>;
    /// Makes it another one, of the same type.
    fn replace(&mut self, data: Arc<dyn ArrayData>) -> Result<()>;
}

impl<D: Shape, T: Elt> Change for Array<D, T> {
    fn data(&self) -> &Arc<dyn ArrayData> {
        Array::data(self)
    }
    fn replace(&mut self, data: Arc<dyn ArrayData>) -> Result<()> {
        *self = Array::from_data(data)?;
        Ok(())
    }
}

/// Argument of a kernel for one of its parameters.
pub enum Given<'a> {
    /// An array to read.
    Array(Arc<dyn ArrayData>),
    /// An array to change.
    Change(&'a mut dyn Change),
    /// A scalar.
    Scalar(Constant),
}

/// A kernel of the kernel language on a device.
pub struct Callable {
    engine: Arc<Engine>,
    definition: Definition,
    passes: Passes,
    options: EmitOptions,
    /// Time limit of a launch.
    limit: Option<Duration>,
    /// Source location where the user made it, if that is known.
    place: Option<Place>,
    /// For each parameter whether kernels are made for its value.
    shaping: Vec<bool>,
    sites: Arc<[Site]>,
    /// The types of the columns of the arrays among the parameters, and at the end of the result.
    types: Vec<Arc<[ScalarType]>>,
    ready: Mutex<HashMap<Vec<KernelArgument>, Arc<Ready>>>,
}

/// A kernel for certain lengths and integers.
struct Ready {
    kernel: Arc<CompiledKernel>,
    bindings: Vec<Binding>,
    blocks: u64,
    length: usize,
    /// Whether the kernel writes every element of its result.
    complete: bool,
    fails: bool,
}

/// Specialised kernels that one keeps; compiled ones are kept elsewhere, so they are cheap to make again.
const MOST_READY: usize = 256;

impl Callable {
    /// The passes that it goes through.
    pub fn passes(&self) -> Passes {
        self.passes
    }

    /// The kernel of a definition. One that the device cannot run whatever its arguments is refused.
    pub fn new(
        engine: Arc<Engine>,
        definition: Definition,
        passes: Passes,
        options: EmitOptions,
    ) -> Result<Callable> {
        definition
            .fits(engine.device().profile())
            .map_err(|error| Error::Invalid(error.to_string().into()))?;
        let columns = |kind: &ParameterKind| match kind {
            ParameterKind::Array { types, .. } => types.as_slice().into(),
            ParameterKind::Scalar(_) => [].into(),
        };
        let result = definition.outcome().map_or([].into(), |outcome| outcome.types.as_slice().into());
        let types = definition.parameters().iter().map(columns).chain([result]).collect();
        let sites = definition.kernel().sites.as_slice().into();
        let shaping = definition.shaping();
        let ready = Mutex::default();
        let (limit, place) = (None, None);
        Ok(Callable { engine, definition, passes, options, limit, place, shaping, sites, types, ready })
    }

    /// The kernel with a deadline, or without: how long each launch may take. See `Compiler::deadline`.
    pub fn with_deadline(mut self, limit: Option<Duration>) -> Callable {
        self.limit = limit;
        self.ready = Mutex::default();
        self
    }

    /// The kernel that was made at this place, which profiles name.
    pub fn at(mut self, place: Place) -> Callable {
        self.place = Some(place);
        self
    }

    /// A message about the kernel, with the place where it was made.
    fn placed(&self, what: String) -> PlacedMessage {
        match self.place {
            Some(place) => PlacedMessage::at(what, place),
            None => what.into(),
        }
    }

    /// The definition.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The device's engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Launches the kernel and returns its result, which stays on the device until it is read. A kernel without a result
    /// gives an array without columns.
    pub fn run(&self, mut given: Vec<Given<'_>>) -> Result<Arc<dyn ArrayData>> {
        profile::at(self.place, || {
            let call = self.bind(&given)?;
            call.launch()?;
            call.finish(&mut given)
        })
    }

    /// Milliseconds that `runs` launches take, each by the device's clock. Arrays that change do so every time.
    pub fn time(&self, mut given: Vec<Given<'_>>, runs: usize) -> Result<Vec<f64>> {
        profile::at(self.place, || {
            let call = self.bind(&given)?;
            let device = self.engine.device();
            let times =
                (0..runs).map(|_| device.time(&mut || call.launch())).collect::<Result<Vec<f64>>>()?;
            call.finish(&mut given)?;
            Ok(times)
        })
    }

    /// The program that runs for these arguments.
    pub fn specialised(&self, given: &[Given<'_>]) -> Result<Arc<pumice_program::Verified>> {
        let profile = self.engine.device().profile();
        let special = self.definition.specialise(&self.actual(given)?, profile, self.passes);
        Ok(special.map_err(|error| Error::Invalid(self.placed(error.to_string())))?.program)
    }

    /// Returns the arguments as far as kernels are specialised for them; refuses those that do not fit.
    fn actual(&self, given: &[Given<'_>]) -> Result<Vec<KernelArgument>> {
        let kinds = self.definition.parameters();
        if kinds.len() != given.len() {
            let name = self.definition.name();
            let (wanted, found) = (kinds.len(), given.len());
            let what = format!("kernel `{name}` takes {wanted} arguments, {found} were given");
            return Err(Error::Invalid(self.placed(what)));
        }
        let one = |(number, (given, kind)): (usize, (&Given<'_>, &ParameterKind))| {
            let array = |data: &Arc<dyn ArrayData>, types: &[ScalarType]| {
                (data.types() == types).then(|| KernelArgument::Length(data.extents().iter().product()))
            };
            let actual = match (given, kind) {
                (Given::Array(data), ParameterKind::Array { types, changes: false }) => array(data, types),
                (Given::Change(change), ParameterKind::Array { types, changes: true }) => {
                    array(change.data(), types)
                }
                (Given::Scalar(value), ParameterKind::Scalar(ty)) if value.ty() == *ty => {
                    Some(if self.shaping[number] {
                        KernelArgument::Scalar(*value)
                    } else {
                        KernelArgument::Unknown(*ty)
                    })
                }
                _ => None,
            };
            actual.ok_or_else(|| {
                let name = self.definition.name();
                let what = format!("argument {number} of kernel `{name}` does not fit its parameter");
                Error::Invalid(self.placed(what))
            })
        };
        given.iter().zip(kinds).enumerate().map(one).collect()
    }

    /// The kernel for these lengths and scalars.
    fn ready(&self, actual: Vec<KernelArgument>) -> Result<Arc<Ready>> {
        let known = self.ready.lock().unwrap_or_else(PoisonError::into_inner).get(&actual).cloned();
        if let Some(ready) = known {
            return Ok(ready);
        }
        let device = self.engine.device();
        let special = self.definition.specialise(&actual, device.profile(), self.passes);
        let special = special.map_err(|error| Error::Invalid(self.placed(error.to_string())))?;
        let most = pumice_program::MAX_BLOCKS as u64;
        if special.blocks > most {
            let (name, blocks) = (&special.program.name, special.blocks);
            let what = format!("kernel `{name}` needs {blocks} blocks, and the limit is {most}");
            return Err(Error::Invalid(self.placed(what)));
        }
        let program = &special.program;
        let kernel = self.engine.kernel(program, &self.options, self.limit.is_some())?;
        let ready = Arc::new(Ready {
            kernel,
            fails: special.program.failure.is_some(),
            bindings: special.bindings,
            blocks: special.blocks,
            length: special.length.unwrap_or(0),
            complete: self.definition.outcome().is_none_or(|outcome| outcome.complete),
        });
        let mut all = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_READY {
            all.clear();
        }
        all.insert(actual, ready.clone());
        Ok(ready)
    }

    /// Finds the kernel and the memory for a launch.
    fn bind(&self, given: &[Given<'_>]) -> Result<Call<'_>> {
        let actual = self.actual(given)?;
        // By parameter; for arrays their lengths.
        let scalars = actual.iter().zip(given).map(|(actual, given)| match (actual, given) {
            (KernelArgument::Length(length), _) => Constant::from(*length as i64),
            (_, Given::Scalar(value)) => *value,
            _ => Constant::from(0i64),
        });
        let scalars: Vec<Constant> = scalars.collect();
        let ready = self.ready(actual)?;
        let mut arrays: Vec<Vec<Arc<Pooled>>> = Vec::with_capacity(given.len());
        let mut before = Vec::new();
        for (number, given) in given.iter().enumerate() {
            let (columns, status): Resident = match given {
                Given::Array(data) => self.engine.resident(data)?,
                Given::Change(change) => self.engine.own(change.data())?,
                Given::Scalar(_) => (Vec::new(), None),
            };
            let length = scalars[number].as_integer().unwrap_or(0) as usize;
            for (column, ty) in columns.iter().zip(self.types.get(number).map_or(&[][..], |types| types)) {
                // An implementation of `ArrayData` may return another length each time it is asked.
                column.memory()?.check_copy("an argument", length.saturating_mul(ty.bytes()))?;
            }
            arrays.push(columns);
            before.extend(status);
        }
        let types = self.types.last().map_or(&[][..], |types| types);
        let result = |ty: &ScalarType| self.engine.allocate(ready.length * ty.bytes());
        let results = types.iter().map(result).collect::<Result<Vec<_>>>()?;
        let record = if ready.fails { Some(self.engine.allocate(FAILURE_BYTES)?) } else { None };
        let device = self.engine.device().clone();
        let place = || format!("kernel `{}`", self.definition.name()).into();
        let deadline = self.engine.deadline(self.limit, place)?;
        let status =
            Status::with_deadline(device, record.clone(), self.sites.clone(), before, deadline.clone());
        Ok(Call { callable: self, ready, arrays, scalars, results, record, deadline, status })
    }
}

/// A kernel with the memory of one launch.
struct Call<'a> {
    callable: &'a Callable,
    ready: Arc<Ready>,
    /// By parameter; nothing for scalars.
    arrays: Vec<Vec<Arc<Pooled>>>,
    /// By parameter; for arrays their lengths.
    scalars: Vec<Constant>,
    results: Vec<Arc<Pooled>>,
    record: Option<Arc<Pooled>>,
    deadline: Option<Deadline>,
    status: Arc<Status>,
}

impl<'a> Launcher for &'a Call<'_> {
    type Argument = LaunchArgument<'a>;

    fn column(&self, parameter: usize, column: usize) -> Option<LaunchArgument<'a>> {
        let call: &'a Call<'_> = self;
        memory(call.arrays.get(parameter)?.get(column)?)
    }

    fn number(&self, parameter: usize) -> Option<LaunchArgument<'a>> {
        self.scalars.get(parameter).copied().map(LaunchArgument::Scalar)
    }

    fn result(&self, column: usize) -> Option<LaunchArgument<'a>> {
        let call: &'a Call<'_> = self;
        memory(call.results.get(column)?)
    }

    fn failure(&self) -> Option<LaunchArgument<'a>> {
        let call: &'a Call<'_> = self;
        memory(call.record.as_ref()?)
    }

    fn value(&self, value: Constant) -> Option<LaunchArgument<'a>> {
        Some(LaunchArgument::Scalar(value))
    }
}

fn memory(pooled: &Arc<Pooled>) -> Option<LaunchArgument<'_>> {
    pooled.memory().ok().map(LaunchArgument::Memory)
}

impl Call<'_> {
    fn launch(&self) -> Result<()> {
        let device = self.callable.engine.device();
        if let Some(record) = &self.record {
            device.zero(record.memory()?, FAILURE_BYTES)?;
        }
        if !self.ready.complete {
            let types = self.callable.types.last().map_or(&[][..], |types| types);
            for (result, ty) in self.results.iter().zip(types) {
                device.zero(result.memory()?, self.ready.length * ty.bytes())?;
            }
        }
        let arguments = self.ready.bindings.iter().map(|binding| binding.resolve(&self));
        let lost = || Error::Invalid("a kernel's argument is lost".into());
        let mut arguments = arguments.collect::<Option<Vec<_>>>().ok_or_else(lost)?;
        if let Some(deadline) = &self.deadline {
            deadline.arm(&**device)?;
            arguments.push(LaunchArgument::Memory(deadline.record.memory()?));
        }
        // SAFETY: the program comes from a definition of the kernel language, in which every index is below the length of
        // its array or checked to be: an array's memory holds as many elements as the length that is bound beside it
        // (`resident` and `own` see to that), the result's as many as the definition says for these very arguments. What
        // is written is the result's own memory, the record, and arrays that `own` makes exclusive to this launch.
        let launch = || unsafe { device.launch(&self.ready.kernel, self.ready.blocks, &arguments) };
        let launched = profile::queued(&**device, launch, || self.facts(&arguments));
        launched.map_err(|error| match error {
            Error::Fault(message) => Error::Fault(self.callable.placed(message.to_string())),
            other => other,
        })
    }

    /// Returns the facts about the launch for a profile. The size of memory may be a little more than its elements take.
    fn facts(&self, arguments: &[LaunchArgument<'_>]) -> Facts {
        let Ready { kernel, blocks, .. } = &*self.ready;
        let signature = kernel.signature();
        let bytes = |other: Access| {
            let pairs = signature.parameters.iter().zip(arguments);
            let bytes = pairs.filter_map(|pair| match pair {
                (LaunchParameter::Buffer(access), LaunchArgument::Memory(memory)) if *access != other => {
                    Some(memory.bytes() as u64)
                }
                _ => None,
            });
            bytes.sum()
        };
        Facts {
            bytes_read: bytes(Access::Write),
            bytes_written: bytes(Access::Read),
            blocks: *blocks,
            threads: signature.threads,
            detail: "a kernel of the user's".into(),
            ..Facts::of(kernel.name())
        }
    }

    /// The result; arrays that the kernel changed become what it made of them.
    fn finish(self, given: &mut [Given<'_>]) -> Result<Arc<dyn ArrayData>> {
        let Call { callable, ready, arrays, results, status, .. } = self;
        let array = |extents: Vec<usize>, number: usize, columns| {
            let types = callable.types.get(number).cloned().unwrap_or_else(|| [].into());
            let array = DeviceArray::new(callable.engine.clone(), extents, types, columns, status.clone());
            Arc::new(array.at(callable.place))
        };
        for (number, (given, columns)) in given.iter_mut().zip(arrays).enumerate() {
            if let Given::Change(change) = given {
                let extents = change.data().extents().to_vec();
                // A new array even where it is the same memory: what was fetched of the old one is out of date.
                change.replace(array(extents, number, columns))?;
            }
        }
        Ok(array(vec![ready.length], callable.definition.parameters().len(), results))
    }
}
