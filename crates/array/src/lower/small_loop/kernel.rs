//! The kernel of a loop in one block.
//!
//! An array of the state has two areas of shared memory, of which a round reads one and writes the other; single values are carried
//! by the loop itself, in registers. Intermediate arrays of a round that are read by index are in shared memory too. The condition is
//! computed before the loop and at the end of each round, so that all barriers stand in the loop's body. Where a check can fail, the
//! block keeps a flag in shared memory and leaves the loop: on zeros, which a failed read gives, it might go on for ever.

use super::block::{Apply, InBlock};
use super::fold::fold_rows;
use super::held::{Held, StateMemory, put, whole};
use super::inside::Inside;
use super::jobs::Job;
use super::scan::scan_rows;
use super::{Body, SmallLoop, Whole};
use crate::control::{Loop, Rounds};
use crate::error::Error;
use crate::form::Form;
use crate::fuser::Fuser;
use crate::lower::{KernelName, Lowering, Step};
use crate::operation::Given;
use crate::program::{Node, NodeId};
use pumice_kernel::{compute, distribute, flag_failures, parallel, read_now, repeat_while};
use pumice_program::{Access, MemoryId};
use pumice_scalar::{Constant, Function, Op, ScalarType, Term};
use std::collections::HashMap;
use std::rc::Rc;

impl SmallLoop {
    /// The steps that run the loop and write its arrays: that of the node, and those that are picked.
    pub(crate) fn steps(&self, lowering: &Lowering<'_>, node: &Node) -> Result<Vec<Step>, Error> {
        let mut given = Vec::new();
        for (id, number) in lowering.program.given_by(node.id) {
            if lowering.fuser.forms.is_manifest(id) {
                given.push((number, lowering.slot(id)?));
            }
        }
        // An input that is read once, before the first round, is a function here; the others are in memory.
        let mut inputs = Vec::new();
        for (number, input) in node.inputs.iter().enumerate() {
            inputs.push(match self.reads_at_the_start(number) {
                true => Input::Function(lowering.fuser.linear_of_input(*input).function),
                false => Input::Slot(lowering.slot(*input)?),
            });
        }
        let fails =
            |input: &Input| matches!(input, Input::Function(function) if function.sites().next().is_some());
        let can_fail = self.can_fail || inputs.iter().any(fails);
        let (name, skeleton) = (node.place.operation(), "loop in one kernel of one block");
        let called = KernelName { node, name, skeleton, threads: self.threads };
        let launch = lowering.launch(called, &[], |parameters| {
            distribute(whole(1), |_| {
                let run = |flag: Option<MemoryId>| {
                    let block = Rc::new(InBlock::new(parameters, flag));
                    let apply = |function: &Function, terms: &[Term]| parameters.apply(function, terms);
                    let last = block.run_loop(self, &inputs, &apply);
                    block.give(self.state(), &last, &given);
                };
                match can_fail {
                    true => flag_failures(|flag| run(Some(flag))),
                    false => run(None),
                }
            });
        })?;
        Ok(vec![launch])
    }
}

/// An input of a loop, seen from where it begins.
enum Input {
    /// Computed by a function of the number of an element.
    Function(Function),
    /// In a slot: of the plan, or of the kernel.
    Slot(usize),
}

/// A slot that no array has. A loop with an array that cannot be found was refused when it was judged.
const NO_SLOT: usize = usize::MAX >> 16;

/// A loop inside the kernel, once its inputs are there.
struct Running<'a> {
    block: &'a Rc<InBlock>,
    small: &'a SmallLoop,
    /// Slots of the inputs that are not its state, by number.
    outside: HashMap<u32, usize>,
}

impl Running<'_> {
    /// The slots of the inputs where the state is in these.
    fn arguments(&self, state: &[usize]) -> HashMap<u32, usize> {
        let state = (self.small.shape.state.start as u32..).zip(state.iter().copied());
        self.outside.iter().map(|(number, slot)| (*number, *slot)).chain(state).collect()
    }

    /// Whether there is another round, after so many, for the state in these slots.
    fn goes_on(&self, state: &[usize], round: Term) -> Term {
        let block = self.block;
        let goes_on = match &self.small.shape.rounds {
            Rounds::While(condition) => {
                let result = block.run_body(&self.small.bodies[*condition], &self.arguments(state), &[]);
                block.single(result.first(), ScalarType::Bool)
            }
            Rounds::Times(input) => {
                round.compare(Op::Lt, block.single(self.outside.get(&(*input as u32)), ScalarType::I64))
            }
        };
        let Some(flag) = block.flag else { return goes_on };
        block.sync();
        // SAFETY: the flag is one cell.
        let failed = unsafe { read_now(flag, ScalarType::U32, whole(0)) };
        goes_on.binary(Op::And, failed.compare(Op::Eq, Constant::from(0u32).into()))
    }

    /// Does one round on the state in these places, into others; gives the slots of the next state.
    fn round(&self, now: Vec<Held>, into: &[Held]) -> Vec<usize> {
        let now: Vec<usize> = now.into_iter().map(|held| self.block.hold(held)).collect();
        self.block.run_body(&self.small.bodies[self.small.shape.step], &self.arguments(&now), into)
    }
}

