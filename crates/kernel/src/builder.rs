//! The program being built: where the kernel language's effects go.
//!
//! Expressions are nodes of the thread's scalar graph; when a statement needs them they are written into the list of
//! statements that is open, each value once, as far out of the enclosing loops as its operands allow, and never out of
//! an `if`. Memory is written once before it is read (see [`crate::Push::force`]), so a load is a value like any other.

use pumice_program::{
    Access, Carried, Failure, Interval, Joined, Memory, MemoryId, Operand, Param, Program, Ranges, Space,
    Stmt, Var, VarInfo, Workers,
};
use pumice_scalar::{
    Constant, Id, Item, Node, Op, ScalarType, Schedule, Site, Term, Variable, inspect, scope, scope_depth,
};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::panic::Location;

/// A kernel as the kernel language made it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The program.
    pub program: Program,
    /// Where its failures come from: a [`Stmt::Fail`]'s site is an index into these.
    pub sites: Vec<Site>,
}

/// A kernel that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(pub String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BuildError {}

struct Frame {
    statements: Vec<Stmt>,
    values: HashMap<Id, Operand>,
    /// Whether what is computed here may be computed before instead: not in one side of an `if`.
    transparent: bool,
    /// The place that the last comment names; at first that of the statement around.
    noted: Option<Place>,
}

impl Frame {
    fn new(transparent: bool, noted: Option<Place>) -> Frame {
        Frame { statements: Vec::new(), values: HashMap::new(), transparent, noted }
    }
}

/// Where the user wrote an operation of the kernel language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The operation.
    pub operation: &'static str,
    /// Where.
    pub location: &'static Location<'static>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}:{}", self.operation, self.location.file(), self.location.line())
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
    frames: Vec<Frame>,
    /// What to call some values.
    names: HashMap<Id, &'static str>,
    pub distributed: bool,
    pub doer: Doer,
    /// The warp's own number among the block's warps, where a warp or its lanes are at work.
    pub warp: Option<Term>,
    /// The operation that is being described.
    pub place: Option<Place>,
    /// Whether what is read now is in bounds only under a condition; see [`crate::effects::guarded`].
    pub guarded: bool,
    /// Conditions under which what is read now is in bounds; see [`crate::effects::under`].
    pub guards: Vec<Term>,
    /// Between which values some variables are.
    pub ranges: Ranges,
    /// Memories that were only looked at; see [`probe`].
    spare: BTreeSet<MemoryId>,
    /// How many scopes there are around the kernel's expressions.
    depth: usize,
    mistake: Option<String>,
}

thread_local! { static BUILDER: RefCell<Option<Builder>> = const { RefCell::new(None) }; }

