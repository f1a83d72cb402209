//! Parsing, from text to the tree of a program: `lexer.rs` cuts the text into tokens, `grammar/` arranges all of them, blanks and comments
//! included, in a lossless syntax tree (`kinds.rs`), and `lower/` lowers that to an [`ast::Module`]. Every text has a tree; its errors
//! are a list of messages.
//!
//! Bounds, so that no text overflows the stack or takes long:
//! - a file has at most [`MAX_BYTES`];
//! - brackets, `let`, `fn` and the like are nested at most [`MAX_NESTING`] deep;
//! - a tree of an expression or type is at most about [`MAX_HEIGHT`] + [`MAX_NESTING`] high, so chains such as `a + a + …` and
//!   `f x x …` have at most [`MAX_HEIGHT`] parts, and recursion over the tree, [`Drop`] also, goes no deeper;
//! - at most [`MAX_ERRORS`] errors are reported.

mod grammar;
mod kinds;
mod lexer;
mod lower;
pub(crate) mod node;
mod parser;
mod words;

use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
use parser::Parser;

pub(crate) use grammar::power;
pub(crate) use lower::largest_literal;

pub use kinds::{Pum, SyntaxKind, SyntaxNode, SyntaxToken};

/// The largest file, in bytes.
pub const MAX_BYTES: usize = 16 << 20;
/// Maximum nesting depth of expressions, types and patterns.
pub const MAX_NESTING: u32 = 200;
/// Maximum number of parts of a chain, and so the maximum height of a tree that chains build.
pub const MAX_HEIGHT: u32 = 1000;
/// Maximum number of reported errors of one file.
pub const MAX_ERRORS: usize = 100;

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The syntax tree, with every byte of the text; empty if the file is too large.
    pub syntax: SyntaxNode,
    /// The program. Where `errors` has something, parts of it may be missing or [`ast::ExprKind::Error`].
    pub module: ast::Module,
    /// The errors.
    pub errors: Vec<Diagnostic>,
}

/// Reads a file. Expressions are numbered from `next_expression` on, which is then the next free number.
///
/// ```
/// use pumice_lang::{source::FileId, syntax};
///
/// let mut next = 0;
/// let parsed = syntax::parse(FileId(0), "fun twice x = x + x -- a comment\n", &mut next);
/// assert!(parsed.errors.is_empty());
/// assert_eq!(&*parsed.module.functions[0].name.name, "twice");
/// assert_eq!(parsed.syntax.text(), "fun twice x = x + x -- a comment\n");
/// assert_eq!(next, 3);
/// ```
pub fn parse(file: FileId, text: &str, next_expression: &mut u32) -> Parsed {
    let (green, mut errors) = tree(file, text, grammar::file);
    let module = lower::module(file, &green, next_expression, &mut errors);
    errors.sort_by_key(|error| error.span.start);
    Parsed { syntax: SyntaxNode::new_root(green), module, errors }
}

/// Reads a text that is one expression: a test in a comment, a line at a prompt, an argument.
///
/// ```
/// use pumice_lang::{ast::ExprKind, source::FileId, syntax};
///
/// let (expression, errors) = syntax::parse_expression(FileId(0), "[1, 2, 3]", &mut 0);
/// assert!(errors.is_empty() && matches!(expression.kind, ExprKind::List(parts) if parts.len() == 3));
/// ```
pub fn parse_expression(file: FileId, text: &str, next_expression: &mut u32) -> (ast::Expr, Vec<Diagnostic>) {
    let (green, mut errors) = tree(file, text, grammar::lone_expression);
    let expression = lower::lone_expression(file, &green, next_expression, &mut errors);
    errors.sort_by_key(|error| error.span.start);
    (expression, errors)
}

/// Cuts a text into tokens, in order, each with its text: together they are the whole text.
///
/// ```
/// use pumice_lang::syntax::{SyntaxKind, tokens};
///
/// let found: Vec<_> = tokens("map f").collect();
/// assert_eq!(found, [(SyntaxKind::Lower, "map"), (SyntaxKind::Whitespace, " "), (SyntaxKind::Lower, "f")]);
/// ```
pub fn tokens(text: &str) -> impl Iterator<Item = (SyntaxKind, &str)> {
    let mut start = 0;
    lexer::tokens(text).into_iter().map(move |token| {
        let word = text.get(start..token.end as usize).unwrap_or("");
        start = token.end as usize;
        (token.kind, word)
    })
}

fn tree(file: FileId, text: &str, grammar: fn(&mut Parser)) -> (rowan::GreenNode, Vec<Diagnostic>) {
    if text.len() > MAX_BYTES {
        let span = Span { file, start: 0, end: 0 };
        let (green, mut errors) = tree(file, "", |p| {
            p.start(SyntaxKind::Root);
            p.finish();
        });
        let message = format!("the file has {} bytes, and at most {MAX_BYTES} are read", text.len());
        errors.push(
            Diagnostic::new(span, message).help("put parts of it into files of their own and `import` them"),
        );
        return (green, errors);
    }
    let mut parser = Parser::new(file, text);
    grammar(&mut parser);
    parser.finish_tree()
}
