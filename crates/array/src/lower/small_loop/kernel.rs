//! The kernel of a loop in one block.
//!
//! An array of the state has two areas of shared memory, of which a round reads one and writes the other; single values are carried
//! by the loop itself, in registers. What a round computes on the way and reads by index is in shared memory too. The condition is
//! computed before the loop and at the end of each round, so that all barriers stand in the loop's body. Where a check can fail, the
//! block keeps a flag in shared memory and leaves the loop: on zeros, which a failed read gives, it might go on for ever.

use super::jobs::{Job, Rows};
use super::scan::scan_rows;
use super::{Body, SmallLoop, Whole};
use crate::control::{Loop, Rounds};
use crate::error::Error;
use crate::form::Form;
use crate::fuser::{Fuser, slot_and_column};
use crate::lower::{KernelName, Lowering, Parameters, ScalarParameter, Step};
use crate::operation::Given;
use crate::program::{Node, NodeId};
use crate::reduction::Reduction;
use pumice_kernel::skeletons::{Fold, FoldPlan};
use pumice_kernel::{
    Dynamic, Ix, Scalars, allocate_shared, block_threads, compute, distribute, flag_failures, parallel, read,
    read_now, repeat_while, store, sync,
};
use pumice_program::{Access, MemoryId};
use pumice_scalar::{Constant, Exp, Function, Node as ScalarNode, Op, ScalarType, Term, Variable};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The first slot that stands for something in the kernel rather than for an array of the plan.
const FIRST_SLOT: usize = 1 << 41;

