//! Loops and branches as one thread (or the block) does them, with the values that they carry and give.

use pumice_program::{Carried, Joined, Operand, Stmt, Var};
use pumice_scalar::Op;

use crate::expression::{Binding, Expression};
use crate::threads::waits;
use crate::writer::Writer;
use std::ops::Range;

/// Loops over private memory of at most so many rounds are unrolled: its elements are registers only where every index
/// is a constant.
const UNROLLED_ROUNDS: i128 = 64;

/// Rounds of at most so many operations, which only compute, are done several at a time.
const SHORT_ROUND: usize = 32;

/// Whether a round only computes, and little.
fn is_short(lists: [&[Stmt]; 2]) -> bool {
    let mut all = lists.into_iter().flatten();
    all.clone().count() <= SHORT_ROUND && all.all(|stmt| matches!(stmt, Stmt::Let { .. }))
}

/// A loop that ends at the latest when a carried value reaches a constant. At the head of the loop that lets a compiler which does
/// several rounds at a time compare with the constant once for all of them.
struct ConstantBound {
    count: Operand,
    bound: Operand,
    /// Rest of the condition.
    others: Operand,
    /// The statements of the header that count. After the test compilers know them as what counts rounds.
    counts: Range<usize>,
}

impl ConstantBound {
    fn of(header: &[Stmt], condition: Operand, carried: &[Carried]) -> Option<ConstantBound> {
        let defines = |stmt: &Stmt, operand: Operand| matches!(stmt, Stmt::Let { var, .. } if Operand::Var(*var) == operand);
        let operands_of = |operand: Operand, which: Op| match header
            .iter()
            .find(|stmt| defines(stmt, operand))?
        {
            Stmt::Let { op, operands, .. } if *op == which => <[Operand; 2]>::try_from(&operands[..]).ok(),
            _ => None,
        };
        let [one, other] = operands_of(condition, Op::And)?;
        [(one, other), (other, one)].into_iter().find_map(|(first, others)| {
            let [count, bound] = operands_of(first, Op::Lt)?;
            let next = carried.iter().find(|carried| Operand::Var(carried.var) == count)?.next;
            let counts = header.iter().position(|stmt| defines(stmt, next));
            let counts = counts.map_or(0..0, |position| position..position + 1);
            let uses_next =
                |stmt: &Stmt| matches!(stmt, Stmt::Let { operands, .. } if operands.contains(&next));
            let is_counted = matches!(bound, Operand::Constant(_)) && !header.iter().any(uses_next);
            is_counted.then_some(ConstantBound { count, bound, others, counts })
        })
    }
}

