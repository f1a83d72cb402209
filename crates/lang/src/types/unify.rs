//! Unifies two types, or says why they differ. Equal nodes become links to each other, so that types that share parts
//! are not walked twice.

use super::arena::{Arena, LevelId, LevelNode, LevelRef, Node, Parts, SizeNode, SizeRef, Ty};
use super::ty::Kind;

/// Maximum nesting depth of types.
pub const MAX_DEPTH: u32 = 300;

/// The reason why two types are not the same. A clash names the smallest parts that differ: the needed one, then the actual one.
#[derive(Clone, Copy, Debug)]
pub enum Clash {
    Different(Ty, Ty),
    /// A type is not of a kind that is needed.
    Kind(Ty, Kind),
    /// Two kinds that have no type in common.
    Kinds(Kind, Kind),
    /// A type would have to contain itself.
    Occurs,
    Levels(LevelRef, LevelRef),
    Sizes(u64, u64),
    Ranks(usize, usize),
    /// A pull array is needed and there is a push array.
    NeedsPull,
    /// A push array is needed and there is a pull array.
    NeedsPush(LevelRef),
    /// A variable of a level function would be known outside of it.
    Escape,
    TooLarge,
}

type Outcome<T> = Result<T, Clash>;

impl Arena {
    /// Makes a type equal to the needed one, or changes nothing.
    pub fn unify(&mut self, needed: Ty, there: Ty) -> Outcome<()> {
        self.begin();
        let mut sizes = Sizes { lenient: false, clashed: false };
        self.unify_at(needed, there, &mut sizes, 0).map(|_| ()).inspect_err(|_| self.undo())
    }

    /// Makes two types equal but for their sizes, or changes nothing. Says whether sizes clash.
    pub fn unify_but_sizes(&mut self, needed: Ty, there: Ty) -> Outcome<bool> {
        self.begin();
        let mut sizes = Sizes { lenient: true, clashed: false };
        self.unify_at(needed, there, &mut sizes, 0).inspect_err(|_| self.undo())?;
        Ok(sizes.clashed)
    }

    /// Restricts a type to a kind, or changes nothing.
    pub fn require(&mut self, ty: Ty, kind: Kind) -> Outcome<()> {
        self.begin();
        self.begin_walk();
        self.require_at(ty, kind, 0).inspect_err(|_| self.undo())
    }

    /// Unifies two types. Returns whether they are equal in all sizes too; only then may one node represent the other.
    fn unify_at(&mut self, needed: Ty, there: Ty, sizes: &mut Sizes, nested: u32) -> Outcome<bool> {
        let ((a, needed), (b, there)) = (self.find(needed), self.find(there));
        if a == b {
            return Ok(true);
        }
        if nested > MAX_DEPTH || !self.step() {
            return Err(Clash::TooLarge);
        }
        let mut exact = true;
        match (needed, there) {
            (Node::Error, _) | (_, Node::Error) => return Ok(true),
            (Node::Flexible { kind: k1, depth: d1 }, Node::Flexible { kind: k2, depth: d2 }) => {
                let kind = k1.meet(k2).ok_or(Clash::Kinds(k1, k2))?;
                self.set(b, Node::Flexible { kind, depth: d1.min(d2) });
            }
            (Node::Flexible { kind, depth }, _) => {
                self.bind(a, b, kind, depth, nested)?;
                return Ok(true);
            }
            (_, Node::Flexible { kind, depth }) => {
                self.bind(b, a, kind, depth, nested)?;
                return Ok(true);
            }
            (Node::Scalar(x), Node::Scalar(y)) if x == y => {}
            (Node::Tuple(x), Node::Tuple(y)) if self.parts(x).len() == self.parts(y).len() => {
                for number in 0..self.parts(x).len() {
                    exact &= self.unify_at(self.part(x, number), self.part(y, number), sizes, nested + 1)?;
                }
            }
            (Node::Record(shape, x), Node::Record(other, y)) | (Node::Sum(shape, x), Node::Sum(other, y))
                if shape == other =>
            {
                for number in 0..self.parts(x).len() {
                    exact &= self.unify_at(self.part(x, number), self.part(y, number), sizes, nested + 1)?;
                }
            }
            (Node::Function(p1, r1), Node::Function(p2, r2)) => {
                exact &= self.unify_at(p1, p2, sizes, nested + 1)?;
                exact &= self.unify_at(r1, r2, sizes, nested + 1)?;
            }
            (Node::LevelFunction(l1, r1), Node::LevelFunction(l2, r2)) => {
                // Both bodies for the same new level, which nothing outside of them may know.
                let level = self.rigid_level(None, u32::MAX);
                let level = LevelRef { above: 0, variable: Some(level) };
                let r1 = self.substitute_level(r1, l1, level).ok_or(Clash::TooLarge)?;
                let r2 = self.substitute_level(r2, l2, level).ok_or(Clash::TooLarge)?;
                self.unify_at(r1, r2, sizes, nested + 1)?;
                // Each keeps its own level, which its body mentions.
                exact = false;
            }
            (
                Node::Array { element: e1, sizes: s1, level: l1 },
                Node::Array { element: e2, sizes: s2, level: l2 },
            ) => {
                match (l1, l2) {
                    (None, None) => {}
                    (Some(l1), Some(l2)) => self.unify_levels(l1, l2)?,
                    (None, Some(_)) => return Err(Clash::NeedsPull),
                    (Some(level), None) => return Err(Clash::NeedsPush(level)),
                }
                let ranks = (self.size_parts(s1).len(), self.size_parts(s2).len());
                if ranks.0 != ranks.1 {
                    return Err(Clash::Ranks(ranks.0, ranks.1));
                }
                for number in 0..ranks.0 {
                    exact &=
                        self.unify_sizes(self.size_part(s1, number), self.size_part(s2, number), sizes)?;
                }
                exact &= self.unify_at(e1, e2, sizes, nested + 1)?;
            }
            (Node::Memory(x), Node::Memory(y)) => exact &= self.unify_at(x, y, sizes, nested + 1)?,
            _ => return Err(Clash::Different(a, b)),
        }
        // The parts may have been linked to these nodes meanwhile, so both are looked up again.
        let (a, b) = (self.look(a).0, self.look(b).0);
        if exact && a != b {
            self.set(a, Node::Link(b));
        }
        Ok(exact)
    }

