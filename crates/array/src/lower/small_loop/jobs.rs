//! What a block does for one array that a round of a loop writes.

use super::{LEAST_COST, MOST_THREADS, Needs, Reason, SmallLoop, capacity};
use crate::form::Form;
use crate::fuser::{Fuser, rows_and_columns};
use crate::operations::{Fold, Gives, Scan, SmallLoopResult};
use crate::program::{Node, NodeId};
use crate::reduction::{Reduction, instantiate};
use pumice_scalar::{Function, ScalarType, function};
use std::sync::Arc;

/// How an array is computed.
pub(super) enum Job {
    /// Each element by this function of its number.
    Pull(Function),
    /// By folding rows.
    Fold(Rows),
    /// By scanning rows.
    Scan {
        rows: Rows,
        gives: Gives,
        from_right: bool,
    },
    /// By a loop inside the loop.
    Loop(Arc<SmallLoop>),
    /// With the loop that it is picked from.
    Picked,
}

/// Rows that are reduced.
pub(super) struct Rows {
    /// The elements, the operator and its neutral element.
    pub reduction: Reduction,
    /// How many there are, and how long they are.
    pub size: (i64, i64),
    /// From the index of a result and what was reduced to the index and the scalars that are written.
    pub finish: Function,
}

impl Job {
    /// What computes an array; or why a block cannot.
    pub fn new(fuser: &Fuser<'_>, node: &Node) -> Result<Job, Reason> {
        match fuser.forms.of(node.id) {
            Some(Form::Pull) => Ok(Job::Pull(fuser.linear(node.id).function)),
            Some(Form::Push { producer, stages }) => push(fuser, fuser.program.node(*producer), stages),
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

    /// Adds what it needs besides memory for its result, which has so many elements.
    pub fn add_needs(&self, size: i64, needs: &mut Needs) {
        for (function, times) in self.functions(size) {
            needs.work = needs.work.saturating_add((u64::from(function.cost()) + LEAST_COST) * times as u64);
            needs.can_fail |= function.sites().next().is_some();
        }
        if let Job::Fold(rows) | Job::Scan { rows, .. } = self {
            let (count, columns) = rows.size;
            let elements = count.saturating_mul(columns);
            needs.widest = needs.widest.max(elements);
            // The results of lanes, and those of half of them, and so on.
            let lanes = elements.min(MOST_THREADS.into()).max(count);
            let bytes: usize = rows.reduction.types.iter().map(|ty| ty.bytes()).sum();
            needs.shared_bytes += 2 * u64::from(capacity(lanes)) * bytes as u64;
        }
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

/// What computes the elements that a producer hands on through operations that listen to it.
fn push(fuser: &Fuser<'_>, producer: &Node, stages: &[NodeId]) -> Result<Job, Reason> {
    let operation = producer.operation.as_any();
    let input = *producer.inputs.first().ok_or(OTHER)?;
    let is_there = fuser.forms.is_manifest(input) || fuser.forms.of(input) == Some(&Form::Pull);
    if !is_there {
        return Err("one of its operations hears another");
    }
    let elements = fuser.rows_of_input(input);
    let size = rows_and_columns(&fuser.extents.bounds(input));
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
        return Ok(Job::Fold(rows(Reduction::new(elements, operator, initial))?));
    }
    if let Some(scan) = operation.downcast_ref::<Scan>() {
        let operator = fuser.with_classes(&scan.operator);
        let initial = scan.initial.as_ref().map(|initial| fuser.with_classes(initial));
        let reduction = Reduction::scanned(elements.function, &operator, initial.as_ref(), scan.from_right);
        return Ok(Job::Scan { rows: rows(reduction)?, gives: scan.gives, from_right: scan.from_right });
    }
    Err(OTHER)
}
