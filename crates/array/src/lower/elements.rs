//! A pull as a producer: its elements in the order and by the threads that suit memory best.

use super::{KernelName, Listeners, Lowering, Step};
use crate::error::Error;
use crate::extents::Extents;
use crate::fuser::{Elements, rows_and_columns};
use crate::program::{Node, NodeId};
use pumice_kernel::skeletons::{WritePlan, can_write_tiles, within, write, write_rows, write_tiles};
use pumice_kernel::{Dynamic, Ix, Pull, Scalars, comment};
use pumice_scalar::{Function, Id, Node as ScalarNode, Op, ScalarType, Variable};
use std::rc::Rc;

impl Lowering<'_> {
    /// Hands the elements of a pull to listeners.
    pub fn write(&self, node: &Node, listeners: Listeners) -> Result<Vec<Step>, Error> {
        let (linear, rows) = (self.fuser.linear(node.id), || self.fuser.rows(node.id));
        self.write_elements(node, node, (linear, &rows), listeners)
    }

    /// Hands the elements of an operation's input, a pull or an array in memory, to listeners.
    pub fn write_input(&self, node: &Node, input: NodeId, listeners: Listeners) -> Result<Vec<Step>, Error> {
        let (linear, rows) = (self.fuser.linear_of_input(input), || self.fuser.rows_of_input(input));
        self.write_elements(node, self.program.node(input), (linear, &rows), listeners)
    }

    /// Hands elements of an array on behalf of an operation to listeners, from functions of the number of an element, and of
    /// row and column.
    fn write_elements(
        &self,
        operation: &Node,
        node: &Node,
        (linear, rows_of): (Elements, &dyn Fn() -> Elements),
        listeners: Listeners,
    ) -> Result<Vec<Step>, Error> {
        let linear = linear.function;
        if let Some(skeleton) = &self.options.skeletons.write {
            let (name, threads) = (skeleton.name(), skeleton.threads(self.profile));
            let called = KernelName { node: operation, name, skeleton: name, threads };
            return self.kernel(called, &listeners, |parameters| {
                comment(format!("written by skeleton {name}"));
                let size = self.size(node.id, parameters);
                parameters.declare(&linear);
                let apply = parameters.clone();
                let at = move |index: Ix| Scalars(apply.apply(&linear, &[index.term()]));
                let push = skeleton.write(Pull::new(size, at), self.profile);
                within(push, size, node.place.named("skeleton"))
            });
        }
        let bytes = node.types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
        let mut plan = WritePlan::new(self.profile, bytes, linear.cost());
        let (rows, columns) = rows_and_columns(&self.extents.bounds(node.id));
        // Where the index does not come out linear, going row by row saves a division an element.
        let by_rows = divides(&linear) && columns >= i64::from(self.profile.lanes);
        let function = if by_rows { rows_of().function } else { linear };
        let across = by_rows && columns_are_contiguous(&function, self.extents);
        let all_bytes = node.types.iter().map(|ty| ty.bytes()).sum();
        let by_tiles = across && can_write_tiles(self.profile, rows, columns, all_bytes);
        if across {
            plan = WritePlan::across(self.profile, bytes);
        } else if by_rows && columns % i64::from(plan.items) != 0 {
            plan.items = 1;
        }
        let skeleton = match (by_tiles, by_rows) {
            (true, _) => "write_tiles",
            (_, true) => "write_rows",
            _ => "write",
        };
        let name = operation.place.operation();
        let called = KernelName { node: operation, name, skeleton, threads: plan.threads };
        self.kernel(called, &listeners, |parameters| {
            let apply = parameters.clone();
            if by_rows {
                let rows = self.row_count(node.id, parameters);
                let columns = self.column_count(node.id, parameters);
                let at =
                    move |row: Ix, column: Ix| Scalars(apply.apply(&function, &[row.term(), column.term()]));
                match by_tiles {
                    true => write_tiles(rows, columns, Rc::new(at)),
                    false => write_rows(rows, columns, Rc::new(at), plan),
                }
            } else {
                let size = self.size(node.id, parameters);
                let at = move |index: Ix| Scalars(apply.apply(&function, &[index.term()]));
                write(Pull::<Dynamic, Ix>::new(size, at), plan)
            }
        })
    }
}
/// Whether a function divides by something that is not a constant: what is left of an index that is not linear.
fn divides(function: &Function) -> bool {
    function.nodes().iter().any(|node| match node {
        ScalarNode::Apply { op: Op::Div | Op::Rem, ty: ScalarType::I64, operands } => {
            operands.as_slice().get(1).is_some_and(|id| {
                matches!(function.nodes()[id.0 as usize], ScalarNode::Variable(Variable::Extent { .. }, _))
            })
        }
        _ => false,
    })
}

/// How fast an index grows with the row and the column of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stride {
    None,
    One,
    Many,
}

/// What does not depend on row or column, and what is the row itself.
const NOWHERE: (Stride, Stride) = (Stride::None, Stride::None);
const ALONG_ROWS: (Stride, Stride) = (Stride::One, Stride::None);

/// The row of a matrix is often the number of an index in several dimensions. Rows that are neighbours are so in the innermost
/// of them too, and alike in the others, if it has at least so many elements.
const LONG: i64 = 32;

/// Whether the elements of a column, and not those of a row, are neighbours in memory: judged by the loads of a function
/// of row and column.
pub fn columns_are_contiguous(function: &Function, extents: &Extents) -> bool {
    let is_long = |id: &Id| match function.nodes()[id.0 as usize] {
        ScalarNode::Variable(Variable::Extent { array, .. }, _) => {
            extents.length(array as usize).bound >= LONG
        }
        _ => false,
    };
    let mut strides: Vec<(Stride, Stride)> = Vec::with_capacity(function.nodes().len());
    let (mut by_row, mut by_column) = (0, 0);
    for node in function.nodes() {
        let of = |id: &Id| strides[id.0 as usize];
        let add = |a: Stride, b: Stride| match (a, b) {
            (Stride::None, other) | (other, Stride::None) => other,
            _ => Stride::Many,
        };
        let many = |stride: Stride| if stride == Stride::None { stride } else { Stride::Many };
        let stride = match node {
            ScalarNode::Variable(Variable::Parameter(0), _) => ALONG_ROWS,
            ScalarNode::Variable(Variable::Parameter(1), _) => (Stride::None, Stride::One),
            ScalarNode::Apply { op, operands, .. } => {
                let all = operands.as_slice().iter().map(of).reduce(|a, b| (add(a.0, b.0), add(a.1, b.1)));
                let all = all.unwrap_or(NOWHERE);
                match (op, operands.as_slice()) {
                    (Op::Add, _) => all,
                    (Op::Rem, [index, extent]) if of(index) == ALONG_ROWS && is_long(extent) => all,
                    (Op::Div, [index, extent]) if of(index) == ALONG_ROWS && is_long(extent) => NOWHERE,
                    _ => (many(all.0), many(all.1)),
                }
            }
            ScalarNode::Load { index, .. } => {
                match of(index) {
                    // The same few elements for every row: they are in the cache.
                    (Stride::None, _) => {}
                    (_, Stride::One) => by_row += 1,
                    (Stride::One, Stride::Many) => by_column += 1,
                    _ => {}
                }
                (Stride::Many, Stride::Many)
            }
            ScalarNode::Constant(_) | ScalarNode::Variable(..) => NOWHERE,
            _ => (Stride::Many, Stride::Many),
        };
        strides.push(stride);
    }
    by_column > by_row
}
