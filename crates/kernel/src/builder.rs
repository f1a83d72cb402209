//! The program being built: where the kernel language's effects go.
//!
//! Expressions are nodes of the thread's scalar graph; when a statement needs them they are written into the list of
//! statements that is open, each value once, as far out of the enclosing loops as its operands allow, and never out of
//! an `if`. Memory is written once before it is read (see [`crate::Push::force`]), so a load is a value like any other.

use crate::device_length::is_read_from_memory;
use crate::effects::describe;
use pumice_program::{
    Access, Carried, Failure, Interval, Joined, Memory, MemoryId, Operand, Param, Program, Ranges, Space,
    Stmt, Var, VarInfo, Workers,
};
use pumice_scalar::{
    Constant, Id, Item, MAX_NESTING, Node, Op, Place, ScalarType, Schedule, Site, Term, TooDeep, Variable,
    inspect, scope, scope_depth,
};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

/// A kernel as the kernel language made it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The program.
    pub program: Program,
    /// Where its failures come from: a [`Stmt::Fail`]'s site is an index into these.
    pub sites: Vec<Site>,
    /// What must hold of the arguments of a launch; see [`Kernel::check_launch`].
    pub(crate) requirements: Vec<Requirement>,
}

/// A condition on the arguments of a launch, over values of the program's prologue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requirement {
    pub holds: Operand,
    /// Where the user wrote what requires it, and the numbers that its message is about.
    pub site: Site,
    pub index: Operand,
    pub bound: Operand,
}

impl Kernel {
    /// Refuses a launch with these scalar arguments if lengths do not fit together. The launcher calls this: the kernel
    /// itself does not check what is known before it starts.
    pub fn check_launch(&self, scalars: &[Constant]) -> Result<(), BuildError> {
        if self.requirements.is_empty() {
            return Ok(());
        }
        let values = self.program.launch_values(scalars).map_err(|error| BuildError(error.to_string()))?;
        let value = |operand: Operand| match operand {
            Operand::Constant(constant) => Some(constant),
            Operand::Var(var) => values.get(var.0 as usize).copied().flatten(),
        };
        let number = |operand| value(operand).and_then(|value| value.as_integer()).unwrap_or(0) as i64;
        let broken =
            |requirement: &&Requirement| !value(requirement.holds).is_some_and(|holds| holds.is_true());
        match self.requirements.iter().find(broken) {
            None => Ok(()),
            Some(Requirement { site, index, bound, .. }) => {
                Err(BuildError(site.message(number(*index), number(*bound))))
            }
        }
    }
}

/// A kernel that cannot be built.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError(pub String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The message: it is what a program prints whose `main` returns an error.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}

/// A list of statements that is open, with the values that are computed in it.
struct Frame {
    statements: Vec<Stmt>,
    values: HashMap<Id, Operand>,
    list: List,
    /// The place that the last comment names; at first that of the statement around.
    noted: Option<Place>,
    /// How many statements are around it.
    nesting: usize,
    /// Whether a statement in it, or in a list inside it, writes shared memory.
    writes_shared: bool,
}

impl Frame {
    fn new(list: List, noted: Option<Place>, nesting: usize) -> Frame {
        Frame { statements: Vec::new(), values: HashMap::new(), list, noted, nesting, writes_shared: false }
    }
}

/// What a list of statements is to the one around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// The prologue, or what a block does: no statement is around it.
    Outermost,
    /// One side of an `if`.
    Side,
    /// The body of a loop, or the header of a `while`.
    Loop,
    /// The body of a `while`, inside its header's values.
    Body,
    /// Statements that are thrown away; see [`probe`].
    Probe,
}

impl List {
    /// Whether what is computed in it may be computed before instead.
    fn is_transparent(self) -> bool {
        !matches!(self, List::Side | List::Probe)
    }

    /// By how many statements it is deeper than the list around it.
    fn levels(self) -> usize {
        usize::from(matches!(self, List::Side | List::Loop))
    }
}

