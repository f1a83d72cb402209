//! Expansions as producers: the kernels in which the elements of all sources are handed on.

use super::{Heard, KernelName, Listeners, Lowering, Parameters, Step};
use crate::error::Error;
use crate::operations::{Expand, ExpandInOrder};
use crate::program::NodeId;
use crate::reduction::instantiate;
use pumice_kernel::skeletons::{
    Division, Ends, ExpandPlan, Expansion, InOrder, InOrderPlan, Queue, QueueLayout,
};
use pumice_kernel::{Ix, Scalars, length_parameter};
use pumice_program::Access;
use pumice_scalar::{Exp, Function, ScalarType, Term, function};
use std::rc::Rc;

impl Lowering<'_> {
    /// The steps that hand on the elements of an expansion.
    pub(crate) fn expand(&self, expand: &Expand, listeners: &Listeners) -> Result<Vec<Step>, Error> {
        let node = self.program.node(listeners.producer);
        let Some(sources) = node.inputs.first().copied() else { return Ok(Vec::new()) };
        let asked = listeners.heard.iter().find_map(|heard| heard.consumer.division());
        let loops = listeners.heard.iter().any(Heard::expands);
        let count = self.extents.size(sources);
        // Shares need sums of sizes, which the pass that adds them has left out where there are none.
        let ends = expand.has_ends.then(|| node.inputs.get(1).copied()).flatten();
        let wanted = self.options.division.filter(|wanted| *wanted != Division::Balanced);
        let wanted = if ends.is_some() { Some(Division::Balanced) } else { wanted };
        let plan = ExpandPlan::new(self.profile, count, loops, wanted, asked);
        let slices = self.slices(sources, listeners);
        let heard = listeners.heard.iter().map(|heard| heard.clone().in_slices(slices)).collect();
        let listeners = &Listeners { producer: listeners.producer, heard };
        let (size, get) = in_slices(&expand.size, &expand.get, slices);
        let mut work = Sources::new(self, sources, &size, &self.fuser.with_classes(&get));
        work.ends = ends.map(|ends| sizes_in_slices(&self.fuser.linear_of_input(ends).function, slices));
        let mut steps = Vec::new();
        let queue = plan.queues().then(|| QueueSlots::new(self, sources, &mut steps));
        let skeleton = format!("expand, {} ({}), no element in memory", plan.division, plan.why);
        self.because(format!("elements are divided {}: {}", plan.division, plan.why));
        if ends.is_some() {
            self.because("kernels before have added up the sizes, so no block has more elements than others");
        }
        let name = node.place.operation();
        let called = KernelName { node, name, skeleton: &skeleton, threads: plan.threads };
        steps.extend(self.kernel(called, listeners, |parameters| {
            let blocks = parameters.number("blocks", plan.blocks.into());
            let queue = queue.map(|queue| queue.filled(parameters));
            work.expansion(parameters).push(plan, blocks, queue)
        })?);
        let Some(queue) = queue else { return Ok(steps) };
        let later = |heard: &Heard| heard.clone().after(plan.blocks.into());
        let heard = listeners.heard.iter().map(later).collect();
        let listeners = Listeners { producer: listeners.producer, heard };
        self.because("sources that are large for a warp or a worker are cut into chunks, which all blocks take: none if nothing is queued");
        let name = format!("{name}_large");
        let called = KernelName {
            name: &name,
            skeleton: "expand, large sources by all blocks, no element in memory",
            ..called
        };
        steps.extend(self.kernel(called, &listeners, |parameters| {
            let (blocks, all) = queue.blocks(parameters, plan.queue_blocks);
            work.expansion(parameters).push_queued(plan, blocks, all, queue.emptied(parameters))
        })?);
        Ok(steps)
    }
}

/// Elements of the outer of two expansions that are enough to keep a device busy, if every source had one.
const BUSY: i64 = 1 << 10;

impl Lowering<'_> {
    /// Returns how often each element is handed on, a power of two: several times only if all listeners expand it again, and there are
    /// so few sources that threads might have too little to do.
    fn slices(&self, sources: NodeId, listeners: &Listeners) -> i64 {
        let all = listeners.heard.iter().all(Heard::expands) && self.profile.coalesces;
        let slices = BUSY / self.extents.size(sources).max(1);
        if all && slices > 1 { (slices as u64).next_power_of_two() as i64 } else { 1 }
    }
}

/// The size of a source and its elements if each is there so often, a power of two.
fn in_slices(size: &Function, get: &Function, slices: i64) -> (Function, Function) {
    if slices == 1 {
        return (size.clone(), get.clone());
    }
    let elements = function(get.parameters(), |arguments| {
        let Some((number, source)) = arguments.split_last() else { return Vec::new() };
        let number = Exp::<i64>::from_term(*number) >> i64::from(slices.ilog2());
        instantiate(get, &[source, &[number.term()]].concat())
    });
    (sizes_in_slices(size, slices), elements)
}

/// A number of elements, if each is there so often.
fn sizes_in_slices(size: &Function, slices: i64) -> Function {
    if slices == 1 {
        return size.clone();
    }
    let slices = |size: Term| Exp::<i64>::from_term(size).max(0).min(i64::MAX / slices) * slices;
    function(size.parameters(), |arguments| {
        instantiate(size, arguments).into_iter().map(|size| slices(size).term()).collect()
    })
}

