//! Separates a function of an element's row and column: into a part that does not depend on the column, one that does not depend on the
//! row, and their combination. Where a fold's elements come apart like this, the fold is a product of matrices: each
//! value of either side serves a whole row or column of the result.
//!
//! Only the scalar function is looked at, so any operations may have made it.

use crate::reduction::instantiate;
use pumice_scalar::{Constant, Function, Id, Node, ScalarType, Term, Variable, function};
use std::collections::HashMap;

/// The first parameters of a function that is separated; the others are the index in the inner extent and the number of the
/// matrix.
const ROW: u32 = 0;
const COLUMN: u32 = 1;

/// A function that has come apart.
pub(crate) struct Separated {
    /// From row, inner index and matrix to the scalars of the left side.
    pub left: Function,
    /// From inner index, column and matrix to those of the right side.
    pub right: Function,
    /// From the scalars of both sides to the value.
    pub combine: Function,
}

/// Scalars that a side has at most: a block keeps all of them in its memory.
const MOST_SCALARS: usize = 4;

/// Dependences of a node.
#[derive(Clone, Copy, Default)]
struct Dependence {
    row: bool,
    column: bool,
    /// On any index or memory at all.
    varies: bool,
    /// Whether memory is read at an index that depends on the row.
    reads_by_row: bool,
    reads_by_column: bool,
}

impl Dependence {
    fn and(self, other: Dependence) -> Dependence {
        Dependence {
            row: self.row || other.row,
            column: self.column || other.column,
            varies: self.varies || other.varies,
            reads_by_row: self.reads_by_row || other.reads_by_row,
            reads_by_column: self.reads_by_column || other.reads_by_column,
        }
    }
}

/// The dependences of all nodes; nothing if one of them can fail or goes round in a loop.
fn dependences(function: &Function) -> Option<Vec<Dependence>> {
    let mut all: Vec<Dependence> = Vec::with_capacity(function.nodes().len());
    for node in function.nodes() {
        let mut mine = Dependence::default();
        node.for_each_operand(|id| mine = mine.and(all[id.0 as usize]));
        match node {
            Node::Variable(Variable::Parameter(number), _) => {
                mine = Dependence { row: *number == ROW, column: *number == COLUMN, varies: true, ..mine };
            }
            Node::Load { .. } => {
                mine.varies = true;
                mine.reads_by_row |= mine.row;
                mine.reads_by_column |= mine.column;
            }
            Node::Check { .. }
            | Node::Element { .. }
            | Node::Loop { .. }
            | Node::LoopVariable { .. }
            | Node::Invalid { .. } => return None,
            Node::Constant(_)
            | Node::Variable(..)
            | Node::Apply { .. }
            | Node::Branch { .. }
            | Node::Project { .. } => {}
        }
        all.push(mine);
    }
    Some(all)
}

/// Separates a function of row, column, inner index and matrix, all of them `i64`. Nothing where something else than
/// operations on scalars needs row and column together, where a side reads no memory by its index, or where a side has too
/// many scalars.
pub(crate) fn separate(function: &Function) -> Option<Separated> {
    let dependences = dependences(function)?;
    let nodes = function.nodes();
    // The largest subterms of either side, and the operations above them, which are computed wherever the value is.
    let (mut left, mut right, mut above) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = vec![false; nodes.len()];
    let mut open: Vec<Id> = function.results().to_vec();
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut seen[id.0 as usize], true) {
            continue;
        }
        let depends = dependences[id.0 as usize];
        match &nodes[id.0 as usize] {
            _ if depends.varies && !depends.column => left.push(id),
            _ if depends.varies && !depends.row => right.push(id),
            Node::Constant(_) | Node::Variable(..) => above.push(id),
            Node::Apply { operands, .. } => {
                above.push(id);
                open.extend(operands.as_slice());
            }
            _ => return None,
        }
    }
    let reads =
        |side: &[Id], by: fn(Dependence) -> bool| side.iter().any(|id| by(dependences[id.0 as usize]));
    let is_product = reads(&left, |depends| depends.reads_by_row)
        && reads(&right, |depends| depends.reads_by_column)
        && left.len().max(right.len()) <= MOST_SCALARS;
    if !is_product {
        return None;
    }
    [&mut left, &mut right, &mut above].into_iter().for_each(|ids| ids.sort_unstable());
    Some(Separated {
        left: side(function, &left, |index, zero| [index[0], zero, index[1], index[2]]),
        right: side(function, &right, |index, zero| [zero, index[1], index[0], index[2]]),
        combine: combine(function, &left, &right, &above),
    })
}

