//! Values of the semantics: base values, functions, pull arrays of elements that are not evaluated, push arrays, delayed
//! concatenations, arrays in memory, and memory that changes. Only data: the rules are in the files beside it.

use super::costs::{CostLevel, Meter};
use crate::ast::{Expr, Function as Written, Name, Operator, Parameter};
use crate::source::Span;
use crate::types::{Argument, Variable};
use pumice_scalar::Constant;
use std::cell::RefCell;
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
    Memory(Rc<Changing<'p>>),
}

impl Value<'_> {
    /// How deep functions and arrays refer to each other. It is bounded, because values are dropped recursively.
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

    /// The bytes that it takes in memory.
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

/// A function of the language with the arguments that it has so far.
#[derive(Clone)]
pub(super) struct Call<'p> {
    pub name: Name,
    pub span: Span,
    pub types: Types,
    pub level: Option<CostLevel>,
    pub arguments: Vec<Value<'p>>,
}

/// The most dimensions that an array has.
pub(super) const MOST_DIMENSIONS: usize = 5;

/// The extents of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub rank: usize,
    /// Those behind the rank are 1.
    pub extents: [usize; MOST_DIMENSIONS],
}

impl Shape {
    /// A vector.
    pub fn vector(length: usize) -> Shape {
        Shape::of(&[length])
    }

    /// The extents.
    pub fn of(extents: &[usize]) -> Shape {
        let mut shape = Shape { rank: extents.len().min(MOST_DIMENSIONS), extents: [1; MOST_DIMENSIONS] };
        for (to, from) in shape.extents.iter_mut().zip(extents) {
            *to = *from;
        }
        shape
    }

    /// The extents that there are.
    pub fn known(&self) -> &[usize] {
        &self.extents[..self.rank]
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.extents.iter().fold(1, |count: usize, extent| count.saturating_mul(*extent))
    }

    /// The number of the element at an index, row by row.
    pub fn number(&self, index: [usize; MOST_DIMENSIONS]) -> usize {
        index.iter().zip(self.extents).fold(0, |number, (index, extent)| number * extent + index)
    }

    /// The index of an element by its number.
    pub fn index(&self, number: usize) -> [usize; MOST_DIMENSIONS] {
        let (mut index, mut rest) = ([0; MOST_DIMENSIONS], number);
        for (index, extent) in index.iter_mut().zip(self.extents).rev() {
            *index = rest % extent.max(1);
            rest /= extent.max(1);
        }
        index
    }

