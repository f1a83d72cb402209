//! Plans, which a runtime executes: buffers, launches and their arguments, for actual extents.
//!
//! A plan is data. It is made anew for other extents, but its kernels take extents as arguments, so the kernels of two
//! plans of one program are mostly the same.

mod arrays;
mod group;
mod in_place;
mod overwrite;
mod planner;
mod traffic;

pub use arrays::{PlannedArray, Use};
use planner::Planner;

use crate::error::Error;
use crate::extents::{Extents, Knowledge, Unplanned};
use crate::form::{Form, Forms};
use crate::lower::{Reason, SmallLoop};
use crate::program::{Node, NodeId};
use crate::verify::CheckedProgram;
use pumice_kernel::Profile;
use pumice_kernel::skeletons::{Combine, Division, Skeletons};
use pumice_program::{MAX_BLOCKS, Param, Verified};
use pumice_scalar::{Constant, Place, ScalarType, Site};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// An array of scalars in a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The type of its elements.
    pub ty: ScalarType,
    /// Number of its elements.
    pub length: usize,
}

impl Buffer {
    /// Returns its size in bytes. The size saturates, at a number of bytes that no device has.
    pub fn bytes(&self) -> usize {
        self.ty.bytes().saturating_mul(self.length)
    }
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanArgument {
    /// A buffer of the plan.
    Buffer(usize),
    /// A number that the plan knows.
    Constant(Constant),
    /// A scalar argument of the program.
    Scalar(u32),
    /// The memory in which failures are recorded.
    Failure,
}

/// One kernel with its arguments.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel.
    pub program: Arc<Verified>,
    /// Its arguments.
    pub arguments: Vec<PlanArgument>,
    /// The operation that it comes from.
    pub place: Place,
    /// The skeleton that it was made by.
    pub skeleton: String,
    /// Why that skeleton, and why it is divided like this: sentences, recorded where it was decided.
    pub why: Vec<String>,
    /// The operations that are computed in it, in the order of the program. Where an operation takes several kernels, all have the same.
    pub fused: Vec<Place>,
}

impl Launch {
    /// Returns the number of blocks. It depends on extents only, and those are constants of the plan.
    pub fn blocks(&self) -> Result<u64, Error> {
        let values = self.arguments.iter().zip(&self.program.params);
        let scalars = values.filter_map(|(argument, param)| match (argument, param) {
            (PlanArgument::Constant(constant), _) => Some(*constant),
            (_, Param::Scalar(var)) => Some(Constant::zero(self.program.var_type(*var))),
            _ => None,
        });
        let scalars: Vec<Constant> = scalars.collect();
        let blocks = self.program.blocks_for(&scalars);
        let blocks = blocks.map_err(|error| Error::Program(format!("{error} in {}", self.place).into()))?;
        match blocks <= MAX_BLOCKS as u64 {
            true => Ok(blocks),
            false => Err(Error::Program(format!("{} needs {blocks} blocks, too many", self.place).into())),
        }
    }
}

/// One step of a plan.
#[derive(Clone, Debug)]
pub enum Step {
    /// Make a buffer.
    Allocate(usize),
    /// Fill a buffer with zeros.
    Zero(usize),
    /// Copy a buffer's elements to another one of the same type and length.
    Copy {
        /// The buffer that is read.
        from: usize,
        /// The buffer that is written.
        to: usize,
    },
    /// Run a kernel.
    Launch(Launch),
    /// A buffer is not needed any more.
    Release(usize),
}

/// An array that exists before the plan is executed.
#[derive(Clone)]
pub struct Input {
    /// The node that brings it, or that has computed it before.
    pub node: NodeId,
    /// The operation's name for users, and the place where they wrote it.
    pub place: Place,
    /// Its buffers, one for each scalar type.
    pub buffers: Vec<usize>,
}