/// Who does what is being described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doer {
    /// Nobody yet: outside the grid.
    Host,
    /// A block as a whole.
    Block,
    /// A warp as a whole.
    Warp,
    /// A thread.
    Thread,
}

pub(crate) struct Builder {
    pub program: Program,
    sites: Vec<Site>,
    site_numbers: HashMap<Site, u32>,
    frames: Vec<Frame>,
    /// The names of memories, without those that were only looked at.
    memory_names: HashSet<String>,
    /// For each name that was asked for, the last number that was added to make it unique.
    memory_numbers: HashMap<String, u32>,
    /// What to call some values.
    names: HashMap<Id, &'static str>,
    pub distributed: bool,
    pub doer: Doer,
    /// The warp's own number among the block's warps, where a warp or its lanes are at work.
    pub warp: Option<Term>,
    /// Who listens to the elements that the kernel hands on.
    pub listeners: Vec<std::rc::Rc<dyn crate::skeletons::Listener>>,
    /// The operation that is being described.
    pub place: Option<Place>,
    /// Whether what is read now is in bounds only under a condition; see [`crate::effects::guarded`].
    pub guarded: bool,
    /// Conditions under which what is read now is in bounds; see [`crate::effects::under`].
    pub guards: Vec<Term>,
    /// Between which values some variables are.
    pub ranges: Ranges,
    /// Cells that hold lengths, with their bounds; see `device_length.rs`.
    pub length_cells: HashMap<MemoryId, Term>,
    /// Memories that were only looked at; see [`probe`].
    spare: BTreeSet<MemoryId>,
    /// How many scopes there are around the kernel's expressions.
    depth: usize,
    mistake: Option<String>,
    requirements: Vec<Requirement>,
}

thread_local! { static BUILDER: RefCell<Option<Builder>> = const { RefCell::new(None) }; }

/// Only called while a kernel is built; without one, the effect is lost, which [`build`] makes impossible to observe.
pub(crate) fn with<R: Default>(f: impl FnOnce(&mut Builder) -> R) -> R {
    BUILDER.with(|builder| builder.borrow_mut().as_mut().map(f).unwrap_or_default())
}

/// The mistake of using a value where its variable has none.
const NO_VALUE: &str = "a value is used outside the loop, condition or function that computes it";

/// The frames that are always there: what is computed once, and what a block does.
const PROLOGUE: usize = 0;

/// Builds a kernel from what `f` does. Kernels are not built inside each other.
pub fn build(name: &str, threads: u32, f: impl FnOnce()) -> Result<Kernel, BuildError> {
    scope(|| {
        let program = Program {
            name: name.to_string(),
            params: Vec::new(),
            vars: Vec::new(),
            memories: Vec::new(),
            threads,
            prologue: Vec::new(),
            blocks: Operand::Constant(Constant::from(0i64)),
            block: Var(0),
            body: Vec::new(),
            failure: None,
            stop: None,
        };
        let builder = Builder {
            program,
            sites: Vec::new(),
            site_numbers: HashMap::new(),
            frames: vec![Frame::new(List::Outermost, None, 0)],
            memory_names: HashSet::new(),
            memory_numbers: HashMap::new(),
            names: HashMap::new(),
            distributed: false,
            doer: Doer::Host,
            warp: None,
            listeners: Vec::new(),
            place: None,
            guarded: false,
            guards: Vec::new(),
            ranges: Ranges::new(),
            length_cells: HashMap::new(),
            spare: BTreeSet::new(),
            depth: scope_depth(),
            mistake: None,
            requirements: Vec::new(),
        };
        let _outer = Outer(BUILDER.with(|slot| slot.borrow_mut().replace(builder)));
        f();
        let built = BUILDER.with(|slot| slot.borrow_mut().take());
        built.map_or_else(|| Err(BuildError("no kernel is being built".into())), Builder::finish)
    })
}

