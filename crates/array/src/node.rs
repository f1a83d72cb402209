//! Array IR: what an array program is, as data.
//!
//! A node is one operation with its scalar functions and inputs, immutable and shared by reference. It is untyped:
//! [`crate::Acc`] is the typed way to make one, and other front ends make the same nodes.

use crate::check::Bounds;
use crate::data::ArrayData;
use pumice_kernel::{BuildError, Definition, LaunchArgument, ParameterKind};
use pumice_scalar::{
    Constant, Environment, Evaluator, Function, Node as ScalarNode, Place, ScalarType, Variable,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// One operation of an array program.
#[non_exhaustive]
pub struct Node {
    /// A number of its own.
    pub id: u64,
    /// What it does.
    pub operation: Operation,
    /// The number of dimensions of its result.
    pub rank: usize,
    /// The scalar types of an element of its result.
    pub types: Vec<ScalarType>,
    /// The extents, if they are known while the program is written.
    pub known_extents: Option<Vec<i64>>,
    /// What the user calls the operation, and where they wrote it.
    pub place: Place,
    /// Arrays whose extents the functions mention.
    pub mentions: Vec<Arc<Node>>,
    /// What is known of the index function of a [`Operation::Backpermute`].
    pub(crate) bounds: Bounds,
}

/// What a node does.
pub enum Operation {
    /// An array that exists.
    Use(Arc<dyn ArrayData>),
    /// An array that is given when the program is run.
    Argument(u32),
    /// An element for every index.
    Generate {
        /// The extents, from no parameters.
        shape: Function,
        /// The element, from the index.
        element: Function,
    },
    /// A function of the elements of arrays of one shape.
    ZipWith {
        /// The element, from the inputs' elements.
        function: Function,
        /// One or more arrays.
        inputs: Vec<Arc<Node>>,
    },
    /// The same elements, row by row, in another shape.
    Reshape {
        /// The extents, from no parameters.
        shape: Function,
        /// The array.
        input: Arc<Node>,
    },
    /// Elements from other places.
    Backpermute {
        /// The extents, from no parameters.
        shape: Function,
        /// The index in the input, from the index.
        index: Function,
        /// The array.
        input: Arc<Node>,
    },
    /// Reduces the innermost dimension.
    Fold {
        /// An associative operator, from two elements.
        operator: Function,
        /// What a row's elements are combined with, once and from the left; from no parameters.
        initial: Function,
        /// The array.
        input: Arc<Node>,
    },
    /// A kernel that the user wrote.
    Kernel {
        /// The kernel, or why there is none.
        definition: Result<Arc<Definition>, BuildError>,
        /// Its scalars in the order of its parameters, each from no parameters.
        scalars: Vec<Function>,
        /// Its arrays in the order of its parameters.
        inputs: Vec<Arc<Node>>,
    },
}

impl Node {
    /// A node for this operation.
    pub fn new(operation: Operation, rank: usize, types: Vec<ScalarType>, place: Place) -> Arc<Node> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mentions = mentioned(&operation);
        let known_extents = known_extents(&operation, &mentions);
        let bounds = Bounds::of(&operation);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new(Node { id, operation, rank, types, known_extents, place, mentions, bounds })
    }

    /// The arrays whose elements it reads.
    pub fn inputs(&self) -> &[Arc<Node>] {
        match &self.operation {
            Operation::Use(_) | Operation::Argument(_) | Operation::Generate { .. } => &[],
            Operation::ZipWith { inputs, .. } | Operation::Kernel { inputs, .. } => inputs,
            Operation::Reshape { input, .. }
            | Operation::Backpermute { input, .. }
            | Operation::Fold { input, .. } => std::slice::from_ref(input),
        }
    }

    /// Its scalar functions.
    pub fn functions(&self) -> Vec<&Function> {
        self.operation.functions()
    }

    /// The functions, from no parameters, whose values decide extents or are fixed in a plan.
    pub fn shaping(&self) -> Vec<&Function> {
        match &self.operation {
            Operation::Generate { shape, .. }
            | Operation::Reshape { shape, .. }
            | Operation::Backpermute { shape, .. } => vec![shape],
            Operation::Kernel { definition: Ok(definition), scalars, .. } => {
                let shaping = definition.shaping();
                let kinds = definition.parameters().iter().zip(shaping);
                let mine = kinds.filter(|(kind, _)| matches!(kind, ParameterKind::Scalar(_)));
                let fixed =
                    |(function, (_, shaping)): (&Function, _)| shaping || argument(function).is_none();
                let pairs = scalars.iter().zip(mine);
                pairs.filter(|pair| fixed((pair.0, pair.1))).map(|(function, _)| function).collect()
            }
            _ => vec![],
        }
    }

    /// "map at src/main.rs:14".
    pub fn place(&self) -> String {
        self.place.to_string()
    }
}

