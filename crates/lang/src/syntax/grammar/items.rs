//! A file and its items: `import`, `sig`, `fun`, `type`.

use super::super::kinds::SyntaxKind;
use super::super::parser::{Layout, Parser};
use super::expressions::{at_parameter, expression, parameter};
use super::types::{at_type_atom, type_, type_atom};
use super::{missing, separated};
use crate::diagnostic::Diagnostic;

/// Reads a file.
pub(in super::super) fn file(p: &mut Parser) {
    p.start(SyntaxKind::Root);
    while !p.is_at(SyntaxKind::EndOfFile) {
        item(p);
        if !p.is_at_boundary() && !p.kind().begins_item() {
            let next = p.kind();
            if !(next == SyntaxKind::Lower && p.token().first_on_line) {
                unexpected(
                    p,
                    "an item ends before this, and the next begins with `sig`, `fun`, `type` or `import`",
                );
                p.skip_to_item();
            }
        }
    }
    p.build_trivia();
    p.finish();
}

/// Reports text that belongs to no item.
pub(super) fn unexpected(p: &mut Parser, label: &str) {
    let found = p.found();
    match p.kind() {
        kind if kind.is_closing() => p.error_here(
            format!("this {found} closes nothing"),
            "no bracket is open here that it could close",
            "leave it out, or write the opening bracket",
        ),
        SyntaxKind::Semicolon => {
            p.error_here(format!("unexpected {found}"), label, "items need no `;` behind them")
        }
        SyntaxKind::Bar => p.error_here(format!("unexpected {found}"), label, "arms follow `case e of`"),
        _ => p.error_here(format!("unexpected {found}"), label, ""),
    }
}

fn item(p: &mut Parser) {
    p.layout = Layout::Item(p.token().column);
    match p.kind() {
        SyntaxKind::KwImport => import(p),
        SyntaxKind::KwSig => signature(p),
        SyntaxKind::KwFun => function(p),
        SyntaxKind::KwType => type_declaration(p),
        SyntaxKind::Lower if p.nth(1) == SyntaxKind::Colon => {
            let name = p.found();
            p.error_here("a signature begins with `sig`", "", format!("write `sig` before {name}"));
            signature(p);
        }
        SyntaxKind::Lower if equal_ahead(p) => {
            let name = p.found();
            p.error_here("a function begins with `fun`", "", format!("write `fun` before {name}"));
            function(p);
        }
        _ => {
            let found = p.found();
            let message = format!("expected `sig`, `fun`, `type` or `import`, found {found}");
            p.error_here(message, "no item begins so", "");
            // At least this token goes.
            p.start(SyntaxKind::Skipped);
            p.bump();
            while !p.is_at_boundary() {
                p.bump();
            }
            p.finish();
        }
    }
}

/// Whether `=` comes before the next line that begins at this column, outside of brackets, as it does in a binding.
pub(super) fn equal_ahead(p: &Parser) -> bool {
    let mut count = 0;
    loop {
        let token = p.ahead(count);
        match token.kind {
            SyntaxKind::Equal => return true,
            SyntaxKind::EndOfFile => return false,
            _ if count > 0 && token.first_on_line && token.column <= p.token().column => return false,
            kind if kind.closing().is_some() => match p.closed_after(count) {
                Some(closing) => count = closing + 1,
                None => return false,
            },
            SyntaxKind::Lower
            | SyntaxKind::Upper
            | SyntaxKind::Underscore
            | SyntaxKind::Integer
            | SyntaxKind::KwTrue
            | SyntaxKind::KwFalse
            | SyntaxKind::ColonColon
            | SyntaxKind::Less
            | SyntaxKind::Greater
            | SyntaxKind::Minus => count += 1,
            _ => return false,
        }
    }
}

fn import(p: &mut Parser) {
    p.start(SyntaxKind::Import);
    p.bump();
    p.expect(SyntaxKind::Lower, "the name", "of the file to import");
    if p.is_at(SyntaxKind::LeftParen) {
        let opening = p.position();
        p.bump();
        separated(p, SyntaxKind::RightParen, |p| {
            if !p.eat(SyntaxKind::Upper) {
                p.expect(SyntaxKind::Lower, "the name", "of what to import");
            }
        });
        p.close(opening);
    }
    p.finish();
}

fn signature(p: &mut Parser) {
    p.start(SyntaxKind::Signature);
    p.eat(SyntaxKind::KwSig);
    name(p, "a signature");
    if p.expect(SyntaxKind::Colon, "`:`", "between the name and its type") || at_type_atom(p) {
        constraints(p);
        type_(p);
    } else {
        missing(p);
    }
    p.finish();
}

