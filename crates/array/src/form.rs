//! Fusion: the form of every array of a program.
//!
//! An array is *manifest* (in memory), a *pull* (a function from index to element, which its consumer writes into its
//! own code) or a *push* (a program that hands elements on, whose consumer is the writer). A consumer takes the form
//! that its producer has; memory is written only where
//! - the array is a result, or what a user's kernel takes or gives,
//! - a pull is demanded from a push (the elements of a fold, by something that indexes), or
//! - an array's elements would be computed more than once, and computing one costs more than [`RECOMPUTE`]: writing
//!   it and reading it back is cheaper. "More than once" is decided by index: however many operations use an array, if
//!   they do so at one index in one kernel, its element is one node of the graph and is computed once.

use crate::check::Bounds;
use crate::extents::Extents;
use crate::node::{Node, Operation};
use pumice_program::interval::{Interval, of_op};
use pumice_scalar::{
    Constant, FailureKind, Function, Id, Node as ScalarNode, Op, ScalarType, Site, Term, Variable, branch,
    function, inspect,
};
use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An element that costs more instructions than this is not computed twice: about a store and a load.
pub const RECOMPUTE: u32 = 12;

/// How an array exists.
#[derive(Clone, Debug)]
pub enum Form {
    /// In memory.
    Manifest,
    /// As a function of the index.
    Pull,
    /// As a program that hands elements on.
    Push,
}

/// The forms of a program's arrays.
pub struct Forms {
    form: HashMap<u64, Form>,
}

/// Where an element is demanded: in which array's kernel, and along which path of index functions.
type Demand = (u64, u64);

impl Forms {
    /// Decides the form of every array that `roots` need. `order` has inputs before users.
    pub fn new(order: &[Arc<Node>], roots: &[Arc<Node>]) -> Forms {
        let cost = costs(order);
        let pushes = pushes(order);
        let mut demands: HashMap<u64, HashSet<Demand>> = HashMap::new();
        let mut must_exist: HashSet<u64> = roots.iter().map(|root| root.id).collect();
        let mut form = HashMap::new();
        for node in order.iter().rev() {
            let mine = demands.remove(&node.id).unwrap_or_default();
            if mine.is_empty() && !must_exist.contains(&node.id) {
                continue; // Only its extents are mentioned.
            }
            let kernel = matches!(node.operation, Operation::Kernel { .. });
            let given = kernel || matches!(node.operation, Operation::Use(_) | Operation::Argument(_));
            let repeated = mine.len() > 1 && cost[&node.id] > RECOMPUTE;
            let manifest = given || must_exist.contains(&node.id) || repeated;
            let push = pushes.contains(&node.id);
            let decided = match (manifest, push) {
                (true, _) => Form::Manifest,
                (false, true) => Form::Push,
                (false, false) => Form::Pull,
            };
            for input in node.inputs() {
                // Maps and reshapes pass a push on; everything else indexes into its input.
                let passes_on = push && !matches!(node.operation, Operation::Fold { .. });
                if kernel || (pushes.contains(&input.id) && !passes_on) {
                    must_exist.insert(input.id);
                }
                if node.bounds == Bounds::Replicates && cost[&input.id] > RECOMPUTE {
                    must_exist.insert(input.id);
                }
                let theirs = demands.entry(input.id).or_default();
                match (&decided, &node.operation) {
                    (Form::Manifest | Form::Push, _) => {
                        theirs.insert((node.id, along(0, node)));
                    }
                    (Form::Pull, _) => {
                        let through = mine.iter().map(|(kernel, path)| (*kernel, along(*path, node)));
                        // Two are as good as many.
                        theirs.extend(through.take(2));
                    }
                }
            }
            form.insert(node.id, decided);
        }
        Forms { form }
    }

    /// Every array in memory: what is done without fusion.
    pub fn all_manifest(order: &[Arc<Node>]) -> Forms {
        Forms { form: order.iter().map(|node| (node.id, Form::Manifest)).collect() }
    }

    /// The form of an array; `None` if its elements are not needed.
    pub fn of(&self, node: &Node) -> Option<&Form> {
        self.form.get(&node.id)
    }

    /// Whether an array is in memory.
    pub fn is_manifest(&self, node: &Node) -> bool {
        matches!(self.of(node), Some(Form::Manifest))
    }
}

/// The path of an index (as a hash) through an operation: only what changes the index counts.
fn along(path: u64, node: &Node) -> u64 {
    match node.operation {
        Operation::ZipWith { .. } => path,
        _ => {
            let mut hasher = DefaultHasher::new();
            (path, node.id).hash(&mut hasher);
            hasher.finish()
        }
    }
}

