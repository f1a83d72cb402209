//! Warp collectives: shuffles and votes.
//!
//! Where threads have warps, a collective is one instruction. Elsewhere it is emulated: through shared memory, into
//! which every thread puts its value and from which it takes another's, with a barrier after each; or, where one
//! worker runs all threads, through the array that holds a value's lanes.

use pumice_program::{CollectiveOp, LaneStep, Operand, Var, WARP};
use pumice_scalar::ScalarType;

use crate::dialect::Threads;
use crate::expression::{Binding, Expression};
use crate::helpers::Helper;
use crate::writer::Writer;

/// Memory through which the threads of a block exchange values, where they have no warps.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// Name of the array: a cell of 8 bytes for each thread.
    pub(crate) cells: String,
    /// Number of cells: whole warps.
    pub(crate) count: u32,
    /// The name of the thread's number.
    pub(crate) thread: String,
}

impl Exchange {
    /// Returns the bytes of all cells.
    pub(crate) fn bytes(&self) -> u32 {
        8 * self.count
    }
}

/// The most that a lane's number can be.
const LAST: u32 = WARP - 1;

/// The number from which a lane takes its value, given its own number: both count through the block, or a strip of
/// whole warps. A distance that is `near` is known to be less than a warp.
fn source(op: CollectiveOp, own: &str, distance: &str, near: bool) -> String {
    match (op, near) {
        (CollectiveOp::Shuffle, _) => format!("({own} & ~{LAST}) | ({distance} & {LAST})"),
        (CollectiveOp::ShuffleXor, true) => format!("{own} ^ {distance}"),
        (CollectiveOp::ShuffleXor, false) => format!("{own} ^ ({distance} & {LAST})"),
        (CollectiveOp::ShuffleUp, true) => {
            format!("({own} & {LAST}) >= {distance} ? {own} - {distance} : {own}")
        }
        // As an unsigned number, what is below zero is too large as well.
        (CollectiveOp::ShuffleUp, false) => {
            format!("(u32)({own} & {LAST}) - (u32){distance} <= {LAST}u ? {own} - {distance} : {own}")
        }
        (_, true) => format!("({own} & {LAST}) + {distance} <= {LAST} ? {own} + {distance} : {own}"),
        (_, false) => {
            format!("(u32)({own} & {LAST}) + (u32){distance} <= {LAST}u ? {own} + {distance} : {own}")
        }
    }
}