/// The kernel that was being built before, if there was one; it is built on when this is dropped, also by a panic.
struct Outer(Option<Builder>);

impl Drop for Outer {
    fn drop(&mut self) {
        let outer = self.0.take();
        BUILDER.with(|slot| *slot.borrow_mut() = outer);
    }
}

/// Changes the builder while `f` runs. What `change` gives is handed to `undo`, also if `f` panics: the user may catch
/// the panic and go on.
pub(crate) fn during<S: Default, R>(
    change: impl FnOnce(&mut Builder) -> S,
    undo: impl Fn(&mut Builder, S),
    f: impl FnOnce() -> R,
) -> R {
    struct Undo<S: Default, U: Fn(&mut Builder, S)>(S, U);
    impl<S: Default, U: Fn(&mut Builder, S)> Drop for Undo<S, U> {
        fn drop(&mut self) {
            let before = std::mem::take(&mut self.0);
            with(|builder| self.1(builder, before));
        }
    }
    let _undo = Undo(with(change), undo);
    f()
}

impl Builder {
    fn finish(mut self) -> Result<Kernel, BuildError> {
        if let Some(mistake) = self.mistake {
            return Err(BuildError(mistake));
        }
        if !self.distributed {
            return Err(BuildError(format!(
                "kernel {} distributes nothing over the grid",
                self.program.name
            )));
        }
        self.program.prologue = self.frames.swap_remove(PROLOGUE).statements;
        if !drop_memories(&mut self.program, &self.spare) {
            return Err(BuildError("an array is used that was made only to find out how long it is".into()));
        }
        Ok(Kernel { program: self.program, sites: self.sites, requirements: self.requirements })
    }

    /// Notes a mistake; the first one is reported when the kernel is finished.
    pub fn mistake(&mut self, message: impl Into<String>) {
        let place = self.place.map(|place| format!(" ({})", noted(place))).unwrap_or_default();
        self.mistake.get_or_insert_with(|| format!("{}{place}", message.into()));
    }

    /// Notes a failure that is certain already.
    pub fn refuse(&mut self, site: Site, index: i64, bound: i64) {
        self.mistake.get_or_insert_with(|| site.message(index, bound));
    }

    fn new_var(&mut self, ty: ScalarType, name: &str) -> Var {
        self.program.vars.push(VarInfo { ty, name: name.to_string(), exact: false });
        Var(self.program.vars.len() as u32 - 1)
    }

    fn lookup(&self, id: Id) -> Option<(usize, Operand)> {
        let found = |(depth, frame): (usize, &Frame)| frame.values.get(&id).map(|operand| (depth, *operand));
        self.frames.iter().enumerate().rev().find_map(found)
    }

