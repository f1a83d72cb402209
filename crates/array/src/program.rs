//! Array IR: an array program as data.
//!
//! A program owns its nodes, each of which is one operation with its inputs by number; inputs stand before their users.
//! It is untyped: [`crate::Acc`] is the typed way to describe one, and other front ends add nodes themselves. Whatever safe
//! code builds here, planning and interpreting ask for a [`crate::CheckedProgram`], which only the verifier makes.

use crate::described::Described;
use crate::operation::{Given, Operation};
use crate::operations::Argument;
use pumice_scalar::{
    ElementOf, Function, Node as ScalarNode, Place, ScalarType, Term, Variable, function, release_kept,
};
use std::collections::HashMap;
use std::sync::Arc;

/// A node's number in its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// One operation of an array program.
#[derive(Clone)]
pub struct Node {
    /// Its number.
    pub id: NodeId,
    /// The operation.
    pub operation: Arc<dyn Operation>,
    /// The arrays whose elements it reads.
    pub inputs: Vec<NodeId>,
    /// The number of dimensions of its result.
    pub rank: usize,
    /// The scalar types of an element of its result.
    pub types: Vec<ScalarType>,
    /// The operation's name for users, and the place where they wrote it.
    pub place: Place,
}

impl Node {
    /// The arrays of which its functions read elements by index.
    pub fn reads(&self) -> Vec<NodeId> {
        let functions = self.operation.functions();
        let arrays = functions.into_iter().flat_map(read).map(|of| of.array);
        let mut arrays: Vec<NodeId> =
            arrays.map(|array| NodeId(u32::try_from(array).unwrap_or(u32::MAX))).collect();
        arrays.sort_unstable();
        arrays.dedup();
        arrays
    }

    /// The programs that it runs, if it is a loop or a branch.
    pub fn programs(&self) -> &[ArrayProgram] {
        self.operation.control().map_or(&[], |control| control.programs())
    }

    /// The arrays whose extents its functions mention, with the dimensions.
    pub fn mentions(&self) -> impl Iterator<Item = (NodeId, u32)> {
        let functions = self.operation.functions();
        let all: Vec<(NodeId, u32)> = functions.into_iter().flat_map(mentioned).collect();
        all.into_iter()
    }
}

/// The extents that a function mentions.
fn mentioned(function: &Function) -> Vec<(NodeId, u32)> {
    let extent = |node: &ScalarNode| match node {
        ScalarNode::Variable(Variable::Extent { array, dimension }, _) => {
            Some((NodeId(u32::try_from(*array).unwrap_or(u32::MAX)), *dimension))
        }
        _ => None,
    };
    function.nodes().iter().filter_map(extent).collect()
}

/// The elements that a function reads of arrays by index.
pub(crate) fn read(function: &Function) -> Vec<ElementOf> {
    let element = |node: &ScalarNode| match node {
        ScalarNode::Element { of, .. } => Some(*of),
        _ => None,
    };
    function.nodes().iter().filter_map(element).collect()
}

/// An array program.
#[derive(Clone, Default)]
pub struct ArrayProgram {
    nodes: Vec<Node>,
    results: Vec<NodeId>,
}

impl ArrayProgram {
    /// A program without operations.
    pub fn new() -> ArrayProgram {
        ArrayProgram::default()
    }

    /// Adds an operation on arrays that were added before; returns its result's number. In its functions, an extent of an
    /// array is `Variable::Extent` with the array's number.
    pub fn add(
        &mut self,
        operation: impl Operation,
        inputs: &[NodeId],
        rank: usize,
        types: &[ScalarType],
        place: Place,
    ) -> NodeId {
        self.add_shared(Arc::new(operation), inputs.to_vec(), rank, types.to_vec(), place)
    }

