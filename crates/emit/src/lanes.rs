//! Threads on a CPU: one worker runs all threads of a block.
//!
//! A parallel loop whose body does not loop is a plain `for`, which compilers vectorise. Where the body loops itself,
//! threads advance together as the lanes of a strip: the sequential loop goes *around* the lanes, every straight piece
//! becomes a loop over lanes, and values that live from one piece to the next are small arrays that the compiler keeps
//! in vector registers. Values that are the same for all lanes stay scalars, outside. Where lanes do different things
//! (a loop that ends at different times, a branch around a loop), a mask says which are live: the others compute along,
//! but neither load nor store, and keep the values that they carry. What lanes do atomically is done lane by lane, and
//! what the lanes of a warp do together ends a piece; a strip is then made of whole warps.
//!
//! Warps are run one after the other. A thread's private memory is a column of an array with a row for each element, so
//! that neighbouring lanes have neighbouring memory.
//!
//! Which values need arrays depends on where the pieces end, so a strip is written twice: once to find out, once for
//! good.

use std::collections::{HashMap, HashSet};

use pumice_program::{Access, Carried, Joined, Operand, Program, Space, Stmt, Var, WARP, Workers};
use pumice_scalar::{Constant, Op, ScalarType};

use crate::atomics::is_atomic;
use crate::expression::{Binding, Expression};
use crate::text::Text;
use crate::writer::Writer;

/// The most lanes that a strip has on any machine. The numbers of lanes in [`preamble`] divide it, and are whole warps.
const MOST_LANES: i128 = 64;

/// A value computed again where it is needed takes at most so many operations.
const RECOMPUTED_SIZE: u32 = 4;

/// Loops over so few lanes are unrolled before they can be vectorised.
const UNROLLED_LANES: u32 = 16;

/// How many lanes a strip has: enough independent work to hide the latency of arithmetic, few enough that a loop's
/// values stay in registers. More than 16, because gcc unrolls shorter loops before it vectorises.
pub(crate) fn preamble(text: &mut Text) {
    text.line("#ifdef __AVX512F__");
    text.line("enum { LANES = 64, LANES_WIDE = 32 };");
    text.line("#else");
    text.line("enum { LANES = 32, LANES_WIDE = 32 };");
    text.line("#endif");
}

/// For each value, whether it is an integer computed from a truth value.
///
/// gcc 13 vectorises loads at such an index wrongly: where it imitates a gather, it takes bytes of the mask that the truth
/// values are for their numbers. A loop with such a load is kept from being vectorised ([`UNVECTORISED`]).
pub(crate) fn made_of_truth(program: &Program) -> Vec<bool> {
    fn mark(list: &[Stmt], program: &Program, found: &mut [bool]) {
        for stmt in list {
            if let Stmt::Let { var, op, operands } = stmt {
                let is = |operand: &Operand| matches!(operand, Operand::Var(var) if found[var.0 as usize]);
                let constant = |operand: &Operand| matches!(operand, Operand::Constant(_));
                let made = match op {
                    Op::Cast => is(&operands[0]) || program.operand_type(operands[0]) == ScalarType::Bool,
                    Op::Select => operands[1..].iter().all(|operand| constant(operand) || is(operand)),
                    _ => operands.iter().any(is),
                };
                found[var.0 as usize] = made && program.var_type(*var).is_integer();
            }
            stmt.children().into_iter().for_each(|list| mark(list, program, found));
        }
    }
    let mut found = vec![false; program.vars.len()];
    [&program.prologue, &program.body].into_iter().for_each(|list| mark(list, program, &mut found));
    found
}

/// A statement that does nothing, and that no compiler vectorises a loop with.
pub(crate) const UNVECTORISED: &str = "__asm__ volatile(\"\");";

/// Which thread of the block runs, in a parallel loop: the place of its private memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    /// The index of the loop, which is the thread's number but for what follows.
    index: Option<Var>,
    /// The number of the warp's first thread, to be added.
    warp: Option<String>,
    /// The first index of the round, to be subtracted.
    round: Option<String>,
}

