//! Parallel loops, as plain loops or as strips of lanes.

use std::rc::Rc;

use pumice_program::lanes::is_straight;
use pumice_program::{LanePlan, Operand, Stmt, Var, WARP, Workers};

use super::Lanes;
use crate::atomics::is_atomic;
use crate::expression::Binding;
use crate::writer::Writer;

/// The most lanes that a strip has on any machine. The numbers of lanes in [`super::preamble`] divide it, and are whole
/// warps.
const MOST_LANES: i128 = 64;

/// Number of the thread that runs, in a parallel loop: the position of its private memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    /// The index of the loop, which is the thread's number but for what follows.
    index: Option<Var>,
    /// The number of the warp's first thread, to be added.
    warp: Option<String>,
    /// The first index of the round, to be subtracted.
    round: Option<String>,
}

impl Writer<'_> {
    /// Writes a parallel loop.
    pub(crate) fn parallel_lanes(&mut self, workers: Workers, index: Var, extent: Operand, body: &[Stmt]) {
        let range = self.intervals.operand(extent);
        let bound = self.value(extent).within(Binding::Sum);
        let count = match workers {
            Workers::Warps => return self.warps_in_turn(index, range, &bound, body),
            Workers::Threads => self.program.threads,
            Workers::Lanes => WARP,
        };
        let warp = if workers == Workers::Lanes { self.cell.warp.clone() } else { None };
        let outer = std::mem::replace(&mut self.cell, Cell { index: Some(index), warp, round: None });
        // A thread with several indices has its private memory for all of them, and is the same lane for all of them.
        let has_place = body.iter().any(|stmt| self.uses_private(stmt))
            || (!count.is_multiple_of(WARP) && body.iter().any(Stmt::is_warp_collective));
        if range.1 > count.into() && has_place {
            let ty = self.register(index);
            let [round, end] = ["round", "end"].map(|hint| self.names.fresh(hint));
            self.text.open(&format!("for ({ty} {round} = 0; {round} < {bound}; {round} += {count})"));
            self.text
                .line(&format!("{ty} {end} = {bound} - {round} < {count} ? {bound} : {round} + {count};"));
            self.cell.round = Some(round.clone());
            self.lanes_from(&round, index, (1, count.into()), &end, body);
            self.text.close();
        } else {
            self.lanes_from("0", index, range, &bound, body);
        }
        self.cell = outer;
    }

    fn warps_in_turn(&mut self, index: Var, range: (i128, i128), bound: &str, body: &[Stmt]) {
        let (ty, name) = (self.register(index), self.name(index).to_owned());
        if range == (1, 1) {
            self.text.open_block();
            self.text.line(&format!("{ty} {name} = 0;"));
        } else {
            self.text.open(&format!("for ({ty} {name} = 0; {name} < {bound}; {name}++)"));
        }
        let outer = self.cell.clone();
        if body.iter().any(|stmt| self.uses_private(stmt)) {
            let first = self.names.fresh("first_thread");
            let warps = self.program.threads / WARP;
            let warp = if range.1 > warps.into() { format!("{name} % {warps}") } else { name };
            self.text.line(&format!("int {first} = {warp} * {WARP};"));
            self.cell.warp = Some(first);
        }
        self.statements(body);
        self.cell = outer;
        self.text.close();
    }

    /// The thread's column of private memory.
    pub(crate) fn cell_place(&mut self) -> String {
        let Cell { index, warp, round } = self.cell.clone();
        let index = index.map(|index| self.place(index)).unwrap_or_default();
        let warp = warp.map(|warp| format!("{warp} + ")).unwrap_or_default();
        let round = round.map(|round| format!(" - {round}")).unwrap_or_default();
        format!("{warp}{index}{round}")
    }

    /// Writes a loop over threads, or over the lanes of a warp, from `start` to `bound`; how many there are is in the
    /// range.
    fn lanes_from(&mut self, start: &str, index: Var, range: (i128, i128), bound: &str, body: &[Stmt]) {
        let (ty, name) = (self.register(index), self.name(index).to_owned());
        let (low, high) = range;
        let joint = body.iter().any(Stmt::is_warp_collective);
        if (low, high) == (1, 1) && !joint {
            self.text.open_block();
            self.text.line(&format!("{ty} {name} = {start};"));
            self.statements(body);
            self.text.close();
            return;
        }
        // Threads that do something atomically may wait for what another one does first: they must not advance
        // together.
        let ordered = body.iter().any(is_atomic);
        if !joint && (ordered || body.iter().all(is_straight)) {
            if !ordered {
                self.text.directive("#pragma GCC ivdep");
            }
            self.text.open(&format!("for ({ty} {name} = {start}; {name} < {bound}; {name}++)"));
            self.statements(body);
            self.text.close();
            return;
        }

        let plan = LanePlan::of(self.program, index, body);
        let wide = plan.arrays().any(|var| self.program.var_type(var).bytes() == 8);
        let mut lanes = Lanes {
            plan: Some(Rc::new(plan)),
            index: Some(index),
            first: self.names.fresh(&format!("{name}_0")),
            lane: self.names.fresh("lane"),
            ..Lanes::default()
        };

        let first = lanes.first.clone();
        let (high, warp) = (high.max(1), i128::from(WARP));
        let width = if joint { (high + warp - 1) / warp * warp } else { high };
        if low == high && start == "0" && width <= MOST_LANES {
            lanes.width = width.to_string();
            lanes.first = String::new();
            self.text.open_block();
            self.strip(&lanes, body, (width > high).then_some(bound));
            self.text.close();
            return;
        }
        let width = if start != "0" && width <= MOST_LANES {
            // No round has more lanes.
            width.to_string()
        } else {
            self.uses_lanes = true;
            if wide { "LANES_WIDE" } else { "LANES" }.to_owned()
        };
        lanes.width = width.clone();
        if low == high && start == "0" && high % MOST_LANES == 0 {
            self.text.open(&format!("for ({ty} {first} = 0; {first} < {bound}; {first} += {width})"));
            self.strip(&lanes, body, None);
            self.text.close();
            return;
        }
        self.text.line(&format!("{ty} {first} = {start};"));
        self.text.open(&format!("for (; {bound} - {first} >= {width}; {first} += {width})"));
        self.strip(&lanes, body, None);
        self.text.close();
        self.text.open(&format!("if ({first} < {bound})"));
        self.strip(&lanes, body, Some(bound));
        self.text.close();
    }

    /// Writes a strip; with a bound, only the lanes below it are live.
    fn strip(&mut self, lanes: &Lanes, body: &[Stmt], bound: Option<&str>) {
        self.lanes = lanes.clone();
        if let (Some(bound), Some(index)) = (bound, lanes.index) {
            let live = self.new_mask("live");
            let index = self.inside(|writer| writer.lane_place(index));
            self.lane_line(&format!("{live} = {index} < {bound};"));
            self.finish_piece();
            self.lanes.mask = Some(live);
        }
        self.with_strip(body);
        self.lanes = Lanes::default();
    }

    /// Writes the inside of a strip. There may be another strip for the lanes that are left over, so what it put into other
    /// values is forgotten.
    fn with_strip(&mut self, body: &[Stmt]) {
        let inlined = self.inlined.clone();
        self.lane_statements(body);
        self.finish_piece();
        self.inlined = inlined;
    }
}
