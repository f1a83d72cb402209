//! The graph in which this thread's expressions are built, and the handles into it.
//!
//! A [`Term`] is `Copy`: a constant, or a number in the thread's graph. Nodes live as long as the scope in which they
//! were made (a closure given to an operation, a program being compiled), so building programs for ever does not grow
//! memory; constants need no node at all. A handle that outlives its scope is noticed by its stamp and becomes an
//! error when the program is compiled, never another program's value.

use crate::Op;
use crate::function::Function;
use crate::graph::{ElementOf, Graph, Id, Node, Site, Variable};
use crate::simplify;
use crate::types::{Constant, ScalarType};
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

/// A value in the making: a constant or a node of this thread's graph.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    ty: ScalarType,
    repr: Repr,
    /// Handles are of this thread's graph.
    not_send: PhantomData<*const ()>,
}

#[derive(Clone, Copy, Debug)]
enum Repr {
    Constant(Constant),
    Node { id: Id, stamp: u64 },
}

/// The mistake of using a handle where it means nothing.
pub(crate) const STRAY: &str = "an expression is used outside the function (or thread) that it belongs to";

/// A function inside another one uses a value of that.
pub(crate) const NESTED: &str = "an array operation inside a function on elements uses that function's value, and no array is \
     computed for each element: bring both to one shape with `replicate`, `zip_with` them and fold, or loop over elements \
     with `while_` and `at`";

#[derive(Default)]
struct Arena {
    graph: Graph,
    stamps: Vec<u64>,
    next_stamp: u64,
    next_loop: u32,
    /// Scopes that are open.
    depth: usize,
    /// Objects that nodes refer to, in the order of the scopes.
    kept: Vec<Arc<dyn Any>>,
}

thread_local! { static ARENA: RefCell<Arena> = RefCell::default(); }

fn with<R>(f: impl FnOnce(&mut Arena) -> R) -> R {
    ARENA.with(|arena| f(&mut arena.borrow_mut()))
}

impl Arena {
    fn id(&mut self, term: Term) -> Id {
        match term.repr {
            Repr::Constant(constant) => self.graph.add(Node::Constant(constant)),
            Repr::Node { id, stamp } if self.stamps.get(id.0 as usize) == Some(&stamp) => id,
            Repr::Node { .. } => self.graph.add(Node::Invalid { message: STRAY.into(), ty: term.ty }),
        }
    }

    fn term(&mut self, id: Id) -> Term {
        while self.stamps.len() < self.graph.nodes().len() {
            self.stamps.push(self.next_stamp);
            self.next_stamp += 1;
        }
        let node = self.graph.node(id);
        let ty = node.ty().unwrap_or(ScalarType::Bool);
        let repr = match node {
            Node::Constant(constant) => Repr::Constant(*constant),
            _ => Repr::Node { id, stamp: self.stamps[id.0 as usize] },
        };
        Term { ty, repr, not_send: PhantomData }
    }

    fn add(&mut self, node: Node) -> Term {
        let id = self.graph.add(node);
        self.term(id)
    }
}

impl From<Constant> for Term {
    fn from(constant: Constant) -> Term {
        Term { ty: constant.ty(), repr: Repr::Constant(constant), not_send: PhantomData }
    }
}

impl Term {
    /// The type.
    pub fn ty(self) -> ScalarType {
        self.ty
    }

    /// The constant that this is, if it is one.
    pub fn constant(self) -> Option<Constant> {
        match self.repr {
            Repr::Constant(constant) => Some(constant),
            Repr::Node { .. } => None,
        }
    }

    /// The integer that this is, if it is a constant one.
    pub fn integer(self) -> Option<i64> {
        self.constant()?.as_integer().map(|value| value as i64)
    }

    /// A mistake, reported when the program is compiled.
    pub fn invalid(ty: ScalarType, message: impl Into<Box<str>>) -> Term {
        with(|arena| arena.add(Node::Invalid { message: message.into(), ty }))
    }

    /// A value from outside.
    pub fn variable(variable: Variable, ty: ScalarType) -> Term {
        with(|arena| arena.add(Node::Variable(variable, ty)))
    }