impl InBlock {
    /// Runs a loop, and says where its arrays are then. Functions of its inputs are computed by `apply`.
    fn run_loop(self: &Rc<Self>, small: &SmallLoop, inputs: &[Input], apply: &Apply<'_>) -> Vec<Held> {
        let state_memory = StateMemory::new(small.state());
        let (outside, first, values) = self.bring(small, inputs, &state_memory, apply);
        let running = Running { block: self, small, outside };
        let begins = running.goes_on(&first, whole(0));
        // The first round may raise the flag, which has just been read.
        if self.flag.is_some() || self.has_unsynced() {
            self.sync();
        }
        let carried = [vec![begins, whole(0), whole(0)], values].concat();
        let last = repeat_while(
            &carried,
            |carried| carried[0],
            |carried| {
                let (round, area, values) = (carried[1], carried[2], &carried[3..]);
                let other = whole(1).binary(Op::Sub, area);
                let next = running.round(state_memory.all(area, values), &state_memory.all(other, values));
                let singles = small.state().iter().zip(&next).filter(|(array, _)| array.extents.is_empty());
                let values: Vec<Term> =
                    singles.flat_map(|(array, slot)| self.element(*slot, &array.types)).collect();
                let round = round.binary(Op::Add, whole(1));
                let goes_on = running.goes_on(&next, round);
                [vec![goes_on, round, other], values].concat()
            },
        );
        // The loop waits at the end of each round, and before the first one.
        self.waited();
        state_memory.all(last[2], &last[3..])
    }

    /// Brings the inputs of a loop to where its rounds find them: the slots of those that are not the state, by number, the slots of
    /// the first state, and its single values.
    fn bring(
        &self,
        small: &SmallLoop,
        inputs: &[Input],
        state_memory: &StateMemory<'_>,
        apply: &Apply<'_>,
    ) -> (HashMap<u32, usize>, Vec<usize>, Vec<Term>) {
        let Loop { state, .. } = &small.shape;
        let (mut outside, mut first, mut values) = (HashMap::new(), Vec::new(), Vec::new());
        for (number, input) in inputs.iter().enumerate() {
            let of_state = state.contains(&number).then(|| number - state.start);
            let array = of_state
                .and_then(|number| small.state().get(number))
                .filter(|array| !array.extents.is_empty());
            let slot = match (input, array) {
                (Input::Slot(slot), _) => *slot,
                (Input::Function(function), Some(array)) => {
                    let slot = self.hold(state_memory.held(of_state.unwrap_or(0), whole(0)));
                    self.fill(array.size(), slot, function, apply);
                    slot
                }
                (Input::Function(function), None) => {
                    let single = self.at_start(function, apply);
                    values.extend(of_state.iter().flat_map(|_| single.iter().copied()));
                    self.hold(Held::Values(single))
                }
            };
            match of_state {
                Some(_) => first.push(slot),
                None => drop(outside.insert(number as u32, slot)),
            }
        }
        (outside, first, values)
    }

    /// Computes the single element of a function.
    fn at_start(&self, function: &Function, apply: &Apply<'_>) -> Vec<Term> {
        self.sync_before(&[function]);
        compute(&apply(function, &[whole(0)]))
    }

