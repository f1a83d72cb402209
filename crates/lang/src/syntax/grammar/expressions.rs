//! Expressions. Operators are read by precedence climbing. Functions return the height of the tree that they built, which is bounded, so
//! that walks over the tree may be recursive.

use super::super::kinds::SyntaxKind;
use super::super::parser::{Layout, Parser};
use super::atoms::{at_atom, postfix};
use super::items::{body, equal_ahead};
use super::missing;
use super::operators::{COMPARISON, COMPOSITION, Power, power_here, take_operator};
use super::patterns::{at_pattern_atom, pattern, pattern_atom};
use super::types::{level_in_brackets, level_parameter};
use crate::diagnostic::Diagnostic;

/// Reads an expression.
pub(super) fn expression(p: &mut Parser) -> u32 {
    p.nested(|p| binary(p, 0))
}

/// Reads an expression in brackets, where words that end an application outside are names again.
pub(super) fn bracketed(p: &mut Parser) -> u32 {
    let stop_word = p.stop_word.take();
    let height = expression(p);
    p.stop_word = stop_word;
    height
}

/// Reads operands and operators that bind at least so strongly.
fn binary(p: &mut Parser, least: Power) -> u32 {
    let start = p.checkpoint();
    let mut height = unary(p);
    let mut compared = false;
    while let Some(power) = power_here(p).filter(|power| *power >= least) {
        p.start_at(start, SyntaxKind::Binary);
        take_operator(p, compared && power == COMPARISON);
        height = height.max(binary(p, power + 1)) + 1;
        p.finish();
        compared = power == COMPARISON;
        if p.too_high(height) {
            break;
        }
    }
    height
}

fn unary(p: &mut Parser) -> u32 {
    match p.kind() {
        SyntaxKind::Minus => {
            p.start(SyntaxKind::Negate);
            p.bump();
            let height = p.nested(|p| binary(p, COMPOSITION));
            p.finish();
            height + 1
        }
        SyntaxKind::KwFn => function(p),
        SyntaxKind::Backslash => {
            p.error_here("a function begins with `fn`", "", "write `fn x => e`");
            function(p)
        }
        SyntaxKind::KwFun if !p.token().first_on_line => {
            let help = "write `fn x => e`; `fun` begins an item";
            p.error_here("a function in an expression begins with `fn`", "", help);
            function(p)
        }
        SyntaxKind::KwLet => let_(p),
        SyntaxKind::KwIf => if_(p),
        SyntaxKind::KwCase => case(p),
        SyntaxKind::Foreign if matches!(p.word(p.token()), "!" | "~") => {
            p.start(SyntaxKind::Error);
            take_operator(p, false);
            let height = p.nested(unary);
            p.finish();
            height + 1
        }
        _ => application(p),
    }
}

fn begins_prefix(kind: SyntaxKind) -> bool {
    use SyntaxKind::*;
    matches!(kind, KwFn | Backslash | KwLet | KwIf | KwCase)
}

fn application(p: &mut Parser) -> u32 {
    let start = p.checkpoint();
    let mut height = postfix(p);
    if !at_argument(p) {
        return height;
    }
    p.start_at(start, SyntaxKind::Apply);
    while at_argument(p) {
        let argument = if p.is_at(SyntaxKind::Less) {
            p.start(SyntaxKind::LevelArgument);
            level_in_brackets(p);
            p.finish();
            1
        } else if begins_prefix(p.kind()) {
            let found = p.found();
            p.error_here(
                format!("an argument that begins with {found} stands in parentheses"),
                "",
                format!("write `({} …)`", found.trim_matches('`')),
            );
            p.nested(unary)
        } else {
            postfix(p)
        };
        height = height.max(argument) + 1;
        if p.too_high(height) {
            break;
        }
    }
    p.finish();
    height
}

fn at_argument(p: &Parser) -> bool {
    let stopped = p.layout_stops() || p.stop_word.is_some_and(|word| p.is_at_word(word));
    !stopped && (at_atom(p) || begins_prefix(p.kind()) || level_ahead(p))
}

/// Whether `<level>` is here, and no comparison.
fn level_ahead(p: &Parser) -> bool {
    if !p.is_at(SyntaxKind::Less) {
        return false;
    }
    let mut count = 1;
    while p.nth(count) == SyntaxKind::Integer && p.nth(count + 1) == SyntaxKind::Plus {
        count += 2;
    }
    p.nth(count) == SyntaxKind::Lower && p.nth(count + 1) == SyntaxKind::Greater
}

/// Whether a parameter begins here.
pub(super) fn at_parameter(p: &Parser) -> bool {
    at_pattern_atom(p) || p.is_at(SyntaxKind::Less)
}

