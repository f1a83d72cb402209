//! The walk through a program that writes it down. Everything here holds for all dialects: names, values written into
//! their only user, loops with carried values. What a dialect does differently it is asked for ([`Language`]); how
//! threads run is in [`crate::threads`] for GPUs and in [`crate::lanes`] for CPUs.

use std::collections::BTreeSet;
use std::sync::Arc;

use pumice_program::{
    Access, Carried, Intervals, Joined, Layout, Memory, MemoryId, Operand, Param, Program, Ranges, Scope,
    Space, Stmt, Var, WARP, Workers,
};
use pumice_scalar::{Constant, ScalarType};

use crate::atomics::{Atomic, any_atomic, is_ordering};
use crate::collectives::Exchange;
use crate::dialect::{Argument, Kernel, Language, PrivateArray, SharedArray, Stop, Threads};
use crate::expression::{Binding, Expression};
use crate::helpers::{self, Helper};
use crate::lanes::{Cell, Lanes, UNVECTORISED, made_of_truth};
use crate::names::Names;
use crate::text::Text;
use crate::threads::Along;
use crate::uses::{Use, uses};
use crate::{Dialect, Effort, EmitOptions, Source};

/// A value written into its user does at most so many operations: enough for a formula, little enough for a line.
const INLINE_SIZE: u32 = 6;
const INLINE_LENGTH: usize = 72;

/// Loops over private memory of at most so many rounds are unrolled: its elements are registers only where every index
/// is a constant.
const UNROLLED_ROUNDS: i128 = 64;

/// A program on its way to text.
pub(crate) struct Writer<'a> {
    pub(crate) program: &'a Program,
    pub(crate) language: &'a dyn Language,
    pub(crate) options: &'a EmitOptions,
    /// What is known of the values of integers.
    pub(crate) intervals: Intervals,
    pub(crate) uses: Vec<Use>,
    pub(crate) names: Names,
    /// What each value is called.
    vars: Vec<String>,
    /// What each memory is called.
    memories: Vec<String>,
    /// The values that are written where they are used.
    pub(crate) inlined: Vec<Option<Expression>>,
    /// What all shared memory together is called.
    arena: String,
    pub(crate) helpers: BTreeSet<Helper>,
    /// What has been written so far.
    pub(crate) text: Text,
    /// Whether this is inside a parallel loop.
    pub(crate) in_threads: bool,
    /// Whether this is inside a loop over warps.
    pub(crate) in_warps: bool,
    /// What the program is stopped by, if it can be.
    pub(crate) stop: Option<Stop>,
    /// What is known of threads that only come along, where every thread runs the text.
    pub(crate) along: Along,
    /// The lanes of a thread's warp that exist: a mask.
    pub(crate) members: String,
    /// Memory for the exchange of values, where threads have no warps and need some.
    pub(crate) exchange: Option<Exchange>,
    /// How the threads of the parallel loop at hand run together, where one worker runs them.
    pub(crate) lanes: Lanes,
    /// Where the thread at hand finds its part of private memory, where one worker runs them.
    pub(crate) cell: Cell,
    /// Whether some parallel loop ran in lanes.
    pub(crate) uses_lanes: bool,
    /// The integers that are computed from truth values, where one worker runs the threads.
    made_of_truth: Vec<bool>,
}

/// A program as text of a unit: its entry point, and what that builds on.
pub(crate) struct Piece {
    kernel: Kernel,
    text: Text,
    helpers: BTreeSet<Helper>,
    uses_lanes: bool,
    effort: Effort,
}