    /// A primitive operation.
    pub fn apply(op: Op, ty: ScalarType, operands: &[Term]) -> Term {
        // Constants fold without touching the graph, so that expressions of constants live anywhere.
        if let Some(constants) = operands.iter().map(|term| term.constant()).collect::<Option<Vec<_>>>() {
            return op.evaluate(ty, &constants).into();
        }
        with(|arena| {
            let ids: Vec<Id> = operands.iter().map(|term| arena.id(*term)).collect();
            let id = arena.graph.apply(op, ty, &ids);
            arena.term(id)
        })
    }

    /// A binary operation whose result has the operands' type.
    pub fn binary(self, op: Op, other: Term) -> Term {
        Term::apply(op, self.ty, &[self, other])
    }

    /// A comparison.
    pub fn compare(self, op: Op, other: Term) -> Term {
        Term::apply(op, ScalarType::Bool, &[self, other])
    }

    /// Conversion to another type, as Rust's `as`.
    pub fn cast(self, ty: ScalarType) -> Term {
        Term::apply(Op::Cast, ty, &[self])
    }

    /// An element of an array; see [`Node::Load`].
    ///
    /// # Safety
    ///
    /// Wherever the value is computed, the array is one that the program reads, and the index is in it: nothing checks that.
    /// If `guarded`, only where the expression demands it.
    pub unsafe fn load(array: u64, ty: ScalarType, index: Term, guarded: bool) -> Term {
        with(|arena| {
            let index = arena.id(index);
            arena.add(Node::Load { array, ty, index, guarded })
        })
    }

    /// An element of an array of a program; see [`Node::Element`].
    pub fn element(of: ElementOf, index: &[Term]) -> Term {
        with(|arena| {
            let index = index.iter().map(|index| arena.id(*index)).collect();
            arena.add(Node::Element { of, index })
        })
    }

    /// The condition, which is recorded as a failure at `site` where it does not hold.
    pub fn check(self, site: Site, index: Term, bound: Term) -> Term {
        with(|arena| {
            let (condition, index, bound) = (arena.id(self), arena.id(index), arena.id(bound));
            arena.add(Node::Check { condition, site, index, bound })
        })
    }

    /// Returns the same value for code that is evaluated only where a condition holds: choices that the condition decides are resolved.
    pub(crate) fn given(self, condition: Term) -> Term {
        with(|arena| {
            let (condition, id) = (arena.id(condition), arena.id(self));
            simplify::given(&arena.graph, condition, id).map_or(self, |id| arena.term(id))
        })
    }

    /// The node in the graph given by [`inspect`].
    pub fn id(self) -> Id {
        with(|arena| {
            let id = arena.id(self);
            arena.term(id);
            id
        })
    }
}

/// Lets `f` read this thread's graph; [`Term::id`] gives the nodes.
pub fn inspect<R>(f: impl FnOnce(&Graph) -> R) -> R {
    with(|arena| f(&arena.graph))
}

/// The values of one of two sides; only that one is evaluated.
pub fn branch(condition: Term, then: &[Term], otherwise: &[Term]) -> Vec<Term> {
    with(|arena| {
        let condition = arena.id(condition);
        let ids = |arena: &mut Arena, terms: &[Term]| terms.iter().map(|term| arena.id(*term)).collect();
        let (then_ids, otherwise) = (ids(arena, then), ids(arena, otherwise));
        let of = arena.graph.add(Node::Branch { condition, then: then_ids, otherwise });
        let project = |(index, term): (usize, &Term)| Node::Project { of, index: index as u32, ty: term.ty };
        then.iter().enumerate().map(|value| arena.add(project(value))).collect()
    })
}

/// Repeats `next` on the values while `condition` holds, starting from `initial`.
pub fn repeat(
    initial: &[Term],
    condition: impl FnOnce(&[Term]) -> Term,
    next: impl FnOnce(&[Term]) -> Vec<Term>,
) -> Vec<Term> {
    let (number, variables) = open_loop(initial);
    let condition = condition(&variables);
    let next = next(&variables);
    close_loop(number, initial, condition, &next)
}

// Functions that take closures do nothing but call them: they are compiled anew for every closure, so the rest of the work is
// in functions without closures.

/// Reserves numbers for so many loops; returns the first.
fn new_loops(count: u32) -> u32 {
    with(|arena| {
        arena.next_loop += count;
        arena.next_loop - count
    })
}

