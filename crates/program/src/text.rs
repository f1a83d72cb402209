//! Prints programs: for people ([`Display`](std::fmt::Display)) and as an identity ([`Program::key_text`]).
//!
//! [`mod@crate::parse`] reads the same text back. Printing works on any program, also on one that the verifier would
//! refuse (error messages need that); it must not decide what is well formed.
//!
//! ```text
//! kernel saxpy
//! memory @xs: global read f32
//! memory @out: global write f32
//! memory @scratch: shared f32[256]
//! params @xs, @out, %n.0: i64, %a.1: f32
//! threads 256
//! prologue {
//!   %rounded.2: i64 = add %n.0, 255:i64
//!   %blocks.3: i64 = div %rounded.2, 256:i64
//! }
//! blocks %block.4: i64 < %blocks.3
//! body {
//!   // map at src/main.rs:3
//!   parallel %i.5: i64 < 256:i64 {
//!     %x.6: f32 = load @xs[%i.5]
//!     store @out[%i.5] = %x.6
//!   }
//! }
//! ```
//!
//! A variable is `%name.number`, and its type stands where it is defined. A constant is `value:type`, or `true` and
//! `false`. Values that loops carry and branches give are spelled as in MLIR: `next` ends a loop's body, `yield` ends a
//! branch. An exclamation mark after an operation (`add!`) says that it is exact ([`VarInfo::exact`](crate::VarInfo)).

use std::fmt::{self, Write};

use pumice_scalar::text::lex::escape;
use pumice_scalar::text::print_constant;

use crate::ir::{Access, Carried, MemoryId, Operand, Param, Program, Scope, Space, Stmt, Var, Workers};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Printer::readable(self).program())
    }
}

impl Program {
    /// The program's identity as text: without comments, and with variables and memories named by number in the order
    /// of their definition, so that programs that differ only in names and comments have the same. The name of the
    /// entry point is part of it.
    pub fn key_text(&self) -> String {
        Printer::canonical(self).program()
    }

    /// One statement on one line; of a statement with others inside, the line that opens it. For messages.
    pub fn statement_text(&self, stmt: &Stmt) -> String {
        Printer::readable(self).head(stmt)
    }

    /// An operand as it stands in the text. For messages.
    pub fn operand_text(&self, operand: Operand) -> String {
        Printer::readable(self).operand(operand)
    }
}

struct Printer<'a> {
    program: &'a Program,
    /// Names of the variables, with their `%`.
    vars: Vec<String>,
    /// Names of the memories, with their `@`.
    memories: Vec<String>,
    /// Whether this is for people: comments and variables that nothing defines are printed too.
    readable: bool,
}

