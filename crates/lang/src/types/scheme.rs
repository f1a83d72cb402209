//! Schemes: generalisation of bindings, and instantiation at their uses.

use super::arena::{Arena, LevelId, LevelNode, LevelRef, Node, SizeId, SizeNode, SizeRef, Ty};
use super::hash::NumberMap;
use super::ty::Variable;
use super::unify::MAX_DEPTH;

/// Maximum number of nodes of a type, written out.
pub const MAX_SIZE: usize = 4_000;

/// A variable of a scheme. All are rigid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantified {
    Type(Ty),
    Level(LevelId),
    Size(SizeId),
}

/// A type with variables, while types are inferred.
#[derive(Clone, Debug)]
pub struct InferredScheme {
    pub variables: Vec<Quantified>,
    pub ty: Ty,
}

/// The argument for a variable of a scheme at a use.
#[derive(Clone, Copy, Debug)]
pub enum Chosen {
    Type(Ty),
    Level(LevelRef),
    Size(SizeRef),
}

impl InferredScheme {
    /// Creates a scheme without variables.
    pub fn plain(ty: Ty) -> InferredScheme {
        InferredScheme { variables: Vec::new(), ty }
    }
}

impl Arena {
    /// Generalises a type over the variables that nothing outside knows; `None` if the type is too large.
    pub fn generalise(&mut self, ty: Ty) -> Option<InferredScheme> {
        self.generalise_in_group(ty, self.next_variable())
    }

    /// Generalises one of several types that share variables: those from `first` on are of one that was generalised before.
    pub fn generalise_in_group(&mut self, ty: Ty, first: Variable) -> Option<InferredScheme> {
        let mut quantifier = Quantifier { first, variables: Vec::new(), bound: Vec::new(), nodes: 0 };
        self.quantify(ty, &mut quantifier, 0)?;
        Some(InferredScheme { variables: quantifier.variables, ty })
    }

    fn quantify(&mut self, ty: Ty, quantifier: &mut Quantifier, nested: u32) -> Option<()> {
        quantifier.nodes += 1;
        if quantifier.nodes > MAX_SIZE || nested > MAX_DEPTH {
            return None;
        }
        let (ty, node) = self.find(ty);
        match node {
            Node::Flexible { kind, depth } if depth > self.depth => {
                let variable = self.new_variable(None);
                self.set(ty, Node::Rigid { variable, kind, depth });
                quantifier.add(variable, Quantified::Type(ty));
            }
            Node::Rigid { variable, .. } => quantifier.add(variable, Quantified::Type(ty)),
            Node::Link(_) | Node::Error | Node::Flexible { .. } | Node::Scalar(_) => {}
            Node::Tuple(parts) | Node::Record(_, parts) | Node::Sum(_, parts) => {
                for number in 0..self.parts(parts).len() {
                    self.quantify(self.part(parts, number), quantifier, nested + 1)?;
                }
            }
            Node::Function(parameter, result) => {
                self.quantify(parameter, quantifier, nested + 1)?;
                self.quantify(result, quantifier, nested + 1)?;
            }
            Node::LevelFunction(level, result) => {
                quantifier.bound.push(level);
                self.quantify(result, quantifier, nested + 1)?;
                quantifier.bound.pop();
            }
            Node::Memory(part) => self.quantify(part, quantifier, nested + 1)?,
            Node::Array { element, sizes, level } => {
                self.quantify(element, quantifier, nested + 1)?;
                for number in 0..self.size_parts(sizes).len() {
                    self.quantify_size(self.size_part(sizes, number), quantifier);
                }
                if let Some(level) = level {
                    self.quantify_level(level, quantifier);
                }
            }
        }
        Some(())
    }

    fn quantify_size(&mut self, size: SizeRef, quantifier: &mut Quantifier) {
        let SizeRef::Variable(size) = self.find_size(size) else { return };
        match self.size_node(size) {
            SizeNode::Flexible { depth } if depth > self.depth => {
                let variable = self.new_variable(None);
                self.set_size(size, SizeNode::Rigid { variable });
                quantifier.add(variable, Quantified::Size(size));
            }
            SizeNode::Rigid { variable } => quantifier.add(variable, Quantified::Size(size)),
            _ => {}
        }
    }

    fn quantify_level(&mut self, level: LevelRef, quantifier: &mut Quantifier) {
        let Some(level) = self.find_level(level).variable else { return };
        match self.level_node(level) {
            LevelNode::Flexible { depth } if depth > self.depth => {
                let variable = self.new_variable(None);
                self.set_level(level, LevelNode::Rigid { variable, depth });
                quantifier.add(variable, Quantified::Level(level));
            }
            LevelNode::Rigid { variable, .. } if !quantifier.bound.contains(&level) => {
                quantifier.add(variable, Quantified::Level(level));
            }
            _ => {}
        }
    }

