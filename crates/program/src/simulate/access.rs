//! Loads, stores, atomics and failed checks: what the machine does to memory, and what it refuses.
//!
//! Lanes access memory in the order of their numbers. Whether an access races is for [`super::races`] to say.

use pumice_scalar::{Constant, Op, ScalarType};

use super::code::{Index, Line, Node, Slot};
use super::costs::Request;
use super::fault::{FaultKind, OtherAccess};
use super::lanes::{LANES, Lanes, Mask, active, integer, widen};
use super::machine::{Done, Level, Machine};
use super::memory::Held;
use super::races::{Access, Race};
use crate::ir::{AtomicOp, Order, Stmt};

/// The index of the first element that each lane accesses, among all elements that there are.
type Places = [usize; LANES];

/// Kind of a memory access, for costs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Atomic,
}

impl<'c> Machine<'c, '_, '_> {
    /// Locates the `count` elements that each lane accesses. Out-of-bounds and misaligned accesses are faults.
    fn locate(&self, memory: usize, index: Index, count: usize, mask: Mask) -> Done<Places> {
        let held = &self.held[memory];
        let wide = widen(index.ty, &self.values[index.slot]);
        let last = held.length as i64 - count as i64;
        let mut places = [0; LANES];
        let (mut outside, mut askew) = (0, 0);
        for lane in 0..LANES {
            let at = wide[lane];
            outside |= Mask::from(at < 0 || at > last) << lane;
            askew |= Mask::from(at as usize & (count - 1) != 0) << lane;
            places[lane] = at as usize;
        }
        if (outside | askew) & mask != 0 {
            return self.refuse(memory, index, count, outside & mask, askew & mask);
        }
        if held.is_private() {
            for lane in active(mask) {
                places[lane] += self.thread(lane) as usize * held.length;
            }
        }
        Ok(places)
    }

    #[cold]
    fn refuse(&self, memory: usize, index: Index, count: usize, outside: Mask, askew: Mask) -> Done<Places> {
        let (name, length) = (&self.program.memories[memory].name, self.held[memory].length);
        let lane = (if outside != 0 { outside } else { askew }).trailing_zeros() as usize;
        let at = integer(index.ty, self.values[index.slot][lane]);
        let what = match count {
            1 => format!("index {at} of `{name}`"),
            _ => format!("{count} elements at index {at} of `{name}`"),
        };
        if outside != 0 {
            let reason = format!("{what}, which has {length} elements");
            return self.fault(FaultKind::OutOfBounds, Some(lane), reason);
        }
        self.fault(FaultKind::Misaligned, Some(lane), what)
    }

    /// Remembers an access for the sake of races, and finds them.
    fn watch(
        &mut self,
        site: u32,
        memory: usize,
        places: &Places,
        count: usize,
        mask: Mask,
        writes: bool,
    ) -> Done {
        if self.held[memory].history.is_none() {
            return Ok(());
        }
        for lane in active(mask) {
            let access = Access { who: self.who(lane), site, atomic: false };
            let Some(history) = &mut self.held[memory].history else {
                return Ok(());
            };
            for offset in 0..count {
                let cell = places[lane] + offset;
                let found = match writes {
                    true => history.write(cell, access, &self.clock),
                    false => history.read(cell, access, &self.clock),
                };
                if let Err(race) = found {
                    return self.race(site, memory, cell, race, lane);
                }
            }
        }
        Ok(())
    }

    /// Counts an access, unless it is to private memory.
    #[inline]
    fn pay(&mut self, site: u32, memory: usize, places: &Places, count: usize, mask: Mask, kind: Kind) {
        let (place, held) = (self.code.sites[site as usize].place, &self.held[memory]);
        if let Some(counter) = &mut self.counter
            && !held.is_private()
        {
            let times = if self.team.level == Level::Block { counter.warps() } else { 1 };
            let (global, size) = (held.is_global(), held.size);
            let request = Request { place, memory, global, indices: places, count, size, mask, times };
            match kind {
                Kind::Atomic => counter.atomic(&request),
                _ => counter.access(&request, kind == Kind::Store),
            }
        }
    }

    #[cold]
    fn race(&self, site: u32, memory: usize, cell: usize, race: Race, lane: usize) -> Done {
        let name = &self.program.memories[memory].name;
        let verb = |site: u32| match self.code.sites[site as usize].stmt {
            Stmt::Load { .. } => "reads",
            Stmt::Store { .. } => "writes",
            Stmt::Atomic { op: AtomicOp::Load(_), .. } => "atomically reads",
            Stmt::Atomic { op: AtomicOp::Store(_), .. } => "atomically writes",
            _ => "atomically changes",
        };
        let (other, order) = match race.block {
            Some(block) => (format!("block {block}"), "with nothing between that orders the two blocks"),
            None => (race.who.to_string(), "with no barrier between"),
        };
        let reason =
            format!("it {} `{name}` at index {cell}, which {other} {}, {order}", verb(site), verb(race.site));
        let done = self.fault(FaultKind::Race, Some(lane), reason);
        done.map_err(|mut fault| {
            let statement = self.program.statement_text(self.code.sites[race.site as usize].stmt);
            let place = self.code.place(race.site).map(str::to_owned);
            fault.other = Some(OtherAccess { statement, place });
            fault
        })
    }

