//! What a runtime executes: buffers, launches and their arguments, for actual extents.
//!
//! A plan is data. It is made anew for other extents, but its kernels take extents as arguments, so the kernels of two
//! plans of one program are mostly the same.

mod arrays;
mod traffic;

pub use arrays::{PlannedArray, Use};

use crate::error::Error;
use crate::extents::{Extents, Knowledge, Length, Unplanned};
use crate::form::{Form, Forms};
use crate::fuser::Fuser;
use crate::in_memory::InMemory;
use crate::lower::{HeardFrom, Listeners, Lowering, Reason, SmallLoop};
use crate::operations::SmallLoopResult;
use crate::program::{Node, NodeId};
use crate::verify::CheckedProgram;
use pumice_kernel::Profile;
use pumice_kernel::skeletons::{Combine, Division, Skeletons};
use pumice_program::{MAX_BLOCKS, Param, Verified};
use pumice_scalar::{Constant, Place, ScalarType, Site};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// An array of scalars in a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The type of its elements.
    pub ty: ScalarType,
    /// How many there are.
    pub length: usize,
}

impl Buffer {
    /// The bytes that it takes; as many as can be said, where there are more, which no device has.
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
    pub place: String,
    /// The skeleton that it was made by.
    pub skeleton: String,
    /// Why that skeleton, and why it is divided like this: sentences, recorded where it was decided.
    pub why: Vec<String>,
    /// The operations that are computed in it, in the order of the program. Where an operation takes several kernels, all have the same.
    pub fused: Vec<Place>,
}

impl Launch {
    /// How many blocks run. That depends on extents only, and those are constants of the plan.
    pub fn blocks(&self) -> Result<u64, Error> {
        let values = self.arguments.iter().zip(&self.program.params);
        let scalars = values.filter_map(|(argument, param)| match (argument, param) {
            (PlanArgument::Constant(constant), _) => Some(*constant),
            (_, Param::Scalar(var)) => Some(Constant::zero(self.program.var_type(*var))),
            _ => None,
        });
        let scalars: Vec<Constant> = scalars.collect();
        let blocks = self.program.blocks_for(&scalars);
        let blocks = blocks.map_err(|error| Error::Program(format!("{error} in {}", self.place)))?;
        match blocks <= MAX_BLOCKS as u64 {
            true => Ok(blocks),
            false => Err(Error::Program(format!("{} needs {blocks} blocks, too many", self.place))),
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
    /// What the user calls it, and where they wrote it.
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
    /// How elements are combined at an index, where their operator allows that; otherwise it is chosen.
    pub combine: Option<Combine>,
    /// Who takes the elements of a source of an expansion, where the device can do it so; otherwise it is chosen.
    pub division: Option<Division>,
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
            vectorise: true,
            narrow: true,
            fast_math: false,
            most_unread: 4 << 30,
            combine: None,
            division: None,
            skeletons: Skeletons::default(),
        }
    }
}

/// An array that a plan computes.
#[derive(Clone, Debug)]
pub struct ResultArray {
    /// What the user calls it, and where they wrote it.
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
}

/// What must be known before a program can be planned to its end, when a plan's results have been computed.
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
        /// What the user calls it, and where they wrote it.
        place: Place,
        /// Why a loop is not one kernel of this plan.
        by_host: Option<Reason>,
    },
    /// The results are the inputs of this loop, whose checks must have held before it is planned: on zeros it might not end.
    Inputs(NodeId),
    /// The results are what this loop gives, which is part of this plan; see [`ArrayProgram::given_by`].
    ///
    /// [`ArrayProgram::given_by`]: crate::ArrayProgram::given_by
    Given(NodeId),
}