impl<'a> Printer<'a> {
    fn readable(program: &'a Program) -> Printer<'a> {
        let vars = program.vars.iter().enumerate();
        let vars = vars.map(|(number, info)| format!("%{}.{number}", identifier(&info.name))).collect();
        let memories =
            program.memories.iter().map(|memory| format!("@{}", identifier(&memory.name))).collect();
        Printer { program, vars, memories, readable: true }
    }

    fn canonical(program: &'a Program) -> Printer<'a> {
        let mut vars = vec!["%undefined".to_owned(); program.vars.len()];
        for (number, var) in definitions(program).into_iter().enumerate() {
            if let Some(name) = vars.get_mut(var.0 as usize) {
                *name = format!("%v.{number}");
            }
        }
        let memories = (0..program.memories.len()).map(|number| format!("@m{number}")).collect();
        Printer { program, vars, memories, readable: false }
    }

    fn program(&self) -> String {
        let program = self.program;
        let mut out = format!("kernel {}\n", identifier(&program.name));
        for (number, memory) in program.memories.iter().enumerate() {
            let name = self.memory(MemoryId(number as u32));
            let ty = memory.ty;
            let _ = match memory.space {
                Space::Global { access } => {
                    let access = match access {
                        Access::Read => "read",
                        Access::Write => "write",
                        Access::ReadWrite => "readwrite",
                    };
                    writeln!(out, "memory {name}: global {access} {ty}")
                }
                Space::Shared { length } => writeln!(out, "memory {name}: shared {ty}[{length}]"),
                Space::Private { length } => writeln!(out, "memory {name}: private {ty}[{length}]"),
            };
        }
        if !program.params.is_empty() {
            let params = program.params.iter().map(|param| match *param {
                Param::Memory(id) => self.memory(id),
                Param::Scalar(var) => self.definition(var),
            });
            let _ = writeln!(out, "params {}", join(params));
        }
        if let Some(failure) = program.failure {
            let _ = writeln!(out, "failure {} + {}", self.memory(failure.memory), self.var(failure.base));
        }
        if let Some(stop) = program.stop {
            let _ = writeln!(out, "stop {}", self.memory(stop));
        }
        if self.readable {
            // So that reading the text back gives the very same program.
            let mut defined = vec![false; program.vars.len()];
            for var in definitions(program) {
                if let Some(defined) = defined.get_mut(var.0 as usize) {
                    *defined = true;
                }
            }
            let spare = (0u32..).map(Var).zip(defined).filter(|(_, defined)| !defined);
            let spare: Vec<String> = spare.map(|(var, _)| self.definition(var)).collect();
            if !spare.is_empty() {
                let _ = writeln!(out, "spare {}", join(spare.into_iter()));
            }
        }
        let _ = writeln!(out, "threads {}", program.threads);
        if program.resident > 1 {
            let _ = writeln!(out, "resident {}", program.resident);
        }
        if !program.prologue.is_empty() {
            out.push_str("prologue {\n");
            self.statements(&mut out, &program.prologue, 1);
            out.push_str("}\n");
        }
        let _ = writeln!(out, "blocks {} < {}", self.definition(program.block), self.operand(program.blocks));
        out.push_str("body {\n");
        self.statements(&mut out, &program.body, 1);
        out.push_str("}\n");
        out
    }

    fn statements(&self, out: &mut String, list: &[Stmt], depth: usize) {
        for stmt in list {
            if !self.readable && matches!(stmt, Stmt::Comment(_)) {
                continue;
            }
            let line = |out: &mut String, text: &str| {
                for _ in 0..depth {
                    out.push_str("  ");
                }
                out.push_str(text);
                out.push('\n');
            };
            let next = |carried: &[Carried]| match carried {
                [] => None,
                _ => Some(format!("  next {}", self.operands(carried.iter().map(|carried| carried.next)))),
            };
            let head = self.head(stmt);
            match stmt {
                Stmt::If { then, otherwise, results, .. } => {
                    let give = |operands: Vec<Operand>| match operands.as_slice() {
                        [] => None,
                        _ => Some(format!("  yield {}", self.operands(operands.into_iter()))),
                    };
                    line(out, &format!("{head} {{"));
                    self.statements(out, then, depth + 1);
                    if let Some(text) = give(results.iter().map(|joined| joined.then).collect()) {
                        line(out, &text);
                    }
                    if !otherwise.is_empty() || !results.is_empty() {
                        line(out, "} else {");
                        self.statements(out, otherwise, depth + 1);
                        if let Some(text) = give(results.iter().map(|joined| joined.otherwise).collect()) {
                            line(out, &text);
                        }
                    }
                    line(out, "}");
                }
                Stmt::For { carried, body, .. } => {
                    line(out, &format!("{head} {{"));
                    self.statements(out, body, depth + 1);
                    if let Some(text) = next(carried) {
                        line(out, &text);
                    }
                    line(out, "}");
                }
                Stmt::While { carried, header, condition, body } => {
                    line(out, &format!("{head} {{"));
                    self.statements(out, header, depth + 1);
                    line(out, &format!("}} test {} {{", self.operand(*condition)));
                    self.statements(out, body, depth + 1);
                    if let Some(text) = next(carried) {
                        line(out, &text);
                    }
                    line(out, "}");
                }
                Stmt::Parallel { body, .. } => {
                    line(out, &format!("{head} {{"));
                    self.statements(out, body, depth + 1);
                    line(out, "}");
                }
                _ => line(out, &head),
            }
        }
    }

    /// The statement without the statements inside it.
    fn head(&self, stmt: &Stmt) -> String {
        match stmt {
            Stmt::Comment(text) if text.is_empty() => "//".to_owned(),
            Stmt::Comment(text) => format!("// {}", escape(text)),
            Stmt::Let { var, op, operands } => {
                // An exclamation mark says that the operation is exact.
                let exact = self.program.vars.get(var.0 as usize).is_some_and(|info| info.exact);
                let op = format!("{}{}", op.name(), if exact { "!" } else { "" });
                format!("{} = {op} {}", self.definition(*var), self.operands(operands.iter().copied()))
            }
            Stmt::Load { vars, memory, index } => format!(
                "{} = load {}[{}]",
                join(vars.iter().map(|&var| self.definition(var))),
                self.memory(*memory),
                self.operand(*index)
            ),
            Stmt::Store { memory, index, values } => format!(
                "store {}[{}] = {}",
                self.memory(*memory),
                self.operand(*index),
                self.operands(values.iter().copied())
            ),
            Stmt::If { condition, results, .. } if results.is_empty() => {
                format!("if {}", self.operand(*condition))
            }
            Stmt::If { condition, results, .. } => format!(
                "{} = if {}",
                join(results.iter().map(|joined| self.definition(joined.var))),
                self.operand(*condition)
            ),
            Stmt::For { var, start, end, step, carried, .. } => format!(
                "for {} in {}..{} step {}{}",
                self.definition(*var),
                self.operand(*start),
                self.operand(*end),
                self.operand(*step),
                self.carried(carried)
            ),
            Stmt::While { carried, .. } => format!("while{}", self.carried(carried)),
            Stmt::Parallel { workers, var, extent, .. } => {
                let word = match workers {
                    Workers::Threads => "parallel",
                    Workers::Warps => "warps",
                    Workers::Lanes => "lanes",
                };
                format!("{word} {} < {}", self.definition(*var), self.operand(*extent))
            }
            Stmt::Sync { scope: Scope::Warp } => "sync warp".to_owned(),
            Stmt::Sync { .. } => "sync".to_owned(),
            Stmt::Fence { scope } => {
                let scope = match scope {
                    Scope::Warp => "warp",
                    Scope::Block => "block",
                    Scope::Grid => "grid",
                };
                format!("fence {scope}")
            }
            Stmt::Atomic { var, op, memory, index, operands } => {
                let result = var.map_or(String::new(), |var| format!("{} = ", self.definition(var)));
                let place = format!("{}[{}]", self.memory(*memory), self.operand(*index));
                let with = match operands.as_slice() {
                    [] => String::new(),
                    _ => format!(", {}", self.operands(operands.iter().copied())),
                };
                format!("{result}atomic {} {place}{with}", op.name())
            }
            Stmt::Collective { var, op, operands } => {
                format!(
                    "{} = {} {}",
                    self.definition(*var),
                    op.name(),
                    self.operands(operands.iter().copied())
                )
            }
            Stmt::Fail { unless, site, index, bound } => format!(
                "fail {site} unless {}, index {}, bound {}",
                self.operand(*unless),
                self.operand(*index),
                self.operand(*bound)
            ),
        }
    }

    fn carried(&self, carried: &[Carried]) -> String {
        if carried.is_empty() {
            return String::new();
        }
        let each = carried
            .iter()
            .map(|carried| format!("{} = {}", self.definition(carried.var), self.operand(carried.initial)));
        format!(" carry {}", join(each))
    }

    fn definition(&self, var: Var) -> String {
        match self.program.vars.get(var.0 as usize) {
            Some(info) => format!("{}: {}", self.var(var), info.ty),
            None => format!("{}: ?", self.var(var)),
        }
    }

    fn var(&self, var: Var) -> String {
        self.vars.get(var.0 as usize).cloned().unwrap_or_else(|| format!("%?.{}", var.0))
    }

    fn memory(&self, id: MemoryId) -> String {
        self.memories.get(id.0 as usize).cloned().unwrap_or_else(|| format!("@?{}", id.0))
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Var(var) => self.var(var),
            Operand::Constant(constant) => print_constant(constant),
        }
    }

    fn operands(&self, operands: impl Iterator<Item = Operand>) -> String {
        join(operands.map(|operand| self.operand(operand)))
    }
}

/// Every variable that the program defines, in the order of the text; one that is defined twice is there twice.
fn definitions(program: &Program) -> Vec<Var> {
    fn list(statements: &[Stmt], found: &mut Vec<Var>) {
        for stmt in statements {
            found.extend(stmt.defines());
            for child in stmt.children() {
                list(child, found);
            }
        }
    }
    let mut found = Vec::new();
    found.extend(program.params.iter().filter_map(|param| match param {
        Param::Scalar(var) => Some(*var),
        Param::Memory(_) => None,
    }));
    list(&program.prologue, &mut found);
    found.push(program.block);
    list(&program.body, &mut found);
    found
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<String>>().join(", ")
}

/// A name as an identifier, so that even a program with odd names prints as text with the right shape.
fn identifier(name: &str) -> String {
    let mut text: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    text
}