    /// Computes the results of a program on arrays in these slots, by number of the argument: those that are to be in shared memory
    /// are written there. Gives their slots.
    fn run_body(self: &Rc<Self>, body: &Body, arguments: &HashMap<u32, usize>, into: &[Held]) -> Vec<usize> {
        let Body { program, extents, forms, .. } = body;
        let inside = Rc::new(Inside::new(self, body));
        // The results that are computed where they are to be.
        let mut placed: HashMap<NodeId, (usize, &Held)> = HashMap::new();
        for (number, (result, held)) in program.results().iter().zip(into).enumerate() {
            let is_computed = matches!(forms.of(*result), Some(Form::Pull | Form::Push { .. }));
            if is_computed && matches!(held, Held::Shared(..)) {
                placed.entry(*result).or_insert((number, held));
            }
        }
        let mut slots: HashMap<NodeId, usize> = HashMap::new();
        for node in program.nodes().iter().filter(|node| forms.is_manifest(node.id)) {
            if let Some(Given::Argument(number)) = node.operation.given() {
                slots.extend(arguments.get(&number).map(|slot| (node.id, *slot)));
                continue;
            }
            let fuser = Fuser::new(program, extents, forms, &slots);
            let place = placed.get(&node.id).map(|(_, held)| *held);
            let written = self.run_job(&inside, &fuser, node, place);
            slots.extend(written);
        }
        let fuser = Fuser::new(program, extents, forms, &slots);
        let apply = |function: &Function, terms: &[Term]| inside.apply(function, terms);
        let result = |(number, result): (usize, &NodeId)| {
            let is_there = placed.get(result).is_some_and(|(place, _)| *place == number);
            match into.get(number) {
                Some(held @ Held::Shared(..)) if !is_there => {
                    let copy = self.hold(held.clone());
                    self.fill(extents.size(*result), copy, &fuser.linear_of_input(*result).function, &apply);
                    copy
                }
                _ => slots.get(result).copied().unwrap_or(NO_SLOT),
            }
        };
        program.results().iter().enumerate().map(result).collect()
    }

    /// Computes an array of a program, at a place if there is one; gives the slot that it is in, or those of all arrays that a loop
    /// gives.
    fn run_job(
        self: &Rc<Self>,
        inside: &Rc<Inside>,
        fuser: &Fuser<'_>,
        node: &Node,
        place: Option<&Held>,
    ) -> Vec<(NodeId, usize)> {
        let apply = |function: &Function, terms: &[Term]| inside.apply(function, terms);
        let size = fuser.extents.size(node.id);
        let new_slot = || self.hold(place.cloned().unwrap_or_else(|| self.allocate(size, &node.types)));
        let slot = match Job::new(fuser, node, inside.fast_math) {
            Ok(Job::Pull(function)) if node.rank == 0 => {
                let value = self.at_start(&function, &apply);
                return vec![(node.id, self.hold(Held::Values(value)))];
            }
            Ok(Job::Loop(small)) => {
                let input = |(number, input): (usize, &NodeId)| match small.reads_at_the_start(number) {
                    true => Input::Function(fuser.linear_of_input(*input).function),
                    false => Input::Slot(fuser.slots.get(input).copied().unwrap_or(NO_SLOT)),
                };
                let inputs: Vec<Input> = node.inputs.iter().enumerate().map(input).collect();
                let last = self.run_loop(&small, &inputs, &apply);
                let given = fuser.program.given_by(node.id);
                let given = given.filter_map(|(id, number)| Some((id, last.get(number)?.clone())));
                return given.map(|(id, held)| (id, self.hold(held))).collect();
            }
            Ok(Job::Pull(function)) => {
                let slot = new_slot();
                self.fill(size, slot, &function, &apply);
                slot
            }
            Ok(Job::Fold(rows)) => {
                let slot = new_slot();
                fold_rows(inside, &rows, slot);
                slot
            }
            Ok(Job::Scan { rows, gives, from_right }) => {
                let slot = new_slot();
                scan_rows(inside, &rows, gives, from_right, slot);
                slot
            }
            // A job that a block cannot do was refused when the loop was judged.
            Ok(Job::Picked) | Err(_) => return Vec::new(),
        };
        let slot = if node.rank == 0 { self.read_single(slot, &node.types) } else { slot };
        vec![(node.id, slot)]
    }

    /// Writes the last state to those slots of the plan that want an array of it.
    fn give(&self, state: &[Whole], last: &[Held], given: &[(usize, usize)]) {
        for (number, slot) in given {
            let (Some(array), Some(held)) = (state.get(*number), last.get(*number)) else { continue };
            let memories = self.parameters.memories(*slot, &array.types, Access::Write);
            if array.size() == 0 {
                continue;
            }
            let size = if array.extents.is_empty() { whole(1) } else { self.number(array.size()).term() };
            parallel(size, |index| put(&memories, whole(0), index, &held.element(index, &array.types)));
        }
    }
}