/// Choices about how a program is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// Whether producers are fused with consumers; without it every array is written to memory.
    pub fuse: bool,
    /// Whether arrays that are described alike are computed once.
    pub share: bool,
    /// Whether arrays that need the same elements are computed by one kernel.
    pub together: bool,
    /// Whether a loop over arrays that fit one block is one kernel.
    pub small_loops: bool,
    /// Whether arrays are moved out of loops that do not change them, and into the side of a branch that alone needs them.
    pub float: bool,
    /// Whether a round of a loop writes its results over its inputs, where every element is read only where it is written.
    pub overwrite: bool,
    /// Whether neighbouring accesses become wide ones, where the device has them.
    pub vectorise: bool,
    /// Whether index arithmetic is done in 32 bits where that provably suffices.
    pub narrow: bool,
    /// Whether kernels are compiled for floats that need not be exact: then nothing may depend on infinities or NaN that programs do not
    /// mention.
    pub fast_math: bool,
    /// Bytes up to which memory is allocated for an array of which only the device knows how long it is; beyond, its
    /// elements are counted first, and the count is read.
    pub most_unread: u64,
    /// Way of combining elements at an index, where their operator allows it; chosen if `None`.
    pub combine: Option<Combine>,
    /// Execution scope that takes the elements of a source of an expansion, where the device allows it; chosen if `None`.
    pub division: Option<Division>,
    /// The number of parts in which [`in_parts`](crate::Acc::in_parts) works: a run for which memory did not suffice is planned anew with more.
    pub parts: u32,
    /// Skeletons in place of ours.
    pub skeletons: Skeletons,
}

impl Default for PlanOptions {
    fn default() -> Self {
        PlanOptions {
            fuse: true,
            share: true,
            together: true,
            small_loops: true,
            float: true,
            overwrite: true,
            vectorise: true,
            narrow: true,
            fast_math: false,
            most_unread: 4 << 30,
            combine: None,
            division: None,
            parts: 1,
            skeletons: Skeletons::default(),
        }
    }
}

/// An array that a plan computes.
#[derive(Clone, Debug)]
pub struct ResultArray {
    /// The operation's name for users, and the place where they wrote it.
    pub place: Place,
    /// Its extents, or the most that they can be.
    pub extents: Vec<usize>,
    /// The buffer with the length that the device finds, for extents that are none.
    pub cells: Vec<Option<usize>>,
    /// Its buffers, one for each scalar type.
    pub buffers: Vec<usize>,
}

/// A compiled program for given extents: the steps that the runtime executes in order.
#[derive(Clone)]
pub struct Plan {
    // Private, because a runtime relies on it: programs stay within the buffers that they are given.
    buffers: Vec<Buffer>,
    inputs: Vec<Input>,
    arrays: Vec<PlannedArray>,
    steps: Vec<Step>,
    results: Vec<ResultArray>,
    sites: Vec<Site>,
    reads: Option<Read>,
    keeps: Vec<NodeId>,
}

/// A fact that the host must read from a plan's results before the rest of the program can be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// The result is this array, and its extents are to be read.
    Extents(NodeId),
    /// The result is the number of elements that this array has.
    Count(NodeId),
    /// The result is this array, and its only element is to be read.
    Value(NodeId),
    /// The results are the inputs of this loop or branch, which is to be run.
    Run {
        /// The loop or branch.
        control: NodeId,
        /// The operation's name for users, and the place where they wrote it.
        place: Place,
        /// Why a loop is not one kernel of this plan.
        by_host: Option<Reason>,
    },
    /// The results are the inputs of this loop, whose checks must have held before it is planned: on zeros it might not end.
    Inputs(NodeId),
    /// The results are those of this loop, which is part of this plan; see [`ArrayProgram::given_by`].
    ///
    /// [`ArrayProgram::given_by`]: crate::ArrayProgram::given_by
    Given(NodeId),
}