/// A side's function of its own index, given the parameters of the whole for that.
fn side(whole: &Function, of: &[Id], parameters: fn(&[Term], Term) -> [Term; 4]) -> Function {
    let of = whole.to_nodes(of);
    let zero = Constant::from(0i64);
    function(&[ScalarType::I64; 3], |index| instantiate(&of, &parameters(index, zero.into())))
}

/// The operations above both sides.
fn combine(whole: &Function, left: &[Id], right: &[Id], above: &[Id]) -> Function {
    let nodes = whole.nodes();
    let sides = left.iter().chain(right);
    let types: Vec<ScalarType> = sides.clone().filter_map(|id| nodes[id.0 as usize].ty()).collect();
    function(&types, |terms| {
        let mut values: HashMap<Id, Term> = sides.copied().zip(terms.iter().copied()).collect();
        for id in above {
            let value = match &nodes[id.0 as usize] {
                Node::Constant(constant) => (*constant).into(),
                Node::Variable(variable, ty) => Term::variable(*variable, *ty),
                Node::Apply { op, ty, operands } => {
                    let operands: Vec<Term> =
                        operands.as_slice().iter().filter_map(|id| values.get(id).copied()).collect();
                    Term::apply(*op, *ty, &operands)
                }
                _ => continue,
            };
            values.insert(*id, value);
        }
        whole.results().iter().filter_map(|id| values.get(id).copied()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pumice_scalar::Op;

    const INNER: usize = 2;
    const BATCH: usize = 3;

    fn load(array: u64, index: Term) -> Term {
        // SAFETY: nothing evaluates it.
        unsafe { Term::load(array, ScalarType::F32, index, false) }
    }

    fn at(row: Term, column: Term) -> Term {
        row.binary(Op::Mul, Term::from(Constant::from(10i64))).binary(Op::Add, column)
    }

    fn of_indices(f: impl FnOnce(&[Term]) -> Term) -> Function {
        function(&[ScalarType::I64; 4], |index| vec![f(index)])
    }

    #[test]
    fn a_product_of_elements_comes_apart() {
        let function = of_indices(|i| {
            let (a, b) = (load(0, at(i[0], i[INNER])), load(1, at(i[INNER], i[1])));
            a.binary(Op::Sub, b).binary(Op::Mul, a)
        });
        let parts = separate(&function);
        let shapes = parts.map(|parts| {
            (parts.left.result_types().len(), parts.right.result_types().len(), parts.combine.nodes().len())
        });
        assert_eq!(shapes, Some((1, 1, 4)));
    }

    #[test]
    fn the_largest_parts_of_a_side_are_taken_and_several_of_them() {
        let function = of_indices(|i| {
            let (a, b) = (load(0, at(i[0], i[INNER])), load(1, at(i[1], i[BATCH])));
            let square = a.binary(Op::Mul, a);
            square.binary(Op::Mul, b).binary(Op::Add, a)
        });
        let parts = separate(&function);
        let scalars = parts.map(|parts| (parts.left.result_types().len(), parts.right.result_types().len()));
        assert_eq!(scalars, Some((2, 1)));
    }

    #[test]
    fn what_needs_row_and_column_together_stays_as_it_is() {
        let both = of_indices(|i| load(0, at(i[0], i[1])).binary(Op::Mul, load(1, i[INNER])));
        assert!(separate(&both).is_none());
        let one_side = of_indices(|i| load(0, at(i[0], i[INNER])).binary(Op::Mul, load(1, i[INNER])));
        assert!(separate(&one_side).is_none());
    }
}
