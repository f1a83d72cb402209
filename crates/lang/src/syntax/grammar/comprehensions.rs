//! Lists and comprehensions.

use super::super::kinds::SyntaxKind;
use super::super::parser::Parser;
use super::expressions::bracketed;
use super::patterns::pattern;
use super::separated;

/// Parses brackets: a list or a comprehension.
pub(super) fn list(p: &mut Parser) -> u32 {
    let (start, opening) = (p.checkpoint(), p.position());
    p.bump();
    let (mut height, mut kind) = (1, SyntaxKind::List);
    if !p.is_at(SyntaxKind::RightBracket) {
        let mut count = 0;
        separated(p, SyntaxKind::RightBracket, |p| {
            height = height.max(bracketed(p) + 1);
            count += 1;
        });
        if count == 1 && p.eat(SyntaxKind::Bar) {
            kind = SyntaxKind::Comprehension;
            separated(p, SyntaxKind::RightBracket, |p| height = height.max(qualifier(p) + 1));
        } else if p.is_at(SyntaxKind::DotDot) {
            p.error_here("a range stands behind `<-`", "", "write `[ i | i <- a..b ]`");
        }
    }
    p.close(opening);
    p.start_at(start, kind);
    p.finish();
    height
}

fn qualifier(p: &mut Parser) -> u32 {
    if p.is_at(SyntaxKind::KwLet) {
        return let_qualifier(p);
    }
    if draw_ahead(p) {
        return draw(p);
    }
    let by = |p: &Parser| p.nth(1) == SyntaxKind::Lower && p.word(p.ahead(1)) == "by";
    if p.is_at_word("order") && by(p) {
        order_by(p)
    } else if p.is_at_word("group") && by(p) {
        p.start(SyntaxKind::GroupBy);
        p.bump();
        p.bump();
        let height = bracketed(p);
        p.finish();
        height + 1
    } else if p.is_at_word("take") {
        p.start(SyntaxKind::Take);
        p.bump();
        let height = bracketed(p);
        p.finish();
        height + 1
    } else if p.is_at_word("distinct") {
        p.start(SyntaxKind::Distinct);
        p.bump();
        p.finish();
        1
    } else {
        p.start(SyntaxKind::Guard);
        let height = bracketed(p);
        p.finish();
        height + 1
    }
}

fn let_qualifier(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::LetQualifier);
    p.bump();
    pattern(p);
    p.expect(SyntaxKind::Equal, "`=`", "between a pattern and its value");
    let mut height = bracketed(p);
    if p.is_at(SyntaxKind::KwIn) {
        p.error_here(
            "a `let` of a comprehension has no `in`",
            "",
            "put a condition that is a `let` in parentheses",
        );
        p.start(SyntaxKind::Skipped);
        p.bump();
        height = height.max(bracketed(p));
        p.finish();
    }
    p.finish();
    height + 2
}

/// Whether a pattern and `<-` are here.
fn draw_ahead(p: &Parser) -> bool {
    let mut count = 0;
    loop {
        match p.nth(count) {
            SyntaxKind::LeftArrow => return count > 0,
            kind if kind.closing().is_some() => match p.closed_after(count) {
                Some(closing) => count = closing + 1,
                None => return false,
            },
            SyntaxKind::Lower
            | SyntaxKind::Upper
            | SyntaxKind::ColonColon
            | SyntaxKind::Underscore
            | SyntaxKind::Integer
            | SyntaxKind::Float
            | SyntaxKind::KwTrue
            | SyntaxKind::KwFalse
            | SyntaxKind::Minus => count += 1,
            _ => return false,
        }
    }
}

fn draw(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::Draw);
    let mut height = source(p);
    while p.eat(SyntaxKind::Bar) {
        height = height.max(source(p));
    }
    p.finish();
    height + 1
}

fn source(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::Source);
    pattern(p);
    p.expect(SyntaxKind::LeftArrow, "`<-`", "between a pattern and what it is drawn from");
    let mut height = bracketed(p);
    if p.eat(SyntaxKind::DotDot) {
        height = height.max(bracketed(p));
    }
    p.finish();
    height + 1
}

fn order_by(p: &mut Parser) -> u32 {
    p.start(SyntaxKind::OrderBy);
    p.bump();
    p.bump();
    let mut height = order_key(p);
    while p.eat(SyntaxKind::KwThen) {
        height = height.max(order_key(p));
    }
    p.finish();
    height + 1
}

fn order_key(p: &mut Parser) -> u32 {
    use super::expressions::expression;
    p.start(SyntaxKind::OrderKey);
    let outer = p.stop_word.replace("descending");
    let height = expression(p);
    p.stop_word = outer;
    if p.is_at_word("descending") {
        p.bump();
    }
    p.finish();
    height + 1
}
