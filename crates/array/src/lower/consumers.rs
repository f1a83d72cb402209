//! Consumers: the listeners to a producer, seen from the array program. Writing to memory is one; operations have others.

use super::{Known, Parameters, Step};
use crate::error::Error;
use crate::fuser::Elements;
use crate::program::NodeId;
use crate::reduction::instantiate;
use pumice_kernel::skeletons::{Listener, Rounds};
use pumice_kernel::{Ix, Scalars, either, named, sequential, store};
use pumice_program::{Access, MemoryId};
use pumice_scalar::{Exp, Function, ScalarType, Term, cond};
use std::rc::Rc;

/// A consumer of a producer's elements.
pub trait Consumer {
    /// The listener in a kernel that is being built. It may ask for parameters.
    fn listener(&self, parameters: &Rc<Parameters>) -> Rc<dyn Listener>;

    /// Describes its method for `explain`; `None` if there is only one.
    fn way(&self) -> Option<String> {
        None
    }

    /// The slot that must be zero before, if the producer may leave elements out.
    fn written(&self) -> Option<usize> {
        None
    }

    /// The rounds in which it takes the elements of pulls, and the number of blocks.
    fn rounds(&self) -> Option<(Rounds, u32)> {
        None
    }

    /// The threads of a block and the most blocks that it asks for, of a producer that leaves the choice to it.
    fn division(&self) -> Option<(u32, u32)> {
        None
    }
}

/// Transformation of elements between a producer and a consumer.
#[derive(Clone)]
pub enum Hop {
    /// Each becomes another one, or none: from its index and scalars to those of that.
    Elements(Elements),
    /// Each becomes several, one after the other in the thread that hears it, and without an index.
    Expand {
        /// Their number, from its scalars.
        size: Function,
        /// One of them, from its scalars and a number below that.
        get: Function,
        /// Number of times, a power of two, that the producer hands on each element; each time a different part of the new elements is made.
        slices: i64,
    },
}

/// One consumer, and the transformations of the producer's elements before it hears them.
#[derive(Clone)]
pub struct Heard {
    /// One after the other, the producer's side first.
    pub through: Vec<Hop>,
    /// The consumer.
    pub consumer: Rc<dyn Consumer>,
}

/// All that listen to one producer.
#[derive(Clone)]
pub struct Listeners {
    /// The operation that produces.
    pub producer: NodeId,
    /// Its consumers.
    pub heard: Vec<Heard>,
}

impl Heard {
    /// The same in a kernel that comes after others of the same producer, with so many blocks: its blocks are numbered on.
    pub(crate) fn after(self, blocks: u64) -> Heard {
        match blocks {
            0 => self,
            _ => Heard { through: Vec::new(), consumer: Rc::new(After { blocks, heard: self }) },
        }
    }

    /// The same behind a function of the producer's index and scalars.
    pub(crate) fn behind(&self, elements: Elements) -> Heard {
        let through = std::iter::once(Hop::Elements(elements)).chain(self.through.iter().cloned()).collect();
        Heard { through, consumer: self.consumer.clone() }
    }

    /// The columns that it writes of an element which the producer hands on, index first.
    pub(crate) fn elements_of(&self, handed_on: &[Term]) -> Vec<Known> {
        let Some(slot) = self.consumer.written() else { return Vec::new() };
        let mut terms = handed_on.to_vec();
        for hop in &self.through {
            match hop {
                Hop::Elements(Elements { function, loose: false }) => terms = instantiate(function, &terms),
                Hop::Elements(_) | Hop::Expand { .. } => return Vec::new(),
            }
        }
        let columns = terms.into_iter().skip(1).enumerate();
        columns.map(|(column, term)| ((slot, column), term)).collect()
    }

    /// Whether elements become several on the way.
    pub(crate) fn expands(&self) -> bool {
        self.through.iter().any(|hop| matches!(hop, Hop::Expand { .. }))
    }

    /// The same if the producer hands each element on so often: the first expansion on the way makes other elements of it each
    /// time.
    pub(crate) fn in_slices(mut self, count: i64) -> Heard {
        let first = self.through.iter_mut().find_map(|hop| match hop {
            Hop::Expand { slices, .. } => Some(slices),
            Hop::Elements(_) => None,
        });
        if let Some(slices) = first {
            *slices = count;
        }
        self
    }

    /// The listener to the producer itself.
    pub(crate) fn listener(&self, parameters: &Rc<Parameters>) -> Rc<dyn Listener> {
        let hops = self.through.iter().rev();
        hops.fold(self.consumer.listener(parameters), |inner, hop| {
            Rc::new(Through { hop: hop.clone(), parameters: parameters.clone(), inner })
        })
    }
}

/// The blocks of all kernels that steps launch.
pub(crate) fn launched_blocks(steps: &[Step]) -> Result<u64, Error> {
    let launches = steps.iter().filter_map(|step| match step {
        Step::Launch(launch) => Some(launch),
        _ => None,
    });
    launches.map(|launch| launch.blocks()).sum()
}

