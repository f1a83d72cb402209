//! A pull as a producer: its elements in the order and by the threads that suit memory best.

use super::hearing::widest;
use super::interior::{Interior, asks, interior};
use super::{Heard, KernelName, Listeners, Lowering, Step};
use crate::error::Error;
use crate::extents::Extents;
use crate::fuser::{Elements, rows_and_columns};
use crate::program::{Node, NodeId};
use crate::reduction::instantiate;
use pumice_kernel::skeletons::{
    self, At, WritePlan, can_write_tiles, within, write, write_rows, write_tiles,
};
use pumice_kernel::{Dynamic, Ix, Pull, Scalars, comment};
use pumice_scalar::{Function, Id, Node as ScalarNode, Op, ScalarType, Term, Variable, function};
use std::rc::Rc;

impl Lowering<'_> {
    /// Hands the elements of a pull to listeners.
    pub fn write(&self, node: &Node, listeners: Listeners) -> Result<Vec<Step>, Error> {
        let (rows, indexed) = (|| self.fuser.rows(node.id), || self.fuser.indexed(node.id));
        let by_index = Some(ByIndex { rows: &rows, indexed: &indexed });
        let ways = Ways { linear: self.fuser.linear(node.id).function, by_index };
        self.write_elements(node, node, ways, listeners)
    }

    /// Writes pulls of one size, whose elements are computed together. Others listen to all their columns.
    pub(crate) fn write_together(
        &self,
        group: Vec<Listeners>,
        others: Vec<Heard>,
    ) -> Result<Vec<Step>, Error> {
        let Some(first) = group.first() else { return Ok(Vec::new()) };
        let node = self.program.node(first.producer);
        let joined = |elements: &dyn Fn(NodeId) -> Elements| {
            let functions = group.iter().map(|listeners| elements(listeners.producer).function);
            let functions: Vec<Function> = functions.collect();
            let parameters = functions.first().map_or(&[][..], |function| function.parameters());
            let function = function(parameters, |index| {
                functions.iter().flat_map(|function| instantiate(function, index)).collect()
            });
            Elements { function, loose: false }
        };
        let linear = joined(&|node| self.fuser.linear(node)).function;
        let types = [&[ScalarType::I64][..], &linear.result_types()].concat();
        let (mut heard, mut next) = (Vec::new(), 1);
        for listeners in &group {
            let mine = next..next + self.program.node(listeners.producer).types.len();
            next = mine.end;
            let own = function(&types, |terms| [&terms[..1], &terms[mine.clone()]].concat());
            let own = Elements { function: own, loose: false };
            heard.extend(listeners.heard.iter().map(|heard| heard.behind(own.clone())));
        }
        heard.extend(others);
        let rows = || joined(&|node| self.fuser.rows(node));
        let indexed = || joined(&|node| self.fuser.indexed(node));
        // Those of different shapes have only the numbers of their elements in common.
        let classes = |listeners: &Listeners| self.extents.classes(listeners.producer);
        let of_one_shape = group.iter().all(|listeners| classes(listeners) == classes(first));
        let by_index = of_one_shape.then_some(ByIndex { rows: &rows, indexed: &indexed });
        let ways = Ways { linear, by_index };
        self.write_elements(node, node, ways, Listeners { producer: node.id, heard })
    }

    /// Hands the elements of an operation's input, a pull or an array in memory, to listeners.
    pub fn write_input(&self, node: &Node, input: NodeId, listeners: Listeners) -> Result<Vec<Step>, Error> {
        let (rows, indexed) = (|| self.fuser.rows_of_input(input), || self.fuser.indexed_of_input(input));
        let linear = self.fuser.linear_of_input(input).function;
        let ways = Ways { linear, by_index: Some(ByIndex { rows: &rows, indexed: &indexed }) };
        self.write_elements(node, self.program.node(input), ways, listeners)
    }

    /// Whether the elements of an array are better made from their indices, row by row, than by this function of their numbers:
    /// where the index does not come out linear, that saves a division an element, and borders are found where it asks for
    /// them.
    pub(super) fn wants_index(&self, node: NodeId, linear: &Function) -> bool {
        let (_, columns) = rows_and_columns(&self.extents.bounds(node));
        columns >= i64::from(self.profile.lanes) && (divides(linear) || asks(linear))
    }

    /// Plans the division of work for writing an array whose elements cost so much.
    pub(super) fn write_plan(&self, node: NodeId, cost: u32) -> WritePlan {
        // Loaded elements may be wider, and the neighbours of a thread fit one access.
        let bytes = self.program.node(node).types.iter().map(|ty| ty.bytes()).max().unwrap_or(1).max(4);
        WritePlan::new(self.profile, bytes, cost)
    }

    /// Hands elements of an array on behalf of an operation to listeners.
    fn write_elements(
        &self,
        operation: &Node,
        node: &Node,
        ways: Ways<'_>,
        listeners: Listeners,
    ) -> Result<Vec<Step>, Error> {
        let linear = ways.linear;
        if let Some(skeleton) = &self.options.skeletons.write {
            let (name, threads) = (skeleton.name(), skeleton.threads(self.profile));
            let called = KernelName { node: operation, name, skeleton: name, threads };
            self.because(format!("the compiler is told to write by the skeleton {name}"));
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
        let types = linear.result_types();
        let bytes = types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
        let extents = self.extents.bounds(node.id);
        let (rows, columns) = rows_and_columns(&extents);
        let divided = divides(&linear);
        let by_index = ways.by_index.filter(|_| self.wants_index(node.id, &linear));
        let indexed = by_index.as_ref().map(|by_index| (by_index.indexed)().function);
        let apart = indexed.as_ref().and_then(|function| interior(function, &self.extents.classes(node.id)));
        let apart = apart.filter(|apart| apart.function.cost() <= EXPENSIVE);
        let cost = apart.as_ref().map_or(linear.cost(), |apart| apart.function.cost());
        let mut plan = match widest(&linear) {
            small @ 1..4 => WritePlan::new(self.profile, small, cost),
            _ => self.write_plan(node.id, cost),
        };
        let indexed = indexed.filter(|_| divided || apart.is_some());
        let turned =
            by_index.filter(|_| divided && apart.is_none()).map(|by_index| (by_index.rows)().function);
        let turned = turned.filter(|function| columns_are_contiguous(function, self.extents));
        let all_bytes = types.iter().map(|ty| ty.bytes()).sum();
        let tiled =
            turned.as_ref().filter(|_| can_write_tiles(self.profile, rows, columns, all_bytes)).cloned();
        if turned.is_some() {
            plan = WritePlan::across(self.profile, bytes);
        } else if indexed.is_some() {
            plan = plan.by_rows(self.profile, columns);
        }
        // Where elements ask for their neighbours, these ask for the same.
        if let Some(Interior { function, margins }) = &apart {
            let shares = |from_last: usize| {
                let dimension = margins.iter().zip(&extents).rev().nth(from_last);
                dimension.is_some_and(|(margin, extent)| *margin > 0 && *extent >= MANY)
            };
            plan = plan.sharing(self.profile, (shares(1), shares(2)), function.cost(), rows * columns);
        }
        let skeleton = match (&tiled, &indexed) {
            (Some(_), _) => "write_tiles",
            (_, Some(_)) => "write_rows",
            _ => "write",
        };
        self.because(match (&tiled, &indexed, &apart) {
            (Some(_), ..) => {
                "it is read down its columns: tiles in a block's memory keep reads and writes among neighbours"
            }
            (_, Some(_), Some(_)) => {
                "elements ask how far a border is: rows away from it are computed without asking"
            }
            (_, Some(_), None) => "an index is not linear in an element's number: by rows none is divided",
            _ => "elements depend on their numbers alone: neighbouring threads take neighbouring elements",
        });
        let name = operation.place.operation();
        let called = KernelName { node: operation, name, skeleton, threads: plan.threads };
        self.kernel(called, &listeners, |parameters| {
            let apply = parameters.clone();
            if let Some(function) = tiled {
                let (rows, columns) =
                    (self.row_count(node.id, parameters), self.column_count(node.id, parameters));
                let at =
                    move |row: Ix, column: Ix| Scalars(apply.apply(&function, &[row.term(), column.term()]));
                write_tiles(self.profile, rows, columns, Rc::new(at))
            } else if let Some(function) = indexed {
                let extents = self.extents.classes(node.id).into_iter().map(|class| parameters.extent(class));
                let at = |function: Function| -> At<Dynamic> {
                    let apply = apply.clone();
                    Rc::new(move |index: &[Ix]| {
                        let index: Vec<Term> = index.iter().map(|part| part.term()).collect();
                        Scalars(apply.apply(&function, &index))
                    })
                };
                let apart =
                    apart.map(|apart| skeletons::Interior { at: at(apart.function), margins: apart.margins });
                write_rows(extents.collect(), at(function), apart, plan)
            } else {
                let size = self.size(node.id, parameters);
                let at = move |index: Ix| Scalars(apply.apply(&linear, &[index.term()]));
                write(Pull::<Dynamic, Ix>::new(size, at), plan)
            }
        })
    }
}

