//! The simulator: executes a program, block by block and index by index. It is the semantics of programs.
//!
//! What it computes is what every device must compute, and what it refuses ([`Fault`]) no program may do. Blocks run in
//! order, and so do the indices of a parallel loop; a program without faults cannot tell. It must stay independent of
//! the emitter and the devices, as those are tested against it.

mod fault;
mod memory;
mod races;

use pumice_scalar::{Constant, Op, ScalarType};

use crate::ir::{Carried, MemoryId, Operand, Param, Program, Space, Stmt, Var};
use crate::verify::check_but_barriers;
pub use fault::{Fault, FaultKind};
pub use memory::SimMemory;
use races::{EVERY, History, Race, Who};

/// How to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Stop with a fault after so many steps: statements, and rounds of loops.
    pub steps: u64,
    /// Whether to look for races; without, a simulation takes less memory and time.
    pub races: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { steps: 1_000_000_000, races: true }
    }
}

/// What a launch did. A load or store of several elements counts once, and so does what a block does as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Blocks that ran.
    pub blocks: u64,
    /// Statements executed, and rounds of loops.
    pub steps: u64,
    /// Loads from global memory.
    pub global_loads: u64,
    /// Stores to global memory.
    pub global_stores: u64,
    /// Loads from shared memory.
    pub shared_loads: u64,
    /// Stores to shared memory.
    pub shared_stores: u64,
    /// Barriers, each counted once a block.
    pub barriers: u64,
    /// Checks that failed.
    pub failures: u64,
}

/// Runs a program. Memories and scalars are given each in the order of the parameters of that kind.
///
/// After a fault, the memories hold what was written until then.
pub fn simulate(
    program: &Program,
    memories: &mut [SimMemory],
    scalars: &[Constant],
    options: &Options,
) -> Result<Report, Box<Fault>> {
    let refuse = |kind, reason: String| {
        Box::new(Fault {
            kind,
            reason,
            program: program.name.clone(),
            statement: None,
            place: None,
            block: None,
            index: None,
        })
    };
    check_but_barriers(program).map_err(|error| {
        let mut fault = refuse(FaultKind::Malformed, error.reason);
        fault.statement = error.statement;
        fault
    })?;
    let arguments = |error: crate::LaunchError| refuse(FaultKind::Arguments, error.to_string());
    let values = program.launch_values(scalars).map_err(arguments)?;
    let blocks = program.blocks_for(scalars).map_err(arguments)?;
    let counted = program.var_type(program.block).range().1.min(i128::from(EVERY) - 1);
    if i128::from(blocks) > counted {
        return Err(refuse(FaultKind::Arithmetic, format!("there are {blocks} blocks, too many to count")));
    }
    let held = hold(program, memories, options).map_err(|reason| refuse(FaultKind::Arguments, reason))?;
    let undefined = Constant::zero(ScalarType::Bool);
    let mut machine = Machine {
        program,
        values: values.into_iter().map(|value| value.unwrap_or(undefined)).collect(),
        held,
        nexts: Vec::new(),
        who: Who { block: 0, phase: 0, index: EVERY },
        steps: options.steps,
        report: Report::default(),
    };
    machine.blocks(blocks as u32)?;
    machine.report.steps = options.steps - machine.steps;
    Ok(machine.report)
}

/// Whether an integer operation stays within its type and divides by a positive number only.
fn is_exact(op: Op, ty: ScalarType, operands: &[Constant]) -> bool {
    let operand =
        |position: usize| operands.get(position).and_then(|operand| operand.as_integer()).unwrap_or(0);
    let (a, b) = (operand(0), operand(1));
    let value = match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        // Both are within 64 bits, so the product is within 128.
        Op::Mul => a * b,
        Op::Neg => -a,
        Op::Div | Op::Rem => return b > 0,
        _ => return true,
    };
    let (low, high) = ty.range();
    low <= value && value <= high
}

