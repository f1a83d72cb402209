//! Programs as texts of a unit: the entry point with its arguments and memory, the loop over blocks, and what several programs
//! in one text share.

use std::collections::BTreeSet;
use std::sync::Arc;

use pumice_program::{Access, Intervals, Layout, MemoryId, Param, Program, Ranges, Space, Stmt, WARP};
use pumice_scalar::ScalarType;

use crate::access::touches;
use crate::atomics::{Atomic, any_atomic, is_ordering};
use crate::collectives::Exchange;
use crate::dialect::{Argument, Kernel, Language, PrivateArray, SharedArray, Stop, Threads};
use crate::expression::Binding;
use crate::helpers::{self, Helper};
use crate::lanes::{Cell, Lanes};
use crate::names::Names;
use crate::text::Text;
use crate::threads::Predication;
use crate::truth::made_of_truth;
use crate::uses::uses;
use crate::writer::Writer;
use crate::{Dialect, Effort, EmitOptions, Source};

/// A program as text of a unit: its entry point, and what that builds on.
pub(crate) struct Piece {
    kernel: Kernel,
    text: Text,
    helpers: BTreeSet<Helper>,
    function_calls: usize,
    uses_lanes: bool,
    waits_conditionally: bool,
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
        function_calls: 0,
        text: Text::default(),
        predication: Predication::none(program),
        members: String::new(),
        exchange: None,
        lanes: Lanes::default(),
        cell: Cell::default(),
        uses_lanes: false,
        orders_memory: program.body.iter().any(is_ordering),
        waits_conditionally: false,
        made_of_truth: match language.threads() {
            Threads::Lanes => made_of_truth(program),
            _ => vec![false; program.vars.len()],
        },
    };
    writer.exchange = writer.exchange();
    let kernel = writer.kernel(entry, layout);
    writer.body(&kernel);
    let Writer { text, helpers, function_calls, uses_lanes, waits_conditionally, .. } = writer;
    let effort = Effort::of(program);
    Piece { kernel, text, helpers, function_calls, uses_lanes, waits_conditionally, effort }
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
        language.before_helpers(pieces.iter().map(|piece| piece.function_calls).sum(), &mut text);
    }
    helpers::write_all(&helpers, language, options, &mut text);
    for piece in pieces {
        text.line("");
        text.append(&piece.text);
    }
    text.as_str().into()
}

impl Piece {
    /// Returns the source of the program, with the text that contains it.
    pub(crate) fn source(self, text: Arc<str>, dialect: Dialect) -> Source {
        let Piece { kernel, effort, waits_conditionally, .. } = self;
        let exchanged = kernel.exchange.as_ref().map_or(0, Exchange::bytes);
        Source {
            text,
            entry: kernel.entry,
            dialect,
            effort,
            waits_conditionally,
            threads: kernel.threads,
            shared_bytes: kernel.shared_bytes.saturating_add(exchanged),
            dynamic_shared: if kernel.shared_is_dynamic { kernel.shared_bytes } else { 0 },
        }
    }
}

impl Writer<'_> {
    /// Returns the memory that threads without warps need for collectives, if the program has any.
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
        let alone = !self.orders_memory;
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
        let has = |holds: fn(ScalarType) -> bool| {
            program.vars.iter().any(|var| holds(var.ty))
                || program.memories.iter().any(|memory| holds(memory.ty))
        };
        let doubles = has(|ty| ty == ScalarType::F64);
        // Truth values are bytes, and many are loaded as words.
        let small = has(ScalarType::is_small);
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
            resident: program.resident,
            doubles,
            small,
            wide_atomics: program.failure.is_some() || some_atomic(&wide),
            extended_atomics: some_atomic(&extended),
            orders_memory: self.orders_memory,
        }
    }

    fn body(&mut self, kernel: &Kernel) {
        let program = self.program;
        self.language.open(kernel, &mut self.text);
        self.members();
        self.statements(&program.prologue);
        let blocks = self.value(program.blocks).within(Binding::Sum);
        let block = self.name(program.block).to_owned();
        let ty = self.register(program.block);
        let is_wide = program.var_type(program.block) == ScalarType::I64;
        // Being stopped leaves the loop over blocks.
        let is_own = !is_wide
            && kernel.stop.is_none()
            && self.language.open_own_block(ty, &block, &blocks, &mut self.text);
        if is_wide {
            self.language.open_blocks(kernel, &block, &blocks, &mut self.text);
        } else if !is_own {
            // The loop's own index may go beyond the last block, and out of a narrow type.
            let wide = self.names.fresh("wide_block");
            self.language.open_blocks(kernel, &wide, &blocks, &mut self.text);
            self.text.line(&format!("{ty} {block} = ({ty}){wide};"));
        }
        self.stop_before_block();
        for array in &kernel.private {
            self.text.line(&self.language.private(array, kernel.threads));
        }
        self.statements(&program.body);
        // The next block's threads may not write what slower threads of this one still read.
        if let (Some(barrier), false) = (self.language.barrier(), is_own || kernel.shared.is_empty()) {
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
}
