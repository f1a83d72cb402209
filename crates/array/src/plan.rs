//! What a runtime executes: buffers, launches and their arguments, for actual extents.
//!
//! A plan is data. It is made anew for other extents, but its kernels take extents as arguments, so the kernels of two
//! plans of one program are mostly the same.

use crate::error::Error;
use crate::extents::Extents;
use crate::form::{Forms, Fuser};
use crate::lower::{Lowered, Lowering};
use crate::node::{Node, Operation, in_order};
use pumice_kernel::Profile;
use pumice_kernel::skeletons::Skeletons;
use pumice_program::Verified;
use pumice_scalar::{Constant, ScalarType, Site};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
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
    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.ty.bytes() * self.length
    }
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A buffer of the plan.
    Buffer(usize),
    /// A number that the plan knows.
    Constant(Constant),
    /// A scalar argument of the program.
    Scalar(u32),
    /// The memory in which failures are recorded.
    Failure,
    /// The number of the launch's first failure site; a finished plan has a constant instead.
    FailureBase,
}

/// One kernel with its arguments.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel.
    pub program: Arc<Verified>,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// Buffers that are zeroed first, as it may not write all of their elements.
    pub clears: Vec<usize>,
    /// The operation that it comes from.
    pub place: String,
    /// The skeleton that it was made by.
    pub skeleton: String,
}

/// One step of a plan.
#[derive(Clone, Debug)]
pub enum Step {
    /// Make a buffer.
    Allocate(usize),
    /// Run a kernel.
    Launch(Launch),
    /// A buffer is not needed any more.
    Release(usize),
}

/// An array that exists before the plan is executed.
#[derive(Clone)]
pub struct Input {
    /// The operation that brings it: a use or an argument.
    pub node: Arc<Node>,
    /// Its buffers, one for each scalar type.
    pub buffers: Vec<usize>,
}

/// Choices about how a program is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether producers are fused with consumers; without it every array is written to memory.
    pub fuse: bool,
    /// Whether neighbouring accesses become wide ones, where the device has them.
    pub vectorise: bool,
    /// Whether index arithmetic is done in 32 bits where that provably suffices.
    pub narrow: bool,
    /// Skeletons in place of ours.
    pub skeletons: Skeletons,
}

impl Default for Options {
    fn default() -> Self {
        Options { fuse: true, vectorise: true, narrow: true, skeletons: Skeletons::default() }
    }
}

/// What to do to execute a program on arrays of certain extents.
#[derive(Clone)]
pub struct Plan {
    // Private, because a runtime relies on it: programs stay within the buffers that they are given.
    buffers: Vec<Buffer>,
    inputs: Vec<Input>,
    steps: Vec<Step>,
    results: Vec<(Vec<usize>, Vec<usize>)>,
    sites: Vec<Site>,
}