/// Reads the name that something has.
fn name(p: &mut Parser, owner: &str) {
    if p.is_at(SyntaxKind::Upper) {
        let found = p.found();
        p.error_here(
            format!("the name of {owner} begins with a lower-case letter, but this is {found}"),
            "",
            "names that begin with an upper-case letter are types and constructors",
        );
        p.start(SyntaxKind::Skipped);
        p.bump();
        p.finish();
    } else {
        p.expect(SyntaxKind::Lower, "the name", &format!("of {owner}"));
    }
}

/// Reads `Number a, Element b =>`, if it is here.
fn constraints(p: &mut Parser) {
    let constraint_ahead = p.is_at(SyntaxKind::Upper)
        && p.nth(1) == SyntaxKind::Lower
        && matches!(p.nth(2), SyntaxKind::Comma | SyntaxKind::FatArrow);
    if !constraint_ahead {
        return;
    }
    separated(p, SyntaxKind::FatArrow, |p| {
        p.start(SyntaxKind::Constraint);
        p.expect(SyntaxKind::Upper, "a class", "of a type variable");
        p.expect(SyntaxKind::Lower, "the name", "of the type variable that is of this class");
        p.finish();
    });
    p.expect(SyntaxKind::FatArrow, "`=>`", "between classes and type");
}

fn function(p: &mut Parser) {
    p.start(SyntaxKind::Function);
    p.eat(SyntaxKind::KwFun);
    name(p, "a function");
    while at_parameter(p) && !p.layout_stops() {
        parameter(p);
    }
    body(p, "a function");
    p.finish();
}

/// Reads `= expression`.
pub(super) fn body(p: &mut Parser, owner: &str) -> u32 {
    if !p.eat(SyntaxKind::Equal) {
        let found = p.found();
        let message = format!("expected `=` before the body of {owner}, found {found}");
        let help = match p.kind() {
            SyntaxKind::FatArrow | SyntaxKind::Arrow => "write `=` here; `=>` belongs to `fn x => e`",
            SyntaxKind::Colon => "the type of a function stands above it: `sig f : a -> b`",
            _ => "",
        };
        p.error_here(message, "expected `=`", help);
        if !help.is_empty() {
            p.start(SyntaxKind::Skipped);
            if p.eat(SyntaxKind::Colon) {
                type_(p);
                p.eat(SyntaxKind::Equal);
            } else {
                p.bump();
            }
            p.finish();
        }
        if p.is_at_boundary() {
            missing(p);
            return 1;
        }
    }
    expression(p)
}

fn type_declaration(p: &mut Parser) {
    p.start(SyntaxKind::TypeDeclaration);
    p.bump();
    if p.is_at(SyntaxKind::Lower) {
        let found = p.found();
        p.error_here(
            format!("the name of a type begins with an upper-case letter, but this is {found}"),
            "",
            "",
        );
        p.start(SyntaxKind::Skipped);
        p.bump();
        p.finish();
    } else {
        p.expect(SyntaxKind::Upper, "the name", "of a type");
    }
    while p.eat(SyntaxKind::Lower) {}
    if !p.expect(SyntaxKind::Equal, "`=`", "between the name of a type and what it is") && p.is_at_boundary()
    {
        missing(p);
        p.finish();
        return;
    }
    if p.is_at(SyntaxKind::Bar) {
        p.bump();
        constructors(p);
    } else if bar_ahead(p) {
        constructors(p);
    } else {
        type_(p);
    }
    p.finish();
}

/// Whether this is the first of several constructors: `Some a | None`. A declared type has no bar behind it.
fn bar_ahead(p: &Parser) -> bool {
    if !p.is_at(SyntaxKind::Upper) {
        return false;
    }
    let mut count = 0;
    loop {
        let token = p.ahead(count);
        match token.kind {
            SyntaxKind::Bar => return true,
            SyntaxKind::EndOfFile => return false,
            kind if kind.begins_item() => return false,
            kind if kind.closing().is_some() => match p.closed_after(count) {
                Some(closing) => count = closing + 1,
                None => return false,
            },
            _ => count += 1,
        }
    }
}

fn constructors(p: &mut Parser) {
    loop {
        p.start(SyntaxKind::Constructor);
        if p.is_at(SyntaxKind::Lower) {
            let error = Diagnostic::new(p.here(), "a constructor begins with an upper-case letter");
            p.error(error);
            p.start(SyntaxKind::Skipped);
            p.bump();
            p.finish();
        } else {
            p.expect(SyntaxKind::Upper, "a constructor", "of a type");
        }
        while at_type_atom(p) {
            type_atom(p);
        }
        p.finish();
        if !p.eat(SyntaxKind::Bar) {
            return;
        }
    }
}
