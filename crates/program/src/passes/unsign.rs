//! A pass: a check of both ends of a range, `0 <= i & i < n`, becomes one comparison of unsigned numbers, `i < n`, which is
//! the same where `n` is not negative: a negative `i` is larger than all of those.
//!
//! Needs: types that are final, and nothing after it that asks what a condition says of its operands. Leaves: comparisons
//! that nothing uses, for `eliminate_dead`.

use std::collections::HashMap;

use pumice_scalar::{Op, ScalarType};

use crate::interval::{Intervals, Ranges};
use crate::ir::{Operand, Program, Stmt, Var};

/// Joins what is provable for scalar arguments in these ranges. The program must be one that the verifier accepts.
pub fn unsign(program: &mut Program, ranges: &Ranges) {
    let intervals = Intervals::of(program, ranges);
    let mut comparisons = HashMap::new();
    for list in [&program.prologue, &program.body] {
        find(list, &mut comparisons);
    }
    let mut body = std::mem::take(&mut program.body);
    join(program, &intervals, &comparisons, &mut body);
    program.body = body;
}

/// Comparisons by their result: `<` or `<=`, and the two operands.
type Comparisons = HashMap<Var, (Op, Operand, Operand)>;

fn find(list: &[Stmt], comparisons: &mut Comparisons) {
    for stmt in list {
        if let Stmt::Let { var, op: op @ (Op::Lt | Op::Le), operands } = stmt
            && let [a, b] = operands[..]
        {
            comparisons.insert(*var, (*op, a, b));
        }
        stmt.children().into_iter().for_each(|child| find(child, comparisons));
    }
}

fn join(program: &mut Program, intervals: &Intervals, comparisons: &Comparisons, list: &mut Vec<Stmt>) {
    let mut joined = Vec::with_capacity(list.len());
    for mut stmt in std::mem::take(list) {
        for child in stmt.children_mut() {
            join(program, intervals, comparisons, child);
        }
        if let Stmt::Let { op, operands, .. } = &mut stmt
            && *op == Op::And
            && let Some((index, bound, ty)) = range_check(program, intervals, comparisons, operands)
        {
            let mut cast = |operand: Operand| {
                let var = program.add_var(ty, "unsigned");
                joined.push(Stmt::Let { var, op: Op::Cast, operands: vec![operand] });
                Operand::Var(var)
            };
            (*op, *operands) = (Op::Lt, vec![cast(index), cast(bound)]);
        }
        joined.push(stmt);
    }
    *list = joined;
}

/// The index and the bound of a range that two conditions check together, and the unsigned type for both.
fn range_check(
    program: &Program,
    intervals: &Intervals,
    comparisons: &Comparisons,
    conditions: &[Operand],
) -> Option<(Operand, Operand, ScalarType)> {
    let comparison = |condition: &Operand| match condition {
        Operand::Var(var) => comparisons.get(var).copied(),
        Operand::Constant(_) => None,
    };
    let [first, second] = conditions else { return None };
    let (first, second) = (comparison(first)?, comparison(second)?);
    let is_zero =
        |operand: Operand| matches!(operand, Operand::Constant(zero) if zero.as_integer() == Some(0));
    let (index, bound) = match (first, second) {
        ((Op::Le, zero, low), (Op::Lt, index, bound)) | ((Op::Lt, index, bound), (Op::Le, zero, low))
            if is_zero(zero) && low == index =>
        {
            (index, bound)
        }
        _ => return None,
    };
    let ty = match index {
        Operand::Var(var) => program.var_type(var),
        Operand::Constant(constant) => constant.ty(),
    };
    let ty = match ty {
        ScalarType::I32 => ScalarType::U32,
        ScalarType::I64 => ScalarType::U64,
        _ => return None,
    };
    (intervals.operand(bound).0 >= 0).then_some((index, bound, ty))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(low: i128) -> String {
        let text = "kernel k memory @x: global write i32 params @x, %n.0: i64 threads 4
            blocks %block.1: i64 < 4:i64
            body { parallel %t.2: i64 < 4:i64 {
              %i.3: i64 = sub %t.2, %block.1
              %a.4: bool = le 0:i64, %i.3
              %b.5: bool = lt %i.3, %n.0
              %c.6: bool = and %a.4, %b.5
              if %c.6 { store @x[%i.3] = 1:i32 }
            } }";
        let mut program = crate::parse(text).unwrap();
        unsign(&mut program, &Ranges::from([(Var(0), (low, 100))]));
        crate::verify(program.clone()).unwrap();
        program.to_string()
    }

    #[test]
    fn both_ends_are_checked_at_once_where_the_bound_is_not_negative() {
        assert!(joined(0).contains("bool = lt %unsigned"), "{}", joined(0));
        assert!(joined(-1).contains("bool = and"), "{}", joined(-1));
    }
}
