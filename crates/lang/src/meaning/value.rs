//! Values of the semantics: base values, functions, pull arrays of elements that are not evaluated, push arrays, delayed
//! concatenations, arrays in memory, and mutable memory. Only data: the rules are in the files beside it.

use super::costs::CostLevel;
use super::stores::{Changing, Memory};
use crate::ast::{Expr, Function as Written, Name, Operator, Parameter};
use crate::source::Span;
use crate::types::{Argument, Variable};
use pumice_scalar::Constant;
use std::collections::HashMap;
use std::rc::Rc;

/// Arguments for type variables.
pub(super) type Types = Rc<HashMap<Variable, Argument>>;

/// A value.
#[derive(Clone)]
pub(super) enum Value<'p> {
    Scalar(Constant),
    Tuple(Rc<[Value<'p>]>),
    /// A record, in the order of names.
    Record(Rc<[(Name, Value<'p>)]>),
    /// A constructor, by its number in its sum, with its fields.
    Sum(usize, Rc<[Value<'p>]>),
    Function(Rc<Function<'p>>),
    Pull(Rc<Pull<'p>>),
    Push(Rc<Push<'p>>),
    Memory(Rc<Changing<'p>>),
}

impl Value<'_> {
    /// Returns how deep functions and arrays refer to each other. The depth is bounded, because values are dropped recursively.
    pub fn depth(&self) -> u32 {
        match self {
            Value::Scalar(_) | Value::Memory(_) => 0,
            Value::Tuple(parts) | Value::Sum(_, parts) => parts.iter().map(Value::depth).max().unwrap_or(0),
            Value::Record(fields) => fields.iter().map(|(_, field)| field.depth()).max().unwrap_or(0),
            Value::Function(function) => function.depth,
            Value::Pull(pull) => pull.depth,
            Value::Push(push) => push.depth,
        }
    }

    /// Returns its size in memory, in bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Value::Scalar(scalar) => scalar.ty().bytes() as u64,
            Value::Tuple(parts) => parts.iter().map(Value::bytes).sum(),
            Value::Record(fields) => fields.iter().map(|(_, field)| field.bytes()).sum(),
            // The tag is a number of 32 bits.
            Value::Sum(_, fields) => 4 + fields.iter().map(Value::bytes).sum::<u64>(),
            Value::Function(_) | Value::Pull(_) | Value::Push(_) | Value::Memory(_) => 0,
        }
    }
}

/// A function that lacks arguments.
pub(super) struct Function<'p> {
    pub kind: FunctionKind<'p>,
    pub depth: u32,
}

pub(super) enum FunctionKind<'p> {
    Closure { parameters: &'p [Parameter], body: &'p Expr, environment: Environment<'p> },
    Builtin(Call<'p>),
    Constructor { number: usize, arity: usize, fields: Vec<Value<'p>> },
    Operator { operator: Operator, span: Span, left: Option<Value<'p>> },
    Composed(Value<'p>, Value<'p>),
}

/// A built-in function of the language with the arguments so far.
#[derive(Clone)]
pub(super) struct Call<'p> {
    pub name: Name,
    pub span: Span,
    pub types: Types,
    pub level: Option<CostLevel>,
    pub arguments: Vec<Value<'p>>,
}

/// Maximum number of dimensions of an array.
pub(super) const MOST_DIMENSIONS: usize = 5;

/// The extents of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub rank: usize,
    /// The extents of all dimensions; those beyond the rank are 1.
    pub extents: [usize; MOST_DIMENSIONS],
}

impl Shape {
    /// Creates the shape of a vector.
    pub fn vector(length: usize) -> Shape {
        Shape::of(&[length])
    }

    /// Creates a shape with these extents.
    pub fn of(extents: &[usize]) -> Shape {
        let mut shape = Shape { rank: extents.len().min(MOST_DIMENSIONS), extents: [1; MOST_DIMENSIONS] };
        for (to, from) in shape.extents.iter_mut().zip(extents) {
            *to = *from;
        }
        shape
    }

    /// Returns the extents of its dimensions.
    pub fn known(&self) -> &[usize] {
        &self.extents[..self.rank]
    }

    /// Returns the number of elements.
    pub fn count(&self) -> usize {
        self.extents.iter().fold(1, |count: usize, extent| count.saturating_mul(*extent))
    }

    /// Returns the number of the element at an index, row by row.
    pub fn number(&self, index: [usize; MOST_DIMENSIONS]) -> usize {
        index.iter().zip(self.extents).fold(0, |number, (index, extent)| number * extent + index)
    }

    /// Returns the index of an element by its number.
    pub fn index(&self, number: usize) -> [usize; MOST_DIMENSIONS] {
        let (mut index, mut rest) = ([0; MOST_DIMENSIONS], number);
        for (index, extent) in index.iter_mut().zip(self.extents).rev() {
            *index = rest % extent.max(1);
            rest /= extent.max(1);
        }
        index
    }

    /// Returns the extents of an array with one element per row, and the length of a row: the last extent.
    pub fn rows(&self) -> (Shape, usize) {
        match self.known().split_last() {
            Some((columns, others)) => (Shape::of(others), *columns),
            None => (*self, 1),
        }
    }
}

/// A pull array.
pub(super) struct Pull<'p> {
    pub shape: Shape,
    pub elements: Elements<'p>,
    /// Span of the expression that makes it.
    pub span: Span,
    pub depth: u32,
}

/// The elements of a pull array. None of them are evaluated but those in memory.
pub(super) enum Elements<'p> {
    /// `[e1, e2]`.
    List(&'p [Expr], Environment<'p>),
    /// `f i`, of as many indices as there are dimensions.
    Generated(Value<'p>),
    /// `f e`.
    Mapped(Value<'p>, Rc<Pull<'p>>),
    /// `f a b`.
    Zipped(Value<'p>, Rc<Pull<'p>>, Rc<Pull<'p>>),
    /// A transposition that exchanges a dimension and the one behind it.
    Transposed(Rc<Pull<'p>>, usize),
    /// The same elements in another shape.
    Reshaped(Rc<Pull<'p>>),
    /// The rows of a matrix.
    Rows(Rc<Pull<'p>>),
    /// One row of a matrix.
    Row(Rc<Pull<'p>>, usize),
    /// The concatenation of two vectors.
    Appended(Rc<Pull<'p>>, Rc<Pull<'p>>),
    /// The elements from a number on.
    Slice(Rc<Pull<'p>>, usize),
    /// The elements with these numbers.
    Selected(Rc<Pull<'p>>, Vec<usize>),
    /// The head of a comprehension for each of its rows.
    Comprehended(&'p Expr, Vec<Environment<'p>>),
    Stored(Memory<'p>),
    /// A copy of mutable memory, which nothing changes.
    Frozen(Changing<'p>),
}

/// A push array.
pub(super) struct Push<'p> {
    pub level: CostLevel,
    /// The number of elements.
    pub length: usize,
    pub kind: PushKind<'p>,
    /// Span of the expression that makes it.
    pub span: Span,
    pub depth: u32,
}

pub(super) enum PushKind<'p> {
    /// `[e1, e2]<level>`.
    Elements(Rc<Pull<'p>>),
    /// A number of neighbouring elements per thread.
    Neighbours { items: usize, of: Rc<Pull<'p>> },
    /// Functions for the lower and the upper index of a pair, of elements and their partners; indices of partners differ in the bits of the mask.
    Pairwise { mask: usize, functions: [Value<'p>; 2], of: Rc<Pull<'p>> },
    /// Pairs of an index and the element there.
    Scattered(Rc<Pull<'p>>),
    /// `concatDelay size parts`.
    Concat { size: usize, parts: Rc<Pull<'p>> },
    /// Parts, with the function that computes the index of each element.
    Interleave { place: Value<'p>, parts: Rc<Pull<'p>> },
    /// `mapPush f`.
    Mapped(Value<'p>, Rc<Push<'p>>),
    /// A permutation: each element at the index that a function of its index gives.
    Placed(Value<'p>, Rc<Push<'p>>),
    /// The elements whose indices are in bounds.
    Taken(Rc<Push<'p>>),
    /// The concatenation of two push arrays.
    Appended(Rc<Push<'p>>, Rc<Push<'p>>),
    /// Both parts of pairs, as separate elements.
    Unpaired(Rc<Push<'p>>),
    /// The results of an exchange between the lanes of a warp.
    Exchanged(Exchange<'p>, Rc<Push<'p>>),
    /// Tiles of a matrix.
    Tiles(Tiles<'p>),
}

/// A matrix that is made of tiles, one block each.
pub(super) struct Tiles<'p> {
    /// The sides of a tile: rows and columns, at least 1.
    pub sides: [usize; 2],
    pub rows: usize,
    pub columns: usize,
    /// Function from a thread and an element's number to the element's row and column; without one, tiles are rows of elements.
    pub place: Option<Value<'p>>,
    /// Rows of tiles.
    pub of: Rc<Pull<'p>>,
}

/// A collective operation of the lanes of a warp.
pub(super) struct Exchange<'p> {
    /// Name of the built-in: a shuffle or a vote.
    pub name: Name,
    /// Its first argument: the source lane, or a condition.
    pub how: Value<'p>,
    /// Function of an index, the element there, and the value that its lane received.
    pub combine: Value<'p>,
}

/// Bindings of names and type variables. Cloning is free.
#[derive(Clone, Default)]
pub(super) struct Environment<'p> {
    bound: Option<Rc<Bound<'p>>>,
    pub types: Types,
}

struct Bound<'p> {
    meaning: Meaning<'p>,
    before: Option<Rc<Bound<'p>>>,
    depth: u32,
}

/// The binding of a name.
#[derive(Clone)]
pub(super) enum Meaning<'p> {
    /// A value, by the span of the name where it is bound.
    Value(Span, Value<'p>),
    /// A level, by its name.
    Level(Name, CostLevel),
    /// A definition that is evaluated at each use, because it calls itself or has another type at each.
    Definition(Span, Rc<Definition<'p>>),
}

/// A binding that is evaluated where it is used.
pub(super) struct Definition<'p> {
    pub body: Defined<'p>,
    pub environment: Environment<'p>,
}

pub(super) enum Defined<'p> {
    Function(&'p Written),
    Value(&'p Expr),
}

impl<'p> Environment<'p> {
    /// Creates an environment without names.
    pub fn of_types(types: Types) -> Environment<'p> {
        Environment { bound: None, types }
    }

    /// Returns how deep the bound values refer to other values.
    pub fn depth(&self) -> u32 {
        self.bound.as_ref().map_or(0, |bound| bound.depth)
    }

    /// Adds a binding.
    pub fn with(&self, meaning: Meaning<'p>) -> Environment<'p> {
        let own = match &meaning {
            Meaning::Value(_, value) => value.depth(),
            Meaning::Level(..) => 0,
            Meaning::Definition(_, definition) => definition.environment.depth() + 1,
        };
        let depth = own.max(self.depth()) + 1;
        let bound = Bound { meaning, before: self.bound.clone(), depth };
        Environment { bound: Some(Rc::new(bound)), types: self.types.clone() }
    }

    /// Adds type variables.
    pub fn with_types(&self, more: impl IntoIterator<Item = (Variable, Argument)>) -> Environment<'p> {
        let mut more = more.into_iter().peekable();
        if more.peek().is_none() {
            return self.clone();
        }
        let mut types = (*self.types).clone();
        types.extend(more);
        Environment { bound: self.bound.clone(), types: Rc::new(types) }
    }

    /// Returns the binding of the name that is bound at a span.
    pub fn get(&self, place: Span) -> Option<&Meaning<'p>> {
        self.find(|meaning| match meaning {
            Meaning::Value(span, _) | Meaning::Definition(span, _) => *span == place,
            Meaning::Level(..) => false,
        })
    }

    /// Looks up a level by name.
    pub fn level(&self, name: &str) -> Option<CostLevel> {
        let found = self.find(|meaning| matches!(meaning, Meaning::Level(known, _) if &**known == name));
        match found? {
            Meaning::Level(_, level) => Some(*level),
            _ => None,
        }
    }

    fn find(&self, wanted: impl Fn(&Meaning<'p>) -> bool) -> Option<&Meaning<'p>> {
        let mut bound = self.bound.as_deref();
        while let Some(here) = bound {
            if wanted(&here.meaning) {
                return Some(&here.meaning);
            }
            bound = here.before.as_deref();
        }
        None
    }
}