/// The state of a strip that is being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    /// Whether a strip is being written at all.
    active: bool,
    /// Whether statements go into the loop over lanes; outside it they are done once for all.
    collecting: bool,
    /// Definitions at the top of that loop.
    definitions: Text,
    /// The rest of it.
    body: Text,
    /// Whether the lanes of the loop must be run one after the other.
    ordered: bool,
    /// The values defined among the definitions.
    recomputed_here: HashSet<Var>,
    /// How many loops over lanes were finished.
    piece: u32,
    /// The index of the loop over threads.
    index: Option<Var>,
    /// The name of the first lane's index; empty if that is zero.
    first: String,
    /// The name of a lane's number.
    lane: String,
    /// How many lanes there are.
    width: String,
    /// The mask in force: an array's name.
    mask: Option<String>,
    /// By variable: whether it can differ from lane to lane.
    varying: Vec<bool>,
    /// Whether this is the first writing, which only finds out.
    recording: bool,
    /// The piece in which a value is defined.
    defined_in: HashMap<Var, u32>,
    /// The values that are used in another piece than their own.
    crossing: HashSet<Var>,
    /// Values that are cheap to compute again in every piece that uses them, above all indices: an index read from an
    /// array would hide that neighbouring lanes read neighbouring memory.
    recomputed: HashMap<Var, (Op, Vec<Operand>)>,
}

impl Lanes {
    /// Where statements are to be added, if not to the text outside.
    pub(crate) fn sink(&mut self) -> Option<&mut Text> {
        self.collecting.then_some(&mut self.body)
    }

    /// The name of a lane's number.
    pub(crate) fn lane(&self) -> &str {
        &self.lane
    }

    /// How many lanes there are.
    pub(crate) fn width(&self) -> &str {
        &self.width
    }

    /// Whether a lane is live, if that is in question.
    pub(crate) fn mask(&self) -> Option<String> {
        self.mask.clone()
    }

    /// Says that the lanes of the loop at hand must be run one after the other.
    pub(crate) fn order(&mut self) {
        self.ordered |= self.collecting;
    }

    /// Gives a value an array, unless it is computed where it is used.
    pub(crate) fn keep(&mut self, var: Var) -> bool {
        let keeps = self.index != Some(var) && !self.recomputed.contains_key(&var);
        if keeps {
            self.crossing.insert(var);
        }
        keeps
    }

    /// Whether an operand can differ from lane to lane.
    pub(crate) fn varies(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Var(var) if self.var_varies(var))
    }

    fn var_varies(&self, var: Var) -> bool {
        self.varying.get(var.0 as usize).copied().unwrap_or(false)
    }

    /// Whether a value has an array.
    fn has_array(&self, var: Var) -> bool {
        self.crossing.contains(&var) && !self.recomputed.contains_key(&var)
    }

    /// Whether a value is computed where it is used, and not where it is defined.
    fn is_recomputed(&self, var: Var) -> bool {
        self.crossing.contains(&var) && self.recomputed.contains_key(&var)
    }
}

/// Whether a statement can stand inside a loop over lanes.
fn is_straight(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Comment(_) | Stmt::Let { .. } | Stmt::Load { .. } | Stmt::Store { .. } => true,
        Stmt::Atomic { .. } | Stmt::Fence { .. } => true,
        Stmt::If { .. } => stmt.children().into_iter().flatten().all(is_straight),
        _ => false,
    }
}

/// Which values can differ from thread to thread, in the body of a parallel loop, given those that do around it.
pub(crate) fn varying(program: &Program, around: Vec<bool>, index: Var, body: &[Stmt]) -> Vec<bool> {
    let mut walk = Varying { program, varying: around, changed: true };
    walk.set(index, true);
    // Carried values feed back, so until nothing changes any more.
    while std::mem::take(&mut walk.changed) {
        walk.list(body);
    }
    walk.varying
}

struct Varying<'a> {
    program: &'a Program,
    varying: Vec<bool>,
    changed: bool,
}