    /// Binds a variable to a type.
    fn bind(&mut self, variable: Ty, ty: Ty, kind: Kind, depth: u32, nested: u32) -> Outcome<()> {
        self.begin_walk();
        self.confine(variable, ty, depth, &mut Vec::new(), nested)?;
        self.begin_walk();
        self.require_at(ty, kind, nested)?;
        self.set(variable, Node::Link(ty));
        Ok(())
    }

    /// Lowers the depths of the variables in a type that is to be known at a depth; the type must not contain `variable`.
    fn confine(
        &mut self,
        variable: Ty,
        ty: Ty,
        depth: u32,
        bound: &mut Vec<LevelId>,
        nested: u32,
    ) -> Outcome<()> {
        let (ty, node) = self.find(ty);
        if nested > MAX_DEPTH || !self.step() {
            return Err(Clash::TooLarge);
        }
        if ty == variable {
            return Err(Clash::Occurs);
        }
        // Below a binder a node may mean something else than elsewhere, so nodes there are visited again.
        if !matches!(node, Node::Scalar(_)) && !self.first_seen(ty) && bound.is_empty() {
            return Ok(());
        }
        match node {
            Node::Link(_) | Node::Error | Node::Scalar(_) => {}
            Node::Flexible { kind, depth: own } => {
                if own > depth {
                    self.set(ty, Node::Flexible { kind, depth });
                }
            }
            Node::Rigid { depth: own, .. } => {
                if own > depth {
                    return Err(Clash::Escape);
                }
            }
            Node::Tuple(parts) | Node::Record(_, parts) | Node::Sum(_, parts) => {
                for number in 0..self.parts(parts).len() {
                    self.confine(variable, self.part(parts, number), depth, bound, nested + 1)?;
                }
            }
            Node::Function(parameter, result) => {
                self.confine(variable, parameter, depth, bound, nested + 1)?;
                self.confine(variable, result, depth, bound, nested + 1)?;
            }
            Node::LevelFunction(level, result) => {
                bound.push(level);
                let outcome = self.confine(variable, result, depth, bound, nested + 1);
                bound.pop();
                outcome?;
            }
            Node::Array { element, sizes, level } => {
                if let Some(level) = level {
                    self.confine_level(level, depth, bound)?;
                }
                for number in 0..self.size_parts(sizes).len() {
                    self.confine_size(self.size_part(sizes, number), depth);
                }
                self.confine(variable, element, depth, bound, nested + 1)?;
            }
            Node::Memory(element) => self.confine(variable, element, depth, bound, nested + 1)?,
        }
        Ok(())
    }

    /// Lowers the depths of all variables of a type to the current one, but for a level that is bound outside of it.
    pub fn confine_body(&mut self, ty: Ty, bound: LevelId) -> Outcome<()> {
        self.begin();
        self.begin_walk();
        let depth = self.depth;
        self.confine(Ty(u32::MAX), ty, depth, &mut vec![bound], 0)
    }

    /// Lowers the depths of all variables of a type to at most `depth`.
    pub fn lower(&mut self, ty: Ty, depth: u32) -> Outcome<()> {
        self.begin();
        self.begin_walk();
        self.confine(Ty(u32::MAX), ty, depth, &mut Vec::new(), 0)
    }