impl Lowering<'_> {
    /// The steps that hand on the elements of an expansion by index.
    pub(crate) fn expand_in_order(
        &self,
        expand: &ExpandInOrder,
        listeners: &Listeners,
    ) -> Result<Vec<Step>, Error> {
        let node = self.program.node(listeners.producer);
        let [sources, ends] = node.inputs[..] else { return Ok(Vec::new()) };
        let plan = InOrderPlan::new(self.profile, self.extents.size(node.id));
        let source = self.fuser.linear_of_input(sources).function;
        let end = self.fuser.linear_of_input(ends).function;
        let get = self.fuser.with_classes(&expand.get);
        self.because("elements are needed by index: blocks have equal shares and search for their sources");
        let called = KernelName {
            node,
            name: node.place.operation(),
            skeleton: "expand, an equal share of the elements per block (since they are needed by index)",
            threads: plan.threads,
        };
        self.kernel(called, listeners, |parameters| {
            let [source, end, get] = [&source, &end, &get].map(|function| applied(parameters, function));
            let elements = InOrder {
                ends: Ends {
                    count: self.size(sources, parameters),
                    end: Rc::new(move |source| whole(end(&[&number(source)]))),
                },
                source: Rc::new(move |at| source(&[&number(at)])),
                get: Rc::new(move |of, at| get(&[of, &number(at)])),
                total: self.size(node.id, parameters),
                few: None,
            };
            elements.push(plan, parameters.number("share", plan.share))
        })
    }
}

/// A number as an element of one scalar, and the other way round.
pub(super) fn number(number: Ix) -> Scalars {
    Scalars(vec![number.term()])
}
pub(super) fn whole(element: Scalars) -> Ix {
    element.0.first().map_or(Exp::from(0), |term| Exp::from_term(*term))
}

/// A function as one of a kernel's scalars.
pub(super) fn applied(
    parameters: &Rc<Parameters>,
    function: &Function,
) -> impl Fn(&[&Scalars]) -> Scalars + use<> + 'static {
    let (parameters, function) = (parameters.clone(), function.clone());
    move |scalars: &[&Scalars]| parameters.apply_to(&function, scalars)
}

/// The sources of an expansion, as functions of a kernel's parameters.
pub(super) struct Sources<'a, 'b> {
    lowering: &'a Lowering<'b>,
    array: NodeId,
    /// From the number of a source to its scalars.
    source: Function,
    size: Function,
    get: Function,
    /// From the number of a source to where its elements end, if that is in memory.
    ends: Option<Function>,
}

impl<'a, 'b> Sources<'a, 'b> {
    /// Sources with the user's functions: one for their size, and one for the elements that they are expanded to.
    pub fn new(lowering: &'a Lowering<'b>, array: NodeId, size: &Function, get: &Function) -> Self {
        let source = lowering.fuser.linear_of_input(array).function;
        let size = lowering.fuser.with_classes(size);
        Sources { lowering, array, source, size, get: get.clone(), ends: None }
    }

    pub fn expansion(&self, parameters: &Rc<Parameters>) -> Expansion {
        let [source, size, get] =
            [&self.source, &self.size, &self.get].map(|function| applied(parameters, function));
        let ends = self.ends.as_ref().map(|ends| applied(parameters, ends));
        Expansion {
            sources: self.lowering.size(self.array, parameters),
            source: Rc::new(move |at| source(&[&number(at)])),
            size: Rc::new(move |of| whole(size(&[of])).max(0)),
            get: Rc::new(move |of, at| get(&[of, &number(at)])),
            ends: ends.map(|ends| Rc::new(move |at| whole(ends(&[&number(at)]))) as Rc<dyn Fn(Ix) -> Ix>),
        }
    }
}

/// The slots of a queue of sources.
#[derive(Clone, Copy)]
pub(super) struct QueueSlots {
    counts: usize,
    entries: usize,
    layout: QueueLayout,
}

impl QueueSlots {
    /// An empty queue with room for all sources.
    pub fn new(lowering: &Lowering<'_>, sources: NodeId, steps: &mut Vec<Step>) -> QueueSlots {
        let count = lowering.extents.size(sources);
        let (counts, allocate) = lowering.temporary(&[ScalarType::I64], 1);
        steps.extend(allocate);
        steps.extend(lowering.buffers_of(counts).into_iter().map(Step::Zero));
        let (entries, allocate) = lowering.temporary(&[ScalarType::I64], count);
        steps.extend(allocate);
        QueueSlots { counts, entries, layout: QueueLayout::new(count) }
    }

    /// The queue in the kernel that fills it.
    pub fn filled(&self, parameters: &Parameters) -> Queue {
        self.queue(parameters, Access::ReadWrite)
    }

    /// The queue in a kernel after that.
    pub fn emptied(&self, parameters: &Parameters) -> Queue {
        self.queue(parameters, Access::Read)
    }

    fn queue(&self, parameters: &Parameters, access: Access) -> Queue {
        let memory = |slot: usize| parameters.memory(slot, 0, ScalarType::I64, access);
        let low_bits = parameters.number("low_bits", self.layout.low_bits);
        let most_chunks = parameters.number("most_chunks", self.layout.most_chunks);
        // SAFETY: the slots were added with one element and one per source, the first is zeroed before the first kernel,
        // and only the kernels of one expansion use them.
        unsafe { Queue::new(memory(self.counts), memory(self.entries), low_bits, most_chunks) }
    }

    /// The blocks of a kernel that empties the queue: none if the queue is empty, and else all of so many.
    pub fn blocks(&self, parameters: &Parameters, count: u32) -> (Ix, Ix) {
        let all = parameters.number("blocks", count.into());
        // SAFETY: the cell has an element, which the kernel before has written. It is no length, but it is zero if nothing
        // is queued, and else more than there are blocks.
        let blocks = unsafe { length_parameter("queued", all) };
        parameters.add_column(self.counts);
        (blocks, all)
    }
}