impl Varying<'_> {
    fn set(&mut self, var: Var, varying: bool) {
        let known = &mut self.varying[var.0 as usize];
        self.changed |= varying && !*known;
        *known |= varying;
    }

    fn get(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Var(var) if self.varying[var.0 as usize])
    }

    fn any(&self, operands: &[Operand]) -> bool {
        operands.iter().any(|&operand| self.get(operand))
    }

    fn list(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.stmt(stmt);
        }
    }

    fn carried(&mut self, carried: &[Carried], uneven: bool) {
        for carried in carried {
            self.set(carried.var, uneven || self.any(&[carried.initial, carried.next]));
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, operands, .. } => self.set(*var, self.any(operands)),
            Stmt::Load { vars, memory, index } => {
                // What a program writes may not be read out of order with the lanes' own writes.
                let constant =
                    matches!(self.program.memory(*memory).space, Space::Global { access: Access::Read });
                let varying = !constant || self.get(*index);
                vars.iter().for_each(|&var| self.set(var, varying));
            }
            Stmt::If { condition, then, otherwise, results } => {
                self.list(then);
                self.list(otherwise);
                for joined in results {
                    self.set(joined.var, self.any(&[*condition, joined.then, joined.otherwise]));
                }
            }
            Stmt::For { var, start, end, step, carried, body } => {
                self.set(*var, self.any(&[*start, *step]));
                self.list(body);
                self.carried(carried, self.any(&[*start, *end, *step]));
            }
            Stmt::While { carried, header, condition, body } => {
                self.list(header);
                self.list(body);
                self.carried(carried, self.get(*condition));
            }
            Stmt::Atomic { var, .. } => var.iter().for_each(|&var| self.set(var, true)),
            // The lanes of a warp agree on a vote, but there may be several warps.
            Stmt::Collective { var, op, operands } => {
                self.set(*var, !op.is_shuffle() || operands.first().is_none_or(|&value| self.get(value)));
            }
            Stmt::Parallel { var, body, .. } => {
                self.set(*var, true);
                self.list(body);
            }
            Stmt::Comment(_)
            | Stmt::Store { .. }
            | Stmt::Fail { .. }
            | Stmt::Sync { .. }
            | Stmt::Fence { .. } => {}
        }
    }
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

        let mut lanes = Lanes {
            active: true,
            index: Some(index),
            first: self.names.fresh(&format!("{name}_0")),
            lane: self.names.fresh("lane"),
            varying: varying(self.program, vec![false; self.program.vars.len()], index, body),
            ..Lanes::default()
        };
        self.recomputable(&mut lanes, body);
        self.record(&mut lanes, body);
        let is_wide = |var: &Var| lanes.has_array(*var) && self.program.var_type(*var).bytes() == 8;
        let wide = lanes.crossing.iter().any(is_wide);

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

    /// Finds the values that may be computed again in every piece.
    fn recomputable(&self, lanes: &mut Lanes, body: &[Stmt]) {
        let mut sizes: HashMap<Var, u32> = lanes.index.map(|index| (index, 0)).into_iter().collect();
        let mut lists = vec![body];
        // A list before the lists inside it, which build on its values.
        while let Some(list) = lists.pop() {
            for stmt in list {
                let Stmt::Let { var, op, operands } = stmt else { continue };
                let ty = self.program.var_type(*var);
                let floats = operands.iter().any(|&operand| self.program.operand_type(operand).is_float());
                if !lanes.var_varies(*var) || ty.is_float() || floats || op.cost(ty) > 1 {
                    continue;
                }
                let size = operands.iter().try_fold(1u32, |total, &operand| match operand {
                    Operand::Var(var) if lanes.var_varies(var) => Some(total + sizes.get(&var)?),
                    _ => Some(total),
                });
                if let Some(size) = size.filter(|&size| size <= RECOMPUTED_SIZE) {
                    sizes.insert(*var, size);
                    lanes.recomputed.insert(*var, (*op, operands.clone()));
                }
            }
            lists.extend(
                list.iter().rev().flat_map(|stmt| stmt.children().into_iter().rev()).map(Vec::as_slice),
            );
        }
    }

    /// Writes a strip to see which values cross from piece to piece, and forgets the text.
    fn record(&mut self, lanes: &mut Lanes, body: &[Stmt]) {
        let text = std::mem::take(&mut self.text);
        let (names, helpers) = (self.names.clone(), self.helpers.clone());
        self.lanes = Lanes { recording: true, ..lanes.clone() };
        self.with_strip(body);
        (self.text, self.names, self.helpers) = (text, names, helpers);
        lanes.crossing = std::mem::take(&mut self.lanes.crossing);
        self.lanes = Lanes::default();
        // What is computed again must find its operands there.
        let mut open: Vec<Var> = lanes.crossing.iter().copied().collect();
        while let Some(var) = open.pop() {
            let operands =
                lanes.recomputed.get(&var).map(|(_, operands)| operands.clone()).unwrap_or_default();
            for operand in operands {
                if let Operand::Var(var) = operand
                    && lanes.recomputed.contains_key(&var)
                    && lanes.crossing.insert(var)
                {
                    open.push(var);
                }
            }
        }
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

    /// Writes the inside of a strip. It may be written again, so what it put into other values is forgotten.
    fn with_strip(&mut self, body: &[Stmt]) {
        let inlined = self.inlined.clone();
        self.lane_statements(body);
        self.finish_piece();
        self.inlined = inlined;
    }

    /// Does something with its statements going into the loop over lanes.
    pub(crate) fn inside<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.lanes.collecting, true);
        let result = write(self);
        self.lanes.collecting = before;
        result
    }

    /// Adds a line to the loop over lanes.
    pub(crate) fn lane_line(&mut self, line: &str) {
        self.lanes.body.line(line);
    }

    /// Ends a loop over lanes, which do not depend on each other but for what they do atomically.
    pub(crate) fn finish_piece(&mut self) {
        if !self.lanes.body.is_empty() && !self.lanes.ordered {
            self.text.directive("#pragma GCC ivdep");
        }
        self.finish_ordered_piece();
    }

    /// Ends a loop over lanes.
    fn finish_ordered_piece(&mut self) {
        let definitions = std::mem::take(&mut self.lanes.definitions);
        let body = std::mem::take(&mut self.lanes.body);
        self.lanes.recomputed_here.clear();
        self.lanes.ordered = false;
        self.lanes.piece += 1;
        if body.is_empty() {
            return;
        }
        let (lane, width) = (&self.lanes.lane, &self.lanes.width);
        self.text.open(&format!("for (int {lane} = 0; {lane} < {width}; {lane}++)"));
        self.text.append_inside(&definitions);
        self.text.append_inside(&body);
        self.text.close();
    }

    /// Declares a mask and gives the place of a lane's element.
    fn new_mask(&mut self, hint: &str) -> String {
        // Never wider: gcc 12 fails with an internal error on masks of 64-bit integers, at times.
        let name = self.new_lane_array(hint, "int");
        format!("{name}[{}]", self.lanes.lane)
    }

    /// Declares an array with an element for each lane, and gives its name.
    pub(crate) fn new_lane_array(&mut self, hint: &str, ty: &str) -> String {
        let name = self.names.fresh(hint);
        self.text.line(&format!("{ty} {name}[{}];", self.lanes.width));
        name
    }

    /// Where a lane finds a value.
    pub(crate) fn lane_place(&mut self, var: Var) -> String {
        let name = self.name(var).to_owned();
        if self.lanes.index == Some(var) {
            let (first, lane) = (&self.lanes.first, &self.lanes.lane);
            let index = if first.is_empty() { lane.clone() } else { format!("{first} + {lane}") };
            let ty = self.register(var);
            if self.lanes.recomputed_here.insert(var) {
                self.lanes.definitions.line(&format!("{ty} {name} = {index};"));
            }
            return name;
        }
        if !self.lanes.var_varies(var) {
            return name;
        }
        if self.lanes.recording {
            if self.lanes.defined_in.get(&var) != Some(&self.lanes.piece) {
                self.lanes.crossing.insert(var);
            }
            return name;
        }
        if self.lanes.is_recomputed(var) {
            if self.lanes.recomputed_here.insert(var)
                && let Some((op, operands)) = self.lanes.recomputed.get(&var).cloned()
            {
                let value = self.operation(var, op, &operands);
                let line = format!("{} {name} = {};", self.register(var), value.text);
                self.lanes.definitions.line(&line);
            }
            return name;
        }
        if self.lanes.has_array(var) {
            return format!("{name}[{}]", self.lanes.lane);
        }
        name
    }

    /// Declares a value's array, if it has one.
    pub(crate) fn declare_lanes(&mut self, var: Var) -> bool {
        if !self.lanes.active || !self.lanes.var_varies(var) {
            return false;
        }
        self.lanes.defined_in.insert(var, self.lanes.piece);
        if !self.lanes.has_array(var) {
            return false;
        }
        let line = format!("{} {}[{}];", self.register(var), self.name(var), self.lanes.width);
        self.text.line(&line);
        true
    }

    /// Whether the piece that uses a value is the one that defines it.
    pub(crate) fn may_inline(&self, var: Var) -> bool {
        let lanes = &self.lanes;
        !lanes.active || !lanes.var_varies(var) || (!lanes.recording && !lanes.crossing.contains(&var))
    }

    /// Whether a lane is live, if that is in question.
    pub(crate) fn mask(&self) -> Option<String> {
        self.lanes.mask.clone().filter(|_| self.lanes.collecting)
    }

    fn lane_statements(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.lane_statement(stmt);
        }
    }

    fn lane_statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, .. } if self.lanes.is_recomputed(*var) => {}
            // A loop over lanes must not be made for a comment.
            Stmt::Comment(_) if self.lanes.body.is_empty() => self.statement(stmt),
            Stmt::Let { .. } | Stmt::Load { .. }
                if stmt.defines().iter().all(|&var| !self.lanes.var_varies(var)) =>
            {
                self.statement(stmt);
            }
            stmt if is_straight(stmt) && !self.gives_even_results(stmt) => {
                self.inside(|writer| writer.statement(stmt));
            }
            Stmt::If { condition, then, otherwise, results } => {
                if self.lanes.varies(*condition) {
                    self.masked_branch(*condition, then, otherwise, results);
                } else {
                    self.even_branch(*condition, then, otherwise, results);
                }
            }
            Stmt::For { var, start, end, step, carried, body } => {
                if [start, end, step].into_iter().any(|&operand| self.lanes.varies(operand)) {
                    self.masked_for(*var, [*start, *end, *step], carried, body);
                } else {
                    self.define_carried_lanes(carried);
                    self.finish_piece();
                    let head = self.for_head(*var, *start, *end, *step);
                    self.text.open(&head);
                    self.lane_statements(body);
                    self.update_lanes(carried);
                    self.text.close();
                }
            }
            Stmt::While { carried, header, condition, body } => {
                if self.lanes.varies(*condition) {
                    let stopped = self.or_stopped(stmt);
                    self.masked_while(carried, (header, *condition), body, &stopped);
                } else {
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
            }
            Stmt::Fail { unless, site, index, bound } => self.lane_check(*unless, *site, *index, *bound),
            Stmt::Collective { var, op, operands } => self.lane_collective(*var, *op, operands),
            stmt => self.statement(stmt),
        }
    }

    /// Whether a branch gives something that is the same for all lanes: then it must be taken outside them.
    fn gives_even_results(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::If { results, .. } => results.iter().any(|joined| !self.lanes.var_varies(joined.var)),
            _ => false,
        }
    }

    fn define_carried_lanes(&mut self, carried: &[Carried]) {
        for carried in carried {
            let varying = self.lanes.var_varies(carried.var);
            if varying {
                self.lanes.crossing.insert(carried.var);
            }
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

    fn masked_while(
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

    fn masked_for(&mut self, var: Var, [start, end, step]: [Operand; 3], carried: &[Carried], body: &[Stmt]) {
        let even_index = !self.lanes.var_varies(var);
        let name = self.name(var).to_owned();
        if !even_index {
            self.lanes.crossing.insert(var);
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

    fn even_branch(&mut self, condition: Operand, then: &[Stmt], otherwise: &[Stmt], results: &[Joined]) {
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

    fn declare_results(&mut self, results: &[Joined]) {
        for joined in results {
            if self.lanes.var_varies(joined.var) {
                self.lanes.crossing.insert(joined.var);
            }
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

    fn masked_branch(&mut self, condition: Operand, then: &[Stmt], otherwise: &[Stmt], results: &[Joined]) {
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
