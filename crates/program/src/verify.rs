//! Says which programs are well formed, and witnesses it.
//!
//! A [`Verified`] can only be made by [`verify`], so whoever takes one (the emitter, the devices) need not check again.
//! The verifier must not panic on any program whatsoever, must not change a program, and must not judge what depends on
//! a device: that shared memory fits is for [`crate::memory`] to say.

use std::fmt;
use std::ops::Deref;

use pumice_scalar::{MAX_NESTING, ScalarType};

use crate::ir::{
    Access, AtomicOp, Carried, CollectiveOp, MemoryId, Operand, Param, Program, Scope, Space, Stmt, Var,
    WARP, Workers,
};
use crate::uniform::{Level, Uniformity};

/// A program that has passed the verifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified(Program);

impl Verified {
    /// The program, to be changed (and verified again).
    pub fn into_program(self) -> Program {
        self.0
    }
}

impl Deref for Verified {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.0
    }
}

impl AsRef<Program> for Verified {
    fn as_ref(&self) -> &Program {
        &self.0
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a program is not well formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The name of the program.
    pub program: String,
    /// The statement as text, if it is about one.
    pub statement: Option<String>,
    /// Where the user wrote it: the comment in force there, if there is one.
    pub place: Option<String>,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}` is not well formed: {}", self.program, self.reason)?;
        match (&self.place, &self.statement) {
            (Some(place), _) => write!(f, " ({place})"),
            (None, Some(statement)) => write!(f, " in `{statement}`"),
            (None, None) => Ok(()),
        }
    }
}

impl std::error::Error for VerifyError {}

/// Checks a program and, if it is well formed, wraps it.
pub fn verify(program: Program) -> Result<Verified, VerifyError> {
    check(&program)?;
    Ok(Verified(program))
}

/// Checks a program.
pub fn check(program: &Program) -> Result<(), VerifyError> {
    Checker::new(program, true).program()
}

/// Checks everything but the place of barriers and collectives, for the simulator, which finds those that are reached
/// by some only.
pub(crate) fn check_but_barriers(program: &Program) -> Result<(), VerifyError> {
    Checker::new(program, false).program()
}

/// Whether this is a name in C (and so in every dialect of it, reserved words aside).
pub fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

type Checked<T = ()> = Result<T, VerifyError>;

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Place {
    /// Who does it.
    doer: Doer,
    depth: usize,
}

/// Who does a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doer {
    /// The block as a whole.
    Block,
    /// A warp as a whole.
    Warp,
    /// A thread.
    Thread,
}

/// Something around a statement that does not have the same value for all threads of a block.
#[derive(Clone, Copy)]
struct Differing<'a> {
    /// What it decides on.
    what: &'static str,
    operand: Operand,
    level: Level,
    /// Where the user wrote it.
    place: Option<&'a str>,
}

struct Checker<'a> {
    program: &'a Program,
    /// Whether barriers must be outside parallel loops, and those of a warp and collectives where every warp gets.
    barriers: bool,
    /// Per variable: whether a definition was seen.
    defined: Vec<bool>,
    /// Per variable: whether it can be read at the current place.
    visible: Vec<bool>,
    /// The visible variables in the order in which they became so.
    scope: Vec<Var>,
    /// Whether a `fail` was seen.
    fails: bool,
    /// Whether a barrier of a warp or a collective was seen.
    together: bool,
    /// The statement being checked.
    current: Option<&'a Stmt>,
    /// The comment in force there.
    comment: Option<&'a str>,
}

impl<'a> Checker<'a> {
    fn new(program: &'a Program, barriers: bool) -> Checker<'a> {
        let count = program.vars.len();
        Checker {
            program,
            barriers,
            defined: vec![false; count],
            visible: vec![false; count],
            scope: Vec::new(),
            fails: false,
            together: false,
            current: None,
            comment: None,
        }
    }

    fn error<T>(&self, reason: impl Into<String>) -> Checked<T> {
        Err(VerifyError {
            program: self.program.name.clone(),
            statement: self.current.map(|stmt| self.program.statement_text(stmt)),
            place: self.current.and(self.comment).map(str::to_string),
            reason: reason.into(),
        })
    }

    fn program(mut self) -> Checked {
        let program = self.program;
        self.names()?;
        self.params()?;
        if program.threads == 0 {
            return self.error("a block has no threads");
        }
        for stmt in &program.prologue {
            self.current = Some(stmt);
            match stmt {
                Stmt::Comment(_) => {}
                Stmt::Let { .. } => self.statement(stmt, Place { doer: Doer::Block, depth: 0 })?,
                _ => return self.error("only lets can stand in the prologue"),
            }
        }
        self.current = None;
        self.signed(program.blocks, "the number of blocks")?;
        let block = self.define(program.block)?;
        if !block.is_signed() {
            return self.error(format!("the index of the block is {block}, not a signed integer"));
        }
        self.statements(&program.body, Place { doer: Doer::Block, depth: 0 })?;
        self.current = None;
        self.failure()?;
        self.stop()?;
        match self.barriers && self.together {
            true => self.reached_by_all(&program.body, &Uniformity::of(program), None),
            false => Ok(()),
        }
    }

    /// Checks that barriers of a warp and collectives are reached by every warp equally often, given what is around
    /// them that is not the same for the whole block. It comes last: the levels are those of a well-formed program.
    fn reached_by_all(
        &mut self,
        list: &'a [Stmt],
        uniformity: &Uniformity,
        around: Option<Differing<'a>>,
    ) -> Checked {
        let differing = |what: &'static str, place: Option<&'a str>, operands: &[Operand]| {
            let level = |operand: &Operand| uniformity.operand(*operand);
            let operand = operands.iter().copied().find(|operand| level(operand) != Level::Block)?;
            Some(Differing { what, operand, level: level(&operand), place })
        };
        let outer = self.comment;
        for stmt in list {
            if let Stmt::Comment(text) = stmt {
                self.comment = Some(text);
            }
            let what = match stmt {
                Stmt::Sync { scope: Scope::Warp } => Some("sync warp"),
                Stmt::Collective { op, .. } => Some(op.name()),
                _ => None,
            };
            if let (Some(what), Some(around)) = (what, around) {
                self.current = Some(stmt);
                return self.error(self.unreached(what, around));
            }
            let place = self.comment;
            let inner = match stmt {
                Stmt::If { condition, .. } => differing("`if`", place, &[*condition]),
                Stmt::While { condition, .. } => {
                    differing("`while` with the condition", place, &[*condition])
                }
                Stmt::For { start, end, step, .. } => {
                    differing("`for` with the bound", place, &[*start, *end, *step])
                }
                Stmt::Parallel { extent, .. } => {
                    differing("a parallel loop with the extent", place, &[*extent])
                }
                _ => None,
            };
            for child in stmt.children() {
                self.reached_by_all(child, uniformity, around.or(inner))?;
            }
        }
        self.comment = outer;
        Ok(())
    }

    /// Why something that warps do together must not stand inside something that differs: in the words of the language
    /// that the program was written in, if that can be told.
    fn unreached(&self, what: &str, around: Differing<'a>) -> String {
        let from = if around.level == Level::Warp { "warp to warp" } else { "thread to thread" };
        match around.place {
            Some(place) => format!(
                "what the threads of a warp do together stands inside a condition or loop ({place}) that may differ \
                 from {from}: every warp must get there"
            ),
            None => format!(
                "`{what}` inside {} {}, which may differ from {from}: every warp must get there",
                around.what,
                self.program.operand_text(around.operand)
            ),
        }
    }

    fn names(&self) -> Checked {
        let program = self.program;
        let check = |what: &str, name: &str| match is_identifier(name) {
            true => Ok(()),
            false => self.error(format!("the name {name:?} of {what} is not an identifier")),
        };
        check("the kernel", &program.name)?;
        program.vars.iter().try_for_each(|info| check("a variable", &info.name))?;
        program.memories.iter().try_for_each(|memory| check("a memory", &memory.name))?;
        let mut names: Vec<&str> = program.memories.iter().map(|memory| memory.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => self.error(format!("two memories are called `{}`", pair[0])),
            None => Ok(()),
        }
    }

    fn params(&mut self) -> Checked {
        let program = self.program;
        let mut passed = vec![false; program.memories.len()];
        for param in &program.params {
            match *param {
                Param::Scalar(var) => {
                    self.define(var)?;
                }
                Param::Memory(id) => {
                    match (program.memories.get(id.0 as usize), passed.get_mut(id.0 as usize)) {
                        (Some(memory), Some(passed)) => {
                            if !matches!(memory.space, Space::Global { .. }) {
                                let space = if let Space::Shared { .. } = memory.space {
                                    "shared"
                                } else {
                                    "private"
                                };
                                return self
                                    .error(format!("{space} memory `{}` is a parameter", memory.name));
                            }
                            if std::mem::replace(passed, true) {
                                return self.error(format!("memory `{}` is a parameter twice", memory.name));
                            }
                        }
                        _ => return self.error(format!("there is no memory with number {}", id.0)),
                    }
                }
            }
        }
        let absent = program.memories.iter().zip(passed);
        for (memory, passed) in absent {
            if matches!(memory.space, Space::Global { .. }) && !passed {
                return self.error(format!("global memory `{}` is not a parameter", memory.name));
            }
        }
        Ok(())
    }

    fn failure(&self) -> Checked {
        let program = self.program;
        let Some(failure) = program.failure else {
            return match self.fails {
                true => self.error("there is a `fail`, and nowhere to record it"),
                false => Ok(()),
            };
        };
        if !self.fails {
            return self.error("there is a place for failures, and no `fail`");
        }
        let Some(memory) = program.memories.get(failure.memory.0 as usize) else {
            return self.error(format!("there is no memory with number {}", failure.memory.0));
        };
        match memory.space {
            Space::Global { access: Access::Write | Access::ReadWrite } if memory.ty == ScalarType::I64 => {}
            _ => {
                return self
                    .error(format!("the failure memory `{}` is not i64 that can be written", memory.name));
            }
        }
        let base = program.params.contains(&Param::Scalar(failure.base));
        match program.vars.get(failure.base.0 as usize) {
            Some(info) if base && info.ty == ScalarType::I64 => Ok(()),
            _ => self.error("the base of failure codes is not a scalar parameter of type i64"),
        }
    }

    fn stop(&self) -> Checked {
        let Some(stop) = self.program.stop else { return Ok(()) };
        match self.program.memories.get(stop.0 as usize) {
            None => self.error(format!("there is no memory with number {}", stop.0)),
            Some(memory)
                if memory.ty == ScalarType::I64
                    && memory.space == (Space::Global { access: Access::ReadWrite }) =>
            {
                Ok(())
            }
            Some(memory) => self
                .error(format!("the stop record `{}` is not i64 that can be read and written", memory.name)),
        }
    }

    /// Marks a variable as defined here and gives its type.
    fn define(&mut self, var: Var) -> Checked<ScalarType> {
        let Some(info) = self.program.vars.get(var.0 as usize) else {
            return self.error(format!("there is no variable with number {}", var.0));
        };
        // Both vectors are as long as the list of variables.
        if std::mem::replace(&mut self.defined[var.0 as usize], true) {
            return self.error(format!(
                "variable {} is defined twice",
                self.program.operand_text(Operand::Var(var))
            ));
        }
        self.visible[var.0 as usize] = true;
        self.scope.push(var);
        Ok(info.ty)
    }

    /// Makes what became visible after `mark` invisible again.
    fn leave(&mut self, mark: usize) {
        for var in self.scope.drain(mark.min(self.scope.len())..) {
            self.visible[var.0 as usize] = false;
        }
    }

    /// The type of an operand that can be read here.
    fn operand(&self, operand: Operand) -> Checked<ScalarType> {
        match operand {
            Operand::Constant(constant) => Ok(constant.ty()),
            Operand::Var(var) => {
                match (self.program.vars.get(var.0 as usize), self.visible.get(var.0 as usize)) {
                    (Some(info), Some(true)) => Ok(info.ty),
                    (Some(_), _) => self.error(format!(
                        "{} is not defined at this place",
                        self.program.operand_text(operand)
                    )),
                    (None, _) => self.error(format!("there is no variable with number {}", var.0)),
                }
            }
        }
    }

    fn typed(&self, operand: Operand, ty: ScalarType, what: &str) -> Checked {
        let found = self.operand(operand)?;
        match found == ty {
            true => Ok(()),
            false => self.error(format!("{what} is {found} and should be {ty}")),
        }
    }

    fn signed(&self, operand: Operand, what: &str) -> Checked {
        let found = self.operand(operand)?;
        match found.is_signed() {
            true => Ok(()),
            false => self.error(format!("{what} is {found}, not a signed integer")),
        }
    }

    fn statements(&mut self, list: &'a [Stmt], place: Place) -> Checked {
        if place.depth > MAX_NESTING {
            return self.error(format!("statements are nested more than {MAX_NESTING} deep"));
        }
        let outer = self.comment;
        for stmt in list {
            if let Stmt::Comment(text) = stmt {
                self.comment = Some(text);
            }
            self.current = Some(stmt);
            self.statement(stmt, place)?;
        }
        self.comment = outer;
        Ok(())
    }

    /// Checks the memory of a load or store and gives the type of its elements.
    fn memory(
        &self,
        id: MemoryId,
        index: Operand,
        count: usize,
        write: bool,
        place: Place,
    ) -> Checked<ScalarType> {
        let Some(memory) = self.program.memories.get(id.0 as usize) else {
            return self.error(format!("there is no memory with number {}", id.0));
        };
        if self.program.failure.is_some_and(|failure| failure.memory == id) {
            return self.error(format!("only `fail` may use the failure memory `{}`", memory.name));
        }
        if self.program.stop == Some(id) {
            return self.error(format!("no statement may use the stop record `{}`", memory.name));
        }
        match memory.space {
            Space::Global { access: Access::Read } if write => {
                return self.error(format!("memory `{}` can only be read", memory.name));
            }
            Space::Global { access: Access::Write } if !write => {
                return self.error(format!("memory `{}` can only be written", memory.name));
            }
            Space::Private { .. } if place.doer != Doer::Thread => {
                return self.error(format!("private memory `{}` outside `parallel`", memory.name));
            }
            _ => {}
        }
        if !matches!(count, 1 | 2 | 4) {
            return self.error(format!("{count} elements at once; it can be 1, 2 or 4"));
        }
        let ty = self.operand(index)?;
        match ty.is_integer() {
            true => Ok(memory.ty),
            false => self.error(format!("the index is {ty}, not an integer")),
        }
    }

    fn statement(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        match stmt {
            Stmt::If { .. } => self.branch(stmt, place),
            Stmt::For { .. } => self.for_loop(stmt, place),
            Stmt::While { .. } => self.while_loop(stmt, place),
            Stmt::Parallel { .. } => self.parallel(stmt, place),
            _ => self.simple(stmt, place),
        }
    }

    fn branch(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        let Stmt::If { condition, then, otherwise, results } = stmt else { return Ok(()) };
        let inner = Place { depth: place.depth + 1, ..place };
        self.typed(*condition, ScalarType::Bool, "the condition")?;
        let sides: [(&'a Vec<Stmt>, Vec<Operand>); 2] = [
            (then, results.iter().map(|joined| joined.then).collect()),
            (otherwise, results.iter().map(|joined| joined.otherwise).collect()),
        ];
        for (list, given) in sides {
            let mark = self.scope.len();
            self.statements(list, inner)?;
            self.current = Some(stmt);
            for (joined, operand) in results.iter().zip(given) {
                self.agrees(joined.var, operand, "a branch's value")?;
            }
            self.leave(mark);
        }
        results.iter().try_for_each(|joined| self.define(joined.var).map(|_| ()))
    }

    fn for_loop(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        let Stmt::For { var, start, end, step, carried, body } = stmt else { return Ok(()) };
        let inner = Place { depth: place.depth + 1, ..place };
        let mark = self.scope.len();
        let types = [self.operand(*start)?, self.operand(*end)?, self.operand(*step)?];
        self.initials(carried)?;
        let ty = self.define(*var)?;
        if !ty.is_integer() || types.iter().any(|&other| other != ty) {
            return self.error("index, start, end and step of a loop have one integer type");
        }
        if let Operand::Constant(step) = step
            && step.as_integer().is_none_or(|step| step <= 0)
        {
            return self.error("the step of a loop is not positive");
        }
        self.carry(carried)?;
        self.statements(body, inner)?;
        self.current = Some(stmt);
        self.nexts(carried)?;
        self.leave(mark);
        self.stay(carried);
        Ok(())
    }

    fn while_loop(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        let Stmt::While { carried, header, condition, body } = stmt else { return Ok(()) };
        let inner = Place { depth: place.depth + 1, ..place };
        let mark = self.scope.len();
        self.initials(carried)?;
        self.carry(carried)?;
        self.statements(header, inner)?;
        self.current = Some(stmt);
        self.typed(*condition, ScalarType::Bool, "the condition")?;
        self.statements(body, inner)?;
        self.current = Some(stmt);
        self.nexts(carried)?;
        self.leave(mark);
        self.stay(carried);
        Ok(())
    }

    fn parallel(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        let Stmt::Parallel { workers, var, extent, body } = stmt else { return Ok(()) };
        let inner = Place { depth: place.depth + 1, ..place };
        let doer = match (workers, place.doer) {
            (Workers::Threads, Doer::Block) | (Workers::Lanes, Doer::Warp) => Doer::Thread,
            (Workers::Warps, Doer::Block) if self.program.threads.is_multiple_of(WARP) => Doer::Warp,
            (Workers::Warps, Doer::Block) => {
                return self.error(format!(
                    "a block of {} threads has no whole number of warps",
                    self.program.threads
                ));
            }
            (Workers::Lanes, Doer::Block) => return self.error("`lanes` outside `warps`"),
            _ => return self.error("`parallel` inside `parallel`"),
        };
        let extent = self.operand(*extent)?;
        let mark = self.scope.len();
        let ty = self.define(*var)?;
        if !ty.is_integer() || extent != ty {
            return self.error("index and extent of `parallel` have one integer type");
        }
        self.statements(body, Place { doer, ..inner })?;
        self.leave(mark);
        Ok(())
    }

    /// A statement without others inside. It is apart from those that have some because, not optimised, it needs a lot
    /// of stack.
    fn simple(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        match stmt {
            Stmt::Comment(_) => Ok(()),
            Stmt::Let { var, op, operands } => {
                let types =
                    operands.iter().map(|&operand| self.operand(operand)).collect::<Checked<Vec<_>>>()?;
                let result = self.define(*var)?;
                match op.accepts(result, &types) {
                    true => Ok(()),
                    false => {
                        let types: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
                        self.error(format!(
                            "`{}` does not make {result} from ({})",
                            op.name(),
                            types.join(", ")
                        ))
                    }
                }
            }
            Stmt::Load { vars, memory, index } => {
                let element = self.memory(*memory, *index, vars.len(), false, place)?;
                for &var in vars {
                    let ty = self.define(var)?;
                    if ty != element {
                        return self.error(format!("the memory holds {element}, and the variable is {ty}"));
                    }
                }
                Ok(())
            }
            Stmt::Store { memory, index, values } => {
                if place.doer != Doer::Thread {
                    return self.error("a store outside `parallel`");
                }
                let element = self.memory(*memory, *index, values.len(), true, place)?;
                values.iter().try_for_each(|&value| self.typed(value, element, "a stored value"))
            }
            Stmt::Sync { scope } => match (scope, place.doer) {
                (Scope::Block, Doer::Block) => Ok(()),
                (Scope::Warp, Doer::Warp) => {
                    self.together = true;
                    Ok(())
                }
                (Scope::Warp, Doer::Block) => self.error("`sync warp` outside `warps`"),
                (Scope::Grid, _) => self.error("a grid has no barrier"),
                _ if self.barriers => self.error("`sync` inside `parallel`"),
                _ => Ok(()),
            },
            Stmt::Fence { .. } if place.doer != Doer::Thread => self.error("a `fence` outside `parallel`"),
            Stmt::Fence { .. } => Ok(()),
            Stmt::Atomic { var, op, memory, index, operands } => {
                if place.doer != Doer::Thread {
                    return self.error("an `atomic` outside `parallel`");
                }
                let reads = *op != AtomicOp::Store;
                if reads {
                    self.memory(*memory, *index, 1, false, place)?;
                }
                let element = self.memory(*memory, *index, 1, *op != AtomicOp::Load, place)?;
                if let Space::Private { .. } = self.program.memory(*memory).space {
                    return self.error("an `atomic` on private memory");
                }
                if !op.accepts(element) {
                    return self.error(format!("`atomic {}` does not work on {element}", op.name()));
                }
                if operands.len() != op.operands() {
                    return self.error(format!("`atomic {}` takes {} values", op.name(), op.operands()));
                }
                operands.iter().try_for_each(|&value| self.typed(value, element, "a value"))?;
                match (var, op) {
                    (None, AtomicOp::Load) => self.error("`atomic load` without a variable"),
                    (Some(_), AtomicOp::Store) => self.error("`atomic store` gives nothing"),
                    (Some(var), _) => match self.define(*var)? == element {
                        true => Ok(()),
                        false => self.error(format!("the memory holds {element}, and the variable does not")),
                    },
                    (None, _) => Ok(()),
                }
            }
            Stmt::Collective { var, op, operands } => {
                if place.doer != Doer::Thread {
                    return self.error(format!("`{}` outside `parallel`", op.name()));
                }
                self.together = true;
                let types =
                    operands.iter().map(|&operand| self.operand(operand)).collect::<Checked<Vec<_>>>()?;
                let result = self.define(*var)?;
                let fits = match (op, types.as_slice()) {
                    (CollectiveOp::All | CollectiveOp::Any, [ScalarType::Bool]) => result == ScalarType::Bool,
                    (CollectiveOp::Ballot, [ScalarType::Bool]) => result == ScalarType::U32,
                    (op, [value, ScalarType::I32]) if op.is_shuffle() => result == *value,
                    _ => false,
                };
                match fits {
                    true => Ok(()),
                    false => {
                        let types: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
                        self.error(format!(
                            "`{}` does not make {result} from ({})",
                            op.name(),
                            types.join(", ")
                        ))
                    }
                }
            }
            Stmt::Fail { unless, index, bound, .. } => {
                if place.doer != Doer::Thread {
                    return self.error("a `fail` outside `parallel`");
                }
                self.fails = true;
                self.typed(*unless, ScalarType::Bool, "the condition")?;
                self.typed(*index, ScalarType::I64, "the index")?;
                self.typed(*bound, ScalarType::I64, "the bound")
            }
            Stmt::If { .. } | Stmt::For { .. } | Stmt::While { .. } | Stmt::Parallel { .. } => Ok(()),
        }
    }

    /// Checks that an operand that can be read here has the type of a variable.
    fn agrees(&self, var: Var, operand: Operand, what: &str) -> Checked {
        match self.program.vars.get(var.0 as usize) {
            Some(info) => self.typed(operand, info.ty, what),
            None => self.error(format!("there is no variable with number {}", var.0)),
        }
    }

    fn initials(&self, carried: &[Carried]) -> Checked {
        carried.iter().try_for_each(|carried| self.agrees(carried.var, carried.initial, "a first value"))
    }

    fn nexts(&self, carried: &[Carried]) -> Checked {
        carried.iter().try_for_each(|carried| self.agrees(carried.var, carried.next, "a next value"))
    }

    fn carry(&mut self, carried: &[Carried]) -> Checked {
        carried.iter().try_for_each(|carried| self.define(carried.var).map(|_| ()))
    }

    /// Makes the carried values visible after their loop.
    fn stay(&mut self, carried: &[Carried]) {
        for carried in carried {
            self.visible[carried.var.0 as usize] = true;
            self.scope.push(carried.var);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Failure;
    use crate::parse::parse;

    /// A program with these statements, in a block and in a thread of it.
    fn text(block: &str, thread: &str) -> String {
        format!(
            "kernel k memory @r: global read f32 memory @w: global write f32 memory @s: shared f32[8]
             params @r, @w, %n: i64, %a: f32 threads 8 blocks %block: i64 < 1:i64
             body {{ {block} parallel %i: i64 < 8:i64 {{ {thread} }} }}"
        )
    }

    fn reason(text: &str) -> Option<String> {
        let program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        verify(program).err().map(|error| error.reason)
    }

    #[track_caller]
    fn refused(block: &str, thread: &str, expected: &str) {
        let reason = reason(&text(block, thread)).expect("should be refused");
        assert!(reason.contains(expected), "{reason}");
    }

    #[track_caller]
    fn accepted(block: &str, thread: &str) {
        assert_eq!(reason(&text(block, thread)), None);
    }

    #[test]
    fn uses_follow_definitions() {
        refused("%x: f32 = add %y, %a %y: f32 = add %a, %a", "", "%y.4 is not defined at this place");
        refused(
            "%c: bool = lt %n, %n if %c { %x: i64 = add %n, %n } %y: i64 = add %x, %n",
            "",
            "not defined",
        );
        refused("%x: f32 = add %a, %a %x: f32 = add %a, %a", "", "defined twice");
        refused("", "%block: i64 = add %n, %n", "defined twice");
        refused("for %k: i64 in 0:i64..%n step 1:i64 { } %x: i64 = add %k, 1:i64", "", "not defined");
        accepted(
            "for %k: i64 in 0:i64..%n step 1:i64 carry %z: i64 = 0:i64 { next %k } %x: i64 = add %z, 1:i64",
            "",
        );
        accepted("while { %c: bool = lt %n, 0:i64 } test %c { %d: bool = not %c }", "");
        refused("while { %c: bool = lt %n, 0:i64 } test %c { } %d: bool = not %c", "", "not defined");
        refused(
            "%x: i64 = if true { yield 1:i64 } else { %y: i64 = add %x, 1:i64 yield %y }",
            "",
            "not defined",
        );
    }

    #[test]
    fn types_agree() {
        refused("%x: f32 = add %a, %n", "", "`add` does not make f32 from (f32, i64)");
        refused("%x: f32 = add %a", "", "`add` does not make f32 from (f32)");
        refused(
            "%x: i64 = if true { yield 1:i64 } else { yield %a }",
            "",
            "a branch's value is f32 and should be i64",
        );
        refused("if %a { }", "", "the condition is f32 and should be bool");
        refused("while carry %z: i64 = %a { } test false { next %z }", "", "a first value is f32");
        refused("while carry %z: i64 = %n { } test false { next %a }", "", "a next value is f32");
        refused("for %k: i64 in 0:i32..%n step 1:i64 { }", "", "one integer type");
        refused("for %k: i64 in 0:i64..%n step 0:i64 { }", "", "not positive");
        refused("", "store @w[%i] = %n", "a stored value is i64 and should be f32");
        refused("", "%x: i64 = load @r[%i]", "the memory holds f32, and the variable is i64");
        refused("", "%x: f32 = load @r[%a]", "the index is f32, not an integer");
        refused("parallel %j: i64 < 8:i32 { }", "", "one integer type");
        accepted("", "%j: u32 = cast %i %x: f32 = load @r[%j]");
    }

    #[test]
    fn memory_is_used_as_declared() {
        refused("", "store @r[%i] = %a", "can only be read");
        refused("", "%x: f32 = load @w[%i]", "can only be written");
        refused("", "%x: f32, %y: f32, %z: f32 = load @r[%i]", "1, 2 or 4");
        accepted("%x: f32 = load @r[0:i64]", "%p: f32, %q: f32 = load @r[%i] store @s[%i] = %p, %q, %q, %p");
    }

    #[test]
    fn statements_stand_where_they_may() {
        let store = text("store @w[0:i64] = %a", "");
        assert_eq!(reason(&store).as_deref(), Some("a store outside `parallel`"));
        refused("", "sync", "`sync` inside `parallel`");
        refused("", "parallel %j: i64 < 2:i64 { }", "`parallel` inside `parallel`");
        refused("fail 0 unless true, index 0:i64, bound 0:i64", "", "a `fail` outside `parallel`");
        accepted("for %k: i64 in 0:i64..%n step 1:i64 { sync }", "if true { store @w[%i] = %a }");
        let prologue = text("", "").replace("threads 8", "threads 8 prologue { sync }");
        assert_eq!(reason(&prologue).as_deref(), Some("only lets can stand in the prologue"));
    }

    /// A program with these statements, in a block, in a warp of it and in a lane of that.
    fn warp_text(block: &str, warp: &str, lane: &str) -> String {
        format!(
            "kernel k memory @r: global read i64 memory @w: global readwrite i64 memory @s: shared i64[64]
             memory @p: private i64[2] memory @f: shared f32[1] memory @o: global write i64
             params @r, @w, @o, %n: i64 threads 64
             blocks %block: i64 < 1:i64
             body {{ %small: bool = lt %n, 9:i64 {block}
               warps %warp: i64 < 2:i64 {{ {warp} lanes %lane: i32 < 32:i32 {{ {lane} }} }} }}"
        )
    }

    #[track_caller]
    fn warp_refused(block: &str, warp: &str, lane: &str, expected: &str) {
        let reason = reason(&warp_text(block, warp, lane)).expect("should be refused");
        assert!(reason.contains(expected), "{reason}");
    }

    #[track_caller]
    fn warp_accepted(block: &str, warp: &str, lane: &str) {
        assert_eq!(reason(&warp_text(block, warp, lane)), None);
    }

    #[test]
    fn loops_over_warps_and_lanes_nest() {
        warp_accepted("parallel %i: i64 < 8:i64 { }", "if %small { lanes %l: i64 < 8:i64 { } }", "");
        warp_refused("lanes %l: i64 < 8:i64 { }", "", "", "`lanes` outside `warps`");
        warp_refused("", "warps %v: i64 < 8:i64 { }", "", "`parallel` inside `parallel`");
        warp_refused("", "parallel %i: i64 < 8:i64 { }", "", "`parallel` inside `parallel`");
        warp_refused("", "", "lanes %l: i64 < 8:i64 { }", "`parallel` inside `parallel`");
        warp_refused("parallel %i: i64 < 8:i64 { lanes %l: i64 < 8:i64 { } }", "", "", "inside `parallel`");
        let uneven = warp_text("", "", "").replace("threads 64", "threads 48");
        assert_eq!(reason(&uneven).as_deref(), Some("a block of 48 threads has no whole number of warps"));
    }

    #[test]
    fn threads_act_where_there_are_threads() {
        for (statement, what) in [
            ("store @s[0:i64] = %n", "a store outside"),
            ("fence block", "a `fence` outside"),
            ("atomic add @s[0:i64], %n", "an `atomic` outside"),
            ("%v: i64 = shuffle %n, 0:i32", "`shuffle` outside"),
            ("%v: bool = any %small", "`any` outside"),
            ("%v: i64 = load @p[0:i64]", "private memory `p` outside"),
        ] {
            warp_refused(statement, "", "", what);
            warp_refused("", statement, "", what);
            warp_accepted("", "", statement);
            warp_accepted(&format!("parallel %i: i64 < 8:i64 {{ {statement} }}"), "", "");
        }
        warp_accepted("", "%v: i64 = load @s[0:i64]", "");
    }

    #[test]
    fn atomics_fit_their_memory() {
        let refused = |statement: &str, expected: &str| warp_refused("", "", statement, expected);
        refused("atomic add @p[0:i64], %n", "private memory");
        refused("atomic add @r[0:i64], %n", "can only be read");
        refused("atomic add @o[0:i64], %n", "can only be written");
        refused("%x: i64 = atomic load @o[0:i64]", "can only be written");
        refused("atomic store @r[0:i64], %n", "can only be read");
        refused("atomic add @s[0:i64], 1:i32", "a value is i32 and should be i64");
        refused("%x: i32 = atomic add @s[0:i64], %n", "the memory holds i64");
        refused("atomic add @s[0:i64], %n, %n", "takes 1 values");
        refused("atomic compare_exchange @s[0:i64], %n", "takes 2 values");
        refused("atomic sub @f[0:i64], 1.0:f32", "`atomic sub` does not work on f32");
        refused("atomic load @s[0:i64]", "without a variable");
        refused("%x: i64 = atomic store @s[0:i64], %n", "gives nothing");
        refused("atomic add @s[1.0:f32], %n", "the index is f32");
        for statement in [
            "atomic add @f[0:i32], 1.0:f32",
            "atomic min @f[0:i32], 1.0:f32",
            "%x: f32 = atomic compare_exchange @f[0:i32], 1.0:f32, 2.0:f32",
            "%x: i64 = atomic load @r[%n]",
            "atomic store @o[%n], %n",
            "%x: i64 = atomic compare_exchange @w[%n], 0:i64, %n",
            "atomic xor @s[%lane], %n",
        ] {
            warp_accepted("", "", statement);
        }
    }

    #[test]
    fn collectives_fit_their_operands() {
        let refused = |statement: &str| warp_refused("", "", statement, "does not make");
        refused("%x: i64 = shuffle %n");
        refused("%x: i64 = shuffle %n, %n");
        refused("%x: i32 = shuffle_up %n, 1:i32");
        refused("%x: bool = all %n");
        refused("%x: u32 = any %small");
        refused("%x: bool = ballot %small");
        for statement in [
            "%x: i64 = shuffle_xor %n, %lane",
            "%x: bool = shuffle_down %small, 1:i32",
            "%x: bool = all %small",
            "%x: u32 = ballot %small",
        ] {
            warp_accepted("", "", statement);
        }
    }

    #[test]
    fn every_warp_gets_to_what_warps_do_together() {
        let lane = |text: &str| text.replace("HERE", "%got: i64 = shuffle %n, 0:i32");
        // What is around it is the same for the whole block.
        for around in [
            "if %small { HERE } else { }",
            "%x: i64 = load @r[%block] %c: bool = lt %x, %n if %c { HERE }",
            "for %k: i64 in 0:i64..%n step 1:i64 { HERE }",
            "while carry %k: i64 = 0:i64 { %c: bool = lt %k, %n } test %c { HERE %m: i64 = add %k, 1:i64 next %m }",
        ] {
            warp_accepted("", &around.replace("HERE", "sync warp"), "");
            warp_accepted("", "", &lane(around));
            warp_accepted(&format!("parallel %i: i64 < %n {{ {} }}", lane(around)), "", "");
            warp_accepted(
                "",
                &lane(around).replace("%got", "lanes %l: i64 < %n { %got").replace("0:i32", "0:i32 }"),
                "",
            );
        }
        // It is not.
        for (around, what) in [
            ("%c: bool = lt %warp, 1:i64 if %c { HERE }", "`if` %c"),
            ("%c: bool = lt %warp, 1:i64 if %c { } else { if %small { HERE } }", "`if` %c"),
            (
                "%x: i64 = load @w[%warp] for %k: i64 in 0:i64..%x step 1:i64 { HERE }",
                "`for` with the bound %x",
            ),
            ("for %k: i64 in %warp..%n step 1:i64 { HERE }", "`for` with the bound %warp"),
            (
                "while carry %k: i64 = %warp { %c: bool = lt %k, %n } test %c { HERE %m: i64 = add %k, 1:i64 next %m }",
                "`while` with the condition %c",
            ),
            (
                "while carry %k: i64 = %warp { HERE %c: bool = lt %k, %n } test %c { %m: i64 = add %k, 1:i64 next %m }",
                "`while` with the condition %c",
            ),
        ] {
            let expected = |name: &str| (format!("`{name}` inside {what}"), "from warp to warp");
            let check = |name: &str, text: String| {
                let reason = reason(&text).expect("should be refused");
                let (start, end) = expected(name);
                assert!(reason.starts_with(&start) && reason.contains(end), "{reason}\n{text}");
            };
            check("sync warp", warp_text("", &around.replace("HERE", "sync warp"), ""));
            check("shuffle", warp_text("", "", &lane(&around.replace("@w[", "@r["))));
        }
        for around in
            ["%c: bool = lt %lane, 1:i32 if %c { HERE }", "for %k: i32 in 0:i32..%lane step 1:i32 { HERE }"]
        {
            warp_refused("", "", &lane(around), "may differ from thread to thread");
        }
        warp_refused(
            &lane("parallel %i: i64 < 8:i64 { %c: bool = lt %i, 1:i64 if %c { HERE } }"),
            "",
            "",
            "`shuffle` inside `if` %c",
        );
        // The number of lanes must not differ either; where nothing is done together it may.
        let lanes = "lanes %l: i64 < %warp { HERE }";
        warp_refused("", &lane(lanes), "", "`shuffle` inside a parallel loop with the extent %warp");
        warp_accepted("", lanes.replace("HERE", "store @s[%l] = %l").as_str(), "");
        // What all lanes agree on differs from warp to warp all the same.
        warp_refused("", "", &lane("%all: bool = all %small if %all { HERE }"), "from warp to warp");
    }

    #[test]
    fn barriers_of_warps_stand_in_loops_over_warps() {
        warp_accepted("sync", "sync warp", "");
        warp_refused("sync warp", "", "", "`sync warp` outside `warps`");
        warp_refused("", "sync", "", "`sync` inside `parallel`");
        warp_refused("", "", "sync warp", "`sync` inside `parallel`");
        warp_refused("", "", "sync", "`sync` inside `parallel`");
    }

    #[test]
    fn the_simulator_finds_misplaced_barriers_itself() {
        for (warp, lane) in [
            ("%c: bool = lt %warp, 1:i64 if %c { sync warp }", ""),
            ("", "%c: bool = lt %lane, 1:i32 if %c { %got: i64 = shuffle %n, 0:i32 }"),
            ("", "sync"),
        ] {
            let program = parse(&warp_text("", warp, lane)).unwrap();
            assert!(check(&program).is_err());
            assert_eq!(check_but_barriers(&program), Ok(()));
        }
    }

    #[test]
    fn failures_have_a_place() {
        refused("", "fail 0 unless true, index %i, bound %n", "nowhere to record it");
        let mut program = parse(&text("", "")).unwrap();
        program.failure = Some(Failure { memory: MemoryId(1), base: Var(0) });
        assert!(check(&program).unwrap_err().reason.contains("no `fail`"));
        let with = "kernel k memory @f: global readwrite i64 params @f, %n: i64, %m: i32 failure @f + %n threads 1
            blocks %block: i64 < 1:i64 body { parallel %i: i64 < 1:i64 { fail 0 unless true, index %i, bound %n } }";
        assert_eq!(reason(with), None);
        assert!(reason(&with.replace("@f + %n", "@f + %m")).unwrap().contains("base"));
        assert!(reason(&with.replace("readwrite i64", "readwrite i32")).unwrap().contains("not i64"));
        assert!(reason(&with.replace("fail 0 unless", "%x: i64 = load @f[0:i64] fail 0 unless")).is_some());
        assert!(reason(&with.replace("index %i", "index %m")).unwrap().contains("the index is i32"));
    }

    #[test]
    fn parameters_and_names_are_checked() {
        let change = |change: fn(&mut Program)| {
            let mut program = parse(&text("", "")).unwrap();
            change(&mut program);
            check(&program).unwrap_err().reason
        };
        assert!(change(|program| program.params.truncate(1)).contains("`w` is not a parameter"));
        assert!(change(|program| program.params[1] = Param::Memory(MemoryId(0))).contains("twice"));
        assert!(
            change(|program| program.params[1] = Param::Memory(MemoryId(2))).contains("shared memory `s`")
        );
        assert!(
            change(|program| program.params[1] = Param::Memory(MemoryId(9)))
                .contains("no memory with number 9")
        );
        assert!(
            change(|program| program.memories[1].name = "r".into()).contains("two memories are called `r`")
        );
        assert!(change(|program| program.name = "1".into()).contains("\"1\""));
        assert!(change(|program| program.vars[0].name = "a b".into()).contains("\"a b\""));
        assert!(change(|program| program.threads = 0).contains("no threads"));
        assert!(
            change(|program| program.blocks = Operand::Constant(1u32.into())).contains("number of blocks")
        );
        assert!(
            change(|program| program.blocks = Operand::Var(Var(99))).contains("no variable with number 99")
        );
        assert!(change(|program| program.block = Var(99)).contains("no variable with number 99"));
    }

    #[test]
    fn errors_show_the_statement() {
        let error = check(&parse(&text("%x: f32 = add %a, %n", "")).unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "kernel `k` is not well formed: `add` does not make f32 from (f32, i64) in `%x.3: f32 = add %a.1, %n.0`"
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let mut list = Vec::new();
        for _ in 0..MAX_NESTING + 2 {
            let condition = Operand::Constant(true.into());
            list = vec![Stmt::If { condition, then: list, otherwise: Vec::new(), results: Vec::new() }];
        }
        let mut program = parse(&text("", "")).unwrap();
        program.body = list;
        assert!(check(&program).unwrap_err().reason.contains("nested"));
    }
}
