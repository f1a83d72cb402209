//! Prefetching: a loop around lanes that does nothing but read and compute asks for what it will read some rounds later.
//!
//! Such a loop (a fold of a long row) goes as fast as memory does, and a processor's own prefetcher stops at the end of
//! every page. Asking costs an instruction per cache line; a dot product of 2^24 elements took an eighth less time.

use std::collections::HashSet;

use pumice_program::{MemoryId, Operand, Space, Stmt, Var};

use crate::expression::Binding;
use crate::writer::Writer;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Prefetch distance, in bytes of one array: a few times what memory delivers within its latency.
const AHEAD: usize = 2048;

impl Writer<'_> {
    /// Writes the prefetches of a loop's round, if it is one that gains by them; the loop is open, and its body follows.
    pub(super) fn prefetch(&mut self, var: Var, [start, end, step]: [Operand; 3], body: &[Stmt]) {
        let is = |operand: Operand, number: i128| match operand {
            Operand::Constant(constant) => constant.as_integer() == Some(number),
            Operand::Var(_) => false,
        };
        let plain = |stmt: &Stmt| matches!(stmt, Stmt::Comment(_) | Stmt::Let { .. } | Stmt::Load { .. });
        if !is(start, 0) || !is(step, 1) || self.lanes.mask.is_some() || !body.iter().all(plain) {
            return;
        }
        let loads = self.streams(var, body);
        let bytes = loads.iter().map(|(memory, _)| self.program.memory(*memory).ty.bytes()).max();
        let Some(bytes) = bytes else { return };
        let width = self.lanes.width.parse().unwrap_or(64);
        let rounds = (AHEAD / (bytes * width).max(1)).max(1);

        // The numbers of this round are those of a later one within these braces: indices that the loop itself will
        // have, and none beyond its end.
        let inlined = self.inlined.clone();
        let (ty, name) = (self.register(var), self.name(var).to_owned());
        let ahead = self.names.fresh("ahead");
        let end = self.value(end).within(Binding::Sum);
        self.text.open_block();
        self.text.line(&format!("{ty} {ahead} = {end} - {name} > {rounds} ? {name} + {rounds} : {name};"));
        self.text.open_block();
        self.text.line(&format!("{ty} {name} = {ahead};"));
        let needed = needed(&loads, body);
        for stmt in body {
            if matches!(stmt, Stmt::Let { var, .. } if needed.contains(var)) {
                self.lane_statement(stmt);
            }
        }
        for (memory, index) in loads {
            let element = self.inside(|writer| {
                let index = writer.value(index);
                writer.element(memory, &index)
            });
            self.lane_line(&format!("__builtin_prefetch(&{element});"));
        }
        self.finish_piece_by((LINE / bytes).max(1));
        self.text.close();
        self.text.close();
        self.inlined = inlined;
    }

    /// The memories that a loop reads at indices which differ from lane to lane and from round to round, and which it
    /// computes without reading anything.
    fn streams(&self, var: Var, body: &[Stmt]) -> Vec<(MemoryId, Operand)> {
        let (mut advances, mut read) = (HashSet::from([var]), HashSet::new());
        let mut loads = Vec::new();
        let among = |operand: &Operand, vars: &HashSet<Var>| matches!(operand, Operand::Var(var) if vars.contains(var));
        for stmt in body {
            match stmt {
                Stmt::Let { var, operands, .. } => {
                    if operands.iter().any(|operand| among(operand, &advances)) {
                        advances.insert(*var);
                    }
                    if operands.iter().any(|operand| among(operand, &read)) {
                        read.insert(*var);
                    }
                }
                Stmt::Load { vars, memory, index } => {
                    read.extend(vars.iter().copied());
                    let global = matches!(self.program.memory(*memory).space, Space::Global { .. });
                    if global && among(index, &advances) && !among(index, &read) && self.lanes.varies(*index)
                    {
                        loads.push((*memory, *index));
                    }
                }
                _ => {}
            }
        }
        loads
    }
}

/// The values of a loop's body that the indices of these loads are computed from.
fn needed(loads: &[(MemoryId, Operand)], body: &[Stmt]) -> HashSet<Var> {
    let var = |operand: &Operand| match operand {
        Operand::Var(var) => Some(*var),
        Operand::Constant(_) => None,
    };
    let mut needed: HashSet<Var> = loads.iter().filter_map(|(_, index)| var(index)).collect();
    for stmt in body.iter().rev() {
        if let Stmt::Let { var: defined, operands, .. } = stmt
            && needed.contains(defined)
        {
            needed.extend(operands.iter().filter_map(var));
        }
    }
    needed
}