impl Plan {
    /// Plans the computation of a program's results, given what is known of its arguments. If a length that only the
    /// device knows must be read first, or a loop or a branch is to be run, the plan ends there ([`Plan::reads`]), and
    /// another one is made with what is known then. Loops that fit one block are kernels of the plan.
    pub fn new(
        program: &CheckedProgram,
        profile: &Profile,
        knowledge: &Knowledge,
        options: &PlanOptions,
    ) -> Result<Plan, Error> {
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
                    let plan = Plan::new(&fitted.up_to(array), profile, knowledge, options)?;
                    break Plan { reads: plan.reads.or(Some(Read::Extents(array))), ..plan };
                }
                Err(Unplanned::NeedsValue(array)) => {
                    let plan = Plan::new(&fitted.up_to(array), profile, knowledge, options)?;
                    break Plan { reads: plan.reads.or(Some(Read::Value(array))), ..plan };
                }
                Err(other) => return Err(other.into_error()),
            };
            let Node { inputs, place, .. } = fitted.node(control);
            let plan = Plan::new(&fitted.giving(inputs), profile, knowledge, options)?;
            let run = Read::Run { control, place: *place, by_host };
            break Plan { reads: plan.reads.or(Some(run)), ..plan };
        };
        match (plan.reads, first) {
            // Of a plan that is not the last one nothing is left but what it reads. A loop is run once.
            (Some(_), Some(control)) => {
                let given: Vec<NodeId> = fitted.given_by(control).map(|(id, _)| id).collect();
                let plan = Plan::new(&fitted.giving(&given), profile, knowledge, options)?;
                Ok(Plan { reads: plan.reads.or(Some(Read::Given(control))), ..plan })
            }
            _ => Ok(plan),
        }
    }

    /// The plan of a program to its end, if it has no loop that must be run before and can fail.
    fn that_can_fail(
        program: &CheckedProgram,
        profile: &Profile,
        knowledge: &Knowledge,
        options: &PlanOptions,
    ) -> Result<Option<Plan>, Error> {
        let plan = Plan::new(program, profile, knowledge, options)?;
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
            let plan = Plan::new(&program.count(cell), profile, knowledge, &fused)?;
            return Ok(Plan { reads: plan.reads.or(Some(Read::Count(cell))), ..plan });
        }
        Planner { program, profile, options, knowledge, extents, forms: &forms }.plan()
    }

    /// What is to be read when the steps have been executed, before the rest of the program is planned.
    pub fn reads(&self) -> Option<Read> {
        self.reads
    }

    /// All buffers.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The arrays that exist already.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// What to do, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The results.
    pub fn results(&self) -> &[ResultArray] {
        &self.results
    }

    /// Where it can fail: a failure's code is one more than an index into these.
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

/// Scalars that kernels compute together at most: each is a register or more in every thread.
const MOST_TOGETHER: usize = 8;

/// Elements up to which writing an array costs less than launching a kernel for it: one block's.
const SMALL: i64 = 1024;

/// The first slot that an array does not have yet.
const FORESEEN: usize = 1 << 40;

/// How arrays are computed together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Together {
    /// By producers of one kind.
    Produced,
    /// By operations that hear one producer.
    Heard,
    /// As pulls of one shape, which are written.
    Written,
    /// As the arrays of one loop.
    Looped,
    /// As pulls of one shape, which are written, and operations that hear what they read of them in step.
    WrittenAndHeard,
}

impl Together {
    /// Why several arrays come out of one kernel.
    fn sentence(self, group: &[&Node]) -> Option<String> {
        let mut operations: Vec<&str> = group.iter().map(|node| node.place.operation()).collect();
        operations.dedup();
        let names = operations.join(", ");
        let sentence = match self {
            Together::Looped => "the arrays of the loop fit one block, so all its rounds are one kernel",
            _ if group.len() < 2 => return None,
            Together::Produced => "they fold rows of one shape, of arrays that they have in common",
            Together::Heard => "they take the same elements, which are loaded once",
            Together::Written => "they have one size, and load the same elements or are small",
            Together::WrittenAndHeard => "what one of them writes the others read at the same index",
        };
        Some(format!("{} arrays are computed together ({names}): {sentence}", group.len()))
    }
}

#[derive(Clone, Copy)]
struct Planner<'a> {
    program: &'a CheckedProgram,
    profile: &'a Profile,
    options: &'a PlanOptions,
    knowledge: &'a Knowledge,
    extents: &'a Extents,
    forms: &'a Forms,
}

