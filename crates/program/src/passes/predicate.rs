//! A pass: in loops that carry values, branches that only compute, and check what they load, become predicated loads with
//! computations between them.
//!
//! Of several elements that a thread takes in a round, each may be absent, and what is loaded for it may be checked before more is loaded.
//! As branches within branches, they are done one after the other: the second element is loaded when the first has come. With a
//! predicate on each load there is one list of statements, in which a compiler moves loads before what waits for others.
//!
//! Needs: operations that are total, and nothing that was concluded from being inside a branch: so it comes before
//! `narrow` and `mark_exact`. Leaves: conditions around single loads, whose value is zero elsewhere, and failures
//! that are recorded under the same conditions as before, at the end of the round (`defer.rs`).

use pumice_scalar::{Constant, Op, ScalarType};

use super::defer::defer_failures;
use crate::ir::{Joined, Operand, Program, Stmt};

/// Branches of a list that are done side by side, at least: a single one has nothing to wait for.
const SEVERAL: usize = 2;
/// Statements of a branch, at most: computing all of them where the condition does not hold must cost little.
const FEW: usize = 48;

/// Predicates what can be. The program must be one that the verifier accepts.
pub fn predicate(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    list(program, &mut body);
    program.body = body;
}

fn list(program: &mut Program, stmts: &mut [Stmt]) {
    for stmt in stmts {
        for child in stmt.children_mut() {
            list(program, child);
        }
        if let Stmt::For { carried, body, .. } = stmt
            && !carried.is_empty()
            && body.iter().filter(|stmt| is_checked_element(stmt)).count() >= SEVERAL
        {
            flatten_all(program, body);
            defer_failures(program, body);
        }
    }
}

fn flatten_all(program: &mut Program, stmts: &mut Vec<Stmt>) {
    let mut done = Vec::with_capacity(stmts.len());
    for stmt in std::mem::take(stmts) {
        match is_checked_element(&stmt) {
            true => flatten(program, stmt, None, &mut done),
            false => done.push(stmt),
        }
    }
    *stmts = done;
}

/// Whether a statement is a branch that loads, checks, and does nothing else but compute.
fn is_checked_element(stmt: &Stmt) -> bool {
    let Stmt::If { then, otherwise, .. } = stmt else { return false };
    let mut seen = Seen::default();
    then.iter().chain(otherwise).all(|stmt| seen.computes(stmt))
        && seen.loads
        && seen.fails
        && seen.count <= FEW
}

#[derive(Default)]
struct Seen {
    count: usize,
    loads: bool,
    fails: bool,
}

impl Seen {
    /// Notes a statement, unless it does more than compute.
    fn computes(&mut self, stmt: &Stmt) -> bool {
        self.count += 1;
        match stmt {
            Stmt::Comment(_) | Stmt::Let { .. } => {}
            Stmt::Load { .. } => self.loads = true,
            Stmt::Fail { .. } => self.fails = true,
            Stmt::If { then, otherwise, .. } => {
                return then.iter().chain(otherwise).all(|stmt| self.computes(stmt));
            }
            _ => return false,
        }
        true
    }
}

/// Writes a statement that only computes, as it is done under a predicate.
fn flatten(program: &mut Program, stmt: Stmt, predicate: Option<Operand>, out: &mut Vec<Stmt>) {
    match (stmt, predicate) {
        (Stmt::If { condition, then, otherwise, results }, _) => {
            let holds = both(program, predicate, condition, out);
            then.into_iter().for_each(|stmt| flatten(program, stmt, Some(holds), out));
            if !otherwise.is_empty() {
                let not = define(program, Op::Not, vec![condition], out);
                let fails = both(program, predicate, not, out);
                otherwise.into_iter().for_each(|stmt| flatten(program, stmt, Some(fails), out));
            }
            out.extend(results.into_iter().map(|Joined { var, then, otherwise }| Stmt::Let {
                var,
                op: Op::Select,
                operands: vec![condition, then, otherwise],
            }));
        }
        (Stmt::Load { vars, memory, index }, Some(condition)) => {
            let types: Vec<ScalarType> = vars.iter().map(|var| program.var_type(*var)).collect();
            let loaded: Vec<_> = types.iter().map(|ty| program.add_var(*ty, "loaded")).collect();
            let results = vars.into_iter().zip(&loaded).zip(&types).map(|((var, then), ty)| Joined {
                var,
                then: Operand::Var(*then),
                otherwise: Operand::Constant(Constant::zero(*ty)),
            });
            let results = results.collect();
            let then = vec![Stmt::Load { vars: loaded, memory, index }];
            out.push(Stmt::If { condition, then, otherwise: Vec::new(), results });
        }
        (Stmt::Fail { unless, site, index, bound }, Some(condition)) => {
            let absent = define(program, Op::Not, vec![condition], out);
            let unless = define(program, Op::Or, vec![unless, absent], out);
            out.push(Stmt::Fail { unless, site, index, bound });
        }
        (stmt, _) => out.push(stmt),
    }
}

