//! `product`: products of matrices over any two operations, for each pair of matrices that two arrays hold.
//!
//! A product reads its inputs as pulls, so operations on their elements, and transpositions, are part of its
//! kernel. It hands its elements on with their indices. Where both result extents are large enough, that is a skeleton of its
//! own ([`ProductPlan`]); otherwise each element of the result is the fold of a row ([`fold_rows`]).

use super::fold::{Columns, Part, RowCount, Space, fold_rows};
use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::Elements as FusedElements;
use crate::interpret::{Elements, Interpreter};
use crate::lower::{KernelName, Listeners, Lowering, Parameters, Step, columns_are_contiguous};
use crate::operation::{Nature, Operation, RANK, Signature, ensure, fits, next};
use crate::program::{Node, NodeId};
use crate::reduction::{Reduction, instantiate};
use pumice_kernel::skeletons::{Operand, Product as ProductSkeleton, ProductPlan, ProductTask};
use pumice_kernel::{Ix, Scalars};
use pumice_scalar::{Exp, Function, Op, PlacedMessage, ScalarType, Term, function};
use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

/// A product of matrices.
#[derive(Clone)]
pub struct Product {
    /// The product of an element of a row of the left matrix and one of a column of the right one.
    pub multiply: Function,
    /// An associative operator, which combines these in order.
    pub add: Function,
    /// The value that they are combined with, once and from the left; from no parameters.
    pub initial: Function,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "product",
    make: |Parts { functions, .. }| match <[Function; 3]>::try_from(functions) {
        Ok([multiply, add, initial]) => Some(Arc::new(Product { multiply, add, initial })),
        Err(_) => None,
    },
};

impl Operation for Product {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.multiply, &self.add, &self.initial]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let multiply = next(&mut functions, &self.multiply);
        let add = next(&mut functions, &self.add);
        let initial = next(&mut functions, &self.initial);
        Arc::new(Product { multiply, add, initial })
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let [(rank, left), (right_rank, right)] = signature.inputs[..] else {
            return Err(format!("an operation on two arrays is given {}", signature.inputs.len()));
        };
        ensure(rank >= 2 && rank == right_rank && rank == signature.rank, RANK)?;
        let types = signature.types;
        fits(&self.multiply, &[left, right].concat(), types)?;
        fits(&self.add, &[types, types].concat(), types)?;
        fits(&self.initial, &[], types)
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        let (left, right) = (shapes.numbers(0)?, shapes.numbers(1)?);
        let ([outer @ .., _, inner], [other_outer @ .., rows, _]) = (&left[..], &right[..]) else {
            return Err(shapes.mistake(RANK.into()));
        };
        if outer != other_outer {
            return Err(shapes.mistake(format!(
                "there are not as many matrices on the left as on the right, {outer:?} and {other_outer:?},"
            )));
        }
        if inner != rows {
            return Err(shapes
                .mistake(format!("the left matrix has {inner} columns and the right one has {rows} rows")));
        }
        let (mut extents, mut columns) = (shapes.same(0), shapes.same(1));
        extents.pop();
        extents.extend(columns.pop());
        Ok(extents)
    }
    fn nature(&self) -> Nature {
        Nature::Push
    }
    fn repeats(&self) -> bool {
        true
    }
    fn takes_long(&self) -> bool {
        true
    }
    fn cost(&self) -> u32 {
        0
    }

    fn produce(&self, lowering: &Lowering<'_>, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        for listeners in group {
            let node = lowering.program.node(listeners.producer);
            let [left, right] = node.inputs[..] else {
                return Err(Error::Program(PlacedMessage::at("matrices are missing", node.place)));
            };
            steps.extend(Job::new(self, lowering, node, left, right).steps(&listeners)?);
        }
        Ok(steps)
    }

    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let step = step(&self.multiply, &self.add);
        let step = interpreter.evaluator(&step)?;
        let initial = interpreter.evaluator(&self.initial)?(&[])?;
        let (left, right) = (interpreter.input(node, 0), interpreter.input(node, 1));
        let [outer @ .., rows, columns] = &interpreter.extents(node.id)[..] else { return Ok(Vec::new()) };
        let inner = interpreter.extents(node.inputs[0]).last().copied().unwrap_or(0) as usize;
        let (rows, columns) = (*rows as usize, *columns as usize);
        let element = |number: usize| {
            let (line, column) = (number / columns, number % columns);
            let batch = line / rows;
            (0..inner).try_fold(initial.clone(), |value, k| {
                let (a, b) = (&left[line * inner + k], &right[(batch * inner + k) * columns + column]);
                step(&[&value[..], a, b].concat())
            })
        };
        let batches = outer.iter().product::<i64>() as usize;
        (0..batches * rows * columns).map(element).collect()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// From a value of the result and an element of each side to its next value. A product of floats that is added is rounded
