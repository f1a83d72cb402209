//! What expressions evaluate to while a program is built: numbers in the making, functions, and arrays in one of four forms.
//!
//! - [`Array::Host`]: an array of the array language, or a pull that could be one. What it was made of is kept, so a kernel that
//!   uses a pull computes its elements itself.
//! - [`Array::Local`]: a pull inside a function on elements: a length and a Rust function.
//! - [`Array::Kernel`]: a pull of the kernel language.
//! - [`Array::Stream`]: the elements of an inner comprehension, which are not numbered and can only be folded.

use super::Outcome;
use super::environment::{Environment, Instance};
use super::layout::columns;
use crate::ast::{Expr, Name, Operator, Parameter};
use crate::source::Span;
use crate::types::{SumId, Type};
use pumice_array::Described;
use pumice_kernel as kernel;
use pumice_scalar::{ScalarType, Term};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

/// A value.
#[derive(Clone)]
pub enum Value {
    /// A number.
    Scalar(Scalar),
    /// `()` or `(a, b)`.
    Tuple(Rc<[Value]>),
    /// A record, in the order of names.
    Record(Rc<[(Name, Value)]>),
    /// One of several constructors: its number, and the fields of all of them, of which those of the others mean nothing.
    Sum(Rc<Sum>),
    /// A function.
    Function(Rc<Function>),
    /// A pull array.
    Array(Array),
    /// A push array of a kernel that is being built.
    Push(kernel::Push<kernel::AnyLevel, kernel::Dynamic, kernel::Length>, Type),
    /// Memory that changes, of a kernel that is being built, and the type of its elements.
    Memory(kernel::Mutable<kernel::Dynamic>, Type),
    /// A push array outside of any kernel: what will describe it when it is forced.
    Suspended(Rc<Suspended>),
}

/// A number in the making.
#[derive(Clone, Copy)]
pub struct Scalar {
    /// The number.
    pub term: Term,
    /// Whether it belongs to no function on elements and to no kernel.
    pub outside: bool,
}

/// A value of a declared sum.
pub struct Sum {
    /// Which sum.
    pub id: SumId,
    /// The number of the constructor.
    pub tag: Scalar,
    /// The fields of each constructor.
    pub fields: Vec<Vec<Value>>,
}

/// A function.
pub enum Function {
    /// `fn` and local and global functions: parameters that are still to come, and the body.
    Closure {
        /// All parameters.
        parameters: Rc<[Parameter]>,
        /// How many of them were given.
        given: usize,
        /// What it gives.
        body: Rc<Expr>,
        /// What its names mean.
        environment: Environment,
    },
    /// A function of the language itself, with the arguments that were given.
    Builtin {
        /// Its name.
        name: &'static str,
        /// Where it is used.
        span: Span,
        /// What its variables stand for.
        instance: Rc<Instance>,
        /// The level that it was applied to.
        level: Option<kernel::AnyLevel>,
        /// Its arguments so far.
        arguments: Vec<Value>,
    },
    /// A constructor with the fields that were given.
    Constructor {
        /// Of which sum.
        sum: SumId,
        /// Its number.
        number: usize,
        /// What the sum's parameters stand for.
        types: Rc<[Type]>,
        /// Its fields so far.
        fields: Vec<Value>,
    },
    /// `(+)`, with the operands that were given.
    Operator {
        /// Which.
        operator: Operator,
        /// Where it is written.
        span: Span,
        /// The left operand, if it was given.
        left: Option<Value>,
    },
    /// `f . g`.
    Composed(Value, Value),
}

/// A push array that waits for a kernel: a function that is not yet applied.
pub struct Suspended {
    /// The function.
    pub function: Value,
    /// What it will be applied to.
    pub argument: Value,
    /// The element's type.
    pub element: Type,
    /// Where the application is written.
    pub span: Span,
    /// The array, once it was forced: a kernel is run once however often it is used.
    pub forced: OnceCell<Array>,
}

