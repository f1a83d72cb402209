//! Conditions and loops that warps take apart and in which threads wait for each other, where that is not plain.
//!
//! A warp may leave such a loop, or skip such a branch, while others are inside. Where a barrier of the block stands for a warp's, all
//! warps come along until the last one is through, and those that are not at work are predicated (`threads.rs`). So are, in a
//! warp that has its own barrier, lanes without an index: they must decide as the others do, and may not have what those decide by.

use pumice_program::{Carried, CollectiveOp, Stmt};
use pumice_scalar::ScalarType;

use crate::dialect::Threads;
use crate::expression::Binding;
use crate::helpers::Helper;
use crate::threads::waits;
use crate::writer::Writer;

impl Writer<'_> {
    /// Whether threads wait for each other in a branch or loop that not all of them take, so that it cannot be written plainly.
    pub(crate) fn is_joint(&self, stmt: &Stmt) -> bool {
        let varies = match stmt {
            Stmt::If { condition, .. } | Stmt::While { condition, .. } => {
                self.predication.varies(&[*condition])
            }
            Stmt::For { start, end, step, .. } => self.predication.varies(&[*start, *end, *step]),
            _ => false,
        };
        let is_plain = match self.language.threads() {
            Threads::Numbered { warps, .. } => warps && self.predication.predicate.is_none(),
            Threads::Lanes => true,
        };
        varies && !is_plain && waits(stmt)
    }

    /// Writes such a branch or loop.
    pub(crate) fn write_joint(&mut self, stmt: &Stmt) {
        let outer = self.predication.predicate.clone();
        match stmt {
            Stmt::If { condition, then, otherwise, results } => {
                for joined in results {
                    let zero = self.zero(self.program.var_type(joined.var));
                    self.define(joined.var, &zero);
                }
                for (list, is_then) in [(then, true), (otherwise, false)] {
                    if list.is_empty() && results.is_empty() {
                        continue;
                    }
                    let condition = self.value(*condition).within(Binding::Unary);
                    let not = if is_then { "" } else { "!" };
                    let going = self.new_predicate(outer.as_deref(), Some(&format!("{not}{condition}")));
                    let any = self.any_of_group(&going);
                    self.text.open(&format!("if ({any})"));
                    self.predication.predicate = Some(going.clone());
                    self.statements(list);
                    for joined in results {
                        let value = self.value(if is_then { joined.then } else { joined.otherwise });
                        self.assign(joined.var, &value, Some(&going));
                    }
                    self.close_branch(list);
                    self.predication.predicate = outer.clone();
                }
            }
            Stmt::While { carried, header, condition, body } => {
                self.define_carried(carried);
                let going = self.new_predicate(outer.as_deref(), None);
                self.predication.predicate = Some(going.clone());
                self.text.open("for (;;)");
                self.statements(header);
                let condition = self.value(*condition);
                self.go_on(stmt, &going, &condition.within(Binding::Unary));
                self.statements(body);
                self.update_going(carried, &going);
                self.text.close();
            }
            Stmt::For { var, start, end, step, carried, body } => {
                self.define_carried(carried);
                let going = self.new_predicate(outer.as_deref(), None);
                self.predication.predicate = Some(going.clone());
                let (start, end) = (self.value(*start).text, self.value(*end).within(Binding::Sum));
                let (ty, name) = (self.register(*var), self.name(*var).to_owned());
                let advance = self.advance(&name, *step);
                self.text.open(&format!("for ({ty} {name} = {start};;)"));
                self.go_on(stmt, &going, &format!("({name} < {end})"));
                self.statements(body);
                self.update_going(carried, &going);
                self.text.line(&format!("if ({going}) {advance};"));
                self.text.close();
            }
            _ => {}
        }
        self.predication.predicate = outer;
    }

    /// Declares the predicate of the threads that go on: those at work, if a condition holds for them.
    fn new_predicate(&mut self, outer: Option<&str>, condition: Option<&str>) -> String {
        let going = self.names.fresh("going");
        let conditions: Vec<&str> = outer.into_iter().chain(condition).collect();
        let condition = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" & ") };
        self.text.line(&format!("bool {going} = {condition};"));
        going
    }

    /// Writes the test of a loop, which ends when no thread goes on.
    fn go_on(&mut self, stmt: &Stmt, going: &str, condition: &str) {
        let stopped = match stmt {
            Stmt::While { .. } => self.or_stopped(stmt),
            _ => String::new(),
        };
        self.text.line(&format!("{going} = {going} & {condition};"));
        let any = self.any_of_group(going);
        self.text.line(&format!("if (!{any}{stopped}) break;"));
        self.waits_conditionally = true;
    }

    fn update_going(&mut self, carried: &[Carried], going: &str) {
        let next = carried.iter().map(|carried| (carried.var, self.value(carried.next))).collect();
        self.assign_at_once(next, Some(going));
    }

    /// Whether a predicate holds in any of the threads that wait for each other.
    fn any_of_group(&mut self, predicate: &str) -> String {
        match self.language.threads() {
            Threads::Numbered { warps: true, .. } => {
                format!("{}({}, {predicate})", self.language.vote(CollectiveOp::Any), self.members)
            }
            _ => {
                self.helpers.insert(Helper::AnyOf);
                let cells = self.put_out(ScalarType::U32, predicate);
                let any = self.names.fresh("any");
                let call = format!("{}({cells}, {})", Helper::AnyOf.name(), self.program.threads);
                self.text.line(&format!("bool {any} = {call};"));
                self.block_barrier();
                any
            }
        }
    }
}