    /// The extents of what has one element for each row, and the elements of a row: what the last dimension has.
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
    /// With a dimension and the one behind it exchanged.
    Transposed(Rc<Pull<'p>>, usize),
    /// The same elements in another shape.
    Reshaped(Rc<Pull<'p>>),
    /// The rows of a matrix.
    Rows(Rc<Pull<'p>>),
    /// One row of a matrix.
    Row(Rc<Pull<'p>>, usize),
    /// The elements from a number on.
    Slice(Rc<Pull<'p>>, usize),
    /// The elements of these numbers.
    Selected(Rc<Pull<'p>>, Vec<usize>),
    /// The head of a comprehension for each of its rows.
    Comprehended(&'p Expr, Vec<Environment<'p>>),
    Stored(Memory<'p>),
    /// Memory that changed, as it was once; nothing changes this copy.
    Frozen(Changing<'p>),
}

/// Bytes of a level's memory, as long as something refers to them.
pub(super) struct Room {
    level: CostLevel,
    bytes: u64,
    meter: Rc<Meter>,
}

impl Room {
    fn of(level: CostLevel, values: &[Value<'_>], meter: &Rc<Meter>) -> Rc<Room> {
        let bytes = values.iter().map(Value::bytes).sum();
        meter.taken(level, bytes);
        Rc::new(Room { level, bytes, meter: meter.clone() })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.meter.freed(self.level, self.bytes);
    }
}

/// Elements in a level's memory.
pub(super) struct Memory<'p> {
    pub level: CostLevel,
    pub values: Vec<Value<'p>>,
    _room: Rc<Room>,
}

impl<'p> Memory<'p> {
    pub fn new(level: CostLevel, values: Vec<Value<'p>>, meter: &Rc<Meter>) -> Memory<'p> {
        let room = Room::of(level, &values, meter);
        Memory { level, values, _room: room }
    }
}

/// Memory that changes: one for all who have it, or one for each thread.
#[derive(Clone)]
pub(super) struct Changing<'p> {
    pub level: CostLevel,
    initial: Rc<[Value<'p>]>,
    /// What was changed, by thread; memory that all have is that of thread 0.
    changed: RefCell<HashMap<usize, Vec<Value<'p>>>>,
    /// Who accessed each element, as far as others may race with it.
    accesses: RefCell<HashMap<usize, Vec<Access>>>,
    room: Rc<Room>,
}

/// An access to an element of memory that changes.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub block: usize,
    pub thread: usize,
    /// How many barriers there were before.
    pub barriers: u64,
    pub modifies: bool,
    pub atomic: bool,
}

impl Access {
    fn is_alike(&self, other: &Access) -> bool {
        (self.modifies, self.atomic) == (other.modifies, other.atomic)
    }

    fn races_with(&self, other: &Access) -> bool {
        let is_ordered =
            self.block == other.block && (self.thread == other.thread || self.barriers != other.barriers);
        !is_ordered && (self.modifies || other.modifies) && !(self.atomic && other.atomic)
    }
}

impl<'p> Changing<'p> {
    pub fn new(level: CostLevel, values: Vec<Value<'p>>, meter: &Rc<Meter>) -> Changing<'p> {
        let room = Room::of(level, &values, meter);
        Changing {
            level,
            initial: values.into(),
            changed: RefCell::default(),
            accesses: RefCell::default(),
            room,
        }
    }

    /// The number of elements.
    pub fn length(&self) -> usize {
        self.initial.len()
    }

    fn owner(&self, thread: usize) -> usize {
        if self.level == CostLevel::Thread { thread } else { 0 }
    }

    /// Whether a thread has changed nothing so far: its first change copies all elements.
    pub fn is_initial(&self, thread: usize) -> bool {
        !self.changed.borrow().contains_key(&self.owner(thread))
    }

    /// An element, as a thread sees it.
    pub fn get(&self, thread: usize, number: usize) -> Option<Value<'p>> {
        match self.changed.borrow().get(&self.owner(thread)) {
            Some(changed) => changed.get(number).cloned(),
            None => self.initial.get(number).cloned(),
        }
    }

    /// Replaces an element, if it is there.
    pub fn set(&self, thread: usize, number: usize, value: Value<'p>) {
        let mut changed = self.changed.borrow_mut();
        let own = changed.entry(self.owner(thread)).or_insert_with(|| self.initial.to_vec());
        if let Some(place) = own.get_mut(number) {
            *place = value;
        }
    }

    /// Notes an access to an element that several threads have; gives whether it races with an earlier one.
    pub fn races(&self, number: usize, access: Access) -> bool {
        if self.level == CostLevel::Thread {
            return false;
        }
        let mut accesses = self.accesses.borrow_mut();
        let others = accesses.entry(number).or_default();
        if others.iter().any(|other| other.races_with(&access)) {
            return true;
        }
        others.retain(|other| other.block != access.block || other.barriers == access.barriers);
        let same_thread = |other: &&Access| (other.block, other.thread) == (access.block, access.thread);
        let alike = others.iter().filter(|other| other.is_alike(&access));
        // Whoever comes later is none of two threads, and races with one of them if at all.
        if alike.clone().count() < 2 && !alike.clone().any(|other| same_thread(&other)) {
            others.push(access);
        }
        false
    }

    /// All elements in the end, in the same room.
    pub fn finished(&self) -> Memory<'p> {
        let changed = self.changed.borrow_mut().remove(&0);
        let values = changed.unwrap_or_else(|| self.initial.to_vec());
        Memory { level: self.level, values, _room: self.room.clone() }
    }
}

/// A push array.
pub(super) struct Push<'p> {
    pub level: CostLevel,
    /// The number of elements.
    pub length: usize,
    pub kind: PushKind<'p>,
    /// What makes it.
    pub span: Span,
    pub depth: u32,
}

pub(super) enum PushKind<'p> {
    /// `[e1, e2]<level>`.
    Elements(Rc<Pull<'p>>),
    /// So many neighbours to a thread.
    Neighbours { items: usize, of: Rc<Pull<'p>> },
    /// A function of elements and their partners at the lower index, and one at the upper; indices of partners differ in these bits.
    Pairwise { mask: usize, functions: [Value<'p>; 2], of: Rc<Pull<'p>> },
    /// Pairs of an index and the element there.
    Scattered(Rc<Pull<'p>>),
    /// `concatDelay size parts`.
    Concat { size: usize, parts: Rc<Pull<'p>> },
    /// Parts, with the function that says where each element is written.
    Interleave { place: Value<'p>, parts: Rc<Pull<'p>> },
    /// `mapPush f`.
    Mapped(Value<'p>, Rc<Push<'p>>),
    /// Each element where a function of its index says.
    Placed(Value<'p>, Rc<Push<'p>>),
    /// One after the other.
    Appended(Rc<Push<'p>>, Rc<Push<'p>>),
    /// Both parts of pairs.
    Unpaired(Rc<Push<'p>>),
    /// What the lanes of a warp make of their elements and those of others.
    Exchanged(Exchange<'p>, Rc<Push<'p>>),
}

/// What the lanes of a warp do together.
pub(super) struct Exchange<'p> {
    /// The function that says what a lane gets.
    pub name: Name,
    /// Its first argument: of which lane, or a condition.
    pub how: Value<'p>,
    /// What becomes of an index, the element there, and what its lane got.
    pub combine: Value<'p>,
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
