//! Jobs: the work of a block for one array that a round of a loop writes.

use super::scan::lanes;
use super::{FOUND_ON_DEVICE, LEAST_COST, MOST_THREADS, Needs, Reason, SmallLoop, capacity};
use crate::extents::Extents;
use crate::form::Form;
use crate::fuser::{Fuser, rows_and_columns};
use crate::operations::{Fold, Gives, Scan, SmallLoopResult, as_one_row};
use crate::program::{Node, NodeId};
use crate::reduction::{Reduction, instantiate};
use pumice_kernel::skeletons::FoldPlan;
use pumice_scalar::{Function, Node as ScalarNode, ScalarType, Variable, function};
use std::sync::Arc;

/// Computation of an array.
pub(super) enum Job {
    /// Each element by this function of its number.
    Pull(Function),
    /// By folding rows.
    Fold(Rows),
    /// By scanning rows.
    Scan { rows: Rows, gives: Gives, from_right: bool },
    /// By a loop inside the loop.
    Loop(Arc<SmallLoop>),
    /// With the loop that it is picked from.
    Picked,
}

/// Rows that are reduced.
pub(super) struct Rows {
    /// The elements, the operator and its neutral element.
    pub reduction: Reduction,
    /// Number of rows, and their length.
    pub size: (i64, i64),
    /// From the index of a result and the reduced scalars to the index and the scalars that are written.
    pub finish: Function,
}

impl Job {
    /// Returns the job that computes an array; or the reason why a block cannot. Floats need not be exact with `fast_math`.
    pub fn new(fuser: &Fuser<'_>, node: &Node, fast_math: bool) -> Result<Job, Reason> {
        match fuser.forms.of(node.id) {
            Some(Form::Pull) => Ok(Job::Pull(fuser.linear(node.id).function)),
            Some(Form::Push { producer, stages }) => {
                push(fuser, fuser.program.node(*producer), stages, fast_math)
            }
            Some(Form::Alone) => match node.operation.as_any().downcast_ref::<SmallLoopResult>() {
                Some(SmallLoopResult { small, number: 0 }) => Ok(Job::Loop(small.clone())),
                Some(_) => Ok(Job::Picked),
                None => Err(OTHER),
            },
            Some(Form::Loose { .. } | Form::Given) | None => Err(OTHER),
        }
    }

    /// The functions that are computed, with how often.
    fn functions(&self, size: i64) -> Vec<(&Function, i64)> {
        match self {
            Job::Pull(function) => vec![(function, size)],
            Job::Fold(rows) => rows.counted(1, size),
            // A lane goes through its elements twice.
            Job::Scan { rows, .. } => rows.counted(2, size),
            Job::Loop(_) | Job::Picked => Vec::new(),
        }
    }

    /// Adds its resources besides memory for its result, which has so many elements.
    pub fn add_needs(&self, size: i64, extents: &Extents, needs: &mut Needs) -> Result<(), Reason> {
        let is_found_on_device = |node: &ScalarNode| match node {
            ScalarNode::Variable(Variable::Extent { array, .. }, _) => {
                extents.length(*array as usize).cell.is_some()
            }
            _ => false,
        };
        for (function, times) in self.functions(size) {
            if function.nodes().iter().any(is_found_on_device) {
                return Err(FOUND_ON_DEVICE);
            }
            needs.work = needs.work.saturating_add((u64::from(function.cost()) + LEAST_COST) * times as u64);
            needs.can_fail |= function.sites().next().is_some();
        }
        let (rows, partial) = match self {
            Job::Fold(rows) => {
                let (count, columns) = rows.size;
                let plan = FoldPlan::for_one_block(count as u32, columns as u32, MOST_THREADS, false);
                // The results of lanes, and those of half of them, and so on.
                (rows, 2 * i64::from(plan.threads))
            }
            Job::Scan { rows, .. } => (rows, rows.size.0 * lanes(rows.size, MOST_THREADS)),
            Job::Pull(_) | Job::Loop(_) | Job::Picked => return Ok(()),
        };
        needs.widest = needs.widest.max(rows.size.0.saturating_mul(rows.size.1));
        let bytes: usize = rows.reduction.types.iter().map(|ty| ty.bytes()).sum();
        needs.shared_bytes += u64::from(capacity(partial)) * bytes as u64;
        Ok(())
    }
}

const OTHER: Reason = "it has an operation that takes kernels of its own";

impl Rows {
    /// The functions that are computed.
    pub fn functions(&self) -> Vec<&Function> {
        self.counted(1, 1).into_iter().map(|(function, _)| function).collect()
    }

    fn counted(&self, passes: i64, results: i64) -> Vec<(&Function, i64)> {
        let times = self.size.0.saturating_mul(self.size.1).saturating_mul(passes);
        let Reduction { elements, operator, neutral, .. } = &self.reduction;
        vec![(elements, times), (operator, times), (neutral, 1), (&self.finish, results)]
    }
}

/// Returns the job for elements that a producer hands on through operations that listen to it.
fn push(fuser: &Fuser<'_>, producer: &Node, stages: &[NodeId], fast_math: bool) -> Result<Job, Reason> {
    let operation = producer.operation.as_any();
    let input = *producer.inputs.first().ok_or(OTHER)?;
    let space = match fuser.forms.of(input) {
        _ if fuser.forms.is_manifest(input) => input,
        Some(Form::Pull) => input,
        // The elements that a filter keeps are folded in place; they are in no memory.
        Some(Form::Loose { space }) if operation.is::<Fold>() => *space,
        _ => return Err("one of its operations hears another"),
    };
    if !fuser.extents.is_known(space) {
        return Err(FOUND_ON_DEVICE);
    }
    // A filtered array is one row, whatever shape its elements have.
    let (elements, size) = match space == input || fuser.program.node(space).rank == 1 {
        true => (fuser.rows_of_input(input), rows_and_columns(&fuser.extents.bounds(space))),
        false => (as_one_row(fuser.linear(input)), (1, fuser.extents.size(space))),
    };
    let rows = |reduction: Reduction| {
        let after = fuser.stages(producer.id, stages);
        let types = [&[ScalarType::I64][..], &reduction.types].concat();
        let finish = function(&types, |terms| {
            let value = instantiate(&reduction.finish, &terms[1..]);
            instantiate(&after.function, &[&terms[..1], &value].concat())
        });
        (!after.loose).then_some(Rows { reduction, size, finish }).ok_or(OTHER)
    };
    if let Some(fold) = operation.downcast_ref::<Fold>() {
        let operator = fuser.with_classes(&fold.operator);
        let initial = fold.initial.as_ref().map(|initial| fuser.with_classes(initial));
        return Ok(Job::Fold(rows(Reduction::new(elements, operator, initial, fast_math))?));
    }
    if let Some(scan) = operation.downcast_ref::<Scan>() {
        let operator = fuser.with_classes(&scan.operator);
        let initial = scan.initial.as_ref().map(|initial| fuser.with_classes(initial));
        let reduction = Reduction::scanned(elements.function, &operator, initial.as_ref(), scan.from_right);
        return Ok(Job::Scan { rows: rows(reduction)?, gives: scan.gives, from_right: scan.from_right });
    }
    Err(OTHER)
}
