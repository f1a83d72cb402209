//! Types during inference: nodes in one table, which unification links (union-find). A node is small and can be
//! copied; lists of parts are ranges of another table.
//!
//! Depths say which variables a binding may generalise: a variable of a greater depth than the binding's surroundings occurs
//! nowhere outside of it.

use super::ty::{Kind, Variable};
use crate::ast::Name;
use pumice_scalar::ScalarType;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of nodes that one comparison of types may visit.
const MAX_STEPS: u32 = 100_000;

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty(pub u32);

/// A range of the table of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    start: u32,
    length: u32,
}

/// The content of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A link to an equal node.
    Link(Ty),
    /// The type of an erroneous expression, whose error has been reported; unifies with every type.
    Error,
    /// A unification variable.
    Flexible {
        kind: Kind,
        depth: u32,
    },
    /// A variable of a scheme, which stands for itself alone.
    Rigid {
        variable: Variable,
        kind: Kind,
        depth: u32,
    },
    Scalar(ScalarType),
    Tuple(Parts),
    /// The record's list of names, and its fields.
    Record(u32, Parts),
    /// The sum's number, and its arguments.
    Sum(u32, Parts),
    Function(Ty, Ty),
    /// The level that is bound is a rigid one.
    LevelFunction(LevelId, Ty),
    Array {
        element: Ty,
        sizes: Parts,
        level: Option<LevelRef>,
    },
    Memory(Ty),
}

/// A level variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelId(pub u32);

/// A level: so many above a variable, or above `thread`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelRef {
    pub above: u32,
    pub variable: Option<LevelId>,
}

/// The content of a level variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelNode {
    Link(LevelRef),
    Flexible { depth: u32 },
    Rigid { variable: Variable, depth: u32 },
}

/// A size variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SizeId(pub u32);

/// A size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SizeRef {
    Any,
    Number(u64),
    Variable(SizeId),
}

/// The content of a size variable. Rigid ones are soft: whether they equal another size is checked at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeNode {
    Link(SizeRef),
    Flexible { depth: u32 },
    Rigid { variable: Variable },
}

/// Facts about a sum that decide which kinds it is of.
#[derive(Clone, Debug)]
pub struct SumKind {
    pub name: Name,
    /// The narrowest kind that it is of if its arguments are.
    pub narrowest: Kind,
    /// Number of nodes in all fields together, and their nesting depth.
    pub size: (u32, u32),
}

/// A change that can be undone.
pub enum Change {
    Type(Ty, Node),
    Level(LevelId, LevelNode),
    Size(SizeId, SizeNode),
}

/// The tables.
#[derive(Default)]
pub struct Arena {
    nodes: Vec<Node>,
    parts: Vec<Ty>,
    levels: Vec<LevelNode>,
    sizes: Vec<SizeNode>,
    size_parts: Vec<SizeRef>,
    shapes: Vec<Arc<[Name]>>,
    shape_numbers: HashMap<Arc<[Name]>, u32>,
    /// Declared sums, by number.
    pub sums: Vec<SumKind>,
    /// The names of rigid variables that have one in the source.
    pub names: HashMap<Variable, Name>,
    next_variable: Variable,
    /// Nesting depth of the current binding.
    pub depth: u32,
    /// Changes since `begin`, for `undo`.
    trail: Vec<Change>,
    /// Number of nodes that may still be visited before a type counts as too large.
    steps: u32,
    /// Number of the walk that saw each node last, so that shared nodes are visited once.
    marks: Vec<u32>,
    walk: u32,
}

impl Arena {
    pub fn add(&mut self, node: Node) -> Ty {
        self.nodes.push(node);
        Ty(self.nodes.len() as u32 - 1)
    }

    /// Returns the node that represents this one, and its content. Shortens the path there.
    pub fn find(&mut self, ty: Ty) -> (Ty, Node) {
        let (root, node) = self.look(ty);
        let mut at = ty;
        // A path of one link needs no shortening.
        while let Node::Link(next) = self.nodes[at.0 as usize] {
            if next != root {
                // Recorded in the trail, because a link on the path may be undone.
                self.set(at, Node::Link(root));
            }
            at = next;
        }
        (root, node)
    }

    /// Does what `find` does without shortening the path.
    pub fn look(&self, mut ty: Ty) -> (Ty, Node) {
        loop {
            match self.nodes[ty.0 as usize] {
                Node::Link(next) => ty = next,
                node => return (ty, node),
            }
        }
    }

    pub fn set(&mut self, ty: Ty, node: Node) {
        let before = std::mem::replace(&mut self.nodes[ty.0 as usize], node);
        self.trail.push(Change::Type(ty, before));
    }

    /// Creates a unification variable.
    pub fn fresh(&mut self, kind: Kind) -> Ty {
        self.add(Node::Flexible { kind, depth: self.depth })
    }

    pub fn new_variable(&mut self, name: Option<Name>) -> Variable {
        let variable = self.next_variable;
        self.next_variable += 1;
        if let Some(name) = name {
            self.names.insert(variable, name);
        }
        variable
    }

    /// Returns the number that the next variable of a scheme will have.
    pub fn next_variable(&self) -> Variable {
        self.next_variable
    }

    pub fn scalar(&mut self, scalar: ScalarType) -> Ty {
        self.add(Node::Scalar(scalar))
    }

    pub fn function(&mut self, parameter: Ty, result: Ty) -> Ty {
        self.add(Node::Function(parameter, result))
    }

    pub fn tuple(&mut self, parts: &[Ty]) -> Ty {
        let parts = self.list(parts);
        self.add(Node::Tuple(parts))
    }

