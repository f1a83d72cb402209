//! Uniformity analysis: for every variable, the execution scope within which it surely has the same value.
//!
//! A level is a scope whose threads, at one point of one run, cannot disagree: all threads of a block, the threads of each warp, or
//! each thread alone. It is about the threads that compute the value: under a condition, those for which the condition
//! holds. Levels are sound and not always tight. The analysis must not panic on any program; of one that the verifier
//! would refuse, the levels mean nothing.

use crate::ir::{Access, Carried, CollectiveOp, MemoryId, Operand, Program, Space, Stmt, Var, Workers};

/// Scope within which a value is the same. A larger one says less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// All threads of a block.
    Block,
    /// The threads of each warp; it may differ from warp to warp.
    Warp,
    /// It may differ from thread to thread.
    Thread,
}

/// The levels of a program's variables.
#[derive(Clone, Debug)]
pub struct Uniformity {
    /// By variable number.
    levels: Vec<Level>,
}

impl Uniformity {
    /// Analyses a program.
    pub fn of(program: &Program) -> Uniformity {
        let uniformity = Uniformity { levels: vec![Level::Block; program.vars.len()] };
        let mut analysis = Analysis { program, uniformity, changed: true };
        // Levels only grow, and each at most twice, so that there is an end. Once more as long as something changes:
        // what a loop carries depends on what its body computes.
        while std::mem::take(&mut analysis.changed) {
            analysis.list(&program.body, Level::Block);
        }
        analysis.uniformity
    }

    /// The level of a variable; the one that says least for numbers that no variable has.
    pub fn var(&self, var: Var) -> Level {
        self.levels.get(var.0 as usize).copied().unwrap_or(Level::Thread)
    }

    /// The level of an operand.
    pub fn operand(&self, operand: Operand) -> Level {
        match operand {
            Operand::Var(var) => self.var(var),
            Operand::Constant(_) => Level::Block,
        }
    }

    /// The level of several operands together.
    pub fn operands(&self, operands: &[Operand]) -> Level {
        operands.iter().map(|&operand| self.operand(operand)).max().unwrap_or(Level::Block)
    }
}

struct Analysis<'a> {
    program: &'a Program,
    uniformity: Uniformity,
    changed: bool,
}

