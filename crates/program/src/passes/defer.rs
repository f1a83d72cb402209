//! A part of `predicate`: records of failures move behind the values that are computed beside them, if there are several.
//!
//! A record is an atomic access to memory, over which a compiler moves no load: of several elements that a thread takes, each
//! of which is checked, the second would only be loaded when the first has come. Nothing waits for a record, and what must not
//! be loaded if a check fails is guarded by its condition, wherever the record is.
//!
//! Needs: nothing. Leaves: a program that does the same, with the failures of a list in their order, behind the loads, pure
//! computations and branches between them, and before what has another effect; one branch goes around all of them.

use pumice_scalar::{Op, ScalarType};

use crate::ir::{Operand, Program, Stmt};

/// Moves the failures of a list. The program must be one that the verifier accepts.
pub(super) fn defer_failures(program: &mut Program, stmts: &mut Vec<Stmt>) {
    let mut done = Vec::with_capacity(stmts.len());
    // What only computes since the last effect, and the failures among it, with their positions there.
    let (mut values, mut failures) = (Vec::new(), Vec::new());
    for stmt in std::mem::take(stmts) {
        match stmt {
            Stmt::Fail { .. } => failures.push((values.len(), stmt)),
            stmt if only_computes(&stmt) => values.push(stmt),
            stmt => {
                put(program, &mut done, &mut values, &mut failures);
                done.push(stmt);
            }
        }
    }
    put(program, &mut done, &mut values, &mut failures);
    *stmts = done;
}

/// Adds values and failures to a list: the failures last, or a single one where it was.
fn put(
    program: &mut Program,
    list: &mut Vec<Stmt>,
    values: &mut Vec<Stmt>,
    failures: &mut Vec<(usize, Stmt)>,
) {
    if let [(position, _)] = failures[..] {
        values.splice(position..position, failures.drain(..).map(|(_, failure)| failure));
    }
    list.append(values);
    let then: Vec<Stmt> = failures.drain(..).map(|(_, failure)| failure).collect();
    let mut define = |op: Op, operands: Vec<Operand>| {
        let var = program.add_var(ScalarType::Bool, "holds");
        list.push(Stmt::Let { var, op, operands });
        Operand::Var(var)
    };
    let conditions = then.iter().filter_map(|failure| match failure {
        Stmt::Fail { unless, .. } => Some(*unless),
        _ => None,
    });
    let Some(all) = conditions.reduce(|all, one| define(Op::And, vec![all, one])) else { return };
    let condition = define(Op::Not, vec![all]);
    list.push(Stmt::If { condition, then, otherwise: Vec::new(), results: Vec::new() });
}

/// Whether a statement has no effect, nor has any inside it but failures.
fn only_computes(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Comment(_) | Stmt::Let { .. } | Stmt::Load { .. } | Stmt::Fail { .. } => true,
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).all(only_computes),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deferred(checks: &str) -> Vec<String> {
        let text = format!(
            "kernel k memory @f: global readwrite i64 memory @in: global read i64 memory @out: global write i64
             params @f, %base: i64, @in, @out, %n: i64 failure @f + %base threads 4
             blocks %block: i64 < 1:i64
             body {{ parallel %i: i64 < 4:i64 {{ {checks} }} }}"
        );
        let mut program = crate::parse(&text).unwrap_or_else(|error| panic!("{error:?}"));
        let mut body = std::mem::take(&mut program.body);
        body[0].children_mut().into_iter().for_each(|body| defer_failures(&mut program, body));
        program.body = body;
        crate::verify(program.clone()).unwrap_or_else(|error| panic!("{error:?}"));
        let text = program.to_string();
        let words = text.lines().filter_map(|line| {
            ["fail 0", "fail 1", "load", "if", "store"].into_iter().find(|word| line.contains(word))
        });
        words.skip_while(|word| *word != "load").map(str::to_string).collect()
    }

    const FIRST: &str = "%a: i64 = load @in[%i] %c: bool = lt %a, %n fail 0 unless %c, index %a, bound %n
        %v: i64 = if %c { %x: i64 = load @in[%a] yield %x } else { yield 0:i64 }";

    #[test]
    fn the_second_element_is_loaded_before_the_failure_of_the_first_is_recorded() {
        let second = "%b: i64 = load @in[%v] %d: bool = lt %b, %n fail 1 unless %d, index %b, bound %n
            %s: i64 = add %b, %v store @out[%i] = %s";
        let order = deferred(&format!("{FIRST} {second}"));
        assert_eq!(order, ["load", "if", "load", "load", "if", "fail 0", "fail 1", "store"]);
    }

    #[test]
    fn a_single_failure_stays_and_none_crosses_an_effect() {
        let second = "store @out[%i] = %v %d: bool = lt 7:i64, %n fail 1 unless %d, index %i, bound %n
            %b: i64 = load @in[%i]";
        let order = deferred(&format!("{FIRST} {second}"));
        assert_eq!(order, ["load", "fail 0", "if", "load", "store", "fail 1", "load"]);
    }
}