impl SmallLoop {
    /// The steps that run the loop and write its arrays: that of the node, and those that are picked.
    pub(crate) fn steps(&self, lowering: &Lowering<'_>, node: &Node) -> Result<Vec<Step>, Error> {
        let mut given = Vec::new();
        for (id, number) in lowering.program.given_by(node.id) {
            if lowering.fuser.forms.is_manifest(id) {
                given.push((number, lowering.slot(id)?));
            }
        }
        // What is read once, before the first round, is a function here; the rest is in memory.
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

fn whole(value: i64) -> Term {
    Exp::<i64>::from(value).term()
}

/// An input of a loop, seen from where it begins.
enum Input {
    /// Computed by a function of the number of an element.
    Function(Function),
    /// In a slot: of the plan, or of the kernel.
    Slot(usize),
}

/// Computes a function where it is at home.
type Apply<'a> = dyn Fn(&Function, &[Term]) -> Vec<Term> + 'a;

/// Where the elements of an array are in the kernel.
#[derive(Clone)]
pub(super) enum Held {
    /// A single element, in registers.
    Values(Vec<Term>),
    /// In shared memory, one memory per column, from a cell on.
    Shared(Vec<MemoryId>, Term),
}

/// The block that runs a loop.
pub(super) struct InBlock {
    parameters: Rc<Parameters>,
    /// By slot of the kernel.
    held: RefCell<HashMap<usize, Held>>,
    next_slot: Cell<usize>,
    /// Slots that were written after the last barrier.
    unsynced: RefCell<HashSet<usize>>,
    /// Says whether a check has failed.
    flag: Option<MemoryId>,
}

impl InBlock {
    fn new(parameters: &Rc<Parameters>, flag: Option<MemoryId>) -> InBlock {
        InBlock {
            parameters: parameters.clone(),
            held: RefCell::default(),
            next_slot: Cell::new(FIRST_SLOT),
            unsynced: RefCell::default(),
            flag,
        }
    }

    /// A new slot for what is held.
    fn hold(&self, held: Held) -> usize {
        let slot = self.next_slot.replace(self.next_slot.get() + 1);
        self.held.borrow_mut().insert(slot, held);
        slot
    }

    /// New memory for an array.
    fn allocate(&self, size: i64, types: &[ScalarType]) -> Held {
        let memories = types.iter().map(|ty| allocate_shared(*ty, super::capacity(size)));
        Held::Shared(memories.collect(), whole(0))
    }

    /// Waits for the block's threads.
    pub(super) fn sync(&self) {
        sync();
        self.unsynced.borrow_mut().clear();
    }

    /// Waits if functions read what was written since the threads last waited.
    pub(super) fn sync_before(&self, functions: &[&Function]) {
        let is_read = |node: &ScalarNode| match node {
            ScalarNode::Load { array, .. } => self.unsynced.borrow().contains(&slot_and_column(*array).0),
            _ => false,
        };
        if functions.iter().any(|function| function.nodes().iter().any(is_read)) {
            self.sync();
        }
    }

    /// A number that the launch gives, so that the kernel serves others as well.
    pub(super) fn number(&self, number: i64) -> Ix {
        self.parameters.number("n", number)
    }

    /// Writes an array to its place, from a function of the number of an element.
    fn fill(&self, size: i64, slot: usize, function: &Function, apply: &Apply<'_>) {
        let Some(Held::Shared(memories, start)) = self.held.borrow().get(&slot).cloned() else { return };
        if size == 0 {
            return;
        }
        self.sync_before(&[function]);
        parallel(self.number(size).term(), |index| {
            put(&memories, start, index, &apply(function, &[index]));
        });
        self.unsynced.borrow_mut().insert(slot);
    }

    /// Runs a loop, and says where its arrays are then. Functions of its inputs are computed by `apply`.
    fn run_loop(self: &Rc<Self>, small: &SmallLoop, inputs: &[Input], apply: &Apply<'_>) -> Vec<Held> {
        let Loop { state, rounds, step } = &small.shape;
        let at_start = |function: &Function| {
            self.sync_before(&[function]);
            compute(&apply(function, &[whole(0)]))
        };
        let state_memory = StateMemory::new(small.state());
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
                    let single = at_start(function);
                    values.extend(of_state.iter().flat_map(|_| single.iter().copied()));
                    self.hold(Held::Values(single))
                }
            };
            match of_state {
                Some(_) => first.push(slot),
                None => drop(outside.insert(number as u32, slot)),
            }
        }
        let arguments = |slots: &[usize]| {
            let state = (state.start as u32..).zip(slots.iter().copied());
            outside
                .iter()
                .map(|(number, slot)| (*number, *slot))
                .chain(state)
                .collect::<HashMap<u32, usize>>()
        };
        let goes_on = |slots: &[usize], round: Term| {
            let goes_on = match rounds {
                Rounds::While(condition) => {
                    let result = self.run_body(&small.bodies[*condition], &arguments(slots), &[]);
                    self.single(result.first(), ScalarType::Bool)
                }
                Rounds::Times(input) => {
                    round.compare(Op::Lt, self.single(outside.get(&(*input as u32)), ScalarType::I64))
                }
            };
            let Some(flag) = self.flag else { return goes_on };
            self.sync();
            // SAFETY: the flag is one cell.
            let failed = unsafe { read_now(flag, ScalarType::U32, whole(0)) };
            goes_on.binary(Op::And, failed.compare(Op::Eq, Constant::from(0u32).into()))
        };
        let begins = goes_on(&first, whole(0));
        // The first round may raise the flag, which has just been read.
        if self.flag.is_some() || !self.unsynced.borrow().is_empty() {
            self.sync();
        }
        let carried = [vec![begins, whole(0), whole(0)], values].concat();
        let last = repeat_while(
            &carried,
            |carried| carried[0],
            |carried| {
                let (round, area, values) = (carried[1], carried[2], &carried[3..]);
                let other = whole(1).binary(Op::Sub, area);
                let now: Vec<usize> =
                    state_memory.all(area, values).into_iter().map(|held| self.hold(held)).collect();
                let next =
                    self.run_body(&small.bodies[*step], &arguments(&now), &state_memory.all(other, values));
                let singles = small.state().iter().zip(&next).filter(|(array, _)| array.extents.is_empty());
                let values: Vec<Term> =
                    singles.flat_map(|(array, slot)| self.element(*slot, &array.types)).collect();
                let round = round.binary(Op::Add, whole(1));
                let goes_on = goes_on(&next, round);
                [vec![goes_on, round, other], values].concat()
            },
        );
        // The loop waits at the end of each round, and before the first one.
        self.unsynced.borrow_mut().clear();
        state_memory.all(last[2], &last[3..])
    }

    /// Computes the results of a program on arrays in these slots, by number of the argument: those that are to be in shared memory
    /// are written there. Gives their slots.
    fn run_body(self: &Rc<Self>, body: &Body, arguments: &HashMap<u32, usize>, into: &[Held]) -> Vec<usize> {
        let Body { program, extents, forms } = body;
        let inside = Rc::new(Inside::new(self, body));
        let apply = |function: &Function, terms: &[Term]| inside.apply(function, terms);
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
            // What cannot be done was found when the loop was judged.
            let Ok(job) = Job::new(&fuser, node) else { continue };
            let size = extents.size(node.id);
            if let (Job::Pull(function), 0) = (&job, node.rank) {
                self.sync_before(&[function]);
                let value = compute(&apply(function, &[whole(0)]));
                slots.insert(node.id, self.hold(Held::Values(value)));
                continue;
            }
            if let Job::Loop(small) = &job {
                let input = |(number, input): (usize, &NodeId)| match small.reads_at_the_start(number) {
                    true => Input::Function(fuser.linear_of_input(*input).function),
                    false => Input::Slot(slots.get(input).copied().unwrap_or(usize::MAX >> 16)),
                };
                let inputs: Vec<Input> = node.inputs.iter().enumerate().map(input).collect();
                let last = self.run_loop(small, &inputs, &apply);
                let given =
                    program.given_by(node.id).filter_map(|(id, number)| Some((id, last.get(number)?)));
                slots.extend(given.map(|(id, held)| (id, self.hold(held.clone()))));
                continue;
            }
            let held = placed.get(&node.id).map(|(_, held)| (*held).clone());
            let slot = match &job {
                Job::Picked | Job::Loop(_) => continue,
                _ => self.hold(held.unwrap_or_else(|| self.allocate(size, &node.types))),
            };
            match &job {
                Job::Pull(function) => self.fill(size, slot, function, &apply),
                Job::Fold(rows) => self.fold(&inside, rows, slot),
                Job::Scan { rows, gives, from_right } => {
                    self.sync_before(&rows.functions());
                    if let Some(held) = self.at(slot) {
                        scan_rows(&inside, rows, *gives, *from_right, &held);
                    }
                    self.unsynced.borrow_mut().insert(slot);
                }
                Job::Loop(_) | Job::Picked => {}
            }
            let slot = if node.rank == 0 { self.read_single(slot, &node.types) } else { slot };
            slots.insert(node.id, slot);
        }
        let fuser = Fuser::new(program, extents, forms, &slots);
        let mut results = Vec::new();
        for (number, result) in program.results().iter().enumerate() {
            let is_there = placed.get(result).is_some_and(|(place, _)| *place == number);
            let slot = match into.get(number) {
                Some(held @ Held::Shared(..)) if !is_there => {
                    let copy = self.hold(held.clone());
                    self.fill(extents.size(*result), copy, &fuser.linear_of_input(*result).function, &apply);
                    copy
                }
                _ => slots.get(result).copied().unwrap_or(usize::MAX >> 16),
            };
            results.push(slot);
        }
        results
    }

    fn at(&self, slot: usize) -> Option<Held> {
        self.held.borrow().get(&slot).cloned()
    }

    /// The single element of a slot.
    fn element(&self, slot: usize, types: &[ScalarType]) -> Vec<Term> {
        match self.at(slot) {
            Some(Held::Values(values)) => values,
            _ => types.iter().map(|ty| Term::invalid(*ty, "a single value is not in registers")).collect(),
        }
    }

    /// The only scalar of a slot.
    fn single(&self, slot: Option<&usize>, ty: ScalarType) -> Term {
        let value = slot.map_or(Vec::new(), |slot| self.element(*slot, &[ty]));
        value.first().copied().unwrap_or_else(|| Term::invalid(ty, "a loop has no condition"))
    }

    /// Brings a single element from shared memory to registers.
    fn read_single(&self, slot: usize, types: &[ScalarType]) -> usize {
        self.sync();
        let values = match self.at(slot) {
            Some(Held::Shared(memories, start)) => {
                // SAFETY: every array has a cell at least.
                let read = |(memory, ty): (&MemoryId, &ScalarType)| unsafe { read_now(*memory, *ty, start) };
                memories.iter().zip(types).map(read).collect()
            }
            _ => self.element(slot, types),
        };
        self.hold(Held::Values(values))
    }

    /// Folds rows into a slot.
    fn fold(&self, inside: &Rc<Inside>, rows: &Rows, slot: usize) {
        let Some(held) = self.at(slot) else { return };
        let (count, columns) = rows.size;
        if count == 0 {
            return;
        }
        self.sync_before(&rows.functions());
        let Reduction { elements, operator, neutral, .. } = rows.reduction.clone();
        let plan =
            FoldPlan::for_one_block(count as u32, columns as u32, block_threads(), operator.commutes());
        let (at, combine) = (inside.clone(), inside.clone());
        let fold = Fold::<Dynamic, _> {
            rows: inside.row_count(rows),
            columns: inside.column_count(rows),
            cut: None,
            at: Rc::new(move |row: Ix, column: Ix| {
                Scalars(at.apply(&elements, &[row.term(), column.term()]))
            }),
            operator: move |a: Scalars, b: Scalars| Scalars(combine.apply(&operator, &[a.0, b.0].concat())),
            neutral: Scalars(inside.apply(&neutral, &[])),
        };
        fold.in_block(plan).write(&|row, value| inside.finish(rows, row, value.0, &held));
        if plan.lanes > 1 {
            // Its lanes have waited for each other.
            self.unsynced.borrow_mut().clear();
        }
        self.unsynced.borrow_mut().insert(slot);
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

/// Writes an element.
fn put(memories: &[MemoryId], start: Term, index: Term, value: &[Term]) {
    let cell = start.binary(Op::Add, index);
    for (memory, term) in memories.iter().zip(value) {
        // SAFETY: the memory has as many cells from there on as the array has elements, and each is written by one thread; a
        // barrier stands between that and those who read.
        unsafe { store(*memory, cell, *term) };
    }
}

impl Held {
    /// Writes an element.
    pub(super) fn put(&self, index: Term, value: &[Term]) {
        if let Held::Shared(memories, start) = self {
            put(memories, *start, index, value);
        }
    }

    /// Reads an element.
    pub(super) fn element(&self, index: Term, types: &[ScalarType]) -> Vec<Term> {
        match self {
            Held::Values(values) => values.clone(),
            Held::Shared(memories, start) => {
                let cell = start.binary(Op::Add, index);
                // SAFETY: the array has such an element, and has been written.
                let column =
                    |(memory, ty): (&MemoryId, &ScalarType)| unsafe { read(*memory, *ty, cell, false) };
                memories.iter().zip(types).map(column).collect()
            }
        }
    }
}

/// Shared memory of a loop's state, twice for each array, and what its single values are made of.
struct StateMemory<'a> {
    /// The memories of each array; none for single values.
    arrays: Vec<(&'a Whole, Vec<MemoryId>)>,
}

impl<'a> StateMemory<'a> {
    fn new(state: &'a [Whole]) -> StateMemory<'a> {
        let memories = |array: &'a Whole| {
            let types = if array.extents.is_empty() { &[][..] } else { &array.types };
            let cells = array.capacity() * 2;
            (array, types.iter().map(|ty| allocate_shared(*ty, cells)).collect())
        };
        StateMemory { arrays: state.iter().map(memories).collect() }
    }

    /// One of the two areas of an array.
    fn held(&self, number: usize, area: Term) -> Held {
        let (array, memories) = &self.arrays[number];
        Held::Shared(memories.clone(), area.binary(Op::Mul, whole(array.capacity().into())))
    }

    /// The whole state: one of the two areas, and these single values.
    fn all(&self, area: Term, values: &[Term]) -> Vec<Held> {
        let mut values = values.iter().copied();
        let held = |(number, (array, _)): (usize, &(&Whole, _))| match array.extents.is_empty() {
            true => Held::Values(values.by_ref().take(array.types.len()).collect()),
            false => self.held(number, area),
        };
        self.arrays.iter().enumerate().map(held).collect()
    }
}

/// A program inside the kernel: what its functions mention.
pub(super) struct Inside {
    pub(super) block: Rc<InBlock>,
    /// By class of extents.
    extents: HashMap<usize, Term>,
}

impl Inside {
    fn new(block: &Rc<InBlock>, body: &Body) -> Inside {
        let needed = body.program.nodes().iter().filter(|node| body.forms.of(node.id).is_some());
        // Indices are divided by the inner extents, and that is cheap if they are known.
        let inner: HashSet<usize> =
            needed.flat_map(|node| body.extents.classes(node.id).into_iter().skip(1)).collect();
        let extent = |(class, length): (usize, crate::extents::Length)| match inner.contains(&class) {
            true => (class, whole(length.bound)),
            false => (class, block.number(length.bound).term()),
        };
        let classes: Vec<_> = body.extents.all().collect();
        Inside { block: block.clone(), extents: classes.into_iter().map(extent).collect() }
    }

    /// Computes a function.
    pub(super) fn apply(&self, function: &Function, arguments: &[Term]) -> Vec<Term> {
        let parameters = &self.block.parameters;
        function.instantiate(
            &mut |variable, ty| match variable {
                Variable::Parameter(number) => arguments
                    .get(number as usize)
                    .copied()
                    .unwrap_or_else(|| Term::invalid(ty, "a function has too few arguments")),
                Variable::Extent { array, .. } => {
                    self.extents.get(&(array as usize)).copied().unwrap_or_else(|| {
                        Term::invalid(ty, "an extent of an array that is not part of the program")
                    })
                }
                Variable::Argument(number) => parameters.scalar(ScalarParameter::Argument(number), ty),
                Variable::Local(_) => Term::variable(variable, ty),
            },
            &mut |key, ty, index, guarded| {
                let (slot, column) = slot_and_column(key);
                let (memory, index) = match self.block.at(slot) {
                    Some(Held::Values(values)) => {
                        return values
                            .get(column)
                            .copied()
                            .unwrap_or_else(|| Term::invalid(ty, "a column is missing"));
                    }
                    Some(Held::Shared(memories, start)) => match memories.get(column) {
                        Some(memory) => (*memory, start.binary(Op::Add, index)),
                        None => return Term::invalid(ty, "a column is missing"),
                    },
                    None => (parameters.memory(slot, column, ty, Access::Read), index),
                };
                // SAFETY: the function comes from the fuser, whose indices are in their arrays, or loads guarded by a check that
                // they are, for arguments that are indices of the array that it computes; what is held has all its elements.
                unsafe { read(memory, ty, index, guarded) }
            },
            &mut |of, _| Term::invalid(of.ty, "an element of an array stands in a kernel"),
        )
    }

    /// How many rows are reduced.
    pub(super) fn row_count(&self, rows: &Rows) -> Ix {
        match rows.size.0 {
            1 => Exp::from(1),
            count => self.block.number(count),
        }
    }

    /// How long rows are that are reduced.
    pub(super) fn column_count(&self, rows: &Rows) -> Ix {
        match rows.size.0 {
            1 => self.block.number(rows.size.1),
            _ => Exp::from(rows.size.1),
        }
    }

    /// Writes what becomes of a row's result.
    pub(super) fn finish(&self, rows: &Rows, index: Ix, reduced: Vec<Term>, held: &Held) {
        let terms = self.apply(&rows.finish, &[vec![index.term()], reduced].concat());
        if let [index, value @ ..] = &terms[..] {
            held.put(*index, value);
        }
    }
}