/// What computing one element costs if everything before it is fused.
fn costs(order: &[Arc<Node>]) -> HashMap<u64, u32> {
    const LOAD: u32 = 4;
    let mut costs: HashMap<u64, u32> = HashMap::new();
    for node in order {
        let own = match &node.operation {
            Operation::Use(_)
            | Operation::Argument(_)
            | Operation::Fold { .. }
            | Operation::Kernel { .. } => LOAD,
            Operation::Generate { element, .. } => element.cost(),
            Operation::ZipWith { function, .. } => function.cost(),
            Operation::Reshape { .. } => 0,
            Operation::Backpermute { index, .. } => index.cost(),
        };
        let inputs = match node.operation {
            Operation::Fold { .. } | Operation::Kernel { .. } => 0,
            _ => node.inputs().iter().map(|input| costs[&input.id]).fold(0, u32::saturating_add),
        };
        costs.insert(node.id, own.saturating_add(inputs));
    }
    costs
}

/// The arrays that are made by a push: folds, and what maps or reshapes one that nobody else uses.
fn pushes(order: &[Arc<Node>]) -> HashSet<u64> {
    let mut uses: HashMap<u64, usize> = HashMap::new();
    for input in order.iter().flat_map(|node| node.inputs()) {
        *uses.entry(input.id).or_default() += 1;
    }
    let mut pushes = HashSet::new();
    for node in order {
        let follows = |input: &Node| pushes.contains(&input.id) && uses.get(&input.id) == Some(&1);
        let push = match &node.operation {
            Operation::Fold { .. } => true,
            Operation::ZipWith { inputs, .. } => matches!(inputs.as_slice(), [input] if follows(input)),
            Operation::Reshape { input, .. } => follows(input),
            _ => false,
        };
        if push {
            pushes.insert(node.id);
        }
    }
    pushes
}

/// The number under which a pull's function knows a scalar of a manifest array.
pub fn load_key(slot: usize, column: usize) -> u64 {
    (slot as u64) << 16 | column as u64
}

/// The slot and column of a [`load_key`].
pub fn slot_and_column(key: u64) -> (usize, usize) {
    ((key >> 16) as usize, (key & 0xffff) as usize)
}

/// Writes pulls as functions. In them, extents are `Variable::Extent { array: class, dimension: 0 }` and loads are from
/// [`load_key`]s.
pub struct Fuser<'a> {
    /// The extents of the arrays.
    pub extents: &'a Extents,
    /// The forms of the arrays.
    pub forms: &'a Forms,
    /// The slots of manifest arrays.
    pub slots: &'a HashMap<u64, usize>,
    /// Bounds of the values of the function that is being written, by node.
    bounds: RefCell<Vec<Interval>>,
    /// The extents of its parameters.
    parameters: RefCell<Vec<i64>>,
}

enum Task {
    /// The element of an array at an index; whether it may be read only under a check.
    Element(Arc<Node>, Vec<Term>, bool),
    /// A function of the elements that were computed last.
    Zip(Arc<Node>),
    /// The element that was computed last, or zeros where the check fails.
    Guarded(Term),
    /// Remember the element that was computed last.
    Remember((u64, Vec<Id>, bool)),
}

impl<'a> Fuser<'a> {
    /// A fuser for these forms.
    pub fn new(extents: &'a Extents, forms: &'a Forms, slots: &'a HashMap<u64, usize>) -> Self {
        Fuser { extents, forms, slots, bounds: RefCell::default(), parameters: RefCell::default() }
    }

    /// A function of indices that are below these extents.
    fn function(&self, below: Vec<i64>, f: impl FnOnce(&[Term]) -> Vec<Term>) -> Function {
        let types = vec![ScalarType::I64; below.len()];
        *self.parameters.borrow_mut() = below;
        function(&types, |index| {
            // The graph's nodes have other numbers each time.
            self.bounds.borrow_mut().clear();
            f(index)
        })
    }

    /// A pull as a function from the index, row by row, to the element.
    pub fn linear_pull(&self, node: &Arc<Node>) -> Function {
        self.function(vec![self.extents.size(node)], |index| {
            self.compute(node, &self.unflatten(node, index[0], node.rank))
        })
    }

    /// An array as a function from the number of the row and the column to the element: computed, even if it is to be
    /// in memory.
    pub fn rows(&self, node: &Arc<Node>) -> Function {
        self.by_rows(node, |index| self.compute(node, index))
    }

