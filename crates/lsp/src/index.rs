//! Index of a file's names, found in one walk (`walk.rs`): where each name is written and defined, what is bound where, and
//! what is applied to what. Everything is a list; requests search in it.

use crate::walk;
use pumice_lang::ast::{ExprId, Module, Name};
use pumice_lang::source::{FileId, Span};
use pumice_lang::types::{Checked, FunctionId};

/// The kind of definition that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A `fun` of a file, or of the prelude.
    Function,
    /// A built-in of the language.
    Builtin,
    /// A constructor of a sum.
    Constructor,
    /// A declared type.
    Type,
    /// A parameter of a function or lambda.
    Parameter,
    /// A name that a `let`, `case` or comprehension binds.
    Variable,
    /// A level that a function takes.
    Level,
    /// A field of a record.
    Field,
    /// A file that is imported.
    Module,
}

/// An occurrence of a name in the text.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// Its source span.
    pub span: Span,
    /// The span of the name at its definition; the beginning of the file for a file.
    pub target: Span,
    /// The kind of its definition.
    pub kind: NameKind,
    /// The expression that it is, if it is one.
    pub expression: Option<ExprId>,
    /// Whether it is a field and a variable at once, as in `{ x }`.
    pub is_pun: bool,
    /// The function that it is in.
    pub function: Option<FunctionId>,
}

/// A name that is bound in a function.
#[derive(Clone, Debug)]
pub struct Binder {
    /// The name.
    pub name: Name,
    /// Its source span.
    pub span: Span,
    /// The span of its scope.
    pub scope: Span,
    /// Whether its type is shown as a hint: all names but parameters of a function with a signature.
    pub hinted: bool,
    /// The function that it is in.
    pub function: Option<FunctionId>,
}

/// An application, from its function to its last argument.
#[derive(Clone, Debug)]
pub struct Application {
    /// All of it.
    pub span: Span,
    /// The function that is applied.
    pub head: ExprId,
    /// Source span of the function.
    pub head_span: Span,
    /// The spans of the arguments, levels included.
    pub arguments: Vec<Span>,
}

/// A `case`.
#[derive(Clone, Debug)]
pub struct CaseOf {
    /// The value that is matched.
    pub value: ExprId,
    /// The arms' patterns, with their constructors.
    pub patterns: Vec<(Span, Option<Name>)>,
}

/// The lists of a file.
#[derive(Debug, Default)]
pub struct Index {
    /// All names, in the order of the text.
    pub occurrences: Vec<Occurrence>,
    /// All names that are bound in functions.
    pub binders: Vec<Binder>,
    /// All expressions, with the function that each is in.
    pub expressions: Vec<(Span, ExprId, Option<FunctionId>)>,
    /// All applications.
    pub applications: Vec<Application>,
    /// Accesses to fields: the record, and the field's name.
    pub fields: Vec<(ExprId, Span)>,
    /// All `case`.
    pub cases: Vec<CaseOf>,
    /// Spans of patterns.
    pub patterns: Vec<Span>,
    /// Spans of types.
    pub types: Vec<Span>,
}

impl Index {
    /// Builds the index of a file.
    pub fn of(checked: &Checked, file: FileId, module: &Module) -> Index {
        let mut index = walk::index(checked, file, module);
        index.occurrences.sort_by_key(|occurrence| (occurrence.span.start, occurrence.span.end));
        index
    }

    /// Returns the name that has a byte, or ends there.
    pub fn at(&self, offset: u32) -> Option<&Occurrence> {
        let end = self.occurrences.partition_point(|occurrence| occurrence.span.start <= offset);
        // Names do not overlap, but one that is listed in an import may be two names at one place.
        self.occurrences.get(end.saturating_sub(2)..end)?.iter().rev().find(|found| offset <= found.span.end)
    }

    /// Returns the smallest expression around a byte.
    pub fn expression_at(&self, offset: u32) -> Option<(Span, ExprId, Option<FunctionId>)> {
        let around = self.expressions.iter().filter(|(span, _, _)| contains(*span, offset));
        around.min_by_key(|(span, _, _)| span.end - span.start).copied()
    }
}

/// Whether a span has a byte, or ends there.
pub fn contains(span: Span, offset: u32) -> bool {
    span.start <= offset && offset <= span.end
}
