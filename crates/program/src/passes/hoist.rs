//! A pass: hoists values of the prologue that are known before a launch, and so are the same in all its threads, to the host. They become
//! parameters.
//!
//! A thread that divides extents before it does anything else keeps its block waiting. The program stays the same for
//! every launch; only the place where the prologue is computed changes.
//!
//! Needs: a prologue without dead values, each of which would become a parameter. Leaves: a prologue of what the host does not
//! know; the parameters that it adds are the last ones.

use std::collections::{BTreeMap, HashSet};

use pumice_scalar::Constant;

use crate::ir::{Operand, Param, Program, Stmt, Var};

/// Makes parameters of the prologue's values that follow from these scalar arguments and that anything else needs. Gives
/// their values for this launch, in the order in which they are now the last parameters.
pub fn hoist(program: &mut Program, known: &BTreeMap<Var, Constant>) -> Vec<Constant> {
    let mut values = known.clone();
    let mut computed = Vec::new();
    for stmt in &program.prologue {
        let Stmt::Let { var, op, operands } = stmt else { continue };
        let value = |operand: &Operand| match operand {
            Operand::Constant(constant) => Some(*constant),
            Operand::Var(var) => values.get(var).copied(),
        };
        if let Some(operands) = operands.iter().map(value).collect::<Option<Vec<_>>>() {
            values.insert(*var, op.evaluate(program.var_type(*var), &operands));
            computed.push(*var);
        }
    }
    let gone: HashSet<Var> = computed.iter().copied().collect();
    program.prologue.retain(|stmt| !matches!(stmt, Stmt::Let { var, .. } if gone.contains(var)));
    let mut needed = HashSet::new();
    needed.extend(var_of(program.blocks));
    mark(&program.prologue, &mut needed);
    mark(&program.body, &mut needed);
    computed.retain(|var| needed.contains(var));
    program.params.extend(computed.iter().map(|var| Param::Scalar(*var)));
    computed.iter().filter_map(|var| values.get(var).copied()).collect()
}

/// Drops the scalar parameters that nothing needs. Gives the positions that they had, in order.
pub fn drop_spare_params(program: &mut Program) -> Vec<usize> {
    let mut needed = HashSet::new();
    needed.extend(var_of(program.blocks));
    needed.extend(program.failure.map(|failure| failure.base));
    mark(&program.prologue, &mut needed);
    mark(&program.body, &mut needed);
    let is_spare = |param: &Param| matches!(param, Param::Scalar(var) if !needed.contains(var));
    let spare = program.params.iter().enumerate().filter(|(_, param)| is_spare(param));
    let dropped = spare.map(|(position, _)| position).collect();
    program.params.retain(|param| !is_spare(param));
    dropped
}

fn var_of(operand: Operand) -> Option<Var> {
    match operand {
        Operand::Var(var) => Some(var),
        Operand::Constant(_) => None,
    }
}

/// Notes the variables that statements read.
fn mark(list: &[Stmt], needed: &mut HashSet<Var>) {
    for stmt in list {
        needed.extend(stmt.operands().into_iter().filter_map(var_of));
        for child in stmt.children() {
            mark(child, needed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Options, SimMemory, simulate};

    const TEXT: &str = "kernel k memory @out: global write i64 params @out, %n: i64, %x: f32 threads 4
        prologue {
          %q: i64 = div %n, 3:i64
          %spare: i64 = mul %q, 7:i64
          %y: f32 = add %x, %x
          %blocks: i64 = add %q, 1:i64
        }
        blocks %block: i64 < %blocks
        body {
          parallel %i: i64 < 1:i64 {
            %z: i64 = cast %y
            %s: i64 = add %z, %q
            store @out[%block] = %s
          }
        }";

    #[test]
    fn what_is_known_and_needed_becomes_a_parameter() {
        let mut program = crate::parse(TEXT).unwrap();
        let run = |program: &Program, scalars: &[Constant]| {
            let mut memories = [SimMemory::unwritten(3 * 8)];
            simulate(program, &mut memories, scalars, &Options::default()).unwrap();
            memories[0].bytes().to_vec()
        };
        let before = run(&program, &[7i64.into(), 1.5f32.into()]);
        let n = match program.params[1] {
            Param::Scalar(var) => var,
            Param::Memory(_) => panic!("the second parameter is a scalar"),
        };
        let added = hoist(&mut program, &BTreeMap::from([(n, 7i64.into())]));
        // The quotient and the number of blocks; the float is not known, and the product is not used.
        assert_eq!(added, [Constant::from(2i64), Constant::from(3i64)]);
        assert_eq!(program.prologue.len(), 1);
        crate::check(&program).unwrap();
        assert_eq!(drop_spare_params(&mut program), [1]);
        crate::check(&program).unwrap();
        assert_eq!(before, run(&program, &[1.5f32.into(), added[0], added[1]]));
    }
}
