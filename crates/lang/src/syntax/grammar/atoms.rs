//! Atoms: literals, names, and constructs in parentheses and braces.

use super::super::kinds::SyntaxKind;
use super::super::parser::Parser;
use super::expressions::{bracketed, expression};
use super::operators::{foreign, operator};
use super::types::{path, type_};
use super::{comprehensions, missing, separated};

/// Whether an atom begins here.
pub(super) fn at_atom(p: &Parser) -> bool {
    use SyntaxKind::*;
    matches!(
        p.kind(),
        Lower
            | Upper
            | Integer
            | Float
            | KwTrue
            | KwFalse
            | BlockSize
            | LeftParen
            | LeftBracket
            | LeftBrace
            | Underscore
            | Quoted
            | Unknown
    )
}

/// Reads an atom and its fields.
pub(super) fn postfix(p: &mut Parser) -> u32 {
    let start = p.checkpoint();
    let mut height = atom(p);
    while p.is_at(SyntaxKind::Dot)
        && !p.blank_before()
        && !p.blank_after()
        && matches!(p.nth(1), SyntaxKind::Lower | SyntaxKind::Integer)
    {
        p.start_at(start, SyntaxKind::Field);
        p.bump();
        p.bump();
        p.finish();
        height += 1;
        if p.too_high(height) {
            break;
        }
    }
    height
}

fn atom(p: &mut Parser) -> u32 {
    match p.kind() {
        SyntaxKind::Integer | SyntaxKind::Float | SyntaxKind::KwTrue | SyntaxKind::KwFalse => {
            lone(p, SyntaxKind::Literal)
        }
        SyntaxKind::BlockSize => lone(p, SyntaxKind::BlockSizeExpr),
        SyntaxKind::Lower | SyntaxKind::Upper => {
            p.start(SyntaxKind::PathExpr);
            path(p);
            p.finish();
        }
        SyntaxKind::LeftParen => return parenthesised(p),
        SyntaxKind::LeftBracket => return comprehensions::list(p),
        SyntaxKind::LeftBrace => return record(p),
        SyntaxKind::Underscore => {
            p.error_here("`_` is a pattern and has no value", "", "");
            lone(p, SyntaxKind::Error);
        }
        SyntaxKind::Quoted => {
            p.error_here("there are no strings and characters", "", "");
            lone(p, SyntaxKind::Error);
        }
        SyntaxKind::Unknown => {
            let found = p.found();
            let help = match p.word(p.token()) {
                "#" => "the only word with this sign is `#BlockSize`",
                _ => "names are made of the letters a to z and A to Z, digits, `_` and `'`",
            };
            p.error_here(format!("{found} is no name and no sign of a program"), "", help);
            lone(p, SyntaxKind::Error);
        }
        SyntaxKind::Foreign => {
            let found = p.found();
            let help = foreign(p.word(p.token())).map_or("", |(help, _)| help);
            p.error_here(format!("expected an expression, found {found}"), "", help);
            lone(p, SyntaxKind::Error);
        }
        _ => {
            let found = p.found();
            p.error_here(format!("expected an expression, found {found}"), "expected an expression", "");
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

/// Parses parentheses: a tuple, an operator, an expression with its type, or an expression.
fn parenthesised(p: &mut Parser) -> u32 {
    let (start, opening) = (p.checkpoint(), p.position());
    p.bump();
    if operator(p.kind()).is_some() && p.nth(1) == SyntaxKind::RightParen {
        p.bump();
        p.bump();
        p.start_at(start, SyntaxKind::Section);
        p.finish();
        return 1;
    }
    if operator(p.kind()).is_some() && p.kind() != SyntaxKind::Minus {
        p.error_here(
            "an operator without its left operand",
            "",
            "write `fn x => x + 1`; `(+)` is the operator alone",
        );
        p.bump();
    }
    let (mut height, mut kind) = (1, SyntaxKind::Tuple);
    if !p.is_at(SyntaxKind::RightParen) {
        let mut count = 0;
        separated(p, SyntaxKind::RightParen, |p| {
            height = height.max(bracketed(p) + 1);
            count += 1;
        });
        if count == 1 {
            kind = SyntaxKind::Paren;
        }
        if count == 1 && p.eat(SyntaxKind::Colon) {
            kind = SyntaxKind::Typed;
            height = height.max(type_(p) + 1);
        }
    }
    p.close(opening);
    p.start_at(start, kind);
    p.finish();
    height
}

/// Reads `{ x = a }` or `{ r with x = a }`.
fn record(p: &mut Parser) -> u32 {
    let (start, opening) = (p.checkpoint(), p.position());
    p.bump();
    let mut kind = SyntaxKind::Record;
    let mut height = 1;
    if p.is_at(SyntaxKind::RightBrace) {
        p.error_here("a record has at least one field", "", "write `()` for nothing");
    } else {
        let plain = matches!(p.kind(), SyntaxKind::Lower | SyntaxKind::Upper)
            && matches!(
                p.nth(1),
                SyntaxKind::Equal | SyntaxKind::Comma | SyntaxKind::RightBrace | SyntaxKind::Colon
            );
        if !plain {
            kind = SyntaxKind::Update;
            let outer = p.stop_word.replace("with");
            height = expression(p) + 1;
            p.stop_word = outer;
            if p.is_at_word("with") {
                p.bump();
            } else {
                let found = p.found();
                p.error_here(
                    format!("expected `with` behind the record, found {found}"),
                    "expected `with`",
                    "write `{ x = a }` for a record, `{ r with x = a }` for one with another field",
                );
            }
        }
        if p.is_at(SyntaxKind::RightBrace) {
            p.error_here("no field stands behind `with`", "", "write `{ r with x = a }`");
        } else {
            separated(p, SyntaxKind::RightBrace, |p| height = height.max(field_value(p) + 1));
        }
    }
    p.close(opening);
    p.start_at(start, kind);
    p.finish();
    height
}

fn field_value(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::FieldValue);
    let name = p.found();
    let named = if p.is_at(SyntaxKind::Upper) {
        p.error_here("the name of a field begins with a lower-case letter", "", "");
        p.bump();
        true
    } else {
        p.expect(SyntaxKind::Lower, "the name", "of a field")
    };
    let mut height = 1;
    if p.eat(SyntaxKind::Equal) {
        height = bracketed(p);
    } else if named {
        let name = name.trim_matches('`');
        let found = p.found();
        p.error_here(
            format!("expected `=` behind the field `{name}`, found {found}"),
            "expected `=`",
            format!("write `{name} = e`"),
        );
        if p.eat(SyntaxKind::Colon) {
            height = bracketed(p);
        } else {
            missing(p);
        }
    } else {
        missing(p);
    }
    p.finish();
    height
}