/// A pull array.
#[derive(Clone)]
pub enum Array {
    /// See the top of the file.
    Host(Rc<Host>),
    /// See the top of the file.
    Local(Rc<Local>),
    /// See the top of the file.
    Kernel(Rc<InKernel>),
    /// See the top of the file.
    Stream(Rc<Stream>),
}

/// An array outside of functions on elements and kernels.
pub struct Host {
    /// The element's type.
    pub element: Type,
    /// The number of dimensions.
    pub rank: usize,
    /// What it was made of, if a kernel may compute its elements itself.
    pub made: Option<Made>,
    /// The array of the array language, once somebody has asked for it.
    pub described: OnceCell<Arc<Described>>,
}

/// The name of what makes a list of push arrays, which wait until they are asked for.
pub const LIST: &str = "list";

/// A pull as a function of the language and its arguments.
pub struct Made {
    /// The function.
    pub name: &'static str,
    /// Where it is used.
    pub span: Span,
    /// What its variables stand for.
    pub instance: Rc<Instance>,
    /// Its arguments.
    pub arguments: Vec<Value>,
}

/// An element by its index in each dimension.
pub type Get = Rc<dyn Fn(&[Term]) -> Outcome<Value>>;

/// A pull inside a function on elements.
pub struct Local {
    /// The element's type.
    pub element: Type,
    /// The extents.
    pub extents: Vec<Term>,
    /// The elements.
    pub get: Get,
    /// If it is a stretch of an array of which others have stretches too, one after the other: how many elements all have at most.
    pub most: Option<Term>,
}

/// A pull of a kernel.
pub struct InKernel {
    /// The element's type.
    pub element: Type,
    /// The extents; their product is the length.
    pub extents: Vec<Term>,
    /// The elements, row by row.
    pub pull: kernel::Pull<kernel::Any, kernel::Length>,
}

/// Combines the elements of a part of a stream, in order, with what there is so far, of a type.
pub type FoldPart = Rc<dyn Fn(Term, Value, &Type, &dyn Fn(Value, Value) -> Outcome<Value>) -> Outcome<Value>>;

/// Elements that come one after the other, in parts.
pub struct Stream {
    /// The element's type.
    pub element: Type,
    /// How many parts there are: as many as the first variable has values.
    pub size: Term,
    /// The elements of a part, by its number.
    pub part: FoldPart,
}

impl Value {
    /// A number.
    pub fn scalar(term: Term, outside: bool) -> Value {
        Value::Scalar(Scalar { term, outside: outside || term.constant().is_some() })
    }

    /// The scalars of a value that can be stored, in the order of its type's columns; nothing if it cannot be.
    pub fn terms(&self) -> Option<Vec<Term>> {
        let mut terms = Vec::new();
        self.add_terms(&mut terms).then_some(terms)
    }

    fn add_terms(&self, terms: &mut Vec<Term>) -> bool {
        match self {
            Value::Scalar(scalar) => {
                terms.push(scalar.term);
                true
            }
            Value::Tuple(parts) => parts.iter().all(|part| part.add_terms(terms)),
            Value::Record(fields) => fields.iter().all(|(_, field)| field.add_terms(terms)),
            Value::Sum(sum) => {
                terms.push(sum.tag.term);
                sum.fields.iter().flatten().all(|field| field.add_terms(terms))
            }
            Value::Function(_)
            | Value::Array(_)
            | Value::Push(..)
            | Value::Memory(..)
            | Value::Suspended(_) => false,
        }
    }
}

impl Array {
    /// The type of an element.
    pub fn element(&self) -> &Type {
        match self {
            Array::Host(host) => &host.element,
            Array::Local(local) => &local.element,
            Array::Kernel(array) => &array.element,
            Array::Stream(stream) => &stream.element,
        }
    }

    /// The columns of an element, if it can be stored.
    pub fn columns(&self, sums: &super::Sums) -> Option<Vec<ScalarType>> {
        columns(self.element(), sums)
    }
}
