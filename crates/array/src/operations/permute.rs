//! `permute`: combines the elements of one array into another one, each at the index that a function gives it.
//!
//! The result begins as a copy of the defaults. Elements come from any producer in any order, so the operator is associative
//! and commutative; how they are combined is for the operator's graph, the extents and the device to decide
//! ([`CombinePlan`]).

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Common, Consumer, HeardFrom, Hearing, Listeners, Lowering, Parameters, Step};
use crate::operation::{Listens, Nature, Operation, RANK, Signature, TYPES, ensure, fits, next};
use crate::program::{Node, NodeId};
use pumice_kernel::skeletons::{CombinePlan, CombineTask, Combiner, Listener, Rounds};
use pumice_kernel::{Dynamic, Ix, Mutable, Profile, Scalars};
use pumice_program::Access;
use pumice_scalar::{
    Constant, Exp, Function, Node as ScalarNode, Place, PlacedMessage, ScalarType, Term, Variable, function,
};
use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

/// A combination of the second input's elements into a copy of the first input.
#[derive(Clone)]
pub struct Permute {
    /// The number of dimensions of the array that elements come from.
    pub rank: usize,
    /// An associative and commutative operator, from the new element and the old one.
    pub combine: Function,
    /// From the index of an element and its scalars: whether it has a target, its index in the result, and the value to
    /// combine there.
    pub target: Function,
    /// Whether no two elements have the same target: nobody waits for another one then. Where two do, the result has something of either.
    pub distinct: bool,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "permute",
    make: |Parts { attributes, functions, .. }| match (&attributes[..], <[Function; 2]>::try_from(functions))
    {
        ([rank, distinct @ ..], Ok([combine, target])) => {
            let distinct = match distinct {
                [] => false,
                [1] => true,
                _ => return None,
            };
            Some(Arc::new(Permute { rank: usize::try_from(*rank).ok()?, combine, target, distinct }))
        }
        _ => None,
    },
};

/// The inputs by number.
const DEFAULTS: usize = 0;
const SOURCE: usize = 1;

impl Permute {
    /// Whether an element's target or its value depends on its index.
    fn needs_index(&self) -> bool {
        self.target.nodes().iter().any(|node| match node {
            ScalarNode::Variable(Variable::Parameter(number), _) => (*number as usize) < self.rank,
            _ => false,
        })
    }
}

