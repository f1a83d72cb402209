//! The execution of plans: kernels compiled, memory bound, steps given to the device as work.

use crate::deadline::Deadline;
use crate::device::{CompiledKernel, LaunchArgument};
use crate::device_array::DeviceArray;
use crate::engine::{Engine, with_stop};
use crate::error::{Error, Result};
use crate::identity::DeviceId;
use crate::pool::Pooled;
use crate::profile;
use crate::status::Status;
use crate::work::{self, Launched, Memo, Work};
use pumice_array::{ArrayData, ArrayProgram, Given, NodeId, Plan, PlanArgument, ResultArray, Step};
use pumice_emit::EmitOptions;
use pumice_program::{FAILURE_BYTES, Stmt, Verified};
use pumice_scalar::{Constant, PlacedMessage, ScalarType};
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A plan with its kernels, ready to be executed many times.
pub struct PreparedPlan {
    /// State that the device keeps of the last run.
    memo: Memo,
    plan: Arc<Plan>,
    /// The device that the kernels are for.
    device: DeviceId,
    /// For each launch of the plan the kernel and the number of blocks.
    launches: Vec<(Arc<CompiledKernel>, u64)>,
    /// Time limit of a run.
    limit: Option<Duration>,
}

/// A prepared plan whose kernels may be unloaded meanwhile.
pub(crate) struct KeptPlan {
    plan: Arc<Plan>,
    device: DeviceId,
    launches: Vec<(Weak<CompiledKernel>, u64)>,
    limit: Option<Duration>,
}

impl KeptPlan {
    /// The plan with its kernels, if they are all loaded still.
    pub(crate) fn prepared(&self) -> Option<PreparedPlan> {
        let launches = self.launches.iter().map(|(kernel, blocks)| Some((kernel.upgrade()?, *blocks)));
        let launches = launches.collect::<Option<Vec<_>>>()?;
        let memo = Memo::default();
        Some(PreparedPlan { memo, plan: self.plan.clone(), device: self.device, launches, limit: self.limit })
    }
}

/// Arguments of a program by their numbers: arrays and scalars.
#[derive(Clone, Default)]
pub struct Inputs {
    /// The arrays.
    pub arrays: HashMap<u32, Arc<dyn ArrayData>>,
    /// The scalars; numbers that are arrays' have any value.
    pub scalars: Vec<Constant>,
    /// Arrays of the program that were computed by an earlier plan.
    pub computed: HashMap<NodeId, Arc<dyn ArrayData>>,
}

impl PreparedPlan {
    /// Compiles the kernels of a plan where they are not compiled yet, on as many threads as there are cores, while the
    /// inputs are brought to the device. A run may take as long as `limit` says.
    pub fn new(
        engine: &Engine,
        program: &ArrayProgram,
        plan: Plan,
        options: &EmitOptions,
        inputs: &Inputs,
        limit: Option<Duration>,
    ) -> Result<PreparedPlan> {
        let programs = plan.launches().map(|launch| with_stop(&launch.program, limit.is_some()));
        let programs = programs.collect::<Result<Vec<_>>>()?;
        let places = plan.launches().map(|launch| Some(launch.place));
        let programs: Vec<(&Verified, _)> = programs.iter().map(|program| &**program).zip(places).collect();
        let upload = || {
            let arrays = plan.inputs().iter();
            let arrays = arrays.filter_map(|input| Some((input.place, given(program, input.node, inputs)?)));
            arrays
                .into_iter()
                .try_for_each(|(place, data)| profile::at(place, || engine.resident(data)).map(drop))
        };
        let kernels = engine.kernels().get_or_build_all(&**engine.device(), &programs, options, upload)?;
        let blocks = plan.launches().map(|launch| launch.blocks());
        let blocks = blocks.collect::<std::result::Result<Vec<u64>, _>>()?;
        let launches = kernels.into_iter().zip(blocks).collect();
        let memo = Memo::default();
        Ok(PreparedPlan { memo, plan: Arc::new(plan), device: engine.device().id(), launches, limit })
    }

    /// The plan without a hold on its kernels.
    pub(crate) fn kept(&self) -> KeptPlan {
        let launches = self.launches.iter().map(|(kernel, blocks)| (Arc::downgrade(kernel), *blocks));
        KeptPlan {
            plan: self.plan.clone(),
            device: self.device,
            launches: launches.collect(),
            limit: self.limit,
        }
    }

