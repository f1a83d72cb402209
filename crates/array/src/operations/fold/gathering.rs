//! Folds of a producer's elements: every block folds the elements that it hears, and the blocks' results are folded once more.

use super::rows::{Columns, Part, RowCount, Space, finished, fold_kernel};
use crate::error::Error;
use crate::lower::{Consumer, Listeners, Lowering, Parameters, Step};
use crate::program::Node;
use crate::reduction::Reduction;
use pumice_kernel::skeletons::{FoldPlan, FoldTask, GatherFold, Listener, Monoid};
use pumice_kernel::{Ix, Scalars, store};
use pumice_program::Access;
use pumice_scalar::{Function, ScalarType};
use std::ops::Range;
use std::rc::Rc;

/// Folds the elements that it hears, to one partial result per block.
pub(super) struct Gathering {
    /// Slot of the partial results.
    pub slot: usize,
    /// Its columns of the slot.
    pub columns: Range<usize>,
    /// From an element that it hears to the value that is folded.
    pub lift: Function,
    /// The reduction.
    pub reduction: Reduction,
    /// Whether lanes shuffle without memory.
    pub shuffles: bool,
}

impl Consumer for Gathering {
    fn listener(&self, parameters: &Rc<Parameters>) -> Rc<dyn Listener> {
        let column =
            |(column, ty): (usize, &ScalarType)| parameters.memory(self.slot, column, *ty, Access::Write);
        let memories: Vec<_> = self.columns.clone().zip(&self.reduction.types).map(column).collect();
        let (operator, all) = (self.reduction.operator.clone(), parameters.clone());
        let combine = Rc::new(move |a: Scalars, b: Scalars| all.apply_to(&operator, &[&a, &b]));
        let neutral = Scalars(parameters.apply(&self.reduction.neutral, &[]));
        let monoid = Monoid { operator: combine, neutral, total: self.reduction.operator.is_total() };
        let fold = GatherFold::new(monoid, self.shuffles, move |block, value| {
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

/// Hears elements, and folds the values that a function computes from them.
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
pub(super) fn fold_blocks(
    lowering: &Lowering<'_>,
    node: &Node,
    parts: &[Part],
    (partial, blocks): (usize, i64),
) -> Result<Vec<Step>, Error> {
    lowering.resize(partial, blocks);
    let together = Reduction::together(parts.iter().map(|part| &part.reduction));
    let last = Listeners { producer: node.id, heard: finished(lowering, parts)? };
    let bytes = together.types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
    let task = FoldTask {
        rows: 1,
        columns: blocks,
        bytes,
        commutes: true,
        columns_are_contiguous: false,
        chooses: false,
    };
    let plan = FoldPlan { chunks: 1, ..FoldPlan::new(lowering.profile, task) };
    let columns = Columns::Chunks(blocks);
    let space = Space { rows: RowCount::One, columns, size: (1, blocks), is_known: true };
    fold_kernel(lowering, node, node.place.operation(), space, plan, &together.elements, &together, &last)
}