impl Plan {
    /// Plans the computation of `roots`. `arguments` are the extents of array arguments and `scalars` the scalar
    /// arguments, both by argument number.
    pub fn new(
        roots: &[Arc<Node>],
        profile: &Profile,
        arguments: &HashMap<u32, Vec<usize>>,
        scalars: &[Constant],
        options: &Options,
    ) -> Result<Plan, Error> {
        let order = in_order(roots);
        for node in &order {
            if let Some(mistake) = node.mistake() {
                return Err(Error::Program(mistake));
            }
        }
        let extents = Extents::new(&order, arguments, scalars)?;
        let forms = if options.fuse { Forms::new(&order, roots) } else { Forms::all_manifest(&order) };
        Plan::make(&order, roots, profile, options, &extents, &forms, scalars)
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

    /// For each result its extents and buffers.
    pub fn results(&self) -> &[(Vec<usize>, Vec<usize>)] {
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

    /// The buffers of a slot.
    pub(crate) fn of(&self, slot: usize) -> &[usize] {
        self.slots.get(slot).map_or(&[], Vec::as_slice)
    }

    /// The scalar types of a slot.
    pub(crate) fn types(&self, slot: usize) -> Vec<ScalarType> {
        self.of(slot).iter().map(|buffer| self.all[*buffer].ty).collect()
    }
}

impl Plan {
    fn make(
        order: &[Arc<Node>],
        roots: &[Arc<Node>],
        profile: &Profile,
        options: &Options,
        extents: &Extents,
        forms: &Forms,
        scalars: &[Constant],
    ) -> Result<Plan, Error> {
        let buffers = RefCell::new(Buffers::default());
        let mut slots: HashMap<u64, usize> = HashMap::new();
        let (mut inputs, mut steps, mut sites) = (Vec::new(), Vec::new(), Vec::new());
        for node in order.iter().filter(|node| forms.is_manifest(node)) {
            let slot = buffers.borrow_mut().add(&node.types, extents.size(node));
            slots.insert(node.id, slot);
            let mine = buffers.borrow().of(slot).to_vec();
            if matches!(node.operation, Operation::Use(_) | Operation::Argument(_)) {
                inputs.push(Input { node: node.clone(), buffers: mine });
                continue;
            }
            steps.extend(mine.into_iter().map(Step::Allocate));
            // A user's kernel may have something to say even if it gives nothing.
            if extents.size(node) == 0 && !matches!(node.operation, Operation::Kernel { .. }) {
                continue;
            }
            let fuser = Fuser::new(extents, forms, &slots);
            let Lowered { kernels, temporary } =
                Lowering { profile, options, extents, scalars, fuser, buffers: &buffers }
                    .array(node, slot)?;
            let between = temporary.map_or(Vec::new(), |slot| buffers.borrow().of(slot).to_vec());
            steps.extend(between.iter().copied().map(Step::Allocate));
            for kernel in kernels {
                let first_site = sites.len();
                sites.extend(kernel.sites.iter().copied());
                steps.push(Step::Launch(kernel.launch(first_site)));
            }
        }
        let result = |root: &Arc<Node>| {
            let extents = extents.of(root).iter().map(|extent| *extent as usize).collect();
            let mine = slots.get(&root.id).map_or(Vec::new(), |slot| buffers.borrow().of(*slot).to_vec());
            (extents, mine)
        };
        let results: Vec<(Vec<usize>, Vec<usize>)> = roots.iter().map(result).collect();
        let steps = release_after_last_use(steps, &results);
        Ok(Plan { buffers: buffers.into_inner().all, inputs, steps, results, sites })
    }
}

/// Adds a release of every buffer that is no result after its last use.
fn release_after_last_use(steps: Vec<Step>, results: &[(Vec<usize>, Vec<usize>)]) -> Vec<Step> {
    let kept: HashSet<usize> = results.iter().flat_map(|(_, buffers)| buffers.iter().copied()).collect();
    let mut last: HashMap<usize, usize> = HashMap::new();
    for (position, step) in steps.iter().enumerate() {
        match step {
            Step::Allocate(buffer) => drop(last.insert(*buffer, position)),
            Step::Launch(launch) => {
                last.extend(launch.arguments.iter().filter_map(|argument| match argument {
                    Argument::Buffer(buffer) => Some((*buffer, position)),
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
            writeln!(f, "input ({}) // {}", list(&input.buffers), input.node.place())?;
        }
        for step in &self.steps {
            match step {
                Step::Allocate(number) => {
                    let buffer = self.buffers[*number];
                    writeln!(f, "allocate b{number}: {} {}", buffer.length, buffer.ty)?;
                }
                Step::Release(number) => writeln!(f, "release b{number}")?,
                Step::Launch(launch) => {
                    let arguments = launch.arguments.iter().map(|argument| match argument {
                        Argument::Buffer(number) => format!("b{number}"),
                        Argument::Constant(constant) => constant.to_string(),
                        Argument::Scalar(number) => format!("argument {number}"),
                        Argument::Failure | Argument::FailureBase => "failure".to_string(),
                    });
                    let arguments = arguments.collect::<Vec<_>>().join(", ");
                    for buffer in &launch.clears {
                        writeln!(f, "zero b{buffer}")?;
                    }
                    let (name, place, skeleton) = (&launch.program.name, &launch.place, &launch.skeleton);
                    writeln!(f, "launch {name}({arguments}) // {place}, by {skeleton}")?;
                }
            }
        }
        for (extents, buffers) in &self.results {
            writeln!(f, "return {extents:?} ({})", list(buffers))?;
        }
        Ok(())
    }
}
