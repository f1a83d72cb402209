//! The machine: executes lines, warp by warp, each for all active lanes at once.
//!
//! Both sides of a branch are executed for the lanes that go there, a loop goes on while any lane does, and lanes come
//! together again at the end of a statement. Warps of a block run one after the other, and so do blocks; a program
//! without faults cannot tell. Accesses to memory are in [`super::access`], operations in [`super::lanes`]. What it
//! executes has been verified (but for barriers), so slots and memories are in range and every value that a lane reads
//! has been computed for it: those of lanes that are not active may be overwritten, unless a loop carries them.

use std::time::Instant;

use pumice_scalar::{Constant, ScalarType};

use super::Options;
use super::code::{Carry, Code, Computation, Line, Node, Slot};
use super::costs::Counter;
use super::fault::{Fault, FaultKind};
use super::lanes::{ALL, LANES, Lanes, Mask, active, blend, compute, inexact, integer, truth};
use super::memory::Held;
use super::races::{Clock, Who};
use crate::ir::{CollectiveOp, Program, Scope, WARP, Workers};

/// Result of executing a line: nothing, or a fault.
pub(super) type Done<T = ()> = Result<T, Box<Fault>>;

/// Execution scope of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// The block as a whole: all lanes hold the same values.
    Block,
    /// A warp as a whole, likewise.
    Warp,
    /// The lanes of a warp.
    Thread,
}

/// Execution scope of lines, with the warp and its lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Team {
    pub level: Level,
    /// The warp of the block.
    pub warp: u32,
    /// The lanes that take part in the parallel loop.
    pub lanes: Mask,
    /// The loop's index of lane 0.
    pub first: i128,
    /// The index in the loop over warps, if there is one.
    pub turn: Option<i128>,
}

impl Team {
    const BLOCK: Team = Team { level: Level::Block, warp: 0, lanes: ALL, first: 0, turn: None };
}

/// The state of a launch.
pub(super) struct Machine<'c, 'p, 'm> {
    pub program: &'p Program,
    pub code: &'c Code<'p>,
    pub values: Vec<Lanes>,
    pub held: Vec<Held<'m>>,
    pub clock: Clock,
    pub team: Team,
    block: u32,
    /// A stack for carried values that change at once.
    nexts: Vec<Lanes>,
    /// Steps left.
    pub steps: u64,
    /// When to stop.
    until: Option<Instant>,
    /// Checks that failed.
    pub failures: u64,
    /// Costs, if they are counted.
    pub counter: Option<Counter>,
}

