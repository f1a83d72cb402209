//! Lengths that only the device knows: a cell of memory that an earlier kernel wrote, with an upper bound that the host
//! knows.
//!
//! The kernel reads the cell wherever it needs the length. Only the number of blocks must be known before that, so it is
//! computed with the bound in place of the cell, and a block beyond the length ends at once. For this the number of blocks
//! must not shrink where the length grows; that is checked here, operation by operation.

use crate::builder::{self, named, with};
use crate::item::Ix;
use pumice_program::interval::of_op;
use pumice_program::{Access, Interval, MemoryId, Var};
use pumice_scalar::{Constant, Exp, Id, Node, Op, ScalarType, Term, Variable, function, inspect};
use std::collections::HashSet;

/// Adds a cell with a length as the next parameter, and returns the length: what the cell holds, but not below zero and not
/// above `bound`.
pub(crate) fn parameter(name: &str, bound: Ix) -> Ix {
    let memory = builder::memory_parameter(name, ScalarType::I64, Access::Read);
    with(|builder| {
        builder.length_cells.insert(memory, bound.term());
    });
    let first = Constant::from(0i64).into();
    // SAFETY: the cell has one element, as the caller of `crate::raw::length_parameter` promises.
    let cell: Ix = Exp::from_term(unsafe { Term::load(memory.0.into(), ScalarType::I64, first, false) });
    named(cell.max(0).min(bound), "length")
}

/// Whether a value needs memory to be read, so that it is not known before the kernel starts.
pub(crate) fn is_read_from_memory(terms: &[Term]) -> bool {
    // Without such lengths nothing that the host is asked about is read from memory.
    if with(|builder| builder.length_cells.is_empty()) {
        return false;
    }
    let mut open: Vec<Id> = terms.iter().map(|term| term.id()).collect();
    let mut seen: HashSet<Id> = open.iter().copied().collect();
    inspect(|graph| {
        while let Some(id) = open.pop() {
            let node = graph.node(id);
            if matches!(node, Node::Load { .. }) {
                return true;
            }
            node.for_each_operand(|id| {
                if seen.insert(id) {
                    open.push(id);
                }
            });
        }
        false
    })
}

/// A node of an expression with every length cell replaced by its bound.
struct Largest {
    /// The value, which is not smaller than that of the node.
    value: Term,
    /// Between which values the node itself plainly is.
    interval: Interval,
    /// Whether the node depends on a length cell.
    depends: bool,
}

/// The largest value that an expression has for any lengths of this launch: itself, if it depends on none that only the
/// device knows. One that can shrink where a length grows is a mistake.
pub(crate) fn largest(term: Term) -> Term {
    if !is_read_from_memory(&[term]) {
        return term;
    }
    let expression = function(&[], |_| vec![term]);
    let mut done: Vec<Largest> = Vec::with_capacity(expression.nodes().len());
    for node in expression.nodes() {
        match bounded(node, &done) {
            Ok(largest) => done.push(largest),
            Err(message) => {
                with(|builder| builder.mistake(message));
                return Constant::zero(term.ty()).into();
            }
        }
    }
    let result = expression.results().first().and_then(|id| done.get(id.0 as usize));
    result.map_or(term, |largest| largest.value)
}

/// Bounds one node, given the bounds of the nodes before it; see [`largest`].
fn bounded(node: &Node, done: &[Largest]) -> Result<Largest, String> {
    const SHRINKS: &str = "the number of blocks depends on a length that only the device knows, and is not seen to grow with it";
    let full = node.ty().unwrap_or(ScalarType::I64).range();
    match node {
        Node::Constant(constant) => {
            let interval = constant.as_integer().map_or(full, |value| (value, value));
            Ok(Largest { value: (*constant).into(), interval, depends: false })
        }
        Node::Variable(variable, ty) => {
            let known = match variable {
                Variable::Local(var) => with(|builder| builder.ranges.get(&Var(*var)).copied()),
                _ => None,
            };
            let value = Term::variable(*variable, *ty);
            Ok(Largest { value, interval: known.unwrap_or(full), depends: false })
        }
        Node::Load { array, .. } => {
            let cell = u32::try_from(*array).ok().map(MemoryId);
            let bound = with(|builder| cell.and_then(|cell| builder.length_cells.get(&cell).copied()));
            let bound = bound.ok_or("the number of blocks depends on an element of an array")?;
            // The cell itself may hold anything.
            Ok(Largest { value: bound, interval: full, depends: true })
        }
        Node::Apply { op, ty, operands } => {
            let operands: Vec<&Largest> =
                operands.as_slice().iter().filter_map(|id| done.get(id.0 as usize)).collect();
            let depends = operands.iter().any(|operand| operand.depends);
            if depends && !grows(*op, &operands) {
                return Err(SHRINKS.into());
            }
            let values: Vec<Term> = operands.iter().map(|operand| operand.value).collect();
            let types: Vec<ScalarType> = values.iter().map(|value| value.ty()).collect();
            let intervals: Vec<Interval> = operands.iter().map(|operand| operand.interval).collect();
            let interval = if ty.is_integer() { of_op(*op, *ty, &types, &intervals) } else { full };
            Ok(Largest { value: Term::apply(*op, *ty, &values), interval, depends })
        }
        _ => Err(SHRINKS.into()),
    }
}

/// Whether an operation does not get smaller where those of its operands grow that depend on a length.
fn grows(op: Op, operands: &[&Largest]) -> bool {
    let is_natural = |operand: &&Largest| operand.interval.0 >= 0;
    match (op, operands) {
        (Op::Add | Op::Min | Op::Max, _) => true,
        (Op::Sub, [_, subtracted]) => !subtracted.depends,
        (Op::Mul, [a, b]) => is_natural(a) && is_natural(b),
        (Op::Div, [_, divisor]) => !divisor.depends && divisor.interval.0 > 0,
        _ => false,
    }
}