    /// Adds a statement, after a comment that says where it comes from if that is news.
    pub fn push(&mut self, statement: Stmt) {
        let place = self.place;
        if let Some(frame) = self.frames.last_mut() {
            if let (Some(place), true) = (place, frame.noted != place) {
                frame.statements.push(Stmt::Comment(noted(place)));
                frame.noted = Some(place);
            }
            frame.writes_shared |= match &statement {
                Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } => {
                    let memory = self.program.memories.get(memory.0 as usize);
                    memory.is_some_and(|memory| matches!(memory.space, Space::Shared { .. }))
                }
                _ => false,
            };
            frame.statements.push(statement);
        }
    }

    /// Opens a list of statements; gives how many were open before.
    fn open(&mut self, list: List) -> usize {
        let nesting = self.nesting() + list.levels();
        if nesting > MAX_NESTING {
            self.mistake(TooDeep.to_string());
        }
        self.frames.push(Frame::new(list, self.place, nesting));
        self.frames.len() - 1
    }

    /// Closes the list of statements that was opened last and gives it.
    fn close(&mut self) -> Vec<Stmt> {
        let Some(frame) = self.frames.pop() else { return Vec::new() };
        if let Some(around) = self.frames.last_mut() {
            around.writes_shared |= frame.writes_shared && frame.list != List::Probe;
        }
        // What is too deep is a mistake, and walking or dropping it must not run out of stack.
        if frame.nesting > MAX_NESTING { Vec::new() } else { frame.statements }
    }

    /// How many statements are around the list that is open.
    fn nesting(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.nesting)
    }

    /// Whether a statement with lists inside may be added; if not, that is a mistake.
    pub fn has_room(&mut self) -> bool {
        let room = self.nesting() < MAX_NESTING;
        if !room {
            self.mistake(TooDeep.to_string());
        }
        room
    }

    fn define(&mut self, id: Id, operand: Operand) {
        if let Some(frame) = self.frames.last_mut() {
            frame.values.insert(id, operand);
        }
    }

    /// The next statement of the list that is open says where it comes from.
    pub fn forget_place(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.noted = None;
        }
    }

    /// Adds a statement that only a thread can do: one of them, where a block or warp as a whole is at work.
    fn push_in_thread(&mut self, statement: Stmt) {
        let workers = match self.doer {
            Doer::Thread => return self.push(statement),
            Doer::Warp => Workers::Lanes,
            Doer::Host | Doer::Block => Workers::Threads,
        };
        let var = self.new_var(ScalarType::I32, "one");
        let extent = Operand::Constant(Constant::from(1i32));
        self.push(Stmt::Parallel { workers, var, extent, body: vec![statement] });
    }

    /// Whether the list of statements that is open writes shared memory.
    pub fn writes_shared(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.writes_shared)
    }

    /// Whether anything stands in the list of statements that is open.
    pub fn acts(&self) -> bool {
        self.frames.last().is_some_and(|frame| !frame.statements.is_empty())
    }

    /// Notes a mistake if memory that each thread has for itself is used where no single thread is at work.
    pub fn check_private(&mut self, memory: MemoryId) {
        let space = self.program.memories.get(memory.0 as usize).map(|memory| memory.space);
        if let (Some(Space::Private { .. }), true) = (space, self.doer != Doer::Thread) {
            self.mistake(format!(
                "memory that each thread has for itself is read where {} is at work: read it inside `for_each` or what \
                 a block or warp pushes",
                describe(self.doer)
            ));
        }
    }

    /// Expressions live as long as the scope in which they were made: what is written into the kernel must outlive none.
    fn check_scope(&mut self) {
        if scope_depth() != self.depth {
            self.mistake("a kernel is described inside a scalar function");
        }
    }

    /// The outermost frame in which a pure value over these operands can be computed.
    fn outermost(&self, operands: &[usize]) -> usize {
        let opaque = self.frames.iter().rposition(|frame| !frame.list.is_transparent()).unwrap_or(0);
        operands.iter().copied().max().unwrap_or(0).max(opaque)
    }

    fn in_frame(&mut self, list: List, f: impl FnOnce(&mut Builder)) -> Vec<Stmt> {
        self.open(list);
        f(self);
        self.close()
    }

    /// The operand for a node that has a value, with the depth of the frame that holds it.
    fn operand(&mut self, nodes: &[Node], id: Id) -> (usize, Operand) {
        match &nodes[id.0 as usize] {
            Node::Constant(constant) => (0, Operand::Constant(*constant)),
            node => self.lookup(id).unwrap_or_else(|| {
                let ty = node.ty().unwrap_or(ScalarType::Bool);
                self.mistake(NO_VALUE);
                (0, Operand::Constant(Constant::zero(ty)))
            }),
        }
    }

    fn operands(&mut self, nodes: &[Node], ids: &[Id]) -> Vec<Operand> {
        ids.iter().map(|id| self.operand(nodes, *id).1).collect()
    }

    fn write_block(&mut self, nodes: &[Node], schedule: &Schedule, block: usize) {
        for item in &schedule.blocks[block] {
            match item {
                Item::Compute(id) => self.write_node(nodes, *id),
                Item::Branch { id, then, otherwise } => {
                    self.write_branch(nodes, schedule, *id, *then, *otherwise);
                }
                Item::Select(id) => self.write_select(nodes, *id),
                Item::Loop { id, header, body } => self.write_loop(nodes, schedule, *id, *header, *body),
            }
        }
    }

    fn write_node(&mut self, nodes: &[Node], id: Id) {
        if self.lookup(id).is_some() {
            return;
        }
        match &nodes[id.0 as usize] {
            Node::Apply { op, ty, operands } => {
                let (depths, operands): (Vec<usize>, Vec<Operand>) =
                    operands.as_slice().iter().map(|id| self.operand(nodes, *id)).unzip();
                let name = self.names.get(&id).copied().unwrap_or(result_name(*op));
                let var = self.new_var(*ty, name);
                let frame = self.outermost(&depths);
                let frame = &mut self.frames[frame];
                frame.statements.push(Stmt::Let { var, op: *op, operands });
                frame.values.insert(id, Operand::Var(var));
            }
            Node::Load { array, ty, index, .. } => {
                let memory = MemoryId(*array as u32);
                let index = self.operand(nodes, *index).1;
                self.check_private(memory);
                let name = self.program.memories.get(memory.0 as usize).map_or("v", |memory| &memory.name);
                let name = format!("{}_at", name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_'));
                let var = self.new_var(*ty, &name);
                self.push(Stmt::Load { vars: vec![var], memory, index });
                self.define(id, Operand::Var(var));
            }
            Node::Check { condition, site, index, bound } => {
                let operands = self.operands(nodes, &[*condition, *index, *bound]);
                let site = self.site(*site);
                let fail = Stmt::Fail { unless: operands[0], site, index: operands[1], bound: operands[2] };
                self.push_in_thread(fail);
                self.define(id, operands[0]);
            }
            Node::Project { of, index, .. } => {
                // A branch or loop defined its projections when it was written.
                if let Some(Operand::Var(first)) = self.lookup(*of).map(|found| found.1) {
                    self.define(id, Operand::Var(Var(first.0 + index)));
                }
            }
            Node::Invalid { message, .. } => {
                self.mistake(message.to_string());
            }
            Node::Variable(..) | Node::LoopVariable { .. } => self.mistake(NO_VALUE),
            Node::Constant(_) | Node::Branch { .. } | Node::Loop { .. } => {}
        }
    }

    /// New variables for the values of a branch or a loop, one after the other.
    fn several(&mut self, nodes: &[Node], id: Id, values: &[Id]) -> Vec<Var> {
        let types = values.iter().map(|id| nodes[id.0 as usize].ty().unwrap_or(ScalarType::Bool));
        let vars: Vec<Var> = types.collect::<Vec<_>>().into_iter().map(|ty| self.new_var(ty, "v")).collect();
        if let Some(first) = vars.first() {
            self.define(id, Operand::Var(*first));
        }
        vars
    }

    fn write_branch(&mut self, nodes: &[Node], schedule: &Schedule, id: Id, then: usize, otherwise: usize) {
        let Node::Branch { condition, then: yes, otherwise: no } = &nodes[id.0 as usize] else { return };
        let condition = self.operand(nodes, *condition).1;
        let mut sides = Vec::new();
        for (block, values) in [(then, yes), (otherwise, no)] {
            let mut results = Vec::new();
            let statements = self.in_frame(List::Side, |builder| {
                builder.write_block(nodes, schedule, block);
                results = builder.operands(nodes, values);
            });
            sides.push((statements, results));
        }
        let vars = self.several(nodes, id, yes);
        let (otherwise, no) = sides.pop().unwrap_or_default();
        let (then, yes) = sides.pop().unwrap_or_default();
        let joined = vars.iter().zip(yes.iter().zip(&no));
        let results =
            joined.map(|(var, (then, otherwise))| Joined { var: *var, then: *then, otherwise: *otherwise });
        let results = results.collect();
        self.push(Stmt::If { condition, then, otherwise, results });
    }

    /// A branch both of whose sides have been computed.
    fn write_select(&mut self, nodes: &[Node], id: Id) {
        let Node::Branch { condition, then, otherwise } = &nodes[id.0 as usize] else { return };
        let condition = self.operand(nodes, *condition).1;
        let (yes, no) = (self.operands(nodes, then), self.operands(nodes, otherwise));
        let vars = self.several(nodes, id, then);
        for (var, (yes, no)) in vars.into_iter().zip(yes.into_iter().zip(no)) {
            self.push(Stmt::Let { var, op: Op::Select, operands: vec![condition, yes, no] });
        }
    }

    fn write_loop(&mut self, nodes: &[Node], schedule: &Schedule, id: Id, header: usize, body: usize) {
        let Node::Loop { number: own, initial, condition, next } = &nodes[id.0 as usize] else { return };
        let initial_values = self.operands(nodes, initial);
        let vars = self.several(nodes, id, initial);
        self.open(List::Loop);
        // The loop's variables are nodes of their own.
        for id in schedule.loop_variables.get(own).into_iter().flatten() {
            if let Node::LoopVariable { index, .. } = &nodes[id.0 as usize]
                && let Some(var) = vars.get(*index as usize)
            {
                self.define(*id, Operand::Var(*var));
            }
        }
        self.write_block(nodes, schedule, header);
        let condition = self.operand(nodes, *condition).1;
        let mut next_values = Vec::new();
        let body = self.in_frame(List::Body, |builder| {
            builder.write_block(nodes, schedule, body);
            next_values = builder.operands(nodes, next);
        });
        let header = self.close();
        let carried = vars.iter().zip(initial_values.iter().zip(&next_values));
        let carried = carried
            .map(|(var, (initial, next))| Carried { var: *var, initial: *initial, next: *next })
            .collect();
        self.push(Stmt::While { carried, header, condition, body });
    }

    fn site(&mut self, site: Site) -> u32 {
        if self.program.failure.is_none() {
            let memory = self.memory("failure", ScalarType::I64, Space::Global { access: Access::ReadWrite });
            let base = self.new_var(ScalarType::I64, "failure_base");
            self.program.params.extend([Param::Memory(memory), Param::Scalar(base)]);
            self.program.failure = Some(Failure { memory, base });
        }
        *self.site_numbers.entry(site).or_insert_with(|| {
            self.sites.push(site);
            self.sites.len() as u32 - 1
        })
    }

    pub fn memory(&mut self, name: &str, ty: ScalarType, space: Space) -> MemoryId {
        let mut unique = name.to_string();
        let number = self.memory_numbers.entry(unique.clone()).or_insert(1);
        while self.memory_names.contains(&unique) {
            *number += 1;
            unique = format!("{name}_{number}");
        }
        self.memory_names.insert(unique.clone());
        self.program.memories.push(Memory { name: unique, ty, space });
        MemoryId(self.program.memories.len() as u32 - 1)
    }
}

