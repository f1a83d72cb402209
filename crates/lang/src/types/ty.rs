//! Types, levels, sizes and schemes, as data for the stages after unification. They print as they are written.

use crate::ast::Name;
use pumice_scalar::ScalarType;

/// A variable of a scheme. No two schemes of a program have a variable of the same number.
pub type Variable = u32;

/// A type. Undecided parts are variables of the scheme of a function around it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A scalar.
    Scalar(ScalarType),
    /// A variable.
    Variable(Variable),
    /// `()` or `(a, b)`.
    Tuple(Vec<Type>),
    /// `{ x : a }`, in the order of names.
    Record(Vec<(Name, Type)>),
    /// A declared sum with its arguments.
    Sum(SumId, Vec<Type>),
    /// `a -> b`.
    Function(Box<Type>, Box<Type>),
    /// `<l> -> a`: the variable is a level in the type.
    LevelFunction(Variable, Box<Type>),
    /// `[a; sizes]`, a pull array, or `[a; sizes]<level>`, a push array.
    Array {
        /// The element.
        element: Box<Type>,
        /// An extent for each dimension.
        sizes: Vec<Size>,
        /// The level of a push array.
        level: Option<Level>,
    },
    /// Memory that changes.
    Memory(Box<Type>),
}

impl Type {
    /// Whether it has more parts than a value may have. The checker bounds types in each function; the types at which polymorphic
    /// functions are instantiated inside one another are known only when a program is evaluated.
    pub fn is_too_large(&self) -> bool {
        const MOST_PARTS: usize = 4_000;
        let (mut left, mut count) = (vec![self], 0);
        while let Some(ty) = left.pop() {
            count += 1;
            match ty {
                Type::Scalar(_) | Type::Variable(_) => {}
                Type::Tuple(parts) | Type::Sum(_, parts) => left.extend(parts),
                Type::Record(fields) => left.extend(fields.iter().map(|(_, field)| field)),
                Type::Function(from, to) => left.extend([&**from, &**to]),
                Type::LevelFunction(_, of) | Type::Memory(of) | Type::Array { element: of, .. } => {
                    left.push(of)
                }
            }
            if count + left.len() > MOST_PARTS {
                return true;
            }
        }
        false
    }
}

/// A declared sum, with its name for messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SumId {
    /// Its number among all sums of a program.
    pub number: u32,
    /// Its name in its declaration.
    pub name: Name,
}

/// A level: so many above a variable, or above `thread`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// The variable; without one the level is known.
    pub variable: Option<Variable>,
    /// Number of levels above the variable.
    pub above: u32,
}

/// An extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Unspecified.
    Any,
    /// A number.
    Number(u64),
    /// A variable.
    Variable(Variable),
}

/// The types that a variable of a scheme may stand for. Those from [`Kind::Type`] to [`Kind::Number`] are each part of the one before;
/// `Integer` and `Float` are parts of `Number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Any type (TYP).
    Type,
    /// Any type but a function (GT).
    Ground,
    /// Any type that can be stored (BT).
    Base,
    /// Any type that can be stored and compared with `==`.
    Equal,
    /// Any type that can be stored and compared with `<`.
    Ordered,
    /// An integer or a float.
    Number,
    /// An integer.
    Integer,
    /// A float.
    Float,
    /// A level (LVL).
    Level,
    /// An extent.
    Size,
}

impl Kind {
    /// Returns the intersection of two kinds, unless it is empty. Levels and sizes are of their own kind alone.
    pub fn meet(self, other: Kind) -> Option<Kind> {
        if self.implies(other) {
            Some(self)
        } else if other.implies(self) {
            Some(other)
        } else {
            None
        }
    }

    /// Whether everything of this kind is of the other kind too.
    pub fn implies(self, other: Kind) -> bool {
        match (self, other) {
            (Kind::Level | Kind::Size, _) | (_, Kind::Level | Kind::Size) | (Kind::Float, Kind::Integer) => {
                self == other
            }
            _ => self >= other,
        }
    }

    /// Returns the class that a signature writes before a variable of this kind, if it needs one.
    pub fn class(self) -> Option<&'static str> {
        match self {
            Kind::Type | Kind::Level | Kind::Size => None,
            Kind::Ground => Some("Ground"),
            Kind::Base => Some("Element"),
            Kind::Equal => Some("Equal"),
            Kind::Ordered => Some("Ordered"),
            Kind::Number => Some("Number"),
            Kind::Integer => Some("Integer"),
            Kind::Float => Some("Float"),
        }
    }

    /// Returns the kind of a class.
    pub fn of_class(class: &str) -> Option<Kind> {
        let all =
            [Kind::Ground, Kind::Base, Kind::Equal, Kind::Ordered, Kind::Number, Kind::Integer, Kind::Float];
        all.into_iter().find(|kind| kind.class() == Some(class))
    }

    /// Describes this kind in words: "the function works for …".
    pub fn words(self) -> &'static str {
        match self {
            Kind::Type => "anything",
            Kind::Ground => "anything but a function",
            Kind::Base => "something that can be stored: neither a function nor an array",
            Kind::Equal => "something that `==` compares",
            Kind::Ordered => "something that `<` compares",
            Kind::Number => "a number",
            Kind::Integer => "an integer",
            Kind::Float => "a float",
            Kind::Level => "a level",
            Kind::Size => "a size",
        }
    }
}

/// A type with its variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scheme {
    /// Its variables, each with its kind and, if it has one in the source, its name.
    pub variables: Vec<(Variable, Kind, Option<Name>)>,
    /// The type.
    pub ty: Type,
}

/// The argument for a variable of a scheme where the scheme is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// The type for a type variable.
    Type(Type),
    /// The level for a level variable.
    Level(Level),
    /// The extent for a size variable.
    Size(Size),
}

impl Argument {
    /// Creates the argument that leaves a variable as it is.
    pub fn variable(variable: Variable, kind: Kind) -> Argument {
        match kind {
            Kind::Level => Argument::Level(Level { variable: Some(variable), above: 0 }),
            Kind::Size => Argument::Size(Size::Variable(variable)),
            _ => Argument::Type(Type::Variable(variable)),
        }
    }
}