/// The memories of a launch, by number.
fn hold<'m>(
    program: &Program,
    memories: &'m mut [SimMemory],
    options: &Options,
) -> Result<Vec<Held<'m>>, String> {
    let params: Vec<MemoryId> = program
        .params
        .iter()
        .filter_map(|param| match param {
            Param::Memory(id) => Some(*id),
            Param::Scalar(_) => None,
        })
        .collect();
    if params.len() != memories.len() {
        return Err(format!("the kernel takes {} memories, and {} were given", params.len(), memories.len()));
    }
    let mut given: Vec<Option<&'m mut SimMemory>> = program.memories.iter().map(|_| None).collect();
    for (id, memory) in params.into_iter().zip(memories) {
        // The verifier has seen that the number is one.
        given[id.0 as usize] = Some(memory);
    }
    let stored = stored_memories(program);
    let mut all = Vec::new();
    for (number, (memory, given)) in program.memories.iter().zip(given).enumerate() {
        // Memory that is only read has no races, and inputs are large.
        let watched = options.races && stored[number];
        all.push(match (memory.space, given) {
            (Space::Global { .. }, Some(bytes)) => {
                let history = watched.then(|| History::new(bytes.elements(memory.ty), true));
                Held { ty: memory.ty, bytes: Bytes::Global(bytes), history }
            }
            (Space::Shared { length }, _) => {
                let bytes = (length as usize).checked_mul(memory.ty.bytes());
                // Far above what any device has; without a bound, a bad program could exhaust the host.
                let bytes = bytes.filter(|&bytes| bytes <= 1 << 30);
                let bytes = bytes.ok_or_else(|| format!("shared memory `{}` is too large", memory.name))?;
                let history = watched.then(|| History::new(length as usize, false));
                Held { ty: memory.ty, bytes: Bytes::Shared(SimMemory::unwritten(bytes)), history }
            }
            (Space::Private { .. }, _) => return Err(format!("private memory `{}`", memory.name)),
            (Space::Global { .. }, None) => return Err(format!("memory `{}` was not given", memory.name)),
        });
    }
    if let Some(failure) = program.failure {
        let held = &all[failure.memory.0 as usize];
        if held.bytes.get().elements(ScalarType::I64) < 3 {
            return Err("the failure memory has fewer than three elements".to_owned());
        }
    }
    Ok(all)
}

/// Which memories the program stores to.
fn stored_memories(program: &Program) -> Vec<bool> {
    fn mark(list: &[Stmt], stored: &mut [bool]) {
        for stmt in list {
            if let Stmt::Store { memory, .. } = stmt {
                stored[memory.0 as usize] = true;
            }
            for child in stmt.children() {
                mark(child, stored);
            }
        }
    }
    let mut stored = vec![false; program.memories.len()];
    mark(&program.body, &mut stored);
    stored
}

/// One memory during a launch.
struct Held<'m> {
    ty: ScalarType,
    bytes: Bytes<'m>,
    /// Who touched it, if races are looked for.
    history: Option<History>,
}

enum Bytes<'m> {
    Global(&'m mut SimMemory),
    Shared(SimMemory),
}

impl Bytes<'_> {
    fn get(&self) -> &SimMemory {
        match self {
            Bytes::Global(memory) => memory,
            Bytes::Shared(memory) => memory,
        }
    }

    fn get_mut(&mut self) -> &mut SimMemory {
        match self {
            Bytes::Global(memory) => memory,
            Bytes::Shared(memory) => memory,
        }
    }
}

type Done = Result<(), Box<Fault>>;

/// The state of a launch. The program has been verified (but for barriers), so numbers of variables and memories are in
/// range and every variable that is read has been computed. One value a variable is enough: an index of a parallel loop
/// runs to its end before the next one starts, and leaves nothing behind but what it wrote to memory.
struct Machine<'p, 'm> {
    program: &'p Program,
    values: Vec<Constant>,
    held: Vec<Held<'m>>,
    /// A stack for carried values that change at once.
    nexts: Vec<Constant>,
    who: Who,
    /// Steps left.
    steps: u64,
    report: Report,
}