/// Removes memories that nothing uses and numbers the others anew; gives whether nothing did.
fn drop_memories(program: &mut Program, spare: &BTreeSet<MemoryId>) -> bool {
    fn renumber(list: &mut [Stmt], number: &dyn Fn(&mut MemoryId) -> bool) -> bool {
        list.iter_mut().all(|stmt| {
            let own = match stmt {
                Stmt::Load { memory, .. } | Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } => {
                    number(memory)
                }
                _ => true,
            };
            own && stmt.children_mut().into_iter().all(|list| renumber(list, number))
        })
    }
    if spare.is_empty() {
        return true;
    }
    // For each memory how many before it go.
    let mut gone = 0;
    let numbers = (0..program.memories.len() as u32).map(|number| {
        let before = gone;
        gone += u32::from(spare.contains(&MemoryId(number)));
        before
    });
    let numbers: Vec<u32> = numbers.collect();
    let number = |memory: &mut MemoryId| {
        let used = !spare.contains(memory);
        memory.0 -= numbers.get(memory.0 as usize).copied().unwrap_or(0);
        used
    };
    let params = program.params.iter_mut().all(|param| match param {
        Param::Memory(memory) => number(memory),
        Param::Scalar(_) => true,
    });
    let failure = program.failure.as_mut().is_none_or(|failure| number(&mut failure.memory));
    let mut position = 0;
    program.memories.retain(|_| {
        position += 1;
        !spare.contains(&MemoryId(position - 1))
    });
    params && failure && renumber(&mut program.prologue, &number) && renumber(&mut program.body, &number)
}

