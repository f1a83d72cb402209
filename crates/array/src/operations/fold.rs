//! `fold`: reduces the innermost dimension with an associative operator.
//!
//! Elements come from a pull, row by row; of a filtered array, absent ones are left out. A whole vector that a producer hands
//! on is folded as it comes, if the operator commutes. Folds over arrays of one shape are done together: a fold of tuples.

use super::product::{Tiled, separate_step};
use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::{Elements as FusedElements, rows_and_columns};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{
    Common, Consumer, Heard, Hearing, KernelName, Listeners, Lowering, Parameters, Separated, Step,
    columns_are_contiguous, rows_load_once, separate,
};
use crate::operation::{Nature, Operation, RANK, Signature, TYPES, ensure, fits, next};
use crate::program::{Node, NodeId};
use crate::reduction::{Reduction, instantiate};
use pumice_kernel::skeletons::{
    Fold as FoldSkeleton, FoldPlan, FoldRows, FoldTask, GatherFold, Listener, within,
};
use pumice_kernel::{Dynamic, Ix, Profile, Pull, Scalars, comment, parts_for, store};
use pumice_program::Access;
use pumice_scalar::{Exp, Function, Op, ScalarType, Term, Variable, function};
use std::any::Any;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// A reduction of rows.
#[derive(Clone)]
pub struct Fold {
    /// An associative operator, from two elements.
    pub operator: Function,
    /// What a row's elements are combined with, once and from the left; from no parameters. Without it, every row must have
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
                None => Reduction::new(FusedElements { function: same, loose: false }, operator, initial),
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
            let gathering = Gathering { slot: partial, columns, lift, reduction: part.reduction.clone() };
            heard.extend(common.heard(lowering, input, Rc::new(gathering)));
        }
        let node = lowering.program.node(group.first().ok_or_else(lost)?.producer);
        let after = move |blocks: u64| fold_blocks(lowering, node, &parts, (partial, blocks as i64));
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
    /// This fold as a product of matrices, if its elements are made of what depends on the row of the result and what depends
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

/// Folds what it hears, to a partial result a block.
struct Gathering {
    slot: usize,
    /// Its columns of the slot.
    columns: Range<usize>,
    /// From what it hears to what is folded.
    lift: Function,
    reduction: Reduction,
}

impl Consumer for Gathering {
    fn listener(&self, parameters: &Rc<Parameters>) -> Rc<dyn Listener> {
        let column =
            |(column, ty): (usize, &ScalarType)| parameters.memory(self.slot, column, *ty, Access::Write);
        let memories: Vec<_> = self.columns.clone().zip(&self.reduction.types).map(column).collect();
        let (operator, all) = (self.reduction.operator.clone(), parameters.clone());
        let combine = Rc::new(move |a: Scalars, b: Scalars| all.apply_to(&operator, &[&a, &b]));
        let neutral = Scalars(parameters.apply(&self.reduction.neutral, &[]));
        let fold = GatherFold::new(combine, neutral, move |block, value| {
            for (memory, term) in memories.iter().zip(value.0) {
                // SAFETY: the slot is given an element a block, and only this block writes it.
                unsafe { store(*memory, block.term(), term) };
            }
        });
        Rc::new(Lifted { lift: self.lift.clone(), parameters: parameters.clone(), fold })
    }

    fn way(&self) -> Option<String> {
        Some("folded block by block".into())
    }
}

/// Hears elements, and folds what a function makes of them.
struct Lifted {
    lift: Function,
    parameters: Rc<Parameters>,
    fold: GatherFold,
}

impl Listener for Lifted {
    fn start(&self, block: Ix) {
        self.fold.start(block);
    }
    fn element(&self, index: Ix, value: Scalars) {
        self.fold.element(index, self.parameters.apply_to(&self.lift, &[&value]));
    }
    fn finish(&self, block: Ix) {
        self.fold.finish(block);
    }
}

/// Folds the partial results of so many blocks.
fn fold_blocks(
    lowering: &Lowering<'_>,
    node: &Node,
    parts: &[Part],
    (partial, blocks): (usize, i64),
) -> Result<Vec<Step>, Error> {
    lowering.resize(partial, blocks);
    let together = Reduction::together(parts.iter().map(|part| &part.reduction));
    let last = Listeners { producer: node.id, heard: finished(parts) };
    let bytes = together.types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
    let task = FoldTask { rows: 1, columns: blocks, bytes, commutes: true, columns_are_contiguous: false };
    let plan = FoldPlan { chunks: 1, ..FoldPlan::new(lowering.profile, task) };
    let columns = Columns::Chunks(blocks);
    let space = Space { rows: RowCount::One, columns, size: (1, blocks), is_known: true };
    fold_kernel(lowering, node, node.place.operation(), space, plan, &together.elements, &together, &last)
}

