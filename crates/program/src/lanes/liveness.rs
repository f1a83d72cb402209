//! Liveness across pieces: which values are used in another piece than the one that defines them.
//!
//! The body of a strip is structured and values are assigned once, so one walk in program order is enough: pieces are
//! numbered as they end, a definition notes the piece that it is in, and a use in another one crosses. What loops carry and
//! branches give is assigned at the end of several pieces, and so always crosses. A use inside a loop of what was defined
//! before it is in another piece, as every loop begins one; so nothing needs to be walked twice.

use std::collections::{HashMap, HashSet};

use crate::ir::{Carried, CollectiveOp, Joined, Operand, Stmt, Var};

use super::{LanePlan, LaneStep};

/// Returns the divergent values that are live across pieces. The plan's divergence and cheap values are known already.
pub(super) fn crossing(plan: &LanePlan, index: Var, body: &[Stmt]) -> HashSet<Var> {
    let mut used = HashSet::new();
    note_uses(body, &mut used);
    let mut walk = Walk { plan, index, used, piece: 0, defined_in: HashMap::new(), crossing: HashSet::new() };
    walk.list(body);
    walk.crossing
}

fn note_uses(list: &[Stmt], used: &mut HashSet<Var>) {
    for stmt in list {
        used.extend(stmt.operands().into_iter().filter_map(|operand| match operand {
            Operand::Var(var) => Some(var),
            Operand::Constant(_) => None,
        }));
        stmt.children().into_iter().for_each(|child| note_uses(child, used));
    }
}

struct Walk<'a> {
    plan: &'a LanePlan,
    /// The index of the parallel loop, which every piece computes.
    index: Var,
    /// The values that anything reads; the others are not computed.
    used: HashSet<Var>,
    /// The number of the piece at hand.
    piece: u32,
    defined_in: HashMap<Var, u32>,
    crossing: HashSet<Var>,
}

impl Walk<'_> {
    fn end_piece(&mut self) {
        self.piece += 1;
    }

    fn define(&mut self, var: Var) {
        if self.plan.varies(var) {
            self.defined_in.insert(var, self.piece);
        }
    }

    /// Notes a value that is assigned at the end of pieces.
    fn join(&mut self, var: Var) {
        if self.plan.varies(var) {
            self.crossing.insert(var);
        }
    }

    fn read(&mut self, operand: Operand) {
        if let Operand::Var(var) = operand
            && self.plan.varies(var)
            && var != self.index
            && self.defined_in.get(&var) != Some(&self.piece)
        {
            self.crossing.insert(var);
        }
    }

    fn read_all(&mut self, operands: &[Operand]) {
        operands.iter().for_each(|&operand| self.read(operand));
    }

    fn list(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match (stmt, self.plan.step(stmt)) {
            (_, LaneStep::InPiece) => self.in_piece(stmt),
            (Stmt::If { condition, then, otherwise, results }, step) => {
                self.branch(*condition, [then, otherwise], results, step);
            }
            (Stmt::For { var, start, end, step: advance, carried, body }, step) => {
                let is_own = self.plan.varies(*var);
                if is_own {
                    self.read(*start);
                    self.join(*var);
                }
                self.carry(carried);
                if step == LaneStep::Masked {
                    // Each round tests which lanes go on.
                    self.read_all(&[Operand::Var(*var), *end]);
                    self.end_piece();
                }
                self.list(body);
                if is_own {
                    self.read_all(&[Operand::Var(*var), *advance]);
                }
                self.end_round(carried);
            }
            (Stmt::While { carried, header, condition, body }, _) => {
                self.carry(carried);
                self.list(header);
                self.read(*condition);
                self.end_piece();
                self.list(body);
                self.end_round(carried);
            }
            (Stmt::Fail { unless, index, bound, .. }, _) => {
                self.read(*unless);
                self.end_piece();
                // Only where some lane fails, each looks again.
                self.read_all(&[*unless, *index, *bound]);
                self.end_piece();
            }
            (Stmt::Collective { var, op, operands }, LaneStep::Together) if self.used.contains(var) => {
                self.collective(*var, *op, operands);
            }
            _ => {}
        }
    }

    /// Walks a statement that is part of a piece, with those inside it.
    fn in_piece(&mut self, stmt: &Stmt) {
        let defines = stmt.defines();
        let is_needed = match stmt {
            Stmt::Let { .. } | Stmt::Load { .. } => defines.iter().any(|var| self.used.contains(var)),
            _ => true,
        };
        if !is_needed {
            return;
        }
        if let Stmt::If { condition, then, otherwise, results } = stmt {
            self.read(*condition);
            then.iter().chain(otherwise).for_each(|stmt| self.in_piece(stmt));
            results.iter().for_each(|joined| self.read_all(&[joined.then, joined.otherwise]));
        } else {
            self.read_all(&stmt.operands());
        }
        defines.into_iter().for_each(|var| self.define(var));
    }

    /// Gives carried values their first ones; a loop begins.
    fn carry(&mut self, carried: &[Carried]) {
        for carried in carried.iter().filter(|carried| self.plan.varies(carried.var)) {
            self.read(carried.initial);
            self.join(carried.var);
        }
        self.end_piece();
    }

    fn end_round(&mut self, carried: &[Carried]) {
        carried.iter().for_each(|carried| self.read(carried.next));
        self.end_piece();
    }

    fn branch(&mut self, condition: Operand, sides: [&[Stmt]; 2], results: &[Joined], step: LaneStep) {
        results.iter().for_each(|joined| self.join(joined.var));
        self.read(condition);
        let [then, otherwise] = sides;
        if step == LaneStep::Masked && otherwise.is_empty() {
            // The other value is there from the start.
            results.iter().for_each(|joined| self.read(joined.otherwise));
        }
        self.end_piece();
        self.list(then);
        results.iter().for_each(|joined| self.read(joined.then));
        self.end_piece();
        if step == LaneStep::Uniform || !otherwise.is_empty() {
            self.list(otherwise);
            results.iter().for_each(|joined| self.read(joined.otherwise));
            self.end_piece();
        }
    }

    fn collective(&mut self, var: Var, op: CollectiveOp, operands: &[Operand]) {
        self.join(var);
        if let Some(&Operand::Var(value)) = operands.first() {
            self.read(Operand::Var(value));
            // Lanes take a value from the array of another's.
            if op.is_shuffle() && value != self.index && !self.plan.is_cheap(value) {
                self.join(value);
            }
        }
        self.end_piece();
        if op.is_shuffle() {
            operands.iter().skip(1).for_each(|&distance| self.read(distance));
        }
        self.end_piece();
    }
}
