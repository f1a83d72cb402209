//! Loops over arrays that fit one block: the decision which they are, and the work of their rounds.
//!
//! The host runs a loop with launches for each round, and waits for its condition. Where the arrays are small that is nearly all of
//! the time: a launch takes microseconds, in which one block can do some hundred thousand instructions. Such a loop is one kernel of
//! one block ([`kernel`]): its arrays are in shared memory, single values are in registers, and every thread knows the
//! condition.
//!
//! A loop fits if the extents of its arrays are known and stay the same from round to round, its programs consist of operations
//! that a block does by itself ([`jobs`]), and one round is little enough work. Whether it does is decided before anything is built.

mod block;
mod fold;
mod held;
mod inside;
mod jobs;
mod kernel;
mod scan;

use crate::control::{Control, Loop, Rounds};
use crate::extents::{Extents, Knowledge, Unplanned};
use crate::form::{Form, Forms};
use crate::fuser::Fuser;
use crate::operation::{Given, Operation};
use crate::operations::SmallLoopResult;
use crate::plan::PlanOptions;
use crate::program::{ArrayProgram, NodeId};
use crate::verify::CheckedProgram;
use jobs::Job;
use pumice_kernel::Profile;
use pumice_program::WARP;
use pumice_scalar::{Constant, ScalarType};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Why a loop is left to the host, for `explain`.
pub type Reason = &'static str;

/// The most elements of an array in such a loop: more keep several blocks busy.
const MOST_ELEMENTS: i64 = 4096;

/// The most instructions of a round, over all elements: a multiprocessor does as many in the time of about one launch.
const MOST_WORK: u64 = 1 << 18;

/// The same where a block is one worker of a CPU, to which a launch costs less.
const MOST_WORK_OF_A_WORKER: u64 = 1 << 16;

/// Arrays that a program of a loop writes at most: each is code of the kernel.
const MOST_JOBS: usize = 64;

/// Loops of one block within each other, at most: each is nested statements of the kernel.
const MOST_DEEP: usize = 4;

/// The threads of a block, at most: more leave a thread few registers.
const MOST_THREADS: u32 = 1024;

/// A loop that is one kernel of one block.
pub(crate) struct SmallLoop {
    shape: Loop,
    inputs: Vec<Whole>,
    /// The programs by their number in the operation.
    bodies: Vec<Body>,
    threads: u32,
    /// Whether a check stands in one of the programs.
    can_fail: bool,
}

/// An array of which all is known but its elements.
struct Whole {
    extents: Vec<i64>,
    types: Vec<ScalarType>,
}

impl Whole {
    fn size(&self) -> i64 {
        self.extents.iter().product()
    }

    /// Cells of shared memory for each column. Kernels are made for this number, so it is one of few.
    fn capacity(&self) -> u32 {
        capacity(self.size())
    }
}

fn capacity(size: i64) -> u32 {
    u32::try_from(size).unwrap_or(0).max(1).next_power_of_two()
}

/// One of a loop's programs, ready to be written into the kernel.
struct Body {
    program: CheckedProgram,
    extents: Extents,
    forms: Forms,
    /// Whether floats need not be exact.
    fast_math: bool,
}

/// Resources that the block needs for a loop.
#[derive(Clone, Copy, Default)]
struct Needs {
    shared_bytes: u64,
    /// Instructions of a round.
    work: u64,
    jobs: usize,
    /// Elements of the largest array that is written.
    largest: i64,
    /// Elements of the largest array that is computed, written or not.
    widest: i64,
    can_fail: bool,
}

impl Needs {
    /// Adds an array that is so many times in shared memory.
    fn memory(&mut self, size: i64, types: &[ScalarType], copies: u64) {
        let bytes: usize = types.iter().map(|ty| ty.bytes()).sum();
        self.largest = self.largest.max(size);
        self.widest = self.widest.max(size);
        self.shared_bytes += u64::from(capacity(size)) * bytes as u64 * copies;
    }

    /// Adds the resources of a further part.
    fn add(&mut self, other: Needs) {
        self.shared_bytes += other.shared_bytes;
        self.work = self.work.saturating_add(other.work);
        self.jobs += other.jobs;
        self.largest = self.largest.max(other.largest);
        self.widest = self.widest.max(other.widest);
        self.can_fail |= other.can_fail;
    }
}

/// Decides whether a loop fits a block.
#[derive(Clone, Copy)]
struct Judge<'a> {
    profile: &'a Profile,
    options: &'a PlanOptions,
    scalars: &'a [Constant],
}