/// once, with the sum; not of those of 16 bits, where that is done in doubles.
fn step(multiply: &Function, add: &Function) -> Function {
    if let [ty] = add.result_types()[..]
        && ty.is_float()
        && !ty.is_half()
    {
        let plain = |op| function(&[ty; 2], |terms| vec![terms[0].binary(op, terms[1])]);
        if *multiply == plain(Op::Mul) && *add == plain(Op::Add) {
            return function(&[ty; 3], |terms| {
                vec![Term::apply(Op::MulAdd, ty, &[terms[1], terms[2], terms[0]])]
            });
        }
    }
    separate_step(multiply, add)
}

/// Like [`step`], with each operation rounded by itself.
pub(super) fn separate_step(multiply: &Function, add: &Function) -> Function {
    let types = add.result_types();
    function(&[&types[..], multiply.parameters()].concat(), |terms| {
        let (value, sides) = terms.split_at(types.len());
        instantiate(add, &[value, &instantiate(multiply, sides)].concat())
    })
}

/// A result with fewer rows or columns than this is folded row by row: tiles would be empty for the most part.
const FEWEST: i64 = 5;

/// A product that is computed in tiles of its result.
pub(super) struct Tiled<'a> {
    /// The operation on whose behalf.
    pub node: &'a Node,
    /// Pairs of matrices.
    pub batches: i64,
    /// The classes of the rows and columns of the result, and of the inner extent.
    pub rows: usize,
    pub columns: usize,
    pub inner: usize,
    /// From row, inner index and number of a left matrix to an element.
    pub left: Function,
    /// From inner index, column and number of a right matrix to an element.
    pub right: Function,
    /// From a value of the result and an element of each side to its next value.
    pub step: Function,
    /// The first value, from no parameters.
    pub initial: Function,
}

impl Tiled<'_> {
    /// Computes the product; nothing where it has too few rows or columns, its elements are too large, or it can fail: tiles
    /// reach beyond the edges of the result.
    pub fn steps(self, lowering: &Lowering<'_>, listeners: &Listeners) -> Option<Result<Vec<Step>, Error>> {
        let bound = |class: usize| lowering.extents.length(class).bound;
        let task = ProductTask {
            batches: self.batches,
            rows: bound(self.rows),
            columns: bound(self.columns),
            left: self.left.result_types(),
            right: self.right.result_types(),
            result: self.initial.result_types(),
        };
        if task.rows.min(task.columns) < FEWEST || !self.step.is_total() {
            return None;
        }
        let plan = ProductPlan::new(lowering.profile, &task)?;
        let node = self.node;
        let name = node.place.operation();
        lowering.because(format!(
            "{} × {} elements of a product share their rows and columns: blocks bring slices of both to their memory",
            task.rows, task.columns
        ));
        let called = KernelName { node, name, skeleton: "product", threads: plan.threads() };
        Some(lowering.kernel(called, listeners, |parameters| {
            let (apply, step) = (parameters.clone(), self.step.clone());
            let skeleton = ProductSkeleton {
                batches: match node.rank {
                    2 => Exp::from(1),
                    _ => parameters.number("batches", task.batches),
                },
                rows: parameters.extent(self.rows),
                inner: parameters.extent(self.inner),
                columns: parameters.extent(self.columns),
                left: operand(lowering, self.left, parameters),
                right: operand(lowering, self.right, parameters),
                initial: Scalars(parameters.apply(&self.initial, &[])),
                step: Rc::new(move |value, a, b| apply.apply_to(&step, &[value, a, b])),
            };
            skeleton.push(plan)
        }))
    }
}

