//! Memories and parameters of the program being built.

use super::{BUILDER, Builder, PROLOGUE, fresh, term_of, with};
use pumice_program::{Access, Memory, MemoryId, Operand, Param, Program, Space, Stmt};
use pumice_scalar::{ScalarType, Term};
use std::collections::BTreeSet;

/// Adds global memory as the next parameter.
pub fn memory_parameter(name: &str, ty: ScalarType, access: Access) -> MemoryId {
    BUILDER.with(|slot| {
        slot.borrow_mut().as_mut().map_or(MemoryId(0), |builder| {
            let memory = builder.memory(name, ty, Space::Global { access });
            builder.program.params.push(Param::Memory(memory));
            memory
        })
    })
}

/// Adds the length of an array as the next parameter.
pub(crate) fn known_length_parameter(name: &str) -> Term {
    let term = scalar_parameter(name, ScalarType::I64);
    with(|builder| {
        if let Some(Param::Scalar(var)) = builder.program.params.last() {
            builder.ranges.insert(*var, (0, crate::bounds::MOST_ELEMENTS.into()));
        }
    });
    term
}

/// Adds a scalar as the next parameter.
pub fn scalar_parameter(name: &str, ty: ScalarType) -> Term {
    let var = fresh(ty, name);
    let term = term_of(var, ty);
    let id = term.id();
    with(|builder| {
        builder.program.params.push(Param::Scalar(var));
        builder.frames[PROLOGUE].values.insert(id, Operand::Var(var));
    });
    term
}

impl Builder {
    /// Adds memory; its name is made unique.
    pub fn memory(&mut self, name: &str, ty: ScalarType, space: Space) -> MemoryId {
        let mut unique = name.to_string();
        let number = self.memory_numbers.entry(unique.clone()).or_insert(1);
        while self.memory_names.contains(&unique) {
            *number += 1;
            unique = format!("{name}_{number}");
        }
        self.memory_names.insert(unique.clone());
        self.program.memories.push(Memory { name: unique, ty, space });
        MemoryId(self.program.memories.len() as u32 - 1)
    }
}

/// Removes memories that nothing uses and numbers the others anew; gives whether nothing did.
pub(super) fn drop_memories(program: &mut Program, spare: &BTreeSet<MemoryId>) -> bool {
    fn renumber(list: &mut [Stmt], number: &dyn Fn(&mut MemoryId) -> bool) -> bool {
        list.iter_mut().all(|stmt| {
            let own = match stmt {
                Stmt::Load { memory, .. } | Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } => {
                    number(memory)
                }
                _ => true,
            };
            own && stmt.children_mut().into_iter().all(|list| renumber(list, number))
        })
    }
    if spare.is_empty() {
        return true;
    }
    // For each memory how many before it go.
    let mut gone = 0;
    let numbers = (0..program.memories.len() as u32).map(|number| {
        let before = gone;
        gone += u32::from(spare.contains(&MemoryId(number)));
        before
    });
    let numbers: Vec<u32> = numbers.collect();
    let number = |memory: &mut MemoryId| {
        let used = !spare.contains(memory);
        memory.0 -= numbers.get(memory.0 as usize).copied().unwrap_or(0);
        used
    };
    let params = program.params.iter_mut().all(|param| match param {
        Param::Memory(memory) => number(memory),
        Param::Scalar(_) => true,
    });
    let failure = program.failure.as_mut().is_none_or(|failure| number(&mut failure.memory));
    let mut position = 0;
    program.memories.retain(|_| {
        position += 1;
        !spare.contains(&MemoryId(position - 1))
    });
    params && failure && renumber(&mut program.prologue, &number) && renumber(&mut program.body, &number)
}
