//! Loops and conditions of a kernel, and the values that they carry.

use super::scopes::indices;
use super::{expect_types, guarded, types_of};
use crate::bounds::bounds;
use crate::builder::{ExecutionScope, List, bind, bind_within, framed, fresh, materialise, with};
use pumice_program::{Carried, Joined, Operand, Scope, Stmt, Var};
use pumice_scalar::{Exp, ScalarType, Term, branch};

/// The values of one of two sides; only that one is evaluated, and what it does is done only then. The second side is given
/// the values of the first, for their types.
pub fn choose(
    condition: Term,
    then: impl FnOnce() -> Vec<Term>,
    otherwise: impl FnOnce(&[Term]) -> Vec<Term>,
) -> Vec<Term> {
    /// The values, and their operands if anything was done on the way.
    type Side = (Vec<Term>, Option<Vec<Operand>>);
    fn side(terms: impl FnOnce() -> Vec<Term>) -> (Side, Vec<Stmt>) {
        framed(List::Side, || {
            let terms = guarded(terms);
            let acts = with(|builder| builder.acts());
            let operands = acts.then(|| materialise(&terms));
            (terms, operands)
        })
    }
    let (then, then_list) = side(then);
    let (otherwise, otherwise_list) = side(|| otherwise(&then.0));
    let types = types_of(&then.0);
    expect_types(&types, &otherwise.0, "the sides of a condition differ");
    if then.1.is_none() && otherwise.1.is_none() {
        return branch(condition, &then.0, &otherwise.0);
    }
    let finished = |(terms, operands): Side, list| match operands {
        Some(operands) => (operands, list),
        None => framed(List::Side, || materialise(&terms)),
    };
    let Some(&condition) = materialise(&[condition]).first() else { return then.0 };
    let (values, then) = finished(then, then_list);
    let (other_values, otherwise) = finished(otherwise, otherwise_list);
    let vars: Vec<Var> = types.iter().map(|ty| fresh(*ty, "v")).collect();
    let joined = vars.iter().zip(values.iter().zip(&other_values));
    let results =
        joined.map(|(var, (then, otherwise))| Joined { var: *var, then: *then, otherwise: *otherwise });
    let results = results.collect();
    with(|builder| builder.push(Stmt::If { condition, then, otherwise, results }));
    vars.into_iter().zip(types).map(|(var, ty)| bind(var, ty)).collect()
}

/// The values that a loop carries.
fn new_carried(initial: &[Term]) -> Vec<(Var, ScalarType)> {
    initial.iter().map(|term| (fresh(term.ty(), "acc"), term.ty())).collect()
}

fn bind_all(vars: &[(Var, ScalarType)]) -> Vec<Term> {
    vars.iter().map(|(var, ty)| bind(*var, *ty)).collect()
}

fn carried(vars: &[(Var, ScalarType)], initial: &[Operand], next: &[Operand]) -> Vec<Carried> {
    let carried = vars.iter().zip(initial.iter().zip(next));
    carried.map(|((var, _), (initial, next))| Carried { var: *var, initial: *initial, next: *next }).collect()
}

/// Writes the values that a loop carries into its next round.
fn next_values(initial: &[Term], next: &[Term]) -> Vec<Operand> {
    expect_types(&types_of(initial), next, "a loop carries values of other types from round to round");
    materialise(next)
}

/// Between two rounds of a loop: the next one may write what slower threads still read in this one.
fn between_rounds() {
    with(|builder| {
        if builder.writes_shared() {
            match builder.scope {
                ExecutionScope::Block => builder.push(Stmt::Sync { scope: Scope::Block }),
                ExecutionScope::Warp => builder.push(Stmt::Sync { scope: Scope::Warp }),
                ExecutionScope::Host | ExecutionScope::Thread => {}
            }
        }
    });
}

/// A sequential loop that carries values.
pub fn sequential(
    range: std::ops::Range<Term>,
    step: Term,
    initial: &[Term],
    body: impl FnOnce(Term, &[Term]) -> Vec<Term>,
) -> Vec<Term> {
    let least = bounds(Exp::from_term(range.start)).0;
    let largest = indices(range.end).1;
    let upwards = step.integer().is_some_and(|step| step > 0);
    let mut all = vec![range.start, range.end, step];
    all.extend_from_slice(initial);
    let operands = materialise(&all);
    let (Some(&[start, end, step]), Some(initial_values)) = (operands.first_chunk(), operands.get(3..))
    else {
        return initial.to_vec();
    };
    if !with(|builder| builder.has_room()) {
        return initial.to_vec();
    }
    let var = fresh(ScalarType::I64, "k");
    let vars = new_carried(initial);
    let (next, body) = framed(List::Loop, || {
        let index = match upwards {
            true => bind_within(var, ScalarType::I64, (least, largest)),
            false => bind(var, ScalarType::I64),
        };
        let values = bind_all(&vars);
        let next = next_values(initial, &body(index, &values));
        between_rounds();
        next
    });
    let carried = carried(&vars, initial_values, &next);
    with(|builder| builder.push(Stmt::For { var, start, end, step, carried, body }));
    bind_all(&vars)
}

/// A loop that carries values while a condition on them holds.
pub fn repeat_while(
    initial: &[Term],
    condition: impl FnOnce(&[Term]) -> Term,
    body: impl FnOnce(&[Term]) -> Vec<Term>,
) -> Vec<Term> {
    let initial_values = materialise(initial);
    if !with(|builder| builder.has_room()) {
        return initial.to_vec();
    }
    let vars = new_carried(initial);
    let ((condition, next, body), header) = framed(List::Loop, || {
        let values = bind_all(&vars);
        let condition = materialise(&[condition(&values)]);
        let (next, body) = framed(List::Body, || {
            let next = next_values(initial, &body(&values));
            between_rounds();
            next
        });
        (condition, next, body)
    });
    let condition = condition.first().copied().unwrap_or(Operand::Constant(false.into()));
    let carried = carried(&vars, &initial_values, &next);
    with(|builder| builder.push(Stmt::While { carried, header, condition, body }));
    bind_all(&vars)
}

/// Does one of two things.
pub fn either(condition: Term, then: impl FnOnce(), otherwise: impl FnOnce()) {
    match condition.constant() {
        Some(known) if known.is_true() => return then(),
        Some(_) => return otherwise(),
        None => {}
    }
    let Some(&condition) = materialise(&[condition]).first() else { return };
    if !with(|builder| builder.has_room()) {
        return;
    }
    let ((), then) = framed(List::Side, then);
    let ((), otherwise) = framed(List::Side, otherwise);
    with(|builder| builder.push(Stmt::If { condition, then, otherwise, results: Vec::new() }));
}
