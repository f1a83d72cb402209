//! A pass: keeps every access within its memory, whatever the index.
//!
//! Kernels check the indices that users compute and stay within bounds by construction otherwise; but what follows a
//! failed check may be built on a value that nobody promised anything about. Where a check can fail, accesses that are not
//! known to be within bounds go to the nearest element that exists. The run ends with the check's error in any case.

use std::collections::HashMap;

use pumice_scalar::{Constant, Op, ScalarType};

use crate::ir::{MemoryId, Operand, Program, Space, Stmt, Var};

/// Keeps accesses within their memories: those of which the length is given, as an `i64`, and those of a block or thread.
/// Indices must be `i64`, accesses of one element each. [`crate::settle`] removes what it can prove to do nothing.
pub fn confine(program: &mut Program, lengths: &HashMap<MemoryId, Operand>) {
    let mut all = lengths.clone();
    for (number, memory) in (0u32..).zip(&program.memories) {
        if let Space::Shared { length } | Space::Private { length } = memory.space {
            all.insert(MemoryId(number), Operand::Constant(Constant::from(i64::from(length))));
        }
    }
    let body = std::mem::take(&mut program.body);
    program.body = list(program, &all, body);
}

fn list(program: &mut Program, lengths: &HashMap<MemoryId, Operand>, old: Vec<Stmt>) -> Vec<Stmt> {
    let mut new = Vec::with_capacity(old.len());
    for mut stmt in old {
        for child in stmt.children_mut() {
            let inner = std::mem::take(child);
            *child = list(program, lengths, inner);
        }
        if let Stmt::Load { memory, index, .. }
        | Stmt::Store { memory, index, .. }
        | Stmt::Atomic { memory, index, .. } = &mut stmt
            && let Some(&length) = lengths.get(memory)
            && program.operand_type(*index) == ScalarType::I64
        {
            let mut step = |op: Op, operands: [Operand; 2]| -> Operand {
                let var: Var = program.add_var(ScalarType::I64, "within");
                new.push(Stmt::Let { var, op, operands: operands.to_vec() });
                Operand::Var(var)
            };
            let (zero, one) = (Operand::Constant(0i64.into()), Operand::Constant(1i64.into()));
            let last = step(Op::Sub, [length, one]);
            let below = step(Op::Min, [*index, last]);
            // Last, so that an empty memory is asked for element 0, which every device has.
            *index = step(Op::Max, [below, zero]);
        }
        new.push(stmt);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Options, SimMemory, simulate};

    #[test]
    fn accesses_stay_within_and_proofs_spare_the_rest() {
        let text =
            "kernel k memory @in: global read i32 memory @out: global write i32 memory @s: shared i32[4]
            params @in, @out, %n: i64, %far: i64 threads 4 blocks %block: i64 < 1:i64
            body {
              parallel %i: i64 < 4:i64 {
                %j: i64 = add %i, %far
                %x: i32 = load @in[%j]
                store @s[%i] = %x
                store @out[%i] = %x
              }
            }";
        let mut program = crate::parse(text).unwrap();
        let n = Operand::Var(match program.params[2] {
            crate::Param::Scalar(var) => var,
            crate::Param::Memory(_) => panic!("the third parameter is a scalar"),
        });
        confine(&mut program, &HashMap::from([(MemoryId(0), n)]));
        crate::check(&program).unwrap();
        for (far, expected) in [(-100i64, [7, 7, 7, 7]), (100, [9, 9, 9, 9]), (1, [8, 9, 9, 9])] {
            let input = [7i32, 8, 9].map(Constant::from);
            let mut memories = [SimMemory::from_constants(&input), SimMemory::unwritten(16)];
            let scalars = [3i64.into(), far.into()];
            simulate(&program, &mut memories, &scalars, &Options::default()).unwrap();
            let found = (0..4).map(|i| memories[1].get(ScalarType::I32, i).unwrap().as_integer().unwrap());
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
        // The store to shared memory is within bounds in any case.
        let clamped = program.to_string().matches("max").count();
        crate::settle(&mut program, &Default::default());
        assert_eq!((clamped, program.to_string().matches("max").count()), (2, 1));
    }
}
