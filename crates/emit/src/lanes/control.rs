//! Statements of a strip, and the control flow around its pieces that all lanes take alike.

use pumice_program::{Carried, Joined, LaneStep, Operand, Stmt, Var};

use crate::expression::Binding;
use crate::truth::UNVECTORISED;
use crate::writer::Writer;

/// Loops over so few lanes are unrolled before they can be vectorised.
const UNROLLED_LANES: u32 = 16;

impl Writer<'_> {
    pub(super) fn lane_statements(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.lane_statement(stmt);
        }
    }

    pub(super) fn lane_statement(&mut self, stmt: &Stmt) {
        let Some(plan) = self.lanes.plan.clone() else { return };
        match (stmt, plan.step(stmt)) {
            // Each piece that needs it computes it.
            (Stmt::Let { var, .. }, _) if plan.recomputed(*var).is_some() => {}
            // A loop over lanes must not be made for a comment.
            (Stmt::Comment(_), _) if self.lanes.body.is_empty() => self.statement(stmt),
            (_, LaneStep::InPiece) => self.inside(|writer| writer.statement(stmt)),
            (Stmt::If { condition, then, otherwise, results }, LaneStep::Masked) => {
                self.masked_branch(*condition, then, otherwise, results);
            }
            (Stmt::If { condition, then, otherwise, results }, _) => {
                self.uniform_branch(*condition, then, otherwise, results);
            }
            (Stmt::For { var, start, end, step, carried, body }, LaneStep::Masked) => {
                self.masked_for(*var, [*start, *end, *step], carried, body);
            }
            (Stmt::For { var, start, end, step, carried, body }, _) => {
                self.define_carried_lanes(carried);
                self.finish_piece();
                let head = self.for_head(*var, *start, *end, *step);
                self.text.open(&head);
                self.prefetch(*var, [*start, *end, *step], body);
                self.lane_statements(body);
                self.update_lanes(carried);
                self.text.close();
            }
            (Stmt::While { carried, header, condition, body }, LaneStep::Masked) => {
                let stopped = self.or_stopped(stmt);
                self.masked_while(carried, (header, *condition), body, &stopped);
            }
            (Stmt::While { carried, header, condition, body }, _) => {
                self.define_carried_lanes(carried);
                self.finish_piece();
                self.text.open("for (;;)");
                self.lane_statements(header);
                self.finish_piece();
                let condition = self.value(*condition).within(Binding::Unary);
                let stopped = self.or_stopped(stmt);
                self.text.line(&format!("if (!{condition}{stopped}) break;"));
                self.lane_statements(body);
                self.update_lanes(carried);
                self.text.close();
            }
            (Stmt::Fail { unless, site, index, bound }, _) => {
                self.lane_check(*unless, *site, *index, *bound);
            }
            (Stmt::Collective { var, op, operands }, step) => {
                self.lane_collective(*var, *op, operands, step);
            }
            _ => self.statement(stmt),
        }
    }

    pub(super) fn define_carried_lanes(&mut self, carried: &[Carried]) {
        for carried in carried {
            let varying = self.lanes.var_varies(carried.var);
            let define = |writer: &mut Self| {
                let initial = writer.value(carried.initial);
                writer.define(carried.var, &initial);
            };
            if varying { self.inside(define) } else { define(self) }
        }
    }

    /// Ends a round of a loop that all lanes run together.
    fn update_lanes(&mut self, carried: &[Carried]) {
        let (varying, even): (Vec<&Carried>, Vec<&Carried>) =
            carried.iter().partition(|carried| self.lanes.var_varies(carried.var));
        self.inside(|writer| {
            let next = varying.iter().map(|carried| (carried.var, writer.value(carried.next))).collect();
            writer.assign_at_once(next, None);
        });
        self.finish_piece();
        let next = even.iter().map(|carried| (carried.var, self.value(carried.next))).collect();
        self.assign_at_once(next, None);
        // GCC 12 unrolls so few lanes, takes them for one reduction of the loop around them, and computes nonsense where a
        // vector holds more elements than there are lanes. It leaves a loop with such a statement alone.
        if self.lanes.width.parse::<u32>().is_ok_and(|width| width <= UNROLLED_LANES) {
            self.text.line(UNVECTORISED);
        }
    }

    fn uniform_branch(&mut self, condition: Operand, then: &[Stmt], otherwise: &[Stmt], results: &[Joined]) {
        self.declare_results(results);
        self.finish_piece();
        let condition = self.value(condition).text;
        self.text.open(&format!("if ({condition})"));
        self.lane_statements(then);
        self.give_results(results.iter().map(|joined| (joined.var, joined.then)).collect());
        if !otherwise.is_empty() || !results.is_empty() {
            self.text.reopen("else");
            self.lane_statements(otherwise);
            self.give_results(results.iter().map(|joined| (joined.var, joined.otherwise)).collect());
        }
        self.text.close();
    }

    pub(super) fn declare_results(&mut self, results: &[Joined]) {
        for joined in results {
            self.declare(joined.var);
        }
    }

    /// Ends a branch.
    fn give_results(&mut self, results: Vec<(Var, Operand)>) {
        let (varying, even): (Vec<_>, Vec<_>) =
            results.into_iter().partition(|(var, _)| self.lanes.var_varies(*var));
        self.inside(|writer| {
            for (var, operand) in varying {
                let value = writer.value(operand);
                writer.assign(var, &value, None);
            }
        });
        self.finish_piece();
        for (var, operand) in even {
            let value = self.value(operand);
            self.assign(var, &value, None);
        }
    }

    /// Looks at all lanes at once whether a check fails, and only then for the lane.
    fn lane_check(&mut self, unless: Operand, site: u32, index: Operand, bound: Operand) {
        let failed = self.names.fresh("failed");
        self.text.line(&format!("int {failed} = 0;"));
        let mask = self.lanes.mask.clone().map(|mask| format!("{mask} & ")).unwrap_or_default();
        let fails = |writer: &mut Self| format!("{mask}!{}", writer.value(unless).within(Binding::Unary));
        let test = self.inside(fails);
        self.lane_line(&format!("{failed} |= {test};"));
        self.finish_piece();
        self.text.open(&format!("if ({failed})"));
        let test = self.inside(fails);
        let call = self.inside(|writer| writer.fail_call(site, index, bound));
        self.lane_line(&format!("if ({test}) {call}"));
        self.finish_ordered_piece();
        self.text.close();
    }
}