    /// As [`Fuser::rows`], but read from memory if it is there.
    pub fn rows_of_input(&self, node: &Arc<Node>) -> Function {
        match self.forms.is_manifest(node) {
            true => self.by_rows(node, |index| self.load(node, index, false)),
            false => self.rows(node),
        }
    }

    fn by_rows(&self, node: &Arc<Node>, element: impl Fn(&[Term]) -> Vec<Term>) -> Function {
        let (rows, columns) = rows_and_columns(self.extents.of(node));
        self.function(vec![rows, columns], |index| {
            let mut full = self.unflatten(node, index[0], node.rank.saturating_sub(1));
            full.push(index[1]);
            element(&full)
        })
    }

    /// A user's function, applied, with extents by class.
    pub fn apply(&self, function: &Function, arguments: &[Term]) -> Vec<Term> {
        function.instantiate(
            &mut |variable, ty| match variable {
                Variable::Parameter(number) => match arguments.get(number as usize) {
                    Some(argument) if argument.ty() == ty => *argument,
                    _ => Term::invalid(ty, "a function does not fit the arrays that it is applied to"),
                },
                Variable::Extent { array, dimension } => self.extent(array, dimension),
                other => Term::variable(other, ty),
            },
            // Nothing that users write makes one here.
            &mut |_, ty, _, _| Term::invalid(ty, "an element of an array stands in a function on elements"),
        )
    }

    /// An extent, by class.
    pub fn extent(&self, array: u64, dimension: u32) -> Term {
        match self.extents.class(array, dimension) {
            Some(class) => {
                Term::variable(Variable::Extent { array: class as u64, dimension: 0 }, ScalarType::I64)
            }
            None => Term::invalid(ScalarType::I64, "an extent of an array that is not part of the program"),
        }
    }

    fn flatten(&self, node: &Node, index: &[Term]) -> Term {
        let mut linear = Term::from(Constant::from(0i64));
        for (dimension, part) in index.iter().enumerate() {
            linear = match dimension {
                0 => *part,
                _ => linear.binary(Op::Mul, self.extent(node.id, dimension as u32)).binary(Op::Add, *part),
            };
        }
        linear
    }

    /// The index in the first `rank` dimensions of an array that a number, row by row, stands for.
    fn unflatten(&self, node: &Node, linear: Term, rank: usize) -> Vec<Term> {
        let mut rest = linear;
        let mut index = Vec::with_capacity(rank);
        for dimension in (1..rank).rev() {
            let extent = self.extent(node.id, dimension as u32);
            index.push(rest.binary(Op::Rem, extent));
            rest = rest.binary(Op::Div, extent);
        }
        if rank > 0 {
            index.push(rest);
        }
        index.reverse();
        index
    }

    fn load(&self, node: &Node, index: &[Term], guarded: bool) -> Vec<Term> {
        let Some(&slot) = self.slots.get(&node.id) else {
            let invalid = |ty: &ScalarType| Term::invalid(*ty, "an array that is read was never written");
            return node.types.iter().map(invalid).collect();
        };
        let linear = self.flatten(node, index);
        // SAFETY: the index is one of the array's, in each of its dimensions, or the load is guarded by a check that it is;
        // the plan gives the slot as many elements as the array has.
        let column = |(column, ty): (usize, &ScalarType)| unsafe {
            Term::load(load_key(slot, column), *ty, linear, guarded)
        };
        node.types.iter().enumerate().map(column).collect()
    }

    /// The element of `node` at an index, computed (even if it will be written to memory). No recursion: chains of
    /// operations may be long.
    fn compute(&self, node: &Arc<Node>, index: &[Term]) -> Vec<Term> {
        let mut known: HashMap<(u64, Vec<Id>, bool), Vec<Term>> = HashMap::new();
        let mut values: Vec<Vec<Term>> = Vec::new();
        let mut tasks = Vec::new();
        self.expand(node, index.to_vec(), false, &mut tasks, &mut values);
        while let Some(task) = tasks.pop() {
            match task {
                Task::Element(node, index, guarded) => {
                    let key = (node.id, index.iter().map(|term| term.id()).collect::<Vec<Id>>(), guarded);
                    if let Some(value) = known.get(&key) {
                        values.push(value.clone());
                    } else {
                        tasks.push(Task::Remember(key));
                        match self.forms.is_manifest(&node) {
                            true => values.push(self.load(&node, &index, guarded)),
                            false => self.expand(&node, index, guarded, &mut tasks, &mut values),
                        }
                    }
                }
                Task::Zip(node) => {
                    let Operation::ZipWith { function, inputs } = &node.operation else { continue };
                    let arguments = values.split_off(values.len().saturating_sub(inputs.len())).concat();
                    values.push(self.apply(function, &arguments));
                }
                Task::Guarded(condition) => {
                    let value = values.pop().unwrap_or_default();
                    let zeros: Vec<Term> =
                        value.iter().map(|term| Constant::zero(term.ty()).into()).collect();
                    values.push(branch(condition, &value, &zeros));
                }
                Task::Remember(key) => {
                    if let Some(value) = values.last() {
                        known.insert(key, value.clone());
                    }
                }
            }
        }
        values.pop().unwrap_or_default()
    }