impl Analysis<'_> {
    fn of(&self, operands: &[Operand]) -> Level {
        self.uniformity.operands(operands)
    }

    /// Notes that a variable may differ at this level.
    fn raise(&mut self, var: Var, level: Level) {
        if let Some(known) = self.uniformity.levels.get_mut(var.0 as usize)
            && *known < level
        {
            *known = level;
            self.changed = true;
        }
    }

    /// A list that the block, a warp or a thread executes as a whole.
    fn list(&mut self, list: &[Stmt], scope: Level) {
        for stmt in list {
            self.statement(stmt, scope);
        }
    }

    fn statement(&mut self, stmt: &Stmt, scope: Level) {
        match stmt {
            Stmt::Comment(_)
            | Stmt::Store { .. }
            | Stmt::Sync { .. }
            | Stmt::Fence { .. }
            | Stmt::Fail { .. } => {}
            Stmt::Let { var, operands, .. } => self.raise(*var, self.of(operands)),
            Stmt::Load { vars, memory, index } => {
                let level = self.of(&[*index]).max(self.contents(*memory, scope));
                vars.iter().for_each(|&var| self.raise(var, level));
            }
            Stmt::Atomic { var, .. } => var.iter().for_each(|&var| self.raise(var, Level::Thread)),
            Stmt::Collective { var, op, operands } => {
                let level = match op {
                    CollectiveOp::All | CollectiveOp::Any | CollectiveOp::Ballot => Level::Warp,
                    // Where all lanes have the same value, it does not matter whose one gets; and where all ask for the same lane,
                    // all get the same.
                    _ => {
                        let value = operands.first().map_or(Level::Thread, |&value| self.of(&[value]));
                        let same_lane = *op == CollectiveOp::Shuffle
                            && self.of(operands.get(1..).unwrap_or_default()) <= Level::Warp;
                        if same_lane { value.min(Level::Warp) } else { value }
                    }
                };
                self.raise(*var, level);
            }
            Stmt::If { condition, then, otherwise, results } => {
                self.list(then, scope);
                self.list(otherwise, scope);
                for joined in results {
                    let level = self.of(&[*condition, joined.then, joined.otherwise]);
                    self.raise(joined.var, level);
                }
            }
            Stmt::For { var, start, end, step, carried, body } => {
                let trips = self.of(&[*start, *end, *step]);
                self.raise(*var, trips);
                self.list(body, scope);
                self.carried(carried, trips);
            }
            Stmt::While { carried, header, condition, body } => {
                self.list(header, scope);
                self.list(body, scope);
                self.carried(carried, self.of(&[*condition]));
            }
            Stmt::Parallel { workers, var, extent: _, body } => {
                let level = match workers {
                    Workers::Threads | Workers::Lanes => Level::Thread,
                    Workers::Warps => Level::Warp,
                };
                self.raise(*var, level);
                self.list(body, level.max(scope));
            }
        }
    }

    /// Returns the scope within which threads find the same contents at an index of a memory, at the same point of the program.
    fn contents(&self, memory: MemoryId, scope: Level) -> Level {
        match self.program.memories.get(memory.0 as usize).map(|memory| memory.space) {
            Some(Space::Global { access: Access::Read }) => Level::Block,
            Some(Space::Private { .. }) => Level::Thread,
            // No thread writes while the block or a warp reads as a whole: that would be a race. But one thread may read
            // what it wrote before, and another what was there before that.
            _ => scope,
        }
    }

    /// Raises the levels of loop-carried values: threads that leave after different numbers of rounds have different values.
    fn carried(&mut self, carried: &[Carried], trips: Level) {
        for carried in carried {
            let level = self.of(&[carried.initial, carried.next]).max(trips);
            self.raise(carried.var, level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "kernel k memory @r: global read i64 memory @w: global readwrite i64 memory @s: shared i64[64]
        memory @p: private i64[2] params @r, @w, %n: i64 threads 64 blocks %block: i64 < %n
        body {
          %b_load: i64 = load @s[%block]
          for %b_k: i64 in 0:i64..%b_load step 1:i64 carry %b_sum: i64 = 0:i64 {
            %b_next: i64 = add %b_sum, %b_k
            next %b_next
          }
          warps %w_index: i64 < 2:i64 {
            %w_load: i64 = load @w[%w_index]
            %w_same: i64 = load @w[%block]
            %b_ro: i64 = load @r[%n]
            %w_c: bool = lt %w_load, %n
            %w_join: i64 = if %w_c { yield 1:i64 } else { yield 2:i64 }
            lanes %t_index: i32 < 32:i32 {
              %b_inner: i64 = load @r[%block]
              %w_inner: i64 = load @r[%w_index]
              %t_shared: i64 = load @s[%block]
              %t_private: i64 = load @p[0:i64]
              %t_c: bool = lt %t_shared, %n
              %w_all: bool = all %t_c
              %w_ballot: u32 = ballot %t_c
              %w_shuffle_of: i64 = shuffle %t_shared, 0:i32
              %t_shuffle: i64 = shuffle %t_shared, %t_index
              %t_shuffle_down: i64 = shuffle_down %t_shared, 1:i32
              %w_shuffle: i64 = shuffle_up %w_load, %t_index
              %t_atomic: i64 = atomic add @w[0:i64], 1:i64
              %t_join: i64 = if %t_c { yield 1:i64 } else { yield 1:i64 }
              while carry %t_count: i64 = 0:i64 {
                %t_going: bool = lt %t_count, %t_shared
              } test %t_going {
                %t_more: i64 = add %t_count, 1:i64
                next %t_more
              }
              for %w_k: i64 in 0:i64..%w_load step 1:i64 carry %w_a: i64 = 0:i64, %t_b: i64 = 0:i64, %t_d: i64 = 0:i64 {
                next 7:i64, %t_d, %t_count
              }
            }
          }
        }";

    #[test]
    fn names_say_the_levels() {
        let program = crate::parse(TEXT).unwrap();
        crate::check(&program).unwrap();
        let uniformity = Uniformity::of(&program);
        for (number, info) in program.vars.iter().enumerate() {
            let expected = match info.name.split('_').next() {
                Some("w") => Level::Warp,
                Some("t") => Level::Thread,
                _ => Level::Block,
            };
            assert_eq!(uniformity.var(Var(number as u32)), expected, "{}", info.name);
        }
    }
}
