//! The lane plan: how one worker runs the threads of a parallel loop as the lanes of a strip.
//!
//! Needs: the body of a parallel loop of a program that the verifier accepts. Leaves: an annotation, which an emitter
//! follows in one walk; the program stays as it is.
//!
//! Sequential loops and branches go *around* the lanes, and what is between them are *pieces*: loops over lanes without
//! control flow that lanes could disagree on. [`LanePlan::step`] says what becomes of a statement. A value that is live
//! from one piece to another needs an array with an element for each lane (`liveness.rs` finds those), unless it is
//! so cheap that each piece computes it again: indices above all, as an index that is read from an array hides that
//! neighbouring lanes read neighbouring memory.

mod liveness;

use std::collections::{HashMap, HashSet};

use pumice_scalar::Op;

use crate::divergence::Divergence;
use crate::ir::{Operand, Program, Stmt, Var};

/// Maximum number of operations of a value that each piece computes again.
const RECOMPUTED_SIZE: u32 = 4;

/// Treatment of a statement in a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneStep {
    /// Executed once for all lanes, outside of pieces.
    Once,
    /// Part of the current piece.
    InPiece,
    /// Control flow around pieces, which all lanes take alike.
    Uniform,
    /// Control flow around pieces, under a mask of the lanes that take it.
    Masked,
    /// Ends the current piece and forms pieces of its own: a check, a shuffle or a vote.
    Together,
}

/// Plan by which the lanes of a strip run together.
#[derive(Clone, Debug, Default)]
pub struct LanePlan {
    divergence: Divergence,
    /// Values that are live across pieces.
    crossing: HashSet<Var>,
    /// Values that are cheap to compute again, with the operations that do so.
    cheap: HashMap<Var, (Op, Vec<Operand>)>,
}

impl LanePlan {
    /// Plans the body of a parallel loop with this index.
    pub fn of(program: &Program, index: Var, body: &[Stmt]) -> LanePlan {
        let divergence = Divergence::of(program, index, body);
        let cheap = cheap_values(program, &divergence, index, body);
        let mut plan = LanePlan { divergence, crossing: HashSet::new(), cheap };
        plan.crossing = liveness::crossing(&plan, index, body);
        plan.close_over_operands();
        plan
    }

    /// Adds operands of recomputed values that are recomputed too, so that each piece finds them.
    fn close_over_operands(&mut self) {
        let mut open: Vec<Var> = self.crossing.iter().copied().collect();
        while let Some(var) = open.pop() {
            let Some((_, operands)) = self.cheap.get(&var) else { continue };
            for operand in operands {
                if let Operand::Var(var) = operand
                    && self.cheap.contains_key(var)
                    && self.crossing.insert(*var)
                {
                    open.push(*var);
                }
            }
        }
    }

    /// Returns the treatment of a statement of the body.
    pub fn step(&self, stmt: &Stmt) -> LaneStep {
        match stmt {
            Stmt::Let { .. } | Stmt::Load { .. } if stmt.defines().iter().all(|&var| !self.varies(var)) => {
                LaneStep::Once
            }
            stmt if is_straight(stmt) && !self.gives_uniform_results(stmt) => LaneStep::InPiece,
            Stmt::If { condition, .. } | Stmt::While { condition, .. } => self.control(&[*condition]),
            Stmt::For { start, end, step, .. } => self.control(&[*start, *end, *step]),
            Stmt::Collective { op, operands, .. } => match operands.first() {
                // All lanes have the same value.
                Some(&value) if op.is_shuffle() && !self.operand_varies(value) => LaneStep::Once,
                _ => LaneStep::Together,
            },
            Stmt::Fail { .. } => LaneStep::Together,
            _ => LaneStep::Once,
        }
    }

    fn control(&self, operands: &[Operand]) -> LaneStep {
        match operands.iter().any(|&operand| self.operand_varies(operand)) {
            true => LaneStep::Masked,
            false => LaneStep::Uniform,
        }
    }

