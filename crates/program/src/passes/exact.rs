//! A pass: marks the integer operations that cannot wrap, so that emitters need not guard against it.
//!
//! Needs: types that are final, so it comes after the passes that choose them. Leaves: the same program, with marks
//! ([`VarInfo::exact`](crate::VarInfo)) that hold for the given ranges of scalar arguments; the launcher answers for those.
//! Nothing else decides whether arithmetic can wrap: emitters believe the marks, and take what is not marked to wrap.

use pumice_scalar::Op;

use crate::interval::{Intervals, Ranges};
use crate::ir::{Program, Stmt, Var};

/// Marks what is provable for scalar arguments in these ranges. The program must be one that the verifier accepts.
pub fn mark_exact(program: &mut Program, ranges: &Ranges) {
    let intervals = Intervals::of(program, ranges);
    let mut exact = Vec::new();
    find(program, &intervals, &program.prologue, &mut exact);
    find(program, &intervals, &program.body, &mut exact);
    for var in exact {
        program.vars[var.0 as usize].exact = true;
    }
}

fn find(program: &Program, intervals: &Intervals, list: &[Stmt], exact: &mut Vec<Var>) {
    for stmt in list {
        if let Stmt::Let { var, op, operands } = stmt
            && let Some(info) = program.vars.get(var.0 as usize)
        {
            let ty = info.ty;
            let proved = match op {
                // Unsigned arithmetic is the same whether it wraps or not.
                Op::Add | Op::Sub | Op::Mul | Op::Neg => ty.is_signed() && intervals.stays_within(*var, ty),
                Op::Div | Op::Rem if ty.is_integer() => {
                    operands.get(1).is_some_and(|divisor| intervals.operand(*divisor).0 > 0)
                }
                _ => false,
            };
            if proved {
                exact.push(*var);
            }
        }
        for child in stmt.children() {
            find(program, intervals, child, exact);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_wrap_is_marked() {
        let text = "kernel k params %n.0: i64 threads 4
            prologue {
              %a.1: i64 = add %n.0, 1:i64
              %b.2: i64 = mul %a.1, 4611686018427387904:i64
              %c.3: i64 = div %b.2, %n.0
            }
            blocks %block.4: i64 < %n.0
            body { }";
        let mut program = crate::parse(text).unwrap();
        mark_exact(&mut program, &Ranges::from([(Var(0), (1, 100))]));
        let marks: Vec<bool> = program.vars.iter().map(|info| info.exact).collect();
        assert_eq!(marks, [false, true, false, true, false]);
        assert_eq!(crate::parse(&program.to_string()).unwrap(), program);
        // A constant that wraps is no exception.
        let text = "kernel k\nthreads 4\nprologue {\n%a.0: i32 = add 2147483647:i32, 1:i32\n}\n\
                    blocks %block.1: i64 < 1:i64\nbody {\n}\n";
        let mut program = crate::parse(text).unwrap();
        mark_exact(&mut program, &Ranges::new());
        assert!(!program.vars[0].exact);
    }
}
