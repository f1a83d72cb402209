//! The verifier: decides which programs are well formed, and gives a witness for those that are.
//!
//! A [`Verified`] can only be made by [`verify`], so code that takes one (the emitter, the devices) need not check again.
//! The verifier must not panic on any program whatsoever, must not change a program, and must not judge what depends on
//! a device: that is for [`crate::passes::legalise`] to say.
//!
//! This file has the witness, the errors and the order of the checks. `signature.rs` checks names, parameters and the
//! records of failures and stops; `scoping.rs` which values can be read where, and their types; `statements.rs` each
//! statement; `convergence.rs` that all lanes of a warp, or none, reach what they do together.

mod convergence;
mod scoping;
mod signature;
mod statements;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Deref;

use crate::ir::{Program, Stmt, Var};
use crate::uniform::Uniformity;

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

/// Reason for which a program is not well formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The name of the program.
    pub program: String,
    /// The statement as text, if it is about one.
    pub statement: Option<String>,
    /// Source location: the comment in force there, if there is one.
    pub place: Option<String>,
    /// Description of the error.
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

/// Context of a statement.
#[derive(Clone, Copy)]
struct Place {
    /// Execution scope.
    scope: ExecutionScope,
    depth: usize,
}

/// Execution scope of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExecutionScope {
    /// The block as a whole.
    Block,
    /// A warp as a whole.
    Warp,
    /// A thread.
    Thread,
}

struct Checker<'a> {
    program: &'a Program,
    /// Whether barriers must be outside parallel loops, and those of a warp and collectives where all its lanes get.
    barriers: bool,
    /// Per variable: whether a definition was seen.
    defined: Vec<bool>,
    /// Per variable: whether it can be read at the current place.
    visible: Vec<bool>,
    /// The visible variables in the order in which they became so.
    in_scope: Vec<Var>,
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
            in_scope: Vec::new(),
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
                Stmt::Let { .. } => self.statement(stmt, Place { scope: ExecutionScope::Block, depth: 0 })?,
                _ => return self.error("only lets can stand in the prologue"),
            }
        }
        self.current = None;
        self.signed(program.blocks, "the number of blocks")?;
        let block = self.define(program.block)?;
        if !block.is_signed() {
            return self.error(format!("the index of the block is {block}, not a signed integer"));
        }
        self.statements(&program.body, Place { scope: ExecutionScope::Block, depth: 0 })?;
        self.current = None;
        self.failure()?;
        self.stop()?;
        match self.barriers && self.together {
            true => self.reached_by_all(&program.body, &Uniformity::of(program), None),
            false => Ok(()),
        }
    }
}