impl<'c, 'p, 'm> Machine<'c, 'p, 'm> {
    /// Before the first block. The values are those of the arguments and the prologue, by number of variable.
    pub fn new(
        program: &'p Program,
        code: &'c Code<'p>,
        values: &[Option<Constant>],
        held: Vec<Held<'m>>,
        options: &Options,
        counter: Option<Counter>,
    ) -> Machine<'c, 'p, 'm> {
        let vars = values.iter().map(|value| value.map_or(0, Constant::bits));
        let constants = code.constants.iter().map(|constant| constant.bits());
        let mut slots: Vec<Lanes> = vars.chain(constants).map(|bits| [bits; LANES]).collect();
        slots.resize(code.slots.max(1), [0; LANES]);
        Machine {
            program,
            code,
            values: slots,
            held,
            clock: Clock::new(),
            team: Team::BLOCK,
            block: 0,
            nexts: Vec::new(),
            steps: options.steps,
            until: options.until,
            failures: 0,
            counter,
        }
    }

    /// Runs all blocks.
    pub fn blocks(&mut self, blocks: u32) -> Done {
        let code = self.code;
        let ty = self.program.var_type(self.program.block);
        for block in 0..blocks {
            self.block = block;
            self.clock.start_block();
            self.broadcast(self.program.block.0 as usize, ty, block.into());
            self.held.iter_mut().for_each(Held::forget);
            self.step()?;
            self.list(&code.body, ALL)?;
        }
        Ok(())
    }

    /// A fault of the block, or of a lane.
    pub fn fault<T>(&self, kind: FaultKind, lane: Option<usize>, reason: String) -> Done<T> {
        let index = match self.team.level {
            Level::Block => None,
            Level::Warp => self.team.turn,
            Level::Thread => lane.map(|lane| self.team.first + lane as i128),
        };
        let number = |index: i128| u64::try_from(index).ok();
        Err(Box::new(Fault {
            kind,
            reason,
            program: self.program.name.clone(),
            statement: None,
            place: None,
            block: Some(self.block.into()),
            index: index.and_then(number),
            warp: self.team.turn.filter(|_| self.team.level == Level::Thread).and_then(number),
            other: None,
        }))
    }

    /// The number of a lane's thread in the block.
    pub fn thread(&self, lane: usize) -> u32 {
        // Not above the number of threads, as the warp has a thread for the lane.
        self.team.warp * WARP + lane as u32
    }

    /// Returns the execution scope of a lane, for races.
    pub fn who(&self, lane: usize) -> Who {
        match self.team.level {
            Level::Block => Who::block(self.program.threads),
            Level::Warp => Who::warp(self.team.warp),
            Level::Thread => Who::thread(self.thread(lane)),
        }
    }

    /// Returns the lanes that execute: one alone if the block or a warp executes as a whole.
    pub fn executing(&self, mask: Mask) -> Mask {
        if self.team.level == Level::Thread { mask } else { 1 }
    }

    /// Returns the number of warps of a block.
    fn warps(&self) -> u32 {
        self.program.threads.div_ceil(WARP)
    }

    /// The number of the place that a line comes from.
    pub fn place(&self, site: u32) -> usize {
        self.code.sites[site as usize].place
    }

    /// Counts a condition, or the test of a loop, of the lanes `asked`.
    fn branch(&mut self, site: u32, asked: Mask, holds: Mask) {
        let (place, level) = (self.place(site), self.team.level);
        if let Some(counter) = &mut self.counter {
            let times = if level == Level::Block { counter.warps() } else { 1 };
            counter.branch(place, times, holds != 0 && holds != asked);
        }
    }

    fn step(&mut self) -> Done {
        match self.steps.checked_sub(1) {
            Some(left) => {
                self.steps = left;
                // Looking at the clock takes longer than a step.
                match self.until {
                    Some(until) if left % 1024 == 0 && Instant::now() >= until => {
                        self.fault(FaultKind::Deadline, None, "the deadline has passed".to_owned())
                    }
                    _ => Ok(()),
                }
            }
            None => {
                self.fault(FaultKind::Runaway, None, "the simulation took more steps than it may".to_owned())
            }
        }
    }

    /// Gives all lanes one integer.
    fn broadcast(&mut self, slot: Slot, ty: ScalarType, value: i128) {
        self.values[slot] = [Constant::from_integer(ty, value).bits(); LANES];
    }

    fn list(&mut self, list: &'c [Line], mask: Mask) -> Done {
        for line in list {
            if let Err(mut fault) = self.step().and_then(|()| self.line(line, mask)) {
                // The innermost list comes here first.
                if fault.statement.is_none() {
                    let stmt = self.code.sites[line.site as usize].stmt;
                    fault.statement = Some(self.program.statement_text(stmt));
                    fault.place = self.code.place(line.site).map(str::to_owned);
                }
                return Err(fault);
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &'c Line, mask: Mask) -> Done {
        let site = line.site;
        match &line.node {
            Node::Let { var, computation } => self.compute(*var, computation, mask),
            Node::Load { vars, memory, index } => self.load(site, vars, *memory, *index, mask),
            Node::Store { memory, index, values } => self.store(site, *memory, *index, values, mask),
            Node::If { condition, then, otherwise, results } => {
                let holds = truth(&self.values[*condition]) & mask;
                let rest = mask & !holds;
                self.branch(site, mask, holds);
                if holds != 0 {
                    self.list(then, holds)?;
                }
                if rest != 0 {
                    self.list(otherwise, rest)?;
                }
                for joined in results {
                    // The lanes that are not active may get either.
                    let mut value = self.values[joined.otherwise];
                    blend(&mut value, &self.values[joined.then], holds);
                    self.values[joined.var] = value;
                }
                Ok(())
            }
            Node::For { .. } => self.count(line, mask),
            Node::While { carried, header, condition, body } => {
                self.begin(carried);
                let mut going = mask;
                loop {
                    self.step()?;
                    self.list(header, going)?;
                    let holds = truth(&self.values[*condition]) & going;
                    self.branch(site, going, holds);
                    going = holds;
                    if going == 0 {
                        return Ok(());
                    }
                    self.list(body, going)?;
                    self.advance(carried, going);
                }
            }
            Node::Parallel { workers, var, ty, extent, body } => {
                let extent = integer(*ty, self.values[*extent][0]);
                let before = self.team;
                let done = match workers {
                    Workers::Threads => self.threads(*var, *ty, extent, body),
                    Workers::Warps => self.turns(*var, *ty, extent, body),
                    Workers::Lanes => self.lanes(*var, *ty, extent, body),
                };
                // A fault inside reports the team inside; a fault of this statement reports the team around it.
                self.team = before;
                done
            }
            Node::Sync { scope } => self.sync(site, *scope, mask),
            Node::Fence { scope } => {
                // Within a block, only barriers order.
                if *scope == Scope::Grid {
                    active(mask).for_each(|lane| self.clock.fence(self.thread(lane)));
                    self.clock.pass();
                }
                Ok(())
            }
            Node::Atomic { .. } => self.atomic(line, mask),
            Node::Collective { var, op, operands } => self.collective(site, *var, *op, *operands, mask),
            Node::Fail { unless, site, index, bound } => {
                let failed = mask & !truth(&self.values[*unless]);
                for lane in active(failed) {
                    self.failures += 1;
                    let (index, bound) = (self.values[*index][lane], self.values[*bound][lane]);
                    self.fail(*site, index, bound);
                }
                Ok(())
            }
        }
    }

    #[inline]
    fn compute(&mut self, var: Slot, computation: &Computation, mask: Mask) -> Done {
        let [a, b, c] = computation.operands;
        let (a, b) = (self.values[a], self.values[b]);
        if computation.exact {
            let bad = inexact(computation, &a, &b, mask);
            if bad != 0 {
                let reason = "the operation is marked as exact, and it is not".to_owned();
                let lane = bad.trailing_zeros() as usize;
                return self.fault(FaultKind::Arithmetic, Some(lane), reason);
            }
        }
        if computation.count == 3 {
            let c = self.values[c];
            compute(computation, [&a, &b, &c], mask, &mut self.values[var]);
        } else {
            compute(computation, [&a, &b, &a], mask, &mut self.values[var]);
        }
        Ok(())
    }

    fn begin(&mut self, carried: &[Carry]) {
        for carried in carried {
            self.values[carried.var] = self.values[carried.initial];
        }
    }

    /// Carried values change, for the lanes that go on.
    fn advance(&mut self, carried: &[Carry], going: Mask) {
        for carried in carried {
            self.nexts.push(self.values[carried.next]);
        }
        for carried in carried.iter().rev() {
            if let Some(next) = self.nexts.pop() {
                blend(&mut self.values[carried.var], &next, going);
            }
        }
    }

    fn count(&mut self, line: &'c Line, mask: Mask) -> Done {
        let Node::For { var, ty, start, end, step, carried, body } = &line.node else {
            return Ok(());
        };
        let [starts, ends, steps] = [*start, *end, *step].map(|slot| self.values[slot]);
        let bad = active(mask).find(|&lane| integer(*ty, steps[lane]) <= 0);
        if let Some(lane) = bad {
            let step = integer(*ty, steps[lane]);
            return self.fault(FaultKind::Arithmetic, Some(lane), format!("the step of a loop is {step}"));
        }
        self.begin(carried);
        let one = mask.trailing_zeros() as usize % LANES;
        let same = |values: &Lanes| active(mask).all(|lane| values[lane] == values[one]);
        if same(&starts) && same(&ends) && same(&steps) {
            let [mut index, end, step] = [starts, ends, steps].map(|values| integer(*ty, values[one]));
            while index < end {
                self.branch(line.site, mask, mask);
                self.step()?;
                self.broadcast(*var, *ty, index);
                self.list(body, mask)?;
                self.advance(carried, mask);
                index += step;
            }
            self.branch(line.site, mask, 0);
            return Ok(());
        }
        self.count_apart(line, mask, [starts, ends, steps])
    }

    /// A loop that is not the same for all lanes. Apart from the other for the sake of the stack: there may be many of
    /// that one in each other.
    #[inline(never)]
    fn count_apart(&mut self, line: &'c Line, mask: Mask, [starts, ends, steps]: [Lanes; 3]) -> Done {
        let Node::For { var, ty, carried, body, .. } = &line.node else {
            return Ok(());
        };
        let mut indices = starts.map(|bits| integer(*ty, bits));
        let mut going = mask;
        loop {
            let asked = going;
            for lane in active(asked) {
                if indices[lane] >= integer(*ty, ends[lane]) {
                    going &= !(1 << lane);
                }
            }
            self.branch(line.site, asked, going);
            if going == 0 {
                return Ok(());
            }
            self.step()?;
            let now = indices.map(|index| Constant::from_integer(*ty, index).bits());
            self.values[*var] = now;
            self.list(body, going)?;
            self.advance(carried, going);
            for lane in active(going) {
                indices[lane] += integer(*ty, steps[lane]);
            }
        }
    }

    /// Gives the lanes consecutive integers.
    fn number(&mut self, var: Slot, ty: ScalarType, first: i128) {
        // The type is an integer's: wrapping to its width is what `Constant::from_integer` does.
        let mask = u64::MAX >> (64 - 8 * ty.bytes());
        for (lane, value) in self.values[var].iter_mut().enumerate() {
            *value = (first as u64).wrapping_add(lane as u64) & mask;
        }
    }

    fn threads(&mut self, var: Slot, ty: ScalarType, extent: i128, body: &'c [Line]) -> Done {
        let threads = i128::from(self.program.threads);
        let mut round = 0;
        while round < extent {
            for warp in 0..self.warps() {
                let (from, first) = (i128::from(warp) * i128::from(WARP), round + i128::from(warp * WARP));
                let lanes = lanes_below((threads - from).min(extent - first));
                if lanes == 0 {
                    break;
                }
                self.step()?;
                self.team = Team { level: Level::Thread, warp, lanes, first, turn: None };
                self.number(var, ty, first);
                self.list(body, lanes)?;
            }
            round += threads;
        }
        Ok(())
    }

    fn turns(&mut self, var: Slot, ty: ScalarType, extent: i128, body: &'c [Line]) -> Done {
        let warps = i128::from(self.warps());
        let mut turn = 0;
        while turn < extent {
            self.step()?;
            let warp = (turn % warps) as u32;
            self.team = Team { level: Level::Warp, warp, lanes: ALL, first: 0, turn: Some(turn) };
            self.broadcast(var, ty, turn);
            self.list(body, ALL)?;
            turn += 1;
        }
        Ok(())
    }

    fn lanes(&mut self, var: Slot, ty: ScalarType, extent: i128, body: &'c [Line]) -> Done {
        let team = self.team;
        let mut first = 0;
        while first < extent {
            self.step()?;
            let lanes = lanes_below(extent - first);
            self.team = Team { level: Level::Thread, lanes, first, ..team };
            self.number(var, ty, first);
            self.list(body, lanes)?;
            first += i128::from(WARP);
        }
        Ok(())
    }

    fn sync(&mut self, site: u32, scope: Scope, mask: Mask) -> Done {
        let whole = mask == self.team.lanes;
        match (scope, self.team.level) {
            (Scope::Block, Level::Block) => self.clock.sync_block(),
            (Scope::Warp, Level::Warp | Level::Thread) if whole => self.clock.sync_warp(self.team.warp),
            (Scope::Warp, _) => {
                let reason = "not every lane of the warp gets here".to_owned();
                return self.fault(FaultKind::Barrier, Some(mask.trailing_zeros() as usize), reason);
            }
            _ => {
                let reason = "not every thread of the block gets here".to_owned();
                return self.fault(FaultKind::Barrier, Some(mask.trailing_zeros() as usize), reason);
            }
        }
        let place = self.place(site);
        if let Some(counter) = &mut self.counter {
            let costs = counter.at(place);
            *(if scope == Scope::Block { &mut costs.block_barriers } else { &mut costs.warp_barriers }) += 1;
        }
        Ok(())
    }

    fn collective(
        &mut self,
        site: u32,
        var: Slot,
        op: CollectiveOp,
        operands: [Slot; 2],
        mask: Mask,
    ) -> Done {
        let taking_part = self.team.lanes;
        if mask != taking_part {
            let absent = (taking_part & !mask).trailing_zeros();
            let reason = format!("not every lane of the warp gets here: lane {absent} does not");
            return self.fault(FaultKind::Barrier, Some(mask.trailing_zeros() as usize), reason);
        }
        let [value, lane] = operands.map(|slot| self.values[slot]);
        let result = match op {
            CollectiveOp::All => [u64::from(truth(&value) & mask == mask); LANES],
            CollectiveOp::Any => [u64::from(truth(&value) & mask != 0); LANES],
            CollectiveOp::Ballot => [u64::from(truth(&value) & mask); LANES],
            _ => {
                let mut result = value;
                for own in active(mask) {
                    let from = source(op, own, lane[own] as u32 as i32);
                    if taking_part >> from & 1 == 0 {
                        let reason = format!("the value of lane {from}, which does not take part");
                        return self.fault(FaultKind::Unwritten, Some(own), reason);
                    }
                    result[own] = value[from];
                }
                result
            }
        };
        self.values[var] = result;
        let place = self.place(site);
        if let Some(counter) = &mut self.counter {
            counter.at(place).collectives += 1;
        }
        Ok(())
    }
}

/// The lane whose value a shuffle gives to a lane.
fn source(op: CollectiveOp, own: usize, operand: i32) -> usize {
    let lanes = LANES as i64;
    let (own_number, operand) = (own as i64, i64::from(operand));
    let other = match op {
        CollectiveOp::ShuffleUp => own_number - operand,
        CollectiveOp::ShuffleDown => own_number + operand,
        CollectiveOp::ShuffleXor => (own_number ^ operand).rem_euclid(lanes),
        _ => operand.rem_euclid(lanes),
    };
    if (0..lanes).contains(&other) { other as usize } else { own }
}

/// The first so many lanes.
fn lanes_below(count: i128) -> Mask {
    match count {
        ..=0 => 0,
        1..32 => (1 << count) - 1,
        _ => ALL,
    }
}