/// Begins a loop: its number, and its variables.
pub(crate) fn open_loop(initial: &[Term]) -> (u32, Vec<Term>) {
    let number = new_loops(1);
    let variable = |(index, term): (usize, &Term)| {
        let node = Node::LoopVariable { number, index: index as u32, ty: term.ty };
        with(|arena| arena.add(node))
    };
    (number, initial.iter().enumerate().map(variable).collect())
}

/// Ends a loop: its values.
pub(crate) fn close_loop(number: u32, initial: &[Term], condition: Term, next: &[Term]) -> Vec<Term> {
    with(|arena| {
        let ids = |arena: &mut Arena, terms: &[Term]| terms.iter().map(|term| arena.id(*term)).collect();
        let initial_ids = ids(arena, initial);
        let next = ids(arena, next);
        let condition = arena.id(condition);
        let of = arena.graph.add(Node::Loop { number, initial: initial_ids, condition, next });
        let project = |(index, term): (usize, &Term)| Node::Project { of, index: index as u32, ty: term.ty };
        initial.iter().enumerate().map(|value| arena.add(project(value))).collect()
    })
}

/// Runs `f` in a scope of its own: the nodes that it makes are forgotten afterwards.
pub fn scope<R>(f: impl FnOnce() -> R) -> R {
    let _scope = Scope::open();
    f()
}

/// Returns the number of scopes that are open on this thread. Nodes that are made at one depth are forgotten at a lower one.
pub fn scope_depth() -> usize {
    with(|arena| arena.depth)
}

/// Keeps an object that a new node refers to as long as that node lives: until the innermost open scope ends. Outside of all
/// scopes nodes live on, and the object is kept until [`release_kept`].
///
/// ```
/// use pumice_scalar::{keep, release_kept, scope};
/// use std::sync::Arc;
/// let array = Arc::new([1, 2, 3]);
/// scope(|| {
///     keep(array.clone());
///     assert_eq!(Arc::strong_count(&array), 2);
/// });
/// assert_eq!(Arc::strong_count(&array), 1);
/// keep(array.clone());
/// assert_eq!(Arc::strong_count(&array), 2);
/// release_kept();
/// assert_eq!(Arc::strong_count(&array), 1);
/// ```
pub fn keep(mentioned: Arc<dyn Any>) {
    with(|arena| arena.kept.push(mentioned));
}

/// Releases the objects kept for nodes that were made outside of all scopes. Does nothing while a scope is open, which may use those nodes.
pub fn release_kept() {
    // Dropped when the arena is no longer borrowed: a destructor may use it.
    let _released = with(|arena| if arena.depth == 0 { std::mem::take(&mut arena.kept) } else { Vec::new() });
}

/// A scope that is open.
struct Scope {
    mark: usize,
    kept: usize,
    next_loop: u32,
}

impl Scope {
    fn open() -> Scope {
        with(|arena| {
            arena.depth += 1;
            Scope { mark: arena.graph.nodes().len(), kept: arena.kept.len(), next_loop: arena.next_loop }
        })
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // Dropped when the arena is no longer borrowed: a destructor may use it.
        let _kept = with(|arena| {
            arena.graph.truncate(self.mark);
            arena.stamps.truncate(self.mark);
            arena.next_loop = self.next_loop;
            arena.depth -= 1;
            arena.kept.split_off(self.kept.min(arena.kept.len()))
        });
    }
}

/// Builds a function: `f` computes its results from its parameters.
pub fn function(parameters: &[ScalarType], f: impl FnOnce(&[Term]) -> Vec<Term>) -> Function {
    let scope = Scope::open();
    scope.function(parameters, &f(&variables(parameters)))
}

/// The parameters of a function, as expressions. A function may be built inside another one (an array operation in a
/// function on elements), so they are nodes of their own, and the other's are noticed.
fn variables(parameters: &[ScalarType]) -> Vec<Term> {
    let variable = |(index, ty): (usize, &ScalarType)| {
        with(|arena| {
            let id = arena.graph.add_alone(Node::Variable(Variable::Parameter(index as u32), *ty));
            arena.term(id)
        })
    };
    parameters.iter().enumerate().map(variable).collect()
}

impl Scope {
    fn function(&self, parameters: &[ScalarType], results: &[Term]) -> Function {
        with(|arena| {
            let results: Vec<Id> = results.iter().map(|term| arena.id(*term)).collect();
            Function::extract(&arena.graph, Id(self.mark as u32), parameters, &results)
        })
    }
}