    /// Instantiates a scheme with new variables, and returns these.
    pub fn instantiate(&mut self, scheme: &InferredScheme) -> (Ty, Vec<Chosen>) {
        if scheme.variables.is_empty() {
            return (scheme.ty, Vec::new());
        }
        let mut copy = Copy::default();
        let mut chosen = Vec::with_capacity(scheme.variables.len());
        for variable in &scheme.variables {
            chosen.push(match *variable {
                Quantified::Type(ty) => {
                    let Node::Rigid { kind, .. } = self.look(ty).1 else { continue };
                    let fresh = self.fresh(kind);
                    copy.types.insert(ty, fresh);
                    Chosen::Type(fresh)
                }
                Quantified::Level(level) => {
                    let fresh = self.fresh_level();
                    copy.levels.push((level, fresh));
                    Chosen::Level(fresh)
                }
                Quantified::Size(size) => {
                    let fresh = self.fresh_size();
                    copy.sizes.push((size, fresh));
                    Chosen::Size(fresh)
                }
            });
        }
        (self.copy(scheme.ty, &mut copy, 0), chosen)
    }

    /// Substitutes a level for a level variable that a type binds; `None` if the type is too large.
    pub fn substitute_level(&mut self, ty: Ty, variable: LevelId, level: LevelRef) -> Option<Ty> {
        let mut copy = Copy { levels: vec![(variable, level)], ..Copy::default() };
        let ty = self.copy(ty, &mut copy, 0);
        (!copy.too_large).then_some(ty)
    }

    /// Copies a type with replacements. Parts without anything to replace are shared.
    fn copy(&mut self, ty: Ty, copy: &mut Copy, nested: u32) -> Ty {
        let (ty, node) = self.find(ty);
        if let Some(done) = copy.types.get(&ty) {
            return *done;
        }
        if nested > MAX_DEPTH {
            copy.too_large = true;
            return ty;
        }
        let new = match node {
            Node::Link(_) | Node::Error | Node::Flexible { .. } | Node::Rigid { .. } | Node::Scalar(_) => {
                return ty;
            }
            Node::Tuple(parts) | Node::Record(_, parts) | Node::Sum(_, parts) => {
                let old = self.parts(parts).to_vec();
                let new: Vec<Ty> = old.iter().map(|part| self.copy(*part, copy, nested + 1)).collect();
                if old.iter().zip(&new).all(|(old, new)| self.look(*old).0 == *new) {
                    ty
                } else {
                    let parts = self.list(&new);
                    self.add(match node {
                        Node::Record(shape, _) => Node::Record(shape, parts),
                        Node::Sum(sum, _) => Node::Sum(sum, parts),
                        _ => Node::Tuple(parts),
                    })
                }
            }
            Node::Function(parameter, result) => {
                let (p, r) = (self.copy(parameter, copy, nested + 1), self.copy(result, copy, nested + 1));
                if (p, r) == (self.look(parameter).0, self.look(result).0) { ty } else { self.function(p, r) }
            }
            Node::LevelFunction(bound, result) => {
                // A substituted level must not be captured by the binder here.
                let captured =
                    copy.levels.iter().any(|(_, level)| self.find_level(*level).variable == Some(bound));
                let (bound, result) = if captured {
                    let new = self.rigid_level(None, u32::MAX);
                    let renamed = LevelRef { above: 0, variable: Some(new) };
                    (new, self.substitute_level(result, bound, renamed).unwrap_or(result))
                } else {
                    (bound, result)
                };
                let new = self.copy(result, copy, nested + 1);
                if new == self.look(result).0 && !captured {
                    ty
                } else {
                    self.add(Node::LevelFunction(bound, new))
                }
            }
            Node::Array { element, sizes, level } => {
                let new_element = self.copy(element, copy, nested + 1);
                let old: Vec<SizeRef> =
                    self.size_parts(sizes).iter().map(|size| self.find_size(*size)).collect();
                let new: Vec<SizeRef> = old.iter().map(|size| copy.size(*size)).collect();
                let level = level.map(|level| self.find_level(level));
                let new_level = level.map(|level| copy.level(level));
                if (new_element, new_level) == (self.look(element).0, level) && new == old {
                    ty
                } else {
                    self.array(new_element, &new, new_level)
                }
            }
            Node::Memory(element) => {
                let new = self.copy(element, copy, nested + 1);
                if new == self.look(element).0 { ty } else { self.add(Node::Memory(new)) }
            }
        };
        copy.types.insert(ty, new);
        new
    }

