//! The hash-consed graph of scalar expressions.
//!
//! Equal expressions are one node, operands stand before their users, and every node is simplified as it is made. The
//! graph is untyped data: [`crate::Exp`] is the typed way to write it. It knows nothing of arrays but their numbers.

use crate::Op;
use crate::message::PlacedMessage;
use crate::place::Place;
use crate::simplify;
use crate::types::{Constant, ScalarType};
use std::collections::HashMap;
use std::fmt;

/// A node of a [`Graph`] or a [`crate::Function`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u32);

/// A value that comes from outside the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    /// A parameter of the function.
    Parameter(u32),
    /// A scalar argument of the whole array program.
    Argument(u32),
    /// An extent of an array of the array program.
    Extent {
        /// The array's number.
        array: u64,
        /// The dimension, 0 is the outermost.
        dimension: u32,
    },
    /// A value of the kernel that is being built.
    Local(u32),
}

/// A place in the user's program where something can fail.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Site {
    /// The operation, and where the user wrote it.
    pub place: Place,
    /// Kind of the failure.
    pub kind: FailureKind,
}

/// Kind of a run-time failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// An index is not below the extent.
    OutOfBounds,
    /// An integer was divided by zero.
    DivisionByZero,
    /// Two arrays that belong together have different lengths.
    LengthsDiffer,
    /// The elements of an array do not fill parts of the given size.
    NotWhole,
    /// An array has more elements than there is room for.
    TooLong,
    /// A number of elements is negative.
    NegativeSize,
    /// A reduction without an initial value has no element.
    NoElement,
    /// A function of integers has no value at its argument.
    OutsideDomain,
}

macro_rules! failure_names {
    ($($kind:ident $name:literal),* $(,)?) => {
        impl FailureKind {
            /// The name in text forms.
            pub fn name(self) -> &'static str { match self { $(FailureKind::$kind => $name),* } }
            /// The kind with this name.
            pub fn from_name(name: &str) -> Option<FailureKind> {
                match name { $($name => Some(FailureKind::$kind),)* _ => None }
            }
        }
    };
}
failure_names! {
    OutOfBounds "out_of_bounds", DivisionByZero "division_by_zero", LengthsDiffer "lengths_differ", NotWhole "not_whole",
    TooLong "too_long", NegativeSize "negative_size", NoElement "no_element",
    OutsideDomain "outside_domain",
}

impl FailureKind {
    /// Describes a failure with this index and bound: a message, and a hint about what to write instead.
    pub fn describe(self, index: i64, bound: i64) -> (String, String) {
        let what = match self {
            FailureKind::OutOfBounds => format!("index {index} out of bounds for length {bound}"),
            FailureKind::DivisionByZero => "integer division by zero".to_string(),
            FailureKind::LengthsDiffer => format!("arrays of {index} and of {bound} elements"),
            FailureKind::NotWhole => format!("{index} elements do not fill parts of {bound}"),
            FailureKind::TooLong => format!("{index} elements, and there is room for {bound}"),
            FailureKind::NegativeSize => format!("a size of {index}"),
            FailureKind::NoElement => "there is no element to begin with".to_string(),
            FailureKind::OutsideDomain => format!("there is no result for {index}"),
        };
        let help = match self {
            FailureKind::OutOfBounds | FailureKind::DivisionByZero => String::new(),
            FailureKind::LengthsDiffer => {
                format!("; `take({})` of the longer one, or make the shorter one longer with `padded`", index.min(bound))
            }
            FailureKind::NotWhole => {
                "; cut into `tiles`, of which the last may be shorter, or make the length a multiple with `take` \
                 or `padded`"
                    .to_string()
            }
            FailureKind::TooLong => "; `take` as many as there is room for".to_string(),
            FailureKind::NegativeSize => "; a source without elements has the size 0: `size.max(0)`".to_string(),
            FailureKind::NoElement => "; reduce with `fold` and an initial value, or leave out what is empty".to_string(),
            FailureKind::OutsideDomain => {
                "; the method whose name begins with `checked_` gives an `Option` instead".to_string()
            }
        };
        (what, help)
    }
}