impl SmallLoop {
    /// Replaces a loop that the host runs by one that is a single kernel, with everything before it planned already; or returns
    /// the reason why that cannot be.
    pub(crate) fn fit(
        program: &CheckedProgram,
        control: NodeId,
        profile: &Profile,
        knowledge: &Knowledge,
        options: &PlanOptions,
    ) -> Result<CheckedProgram, Reason> {
        if !options.small_loops {
            return Err("loops in one block are switched off");
        }
        if !options.fuse {
            return Err("every array is to be written to memory");
        }
        let judge = Judge { profile, options, scalars: &knowledge.scalars };
        judge.fit(program, control, knowledge, MOST_DEEP, &mut Needs::default())
    }

    /// Whether only a condition ends a loop.
    pub(crate) fn may_not_end(program: &CheckedProgram, control: NodeId) -> bool {
        let shape = program.node(control).operation.control().and_then(|control| control.as_loop());
        matches!(shape, Some(Loop { rounds: Rounds::While(_), .. }))
    }

    /// The extents of an array of its state.
    pub(crate) fn state_extents(&self, number: usize) -> &[i64] {
        self.state().get(number).map_or(&[], |whole| &whole.extents)
    }

    /// Whether an input is read once, before the first round: then it can be a pull. Others are read in every round, from memory.
    pub(crate) fn reads_at_the_start(&self, input: usize) -> bool {
        self.shape.state.contains(&input)
            || self.inputs.get(input).is_some_and(|input| input.extents.is_empty())
    }

    fn state(&self) -> &[Whole] {
        self.inputs.get(self.shape.state.clone()).unwrap_or(&[])
    }
}

impl Judge<'_> {
    fn fit(
        self,
        program: &CheckedProgram,
        control: NodeId,
        knowledge: &Knowledge,
        depth: usize,
        needs: &mut Needs,
    ) -> Result<CheckedProgram, Reason> {
        let node = program.node(control);
        let operation = node.operation.control().ok_or("it is no loop")?;
        let shape = operation.as_loop().ok_or("it is no loop over arrays")?;
        if operation.once().is_some() {
            return Err("what may fail is computed before its first round");
        }
        let before = program.giving(&node.inputs);
        let extents = Extents::new(&before, knowledge).map_err(unknown)?;
        if !node.inputs.iter().all(|input| extents.is_known(*input)) {
            return Err("how long its arrays are is found on the device");
        }
        let whole = |input: &NodeId| Whole {
            extents: extents.bounds(*input),
            types: program.node(*input).types.clone(),
        };
        let inputs = node.inputs.iter().map(whole).collect();
        let small = Arc::new(self.small_loop(operation, shape, inputs, depth, needs)?);
        Ok(program.with_operations(program.given_by(control).map(|(id, number)| {
            (id, Arc::new(SmallLoopResult { small: small.clone(), number }) as Arc<dyn Operation>)
        })))
    }

    fn small_loop(
        self,
        operation: &dyn Control,
        shape: Loop,
        inputs: Vec<Whole>,
        depth: usize,
        around: &mut Needs,
    ) -> Result<SmallLoop, Reason> {
        let Judge { profile, options, .. } = self;
        if options.skeletons.fold.is_some() || options.skeletons.write.is_some() {
            return Err("skeletons are replaced");
        }
        if depth == 0 {
            return Err("loops in one block nest too deep");
        }
        let mut needs = Needs::default();
        let state = inputs.get(shape.state.clone()).unwrap_or(&[]);
        for whole in state.iter().filter(|whole| !whole.extents.is_empty()) {
            // One is read while the other is written.
            needs.memory(whole.size(), &whole.types, 2);
            needs.work += whole.size() as u64 * LEAST_COST;
        }
        let arguments: HashMap<u32, Vec<usize>> = (0..)
            .zip(inputs.iter().map(|input| input.extents.iter().map(|extent| *extent as usize).collect()))
            .collect();
        let mut bodies = Vec::new();
        for (number, program) in operation.programs().iter().enumerate() {
            let before = needs.shared_bytes;
            bodies.push(self.body(program, &arguments, depth, &mut needs)?);
            if matches!(shape.rounds, Rounds::While(condition) if condition == number) {
                // It is written twice, before the loop and in it.
                needs.shared_bytes += needs.shared_bytes - before;
            }
        }
        let step = bodies.get(shape.step).ok_or("it has no step")?;
        let next = step.program.results().iter().map(|result| step.extents.bounds(*result));
        if !next.eq(state.iter().map(|whole| whole.extents.clone())) {
            return Err("the extents of its arrays change from round to round");
        }
        let most_work = if profile.coalesces { MOST_WORK } else { MOST_WORK_OF_A_WORKER };
        if needs.largest > MOST_ELEMENTS || needs.work > most_work {
            return Err("its rounds are enough work for more than one block");
        }
        if needs.jobs > MOST_JOBS {
            return Err("its programs have too many arrays for one kernel");
        }
        // The other half is for shared memory that the kernel language allocates.
        if needs.shared_bytes > u64::from(profile.shared_bytes / 2) {
            return Err("its arrays do not fit the memory of a block");
        }
        let threads = match profile.coalesces {
            true => capacity(needs.widest.min(MOST_THREADS.into()))
                .clamp(WARP, MOST_THREADS.min(profile.max_threads)),
            false => profile.threads.min(profile.max_threads),
        };
        around.add(needs);
        Ok(SmallLoop { shape, inputs, bodies, threads, can_fail: needs.can_fail })
    }

    fn body(
        self,
        program: &ArrayProgram,
        arguments: &HashMap<u32, Vec<usize>>,
        depth: usize,
        needs: &mut Needs,
    ) -> Result<Body, Reason> {
        let ready = CheckedProgram::new(program.clone()).and_then(|program| program.ready(self.options));
        let mut program = ready.map_err(|_| "one of its programs cannot be planned")?;
        let knowledge = Knowledge::of(arguments.clone(), self.scalars);
        let mut inner = Needs::default();
        let extents = loop {
            match Extents::new(&program, &knowledge) {
                Ok(extents) => break extents,
                Err(Unplanned::NeedsRun(control)) => {
                    program = self.fit(&program, control, &knowledge, depth - 1, &mut inner)?;
                }
                Err(other) => return Err(unknown(other)),
            }
        };
        // Work that a block cannot do while it hands elements on it can do from memory.
        let attempt = |fuse: bool| {
            let forms = Forms::new(&program, &extents, &HashSet::new(), fuse);
            let judged = judge(&program, &extents, &forms, self.options.fast_math)?;
            Ok((forms, judged))
        };
        let apart = |reason: Reason| attempt(false).map_err(|_| reason);
        let (forms, judged) = attempt(true).or_else(apart)?;
        needs.add(judged);
        needs.add(inner);
        Ok(Body { program, extents, forms, fast_math: self.options.fast_math })
    }
}

