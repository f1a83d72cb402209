//! All that editors ask of a file's names, found in one walk (`walk.rs`): where each name is written and defined, what is bound where, and
//! what is applied to what. Everything is a list; who asks looks up.

use crate::walk;
use pumice_lang::ast::{ExprId, Module, Name};
use pumice_lang::source::{FileId, Span};
use pumice_lang::types::{Checked, FunctionId};

/// What a name is a name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A `fun` of a file, or of the prelude.
    Function,
    /// What the language has by itself.
    Builtin,
    /// A constructor of a sum.
    Constructor,
    /// A declared type.
    Type,
    /// A parameter of a function or lambda.
    Parameter,
    /// What a `let`, `case` or comprehension binds.
    Variable,
    /// A level that a function takes.
    Level,
    /// A field of a record.
    Field,
    /// A file that is imported.
    Module,
}

/// A name where it is written.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// Where it is.
    pub span: Span,
    /// The name where it is defined; the beginning of the file for a file.
    pub target: Span,
    /// What it is a name of.
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
    /// Where it is.
    pub span: Span,
    /// Where it is known.
    pub scope: Span,
    /// Whether it is a parameter, and not of a function with a signature.
    pub hinted: bool,
    /// The function that it is in.
    pub function: Option<FunctionId>,
}

/// An application, from its function to its last argument.
#[derive(Clone, Debug)]
pub struct Application {
    /// All of it.
    pub span: Span,
    /// What is applied.
    pub head: ExprId,
    /// Where that is.
    pub head_span: Span,
    /// The arguments; those that are no levels have an expression.
    pub arguments: Vec<Span>,
}

/// A `case`.
#[derive(Clone, Debug)]
pub struct CaseOf {
    /// What is looked at.
    pub value: ExprId,
    /// The arms' patterns, with their constructors.
    pub patterns: Vec<(Span, Option<Name>)>,
}

/// The lists of a file.
#[derive(Debug, Default)]
pub struct Index {
    /// All names, in the order of the text.
    pub occurrences: Vec<Occurrence>,
    /// All that is bound in functions.
    pub binders: Vec<Binder>,
    /// All expressions, with the function that each is in.
    pub expressions: Vec<(Span, ExprId, Option<FunctionId>)>,
    /// All applications.
    pub applications: Vec<Application>,
    /// Accesses to fields: the record, and the field's name.
    pub fields: Vec<(ExprId, Span)>,
    /// All `case`.
    pub cases: Vec<CaseOf>,
    /// Places of patterns.
    pub patterns: Vec<Span>,
    /// Places of types.
    pub types: Vec<Span>,
}

impl Index {
    /// Walks a file.
    pub fn of(checked: &Checked, file: FileId, module: &Module) -> Index {
        let mut index = walk::index(checked, file, module);
        index.occurrences.sort_by_key(|occurrence| (occurrence.span.start, occurrence.span.end));
        index
    }

    /// The name at a byte, or that ends there.
    pub fn at(&self, offset: u32) -> Option<&Occurrence> {
        let end = self.occurrences.partition_point(|occurrence| occurrence.span.start <= offset);
        // Names do not overlap, but what is listed in an import may be two at one place.
        self.occurrences.get(end.saturating_sub(2)..end)?.iter().rev().find(|found| offset <= found.span.end)
    }

    /// The smallest expression around a byte.
    pub fn expression_at(&self, offset: u32) -> Option<(Span, ExprId, Option<FunctionId>)> {
        let around = self.expressions.iter().filter(|(span, _, _)| contains(*span, offset));
        around.min_by_key(|(span, _, _)| span.end - span.start).copied()
    }
}

/// Whether a place has a byte in it, or ends there.
pub fn contains(span: Span, offset: u32) -> bool {
    span.start <= offset && offset <= span.end
}
