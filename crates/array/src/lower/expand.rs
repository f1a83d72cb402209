//! Expansions as producers: the kernels in which the elements of all sources are handed on.

use super::{Heard, KernelName, Listeners, Lowering, Parameters, Step};
use crate::error::Error;
use crate::operations::Expand;
use crate::program::{Node, NodeId};
use pumice_kernel::skeletons::{ExpandPlan, Expansion, Queue, QueueLayout};
use pumice_kernel::{Ix, Scalars, length_parameter};
use pumice_program::Access;
use pumice_scalar::{Exp, Function, ScalarType};
use std::rc::Rc;

impl Lowering<'_> {
    /// The steps that hand on the elements of an expansion.
    pub(crate) fn expand(&self, expand: &Expand, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        for listeners in group {
            let node = self.program.node(listeners.producer);
            let Some(sources) = node.inputs.first().copied() else { continue };
            let asked = listeners.heard.iter().find_map(|heard| heard.consumer.division());
            let count = self.extents.size(sources);
            let expanding = Expanding {
                lowering: self,
                node,
                sources,
                source: self.fuser.linear_of_input(sources).function,
                size: self.fuser.with_classes(&expand.size),
                get: self.fuser.with_classes(&expand.get),
                plan: ExpandPlan::new(self.profile, count, self.options.division, asked),
                layout: QueueLayout::new(count),
            };
            steps.extend(expanding.steps(&listeners)?);
        }
        Ok(steps)
    }
}

struct Expanding<'a, 'b> {
    lowering: &'a Lowering<'b>,
    node: &'a Node,
    sources: NodeId,
    /// From the number of a source to its scalars.
    source: Function,
    size: Function,
    get: Function,
    plan: ExpandPlan,
    layout: QueueLayout,
}

/// The slots of a queue.
#[derive(Clone, Copy)]
struct QueueSlots {
    counts: usize,
    entries: usize,
}

impl Expanding<'_, '_> {
    fn steps(&self, listeners: &Listeners) -> Result<Vec<Step>, Error> {
        let Expanding { lowering, node, plan, .. } = self;
        let mut steps = Vec::new();
        let queue = plan.queues().then(|| {
            let (counts, allocate) = lowering.temporary(&[ScalarType::I64], 1);
            steps.extend(allocate);
            steps.extend(lowering.buffers_of(counts).into_iter().map(Step::Zero));
            let sources = lowering.extents.size(self.sources);
            let (entries, allocate) = lowering.temporary(&[ScalarType::I64], sources);
            steps.extend(allocate);
            QueueSlots { counts, entries }
        });
        let skeleton = format!("expand, {}", plan.division);
        let name = node.place.operation();
        let called = KernelName { node, name, skeleton: &skeleton, threads: plan.threads };
        steps.extend(lowering.kernel(called, listeners, |parameters| {
            let blocks = parameters.number("blocks", plan.blocks.into());
            let stretch = parameters.number("stretch", plan.stretch);
            let queue = queue.map(|slots| self.queue(slots, parameters, Access::ReadWrite));
            self.expansion(parameters).push(*plan, blocks, stretch, queue)
        })?);
        let Some(slots) = queue else { return Ok(steps) };
        let later = |heard: &Heard| heard.clone().after(plan.blocks.into());
        let heard = listeners.heard.iter().map(later).collect();
        let listeners = Listeners { producer: listeners.producer, heard };
        let name = format!("{name}_large");
        let called = KernelName { name: &name, skeleton: "expand, what is queued", ..called };
        steps.extend(lowering.kernel(called, &listeners, |parameters| {
            let all = parameters.number("blocks", plan.queue_blocks.into());
            // SAFETY: the cell has an element, which the kernel before has written. It is no length, but it is zero if
            // nothing is queued, and else more than there are blocks.
            let blocks = unsafe { length_parameter("queued", all) };
            parameters.add_column(slots.counts);
            let queue = self.queue(slots, parameters, Access::Read);
            self.expansion(parameters).push_queued(*plan, blocks, all, queue)
        })?);
        Ok(steps)
    }

    fn queue(&self, slots: QueueSlots, parameters: &Parameters, access: Access) -> Queue {
        let memory = |slot: usize| parameters.memory(slot, 0, ScalarType::I64, access);
        let low_bits = parameters.number("low_bits", self.layout.low_bits);
        let most_chunks = parameters.number("most_chunks", self.layout.most_chunks);
        // SAFETY: the slots were added with one element and one per source, the first is zeroed before the first kernel,
        // and only the two kernels of this expansion use them.
        unsafe { Queue::new(memory(slots.counts), memory(slots.entries), low_bits, most_chunks) }
    }

    fn expansion(&self, parameters: &Rc<Parameters>) -> Expansion {
        let apply = |function: &Function| {
            let (parameters, function) = (parameters.clone(), function.clone());
            move |scalars: &[&Scalars]| parameters.apply_to(&function, scalars)
        };
        let (source, size, get) = (apply(&self.source), apply(&self.size), apply(&self.get));
        Expansion {
            sources: self.lowering.size(self.sources, parameters),
            source: Rc::new(move |number: Ix| source(&[&Scalars(vec![number.term()])])),
            size: Rc::new(move |of| {
                let size = size(&[of]).0.first().map_or(Exp::from(0), |size| Exp::from_term(*size));
                size.max(0)
            }),
            get: Rc::new(move |of, number| get(&[of, &Scalars(vec![number.term()])])),
        }
    }
}
