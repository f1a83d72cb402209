//! Cuts text into tokens. All languages of Pumice that have a text form share it: it knows no keywords and never fails;
//! unknown text becomes a token of its own, which a parser refuses.

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A keyword, the name of an operation or type, or `true`, `false`, `inf`.
    Word(&'a str),
    /// `%name` or `%name.number`.
    Var(&'a str, Option<&'a str>),
    /// `@name`.
    At(&'a str),
    /// The value part of a constant that starts with a digit or a sign, or `nan:bits`.
    Number(&'a str),
    /// The text between two quotation marks, with its escapes: see [`unescape`].
    Quoted(&'a str),
    /// Anything else; `..` is one.
    Symbol(&'a str),
    /// The text after `//` and one space.
    Comment(&'a str),
    /// The end of the text.
    End,
}

/// A token and where it starts, counted from 1.
#[derive(Clone, Copy, Debug)]
pub struct Spanned<'a> {
    /// The token.
    pub token: Token<'a>,
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// All tokens; the last one is [`Token::End`].
pub fn lex(text: &str) -> Vec<Spanned<'_>> {
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
        '"' => match quoted(&rest[1..]) {
            Some(length) => (Token::Quoted(&rest[1..1 + length]), length + 2),
            // The rest of the line, so that no line is searched twice.
            None => {
                let length = rest.find('\n').unwrap_or(rest.len());
                (Token::Symbol(&rest[..length]), length)
            }
        },
        '@' => {
            let end = 1 + word(&rest[1..]);
            (Token::At(&rest[1..end]), end)
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

/// Returns the number of bytes before the closing quotation mark; `None` if this line has none.
fn quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            '"' if !escaped => return Some(at),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    None
}

/// Returns the length of the number that a text starts with: `-5`, `0.1`, `1e-7`, `-inf`.
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

/// A text between quotation marks, on one line; [`Token::Quoted`] and [`unescape`] give it back.
pub fn quote(text: &str) -> String {
    format!("\"{}\"", escape(text).replace('"', "\\\""))
}

/// A text on one line; [`unescape`] gives it back.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

/// The text that [`escape`] or [`quote`] made this of.
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some(c @ ('\\' | '"')) => out.push(c),
            other => {
                out.push('\\');
                out.extend(other);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_texts_are_one_token_and_read_back() {
        for text in ["", "map", "a\"b", "\\", "ends in \\\"", "two\nlines\r", "\\n", "é // \u{202e}"] {
            let quoted = quote(text);
            let tokens = lex(&quoted);
            let Token::Quoted(inside) = tokens[0].token else { panic!("{quoted} is {:?}", tokens[0].token) };
            assert_eq!(unescape(inside), text);
            assert_eq!(tokens[1].token, Token::End);
        }
    }

    #[test]
    fn a_quotation_mark_without_another_is_a_symbol() {
        for text in ["\"", "\"abc", "\"abc\n\"", "\"\\\""] {
            let line = text.lines().next().unwrap();
            assert_eq!(lex(text)[0].token, Token::Symbol(line), "{text}");
        }
    }
}
