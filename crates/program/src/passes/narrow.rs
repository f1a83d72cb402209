//! A pass: computes in `i32` what is `i64` and provably fits.
//!
//! 64-bit arithmetic costs a GPU several instructions, and indices are `i64` to the user.
//!
//! Needs: ranges that the scalar arguments of every launch keep to. Leaves: a program that computes the same for these, with
//! final types of values; parameters and memory keep theirs. Unused casts are for [`crate::passes::dead`] to remove.

use std::collections::HashMap;

use pumice_scalar::{Constant, Op, ScalarType};

use crate::interval::{Interval, Intervals, Ranges};
use crate::ir::{Carried, Operand, Param, Program, Stmt, Var};

/// The same program with narrower arithmetic, for scalar arguments in these ranges. The program must be one that the
/// verifier accepts.
pub fn narrow(program: &Program, ranges: &Ranges) -> Program {
    let intervals = Intervals::of(program, ranges);
    let mut result = program.clone();
    let mut choice = Choice { program, intervals: &intervals, narrow: vec![false; program.vars.len()] };
    // Also how many there are: a grid has that many, where blocks are numbered in 32 bits.
    if choice.wide(program.block) && choice.fits(program.blocks) {
        choice.choose(program.block);
    }
    choice.list(&program.prologue);
    choice.list(&program.body);
    for (info, narrow) in result.vars.iter_mut().zip(&choice.narrow) {
        if *narrow {
            info.ty = ScalarType::I32;
        }
    }
    let mut rewriter =
        Rewriter { program, intervals: &intervals, result, casts: HashMap::new(), scope: Vec::new() };
    let mut prologue = Vec::new();
    for param in &program.params {
        if let Param::Scalar(var) = *param
            && choice.wide(var)
            && choice.var_fits(var)
        {
            rewriter.convert(Operand::Var(var), ScalarType::I32, &mut prologue);
        }
    }
    rewriter.list(&program.prologue, &mut prologue);
    let mut body = Vec::new();
    rewriter.list(&program.body, &mut body);
    Program { prologue, body, ..rewriter.result }
}

fn fits(interval: Interval) -> bool {
    let (low, high) = ScalarType::I32.range();
    low <= interval.0 && interval.1 <= high
}

/// Decides which variables become narrow.
struct Choice<'a> {
    program: &'a Program,
    intervals: &'a Intervals,
    /// By variable number.
    narrow: Vec<bool>,
}

impl Choice<'_> {
    fn wide(&self, var: Var) -> bool {
        self.program.vars.get(var.0 as usize).is_some_and(|info| info.ty == ScalarType::I64)
    }

    fn var_fits(&self, var: Var) -> bool {
        fits(self.intervals.var(var))
    }

    fn fits(&self, operand: Operand) -> bool {
        fits(self.intervals.operand(operand))
    }

    fn choose(&mut self, var: Var) {
        if let Some(narrow) = self.narrow.get_mut(var.0 as usize) {
            *narrow = true;
        }
    }

    fn list(&mut self, list: &[Stmt]) {
        for stmt in list {
            for var in stmt.defines() {
                if self.wide(var) && self.var_fits(var) && self.can(stmt, var) {
                    self.choose(var);
                }
            }
            for child in stmt.children() {
                self.list(child);
            }
        }
    }

    /// Whether a statement can compute one of its `i64` variables, which fits, as `i32`.
    fn can(&self, stmt: &Stmt, var: Var) -> bool {
        let limit = ScalarType::I32.range().1;
        match stmt {
            Stmt::Let { op, operands, .. } => self.can_compute(*op, operands),
            // The bounds of what is carried and joined include those of all it comes from.
            Stmt::If { .. } | Stmt::While { .. } => true,
            // Some lane's value, which fits too. Half the bits are half the shuffles.
            Stmt::Collective { op, .. } => op.is_shuffle(),
            Stmt::For { var: index, start, end, step, .. } => {
                let (end_bound, step_bound) =
                    (self.intervals.operand(*end).1, self.intervals.operand(*step).1);
                // The index may pass the end by a step, and must not wrap then.
                var != *index
                    || [*start, *end, *step].into_iter().all(|operand| self.fits(operand))
                        && end_bound.saturating_add(step_bound) <= limit
            }
            Stmt::Parallel { extent, .. } => {
                let bound = self.intervals.operand(*extent).1;
                self.fits(*extent) && bound.saturating_add(self.program.threads.into()) <= limit
            }
            _ => false,
        }
    }

    /// Whether an operation whose `i64` result fits gives the same result in `i32`.
    fn can_compute(&self, op: Op, operands: &[Operand]) -> bool {
        match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem | Op::Neg | Op::Abs | Op::Min | Op::Max => {
                operands.iter().all(|&operand| self.fits(operand))
            }
            Op::And | Op::Or | Op::Xor | Op::Not => operands.iter().all(|&operand| self.fits(operand)),
            // The distance is masked to the width, which differs.
            Op::Shl | Op::Shr => match operands {
                [value, distance] => {
                    let (low, high) = self.intervals.operand(*distance);
                    self.fits(*value) && low >= 0 && high < 32
                }
                _ => false,
            },
            Op::Select => operands.iter().skip(1).all(|&operand| self.fits(operand)),
            // From any integer: the value is the result, and fits. Results that come from floats have no bounds.
            Op::Cast => true,
            _ => false,
        }
    }
}