/// A consumer with its transformations is a consumer itself, so further ones can be put before it.
impl Consumer for Heard {
    fn listener(&self, parameters: &Rc<Parameters>) -> Rc<dyn Listener> {
        Heard::listener(self, parameters)
    }
    fn way(&self) -> Option<String> {
        self.consumer.way()
    }
    fn written(&self) -> Option<usize> {
        self.consumer.written()
    }
    fn rounds(&self) -> Option<(Rounds, u32)> {
        self.consumer.rounds()
    }
    fn division(&self) -> Option<(u32, u32)> {
        self.consumer.division()
    }
}

/// A consumer of a kernel before which others have told it of so many blocks.
struct After {
    blocks: u64,
    heard: Heard,
}

impl Consumer for After {
    fn listener(&self, parameters: &Rc<Parameters>) -> Rc<dyn Listener> {
        let blocks = parameters.number("blocks_before", self.blocks as i64);
        Rc::new(LaterBlocks { blocks, inner: self.heard.listener(parameters) })
    }
    fn way(&self) -> Option<String> {
        self.heard.way()
    }
    fn written(&self) -> Option<usize> {
        self.heard.written()
    }
}

struct LaterBlocks {
    blocks: Ix,
    inner: Rc<dyn Listener>,
}

impl Listener for LaterBlocks {
    fn start(&self, block: Ix) {
        self.inner.start(block + self.blocks);
    }
    fn element(&self, index: Ix, value: Scalars) {
        self.inner.element(index, value);
    }
    fn finish(&self, block: Ix) {
        self.inner.finish(block + self.blocks);
    }
}

/// Hands elements on, changed.
struct Through {
    hop: Hop,
    parameters: Rc<Parameters>,
    inner: Rc<dyn Listener>,
}

impl Through {
    /// Applies the transformation: index, flag if there is one, and scalars.
    fn results(&self, elements: &Elements, index: Ix, value: Scalars) -> Vec<Term> {
        let arguments: Vec<Term> = std::iter::once(index.term()).chain(value.0).collect();
        self.parameters.apply(&elements.function, &arguments)
    }

    fn changed(&self, elements: &Elements, index: Ix, value: Scalars) {
        let results = self.results(elements, index, value);
        match (&results[..], elements.loose) {
            ([index, present, value @ ..], true) => {
                let hear = || self.inner.element(Exp::from_term(*index), Scalars(value.to_vec()));
                either(*present, hear, || {});
            }
            ([index, value @ ..], _) => {
                self.inner.element(Exp::from_term(*index), Scalars(value.to_vec()));
            }
            ([], _) => {}
        }
    }

    /// Expands an element. Where a producer hands on the same element `slices` times, each time has another index modulo `slices`.
    fn expanded(&self, size: &Function, get: &Function, slices: i64, index: Ix, value: &Scalars) {
        let size = self.parameters.apply_to(size, &[value]).0;
        let size = size.first().map_or(Exp::from(0), |size| Exp::<i64>::from_term(*size));
        let first = if slices == 1 { Exp::from(0) } else { named(index & (slices - 1), "slice") };
        let step = Exp::<i64>::from(slices);
        sequential(first.term()..size.term(), step.term(), &[], |number, _| {
            let number = Scalars(vec![number]);
            let element = self.parameters.apply_to(get, &[value, &number]);
            self.inner.element(index + Exp::from_term(number.0[0]), element);
            Vec::new()
        });
    }
}

impl Listener for Through {
    fn start(&self, block: Ix) {
        self.inner.start(block);
    }

    fn element(&self, index: Ix, value: Scalars) {
        match &self.hop {
            Hop::Elements(elements) => self.changed(elements, index, value),
            Hop::Expand { size, get, slices } => self.expanded(size, get, *slices, index, &value),
        }
    }

    fn checks(&self) -> bool {
        matches!(self.hop, Hop::Elements(_)) && self.inner.checks()
    }

    fn accepts(&self, index: Ix, value: Scalars) -> Exp<bool> {
        let Hop::Elements(elements) = &self.hop else { return Exp::from(false) };
        let accepts = |index: &Term, value: &[Term]| {
            self.inner.accepts(Exp::from_term(*index), Scalars(value.to_vec()))
        };
        let results = self.results(elements, index, value);
        match (&results[..], elements.loose) {
            ([index, present, value @ ..], true) => {
                cond(Exp::from_term(*present), || accepts(index, value), || Exp::from(true))
            }
            ([index, value @ ..], _) => accepts(index, value),
            ([], _) => Exp::from(false),
        }
    }

    fn trust(&self, trusted: bool) {
        self.inner.trust(trusted);
    }

    fn finish(&self, block: Ix) {
        self.inner.finish(block);
    }
}

/// Writes each element at its index.
pub(crate) struct Write {
    /// Where.
    pub slot: usize,
    /// The scalar types of an element.
    pub types: Vec<ScalarType>,
}

impl Consumer for Write {
    fn listener(&self, parameters: &Rc<Parameters>) -> Rc<dyn Listener> {
        Rc::new(Store(parameters.memories(self.slot, &self.types, Access::Write)))
    }

    fn written(&self) -> Option<usize> {
        Some(self.slot)
    }
}

struct Store(Vec<MemoryId>);

impl Listener for Store {
    fn element(&self, index: Ix, value: Scalars) {
        for (memory, term) in self.0.iter().zip(value.0) {
            // SAFETY: the slot has as many elements as the array, and a producer hands on each of its indices at most once.
            unsafe { store(*memory, index.term(), term) };
        }
    }
}