impl Site {
    /// The message for a failure here with these particulars.
    pub fn message(&self, index: i64, bound: i64) -> PlacedMessage {
        let (what, help) = self.kind.describe(index, bound);
        PlacedMessage::at(what, self.place).followed_by(&help)
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in {}", self.kind, self.place)
    }
}

/// Up to three operands, inline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operands {
    ids: [Id; 3],
    count: u8,
}

impl Operands {
    /// The first three of these.
    pub fn new(ids: &[Id]) -> Operands {
        let mut operands = Operands { ids: [Id(0); 3], count: ids.len().min(3) as u8 };
        for (to, from) in operands.ids.iter_mut().zip(ids) {
            *to = *from;
        }
        operands
    }

    /// The operands.
    pub fn as_slice(&self) -> &[Id] {
        &self.ids[..self.count as usize]
    }
}

/// A scalar of an element of an array of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementOf {
    /// The array's number.
    pub array: u64,
    /// Column of the element: the position of the scalar among the element's scalars.
    pub column: u32,
    /// Its type.
    pub ty: ScalarType,
    /// The failure to record for an index out of bounds; without one, the value there is zero.
    pub site: Option<Site>,
}

/// One expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A constant.
    Constant(Constant),
    /// A value from outside.
    Variable(Variable, ScalarType),
    /// A primitive operation.
    Apply {
        /// The operation.
        op: Op,
        /// The type of the result.
        ty: ScalarType,
        /// The operands.
        operands: Operands,
    },
    /// An element of an array that does not change while the expression is evaluated.
    Load {
        /// The array's number.
        array: u64,
        /// The type of the element.
        ty: ScalarType,
        /// Its index.
        index: Id,
        /// Whether the index is in bounds only where the expression demands this node, so that it must never be
        /// evaluated earlier or elsewhere.
        guarded: bool,
    },
    /// An element of an array of a program, at any index: functions of array programs have it, and kernels do not.
    Element {
        /// The array, and the column of its element.
        of: ElementOf,
        /// The index, an `i64` for each dimension.
        index: Box<[Id]>,
    },
    /// A `bool`: the condition. Where it is evaluated and does not hold, a failure is recorded.
    Check {
        /// The condition that must hold.
        condition: Id,
        /// Where the user wrote it.
        site: Site,
        /// The offending value, an `i64`.
        index: Id,
        /// The exclusive upper bound of that value, an `i64`.
        bound: Id,
    },
    /// Evaluates one side only; its values are taken with [`Node::Project`].
    Branch {
        /// A `bool`.
        condition: Id,
        /// The values if it holds.
        then: Box<[Id]>,
        /// The values otherwise.
        otherwise: Box<[Id]>,
    },
    /// Repeats while the condition holds; its values are taken with [`Node::Project`].
    Loop {
        /// Number of the loop, which its variables carry too. No two loops of a graph share one, because a loop may be
        /// evaluated inside any other.
        number: u32,
        /// The variables' first values.
        initial: Box<[Id]>,
        /// A `bool` over the variables.
        condition: Id,
        /// The variables' next values.
        next: Box<[Id]>,
    },
    /// A variable of a loop.
    LoopVariable {
        /// Number of the loop.
        number: u32,
        /// Position among the loop's variables.
        index: u32,
        /// Its type.
        ty: ScalarType,
    },
    /// One of the values of a [`Node::Branch`] or [`Node::Loop`].
    Project {
        /// The branch or loop.
        of: Id,
        /// Position of the value.
        index: u32,
        /// Its type.
        ty: ScalarType,
    },
    /// A mistake in the program; reported when it is compiled.
    Invalid {
        /// Description of the mistake.
        message: Box<str>,
        /// The type that was wanted.
        ty: ScalarType,
    },
}

impl Node {
    /// The type of the value; `None` for a branch or loop, which has several values.
    pub fn ty(&self) -> Option<ScalarType> {
        match self {
            Node::Constant(constant) => Some(constant.ty()),
            Node::Variable(_, ty)
            | Node::Apply { ty, .. }
            | Node::Load { ty, .. }
            | Node::LoopVariable { ty, .. }
            | Node::Project { ty, .. }
            | Node::Invalid { ty, .. } => Some(*ty),
            Node::Element { of, .. } => Some(of.ty),
            Node::Check { .. } => Some(ScalarType::Bool),
            Node::Branch { .. } | Node::Loop { .. } => None,
        }
    }

