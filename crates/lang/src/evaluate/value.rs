//! Values of expressions during evaluation: scalar terms, functions, and arrays in one of four forms.
//!
//! - [`Array::Host`]: an array of the array language, or a pull that could be one. A pull keeps its definition, so a kernel that
//!   uses it computes its elements itself.
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
    /// One of several constructors: its number, and the fields of all of them. Fields of other constructors have no meaning.
    Sum(Rc<Sum>),
    /// A function.
    Function(Rc<Function>),
    /// A pull array.
    Array(Array),
    /// A push array of a kernel that is being built.
    Push(kernel::Push<kernel::AnyLevel, kernel::Dynamic, kernel::Length>, Type),
    /// Mutable memory of a kernel that is being built, and the type of its elements.
    Memory(kernel::Mutable<kernel::Dynamic>, Type),
    /// A push array outside of any kernel: the application that describes it when it is forced.
    Suspended(Rc<Suspended>),
}

/// A number, as a term of the program that is being built.
#[derive(Clone, Copy)]
pub struct Scalar {
    /// The number.
    pub term: Term,
    /// Whether it belongs to no function on elements and to no kernel.
    pub outside: bool,
}

/// A value of a declared sum.
pub struct Sum {
    /// The declared sum.
    pub id: SumId,
    /// The number of the constructor.
    pub tag: Scalar,
    /// The fields of each constructor.
    pub fields: Vec<Vec<Value>>,
}

/// A function.
pub enum Function {
    /// A `fn`, or a local or global function: its parameters, some of which may be applied, and its body.
    Closure {
        /// All parameters.
        parameters: Rc<[Parameter]>,
        /// Number of parameters that have been applied.
        given: usize,
        /// The body.
        body: Rc<Expr>,
        /// Bindings of the names in the body.
        environment: Environment,
    },
    /// A built-in function of the language, with the arguments so far.
    Builtin {
        /// Its name.
        name: &'static str,
        /// Source span of the use.
        span: Span,
        /// Arguments for the variables of its scheme.
        instance: Rc<Instance>,
        /// The level that it was applied to.
        level: Option<kernel::AnyLevel>,
        /// Its arguments so far.
        arguments: Vec<Value>,
    },
    /// A constructor with the fields so far.
    Constructor {
        /// The sum of the constructor.
        sum: SumId,
        /// Its number.
        number: usize,
        /// Arguments for the sum's parameters.
        types: Rc<[Type]>,
        /// Its fields so far.
        fields: Vec<Value>,
    },
    /// `(+)`, with the operands so far.
    Operator {
        /// The operator.
        operator: Operator,
        /// Source span of the operator.
        span: Span,
        /// The left operand, if it has been applied.
        left: Option<Value>,
    },
    /// `f . g`.
    Composed(Value, Value),
}

/// A push array that waits for a kernel: a function that is not yet applied.
pub struct Suspended {
    /// The function.
    pub function: Value,
    /// The argument of the application.
    pub argument: Value,
    /// The element's type.
    pub element: Type,
    /// Source span of the application.
    pub span: Span,
    /// The array, once it has been forced: a kernel is run once however often it is used.
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
    /// Its definition, if a kernel may compute its elements itself.
    pub made: Option<Made>,
    /// The array of the array language, computed on first use.
    pub described: OnceCell<Arc<Described>>,
}

/// Name of the built-in that makes a list of push arrays. These are evaluated on demand.
pub const LIST: &str = "list";

/// A pull as a built-in function and its arguments.
pub struct Made {
    /// The function.
    pub name: &'static str,
    /// Source span of the use.
    pub span: Span,
    /// Arguments for the variables of its scheme.
    pub instance: Rc<Instance>,
    /// Its arguments.
    pub arguments: Vec<Value>,
}

/// Returns an element by its index in each dimension.
pub type Get = Rc<dyn Fn(&[Term]) -> Outcome<Value>>;

/// A pull inside a function on elements.
pub struct Local {
    /// The element's type.
    pub element: Type,
    /// The extents.
    pub extents: Vec<Term>,
    /// The elements.
    pub get: Get,
    /// Upper bound for the total length of all segments, if this is one of several consecutive segments of an array.
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

/// Combines the elements of a part of a stream, in order, with the accumulator, whose type is given.
pub type FoldPart = Rc<dyn Fn(Term, Value, &Type, &dyn Fn(Value, Value) -> Outcome<Value>) -> Outcome<Value>>;

/// Elements that come one after the other, in parts.
pub struct Stream {
    /// The element's type.
    pub element: Type,
    /// Number of parts: as many as the first variable has values.
    pub size: Term,
    /// Folds the elements of a part, by its number.
    pub part: FoldPart,
}

impl Value {
    /// Creates a number.
    pub fn scalar(term: Term, outside: bool) -> Value {
        Value::Scalar(Scalar { term, outside: outside || term.constant().is_some() })
    }

    /// Returns the scalars of a value that can be stored, in the order of its type's columns; `None` if it cannot be stored.
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
    /// Returns the type of an element.
    pub fn element(&self) -> &Type {
        match self {
            Array::Host(host) => &host.element,
            Array::Local(local) => &local.element,
            Array::Kernel(array) => &array.element,
            Array::Stream(stream) => &stream.element,
        }
    }

    /// Returns the columns of an element, if it can be stored.
    pub fn columns(&self, sums: &super::Sums) -> Option<Vec<ScalarType>> {
        columns(self.element(), sums)
    }
}
