//! Integers that are made of truth values, at which gcc must not vectorise loads.

use pumice_program::{Operand, Program, Stmt};
use pumice_scalar::{Op, ScalarType};

/// For each value, whether it is an integer computed from a truth value.
///
/// gcc 13 vectorises loads at such an index wrongly: where it imitates a gather, it takes bytes of the mask that the truth
/// values are for their numbers. A loop with such a load is kept from being vectorised ([`UNVECTORISED`]).
pub(crate) fn made_of_truth(program: &Program) -> Vec<bool> {
    fn mark(list: &[Stmt], program: &Program, found: &mut [bool]) {
        for stmt in list {
            if let Stmt::Let { var, op, operands } = stmt {
                let is = |operand: &Operand| matches!(operand, Operand::Var(var) if found[var.0 as usize]);
                let constant = |operand: &Operand| matches!(operand, Operand::Constant(_));
                let made = match op {
                    Op::Cast => is(&operands[0]) || program.operand_type(operands[0]) == ScalarType::Bool,
                    Op::Select => operands[1..].iter().all(|operand| constant(operand) || is(operand)),
                    _ => operands.iter().any(is),
                };
                found[var.0 as usize] = made && program.var_type(*var).is_integer();
            }
            stmt.children().into_iter().for_each(|list| mark(list, program, found));
        }
    }
    let mut found = vec![false; program.vars.len()];
    [&program.prologue, &program.body].into_iter().for_each(|list| mark(list, program, &mut found));
    found
}

/// A statement that does nothing, and that no compiler vectorises a loop with.
pub(crate) const UNVECTORISED: &str = "__asm__ volatile(\"\");";
