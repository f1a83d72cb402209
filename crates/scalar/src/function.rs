//! A scalar function as data: parameters, a graph of its own, results. Immutable, and independent of any thread.

use crate::Op;
use crate::arena;
use crate::graph::{Graph, Id, Node, Site, Variable};
use crate::schedule::{MAX_NESTING, Schedule, TooDeep, loop_dependencies};
use crate::types::{Constant, ScalarType};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A scalar function.
#[derive(Clone)]
pub struct Function(Arc<Data>);

struct Data {
    parameters: Vec<ScalarType>,
    nodes: Vec<Node>,
    results: Vec<Id>,
    hash: u64,
}

/// For each node up to the last result, whether the results need it.
fn needed(nodes: &[Node], results: &[Id]) -> Vec<bool> {
    let mut needed = vec![false; results.iter().map(|id| id.0 as usize + 1).max().unwrap_or(0)];
    results.iter().for_each(|id| needed[id.0 as usize] = true);
    for number in (0..needed.len()).rev() {
        if needed[number] {
            nodes[number].for_each_operand(|id| needed[id.0 as usize] = true);
        }
    }
    needed
}

impl Function {
    /// The part of a graph that these results need. Parameters before `first` are another function's, and a mistake.
    pub(crate) fn extract(graph: &Graph, first: Id, parameters: &[ScalarType], results: &[Id]) -> Function {
        let needed = needed(graph.nodes(), results);
        let needed_up_to = needed.len();
        let stray = |(number, node): (usize, &Node)| match node {
            Node::Variable(Variable::Parameter(_), ty) if number < first.0 as usize && needed[number] => {
                Some((number, Node::Invalid { message: arena::NESTED.into(), ty: *ty }))
            }
            _ => None,
        };
        let strays: Vec<(usize, Node)> =
            graph.nodes()[..needed_up_to].iter().enumerate().filter_map(stray).collect();
        let mut nodes = std::borrow::Cow::from(graph.nodes());
        for (number, invalid) in strays {
            nodes.to_mut()[number] = invalid;
        }
        let order = (0..needed_up_to as u32).map(Id).filter(|id| needed[id.0 as usize]);
        Function::arrange(parameters, &nodes, order, results)
    }

    /// Returns the function from the same parameters to the values of these nodes of it.
    pub fn to_nodes(&self, results: &[Id]) -> Function {
        let needed = needed(self.nodes(), results);
        let order = (0..needed.len() as u32).map(Id).filter(|id| needed[id.0 as usize]);
        Function::arrange(self.parameters(), self.nodes(), order, results)
    }

    /// The function of these nodes, of which `order` has those that are needed, operands before users.
    ///
    /// Nodes are numbered so that equal functions are equal wherever they were built, and so that the text form need not
    /// say where a constant stands: first the parameters, then the nodes in their order, and right before the first node
    /// that uses it each constant, other variable, branch or loop. (A branch is used by its values alone, see
    /// [`Node::Project`].) Loops are numbered in the order in which they first appear.
    pub(crate) fn arrange(
        parameters: &[ScalarType],
        nodes: &[Node],
        order: impl Iterator<Item = Id> + Clone,
        results: &[Id],
    ) -> Function {
        let mut own: Vec<(u32, Id)> = order
            .clone()
            .filter_map(|id| match nodes[id.0 as usize] {
                Node::Variable(Variable::Parameter(index), _) => Some((index, id)),
                _ => None,
            })
            .collect();
        own.sort_unstable();
        let mut arranged = Arranged { from: nodes, placed: vec![None; nodes.len()], nodes: Vec::new() };
        for (number, &(_, id)) in own.iter().enumerate() {
            // One parameter may be two nodes: one of them was made by its number.
            let before = number.checked_sub(1).map(|before| own[before].1);
            match before.filter(|before| nodes[before.0 as usize] == nodes[id.0 as usize]) {
                Some(before) => arranged.placed[id.0 as usize] = arranged.placed[before.0 as usize],
                None => arranged.place(id),
            }
        }
        order.filter(|id| !floats(&nodes[id.0 as usize])).for_each(|id| arranged.place(id));
        results.iter().for_each(|id| arranged.place(*id));
        let results: Vec<Id> = results.iter().map(|id| arranged.now(*id)).collect();
        let mut nodes = arranged.nodes;
        let mut loops: HashMap<u32, u32> = HashMap::new();
        for node in &mut nodes {
            if let Node::Loop { number, .. } | Node::LoopVariable { number, .. } = node {
                let next = loops.len() as u32;
                *number = *loops.entry(*number).or_insert(next);
            }
        }
        let mut hasher = DefaultHasher::new();
        (parameters, &nodes, &results).hash(&mut hasher);
        Function(Arc::new(Data { parameters: parameters.to_vec(), nodes, results, hash: hasher.finish() }))
    }

