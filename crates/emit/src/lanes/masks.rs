//! Control flow that lanes take differently: under masks of the lanes that take it.

use pumice_program::{Carried, Joined, Operand, Stmt, Var};
use pumice_scalar::Constant;

use crate::expression::{Binding, Expression};
use crate::writer::Writer;

impl Writer<'_> {
    /// Ends a round of a loop that some lanes have left.
    fn update_masked(&mut self, carried: &[Carried], index: Option<(Var, Expression)>) {
        self.inside(|writer| {
            let carried = carried.iter().map(|carried| (carried.var, writer.value(carried.next)));
            let next = carried.chain(index).collect();
            let mask = writer.mask();
            writer.assign_at_once(next, mask.as_deref());
        });
        self.finish_piece();
    }

    /// A loop's index in the next round.
    fn advanced(&mut self, var: Var, step: Operand) -> Expression {
        let index = self.lane_place(var);
        let step = self.value(step);
        let text = format!("{index} + {}", step.within(Binding::Product));
        let reads = step.reads.into_iter().chain([var]).collect();
        Expression { binding: Binding::Sum, reads, ..Expression::atom(text) }
    }

    /// Makes a mask of the lanes that are live now, for a loop to narrow.
    fn loop_mask(&mut self) -> String {
        let live = self.new_mask("live");
        let outer = self.lanes.mask.clone().unwrap_or_else(|| "1".to_owned());
        self.lane_line(&format!("{live} = {outer};"));
        live
    }

    /// Narrows a loop's mask and leaves the loop when no lane is live.
    fn test_mask(&mut self, live: &str, condition: &Expression, stopped: &str) {
        let any = self.names.fresh("going");
        self.text.line(&format!("int {any} = 0;"));
        self.lane_line(&format!("{live} = {live} & {};", condition.within(Binding::Unary)));
        self.lane_line(&format!("{any} |= {live};"));
        self.finish_piece();
        self.text.line(&format!("if (!{any}{stopped}) break;"));
    }

    pub(super) fn masked_while(
        &mut self,
        carried: &[Carried],
        (header, condition): (&[Stmt], Operand),
        body: &[Stmt],
        stopped: &str,
    ) {
        self.define_carried_lanes(carried);
        let live = self.loop_mask();
        self.finish_piece();
        let outer = self.lanes.mask.replace(live.clone());
        self.text.open("for (;;)");
        self.lane_statements(header);
        let condition = self.inside(|writer| writer.value(condition));
        self.test_mask(&live, &condition, stopped);
        self.lane_statements(body);
        self.update_masked(carried, None);
        self.text.close();
        self.lanes.mask = outer;
    }

    pub(super) fn masked_for(
        &mut self,
        var: Var,
        [start, end, step]: [Operand; 3],
        carried: &[Carried],
        body: &[Stmt],
    ) {
        let even_index = !self.lanes.var_varies(var);
        let name = self.name(var).to_owned();
        if !even_index {
            self.inside(|writer| {
                let start = writer.value(start);
                writer.define(var, &start);
            });
        }
        self.define_carried_lanes(carried);
        let live = self.loop_mask();
        self.finish_piece();
        let outer = self.lanes.mask.replace(live.clone());
        if even_index {
            let start = self.value(start).text;
            let advance = self.advance(&name, step);
            let ty = self.register(var);
            self.text.open(&format!("for ({ty} {name} = {start}; ; {advance})"));
        } else {
            self.text.open("for (;;)");
        }
        let condition = self.inside(|writer| {
            let index = writer.lane_place(var);
            let end = writer.value(end).within(Binding::Sum);
            Expression { binding: Binding::Relation, ..Expression::atom(format!("{index} < {end}")) }
        });
        self.test_mask(&live, &condition, "");
        self.lane_statements(body);
        let step = (!even_index).then(|| (var, self.inside(|writer| writer.advanced(var, step))));
        self.update_masked(carried, step);
        self.text.close();
        self.lanes.mask = outer;
    }

    pub(super) fn masked_branch(
        &mut self,
        condition: Operand,
        then: &[Stmt],
        otherwise: &[Stmt],
        results: &[Joined],
    ) {
        self.declare_results(results);
        let outer = self.lanes.mask.clone();
        let condition = self.inside(|writer| writer.value(condition)).within(Binding::Unary);
        let outer_and = outer.as_ref().map(|mask| format!("{mask} & ")).unwrap_or_default();
        // With nothing to do otherwise, the other value is there from the start, and selected away.
        let branches = [(then, false), (otherwise, true)];
        let branches = &branches[..if otherwise.is_empty() { 1 } else { 2 }];
        let mut masks = Vec::new();
        for (_, negated) in branches {
            let live = self.new_mask("live");
            let any = self.names.fresh("going");
            self.text.line(&format!("int {any} = 0;"));
            let not = if *negated { "!" } else { "" };
            self.lane_line(&format!("{live} = {outer_and}{not}{condition};"));
            self.lane_line(&format!("{any} |= {live};"));
            masks.push((live, any));
        }
        self.inside(|writer| {
            for joined in results {
                let value = if otherwise.is_empty() {
                    writer.value(joined.otherwise)
                } else {
                    let zero = Constant::zero(writer.program.var_type(joined.var));
                    writer.constant(zero, false)
                };
                writer.assign(joined.var, &value, None);
            }
        });
        self.finish_piece();
        for ((list, negated), (live, any)) in branches.iter().zip(masks) {
            self.text.open(&format!("if ({any})"));
            self.lanes.mask = Some(live.clone());
            self.lane_statements(list);
            self.inside(|writer| {
                for joined in results {
                    let value = writer.value(if *negated { joined.otherwise } else { joined.then });
                    writer.assign(joined.var, &value, Some(&live));
                }
            });
            self.finish_piece();
            self.text.close();
        }
        self.lanes.mask = outer;
    }
}