impl Operation for Permute {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        [self.rank as i64].into_iter().chain(self.distinct.then_some(1)).collect()
    }
    fn functions(&self) -> Vec<&Function> {
        vec![&self.combine, &self.target]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let (combine, target) = (next(&mut functions, &self.combine), next(&mut functions, &self.target));
        Arc::new(Permute { combine, target, ..*self })
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let [(rank, types), (source_rank, source_types)] = signature.inputs[..] else {
            return Err(format!("an operation on two arrays is given {}", signature.inputs.len()));
        };
        ensure(rank == signature.rank && source_rank == self.rank, RANK)?;
        ensure(types == signature.types, TYPES)?;
        fits(&self.combine, &[types, types].concat(), types)?;
        let parameters = [&Signature::index(source_rank), source_types].concat();
        fits(&self.target, &parameters, &[&[ScalarType::Bool][..], &Signature::index(rank), types].concat())
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        Ok(shapes.same(DEFAULTS))
    }
    fn nature(&self) -> Nature {
        Nature::Memory
    }
    fn listens(&self, input: usize) -> Listens {
        if input == SOURCE { Listens::Gathers } else { Listens::No }
    }
    fn takes_loose(&self, input: usize) -> bool {
        // The index of an element that is left is known when it has been placed.
        input == SOURCE && !self.needs_index()
    }
    fn reads_pulls(&self, input: usize) -> bool {
        input == DEFAULTS
    }
    fn cost(&self) -> u32 {
        self.combine.cost().saturating_add(self.target.cost())
    }

    fn consume(&self, lowering: &Lowering<'_>, node: &Node) -> Result<Vec<Step>, Error> {
        lowering.hear(vec![Listeners { producer: node.id, heard: Vec::new() }])
    }
    fn gathered(&self, _: &Lowering<'_>, node: &Node) -> Option<NodeId> {
        node.inputs.get(SOURCE).copied()
    }
    fn hears_as_well(&self, lowering: &Lowering<'_>, node: &Node, hearers: u32) -> bool {
        let source = node.inputs[SOURCE];
        let (producer, cost) = match lowering.hears(node) {
            Some(HeardFrom::Producer(producer)) => (Some(producer), None),
            _ => (None, Some(lowering.fuser.linear_of_input(source).function.cost())),
        };
        let plan = |hearers| self.plan(lowering, node, producer, cost, hearers).how;
        plan(1) == plan(hearers)
    }
    fn hear<'a>(
        &'a self,
        lowering: &'a Lowering<'a>,
        common: &Common,
        group: Vec<Listeners>,
    ) -> Result<Hearing<'a>, Error> {
        let (mut before, mut heard) = (Vec::new(), Vec::new());
        for listeners in group {
            let node = lowering.program.node(listeners.producer);
            let (Some(permute), [defaults, source]) =
                (node.operation.as_any().downcast_ref::<Permute>(), &node.inputs[..])
            else {
                return Err(Error::Program(PlacedMessage::at("arrays are missing", node.place)));
            };
            before.extend(begin(lowering, node, *defaults)?);
            let consumer = permute.consumer(lowering, node, common, &mut before)?;
            heard.extend(common.heard(lowering, *source, Rc::new(consumer)));
        }
        Ok(Hearing { before, heard, after: Box::new(|_| Ok(Vec::new())) })
    }

    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let (combine, target) = (interpreter.evaluator(&self.combine)?, interpreter.evaluator(&self.target)?);
        // Nothing else is computed of an element that goes nowhere.
        let goes = function(self.target.parameters(), |terms| {
            self.target.apply(terms).into_iter().take(1).collect()
        });
        let goes = interpreter.evaluator(&goes)?;
        let mut result = interpreter.input(node, DEFAULTS).clone();
        let (source, defaults) = (node.inputs[SOURCE], node.inputs[DEFAULTS]);
        for (index, element) in interpreter.indices(source).into_iter().zip(interpreter.elements(source)) {
            let arguments = [&index[..], element].concat();
            if goes(&arguments)?.first().is_some_and(|goes| goes.is_true()) {
                let found = target(&arguments)?;
                let (place, value) = found[1..].split_at(node.rank);
                let place = interpreter.checked_index(node, defaults, place)?;
                result[place] = combine(&[value, &result[place]].concat())?;
            }
        }
        Ok(result)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The steps after which the result is a copy of the defaults.
pub(super) fn begin(lowering: &Lowering<'_>, node: &Node, defaults: NodeId) -> Result<Vec<Step>, Error> {
    let slot = lowering.slot(node.id)?;
    let buffers = lowering.buffers_of(slot);
    if lowering.fuser.forms.is_manifest(defaults) {
        let from = lowering.buffers_of(lowering.slot(defaults)?);
        return Ok(from.into_iter().zip(buffers).map(|(from, to)| Step::Copy { from, to }).collect());
    }
    let zeros = |constants: Vec<Constant>| constants.iter().all(|constant| constant.bits() == 0);
    if lowering.fuser.linear(defaults).function.constants().is_some_and(zeros) {
        return Ok(buffers.into_iter().map(Step::Zero).collect());
    }
    if lowering.extents.size(defaults) == 0 {
        return Ok(Vec::new());
    }
    let listeners = Listeners { producer: defaults, heard: vec![lowering.heard_in(slot)] };
    lowering.write(lowering.program.node(defaults), listeners)
}

impl Permute {
    /// Plans how elements are combined that come from a producer, or from a pull whose elements cost so much, to which so many
    /// operations listen.
    fn plan(
        &self,
        lowering: &Lowering<'_>,
        node: &Node,
        producer: Option<NodeId>,
        cost: Option<u32>,
        hearers: u32,
    ) -> CombinePlan {
        let combine = lowering.fuser.with_classes(&self.combine);
        let space = lowering.space_of(node.inputs[SOURCE]);
        let task = CombineTask {
            operator: &combine,
            distinct: self.distinct,
            targets: lowering.extents.size(node.id),
            elements: lowering.extents.size(space),
            cost: cost.unwrap_or(u32::MAX),
            wanted: lowering.options.combine,
        };
        // Others have tables too, or trees of partial results.
        let shared_bytes = lowering.profile.shared_bytes / hearers.max(1);
        let profile = &Profile { shared_bytes, ..lowering.profile.clone() };
        match producer.map(|producer| &lowering.program.node(producer).operation) {
            None if hearers == 1 => CombinePlan::new(profile, &task),
            None => CombinePlan::beside_others(profile, &task),
            Some(operation) if operation.hands_on_loose() => CombinePlan::going_round(profile, &task),
            Some(_) => CombinePlan::without_tables(profile, &task),
        }
    }

