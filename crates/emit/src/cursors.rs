//! Prefetching behind cursors: a loop that writes elements to many places, each behind the one before, asks for the lines that it
//! will write next.
//!
//! Such a loop (a pass of a sort) keeps in the block's own memory where the next element of each kind goes. Every line that it begins
//! is new to the processor, which would wait for it; asked for when the line before it is begun, it is there in time. A sort of 2^24
//! words took half as long.

use std::collections::HashSet;

use pumice_program::{MemoryId, Operand, Space, Stmt, Var};

use crate::dialect::Threads;
use crate::expression::Binding;
use crate::writer::Writer;

/// Bytes of a cache line.
const LINE: usize = 64;

impl Writer<'_> {
    /// Writes the prefetches at the end of a round of a loop with this body, which is open.
    pub(crate) fn prefetch_behind_cursors(&mut self, body: &[Stmt]) {
        if self.language.threads() != Threads::Lanes {
            return;
        }
        for (memory, index) in self.behind_cursors(body) {
            let elements = (LINE / self.program.memory(memory).ty.bytes()).max(1);
            let place = self.value(index);
            let element = self.element(memory, &place);
            let begins = format!("({} & {}) == 0", place.within(Binding::Unary), elements - 1);
            // The line behind may be that of other memory, or of none: its address is only a number.
            let next = format!("(const void *)((u64)&{element} + {LINE}u)");
            self.sink().line(&format!("if ({begins}) __builtin_prefetch({next}, 1);"));
        }
    }

    /// The stores to global memory of a body at indices that are computed from what is read of the block's memory, and written
    /// there anew.
    fn behind_cursors(&self, body: &[Stmt]) -> Vec<(MemoryId, Operand)> {
        let shared = |memory: MemoryId| matches!(self.program.memory(memory).space, Space::Shared { .. });
        let written: HashSet<(MemoryId, Operand)> = body
            .iter()
            .filter_map(|stmt| match stmt {
                Stmt::Store { memory, index, values } if values.len() == 1 => Some((*memory, *index)),
                _ => None,
            })
            .collect();
        let (mut cursors, mut stores) = (HashSet::<Var>::new(), Vec::new());
        let is_cursor = |operand: &Operand, cursors: &HashSet<Var>| matches!(operand, Operand::Var(var) if cursors.contains(var));
        for stmt in body {
            match stmt {
                Stmt::Load { vars, memory, index }
                    if shared(*memory) && written.contains(&(*memory, *index)) =>
                {
                    cursors.extend(vars);
                }
                Stmt::Let { var, operands, .. }
                    if operands.iter().any(|operand| is_cursor(operand, &cursors)) =>
                {
                    cursors.insert(*var);
                }
                Stmt::Store { memory, index, values } => {
                    let global = matches!(self.program.memory(*memory).space, Space::Global { .. });
                    if global && values.len() == 1 && is_cursor(index, &cursors) {
                        stores.push((*memory, *index));
                    }
                }
                _ => {}
            }
        }
        stores
    }
}
