//! Patterns of parameters, bindings, arms and draws.

use super::super::kinds::SyntaxKind;
use super::super::parser::Parser;
use super::types::path;
use super::{missing, separated};

/// Whether a pattern that needs no parentheses begins here.
pub(super) fn at_pattern_atom(p: &Parser) -> bool {
    use SyntaxKind::*;
    matches!(
        p.kind(),
        Lower | Upper | Underscore | LeftParen | LeftBrace | Integer | Float | KwTrue | KwFalse | LeftBracket
    )
}

/// Reads a pattern, a constructor with its fields perhaps.
pub(super) fn pattern(p: &mut Parser) -> u32 {
    p.nested(|p| {
        if !at_constructor(p) {
            return pattern_atom(p);
        }
        p.start(SyntaxKind::ConstructorPattern);
        path(p);
        let mut height = 1;
        while at_pattern_atom(p) && !p.layout_stops() {
            height = height.max(pattern_atom(p) + 1);
        }
        p.finish();
        height
    })
}

fn at_constructor(p: &Parser) -> bool {
    p.is_at(SyntaxKind::Upper) || (p.is_at(SyntaxKind::Lower) && p.nth(1) == SyntaxKind::ColonColon)
}

/// Reads a pattern that needs no parentheses where it is a parameter.
pub(super) fn pattern_atom(p: &mut Parser) -> u32 {
    match p.kind() {
        _ if at_constructor(p) => {
            p.start(SyntaxKind::ConstructorPattern);
            path(p);
            p.finish();
        }
        SyntaxKind::Lower => lone(p, SyntaxKind::NamePattern),
        SyntaxKind::Underscore => lone(p, SyntaxKind::AnyPattern),
        SyntaxKind::Integer | SyntaxKind::KwTrue | SyntaxKind::KwFalse => lone(p, SyntaxKind::LiteralPattern),
        SyntaxKind::Minus if p.nth(1) == SyntaxKind::Integer => {
            p.start(SyntaxKind::LiteralPattern);
            p.bump();
            p.bump();
            p.finish();
        }
        SyntaxKind::LeftParen => return tuple_pattern(p),
        SyntaxKind::LeftBrace => return record_pattern(p),
        SyntaxKind::Float => {
            let help = "bind it to a name and compare that";
            p.error_here("floats are no patterns", "", help);
            lone(p, SyntaxKind::Error);
        }
        SyntaxKind::LeftBracket => {
            let help = "bind the array to a name, and use `index` and `length`";
            p.error_here("arrays are no patterns", "", help);
            let skipped = p.closed_after(0).unwrap_or(0);
            p.start(SyntaxKind::Error);
            for _ in 0..=skipped {
                p.bump();
            }
            p.finish();
        }
        _ => {
            let found = p.found();
            p.error_here(format!("expected a pattern, found {found}"), "expected a pattern", "");
            missing(p);
        }
    }
    1
}

fn lone(p: &mut Parser, kind: SyntaxKind) {
    p.start(kind);
    p.bump();
    p.finish();
}

fn tuple_pattern(p: &mut Parser) -> u32 {
    let (start, opening) = (p.checkpoint(), p.position());
    p.bump();
    let (mut height, mut count) = (1, 0);
    if !p.is_at(SyntaxKind::RightParen) {
        separated(p, SyntaxKind::RightParen, |p| {
            height = height.max(pattern(p) + 1);
            count += 1;
        });
    }
    p.close(opening);
    p.start_at(start, if count == 1 { SyntaxKind::ParenPattern } else { SyntaxKind::TuplePattern });
    p.finish();
    height
}

fn record_pattern(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::RecordPattern);
    let opening = p.position();
    p.bump();
    let mut height = 1;
    separated(p, SyntaxKind::RightBrace, |p| {
        p.start(SyntaxKind::PatternField);
        p.expect(SyntaxKind::Lower, "the name", "of a field");
        if p.eat(SyntaxKind::Equal) {
            height = height.max(pattern(p) + 1);
        }
        p.finish();
    });
    p.close(opening);
    p.finish();
    height
}
