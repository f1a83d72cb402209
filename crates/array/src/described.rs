//! Descriptions of arrays, which [`crate::Acc`] holds while a program is written.
//!
//! A description is one operation and the descriptions that it is applied to, immutable and shared by reference. A program
//! is made of them once it is whole ([`crate::ArrayProgram::of`]).

use crate::extents::known_extents;
use crate::operation::Operation;
use pumice_scalar::{Node as ScalarNode, Place, ScalarType, Term, Variable, keep};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// An array that a program computes, described by the operation that gives it.
pub struct Described {
    id: u64,
    operation: Arc<dyn Operation>,
    inputs: Vec<Arc<Described>>,
    rank: usize,
    types: Vec<ScalarType>,
    place: Place,
    known_extents: Option<Vec<i64>>,
    /// Arrays whose extents or elements the functions mention.
    mentions: Vec<Arc<Described>>,
}

impl Described {
    /// Describes the result of an operation.
    pub fn new(
        operation: impl Operation,
        inputs: Vec<Arc<Described>>,
        rank: usize,
        types: Vec<ScalarType>,
        place: Place,
    ) -> Arc<Described> {
        Described::of_shared(Arc::new(operation), inputs, rank, types, place)
    }

    /// Like [`Described::new`], with a shared operation.
    pub fn of_shared(
        operation: Arc<dyn Operation>,
        inputs: Vec<Arc<Described>>,
        rank: usize,
        types: Vec<ScalarType>,
        place: Place,
    ) -> Arc<Described> {
        let mentions = mentioned(&*operation);
        let mut described = Described {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            operation,
            inputs,
            rank,
            types,
            place,
            known_extents: None,
            mentions,
        };
        described.known_extents = known_extents(&described);
        Arc::new(described)
    }

    /// A number of its own: extents are mentioned by it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The operation.
    pub fn operation(&self) -> &Arc<dyn Operation> {
        &self.operation
    }

    /// Returns the arrays that it is applied to.
    pub fn inputs(&self) -> &[Arc<Described>] {
        &self.inputs
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The scalar types of an element.
    pub fn types(&self) -> &[ScalarType] {
        &self.types
    }

    /// Returns the operation's name for users, and the place where they wrote it.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The extents, if they are known while the program is written.
    pub fn known_extents(&self) -> Option<&[i64]> {
        self.known_extents.as_deref()
    }

    /// An extent by name, as an expression: extents which must be equal are seen to be.
    pub fn extent(self: &Arc<Described>, dimension: usize) -> Term {
        remember(self);
        Term::variable(Variable::Extent { array: self.id, dimension: dimension as u32 }, ScalarType::I64)
    }

    /// The arrays that must be there before it: those that it is applied to, and those that its functions mention.
    pub fn needs(&self) -> impl DoubleEndedIterator<Item = &Arc<Described>> {
        self.inputs.iter().chain(&self.mentions)
    }
}

/// The number of the next description.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A number that no description has yet: those that are made from here on have this one or larger ones.
pub(crate) fn next_id() -> u64 {
    NEXT.load(Ordering::Relaxed)
}

/// Arrays whose extents or elements were asked for on a thread: an operation whose functions mention one keeps it alive. Until there
/// is one, it lives as long as the expression can be used: in `m.reshape(9).at(5)` nothing else keeps it.
#[derive(Default)]
struct Asked {
    by_number: HashMap<u64, Weak<Described>>,
    /// Arrays that the functions of an operation under construction may mention. A closure that owns one is dropped before the
    /// operation exists.
    meanwhile: Vec<Arc<Described>>,
    /// Number of functions that are being built, one inside the other.
    functions: usize,
}

thread_local! {
    static ASKED: RefCell<Asked> = RefCell::default();
}

/// Remembers that an expression mentions this array.
pub(crate) fn remember(described: &Arc<Described>) {
    let inside = ASKED.with(|asked| {
        let mut asked = asked.borrow_mut();
        let known = &mut asked.by_number;
        if known.len() >= 64 && known.len().is_power_of_two() {
            known.retain(|_, described| described.strong_count() > 0);
        }
        known.insert(described.id, Arc::downgrade(described));
        if asked.functions > 0 {
            asked.meanwhile.push(described.clone());
        }
        asked.functions > 0
    });
    if !inside {
        keep(described.clone());
    }
}

/// Builds a function of an operation; arrays that it mentions live until the operation is described.
///
/// ```
/// use pumice_array::building;
/// use pumice_scalar::{Op, ScalarType, function};
/// let double = building(|| function(&[ScalarType::I64], |x| vec![x[0].binary(Op::Add, x[0])]));
/// assert_eq!(double.result_types(), [ScalarType::I64]);
/// ```
pub fn building<R>(function: impl FnOnce() -> R) -> R {
    /// However the function is left.
    struct Inside;
    impl Drop for Inside {
        fn drop(&mut self) {
            ASKED.with(|asked| asked.borrow_mut().functions -= 1);
        }
    }
    ASKED.with(|asked| asked.borrow_mut().functions += 1);
    let _inside = Inside;
    function()
}

fn mentioned(operation: &dyn Operation) -> Vec<Arc<Described>> {
    let mut ids: Vec<u64> = operation
        .functions()
        .into_iter()
        .flat_map(|function| function.nodes())
        .filter_map(|node| match node {
            ScalarNode::Variable(Variable::Extent { array, .. }, _) => Some(*array),
            ScalarNode::Element { of, .. } => Some(of.array),
            _ => None,
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    // Dropped outside of the borrow: an array may be the last one's user.
    let (found, _done) = ASKED.with(|asked| {
        let mut asked = asked.borrow_mut();
        let found = ids.iter().filter_map(|id| asked.by_number.get(id).and_then(Weak::upgrade)).collect();
        let done = if asked.functions == 0 { std::mem::take(&mut asked.meanwhile) } else { Vec::new() };
        (found, done)
    });
    found
}

impl Drop for Described {
    /// A long chain of operations must not be dropped recursively.
    fn drop(&mut self) {
        let mut waiting: Vec<Arc<Described>> = std::mem::take(&mut self.mentions);
        waiting.append(&mut self.inputs);
        while let Some(described) = waiting.pop() {
            if let Some(mut described) = Arc::into_inner(described) {
                waiting.append(&mut described.mentions);
                waiting.append(&mut described.inputs);
            }
        }
    }
}