    /// Whether runs have a deadline.
    pub(crate) fn has_limit(&self) -> bool {
        self.limit.is_some()
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Reserves memory for an execution on these inputs. The engine is the one that the plan was prepared for, and the
    /// program has the identity of the one that was planned.
    pub fn bind<'a>(
        &'a self,
        engine: &Arc<Engine>,
        program: &ArrayProgram,
        inputs: &Inputs,
    ) -> Result<Execution<'a>> {
        self.bind_to(engine, program, inputs, &mut Target::default())
    }

    /// As [`PreparedPlan::bind`], with memory that is there.
    pub(crate) fn bind_to<'a>(
        &'a self,
        engine: &Arc<Engine>,
        program: &ArrayProgram,
        inputs: &Inputs,
        target: &mut Target,
    ) -> Result<Execution<'a>> {
        let (plan, id) = (&self.plan, engine.device().id());
        if id != self.device {
            let (device, found) = (id.name(), self.device.name());
            return Err(Error::WrongDevice { what: "a plan", device, found });
        }
        let mut memories: Vec<Option<Arc<Pooled>>> = vec![None; plan.buffers().len()];
        let mut before = Vec::new();
        let mut given_data = HashMap::new();
        for input in plan.inputs() {
            let data = given(program, input.node, inputs).ok_or_else(|| {
                Error::Invalid(PlacedMessage::naming(input.place, format!("{} has no array", input.place)))
            })?;
            let fits =
                |buffer: &usize| plan.buffers()[*buffer].length == data.extents().iter().product::<usize>();
            let types: Vec<ScalarType> =
                input.buffers.iter().map(|buffer| plan.buffers()[*buffer].ty).collect();
            if !input.buffers.iter().all(fits) || data.types() != types {
                let message = format!("{} is given another array than planned", input.place);
                return Err(Error::Invalid(PlacedMessage::naming(input.place, message)));
            }
            let (columns, status) = profile::at(input.place, || engine.resident(data))?;
            before.extend(status);
            for (buffer, column) in input.buffers.iter().zip(columns) {
                // An implementation of `ArrayData` may return another length each time it is asked.
                column.memory()?.check_copy("an input", plan.buffers()[*buffer].bytes())?;
                memories[*buffer] = Some(column);
                given_data.insert(*buffer, data.clone());
            }
        }
        let record = match (plan.sites().is_empty(), &target.record) {
            (true, _) => None,
            (false, Some(record)) => Some(record.clone()),
            (false, None) => Some(engine.allocate(FAILURE_BYTES)?),
        };
        let mut placed = self.placed(&target.results, &given_data);
        let released = &mut target.spare;
        let lost = || Error::Invalid("memory is used before it is allocated".into());
        let mut actions = Vec::new();
        let mut compiled = self.launches.iter();
        for (position, step) in plan.steps().iter().enumerate() {
            match step {
                Step::Allocate(number) => {
                    let bytes = plan.buffers()[*number].bytes();
                    let again = placed.remove(number).or_else(|| released.get_mut(&bytes)?.pop());
                    let place = || plan.place_of(*number);
                    let new = || engine.allocate(bytes).map_err(|error| error.at(place()));
                    memories[*number] = Some(again.map_or_else(new, Ok)?);
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
                    };
                    let arguments = launch.arguments.iter().map(argument).collect::<Option<Vec<_>>>();
                    let arguments = arguments.ok_or_else(|| {
                        let message = format!("an argument of {} is missing", launch.place);
                        Error::Invalid(PlacedMessage::naming(launch.place, message))
                    })?;
                    if let Some((kernel, blocks)) = compiled.next() {
                        let (kernel, blocks, step) = (kernel.clone(), *blocks, position);
                        actions.push(Action::Launch { kernel, blocks, arguments, step });
                    }
                }
                Step::Zero(number) => {
                    let memory = memories[*number].clone().ok_or_else(lost)?;
                    actions.push(Action::Zero(memory, plan.buffers()[*number].bytes()));
                }
                Step::Copy { from, to } if self.is_in_place(position, &given_data) => {
                    memories.swap(*from, *to);
                }
                Step::Copy { from, to } => {
                    let bytes = plan.buffers()[*from].bytes().min(plan.buffers()[*to].bytes());
                    let from = memories[*from].clone().ok_or_else(lost)?;
                    let to = memories[*to].clone().ok_or_else(lost)?;
                    actions.push(Action::Copy { from, to, bytes });
                }
            }
        }
        let deadline = engine.deadline(self.limit, || places(plan).into())?;
        let (device, sites) = (engine.device().clone(), plan.sites().into());
        let status = Status::with_deadline(device, record.clone(), sites, before, deadline.clone());
        let (engine, memo) = (engine.clone(), &self.memo);
        Ok(Execution { engine, plan, memo, memories, given: given_data, record, deadline, actions, status })
    }

    /// Whether the step at this position copies what is changed next and not needed any more as it is: then it is changed in place.
    fn is_in_place(&self, position: usize, given: &HashMap<usize, Arc<dyn ArrayData>>) -> bool {
        let (steps, buffers) = (self.plan.steps(), self.plan.buffers());
        let Some(Step::Copy { from, to }) = steps.get(position) else { return false };
        matches!(steps.get(position + 1), Some(Step::Release(done)) if done == from)
            && !given.contains_key(from)
            && buffers[*from] == buffers[*to]
    }

    /// The memory that buffers get, so that results end up in this one.
    fn placed(
        &self,
        results: &[Option<Vec<Arc<Pooled>>>],
        given: &HashMap<usize, Arc<dyn ArrayData>>,
    ) -> HashMap<usize, Arc<Pooled>> {
        let mut placed = HashMap::new();
        for (result, columns) in self.plan.results().iter().zip(results) {
            for (buffer, column) in result.buffers.iter().zip(columns.iter().flatten()) {
                if !given.contains_key(buffer) {
                    placed.entry(*buffer).or_insert_with(|| column.clone());
                }
            }
        }
        // What is changed in place was somewhere else before.
        for (position, step) in self.plan.steps().iter().enumerate().rev() {
            if let Step::Copy { from, to } = step
                && self.is_in_place(position, given)
                && let Some(memory) = placed.remove(to)
            {
                placed.insert(*from, memory);
            }
        }
        placed
    }
}