    #[cold]
    fn unwritten<T>(&self, memory: usize, place: usize, lane: usize) -> Done<T> {
        let name = &self.program.memories[memory].name;
        let held = &self.held[memory];
        let (index, who) = match held.is_private() {
            true => (place % held.length.max(1), "this thread has not"),
            false => (place, "nobody has"),
        };
        let reason = format!("{who} written `{name}` at index {index}");
        self.fault(FaultKind::Unwritten, Some(lane), reason)
    }

    pub fn load(&mut self, site: u32, vars: &[Slot], memory: usize, index: Index, mask: Mask) -> Done {
        let executing = self.executing(mask);
        let places = self.locate(memory, index, vars.len(), executing)?;
        self.watch(site, memory, &places, vars.len(), executing, false)?;
        self.pay(site, memory, &places, vars.len(), executing, Kind::Load);
        let whole = executing != mask;
        for (offset, &var) in vars.iter().enumerate() {
            let Held { ty, bytes, .. } = &self.held[memory];
            let bytes = bytes.get();
            let mut values: Lanes = self.values[var];
            let mut absent = None;
            for lane in active(executing) {
                match bytes.load(*ty, places[lane] + offset) {
                    Some(bits) => values[lane] = bits,
                    None => absent = absent.or(Some(lane)),
                }
            }
            if let Some(lane) = absent {
                return self.unwritten(memory, places[lane] + offset, lane);
            }
            if whole {
                values = [values[0]; LANES];
            }
            self.values[var] = values;
        }
        Ok(())
    }

    pub fn store(&mut self, site: u32, memory: usize, index: Index, values: &[Slot], mask: Mask) -> Done {
        let places = self.locate(memory, index, values.len(), mask)?;
        self.watch(site, memory, &places, values.len(), mask, true)?;
        self.pay(site, memory, &places, values.len(), mask, Kind::Store);
        let Held { size, bytes, .. } = &mut self.held[memory];
        let bytes = bytes.get_mut();
        for (offset, &value) in values.iter().enumerate() {
            let values = &self.values[value];
            for lane in active(mask) {
                bytes.store(*size, places[lane] + offset, values[lane]);
            }
        }
        Ok(())
    }

    pub fn atomic(&mut self, line: &'c Line, mask: Mask) -> Done {
        let Node::Atomic { var, op, memory, index, operands } = &line.node else {
            return Ok(());
        };
        let (op, memory) = (*op, *memory);
        let places = self.locate(memory, *index, 1, mask)?;
        self.pay(line.site, memory, &places, 1, mask, Kind::Atomic);
        let global = self.held[memory].is_global();
        let order = op.order();
        for lane in active(mask) {
            let (place, thread) = (places[lane], self.thread(lane));
            let access = Access { who: self.who(lane), site: line.site, atomic: true };
            let [one, other] = operands.map(|slot| self.values[slot][lane]);
            let held = &mut self.held[memory];
            if let Some(history) = &mut held.history {
                // A read acquires what the write that it reads released; only then comes the write of this operation.
                if global && op.reads() {
                    history.acquire(place, thread, order, &mut self.clock);
                }
                let found = match op {
                    AtomicOp::Load(_) => history.read(place, access, &self.clock),
                    _ => history.write(place, access, &self.clock),
                };
                if let Err(race) = found {
                    return self.race(line.site, memory, place, race, lane);
                }
                if global && op.writes() {
                    history.release(place, thread, op, &mut self.clock);
                }
            }
            let (ty, size) = (held.ty, held.size);
            let bytes = held.bytes.get_mut();
            let before = match op {
                AtomicOp::Store(_) => 0,
                _ => match bytes.load(ty, place) {
                    Some(bits) => bits,
                    None => return self.unwritten(memory, place, lane),
                },
            };
            if op.writes() {
                bytes.store(size, place, after(op, ty, before, one, other));
            }
            if let Some(var) = *var {
                self.values[var][lane] = before;
            }
        }
        if global && op == AtomicOp::Store(Order::Ordered) {
            self.clock.pass();
        }
        Ok(())
    }

    /// Records a failed check, unless an earlier one is there.
    pub fn fail(&mut self, site: u32, index: u64, bound: u64) {
        let Some(failure) = self.program.failure else {
            return;
        };
        let base = self.values[failure.base.0 as usize][0] as i64;
        let memory = self.held[failure.memory.0 as usize].bytes.get_mut();
        if memory.get(ScalarType::I64, 0).is_some_and(|code| code.bits() == 0) {
            let code = i128::from(base) + i128::from(site) + 1;
            memory.set(0, Constant::from_integer(ScalarType::I64, code));
            memory.set(1, Constant::from_bits(ScalarType::I64, index));
            memory.set(2, Constant::from_bits(ScalarType::I64, bound));
        }
    }
}

/// Returns the element after an atomic operation.
fn after(op: AtomicOp, ty: ScalarType, before: u64, one: u64, other: u64) -> u64 {
    let op = match op {
        AtomicOp::Add => Op::Add,
        AtomicOp::Sub => Op::Sub,
        AtomicOp::Min => Op::Min,
        AtomicOp::Max => Op::Max,
        AtomicOp::And => Op::And,
        AtomicOp::Or => Op::Or,
        AtomicOp::Xor => Op::Xor,
        AtomicOp::Exchange | AtomicOp::Store(_) => return one,
        AtomicOp::CompareExchange => return if before == one { other } else { before },
        AtomicOp::Load(_) => return before,
    };
    op.evaluate(ty, &[Constant::from_bits(ty, before), Constant::from_bits(ty, one)]).bits()
}