    /// Returns the consumer that combines the elements of the source into the result. Adds the steps that must run before to `before`.
    fn consumer(
        &self,
        lowering: &Lowering<'_>,
        node: &Node,
        common: &Common,
        before: &mut Vec<Step>,
    ) -> Result<Combining, Error> {
        let (defaults, source) = (node.inputs[DEFAULTS], node.inputs[SOURCE]);
        let plan = self.plan(lowering, node, common.producer(), common.cost(source), common.hearers);
        lowering.because(format!("elements are combined by {}: {}", plan.how, plan.why));
        let locks = (plan.locks > 0).then(|| {
            let (slot, steps) = lowering.temporary(&[ScalarType::I32], plan.locks.into());
            before.extend(steps);
            before.extend(lowering.buffers_of(slot).into_iter().map(Step::Zero));
            slot
        });
        let combine = lowering.fuser.with_classes(&self.combine);
        let target = lowering.fuser.target(node, &self.target, (source, lowering.space_of(source)), defaults);
        let (slot, types, place) = (lowering.slot(node.id)?, node.types.clone(), node.place);
        let classes = lowering.extents.classes(defaults).to_vec();
        let size = lowering.extents.is_known(defaults).then(|| lowering.extents.size(defaults));
        Ok(Combining { plan, slot, types, classes, size, locks, combine, target, place })
    }
}

/// Combines the elements that it hears into a slot.
struct Combining {
    plan: CombinePlan,
    slot: usize,
    types: Vec<ScalarType>,
    /// The classes of the extents of the result, and its size if that is known.
    classes: Vec<usize>,
    size: Option<i64>,
    locks: Option<usize>,
    combine: Function,
    /// From the producer's index and scalars to whether an element goes anywhere, the number of its target, and its value.
    target: Function,
    place: Place,
}

impl Consumer for Combining {
    fn listener(&self, parameters: &Rc<Parameters>) -> Rc<dyn Listener> {
        let cells = |slot: usize, types: &[ScalarType]| {
            let memories = parameters.memories(slot, types, Access::ReadWrite);
            memories.into_iter().zip(types.iter().copied()).collect::<Vec<_>>()
        };
        let targets = match self.size {
            Some(size) => parameters.number("targets", size),
            None => self.classes.iter().fold(Exp::from(1), |all, class| all * parameters.extent(*class)),
        };
        // SAFETY: the slot has as many elements as the defaults, and it is only the combiner that uses it in this kernel.
        let targets = unsafe { Mutable::<Dynamic>::from_memory(targets, cells(self.slot, &self.types)) };
        let locks = self.locks.map(|slot| {
            let count = Exp::from(i64::from(self.plan.locks));
            // SAFETY: the slot was added with so many elements.
            unsafe { Mutable::<i32>::from_memory(count, cells(slot, &[ScalarType::I32])) }
        });
        let (apply, combine) = (parameters.clone(), self.combine.clone());
        let operator = Rc::new(move |new: Scalars, old: Scalars| apply.apply_to(&combine, &[&new, &old]));
        let (apply, target) = (parameters.clone(), self.target.clone());
        let route = Rc::new(move |index: Ix, value: Scalars| {
            let arguments: Vec<Term> = std::iter::once(index.term()).chain(value.0).collect();
            let mut results = apply.apply(&target, &arguments).into_iter();
            let goes = results.next().filter(|goes| !goes.constant().is_some_and(|goes| goes.is_true()));
            let there = results.next().map_or(Exp::from(0), Exp::from_term);
            (goes.map(Exp::from_term), there, Scalars(results.collect()))
        });
        let operator = (&self.combine, operator as _);
        Rc::new(Combiner::new(self.plan, operator, &targets, locks.as_ref(), route, self.place))
    }

    fn way(&self) -> Option<String> {
        Some(self.plan.how.to_string())
    }

    fn rounds(&self) -> Option<(Rounds, u32)> {
        Some((self.plan.rounds, self.plan.blocks))
    }

    fn division(&self) -> Option<(u32, u32)> {
        self.plan.division()
    }
}