/// Writes what these expressions need and gives their operands.
pub(crate) fn materialise(terms: &[Term]) -> Vec<Operand> {
    let ids: Vec<Id> = terms.iter().map(|term| term.id()).collect();
    with(Builder::check_scope);
    inspect(|graph| {
        with(|builder| {
            let nodes = graph.nodes();
            let is_available =
                |id: Id| matches!(nodes[id.0 as usize], Node::Constant(_)) || builder.lookup(id).is_some();
            let room = MAX_NESTING.saturating_sub(builder.nesting());
            match Schedule::new(nodes, &ids, is_available, room) {
                Ok(schedule) => builder.write_block(nodes, &schedule, 0),
                Err(error) => builder.mistake(error.to_string()),
            }
            builder.operands(nodes, &ids)
        })
    })
}

/// A term for a variable of the program.
fn term_of(var: Var, ty: ScalarType) -> Term {
    Term::variable(Variable::Local(var.0), ty)
}

/// Makes a variable visible in the innermost frame.
pub(crate) fn bind(var: Var, ty: ScalarType) -> Term {
    let term = term_of(var, ty);
    let id = term.id();
    with(|builder| {
        builder.check_scope();
        builder.define(id, Operand::Var(var));
    });
    term
}

/// As [`bind`], for a variable between these values.
pub(crate) fn bind_within(var: Var, ty: ScalarType, (low, high): Interval) -> Term {
    with(|builder| {
        builder.ranges.insert(var, (low, high.max(low)));
    });
    bind(var, ty)
}

