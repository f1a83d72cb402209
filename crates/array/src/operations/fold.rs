//! `fold`: reduces the innermost dimension with an associative operator.
//!
//! Elements come from a pull, row by row; of a filtered array, absent ones are left out. A whole vector that a producer hands
//! on is folded as it comes, if the operator commutes. Folds over arrays of one shape are done together: a fold of tuples.

mod gathering;
mod rows;

use self::gathering::{Gathering, fold_blocks};
use self::rows::chunk_results;
pub(super) use self::rows::{Columns, Part, RowCount, Space, fold_rows};
use super::product::{Tiled, separate_step};
use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::{Elements as FusedElements, rows_and_columns};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Common, Hearing, Listeners, Lowering, Separated, Step, separate};
use crate::operation::{Nature, Operation, RANK, Signature, TYPES, ensure, fits, next};
use crate::program::{Node, NodeId};
use crate::reduction::{Reduction, instantiate};
use pumice_scalar::{Constant, Function, ScalarType, Term, function};
use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

/// A reduction of rows.
#[derive(Clone)]
pub struct Fold {
    /// An associative operator, from two elements.
    pub operator: Function,
    /// The value that a row's elements are combined with, once and from the left; from no parameters. Without it, every row must have
    /// an element.
    pub initial: Option<Function>,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "fold",
    make: |Parts { functions, .. }| {
        let mut functions = functions.into_iter();
        let (operator, initial) = (functions.next()?, functions.next());
        functions.next().is_none().then(|| Arc::new(Fold { operator, initial }) as _)
    },
};

impl Operation for Fold {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn functions(&self) -> Vec<&Function> {
        std::iter::once(&self.operator).chain(&self.initial).collect()
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let operator = next(&mut functions, &self.operator);
        let initial = self.initial.as_ref().map(|initial| next(&mut functions, initial));
        Arc::new(Fold { operator, initial })
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (rank, types) = signature.input()?;
        ensure(rank == signature.rank + 1, RANK)?;
        ensure(types == signature.types, TYPES)?;
        fits(&self.operator, &[types, types].concat(), types)?;
        self.initial.as_ref().map_or(Ok(()), |initial| fits(initial, &[], types))
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        let mut extents = shapes.same(0);
        let columns = extents.pop();
        if let (None, Some(columns)) = (&self.initial, columns)
            && shapes.number(columns)? == 0
        {
            let rows = extents.iter().map(|extent| shapes.number(*extent)).collect::<Result<Vec<_>, _>>()?;
            if !rows.contains(&0) {
                return Err(shapes.mistake("there is no element to begin with".into()));
            }
        }
        Ok(extents)
    }
    fn known_element(&self, shapes: &Shapes<'_>) -> Option<Vec<Constant>> {
        // Of nothing.
        let is_empty = matches!(shapes.numbers(0).as_deref(), Ok([0]));
        is_empty.then(|| self.initial.as_ref()?.constants()).flatten()
    }
    fn nature(&self) -> Nature {
        Nature::Push
    }
    fn takes_loose(&self, _: usize) -> bool {
        // Whether there is an element at all is asked before.
        self.initial.is_some()
    }
    fn gathers(&self, node: &Node, _: usize) -> bool {
        // Rows are told apart by their index, and elements of a push come in any order.
        node.rank == 0 && self.operator.commutes()
    }
    fn cost(&self) -> u32 {
        0
    }

    fn shares(&self, lowering: &Lowering<'_>, node: &Node) -> Option<Vec<i64>> {
        let input = *node.inputs.first()?;
        if lowering.options.skeletons.fold.is_some() || lowering.is_handed_on(input) {
            return None;
        }
        let space = lowering.space_of(input);
        let classes = lowering.extents.classes(space);
        let whole = i64::from(is_folded_whole(lowering, input));
        Some(classes.iter().map(|class| *class as i64).chain([whole]).collect())
    }

