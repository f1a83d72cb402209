//! The program being built: where the kernel language's effects go.
//!
//! Expressions are nodes of the thread's scalar graph; when a statement needs them they are written into the list of
//! statements that is open (`expressions.rs`). Memory is written once before it is read (see [`crate::Push::force`]), so a
//! load is a value like any other. Memories and parameters are in `memories.rs`; `probe.rs` looks without adding anything.

mod expressions;
mod memories;
mod probe;

pub(crate) use expressions::materialise;
pub(crate) use memories::known_length_parameter;
pub use memories::{memory_parameter, scalar_parameter};
pub use probe::probe;

use crate::built::{BuiltKernel, Requirement};
use crate::effects::describe;
use crate::error::BuildError;
use crate::place::{here, users};
use memories::drop_memories;
use pumice_program::{
    AtomicOp, Interval, MemoryId, Operand, Program, Ranges, Space, Stmt, Var, VarInfo, Workers,
};
use pumice_scalar::{
    Constant, Id, MAX_NESTING, Op, Place, ScalarType, Site, Term, TooDeep, Variable, scope, scope_depth,
};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A list of statements that is open, with the values that are computed in it.
struct Frame {
    statements: Vec<Stmt>,
    values: HashMap<Id, Operand>,
    list: List,
    /// The place that the last comment names; at first that of the statement around.
    noted: Option<Place>,
    /// The comment of another kernel in force, if that is the last one; see [`Builder::push_copied`].
    copied: Option<String>,
    /// Number of statements around it.
    nesting: usize,
    /// Whether a statement in it, or in a list inside it, writes shared memory.
    writes_shared: bool,
}

impl Frame {
    fn new(list: List, noted: Option<Place>, nesting: usize) -> Frame {
        let (statements, values) = (Vec::new(), HashMap::new());
        Frame { statements, values, list, noted, copied: None, nesting, writes_shared: false }
    }
}

/// The role of a list of statements in the one around it.
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