    /// The types of the parameters.
    pub fn parameters(&self) -> &[ScalarType] {
        &self.0.parameters
    }

    /// The nodes, operands before users.
    pub fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }

    /// The results.
    pub fn results(&self) -> &[Id] {
        &self.0.results
    }

    /// The types of the results.
    pub fn result_types(&self) -> Vec<ScalarType> {
        self.results().iter().map(|id| self.nodes()[id.0 as usize].ty().unwrap_or(ScalarType::Bool)).collect()
    }

    /// Returns the number of its loops; the loops' numbers are below this.
    pub fn loops(&self) -> u32 {
        let number = |node: &Node| match node {
            Node::Loop { number, .. } | Node::LoopVariable { number, .. } => number + 1,
            _ => 0,
        };
        self.nodes().iter().map(number).max().unwrap_or(0)
    }

    /// The first mistake in it, if there is one.
    pub fn mistake(&self) -> Option<String> {
        let invalid = self.nodes().iter().find_map(|node| match node {
            Node::Invalid { message, .. } => Some(message.to_string()),
            _ => None,
        });
        let depends = loop_dependencies(self.nodes().iter(), |id| Some(id.0 as usize));
        let escaped = self.results().iter().any(|id| !depends.of(id.0 as usize).is_empty());
        let deep = || match self.may_nest_deeply() {
            true => self.schedule().err().map(|error| error.to_string()),
            false => None,
        };
        invalid.or_else(|| escaped.then(|| "a loop's variable is used outside the loop".into())).or_else(deep)
    }

    /// Schedules its nodes: assigns each to the blocks that compute it.
    pub(crate) fn schedule(&self) -> Result<Schedule, TooDeep> {
        Schedule::new(self.nodes(), self.results(), |_| false, MAX_NESTING)
    }

    /// Whether its branches and loops could be nested too deeply, if each were written where it is used.
    fn may_nest_deeply(&self) -> bool {
        let mut nesting: Vec<usize> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            let mut mine = 0;
            node.for_each_operand(|id| mine = mine.max(nesting[id.0 as usize]));
            nesting.push(mine + usize::from(matches!(node, Node::Branch { .. } | Node::Loop { .. })));
        }
        nesting.into_iter().any(|nesting| nesting > MAX_NESTING)
    }

    /// The constant results, if all results are constants.
    pub fn constants(&self) -> Option<Vec<Constant>> {
        let constant = |id: &Id| match &self.nodes()[id.0 as usize] {
            Node::Constant(constant) => Some(*constant),
            _ => None,
        };
        self.results().iter().map(constant).collect()
    }

    /// Instructions, roughly, that one evaluation takes; a loop counts as many.
    pub fn cost(&self) -> u32 {
        let price = |node: &Node| match node {
            Node::Apply { op, ty, .. } => op.cost(*ty),
            Node::Loop { .. } => 1000,
            Node::Load { .. } => 4,
            Node::Element { .. } => 8,
            Node::Check { .. } | Node::Branch { .. } => 1,
            _ => 0,
        };
        self.nodes().iter().map(price).fold(0, u32::saturating_add)
    }

    /// Whether it can be evaluated on any arguments: it checks nothing, reads nothing and has no loop.
    pub fn is_total(&self) -> bool {
        let partial = |node: &Node| {
            matches!(node, Node::Check { .. } | Node::Load { .. } | Node::Element { .. } | Node::Loop { .. })
        };
        !self.nodes().iter().any(partial)
    }

    /// The places at which evaluation can fail.
    pub fn sites(&self) -> impl Iterator<Item = Site> {
        self.nodes().iter().filter_map(|node| match node {
            Node::Check { site, .. } => Some(*site),
            Node::Element { of, .. } => of.site,
            _ => None,
        })
    }

    /// Whether a function of two equal halves of parameters gives the same when the halves are swapped. Decided on the
    /// graph: both applications are built, and with a canonical order of operands equal values are equal nodes. A `false`
    /// means that it could not be shown.
    pub fn commutes(&self) -> bool {
        let (types, half) = (self.parameters(), self.parameters().len() / 2);
        if types.len() != 2 * half || types[..half] != types[half..] {
            return false;
        }
        arena::scope(|| {
            let term = |(index, ty): (usize, &ScalarType)| {
                arena::Term::variable(Variable::Parameter(index as u32), *ty)
            };
            let arguments: Vec<arena::Term> = types.iter().enumerate().map(term).collect();
            let swapped = [&arguments[half..], &arguments[..half]].concat();
            let (one, other) = (self.apply(&arguments), self.apply(&swapped));
            one.iter().zip(&other).all(|(a, b)| a.id() == b.id())
        })
    }

    /// A neutral element of a function of two elements, if one is found: combined with it, from either side, every element
    /// stays as it is to the bit. Decided on the graph, for elements of up to two scalars, and for more where the function treats
    /// each by itself.
    pub fn neutral(&self) -> Option<Vec<Constant>> {
        self.neutral_among(neutral_candidates)
    }

    /// Like [`Function::neutral`], where a NaN may become another NaN: `min` and `max` of floats give the number of a number and a NaN,
    /// so NaN is neutral. That holds for exact arithmetic only, not under `fast_math`.
    ///
    /// ```
    /// use pumice_scalar::{Op, ScalarType, function};
    /// let least = function(&[ScalarType::F32; 2], |terms| vec![terms[0].binary(Op::Min, terms[1])]);
    /// assert_eq!(least.neutral(), None);
    /// assert_eq!(least.neutral_but_for_nan(), Some(vec![f32::NAN.into()]));
    /// ```
    pub fn neutral_but_for_nan(&self) -> Option<Vec<Constant>> {
        self.neutral_among(|ty| neutral_candidates(ty).into_iter().chain(Constant::nan(ty)).collect())
    }

    /// A neutral element made of some of these candidates for each type.
    fn neutral_among(&self, candidates_of: impl Fn(ScalarType) -> Vec<Constant>) -> Option<Vec<Constant>> {
        let (types, half) = (self.parameters(), self.parameters().len() / 2);
        if types.len() != 2 * half || types[..half] != types[half..] {
            return None;
        }
        if half > 2 {
            let alone = |(column, ty): (usize, &ScalarType)| {
                candidates_of(*ty).into_iter().find(|candidate| self.keeps(column, *candidate))
            };
            let candidate = types[..half].iter().enumerate().map(alone).collect::<Option<Vec<Constant>>>()?;
            return self.is_neutral(&candidate).then_some(candidate);
        }
        let mut candidates: Vec<Vec<Constant>> = vec![Vec::new()];
        for ty in &types[..half] {
            let extended = candidates.iter().flat_map(|first| {
                candidates_of(*ty).into_iter().map(move |next| [&first[..], &[next]].concat())
            });
            candidates = extended.collect();
        }
        candidates.into_iter().find(|candidate| self.is_neutral(candidate))
    }

    /// Whether a constant in a column of the second element leaves that column of the first one as it is, whatever the other
    /// columns are.
    fn keeps(&self, column: usize, constant: Constant) -> bool {
        arena::scope(|| {
            let mut arguments: Vec<arena::Term> = (0..)
                .zip(self.parameters())
                .map(|(index, ty)| arena::Term::variable(Variable::Parameter(index), *ty))
                .collect();
            let element = arguments[column];
            arguments[self.parameters().len() / 2 + column] = constant.into();
            is_unchanged(self.apply(&arguments)[column], element, constant)
        })
    }

    /// Whether these scalars are seen to be neutral.
    fn is_neutral(&self, candidate: &[Constant]) -> bool {
        let types = &self.parameters()[..candidate.len()];
        arena::scope(|| {
            let element: Vec<arena::Term> = types
                .iter()
                .enumerate()
                .map(|(index, ty)| arena::Term::variable(Variable::Parameter(index as u32), *ty))
                .collect();
            let neutral: Vec<arena::Term> = candidate.iter().map(|constant| (*constant).into()).collect();
            let sides = [[&neutral[..], &element].concat(), [&element[..], &neutral].concat()];
            sides.iter().all(|arguments| {
                let results = self.apply(arguments);
                let mut scalars = results.iter().zip(element.iter().zip(candidate));
                scalars.all(|(result, (element, candidate))| is_unchanged(*result, *element, *candidate))
            })
        })
    }

    /// Whether an associative function of two elements gives the same however often, but at least once, `initial` stands
    /// among the elements: it is neutral, or every scalar absorbs it after the first time, as a maximum does. Decided on
    /// the graph, from both sides; a `false` means that it could not be shown.
    pub fn absorbs(&self, initial: &Function) -> bool {
        let (types, half) = (self.parameters(), self.parameters().len() / 2);
        if types.len() != 2 * half
            || types[..half] != types[half..]
            || initial.result_types() != types[..half]
        {
            return false;
        }
        arena::scope(|| {
            let element: Vec<arena::Term> = types[..half]
                .iter()
                .enumerate()
                .map(|(index, ty)| arena::Term::variable(Variable::Parameter(index as u32), *ty))
                .collect();
            let initial = initial.apply(&[]);
            let sides = [[&initial[..], &element].concat(), [&element[..], &initial].concat()];
            let results = sides.map(|arguments| self.apply(&arguments));
            results.iter().all(|values| {
                let scalars = values.iter().zip(element.iter().zip(&initial));
                scalars.into_iter().all(|(value, (element, initial))| is_absorbed(*value, *element, *initial))
            })
        })
    }
}