/// A function that costs more than this is not written twice, for the interior and for the borders.
const EXPENSIVE: u32 = 1000;

/// Blocks of several rows are for arrays with more than this, so that most of them are away from borders.
const MANY: i64 = 16;

/// Functions of an array's elements.
struct Ways<'a> {
    /// By the number of an element.
    linear: Function,
    by_index: Option<ByIndex<'a>>,
}

/// Functions of an array's elements that depend on its shape.
struct ByIndex<'a> {
    /// By the numbers of row and column.
    rows: &'a dyn Fn() -> Elements,
    /// By the index, one parameter per dimension.
    indexed: &'a dyn Fn() -> Elements,
}

/// Whether a function divides by an extent, as the computation of an index that is not linear does.
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

/// Growth of an index with the row or the column of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stride {
    None,
    One,
    Many,
}

/// Strides of a value that depends on neither row nor column, and of the row itself.
const NOWHERE: (Stride, Stride) = (Stride::None, Stride::None);
const ALONG_ROWS: (Stride, Stride) = (Stride::One, Stride::None);

/// The row of a matrix is often the number of an index in several dimensions. Rows that are neighbours are so in the innermost
/// of them too, and alike in the others, if it has at least so many elements.
const LONG: i64 = 32;

/// Whether the elements of a column, and not those of a row, are neighbours in memory: judged by the loads of a function
/// of row and column.
pub fn columns_are_contiguous(function: &Function, extents: &Extents) -> bool {
    let (mut by_row, mut by_column) = (0, 0);
    for stride in load_strides(function, extents) {
        match stride {
            // The same few elements for every row: they are in the cache.
            (Stride::None, _) => {}
            (_, Stride::One) => by_row += 1,
            (Stride::One, Stride::Many) => by_column += 1,
            _ => {}
        }
    }
    by_column > by_row
}