/// Writes a program whose entry point has this name, or one like it.
pub(crate) fn write(
    program: &Program,
    entry: &str,
    layout: &Layout,
    language: &dyn Language,
    options: &EmitOptions,
) -> Piece {
    let mut names = Names::default();
    let entry = names.fresh(entry);
    let memories: Vec<String> = program.memories.iter().map(|memory| names.fresh(&memory.name)).collect();
    let vars: Vec<String> = program.vars.iter().map(|var| names.fresh(&var.name)).collect();
    let arena = names.fresh("shared");
    let stop = program.stop.map(|stop| Stop {
        record: memories[stop.0 as usize].clone(),
        end: names.fresh("end_time"),
        agreed: names.fresh("stopping"),
    });
    let mut writer = Writer {
        program,
        language,
        options,
        intervals: Intervals::of(program, &Ranges::new()),
        in_threads: false,
        in_warps: false,
        stop,
        uses: uses(program, language.loops_over_all_blocks()),
        names,
        vars,
        memories,
        inlined: vec![None; program.vars.len()],
        arena,
        helpers: BTreeSet::new(),
        text: Text::default(),
        along: Along::default(),
        members: String::new(),
        exchange: None,
        lanes: Lanes::default(),
        cell: Cell::default(),
        uses_lanes: false,
        made_of_truth: match language.threads() {
            Threads::Lanes => made_of_truth(program),
            _ => vec![false; program.vars.len()],
        },
    };
    writer.exchange = writer.exchange();
    let kernel = writer.kernel(entry, layout);
    writer.body(&kernel);
    let Writer { text, helpers, uses_lanes, .. } = writer;
    Piece { kernel, text, helpers, uses_lanes, effort: Effort::of(program) }
}

/// Puts programs together in one text: what they build on stands there once.
pub(crate) fn unite(pieces: &[Piece], language: &dyn Language, options: &EmitOptions) -> Arc<str> {
    let mut text = Text::default();
    for Piece { kernel, .. } in pieces {
        text.line(&format!("// {}: {} threads a block. Written by Pumice.", kernel.entry, kernel.threads));
    }
    let kernels: Vec<&Kernel> = pieces.iter().map(|piece| &piece.kernel).collect();
    language.preamble(&kernels, options, &mut text);
    if pieces.iter().any(|piece| piece.uses_lanes) {
        crate::lanes::preamble(&mut text);
    }
    let helpers: BTreeSet<Helper> = pieces.iter().flat_map(|piece| piece.helpers.iter().copied()).collect();
    if !helpers.is_empty() {
        text.line("");
    }
    helpers::write_all(&helpers, language, options, &mut text);
    for piece in pieces {
        text.line("");
        text.append(&piece.text);
    }
    text.as_str().into()
}

impl Piece {
    /// What there is to know of the program, with the text that it stands in.
    pub(crate) fn source(self, text: Arc<str>, dialect: Dialect) -> Source {
        let Piece { kernel, effort, .. } = self;
        let exchanged = kernel.exchange.as_ref().map_or(0, Exchange::bytes);
        Source {
            text,
            entry: kernel.entry,
            dialect,
            effort,
            threads: kernel.threads,
            shared_bytes: kernel.shared_bytes.saturating_add(exchanged),
            dynamic_shared: if kernel.shared_is_dynamic { kernel.shared_bytes } else { 0 },
        }
    }
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

/// Whether a statement, or one inside it, uses memory.
pub(crate) fn touches(stmt: &Stmt, uses: &dyn Fn(MemoryId) -> bool) -> bool {
    match stmt {
        Stmt::Load { memory, .. } | Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } => uses(*memory),
        stmt => stmt.children().into_iter().flatten().any(|stmt| touches(stmt, uses)),
    }
}