impl Plan {
    /// Plans the computation of a program's results, given the known facts about its arguments. If a length that only the
    /// device knows must be read first, or a loop or a branch is to be run, the plan ends there ([`Plan::reads`]), and
    /// another one is made with the facts known then. Loops that fit one block are kernels of the plan.
    pub fn new(
        program: &CheckedProgram,
        profile: &Profile,
        knowledge: &Knowledge,
        options: &PlanOptions,
    ) -> Result<Plan, Error> {
        let mut plan = Plan::as_far_as_known(program, profile, knowledge, options, &[])?;
        let keeps = plan.needed_later(program, knowledge);
        if !keeps.is_empty() {
            plan = Plan::as_far_as_known(program, profile, knowledge, options, &keeps)?;
            plan.keeps = keeps;
        }
        // Plans that follow may need the arguments.
        if options.overwrite && plan.reads.is_none() {
            overwrite::over_arguments(&mut plan, program, &knowledge.overwritten);
        }
        Ok(plan)
    }

    fn as_far_as_known(
        program: &CheckedProgram,
        profile: &Profile,
        knowledge: &Knowledge,
        options: &PlanOptions,
        keeps: &[NodeId],
    ) -> Result<Plan, Error> {
        let with_kept = |own: &[NodeId]| [own, keeps].concat();
        let mut fitted = Cow::Borrowed(program);
        // The first loop that is one kernel.
        let mut first = None;
        let plan = loop {
            let (control, by_host) = match Extents::new(&fitted, knowledge) {
                Ok(extents) => break Plan::with_extents(&fitted, profile, knowledge, options, &extents)?,
                Err(Unplanned::NeedsRun(control)) => {
                    match SmallLoop::fit(&fitted, control, profile, knowledge, options) {
                        Ok(with_kernel) => {
                            let before = fitted.giving(&fitted.node(control).inputs);
                            let is_there = |input: &NodeId| knowledge.computed.contains_key(input);
                            if SmallLoop::may_not_end(&fitted, control)
                                && !fitted.node(control).inputs.iter().all(is_there)
                                && let Some(plan) = Plan::that_can_fail(&before, profile, knowledge, options)?
                            {
                                break Plan { reads: Some(Read::Inputs(control)), ..plan };
                            }
                            fitted = Cow::Owned(with_kernel);
                            first = first.or(Some(control));
                            continue;
                        }
                        Err(reason) => {
                            let is_loop = fitted
                                .node(control)
                                .operation
                                .control()
                                .is_some_and(|it| it.as_loop().is_some());
                            (control, is_loop.then_some(reason))
                        }
                    }
                }
                Err(Unplanned::NeedsLength(array)) => {
                    let plan = Plan::as_far_as_known(
                        &fitted.giving(&with_kept(&[array])),
                        profile,
                        knowledge,
                        options,
                        keeps,
                    )?;
                    break Plan { reads: plan.reads.or(Some(Read::Extents(array))), ..plan };
                }
                Err(Unplanned::NeedsValue(array)) => {
                    let plan = Plan::as_far_as_known(
                        &fitted.giving(&with_kept(&[array])),
                        profile,
                        knowledge,
                        options,
                        keeps,
                    )?;
                    break Plan { reads: plan.reads.or(Some(Read::Value(array))), ..plan };
                }
                Err(other) => return Err(other.into_error()),
            };
            let Node { inputs, place, .. } = fitted.node(control);
            let plan = Plan::as_far_as_known(
                &fitted.giving(&with_kept(inputs)),
                profile,
                knowledge,
                options,
                keeps,
            )?;
            let run = Read::Run { control, place: *place, by_host };
            break Plan { reads: plan.reads.or(Some(run)), ..plan };
        };
        match (plan.reads, first) {
            // Only the arrays that are read remain of a plan that is not the last one. A loop is run once.
            (Some(_), Some(control)) => {
                let given: Vec<NodeId> = fitted.given_by(control).map(|(id, _)| id).collect();
                let plan = Plan::as_far_as_known(&fitted.giving(&given), profile, knowledge, options, &[])?;
                Ok(Plan { reads: plan.reads.or(Some(Read::Given(control))), ..plan })
            }
            _ => Ok(plan),
        }
    }

