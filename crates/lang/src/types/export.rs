//! Conversion of inferred types to data, for messages and for all later stages, which do not unify.

use super::arena::{Arena, LevelNode, LevelRef, Node, SizeNode, SizeRef, Ty};
use super::scheme::{Chosen, InferredScheme, Quantified};
use super::ty::{Argument, Kind, Level, Scheme, Size, SumId, Type, Variable};
use super::unify::MAX_DEPTH;
use pumice_scalar::ScalarType;

impl Arena {
    /// Converts a type to data. Variables that are still unknown become their default.
    pub fn export(&self, ty: Ty) -> Type {
        self.export_at(ty, 0, Unknown::Default)
    }

    /// Converts a type to data for a message: unknown parts are variables.
    pub fn export_for_message(&self, ty: Ty) -> Type {
        self.export_at(ty, 0, Unknown::Variable)
    }

    fn export_at(&self, ty: Ty, nested: u32, unknown: Unknown) -> Type {
        let (ty, node) = self.look(ty);
        let all = |parts| -> Vec<Type> {
            let parts: &[Ty] = self.parts(parts);
            parts.iter().map(|part| self.export_at(*part, nested + 1, unknown)).collect()
        };
        let one = |part| Box::new(self.export_at(part, nested + 1, unknown));
        if nested > MAX_DEPTH {
            return Type::Tuple(Vec::new());
        }
        match node {
            Node::Link(_) | Node::Error => Type::Variable(UNKNOWN_TYPES),
            Node::Flexible { .. } if unknown == Unknown::Variable => Type::Variable(UNKNOWN_TYPES + ty.0),
            Node::Flexible { kind: Kind::Float, .. } => Type::Scalar(ScalarType::F64),
            Node::Flexible { .. } => Type::Scalar(ScalarType::I64),
            Node::Rigid { variable, .. } => Type::Variable(variable),
            Node::Scalar(scalar) => Type::Scalar(scalar),
            Node::Tuple(parts) => Type::Tuple(all(parts)),
            Node::Record(shape, parts) => {
                Type::Record(self.shape(shape).iter().cloned().zip(all(parts)).collect())
            }
            Node::Sum(sum, parts) => Type::Sum(self.sum_id(sum), all(parts)),
            Node::Function(parameter, result) => Type::Function(one(parameter), one(result)),
            Node::LevelFunction(level, result) => match self.level_node(level) {
                LevelNode::Rigid { variable, .. } => Type::LevelFunction(variable, one(result)),
                _ => Type::LevelFunction(UNKNOWN_LEVELS, one(result)),
            },
            Node::Array { element, sizes, level } => Type::Array {
                element: one(element),
                sizes: self.size_parts(sizes).iter().map(|size| self.export_size(*size)).collect(),
                level: level.map(|level| self.export_level_at(level, unknown)),
            },
            Node::Memory(element) => Type::Memory(one(element)),
        }
    }

    /// Converts a sum to data.
    pub fn sum_id(&self, sum: u32) -> SumId {
        SumId {
            number: sum,
            name: self.sums.get(sum as usize).map_or_else(|| "".into(), |sum| sum.name.clone()),
        }
    }

    /// Converts a level to data; an unknown one is `thread`.
    pub fn export_level(&self, level: LevelRef) -> Level {
        self.export_level_at(level, Unknown::Default)
    }

    fn export_level_at(&self, level: LevelRef, unknown: Unknown) -> Level {
        let LevelRef { above, variable } = self.find_level(level);
        let variable = variable.and_then(|variable| match self.level_node(variable) {
            LevelNode::Rigid { variable, .. } => Some(variable),
            _ if unknown == Unknown::Variable => Some(UNKNOWN_LEVELS + variable.0),
            _ => None,
        });
        Level { variable, above }
    }

    /// Converts a level to data for a message: an unknown one is a variable.
    pub fn export_level_for_message(&self, level: LevelRef) -> Level {
        self.export_level_at(level, Unknown::Variable)
    }

    /// Converts a size to data; an unknown one can be any.
    pub fn export_size(&self, size: SizeRef) -> Size {
        match self.find_size(size) {
            SizeRef::Any => Size::Any,
            SizeRef::Number(number) => Size::Number(number),
            SizeRef::Variable(variable) => match self.size_node(variable) {
                SizeNode::Rigid { variable } => Size::Variable(variable),
                _ => Size::Any,
            },
        }
    }

    /// Returns the number and kind of a variable of a scheme.
    pub fn quantified(&self, variable: Quantified) -> Option<(Variable, Kind)> {
        match variable {
            Quantified::Type(ty) => match self.look(ty).1 {
                Node::Rigid { variable, kind, .. } => Some((variable, kind)),
                _ => None,
            },
            Quantified::Level(level) => match self.level_node(level) {
                LevelNode::Rigid { variable, .. } => Some((variable, Kind::Level)),
                _ => None,
            },
            Quantified::Size(size) => match self.size_node(size) {
                SizeNode::Rigid { variable } => Some((variable, Kind::Size)),
                _ => None,
            },
        }
    }

    /// Converts the argument for a variable at a use to data.
    pub fn export_chosen(&self, chosen: Chosen) -> Argument {
        match chosen {
            Chosen::Type(ty) => Argument::Type(self.export(ty)),
            Chosen::Level(level) => Argument::Level(self.export_level(level)),
            Chosen::Size(size) => Argument::Size(self.export_size(size)),
        }
    }

    /// Converts a scheme to data.
    pub fn export_scheme(&self, scheme: &InferredScheme) -> Scheme {
        let variables = scheme.variables.iter().filter_map(|variable| self.quantified(*variable));
        let variables =
            variables.map(|(variable, kind)| (variable, kind, self.names.get(&variable).cloned())).collect();
        Scheme { variables, ty: self.export(scheme.ty) }
    }
}

/// Numbers of the variables that represent unknown types and levels in a message; others are smaller. The first represents an error.
const UNKNOWN_TYPES: Variable = 1 << 30;
const UNKNOWN_LEVELS: Variable = 1 << 31;

/// Whether an exported type has no erroneous part.
pub fn is_known(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Variable(variable) => *variable != UNKNOWN_TYPES,
        Type::Tuple(parts) | Type::Sum(_, parts) => parts.iter().all(is_known),
        Type::Record(fields) => fields.iter().all(|(_, field)| is_known(field)),
        Type::Function(parameter, result) => is_known(parameter) && is_known(result),
        Type::LevelFunction(_, part) | Type::Memory(part) | Type::Array { element: part, .. } => {
            is_known(part)
        }
    }
}

/// Treatment of unknown variables when a type is exported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Default,
    Variable,
}