impl Planner<'_> {
    fn plan(&self) -> Result<Plan, Error> {
        let Planner { program, profile, options, knowledge, extents, forms } = *self;
        let (buffers, sites) = (RefCell::new(Buffers::default()), RefCell::new(Vec::new()));
        let mut slots: HashMap<NodeId, usize> = HashMap::new();
        let mut cells: HashMap<NodeId, usize> = HashMap::new();
        let (mut inputs, mut steps, mut arrays) = (Vec::new(), Vec::new(), Vec::new());
        let reasons = RefCell::new(Vec::new());
        let mut done: HashSet<NodeId> = HashSet::new();
        // As `slots`, but pulls that will be in memory have one too: whether they are read in step is seen from their loads.
        let pulls = program.nodes().iter().filter(|node| self.is_written_pull(node));
        let mut foreseen: HashMap<NodeId, usize> =
            pulls.map(|node| (node.id, FORESEEN + node.id.0 as usize)).collect();
        let manifest = || program.nodes().iter().filter(|node| forms.is_manifest(node.id));
        // What is given is there for whoever comes first.
        for node in manifest().filter(|node| matches!(forms.of(node.id), Some(Form::Given))) {
            let slot = buffers.borrow_mut().add(&node.types, extents.size(node.id));
            slots.insert(node.id, slot);
            foreseen.insert(node.id, slot);
            done.insert(node.id);
            let buffers = buffers.borrow().of(slot).to_vec();
            arrays.push(self.in_memory(node, &buffers, Vec::new()));
            inputs.push(Input { node: node.id, place: node.place, buffers });
        }
        let mut waiting: VecDeque<&Node> = manifest().collect();
        let mut postponed: HashSet<NodeId> = HashSet::new();
        // Forms as they are from here on.
        let mut latest = Cow::Borrowed(forms);
        while let Some(node) = waiting.pop_front() {
            if done.contains(&node.id) {
                continue;
            }
            let forms = &latest.clone();
            let planner = Planner { forms, ..*self };
            // Others that come out of the same kernel, and those of them that are handed on in it and not written.
            let (group, how, unwritten) = {
                let fuser = Fuser::new(program, extents, forms, &foreseen);
                let (cells, buffers, sites, reasons) = (&cells, &buffers, &sites, &reasons);
                let lowering = Lowering {
                    profile,
                    options,
                    program,
                    extents,
                    knowledge,
                    fuser,
                    cells,
                    buffers,
                    sites,
                    reasons,
                };
                if !postponed.contains(&node.id) && planner.is_better_later(node, &done, &lowering) {
                    postponed.insert(node.id);
                    waiting.push_back(node);
                    continue;
                }
                let (group, how) = planner.group(node, (&done, &postponed), &lowering);
                let unwritten = match how {
                    Together::WrittenAndHeard => planner.recomputed(&group, &done, &lowering),
                    _ => Vec::new(),
                };
                (group, how, unwritten)
            };
            if !unwritten.is_empty() {
                latest = Cow::Owned(forms.computing(&unwritten));
            }
            // What nobody reads but in step, here, is not in memory at all.
            let unread: Vec<NodeId> = match how {
                Together::Heard | Together::Written => planner.unread(&group),
                Together::Produced | Together::WrittenAndHeard | Together::Looped => Vec::new(),
            };
            done.extend(&unread);
            let group: Vec<&Node> = group.into_iter().filter(|node| !unread.contains(&node.id)).collect();
            for member in &group {
                done.insert(member.id);
                if unwritten.contains(&member.id) {
                    // By this number those who hear it know its elements.
                    slots.insert(member.id, FORESEEN + member.id.0 as usize);
                    continue;
                }
                let slot = buffers.borrow_mut().add(&member.types, extents.size(member.id));
                slots.insert(member.id, slot);
                foreseen.insert(member.id, slot);
                steps.extend(buffers.borrow().of(slot).iter().copied().map(Step::Allocate));
                let mut found = Vec::new();
                for cell in extents.lengths(member.id).iter().filter_map(|length| length.cell) {
                    cells.entry(cell).or_insert_with(|| {
                        let slot = buffers.borrow_mut().add(&[ScalarType::I64], 1);
                        steps.extend(buffers.borrow().of(slot).iter().copied().map(Step::Allocate));
                        found.extend_from_slice(buffers.borrow().of(slot));
                        slot
                    });
                }
                arrays.push(planner.in_memory(member, buffers.borrow().of(slot), found));
            }
            // What is written here and read in step is computed once, and not read back.
            let computes = group.len() > 1 && how != Together::WrittenAndHeard;
            let written = group.iter().filter(|node| computes && planner.is_written_pull(node));
            let written: Vec<NodeId> = written.map(|node| node.id).chain(unread).collect();
            let computing = (!written.is_empty()).then(|| forms.computing(&written));
            let fuser = Fuser::new(program, extents, computing.as_ref().unwrap_or(forms), &slots);
            let lowering = Lowering {
                profile,
                options,
                program,
                extents,
                knowledge,
                fuser,
                cells: &cells,
                buffers: &buffers,
                sites: &sites,
                reasons: &reasons,
            };
            if let Some(sentence) = how.sentence(&group) {
                lowering.because(sentence);
            }
            let fused = planner.fused(&group, &lowering.fuser);
            let mut lowered = planner.lower(&lowering, &group, how, &unwritten)?;
            for step in &mut lowered {
                if let Step::Launch(launch) = step {
                    launch.fused.clone_from(&fused);
                }
            }
            // Where nothing was launched, nothing is to be explained.
            reasons.borrow_mut().clear();
            steps.extend(lowered);
        }
        let result = |root: &NodeId| {
            let lengths = extents.lengths(*root);
            let cell = |length: &Length| {
                let slot = length.cell.and_then(|cell| cells.get(&cell));
                slot.and_then(|slot| buffers.borrow().of(*slot).first().copied())
            };
            ResultArray {
                place: program.node(*root).place,
                extents: lengths.iter().map(|length| length.bound as usize).collect(),
                cells: lengths.iter().map(cell).collect(),
                buffers: slots.get(root).map_or(Vec::new(), |slot| buffers.borrow().of(*slot).to_vec()),
            }
        };
        let results: Vec<ResultArray> = program.results().iter().map(result).collect();
        let steps = release_after_last_use(steps, &results);
        let (buffers, sites) = (buffers.into_inner().all, sites.into_inner());
        Ok(Plan { buffers, inputs, arrays, steps, results, sites, reads: None })
    }

    /// An array that is in memory.
    fn in_memory(&self, node: &Node, buffers: &[usize], cells: Vec<usize>) -> PlannedArray {
        let extents =
            self.extents.lengths(node.id).iter().map(|length| length.bound.max(0) as usize).collect();
        let why = self.forms.why(node.id).unwrap_or(InMemory::Result);
        PlannedArray { place: node.place, extents, buffers: buffers.to_vec(), cells, why }
    }

    /// The operations whose elements are computed in the kernels of these arrays.
    fn fused(&self, group: &[&Node], fuser: &Fuser<'_>) -> Vec<Place> {
        let mut computed: HashSet<NodeId> = group.iter().map(|node| node.id).collect();
        let mut waiting: Vec<NodeId> = group.iter().flat_map(|node| self.inputs_of(node)).collect();
        while let Some(id) = waiting.pop() {
            if !fuser.forms.is_manifest(id) && computed.insert(id) {
                waiting.extend(self.inputs_of(self.program.node(id)));
            }
        }
        let nodes = self.program.nodes().iter().filter(|node| computed.contains(&node.id));
        let mut places: Vec<Place> = nodes.map(|node| node.place).collect();
        // Some of the user's operations are several here.
        places.dedup();
        places
    }

    /// The steps that write arrays which are computed together, apart from those that are only handed on.
    fn lower(
        &self,
        lowering: &Lowering<'_>,
        group: &[&Node],
        how: Together,
        unwritten: &[NodeId],
    ) -> Result<Vec<Step>, Error> {
        if let ([node, ..], Together::Looped) = (group, how) {
            return node.operation.consume(lowering, node);
        }
        if let [node] = group {
            return match lowering.is_idle(node.id) {
                true => Ok(Vec::new()),
                false => lowering.array(node, lowering.slot(node.id)?),
            };
        }
        let writing = |node: &&Node| {
            // What is written in its own way has nobody who listens to its result.
            Ok(match self.forms.of(node.id) {
                Some(Form::Alone) => Listeners { producer: node.id, heard: Vec::new() },
                _ if unwritten.contains(&node.id) => Listeners { producer: node.id, heard: Vec::new() },
                _ => lowering.writing(node, lowering.slot(node.id)?),
            })
        };
        let listeners = group.iter().map(writing).collect::<Result<Vec<_>, Error>>()?;
        let Some(first) = listeners.first() else { return Ok(Vec::new()) };
        match how {
            Together::Produced => self.program.node(first.producer).operation.produce(lowering, listeners),
            Together::Heard => lowering.hear(listeners),
            Together::Written => lowering.write_together(listeners, Vec::new()),
            Together::WrittenAndHeard => lowering.write_heard(listeners),
            Together::Looped => Ok(Vec::new()),
        }
    }

    /// The arrays that are computed together with one: in one way, from an array that they all read, and from nothing that is not
    /// there yet. Small pulls of one size need not read the same: what they save is a launch. What was postponed for the sake of loads
    /// comes in where it shares them.
    fn group<'b>(
        &'b self,
        node: &'b Node,
        (done, postponed): (&HashSet<NodeId>, &HashSet<NodeId>),
        lowering: &Lowering<'_>,
    ) -> (Vec<&'b Node>, Together) {
        let Planner { program, profile, options, extents, forms, .. } = *self;
        if node.operation.as_any().is::<SmallLoopResult>() {
            let given = program.given_by(node.id).filter(|(id, _)| forms.is_manifest(*id));
            return (given.map(|(id, _)| program.node(id)).collect(), Together::Looped);
        }
        // What has no elements, or elements without scalars, takes no kernel that others could share.
        let is_nothing = |node: &Node| extents.size(node.id) == 0 || node.types.is_empty();
        if !options.fuse || !options.together || is_nothing(node) {
            return (vec![node], Together::Produced);
        }
        let producer = |node: &Node| match forms.of(node.id) {
            Some(Form::Push { producer, .. }) => Some(program.node(*producer)),
            _ => None,
        };
        if let Some(from) = lowering.hears(node) {
            let is_common = matches!(from, HeardFrom::Producer(_));
            let (mut hearers, first) = (1, producer(node).unwrap_or(node));
            // It is written row by row, and has a number of elements that others may hear.
            let by_rows = profile.coalesces
                && matches!(from, HeardFrom::Indices(_))
                && self.is_written_pull(node)
                && extents.is_known(node.id);
            let numbers = HeardFrom::Numbers(extents.size(node.id));
            let in_step = |other: &Node, read: NodeId| {
                let hearer = producer(other).unwrap_or(other);
                lowering.reads_in_step(hearer.id, read) && !self.reads_besides(other, hearer, lowering, read)
            };
            let group = self.readers(node, done, in_step, |other, in_common| {
                let hearer = producer(other).unwrap_or(other);
                // What is not there yet is written here.
                let reads_written = || self.reads(other).iter().any(|read| !done.contains(read));
                let moving = postponed.contains(&node.id) != postponed.contains(&other.id);
                let pays =
                    || is_common || lowering.load_in_common(first.id, hearer.id, moving) || reads_written();
                let theirs = lowering.hears(other);
                let hears_rows = || {
                    by_rows
                        && theirs.as_ref() == Some(&numbers)
                        && hearer.operation.hears_from_any_blocks()
                        && reads_written()
                };
                let hears = !is_nothing(other)
                    && (theirs.as_ref() == Some(&from) || hears_rows())
                    && ((in_common && pays()) || (self.is_small_pull(node) && self.is_small_pull(other)))
                    && hearer.operation.hears_as_well(lowering, hearer, hearers + 1);
                hearers += u32::from(hears);
                hears
            });
            let is_pull = |node: &&Node| forms.of(node.id) == Some(&Form::Pull);
            let all = |form: fn(&Form) -> bool| group.iter().all(|node| forms.of(node.id).is_some_and(form));
            if group.len() > 1 && !is_common && group.iter().all(is_pull) {
                return (group, Together::Written);
            }
            let reads_another = |pull: &&Node| {
                self.is_written_pull(pull) && group.iter().any(|other| self.reads(pull).contains(&other.id))
            };
            if by_rows && group.len() > 1 && !group.iter().any(reads_another) {
                return (group, Together::WrittenAndHeard);
            }
            // A CPU's thread takes elements one by one, which is slower than a fold by itself.
            let pays = is_common
                || (profile.coalesces && !by_rows && !all(|form| matches!(form, Form::Push { .. })));
            if group.len() > 1 && pays && first.operation.hears_as_well(lowering, first, hearers) {
                return (group, Together::Heard);
            }
            // Pulls read in step only what other pulls have written, so they can do without the rest.
            let pulls: Vec<&Node> = group.into_iter().filter(is_pull).collect();
            if is_pull(&node) && pulls.len() > 1 {
                return (pulls, Together::Written);
            }
        }
        let key = |node: &Node| {
            let producer = producer(node)?;
            Some((producer.operation.keyword(), producer.operation.shares(lowering, producer)?))
        };
        let Some(mine) = key(node) else { return (vec![node], Together::Produced) };
        let alike = |other: &Node, in_common: bool| in_common && key(other).as_ref() == Some(&mine);
        (self.readers(node, done, |_, _| false, alike), Together::Produced)
    }

    /// Those of the arrays that are computed together which nothing else reads, and which are no results.
    fn unread(&self, group: &[&Node]) -> Vec<NodeId> {
        let is_here = |node: &Node| group.iter().any(|member| member.id == node.id);
        let needs_memory = |array: NodeId| {
            let others = self.program.nodes().iter().filter(|node| self.forms.is_manifest(node.id));
            others.filter(|node| !is_here(node)).any(|other| self.reads(other).contains(&array))
        };
        let is_unread = |node: &&&Node| {
            self.is_written_pull(node)
                && !self.program.results().contains(&node.id)
                && !needs_memory(node.id)
                && group.iter().any(|other| self.reads(other).contains(&node.id))
        };
        group.iter().filter(is_unread).map(|node| node.id).collect()
    }

    /// Whether an array is written by a kernel that goes through its indices.
    fn is_written_pull(&self, node: &Node) -> bool {
        self.forms.is_manifest(node.id) && self.forms.of(node.id) == Some(&Form::Pull)
    }

    /// Whether an array is written by such a kernel, in less time than launching it takes.
    fn is_small_pull(&self, node: &Node) -> bool {
        self.is_written_pull(node) && self.extents.size(node.id) <= SMALL
    }

    /// An array and those of the others that `fits` says, which is told whether one reads an array which the first reads too, or
    /// one of these in step. They need nothing that is not there yet.
    fn readers<'b>(
        &'b self,
        node: &'b Node,
        done: &HashSet<NodeId>,
        in_step: impl Fn(&Node, NodeId) -> bool,
        mut fits: impl FnMut(&Node, bool) -> bool,
    ) -> Vec<&'b Node> {
        let (mut group, mut columns) = (vec![node], node.types.len());
        let mut reads = self.reads(node);
        reads.insert(node.id);
        for other in self.program.nodes() {
            let new = self.forms.is_manifest(other.id) && !done.contains(&other.id) && other.id != node.id;
            if !new || columns + other.types.len() > MOST_TOGETHER {
                continue;
            }
            let theirs = self.reads(other);
            let is_written = |read: &NodeId| {
                group.iter().any(|node| node.id == *read && self.is_written_pull(node))
                    && in_step(other, *read)
            };
            let ready = theirs.iter().all(|read| done.contains(read) || is_written(read));
            if ready && fits(other, theirs.iter().any(|read| reads.contains(read))) {
                columns += other.types.len();
                reads.insert(other.id);
                group.push(other);
            }
        }
        group
    }

    /// Whether the kernels that write an array read another one by other ways than the elements that its operation hears.
    fn reads_besides(&self, node: &Node, hearer: &Node, lowering: &Lowering<'_>, read: NodeId) -> bool {
        let Some(heard) = lowering.gathered(hearer.id).filter(|heard| *heard != hearer.id) else {
            return false;
        };
        let others = hearer.inputs.iter().copied().filter(|input| *input != heard);
        let others: Vec<NodeId> = others.chain(hearer.reads()).collect();
        let is_twice = hearer.inputs.iter().filter(|input| **input == heard).count() > 1;
        // What stands between the operation and the array is computed from its results alone, and from what it reads itself.
        let after = if node.id == hearer.id { Vec::new() } else { self.inputs_of(node) };
        let after = after.into_iter().filter(|input| *input != hearer.id);
        is_twice || self.reached(others.into_iter().chain(after).collect(), Some(hearer.id)).contains(&read)
    }

    /// The arrays in memory that the kernel which writes an array reads.
    fn reads(&self, node: &Node) -> HashSet<NodeId> {
        self.reached(self.inputs_of(node), None)
    }

    /// The arrays that an array is computed from: those of which it has elements, and those whose kernels find a length that it mentions.
    fn inputs_of(&self, node: &Node) -> Vec<NodeId> {
        let cell = |(array, dimension): (NodeId, u32)| {
            self.extents.lengths(array).get(dimension as usize).and_then(|length| length.cell)
        };
        let inputs = node.inputs.iter().copied().chain(node.reads());
        inputs.chain(node.mentions().filter_map(cell)).collect()
    }

    /// The arrays in memory that are read to compute others, apart from what one of these reads.
    fn reached(&self, mut waiting: Vec<NodeId>, apart_from: Option<NodeId>) -> HashSet<NodeId> {
        let mut found = HashSet::new();
        let mut seen: HashSet<NodeId> = apart_from.into_iter().collect();
        while let Some(id) = waiting.pop() {
            if self.forms.is_manifest(id) {
                found.insert(id);
            } else if seen.insert(id) {
                waiting.extend(self.inputs_of(self.program.node(id)));
            }
        }
        found
    }
}