impl<'p> Machine<'p, '_> {
    fn blocks(&mut self, blocks: u32) -> Done {
        let program = self.program;
        let ty = program.var_type(program.block);
        for block in 0..blocks {
            self.who.block = block;
            self.who.phase = self.who.phase.wrapping_add(1);
            self.set(program.block, Constant::from_integer(ty, block.into()));
            for held in &mut self.held {
                if let Bytes::Shared(memory) = &mut held.bytes {
                    memory.forget();
                }
            }
            self.step()?;
            self.list(&program.body)?;
            self.report.blocks += 1;
        }
        Ok(())
    }

    fn fault(&self, kind: FaultKind, reason: String) -> Done {
        Err(Box::new(Fault {
            kind,
            reason,
            program: self.program.name.clone(),
            statement: None,
            place: None,
            block: Some(self.who.block.into()),
            index: (self.who.index != EVERY).then_some(self.who.index.into()),
        }))
    }

    fn step(&mut self) -> Done {
        match self.steps.checked_sub(1) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => self.fault(FaultKind::Runaway, "the simulation took more steps than it may".to_owned()),
        }
    }

    fn get(&self, operand: Operand) -> Constant {
        match operand {
            Operand::Var(var) => self.values[var.0 as usize],
            Operand::Constant(constant) => constant,
        }
    }

    fn integer(&self, operand: Operand) -> i128 {
        self.get(operand).as_integer().unwrap_or_default()
    }

    fn set(&mut self, var: Var, value: Constant) {
        self.values[var.0 as usize] = value;
    }

    fn list(&mut self, list: &'p [Stmt]) -> Done {
        for (position, stmt) in list.iter().enumerate() {
            let done = match stmt {
                Stmt::Comment(_) => Ok(()),
                _ => self.step().and_then(|()| self.statement(stmt)),
            };
            if let Err(mut fault) = done {
                // The innermost list comes here first.
                if fault.statement.is_none() {
                    fault.statement = Some(self.program.statement_text(stmt));
                }
                if fault.place.is_none() {
                    fault.place = list[..position].iter().rev().find_map(|stmt| match stmt {
                        Stmt::Comment(text) => Some(text.clone()),
                        _ => None,
                    });
                }
                return Err(fault);
            }
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &'p Stmt) -> Done {
        match stmt {
            Stmt::Comment(_) => {}
            Stmt::Let { var, op, operands } => {
                let mut constants = [Constant::zero(ScalarType::Bool); 3];
                for (constant, &operand) in constants.iter_mut().zip(operands) {
                    *constant = self.get(operand);
                }
                let info = &self.program.vars[var.0 as usize];
                let constants = &constants[..operands.len().min(3)];
                if info.exact && !is_exact(*op, info.ty, constants) {
                    let reason = "the operation is marked as exact, and it is not".to_owned();
                    return self.fault(FaultKind::Arithmetic, reason);
                }
                self.set(*var, op.evaluate(info.ty, constants));
            }
            Stmt::Load { vars, memory, index } => return self.load(vars, *memory, *index),
            Stmt::Store { memory, index, values } => return self.store(*memory, *index, values),
            Stmt::If { condition, then, otherwise, results } => {
                let holds = self.get(*condition).is_true();
                self.list(if holds { then } else { otherwise })?;
                for joined in results {
                    let value = self.get(if holds { joined.then } else { joined.otherwise });
                    self.set(joined.var, value);
                }
            }
            Stmt::For { var, start, end, step, carried, body } => {
                let ty = self.program.var_type(*var);
                let (end, step) = (self.integer(*end), self.integer(*step));
                if step <= 0 {
                    return self.fault(FaultKind::Arithmetic, format!("the step of a loop is {step}"));
                }
                self.begin(carried);
                let mut index = self.integer(*start);
                while index < end {
                    self.step()?;
                    self.set(*var, Constant::from_integer(ty, index));
                    self.list(body)?;
                    self.advance(carried);
                    index += step;
                }
            }
            Stmt::While { carried, header, condition, body } => {
                self.begin(carried);
                loop {
                    self.step()?;
                    self.list(header)?;
                    if !self.get(*condition).is_true() {
                        break;
                    }
                    self.list(body)?;
                    self.advance(carried);
                }
            }
            Stmt::Parallel { var, extent, body, .. } => {
                let ty = self.program.var_type(*var);
                let extent = self.integer(*extent);
                let mut index: i128 = 0;
                while index < extent {
                    self.step()?;
                    self.set(*var, Constant::from_integer(ty, index));
                    self.who.index = u32::try_from(index).unwrap_or(EVERY - 1).min(EVERY - 1);
                    self.list(body)?;
                    index += 1;
                }
                self.who.index = EVERY;
            }
            Stmt::Fence { .. } | Stmt::Atomic { .. } | Stmt::Collective { .. } => {
                return self.fault(FaultKind::Malformed, "not simulated".to_owned());
            }
            Stmt::Sync { .. } => {
                if self.who.index != EVERY {
                    return self
                        .fault(FaultKind::Barrier, "not every thread of the block gets here".to_owned());
                }
                self.who.phase = self.who.phase.wrapping_add(1);
                self.report.barriers += 1;
            }
            Stmt::Fail { unless, site, index, bound } => {
                if !self.get(*unless).is_true() {
                    self.report.failures += 1;
                    self.fail(*site, *index, *bound);
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, carried: &[Carried]) {
        for carried in carried {
            let value = self.get(carried.initial);
            self.set(carried.var, value);
        }
    }

    fn advance(&mut self, carried: &[Carried]) {
        for carried in carried {
            let value = self.get(carried.next);
            self.nexts.push(value);
        }
        for carried in carried.iter().rev() {
            if let Some(value) = self.nexts.pop() {
                self.set(carried.var, value);
            }
        }
    }

    /// The index of the first of `count` elements, if they can be accessed.
    fn place(&self, id: MemoryId, index: Operand, count: usize) -> Result<usize, Box<Fault>> {
        let held = &self.held[id.0 as usize];
        let index = self.integer(index);
        let length = held.bytes.get().elements(held.ty) as i128;
        let name = &self.program.memory(id).name;
        if index < 0 || index + count as i128 > length {
            let reason = match count {
                1 => format!("index {index} of `{name}`, which has {length} elements"),
                _ => format!("{count} elements at index {index} of `{name}`, which has {length} elements"),
            };
            self.fault(FaultKind::OutOfBounds, reason)?;
        }
        if index % count as i128 != 0 {
            self.fault(FaultKind::Misaligned, format!("{count} elements at index {index} of `{name}`"))?;
        }
        Ok(index as usize)
    }

    fn load(&mut self, vars: &[Var], id: MemoryId, index: Operand) -> Done {
        let first = self.place(id, index, vars.len())?;
        let who = self.who;
        for (offset, &var) in vars.iter().enumerate() {
            let index = first + offset;
            let held = &mut self.held[id.0 as usize];
            if let Some(Err(race)) = held.history.as_mut().map(|history| history.read(index, who)) {
                return self.race(id, index, race, false);
            }
            let (ty, memory) = (held.ty, held.bytes.get());
            match memory.get(ty, index) {
                Some(value) if memory.is_written(ty, index) == Some(true) => self.set(var, value),
                _ => {
                    let name = &self.program.memory(id).name;
                    return self.fault(
                        FaultKind::Unwritten,
                        format!("nobody has written `{name}` at index {index}"),
                    );
                }
            }
        }
        match self.held[id.0 as usize].bytes {
            Bytes::Global(_) => self.report.global_loads += 1,
            Bytes::Shared(_) => self.report.shared_loads += 1,
        }
        Ok(())
    }

    fn store(&mut self, id: MemoryId, index: Operand, values: &[Operand]) -> Done {
        let first = self.place(id, index, values.len())?;
        let who = self.who;
        for (offset, &value) in values.iter().enumerate() {
            let index = first + offset;
            let value = self.get(value);
            let held = &mut self.held[id.0 as usize];
            if let Some(Err(race)) = held.history.as_mut().map(|history| history.write(index, who)) {
                return self.race(id, index, race, true);
            }
            held.bytes.get_mut().set(index, value);
        }
        match self.held[id.0 as usize].bytes {
            Bytes::Global(_) => self.report.global_stores += 1,
            Bytes::Shared(_) => self.report.shared_stores += 1,
        }
        Ok(())
    }

    fn race(&self, id: MemoryId, index: usize, race: Race, writes: bool) -> Done {
        let name = &self.program.memory(id).name;
        let (what, other, other_writes) = match race {
            Race::Block { other, writes } => ("block", other, writes),
            Race::Index { other, writes } => ("index", other, writes),
        };
        let verb = |writes: bool| if writes { "writes" } else { "reads" };
        let other = match other {
            Some(number) => format!("{what} {number}"),
            None => format!("another {what}"),
        };
        let reason = format!(
            "it {} `{name}` at index {index}, which {other} {}, with no barrier between",
            verb(writes),
            verb(other_writes)
        );
        self.fault(FaultKind::Race, reason)
    }

    /// Records a failed check, unless an earlier one is there.
    fn fail(&mut self, site: u32, index: Operand, bound: Operand) {
        let Some(failure) = self.program.failure else {
            return;
        };
        let base = self.integer(Operand::Var(failure.base));
        let (index, bound) = (self.get(index), self.get(bound));
        let memory = self.held[failure.memory.0 as usize].bytes.get_mut();
        if memory.get(ScalarType::I64, 0).is_some_and(|code| code.bits() == 0) {
            memory.set(0, Constant::from_integer(ScalarType::I64, base + i128::from(site) + 1));
            memory.set(1, index);
            memory.set(2, bound);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "kernel k memory @xs: global read i64 memory @out: global write i64 memory @s: shared i64[4]
        params @xs, %n: i64, @out threads 4 blocks %block: i64 < %n
        body {
          %x: i64 = load @xs[%block]
          parallel %i: i64 < 4:i64 { store @s[%i] = %i }
          sync
          parallel %j: i64 < 4:i64 {
            %y: i64 = load @s[%j]
            %z: i64 = mul %x, %y
            %first: i64 = mul %block, 4:i64
            %at: i64 = add %first, %j
            store @out[%at] = %z
          }
        }";

    #[test]
    fn a_report_counts_what_happened() {
        let program = crate::parse(TEXT).unwrap();
        let mut memories =
            [SimMemory::from_constants(&[3i64.into(), 5i64.into()]), SimMemory::unwritten(2 * 4 * 8)];
        let report = simulate(&program, &mut memories, &[2i64.into()], &Options::default()).unwrap();
        let expected = Report {
            blocks: 2,
            steps: report.steps,
            global_loads: 2,
            global_stores: 8,
            shared_loads: 8,
            shared_stores: 8,
            barriers: 2,
            failures: 0,
        };
        assert_eq!(report, expected);
        let values: Vec<i64> =
            (0..8).map(|index| memories[1].get(ScalarType::I64, index).unwrap().bits() as i64).collect();
        assert_eq!(values, [0, 3, 6, 9, 0, 5, 10, 15]);
    }

    #[test]
    fn arguments_that_do_not_fit_are_refused() {
        let program = crate::parse(TEXT).unwrap();
        let kind = |memories: &mut [SimMemory], scalars: &[Constant]| {
            simulate(&program, memories, scalars, &Options::default()).unwrap_err().kind
        };
        assert_eq!(kind(&mut [], &[1i64.into()]), FaultKind::Arguments);
        let mut memories = [SimMemory::unwritten(8), SimMemory::unwritten(8)];
        assert_eq!(kind(&mut memories, &[]), FaultKind::Arguments);
        assert_eq!(kind(&mut memories, &[i64::MAX.into()]), FaultKind::Arithmetic);
        // No blocks, nothing to do.
        let none = simulate(&program, &mut memories, &[0i64.into()], &Options::default());
        assert_eq!(none, Ok(Report::default()));
    }

    #[test]
    fn a_mark_of_exactness_must_hold() {
        let text =
            "kernel k threads 1 blocks %block: i32 < 2:i32 body { %x: i32 = add! %block, 2147483647:i32 }";
        let program = crate::parse(text).unwrap();
        let fault = simulate(&program, &mut [], &[], &Options::default()).unwrap_err();
        assert_eq!((fault.kind, fault.block), (FaultKind::Arithmetic, Some(1)));
    }

    #[test]
    fn memory_knows_what_was_written() {
        let mut memory = SimMemory::unwritten(40);
        assert!(memory.set(3, 1.5f32.into()));
        assert_eq!(memory.is_written(ScalarType::F32, 3), Some(true));
        assert_eq!(memory.is_written(ScalarType::F64, 1), Some(false));
        assert_eq!(memory.is_written(ScalarType::F32, 10), None);
        assert!(memory.write_bytes(8, &[0; 4]));
        assert_eq!(memory.is_written(ScalarType::F64, 1), Some(true));
        assert_eq!(memory.get(ScalarType::F32, 3), Some(1.5f32.into()));
        assert!(!memory.write_bytes(38, &[0; 4]));
        assert!(!memory.write_bytes(usize::MAX, &[0; 4]));
        assert!(!memory.set(10, 1.5f32.into()));
        assert_eq!(memory.get(ScalarType::F64, usize::MAX), None);
    }
}
