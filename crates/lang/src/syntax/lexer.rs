//! Lexer. Every byte of any text is in exactly one token.

use super::kinds::SyntaxKind;
use logos::Logos;

/// A token: its kind, and where it ends. It begins where the one before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawToken {
    /// Its kind.
    pub kind: SyntaxKind,
    /// The byte after its last.
    pub end: u32,
}

/// Cuts a text into tokens, in order.
pub fn tokens(text: &str) -> Vec<RawToken> {
    let mut tokens: Vec<RawToken> = Vec::with_capacity(text.len() / 3);
    let mut push = |kind, end: usize| tokens.push(RawToken { kind, end: end as u32 });
    let mut after_dot = false;
    for (kind, span) in SyntaxKind::lexer(text).spanned() {
        let kind = kind.unwrap_or(SyntaxKind::Unknown);
        let word = text.get(span.clone()).unwrap_or("");
        // The parts of a tuple in a tuple: `t.0.1` has no float in it.
        if after_dot
            && kind == SyntaxKind::Float
            && let Some(dot) = word.find('.')
        {
            push(SyntaxKind::Integer, span.start + dot);
            push(SyntaxKind::Dot, span.start + dot + 1);
            push(SyntaxKind::Integer, span.end);
        } else {
            push(kind, span.end);
        }
        after_dot = kind == SyntaxKind::Dot;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexed(text: &str) -> String {
        let mut start = 0;
        let mut shown = Vec::new();
        for token in tokens(text) {
            if token.kind != SyntaxKind::Whitespace {
                shown.push(format!("{:?}:{}", token.kind, &text[start..token.end as usize]));
            }
            start = token.end as usize;
        }
        assert_eq!(start, text.len());
        shown.join(" ")
    }

    #[test]
    fn numbers_end_where_ranges_and_fields_begin() {
        assert_eq!(lexed("1..n"), "Integer:1 DotDot:.. Lower:n");
        assert_eq!(lexed("t.0.1"), "Lower:t Dot:. Integer:0 Dot:. Integer:1");
        assert_eq!(
            lexed("1.5f32 2.5e-3 0xff 1e5 1_000u64"),
            "Float:1.5f32 Float:2.5e-3 Integer:0xff Float:1e5 Integer:1_000u64"
        );
        assert_eq!(lexed("1-2"), "Integer:1 Minus:- Integer:2");
    }

    #[test]
    fn words_begin_with_letters_and_keywords_end_with_them() {
        assert_eq!(
            lexed("_ _x x' index in Abc"),
            "Underscore:_ Lower:_x Lower:x' Lower:index KwIn:in Upper:Abc"
        );
    }

    #[test]
    fn what_is_unknown_is_a_token_too() {
        assert_eq!(lexed("é\u{0}a#b"), "Unknown:é Unknown:\u{0} Lower:a Unknown:# Lower:b");
        assert_eq!(lexed("a -- c\r\nb"), "Lower:a Comment:-- c\r Lower:b");
    }
}
