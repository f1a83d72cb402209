//! Atomic operations. Each is a call on the address of the element: of a function that the dialect has, or of a helper
//! whose body the dialect gives.

use std::cmp::Ordering;

use pumice_program::{Access, AtomicOp, MemoryId, Operand, Program, Space, Stmt, Var};
use pumice_scalar::ScalarType;

use crate::dialect::Function;
use crate::expression::{Binding, Expression};
use crate::helpers::Helper;
use crate::writer::Writer;

/// Atomic operation on elements of a type, in global or shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Atomic {
    /// The operation.
    pub(crate) op: AtomicOp,
    /// The type of the element.
    pub(crate) ty: ScalarType,
    /// Whether the element is in shared memory, and not in global memory.
    pub(crate) shared: bool,
}

impl Atomic {
    /// The unsigned integer with as many bits.
    pub(crate) fn bits(self) -> ScalarType {
        if self.ty.bytes() == 8 { ScalarType::U64 } else { ScalarType::U32 }
    }

    /// The body of an exchange of a small element by exchanges of the word that it is in: with `expected`, only while it is that.
    /// `exchange` is the dialect's function on words.
    pub(crate) fn body_on_words(self, element: &str, space: &str, exchange: &str) -> String {
        let (unsigned, bits) = (self.ty.unsigned(), 8 * self.ty.bytes());
        let ends = match self.op {
            AtomicOp::CompareExchange => "if (found != expected) break;",
            _ => "",
        };
        let lines = [
            format!("{space}u32 *word = ({space}u32 *)((size_t)p & ~(size_t)3);"),
            format!("u32 shift = (u32)((size_t)p & 3) * 8, mask = {:#x}u << shift;", (1u32 << bits) - 1),
            format!("u32 old = *(volatile {space}u32 *)word;"),
            format!("{element} found;"),
            "for (;;) {".to_owned(),
            format!("    found = ({element})(old >> shift);"),
            format!("    {ends}"),
            format!("    u32 seen = {exchange}(word, old, (old & ~mask) | ((u32)({unsigned})v << shift));"),
            "    if (seen == old) break;".to_owned(),
            "    old = seen;".to_owned(),
            "}".to_owned(),
            "return found;".to_owned(),
        ];
        let lines: Vec<String> = lines.into_iter().filter(|line| !line.trim().is_empty()).collect();
        lines.join("\n    ")
    }

    /// Whether it is more than a sum or an exchange.
    pub(crate) fn is_extended(self) -> bool {
        matches!(self.op, AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor)
    }

    /// The name of its helper; ends in the type, so that no value is called so.
    pub(crate) fn name(self) -> String {
        let space = if self.shared { "shared" } else { "global" };
        format!("{}_{space}_{}", self.op.name(), self.ty)
    }

    /// The type of what the helper returns, and its parameters: the element's address `p`, and the values.
    pub(crate) fn signature(self, element: &str, space: &str) -> (String, String) {
        let values = match self.op {
            AtomicOp::Load(_) => String::new(),
            AtomicOp::CompareExchange => format!(", {element} expected, {element} v"),
            _ => format!(", {element} v"),
        };
        let result = if self.op.reads() { element } else { "void" };
        (result.to_owned(), format!("{space}{element} *p{values}"))
    }
}

impl Ord for Atomic {
    fn cmp(&self, other: &Atomic) -> Ordering {
        (self.op.name(), self.ty, self.shared).cmp(&(other.op.name(), other.ty, other.shared))
    }
}

impl PartialOrd for Atomic {
    fn partial_cmp(&self, other: &Atomic) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether a statement, or one inside it, orders what threads see of each other's writes: then memory that is written
/// must not be taken for this thread's own.
pub(crate) fn is_ordering(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Fence { .. } | Stmt::Atomic { op: AtomicOp::Load(_) | AtomicOp::Store(_), .. } => true,
        stmt => stmt.children().into_iter().flatten().any(is_ordering),
    }
}

/// Whether a statement, or one inside it, does something atomically.
pub(crate) fn is_atomic(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Fence { .. } | Stmt::Atomic { .. } => true,
        stmt => stmt.children().into_iter().flatten().any(is_atomic),
    }
}

/// Whether a statement, or one inside it, does something of a kind atomically.
pub(crate) fn any_atomic(program: &Program, stmt: &Stmt, holds: &dyn Fn(Atomic) -> bool) -> bool {
    match stmt {
        Stmt::Atomic { op, memory, .. } => {
            let memory = program.memory(*memory);
            holds(Atomic { op: *op, ty: memory.ty, shared: matches!(memory.space, Space::Shared { .. }) })
        }
        stmt => stmt.children().into_iter().flatten().any(|stmt| any_atomic(program, stmt, holds)),
    }
}

impl Writer<'_> {
    /// Writes an atomic operation. A result that is not used is not bound, which lets a GPU do without it.
    pub(crate) fn atomic(
        &mut self,
        var: Option<Var>,
        op: AtomicOp,
        memory: MemoryId,
        index: Operand,
        operands: &[Operand],
    ) {
        let var = var.filter(|var| self.uses[var.0 as usize].count > 0);
        let shared = match self.program.memory(memory).space {
            // Nobody writes it during the launch.
            Space::Global { access: Access::Read } => {
                if let Some(var) = var {
                    self.load(&[var], memory, index);
                }
                return;
            }
            Space::Global { .. } => false,
            Space::Shared { .. } | Space::Private { .. } => true,
        };
        let atomic = Atomic { op, ty: self.program.memory(memory).ty, shared };
        let index = self.value(index);
        let address = format!("&{}", self.element(memory, &index));
        let mut arguments = vec![address];
        for &operand in operands {
            arguments.push(self.typed_value(operand).text);
        }
        let name = match self.language.atomic(atomic) {
            Function::Builtin(name) => name,
            Function::Helper => {
                self.helpers.extend(self.language.atomic_needs(atomic));
                self.helpers.insert(Helper::Atomic(atomic));
                atomic.name()
            }
        };
        let call = format!("{name}({})", arguments.join(", "));
        self.lanes.order();
        let guard = self.guard_of(&[]);
        let Some(var) = var else {
            let guard = guard.map(|guard| format!("if ({guard}) ")).unwrap_or_default();
            self.sink().line(&format!("{guard}{call};"));
            return;
        };
        let value = match guard {
            Some(guard) => {
                let zero = self.zero(atomic.ty).text;
                let text = format!("{guard} ? {call} : {zero}");
                Expression { binding: Binding::Conditional, ..Expression::atom(text) }
            }
            None => Expression::atom(call),
        };
        self.define(var, &value);
    }
}
