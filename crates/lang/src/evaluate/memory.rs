//! Mutable memory: a block's or a thread's own, and the result of a kernel that changes a copy of an array.
//!
//! Effects on it happen where they are evaluated, in order: these functions add statements to the kernel that is being built,
//! and have no meaning anywhere else.

use super::builtins::Call;
use super::layout::from_terms;
use super::local::as_length;
use super::value::{Array, Host, InKernel, Value};
use super::{Evaluator, Mode, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_kernel::{
    self as kernel, AnyLevel, AtomicOp, Dynamic, Length, Mutable, Order, Scalars, written_at,
};
use pumice_scalar::Exp;
use std::rc::Rc;

/// Returns the atomic update of a built-in function, if it is one.
fn atomic_named(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "atomicAdd" => AtomicOp::Add,
        "atomicSub" => AtomicOp::Sub,
        "atomicMin" => AtomicOp::Min,
        "atomicMax" => AtomicOp::Max,
        "atomicAnd" => AtomicOp::And,
        "atomicOr" => AtomicOp::Or,
        "atomicXor" => AtomicOp::Xor,
        "atomicExchange" => AtomicOp::Exchange,
        "atomicCompareExchange" => AtomicOp::CompareExchange,
        "atomicRead" => AtomicOp::Load(Order::Relaxed),
        "atomicWrite" => AtomicOp::Store(Order::Relaxed),
        _ => return None,
    })
}

impl Evaluator {
    /// Applies a function on mutable memory, in a kernel.
    pub(super) fn changing(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let span = call.span;
        if self.mode.get() != Mode::Kernel {
            let message = format!("`{}` is for the inside of kernels", call.name);
            let help = "memory changes while a kernel runs: `inPlace` runs one on a copy of an array, and `memory <block>` is a block's own";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        let place = self.place(call.name, span);
        match (call.name, &call.arguments[..]) {
            ("memory", [initial]) => {
                let level = call.level.ok_or_else(|| self.wrong(span, "`memory` needs a level"))?;
                self.allocate(level, self.array(initial, span)?, span)
            }
            ("freeze", [memory]) => {
                let (memory, element) = self.memory(memory, span)?;
                let pull = written_at(place, || memory.freeze());
                let extents = vec![pull.len().term()];
                let length = as_length(pull.len().term());
                let pull = kernel::Pull::new(length, move |i| kernel::Value::Scalars(pull.at(i)));
                Ok(Value::Array(Array::Kernel(Rc::new(InKernel { element, extents, pull }))))
            }
            ("lengthMem", [memory]) => Ok(Value::scalar(self.memory(memory, span)?.0.len().term(), false)),
            ("read", [memory, index]) => {
                let ((memory, element), index) = (self.memory(memory, span)?, self.scalar(index, span)?);
                let read = written_at(place, || memory.read(Exp::from_term(index.term)));
                self.of_scalars(read, &element, span)
            }
            ("write", [memory, index, value]) => {
                let ((memory, _), index) = (self.memory(memory, span)?, self.scalar(index, span)?);
                let value = Scalars(self.stored(value, span)?);
                written_at(place, || memory.write(Exp::from_term(index.term), value));
                Ok(Value::Tuple(Rc::from([])))
            }
            (name, [memory, index, operands @ ..]) => {
                let op = atomic_named(name).ok_or_else(|| self.wrong(span, "no update of memory"))?;
                let ((memory, element), index) = (self.memory(memory, span)?, self.scalar(index, span)?);
                let operands = operands.iter().map(|operand| Ok(Scalars(self.stored(operand, span)?)));
                let operands = operands.collect::<Outcome<Vec<_>>>()?;
                let before = written_at(place, || memory.atomic(op, Exp::from_term(index.term), &operands));
                match op {
                    AtomicOp::Store(_) => Ok(Value::Tuple(Rc::from([]))),
                    _ => self.of_scalars(before, &element, span),
                }
            }
            _ => Err(self.wrong(span, "memory is wanted here")),
        }
    }

    fn memory(&self, value: &Value, span: Span) -> Outcome<(Mutable<Dynamic>, Type)> {
        match value {
            Value::Memory(memory, element) => Ok((memory.clone(), element.clone())),
            _ => Err(self.wrong(span, "memory that changes is wanted here")),
        }
    }

    /// Returns the value of an element in memory.
    pub(super) fn of_scalars(&self, Scalars(terms): Scalars, ty: &Type, span: Span) -> Outcome<Value> {
        from_terms(ty, self.sums(), false, &mut terms.into_iter())
            .ok_or_else(|| self.wrong(span, "an element of no type"))
    }

    /// `memory <level>`: memory with the elements of an array in it.
    fn allocate(self: &Rc<Self>, level: AnyLevel, initial: &Array, span: Span) -> Outcome<Value> {
        let elements = self.elements(initial, span)?;
        if !matches!(elements.len(), Length::Known(_)) {
            return Err(self.unknown_size(span));
        }
        let place = self.place("memory", span);
        let memory = match level {
            AnyLevel::Block => written_at(place, || Mutable::shared(elements.fixed())),
            AnyLevel::Thread => written_at(place, || Mutable::own(elements.fixed())),
            AnyLevel::Warp | AnyLevel::Grid => {
                let level = level.to_string().to_lowercase();
                let message = format!("there is no memory that changes of the level `{level}`");
                let help = "it is a block's (`memory <block>`), or each of its threads' own (`memory <thread>`); `inPlace` \
                            changes an array of the grid";
                return Err(Box::new(Diagnostic::new(span, message).help(help)));
            }
        };
        Ok(Value::Memory(memory, initial.element().clone()))
    }

    /// `inPlace`: a copy of an array, after a kernel has changed it.
    pub(super) fn in_place(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [program, array] = &call.arguments[..] else {
            return Err(self.wrong(span, "an array is wanted here"));
        };
        if self.mode.get() != Mode::Host {
            let message = "`inPlace` runs a kernel, and this is inside of something else";
            let help = "use it outside of kernels and of functions on elements; in a kernel, `memory <block>` is memory that changes";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        let array = self.array(array, span)?;
        let element = array.element().clone();
        let types = array.columns(self.sums()).ok_or_else(|| self.not_stored(&element, span))?;
        let mut captured = super::capture::Captured::changing(self.described(array, span)?, &types);
        self.collect(program, &mut captured, span)?;
        let described = self.kernel_call(captured, (&[], types), span, |given| {
            let function = self.inside(program, given)?;
            let memory = given.changed().ok_or_else(|| self.wrong(span, "a kernel without memory"))?;
            let done = self.apply(&function, Value::Memory(memory, element.clone()), span)?;
            self.perform(&done, span)?;
            Ok(None)
        })?;
        Ok(Value::Array(Array::Host(Rc::new(Host::given(array.element().clone(), described)))))
    }
}