pub(crate) fn fresh(ty: ScalarType, name: &str) -> Var {
    BUILDER.with(|slot| slot.borrow_mut().as_mut().map_or(Var(0), |builder| builder.new_var(ty, name)))
}

/// What `f` does, as a list of statements of its own.
pub(crate) fn framed<R>(list: List, f: impl FnOnce() -> R) -> (R, Vec<Stmt>) {
    let truncate = |builder: &mut Builder, frames: usize| builder.frames.truncate(frames);
    during(
        |builder| builder.open(list),
        truncate,
        || {
            let result = f();
            (result, with(Builder::close))
        },
    )
}

/// Adds global memory as the next parameter.
pub fn memory_parameter(name: &str, ty: ScalarType, access: Access) -> MemoryId {
    BUILDER.with(|slot| {
        slot.borrow_mut().as_mut().map_or(MemoryId(0), |builder| {
            let memory = builder.memory(name, ty, Space::Global { access });
            builder.program.params.push(Param::Memory(memory));
            memory
        })
    })
}

/// Adds the length of an array as the next parameter.
pub(crate) fn known_length_parameter(name: &str) -> Term {
    let term = scalar_parameter(name, ScalarType::I64);
    with(|builder| {
        if let Some(Param::Scalar(var)) = builder.program.params.last() {
            builder.ranges.insert(*var, (0, crate::bounds::MOST_ELEMENTS.into()));
        }
    });
    term
}