impl Operation {
    fn functions(&self) -> Vec<&Function> {
        match self {
            Operation::Use(_) | Operation::Argument(_) => vec![],
            Operation::Generate { shape, element } => vec![shape, element],
            Operation::ZipWith { function, .. } => vec![function],
            Operation::Reshape { shape, .. } => vec![shape],
            Operation::Backpermute { shape, index, .. } => vec![shape, index],
            Operation::Fold { operator, initial, .. } => vec![operator, initial],
            Operation::Kernel { scalars, .. } => scalars.iter().collect(),
        }
    }
}

/// The scalar argument that a function from no parameters is, if it is just that.
pub(crate) fn argument(function: &Function) -> Option<u32> {
    match (function.results(), function.nodes()) {
        ([result], nodes) => match nodes.get(result.0 as usize) {
            Some(ScalarNode::Variable(Variable::Argument(number), _)) => Some(*number),
            _ => None,
        },
        _ => None,
    }
}

/// What a kernel's parameters are, given the sizes of its arrays and its scalars, each in order.
pub(crate) fn actual(definition: &Definition, sizes: &[i64], scalars: &[Constant]) -> Vec<LaunchArgument> {
    let (mut sizes, mut scalars) = (sizes.iter(), scalars.iter());
    let one = |kind: &ParameterKind| match kind {
        ParameterKind::Array { .. } => sizes.next().map(|size| LaunchArgument::Length(*size as usize)),
        ParameterKind::Scalar(_) => scalars.next().map(|value| LaunchArgument::Scalar(*value)),
    };
    definition.parameters().iter().map_while(one).collect()
}

/// The extents of arrays that a shape mentions, as far as they are known.
struct Known<'a>(&'a [Arc<Node>]);

impl Environment for Known<'_> {
    fn variable(&self, variable: Variable) -> Option<Constant> {
        let Variable::Extent { array, dimension } = variable else { return None };
        let node = self.0.iter().find(|node| node.id == array)?;
        node.known_extents.as_ref()?.get(dimension as usize).map(|extent| Constant::from(*extent))
    }
    fn load(&self, _: u64, _: i64) -> Option<Constant> {
        None
    }
}

fn known_extents(operation: &Operation, mentions: &[Arc<Node>]) -> Option<Vec<i64>> {
    let evaluated = |function: &Function| {
        let known = Known(mentions);
        let is_known = |node: &ScalarNode| match node {
            ScalarNode::Variable(variable, _) => known.variable(*variable).is_some(),
            _ => true,
        };
        if !function.nodes().iter().all(is_known) {
            return None;
        }
        Evaluator::new(function).ok()?.evaluate(&known, &[]).ok()
    };
    let shaped = |shape: &Function| {
        evaluated(shape)?.into_iter().map(|value| value.as_integer().map(|value| value as i64)).collect()
    };
    match operation {
        Operation::Use(data) => Some(data.extents().iter().map(|extent| *extent as i64).collect()),
        Operation::Argument(_) => None,
        Operation::Generate { shape, .. }
        | Operation::Reshape { shape, .. }
        | Operation::Backpermute { shape, .. } => shaped(shape),
        Operation::ZipWith { inputs, .. } => inputs.first()?.known_extents.clone(),
        Operation::Fold { input, .. } => {
            let mut extents = input.known_extents.clone()?;
            extents.pop();
            Some(extents)
        }
        Operation::Kernel { definition, scalars, inputs } => {
            let definition = definition.as_ref().ok()?;
            let size = |input: &Arc<Node>| Some(input.known_extents.as_ref()?.iter().product());
            let sizes = inputs.iter().map(size).collect::<Option<Vec<i64>>>()?;
            let scalars = scalars.iter().map(evaluated).collect::<Option<Vec<_>>>()?.concat();
            let length = definition.length_for(&actual(definition, &sizes, &scalars)).ok()??;
            Some(vec![length as i64])
        }
    }
}

thread_local! {
    /// Nodes whose extents were asked for, by number: a function that mentions one keeps it alive.
    static ASKED: RefCell<HashMap<u64, Weak<Node>>> = RefCell::default();
}

