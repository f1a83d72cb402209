//! Operations that take the elements of one producer in any order, each in its own way: one kernel, and the steps of each operation
//! before and after it.
//!
//! The producer is a push, or it is the shape that several pulls have in common, whose elements are computed together. Pulls that are
//! written from their indices, row by row, are a producer too: of the elements that others read in step.

use super::{Consumer, Heard, Hop, KernelName, Listeners, Lowering, Step, launched_blocks};
use crate::error::Error;
use crate::form::Form;
use crate::fuser::{Elements, slot_and_column};
use crate::program::{Node, NodeId};
use crate::reduction::instantiate;
use pumice_kernel::skeletons::Rounds;
use pumice_kernel::{Dynamic, Ix, Pull, Scalars};
use pumice_scalar::{Function, Node as ScalarNode, ScalarType, Term, Variable, function};
use std::collections::HashMap;
use std::rc::Rc;

/// Source of elements that are taken in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HeardFrom {
    /// A push.
    Producer(NodeId),
    /// Pulls with so many elements, by their number.
    Numbers(i64),
    /// Pulls with extents of these classes, by their index.
    Indices(Vec<usize>),
}

/// Steps of operations around the kernels of a producer that they hear.
pub struct Hearing<'a> {
    /// The steps before those kernels.
    pub before: Vec<Step>,
    /// The listeners in those kernels.
    pub heard: Vec<Heard>,
    /// The steps after them, given the number of their blocks.
    pub after: Box<dyn FnOnce(u64) -> Result<Vec<Step>, Error> + 'a>,
}

/// A producer that several operations hear.
pub struct Common {
    from: From,
    /// Number of operations that hear it.
    pub hearers: u32,
}

enum From {
    Producer(NodeId),
    /// All columns of these pulls, from the number of an element, and which of them each has; a loose one has a flag first.
    Pulls {
        space: NodeId,
        columns: Function,
        inputs: Vec<PickedInput>,
    },
    /// All columns of these pulls, which are written: the slot, number and type of each.
    Written(Vec<(usize, usize, ScalarType)>),
}

struct PickedInput {
    input: NodeId,
    columns: Vec<usize>,
    loose: bool,
    cost: u32,
}

impl Common {
    /// The push that is heard, if it is one.
    pub fn producer(&self) -> Option<NodeId> {
        match self.from {
            From::Producer(producer) => Some(producer),
            From::Pulls { .. } | From::Written(_) => None,
        }
    }

    /// Returns the cost of an element of an input; `None` if a producer hands it on.
    pub fn cost(&self, input: NodeId) -> Option<u32> {
        self.picked(input).map(|picked| picked.cost)
    }

    fn picked(&self, input: NodeId) -> Option<&PickedInput> {
        match &self.from {
            From::Producer(_) | From::Written(_) => None,
            From::Pulls { inputs, .. } => inputs.iter().find(|picked| picked.input == input),
        }
    }

    /// A consumer that hears the elements of an input.
    pub fn heard(&self, lowering: &Lowering<'_>, input: NodeId, consumer: Rc<dyn Consumer>) -> Vec<Heard> {
        if let From::Written(columns) = &self.from {
            let through = vec![Hop::Elements(lowering.in_step(input, columns))];
            return vec![Heard { through, consumer }];
        }
        let (From::Pulls { columns, .. }, Some(picked)) = (&self.from, self.picked(input)) else {
            return lowering.listening(input, consumer).heard;
        };
        let types = [&[ScalarType::I64][..], &columns.result_types()].concat();
        if !picked.loose && picked.columns.iter().copied().eq(0..columns.results().len()) {
            return vec![Heard { through: Vec::new(), consumer }];
        }
        let pick = function(&types, |terms| {
            let picked = picked.columns.iter().map(|column| terms[1 + column]);
            std::iter::once(terms[0]).chain(picked).collect()
        });
        let through = vec![Hop::Elements(Elements { function: pick, loose: picked.loose })];
        vec![Heard { through, consumer }]
    }
}

