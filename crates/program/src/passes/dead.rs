//! A pass: removes computations whose values are not used.
//!
//! Stores, failures and barriers stay, and so does everything that they depend on. Stores to memory of a block or a thread
//! that is never loaded from are removed too.
//!
//! Needs: nothing more than a program that the verifier accepts. Leaves: one that does the same, in which every value is used.
//! Parameters and memories stay in any case: they are the calling convention.

use crate::ir::{MemoryId, Operand, Param, Program, Space, Stmt, Var};

/// Removes computations and loads whose values are not used, and branches and loops that do nothing. Variables keep
/// their numbers; those that nothing defines any more are for [`drop_spare_vars`].
pub fn eliminate_dead(program: &mut Program) {
    let seen = |memory: &crate::ir::Memory| matches!(memory.space, Space::Global { .. });
    let mut live = Live {
        live: vec![false; program.vars.len()],
        loaded: program.memories.iter().map(seen).collect(),
        changed: true,
    };
    live.operand(program.blocks);
    // Once more as long as it finds something: a loop's body may use what the loop carries.
    while std::mem::take(&mut live.changed) {
        live.list(&program.body);
        live.list(&program.prologue);
    }
    live.sweep(&mut program.prologue);
    live.sweep(&mut program.body);
}

struct Live {
    /// By variable number: whether the value is used.
    live: Vec<bool>,
    /// By memory number: whether anything reads what is stored, in the program or after it.
    loaded: Vec<bool>,
    changed: bool,
}

impl Live {
    fn is_live(&self, var: Var) -> bool {
        self.live.get(var.0 as usize).copied().unwrap_or(true)
    }

    fn operand(&mut self, operand: Operand) {
        if let Operand::Var(var) = operand
            && let Some(live) = self.live.get_mut(var.0 as usize)
            && !*live
        {
            *live = true;
            self.changed = true;
        }
    }

    fn load(&mut self, memory: MemoryId) {
        if let Some(loaded) = self.loaded.get_mut(memory.0 as usize)
            && !*loaded
        {
            *loaded = true;
            self.changed = true;
        }
    }

    /// Whether a statement, or one inside it, does more than compute values.
    fn has_effect(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Store { memory, .. } => self.loaded.get(memory.0 as usize).copied().unwrap_or(true),
            Stmt::Fail { .. } | Stmt::Sync { .. } | Stmt::Fence { .. } => true,
            // A load that acquires orders what follows; a collective is reached by all lanes or none.
            Stmt::Atomic { .. } | Stmt::Collective { .. } => true,
            _ => stmt.children().into_iter().flatten().any(|stmt| self.has_effect(stmt)),
        }
    }

    /// Whether a statement does anything that counts.
    fn stays(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Comment(_) => true,
            Stmt::Parallel { .. } => self.has_effect(stmt),
            // The index of a `for` is for its body.
            Stmt::For { carried, .. } => {
                carried.iter().any(|carried| self.is_live(carried.var)) || self.has_effect(stmt)
            }
            _ => stmt.defines().into_iter().any(|var| self.is_live(var)) || self.has_effect(stmt),
        }
    }

    /// Marks what the statements of a list need.
    fn list(&mut self, list: &[Stmt]) {
        for stmt in list.iter().rev() {
            if !self.stays(stmt) {
                continue;
            }
            match stmt {
                Stmt::If { condition, results, .. } => {
                    self.operand(*condition);
                    for joined in results {
                        if self.is_live(joined.var) {
                            self.operand(joined.then);
                            self.operand(joined.otherwise);
                        }
                    }
                }
                Stmt::For { start, end, step, carried, .. } => {
                    [*start, *end, *step].into_iter().for_each(|operand| self.operand(operand));
                    self.carried(carried);
                }
                Stmt::While { carried, condition, .. } => {
                    self.operand(*condition);
                    self.carried(carried);
                }
                _ => stmt.operands().into_iter().for_each(|operand| self.operand(operand)),
            }
            if let Stmt::Load { memory, .. } | Stmt::Atomic { memory, .. } = stmt {
                self.load(*memory);
            }
            for child in stmt.children().into_iter().rev() {
                self.list(child);
            }
        }
    }

    fn carried(&mut self, carried: &[crate::ir::Carried]) {
        for carried in carried {
            if self.is_live(carried.var) {
                self.operand(carried.initial);
                self.operand(carried.next);
            }
        }
    }

    /// Removes what is not needed.
    fn sweep(&self, list: &mut Vec<Stmt>) {
        list.retain(|stmt| self.stays(stmt));
        for stmt in list {
            match stmt {
                Stmt::If { results, .. } => results.retain(|joined| self.is_live(joined.var)),
                Stmt::For { carried, .. } | Stmt::While { carried, .. } => {
                    carried.retain(|carried| self.is_live(carried.var));
                }
                _ => {}
            }
            for child in stmt.children_mut() {
                self.sweep(child);
            }
        }
    }
}

/// Forgets the variables that nothing mentions and numbers the others anew, in the same order.
pub fn drop_spare_vars(program: &mut Program) {
    let mut used = vec![false; program.vars.len()];
    each_var(program, &mut |var| {
        if let Some(used) = used.get_mut(var.0 as usize) {
            *used = true;
        }
    });
    let mut count = 0;
    let numbers: Vec<u32> = used
        .iter()
        .map(|&used| {
            count += u32::from(used);
            count.saturating_sub(1)
        })
        .collect();
    each_var(program, &mut |var| {
        if let Some(&number) = numbers.get(var.0 as usize) {
            *var = Var(number);
        }
    });
    let mut used = used.into_iter();
    program.vars.retain(|_| used.next().unwrap_or(true));
}

