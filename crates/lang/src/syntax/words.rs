//! The tokens that the grammar sees: all but blanks and comments, with lines, columns and brackets.

use super::kinds::SyntaxKind;
use super::lexer::RawToken;

/// A token that is not only there to separate others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: SyntaxKind,
    /// Whether it is the first of its line.
    pub first_on_line: bool,
    pub start: u32,
    pub end: u32,
    /// The characters before it on its line.
    pub column: u32,
    /// Its number among all tokens.
    pub raw: u32,
}

/// Number for a bracket that is not closed, and for a token that is not a bracket.
pub(super) const UNMATCHED: u32 = u32::MAX;

/// Returns the tokens that are not trivia, with their places.
pub(super) fn significant(text: &str, raw: &[RawToken]) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(raw.len() / 2 + 1);
    let (mut start, mut column, mut first_on_line) = (0, 0, true);
    for (number, &RawToken { kind, end }) in raw.iter().enumerate() {
        if !kind.is_trivia() {
            tokens.push(Token { kind, first_on_line, start, end, column, raw: number as u32 });
            first_on_line = false;
        }
        let word = text.get(start as usize..end as usize).unwrap_or("");
        match word.rfind('\n').filter(|_| kind == SyntaxKind::Whitespace) {
            Some(newline) => {
                first_on_line = true;
                column = (word.len() - newline - 1) as u32;
            }
            None => column += word.chars().count() as u32,
        }
        start = end;
    }
    let raw = raw.len() as u32;
    tokens.push(Token {
        kind: SyntaxKind::EndOfFile,
        first_on_line: true,
        start,
        end: start,
        column: 0,
        raw,
    });
    tokens
}

/// Returns, for each token, the number of the bracket that closes it. Brackets do not go beyond an item, and one that is closed by
/// another kind of bracket has no match.
pub(super) fn match_brackets(tokens: &[Token]) -> Vec<u32> {
    let mut matching = vec![UNMATCHED; tokens.len()];
    let mut open: Vec<(usize, SyntaxKind)> = Vec::new();
    let kinds = [SyntaxKind::RightParen, SyntaxKind::RightBracket, SyntaxKind::RightBrace];
    let mut counts = [0usize; 3];
    let place = |kind| kinds.iter().position(|other| *other == kind);
    for (number, token) in tokens.iter().enumerate() {
        if let Some(closing) = token.kind.closing() {
            open.push((number, closing));
            counts[place(closing).unwrap_or(0)] += 1;
        } else if let Some(which) = place(token.kind) {
            if counts[which] == 0 {
                continue;
            }
            while let Some((opening, closing)) = open.pop() {
                counts[place(closing).unwrap_or(0)] -= 1;
                if closing == token.kind {
                    matching[opening] = number as u32;
                    break;
                }
            }
        } else if token.kind.begins_item() && token.first_on_line {
            open.clear();
            counts = [0; 3];
        }
    }
    matching
}