impl Lowering<'_> {
    /// From where the kernel that writes an array may take elements in any order, perhaps together with others.
    pub(crate) fn hears(&self, node: &Node) -> Option<HeardFrom> {
        let hearer = match self.fuser.forms.of(node.id)? {
            Form::Pull | Form::Alone => node.id,
            Form::Push { producer, .. } => *producer,
            Form::Given | Form::Loose { .. } => return None,
        };
        let input = self.gathered(hearer)?;
        Some(match self.producer_of(input) {
            Some(producer) => HeardFrom::Producer(producer),
            None => {
                let space = self.space_of(input);
                let wants_index =
                    || input == hearer && self.wants_index(input, &self.fuser.linear(input).function);
                match self.extents.is_known(space) && !wants_index() {
                    true => HeardFrom::Numbers(self.extents.size(space)),
                    false => HeardFrom::Indices(self.extents.classes(space)),
                }
            }
        })
    }

    /// Whether two operations that hear pulls of one shape load some element in common: any, or one whose place depends on the index,
    /// unlike that of a scalar.
    pub(crate) fn load_in_common(&self, one: NodeId, other: NodeId, moving: bool) -> bool {
        let elements = [one, other].into_iter().filter_map(|hearer| {
            let input = self.gathered(hearer)?;
            Some(self.heard_elements(input, input == hearer).function)
        });
        let functions: Vec<Function> = elements.collect();
        let loads = |function: &Function| match moving {
            true => moving_loads(function).len(),
            false => {
                let is_load = |node: &&ScalarNode| matches!(node, ScalarNode::Load { .. });
                function.nodes().iter().filter(is_load).count()
            }
        };
        let together = function(&[ScalarType::I64], |index| {
            functions.iter().flat_map(|function| instantiate(function, index)).collect()
        });
        loads(&together) < functions.iter().map(loads).sum()
    }

    /// Whether computing a pull's elements once more moves fewer bytes than writing them and reading them back, and is little work: it
    /// reads no more for each than that has, in however many places, and cannot fail.
    pub(crate) fn is_better_recomputed(&self, pull: NodeId) -> bool {
        let function = self.fuser.indexed(pull).function;
        let arrays: HashMap<u64, usize> =
            moving_loads(&function).into_iter().map(|(array, ty)| (array, ty.bytes())).collect();
        let own: usize = self.program.node(pull).types.iter().map(|ty| ty.bytes()).sum();
        let is_plain =
            |node: &ScalarNode| !matches!(node, ScalarNode::Check { .. } | ScalarNode::Element { .. });
        arrays.into_values().sum::<usize>() <= own
            && function.cost() <= MOST_RECOMPUTED
            && function.nodes().iter().all(is_plain)
    }

    /// Whether an operation reads an array only at the index at which it hears its own input. The array is in a slot
    /// of its own here.
    pub(crate) fn reads_in_step(&self, hearer: NodeId, array: NodeId) -> bool {
        let (Some(input), Some(slot)) = (self.gathered(hearer), self.fuser.slots.get(&array)) else {
            return false;
        };
        if self.is_handed_on(input) {
            return false;
        }
        let function = self.heard_elements(input, input == hearer).function;
        function.nodes().iter().all(|node| match node {
            ScalarNode::Load { array, index, .. } if slot_and_column(*array).0 == *slot => {
                matches!(function.nodes()[index.0 as usize], ScalarNode::Variable(Variable::Parameter(0), _))
            }
            _ => true,
        })
    }

    /// The elements of an input from their number: computed, or read from memory if they are there.
    fn heard_elements(&self, input: NodeId, computed: bool) -> Elements {
        match computed {
            true => self.fuser.linear(input),
            false => self.fuser.linear_of_input(input),
        }
    }

    /// Whether an array's elements are handed on by a producer.
    pub(crate) fn is_handed_on(&self, array: NodeId) -> bool {
        self.producer_of(array).is_some()
    }

    /// The producer that hands on an array's elements, if they are not in memory.
    fn producer_of(&self, array: NodeId) -> Option<NodeId> {
        match self.fuser.forms.of(array) {
            Some(Form::Push { producer, .. }) if !self.fuser.forms.is_manifest(array) => Some(*producer),
            _ => None,
        }
    }

    /// The array whose elements an operation takes in any order: for a pull that is to be written, itself.
    pub(crate) fn gathered(&self, hearer: NodeId) -> Option<NodeId> {
        let node = self.program.node(hearer);
        match self.fuser.forms.of(hearer) {
            Some(Form::Pull) => {
                let plain = self.options.skeletons.write.is_none() && self.extents.is_known(hearer);
                plain.then_some(hearer)
            }
            _ => node.operation.gathered(self, node),
        }
    }

    /// The array whose indices those of an array come from: of a filtered one that is not in memory, the one that was filtered.
    pub(crate) fn space_of(&self, input: NodeId) -> NodeId {
        if self.fuser.forms.is_manifest(input) { input } else { self.fuser.space(input) }
    }

    /// The steps of operations that hear one producer. Each comes with the listeners to its results.
    pub(crate) fn hear(&self, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let lost = || Error::Program("nothing is heard in a kernel".into());
        let first = self.program.node(group.first().ok_or_else(lost)?.producer);
        let inputs = group.iter().map(|listeners| {
            let input = self.gathered(listeners.producer).ok_or_else(lost)?;
            Ok((input, input == listeners.producer))
        });
        let common = self.common(&inputs.collect::<Result<Vec<_>, Error>>()?);
        let is_pull =
            |listeners: &Listeners| matches!(self.fuser.forms.of(listeners.producer), Some(Form::Pull));
        let (pulls, hearers): (Vec<Listeners>, Vec<Listeners>) = group.into_iter().partition(is_pull);
        let mut heard = Vec::new();
        for pull in pulls {
            let own = pull.heard.into_iter();
            heard.extend(own.flat_map(|own| common.heard(self, pull.producer, Rc::new(own))));
        }
        self.around(&common, hearers, |hearers| {
            let heard = heard.into_iter().chain(hearers).collect();
            match &common.from {
                From::Producer(producer) => {
                    let listeners = Listeners { producer: *producer, heard };
                    self.program.node(*producer).operation.produce(self, vec![listeners])
                }
                From::Pulls { space, columns, .. } => self.hand_on_rounds(first, *space, columns, heard),
                From::Written(_) => Err(lost()),
            }
        })
    }

    /// The steps that write pulls, and of operations that hear the elements that they read of these in step. None of the pulls reads another.
    pub(crate) fn write_heard(&self, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let is_pull =
            |listeners: &Listeners| matches!(self.fuser.forms.of(listeners.producer), Some(Form::Pull));
        let (pulls, hearers): (Vec<Listeners>, Vec<Listeners>) = group.into_iter().partition(is_pull);
        let mut columns = Vec::new();
        for pull in &pulls {
            let types = self.program.node(pull.producer).types.iter().enumerate();
            let slot = self.slot(pull.producer)?;
            columns.extend(types.map(|(column, ty)| (slot, column, *ty)));
        }
        let common = Common { from: From::Written(columns), hearers: hearers.len() as u32 };
        self.around(&common, hearers, |heard| self.write_together(pulls, heard))
    }

    /// The elements of an input that reads pulls in step, from the number of an element and their columns.
    fn in_step(&self, input: NodeId, columns: &[(usize, usize, ScalarType)]) -> Elements {
        let Elements { function: from_memory, loose } = self.heard_elements(input, false);
        let types = columns.iter().map(|(_, _, ty)| *ty);
        let types: Vec<ScalarType> = std::iter::once(ScalarType::I64).chain(types).collect();
        let function = function(&types, |terms| {
            let known = columns.iter().zip(&terms[1..]);
            let known: Vec<Known> =
                known.map(|((slot, column, _), term)| ((*slot, *column), *term)).collect();
            std::iter::once(terms[0]).chain(with_known(&from_memory, terms[0], &known)).collect()
        });
        Elements { function, loose }
    }

    /// The steps of operations that hear a producer, before and after its kernels. `produce` makes the kernels, given the listeners.
    fn around(
        &self,
        common: &Common,
        hearers: Vec<Listeners>,
        produce: impl FnOnce(Vec<Heard>) -> Result<Vec<Step>, Error>,
    ) -> Result<Vec<Step>, Error> {
        let (mut steps, mut heard, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let mut waiting = hearers;
        while let Some(listeners) = waiting.first() {
            let node = self.program.node(listeners.producer);
            let alike = |listeners: &Listeners| {
                self.program.node(listeners.producer).operation.keyword() == node.operation.keyword()
            };
            let (these, others) = waiting.into_iter().partition(alike);
            waiting = others;
            let hearing = node.operation.hear(self, common, these)?;
            steps.extend(hearing.before);
            heard.extend(hearing.heard);
            after.push(hearing.after);
        }
        let produced = produce(heard)?;
        let blocks = launched_blocks(&produced)?;
        steps.extend(produced);
        for after in after {
            steps.extend(after(blocks)?);
        }
        Ok(steps)
    }

    /// The producer of these inputs, each with whether it is computed here even if it is to be in memory.
    fn common(&self, inputs: &[(NodeId, bool)]) -> Common {
        let hearers = inputs.len() as u32;
        if let Some(producer) = inputs.first().and_then(|(first, _)| self.producer_of(*first)) {
            return Common { from: From::Producer(producer), hearers };
        }
        let elements = inputs.iter().map(|(input, computed)| self.heard_elements(*input, *computed));
        let elements: Vec<Elements> = elements.collect();
        let mut picked: Vec<Vec<usize>> = Vec::new();
        let columns = function(&[ScalarType::I64], |index| {
            let mut all: Vec<Term> = Vec::new();
            picked = elements.iter().map(|elements| columns_among(&mut all, elements, index)).collect();
            all
        });
        let inputs = inputs.iter().zip(elements).zip(picked).map(|(((input, _), elements), columns)| {
            let (loose, cost) = (elements.loose, elements.function.cost());
            PickedInput { input: *input, columns, loose, cost }
        });
        let inputs: Vec<PickedInput> = inputs.collect();
        let space = inputs.first().map_or(NodeId(0), |picked| self.space_of(picked.input));
        Common { from: From::Pulls { space, columns, inputs }, hearers }
    }

    /// Hands on columns that are computed from the number of an element of a space, in rounds of few blocks.
    fn hand_on_rounds(
        &self,
        node: &Node,
        space: NodeId,
        columns: &Function,
        heard: Vec<Heard>,
    ) -> Result<Vec<Step>, Error> {
        // Tables want blocks as they are planned for; everything else takes any.
        let has_tables = |heard: &&Heard| heard.consumer.division().is_some();
        let asks =
            heard.iter().find(has_tables).or(heard.iter().find(|heard| heard.consumer.rounds().is_some()));
        let (rounds, blocks) = asks.and_then(|heard| heard.consumer.rounds()).unwrap_or_else(|| {
            let rounds = Rounds::new(self.profile).for_bytes(self.profile, widest(columns));
            let tiles = (self.extents.size(space).max(0) as u64).div_ceil(rounds.tile());
            (rounds, tiles.clamp(1, self.profile.busy_blocks.max(1)) as u32)
        });
        self.because(match blocks {
            1 => "elements are taken as they are computed, all by one block".into(),
            _ => format!(
                "elements are taken as they are computed: {blocks} blocks go through all of them in turns"
            ),
        });
        let name = node.place.operation();
        let called = KernelName { node, name, skeleton: "combine", threads: rounds.threads };
        let listeners = Listeners { producer: node.id, heard };
        self.kernel(called, &listeners, |parameters| {
            let size = self.size(space, parameters);
            let (apply, columns) = (parameters.clone(), columns.clone());
            let at = move |index: Ix| Scalars(apply.apply(&columns, &[index.term()]));
            let blocks = parameters.number("blocks", blocks.into());
            rounds.push(Pull::<Dynamic, Ix>::new(size, at), blocks)
        })
    }
}

