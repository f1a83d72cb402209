//! The walk through a program that writes it down. Everything here holds for all dialects: names, values written into
//! their only user, statements. The writer asks [`Language`] for what a dialect does differently; how
//! threads run is in [`crate::threads`] for GPUs and in [`crate::lanes`] for CPUs.

use std::collections::BTreeSet;

use pumice_program::{Intervals, Operand, Program, Scope, Stmt, Var, Workers};
use pumice_scalar::{Constant, ScalarType};

use crate::EmitOptions;
use crate::collectives::Exchange;
use crate::dialect::{Language, Stop, Threads};
use crate::expression::{Binding, Expression};
use crate::helpers::Helper;
use crate::lanes::{Cell, Lanes};
use crate::names::Names;
use crate::text::Text;
use crate::threads::{Predication, waits};
use crate::uses::Use;

/// Maximum number of operations of a value that is written into its user: enough for a formula, little enough for a line.
const INLINE_SIZE: u32 = 6;
const INLINE_LENGTH: usize = 72;

/// A program on its way to text.
pub(crate) struct Writer<'a> {
    pub(crate) program: &'a Program,
    pub(crate) language: &'a dyn Language,
    pub(crate) options: &'a EmitOptions,
    /// Ranges of the values of integers.
    pub(crate) intervals: Intervals,
    pub(crate) uses: Vec<Use>,
    pub(crate) names: Names,
    /// Names of the values.
    pub(crate) vars: Vec<String>,
    /// Names of the memories.
    pub(crate) memories: Vec<String>,
    /// The values that are written where they are used.
    pub(crate) inlined: Vec<Option<Expression>>,
    /// Name of all shared memory together.
    pub(crate) arena: String,
    pub(crate) helpers: BTreeSet<Helper>,
    /// Number of calls of mathematical functions of the prelude.
    pub(crate) function_calls: usize,
    /// Text written so far.
    pub(crate) text: Text,
    /// Whether this is inside a parallel loop.
    pub(crate) in_threads: bool,
    /// Whether this is inside a loop over warps.
    pub(crate) in_warps: bool,
    /// Names that the program needs to be stopped, if it can be.
    pub(crate) stop: Option<Stop>,
    /// Predication of threads, where every thread runs the text.
    pub(crate) predication: Predication,
    /// The lanes of a thread's warp that exist: a mask.
    pub(crate) members: String,
    /// Memory for the exchange of values, where threads have no warps and need some.
    pub(crate) exchange: Option<Exchange>,
    /// State of the current strip, where one worker runs the threads.
    pub(crate) lanes: Lanes,
    /// Position of the current thread's private memory, where one worker runs the threads.
    pub(crate) cell: Cell,
    /// Whether some parallel loop ran in lanes.
    pub(crate) uses_lanes: bool,
    /// Whether anything in the program orders what threads see of each other's writes.
    pub(crate) orders_memory: bool,
    /// Whether threads wait for each other on both sides of a branch, or in a `while` loop.
    pub(crate) waits_conditionally: bool,
    /// The integers that are computed from truth values, where one worker runs the threads.
    pub(crate) made_of_truth: Vec<bool>,
}

/// Returns a character of a comment as it may stand in source text: itself, if no dialect gives it a meaning of its own
/// there. A comment is not part of a kernel's key, so it must not change what the text around it means: `\` and the
/// trigraph `??/` would join a line and the next one, and what is not ASCII may break or reorder lines.
fn plain(character: char) -> char {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => character,
        ' ' | '_' | '-' | '+' | '=' | '.' | ',' | ':' | ';' | '/' | '<' | '>' | '(' | ')' | '[' | ']'
        | '{' | '}' => character,
        '!' | '#' | '%' | '&' | '|' | '^' | '~' | '@' | '$' | '\'' | '"' => character,
        _ => '_',
    }
}