    /// Calls `f` on every operand.
    pub fn for_each_operand(&self, mut f: impl FnMut(Id)) {
        match self {
            Node::Constant(_) | Node::Variable(..) | Node::LoopVariable { .. } | Node::Invalid { .. } => {}
            Node::Apply { operands, .. } => operands.as_slice().iter().copied().for_each(f),
            Node::Load { index, .. } => f(*index),
            Node::Element { index, .. } => index.iter().copied().for_each(f),
            Node::Check { condition, index, bound, .. } => {
                [*condition, *index, *bound].into_iter().for_each(f)
            }
            Node::Branch { condition, then, otherwise } => {
                f(*condition);
                then.iter().chain(otherwise.iter()).copied().for_each(f);
            }
            Node::Loop { initial, condition, next, .. } => {
                initial.iter().chain(next.iter()).copied().for_each(&mut f);
                f(*condition);
            }
            Node::Project { of, .. } => f(*of),
        }
    }

    /// The same node over other operands.
    pub fn map_operands(&self, mut f: impl FnMut(Id) -> Id) -> Node {
        let mut all = |ids: &[Id]| ids.iter().map(|id| f(*id)).collect::<Box<[Id]>>();
        match self {
            Node::Apply { op, ty, operands } => {
                Node::Apply { op: *op, ty: *ty, operands: Operands::new(&all(operands.as_slice())) }
            }
            Node::Branch { condition, then, otherwise } => {
                let (then, otherwise) = (all(then), all(otherwise));
                Node::Branch { condition: f(*condition), then, otherwise }
            }
            Node::Loop { number, initial, condition, next } => {
                let (initial, next) = (all(initial), all(next));
                Node::Loop { number: *number, initial, condition: f(*condition), next }
            }
            Node::Load { array, ty, index, guarded } => {
                Node::Load { array: *array, ty: *ty, index: f(*index), guarded: *guarded }
            }
            Node::Element { of, index } => Node::Element { of: *of, index: all(index) },
            Node::Check { condition, site, index, bound } => {
                Node::Check { condition: f(*condition), site: *site, index: f(*index), bound: f(*bound) }
            }
            Node::Project { of, index, ty } => Node::Project { of: f(*of), index: *index, ty: *ty },
            Node::Constant(_) | Node::Variable(..) | Node::LoopVariable { .. } | Node::Invalid { .. } => {
                self.clone()
            }
        }
    }
}

/// A graph under construction.
#[derive(Default)]
pub struct Graph {
    nodes: Vec<Node>,
    known: HashMap<Node, Id>,
}

impl Graph {
    /// The nodes, operands before users.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node with this number.
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The constant that a node is, if it is one.
    pub fn constant(&self, id: Id) -> Option<Constant> {
        match self.node(id) {
            Node::Constant(constant) => Some(*constant),
            _ => None,
        }
    }

    /// Adds a node, simplified; an equal one that is there already is used again.
    pub fn add(&mut self, node: Node) -> Id {
        match simplify::simplify(self, node) {
            simplify::Simplified::Known(id) => id,
            simplify::Simplified::Node(node) => self.intern(node),
        }
    }

    /// Adds a node as it is.
    pub(crate) fn intern(&mut self, node: Node) -> Id {
        if let Some(id) = self.known.get(&node) {
            return *id;
        }
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.known.insert(node, id);
        id
    }

    /// Adds a node that equals no other one.
    pub(crate) fn add_alone(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        Id(self.nodes.len() as u32 - 1)
    }

    /// Adds a primitive operation.
    pub fn apply(&mut self, op: Op, ty: ScalarType, operands: &[Id]) -> Id {
        self.add(Node::Apply { op, ty, operands: Operands::new(operands) })
    }

    /// Forgets every node from this length on.
    pub(crate) fn truncate(&mut self, length: usize) {
        for node in self.nodes.drain(length..) {
            self.known.remove(&node);
        }
        // One large program must not keep its memory for ever.
        if self.nodes.is_empty() && self.nodes.capacity() > 1 << 12 {
            *self = Graph::default();
        }
    }
}
