//! Folds of the elements of each source of an expansion.

use super::expand::{QueueSlots, Sources};
use super::{KernelName, Listeners, Lowering, Parameters, Step};
use crate::error::Error;
use crate::fuser::Elements;
use crate::operations::ExpandReduce;
use crate::reduction::Reduction;
use pumice_kernel::skeletons::{FoldSources, FoldSourcesPlan, Monoid};
use pumice_kernel::{Ix, Scalars, read, store};
use pumice_program::Access;
use std::rc::Rc;

/// Largest cost of an element for which several are computed at once, even where fewer are needed.
const CHEAP: u32 = 64;

/// Blocks that combine the results of chunks: a thread of theirs has a source or two, and not much to wait for.
const FEW_BLOCKS: u32 = 16;

impl Lowering<'_> {
    /// The steps that hand on the result of each source.
    pub(crate) fn expand_reduce(
        &self,
        operation: &ExpandReduce,
        listeners: &Listeners,
    ) -> Result<Vec<Step>, Error> {
        let node = self.program.node(listeners.producer);
        let Some(sources) = node.inputs.first().copied() else { return Ok(Vec::new()) };
        let get = self.fuser.with_classes(&operation.get);
        let operator = self.fuser.with_classes(&operation.operator);
        let reduction = match &operation.initial {
            Some(initial) => {
                let get = Elements { function: get, loose: false };
                let initial = self.fuser.with_classes(initial);
                Reduction::new(get, operator, Some(initial), self.options.fast_math)
            }
            None => Reduction::of_options(get, operator),
        };
        let listeners = Listeners { producer: listeners.producer, heard: reduction.heard(&listeners.heard) };
        // No length is read for this.
        let most = operation.most.as_ref();
        let most = most.and_then(|most| self.extents.values(node, most, self.knowledge).ok());
        let most = most.and_then(|values| values.first()?.as_integer());
        let most = most.map(|most| most.clamp(0, i64::MAX.into()) as i64);
        // Elements that cannot fail are loaded ahead of each other by compilers.
        let checks = reduction.elements.sites().next().is_some();
        let in_batches = checks && reduction.elements.cost() <= CHEAP;
        let plan = FoldSourcesPlan::new(self.profile, self.extents.size(sources), most, in_batches);
        let work = Sources::new(self, sources, &operation.size, &reduction.elements);
        let fold = |parameters: &Rc<Parameters>| {
            let (apply, operator) = (parameters.clone(), reduction.operator.clone());
            FoldSources {
                expansion: work.expansion(parameters),
                monoid: Monoid {
                    operator: Rc::new(move |a: Scalars, b: Scalars| apply.apply_to(&operator, &[&a, &b])),
                    neutral: Scalars(parameters.apply(&reduction.neutral, &[])),
                    total: reduction.operator.is_total(),
                },
                commutes: reduction.operator.commutes(),
            }
        };
        let mut steps = Vec::new();
        let queue = plan.queues.then(|| QueueSlots::new(self, sources, &mut steps));
        let name = node.place.operation();
        self.because(plan.why());
        let called = KernelName { node, name, skeleton: "fold of sources", threads: plan.threads };
        steps.extend(self.kernel(called, &listeners, |parameters| {
            let stretches = parameters.number("stretches", plan.stretches);
            let queue = queue.map(|queue| queue.filled(parameters));
            fold(parameters).push(plan, stretches, queue)
        })?);
        let Some(queue) = queue else { return Ok(steps) };
        let (partial, allocate) = self.temporary(&reduction.types, FoldSourcesPlan::CHUNKS);
        steps.extend(allocate);
        self.because("sources that are large for a block are cut into chunks, which all blocks take: none if nothing is queued");
        let name = format!("{}_large", node.place.operation());
        let called = KernelName { name: &name, skeleton: "fold of sources, chunks of large ones", ..called };
        steps.extend(self.kernel(called, &listeners, |parameters| {
            let (blocks, all) = queue.blocks(parameters, plan.blocks);
            let memories = parameters.memories(partial, &reduction.types, Access::Write);
            let partial = move |chunk: Ix, value: Scalars| {
                for (memory, term) in memories.iter().zip(value.0) {
                    // SAFETY: the slot has an element for each chunk that the skeleton writes, and one thread writes it.
                    unsafe { store(*memory, chunk.term(), term) };
                }
            };
            fold(parameters).push_chunks(plan, blocks, all, queue.emptied(parameters), partial)
        })?);
        self.because("a source that was cut has a result for each chunk");
        let name = format!("{}_chunks", node.place.operation());
        let called = KernelName { name: &name, skeleton: "fold of sources, results of chunks", ..called };
        steps.extend(self.kernel(called, &listeners, |parameters| {
            let (blocks, all) = queue.blocks(parameters, plan.blocks.min(FEW_BLOCKS));
            let memories = parameters.memories(partial, &reduction.types, Access::Read);
            let columns: Vec<_> = memories.into_iter().zip(reduction.types.clone()).collect();
            let partial = move |chunk: Ix| {
                // SAFETY: the kernel before has written the chunks that the skeleton reads.
                let column = |(memory, ty): &(_, _)| unsafe { read(*memory, *ty, chunk.term(), true) };
                Scalars(columns.iter().map(column).collect())
            };
            fold(parameters).push_results(plan, blocks, all, queue.emptied(parameters), partial)
        })?);
        Ok(steps)
    }
}