/// Reads a parameter: a pattern or a level.
pub(super) fn parameter(p: &mut Parser) {
    if p.is_at(SyntaxKind::Less) {
        level_parameter(p);
    } else {
        pattern_atom(p);
    }
}

fn function(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::Fn);
    p.bump();
    if !at_parameter(p) {
        let found = p.found();
        p.error_here(
            format!("expected a parameter, found {found}"),
            "expected a parameter",
            "write `fn x => e`",
        );
    }
    while at_parameter(p) {
        parameter(p);
    }
    arrow(p, "the body of a function");
    let height = expression(p);
    p.finish();
    height + 1
}

/// Takes `=>`.
fn arrow(p: &mut Parser, what: &str) {
    if p.eat(SyntaxKind::FatArrow) {
        return;
    }
    let found = p.found();
    let (help, wrong) = match p.kind() {
        SyntaxKind::Arrow => ("write `=>`; `->` belongs to types", true),
        SyntaxKind::Equal | SyntaxKind::Dot => ("write `=>`", true),
        SyntaxKind::LeftArrow => {
            ("put the `case` in parentheses, so that it ends before the comprehension goes on", true)
        }
        _ => ("", false),
    };
    p.error_here(format!("expected `=>` before {what}, found {found}"), "expected `=>`", help);
    if wrong {
        p.start(SyntaxKind::Skipped);
        p.bump();
        p.finish();
    }
}

fn let_(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::Let);
    let word = p.here();
    p.bump();
    let column = p.token().column;
    let outer = std::mem::replace(&mut p.layout, Layout::Let(column));
    let mut height = 0;
    loop {
        height = height.max(binding(p));
        let separated = p.eat(SyntaxKind::Semicolon);
        let token = p.token();
        if token.kind == SyntaxKind::KwIn || p.is_at_boundary() {
            break;
        }
        let follows =
            token.first_on_line && (at_pattern_atom(p) || token.kind == SyntaxKind::Minus) && equal_ahead(p);
        if separated || (follows && token.column == column) {
            continue;
        }
        if follows {
            p.error_here(
                format!("a binding of this `let` begins in column {}, with the one before it", column + 1),
                "in another column",
                "move it there; or write `;` before it",
            );
            continue;
        }
        break;
    }
    p.layout = outer;
    if !p.eat(SyntaxKind::KwIn) {
        let found = p.found();
        let error =
            Diagnostic::new(p.here(), format!("expected `in` behind the bindings of a `let`, found {found}"))
                .label("expected `in`")
                .other(word, "this `let`")
                .help("write `in` and what the `let` gives");
        p.error(error);
        let begins = at_atom(p) || begins_prefix(p.kind()) || p.is_at(SyntaxKind::Minus);
        if !begins {
            missing(p);
            p.finish();
            return height + 1;
        }
    }
    height = height.max(expression(p));
    p.finish();
    height + 1
}

fn binding(p: &mut Parser) -> u32 {
    let is_function =
        p.is_at(SyntaxKind::Lower) && !matches!(p.nth(1), SyntaxKind::Equal | SyntaxKind::ColonColon);
    if !is_function {
        p.start(SyntaxKind::Binding);
        pattern(p);
    } else {
        p.start(SyntaxKind::FunctionBinding);
        p.bump();
        while at_parameter(p) && !p.layout_stops() {
            parameter(p);
        }
    }
    let height = body(p, "a binding");
    p.finish();
    height + 1
}

fn if_(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::If);
    let word = p.here();
    p.bump();
    let mut height = expression(p);
    for (kind, sign) in [(SyntaxKind::KwThen, "then"), (SyntaxKind::KwElse, "else")] {
        if !p.eat(kind) {
            let found = p.found();
            let error = Diagnostic::new(p.here(), format!("expected `{sign}`, found {found}"))
                .label(format!("expected `{sign}`"))
                .other(word, "this `if`")
                .help("write `if condition then a else b`; both branches are needed");
            p.error(error);
            if !at_atom(p) {
                missing(p);
                continue;
            }
        }
        height = height.max(expression(p));
    }
    p.finish();
    height + 1
}

fn case(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::Case);
    p.bump();
    let mut height = expression(p);
    p.expect(SyntaxKind::KwOf, "`of`", "behind the value of a `case`");
    p.eat(SyntaxKind::Bar);
    loop {
        p.start(SyntaxKind::Arm);
        pattern(p);
        arrow(p, "what an arm gives");
        height = height.max(expression(p));
        p.finish();
        if !p.eat(SyntaxKind::Bar) {
            break;
        }
    }
    p.finish();
    height + 1
}