/// Remembers that an expression may mention this node's extents.
pub(crate) fn remember(node: &Arc<Node>) {
    ASKED.with(|asked| {
        let mut asked = asked.borrow_mut();
        if asked.len() >= 64 && asked.len().is_power_of_two() {
            asked.retain(|_, node| node.strong_count() > 0);
        }
        asked.insert(node.id, Arc::downgrade(node));
    });
}

fn mentioned(operation: &Operation) -> Vec<Arc<Node>> {
    let mut ids: Vec<u64> = operation
        .functions()
        .into_iter()
        .flat_map(|function| function.nodes())
        .filter_map(|node| match node {
            ScalarNode::Variable(Variable::Extent { array, .. }, _) => Some(*array),
            _ => None,
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ASKED.with(|asked| ids.iter().filter_map(|id| asked.borrow().get(id).and_then(Weak::upgrade)).collect())
}

impl Drop for Node {
    /// A long chain of operations must not be dropped recursively.
    fn drop(&mut self) {
        let mut waiting: Vec<Arc<Node>> = std::mem::take(&mut self.mentions);
        take_inputs(&mut self.operation, &mut waiting);
        while let Some(node) = waiting.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                waiting.append(&mut node.mentions);
                take_inputs(&mut node.operation, &mut waiting);
            }
        }
    }
}

fn take_inputs(operation: &mut Operation, into: &mut Vec<Arc<Node>>) {
    let taken = std::mem::replace(operation, Operation::Argument(0));
    match taken {
        Operation::ZipWith { inputs, .. } | Operation::Kernel { inputs, .. } => into.extend(inputs),
        Operation::Reshape { input, .. }
        | Operation::Backpermute { input, .. }
        | Operation::Fold { input, .. } => {
            into.push(input);
        }
        Operation::Use(_) | Operation::Argument(_) | Operation::Generate { .. } => {}
    }
}

/// Every node that `roots` need, inputs and mentioned arrays before their users.
pub fn in_order(roots: &[Arc<Node>]) -> Vec<Arc<Node>> {
    let mut order = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut stack: Vec<(Arc<Node>, bool)> = roots.iter().rev().map(|root| (root.clone(), false)).collect();
    while let Some((node, ready)) = stack.pop() {
        if ready {
            order.push(node);
        } else if seen.insert(node.id) {
            stack.push((node.clone(), true));
            stack
                .extend(node.inputs().iter().chain(&node.mentions).rev().map(|input| (input.clone(), false)));
        }
    }
    order
}

/// An array program in text: one line an operation.
pub fn print_program(roots: &[Arc<Node>]) -> String {
    let order = in_order(roots);
    let number: HashMap<u64, usize> =
        order.iter().enumerate().map(|(index, node)| (node.id, index)).collect();
    let mut text = String::new();
    for (index, node) in order.iter().enumerate() {
        let inputs: Vec<String> =
            node.inputs().iter().map(|input| format!("a{}", number[&input.id])).collect();
        let types: Vec<&str> = node.types.iter().map(|ty| ty.name()).collect();
        text.push_str(&format!(
            "a{index}: {}-d ({}) = {}({})  // {}\n",
            node.rank,
            types.join(", "),
            node.operation,
            inputs.join(", "),
            node.place()
        ));
        for function in node.functions() {
            let indented = function.to_string().replace('\n', "\n    ");
            text.push_str(&format!("    {indented}\n"));
        }
    }
    let results: Vec<String> = roots.iter().map(|root| format!("a{}", number[&root.id])).collect();
    text.push_str(&format!("return {}\n", results.join(", ")));
    text
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Use(_) => f.write_str("use"),
            Operation::Argument(number) => write!(f, "argument {number}"),
            Operation::Generate { .. } => f.write_str("generate"),
            Operation::ZipWith { .. } => f.write_str("zip_with"),
            Operation::Reshape { .. } => f.write_str("reshape"),
            Operation::Backpermute { .. } => f.write_str("backpermute"),
            Operation::Fold { .. } => f.write_str("fold"),
            Operation::Kernel { definition: Ok(definition), .. } => {
                let program = &definition.kernel().program;
                write!(f, "kernel {} [{} threads]", program.name, program.threads)
            }
            Operation::Kernel { definition: Err(error), .. } => write!(f, "kernel [{error}]"),
        }
    }
}