impl Writer<'_> {
    /// What threads without warps need to do something together.
    fn exchange(&mut self) -> Option<Exchange> {
        let joint = self.program.body.iter().any(Stmt::is_warp_collective);
        let Threads::Numbered { warps: false, .. } = self.language.threads() else { return None };
        joint.then(|| Exchange {
            cells: self.names.fresh("cells"),
            count: self.program.threads.next_multiple_of(WARP),
            thread: self.names.fresh("thread"),
        })
    }

    fn kernel(&self, entry: String, layout: &Layout) -> Kernel {
        let program = self.program;
        let alone = !program.body.iter().any(is_ordering);
        let arguments = program
            .params
            .iter()
            .map(|param| match *param {
                Param::Memory(id) => Argument {
                    name: self.memories[id.0 as usize].clone(),
                    ty: program.memory(id).ty,
                    access: match program.memory(id).space {
                        Space::Global { access } => Some(access),
                        Space::Shared { .. } | Space::Private { .. } => Some(Access::ReadWrite),
                    },
                    alone,
                },
                Param::Scalar(var) => {
                    let (name, ty) = (self.name(var).to_owned(), program.var_type(var));
                    Argument { name, ty, access: None, alone }
                }
            })
            .collect();
        let shared = program
            .memories
            .iter()
            .zip(&self.memories)
            .zip(&layout.offsets)
            .filter_map(|((memory, name), offset)| match (memory.space, *offset) {
                (Space::Shared { length }, Some(offset)) => {
                    Some(SharedArray { name: name.clone(), ty: memory.ty, length, offset })
                }
                // Not shared, or never used.
                _ => None,
            })
            .collect();
        let private = program.memories.iter().zip(&self.memories).zip(0..);
        let private = private.filter_map(|((memory, name), number)| match memory.space {
            Space::Private { length } => {
                let used = program.body.iter().any(|stmt| touches(stmt, &|id| id == MemoryId(number)));
                // No dialect has arrays without elements.
                let length = length.max(1);
                used.then(|| PrivateArray { name: name.clone(), ty: memory.ty, length })
            }
            _ => None,
        });
        let wide = |atomic: Atomic| atomic.ty.bytes() == 8;
        let extended = |atomic: Atomic| wide(atomic) && atomic.is_extended();
        let some_atomic =
            |holds: &dyn Fn(Atomic) -> bool| program.body.iter().any(|stmt| any_atomic(program, stmt, holds));
        let doubles = program.vars.iter().any(|var| var.ty == ScalarType::F64)
            || program.memories.iter().any(|memory| memory.ty == ScalarType::F64);
        Kernel {
            entry,
            arguments,
            shared,
            shared_bytes: layout.bytes,
            shared_is_dynamic: layout.bytes > self.language.static_shared_bytes(),
            private: private.collect(),
            exchange: self.exchange.clone(),
            arena: self.arena.clone(),
            stop: self.stop.clone(),
            threads: program.threads,
            doubles,
            wide_atomics: program.failure.is_some() || some_atomic(&wide),
            extended_atomics: some_atomic(&extended),
        }
    }

    fn body(&mut self, kernel: &Kernel) {
        let program = self.program;
        self.language.open(kernel, &mut self.text);
        self.members();
        self.statements(&program.prologue);
        let blocks = self.value(program.blocks).within(Binding::Sum);
        let block = self.name(program.block).to_owned();
        if program.var_type(program.block) == ScalarType::I64 {
            self.language.open_blocks(kernel, &block, &blocks, &mut self.text);
        } else {
            // The loop's own index may go beyond the last block, and out of a narrow type.
            let wide = self.names.fresh("wide_block");
            self.language.open_blocks(kernel, &wide, &blocks, &mut self.text);
            let ty = self.register(program.block);
            self.text.line(&format!("{ty} {block} = ({ty}){wide};"));
        }
        self.stop_before_block();
        for array in &kernel.private {
            self.text.line(&self.language.private(array, kernel.threads));
        }
        self.statements(&program.body);
        // The next block's threads may not write what slower threads of this one still read.
        if let (Some(barrier), false) = (self.language.barrier(), kernel.shared.is_empty()) {
            self.text.line(barrier);
        }
        self.text.close();
        self.text.close();
    }

    /// Says which lanes of a warp exist, where some may not.
    fn members(&mut self) {
        let Threads::Numbered { thread, warps: true } = self.language.threads() else { return };
        let (threads, all) = (self.program.threads, "0xffffffffu");
        let some = format!("{:#x}u", u32::MAX >> (WARP - threads % WARP).min(WARP - 1));
        self.members = match (threads.is_multiple_of(WARP), threads < WARP) {
            (true, _) => all.to_owned(),
            (false, true) => some,
            (false, false) if !self.program.body.iter().any(Stmt::is_warp_collective) => return,
            (false, false) => {
                let members = self.names.fresh("members");
                let whole = threads / WARP * WARP;
                self.text.line(&format!("u32 {members} = {thread} < {whole} ? {all} : {some};"));
                members
            }
        };
    }

    /// What a value is called.
    pub(crate) fn name(&self, var: Var) -> &str {
        &self.vars[var.0 as usize]
    }

    /// The type of a value in a register.
    pub(crate) fn register(&self, var: Var) -> &'static str {
        self.language.register(self.program.var_type(var))
    }

    /// An operand as an expression.
    pub(crate) fn value(&mut self, operand: Operand) -> Expression {
        match operand {
            Operand::Constant(constant) => self.constant(constant, false),
            Operand::Var(var) => match &self.inlined[var.0 as usize] {
                Some(expression) => expression.clone(),
                None => Expression { reads: vec![var], ..Expression::atom(self.place(var)) },
            },
        }
    }

    /// An operand as an expression that has its type, whatever it is combined with.
    pub(crate) fn typed_value(&mut self, operand: Operand) -> Expression {
        match operand {
            Operand::Constant(constant) => self.constant(constant, true),
            operand => self.value(operand),
        }
    }

    /// Nothing, of a type.
    pub(crate) fn zero(&mut self, ty: ScalarType) -> Expression {
        self.constant(Constant::zero(ty), false)
    }

    /// Where a value lives: its name, or its lane of an array.
    pub(crate) fn place(&mut self, var: Var) -> String {
        self.lane_place(var)
    }

    /// The text that statements are added to.
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

    /// Writes statements one after the other.
    pub(crate) fn statements(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.statement(stmt);
        }
    }

    /// Writes a statement as one thread (or the block) does it.
    pub(crate) fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            stmt if self.keeps_out(stmt) => self.kept_out(stmt),
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
                let unless = self.value(*unless).within(Binding::Unary);
                let call = self.fail_call(*site, *index, *bound);
                let guard = self.guard_of(&[]).map(|guard| format!("{guard} & ")).unwrap_or_default();
                self.sink().line(&format!("if ({guard}!{unless}) {call}"));
            }
        }
    }

    /// Writes a loop, whose carried values are defined.
    pub(crate) fn repetition(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For { var, start, end, step, carried, body } => {
                if let Some(unroll) = self.language.unroll().filter(|_| self.is_unrolled(stmt)) {
                    self.sink().line(unroll);
                }
                let head = self.for_head(*var, *start, *end, *step);
                self.sink().open(&head);
                self.statements(body);
                self.update(carried);
                self.sink().close();
            }
            Stmt::While { carried, header, condition, body } => {
                self.sink().open("for (;;)");
                self.statements(header);
                let condition = self.value(*condition).within(Binding::Unary);
                let stopped = self.or_stopped(stmt);
                self.sink().line(&format!("if (!{condition}{stopped}) break;"));
                self.statements(body);
                self.update(carried);
                self.sink().close();
            }
            _ => {}
        }
    }

    /// Whether a loop goes through private memory, in few rounds that are known.
    fn is_unrolled(&self, stmt: &Stmt) -> bool {
        let Stmt::For { start, end, step, .. } = stmt else { return false };
        let [start, end, step] = [start, end, step].map(|&operand| self.intervals.operand(operand));
        let known = [start, end, step].iter().all(|range| range.0 == range.1);
        known && end.0 - start.0 <= UNROLLED_ROUNDS * step.0 && self.uses_private(stmt)
    }

    /// Whether a statement, or one inside it, uses private memory.
    pub(crate) fn uses_private(&self, stmt: &Stmt) -> bool {
        touches(stmt, &|id| matches!(self.program.memory(id).space, Space::Private { .. }))
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

    /// `for (…)` without its brace.
    pub(crate) fn for_head(&mut self, var: Var, start: Operand, end: Operand, step: Operand) -> String {
        let start = self.value(start).text;
        let end = self.value(end).within(Binding::Sum);
        let (ty, name) = (self.register(var), self.name(var).to_owned());
        let advance = self.advance(&name, step);
        format!("for ({ty} {name} = {start}; {name} < {end}; {advance})")
    }

    /// `k++` or `k += step`.
    pub(crate) fn advance(&mut self, name: &str, step: Operand) -> String {
        match step {
            Operand::Constant(step) if step.as_integer() == Some(1) => format!("{name}++"),
            step => format!("{name} += {}", self.value(step).text),
        }
    }

    pub(crate) fn define_carried(&mut self, carried: &[Carried]) {
        for carried in carried {
            let initial = self.value(carried.initial);
            self.define(carried.var, &initial);
        }
    }

    fn update(&mut self, carried: &[Carried]) {
        let next: Vec<(Var, Expression)> =
            carried.iter().map(|carried| (carried.var, self.value(carried.next))).collect();
        self.assign_at_once(next, None);
    }

    /// Assigns all values at once: in an order in which nobody reads what was just overwritten, through temporaries
    /// where there is no such order. With a mask, values change only where it holds.
    pub(crate) fn assign_at_once(&mut self, mut assignments: Vec<(Var, Expression)>, mask: Option<&str>) {
        assignments.retain(|(var, value)| value.text != self.place(*var));
        while !assignments.is_empty() {
            let free = (0..assignments.len()).find(|&k| {
                let var = assignments[k].0;
                assignments.iter().enumerate().all(|(j, (_, value))| j == k || !value.reads.contains(&var))
            });
            match free {
                Some(k) => {
                    let (var, value) = assignments.remove(k);
                    self.assign(var, &value, mask);
                }
                None => {
                    let (var, value) = &mut assignments[0];
                    let temporary = self.names.fresh(&format!("next_{}", self.vars[var.0 as usize]));
                    let ty = self.language.register(self.program.var_type(*var));
                    let line = format!("{ty} {temporary} = {};", value.text);
                    *value = Expression::atom(temporary);
                    self.sink().line(&line);
                }
            }
        }
    }

    /// Assigns a value that has been declared.
    pub(crate) fn assign(&mut self, var: Var, value: &Expression, mask: Option<&str>) {
        let place = self.place(var);
        let line = match mask {
            Some(mask) => format!("{place} = {mask} ? {} : {place};", value.within(Binding::Or)),
            None => format!("{place} = {};", value.text),
        };
        self.sink().line(&line);
    }

    fn branch(&mut self, condition: Operand, then: &[Stmt], otherwise: &[Stmt], results: &[Joined]) {
        let condition = self.value(condition);
        if then.is_empty() && otherwise.is_empty() {
            for joined in results {
                let (a, b) = (self.value(joined.then), self.value(joined.otherwise));
                let text = format!(
                    "{} ? {} : {}",
                    condition.within(Binding::Or),
                    a.within(Binding::Or),
                    b.within(Binding::Or)
                );
                self.define(joined.var, &Expression::atom(text));
            }
            return;
        }
        for joined in results {
            self.declare(joined.var);
        }
        self.branches(&condition, then, otherwise, results);
    }

    /// Writes a branch, whose results are declared.
    pub(crate) fn branches(
        &mut self,
        condition: &Expression,
        then: &[Stmt],
        otherwise: &[Stmt],
        results: &[Joined],
    ) {
        self.sink().open(&format!("if ({})", condition.text));
        self.statements(then);
        for joined in results {
            let value = self.value(joined.then);
            self.assign(joined.var, &value, None);
        }
        if !otherwise.is_empty() || !results.is_empty() {
            self.sink().reopen("else");
            self.statements(otherwise);
            for joined in results {
                let value = self.value(joined.otherwise);
                self.assign(joined.var, &value, None);
            }
        }
        self.sink().close();
        self.end_branch(then.iter().chain(otherwise));
    }

    pub(crate) fn load(&mut self, vars: &[Var], memory: MemoryId, index: Operand) {
        if vars.iter().all(|var| self.uses[var.0 as usize].count == 0) {
            return;
        }
        if matches!(index, Operand::Var(var) if self.made_of_truth[var.0 as usize]) {
            self.sink().line(UNVECTORISED);
        }
        let index = self.value(index);
        let ty = self.program.memory(memory).ty;
        let width = self.access_width(memory, vars.len());
        let guard = self.guard_of(vars);
        for (k, chunk) in vars.chunks(width).enumerate() {
            let offset = self.offset(&index, k * width);
            let Some(vector) = self.language.vector(ty, width).filter(|_| width > 1) else {
                let element = Expression::atom(self.element(memory, &offset));
                let value = self.guarded(ty, element, guard.as_deref());
                self.define(chunk[0], &value);
                continue;
            };
            let name = self.names.fresh(&format!("{}_{width}", self.name(chunk[0])));
            let pointer = self.pointer(memory, &vector, &offset);
            match &guard {
                Some(guard) => {
                    let zeros = vec![self.zero(ty).text; width];
                    let zeros = self.language.make_vector(&vector, &zeros);
                    self.sink().line(&format!("{vector} {name} = {zeros};"));
                    self.sink().line(&format!("if ({guard}) {name} = {pointer};"));
                }
                None => self.sink().line(&format!("{vector} {name} = {pointer};")),
            }
            for (var, field) in chunk.iter().zip(["x", "y", "z", "w"]) {
                let field = Expression::atom(format!("{name}.{field}"));
                self.inlined[var.0 as usize] = Some(truth(ty, field));
            }
        }
    }

    fn store(&mut self, memory: MemoryId, index: Operand, values: &[Operand]) {
        let index = self.value(index);
        let ty = self.program.memory(memory).ty;
        let values: Vec<String> = values.iter().map(|&value| self.value(value).text).collect();
        let width = self.access_width(memory, values.len());
        let guard = self.guard_of(&[]).map(|guard| format!("if ({guard}) ")).unwrap_or_default();
        for (k, chunk) in values.chunks(width).enumerate() {
            let offset = self.offset(&index, k * width);
            let line = match self.language.vector(ty, width).filter(|_| width > 1) {
                Some(vector) => {
                    let pointer = self.pointer(memory, &vector, &offset);
                    format!("{guard}{pointer} = {};", self.language.make_vector(&vector, chunk))
                }
                None => format!("{guard}{} = {};", self.element(memory, &offset), chunk[0]),
            };
            self.sink().line(&line);
        }
    }

    /// An element of memory.
    pub(crate) fn element(&mut self, memory: MemoryId, index: &Expression) -> String {
        let array = self.memories[memory.0 as usize].clone();
        let element = format!("{array}[{}]", index.text);
        match (self.program.memory(memory).space, self.language.threads()) {
            // One worker has the memory of all threads.
            (Space::Private { .. }, Threads::Lanes) => format!("{element}[{}]", self.cell_place()),
            _ => element,
        }
    }

    /// How many elements one access takes.
    fn access_width(&self, memory: MemoryId, count: usize) -> usize {
        let &Memory { ty, space, .. } = self.program.memory(memory);
        // Registers have no addresses.
        let mut width = if let Space::Private { .. } = space { 1 } else { count };
        while width > 1 && self.language.vector(ty, width).is_none() {
            width /= 2;
        }
        width
    }

    /// `index + distance`, which the program has promised to be within bounds.
    fn offset(&self, index: &Expression, distance: usize) -> Expression {
        if distance == 0 {
            return index.clone();
        }
        if let Ok(constant) = index.text.parse::<u64>() {
            return Expression::atom((constant + distance as u64).to_string());
        }
        let text = format!("{} + {distance}", index.within(Binding::Sum));
        Expression { binding: Binding::Sum, ..Expression::atom(text) }
    }

    fn pointer(&self, memory: MemoryId, vector: &str, offset: &Expression) -> String {
        let (shared, constant) = match self.program.memory(memory).space {
            Space::Shared { .. } | Space::Private { .. } => (true, ""),
            Space::Global { access: Access::Read } => (false, "const "),
            Space::Global { .. } => (false, ""),
        };
        let space = self.language.space(shared);
        let array = &self.memories[memory.0 as usize];
        format!("*({space}{constant}{vector} *)({array} + {})", offset.within(Binding::Product))
    }

    /// A loaded element, not touched where the guard does not hold.
    fn guarded(&mut self, ty: ScalarType, element: Expression, guard: Option<&str>) -> Expression {
        let value = truth(ty, element);
        match guard {
            Some(mask) => {
                let zero = self.zero(ty).text;
                let text = format!("{mask} ? {} : {zero}", value.within(Binding::Or));
                Expression { binding: Binding::Conditional, ..Expression::atom(text) }
            }
            None => value,
        }
    }
}

/// What a byte in memory says.
fn truth(ty: ScalarType, element: Expression) -> Expression {
    if ty != ScalarType::Bool {
        return element;
    }
    let text = format!("{} != 0", element.text);
    Expression { binding: Binding::Equality, ..Expression::atom(text) }
}
