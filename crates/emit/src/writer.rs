//! The walk through a program that writes it down. Everything here holds for all dialects: names, values written into
//! their only user, loops with carried values. What a dialect does differently it is asked for ([`Language`]); how a
//! CPU runs threads that loop is in [`crate::lanes`].

use std::collections::BTreeSet;

use pumice_program::{
    Access, Carried, Intervals, Joined, Layout, MemoryId, Operand, Param, Program, Ranges, Space, Stmt, Var,
};
use pumice_scalar::{Constant, Op, ScalarType};

use crate::dialect::{Argument, Kernel, Language, SharedArray, Threads};
use crate::expression::{Binding, Expression};
use crate::helpers::{self, Helper};
use crate::lanes::Lanes;
use crate::names::Names;
use crate::text::Text;
use crate::uses::{Use, uses};
use crate::{Dialect, MAX_BLOCKS, Options, Source};

/// A value written into its user does at most so many operations: enough for a formula, little enough for a line.
const INLINE_SIZE: u32 = 6;
const INLINE_LENGTH: usize = 72;

/// A program on its way to text.
pub(crate) struct Writer<'a> {
    pub(crate) program: &'a Program,
    pub(crate) language: &'a dyn Language,
    pub(crate) options: &'a Options,
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
    /// How the threads of the parallel loop at hand run together, where one worker runs them.
    pub(crate) lanes: Lanes,
    /// Whether some parallel loop ran in lanes.
    pub(crate) uses_lanes: bool,
}

/// Writes a program.
pub(crate) fn write(
    program: &Program,
    layout: &Layout,
    dialect: Dialect,
    language: &dyn Language,
    options: &Options,
) -> Source {
    let mut names = Names::default();
    let entry = names.fresh(&program.name);
    let memories: Vec<String> = program.memories.iter().map(|memory| names.fresh(&memory.name)).collect();
    let vars: Vec<String> = program.vars.iter().map(|var| names.fresh(&var.name)).collect();
    let arena = names.fresh("shared");
    let mut writer = Writer {
        program,
        language,
        options,
        intervals: intervals(program),
        in_threads: false,
        uses: uses(program, language.loops_over_all_blocks()),
        names,
        vars,
        memories,
        inlined: vec![None; program.vars.len()],
        arena,
        helpers: BTreeSet::new(),
        text: Text::default(),
        lanes: Lanes::default(),
        uses_lanes: false,
    };
    let kernel = writer.kernel(entry, layout);
    writer.body(&kernel);

    let mut text = Text::default();
    text.line(&format!("// {}: {} threads a block. Written by Pumice.", kernel.entry, program.threads));
    language.preamble(&kernel, options, &mut text);
    if writer.uses_lanes {
        crate::lanes::preamble(&mut text);
    }
    if !writer.helpers.is_empty() {
        text.line("");
    }
    helpers::write_all(&writer.helpers, language, options, &mut text);
    text.line("");
    text.append(&writer.text);
    Source { text: text.as_str().to_owned(), entry: kernel.entry, dialect, threads: program.threads }
}

/// What values integers can have, given that there are not too many blocks.
fn intervals(program: &Program) -> Intervals {
    let mut bounded = program.clone();
    let blocks = bounded.add_var(ScalarType::I64, "blocks");
    let operands = vec![program.blocks, Operand::Constant(MAX_BLOCKS.into())];
    bounded.prologue.push(Stmt::Let { var: blocks, op: Op::Min, operands });
    bounded.blocks = Operand::Var(blocks);
    Intervals::of(&bounded, &Ranges::new())
}

