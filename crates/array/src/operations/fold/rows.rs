//! Folding the rows of a matrix on behalf of an operation: one kernel, or two where rows are cut into chunks.

use crate::error::Error;
use crate::fuser::Elements;
use crate::lower::{
    Heard, KernelName, Known, Listeners, Lowering, Step, columns_are_contiguous, counted, rows_load_once,
    widest_load, with_known,
};
use crate::program::{Node, NodeId};
use crate::reduction::{Reduction, instantiate};
use pumice_kernel::skeletons::{Fold as FoldSkeleton, FoldPlan, FoldRows, FoldTask, within};
use pumice_kernel::{Dynamic, Ix, Profile, Pull, Scalars, comment, parts_for};
use pumice_scalar::{Exp, Function, Node as ScalarNode, Op, ScalarType, Term, Variable, function};
use std::rc::Rc;

/// One fold of several that are done together.
pub(in crate::operations) struct Part {
    /// The reduction.
    pub reduction: Reduction,
    /// The listeners to the results.
    pub heard: Vec<Heard>,
}

/// The matrix whose rows are folded.
#[derive(Clone, Copy)]
pub(in crate::operations) struct Space {
    /// Its rows.
    pub rows: RowCount,
    /// Its columns.
    pub columns: Columns,
    /// Upper bounds of the numbers of rows and columns.
    pub size: (i64, i64),
    /// Whether these numbers are exact.
    pub is_known: bool,
}

/// The rows that are folded.
#[derive(Clone, Copy)]
pub(in crate::operations) enum RowCount {
    /// A single one.
    One,
    /// The rows of an array.
    Of(NodeId),
    /// One for each element of an array.
    ForEach(NodeId),
}

/// The columns that a fold reduces.
#[derive(Clone, Copy)]
pub(in crate::operations) enum Columns {
    /// The columns of an array whose rows are folded.
    Of(NodeId),
    /// All elements of an array.
    All(NodeId),
    /// The results of so many chunks.
    Chunks(i64),
}

/// The class of the number of chunks, in the second step of a fold.
const CHUNKS: usize = usize::MAX;

/// Elements that cost more than this are loaded for one group at a time: there is enough to do while the next ones come, and the registers of
/// several groups would leave room for fewer threads.
const MOST_UNROLLED: u32 = 40;

/// Folds rows on behalf of an operation, in one kernel or, where rows are cut, in two. Whether it is the elements of a column
/// that are neighbours in memory is seen from their loads, unless it is said.
pub(in crate::operations) fn fold_rows(
    lowering: &Lowering<'_>,
    node: &Node,
    space: Space,
    parts: &[Part],
    contiguous: Option<bool>,
) -> Result<Vec<Step>, Error> {
    let (rows, columns) = space.size;
    let together = Reduction::together(parts.iter().map(|part| &part.reduction));
    let types = &together.types;
    // Elements that are small in memory are loaded many at a time, however wide the type of the sum.
    let loaded = widest_load(&together.elements);
    let bytes = loaded.filter(|bytes| *bytes < 4).or(types.iter().map(|ty| ty.bytes()).max()).unwrap_or(1);
    let commutes = together.operator.commutes();
    let has_many_rows = || {
        let Profile { threads, busy_blocks, coalesces, .. } = *lowering.profile;
        coalesces && rows.max(0) as u64 >= busy_blocks.saturating_mul(threads.into())
    };
    let columns_are_contiguous = contiguous.unwrap_or_else(|| {
        columns_are_contiguous(&together.elements, lowering.extents)
            || (has_many_rows() && rows_load_once(&together.elements, lowering.extents))
    });
    let chooses = chooses(&together.elements) || chooses(&together.operator);
    let task = FoldTask { rows, columns, bytes, commutes, columns_are_contiguous, chooses };
    let plan = FoldPlan::new(lowering.profile, task);
    let unroll = if together.elements.cost() > MOST_UNROLLED { 1 } else { plan.unroll };
    let plan = FoldPlan { unroll, ..plan };
    let plan = match (lowering.options.skeletons.fold.is_some(), space.is_known) {
        // A user's skeleton takes whole rows of any length.
        (true, _) => FoldPlan { chunks: 1, fixed_columns: None, ..plan },
        (_, false) => FoldPlan { fixed_columns: None, ..plan },
        _ => plan,
    };
    lowering.because(match &lowering.options.skeletons.fold {
        Some(users) => format!("the compiler is told to fold by the skeleton {}", users.name()),
        None => why(&plan, rows, columns),
    });
    let step = |plan, space, elements: &Function, listeners: &Listeners, name: &str| {
        fold_kernel(lowering, node, name, space, plan, elements, &together, listeners)
    };
    let last = Listeners { producer: node.id, heard: finished(lowering, parts)? };
    let name = node.place.operation();
    if plan.chunks == 1 {
        return step(plan, space, &together.elements, &last, name);
    }
    let chunks = i64::from(plan.chunks);
    let (between, mut steps) = lowering.temporary(types, rows * chunks);
    let partial = Listeners { producer: node.id, heard: vec![lowering.heard_in(between)] };
    steps.extend(step(plan, space, &together.elements, &partial, "fold_chunks")?);
    // The chunks' results are a matrix in memory, folded once more.
    let bytes = types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
    let task = FoldTask { columns: chunks, columns_are_contiguous: false, bytes, ..task };
    let again = FoldPlan { chunks: 1, ..FoldPlan::new(lowering.profile, task) };
    let partial = chunk_results(between, 0, types);
    let space = Space { columns: Columns::Chunks(chunks), ..space };
    lowering.because(format!("the kernel before left the results of {chunks} chunks of each row"));
    steps.extend(step(again, space, &partial, &last, name)?);
    Ok(steps)
}

