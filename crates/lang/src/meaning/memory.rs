//! Mutable memory (rules 98 to 101). Between barriers the threads of a group are evaluated one after the other, which is one of the orders
//! that programs without races may have; races are errors, but for those with what `freeze` gave and those between the warps of a block that
//! only warps wait between. A thread that waits for another one to write something waits for ever: evaluation ends with an
//! error, as its steps are bounded.

use super::costs::{CostCounts, CostLevel};
use super::pulls::whole;
use super::stores::{Access, Changing};
use super::value::{Call, Elements, Push, PushKind, Shape, Value};
use super::{Evaluator, Location, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::{Level, Type};
use pumice_scalar::{Op, ScalarType};
use std::rc::Rc;

/// Returns the operation of an atomic update.
fn operation(name: &str) -> Option<Op> {
    Some(match name {
        "atomicAdd" => Op::Add,
        "atomicSub" => Op::Sub,
        "atomicMin" => Op::Min,
        "atomicMax" => Op::Max,
        "atomicAnd" => Op::And,
        "atomicOr" => Op::Or,
        "atomicXor" => Op::Xor,
        _ => return None,
    })
}

impl<'p> Evaluator<'p> {
    /// Applies a function on mutable memory to all its arguments.
    pub(super) fn changing(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        match (&*call.name, &call.arguments[..]) {
            ("inPlace", [program, array]) => self.in_place(program, array, span),
            ("memory", [initial]) => self.allocated(call, initial),
            ("freeze", [memory]) => {
                let memory = self.changed(memory, span)?;
                let barriers = self.waited(memory.level);
                self.meter.count(span, memory.level, CostCounts { barriers, ..CostCounts::default() });
                self.memory(memory.length(), span)?;
                let shape = Shape::vector(memory.length());
                self.made(shape, Elements::Frozen((*memory).clone()), 0, span)
            }
            ("lengthMem", [memory]) => Ok(whole(self.changed(memory, span)?.length())),
            (_, [memory, index, operands @ ..]) => {
                let memory = self.changed(memory, span)?;
                self.accessed(call, &memory, self.integer(index, span)?, operands)
            }
            _ => Err(self.fault(span, "memory is wanted here")),
        }
    }

    fn changed(&self, value: &Value<'p>, span: Span) -> Outcome<Rc<Changing<'p>>> {
        match value {
            Value::Memory(memory) => Ok(memory.clone()),
            _ => Err(self.fault(span, "memory that changes is wanted here")),
        }
    }

    /// `memory <level>` (rule 99): as `force (push <level> initial)`.
    fn allocated(&self, call: &Call<'p>, initial: &Value<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let (Some(level @ (CostLevel::Thread | CostLevel::Block)), true) =
            (call.level, self.location.get() != Location::Host)
        else {
            let help = "it is a block's (`memory <block>`), or each of its threads' own (`memory <thread>`), inside of a kernel";
            return Err(Box::new(Diagnostic::new(span, "there is no such memory here").help(help)));
        };
        let Type::Array { element, sizes, .. } = self.argument_type(call, 0) else {
            return Err(self.fault(span, "an array of no type"));
        };
        let of_level = Some(Level { variable: None, above: level as u32 });
        let of = self.pull(initial, span)?;
        let (length, depth) = (of.shape.count(), self.bounded(of.depth + 1, span)?);
        let push = Push { level, length, kind: PushKind::Elements(of), span, depth };
        let ty = Type::Array { element, sizes, level: of_level };
        let forced = self.pull(&self.forced(&Value::Push(Rc::new(push)), &ty, span)?, span)?;
        let Elements::Stored(memory) = &forced.elements else {
            return Err(self.fault(span, "memory that is none"));
        };
        let values = memory.values.clone();
        // Its room is taken once.
        drop(forced);
        Ok(Value::Memory(Rc::new(Changing::new(level, values, &self.meter))))
    }

    /// `inPlace` (rule 98).
    fn in_place(&self, program: &Value<'p>, array: &Value<'p>, span: Span) -> Outcome<Value<'p>> {
        if self.location.get() != Location::Host {
            let message = "`inPlace` runs a kernel, and this is inside of something else";
            let help = "use it outside of kernels and of functions on elements; in a kernel, `memory <block>` is memory that changes";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        let array = self.pull(array, span)?;
        let values = self.all(&array, span)?;
        self.written(values.len(), span);
        let memory = Rc::new(Changing::new(CostLevel::Array, values, &self.meter));
        let program = self.apply(program, Value::Memory(memory.clone()), span)?;
        self.performed(&program, span)?;
        self.made(array.shape, Elements::Stored(memory.finished()), 0, span)
    }

    /// Reads, writes or updates an element (rules 100 and 101).
    fn accessed(
        &self,
        call: &Call<'p>,
        memory: &Changing<'p>,
        index: i64,
        operands: &[Value<'p>],
    ) -> Outcome<Value<'p>> {
        let (span, name, length) = (call.span, &*call.name, memory.length());
        let thread = self.thread.get();
        let found = usize::try_from(index).ok().and_then(|at| Some((at, memory.get(thread, at)?)));
        let (index, before) = found.ok_or_else(|| {
            self.wrong(span, format!("`{name}` at index {index} of {length} elements of memory"))
        })?;
        let only_writes = matches!(name, "write" | "atomicWrite");
        let access = Access {
            block: self.block.get(),
            thread,
            barriers: self.barriers.get(),
            modifies: !matches!(name, "read" | "atomicRead"),
            atomic: name.starts_with("atomic"),
        };
        if matches!(self.location.get(), Location::Thread(_)) && memory.races(index, access) {
            let message = format!("`{name}` races with another thread's access to index {index}");
            let help = "let `force` wait between them, or use atomics for both";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        let after = match (name, operands) {
            ("read" | "atomicRead", []) => None,
            ("write" | "atomicWrite" | "atomicExchange", [value]) => Some(value.clone()),
            ("atomicCompareExchange", [expected, value]) => {
                let both = [self.scalar(&before, span)?, self.scalar(expected, span)?];
                Op::Eq.evaluate(ScalarType::Bool, &both).is_true().then(|| value.clone())
            }
            (name, [value]) => {
                let op = operation(name).ok_or_else(|| self.fault(span, "no update of memory"))?;
                let both = [self.scalar(&before, span)?, self.scalar(value, span)?];
                Some(Value::Scalar(op.evaluate(both[0].ty(), &both)))
            }
            _ => return Err(self.fault(span, "a value is wanted here")),
        };
        self.step(span);
        let counts = CostCounts {
            read: u64::from(!only_writes),
            written: after.iter().len() as u64,
            ..CostCounts::default()
        };
        self.meter.count(span, memory.level, counts);
        if let Some(after) = after {
            if memory.is_initial(thread) {
                self.memory(length, span)?;
            }
            memory.set(thread, index, after);
        }
        Ok(if only_writes { Value::Tuple(Rc::from([])) } else { before })
    }
}