/// Whether everything that the elements of a row load is the same for the whole row, or the same in every row, and there is
/// some of the first kind: a thread that takes a row alone loads that once, and for each element it loads the same as its
/// neighbours do.
pub fn rows_load_once(function: &Function, extents: &Extents) -> bool {
    let strides = load_strides(function, extents);
    strides.iter().any(|(_, column)| *column == Stride::None)
        && strides.iter().all(|(row, column)| *row == Stride::None || *column == Stride::None)
}

/// Returns the strides of the indices of a function's loads with the row and the column of an element.
fn load_strides(function: &Function, extents: &Extents) -> Vec<(Stride, Stride)> {
    let is_long = |id: &Id| match function.nodes()[id.0 as usize] {
        ScalarNode::Variable(Variable::Extent { array, .. }, _) => {
            extents.length(array as usize).bound >= LONG
        }
        _ => false,
    };
    let mut strides: Vec<(Stride, Stride)> = Vec::with_capacity(function.nodes().len());
    let mut loads = Vec::new();
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
                loads.push(of(index));
                (Stride::Many, Stride::Many)
            }
            ScalarNode::Constant(_) | ScalarNode::Variable(..) => NOWHERE,
            _ => (Stride::Many, Stride::Many),
        };
        strides.push(stride);
    }
    loads
}
