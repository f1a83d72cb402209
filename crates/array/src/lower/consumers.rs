//! Consumers: what listens to a producer, seen from the array program. Writing to memory is one; operations have others.

use super::{Parameters, Step};
use crate::error::Error;
use crate::fuser::Elements;
use crate::program::NodeId;
use pumice_kernel::skeletons::Listener;
use pumice_kernel::{Ix, Scalars, either, store};
use pumice_program::{Access, MemoryId};
use pumice_scalar::{Exp, ScalarType, Term};
use std::rc::Rc;

/// A consumer of a producer's elements.
pub trait Consumer {
    /// The listener in a kernel that is being built. It may ask for parameters.
    fn listener(&self, parameters: &Rc<Parameters>) -> Rc<dyn Listener>;

    /// How it does its work, for `explain`; nothing if there is only one way.
    fn way(&self) -> Option<String> {
        None
    }

    /// The slot that must be zero before, if the producer may leave elements out.
    fn written(&self) -> Option<usize> {
        None
    }

    /// The threads of a block and the most blocks that it asks for, of a producer that leaves the choice to it.
    fn division(&self) -> Option<(u32, u32)> {
        None
    }
}

/// One consumer, and what becomes of the producer's elements before it hears them.
#[derive(Clone)]
pub struct Heard {
    /// From the producer's index and scalars to those that the consumer hears.
    pub through: Option<Elements>,
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
            _ => Heard { through: None, consumer: Rc::new(After { blocks, heard: self }) },
        }
    }

    /// The listener to the producer itself.
    pub(crate) fn listener(&self, parameters: &Rc<Parameters>) -> Rc<dyn Listener> {
        let inner = self.consumer.listener(parameters);
        match &self.through {
            None => inner,
            Some(through) => {
                Rc::new(Through { through: through.clone(), parameters: parameters.clone(), inner })
            }
        }
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

/// What is heard may be changed once more on the way.
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
    through: Elements,
    parameters: Rc<Parameters>,
    inner: Rc<dyn Listener>,
}

impl Listener for Through {
    fn start(&self, block: Ix) {
        self.inner.start(block);
    }

    fn element(&self, index: Ix, value: Scalars) {
        let arguments: Vec<Term> = std::iter::once(index.term()).chain(value.0).collect();
        let results = self.parameters.apply(&self.through.function, &arguments);
        match (&results[..], self.through.loose) {
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