    fn confine_level(&mut self, level: LevelRef, depth: u32, bound: &[LevelId]) -> Outcome<()> {
        let Some(variable) = self.find_level(level).variable else { return Ok(()) };
        match self.level_node(variable) {
            LevelNode::Flexible { depth: own } if own > depth => {
                self.set_level(variable, LevelNode::Flexible { depth })
            }
            LevelNode::Rigid { depth: own, .. } if own > depth && !bound.contains(&variable) => {
                return Err(Clash::Escape);
            }
            _ => {}
        }
        Ok(())
    }

    fn confine_size(&mut self, size: SizeRef, depth: u32) {
        if let SizeRef::Variable(variable) = self.find_size(size)
            && let SizeNode::Flexible { depth: own } = self.size_node(variable)
            && own > depth
        {
            self.set_size(variable, SizeNode::Flexible { depth });
        }
    }

    /// Unifies two levels. A level has one variable at most, so there is one most general solution.
    pub fn unify_levels(&mut self, needed: LevelRef, there: LevelRef) -> Outcome<()> {
        let (a, b) = (self.find_level(needed), self.find_level(there));
        if a == b {
            return Ok(());
        }
        if a.variable != b.variable {
            for (from, to) in [(a, b), (b, a)] {
                if let Some(variable) = from.variable
                    && let LevelNode::Flexible { depth } = self.level_node(variable)
                    && to.above >= from.above
                {
                    let to = LevelRef { above: to.above - from.above, variable: to.variable };
                    self.confine_level(to, depth, &[])?;
                    self.set_level(variable, LevelNode::Link(to));
                    return Ok(());
                }
            }
        }
        Err(Clash::Levels(a, b))
    }

    /// Unifies two sizes. Returns whether they are the same now. Unknown sizes are not compared: that is done at run time.
    fn unify_sizes(&mut self, needed: SizeRef, there: SizeRef, sizes: &mut Sizes) -> Outcome<bool> {
        let (a, b) = (self.find_size(needed), self.find_size(there));
        if a == b {
            return Ok(true);
        }
        for (from, to) in [(a, b), (b, a)] {
            if let SizeRef::Variable(variable) = from
                && let SizeNode::Flexible { depth } = self.size_node(variable)
            {
                self.confine_size(to, depth);
                self.set_size(variable, SizeNode::Link(to));
                return Ok(true);
            }
        }
        match (a, b) {
            (SizeRef::Number(x), SizeRef::Number(y)) if sizes.lenient => {
                sizes.clashed |= x != y;
                Ok(false)
            }
            (SizeRef::Number(x), SizeRef::Number(y)) => Err(Clash::Sizes(x, y)),
            _ => {
                sizes.clashed |= sizes.lenient;
                Ok(false)
            }
        }
    }

    fn require_at(&mut self, ty: Ty, kind: Kind, nested: u32) -> Outcome<()> {
        if kind == Kind::Type {
            return Ok(());
        }
        if nested > MAX_DEPTH || !self.step() {
            return Err(Clash::TooLarge);
        }
        let (ty, node) = self.find(ty);
        let refused = Err(Clash::Kind(ty, kind));
        match node {
            Node::Link(_) | Node::Error => Ok(()),
            Node::Flexible { kind: own, depth } => {
                let kind = own.meet(kind).ok_or(Clash::Kinds(kind, own))?;
                if kind != own {
                    self.set(ty, Node::Flexible { kind, depth });
                }
                Ok(())
            }
            Node::Rigid { kind: own, .. } if own.implies(kind) => Ok(()),
            Node::Scalar(scalar) => {
                let fits = match kind {
                    Kind::Number => scalar.is_integer() || scalar.is_float(),
                    Kind::Integer => scalar.is_integer(),
                    Kind::Float => scalar.is_float(),
                    Kind::Level | Kind::Size => false,
                    _ => true,
                };
                if fits { Ok(()) } else { refused }
            }
            Node::Tuple(_) | Node::Record(..) | Node::Sum(..) if !self.first_seen(ty) => Ok(()),
            Node::Tuple(parts) | Node::Record(_, parts) if Kind::Ordered.implies(kind) => {
                self.require_parts(parts, kind, nested)
            }
            Node::Sum(sum, parts)
                if self.sums.get(sum as usize).is_some_and(|sum| sum.narrowest.implies(kind)) =>
            {
                self.require_parts(parts, kind, nested)
            }
            Node::Array { .. } if kind == Kind::Ground => Ok(()),
            _ => refused,
        }
    }

    fn require_parts(&mut self, parts: Parts, kind: Kind, nested: u32) -> Outcome<()> {
        for number in 0..self.parts(parts).len() {
            self.require_at(self.part(parts, number), kind, nested + 1)?;
        }
        Ok(())
    }
}

/// The treatment of sizes in a comparison of types.
struct Sizes {
    /// Whether sizes may differ.
    lenient: bool,
    /// Whether some did.
    clashed: bool,
}