/// Does something to every mention of a variable.
fn each_var(program: &mut Program, action: &mut impl FnMut(&mut Var)) {
    for param in &mut program.params {
        if let Param::Scalar(var) = param {
            action(var);
        }
    }
    if let Some(failure) = &mut program.failure {
        action(&mut failure.base);
    }
    action(&mut program.block);
    each_var_of_operand(&mut program.blocks, action);
    each_var_of_list(&mut program.prologue, action);
    each_var_of_list(&mut program.body, action);
}

fn each_var_of_operand(operand: &mut Operand, action: &mut impl FnMut(&mut Var)) {
    if let Operand::Var(var) = operand {
        action(var);
    }
}

fn each_var_of_list(list: &mut [Stmt], action: &mut impl FnMut(&mut Var)) {
    for stmt in list {
        stmt.operands_mut().into_iter().for_each(|operand| each_var_of_operand(operand, action));
        stmt.defines_mut().into_iter().for_each(&mut *action);
        stmt.children_mut().into_iter().for_each(|list| each_var_of_list(list, action));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_used_stays() {
        let text = "kernel k
memory @xs: global read f32
memory @out: global write f32
params @xs, @out, %n.0: i64
threads 1
prologue {
  %unused.1: i64 = add %n.0, 1:i64
  %blocks.2: i64 = add %n.0, 2:i64
}
blocks %block.3: i64 < %blocks.2
body {
  // stays
  parallel %i.4: i64 < 8:i64 {
    %x.5: f32 = load @xs[%i.4]
    %y.6: f32 = load @xs[%i.4]
    %c.7: bool = lt %x.5, 1.0:f32
    %a.8: f32, %b.9: f32 = if %c.7 {
      %z.10: f32 = add %x.5, 2.0:f32
      yield %z.10, %y.6
    } else {
      yield %x.5, %x.5
    }
    for %k.11: i64 in 0:i64..4:i64 step 1:i64 carry %sum.12: f32 = 0.0:f32, %other.13: f32 = 0.0:f32 {
      %sum2.14: f32 = add %sum.12, %a.8
      %other2.15: f32 = add %other.13, %sum.12
      next %sum2.14, %other2.15
    }
    for %l.16: i64 in 0:i64..4:i64 step 1:i64 {
      %w.17: f32 = load @xs[%l.16]
    }
    store @out[%i.4] = %sum.12
  }
  parallel %j.18: i64 < 8:i64 {
  }
  sync
}
";
        let expected = "kernel k
memory @xs: global read f32
memory @out: global write f32
params @xs, @out, %n.0: i64
threads 1
prologue {
  %blocks.1: i64 = add %n.0, 2:i64
}
blocks %block.2: i64 < %blocks.1
body {
  // stays
  parallel %i.3: i64 < 8:i64 {
    %x.4: f32 = load @xs[%i.3]
    %c.5: bool = lt %x.4, 1.0:f32
    %a.6: f32 = if %c.5 {
      %z.7: f32 = add %x.4, 2.0:f32
      yield %z.7
    } else {
      yield %x.4
    }
    for %k.8: i64 in 0:i64..4:i64 step 1:i64 carry %sum.9: f32 = 0.0:f32 {
      %sum2.10: f32 = add %sum.9, %a.6
      next %sum2.10
    }
    store @out[%i.3] = %sum.9
  }
  sync
}
";
        let mut program = crate::parse(text).unwrap();
        crate::check(&program).unwrap();
        eliminate_dead(&mut program);
        drop_spare_vars(&mut program);
        assert_eq!(program.to_string(), expected);
        crate::check(&program).unwrap();
    }

    #[test]
    fn stores_that_nobody_loads_go() {
        let text = "kernel k memory @xs: global read f32 memory @out: global write f32 memory @s: shared f32[8]
            memory @p: private f32[2] memory @q: private f32[2] memory @cell: shared i32[1] params @xs, @out threads 32
            blocks %block: i64 < 1:i64 body {
              parallel %i: i64 < 8:i64 {
                %x: f32 = load @xs[%i]
                store @p[0:i64] = %x
                %y: f32 = load @p[0:i64]
                store @s[%i] = %y
                store @q[0:i64] = 1.0:f32
              }
              sync
              parallel %j: i64 < 8:i64 {
                %z: f32 = load @s[%j]
                %w: f32 = load @q[0:i64]
                store @cell[0:i64] = 1:i32
                atomic add @cell[0:i64], 1:i32
                fence block
                %dead: f32 = shuffle %w, 0:i32
                store @out[%j] = 1.0:f32
              }
            }";
        let mut program = crate::parse(text).unwrap();
        crate::check(&program).unwrap();
        eliminate_dead(&mut program);
        crate::check(&program).unwrap();
        let text = program.to_string();
        for gone in ["load @xs", "store @s", "store @p", "load @p", "load @s"] {
            assert!(!text.contains(gone), "{gone}\n{text}");
        }
        // What threads do together or see of each other stays, and what that needs.
        for stays in [
            "sync",
            "fence block",
            "store @cell",
            "atomic add",
            "shuffle",
            "load @q",
            "store @q",
            "store @out",
        ] {
            assert!(text.contains(stays), "{stays}\n{text}");
        }
    }
}