/// Adds a scalar as the next parameter.
pub fn scalar_parameter(name: &str, ty: ScalarType) -> Term {
    let var = fresh(ty, name);
    let term = term_of(var, ty);
    let id = term.id();
    with(|builder| {
        builder.program.params.push(Param::Scalar(var));
        builder.frames[PROLOGUE].values.insert(id, Operand::Var(var));
    });
    term
}

/// Gives a value a name for readers of the kernel.
pub fn named(value: crate::Ix, name: &'static str) -> crate::Ix {
    let id = value.term().id();
    with(|builder| {
        builder.names.entry(id).or_insert(name);
    });
    value
}

/// What to call the result of an operation that nobody named.
fn result_name(op: Op) -> &'static str {
    match op {
        Op::Add => "sum",
        Op::Sub => "difference",
        Op::Mul => "product",
        Op::Div => "quotient",
        Op::Rem => "remainder",
        Op::Min => "smaller",
        Op::Max => "larger",
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::And | Op::Or | Op::Xor | Op::Not => "test",
        Op::Select => "choice",
        Op::Cast | Op::Bitcast => "converted",
        other => other.name(),
    }
}

/// A place in a comment: "force, src/main.rs:14".
fn noted(place: Place) -> String {
    format!("{}, {}:{}", place.operation(), place.file(), place.line())
}

/// Does something with this as the place that its statements come from.
pub(crate) fn at_place<R>(place: Place, f: impl FnOnce() -> R) -> R {
    during(|builder| builder.place.replace(place), |builder, before| builder.place = before, f)
}

/// What `f` gives, without anything that it does: to look at a result before it is described for good.
pub(crate) fn probe<R>(f: impl FnOnce() -> R) -> R {
    during(Builder::snapshot, Builder::restore, || framed(List::Probe, f).0)
}

/// What [`probe`] restores: all that a description changes but expressions and variables.
#[derive(Default)]
struct Snapshot {
    memories: usize,
    memory_numbers: HashMap<String, u32>,
    params: usize,
    sites: usize,
    failure: Option<Failure>,
    distributed: bool,
    mistake: Option<String>,
}

impl Builder {
    fn snapshot(&mut self) -> Snapshot {
        Snapshot {
            memories: self.program.memories.len(),
            memory_numbers: self.memory_numbers.clone(),
            params: self.program.params.len(),
            sites: self.sites.len(),
            failure: self.program.failure,
            distributed: self.distributed,
            mistake: self.mistake.clone(),
        }
    }

    fn restore(&mut self, before: Snapshot) {
        // Their numbers are not used again: who has kept one would mean another's.
        for (number, memory) in self.program.memories.iter_mut().enumerate().skip(before.memories) {
            self.spare.insert(MemoryId(number as u32));
            self.memory_names.remove(&memory.name);
            memory.name = format!("spare {number}");
        }
        self.memory_numbers = before.memory_numbers;
        self.program.params.truncate(before.params);
        self.program.failure = before.failure;
        for site in self.sites.drain(before.sites.min(self.sites.len())..) {
            self.site_numbers.remove(&site);
        }
        self.distributed = before.distributed;
        self.mistake = before.mistake;
    }
}

/// The operand of a value that is known before the kernel starts.
pub(crate) fn known_at_launch(term: Term) -> Option<Operand> {
    with(|builder| (builder.frames.len() == PROLOGUE + 1).then_some(()))?;
    if is_read_from_memory(&[term]) {
        return None;
    }
    materialise(&[term]).first().copied()
}

/// Makes a condition one that the launcher checks, if it is known before the kernel starts; gives whether it is.
pub(crate) fn require_at_launch(holds: Term, site: Site, index: Term, bound: Term) -> bool {
    if !with(|builder| builder.doer == Doer::Host && builder.frames.len() == PROLOGUE + 1) {
        return false;
    }
    if is_read_from_memory(&[holds, index, bound]) {
        return false;
    }
    if let [holds, index, bound] = materialise(&[holds, index, bound])[..] {
        with(|builder| builder.requirements.push(Requirement { holds, site, index, bound }));
    }
    true
}
