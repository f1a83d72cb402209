//! Values of the semantics: base values, functions, pull arrays of elements that are not evaluated, push arrays, delayed
//! concatenations, and arrays in memory. Only data: the rules are in the files beside it.

use super::costs::{CostLevel, Meter};
use crate::ast::{Expr, Function as Written, Name, Operator, Parameter};
use crate::source::Span;
use crate::types::{Argument, Variable};
use pumice_scalar::Constant;
use std::collections::HashMap;
use std::rc::Rc;

/// What type variables stand for.
pub(super) type Types = Rc<HashMap<Variable, Argument>>;

/// A value.
#[derive(Clone)]
pub(super) enum Value<'p> {
    Scalar(Constant),
    Tuple(Rc<[Value<'p>]>),
    /// In the order of names.
    Record(Rc<[(Name, Value<'p>)]>),
    /// A constructor, by its number in its sum, with its fields.
    Sum(usize, Rc<[Value<'p>]>),
    Function(Rc<Function<'p>>),
    Pull(Rc<Pull<'p>>),
    Push(Rc<Push<'p>>),
}

impl Value<'_> {
    /// How deep functions and arrays refer to each other. It is bounded, because values are dropped recursively.
    pub fn depth(&self) -> u32 {
        match self {
            Value::Scalar(_) => 0,
            Value::Tuple(parts) | Value::Sum(_, parts) => parts.iter().map(Value::depth).max().unwrap_or(0),
            Value::Record(fields) => fields.iter().map(|(_, field)| field.depth()).max().unwrap_or(0),
            Value::Function(function) => function.depth,
            Value::Pull(pull) => pull.depth,
            Value::Push(push) => push.depth,
        }
    }

    /// The bytes that it takes in memory.
    pub fn bytes(&self) -> u64 {
        match self {
            Value::Scalar(scalar) => scalar.ty().bytes() as u64,
            Value::Tuple(parts) => parts.iter().map(Value::bytes).sum(),
            Value::Record(fields) => fields.iter().map(|(_, field)| field.bytes()).sum(),
            // The tag is a number of 32 bits.
            Value::Sum(_, fields) => 4 + fields.iter().map(Value::bytes).sum::<u64>(),
            Value::Function(_) | Value::Pull(_) | Value::Push(_) => 0,
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

/// A function of the language with the arguments that it has so far.
#[derive(Clone)]
pub(super) struct Call<'p> {
    pub name: Name,
    pub span: Span,
    pub types: Types,
    pub level: Option<CostLevel>,
    pub arguments: Vec<Value<'p>>,
}

/// The extents of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub rank: usize,
    /// Those behind the rank are 1.
    pub extents: [usize; 3],
}

impl Shape {
    /// A vector.
    pub fn vector(length: usize) -> Shape {
        Shape { rank: 1, extents: [length, 1, 1] }
    }

    /// The extents.
    pub fn of(extents: &[usize]) -> Shape {
        let mut shape = Shape { rank: extents.len().min(3), extents: [1; 3] };
        for (to, from) in shape.extents.iter_mut().zip(extents) {
            *to = *from;
        }
        shape
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.extents.iter().fold(1, |count: usize, extent| count.saturating_mul(*extent))
    }

    /// The number of the element at an index, row by row.
    pub fn number(&self, index: [usize; 3]) -> usize {
        (index[0] * self.extents[1] + index[1]) * self.extents[2] + index[2]
    }

    /// The index of an element by its number.
    pub fn index(&self, number: usize) -> [usize; 3] {
        let [_, second, third] = self.extents.map(|extent| extent.max(1));
        [number / (second * third), number / third % second, number % third]
    }
}

/// A pull array.
pub(super) struct Pull<'p> {
    pub shape: Shape,
    pub elements: Elements<'p>,
    /// What makes it.
    pub span: Span,
    pub depth: u32,
}

/// What the elements of a pull array are, none of them evaluated but those in memory.
pub(super) enum Elements<'p> {
    /// `[e1, e2]`.
    List(&'p [Expr], Environment<'p>),
    /// `f i`, of as many indices as there are dimensions.
    Generated(Value<'p>),
    /// `f e`.
    Mapped(Value<'p>, Rc<Pull<'p>>),
    /// `f a b`.
    Zipped(Value<'p>, Rc<Pull<'p>>, Rc<Pull<'p>>),
    Transposed(Rc<Pull<'p>>),
    /// The same elements in another shape.
    Reshaped(Rc<Pull<'p>>),
    /// The rows of a matrix.
    Rows(Rc<Pull<'p>>),
    /// One row of a matrix.
    Row(Rc<Pull<'p>>, usize),
    /// `mapPush f e`.
    MappedPushes(Value<'p>, Rc<Pull<'p>>),
    /// The head of a comprehension for each of its rows.
    Comprehended(&'p Expr, Vec<Environment<'p>>),
    Stored(Memory<'p>),
}

/// Elements in a level's memory.
pub(super) struct Memory<'p> {
    pub level: CostLevel,
    pub values: Vec<Value<'p>>,
    bytes: u64,
    meter: Rc<Meter>,
}

impl<'p> Memory<'p> {
    pub fn new(level: CostLevel, values: Vec<Value<'p>>, meter: &Rc<Meter>) -> Memory<'p> {
        let bytes = values.iter().map(Value::bytes).sum();
        meter.taken(level, bytes);
        Memory { level, values, bytes, meter: meter.clone() }
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        self.meter.freed(self.level, self.bytes);
    }
}

/// A push array.
pub(super) struct Push<'p> {
    pub level: CostLevel,
    pub kind: PushKind<'p>,
    /// What makes it.
    pub span: Span,
    pub depth: u32,
}

pub(super) enum PushKind<'p> {
    /// `[e1, e2]<level>`.
    Elements(Rc<Pull<'p>>),
    /// `concatDelay size parts`.
    Concat { size: usize, parts: Rc<Pull<'p>> },
    /// The parts of an array of so many elements, with the function that says where each element is written.
    Interleave { length: usize, place: Value<'p>, parts: Rc<Pull<'p>> },
}

impl Push<'_> {
    /// The number of elements.
    pub fn length(&self) -> usize {
        match &self.kind {
            PushKind::Elements(pull) => pull.shape.count(),
            PushKind::Concat { size, parts } => parts.shape.count().saturating_mul(*size),
            PushKind::Interleave { length, .. } => *length,
        }
    }
}

/// What names and type variables mean. Cloning is free.
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

/// What a name means.
#[derive(Clone)]
pub(super) enum Meaning<'p> {
    /// What is bound at a place.
    Value(Span, Value<'p>),
    /// A level, by its name.
    Level(Name, CostLevel),
    /// What is evaluated where it is used, because it calls itself or is of another type in each place.
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
    /// Without names.
    pub fn of_types(types: Types) -> Environment<'p> {
        Environment { bound: None, types }
    }

    /// How deep what is bound refers to other values.
    pub fn depth(&self) -> u32 {
        self.bound.as_ref().map_or(0, |bound| bound.depth)
    }

    /// With one more meaning.
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

    /// With more type variables.
    pub fn with_types(&self, more: impl IntoIterator<Item = (Variable, Argument)>) -> Environment<'p> {
        let mut more = more.into_iter().peekable();
        if more.peek().is_none() {
            return self.clone();
        }
        let mut types = (*self.types).clone();
        types.extend(more);
        Environment { bound: self.bound.clone(), types: Rc::new(types) }
    }

    /// What the name means that is bound at a place.
    pub fn get(&self, place: Span) -> Option<&Meaning<'p>> {
        self.find(|meaning| match meaning {
            Meaning::Value(span, _) | Meaning::Definition(span, _) => *span == place,
            Meaning::Level(..) => false,
        })
    }

    /// The level of a name.
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