/// Why a fold is divided like this.
fn why(plan: &FoldPlan, rows: i64, columns: i64) -> String {
    match *plan {
        FoldPlan { chunks: chunks @ 2.., .. } => format!(
            "{} of {} would not keep the device busy: a row is cut into {chunks} chunks, whose results a second kernel folds",
            counted(rows, "row"),
            counted(columns, "element")
        ),
        FoldPlan { fixed_columns: Some(_), .. } => {
            format!("rows of {} are short: a thread folds one without a loop", counted(columns, "element"))
        }
        FoldPlan { lanes: 1, .. } => {
            "a thread folds a row: neighbouring rows are neighbours in memory, or the operator wants its order"
                .into()
        }
        FoldPlan { lanes, .. } => format!("{lanes} threads share a row of {}", counted(columns, "element")),
    }
}

/// Whether a function chooses between values: it has branches, selects, or minima and maxima of floats, which order zeros.
fn chooses(function: &Function) -> bool {
    function.nodes().iter().any(|node| match node {
        ScalarNode::Branch { .. } | ScalarNode::Apply { op: Op::Select, .. } => true,
        ScalarNode::Apply { op: Op::Min | Op::Max, ty, .. } => ty.is_float(),
        _ => false,
    })
}

/// Returns the listeners of all parts, each adapted to the scalars of all parts, and those that write the followers.
pub(super) fn finished(lowering: &Lowering<'_>, parts: &[Part]) -> Result<Vec<Heard>, Error> {
    let types: Vec<ScalarType> = parts.iter().flat_map(|part| part.reduction.types.iter().copied()).collect();
    let parameters = [&[ScalarType::I64][..], &types].concat();
    let mut first = 1;
    let mut all = Vec::new();
    for part in parts {
        let mine = first..first + part.reduction.types.len();
        first = mine.end;
        let finish = function(&parameters, |terms| {
            let value = instantiate(&part.reduction.finish, &terms[mine.clone()]);
            std::iter::once(terms[0]).chain(value).collect()
        });
        let finished = Elements { function: finish, loose: false };
        all.extend(part.heard.iter().map(|heard| heard.behind(finished.clone())));
    }
    let results = all.clone();
    for follower in lowering.followers {
        let elements = lowering.fuser.linear(*follower).function;
        let function = function(&parameters, |terms| {
            let known: Vec<Known> = results.iter().flat_map(|heard| heard.elements_of(terms)).collect();
            std::iter::once(terms[0]).chain(with_known(&elements, terms[0], &known)).collect()
        });
        all.push(lowering.heard_in(lowering.slot(*follower)?).behind(Elements { function, loose: false }));
    }
    Ok(all)
}

/// The elements of a matrix of chunks' results: columns of a slot from one on.
pub(super) fn chunk_results(slot: usize, first: usize, types: &[ScalarType]) -> Function {
    function(&[ScalarType::I64; 2], |index| {
        let count = Variable::Extent { array: CHUNKS as u64, dimension: 0 };
        let count = Term::variable(count, ScalarType::I64);
        let linear = index[0].binary(Op::Mul, count).binary(Op::Add, index[1]);
        // SAFETY: it is read as a matrix of `rows` × `chunks` elements, which is the size that the slot was added with.
        let load = |(column, ty): (usize, &ScalarType)| unsafe {
            Term::load(crate::fuser::load_key(slot, first + column), *ty, linear, false)
        };
        types.iter().enumerate().map(load).collect()
    })
}

#[allow(clippy::too_many_arguments)]
pub(super) fn fold_kernel(
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
        let (operator_parameters, applied) = (parameters.clone(), operator.clone());
        let combine = move |a: Scalars, b: Scalars| operator_parameters.apply_to(&applied, &[&a, &b]);
        let neutral = Scalars(parameters.apply(neutral, &[]));
        match theirs {
            None => {
                let (at, total) = (Rc::new(at), operator.is_total());
                let operator = combine;
                FoldSkeleton::<Dynamic, _> { rows, columns: count, cut, at, operator, neutral, total }
                    .push(plan)
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