/// Nodes on their way to their places in a function.
struct Arranged<'a> {
    from: &'a [Node],
    /// New place of each node; `None` until it is placed.
    placed: Vec<Option<Id>>,
    nodes: Vec<Node>,
}

impl Arranged<'_> {
    fn now(&self, id: Id) -> Id {
        self.placed[id.0 as usize].unwrap_or(Id(0))
    }

    /// Places a node, and before it those of its operands that stand right before the first node that uses them.
    fn place(&mut self, id: Id) {
        if self.placed[id.0 as usize].is_some() {
            return;
        }
        let node = &self.from[id.0 as usize];
        // Operands of a branch or loop are values: this goes no deeper than a value, its branch, a constant.
        node.for_each_operand(|operand| {
            if floats(&self.from[operand.0 as usize]) {
                self.place(operand);
            }
        });
        let node = node.map_operands(|operand| self.now(operand));
        self.placed[id.0 as usize] = Some(Id(self.nodes.len() as u32));
        self.nodes.push(node);
    }
}

/// Whether a node stands right before the first one that uses it.
fn floats(node: &Node) -> bool {
    matches!(node, Node::Constant(_) | Node::Variable(..) | Node::Branch { .. } | Node::Loop { .. })
}

/// Constants of which one may be neutral for an operator on a type.
fn neutral_candidates(ty: ScalarType) -> Vec<Constant> {
    let (low, high) = ty.range();
    let candidates = match ty {
        ScalarType::Bool => vec![0, 1],
        // Adding 0.0 would change -0.0.
        ty if ty.is_float() => {
            return vec![Constant::from_float(ty, -0.0), Constant::from_float(ty, 1.0)];
        }
        ty if ty.is_signed() => vec![0, 1, low, high, -1],
        _ => vec![0, 1, high],
    };
    candidates.into_iter().map(|value| Constant::from_integer(ty, value)).collect()
}