    /// The arrays that take long and that are needed before and behind what the host reads or runs after this plan.
    fn needed_later(&self, program: &CheckedProgram, knowledge: &Knowledge) -> Vec<NodeId> {
        let own = match self.reads {
            Some(Read::Extents(array) | Read::Value(array)) => vec![array],
            Some(Read::Run { control, .. }) => program.node(control).inputs.clone(),
            Some(Read::Count(_) | Read::Inputs(_) | Read::Given(_)) | None => return Vec::new(),
        };
        // Where a length is found with another array, that one would have to be there, too.
        let Ok(extents) = Extents::new(&program.giving(&own), knowledge) else { return Vec::new() };
        let is_there =
            |node: &Node| knowledge.computed.contains_key(&node.id) || node.operation.given().is_some();
        let before = |roots: &[NodeId], ends: &BTreeSet<NodeId>| {
            let (mut waiting, mut seen) = (roots.to_vec(), BTreeSet::new());
            while let Some(id) = waiting.pop() {
                let node = program.node(id);
                if !is_there(node) && seen.insert(id) && !ends.contains(&id) {
                    waiting.extend(node.inputs.iter().copied().chain(node.reads()));
                }
            }
            seen
        };
        let mut computed = before(&own, &BTreeSet::new());
        computed.retain(|id| {
            own.contains(id) || program.node(*id).operation.takes_long() && extents.is_known(*id)
        });
        let needed = before(program.results(), &computed);
        computed.into_iter().filter(|id| needed.contains(id) && !own.contains(id)).collect()
    }

    /// The plan of a program to its end, if it has no loop that must be run before and can fail.
    fn that_can_fail(
        program: &CheckedProgram,
        profile: &Profile,
        knowledge: &Knowledge,
        options: &PlanOptions,
    ) -> Result<Option<Plan>, Error> {
        let plan = Plan::as_far_as_known(program, profile, knowledge, options, &[])?;
        Ok((plan.reads.is_none() && !plan.sites.is_empty()).then_some(plan))
    }

    /// Plans a program whose extents are known, or bounds of them.
    fn with_extents(
        program: &CheckedProgram,
        profile: &Profile,
        knowledge: &Knowledge,
        options: &PlanOptions,
        extents: &Extents,
    ) -> Result<Plan, Error> {
        let computed = knowledge.computed.keys().copied().collect();
        let forms = Forms::new(program, extents, &computed, options.fuse);
        // Memory for far more elements than there may be is not allocated: they are counted first.
        let is_large = |node: &&Node| {
            let bytes: usize = node.types.iter().map(|ty| ty.bytes()).sum();
            let bound = (extents.size(node.id) as u64).saturating_mul(bytes as u64);
            let unknown = !extents.is_known(node.id) && forms.is_manifest(node.id);
            unknown && matches!(forms.of(node.id), Some(Form::Loose { .. })) && bound > options.most_unread
        };
        let cell = program.nodes().iter().find(is_large).map(|node| extents.lengths(node.id));
        if let Some(cell) = cell.and_then(|lengths| lengths.first().and_then(|length| length.cell)) {
            let fused = PlanOptions { fuse: true, ..options.clone() };
            let plan = Plan::as_far_as_known(&program.count(cell), profile, knowledge, &fused, &[])?;
            return Ok(Plan { reads: plan.reads.or(Some(Read::Count(cell))), ..plan });
        }
        Planner { program, profile, options, knowledge, extents, forms: &forms }.plan()
    }

    /// Returns the fact that the host reads after the steps, before the rest of the program is planned.
    pub fn reads(&self) -> Option<Read> {
        self.reads
    }

    /// The arrays that are results behind those of [`Plan::reads`]: the plans that follow find them in memory.
    pub fn keeps(&self) -> &[NodeId] {
        &self.keeps
    }

    /// All buffers.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The arrays that exist already.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Returns the steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The results.
    pub fn results(&self) -> &[ResultArray] {
        &self.results
    }

