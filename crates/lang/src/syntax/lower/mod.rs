//! Lowering of the syntax tree to the tree of the program: names, places, numbers of expressions, and documentation; no blanks, comments or
//! parentheses. [`SyntaxKind::Error`] represents something that is missing, [`SyntaxKind::Skipped`] nothing.

mod docs;
mod expressions;
mod items;
mod literals;
mod types;

use super::kinds::SyntaxKind;
use super::node::{Node, Token};
use crate::ast::{Expr, ExprId, ExprKind, Ident, Module, Name, Path};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
pub(crate) use literals::largest_literal;
use rowan::GreenNode;
use std::collections::HashSet;

/// Lowers the tree of a file to a module.
pub(super) fn module(file: FileId, tree: &GreenNode, next: &mut u32, errors: &mut Vec<Diagnostic>) -> Module {
    Lowering { file, next, errors, names: HashSet::new() }.module(Node::root(tree))
}

/// Lowers the tree of a text that is an expression.
pub(super) fn lone_expression(
    file: FileId,
    tree: &GreenNode,
    next: &mut u32,
    errors: &mut Vec<Diagnostic>,
) -> Expr {
    let root = Node::root(tree);
    let mut lowering = Lowering { file, next, errors, names: HashSet::new() };
    match root.nodes().next() {
        Some(node) => lowering.expression(node),
        None => lowering.missing(root),
    }
}

struct Lowering<'a> {
    file: FileId,
    next: &'a mut u32,
    errors: &'a mut Vec<Diagnostic>,
    /// Each name once, however often it is written.
    names: HashSet<Name>,
}

impl Lowering<'_> {
    fn span(&self, node: Node) -> Span {
        Span { file: self.file, start: node.start, end: node.end() }
    }

    fn token_span(&self, token: Token) -> Span {
        Span { file: self.file, start: token.start, end: token.start + token.text.len() as u32 }
    }

    /// Returns the place behind a node, where something is missing.
    fn end(&self, node: Node) -> Span {
        Span { file: self.file, start: node.end(), end: node.end() }
    }

    fn error(&mut self, error: Diagnostic) {
        if self.errors.len() < super::MAX_ERRORS {
            self.errors.push(error);
        }
    }

    fn name(&mut self, text: &str) -> Name {
        match self.names.get(text) {
            Some(name) => name.clone(),
            None => {
                let name: Name = text.into();
                self.names.insert(name.clone());
                name
            }
        }
    }

    fn ident(&mut self, token: Token) -> Ident {
        Ident { name: self.name(token.text), span: self.token_span(token) }
    }

    /// Returns the first name among the tokens of a node; an empty one if it is missing, for which an error has been reported.
    fn ident_in(&mut self, node: Node) -> Ident {
        match node.tokens().find(|token| matches!(token.kind, SyntaxKind::Lower | SyntaxKind::Upper)) {
            Some(token) => self.ident(token),
            None => Ident { name: self.name(""), span: self.end(node) },
        }
    }

    /// Lowers the path that a node has, or is.
    fn path(&mut self, node: Node) -> Path {
        let node = node.nodes().find(|child| child.kind() == SyntaxKind::Path).unwrap_or(node);
        let qualified = node.tokens().any(|token| token.kind == SyntaxKind::ColonColon);
        let mut names =
            node.tokens().filter(|token| matches!(token.kind, SyntaxKind::Lower | SyntaxKind::Upper));
        let module = if qualified { names.next().map(|token| self.ident(token)) } else { None };
        let name = match names.next() {
            Some(token) => self.ident(token),
            None => Ident { name: self.name(""), span: self.end(node) },
        };
        Path { module, name }
    }

    fn expr(&mut self, span: Span, kind: ExprKind) -> Expr {
        let id = ExprId(*self.next);
        *self.next = self.next.saturating_add(1);
        Expr { id, span, kind }
    }

    /// Creates the expression for one that is missing in, or behind, a node.
    fn missing(&mut self, node: Node) -> Expr {
        let span = self.end(node);
        self.expr(span, ExprKind::Error)
    }
}