/// Replacement of a node by [`Function::replace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// A node before it, of the same type.
    Node(Id),
    /// A constant of the same type.
    Constant(Constant),
}

impl Function {
    /// Builds the function's expressions again over other leaves: `leaf` gives the value of a variable, `load` that of a
    /// [`Node::Load`], `element` that of a [`Node::Element`].
    pub fn instantiate(
        &self,
        leaf: &mut dyn FnMut(Variable, ScalarType) -> Term,
        load: &mut dyn FnMut(u64, ScalarType, Term, bool) -> Term,
        element: &mut dyn FnMut(ElementOf, &[Term]) -> Term,
    ) -> Vec<Term> {
        let first_loop = new_loops(self.loops());
        let mut ids: Vec<Id> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            let id = match node {
                Node::Variable(variable, ty) => leaf(*variable, *ty).id(),
                Node::Load { array, ty, index, guarded } => {
                    let index = with(|arena| arena.term(ids[index.0 as usize]));
                    load(*array, *ty, index, *guarded).id()
                }
                Node::Element { of, index } => {
                    let index: Vec<Term> =
                        with(|arena| index.iter().map(|id| arena.term(ids[id.0 as usize])).collect());
                    element(*of, &index).id()
                }
                node => {
                    let mut node = node.map_operands(|id| ids[id.0 as usize]);
                    if let Node::Loop { number, .. } | Node::LoopVariable { number, .. } = &mut node {
                        *number += first_loop;
                    }
                    with(|arena| {
                        let id = arena.graph.add(node);
                        arena.term(id);
                        id
                    })
                }
            };
            ids.push(id);
        }
        self.results().iter().map(|id| with(|arena| arena.term(ids[id.0 as usize]))).collect()
    }

    /// Returns the function with some of its nodes replaced by an earlier node or a constant, simplified, and with every
    /// load guarded: it may be evaluated only where the replacements hold.
    ///
    /// # Safety
    ///
    /// Wherever the new function is evaluated, every replaced node would have had the value of its replacement; loads
    /// rely on that.
    pub unsafe fn replace(&self, replacements: &HashMap<Id, Replacement>) -> Function {
        function(self.parameters(), |parameters| {
            let first_loop = new_loops(self.loops());
            let mut ids: Vec<Id> = Vec::with_capacity(self.nodes().len());
            for (number, node) in self.nodes().iter().enumerate() {
                let known = match (replacements.get(&Id(number as u32)), node) {
                    (Some(Replacement::Node(other)), _) => Some(ids[other.0 as usize]),
                    (Some(Replacement::Constant(constant)), _) => Some(Term::from(*constant).id()),
                    (None, Node::Variable(Variable::Parameter(number), _)) => {
                        parameters.get(*number as usize).map(|parameter| parameter.id())
                    }
                    _ => None,
                };
                if let Some(known) = known {
                    ids.push(known);
                    continue;
                }
                let mut node = node.map_operands(|id| ids[id.0 as usize]);
                match &mut node {
                    Node::Loop { number, .. } | Node::LoopVariable { number, .. } => *number += first_loop,
                    Node::Load { guarded, .. } => *guarded = true,
                    _ => {}
                }
                ids.push(with(|arena| {
                    let id = arena.graph.add(node);
                    arena.term(id);
                    id
                }));
            }
            self.results().iter().map(|id| with(|arena| arena.term(ids[id.0 as usize]))).collect()
        })
    }

    /// The function's results on these arguments, as expressions. Variables stay as they are; elements of arrays belong to
    /// the program in which the function was built, and are mistakes.
    pub fn apply(&self, arguments: &[Term]) -> Vec<Term> {
        self.instantiate(
            &mut |variable, ty| match variable {
                Variable::Parameter(index) => match arguments.get(index as usize) {
                    Some(argument) if argument.ty == ty => *argument,
                    _ => Term::invalid(ty, "a function is applied to arguments of the wrong number or type"),
                },
                other => Term::variable(other, ty),
            },
            // Where the function was built, the number of an array meant something else.
            &mut |_, ty, _, _| Term::invalid(ty, STRAY),
            &mut |of, _| Term::invalid(of.ty, STRAY),
        )
    }
}