/// Defines whether two conditions hold, of which the first may be none.
fn both(program: &mut Program, first: Option<Operand>, second: Operand, out: &mut Vec<Stmt>) -> Operand {
    match first {
        Some(first) => define(program, Op::And, vec![first, second], out),
        None => second,
    }
}

fn define(program: &mut Program, op: Op, operands: Vec<Operand>, out: &mut Vec<Stmt>) -> Operand {
    let var = program.add_var(ScalarType::Bool, "predicate");
    out.push(Stmt::Let { var, op, operands });
    Operand::Var(var)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Options, SimMemory, simulate};

    /// Elements of a thread, three in a round, each of which is an index that is checked and read at; all but the first may be absent.
    const TEXT: &str = "kernel k
        memory @f: global readwrite i64 memory @at: global read i64 memory @in: global read i64 memory @out: global write i64
        params @f, %base: i64, @at, @in, @out, %n: i64, %m: i64 failure @f + %base threads 4
        blocks %block: i64 < 1:i64
        body { parallel %i: i64 < 4:i64 {
          for %k: i64 in %i..%m step 8:i64 carry %sum: i64 = 0:i64 {
            %x: i64 = load @at[%k]
            %c: bool = lt %x, %n
            fail 0 unless %c, index %x, bound %n
            %a: i64 = if %c { %u: i64 = load @in[%x] yield %u } else { yield -1:i64 }
            %s1: i64 = add %sum, %a
            %j: i64 = add %k, 4:i64
            %second: bool = lt %j, %m
            %s2: i64 = if %second {
              %z: i64 = load @at[%j]
              %d: bool = lt %z, %n
              fail 1 unless %d, index %z, bound %n
              %w: i64 = if %d { %v: i64 = load @in[%z] yield %v } else { yield -1:i64 }
              %t2: i64 = add %s1, %w
              yield %t2
            } else { yield %s1 }
            %l: i64 = add %k, 6:i64
            %third: bool = lt %l, %m
            %s3: i64 = if %third {
              %y: i64 = load @at[%l]
              %e: bool = lt %y, %n
              fail 2 unless %e, index %y, bound %n
              %q: i64 = if %e { %r: i64 = load @in[%y] yield %r } else { yield -1:i64 }
              %t3: i64 = add %s2, %q
              yield %t3
            } else { yield %s2 }
            next %s3
          }
          store @out[%i] = %sum
        } }";

    /// Returns the memory that is written, and the failure record.
    fn run(program: &Program, at: &[i64], m: i64) -> [Vec<u8>; 2] {
        let memory = |values: &[i64]| {
            SimMemory::from_constants(&values.iter().map(|x| (*x).into()).collect::<Vec<_>>())
        };
        let mut memories = [memory(&[0; 3]), memory(at), memory(&[10, 20, 30]), memory(&[0; 4])];
        let scalars = [0i64, 3, m].map(Constant::from);
        simulate(program, &mut memories, &scalars, &Options::default()).unwrap_or_else(|e| panic!("{e:?}"));
        [&memories[3], &memories[0]].map(|memory| memory.bytes().to_vec())
    }

    #[test]
    fn elements_are_the_same_with_predicates_and_absent_ones_do_not_fail() {
        let program = crate::parse(TEXT).unwrap_or_else(|error| panic!("{error:?}"));
        let mut flat = program.clone();
        predicate(&mut flat);
        let text = flat.to_string();
        assert_eq!((text.matches("= if ").count(), text.matches("yield").count()), (5, 10), "{text}");
        // The memory of indices is as long as there are elements: nothing beyond may be read.
        for (at, m) in [(&[2, 1, 0, 2, 1][..], 5), (&[0, 7, 1, 2, 9, 1][..], 6), (&[][..], 0)] {
            assert_eq!(run(&program, at, m), run(&flat, at, m), "{m} elements");
        }
    }

    #[test]
    fn a_single_branch_stays() {
        let program = crate::parse(&TEXT.replace("fail 2 unless %e, index %y, bound %n", "")).unwrap();
        let mut flat = program.clone();
        predicate(&mut flat);
        assert_eq!(flat, program);
    }
}