/// Memory that is there before a plan is bound.
#[derive(Default)]
pub(crate) struct Target {
    /// For failures.
    pub(crate) record: Option<Arc<Pooled>>,
    /// For results, column by column. A result that is an input, or the same as another one, is not put there.
    pub(crate) results: Vec<Option<Vec<Arc<Pooled>>>>,
    /// By size in bytes: memory that is dead after the work before. Work happens in order, so what a plan releases can be
    /// written by a later launch.
    pub(crate) spare: HashMap<usize, Vec<Arc<Pooled>>>,
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

fn given<'a>(program: &'a ArrayProgram, node: NodeId, inputs: &'a Inputs) -> Option<&'a Arc<dyn ArrayData>> {
    let operation = || program.nodes().get(node.0 as usize)?.operation.given();
    inputs.computed.get(&node).or_else(|| match operation()? {
        Given::Data(data) => Some(data),
        Given::Argument(number) => inputs.arrays.get(&number),
    })
}

enum Bound {
    Memory(Arc<Pooled>),
    Scalar(Constant),
}

/// A step with its memory.
enum Action {
    Zero(Arc<Pooled>, usize),
    Copy { from: Arc<Pooled>, to: Arc<Pooled>, bytes: usize },
    Launch { kernel: Arc<CompiledKernel>, blocks: u64, arguments: Vec<Bound>, step: usize },
}

/// A plan bound to memory.
pub struct Execution<'a> {
    engine: Arc<Engine>,
    plan: &'a Plan,
    memo: &'a Memo,
    memories: Vec<Option<Arc<Pooled>>>,
    given: HashMap<usize, Arc<dyn ArrayData>>,
    record: Option<Arc<Pooled>>,
    deadline: Option<Deadline>,
    actions: Vec<Action>,
    status: Arc<Status>,
}