/// An element that costs more than this is not computed again to save memory traffic: about as many instructions as a GPU does while it
/// moves the element.
const MOST_RECOMPUTED: u32 = 100;

/// The loads of a function whose places depend on its parameters, or on a loop's round: of which array, and of which type.
fn moving_loads(function: &Function) -> Vec<(u64, ScalarType)> {
    let (mut moves, mut loads) = (Vec::new(), Vec::new());
    for node in function.nodes() {
        let mut depends =
            matches!(node, ScalarNode::Variable(Variable::Parameter(_), _) | ScalarNode::LoopVariable { .. });
        node.for_each_operand(|operand| depends |= moves.get(operand.0 as usize) == Some(&true));
        if let (true, ScalarNode::Load { array, ty, .. }) = (depends, node) {
            loads.push((*array, *ty));
        }
        moves.push(depends);
    }
    loads
}

/// An element of a slot's column, of which only one is ever loaded.
pub(crate) type Known = ((usize, usize), Term);

/// Instantiates a function of an index, with known values in the place of some loads.
pub(crate) fn with_known(of: &Function, index: Term, known: &[Known]) -> Vec<Term> {
    of.instantiate(
        &mut |variable, ty| match variable {
            Variable::Parameter(_) => index,
            other => Term::variable(other, ty),
        },
        &mut |key, ty, index, guarded| {
            let found = known.iter().find(|(place, _)| *place == slot_and_column(key));
            // SAFETY: the same load, at the same index and under the same checks.
            found.map_or_else(|| unsafe { Term::load(key, ty, index, guarded) }, |(_, term)| *term)
        },
        &mut Term::element,
    )
}

/// The bytes of the widest scalar that a function loads or gives.
pub(super) fn widest(function: &Function) -> usize {
    let given = function.result_types().into_iter().map(ScalarType::bytes).max();
    widest_load(function).max(given).unwrap_or(1)
}

/// The bytes of the widest scalar that a function loads, if it loads any.
pub(crate) fn widest_load(function: &Function) -> Option<usize> {
    let loaded = function.nodes().iter().filter_map(|node| match node {
        ScalarNode::Load { ty, .. } => Some(ty.bytes()),
        _ => None,
    });
    loaded.max()
}

/// The numbers of some elements' columns among all, to which those are added that are new.
fn columns_among(all: &mut Vec<Term>, elements: &Elements, index: &[Term]) -> Vec<usize> {
    let place = |term: Term| {
        all.iter().position(|known| known.id() == term.id()).unwrap_or_else(|| {
            all.push(term);
            all.len() - 1
        })
    };
    instantiate(&elements.function, index).into_iter().map(place).collect()
}