    /// Like [`ArrayProgram::add`], with a shared operation.
    pub fn add_shared(
        &mut self,
        operation: Arc<dyn Operation>,
        inputs: Vec<NodeId>,
        rank: usize,
        types: Vec<ScalarType>,
        place: Place,
    ) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node { id, operation, inputs, rank, types, place });
        id
    }

    /// Makes an array a result, after those that are results already.
    pub fn give(&mut self, result: NodeId) {
        self.results.push(result);
    }

    /// The program whose results are these descriptions: the arrays that they need, inputs and mentioned arrays before their users.
    ///
    /// Outside of all scopes this ends the description of a program: arrays that were described for it and of which there are only
    /// expressions are forgotten.
    pub fn of(roots: &[Arc<Described>]) -> ArrayProgram {
        let program = ArrayProgram::within(roots, |_| None);
        release_kept();
        program
    }

    /// Like [`ArrayProgram::of`], where arrays that are `outside`, and the arrays that those need, are arguments with these numbers.
    pub(crate) fn within(
        roots: &[Arc<Described>],
        mut outside: impl FnMut(&Arc<Described>) -> Option<u32>,
    ) -> ArrayProgram {
        let mut program = ArrayProgram::new();
        let mut numbers: HashMap<u64, NodeId> = HashMap::new();
        let mut stack: Vec<(&Arc<Described>, bool)> = roots.iter().rev().map(|root| (root, false)).collect();
        let mut seen = std::collections::HashSet::new();
        while let Some((described, ready)) = stack.pop() {
            if !ready {
                if !seen.insert(described.id()) {
                    continue;
                }
                if let Some(number) = outside(described) {
                    let (rank, types) = (described.rank(), described.types());
                    let id = program.add(Argument(number), &[], rank, types, described.place());
                    numbers.insert(described.id(), id);
                } else {
                    stack.push((described, true));
                    stack.extend(described.needs().rev().map(|input| (input, false)));
                }
                continue;
            }
            let inputs = described.inputs().iter().map(|input| numbers[&input.id()]).collect();
            let operation = renumbered(described.operation(), &numbers);
            let id = program.add_shared(
                operation,
                inputs,
                described.rank(),
                described.types().to_vec(),
                described.place(),
            );
            numbers.insert(described.id(), id);
        }
        program.results = roots.iter().map(|root| numbers[&root.id()]).collect();
        program
    }

    /// The nodes up to one, which is the result.
    pub(crate) fn up_to(&self, result: NodeId) -> ArrayProgram {
        ArrayProgram { nodes: self.nodes[..=result.0 as usize].to_vec(), results: vec![result] }
    }

    /// Makes these arrays the results.
    pub(crate) fn replace_results(&mut self, results: &[NodeId]) {
        self.results = results.to_vec();
        // Nodes after them are not needed, and may not be possible to plan yet.
        let last = results.iter().map(|result| result.0 as usize).max();
        self.nodes.truncate(last.map_or(0, |last| last + 1));
    }

    /// Makes an array the result of another operation on the same inputs.
    pub(crate) fn replace_operation(&mut self, id: NodeId, operation: Arc<dyn Operation>) {
        if let Some(node) = self.nodes.get_mut(id.0 as usize) {
            node.operation = operation;
        }
    }

    /// The nodes, inputs before users.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The results.
    pub fn results(&self) -> &[NodeId] {
        &self.results
    }

    /// A node by its number.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The arrays that a node reads.
    pub fn inputs<'a>(&'a self, node: &'a Node) -> impl DoubleEndedIterator<Item = &'a Node> {
        node.inputs.iter().map(|input| self.node(*input))
    }

    /// Returns the nesting depth of its loops and branches.
    pub(crate) fn nesting(&self) -> usize {
        let programs = self.nodes.iter().flat_map(Node::programs);
        programs.map(|program| 1 + program.nesting()).max().unwrap_or(0)
    }

    /// The arrays that a loop or a branch gives, with their numbers among them: its own, and those that are picked.
    pub fn given_by(&self, control: NodeId) -> impl Iterator<Item = (NodeId, usize)> {
        let picked = self.nodes.iter().filter(move |node| node.inputs.first() == Some(&control));
        let picked = picked.filter_map(|node| Some((node.id, node.operation.picks()?)));
        std::iter::once((control, 0)).chain(picked)
    }

    /// Returns everything that plans of it depend on; `None` if it has an operation that is equal only to itself.
    pub fn identity(&self) -> Option<Identity> {
        let nodes = self.nodes.iter().map(Node::identity).collect::<Option<_>>()?;
        Some(Identity { nodes, results: self.results.clone() })
    }

    /// The scalar arguments that extents, and with them a plan, depend on, in order.
    pub fn shaping_arguments(&self) -> Vec<u32> {
        let functions = self.nodes.iter().flat_map(|node| node.operation.shaping());
        let mut numbers: Vec<u32> = functions
            .flat_map(|function| function.nodes())
            .filter_map(|node| match node {
                ScalarNode::Variable(Variable::Argument(number), _) => Some(*number),
                _ => None,
            })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// Everything in a program that a plan may depend on: two programs with the same identity have the same plans. The elements of arrays that
/// exist before are no part of it, but their extents are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    nodes: Vec<NodeIdentity>,
    results: Vec<NodeId>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct NodeIdentity {
    keyword: &'static str,
    attributes: Vec<i64>,
    functions: Vec<Function>,
    programs: Vec<Identity>,
    argument: Option<u32>,
    extents: Vec<usize>,
    inputs: Vec<NodeId>,
    rank: usize,
    types: Vec<ScalarType>,
    place: Option<Place>,
}

impl Node {
    fn identity(&self) -> Option<NodeIdentity> {
        self.identity_at(Some(self.place))
    }

    /// Returns its identity, at a place or anywhere.
    pub(crate) fn identity_at(&self, place: Option<Place>) -> Option<NodeIdentity> {
        let (argument, extents) = match self.operation.given() {
            Some(Given::Argument(number)) => (Some(number), Vec::new()),
            Some(Given::Data(data)) => (None, data.extents().to_vec()),
            None => (None, Vec::new()),
        };
        let programs = self.programs().iter().map(ArrayProgram::identity).collect::<Option<_>>()?;
        self.operation.is_said_by_text().then(|| NodeIdentity {
            keyword: self.operation.keyword(),
            attributes: self.operation.attributes(),
            functions: self.operation.functions().into_iter().cloned().collect(),
            programs,
            argument,
            extents,
            inputs: self.inputs.clone(),
            rank: self.rank,
            types: self.types.clone(),
            place,
        })
    }
}

/// The mistake of using an expression longer than the array that it mentions.
const GONE: &str = "an expression mentions an array that was described for an earlier program and dropped: keep the array in a \
     variable as long as its extents or elements are used";

/// An operation with the extents in its functions by the numbers of the program.
pub(crate) fn renumbered(
    operation: &Arc<dyn Operation>,
    numbers: &HashMap<u64, NodeId>,
) -> Arc<dyn Operation> {
    with_leaves(
        operation,
        |variable| matches!(variable, Variable::Extent { .. }),
        &mut |variable, ty| match variable {
            Variable::Extent { array, dimension } => match numbers.get(&array) {
                Some(id) => Term::variable(Variable::Extent { array: id.0.into(), dimension }, ty),
                None => Term::invalid(ty, GONE),
            },
            other => Term::variable(other, ty),
        },
        &mut |of, index| match numbers.get(&of.array) {
            Some(id) => Term::element(ElementOf { array: id.0.into(), ..of }, index),
            None => Term::invalid(of.ty, GONE),
        },
    )
}

/// Rewrites the functions of an operation over other leaves: `leaf` gives the value of a variable that is not a parameter, `element`
/// that of an array's element. Functions without an element and without a variable that `changes` stay as they are.
pub(crate) fn with_leaves(
    operation: &Arc<dyn Operation>,
    changes: impl Fn(Variable) -> bool,
    leaf: &mut dyn FnMut(Variable, ScalarType) -> Term,
    element: &mut dyn FnMut(ElementOf, &[Term]) -> Term,
) -> Arc<dyn Operation> {
    let is_changed = |node: &ScalarNode| match node {
        ScalarNode::Variable(variable, _) => changes(*variable),
        ScalarNode::Element { .. } => true,
        _ => false,
    };
    let functions = operation.functions();
    if !functions.iter().any(|function| function.nodes().iter().any(is_changed)) {
        return operation.clone();
    }
    let functions = functions.into_iter().map(|old| {
        function(old.parameters(), |parameters| {
            old.instantiate(
                &mut |variable, ty| match variable {
                    Variable::Parameter(number) => parameters
                        .get(number as usize)
                        .copied()
                        .unwrap_or_else(|| Term::invalid(ty, "a function has too few arguments")),
                    other => leaf(other, ty),
                },
                &mut |_, ty, _, _| Term::invalid(ty, "a kernel's memory is read in an array program"),
                element,
            )
        })
    });
    operation.with_functions(functions.collect())
}