impl Writer<'_> {
    fn kernel(&self, entry: String, layout: &Layout) -> Kernel {
        let program = self.program;
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
                },
                Param::Scalar(var) => {
                    Argument { name: self.name(var).to_owned(), ty: program.var_type(var), access: None }
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
        let doubles = program.vars.iter().any(|var| var.ty == ScalarType::F64)
            || program.memories.iter().any(|memory| memory.ty == ScalarType::F64);
        Kernel {
            entry,
            arguments,
            shared,
            shared_bytes: layout.bytes,
            arena: self.arena.clone(),
            threads: program.threads,
            doubles,
            fails: program.failure.is_some(),
        }
    }

    fn body(&mut self, kernel: &Kernel) {
        let program = self.program;
        self.language.open(kernel, &mut self.text);
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
        self.statements(&program.body);
        // The next block's threads may not write what slower threads of this one still read.
        if let (Some(barrier), false) = (self.language.barrier(), kernel.shared.is_empty()) {
            self.text.line(barrier);
        }
        self.text.close();
        self.text.close();
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
            Stmt::For { var, start, end, step, carried, body } => {
                self.define_carried(carried);
                let head = self.for_head(*var, *start, *end, *step);
                self.sink().open(&head);
                self.statements(body);
                self.update(carried);
                self.sink().close();
            }
            Stmt::While { carried, header, condition, body } => {
                self.define_carried(carried);
                self.sink().open("for (;;)");
                self.statements(header);
                let condition = self.value(*condition).within(Binding::Unary);
                self.sink().line(&format!("if (!{condition}) break;"));
                self.statements(body);
                self.update(carried);
                self.sink().close();
            }
            Stmt::Parallel { var, extent, body, .. } => {
                let bound = self.value(*extent).within(Binding::Sum);
                self.in_threads = true;
                match self.language.threads() {
                    Threads::Lanes => self.parallel_lanes(*var, *extent, &bound, body),
                    Threads::Numbered(thread) => self.parallel_numbered(thread, *var, *extent, &bound, body),
                }
                self.in_threads = false;
            }
            Stmt::Fence { .. } | Stmt::Atomic { .. } | Stmt::Collective { .. } => {}
            Stmt::Sync { .. } => {
                if let Some(barrier) = self.language.barrier() {
                    self.text.line(barrier);
                }
            }
            Stmt::Fail { unless, site, index, bound } => {
                let unless = self.value(*unless).within(Binding::Unary);
                let call = self.fail_call(*site, *index, *bound);
                self.sink().line(&format!("if (!{unless}) {call}"));
            }
        }
    }

    /// Writes a comment, which cannot do anything but comment.
    pub(crate) fn comment(&mut self, comment: &str) {
        for line in comment.split(|c: char| c.is_control()) {
            // A backslash at the end would swallow the next line, even with spaces behind it.
            let line = line.trim_end_matches(|c: char| c == '\\' || c.is_whitespace());
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

    fn define_carried(&mut self, carried: &[Carried]) {
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
    }

    fn parallel_numbered(&mut self, thread: &str, var: Var, extent: Operand, bound: &str, body: &[Stmt]) {
        let threads = i128::from(self.program.threads);
        let range = self.intervals.operand(extent);
        let (ty, name) = (self.register(var), self.name(var).to_owned());
        if range.1 > threads {
            self.text.open(&format!("for ({ty} {name} = {thread}; {name} < {bound}; {name} += {threads})"));
            self.statements(body);
        } else {
            self.text.line(&format!("{ty} {name} = {thread};"));
            let guard =
                if range == (threads, threads) { String::new() } else { format!("if ({name} < {bound})") };
            if guard.is_empty() {
                self.text.open_block();
            } else {
                self.text.open(&guard);
            }
            self.statements(body);
        }
        self.text.close();
    }

    fn load(&mut self, vars: &[Var], memory: MemoryId, index: Operand) {
        if vars.iter().all(|var| self.uses[var.0 as usize].count == 0) {
            return;
        }
        let index = self.value(index);
        let array = self.memories[memory.0 as usize].clone();
        let ty = self.program.memory(memory).ty;
        let width = self.access_width(ty, vars.len());
        for (k, chunk) in vars.chunks(width).enumerate() {
            let offset = self.offset(&index, k * width);
            let Some(vector) = self.language.vector(ty, width).filter(|_| width > 1) else {
                let element = Expression::atom(format!("{array}[{}]", offset.text));
                let value = self.guarded(ty, element);
                self.define(chunk[0], &value);
                continue;
            };
            let name = self.names.fresh(&format!("{}_{width}", self.name(chunk[0])));
            let pointer = self.pointer(memory, &vector, &offset);
            self.sink().line(&format!("{vector} {name} = {pointer};"));
            for (var, field) in chunk.iter().zip(["x", "y", "z", "w"]) {
                let field = Expression::atom(format!("{name}.{field}"));
                self.inlined[var.0 as usize] = Some(truth(ty, field));
            }
        }
    }

    fn store(&mut self, memory: MemoryId, index: Operand, values: &[Operand]) {
        let index = self.value(index);
        let array = self.memories[memory.0 as usize].clone();
        let ty = self.program.memory(memory).ty;
        let values: Vec<String> = values.iter().map(|&value| self.value(value).text).collect();
        let width = self.access_width(ty, values.len());
        let guard = self.mask().map(|mask| format!("if ({mask}) ")).unwrap_or_default();
        for (k, chunk) in values.chunks(width).enumerate() {
            let offset = self.offset(&index, k * width);
            let line = match self.language.vector(ty, width).filter(|_| width > 1) {
                Some(vector) => {
                    let pointer = self.pointer(memory, &vector, &offset);
                    format!("{pointer} = {};", self.language.make_vector(&vector, chunk))
                }
                None => format!("{guard}{array}[{}] = {};", offset.text, chunk[0]),
            };
            self.sink().line(&line);
        }
    }

    /// How many elements one access takes.
    fn access_width(&self, ty: ScalarType, count: usize) -> usize {
        let mut width = count;
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

    /// A loaded element, not touched in lanes that are not live.
    fn guarded(&mut self, ty: ScalarType, element: Expression) -> Expression {
        let value = truth(ty, element);
        match self.mask() {
            Some(mask) => {
                let zero = self.constant(Constant::zero(ty), false).text;
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