    /// Returns the places where it can fail: a failure's code is one more than an index into these.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The launches, in order.
    pub fn launches(&self) -> impl Iterator<Item = &Launch> {
        self.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            _ => None,
        })
    }
}

/// The buffers of a plan, and which of them belong to one array.
#[derive(Default)]
pub(crate) struct Buffers {
    all: Vec<Buffer>,
    slots: Vec<Vec<usize>>,
}

impl Buffers {
    /// Adds the buffers of an array, and gives its slot.
    pub(crate) fn add(&mut self, types: &[ScalarType], length: i64) -> usize {
        let first = self.all.len();
        self.all.extend(types.iter().map(|ty| Buffer { ty: *ty, length: length as usize }));
        self.slots.push((first..self.all.len()).collect());
        self.slots.len() - 1
    }

    /// Makes the buffers of a slot so long.
    pub(crate) fn resize(&mut self, slot: usize, length: usize) {
        for buffer in self.slots.get(slot).into_iter().flatten() {
            self.all[*buffer].length = length;
        }
    }

    /// The buffers of a slot.
    pub(crate) fn of(&self, slot: usize) -> &[usize] {
        self.slots.get(slot).map_or(&[], Vec::as_slice)
    }

    /// The scalar types of a slot.
    pub(crate) fn types(&self, slot: usize) -> Vec<ScalarType> {
        self.of(slot).iter().map(|buffer| self.all[*buffer].ty).collect()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |buffers: &[usize]| buffers.iter().map(|b| format!("b{b}")).collect::<Vec<_>>().join(", ");
        for input in &self.inputs {
            writeln!(f, "input ({}) // {}", list(&input.buffers), input.place)?;
        }
        for step in &self.steps {
            match step {
                Step::Allocate(number) => {
                    let buffer = self.buffers[*number];
                    writeln!(f, "allocate b{number}: {} {}", buffer.length, buffer.ty)?;
                }
                Step::Release(number) => writeln!(f, "release b{number}")?,
                Step::Zero(number) => writeln!(f, "zero b{number}")?,
                Step::Copy { from, to } => writeln!(f, "copy b{from} to b{to}")?,
                Step::Launch(launch) => {
                    let arguments = launch.arguments.iter().map(|argument| match argument {
                        PlanArgument::Buffer(number) => format!("b{number}"),
                        PlanArgument::Constant(constant) => constant.to_string(),
                        PlanArgument::Scalar(number) => format!("argument {number}"),
                        PlanArgument::Failure => "failure".to_string(),
                    });
                    let arguments = arguments.collect::<Vec<_>>().join(", ");
                    let (name, place, skeleton) = (&launch.program.name, &launch.place, &launch.skeleton);
                    writeln!(f, "launch {name}({arguments}) // {place}, by {skeleton}")?;
                }
            }
        }
        for result in &self.results {
            let extent = |(extent, cell): (&usize, &Option<usize>)| match cell {
                None => extent.to_string(),
                Some(cell) => format!("b{cell} of at most {extent}"),
            };
            let extents: Vec<String> = result.extents.iter().zip(&result.cells).map(extent).collect();
            writeln!(f, "return [{}] ({})", extents.join(", "), list(&result.buffers))?;
        }
        match self.reads {
            Some(Read::Extents(_)) => writeln!(f, "read its length, and plan the rest with it")?,
            Some(Read::Value(_)) => writeln!(f, "read its element, and plan the rest with it")?,
            Some(Read::Count(_)) => writeln!(f, "read the count, and plan the rest with it")?,
            Some(Read::Run { place, by_host, .. }) => {
                writeln!(f, "run {place}, and plan the rest with what it gives")?;
                if let Some(reason) = by_host {
                    writeln!(f, "// the host runs the loop, which is not one kernel of one block: {reason}")?;
                }
            }
            Some(Read::Inputs(_)) => writeln!(f, "read whether checks have failed, and plan the loop")?,
            Some(Read::Given(_)) => writeln!(f, "plan the rest with what the loop gives")?,
            None => {}
        }
        Ok(())
    }
}