/// One fold of several that are done together.
pub(super) struct Part {
    /// What is folded.
    pub reduction: Reduction,
    /// Who listens to the results.
    pub heard: Vec<Heard>,
}

/// The matrix whose rows are folded.
#[derive(Clone, Copy)]
pub(super) struct Space {
    /// Its rows.
    pub rows: RowCount,
    /// Its columns.
    pub columns: Columns,
    /// How many rows and columns it has at most.
    pub size: (i64, i64),
    /// Whether it has just as many.
    pub is_known: bool,
}

/// The rows that are folded.
#[derive(Clone, Copy)]
pub(super) enum RowCount {
    /// A single one.
    One,
    /// Those of an array.
    Of(NodeId),
    /// One for each element of an array.
    ForEach(NodeId),
}

/// The columns that a fold reduces.
#[derive(Clone, Copy)]
pub(super) enum Columns {
    /// Those of an array whose rows are folded.
    Of(NodeId),
    /// All elements of an array.
    All(NodeId),
    /// The results of so many chunks.
    Chunks(i64),
}

/// The class of the number of chunks, in the second step of a fold.
const CHUNKS: usize = usize::MAX;

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
        let reduction = Reduction::new(elements, operator, initial);
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

/// Folds rows on behalf of an operation, in one kernel or, where rows are cut, in two. Whether it is the elements of a column
/// that are neighbours in memory is seen from their loads, unless it is said.
pub(super) fn fold_rows(
    lowering: &Lowering<'_>,
    node: &Node,
    space: Space,
    parts: &[Part],
    contiguous: Option<bool>,
) -> Result<Vec<Step>, Error> {
    let (rows, columns) = space.size;
    let together = Reduction::together(parts.iter().map(|part| &part.reduction));
    let types = &together.types;
    let bytes = types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
    let commutes = together.operator.commutes();
    let has_many_rows = || {
        let Profile { threads, busy_blocks, coalesces, .. } = *lowering.profile;
        coalesces && rows.max(0) as u64 >= busy_blocks.saturating_mul(threads.into())
    };
    let columns_are_contiguous = contiguous.unwrap_or_else(|| {
        columns_are_contiguous(&together.elements, lowering.extents)
            || (has_many_rows() && rows_load_once(&together.elements, lowering.extents))
    });
    let task = FoldTask { rows, columns, bytes, commutes, columns_are_contiguous };
    let plan = FoldPlan::new(lowering.profile, task);
    let plan = match (lowering.options.skeletons.fold.is_some(), space.is_known) {
        // A user's skeleton does with whole rows of any length what it likes.
        (true, _) => FoldPlan { chunks: 1, fixed_columns: None, ..plan },
        (_, false) => FoldPlan { fixed_columns: None, ..plan },
        _ => plan,
    };
    let step = |plan, space, elements: &Function, listeners: &Listeners, name: &str| {
        fold_kernel(lowering, node, name, space, plan, elements, &together, listeners)
    };
    let last = Listeners { producer: node.id, heard: finished(parts) };
    let name = node.place.operation();
    if plan.chunks == 1 {
        return step(plan, space, &together.elements, &last, name);
    }
    let chunks = i64::from(plan.chunks);
    let (between, mut steps) = lowering.temporary(types, rows * chunks);
    let partial = Listeners { producer: node.id, heard: vec![lowering.heard_in(between)] };
    steps.extend(step(plan, space, &together.elements, &partial, "fold_chunks")?);
    // The chunks' results are a matrix in memory, folded once more.
    let task = FoldTask { columns: chunks, columns_are_contiguous: false, ..task };
    let again = FoldPlan { chunks: 1, ..FoldPlan::new(lowering.profile, task) };
    let partial = chunk_results(between, 0, types);
    let space = Space { columns: Columns::Chunks(chunks), ..space };
    steps.extend(step(again, space, &partial, &last, name)?);
    Ok(steps)
}

/// A function of one index as one of row and column, of a single row.
fn as_one_row(elements: FusedElements) -> FusedElements {
    let linear = elements.function;
    let function = function(&[ScalarType::I64; 2], |index| instantiate(&linear, &index[1..]));
    FusedElements { function, ..elements }
}

