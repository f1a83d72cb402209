//! Loads and stores: elements and vectors of memory, and what keeps threads from touching it.

use pumice_program::{Access, Memory, MemoryId, Operand, Space, Stmt, Var};
use pumice_scalar::ScalarType;

use crate::dialect::{Threads, is_packed};
use crate::expression::{Binding, Expression};
use crate::truth::UNVECTORISED;
use crate::writer::Writer;

/// The elements of vectors, in both dialects that have them.
const FIELDS: [&str; 4] = ["x", "y", "z", "w"];

/// Whether a statement, or one inside it, uses memory.
pub(crate) fn touches(stmt: &Stmt, uses: &dyn Fn(MemoryId) -> bool) -> bool {
    match stmt {
        Stmt::Load { memory, .. } | Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } => uses(*memory),
        stmt => stmt.children().into_iter().flatten().any(|stmt| touches(stmt, uses)),
    }
}

impl Writer<'_> {
    /// Whether a statement, or one inside it, uses private memory.
    pub(crate) fn uses_private(&self, stmt: &Stmt) -> bool {
        touches(stmt, &|id| matches!(self.program.memory(id).space, Space::Private { .. }))
    }

    pub(crate) fn load(&mut self, vars: &[Var], memory: MemoryId, index: Operand) {
        if vars.iter().all(|var| self.uses[var.0 as usize].count == 0) {
            return;
        }
        if matches!(index, Operand::Var(var) if self.made_of_truth[var.0 as usize]) {
            self.sink().line(UNVECTORISED);
        }
        let index = self.value(index);
        let ty = self.program.memory(memory).ty;
        let width = self.access_width(memory, vars.len());
        let guard = self.guard_of(vars);
        for (k, chunk) in vars.chunks(width).enumerate() {
            let offset = self.offset(&index, k * width);
            let Some(vector) = self.language.vector(ty, width).filter(|_| width > 1) else {
                let element = match self.is_shared_by_blocks(memory) {
                    true => self.fresh_element(memory, &offset),
                    false => self.element(memory, &offset),
                };
                let element = Expression::atom(element);
                let value = self.guarded(ty, element, guard.as_deref());
                self.define(chunk[0], &value);
                continue;
            };
            let name = self.names.fresh(&format!("{}_{width}", self.name(chunk[0])));
            let pointer = self.pointer(memory, &vector, &offset);
            match &guard {
                Some(guard) => {
                    let zeros = vec![self.zero(ty).text; width];
                    let zeros = self.made_vector(ty, &vector, &zeros);
                    self.sink().line(&format!("{vector} {name} = {zeros};"));
                    self.sink().line(&format!("if ({guard}) {name} = {pointer};"));
                }
                None => self.sink().line(&format!("{vector} {name} = {pointer};")),
            }
            for (k, var) in chunk.iter().enumerate() {
                let field = match is_packed(ty, width) {
                    true => self.unpacked(ty, &vector, &name, k),
                    false => Expression::atom(format!("{name}.{}", FIELDS[k])),
                };
                self.inlined[var.0 as usize] = Some(truth(ty, field));
            }
        }
    }

    pub(crate) fn store(&mut self, memory: MemoryId, index: Operand, values: &[Operand]) {
        let index = self.value(index);
        let ty = self.program.memory(memory).ty;
        let values: Vec<String> = values.iter().map(|&value| self.value(value).text).collect();
        let width = self.access_width(memory, values.len());
        let guard = self.guard_of(&[]).map(|guard| format!("if ({guard}) ")).unwrap_or_default();
        for (k, chunk) in values.chunks(width).enumerate() {
            let offset = self.offset(&index, k * width);
            let line = match self.language.vector(ty, width).filter(|_| width > 1) {
                Some(vector) => {
                    let pointer = self.pointer(memory, &vector, &offset);
                    format!("{guard}{pointer} = {};", self.made_vector(ty, &vector, chunk))
                }
                None => format!("{guard}{} = {};", self.element(memory, &offset), chunk[0]),
            };
            self.sink().line(&line);
        }
    }

    /// The vector that has these values for its elements.
    fn made_vector(&self, ty: ScalarType, vector: &str, values: &[String]) -> String {
        if !is_packed(ty, values.len()) {
            return self.language.make_vector(vector, values);
        }
        let unsigned = if ty == ScalarType::Bool { ty } else { ty.unsigned() };
        let (element, bits) = (self.language.element(unsigned), 8 * ty.bytes());
        let word = |values: &[String]| {
            let shifted = values.iter().enumerate().map(|(k, value)| match k {
                0 => format!("(u32)({element})({value})"),
                _ => format!("((u32)({element})({value}) << {})", k * bits),
            });
            shifted.collect::<Vec<String>>().join(" | ")
        };
        let words: Vec<String> = values.chunks(4 / ty.bytes()).map(word).collect();
        match words.as_slice() {
            [word] => format!("({vector})({word})"),
            words => self.language.make_vector(vector, words),
        }
    }

    /// An element of a vector of words that have several.
    fn unpacked(&self, ty: ScalarType, vector: &str, name: &str, k: usize) -> Expression {
        let in_word = 4 / ty.bytes();
        let word = match vector {
            "u16" | "u32" => name.to_owned(),
            _ => format!("{name}.{}", FIELDS[k / in_word]),
        };
        let element = self.language.element(ty);
        let text = match 8 * ty.bytes() * (k % in_word) {
            0 => format!("({element}){word}"),
            shift => format!("({element})({word} >> {shift})"),
        };
        Expression { binding: Binding::Unary, ..Expression::atom(text) }
    }

    /// An element of memory.
    pub(crate) fn element(&mut self, memory: MemoryId, index: &Expression) -> String {
        let array = self.memories[memory.0 as usize].clone();
        let element = format!("{array}[{}]", index.text);
        match (self.program.memory(memory).space, self.language.threads()) {
            // One worker has the memory of all threads.
            (Space::Private { .. }, Threads::Lanes) => format!("{element}[{}]", self.cell_place()),
            _ => element,
        }
    }

    /// Whether other blocks may write this memory while this one reads it, and a plain load would not see it.
    fn is_shared_by_blocks(&self, memory: MemoryId) -> bool {
        let written = matches!(
            self.program.memory(memory).space,
            Space::Global { access } if access != Access::Read
        );
        written && self.orders_memory && self.language.loads_are_stale()
    }

    /// An element as it is in the memory of all blocks.
    fn fresh_element(&self, memory: MemoryId, index: &Expression) -> String {
        let (space, array) = (self.language.space(false), &self.memories[memory.0 as usize]);
        let element = self.language.element(self.program.memory(memory).ty);
        format!("((volatile {space}{element} *){array})[{}]", index.text)
    }

    /// Returns the number of elements of one access.
    fn access_width(&self, memory: MemoryId, count: usize) -> usize {
        let &Memory { ty, space, .. } = self.program.memory(memory);
        // Registers have no addresses.
        let mut width = if let Space::Private { .. } = space { 1 } else { count };
        while width > 1 && self.language.vector(ty, width).is_none() {
            width /= 2;
        }
        width
    }

    /// `index + distance`, which the program has promised to be within bounds.
    fn offset(&self, index: &Expression, distance: usize) -> Expression {
        if distance == 0 {
            return index.clone();
        }
        if let Ok(constant) = index.text.parse::<u64>() {
            return Expression::atom((constant + distance as u64).to_string());
        }
        let text = format!("{} + {distance}", index.within(Binding::Sum));
        Expression { binding: Binding::Sum, ..Expression::atom(text) }
    }

    fn pointer(&self, memory: MemoryId, vector: &str, offset: &Expression) -> String {
        let (shared, constant) = match self.program.memory(memory).space {
            Space::Shared { .. } | Space::Private { .. } => (true, ""),
            Space::Global { access: Access::Read } => (false, "const "),
            Space::Global { .. } => (false, ""),
        };
        let space = self.language.space(shared);
        let array = &self.memories[memory.0 as usize];
        format!("*({space}{constant}{vector} *)({array} + {})", offset.within(Binding::Product))
    }

    /// A loaded element, not touched where the guard does not hold.
    fn guarded(&mut self, ty: ScalarType, element: Expression, guard: Option<&str>) -> Expression {
        let value = truth(ty, element);
        match guard {
            Some(mask) => {
                let zero = self.zero(ty).text;
                let text = format!("{mask} ? {} : {zero}", value.within(Binding::Or));
                Expression { binding: Binding::Conditional, ..Expression::atom(text) }
            }
            None => value,
        }
    }
}

/// Converts a byte in memory to a truth value; elements of other types stay as they are.
fn truth(ty: ScalarType, element: Expression) -> Expression {
    if ty != ScalarType::Bool {
        return element;
    }
    let text = format!("{} != 0", element.within(Binding::Sum));
    Expression { binding: Binding::Equality, ..Expression::atom(text) }
}