impl Writer<'_> {
    /// Writes a loop, whose carried values are defined.
    pub(crate) fn repetition(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For { var, start, end, step, carried, body } => {
                if let Some(unroll) = self.language.unroll().filter(|_| self.is_unrolled(stmt)) {
                    self.sink().line(unroll);
                }
                let head = self.for_head(*var, *start, *end, *step);
                self.sink().open(&head);
                self.statements(body);
                self.prefetch_behind_cursors(body);
                self.update(carried);
                self.sink().close();
            }
            Stmt::While { carried, header, condition, body } => {
                let unroll = self.language.unroll_some().filter(|_| is_short([header, body]));
                let bound = unroll.and_then(|_| ConstantBound::of(header, *condition, carried));
                if let Some(unroll) = unroll {
                    self.sink().line(unroll);
                }
                let (condition, before, counting) = match &bound {
                    None => {
                        self.sink().open("for (;;)");
                        (*condition, [&header[..], &[]], &[][..])
                    }
                    Some(ConstantBound { count, bound, others, counts }) => {
                        let [count, bound] =
                            [count, bound].map(|side| self.value(*side).within(Binding::Sum));
                        self.sink().open(&format!("for (; {count} < {bound};)"));
                        let before = [&header[..counts.start], &header[counts.end..]];
                        (*others, before, &header[counts.clone()])
                    }
                };
                before.into_iter().for_each(|statements| self.statements(statements));
                let condition = self.value(condition).within(Binding::Unary);
                let stopped = self.or_stopped(stmt);
                self.sink().line(&format!("if (!{condition}{stopped}) break;"));
                self.waits_conditionally |= header.iter().chain(body).any(waits);
                self.statements(counting);
                self.statements(body);
                self.update(carried);
                self.sink().close();
            }
            _ => {}
        }
    }

    /// Whether a loop goes through private memory, in few rounds that are known.
    fn is_unrolled(&self, stmt: &Stmt) -> bool {
        let Stmt::For { start, end, step, .. } = stmt else { return false };
        let [start, end, step] = [start, end, step].map(|&operand| self.intervals.operand(operand));
        let known = [start, end, step].iter().all(|range| range.0 == range.1);
        known && end.0 - start.0 <= UNROLLED_ROUNDS * step.0 && self.uses_private(stmt)
    }

    /// `for (…)` without its brace.
    pub(crate) fn for_head(&mut self, var: Var, start: Operand, end: Operand, step: Operand) -> String {
        let start = self.value(start).text;
        let end = self.value(end).within(Binding::Sum);
        let (ty, name) = (self.register(var), self.name(var).to_owned());
        let advance = self.advance(&name, step);
        format!("for ({ty} {name} = {start}; {name} < {end}; {advance})")
    }

    /// `k++` or `k += step`.
    pub(crate) fn advance(&mut self, name: &str, step: Operand) -> String {
        match step {
            Operand::Constant(step) if step.as_integer() == Some(1) => format!("{name}++"),
            step => format!("{name} += {}", self.value(step).text),
        }
    }

    pub(crate) fn define_carried(&mut self, carried: &[Carried]) {
        for carried in carried {
            let initial = self.value(carried.initial);
            self.define(carried.var, &initial);
        }
    }

    fn update(&mut self, carried: &[Carried]) {
        let next: Vec<(Var, Expression)> =
            carried.iter().map(|carried| (carried.var, self.value(carried.next))).collect();
        self.assign_at_once(next, None);
    }

    /// Assigns all values at once: in an order in which no assignment reads what was just overwritten, through temporaries
    /// where there is no such order. With a mask, values change only where it holds.
    pub(crate) fn assign_at_once(&mut self, mut assignments: Vec<(Var, Expression)>, mask: Option<&str>) {
        assignments.retain(|(var, value)| value.text != self.place(*var));
        while !assignments.is_empty() {
            let free = (0..assignments.len()).find(|&k| {
                let var = assignments[k].0;
                assignments.iter().enumerate().all(|(j, (_, value))| j == k || !value.reads.contains(&var))
            });
            match free {
                Some(k) => {
                    let (var, value) = assignments.remove(k);
                    self.assign(var, &value, mask);
                }
                None => {
                    let (var, value) = &mut assignments[0];
                    let temporary = self.names.fresh(&format!("next_{}", self.vars[var.0 as usize]));
                    let ty = self.language.register(self.program.var_type(*var));
                    let line = format!("{ty} {temporary} = {};", value.text);
                    *value = Expression::atom(temporary);
                    self.sink().line(&line);
                }
            }
        }
    }

    /// Assigns a value that has been declared.
    pub(crate) fn assign(&mut self, var: Var, value: &Expression, mask: Option<&str>) {
        let place = self.place(var);
        let line = match mask {
            Some(mask) => format!("{place} = {mask} ? {} : {place};", value.within(Binding::Or)),
            None => format!("{place} = {};", value.text),
        };
        self.sink().line(&line);
    }

    pub(crate) fn branch(
        &mut self,
        condition: Operand,
        then: &[Stmt],
        otherwise: &[Stmt],
        results: &[Joined],
    ) {
        let condition = self.value(condition);
        if then.is_empty() && otherwise.is_empty() {
            for joined in results {
                let (a, b) = (self.value(joined.then), self.value(joined.otherwise));
                let text = format!(
                    "{} ? {} : {}",
                    condition.within(Binding::Or),
                    a.within(Binding::Or),
                    b.within(Binding::Or)
                );
                self.define(joined.var, &Expression::atom(text));
            }
            return;
        }
        for joined in results {
            self.declare(joined.var);
        }
        self.branches(&condition, then, otherwise, results);
    }

    /// Writes a branch, whose results are declared.
    pub(crate) fn branches(
        &mut self,
        condition: &Expression,
        then: &[Stmt],
        otherwise: &[Stmt],
        results: &[Joined],
    ) {
        self.sink().open(&format!("if ({})", condition.text));
        self.statements(then);
        for joined in results {
            let value = self.value(joined.then);
            self.assign(joined.var, &value, None);
        }
        self.end_branch(then);
        if !otherwise.is_empty() || !results.is_empty() {
            self.sink().reopen("else");
            self.statements(otherwise);
            for joined in results {
                let value = self.value(joined.otherwise);
                self.assign(joined.var, &value, None);
            }
            self.end_branch(otherwise);
        }
        self.sink().close();
        self.waits_conditionally |= [then, otherwise].iter().all(|side| side.iter().any(waits));
        self.end_branch(then.iter().chain(otherwise));
    }
}