/// What each part's listeners hear of the scalars of all parts.
fn finished(parts: &[Part]) -> Vec<Heard> {
    let types: Vec<ScalarType> = parts.iter().flat_map(|part| part.reduction.types.iter().copied()).collect();
    let mut first = 1;
    let mut all = Vec::new();
    for part in parts {
        let mine = first..first + part.reduction.types.len();
        first = mine.end;
        let parameters = [&[ScalarType::I64][..], &types].concat();
        let finish = function(&parameters, |terms| {
            let value = instantiate(&part.reduction.finish, &terms[mine.clone()]);
            std::iter::once(terms[0]).chain(value).collect()
        });
        let finished = FusedElements { function: finish, loose: false };
        all.extend(part.heard.iter().map(|heard| heard.behind(finished.clone())));
    }
    all
}

/// The elements of a matrix of chunks' results: columns of a slot from one on.
fn chunk_results(slot: usize, first: usize, types: &[ScalarType]) -> Function {
    function(&[ScalarType::I64; 2], |index| {
        let count = Variable::Extent { array: CHUNKS as u64, dimension: 0 };
        let count = Term::variable(count, ScalarType::I64);
        let linear = index[0].binary(Op::Mul, count).binary(Op::Add, index[1]);
        // SAFETY: it is read as a matrix of `rows` × `chunks` elements, which is what the slot was added with.
        let load = |(column, ty): (usize, &ScalarType)| unsafe {
            Term::load(crate::fuser::load_key(slot, first + column), *ty, linear, false)
        };
        types.iter().enumerate().map(load).collect()
    })
}

#[allow(clippy::too_many_arguments)]
fn fold_kernel(
    lowering: &Lowering<'_>,
    node: &Node,
    name: &str,
    space: Space,
    plan: FoldPlan,
    elements: &Function,
    reduction: &Reduction,
    listeners: &Listeners,
) -> Result<Vec<Step>, Error> {
    let theirs = lowering.options.skeletons.fold.as_deref();
    let (name, skeleton, threads) = match theirs {
        Some(skeleton) => (skeleton.name(), skeleton.name(), skeleton.threads(lowering.profile)),
        None => (name, "fold", plan.threads),
    };
    let called = KernelName { node, name, skeleton, threads };
    lowering.kernel(called, listeners, |parameters| {
        let rows = match space.rows {
            RowCount::One => parameters.number("rows", 1),
            RowCount::Of(array) => lowering.row_count(array, parameters),
            RowCount::ForEach(array) => lowering.size(array, parameters),
        };
        let count: Ix = match (plan.fixed_columns, space.columns) {
            (Some(fixed), _) => Exp::from(i64::from(fixed)),
            (None, Columns::Of(array)) => lowering.column_count(array, parameters),
            (None, Columns::All(array)) => lowering.size(array, parameters),
            (None, Columns::Chunks(count)) => parameters.number("columns", count),
        };
        let cut = (plan.chunks > 1).then(|| {
            let chunks = parameters.number("chunks", plan.chunks.into());
            let steps = match space.is_known {
                true => parameters.number("steps", plan.steps(space.size.1)),
                false => parts_for(count, plan.step() as usize * plan.chunks as usize),
            };
            (chunks, steps)
        });
        // The extent by which the elements know their own columns.
        match space.columns {
            Columns::Of(array) => {
                if let Some(class) = lowering.extents.classes(array).last() {
                    parameters.fix(*class, count);
                }
            }
            Columns::Chunks(_) => parameters.fix(CHUNKS, count),
            Columns::All(_) => {}
        }
        let Reduction { operator, neutral, .. } = reduction;
        if theirs.is_some() {
            [elements, operator, neutral].into_iter().for_each(|function| parameters.declare(function));
        }
        let (at_parameters, elements) = (parameters.clone(), elements.clone());
        let at =
            move |row: Ix, column: Ix| Scalars(at_parameters.apply(&elements, &[row.term(), column.term()]));
        let (operator_parameters, operator) = (parameters.clone(), operator.clone());
        let combine = move |a: Scalars, b: Scalars| operator_parameters.apply_to(&operator, &[&a, &b]);
        let neutral = Scalars(parameters.apply(neutral, &[]));
        match theirs {
            None => {
                let (at, operator) = (Rc::new(at), combine);
                FoldSkeleton::<Dynamic, _> { rows, columns: count, cut, at, operator, neutral }.push(plan)
            }
            Some(theirs) => {
                comment(format!("folded by skeleton {}", theirs.name()));
                let at = Rc::new(at);
                let row = move |row: Ix| {
                    let at = at.clone();
                    Pull::<Dynamic, Ix>::new(count, move |column| at(row, column))
                };
                let (matrix, operator) = (Pull::new(rows, row), Rc::new(combine));
                let fold = FoldRows { rows, columns: count, matrix, operator, neutral };
                within(theirs.fold(fold, lowering.profile), rows, node.place.named("skeleton"))
            }
        }
    })
}