    fn produce(&self, lowering: &Lowering<'_>, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        if let [listeners] = &group[..] {
            let node = lowering.program.node(listeners.producer);
            if node.inputs.first().is_some_and(|input| lowering.is_handed_on(*input)) {
                return lowering.hear(group);
            }
            if let Some(steps) = self.tiled(lowering, node).and_then(|tiled| tiled.steps(lowering, listeners))
            {
                return steps;
            }
        }
        fold_together(lowering, &group)
    }

    fn gathered(&self, lowering: &Lowering<'_>, node: &Node) -> Option<NodeId> {
        let is_ours = lowering.options.skeletons.fold.is_none();
        let input = *node.inputs.first()?;
        (lowering.is_handed_on(input) || (self.gathers(node, 0) && is_ours)).then_some(input)
    }
    fn hears_from_any_blocks(&self) -> bool {
        true
    }
    fn hear<'a>(
        &'a self,
        lowering: &'a Lowering<'a>,
        common: &Common,
        group: Vec<Listeners>,
    ) -> Result<Hearing<'a>, Error> {
        let lost = || Error::Program("a fold has no array".into());
        // How many blocks there are is known when the producer's kernels have been built.
        let mut types = Vec::new();
        let (mut parts, mut lifts) = (Vec::new(), Vec::new());
        for listeners in &group {
            let node = lowering.program.node(listeners.producer);
            let (Some(fold), Some(input)) =
                (node.operation.as_any().downcast_ref::<Fold>(), node.inputs.first())
            else {
                return Err(lost());
            };
            let operator = lowering.fuser.with_classes(&fold.operator);
            let initial = fold.initial.as_ref().map(|initial| lowering.fuser.with_classes(initial));
            let same = function(&operator.result_types(), <[Term]>::to_vec);
            let reduction = match common.producer() {
                None => {
                    let elements = FusedElements { function: same, loose: false };
                    Reduction::new(elements, operator, initial, lowering.options.fast_math)
                }
                // A block that has nothing to do leaves its result as it is: absent.
                Some(_) => Reduction::of_present(&same, operator, initial),
            };
            lifts.push((*input, reduction.elements.clone(), types.len()));
            types.extend(reduction.types.iter().copied());
            parts.push(Part { reduction, heard: listeners.heard.clone() });
        }
        let (partial, mut before) = lowering.temporary(&types, 0);
        if common.producer().is_some() {
            before.extend(lowering.buffers_of(partial).into_iter().map(Step::Zero));
        }
        let mut heard = Vec::new();
        for (part, (input, lift, first)) in parts.iter_mut().zip(lifts) {
            let columns = first..first + part.reduction.types.len();
            part.reduction.elements = chunk_results(partial, columns.start, &part.reduction.types);
            let (reduction, shuffles) = (part.reduction.clone(), lowering.profile.native_warps);
            let gathering = Gathering { slot: partial, columns, lift, reduction, shuffles };
            heard.extend(common.heard(lowering, input, Rc::new(gathering)));
        }
        let node = lowering.program.node(group.first().ok_or_else(lost)?.producer);
        let after = move |blocks: u64| {
            lowering
                .because(format!("the kernel before has a result of each of its blocks, {blocks} in all"));
            fold_blocks(lowering, node, &parts, (partial, blocks as i64))
        };
        Ok(Hearing { before, heard, after: Box::new(after) })
    }

    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let operator = interpreter.evaluator(&self.operator)?;
        let initial = match &self.initial {
            Some(initial) => Some(interpreter.evaluator(initial)?(&[])?),
            None => None,
        };
        let from = interpreter.input(node, 0);
        let columns = interpreter.extents(node.inputs[0]).last().copied().unwrap_or(1) as usize;
        let row = |row: usize| {
            let elements = &from[row * columns..(row + 1) * columns];
            let (first, rest) = match &initial {
                Some(initial) => (initial.clone(), elements),
                None => (elements.first().cloned().unwrap_or_default(), elements.get(1..).unwrap_or(&[])),
            };
            rest.iter()
                .try_fold(first, |accumulator, element| operator(&[accumulator, element.clone()].concat()))
        };
        let rows: i64 = interpreter.extents(node.id).iter().product();
        (0..rows as usize).map(row).collect()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Whether an array is folded as a whole, whatever shape its elements have: a filtered one is.