/// Adds a release of every buffer that is no result after its last use.
fn release_after_last_use(steps: Vec<Step>, results: &[ResultArray]) -> Vec<Step> {
    let cells = results.iter().flat_map(|result| result.cells.iter().flatten());
    let kept: HashSet<usize> =
        results.iter().flat_map(|result| &result.buffers).chain(cells).copied().collect();
    let mut last: HashMap<usize, usize> = HashMap::new();
    for (position, step) in steps.iter().enumerate() {
        match step {
            Step::Allocate(buffer) | Step::Zero(buffer) => drop(last.insert(*buffer, position)),
            Step::Copy { from, to } => last.extend([(*from, position), (*to, position)]),
            Step::Launch(launch) => {
                last.extend(launch.arguments.iter().filter_map(|argument| match argument {
                    PlanArgument::Buffer(buffer) => Some((*buffer, position)),
                    _ => None,
                }))
            }
            Step::Release(_) => {}
        }
    }
    let mut released: HashMap<usize, Vec<usize>> = HashMap::new();
    for (buffer, position) in last.into_iter().filter(|(buffer, _)| !kept.contains(buffer)) {
        released.entry(position).or_default().push(buffer);
    }
    let mut all = Vec::new();
    for (position, step) in steps.into_iter().enumerate() {
        all.push(step);
        let mut done = released.remove(&position).unwrap_or_default();
        done.sort_unstable();
        all.extend(done.into_iter().map(Step::Release));
    }
    all
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