struct Rewriter<'a> {
    /// The program before.
    program: &'a Program,
    intervals: &'a Intervals,
    /// The program after, as far as its variables go.
    result: Program,
    /// The casts that can be read here, by variable and type.
    casts: HashMap<(Var, ScalarType), Var>,
    /// The keys of `casts` in the order in which they were added.
    scope: Vec<(Var, ScalarType)>,
}

impl Rewriter<'_> {
    fn ty_before(&self, operand: Operand) -> ScalarType {
        match operand {
            Operand::Var(var) => {
                self.program.vars.get(var.0 as usize).map_or(ScalarType::Bool, |info| info.ty)
            }
            Operand::Constant(constant) => constant.ty(),
        }
    }

    fn ty_after(&self, var: Var) -> ScalarType {
        self.result.vars.get(var.0 as usize).map_or(ScalarType::Bool, |info| info.ty)
    }

    /// The operand as `i32` or `i64`, with a cast before if it needs one. Operands that were not `i64` stay as they are.
    fn convert(&mut self, operand: Operand, ty: ScalarType, out: &mut Vec<Stmt>) -> Operand {
        if self.ty_before(operand) != ScalarType::I64 {
            return operand;
        }
        let var = match operand {
            Operand::Constant(constant) => {
                return Operand::Constant(Constant::from_integer(
                    ty,
                    constant.as_integer().unwrap_or_default(),
                ));
            }
            Operand::Var(var) => var,
        };
        if self.ty_after(var) == ty {
            return operand;
        }
        if let Some(&cast) = self.casts.get(&(var, ty)) {
            return Operand::Var(cast);
        }
        let name = self.result.vars.get(var.0 as usize).map_or("cast".to_owned(), |info| info.name.clone());
        let cast = self.result.add_var(ty, name);
        out.push(Stmt::Let { var: cast, op: Op::Cast, operands: vec![operand] });
        self.casts.insert((var, ty), cast);
        self.scope.push((var, ty));
        Operand::Var(cast)
    }

    /// The operand with the type that a variable has now.
    fn convert_for(&mut self, operand: Operand, var: Var, out: &mut Vec<Stmt>) -> Operand {
        self.convert(operand, self.ty_after(var), out)
    }

    fn leave(&mut self, mark: usize) {
        for key in self.scope.drain(mark.min(self.scope.len())..) {
            self.casts.remove(&key);
        }
    }

    /// Rewrites a list whose casts are visible in it only; `end` may add to it.
    fn inner<T>(
        &mut self,
        list: &[Stmt],
        end: impl FnOnce(&mut Self, &mut Vec<Stmt>) -> T,
    ) -> (Vec<Stmt>, T) {
        let mark = self.scope.len();
        let mut out = Vec::new();
        self.list(list, &mut out);
        let given = end(self, &mut out);
        self.leave(mark);
        (out, given)
    }

    fn list(&mut self, list: &[Stmt], out: &mut Vec<Stmt>) {
        for stmt in list {
            let stmt = self.statement(stmt, out);
            out.push(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) -> Stmt {
        match stmt {
            Stmt::Comment(_) | Stmt::Sync { .. } | Stmt::Fence { .. } | Stmt::Load { .. } => stmt.clone(),
            Stmt::Atomic { var, op, memory, index, operands } => {
                let operands =
                    operands.iter().map(|&value| self.convert(value, ScalarType::I64, out)).collect();
                Stmt::Atomic { var: *var, op: *op, memory: *memory, index: *index, operands }
            }
            Stmt::Collective { var, op, operands } => {
                let operands = operands.iter().map(|&value| self.convert_for(value, *var, out)).collect();
                Stmt::Collective { var: *var, op: *op, operands }
            }
            Stmt::Let { var, op, operands } => {
                let operands = match op {
                    Op::Cast => operands.clone(),
                    _ => {
                        let fit = operands.iter().all(|&operand| fits(self.intervals.operand(operand)));
                        let ty = match op.compares() {
                            true if fit => ScalarType::I32,
                            true => ScalarType::I64,
                            false if self.ty_after(*var) == ScalarType::I32 => ScalarType::I32,
                            false => ScalarType::I64,
                        };
                        operands.iter().map(|&operand| self.convert(operand, ty, out)).collect()
                    }
                };
                Stmt::Let { var: *var, op: *op, operands }
            }
            Stmt::Store { memory, index, values } => {
                let values = values.iter().map(|&value| self.convert(value, ScalarType::I64, out)).collect();
                Stmt::Store { memory: *memory, index: *index, values }
            }
            Stmt::Fail { unless, site, index, bound } => Stmt::Fail {
                unless: *unless,
                site: *site,
                index: self.convert(*index, ScalarType::I64, out),
                bound: self.convert(*bound, ScalarType::I64, out),
            },
            Stmt::If { condition, then, otherwise, results } => {
                let mut results = results.clone();
                let (then, ()) = self.inner(then, |rewriter, out| {
                    for joined in &mut results {
                        joined.then = rewriter.convert_for(joined.then, joined.var, out);
                    }
                });
                let (otherwise, ()) = self.inner(otherwise, |rewriter, out| {
                    for joined in &mut results {
                        joined.otherwise = rewriter.convert_for(joined.otherwise, joined.var, out);
                    }
                });
                Stmt::If { condition: *condition, then, otherwise, results }
            }
            Stmt::For { var, start, end, step, carried, body } => {
                let [start, end, step] =
                    [*start, *end, *step].map(|operand| self.convert_for(operand, *var, out));
                let mut carried = self.initials(carried, out);
                let (body, ()) = self.inner(body, |rewriter, out| rewriter.nexts(&mut carried, out));
                Stmt::For { var: *var, start, end, step, carried, body }
            }
            Stmt::While { carried, header, condition, body } => {
                let mut carried = self.initials(carried, out);
                // What the header casts can be read in the body.
                let (header, body) = self.inner(header, |rewriter, _| {
                    rewriter.inner(body, |rewriter, out| rewriter.nexts(&mut carried, out)).0
                });
                Stmt::While { carried, header, condition: *condition, body }
            }
            Stmt::Parallel { workers, var, extent, body } => {
                let extent = self.convert_for(*extent, *var, out);
                let (body, ()) = self.inner(body, |_, _| ());
                Stmt::Parallel { workers: *workers, var: *var, extent, body }
            }
        }
    }

    fn initials(&mut self, carried: &[Carried], out: &mut Vec<Stmt>) -> Vec<Carried> {
        let with_initial = |carried: &Carried| Carried {
            initial: self.convert_for(carried.initial, carried.var, out),
            ..*carried
        };
        carried.iter().map(with_initial).collect()
    }

    fn nexts(&mut self, carried: &mut [Carried], out: &mut Vec<Stmt>) {
        for carried in carried {
            carried.next = self.convert_for(carried.next, carried.var, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrowed(text: &str, ranges: &[(u32, Interval)]) -> String {
        let program = crate::parse(text).unwrap();
        crate::check(&program).unwrap();
        let ranges = ranges.iter().map(|&(number, interval)| (Var(number), interval)).collect();
        let mut program = narrow(&program, &ranges);
        crate::passes::dead::eliminate_dead(&mut program);
        crate::passes::dead::drop_spare_vars(&mut program);
        crate::check(&program).unwrap_or_else(|error| panic!("{error}\n{program}"));
        program.to_string()
    }

    const COPY: &str = "kernel copy
memory @xs: global read i64
memory @out: global write i64
params @xs, @out, %n.0: i64
threads 256
prologue {
  %rounded.1: i64 = add %n.0, 255:i64
  %blocks.2: i64 = div %rounded.1, 256:i64
}
blocks %block.3: i64 < %blocks.2
body {
  parallel %i.4: i64 < 256:i64 {
    %first.5: i64 = mul %block.3, 256:i64
    %at.6: i64 = add %first.5, %i.4
    %inside.7: bool = lt %at.6, %n.0
    if %inside.7 {
      %x.8: i64 = load @xs[%at.6]
      %y.9: i64 = add %x.8, %at.6
      store @out[%at.6] = %y.9
    }
  }
}
";

    #[test]
    fn index_arithmetic_becomes_narrow_and_data_stays() {
        let expected = "kernel copy
memory @xs: global read i64
memory @out: global write i64
params @xs, @out, %n.0: i64
threads 256
prologue {
  %n.10: i32 = cast %n.0
  %rounded.1: i32 = add %n.10, 255:i32
  %blocks.2: i32 = div %rounded.1, 256:i32
}
blocks %block.3: i32 < %blocks.2
body {
  parallel %i.4: i32 < 256:i32 {
    %first.5: i32 = mul %block.3, 256:i32
    %at.6: i32 = add %first.5, %i.4
    %inside.7: bool = lt %at.6, %n.10
    if %inside.7 {
      %x.8: i64 = load @xs[%at.6]
      %at.11: i64 = cast %at.6
      %y.9: i64 = add %x.8, %at.11
      store @out[%at.6] = %y.9
    }
  }
}
";
        assert_eq!(narrowed(COPY, &[(0, (0, 1 << 20))]), expected);
    }

    #[test]
    fn nothing_narrows_without_bounds() {
        let text = narrowed(COPY, &[]);
        assert!(text.contains("%at.6: i64"), "{text}");
        assert!(text.contains("%block.3: i64"), "{text}");
        assert!(text.contains("%inside.7: bool = lt %at.6, %n.0"), "{text}");
        // The parallel loop is over 256 whatever the arguments are.
        assert!(text.contains("parallel %i.4: i32 < 256:i32"), "{text}");
    }

    #[test]
    fn shuffles_of_small_values_are_narrow_and_atomics_are_as_wide_as_their_memory() {
        let text = narrowed(
            "kernel k memory @out: global readwrite i64 params @out, %n: i64, %m: i64 threads 32
             blocks %b: i64 < 1:i64 body {
               warps %w: i64 < %n { lanes %i: i64 < 32:i64 {
                 %small: i64 = shuffle_down %i, 1:i32
                 %large: i64 = shuffle_down %m, 1:i32
                 %sum: i64 = add %small, %n
                 %old: i64 = atomic add @out[%sum], %sum
                 %c: bool = lt %old, %n
                 %all: bool = all %c
                 %bits: u32 = ballot %all
                 store @out[%bits] = %large
               } } }",
            &[(0, (0, 9))],
        );
        for expected in [
            "warps %w.3: i32 < %n",
            "lanes %i.4: i32 < 32:i32",
            "%small.5: i32 = shuffle_down %i.4, 1:i32",
            "%large.6: i64 = shuffle_down %m.1, 1:i32",
            "%sum.7: i32 = add",
            "%old.8: i64 = atomic add @out[%sum.7], %sum.1",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn a_loop_that_steps_past_the_largest_i32_stays_wide() {
        let text = |end: i64| {
            format!(
                "kernel k memory @out: global write i64 params @out threads 1 blocks %b: i64 < 1:i64 body {{
                parallel %i: i64 < 1:i64 {{ for %k: i64 in 0:i64..{end}:i64 step 4:i64 {{ store @out[%i] = %k }} }} }}"
            )
        };
        assert!(narrowed(&text(i64::from(i32::MAX) - 4), &[]).contains("for %k.2: i32"));
        assert!(narrowed(&text(i64::from(i32::MAX) - 3), &[]).contains("for %k.2: i64"));
    }
}