impl Writer<'_> {
    /// Returns the name of a value.
    pub(crate) fn name(&self, var: Var) -> &str {
        &self.vars[var.0 as usize]
    }

    /// Returns the type of a value in a register.
    pub(crate) fn register(&self, var: Var) -> &'static str {
        self.language.register(self.program.var_type(var))
    }

    /// Returns an operand as an expression.
    pub(crate) fn value(&mut self, operand: Operand) -> Expression {
        match operand {
            Operand::Constant(constant) => self.constant(constant, false),
            Operand::Var(var) => match &self.inlined[var.0 as usize] {
                Some(expression) => expression.clone(),
                None => Expression { reads: vec![var], ..Expression::atom(self.place(var)) },
            },
        }
    }

    /// Returns an operand as an expression that has its type, whatever it is combined with.
    pub(crate) fn typed_value(&mut self, operand: Operand) -> Expression {
        match operand {
            Operand::Constant(constant) => self.constant(constant, true),
            operand => self.value(operand),
        }
    }

    /// Returns zero of a type.
    pub(crate) fn zero(&mut self, ty: ScalarType) -> Expression {
        self.constant(Constant::zero(ty), false)
    }

    /// Returns the place of a value: its name, or its lane of an array.
    pub(crate) fn place(&mut self, var: Var) -> String {
        self.lane_place(var)
    }

    /// Returns the text that statements are added to.
    pub(crate) fn sink(&mut self) -> &mut Text {
        match self.lanes.sink() {
            Some(text) => text,
            None => &mut self.text,
        }
    }

    /// Gives a value its name.
    pub(crate) fn define(&mut self, var: Var, value: &Expression) {
        if self.declare_lanes(var) {
            let place = self.place(var);
            self.sink().line(&format!("{place} = {};", value.text));
            return;
        }
        let line = format!("{} {} = {};", self.register(var), self.name(var), value.text);
        self.sink().line(&line);
    }

    /// Declares a value that is assigned later.
    pub(crate) fn declare(&mut self, var: Var) {
        if self.declare_lanes(var) {
            return;
        }
        let line = format!("{} {};", self.register(var), self.name(var));
        self.sink().line(&line);
    }

    /// Writes statements one after the other. A failure and then what is done without one become the two sides of one branch:
    /// compilers do not see by themselves that they are.
    pub(crate) fn statements(&mut self, list: &[Stmt]) {
        let mut rest = list;
        while let [stmt, after @ ..] = rest {
            rest = after;
            match (stmt, after) {
                (
                    Stmt::Fail { unless, site, index, bound },
                    [branch @ Stmt::If { condition, then, otherwise, results }, later @ ..],
                ) if unless == condition
                    && otherwise.is_empty()
                    && results.is_empty()
                    && !self.is_predicated(branch)
                    && !then.iter().any(waits) =>
                {
                    let unless = Operand::Constant(Constant::zero(ScalarType::Bool));
                    let fail = Stmt::Fail { unless, site: *site, index: *index, bound: *bound };
                    self.branch(*condition, then, &[fail], &[]);
                    rest = later;
                }
                _ => self.statement(stmt),
            }
        }
    }

    /// Writes a statement as one thread (or the block) does it.
    pub(crate) fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            stmt if self.is_predicated(stmt) => self.write_predicated(stmt),
            stmt if self.is_joint(stmt) => self.write_joint(stmt),
            Stmt::Comment(comment) => self.comment(comment),
            Stmt::Let { var, op, operands } => {
                let usage = self.uses[var.0 as usize];
                if usage.count == 0 {
                    return;
                }
                let value = self.operation(*var, *op, operands);
                if usage.inlinable
                    && value.size <= INLINE_SIZE
                    && value.text.len() <= INLINE_LENGTH
                    && self.may_inline(*var)
                {
                    self.inlined[var.0 as usize] = Some(value);
                } else {
                    self.define(*var, &value);
                }
            }
            Stmt::Load { vars, memory, index } => self.load(vars, *memory, *index),
            Stmt::Store { memory, index, values } => self.store(*memory, *index, values),
            Stmt::If { condition, then, otherwise, results } => {
                self.branch(*condition, then, otherwise, results);
            }
            Stmt::For { carried, .. } | Stmt::While { carried, .. } => {
                self.define_carried(carried);
                self.repetition(stmt);
            }
            Stmt::Parallel { workers, var, extent, body } => {
                let outer = std::mem::replace(&mut self.in_threads, *workers != Workers::Warps);
                let outer_warps = std::mem::replace(&mut self.in_warps, *workers != Workers::Threads);
                match self.language.threads() {
                    Threads::Lanes => self.parallel_lanes(*workers, *var, *extent, body),
                    Threads::Numbered { .. } => self.parallel_numbered(*workers, *var, *extent, body),
                }
                (self.in_threads, self.in_warps) = (outer, outer_warps);
            }
            Stmt::Fence { scope } => {
                if let Some(fence) = self.language.fence(*scope) {
                    let guard = self.guard_of(&[]).map(|guard| format!("if ({guard}) ")).unwrap_or_default();
                    self.lanes.order();
                    self.sink().line(&format!("{guard}{fence}"));
                }
            }
            Stmt::Atomic { var, op, memory, index, operands } => {
                self.atomic(*var, *op, *memory, *index, operands);
            }
            Stmt::Collective { var, op, operands } => self.collective(*var, *op, operands),
            Stmt::Sync { scope } => {
                let barrier = match scope {
                    Scope::Warp => self.language.warp_barrier(),
                    _ => self.language.barrier(),
                };
                if let Some(barrier) = barrier {
                    self.text.line(barrier);
                }
            }
            Stmt::Fail { unless, site, index, bound } => {
                let always = *unless == Operand::Constant(Constant::zero(ScalarType::Bool));
                let fails = (!always).then(|| format!("!{}", self.value(*unless).within(Binding::Unary)));
                let call = self.fail_call(*site, *index, *bound);
                let conditions: Vec<String> = self.guard_of(&[]).into_iter().chain(fails).collect();
                match conditions.as_slice() {
                    [] => self.sink().line(&call),
                    conditions => self.sink().line(&format!("if ({}) {call}", conditions.join(" & "))),
                }
            }
        }
    }

    /// Writes a comment, which cannot do anything but comment.
    pub(crate) fn comment(&mut self, comment: &str) {
        for line in comment.lines() {
            let line: String = line.chars().map(plain).collect();
            self.sink().line(format!("// {line}").trim_end());
        }
    }

    /// The call that keeps a failure.
    pub(crate) fn fail_call(&mut self, site: u32, index: Operand, bound: Operand) -> String {
        let Some(failure) = self.program.failure else {
            return String::from(";");
        };
        self.helpers.insert(Helper::Fail);
        let memory = self.memories[failure.memory.0 as usize].clone();
        let base = self.name(failure.base).to_owned();
        let (index, bound) = (self.value(index).text, self.value(bound).text);
        let code = i64::from(site) + 1;
        format!("{}({memory}, {base} + {code}, {index}, {bound});", Helper::Fail.name())
    }
}
