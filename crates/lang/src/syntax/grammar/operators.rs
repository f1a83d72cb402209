//! Operators and how strongly they bind.

use super::super::kinds::SyntaxKind;
use super::super::parser::{Layout, Parser};
use crate::ast::Operator;

/// The binding power of an operator.
pub(super) type Power = u8;

/// Comparisons, which do not chain.
pub(super) const COMPARISON: Power = 4;
/// Composition binds its operands more strongly than a sign does.
pub(super) const COMPOSITION: Power = 10;

/// Returns the operator of a token, with its binding power.
pub(in super::super) fn operator(kind: SyntaxKind) -> Option<(Operator, Power)> {
    use SyntaxKind as K;
    Some(match kind {
        K::Pipe => (Operator::Pipe, 1),
        K::OrOr => (Operator::Or, 2),
        K::AndAnd => (Operator::And, 3),
        K::EqualEqual => (Operator::Equal, COMPARISON),
        K::NotEqual => (Operator::NotEqual, COMPARISON),
        K::Less => (Operator::Less, COMPARISON),
        K::LessEqual => (Operator::LessEqual, COMPARISON),
        K::Greater => (Operator::Greater, COMPARISON),
        K::GreaterEqual => (Operator::GreaterEqual, COMPARISON),
        K::KwBor => (Operator::BitOr, 5),
        K::KwXor => (Operator::BitXor, 5),
        K::KwBand => (Operator::BitAnd, 6),
        K::KwShl => (Operator::ShiftLeft, 7),
        K::KwShr => (Operator::ShiftRight, 7),
        K::Plus => (Operator::Add, 8),
        K::Minus => (Operator::Subtract, 8),
        K::Star => (Operator::Multiply, 9),
        K::Slash => (Operator::Divide, 9),
        K::Percent => (Operator::Remainder, 9),
        K::KwDiv => (Operator::Div, 9),
        K::KwMod => (Operator::Mod, 9),
        K::Dot => (Operator::Compose, COMPOSITION),
        _ => return None,
    })
}

/// Returns the binding power of the operator here, also of one that is written by mistake.
pub(super) fn power_here(p: &Parser) -> Option<Power> {
    match p.kind() {
        SyntaxKind::Equal | SyntaxKind::LeftArrow => Some(COMPARISON),
        SyntaxKind::Foreign => foreign(p.word(p.token())).and_then(|(_, power)| power),
        kind => operator(kind).map(|(_, power)| power),
    }
}

/// Returns what to write for an operator of another language, and the binding power of that if it is an operator.
pub(super) fn foreign(word: &str) -> Option<(&'static str, Option<Power>)> {
    Some(match word {
        "<<" => ("shift with `shl`", Some(7)),
        ">>" => ("shift with `shr`", Some(7)),
        "&" => ("write `&&` between conditions, `band` between integers", Some(6)),
        "^" => ("write `xor` between integers, `pow x y` for powers", Some(5)),
        "~" => ("write `x xor -1` to turn all bits of an integer", None),
        "!" => ("write `not x`", None),
        "**" => ("write `pow x y`", Some(9)),
        "++" => ("write `append xs ys`", Some(8)),
        "/=" => ("write `!=`", Some(COMPARISON)),
        ":=" => ("write `let x = e in`; nothing changes its value", Some(COMPARISON)),
        "$" => ("write parentheses, or `x |> f`", Some(1)),
        _ => return None,
    })
}

/// Takes the operator here, and reports what is wrong with it.
pub(super) fn take_operator(p: &mut Parser, after_comparison: bool) {
    let kind = p.kind();
    match kind {
        SyntaxKind::Equal => p.error_here(
            "`=` does not compare",
            "",
            if matches!(p.layout, Layout::Let(_)) {
                "write `==` to compare; a binding of a `let` begins in the column of the one before it"
            } else {
                "write `==` to compare"
            },
        ),
        SyntaxKind::LeftArrow => p.error_here(
            "`<-` stands behind the bar of a comprehension",
            "",
            "write `a < -b`, with a blank, to compare",
        ),
        SyntaxKind::Foreign => {
            let found = p.found();
            let help = foreign(p.word(p.token())).map_or("", |(help, _)| help);
            p.error_here(format!("there is no operator {found}"), "", help);
        }
        SyntaxKind::Dot if !(p.blank_before() && p.blank_after()) => p.error_here(
            "a dot between functions has blanks on both sides, and one before a field on none",
            "",
            "write `f . g` to compose, `r.x` for a field",
        ),
        _ => {}
    }
    let compares = power_of(kind) == Some(COMPARISON);
    if after_comparison && compares {
        p.error_here(
            "comparisons do not chain",
            "a second comparison",
            "write `a < b && b < c`, or parentheses",
        );
    }
    p.bump();
}

fn power_of(kind: SyntaxKind) -> Option<Power> {
    operator(kind).map(|(_, power)| power)
}