    /// What is to be done for an element that is not in memory.
    fn expand(
        &self,
        node: &Arc<Node>,
        index: Vec<Term>,
        guarded: bool,
        tasks: &mut Vec<Task>,
        values: &mut Vec<Vec<Term>>,
    ) {
        match &node.operation {
            Operation::Generate { element, .. } => values.push(self.apply(element, &index)),
            Operation::ZipWith { inputs, .. } => {
                tasks.push(Task::Zip(node.clone()));
                let element = |input: &Arc<Node>| Task::Element(input.clone(), index.clone(), guarded);
                tasks.extend(inputs.iter().rev().map(element));
            }
            Operation::Reshape { input, .. } => {
                let linear = self.flatten(node, &index);
                tasks.push(Task::Element(input.clone(), self.unflatten(input, linear, input.rank), guarded));
            }
            Operation::Backpermute { index: function, input, .. } => {
                let there = self.apply(function, &index);
                let mut guarded = guarded;
                if node.bounds == Bounds::Checked {
                    let within = self.within(node, input, &there);
                    if within.constant().is_none() {
                        guarded = true;
                        tasks.push(Task::Guarded(within));
                    }
                }
                tasks.push(Task::Element(input.clone(), there, guarded));
            }
            // These are always manifest.
            Operation::Use(_)
            | Operation::Argument(_)
            | Operation::Fold { .. }
            | Operation::Kernel { .. } => {
                values.push(self.load(node, &index, guarded));
            }
        }
    }

    /// Whether an index is within an array; where it is not, the failure is recorded.
    fn within(&self, node: &Node, input: &Node, index: &[Term]) -> Term {
        let site = Site { place: node.place, kind: FailureKind::OutOfBounds };
        let zero = Term::from(Constant::from(0i64));
        let mut all = Term::from(Constant::from(true));
        for (dimension, part) in index.iter().enumerate() {
            let extent = self.extents.of(input).get(dimension).copied().unwrap_or(0);
            let (low, high) = self.bounds(*part);
            if low >= 0 && high < extent.into() {
                continue; // Proved for these extents.
            }
            let extent = self.extent(input.id, dimension as u32);
            let inside = zero.compare(Op::Le, *part).binary(Op::And, part.compare(Op::Lt, extent));
            all = all.binary(Op::And, inside.check(site, *part, extent));
        }
        all
    }

    /// Bounds of a value, given the actual extents.
    fn bounds(&self, term: Term) -> Interval {
        let id = term.id();
        let parameters = self.parameters.borrow();
        let mut bounds = self.bounds.borrow_mut();
        inspect(|graph| {
            for node in &graph.nodes()[bounds.len().min(id.0 as usize + 1)..=id.0 as usize] {
                let full = node.ty().map_or((i128::MIN, i128::MAX), ScalarType::range);
                let known = match node {
                    ScalarNode::Constant(constant) => constant.as_integer().map(|value| (value, value)),
                    ScalarNode::Variable(Variable::Parameter(number), _) => {
                        parameters.get(*number as usize).map(|extent| (0, i128::from(*extent - 1).max(0)))
                    }
                    ScalarNode::Variable(Variable::Extent { array, .. }, _) => {
                        let extent = self.extents.class_value(*array as usize).into();
                        Some((extent, extent))
                    }
                    ScalarNode::Apply { op, ty, operands } => {
                        let ids = operands.as_slice();
                        let types: Vec<ScalarType> =
                            ids.iter().filter_map(|id| graph.node(*id).ty()).collect();
                        let intervals: Vec<Interval> = ids.iter().map(|id| bounds[id.0 as usize]).collect();
                        Some(of_op(*op, *ty, &types, &intervals))
                    }
                    _ => None,
                };
                bounds.push(known.unwrap_or(full));
            }
        });
        bounds[id.0 as usize]
    }
}

/// How many rows an array has and how long they are.
pub fn rows_and_columns(extents: &[i64]) -> (i64, i64) {
    match extents.split_last() {
        Some((columns, outer)) => (outer.iter().product(), *columns),
        None => (1, 1),
    }
}