    /// Whether a branch gives something that is the same for all lanes: then it must be taken outside them.
    fn gives_uniform_results(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::If { results, .. } => results.iter().any(|joined| !self.varies(joined.var)),
            _ => false,
        }
    }

    /// Whether a value can differ from lane to lane.
    pub fn varies(&self, var: Var) -> bool {
        self.divergence.var(var)
    }

    /// Whether an operand can differ from lane to lane.
    pub fn operand_varies(&self, operand: Operand) -> bool {
        self.divergence.operand(operand)
    }

    /// Whether a value is live across pieces.
    pub fn crosses(&self, var: Var) -> bool {
        self.crossing.contains(&var)
    }

    /// Whether a value has an array with an element for each lane.
    pub fn has_array(&self, var: Var) -> bool {
        self.crossing.contains(&var) && !self.cheap.contains_key(&var)
    }

    /// The values that have arrays, in no particular order.
    pub fn arrays(&self) -> impl Iterator<Item = Var> {
        self.crossing.iter().copied().filter(|var| !self.cheap.contains_key(var))
    }

    /// The operation by which each piece computes a value again, for a value that is not kept from where it is defined.
    pub fn recomputed(&self, var: Var) -> Option<&(Op, Vec<Operand>)> {
        self.cheap.get(&var).filter(|_| self.crossing.contains(&var))
    }

    /// Whether a value could be computed again in each piece.
    fn is_cheap(&self, var: Var) -> bool {
        self.cheap.contains_key(&var)
    }
}

/// Whether a statement can stand inside a loop over lanes.
pub fn is_straight(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Comment(_) | Stmt::Let { .. } | Stmt::Load { .. } | Stmt::Store { .. } => true,
        Stmt::Atomic { .. } | Stmt::Fence { .. } => true,
        Stmt::If { .. } => stmt.children().into_iter().flatten().all(is_straight),
        _ => false,
    }
}

