//! A pass: an output is written over an input, so that there is one memory in place of two.
//!
//! Needs: an output of which no element is written twice. Leaves: an argument less. The change cannot be observed if an element of the
//! input is read only where the same element of the output is written afterwards: then no other thread reads that element.

use std::collections::HashSet;

use crate::ir::{Access, MemoryId, Operand, Param, Program, Space, Stmt, Var};

/// Returns the program with one memory, in the place of the output; `None` if the change could be observed.
pub fn overwrite(program: &Program, input: MemoryId, output: MemoryId) -> Option<Program> {
    let is = |memory: MemoryId, access: Access| program.memory(memory).space == Space::Global { access };
    let fits = input != output
        && program.memory(input).ty == program.memory(output).ty
        && is(input, Access::Read)
        && is(output, Access::Write)
        && Memories { input, output }.are_in_step(&program.body, HashSet::new(), &HashSet::new());
    if !fits {
        return None;
    }
    let mut program = program.clone();
    program.params.retain(|param| *param != Param::Memory(input));
    program.each_memory(&|memory| {
        if *memory == input {
            *memory = output;
        }
    });
    program.memories[output.0 as usize].space = Space::Global { access: Access::ReadWrite };
    program.remove_memory(input);
    Some(program)
}

struct Memories {
    input: MemoryId,
    output: MemoryId,
}

/// Neighbouring elements that are read or written at once: the index of the first, and how many there are.
type Elements = (Operand, usize);

impl Memories {
    /// Whether all elements of the input that a list of statements reads are written afterwards: by the list, or by what surely comes
    /// after it (`written`). Indices are values that were computed in the same round of the innermost loop (`own`): so no later round
    /// reads what this one has written.
    fn are_in_step(&self, list: &[Stmt], mut own: HashSet<Var>, written: &HashSet<Elements>) -> bool {
        let store = |stmt: &Stmt| match stmt {
            Stmt::Store { memory, index, values } if *memory == self.output => Some((*index, values.len())),
            _ => None,
        };
        for (position, stmt) in list.iter().enumerate() {
            let after = || list[position + 1..].iter().filter_map(store);
            let is_written =
                |elements: &Elements| written.contains(elements) || after().any(|it| it == *elements);
            let fits = match stmt {
                Stmt::Load { vars, memory, index } if *memory == self.input => {
                    is_written(&(*index, vars.len()))
                }
                Stmt::Store { memory, index, .. } if *memory == self.output => {
                    let is_own = matches!(index, Operand::Var(var) if own.contains(var));
                    let again = |elements: &Elements| elements.0 == *index;
                    is_own && !after().any(|it| again(&it)) && !written.iter().any(again)
                }
                Stmt::Atomic { memory, .. } => *memory != self.input && *memory != self.output,
                Stmt::If { then, otherwise, .. } => {
                    let written: HashSet<Elements> = written.iter().copied().chain(after()).collect();
                    [then, otherwise].into_iter().all(|list| self.are_in_step(list, own.clone(), &written))
                }
                _ => {
                    let own: HashSet<Var> = stmt.defines().into_iter().collect();
                    let mut lists = stmt.children().into_iter();
                    lists.all(|list| self.are_in_step(list, own.clone(), &HashSet::new()))
                }
            };
            if !fits {
                return false;
            }
            own.extend(stmt.defines());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check, parse};

    /// Whether a body of 64 threads with the index `%t` may write `@out` over `@xs`.
    fn fits(body: &str) -> bool {
        let text = format!(
            "kernel k memory @xs: global read i64 memory @ys: global read i64 memory @out: global write i64
             params @xs, @ys, @out, %n: i64 threads 64 blocks %b: i64 < 1:i64
             body {{ parallel %t: i64 < 64:i64 {{ {body} }} }}"
        );
        let program = parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        check(&program).unwrap_or_else(|error| panic!("{error}: {text}"));
        let Some(changed) = overwrite(&program, MemoryId(0), MemoryId(2)) else { return false };
        check(&changed).unwrap_or_else(|error| panic!("{error}: {changed}"));
        let access = |memory: MemoryId| changed.memory(memory).space;
        assert_eq!(access(MemoryId(1)), Space::Global { access: Access::ReadWrite });
        assert_eq!((changed.memories.len(), changed.params.len()), (2, 3));
        true
    }

    #[test]
    fn what_is_read_and_then_written_is_one_memory() {
        assert!(fits(
            "%x: i64 = load @xs[%t] %y: i64 = load @ys[0:i64] %z: i64 = add %x, %y store @out[%t] = %z"
        ));
        assert!(fits(
            "%i: i64 = add %t, %n %c: bool = lt %i, %n
                      if %c { %x: i64 = load @xs[%i] store @out[%i] = %x }"
        ));
        // It need not be read at all, or only sometimes.
        assert!(fits("store @out[%t] = 1:i64"));
        assert!(fits("%c: bool = lt %t, %n if %c { %x: i64 = load @xs[%t] } store @out[%t] = 1:i64"));
    }

    #[test]
    fn what_could_be_seen_is_left_alone() {
        let refused = [
            // Another element, or the same one for all threads.
            "%i: i64 = add %t, 1:i64 %x: i64 = load @xs[%i] store @out[%t] = %x",
            "%x: i64 = load @xs[0:i64] store @out[%t] = %x",
            "%x: i64 = load @xs[0:i64] store @out[0:i64] = %x",
            // Read after it is written, or not surely written.
            "store @out[%t] = 1:i64 %x: i64 = load @xs[%t]",
            "%x: i64 = load @xs[%t] %c: bool = lt %t, %n if %c { store @out[%t] = %x }",
            // Read again in a later round.
            "for %k: i64 in 0:i64..%n step 1:i64 { %x: i64 = load @xs[%t] store @out[%t] = %x }",
        ];
        for body in refused {
            assert!(!fits(body), "{body}");
        }
    }
}