    /// Copies a type without any sizes.
    pub fn without_sizes(&mut self, ty: Ty) -> Ty {
        let mut copy = Copy { no_sizes: true, ..Copy::default() };
        self.copy(ty, &mut copy, 0)
    }

    /// Measures a type, written out with the fields of its sums: number of nodes and nesting depth. `known` caches the measures of nodes.
    pub fn measure(&self, ty: Ty, known: &mut NumberMap<Ty, (u32, u32)>, nested: u32) -> (u32, u32) {
        let (ty, node) = self.look(ty);
        if nested > MAX_DEPTH {
            return (0, MAX_DEPTH);
        }
        let children: &[Ty] = match &node {
            Node::Link(_) | Node::Error | Node::Flexible { .. } | Node::Rigid { .. } | Node::Scalar(_) => {
                return (1, 1);
            }
            Node::Tuple(parts) | Node::Record(_, parts) | Node::Sum(_, parts) => self.parts(*parts),
            Node::Function(parameter, result) => &[*parameter, *result],
            Node::LevelFunction(_, part) | Node::Memory(part) => &[*part],
            Node::Array { element, .. } => &[*element],
        };
        if let Some(size) = known.get(&ty) {
            return *size;
        }
        let (mut nodes, mut deep) = (1u32, 0);
        for child in children {
            let (more, below) = self.measure(*child, known, nested + 1);
            nodes = nodes.saturating_add(more);
            deep = deep.max(below);
        }
        if let Node::Sum(sum, _) = node {
            // An upper bound: as if all fields had each of the arguments.
            let fields = self.sums[sum as usize].size;
            nodes = nodes.saturating_mul(fields.0);
            deep = deep.saturating_add(fields.1);
        }
        known.insert(ty, (nodes, deep + 1));
        (nodes, deep + 1)
    }

    /// Whether a value of a type is memory that changes, or has some as a part.
    pub fn has_memory(&self, ty: Ty) -> bool {
        let mut waiting = vec![ty];
        // Shared parts may be visited twice. Of a type that is too large, no more nodes are visited than a scheme may have.
        for _ in 0..MAX_SIZE {
            let Some(ty) = waiting.pop() else { break };
            match self.look(ty).1 {
                Node::Memory(_) => return true,
                Node::Tuple(parts) | Node::Record(_, parts) => waiting.extend(self.parts(parts)),
                Node::Array { element, .. } => waiting.push(element),
                _ => {}
            }
        }
        false
    }

    /// Measures several types together, and says whether they are too large.
    pub fn measure_all(&self, types: &[Ty]) -> ((u32, u32), bool) {
        let (mut known, mut nodes, mut deep) = (NumberMap::default(), 1u32, 0);
        for ty in types {
            let (more, below) = self.measure(*ty, &mut known, 0);
            nodes = nodes.saturating_add(more);
            deep = deep.max(below);
        }
        ((nodes, deep), nodes as usize > MAX_SIZE || deep >= MAX_DEPTH)
    }

    /// Whether a type is small enough to be written out.
    pub fn is_small(&self, ty: Ty, known: &mut NumberMap<Ty, (u32, u32)>) -> bool {
        let (nodes, deep) = self.measure(ty, known, 0);
        nodes as usize <= MAX_SIZE && deep < MAX_DEPTH
    }
}

/// The variables of a scheme that is being made.
struct Quantifier {
    /// Variables from this one on are of the group of bindings that is being generalised.
    first: Variable,
    variables: Vec<Quantified>,
    /// Levels that functions in the type bind.
    bound: Vec<LevelId>,
    nodes: usize,
}

impl Quantifier {
    fn add(&mut self, variable: Variable, quantified: Quantified) {
        if variable >= self.first && !self.variables.contains(&quantified) {
            self.variables.push(quantified);
        }
    }
}

/// The replacements in a copy of a type.
#[derive(Default)]
struct Copy {
    /// Replacements of nodes, including nodes that are copied already.
    types: NumberMap<Ty, Ty>,
    levels: Vec<(LevelId, LevelRef)>,
    sizes: Vec<(SizeId, SizeRef)>,
    no_sizes: bool,
    too_large: bool,
}

impl Copy {
    fn level(&self, level: LevelRef) -> LevelRef {
        match self.levels.iter().find(|(from, _)| level.variable == Some(*from)) {
            Some((_, to)) => LevelRef { above: level.above + to.above, variable: to.variable },
            None => level,
        }
    }

    fn size(&self, size: SizeRef) -> SizeRef {
        match self.sizes.iter().find(|(from, _)| size == SizeRef::Variable(*from)) {
            _ if self.no_sizes => SizeRef::Any,
            Some((_, to)) => *to,
            None => size,
        }
    }
}