/// Finds the divergent integers that a few cheap operations compute from the index and from values that do not diverge.
fn cheap_values(
    program: &Program,
    divergence: &Divergence,
    index: Var,
    body: &[Stmt],
) -> HashMap<Var, (Op, Vec<Operand>)> {
    let mut cheap = HashMap::new();
    let mut sizes: HashMap<Var, u32> = HashMap::from([(index, 0)]);
    let mut lists = vec![body];
    // A list before the lists inside it, which build on its values.
    while let Some(list) = lists.pop() {
        for stmt in list {
            let Stmt::Let { var, op, operands } = stmt else { continue };
            let ty = program.var_type(*var);
            let floats = operands.iter().any(|&operand| program.operand_type(operand).is_float());
            if !divergence.var(*var) || ty.is_float() || floats || op.cost(ty) > 1 {
                continue;
            }
            let size = operands.iter().try_fold(1u32, |total, &operand| match operand {
                Operand::Var(var) if divergence.var(var) => Some(total + sizes.get(&var)?),
                _ => Some(total),
            });
            if let Some(size) = size.filter(|&size| size <= RECOMPUTED_SIZE) {
                sizes.insert(*var, size);
                cheap.insert(*var, (*op, operands.clone()));
            }
        }
        lists.extend(list.iter().rev().flat_map(|stmt| stmt.children().into_iter().rev()).map(Vec::as_slice));
    }
    cheap
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans the first parallel loop of a body. Values are named after what becomes of them: `u` are uniform, `p` stay
    /// within their piece, `a` have arrays, `r` are computed again.
    fn check(body: &str) -> (Program, LanePlan) {
        let text = format!(
            "kernel k memory @r: global read f32 memory @w: global readwrite f32 memory @f: global readwrite i64
             params @r, @w, @f, %base: i64, %n: i64 failure @f + %base threads 64 blocks %block: i64 < 1:i64
             body {{ parallel %i: i64 < 64:i64 {{ {body} fail 0 unless true, index 0:i64, bound 0:i64 }} }}"
        );
        let program = crate::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        crate::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let Stmt::Parallel { var, body, .. } = &program.body[0] else { panic!("no parallel loop") };
        let plan = LanePlan::of(&program, *var, body);
        for (number, info) in program.vars.iter().enumerate() {
            let var = Var(number as u32);
            let Some((kind, _)) = info.name.split_once('_') else { continue };
            let found = match () {
                () if !plan.varies(var) => "u",
                () if plan.has_array(var) => "a",
                () if plan.recomputed(var).is_some() => "r",
                () => "p",
            };
            assert_eq!(found, kind, "{}\n{program}", info.name);
        }
        (program, plan)
    }

    #[test]
    fn values_that_live_across_a_loop_have_arrays() {
        check(
            "%p_at: i64 = mul %i, 3:i64 %a_x: f32 = load @r[%p_at] %u_y: f32 = load @r[%n]
             for %u_k: i64 in 0:i64..%n step 1:i64 carry %a_sum: f32 = 0.0:f32 {
               %r_at: i64 = add %i, %u_k
               %p_x: f32 = load @r[%r_at]
               %p_product: f32 = mul %p_x, %a_x
               %a_next: f32 = add %a_sum, %p_product
               for %u_j: i64 in 0:i64..2:i64 step 1:i64 { store @w[%r_at] = %u_y }
               next %a_next
             }
             store @w[%i] = %a_sum",
        );
    }

    #[test]
    fn branches_inside_a_piece_need_no_arrays() {
        check(
            "%p_x: f32 = load @r[%i] %p_c: bool = lt %p_x, 1.0:f32
             %p_y: f32 = if %p_c { %p_z: f32 = add %p_x, 1.0:f32 yield %p_z } else { yield 0.0:f32 }
             store @w[%i] = %p_y",
        );
    }

    #[test]
    fn divergent_loops_and_branches_are_masked_and_give_arrays() {
        let (program, plan) = check(
            "%a_x: f32 = load @r[%i] %p_c: bool = lt %a_x, 1.0:f32
             %a_y: f32 = if %p_c {
               for %u_k: i64 in 0:i64..%n step 1:i64 { store @w[%i] = %a_x }
               yield %a_x
             } else { yield 0.0:f32 }
             %a_end: i64 = cast %a_y
             for %u_j: i64 in 0:i64..%a_end step 1:i64 { store @w[%u_j] = 1.0:f32 }
             for %a_j: i64 in %a_end..%n step 1:i64 { store @w[%a_j] = 1.0:f32 }
             while carry %a_t: f32 = %a_x { %p_going: bool = lt %a_t, 9.0:f32 } test %p_going {
               %p_more: f32 = add %a_t, 1.0:f32
               next %p_more
             }",
        );
        let Stmt::Parallel { body, .. } = &program.body[0] else { panic!("no parallel loop") };
        let steps: Vec<LaneStep> = body.iter().map(|stmt| plan.step(stmt)).collect();
        use LaneStep::*;
        assert_eq!(steps, [InPiece, InPiece, Masked, InPiece, Masked, Masked, Masked, Together]);
    }

    #[test]
    fn shuffles_and_votes_end_pieces() {
        check(
            "%a_x: f32 = load @r[%i] %a_s: f32 = shuffle_down %a_x, 1:i32
             %p_sum: f32 = add %a_x, %a_s
             %p_c: bool = lt %p_sum, 2.0:f32
             %a_v: u32 = ballot %p_c
             %p_int: i64 = cast %a_v
             store @w[%p_int] = %a_s
             %p_i: i64 = add %i, 1:i64
             %a_t: i64 = shuffle %p_i, 0:i32
             %u_z: f32 = load @r[%n] %u_w: f32 = shuffle %u_z, 3:i32
             store @w[%a_t] = %u_w",
        );
    }

    #[test]
    fn a_check_looks_twice_and_needs_its_operands_then() {
        check(
            "%p_x: f32 = load @r[%i] %a_at: i64 = cast %p_x %r_in: bool = lt %i, %n %a_below: bool = lt %a_at, %n
             fail 0 unless %r_in, index %i, bound %n
             fail 1 unless %a_below, index %a_at, bound %n",
        );
    }
}
