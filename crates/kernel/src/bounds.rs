//! Between which values an expression plainly is.
//!
//! This looks a few operations down, at constants, lengths of arrays and the indices of loops. It saves what would only be
//! proved away later; [`pumice_program::settle`] knows the arguments of a launch and proves more.

use crate::builder::with;
use crate::item::Ix;
use pumice_program::interval::of_op;
use pumice_program::{Interval, Ranges};
use pumice_scalar::{Id, Node, ScalarType, Variable, inspect};
use std::collections::HashMap;

/// No array has more elements than this, so sums of a few lengths do not wrap.
pub(crate) const MOST_ELEMENTS: i64 = i64::MAX / 16;

/// Maximum depth of operations that the search looks at.
const MAX_DEPTH: usize = 16;

/// Returns bounds of an index or a length that are plain to see, and hold wherever it can be used.
pub(crate) fn bounds(value: Ix) -> Interval {
    if let Some(known) = value.term().integer() {
        return (known.into(), known.into());
    }
    let id = value.term().id();
    let found = inspect(|graph| {
        with(|builder| {
            let mut search = Search { nodes: graph.nodes(), ranges: &builder.ranges, found: HashMap::new() };
            Some(search.of(id, MAX_DEPTH))
        })
    });
    found.unwrap_or(ScalarType::I64.range())
}

struct Search<'a> {
    nodes: &'a [Node],
    /// Known ranges of the program's variables.
    ranges: &'a Ranges,
    found: HashMap<Id, Interval>,
}

impl Search<'_> {
    fn of(&mut self, id: Id, depth: usize) -> Interval {
        if let Some(known) = self.found.get(&id) {
            return *known;
        }
        let nodes = self.nodes;
        let Some(node) = nodes.get(id.0 as usize) else { return ScalarType::I64.range() };
        let full = node.ty().unwrap_or(ScalarType::I64).range();
        let interval = match node {
            Node::Constant(constant) => constant.as_integer().map_or(full, |value| (value, value)),
            Node::Variable(Variable::Local(var), _) => {
                self.ranges.get(&pumice_program::Var(*var)).copied().unwrap_or(full)
            }
            Node::Apply { op, ty, operands } if depth > 0 && ty.is_integer() => {
                let ids = operands.as_slice();
                let types: Option<Vec<ScalarType>> =
                    ids.iter().map(|id| nodes.get(id.0 as usize).and_then(Node::ty)).collect();
                let intervals: Vec<Interval> = ids.iter().map(|id| self.of(*id, depth - 1)).collect();
                types.map_or(full, |types| of_op(*op, *ty, &types, &intervals))
            }
            _ => full,
        };
        self.found.insert(id, interval);
        interval
    }
}

/// The length, or none if it is below that.
pub(crate) fn natural(length: Ix) -> Ix {
    if bounds(length).0 >= 0 { length } else { length.max(0) }
}

/// The sum of two lengths; the largest length if it is larger than that.
pub(crate) fn total(a: Ix, b: Ix) -> Ix {
    let (a, b) = (natural(a), natural(b));
    match bounds(a).1 + bounds(b).1 <= i64::MAX.into() {
        true => a + b,
        false => a.min(pumice_scalar::Exp::from(i64::MAX) - b) + b,
    }
}

/// The product of two lengths; nearly the largest length, and more than any array has, if it is larger than that.
pub(crate) fn area(rows: Ix, columns: Ix) -> Ix {
    let (rows, columns) = (natural(rows), natural(columns));
    let largest = bounds(rows).1.saturating_mul(bounds(columns).1);
    if largest <= i64::MAX.into() {
        return rows * columns;
    }
    // Of two, the constant divides.
    let (many, few) = if rows.term().integer().is_some() { (columns, rows) } else { (rows, columns) };
    many.min(crate::size::quotient(pumice_scalar::Exp::from(i64::MAX), few.max(1))) * few
}