fn is_folded_whole(lowering: &Lowering<'_>, input: NodeId) -> bool {
    let space = lowering.space_of(input);
    space != input && lowering.program.node(space).rank != 1
}

/// Rows that are no longer than this are folded as they are: there is little to share between them.
const FEWEST_INNER: i64 = 17;

/// A combination of two sides that costs more than this, with the operator, is not written out for many elements at once.
const MOST_COST: u32 = 16;

impl Fold {
    /// This fold as a product of matrices, if its elements are made of a part that depends on the row of the result and one that depends
    /// on its column: then an element of either side is read once for many of the result's.
    fn tiled<'a>(&self, lowering: &Lowering<'_>, node: &'a Node) -> Option<Tiled<'a>> {
        let (input, initial) = (*node.inputs.first()?, self.initial.as_ref()?);
        let (extents, fuser) = (lowering.extents, &lowering.fuser);
        let is_plain = lowering.space_of(input) == input && extents.is_known(input);
        if node.rank < 2 || !is_plain || lowering.options.skeletons.fold.is_some() {
            return None;
        }
        let (bounds, classes) = (extents.bounds(input), extents.classes(input));
        let ([outer @ .., rows, columns, inner], [.., row_class, column_class, inner_class]) =
            (&bounds[..], &classes[..])
        else {
            return None;
        };
        if *inner < FEWEST_INNER {
            return None;
        }
        let batches = outer.iter().product();
        let below = vec![*rows, *columns, *inner, batches];
        let elements = fuser.function(&[ScalarType::I64; 4], below, |index| {
            let mut full = fuser.unflatten(input, index[3], outer.len());
            full.extend(&index[..3]);
            fuser.element(input, &full).value
        });
        let Separated { left, right, combine } = separate(&elements)?;
        let step = separate_step(&combine, &fuser.with_classes(&self.operator));
        (step.cost() <= MOST_COST).then(|| Tiled {
            node,
            batches,
            rows: *row_class,
            columns: *column_class,
            inner: *inner_class,
            left,
            right,
            step,
            initial: fuser.with_classes(initial),
        })
    }
}

/// Folds the rows of arrays of one shape.
fn fold_together(lowering: &Lowering<'_>, group: &[Listeners]) -> Result<Vec<Step>, Error> {
    let lost = || Error::Program("a fold has no array".into());
    let first = lowering.program.node(group.first().ok_or_else(lost)?.producer);
    let input = *first.inputs.first().ok_or_else(lost)?;
    let space = lowering.space_of(input);
    let whole = is_folded_whole(lowering, input);
    let mut parts = Vec::new();
    for listeners in group {
        let node = lowering.program.node(listeners.producer);
        let (Some(fold), Some(input)) = (node.operation.as_any().downcast_ref::<Fold>(), node.inputs.first())
        else {
            return Err(lost());
        };
        let elements = match whole {
            true => as_one_row(lowering.fuser.linear(*input)),
            false => lowering.fuser.rows_of_input(*input),
        };
        let operator = lowering.fuser.with_classes(&fold.operator);
        let initial = fold.initial.as_ref().map(|initial| lowering.fuser.with_classes(initial));
        let reduction = Reduction::new(elements, operator, initial, lowering.options.fast_math);
        parts.push(Part { reduction, heard: listeners.heard.clone() });
    }
    let bounds = lowering.extents.bounds(space);
    let size = if whole { (1, bounds.iter().product()) } else { rows_and_columns(&bounds) };
    let (rows, columns) = match whole {
        true => (RowCount::One, Columns::All(space)),
        false => (RowCount::Of(space), Columns::Of(space)),
    };
    let space = Space { rows, columns, size, is_known: lowering.extents.is_known(space) };
    fold_rows(lowering, first, space, &parts, None)
}

/// A function of one index as one of row and column, of a single row.
pub(crate) fn as_one_row(elements: FusedElements) -> FusedElements {
    let linear = elements.function;
    let function = function(&[ScalarType::I64; 2], |index| instantiate(&linear, &index[1..]));
    FusedElements { function, ..elements }
}