impl Execution<'_> {
    /// Starts the launches. They may be started again: they compute the same.
    pub fn launch(&self) -> Result<()> {
        match self.deadline {
            // SAFETY: see `work`.
            None => unsafe { self.engine.device().perform(&self.whole_work()?, self.memo) },
            Some(_) => self.launch_while(&|| Ok(())),
        }
    }

    /// As [`Execution::launch`], but an error of `go_on`, which is asked before each step, ends it.
    pub fn launch_while(&self, go_on: &dyn Fn() -> Result<()>) -> Result<()> {
        if let Some(deadline) = &self.deadline {
            deadline.arm(&**self.engine.device())?;
        }
        // SAFETY: see `work`.
        unsafe { work::in_order(&**self.engine.device(), &self.whole_work()?, go_on) }
    }

    /// The work from an empty record of failures on.
    fn whole_work(&self) -> Result<Vec<Work<'_>>> {
        let mut work = Vec::with_capacity(self.actions.len() + 1);
        if let Some(record) = &self.record {
            work.push(Work::Zero { memory: record.memory()?, bytes: FAILURE_BYTES });
        }
        work.extend(self.work()?);
        Ok(work)
    }

    /// The steps as work. It can be performed: programs and arguments come from a plan, which only `Plan::new` makes; programs stay
    /// within the lengths that it gives its buffers, `bind` checked that inputs have those lengths, and what is written was
    /// allocated for it.
    pub(crate) fn work<'a>(&'a self) -> Result<Vec<Work<'a>>> {
        let stop =
            || self.deadline.iter().map(|deadline| deadline.record.memory().map(LaunchArgument::Memory));
        let work = |action: &'a Action| {
            Ok(match action {
                Action::Zero(memory, bytes) => Work::Zero { memory: memory.memory()?, bytes: *bytes },
                Action::Copy { from, to, bytes } => {
                    Work::Copy { from: from.memory()?, to: to.memory()?, bytes: *bytes }
                }
                Action::Launch { kernel, blocks, arguments, step } => {
                    let arguments = arguments.iter().map(|argument| match argument {
                        Bound::Memory(pooled) => pooled.memory().map(LaunchArgument::Memory),
                        Bound::Scalar(constant) => Ok(LaunchArgument::Scalar(*constant)),
                    });
                    let arguments = arguments.chain(stop()).collect::<Result<Vec<_>>>()?;
                    let of = Some(Launched { plan: self.plan, step: *step });
                    Work::Launch { kernel, blocks: *blocks, arguments, of }
                }
            })
        };
        self.actions.iter().map(work).collect()
    }

    /// The record of failures, if something can fail.
    pub(crate) fn record(&self) -> Option<&Arc<Pooled>> {
        self.record.as_ref()
    }

    /// Returns the outcome of the run, which is known once a result is read.
    pub(crate) fn status(&self) -> &Arc<Status> {
        &self.status
    }

    /// Milliseconds that the launches take, by the device's clock.
    pub fn time(&self) -> Result<f64> {
        if self.deadline.is_some() {
            return self.engine.device().time(&mut || self.launch());
        }
        // What there is to do is listed before the clock starts: a device that waits for the host meanwhile does no work.
        let work = self.whole_work()?;
        // SAFETY: see `work`.
        self.engine.device().time(&mut || unsafe { self.engine.device().perform(&work, self.memo) })
    }

    /// Returns the results, which stay on the device until they are read.
    pub fn results(&self) -> Result<Vec<Arc<dyn ArrayData>>> {
        let result = |result: &ResultArray| {
            let ResultArray { place, extents, cells, buffers } = result;
            // A program may return an argument as it is.
            if let Some(data) = buffers.first().and_then(|buffer| self.given.get(buffer)) {
                return Ok(data.clone());
            }
            let column = |buffer: &usize| {
                self.memories[*buffer].clone().ok_or_else(|| Error::Invalid("a result has no memory".into()))
            };
            let columns = buffers.iter().map(column).collect::<Result<Vec<_>>>()?;
            let cell = |cell: &Option<usize>| cell.as_ref().map(column).transpose();
            let cells = cells.iter().map(cell).collect::<Result<Vec<_>>>()?;
            let types = buffers.iter().map(|buffer| self.plan.buffers()[*buffer].ty).collect();
            let (engine, status) = (self.engine.clone(), self.status.clone());
            let array = DeviceArray::new(engine, extents.clone(), types, columns, status).with_lengths(cells);
            Ok(Arc::new(array.at(*place)) as Arc<dyn ArrayData>)
        };
        self.plan.results().iter().map(result).collect()
    }
}