/// One side of a product, from the function of its elements.
fn operand(lowering: &Lowering<'_>, elements: Function, parameters: &Rc<Parameters>) -> Operand {
    let apply = parameters.clone();
    let columns_are_contiguous = columns_are_contiguous(&elements, lowering.extents);
    let types = elements.result_types();
    let at = move |batch: Ix, row: Ix, column: Ix| {
        Scalars(apply.apply(&elements, &[row.term(), column.term(), batch.term()]))
    };
    Operand { at: Rc::new(at), columns_are_contiguous, types }
}

/// One product, for the listeners to it.
struct Job<'a, 'b> {
    lowering: &'a Lowering<'b>,
    node: &'a Node,
    left: NodeId,
    right: NodeId,
    multiply: Function,
    add: Function,
    initial: Function,
}

impl<'a, 'b> Job<'a, 'b> {
    fn new(
        product: &Product,
        lowering: &'a Lowering<'b>,
        node: &'a Node,
        left: NodeId,
        right: NodeId,
    ) -> Job<'a, 'b> {
        let with_classes = |function: &Function| lowering.fuser.with_classes(function);
        let [multiply, add, initial] = [&product.multiply, &product.add, &product.initial].map(with_classes);
        Job { lowering, node, left, right, multiply, add, initial }
    }

    fn steps(&self, listeners: &Listeners) -> Result<Vec<Step>, Error> {
        let Job { lowering, node, left, right, .. } = *self;
        let (extents, fuser) = (lowering.extents, &lowering.fuser);
        let ([.., rows, inner], [.., columns]) = (&extents.classes(left)[..], &extents.classes(right)[..])
        else {
            return Err(Error::Program(PlacedMessage::at(RANK, node.place)));
        };
        let outer = node.rank.saturating_sub(2);
        let tiled = Tiled {
            node,
            batches: extents.bounds(node.id)[..outer].iter().product(),
            rows: *rows,
            columns: *columns,
            inner: *inner,
            left: fuser.matrices(left),
            right: fuser.matrices(right),
            step: step(&self.multiply, &self.add),
            initial: self.initial.clone(),
        };
        tiled.steps(lowering, listeners).unwrap_or_else(|| self.by_rows(listeners))
    }

    /// Folds a row for each element of the result.
    fn by_rows(&self, listeners: &Listeners) -> Result<Vec<Step>, Error> {
        let Job { lowering, node, left, right, .. } = *self;
        let fuser = &lowering.fuser;
        let extents = lowering.extents.bounds(node.id);
        let [.., rows, columns] = extents[..] else {
            return Err(Error::Program(PlacedMessage::at(RANK, node.place)));
        };
        let inner = lowering.extents.bounds(left).last().copied().unwrap_or(0);
        let size = (lowering.extents.size(node.id), inner);
        let elements = fuser.function(&[ScalarType::I64; 2], vec![size.0, size.1], |index| {
            let mut place = fuser.unflatten(node.id, index[0], node.rank);
            let (column, row) = (place.pop(), place.pop());
            let element = |array: NodeId, row: Option<Term>, column: Option<Term>| {
                let index: Vec<Term> = place.iter().copied().chain(row).chain(column).collect();
                fuser.element(array, &index).value
            };
            let (a, b) = (element(left, row, Some(index[1])), element(right, Some(index[1]), column));
            instantiate(&self.multiply, &[a, b].concat())
        });
        let elements = FusedElements { function: elements, loose: false };
        let reduction = Reduction::new(
            elements,
            self.add.clone(),
            Some(self.initial.clone()),
            lowering.options.fast_math,
        );
        // The larger one decides which elements are read side by side.
        let contiguous = match rows >= columns {
            true => columns_are_contiguous(&fuser.matrices(left), lowering.extents),
            false => !columns_are_contiguous(&fuser.matrices(right), lowering.extents),
        };
        let space =
            Space { rows: RowCount::ForEach(node.id), columns: Columns::Of(left), size, is_known: true };
        let part = Part { reduction, heard: listeners.heard.clone() };
        fold_rows(lowering, node, space, std::slice::from_ref(&part), Some(contiguous))
    }
}
