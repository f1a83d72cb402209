//! Uses of values: which values are dead, and which may be written into their only user. Reads the program, changes
//! nothing.

use pumice_program::{Operand, Program, Stmt, Var};

/// Uses of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    /// Number of operands that read it.
    pub(crate) count: u32,
    /// Whether its only reader stands in the same list of statements and is evaluated exactly once each time that
    /// the definition is.
    pub(crate) inlinable: bool,
}

/// Returns the uses of every value. The number of blocks counts as one where the text loops over all blocks.
pub(crate) fn uses(program: &Program, counts_blocks: bool) -> Vec<Use> {
    let mut walk = Walk {
        uses: vec![Use::default(); program.vars.len()],
        defined_in: vec![0; program.vars.len()],
        lists: 0,
    };
    let list = walk.list(&program.prologue, |_, _| {});
    if counts_blocks {
        walk.operand(program.blocks, list, false);
    }
    if let Some(failure) = program.failure {
        walk.operand(Operand::Var(failure.base), list, false);
    }
    walk.list(&program.body, |_, _| {});
    walk.uses
}

struct Walk {
    uses: Vec<Use>,
    /// The number of the list that defines a value; 0 for arguments, indices and what loops and branches give.
    defined_in: Vec<u32>,
    lists: u32,
}

impl Walk {
    /// Walks a list, then whatever reads values at its end.
    fn list(&mut self, list: &[Stmt], end: impl Fn(&mut Walk, u32)) -> u32 {
        self.lists += 1;
        let number = self.lists;
        for stmt in list {
            self.stmt(stmt, number);
        }
        end(self, number);
        number
    }

    fn operand(&mut self, operand: Operand, list: u32, once: bool) {
        if let Operand::Var(Var(var)) = operand {
            let entry = &mut self.uses[var as usize];
            entry.count += 1;
            entry.inlinable = entry.count == 1 && once && self.defined_in[var as usize] == list;
        }
    }

    fn stmt(&mut self, stmt: &Stmt, list: u32) {
        match stmt {
            Stmt::Comment(_) | Stmt::Sync { .. } | Stmt::Fence { .. } => {}
            Stmt::Atomic { index, operands, .. } => {
                self.operand(*index, list, true);
                operands.iter().for_each(|&operand| self.operand(operand, list, true));
            }
            // A shuffle may have to look at its operands more than once.
            Stmt::Collective { op, operands, .. } => {
                operands.iter().for_each(|&operand| self.operand(operand, list, !op.is_shuffle()));
            }
            Stmt::Let { var, operands, .. } => {
                operands.iter().for_each(|&operand| self.operand(operand, list, true));
                self.defined_in[var.0 as usize] = list;
            }
            Stmt::Load { index, vars, .. } => self.operand(*index, list, vars.len() == 1),
            Stmt::Store { index, values, .. } => {
                self.operand(*index, list, values.len() == 1);
                values.iter().for_each(|&value| self.operand(value, list, true));
            }
            Stmt::Fail { unless, index, bound, .. } => {
                [unless, index, bound].into_iter().for_each(|&operand| self.operand(operand, list, true));
            }
            Stmt::If { condition, then, otherwise, results } => {
                self.operand(*condition, list, true);
                self.list(then, |walk, list| {
                    results.iter().for_each(|joined| walk.operand(joined.then, list, true));
                });
                self.list(otherwise, |walk, list| {
                    results.iter().for_each(|joined| walk.operand(joined.otherwise, list, true));
                });
            }
            Stmt::For { start, end, step, carried, body, .. } => {
                self.operand(*start, list, true);
                // Tested in every iteration.
                self.operand(*end, list, false);
                self.operand(*step, list, false);
                carried.iter().for_each(|carried| self.operand(carried.initial, list, true));
                self.list(body, |walk, list| {
                    carried.iter().for_each(|carried| walk.operand(carried.next, list, true));
                });
            }
            Stmt::While { carried, header, condition, body } => {
                carried.iter().for_each(|carried| self.operand(carried.initial, list, true));
                self.list(header, |walk, list| walk.operand(*condition, list, true));
                self.list(body, |walk, list| {
                    carried.iter().for_each(|carried| walk.operand(carried.next, list, true));
                });
            }
            Stmt::Parallel { extent, body, .. } => {
                self.operand(*extent, list, false);
                self.list(body, |_, _| {});
            }
        }
    }
}
