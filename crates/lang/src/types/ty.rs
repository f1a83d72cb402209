//! Types, levels, sizes and schemes, as data that needs no unification any more. They print as they are written.

use crate::ast::Name;
use pumice_scalar::ScalarType;
use std::fmt::{self, Display, Formatter};

/// A variable of a scheme, by its number there.
pub type Variable = u32;

/// A type. What is not decided is a variable of the scheme of a function around it.
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

/// A declared sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SumId(pub u32);

/// A level: so many above a variable, or above `thread`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// The variable; without one it is a level that is known.
    pub variable: Option<Variable>,
    /// How many levels above it.
    pub above: u32,
}

/// An extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Not said.
    Any,
    /// A number.
    Number(u64),
    /// A variable.
    Variable(Variable),
}

/// What a variable of a scheme may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Any type (TYP).
    Type,
    /// Any type but a function (GT).
    Ground,
    /// What can be stored (BT).
    Base,
    /// What can be stored and `==` compares.
    Equal,
    /// What can be stored and `<` compares.
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

/// A type with its variables: those from 0 to below the number of kinds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scheme {
    /// What each variable may stand for.
    pub kinds: Vec<Kind>,
    /// What variables are called, where somebody said so.
    pub names: Vec<Option<Name>>,
    /// The type.
    pub ty: Type,
}