/// Execution scope of what is being described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExecutionScope {
    /// Outside the grid.
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
    /// Names of some values, for readers of the kernel.
    names: HashMap<Id, &'static str>,
    pub distributed: bool,
    pub scope: ExecutionScope,
    /// The warp's own number among the block's warps, where the execution scope is a warp or one of its lanes.
    pub warp: Option<Term>,
    /// Listeners to the elements that the kernel hands on.
    pub listeners: Vec<std::rc::Rc<dyn crate::skeletons::Listener>>,
    /// Listeners to the current block.
    pub hearing: Vec<std::rc::Rc<dyn crate::skeletons::Listener>>,
    /// The operation that is being described.
    pub place: Option<Place>,
    /// Whether what is read now is in bounds only under a condition; see [`crate::effects::guarded`].
    pub guarded: bool,
    /// Conditions under which what is read now is in bounds; see [`crate::effects::under`].
    pub guards: Vec<Term>,
    /// Known ranges of some variables.
    pub ranges: Ranges,
    /// Memory of the block whose first element is set where a failure is recorded; see [`crate::flag_failures`].
    pub failure_flag: Option<MemoryId>,
    /// Cells that hold lengths, with their bounds; see `device_length.rs`.
    pub length_cells: HashMap<MemoryId, Term>,
    /// Memories that were only looked at; see [`probe`].
    spare: BTreeSet<MemoryId>,
    /// Number of scopes around the kernel's expressions.
    depth: usize,
    mistake: Option<BuildError>,
    pub requirements: Vec<Requirement>,
    /// Source location where the user asked for the kernel.
    origin: Place,
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
#[track_caller]
pub fn build(name: &str, threads: u32, f: impl FnOnce()) -> Result<BuiltKernel, BuildError> {
    let origin = users(here("kernel"));
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
            resident: 1,
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
            scope: ExecutionScope::Host,
            warp: None,
            listeners: Vec::new(),
            hearing: Vec::new(),
            place: None,
            guarded: false,
            guards: Vec::new(),
            ranges: Ranges::new(),
            failure_flag: None,
            length_cells: HashMap::new(),
            spare: BTreeSet::new(),
            depth: scope_depth(),
            mistake: None,
            requirements: Vec::new(),
            origin,
        };
        let _outer = Outer(BUILDER.with(|slot| slot.borrow_mut().replace(builder)));
        f();
        let built = BUILDER.with(|slot| slot.borrow_mut().take());
        built.map_or_else(|| Err(BuildError::new("no kernel is being built").or_at(origin)), Builder::finish)
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
    fn finish(mut self) -> Result<BuiltKernel, BuildError> {
        let error = |message: String| Err(BuildError::new(message).or_at(self.origin));
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        if !self.distributed {
            return error(format!("kernel {} distributes nothing over the grid", self.program.name));
        }
        self.program.prologue = self.frames.swap_remove(PROLOGUE).statements;
        if !drop_memories(&mut self.program, &self.spare) {
            return error("an array is used that was made only to find out how long it is".into());
        }
        let (sites, requirements) = (self.sites, self.requirements);
        Ok(BuiltKernel { program: self.program, sites, requirements, place: self.origin })
    }

    /// Notes a mistake; the first one is reported when the kernel is finished.
    pub fn mistake(&mut self, message: impl Into<String>) {
        let place = self.place.unwrap_or(self.origin);
        self.mistake.get_or_insert_with(|| BuildError::new(message.into()).or_at(place));
    }

    /// Notes a failure that is certain already.
    pub fn refuse(&mut self, site: Site, index: i64, bound: i64) {
        self.mistake.get_or_insert_with(|| BuildError::failure(site, index, bound));
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
        let flagged = self.flagged(&statement);
        self.push_one(statement);
        flagged.into_iter().for_each(|flagged| self.push_one(flagged));
    }

    /// The statements that raise the flag for failures if this one records one, where there is a flag.
    fn flagged(&mut self, statement: &Stmt) -> Vec<Stmt> {
        let (Stmt::Fail { unless, .. }, Some(memory)) = (statement, self.failure_flag) else {
            return Vec::new();
        };
        // So that a barrier stands between this round of a loop and the next one.
        if let Some(frame) = self.frames.last_mut() {
            frame.writes_shared = true;
        }
        let failed = self.new_var(ScalarType::Bool, "failed");
        let (index, operands) =
            (Operand::Constant(Constant::from(0i64)), vec![Operand::Constant(Constant::from(1u32))]);
        // Any number of threads may fail at once.
        let raise = Stmt::Atomic { var: None, op: AtomicOp::Or, memory, index, operands };
        let (condition, then) = (Operand::Var(failed), vec![raise]);
        vec![
            Stmt::Let { var: failed, op: Op::Not, operands: vec![*unless] },
            Stmt::If { condition, then, otherwise: Vec::new(), results: Vec::new() },
        ]
    }

    fn push_one(&mut self, statement: Stmt) {
        let place = self.place;
        if let Some(frame) = self.frames.last_mut() {
            if let (Some(place), true) = (place, frame.noted != place) {
                frame.statements.push(Stmt::Comment(place.to_string()));
                frame.noted = Some(place);
                frame.copied = None;
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

    /// Adds a statement of another kernel, which stands under this comment there.
    pub fn push_copied(&mut self, comment: Option<String>, statement: Stmt) {
        let place = self.place.take();
        if let (Some(frame), Some(text)) = (self.frames.last_mut(), comment)
            && frame.copied.as_ref() != Some(&text)
        {
            frame.statements.push(Stmt::Comment(text.clone()));
            (frame.noted, frame.copied) = (None, Some(text));
        }
        self.push(statement);
        self.place = place;
    }

    /// Says that the list of statements that is open stands under a comment of another kernel.
    pub fn note_copied(&mut self, comment: Option<String>) {
        if let (Some(frame), Some(text)) = (self.frames.last_mut(), comment) {
            (frame.noted, frame.copied) = (None, Some(text));
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

    /// Returns the number of statements around the list that is open.
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

    /// Adds a statement that only a thread can execute: one of them, where the execution scope is a block or a warp.
    fn push_in_thread(&mut self, statement: Stmt) {
        let workers = match self.scope {
            ExecutionScope::Thread => return self.push(statement),
            ExecutionScope::Warp => Workers::Lanes,
            ExecutionScope::Host | ExecutionScope::Block => Workers::Threads,
        };
        let var = self.new_var(ScalarType::I32, "one");
        let extent = Operand::Constant(Constant::from(1i32));
        let flagged = self.flagged(&statement);
        let body = std::iter::once(statement).chain(flagged).collect();
        self.push(Stmt::Parallel { workers, var, extent, body });
    }

    /// Whether the list of statements that is open writes shared memory.
    pub fn writes_shared(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.writes_shared)
    }

    /// Whether anything stands in the list of statements that is open.
    pub fn acts(&self) -> bool {
        self.frames.last().is_some_and(|frame| !frame.statements.is_empty())
    }

    /// Notes a mistake if private memory is used where the execution scope is not a single thread.
    pub fn check_private(&mut self, memory: MemoryId) {
        let space = self.program.memories.get(memory.0 as usize).map(|memory| memory.space);
        if let (Some(Space::Private { .. }), true) = (space, self.scope != ExecutionScope::Thread) {
            self.mistake(format!(
                "memory that each thread has for itself is read where {} is at work: read it inside `for_each` or what \
                 a block or warp pushes",
                describe(self.scope)
            ));
        }
    }

    /// Expressions live as long as the scope in which they were made: what is written into the kernel must outlive none.
    fn check_scope(&mut self) {
        if scope_depth() != self.depth {
            self.mistake("a kernel is described inside a scalar function");
        }
    }
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

/// Runs `f` and returns the statements that it adds as a list of their own.
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

/// Gives a value a name for readers of the kernel.
///
/// ```
/// use pumice::kernel::{Grid, Ix, Pull, define, generate, named};
/// let kernel = define("halves", 32, |xs: Pull<i32, Ix>| {
///     let half = named(xs.len() / 2, "half");
///     generate(half, move |i| xs.at(i * 2)).push::<Grid>()
/// })?;
/// assert!(kernel.kernel().program.to_string().contains("half"));
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
pub fn named(value: crate::Ix, name: &'static str) -> crate::Ix {
    let id = value.term().id();
    with(|builder| {
        builder.names.entry(id).or_insert(name);
    });
    value
}

/// Whether nothing is open but the list of what is computed before the kernel starts.
pub(crate) fn at_prologue() -> bool {
    with(|builder| builder.frames.len() == PROLOGUE + 1)
}
