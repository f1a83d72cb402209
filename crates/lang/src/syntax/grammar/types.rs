//! Types, sizes and levels as they are written.

use super::super::kinds::SyntaxKind;
use super::super::parser::Parser;
use super::{missing, separated};

/// Whether an atom of a type begins here.
pub(super) fn at_type_atom(p: &Parser) -> bool {
    use SyntaxKind::*;
    matches!(p.kind(), Lower | Upper | LeftParen | LeftBracket | LeftBrace)
}

/// Reads a type; gives the height of its tree.
pub(super) fn type_(p: &mut Parser) -> u32 {
    p.nested(|p| {
        let start = p.checkpoint();
        let mut height = operand(p);
        if !p.is_at(SyntaxKind::Arrow) {
            return height;
        }
        p.start_at(start, SyntaxKind::FunctionType);
        // All of a chain of arrows is one node, which is as high as it is long.
        while p.eat(SyntaxKind::Arrow) {
            height = height.max(operand(p)) + 1;
            if p.too_high(height) {
                break;
            }
        }
        p.finish();
        height
    })
}

/// Parses an operand of `->`; returns the height of its tree.
fn operand(p: &mut Parser) -> u32 {
    if p.is_at(SyntaxKind::Less) {
        level_parameter(p);
        if !p.is_at(SyntaxKind::Arrow) {
            p.error_here(
                "a type that begins with a level goes on with `->`",
                "expected `->`",
                "the level of an array stands behind it: `[a]<block>`",
            );
        }
        return 1;
    }
    simple_type(p)
}

/// Reads `<l>`, the name of a level.
pub(super) fn level_parameter(p: &mut Parser) {
    p.start(SyntaxKind::LevelParameter);
    p.bump();
    p.expect(SyntaxKind::Lower, "the name", "of a level");
    p.expect(SyntaxKind::Greater, "`>`", "behind the name of a level");
    p.finish();
}

fn simple_type(p: &mut Parser) -> u32 {
    let applied = p.is_at(SyntaxKind::Upper)
        || p.is_at_word("mem")
        || (p.is_at(SyntaxKind::Lower) && p.nth(1) == SyntaxKind::ColonColon);
    if !applied {
        return type_atom(p);
    }
    p.start(SyntaxKind::NamedType);
    path(p);
    let mut height = 1;
    while at_type_atom(p) && !p.is_at_boundary() {
        height = height.max(type_atom(p) + 1);
    }
    p.finish();
    height
}

/// Reads a name, perhaps one of another file.
pub(super) fn path(p: &mut Parser) {
    p.start(SyntaxKind::Path);
    p.bump();
    if p.eat(SyntaxKind::ColonColon) && !p.eat(SyntaxKind::Upper) {
        p.expect(SyntaxKind::Lower, "the name", "behind the file's name");
    }
    p.finish();
}

/// Reads a type that needs no parentheses where it is an argument.
pub(super) fn type_atom(p: &mut Parser) -> u32 {
    match p.kind() {
        SyntaxKind::Lower | SyntaxKind::Upper => {
            p.start(SyntaxKind::NamedType);
            path(p);
            p.finish();
            1
        }
        SyntaxKind::LeftParen => tuple_type(p),
        SyntaxKind::LeftBrace => record_type(p),
        SyntaxKind::LeftBracket => array_type(p),
        _ => {
            let found = p.found();
            p.error_here(format!("expected a type, found {found}"), "expected a type", "");
            missing(p);
            1
        }
    }
}

fn tuple_type(p: &mut Parser) -> u32 {
    let (start, opening) = (p.checkpoint(), p.position());
    p.bump();
    let (mut height, mut count) = (1, 0);
    if !p.is_at(SyntaxKind::RightParen) {
        separated(p, SyntaxKind::RightParen, |p| {
            height = height.max(type_(p) + 1);
            count += 1;
        });
    }
    p.close(opening);
    p.start_at(start, if count == 1 { SyntaxKind::ParenType } else { SyntaxKind::TupleType });
    p.finish();
    height
}

fn record_type(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::RecordType);
    let opening = p.position();
    p.bump();
    let mut height = 1;
    separated(p, SyntaxKind::RightBrace, |p| {
        p.start(SyntaxKind::TypeField);
        p.expect(SyntaxKind::Lower, "the name", "of a field");
        if p.expect(SyntaxKind::Colon, "`:`", "between a field and its type") || at_type_atom(p) {
            height = height.max(type_(p) + 1);
        } else {
            missing(p);
        }
        p.finish();
    });
    p.close(opening);
    p.finish();
    height
}

fn array_type(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::ArrayType);
    let opening = p.position();
    p.bump();
    let height = type_(p) + 1;
    if p.eat(SyntaxKind::Semicolon) {
        separated(p, SyntaxKind::RightBracket, size);
    }
    p.close(opening);
    if p.is_at(SyntaxKind::Less) {
        level_in_brackets(p);
    }
    p.finish();
    height
}

fn size(p: &mut Parser) {
    p.start(SyntaxKind::Size);
    if !matches!(p.kind(), SyntaxKind::Integer | SyntaxKind::Lower | SyntaxKind::Underscore) {
        let found = p.found();
        let help = "sizes are numbers, names, or `_` for any";
        p.error_here(format!("expected the size of a dimension, found {found}"), "expected a size", help);
    } else {
        p.bump();
    }
    p.finish();
}

/// Reads `<level>`.
pub(super) fn level_in_brackets(p: &mut Parser) {
    p.bump();
    p.start(SyntaxKind::Level);
    while p.is_at(SyntaxKind::Integer) {
        p.bump();
        p.expect(SyntaxKind::Plus, "`+`", "between a number and the level that it is above");
    }
    p.expect(SyntaxKind::Lower, "a level", "(thread, warp, block, grid or a name)");
    p.finish();
    p.expect(SyntaxKind::Greater, "`>`", "behind a level");
}