    /// Creates a record of fields in any order; of several fields of one name only one counts.
    pub fn record(&mut self, mut fields: Vec<(Name, Ty)>) -> Ty {
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        fields.dedup_by(|a, b| a.0 == b.0);
        let names: Arc<[Name]> = fields.iter().map(|(name, _)| name.clone()).collect();
        let shape = match self.shape_numbers.get(&names) {
            Some(shape) => *shape,
            None => {
                let shape = self.shapes.len() as u32;
                self.shapes.push(names.clone());
                self.shape_numbers.insert(names, shape);
                shape
            }
        };
        let types: Vec<Ty> = fields.into_iter().map(|(_, ty)| ty).collect();
        let parts = self.list(&types);
        self.add(Node::Record(shape, parts))
    }

    /// Returns the names of a record's fields, in their order.
    pub fn shape(&self, shape: u32) -> Arc<[Name]> {
        self.shapes[shape as usize].clone()
    }

    /// Creates the type of a one-dimensional pull array of unspecified size.
    pub fn vector(&mut self, element: Ty) -> Ty {
        self.array(element, &[SizeRef::Any], None)
    }

    pub fn array(&mut self, element: Ty, sizes: &[SizeRef], level: Option<LevelRef>) -> Ty {
        let sizes = self.size_list(sizes);
        self.add(Node::Array { element, sizes, level })
    }

    pub fn list(&mut self, parts: &[Ty]) -> Parts {
        let start = self.parts.len() as u32;
        self.parts.extend_from_slice(parts);
        Parts { start, length: parts.len() as u32 }
    }

    pub fn size_list(&mut self, sizes: &[SizeRef]) -> Parts {
        let start = self.size_parts.len() as u32;
        self.size_parts.extend_from_slice(sizes);
        Parts { start, length: sizes.len() as u32 }
    }

    pub fn parts(&self, parts: Parts) -> &[Ty] {
        &self.parts[parts.start as usize..(parts.start + parts.length) as usize]
    }

    pub fn part(&self, parts: Parts, number: usize) -> Ty {
        self.parts[parts.start as usize + number]
    }

    pub fn size_parts(&self, parts: Parts) -> &[SizeRef] {
        &self.size_parts[parts.start as usize..(parts.start + parts.length) as usize]
    }

    pub fn size_part(&self, parts: Parts, number: usize) -> SizeRef {
        self.size_parts[parts.start as usize + number]
    }

    pub fn fresh_level(&mut self) -> LevelRef {
        self.levels.push(LevelNode::Flexible { depth: self.depth });
        LevelRef { above: 0, variable: Some(LevelId(self.levels.len() as u32 - 1)) }
    }

    pub fn rigid_level(&mut self, name: Option<Name>, depth: u32) -> LevelId {
        let variable = self.new_variable(name);
        self.levels.push(LevelNode::Rigid { variable, depth });
        LevelId(self.levels.len() as u32 - 1)
    }

    pub fn level_node(&self, level: LevelId) -> LevelNode {
        self.levels[level.0 as usize]
    }

    pub fn set_level(&mut self, level: LevelId, node: LevelNode) {
        let before = std::mem::replace(&mut self.levels[level.0 as usize], node);
        self.trail.push(Change::Level(level, before));
    }

    /// Expresses a level in variables that are not linked.
    pub fn find_level(&self, mut level: LevelRef) -> LevelRef {
        while let Some(LevelNode::Link(to)) = level.variable.map(|variable| self.levels[variable.0 as usize])
        {
            level = LevelRef { above: level.above.saturating_add(to.above), variable: to.variable };
        }
        level
    }

    pub fn fresh_size(&mut self) -> SizeRef {
        self.sizes.push(SizeNode::Flexible { depth: self.depth });
        SizeRef::Variable(SizeId(self.sizes.len() as u32 - 1))
    }

    pub fn size_node(&self, size: SizeId) -> SizeNode {
        self.sizes[size.0 as usize]
    }

    pub fn set_size(&mut self, size: SizeId, node: SizeNode) {
        let before = std::mem::replace(&mut self.sizes[size.0 as usize], node);
        self.trail.push(Change::Size(size, before));
    }

    pub fn find_size(&self, mut size: SizeRef) -> SizeRef {
        while let SizeRef::Variable(variable) = size {
            match self.sizes[variable.0 as usize] {
                SizeNode::Link(to) => size = to,
                _ => break,
            }
        }
        size
    }

    /// Starts to record changes for `undo` and to count steps.
    pub fn begin(&mut self) {
        self.trail.clear();
        self.steps = MAX_STEPS;
    }

    /// Counts a visit of a node. Returns false after too many: shared parts can make a type exponentially large.
    pub fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
    }

    /// Undoes all changes since `begin`.
    pub fn undo(&mut self) {
        while let Some(change) = self.trail.pop() {
            match change {
                Change::Type(ty, node) => self.nodes[ty.0 as usize] = node,
                Change::Level(level, node) => self.levels[level.0 as usize] = node,
                Change::Size(size, node) => self.sizes[size.0 as usize] = node,
            }
        }
    }

    /// Begins a walk that sees every node once.
    pub fn begin_walk(&mut self) {
        self.walk += 1;
        self.marks.resize(self.nodes.len(), 0);
    }

    /// Whether the walk sees this node for the first time.
    pub fn first_seen(&mut self, ty: Ty) -> bool {
        match self.marks.get_mut(ty.0 as usize) {
            Some(mark) => std::mem::replace(mark, self.walk) != self.walk,
            None => true,
        }
    }
}
