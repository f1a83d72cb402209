//! Cuts the text of a program into tokens, for [`mod@crate::parse`]. It knows no keywords and never fails: what it does not
//! know becomes a token of its own that the parser refuses.

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A keyword, the name of an operation or type, or `true`, `false`, `inf`.
    Word(&'a str),
    /// `%name` or `%name.number`.
    Var(&'a str, Option<&'a str>),
    /// `@name`.
    Memory(&'a str),
    /// The value part of a constant that starts with a digit or a sign, or `nan:bits`.
    Number(&'a str),
    /// Anything else; `..` is one.
    Symbol(&'a str),
    /// What follows `//` and one space.
    Comment(&'a str),
    /// The end of the text.
    End,
}

/// A token and where it starts, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spanned<'a> {
    pub token: Token<'a>,
    pub line: usize,
    pub column: usize,
}

/// All tokens; the last one is [`Token::End`].
pub(crate) fn lex(text: &str) -> Vec<Spanned<'_>> {
    let mut tokens = Vec::new();
    let (mut line, mut column) = (1, 1);
    let mut rest = text;
    loop {
        let blank = rest.len() - rest.trim_start().len();
        for c in rest[..blank].chars() {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        rest = &rest[blank..];
        let (token, length) = next(rest);
        tokens.push(Spanned { token, line, column });
        if token == Token::End {
            return tokens;
        }
        column += rest[..length].chars().count();
        rest = &rest[length..];
    }
}

/// The first token of a text that does not start with a blank, and how many bytes it takes.
fn next(rest: &str) -> (Token<'_>, usize) {
    let Some(first) = rest.chars().next() else {
        return (Token::End, 0);
    };
    match first {
        '/' if rest.starts_with("//") => {
            let length = rest.find('\n').unwrap_or(rest.len());
            let comment = rest[2..length].trim_end_matches('\r');
            (Token::Comment(comment.strip_prefix(' ').unwrap_or(comment)), length)
        }
        '%' => {
            let name = 1 + word(&rest[1..]);
            let digits = rest[name..].strip_prefix('.').map_or(0, digits);
            match digits {
                0 => (Token::Var(&rest[1..name], None), name),
                _ => {
                    let end = name + 1 + digits;
                    (Token::Var(&rest[1..name], Some(&rest[name + 1..end])), end)
                }
            }
        }
        '@' => {
            let end = 1 + word(&rest[1..]);
            (Token::Memory(&rest[1..end]), end)
        }
        '0'..='9' | '-' => {
            let end = number(rest);
            (Token::Number(&rest[..end]), end)
        }
        'a'..='z' | 'A'..='Z' | '_' => {
            let end = word(rest);
            if let Some(bits) = rest.strip_prefix("nan:")
                && end == 3
            {
                let end = 4 + bits.bytes().take_while(u8::is_ascii_hexdigit).count();
                return (Token::Number(&rest[..end]), end);
            }
            (Token::Word(&rest[..end]), end)
        }
        '.' if rest.starts_with("..") => (Token::Symbol(".."), 2),
        _ => (Token::Symbol(&rest[..first.len_utf8()]), first.len_utf8()),
    }
}

fn word(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// How long the number is that a text starts with: `-5`, `0.1`, `1e-7`, `-inf`.
fn number(text: &str) -> usize {
    let mut end = usize::from(text.starts_with('-'));
    if text[end..].starts_with("inf") {
        return end + 3;
    }
    end += digits(&text[end..]);
    if let Some(fraction) = text[end..].strip_prefix('.') {
        let digits = digits(fraction);
        if digits > 0 {
            end += 1 + digits;
        }
    }
    if let Some(exponent) = text[end..].strip_prefix('e') {
        let sign = usize::from(exponent.starts_with(['-', '+']));
        let digits = digits(&exponent[sign..]);
        if digits > 0 {
            end += 1 + sign + digits;
        }
    }
    end
}