impl Writer<'_> {
    /// Writes a collective that threads with numbers do.
    pub(crate) fn collective(&mut self, var: Var, op: CollectiveOp, operands: &[Operand]) {
        if self.uses[var.0 as usize].count == 0 {
            return;
        }
        let Threads::Numbered { warps, .. } = self.language.threads() else { return };
        match (op.is_shuffle(), warps) {
            (true, true) => self.warp_shuffle(var, op, operands),
            (true, false) => self.block_shuffle(var, op, operands),
            (false, true) => {
                let vote = self.vote(op, operands[0]);
                let name = self.language.vote(op);
                let call = format!("{name}({}, {})", self.members, vote.text);
                self.define(var, &Expression::atom(call));
            }
            (false, false) => self.block_vote(var, op, operands[0]),
        }
    }

    /// Returns the contribution of a lane to a vote. A lane whose predicate is false does not change the result.
    fn vote(&mut self, op: CollectiveOp, condition: Operand) -> Expression {
        let condition = self.value(condition);
        match &self.predication.predicate {
            None => condition,
            Some(active) => {
                let (not, symbol) = if op == CollectiveOp::All { ("!", "|") } else { ("", "&") };
                let text = format!("{not}{active} {symbol} {}", condition.within(Binding::Unary));
                Expression { binding: Binding::Or, ..Expression::atom(text) }
            }
        }
    }

    /// Whether a distance is known to be less than a warp, in every thread.
    fn is_near(&self, distance: Operand) -> bool {
        let (low, high) = self.intervals.operand(distance);
        !self.is_doubted(distance) && low >= 0 && high <= LAST.into()
    }

    fn warp_shuffle(&mut self, var: Var, op: CollectiveOp, operands: &[Operand]) {
        let ty = self.program.var_type(var);
        let value = self.typed_value(operands[0]);
        let distance = self.value(operands[1]);
        let bits = if ty == ScalarType::Bool {
            format!("(i32){}", value.within(Binding::Unary))
        } else {
            value.text
        };
        let call = |op: CollectiveOp, lane: &str| {
            let call = format!("{}({}, {bits}, {lane})", self.language.shuffle(op), self.members);
            if ty == ScalarType::Bool { format!("{call} != 0") } else { call }
        };
        if matches!(op, CollectiveOp::Shuffle | CollectiveOp::ShuffleXor) || self.is_near(operands[1]) {
            let result = call(op, &distance.text);
            self.define(var, &Expression::atom(result));
            return;
        }
        // The instruction knows the last bits of a distance only. Every lane must take part in it, so there is no branch
        // around it.
        let name = self.name(var).to_owned();
        let [from, near] = ["from", "near"].map(|hint| self.names.fresh(&format!("{hint}_{name}")));
        let symbol = if op == CollectiveOp::ShuffleUp { "-" } else { "+" };
        let Threads::Numbered { thread, .. } = self.language.threads() else { return };
        let line =
            format!("u32 {from} = {thread} % {WARP} {symbol} (u32){};", distance.within(Binding::Unary));
        self.text.line(&line);
        let line = format!("{} {near} = {};", self.register(var), call(CollectiveOp::Shuffle, &from));
        self.text.line(&line);
        let own = self.value(operands[0]).within(Binding::Or);
        self.define(var, &Expression::atom(format!("{from} <= {LAST} ? {near} : {own}")));
    }

    /// Puts a value where the block's other threads find it, and says how to take one out.
    pub(crate) fn put_out(&mut self, ty: ScalarType, value: &str) -> String {
        let Some(exchange) = self.exchange.clone() else { return String::new() };
        let (element, space) = (self.language.element(ty), self.language.space(true));
        let cells = format!("(({space}{element} *){})", exchange.cells);
        self.text.line(&format!("{cells}[{}] = {value};", exchange.thread));
        self.block_barrier();
        cells
    }

    pub(crate) fn block_barrier(&mut self) {
        if let Some(barrier) = self.language.barrier() {
            self.text.line(barrier);
        }
    }

    fn block_shuffle(&mut self, var: Var, op: CollectiveOp, operands: &[Operand]) {
        let ty = self.program.var_type(var);
        let value = self.value(operands[0]).text;
        let distance = self.value(operands[1]).within(Binding::Unary);
        let cells = self.put_out(ty, &value);
        let thread = self.exchange.as_ref().map(|exchange| exchange.thread.clone()).unwrap_or_default();
        let near = self.is_near(operands[1]);
        let element = format!("{cells}[{}]", source(op, &thread, &distance, near));
        let text = if ty == ScalarType::Bool { format!("{element} != 0") } else { element };
        self.define(var, &Expression::atom(text));
        self.block_barrier();
    }

    fn block_vote(&mut self, var: Var, op: CollectiveOp, condition: Operand) {
        let vote = self.vote(op, condition);
        let cells = self.put_out(ScalarType::U32, &vote.text);
        let Some(exchange) = self.exchange.clone() else { return };
        let (thread, threads) = (&exchange.thread, self.program.threads);
        self.helpers.insert(Helper::Ballot);
        let lanes = if threads.is_multiple_of(WARP) {
            WARP.to_string()
        } else {
            let (whole, rest) = (threads / WARP * WARP, threads % WARP);
            format!("{thread} < {whole} ? {WARP} : {rest}")
        };
        let ballot = format!("{}({cells} + ({thread} & ~{LAST}), {lanes})", Helper::Ballot.name());
        let text = match op {
            CollectiveOp::Any => format!("{ballot} != 0"),
            // Of a warp that is not whole, the lanes that are missing do not vote.
            CollectiveOp::All if threads.is_multiple_of(WARP) => format!("{ballot} == ~0u"),
            CollectiveOp::All => format!("{ballot} == ~0u >> ({WARP} - ({lanes}))"),
            _ => ballot,
        };
        self.define(var, &Expression::atom(text));
        self.block_barrier();
    }

    /// An array with an operand's value in each lane of a strip. A piece ends here.
    fn lane_values(&mut self, operand: Operand) -> String {
        let name = match operand {
            Operand::Var(var) if self.lanes.has_array(var) => {
                let name = self.name(var).to_owned();
                self.finish_piece();
                return name;
            }
            Operand::Var(var) => self.name(var).to_owned(),
            Operand::Constant(_) => "constant".to_owned(),
        };
        let ty = self.language.register(self.program.operand_type(operand));
        let all = self.new_lane_array(&format!("{name}_lanes"), ty);
        let value = self.inside(|writer| writer.value(operand));
        self.lane_line(&format!("{all}[{}] = {};", self.lanes.lane(), value.text));
        self.finish_piece();
        all
    }

    /// Writes a collective of the lanes of a strip. It ends a piece, and is one itself: each lane's value must be there before
    /// another lane takes it, and must not change before all have taken theirs.
    pub(crate) fn lane_collective(
        &mut self,
        var: Var,
        op: CollectiveOp,
        operands: &[Operand],
        step: LaneStep,
    ) {
        if self.uses[var.0 as usize].count == 0 {
            return;
        }
        if step == LaneStep::Once {
            // All lanes have the same value.
            let value = self.value(operands[0]);
            self.define(var, &value);
            return;
        }
        if !op.is_shuffle() {
            self.lane_vote(var, op, operands[0]);
            return;
        }
        let values = self.lane_values(operands[0]);
        self.inside(|writer| {
            let distance = writer.value(operands[1]).within(Binding::Unary);
            let lane = writer.lanes.lane().to_owned();
            let near = writer.is_near(operands[1]);
            let value = format!("{values}[{}]", source(op, &lane, &distance, near));
            writer.define(var, &Expression::atom(value));
        });
        self.finish_piece();
    }

    fn lane_vote(&mut self, var: Var, op: CollectiveOp, condition: Operand) {
        let votes = self.new_lane_array("votes", "u32");
        let (lane, width) = (self.lanes.lane().to_owned(), self.lanes.width().to_owned());
        let mask = self.lanes.mask();
        self.inside(|writer| {
            let condition = writer.value(condition).within(Binding::Unary);
            let vote = match (mask, op) {
                (None, _) => condition,
                (Some(mask), CollectiveOp::All) => format!("!{mask} | {condition}"),
                (Some(mask), _) => format!("{mask} & {condition}"),
            };
            writer.lane_line(&format!("{votes}[{lane}] = {vote};"));
        });
        self.finish_piece();
        self.inside(|writer| writer.declare(var));
        let [first, bits, k] = ["first_lane", "ballot", "k"].map(|hint| self.names.fresh(hint));
        let result = match op {
            CollectiveOp::Any => format!("{bits} != 0"),
            CollectiveOp::All => format!("{bits} == ~0u"),
            _ => bits.clone(),
        };
        let name = self.name(var).to_owned();
        self.text.open(&format!("for (int {first} = 0; {first} < {width}; {first} += {WARP})"));
        self.text.line(&format!("u32 {bits} = 0;"));
        self.text.line(&format!(
            "for (int {k} = 0; {k} < {WARP}; {k}++) {bits} |= {votes}[{first} + {k}] << {k};"
        ));
        self.text.line(&format!("for (int {k} = 0; {k} < {WARP}; {k}++) {name}[{first} + {k}] = {result};"));
        self.text.close();
    }
}
