//! The grammar of `docs/pum.md`, a file per subject. A function parses one construct that begins at the cursor and builds its node;
//! it never fails, and always comes to an end: a missing part becomes an empty [`SyntaxKind::Error`] and a message.

mod atoms;
mod comprehensions;
mod expressions;
mod items;
mod operators;
mod patterns;
mod types;

use super::kinds::SyntaxKind;
use super::parser::Parser;

pub(super) use items::file;

/// Reads a text that is one expression.
pub(super) fn lone_expression(p: &mut Parser) {
    p.start(SyntaxKind::Root);
    expressions::expression(p);
    if !p.is_at(SyntaxKind::EndOfFile) {
        items::unexpected(p, "the expression ends before this");
        p.start(SyntaxKind::Skipped);
        while !p.is_at(SyntaxKind::EndOfFile) {
            p.bump();
        }
        p.finish();
    }
    p.build_trivia();
    p.finish();
}

/// Reads things with commas between them, up to a closing bracket. The thing that is read must take at least a token, or tell an error.
fn separated(p: &mut Parser, closing: SyntaxKind, mut read: impl FnMut(&mut Parser)) {
    loop {
        read(p);
        if !p.eat(SyntaxKind::Comma) {
            return;
        }
        if p.is_at(closing) {
            p.error_here(
                "nothing stands behind the comma",
                "",
                "leave the comma out, or write what is missing",
            );
            return;
        }
    }
}

/// Builds an empty node for a missing part.
fn missing(p: &mut Parser) {
    p.start(SyntaxKind::Error);
    p.finish();
}

/// Returns the operator that a token is.
pub(super) fn operator(kind: SyntaxKind) -> Option<crate::ast::Operator> {
    operators::operator(kind).map(|(operator, _)| operator)
}

/// Returns the binding power of the operator that a token is.
pub(crate) fn power(kind: SyntaxKind) -> Option<u8> {
    operators::operator(kind).map(|(_, power)| power)
}