const FOUND_ON_DEVICE: Reason = "how long one of its arrays is is found on the device";

/// Least cost of an element: it is loaded, stored and counted.
const LEAST_COST: u64 = 8;

/// Returns the resources of a program in these forms; or the reason why a block cannot run it.
fn judge(
    program: &CheckedProgram,
    extents: &Extents,
    forms: &Forms,
    fast_math: bool,
) -> Result<Needs, Reason> {
    let mut needs = Needs::default();
    let slots = program.nodes().iter().map(|node| (node.id, node.id.0 as usize)).collect();
    let fuser = Fuser::new(program, extents, forms, &slots);
    for node in program.nodes() {
        if !forms.is_manifest(node.id) {
            continue;
        }
        if forms.of(node.id) == Some(&Form::Given) {
            match node.operation.given() {
                Some(Given::Argument(_)) => continue,
                _ => return Err("it holds data of its own: write `use_` before the loop"),
            }
        }
        if !extents.is_known(node.id) {
            return Err(FOUND_ON_DEVICE);
        }
        let job = Job::new(&fuser, node, fast_math)?;
        let size = extents.size(node.id);
        // The next state is written to its place in the state, and the result of an inner loop stays in that loop's memory.
        let is_elsewhere = node.rank > 0 && program.results().contains(&node.id);
        let copies = match job {
            Job::Loop(_) | Job::Picked => 0,
            Job::Pull(_) if node.rank == 0 => 0,
            _ => u64::from(!is_elsewhere),
        };
        needs.memory(size, &node.types, copies);
        job.add_needs(size, extents, &mut needs)?;
        needs.jobs += 1;
    }
    Ok(needs)
}

fn unknown(unplanned: Unplanned) -> Reason {
    match unplanned {
        Unplanned::Error(_) | Unplanned::NeedsArguments => "one of its programs cannot be planned",
        Unplanned::NeedsLength(_) => "an extent depends on a length that is found on the device",
        Unplanned::NeedsValue(_) => "an extent depends on an element that is computed in it",
        Unplanned::NeedsRun(_) => "it has a loop or a branch that the host runs",
    }
}