/// Whether `value`, which an operator made of a scalar and a constant, is that scalar to the bit.
fn is_unchanged(value: arena::Term, element: arena::Term, constant: Constant) -> bool {
    if value.id() == element.id() {
        return true;
    }
    let with: arena::Term = constant.into();
    let (value, element, with) = (value.id(), element.id(), with.id());
    arena::inspect(|graph| match graph.node(value) {
        Node::Apply { op, operands, ty } => {
            let operands = operands.as_slice();
            let (low, high) = ty.range();
            let [minus_zero, one, nan] = [-0.0, 1.0, f64::NAN].map(|value| Constant::from_float(*ty, value));
            let unchanged = match op {
                Op::Max if ty.is_integer() => constant.as_integer() == Some(low),
                Op::Min if ty.is_integer() => constant.as_integer() == Some(high),
                Op::Add if ty.is_float() => constant == minus_zero,
                Op::Mul if ty.is_float() => constant == one,
                Op::Min | Op::Max => ty.is_float() && constant == nan,
                _ => false,
            };
            unchanged && (operands == [element, with] || operands == [with, element])
        }
        _ => false,
    })
}

/// Whether `value`, which an operator made of a scalar and its initial value, is that scalar, or the result of an
/// operation that the initial value changes only the first time.
fn is_absorbed(value: arena::Term, element: arena::Term, initial: arena::Term) -> bool {
    if value.id() == element.id() {
        return true;
    }
    let constant = initial.constant().and_then(|constant| constant.as_float());
    let (value, element, initial) = (value.id(), element.id(), initial.id());
    arena::inspect(|graph| match graph.node(value) {
        Node::Apply { op, operands, ty } => {
            let repeats = match op {
                Op::Min | Op::Max | Op::And | Op::Or => true,
                // Adding 0.0 once more does not change a sum that has it already (-0.0 became 0.0 the first time).
                Op::Add if ty.is_float() => constant == Some(0.0),
                Op::Mul if ty.is_float() => constant == Some(1.0),
                _ => false,
            };
            let operands = operands.as_slice();
            repeats && (operands == [element, initial] || operands == [initial, element])
        }
        _ => false,
    })
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash
                && self.0.parameters == other.0.parameters
                && self.0.nodes == other.0.nodes
                && self.0.results == other.0.results)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