/// Only called while a kernel is built; without one, the effect is lost, which [`build`] makes impossible to observe.
pub(crate) fn with<R: Default>(f: impl FnOnce(&mut Builder) -> R) -> R {
    BUILDER.with(|builder| builder.borrow_mut().as_mut().map(f).unwrap_or_default())
}

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
            frames: vec![Frame::new(true, None)],
            names: HashMap::new(),
            distributed: false,
            doer: Doer::Host,
            warp: None,
            place: None,
            guarded: false,
            guards: Vec::new(),
            ranges: Ranges::new(),
            spare: BTreeSet::new(),
            depth: scope_depth(),
            mistake: None,
        };
        let outer = BUILDER.with(|slot| slot.borrow_mut().replace(builder));
        f();
        let built = BUILDER.with(|slot| std::mem::replace(&mut *slot.borrow_mut(), outer));
        built.map_or_else(|| Err(BuildError("no kernel is being built".into())), Builder::finish)
    })
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
        Ok(Kernel { program: self.program, sites: self.sites })
    }

    /// Notes a mistake; the first one is reported when the kernel is finished.
    pub fn mistake(&mut self, message: impl Into<String>) {
        let place = self.place.map(|place| format!(" ({place})")).unwrap_or_default();
        self.mistake.get_or_insert_with(|| format!("{}{place}", message.into()));
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
                frame.statements.push(Stmt::Comment(place.to_string()));
                frame.noted = Some(place);
            }
            frame.statements.push(statement);
        }
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
        fn writes(program: &Program, list: &[Stmt]) -> bool {
            list.iter().any(|stmt| match stmt {
                Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } => {
                    let memory = program.memories.get(memory.0 as usize);
                    memory.is_some_and(|memory| matches!(memory.space, Space::Shared { .. }))
                }
                _ => stmt.children().into_iter().any(|list| writes(program, list)),
            })
        }
        self.frames.last().is_some_and(|frame| writes(&self.program, &frame.statements))
    }

    /// Whether anything stands in the list of statements that is open.
    pub fn acts(&self) -> bool {
        self.frames.last().is_some_and(|frame| !frame.statements.is_empty())
    }

    /// Expressions live as long as the scope in which they were made: what is written into the kernel must outlive none.
    fn check_scope(&mut self) {
        if scope_depth() != self.depth {
            self.mistake("a kernel is described inside a scalar function");
        }
    }

    /// The outermost frame in which a pure value over these operands can be computed.
    fn outermost(&self, operands: &[usize]) -> usize {
        let opaque = self.frames.iter().rposition(|frame| !frame.transparent).unwrap_or(0);
        operands.iter().copied().max().unwrap_or(0).max(opaque)
    }

    fn in_frame(&mut self, transparent: bool, f: impl FnOnce(&mut Builder)) -> Vec<Stmt> {
        self.frames.push(Frame::new(transparent, self.place));
        f(self);
        self.frames.pop().map(|frame| frame.statements).unwrap_or_default()
    }

    /// The operand for a node that has a value, with the depth of the frame that holds it.
    fn operand(&mut self, nodes: &[Node], id: Id) -> (usize, Operand) {
        match &nodes[id.0 as usize] {
            Node::Constant(constant) => (0, Operand::Constant(*constant)),
            node => self.lookup(id).unwrap_or_else(|| {
                let ty = node.ty().unwrap_or(ScalarType::Bool);
                self.mistake
                    .get_or_insert_with(|| format!("a value is used where it does not exist: {node:?}"));
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
                self.mistake.get_or_insert_with(|| message.to_string());
            }
            node @ (Node::Variable(..) | Node::LoopVariable { .. }) => {
                self.mistake.get_or_insert_with(|| format!("{node:?} has no value in this kernel"));
            }
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
            let statements = self.in_frame(false, |builder| {
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

    fn write_loop(&mut self, nodes: &[Node], schedule: &Schedule, id: Id, header: usize, body: usize) {
        let Node::Loop { number: own, initial, condition, next } = &nodes[id.0 as usize] else { return };
        let initial_values = self.operands(nodes, initial);
        let vars = self.several(nodes, id, initial);
        self.frames.push(Frame::new(true, self.place));
        // The loop's variables are nodes of their own; find those that the graph has.
        for (number, node) in nodes.iter().enumerate() {
            if let Node::LoopVariable { number: of, index, .. } = node
                && of == own
                && let Some(var) = vars.get(*index as usize)
            {
                self.define(Id(number as u32), Operand::Var(*var));
            }
        }
        self.write_block(nodes, schedule, header);
        let condition = self.operand(nodes, *condition).1;
        let mut next_values = Vec::new();
        let body = self.in_frame(true, |builder| {
            builder.write_block(nodes, schedule, body);
            next_values = builder.operands(nodes, next);
        });
        let header = self.frames.pop().map(|frame| frame.statements).unwrap_or_default();
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
        let known = self.sites.iter().position(|other| *other == site);
        let number = known.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        number as u32
    }

    pub fn memory(&mut self, name: &str, ty: ScalarType, space: Space) -> MemoryId {
        let taken = |name: &str| self.program.memories.iter().any(|memory| memory.name == name);
        let mut unique = name.to_string();
        let mut number = 1;
        while taken(&unique) {
            number += 1;
            unique = format!("{name}_{number}");
        }
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
    let number = |memory: &mut MemoryId| {
        let used = !spare.contains(memory);
        memory.0 -= spare.range(..*memory).count() as u32;
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
            let schedule = Schedule::new(nodes, &ids, |id| {
                matches!(nodes[id.0 as usize], Node::Constant(_)) || builder.lookup(id).is_some()
            });
            builder.write_block(nodes, &schedule, 0);
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
pub(crate) fn framed<R>(transparent: bool, f: impl FnOnce() -> R) -> (R, Vec<Stmt>) {
    with(|builder| {
        let noted = builder.place;
        builder.frames.push(Frame::new(transparent, noted));
    });
    let result = f();
    let statements = with(|builder| builder.frames.pop().map(|frame| frame.statements).unwrap_or_default());
    (result, statements)
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
pub(crate) fn length_parameter(name: &str) -> Term {
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

/// Does something with this as the place that its statements come from.
pub(crate) fn at_place<R>(place: Place, f: impl FnOnce() -> R) -> R {
    let before = with(|builder| builder.place.replace(place));
    let result = f();
    with(|builder| builder.place = before);
    result
}

/// What `f` gives, without anything that it does: to look at a result before it is described for good.
pub(crate) fn probe<R>(f: impl FnOnce() -> R) -> R {
    let before = with(|builder| {
        let program = &builder.program;
        let counts = (program.memories.len(), program.params.len(), builder.sites.len());
        Some((counts, program.failure, builder.distributed, builder.mistake.clone()))
    });
    let (result, _) = framed(false, f);
    with(|builder| {
        if let Some(((memories, params, sites), failure, distributed, mistake)) = before {
            builder.mistake = mistake;
            // Their numbers are not used again: who has kept one would mean another's.
            for (number, memory) in builder.program.memories.iter_mut().enumerate().skip(memories) {
                builder.spare.insert(MemoryId(number as u32));
                memory.name = format!("spare {number}");
            }
            builder.program.params.truncate(params);
            builder.program.failure = failure;
            builder.sites.truncate(sites);
            builder.distributed = distributed;
        }
    });
    result
}

/// The operand of a value that is known before the kernel starts.
pub(crate) fn known_at_launch(term: Term) -> Option<Operand> {
    with(|builder| (builder.frames.len() == PROLOGUE + 1).then_some(()))?;
    materialise(&[term]).first().copied()
}
