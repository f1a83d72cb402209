//! Divergence: which values may differ from thread to thread within one parallel loop.
//!
//! It is about one loop: a value that differs from warp to warp is the same for the lanes of one warp. The analysis of the
//! whole program for barriers is [`crate::uniform`]. A load from memory that the program writes counts as divergent, so
//! that it stays in order with each thread's own stores.

use crate::ir::{Access, Carried, Operand, Program, Space, Stmt, Var};

/// The values of a program that may differ among the threads of a parallel loop.
#[derive(Clone, Debug, Default)]
pub struct Divergence {
    /// By variable number.
    divergent: Vec<bool>,
}

impl Divergence {
    /// Analyses the body of a parallel loop with this index, around which nothing diverges.
    pub fn of(program: &Program, index: Var, body: &[Stmt]) -> Divergence {
        let divergent = vec![false; program.vars.len()];
        let mut analysis = Analysis { program, divergent, changed: true };
        analysis.set(index, true);
        // Carried values feed back, so until nothing changes any more.
        while std::mem::take(&mut analysis.changed) {
            analysis.list(body);
        }
        Divergence { divergent: analysis.divergent }
    }

    /// Whether a value may differ.
    pub fn var(&self, var: Var) -> bool {
        self.divergent.get(var.0 as usize).copied().unwrap_or(false)
    }

    /// Whether an operand may differ.
    pub fn operand(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Var(var) if self.var(var))
    }
}

struct Analysis<'a> {
    program: &'a Program,
    divergent: Vec<bool>,
    changed: bool,
}

impl Analysis<'_> {
    fn set(&mut self, var: Var, divergent: bool) {
        if let Some(known) = self.divergent.get_mut(var.0 as usize) {
            self.changed |= divergent && !*known;
            *known |= divergent;
        }
    }

    fn get(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Var(var) if self.divergent.get(var.0 as usize) == Some(&true))
    }

    fn any(&self, operands: &[Operand]) -> bool {
        operands.iter().any(|&operand| self.get(operand))
    }

    fn list(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.statement(stmt);
        }
    }

    fn carried(&mut self, carried: &[Carried], uneven: bool) {
        for carried in carried {
            self.set(carried.var, uneven || self.any(&[carried.initial, carried.next]));
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, operands, .. } => self.set(*var, self.any(operands)),
            Stmt::Load { vars, memory, index } => {
                let constant =
                    matches!(self.program.memory(*memory).space, Space::Global { access: Access::Read });
                let divergent = !constant || self.get(*index);
                vars.iter().for_each(|&var| self.set(var, divergent));
            }
            Stmt::If { condition, then, otherwise, results } => {
                self.list(then);
                self.list(otherwise);
                for joined in results {
                    self.set(joined.var, self.any(&[*condition, joined.then, joined.otherwise]));
                }
            }
            Stmt::For { var, start, end, step, carried, body } => {
                self.set(*var, self.any(&[*start, *step]));
                self.list(body);
                self.carried(carried, self.any(&[*start, *end, *step]));
            }
            Stmt::While { carried, header, condition, body } => {
                self.list(header);
                self.list(body);
                self.carried(carried, self.get(*condition));
            }
            Stmt::Atomic { var, .. } => var.iter().for_each(|&var| self.set(var, true)),
            // The lanes of a warp agree on a vote, but there may be several warps.
            Stmt::Collective { var, op, operands } => {
                self.set(*var, !op.is_shuffle() || operands.first().is_none_or(|&value| self.get(value)));
            }
            Stmt::Parallel { var, body, .. } => {
                self.set(*var, true);
                self.list(body);
            }
            Stmt::Comment(_)
            | Stmt::Store { .. }
            | Stmt::Fail { .. }
            | Stmt::Sync { .. }
            | Stmt::Fence { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_diverges() {
        let text = "kernel k memory @r: global read i64 memory @w: global readwrite i64 params @r, @w, %n: i64
            threads 64 blocks %block: i64 < %n body {
              warps %warp: i64 < 2:i64 {
                lanes %d_i: i64 < 32:i64 {
                  %u_sum: i64 = add %warp, %n
                  %u_load: i64 = load @r[%u_sum]
                  %d_load: i64 = load @w[%u_sum]
                  %d_own: i64 = load @r[%d_i]
                  %d_c: bool = lt %d_own, %n
                  %u_c: bool = lt %u_load, %n
                  %u_join: i64 = if %u_c { yield 1:i64 } else { yield 2:i64 }
                  %d_join: i64 = if %d_c { yield 1:i64 } else { yield 2:i64 }
                  %d_all: bool = all %u_c
                  %u_shuffle: i64 = shuffle %u_load, 0:i32
                  %d_shuffle: i64 = shuffle %d_own, 0:i32
                  for %u_k: i64 in 0:i64..%d_own step 1:i64 carry %d_s: i64 = 0:i64 { next 1:i64 }
                  for %d_k: i64 in %d_own..%n step 1:i64 { }
                  for %u_j: i64 in 0:i64..%n step 1:i64 carry %u_t: i64 = 0:i64, %d_t: i64 = 0:i64, %d_v: i64 = 0:i64 {
                    next %u_j, %d_v, %d_own
                  }
                }
              }
            }";
        let program = crate::parse(text).unwrap_or_else(|error| panic!("{error}"));
        crate::check(&program).unwrap_or_else(|error| panic!("{error}"));
        let Stmt::Parallel { body, .. } = &program.body[0] else { panic!("no loop over warps") };
        let Stmt::Parallel { var, body, .. } = &body[0] else { panic!("no loop over lanes") };
        let divergence = Divergence::of(&program, *var, body);
        for (number, info) in program.vars.iter().enumerate() {
            let expected = info.name.starts_with("d_");
            assert_eq!(divergence.var(Var(number as u32)), expected, "{}", info.name);
        }
    }
}
